//! Protocol revisions, as a table.

use std::fmt;

/// How a connection is opened and what travels with each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// `initialize` first, then a session (2025-11-25 and earlier).
    Legacy,
    /// No handshake: each request carries version and capabilities (2026-07-28 and later).
    Modern,
}

impl Era {
    /// `legacy` or `modern`, as written in a snapshot.
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One revision that this crate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision {
    /// The date that names it on the wire.
    pub date: &'static str,
    /// How a connection under it is opened.
    pub era: Era,
    /// Over HTTP, requests after the handshake name the revision in `MCP-Protocol-Version`.
    pub version_header: bool,
}

impl Revision {
    /// Several messages may come as one list.
    pub fn has_batches(&self) -> bool {
        !self.version_header
    }
}

/// Every revision, oldest first. A new one is one more row.
pub const REVISIONS: &[Revision] = &[
    Revision { date: "2024-10-07", era: Era::Legacy, version_header: false },
    Revision { date: "2024-11-05", era: Era::Legacy, version_header: false },
    Revision { date: "2025-03-26", era: Era::Legacy, version_header: false },
    Revision { date: "2025-06-18", era: Era::Legacy, version_header: true },
    Revision { date: "2025-11-25", era: Era::Legacy, version_header: true },
    Revision { date: "2026-07-28", era: Era::Modern, version_header: true },
];

impl Revision {
    /// The revision of this date, if this crate speaks it.
    pub fn named(date: &str) -> Option<Revision> {
        REVISIONS.iter().find(|r| r.date == date).copied()
    }

    /// The newest revision of an era.
    pub fn newest(era: Era) -> Revision {
        REVISIONS.iter().rfind(|r| r.era == era).copied().expect("the table has rows of both eras")
    }

    /// The newest revision of an era among those that a server offers.
    pub fn common<'a>(era: Era, offered: impl IntoIterator<Item = &'a str>) -> Option<Revision> {
        offered.into_iter().filter_map(Revision::named).filter(|r| r.era == era).max()
    }

    /// The dates of an era, newest first, for a sentence.
    pub fn list(era: Era) -> String {
        REVISIONS
            .iter()
            .rev()
            .filter(|r| r.era == era)
            .map(|r| r.date)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.date)
    }
}

/// Error codes that only a modern server sends: header mismatch, missing capability, unsupported version.
pub const MODERN_ERRORS: &[i64] = &[HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION];

/// The headers of a request do not agree with its body.
pub const HEADER_MISMATCH: i64 = -32020;
/// The request needs a capability that the client did not declare.
pub const MISSING_CAPABILITY: i64 = -32021;
/// The server does not speak the revision of the request; `data.supported` lists those that it speaks.
pub const UNSUPPORTED_VERSION: i64 = -32022;
/// JSON-RPC: no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the parameters are wrong (also: an invalid cursor).
pub const INVALID_PARAMS: i64 = -32602;
