//! Which processes that write to a store are alive: each holds a lock on a file of its own, which its end lets go of,
//! however it ends.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::keys::beside;

/// The file of this process.
pub(super) struct Mark {
    path: PathBuf,
    _held: File,
}

impl Mark {
    /// Makes and holds it, before anything is written in its name.
    pub(super) fn make(database: &Path, writer: &str) -> Result<Mark, StoreError> {
        let path = file(database, writer);
        let held = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|error| StoreError::io(&error))?;
        Ok(Mark { path, _held: held })
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // A file that stays behind is taken away by whoever finds its process gone.
        let _ = fs::remove_file(&self.path);
    }
}

fn file(database: &Path, writer: &str) -> PathBuf {
    beside(database, &format!("writer-{writer}"))
}

/// Tells which writers are gone, and asks about each once.
pub(super) struct Gone<'a> {
    database: &'a Path,
    /// Nothing is changed: neither is a file taken away, nor a lock held that another one who looks would meet.
    looks: bool,
    known: BTreeMap<String, bool>,
}

impl<'a> Gone<'a> {
    pub(super) fn of(database: &'a Path) -> Gone<'a> {
        Gone { database, looks: false, known: BTreeMap::new() }
    }

    /// For whoever only reads.
    pub(super) fn looking(database: &'a Path) -> Gone<'a> {
        Gone { looks: true, ..Gone::of(database) }
    }

    /// Whether this writer is gone. Rows of the first version name none: what they left open is long over.
    pub(super) fn is(&mut self, writer: Option<&str>) -> bool {
        let Some(writer) = writer else { return true };
        if let Some(known) = self.known.get(writer) {
            return *known;
        }
        let path = file(self.database, writer);
        let gone = match OpenOptions::new().read(self.looks).write(!self.looks).open(&path) {
            Ok(file) if self.looks => file.try_lock_shared().is_ok(),
            Ok(file) => match file.try_lock() {
                Ok(()) => {
                    let _ = fs::remove_file(&path);
                    true
                }
                // What cannot be asked is left as it is: it stays under way, and nothing is repeated.
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
            },
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        self.known.insert(writer.to_owned(), gone);
        gone
    }
}
