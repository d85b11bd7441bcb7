//! Opening: who may, what is there, and what an earlier gateway left open.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use tokio::sync::Semaphore;

use super::mark::{Gone, Mark};
use super::work::{AtHand, Keys, Log, Work, read_log};
use super::writer::{Shared, Writer};
use super::{Access, Options, Sqlite, Step, Writes, ledger, reader, schema, writer};
use crate::journal::{Entry, Kind, VerifyingKey};
use crate::keys::{Seal, Signer, beside};
use crate::{Ids, Millis, StoreError, limits};

pub(super) fn open(path: &Path, options: Options) -> Result<Sqlite, StoreError> {
    let place = path.display().to_string();
    let there = look(path, &place)?;
    if options.access == Access::Read {
        return if there {
            read_only(path, place, options)
        } else {
            Err(StoreError::Missing { place })
        };
    }
    // A command has nothing to do in a store that never had a gateway.
    if options.access == Access::Command && !there {
        return Err(StoreError::Missing { place });
    }
    let step = |step| match &options.probe {
        Some(probe) => probe(step).map_err(|error| StoreError::io(&error)),
        None => Ok(()),
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| StoreError::io(&error))?;
    }
    step(Step::File)?;
    let lock = lock(path, &place, options.access)?;
    // Another one may have made it in the meantime.
    look(path, &place)?;
    step(Step::File)?;
    let conn = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version = tables(&conn, &place)?;
    // Keys are made for a new store alone: a lost key must not be replaced in silence.
    step(Step::File)?;
    let signer = Signer::open(path, version == 0)?;
    step(Step::File)?;
    let seal = Arc::new(Seal::open(path, version == 0)?);
    let keys = Keys { signer, seal: Arc::clone(&seal) };
    let ids = Arc::new(options.ids);
    // Chance, also where the ids follow from a seed: two processes must never be taken for one another.
    let writer = Ids::by_chance().session(options.at)?.to_string();
    let shared = Arc::new(Shared {
        place: place.clone(),
        keys,
        ids: Arc::clone(&ids),
        probe: options.probe.clone(),
        broken: OnceLock::new(),
        flushes: AtomicU64::new(0),
        writer,
    });
    step(Step::File)?;
    let mark = Mark::make(path, &shared.writer)?;
    let (log, key) = begin(&conn, &shared, version, path, lock.alone, options.at)?;
    let connections = connect_readers(path)?;
    let copier = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    copier.busy_timeout(limits::COPY)?;
    let (queue, jobs) = mpsc::channel();
    let lazy = Arc::new(writer::Lazy::new());
    let one = Writer {
        conn,
        log,
        at_hand: AtHand::default(),
        key: key.clone(),
        shared: Arc::clone(&shared),
        wal: writer::wal_of(path),
        most: limits::WAL_MOST,
    };
    let mut threads: Vec<_> = writer::start(one, copier, path, jobs, Arc::clone(&lazy))
        .map_err(|error| StoreError::io(&error))?
        .into();
    let (questions, asked) = mpsc::channel();
    threads.extend(reader::start(connections, asked).map_err(|error| StoreError::io(&error))?);
    Ok(Sqlite {
        place,
        path: path.to_owned(),
        ids,
        key,
        writes: Some(Writes {
            queue,
            lazy,
            places: Arc::new(Semaphore::new(limits::QUEUE)),
            shared,
        }),
        questions: Some(questions),
        question_places: Arc::new(Semaphore::new(limits::READ_QUEUE)),
        at_hand: Mutex::new(Some(connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)),
        threads,
        seal: Some(seal),
        _mark: Some(mark),
        _lock: lock.keep(options.access)?,
    })
}

fn read_only(path: &Path, place: String, options: Options) -> Result<Sqlite, StoreError> {
    let connections = connect_readers(path)?;
    let first = connections.first().ok_or(StoreError::Closed)?;
    tables(first, &place)?;
    let key = written_key(first)?;
    let (questions, asked) = mpsc::channel();
    let threads = reader::start(connections, asked).map_err(|error| StoreError::io(&error))?;
    Ok(Sqlite {
        place,
        path: path.to_owned(),
        ids: Arc::new(options.ids),
        key,
        writes: None,
        questions: Some(questions),
        question_places: Arc::new(Semaphore::new(limits::READ_QUEUE)),
        at_hand: Mutex::new(Some(connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)),
        threads,
        // Without the key everything but the payloads can be read.
        seal: Seal::open(path, false).ok().map(Arc::new),
        _mark: None,
        _lock: None,
    })
}

/// Looks before anything is opened for writing, so that a file of another program or of a newer version is left as it
/// is. Says whether there is a file with content.
///
/// SQLite itself does the looking: to close a file that it has open elsewhere in this process would drop its locks.
fn look(path: &Path, place: &str) -> Result<bool, StoreError> {
    match std::fs::metadata(path) {
        Ok(file) if file.len() > 0 => {
            tables(&connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?, place)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io(&error)),
    }
}

/// Whose tables these are, and whether they can be read. Zero and zero is a database without tables.
fn check(application: u32, version: u32, place: &str) -> Result<(), StoreError> {
    if application == schema::APPLICATION && version > schema::VERSION {
        let (place, known) = (place.to_owned(), schema::VERSION);
        return Err(StoreError::Newer { place, found: version, known });
    }
    if application != schema::APPLICATION && (application != 0 || version != 0) {
        return Err(StoreError::Foreign { place: place.to_owned() });
    }
    Ok(())
}

/// The version of the tables, or why they are not ours to touch.
fn tables(conn: &Connection, place: &str) -> Result<u32, StoreError> {
    let application: u32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    check(application, version, place)?;
    let count: u64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if version == 0 && count > 0 {
        return Err(StoreError::Foreign { place: place.to_owned() });
    }
    Ok(version)
}

