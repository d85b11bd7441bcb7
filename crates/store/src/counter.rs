//! Counts per old revision: what still leans on a contract that is gone, and how much that weighs.

use crate::word::words;
use crate::{Millis, SessionId};

words! {
    /// What is counted.
    pub enum Counted {
        /// A call planned under the revision was converted and carried out.
        Normalised = "normalised",
        /// A call planned under it was refused.
        Refused = "refused",
        /// A refresh and a new try repaired it without a person.
        Repaired = "repaired",
        /// It needed a person.
        Person = "person",
    }
}

/// One event to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of the old contract.
    pub revision: String,
    /// What happened.
    pub what: Counted,
    /// The session, whose age is its weight.
    pub session: SessionId,
    /// The call may change something outside.
    pub effect: bool,
    /// When.
    pub at: Millis,
}

/// A count with its weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of the old contract.
    pub revision: String,
    /// What happened.
    pub what: Counted,
    /// How often.
    pub times: u64,
    /// How often in a call that may change something outside.
    pub effects: u64,
    /// The ages of the sessions at these events, added up, in milliseconds.
    pub session_age: u64,
    /// The age of the oldest session among them.
    pub oldest_session: u64,
    /// When it last happened.
    pub last_at: Millis,
}

/// The use of one adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterUse {
    /// The adapter.
    pub adapter: String,
    /// How often.
    pub times: u64,
    /// The first time.
    pub first_at: Millis,
    /// The last time.
    pub last_at: Millis,
}
