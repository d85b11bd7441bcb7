//! What changes is told at once: the journal is looked at, and every stream hears that it grew.

use crate::{Console, limits, lock};
use axum::body::Body;
use futures_core::Stream;
use gateway::{control, event};
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{sleep, timeout};

/// What every window is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Now {
    /// Records of the journal.
    records: u64,
    /// Calls that wait for a person.
    waiting: usize,
    /// Events of gateways, and steps of what the console does itself.
    told: u64,
}

impl Now {
    fn line(self) -> String {
        format!(
            "event: change\ndata: {{\"records\":{},\"waiting\":{},\"told\":{}}}\n\n",
            self.records, self.waiting, self.told
        )
    }
}

impl Console {
    /// Tells every window that something is to be drawn again.
    pub(crate) fn tell(&self) {
        self.now.send_modify(|now| now.told += 1);
    }

    /// Looks at the journal for as long as the console runs.
    pub(crate) async fn watch(self: Arc<Console>) {
        loop {
            // A store that cannot be read now is read at the next look; its pages say why meanwhile.
            if let (Ok(records), Ok(pending)) =
                (self.store().records().await, self.store().pending(event::now()).await)
            {
                let waiting = pending.len();
                self.now.send_if_modified(|now| {
                    let next = Now { records, waiting, ..*now };
                    let changed = next != *now;
                    *now = next;
                    changed
                });
            }
            sleep(limits::LOOK).await;
        }
    }

    /// Keeps the last events of running gateways.
    pub(crate) async fn follow(self: Arc<Console>) {
        let (sender, mut events) = mpsc::channel(limits::TAILED);
        let follower = tokio::spawn(control::follow(self.config.sockets.clone(), sender));
        while let Some(line) = events.recv().await {
            let kept = line.len() <= limits::EVENT_BYTES;
            if let Some(event) = serde_json::from_str::<Value>(&line).ok().filter(|_| kept) {
                let mut events = lock(&self.events);
                if events.len() >= limits::EVENTS {
                    events.pop_front();
                }
                events.push_back(event);
            }
            self.tell();
        }
        follower.abort();
    }

    /// A stream of changes for one window; the place is given back when it is closed.
    pub(crate) fn stream(self: &Arc<Console>, place: OwnedSemaphorePermit) -> Body {
        let (sender, receiver) = mpsc::channel(1);
        let mut changes = self.now.subscribe();
        tokio::spawn(async move {
            let mut line = changes.borrow_and_update().line();
            while sender.send(line).await.is_ok() {
                let next = tokio::select! {
                    next = timeout(limits::ALIVE, changes.changed()) => next,
                    () = sender.closed() => break,
                };
                line = match next {
                    Ok(Ok(())) => changes.borrow_and_update().line(),
                    Ok(Err(_)) => break,
                    Err(_) => ": alive\n\n".to_owned(),
                };
            }
            drop(place);
        });
        Body::from_stream(Lines(receiver))
    }
}

/// Lines as the body of a response.
struct Lines(mpsc::Receiver<String>);

impl Stream for Lines {
    type Item = Result<String, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|line| line.map(Ok))
    }
}
