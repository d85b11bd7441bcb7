//! Durable state of the gateway, and its tamper-evident journal.
//!
//! [`Store`] is the face: sessions, revisions, grants, the ledger of requests and attempts, approvals, counters.
//! [`Sqlite`] is the embedded implementation. Everything that is handed in is plain data; times are Unix milliseconds
//! given by the caller. Each write of the ledger and its record in the [`journal`] are one transaction, so neither can
//! be without the other.
//!
//! What a returned write promises:
//!
//! | write | survives the end of the process | survives a power cut |
//! | --- | --- | --- |
//! | [`Store::intend`] of an effect, grants, approvals, resolutions, erasure | yes | yes |
//! | everything else | yes | after at most [`limits::LAZY_FLUSH`], and never later than the next durable write |
//!
//! Where a write fails, nothing of it is recorded, and what depends on it must not happen.

pub mod approval;
pub mod approver;
mod counter;
mod error;
mod ids;
pub mod journal;
mod keys;
mod ledger;
pub mod limits;
pub mod passphrase;
mod revision;
mod session;
mod sqlite;
mod store;
mod vault;
mod word;

pub use approval::{
    Approval, ApprovalQuery, ApprovalState, Approver, NewApproval, Redeemed, Ruling, Settlement,
    WhyNot,
};
pub use counter::{AdapterUse, Count, Counted, Counter};
pub use error::StoreError;
pub use ids::{ApprovalId, AttemptId, Ids, RequestId, SessionId};
pub use ledger::{
    Activity, ActivityQuery, Again, Attempt, Decision, Grade, NewAttempt, NewOutcome, Outcome,
    OutcomeState, Planned, Resolution, StoredAnswer, Verdict,
};
pub use revision::{Grant, GrantHow, List, NewGrant, NewList, NewRevision, Revision, Seen, Shown};
pub use session::{Era, NewSession, Session, SessionEnd, SessionQuery};
pub use sqlite::{Access, Options, Probe, Sqlite, Step};
pub use store::{Answer, Store};
pub use vault::{VaultChange, VaultDeed};

/// Unix time in milliseconds.
pub type Millis = u64;
