//! The face of the store.

use std::future::Future;
use std::pin::Pin;

use crate::journal::{Checkpoint, Leaf, Payload, VerifyingKey};
use crate::{
    Activity, ActivityQuery, AdapterUse, Approval, ApprovalId, ApprovalQuery, Approver, AttemptId,
    Count, Counter, Decision, Grant, Ids, List, Millis, NewApproval, NewAttempt, NewGrant, NewList,
    NewOutcome, NewRevision, NewSession, Redeemed, RequestId, Resolution, Revision, Seen, Session,
    SessionEnd, SessionId, SessionQuery, Settlement, Shown, StoreError, StoredAnswer, VaultChange,
};

/// An answer to come. A write is queued when the answer is first polled, and done whether or not it is awaited further.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Durable state of a gateway. One gateway, or several on a shared database, work on it at once; every method may be
/// called from any task.
pub trait Store: Send + Sync {
    /// Makes the ids that callers bring along.
    fn ids(&self) -> &Ids;

    // Sessions.

    /// Opens a session.
    fn open_session(&self, session: NewSession) -> Answer<'_, SessionId>;
    /// Ends one. Ending it again changes nothing.
    fn close_session(&self, session: SessionId, how: SessionEnd, at: Millis) -> Answer<'_, ()>;
    /// The servers that a list or a grant is on record of.
    fn servers(&self) -> Answer<'_, Vec<String>>;
    /// Sessions, the newest first.
    fn sessions(&self, query: SessionQuery) -> Answer<'_, Vec<Session>>;

    // Revisions.

    /// Notes a definition, and gives its number: the same for the same digest, else the next.
    fn seen(&self, revision: NewRevision) -> Answer<'_, Seen>;
    /// Notes all definitions of a list in one write; the numbers come in the same order.
    fn seen_all(&self, revisions: Vec<NewRevision>) -> Answer<'_, Vec<Seen>>;
    /// Notes a whole list of a server, now its current one. A granted tool that it lacks is noted as gone.
    fn list_seen(&self, list: NewList) -> Answer<'_, ()>;
    /// Notes that these definitions, each a tool and a digest, are live at this time, or in the hands of an open session.
    fn held(&self, server: String, held: Vec<(String, String)>, at: Millis) -> Answer<'_, ()>;
    /// The digests of a tool's definitions that were so since then, the last first, of whatever scope: by what
    /// credentials a client asks, and in which era, says nothing of what it knows.
    fn kept(
        &self,
        server: String,
        tool: String,
        since: Millis,
        limit: u32,
    ) -> Answer<'_, Vec<String>>;
    /// Notes that a session was shown a list.
    fn shown(&self, session: SessionId, list: String, at: Millis) -> Answer<'_, ()>;
    /// All revisions of a server's tools, by tool and number.
    fn revisions(&self, server: String) -> Answer<'_, Vec<Revision>>;
    /// The definition with this digest, of a server.
    fn definition(
        &self,
        server: String,
        tool: String,
        digest: String,
    ) -> Answer<'_, Option<String>>;
    /// Lists of a server, of one scope or of all, the current ones first; `pages` are left out.
    fn lists(&self, server: String, scope: Option<String>, limit: u32) -> Answer<'_, Vec<List>>;
    /// One list of a server, with its pages.
    fn list(&self, server: String, digest: String) -> Answer<'_, Option<List>>;
    /// What a session was shown, the last first.
    fn shown_to(&self, session: SessionId) -> Answer<'_, Vec<Shown>>;

    // The granted contract: only these calls move it.

    /// Grants a contract; it takes the place of the tool's earlier one. What was merely seen first is granted only where
    /// nothing was granted before.
    fn grant(&self, grant: NewGrant) -> Answer<'_, ()>;
    /// The granted contracts of each tool of a server, in all scopes: [`Grant::in_scope`] finds the one that holds.
    fn grants(&self, server: String) -> Answer<'_, Vec<Grant>>;
    /// The grant of one tool that holds in a scope, as [`Grant::in_scope`] finds it among all of them.
    fn grant_of(&self, server: String, scope: String, tool: String) -> Answer<'_, Option<Grant>>;

    // The ledger.