/// The lock on a store, as it was got.
struct Lock {
    file: File,
    /// Nobody else has it: tables may be made and migrated.
    alone: bool,
}

impl Lock {
    /// What is held on to once the store is open: a gateway that shares lets others in, a command holds nothing.
    fn keep(self, access: Access) -> Result<Option<File>, StoreError> {
        match access {
            Access::Gateway => Ok(Some(self.file)),
            Access::Shared => {
                self.file.lock_shared().map_err(|error| StoreError::io(&error))?;
                Ok(Some(self.file))
            }
            Access::Command | Access::Read => Ok(None),
        }
    }
}

/// Takes the lock: alone where that is possible, else together with others where the access allows it.
fn lock(path: &Path, place: &str, access: Access) -> Result<Lock, StoreError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(beside(path, "lock"))
        .map_err(|error| StoreError::io(&error))?;
    let got = |tried: Result<(), TryLockError>| match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(StoreError::io(&error)),
    };
    let deadline = Instant::now() + limits::LOCK;
    loop {
        if got(file.try_lock())? {
            return Ok(Lock { file, alone: true });
        }
        // A command works beside whoever is there; its records say who wrote them.
        if access == Access::Command || (access == Access::Shared && got(file.try_lock_shared())?) {
            return Ok(Lock { file, alone: false });
        }
        if Instant::now() >= deadline {
            return Err(StoreError::Locked { place: place.to_owned() });
        }
        // A command, or a gateway that is only being opened, has it for a moment.
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        // Made here, so that it is the owner's alone from its first byte; a file that is there is not touched.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::io(&error));
            }
            _ => {}
        }
    }
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(limits::BUSY)?;
    conn.set_prepared_statement_cache_capacity(64);
    // Plans must not depend on the values that are bound: partial indexes make SQLite look at them, and it would plan
    // the same statement anew for each value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        let mode: String =
            conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if mode != "wal" {
            return Err(StoreError::Failed {
                place: String::new(),
                why: format!("SQLite cannot keep a write-ahead log there (it says `{mode}`)"),
            });
        }
        // The flusher asks the disk itself, once for all that wait; it also copies the log back.
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "wal_autocheckpoint", 0)?;
        conn.pragma_update(None, "journal_size_limit", limits::WAL_BYTES)?;
        conn.pragma_update(None, "secure_delete", true)?;
        // What a savepoint needs to go back is kept in memory: as a file it costs more than all that is written, and
        // leaves copies of pages beside the database.
        conn.pragma_update(None, "temp_store", "MEMORY")?;
    } else {
        conn.pragma_update(None, "query_only", true)?;
    }
    Ok(conn)
}

fn connect_readers(path: &Path) -> Result<Vec<Connection>, StoreError> {
    (0..limits::READERS).map(|_| connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)).collect()
}

/// Makes or migrates the tables, reads the journal's end, and settles what an earlier gateway left open.
fn begin(
    conn: &Connection,
    shared: &Shared,
    version: u32,
    path: &Path,
    alone: bool,
    at: Millis,
) -> Result<(Log, VerifyingKey), StoreError> {
    if version != schema::VERSION && !alone {
        return Err(StoreError::conflict(
            "A gateway that runs uses this store in an older format: stop it first.",
        ));
    }
    shared.step(Step::Begin)?;
    conn.execute_batch("BEGIN IMMEDIATE")?;
    if version != schema::VERSION {
        schema::migrate(conn, version)?;
    }
    let (mut log, mut at_hand) = (Log::default(), AtHand::default());
    let key = if version == 0 {
        let name = format!("steadfast/{}", shared.ids.session(at)?);
        log.name.clone_from(&name);
        let key = shared.keys.signer.public(&name);
        conn.execute("INSERT INTO meta (name, value) VALUES ('key', ?1)", [key.to_string()])?;
        let mut work = work(conn, &mut log, &mut at_hand, shared);
        work.append(Entry::new(Kind::Opened, at).with("key", key.to_string()))?;
        work.checkpoint()?;
        key
    } else {
        let key = written_key(conn)?;
        if shared.keys.signer.public(key.name()) != key {
            return Err(StoreError::Key {
                place: format!("{}.signing-key", shared.place),
                why: "This is not the key that this journal was begun with. Put that one back from a backup; the journal was left as it is.".into(),
            });
        }
        log = read_log(conn, &key)?;
        key
    };
    let mut work = work(conn, &mut log, &mut at_hand, shared);
    let mut gone = Gone::of(path);
    ledger::settle_gone(&mut work, &mut gone, at)?;
    shared.step(Step::Commit)?;
    conn.execute_batch("COMMIT")?;
    shared.step(Step::Committed)?;
    Ok((log, key))
}

fn work<'a>(
    conn: &'a Connection,
    log: &'a mut Log,
    at_hand: &'a mut AtHand,
    shared: &'a Shared,
) -> Work<'a> {
    let ids: &Ids = &shared.ids;
    let writer = &shared.writer;
    let calls = BTreeMap::new();
    Work {
        conn,
        log,
        keys: &shared.keys,
        ids,
        writer,
        durable: true,
        erased: false,
        calls,
        at_hand,
    }
}

fn written_key(conn: &Connection) -> Result<VerifyingKey, StoreError> {
    let text: Option<String> = conn
        .query_row("SELECT value FROM meta WHERE name = 'key'", [], |row| row.get(0))
        .optional()?;
    let text = text.ok_or_else(|| StoreError::damaged("it holds no public key"))?;
    VerifyingKey::read(&text).map_err(StoreError::damaged)
}
