//! What can go wrong, in sentences with a place and a way forward.

/// Why the store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no store.
    #[error(
        "{place}: There is no store here. It is made by the first gateway that runs; check the path."
    )]
    Missing {
        /// The file.
        place: String,
    },
    /// The disk has no room, or the file may not grow.
    #[error(
        "{place}: The disk is full, or the file may not grow. Nothing was recorded, so nothing may be sent. Make room; the next call is recorded again."
    )]
    Full {
        /// The file.
        place: String,
    },
    /// Another gateway works on this store.
    #[error(
        "{place}: Another gateway works on this store. Two would tear its journal apart: stop the other one, or give this one a store of its own."
    )]
    Locked {
        /// The file.
        place: String,
    },
    /// Another process holds the database for longer than anyone should.
    #[error(
        "{place}: Another process kept the database busy for too long. Try again; look for a program that holds it open."
    )]
    Busy {
        /// The file.
        place: String,
    },
    /// The content contradicts itself.
    #[error(
        "{place}: The store is damaged: {why}. Keep the file as it is and run `steadfast journal verify`; go on with a backup or a new store."
    )]
    Corrupted {
        /// The file.
        place: String,
        /// What contradicts what.
        why: String,
    },
    /// A newer steadfast made it.
    #[error(
        "{place}: A newer steadfast made this store (format {found}, this one reads up to {known}). It was left as it is: use that version, or another store."
    )]
    Newer {
        /// The file.
        place: String,
        /// The format found.
        found: u32,
        /// The newest format known here.
        known: u32,
    },
    /// The file is something else.
    #[error(
        "{place}: This file is not a store of steadfast. It was left as it is; name another path."
    )]
    Foreign {
        /// The file.
        place: String,
    },
    /// A key file is missing, changed, or open to others.
    #[error("{place}: {why}")]
    Key {
        /// The key file.
        place: String,
        /// What is wrong with it, and the way forward.
        why: String,
    },
    /// Reading or writing failed otherwise.
    #[error(
        "{place}: The store could not be used: {why}. Check the disk, and who may write there."
    )]
    Failed {
        /// The file.
        place: String,
        /// What the system said.
        why: String,
    },
    /// A flush to disk failed: what was written since may be lost, so nothing more is promised.
    #[error(
        "{place}: A flush to the disk failed ({why}). What it holds is no longer certain: no call is recorded until the store is opened again. Check the disk first."
    )]
    Unflushed {
        /// The file.
        place: String,
        /// What the system said.
        why: String,
    },
    /// The store was opened for reading.
    #[error("The store was opened for reading only; nothing can be recorded.")]
    ReadOnly,
    /// The store is closed or its writer ended.
    #[error("The store is closed; nothing more is recorded.")]
    Closed,
    /// Something is larger than the store takes.
    #[error("{what} has {size} bytes; the store takes at most {most}. Nothing was recorded.")]
    TooLarge {
        /// What it is.
        what: String,
        /// Its size.
        size: usize,
        /// The limit.
        most: usize,
    },
    /// More of something than the store takes.
    #[error("There are {most} {what} already, and no more are taken. {remedy}")]
    TooMany {
        /// What there are too many of.
        what: String,
        /// The limit.
        most: u64,
        /// The way forward.
        remedy: String,
    },
    /// An id that names nothing.
    #[error("There is no {what} {id}.")]
    Unknown {
        /// The kind of thing.
        what: String,
        /// Its id.
        id: String,
    },
    /// A text that is no id.
    #[error("`{given}` is not the id of a {what}.")]
    Malformed {
        /// The kind of id.
        what: String,
        /// The text.
        given: String,
    },
    /// What was asked contradicts what is recorded.
    #[error("{why}")]
    Conflict {
        /// The sentence that says how.
        why: String,
    },
    /// A signature that the named key did not make, or a key that is not enrolled.
    #[error("{why}")]
    Unsigned {
        /// The sentence that says how.
        why: String,
    },
    /// The system gives no random numbers.
    #[error(
        "The system gave no random numbers ({why}); without them no key and no id can be made."
    )]
    NoChance {
        /// What the system said.
        why: String,
    },
}

impl StoreError {
    /// A contradiction, in one sentence.
    pub(crate) fn conflict(why: impl Into<String>) -> StoreError {
        StoreError::Conflict { why: why.into() }
    }

    /// An id that names nothing.
    pub(crate) fn unknown(what: &str, id: impl ToString) -> StoreError {
        StoreError::Unknown { what: what.into(), id: id.to_string() }
    }
}