    /// Records a decision about a request. A request is decided once; a held one is settled by its approval.
    fn decide(&self, decision: Decision) -> Answer<'_, ()>;
    /// Records that an attempt is about to leave. For an effect the record is on disk before this returns.
    ///
    /// Refused where the request was not admitted (or held and not approved), where an earlier attempt is under way or
    /// done, and where one is in doubt and nothing says why it may be repeated.
    fn intend(&self, attempt: NewAttempt) -> Answer<'_, AttemptId>;
    /// Records an admitted request and its first attempt, in one write: what [`Store::decide`] and [`Store::intend`] do
    /// one after the other. The caller names the attempt, so that it need not wait for its name.
    ///
    /// The first answer says that the write is queued, before all that is queued later: of what only reads the caller may
    /// go on from there. The second says that it is written; for an effect, that it is on disk.
    fn leave(
        &self,
        decision: Decision,
        attempt: AttemptId,
        new: NewAttempt,
    ) -> Answer<'_, Answer<'static, ()>>;
    /// True where nothing can be written, or the last record that nobody waited for could not be.
    fn is_stuck(&self) -> bool;
    /// Records what came of an attempt. A second outcome must say that it is late; it is appended.
    fn outcome(&self, outcome: NewOutcome) -> Answer<'_, ()>;
    /// [`Store::outcome`] for a call that only reads: it may wait for others, to be written with them. The first answer
    /// says that it is queued, the second that it is written.
    fn outcome_of_read(&self, outcome: NewOutcome) -> Answer<'_, Answer<'static, ()>>;
    /// Records what a person found out about an attempt in doubt.
    fn resolve(
        &self,
        attempt: AttemptId,
        found: Resolution,
        by: String,
        at: Millis,
    ) -> Answer<'_, ()>;
    /// Settles what processes left open that are gone, as opening the store for writing does: attempts without an outcome
    /// become in doubt, and sessions end. Gives how many attempts there were.
    fn settle_gone(&self, at: Millis) -> Answer<'_, u64>;
    /// Requests with their attempts, the newest first.
    fn activity(&self, query: ActivityQuery) -> Answer<'_, Vec<Activity>>;
    /// Answers of effects of this session that came since then and were not delivered.
    fn undelivered(&self, session: SessionId, since: Millis) -> Answer<'_, Vec<StoredAnswer>>;
    /// Notes that the answer of a request reached the client.
    fn delivered(&self, request: RequestId, at: Millis) -> Answer<'_, ()>;

    // Approvals.

    /// Asks for an approval.
    fn ask(&self, approval: NewApproval) -> Answer<'_, ()>;
    /// Records what an approver decided. Refused unless the key enrolled under that name signed it.
    fn settle(&self, settlement: Settlement) -> Answer<'_, ()>;
    /// Uses an approval for exactly this action. It is used up on disk before this returns.
    fn redeem(&self, id: ApprovalId, action_digest: String, at: Millis) -> Answer<'_, Redeemed>;
    /// Makes every pending or approved approval for a tool void, and says how many there were.
    fn void(&self, server: String, tool: String, why: String, at: Millis) -> Answer<'_, u64>;
    /// Makes one pending or approved approval void; gives 1 where it was one.
    fn void_one(&self, id: ApprovalId, why: String, at: Millis) -> Answer<'_, u64>;
    /// Approvals that are pending or approved, whatever their time, the oldest first.
    fn open_approvals(&self) -> Answer<'_, Vec<Approval>>;
    /// Records a change of the vault, and makes void what it takes the ground from, in one write. Gives how many approvals
    /// that were.
    fn vault_changed(&self, change: VaultChange) -> Answer<'_, u64>;
    /// One approval.
    fn approval(&self, id: ApprovalId) -> Answer<'_, Option<Approval>>;
    /// Approvals for a tool, the newest first.
    fn approvals(&self, query: ApprovalQuery) -> Answer<'_, Vec<Approval>>;
    /// Approvals that wait for a decision at this time, the oldest first.
    fn pending(&self, at: Millis) -> Answer<'_, Vec<Approval>>;
    /// Enrols the key of an approver.
    fn enrol(&self, approver: Approver, by: String) -> Answer<'_, ()>;
    /// Takes the key of an approver back.
    fn dismiss(&self, approver: String, by: String, at: Millis) -> Answer<'_, ()>;
    /// The approvers that are enrolled.
    fn approvers(&self) -> Answer<'_, Vec<Approver>>;

    // Counters.

    /// Counts an event for an old revision.
    fn count(&self, count: Count) -> Answer<'_, ()>;
    /// All counts.
    fn counters(&self) -> Answer<'_, Vec<Counter>>;
    /// Counts the use of an adapter.
    fn adapter_used(&self, adapter: String, at: Millis) -> Answer<'_, ()>;
    /// The use of all adapters.
    fn adapters(&self) -> Answer<'_, Vec<AdapterUse>>;

    // The journal.

    /// How many records there are.
    fn records(&self) -> Answer<'_, u64>;
    /// Records from this number on.
    fn leaves(&self, from: u64, limit: u32) -> Answer<'_, Vec<Leaf>>;
    /// The records about one request.
    fn leaves_of(&self, request: RequestId) -> Answer<'_, Vec<Leaf>>;
    /// What is sealed about one request, as far as it was not erased.
    fn payloads(&self, request: RequestId) -> Answer<'_, Vec<Payload>>;
    /// Erases what is sealed about one request. Its records and every proof stay valid.
    fn erase(&self, request: RequestId, by: String, at: Millis) -> Answer<'_, u64>;
    /// Signs the journal as it is now.
    fn checkpoint(&self) -> Answer<'_, Checkpoint>;
    /// Checkpoints from this size on, in order.
    fn checkpoints(&self, from: u64, limit: u32) -> Answer<'_, Vec<Checkpoint>>;
    /// A short name for a secret: the same for the same secret and store, and nothing that it could be guessed by without
    /// the store's keys. `None` where they are not at hand.
    fn fingerprint(&self, secret: &str) -> Option<String>;
    /// The key that checks the journal's checkpoints.
    fn verifying_key(&self) -> &VerifyingKey;
}
