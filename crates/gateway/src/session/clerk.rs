//! Follows the records that no call waits for, until they are written.
//!
//! One task does so for all sessions of a hub. Records are written in the order in which they were queued, many at
//! once: it is woken once for all of them, where a task for each call would be woken for each and stand in the way of the messages.

use super::Session;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::Answer;
use tokio::sync::mpsc::{self, UnboundedSender};

/// The way to the task. What waits here is bounded by the places of the store's queue: each record holds one until it
/// is written.
#[derive(Default)]
pub(super) struct Clerk(OnceLock<UnboundedSender<Following>>);

/// Records of one call that are queued.
pub(crate) struct Following {
    pub(crate) session: Arc<Session>,
    /// In the order in which they were queued.
    pub(crate) written: Vec<Answer<'static, ()>>,
    pub(crate) writing: Writing,
}

/// Counts a call whose records are not all written; the session ends after them.
pub(crate) struct Writing(Arc<AtomicUsize>);

impl Writing {
    pub(crate) fn of(session: &Session) -> Writing {
        session.writing().fetch_add(1, Ordering::AcqRel);
        Writing(Arc::clone(session.writing()))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Session {
    /// Leaves records of its own to be followed until they are written.
    pub(crate) fn follow(records: Following) {
        let hub = Arc::clone(&records.session.hub);
        hub.clerk.follow(records);
    }
}

impl Clerk {
    /// Follows records until they are written, and tells where one could not be.
    pub(super) fn follow(&self, records: Following) {
        let way = self.0.get_or_init(|| {
            let (way, mut queue) = mpsc::unbounded_channel::<Following>();
            tokio::spawn(async move {
                while let Some(Following { session, written, writing }) = queue.recv().await {
                    for record in written {
                        session.noted("a call that reads", record.await);
                    }
                    drop(writing);
                }
            });
            way
        });
        // The task ends with its runtime alone, and with it whoever could be told.
        let _ = way.send(records);
    }
}
