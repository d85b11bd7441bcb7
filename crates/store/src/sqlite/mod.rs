//! The store in one SQLite file: for one gateway, with commands beside it.

mod approvals;
mod counters;
mod face;
mod fault;
mod journal;
mod ledger;
mod mark;
mod open;
mod reader;
mod revisions;
mod schema;
mod sessions;
mod work;
mod writer;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use crate::journal::VerifyingKey;
use crate::word::words;
use crate::{Answer, Ids, Millis, StoreError};
use reader::Question;
use work::Work;
use writer::{Lazy, Queued, Shared};

words! {
    /// What a store is opened for.
    pub enum Access {
        /// To be its gateway, and the only one.
        Gateway = "gateway",
        /// To be one of several gateways on one machine.
        Shared = "shared",
        /// For one command, beside the gateways that run.
        Command = "command",
        /// To be read.
        Read = "read",
    }
}

words! {
    /// A step that touches the disk.
    pub enum Step {
        /// A file beside the database is about to be made.
        File = "file",
        /// A transaction is about to begin.
        Begin = "begin",
        /// One write was done inside it.
        Applied = "applied",
        /// It is about to be committed.
        Commit = "commit",
        /// It was committed.
        Committed = "committed",
        /// The disk is about to be asked to flush.
        Flush = "flush",
        /// The disk has flushed; nobody was told yet.
        Flushed = "flushed",
    }
}

/// Called at each [`Step`]: a test looks, lets it fail, or ends the process there.
pub type Probe = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// How a store is opened.
pub struct Options {
    /// What for.
    pub access: Access,
    /// The time of what is recorded while it is opened.
    pub at: Millis,
    /// Where ids come from.
    pub ids: Ids,
    /// For tests.
    pub probe: Option<Probe>,
}

impl Options {
    /// Ids by chance, and no probe.
    pub fn new(access: Access, at: Millis) -> Options {
        Options { access, at, ids: Ids::by_chance(), probe: None }
    }
}

/// The embedded store. Dropping it signs the journal, flushes, and waits until both are done.
pub struct Sqlite {
    place: String,
    path: PathBuf,
    ids: Arc<Ids>,
    key: VerifyingKey,
    writes: Option<Writes>,
    questions: Option<Sender<Question>>,
    question_places: Arc<Semaphore>,
    /// For questions that are answered without a reader.
    at_hand: Mutex<Option<Connection>>,
    threads: Vec<JoinHandle<()>>,
    /// What the readers need to open payloads; `None` where the key was not readable.
    seal: Option<Arc<crate::keys::Seal>>,
    /// Says that this process lives.
    _mark: Option<mark::Mark>,
    /// Held as long as this is a gateway's store.
    _lock: Option<File>,
}

/// The way to the writer.
struct Writes {
    queue: Sender<Queued>,
    lazy: Arc<Lazy>,
    places: Arc<Semaphore>,
    shared: Arc<Shared>,
}

impl Sqlite {
    /// Opens a store, and makes it where there is none and it may be written to.
    ///
    /// Whoever opens it for writing also settles what processes left open that are gone: their attempts without an
    /// outcome become in doubt, and their sessions end.
    pub fn open(path: impl AsRef<Path>, options: Options) -> Result<Sqlite, StoreError> {
        let path = path.as_ref();
        open::open(path, options).map_err(|error| error.at(&path.display().to_string()))
    }

    /// How often the disk was asked to flush since the store was opened.
    pub fn flushes(&self) -> u64 {
        self.writes.as_ref().map_or(0, |writes| writes.shared.flushes.load(Ordering::Relaxed))
    }

    /// Queues a write and waits for its end.
    fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Work<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<'_, T> {
        let queued = self.queue(true, work);
        Box::pin(async move { queued.await?.await })
    }

    /// Queues a write, and says how to wait for its end. One that is not urgent may wait for others, to share their
    /// transaction.
    fn queue<T: Send + 'static>(
        &self,
        urgent: bool,
        work: impl Fn(&mut Work<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<'_, Answer<'static, T>> {
        Box::pin(async move {
            let writes = self.writes.as_ref().ok_or(StoreError::ReadOnly)?;
            let place = Arc::clone(&writes.places).acquire_owned().await;
            let place = place.map_err(|_| StoreError::Closed)?;
            let (reply, answer) = oneshot::channel();
            let job = writer::job(work, reply, place);
            let wake = match urgent {
                true => Some(Queued::Urgent(job)),
                false => writes.lazy.put(job)?.then_some(Queued::Lazy),
            };
            if let Some(wake) = wake {
                writes.queue.send(wake).map_err(|_| StoreError::Closed)?;
            }
            let end: Answer<'static, T> =
                Box::pin(async move { answer.await.map_err(|_| StoreError::Closed)? });
            Ok(end)
        })
    }

    /// Answers at once, in the caller's thread: for questions about one row of a small table.
    fn look<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<'_, T> {
        Box::pin(async move {
            let conn = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
            question(conn.as_ref().ok_or(StoreError::Closed)?)
                .map_err(|error| error.at(&self.place))
        })
    }

    /// Asks a reader and waits for the answer.
    fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Answer<'_, T> {
        Box::pin(async move {
            let _place = self.question_places.acquire().await.map_err(|_| StoreError::Closed)?;
            let (reply, answer) = oneshot::channel();
            let questions = self.questions.as_ref().ok_or(StoreError::Closed)?;
            questions
                .send(Box::new(move |conn| {
                    // A caller that no longer waits is no error.
                    let _ = reply.send(question(conn));
                }))
                .map_err(|_| StoreError::Closed)?;
            let answer = answer.await.map_err(|_| StoreError::Closed)?;
            answer.map_err(|error| error.at(&self.place))
        })
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.writes = None;
        self.questions = None;
        // The writer's connection closes last: it alone can leave a database without a write-ahead log.
        *self.at_hand.lock().unwrap_or_else(PoisonError::into_inner) = None;
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so; closing goes on.
            let _ = thread.join();
        }
    }
}
