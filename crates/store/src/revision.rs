//! Revisions of tools, the lists they came in, what a session was shown, and what was granted.

use crate::Millis;
use crate::word::words;

/// A definition that a server listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRevision {
    /// The key of the server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of its contract.
    pub digest: String,
    /// The definition, as JSON text, as the server spelled it.
    pub definition: String,
    /// When.
    pub at: Millis,
}

/// The answer to a definition that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The revision's number within its server and tool; the first is 1.
    pub ordinal: u64,
    /// It was never seen before.
    pub new: bool,
}

/// A revision as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The tool.
    pub tool: String,
    /// Its number within its server and tool.
    pub ordinal: u64,
    /// The digest of its contract.
    pub digest: String,
    /// When it was first seen.
    pub first_at: Millis,
}

/// A whole list that a server gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewList {
    /// The key of the server.
    pub server: String,
    /// The era and the authorisation at the server that it belongs to; empty where it belongs to all.
    pub scope: String,
    /// The digest of the list.
    pub digest: String,
    /// Each tool with the digest of its contract, in the order of the list.
    pub tools: Vec<(String, String)>,
    /// The pages as they came, as JSON text, where they are to be served again verbatim.
    pub pages: Option<String>,
    /// When.
    pub at: Millis,
}

/// A list as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The era and the authorisation at the server that it belongs to; empty where it belongs to all.
    pub scope: String,
    /// Its digest.
    pub digest: String,
    /// Each tool with the digest of its contract, in the order of the list.
    pub tools: Vec<(String, String)>,
    /// The pages as they came, where they were kept.
    pub pages: Option<String>,
    /// When it was first seen.
    pub first_at: Millis,
    /// When it was last seen.
    pub last_at: Millis,
    /// How often it became the current list: more than once means that a server went back to it.
    pub turns: u64,
}

/// A list that a session was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The digest of the list.
    pub digest: String,
    /// When.
    pub at: Millis,
}

words! {
    /// How a contract came to be granted.
    pub enum GrantHow {
        /// The first contract seen: nobody looked at it.
        FirstSeen = "first-seen",
        /// The lock of a project.
        Lock = "lock",
        /// A person accepted it.
        Accepted = "accepted",
        /// An approval was given under it.
        Approved = "approved",
    }
}

/// A contract to grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// The key of the server.
    pub server: String,
    /// The era and the authorisation at the server that it belongs to; empty where it belongs to all.
    pub scope: String,
    /// The tool.
    pub tool: String,
    /// The digest of the granted contract.
    pub digest: String,
    /// How.
    pub how: GrantHow,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Millis,
}

/// The granted contract of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The era and the authorisation at the server that it belongs to; empty where it belongs to all.
    pub scope: String,
    /// The tool.
    pub tool: String,
    /// The digest of the granted contract.
    pub digest: String,
    /// How it was granted.
    pub how: GrantHow,
    /// By whom.
    pub by: String,
    /// When.
    pub at: Millis,
    /// When a list of the server lacked the tool since: the name may have come back as something else.
    pub gone_at: Option<Millis>,
}

impl Grant {
    /// The grant that holds in a scope, of all grants of a server: its own, or one of before scopes were told apart.
    pub fn in_scope<'g>(grants: &'g [Grant], scope: &str, tool: &str) -> Option<&'g Grant> {
        let of =
            |scope: &str| grants.iter().find(|grant| grant.tool == tool && grant.scope == scope);
        of(scope).or_else(|| of(""))
    }

    /// The granted contract, as far as it stands for this one: after the tool was gone, for exactly itself.
    pub fn stands_for(&self, digest: &str) -> bool {
        self.gone_at.is_none() || self.digest == digest
    }
}
