//! One writer, one flusher, one copier. Writes that wait at the same time share a transaction, and those that must be
//! on disk share a flush; a write that nobody waits for is committed at once and flushed within moments. The copier
//! brings the write-ahead log back into the database, and nobody waits for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::work::{AtHand, Keys, Log, Work, read_log};
use super::{Probe, Step};
use crate::journal::VerifyingKey;
use crate::{Ids, StoreError, limits};

/// Commits after which the write-ahead log is copied back. A commit takes some four pages.
const COMMITS_PER_COPY: u64 = limits::WAL_PAGES / 4;

/// Bytes of a page of SQLite.
const PAGE_BYTES: u64 = 4_096;

/// A write on its way.
pub(super) trait Job: Send {
    /// Does the work inside the transaction; again in another one, where the first was given up.
    fn apply(&mut self, work: &mut Work<'_>) -> Result<(), StoreError>;
    /// Tells the caller how it ended.
    fn finish(self: Box<Self>, end: Result<(), StoreError>);
}

/// A write with a typed answer.
struct Typed<T, F> {
    work: F,
    done: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
    /// Its place in the queue, given back when it is finished.
    _place: OwnedSemaphorePermit,
}

/// Makes a job of a function.
pub(super) fn job<T, F>(
    work: F,
    reply: oneshot::Sender<Result<T, StoreError>>,
    place: OwnedSemaphorePermit,
) -> Box<dyn Job>
where
    T: Send + 'static,
    F: Fn(&mut Work<'_>) -> Result<T, StoreError> + Send + 'static,
{
    Box::new(Typed { work, done: None, reply, _place: place })
}

impl<T, F> Job for Typed<T, F>
where
    T: Send,
    F: Fn(&mut Work<'_>) -> Result<T, StoreError> + Send,
{
    fn apply(&mut self, work: &mut Work<'_>) -> Result<(), StoreError> {
        self.done = Some((self.work)(work)?);
        Ok(())
    }

    fn finish(self: Box<Self>, end: Result<(), StoreError>) {
        let Typed { done, reply, .. } = *self;
        // A caller that no longer waits is no error: what was written stays written.
        let _ = reply.send(match (end, done) {
            (Ok(()), Some(done)) => Ok(done),
            (Ok(()), None) => Err(StoreError::Closed),
            (Err(error), _) => Err(error),
        });
    }
}

/// What wakes the writer.
pub(super) enum Queued {
    /// A write that somebody waits for.
    Urgent(Box<dyn Job>),
    /// The first of the writes that can wait.
    Lazy,
}

/// Writes that can wait, in order. They wake the writer once, not each.
pub(super) struct Lazy {
    /// `None` once the writer has ended.
    waiting: Mutex<Option<Vec<Box<dyn Job>>>>,
    /// The last of them could not be written.
    pub(super) failed: AtomicBool,
}

impl Lazy {
    pub(super) fn new() -> Lazy {
        Lazy { waiting: Mutex::new(Some(Vec::new())), failed: AtomicBool::new(false) }
    }

    /// Takes one in; true where it is the first.
    pub(super) fn put(&self, job: Box<dyn Job>) -> Result<bool, StoreError> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = waiting.as_mut().ok_or(StoreError::Closed)?;
        waiting.push(job);
        Ok(waiting.len() == 1)
    }

    fn take(&self) -> Vec<Box<dyn Job>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// Ends what waits when the writer ends, however it ends: nobody waits for a thread that is gone.
struct Ending(Arc<Lazy>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.failed.store(true, Ordering::Release);
        *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// What both threads share.
pub(super) struct Shared {
    pub(super) place: String,
    pub(super) keys: Keys,
    pub(super) ids: Arc<Ids>,
    pub(super) probe: Option<Probe>,
    /// Why nothing is promised any more.
    pub(super) broken: OnceLock<StoreError>,
    /// How often the disk was asked to flush.
    pub(super) flushes: AtomicU64,
    /// The name of this process among those that write.
    pub(super) writer: String,
}

impl Shared {
    /// Lets a test look, fail or stop before a step.
    pub(super) fn step(&self, step: Step) -> Result<(), StoreError> {
        match &self.probe {
            Some(probe) => probe(step).map_err(|error| StoreError::io(&error)),
            None => Ok(()),
        }
    }
}

/// The connection that writes, and what it knows of the journal.
pub(super) struct Writer {
    pub(super) conn: Connection,
    pub(super) log: Log,
    pub(super) at_hand: AtHand,
    pub(super) key: VerifyingKey,
    pub(super) shared: Arc<Shared>,
    /// The write-ahead log.
    pub(super) wal: PathBuf,
    /// Its length past which it is copied back at once.
    pub(super) most: u64,
}

/// The file of a database's write-ahead log.
pub(super) fn wal_of(database: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", database.display()))
}

/// Starts the threads; they end when the queue is dropped.
pub(super) fn start(
    writer: Writer,
    copier: Connection,
    database: &Path,
    queue: Receiver<Queued>,
    lazy: Arc<Lazy>,
) -> io::Result<[JoinHandle<()>; 3]> {
    let (to_flusher, commits) = mpsc::channel();
    // One note that there is something to copy is as good as many.
    let (to_copier, notes) = mpsc::sync_channel(1);
    let shared = Arc::clone(&writer.shared);
    let wal = wal_of(database);
    let also = wal.clone();
    let flusher = Flusher { wal, shared, file: None, since_copy: 0, length: 0, copier: to_copier };
    let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().name(name.into()).spawn(run)
    };
    Ok([
        start(
            "store-writer",
            Box::new(move || {
                let ending = Ending(lazy);
                writer.run(&queue, &ending.0, &to_flusher);
            }),
        )?,
        start("store-flusher", Box::new(move || flusher.run(&commits)))?,
        start("store-copier", Box::new(move || copy_back(&copier, &also, &notes)))?,
    ])
}

/// How a transaction ended: for each job whether it waits for the disk, and whether something was erased.
type Done = (Vec<Result<bool, StoreError>>, bool);

/// How jobs share a transaction.
#[derive(Clone, Copy)]
enum Way {
    /// They stand and fall together.
    Straight,
    /// One that fails leaves the others as they are.
    WithSavepoints,
}

/// Why a transaction came to nothing.
enum GivenUp {
    /// One of its jobs failed, and may alone.
    Job,
    /// Nothing can be written.
    All(StoreError),
}

impl From<StoreError> for GivenUp {
    fn from(error: StoreError) -> GivenUp {
        GivenUp::All(error)
    }
}

/// Does a job so that it can be taken back alone. Fails where the whole transaction must be given up.
fn with_savepoint(
    job: &mut dyn Job,
    work: &mut Work<'_>,
    shared: &Shared,
) -> Result<Result<(), StoreError>, StoreError> {
    let before = (work.log.clone(), work.calls.clone());
    work.run("SAVEPOINT job", [])?;
    let end = job.apply(work).and_then(|()| shared.step(Step::Applied));
    if let Err(error) = &end {
        if work.conn.is_autocommit() {
            // SQLite gave the whole transaction up, as it does where the disk is full.
            return Err(error.clone());
        }
        work.run("ROLLBACK TO job", [])?;
        (*work.log, work.calls) = before;
        work.at_hand.clear();
    }
    work.run("RELEASE job", [])?;
    Ok(end)
}

/// What one commit leaves to the flusher: the jobs that wait for the disk.
type Commit = Vec<Box<dyn Job>>;

impl Writer {
    fn run(mut self, queue: &Receiver<Queued>, lazy: &Lazy, flusher: &Sender<Commit>) {
        while let Ok(first) = queue.recv() {
            let mut urgent = match first {
                Queued::Urgent(job) => vec![job],
                // Nobody waits for it: let more share the transaction, until somebody does.
                Queued::Lazy => match queue.recv_timeout(limits::LAZY_COMMIT) {
                    Ok(Queued::Urgent(job)) => vec![job],
                    Ok(Queued::Lazy) | Err(_) => Vec::new(),
                },
            };
            urgent.extend(queue.try_iter().take(limits::BATCH - 1).filter_map(
                |queued| match queued {
                    Queued::Urgent(job) => Some(job),
                    Queued::Lazy => None,
                },
            ));
            // What could wait was queued before what depends on it.
            self.batches(lazy, &mut urgent, flusher);
        }
        self.batches(lazy, &mut Vec::new(), flusher);
        self.last_words(flusher);
    }

    /// Writes what could wait, in batches, and what somebody waits for with the last of them.
    fn batches(&mut self, lazy: &Lazy, urgent: &mut Vec<Box<dyn Job>>, flusher: &Sender<Commit>) {
        let mut waiting = lazy.take().into_iter().peekable();
        loop {
            let mut batch: Vec<_> = waiting.by_ref().take(limits::BATCH).collect();
            let lazies = batch.len();
            let last = waiting.peek().is_none();
            if last {
                batch.append(urgent);
            }
            // What a wake was about may have gone with an earlier batch.
            if !batch.is_empty() {
                self.batch(batch, lazies, lazy, flusher);
            }
            if last {
                return;
            }
        }
    }

    /// Signs what is not signed yet, when the store is closed.
    fn last_words(&mut self, flusher: &Sender<Commit>) {
        if self.log.signed < self.log.tree.size() && self.shared.broken.get().is_none() {
            // Nobody is left to tell; at the next start the unsigned records are read again.
            if self.transaction(&mut [], 0, true).is_ok() {
                let _ = flusher.send(Vec::new());
            }
        }
    }

    /// Writes jobs in one transaction. The first `lazies` are those that nobody waits for.
    fn batch(
        &mut self,
        mut jobs: Vec<Box<dyn Job>>,
        lazies: usize,
        lazy: &Lazy,
        flusher: &Sender<Commit>,
    ) {
        let ends = match self.shared.broken.get() {
            Some(error) => Err(error.clone()),
            None => self.transaction(&mut jobs, lazies, false),
        };
        // Where nothing can be written, that goes for what nobody waits for too; what was written of it clears it.
        match &ends {
            Err(_) => lazy.failed.store(true, Ordering::Release),
            Ok((ends, _)) if lazies > 0 => {
                let failed = ends.iter().take(lazies).any(Result::is_err);
                lazy.failed.store(failed, Ordering::Release);
            }
            Ok(_) => {}
        }
        let (ends, erased) = match ends {
            Ok(ends) => ends,
            Err(error) => {
                for job in jobs {
                    job.finish(Err(error.clone()));
                }
                return;
            }
        };
        let mut waiting = Vec::new();
        for (job, end) in jobs.into_iter().zip(ends) {
            match end {
                Ok(true) => waiting.push(job),
                Ok(false) => job.finish(Ok(())),
                Err(error) => job.finish(Err(error)),
            }
        }
        if erased {
            self.forget();
        }
        if let Err(unsent) = flusher.send(waiting) {
            for job in unsent.0 {
                job.finish(Err(StoreError::Closed));
            }
        }
        self.keep_short();
    }

    /// Copies a write-ahead log back that has become too long. Where a reader holds it, that is tried again once it has
    /// grown by as much as is copied at once.
    fn keep_short(&mut self) {
        let length = || std::fs::metadata(&self.wal).map_or(0, |wal| wal.len());
        if length() <= self.most {
            return;
        }
        // Nobody waits long for it: what is not copied stays safe where it is.
        if self.conn.busy_timeout(limits::COPY).is_ok() {
            self.forget();
        }
        let _ = self.conn.busy_timeout(limits::BUSY);
        self.most = limits::WAL_MOST.max(length() + limits::WAL_PAGES * PAGE_BYTES);
    }

    /// One transaction for many jobs. For each: whether it waits for the disk, or why it alone failed; for all, whether
    /// something was erased.
    ///
    /// As a rule none fails, and a way back for each would cost more than the work itself: SQLite copies every page that
    /// comes after a savepoint. Where one does fail, all of it is given up and done again, each with its savepoint.
    fn transaction(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        lazies: usize,
        closing: bool,
    ) -> Result<Done, StoreError> {
        let mut done = self.attempt(jobs, lazies, closing, Way::Straight);
        if matches!(done, Err(GivenUp::Job)) {
            done = self.attempt(jobs, lazies, closing, Way::WithSavepoints);
        }
        done.map_err(|given_up| match given_up {
            GivenUp::All(error) => error.at(&self.shared.place),
            GivenUp::Job => StoreError::conflict("A transaction was given up twice."),
        })
    }

    fn attempt(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        lazies: usize,
        closing: bool,
        way: Way,
    ) -> Result<Done, GivenUp> {
        let before = self.log.clone();
        let done = self.inside(jobs, lazies, closing, way);
        if done.is_err() {
            self.log = before;
            self.at_hand.clear();
            if !self.conn.is_autocommit() {
                // Where this fails too, the next BEGIN says so.
                let _ = self.conn.execute_batch("ROLLBACK");
            }
        }
        done
    }

    fn inside(
        &mut self,
        jobs: &mut [Box<dyn Job>],
        lazies: usize,
        closing: bool,
        way: Way,
    ) -> Result<Done, GivenUp> {
        let shared = Arc::clone(&self.shared);
        shared.step(Step::Begin)?;
        self.statement("BEGIN IMMEDIATE")?;
        self.catch_up()?;
        let mut work = Work {
            conn: &self.conn,
            log: &mut self.log,
            keys: &shared.keys,
            ids: &shared.ids,
            writer: &shared.writer,
            durable: false,
            erased: false,
            calls: BTreeMap::new(),
            at_hand: &mut self.at_hand,
        };
        let mut ends = Vec::with_capacity(jobs.len());
        let nobody_waits = lazies == jobs.len();
        for job in jobs {
            work.durable = false;
            let end = match way {
                Way::Straight => {
                    job.apply(&mut work)
                        .and_then(|()| shared.step(Step::Applied))
                        .map_err(|_| GivenUp::Job)?;
                    Ok(())
                }
                Way::WithSavepoints => with_savepoint(job.as_mut(), &mut work, &shared)?,
            };
            ends.push(end.map(|()| work.durable).map_err(|error| error.at(&shared.place)));
            if nobody_waits {
                // A message that is on its way goes first: one core may have to do for both.
                std::thread::yield_now();
            }
        }
        work.count_calls()?;
        if closing || work.log.tree.size() - work.log.signed >= limits::CHECKPOINT_EVERY {
            work.checkpoint()?;
        }
        let erased = work.erased;
        shared.step(Step::Commit)?;
        self.statement("COMMIT")?;
        shared.step(Step::Committed)?;
        Ok((ends, erased))
    }

    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        self.conn.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    /// Reads the end of the journal again where a command beside the gateway has written to it.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        let size: u64 = self
            .conn
            .prepare_cached("SELECT coalesce(max(seq) + 1, 0) FROM leaf")?
            .query_row([], |row| row.get(0))?;
        if size != self.log.tree.size() {
            self.log = read_log(&self.conn, &self.key)?;
        }
        Ok(())
    }

    /// Empties the write-ahead log: of what was erased, or of what is too much. Where a reader stands in the way, the log is cut later.
    fn forget(&self) {
        let _ = self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// The thread that flushes.
struct Flusher {
    wal: PathBuf,
    shared: Arc<Shared>,
    file: Option<File>,
    since_copy: u64,
    /// The length of the write-ahead log when it was last copied for its length.
    length: u64,
    copier: SyncSender<()>,
}

impl Flusher {
    fn run(mut self, commits: &Receiver<Commit>) {
        while let Ok(first) = commits.recv() {
            let mut waiting = first;
            let mut count = 1;
            let deadline = Instant::now() + limits::LAZY_FLUSH;
            // Nobody waits: let more commits share the flush.
            while waiting.is_empty() {
                match commits.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(more) => {
                        waiting.extend(more);
                        count += 1;
                    }
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
            for more in commits.try_iter().take(limits::QUEUE) {
                waiting.extend(more);
                count += 1;
            }
            let end = self.flush();
            for job in waiting {
                job.finish(end.clone());
            }
            self.since_copy += count;
            if end.is_ok() && (self.since_copy >= COMMITS_PER_COPY || self.has_grown()) {
                self.since_copy = 0;
                // Full: the copier has a note already.
                let _ = self.copier.try_send(());
            }
        }
    }

    /// Whether the write-ahead log grew by as much as is copied at once: few commits may be large.
    fn has_grown(&mut self) -> bool {
        let length =
            self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |of| of.len());
        let grown = length > self.length + limits::WAL_PAGES * PAGE_BYTES;
        // It is cut at times; what it grows from is then less.
        if grown || length < self.length {
            self.length = length;
        }
        grown
    }

    /// Asks the disk to hold what was committed.
    fn flush(&mut self) -> Result<(), StoreError> {
        if let Some(error) = self.shared.broken.get() {
            return Err(error.clone());
        }
        let end = self.shared.step(Step::Flush).and_then(|()| {
            let file = match &mut self.file {
                Some(file) => file,
                none => {
                    // The names of the files must be on disk too, and the first flush sees to it.
                    let folder = self.wal.parent().filter(|folder| !folder.as_os_str().is_empty());
                    File::open(folder.unwrap_or(Path::new(".")))
                        .and_then(|folder| folder.sync_all())
                        .map_err(|error| StoreError::io(&error))?;
                    none.insert(File::open(&self.wal).map_err(|error| StoreError::io(&error))?)
                }
            };
            self.shared.flushes.fetch_add(1, Ordering::Relaxed);
            file.sync_data().map_err(|error| StoreError::io(&error))?;
            self.shared.step(Step::Flushed)
        });
        end.map_err(|error| {
            // After a failed flush the system may have dropped the pages: asking again would say yes and mean nothing.
            let unflushed = StoreError::Unflushed {
                place: self.shared.place.clone(),
                why: match error {
                    StoreError::Failed { why, .. } => why,
                    _ => "the disk is full".into(),
                },
            };
            self.shared.broken.get_or_init(|| unflushed).clone()
        })
    }
}

/// Copies the write-ahead log back into the database, beside the writer; where it grew too long, in its place.
fn copy_back(conn: &Connection, wal: &Path, notes: &Receiver<()>) {
    while notes.recv().is_ok() {
        // What is not copied now is copied later; until then it is safe where it is.
        let copy = |how: &str| {
            let _ = conn.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()));
        };
        copy("PASSIVE");
        // What came meanwhile is little: the writer waits for that alone.
        if std::fs::metadata(wal).is_ok_and(|wal| wal.len() > limits::WAL_BYTES) {
            copy("TRUNCATE");
        }
    }
}
