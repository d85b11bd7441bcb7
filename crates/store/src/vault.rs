//! What is on record of the vault beside the store. Its labels stay sealed in it: a record holds a name for one that says
//! nothing without the store's keys.

use crate::word::words;
use crate::{ApprovalId, Millis};

words! {
    /// What was done to the vault.
    pub enum VaultDeed {
        /// It was made.
        Made = "made",
        /// A credential was added.
        Added = "added",
        /// A credential has another secret.
        Rotated = "rotated",
        /// A credential was removed.
        Removed = "removed",
        /// It is held open.
        Unlocked = "unlocked",
        /// It is held open no more.
        Locked = "locked",
    }
}

/// A change of the vault to record, and what it makes void.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultChange {
    /// What was done.
    pub what: VaultDeed,
    /// The label of the credential, and the version that it has now; on record under its fingerprint alone.
    pub credential: Option<(String, u32)>,
    /// Who did it, as far as the environment says.
    pub by: String,
    /// Approvals that cover nothing any more: they were given for what the credential was.
    pub void: Vec<ApprovalId>,
    /// When.
    pub at: Millis,
}
