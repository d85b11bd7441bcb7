//! What SQLite says, in the words of the store.

use std::io;

use rusqlite::ErrorCode;

use crate::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        let place = String::new();
        let why = error.to_string();
        if let rusqlite::Error::ToSqlConversionFailure(_) = error {
            return StoreError::conflict("A number is larger than the store can hold.");
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { place },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { place },
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupted { place, why },
            Some(ErrorCode::NotADatabase) => StoreError::Foreign { place },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
            // A value that does not have the type of its column, or a row that must be there.
            None => StoreError::Corrupted { place, why },
            Some(_) => StoreError::Failed { place, why },
        }
    }
}

impl StoreError {
    /// Says which file it is about, where that is not known yet.
    pub(super) fn at(mut self, file: &str) -> StoreError {
        match &mut self {
            StoreError::Full { place }
            | StoreError::Busy { place }
            | StoreError::Corrupted { place, .. }
            | StoreError::Foreign { place }
            | StoreError::Failed { place, .. }
            | StoreError::Unflushed { place, .. }
                if place.is_empty() =>
            {
                *place = file.to_owned();
            }
            _ => {}
        }
        self
    }

    /// Something in the tables that no write of this program leaves behind.
    pub(super) fn damaged(why: impl Into<String>) -> StoreError {
        StoreError::Corrupted { place: String::new(), why: why.into() }
    }

    pub(super) fn io(error: &io::Error) -> StoreError {
        let place = String::new();
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => StoreError::Full { place },
            _ => StoreError::Failed { place, why: error.to_string() },
        }
    }
}
