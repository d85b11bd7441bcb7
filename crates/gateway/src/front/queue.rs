//! What waits on one stream for the client to read it: bounded in messages and in bytes.

use crate::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The end that is written to.
#[derive(Debug)]
pub struct Writer<T> {
    sender: mpsc::Sender<T>,
    bytes: Arc<AtomicUsize>,
}

/// The end that a response reads.
#[derive(Debug)]
pub struct Reader<T> {
    receiver: mpsc::Receiver<T>,
    bytes: Arc<AtomicUsize>,
}

/// Something that takes room.
pub trait Weighed {
    /// How much.
    fn bytes(&self) -> usize;
}

/// Why a message was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nobody reads any more.
    Left,
    /// Too much waits already.
    Slow,
}

/// A stream.
pub fn stream<T: Weighed>() -> (Writer<T>, Reader<T>) {
    let (sender, receiver) = mpsc::channel(limits::STREAM_MESSAGES);
    let bytes = Arc::new(AtomicUsize::new(0));
    (Writer { sender, bytes: Arc::clone(&bytes) }, Reader { receiver, bytes })
}

impl<T: Weighed> Writer<T> {
    /// Puts a message at the end, without waiting.
    pub fn push(&self, item: T) -> Result<(), Cut> {
        let size = item.bytes();
        let waits = self.bytes.fetch_add(size, Ordering::AcqRel);
        let result = if waits > 0 && waits + size > limits::STREAM_BYTES {
            Err(Cut::Slow)
        } else {
            self.sender.try_send(item).map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => Cut::Slow,
                mpsc::error::TrySendError::Closed(_) => Cut::Left,
            })
        };
        if result.is_err() {
            self.bytes.fetch_sub(size, Ordering::AcqRel);
        }
        result
    }

    /// Resolves when nobody reads any more.
    pub async fn left(&self) {
        self.sender.closed().await;
    }

    /// Nobody reads any more.
    pub fn is_left(&self) -> bool {
        self.sender.is_closed()
    }
}

impl<T: Weighed> Reader<T> {
    /// The next message; `None` at the end.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let item = std::task::ready!(self.receiver.poll_recv(context));
        if let Some(item) = &item {
            self.bytes.fetch_sub(item.bytes(), Ordering::AcqRel);
        }
        Poll::Ready(item)
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<T> {
        std::future::poll_fn(|context| self.poll(context)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weighed for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_is_cut_and_one_large_message_passes() {
        let (writer, mut reader) = stream::<usize>();
        assert_eq!(writer.push(2 * limits::STREAM_BYTES), Ok(()));
        assert_eq!(writer.push(1), Err(Cut::Slow));
        assert_eq!(reader.next().await, Some(2 * limits::STREAM_BYTES));
        for _ in 0..limits::STREAM_MESSAGES {
            assert_eq!(writer.push(1), Ok(()));
        }
        assert_eq!(writer.push(1), Err(Cut::Slow));
        drop(reader);
        assert_eq!(writer.push(1), Err(Cut::Left));
    }
}
