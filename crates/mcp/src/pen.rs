//! The writing end of a pipe to a server: one task owns it and writes whole lines.
//!
//! Whoever waits for a line may stop waiting, and a line that was begun is finished all the same: the next one would be
//! glued to half of it. A server that does not read holds up its writers alone, and they are let go when it is told to leave.

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use crate::duplex::Sending;
use crate::limits;

/// A line that is to be written, and who waits for that.
struct Due {
    line: Vec<u8>,
    /// So many bytes of it are the message: with them a reader of streams has all of it.
    whole: usize,
    told: oneshot::Sender<Sending>,
}

/// Hands lines to the task that writes them.
pub(crate) struct Pen {
    due: mpsc::Sender<Due>,
    /// From when on nothing more is written, once the server was told to leave.
    leaves: watch::Sender<Option<Instant>>,
}

impl Pen {
    /// Starts the task. Must be called inside a tokio runtime.
    pub(crate) fn new(pipe: impl AsyncWrite + Unpin + Send + 'static) -> Pen {
        // One: whoever gives up before its line was begun has then sent nothing.
        let (due, lines) = mpsc::channel(1);
        let (leaves, left) = watch::channel(None);
        tokio::spawn(write(pipe, lines, left));
        Pen { due, leaves }
    }

    /// Writes a message as a line, after those that were asked for before.
    pub(crate) async fn send(&self, message: &str) -> Sending {
        // A line feed inside a message could only be white space between its tokens.
        let mut line: Vec<u8> =
            message.bytes().map(|b| if b == b'\n' { b' ' } else { b }).collect();
        let whole = line.trim_ascii_end().len();
        line.push(b'\n');
        let (told, sent) = oneshot::channel();
        if self.due.send(Due { line, whole, told }).await.is_err() {
            return Sending::NotSent;
        }
        // Where nothing is told, it was not begun.
        sent.await.unwrap_or(Sending::NotSent)
    }

    /// What is being written is finished where the server reads it in time; then the pipe is closed.
    pub(crate) fn leave(&self) {
        self.leaves.send_if_modified(|at| {
            let first = at.is_none();
            at.get_or_insert_with(|| Instant::now() + limits::LEAVE);
            first
        });
    }
}

async fn write(
    mut pipe: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Due>,
    mut left: watch::Receiver<Option<Instant>>,
) {
    let mut leaving = false;
    loop {
        let due = tokio::select! {
            due = lines.recv() => due,
            _ = left.wait_for(Option::is_some), if !leaving => {
                leaving = true;
                lines.close();
                continue;
            }
        };
        let Some(Due { line, whole, told }) = due else { return };
        if told.is_closed() {
            // Nobody waits for it any more, and nothing of it left.
            continue;
        }
        let mut written = 0;
        let done = tokio::select! {
            done = put(&mut pipe, &line, &mut written) => done,
            () = expired(&mut left) => false,
        };
        // The line feed is missing at most: who reads JSON as it comes has the message.
        let sending = if written >= whole { Sending::Sent } else { Sending::NotSent };
        let _ = told.send(sending);
        if !done {
            // Half a line stands there: nothing can follow it.
            return;
        }
    }
}

/// Writes a line, and counts what the pipe took. False where it takes no more.
async fn put(pipe: &mut (impl AsyncWrite + Unpin), line: &[u8], written: &mut usize) -> bool {
    while *written < line.len() {
        match pipe.write(&line[*written..]).await {
            Ok(0) | Err(_) => return false,
            Ok(n) => *written += n,
        }
    }
    pipe.flush().await.is_ok()
}

/// Resolves once the server was told to leave and had its time.
async fn expired(left: &mut watch::Receiver<Option<Instant>>) {
    let at = left.wait_for(Option::is_some).await.ok().and_then(|at| *at);
    if let Some(at) = at {
        sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
    use tokio::time::{Duration, timeout};

    const SHORT: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn a_line_that_was_begun_is_finished_whoever_still_waits() {
        let (pipe, server) = tokio::io::duplex(8);
        let pen = Pen::new(pipe);
        let one = "x".repeat(100);
        assert!(timeout(SHORT, pen.send(&one)).await.is_err(), "the pipe is full");
        // Given up before it was begun, this one never leaves.
        assert!(timeout(SHORT, pen.send("never")).await.is_err());
        let mut lines = BufReader::new(server).lines();
        let (sent, first) = tokio::join!(pen.send("two"), lines.next_line());
        assert_eq!((sent, first.unwrap().unwrap()), (Sending::Sent, one));
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "two");
    }

    #[tokio::test]
    async fn what_left_whole_but_for_its_line_feed_may_have_been_read() {
        for (room, sending) in [(7, Sending::Sent), (6, Sending::NotSent)] {
            let (pipe, server) = tokio::io::duplex(room);
            let pen = Pen::new(pipe);
            // It breaks with what it took, and had no room for the rest.
            let gone = async {
                tokio::time::sleep(SHORT).await;
                drop(server);
            };
            let (sent, ()) = tokio::join!(pen.send("{\"a\":1}"), gone);
            assert_eq!(sent, sending, "{room}");
            assert_eq!(pen.send("after").await, Sending::NotSent);
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_read_holds_nobody_once_it_was_told_to_leave() {
        let (pipe, mut server) = tokio::io::duplex(8);
        let pen = Pen::new(pipe);
        let leave = async {
            tokio::time::sleep(SHORT).await;
            pen.leave();
        };
        let line = "x".repeat(100);
        let (sent, waits, ()) = tokio::join!(pen.send(&line), pen.send("waits"), leave);
        assert_eq!((sent, waits), (Sending::NotSent, Sending::NotSent));
        let mut rest = Vec::new();
        server.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest.len(), 8, "the pipe was closed");
    }
}
