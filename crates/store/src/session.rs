//! Sessions: who was connected to which server, and when.

use crate::word::words;
use crate::{Millis, SessionId};

words! {
    /// The protocol era of a client.
    pub enum Era {
        /// A session with a handshake.
        Legacy = "legacy",
        /// Each request stands alone; the session is kept by principal.
        Modern = "modern",
    }
}

words! {
    /// How a session ended.
    pub enum SessionEnd {
        /// The client left.
        Closed = "closed",
        /// Nothing was heard of the client for too long.
        Expired = "expired",
        /// A person or a policy took it away.
        Revoked = "revoked",
        /// The gateway ended while it was open; noticed at the next start.
        Restart = "restart",
    }
}

/// A session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// The key of the server.
    pub server: String,
    /// Who is authorised: an account, a token's name, a local user.
    pub principal: String,
    /// The era that the client speaks.
    pub era: Era,
    /// What the client says about itself, as JSON text. Unverified: it counts for nothing.
    pub client_info: Option<String>,
    /// When.
    pub at: Millis,
}

/// A session as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The key of the server.
    pub server: String,
    /// Who is authorised.
    pub principal: String,
    /// The era that the client speaks.
    pub era: Era,
    /// What the client says about itself, as JSON text.
    pub client_info: Option<String>,
    /// When it was opened.
    pub opened_at: Millis,
    /// When and how it ended; `None` while it is open.
    pub ended: Option<(Millis, SessionEnd)>,
    /// It is open on record, and its process is gone.
    pub abandoned: bool,
    /// Requests decided in it.
    pub requests: u64,
    /// Those of them that were refused.
    pub refused: u64,
}

/// Which sessions are asked for, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Of this server alone.
    pub server: Option<String>,
    /// Open ones alone.
    pub open: bool,
    /// Those older than this one alone: the last of a page gives the next.
    pub before: Option<SessionId>,
    /// At most so many; zero stands for as many as the store gives at once.
    pub limit: u32,
}
