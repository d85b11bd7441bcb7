//! The trait, method by method: each is one write or one question.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::approvals::{self, Of};
use super::mark::Gone;
use super::{Sqlite, counters, journal, ledger, revisions, sessions};
use crate::journal::{Checkpoint, Leaf, Payload, VerifyingKey};
use crate::keys::Seal;
use crate::{
    Activity, ActivityQuery, AdapterUse, Answer, Approval, ApprovalId, ApprovalQuery, Approver,
    AttemptId, Count, Counter, Decision, Grant, Ids, List, Millis, NewApproval, NewAttempt,
    NewGrant, NewList, NewOutcome, NewRevision, NewSession, Redeemed, RequestId, Resolution,
    Revision, Seen, Session, SessionEnd, SessionId, SessionQuery, Settlement, Shown, Store,
    StoreError, StoredAnswer, VaultChange,
};

impl Sqlite {
    /// The key that opens payloads.
    fn need_seal(&self) -> Result<Arc<Seal>, StoreError> {
        self.seal.clone().ok_or_else(|| StoreError::Key {
            place: format!("{}.payload-key", self.place),
            why: "Without this key nothing that is sealed can be opened. Put it back from a backup, or read as its owner.".into(),
        })
    }

    fn journal_name(&self) -> String {
        self.key.name().to_owned()
    }
}

impl Store for Sqlite {
    fn ids(&self) -> &Ids {
        &self.ids
    }

    fn open_session(&self, session: NewSession) -> Answer<'_, SessionId> {
        self.write(move |work| sessions::open(work, &session))
    }

    fn close_session(&self, session: SessionId, how: SessionEnd, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| sessions::close(work, session, how, at))
    }

    fn servers(&self) -> Answer<'_, Vec<String>> {
        self.read(revisions::servers)
    }

    fn sessions(&self, query: SessionQuery) -> Answer<'_, Vec<Session>> {
        let path = self.path.clone();
        self.read(move |conn| sessions::list(conn, &query, &mut Gone::looking(&path)))
    }

    fn seen(&self, revision: NewRevision) -> Answer<'_, Seen> {
        self.write(move |work| {
            let mut seen = revisions::all_seen(work, std::slice::from_ref(&revision))?;
            seen.pop().ok_or_else(|| StoreError::conflict("A definition has no number."))
        })
    }

    fn seen_all(&self, all: Vec<NewRevision>) -> Answer<'_, Vec<Seen>> {
        self.write(move |work| revisions::all_seen(work, &all))
    }

    fn list_seen(&self, list: NewList) -> Answer<'_, ()> {
        self.write(move |work| revisions::list_seen(work, &list))
    }

    fn held(&self, server: String, held: Vec<(String, String)>, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| revisions::all_held(work, &server, &held, at))
    }

    fn kept(
        &self,
        server: String,
        tool: String,
        since: Millis,
        limit: u32,
    ) -> Answer<'_, Vec<String>> {
        self.look(move |conn| revisions::kept(conn, &server, &tool, since, limit))
    }

    fn shown(&self, session: SessionId, list: String, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| revisions::shown(work, session, &list, at))
    }

    fn revisions(&self, server: String) -> Answer<'_, Vec<Revision>> {
        self.read(move |conn| revisions::revisions(conn, &server))
    }

    fn definition(
        &self,
        server: String,
        tool: String,
        digest: String,
    ) -> Answer<'_, Option<String>> {
        self.read(move |conn| revisions::definition(conn, &server, &tool, &digest))
    }

    fn lists(&self, server: String, scope: Option<String>, limit: u32) -> Answer<'_, Vec<List>> {
        self.read(move |conn| revisions::lists(conn, &server, scope.as_deref(), limit))
    }

    fn list(&self, server: String, digest: String) -> Answer<'_, Option<List>> {
        self.read(move |conn| revisions::list(conn, &server, &digest))
    }

    fn shown_to(&self, session: SessionId) -> Answer<'_, Vec<Shown>> {
        self.read(move |conn| revisions::shown_to(conn, session))
    }

    fn grant(&self, grant: NewGrant) -> Answer<'_, ()> {
        self.write(move |work| revisions::grant(work, &grant))
    }

    fn grants(&self, server: String) -> Answer<'_, Vec<Grant>> {
        self.read(move |conn| revisions::grants(conn, &server))
    }

    fn grant_of(&self, server: String, scope: String, tool: String) -> Answer<'_, Option<Grant>> {
        self.look(move |conn| revisions::grant_of(conn, &server, &scope, &tool))
    }

    fn decide(&self, decision: Decision) -> Answer<'_, ()> {
        self.write(move |work| ledger::decide(work, &decision))
    }

    fn intend(&self, attempt: NewAttempt) -> Answer<'_, AttemptId> {
        self.write(move |work| {
            let id = work.ids.attempt(attempt.at)?;
            ledger::intend(work, id, &attempt).map(|()| id)
        })
    }

    fn is_stuck(&self) -> bool {
        self.writes.as_ref().is_some_and(|writes| {
            writes.lazy.failed.load(Ordering::Acquire) || writes.shared.broken.get().is_some()
        })
    }

    fn leave(
        &self,
        decision: Decision,
        attempt: AttemptId,
        new: NewAttempt,
    ) -> Answer<'_, Answer<'static, ()>> {
        // Who goes on before it is written must know that it can be.
        if let Err(error) = ledger::check(&decision).and_then(|()| ledger::check_attempt(&new)) {
            return Box::pin(async move { Err(error.at(&self.place)) });
        }
        self.queue(decision.effect, move |work| ledger::leave(work, &decision, attempt, &new))
    }

    fn outcome(&self, outcome: NewOutcome) -> Answer<'_, ()> {
        self.write(move |work| ledger::outcome(work, &outcome))
    }

    fn outcome_of_read(&self, outcome: NewOutcome) -> Answer<'_, Answer<'static, ()>> {
        self.queue(false, move |work| ledger::outcome(work, &outcome))
    }

    fn resolve(
        &self,
        attempt: AttemptId,
        found: Resolution,
        by: String,
        at: Millis,
    ) -> Answer<'_, ()> {
        self.write(move |work| ledger::resolve(work, attempt, found, &by, at))
    }

    fn settle_gone(&self, at: Millis) -> Answer<'_, u64> {
        let path = self.path.clone();
        Box::pin(async move {
            let asked = path.clone();
            // As a rule there is nothing to do, and the writer is left alone.
            let any = self.read(move |conn| ledger::any_gone(conn, &mut Gone::looking(&asked)));
            if !any.await? {
                return Ok(0);
            }
            self.write(move |work| ledger::settle_gone(work, &mut Gone::of(&path), at)).await
        })
    }

    fn activity(&self, query: ActivityQuery) -> Answer<'_, Vec<Activity>> {
        let path = self.path.clone();
        self.read(move |conn| ledger::activity(conn, &query, &mut Gone::looking(&path)))
    }

    fn undelivered(&self, session: SessionId, since: Millis) -> Answer<'_, Vec<StoredAnswer>> {
        let (seal, name) = (self.need_seal(), self.journal_name());
        self.read(move |conn| ledger::undelivered(conn, &*seal?, &name, session, since))
    }

    fn delivered(&self, request: RequestId, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| ledger::delivered(work, request, at))
    }

    fn ask(&self, approval: NewApproval) -> Answer<'_, ()> {
        self.write(move |work| approvals::ask(work, &approval))
    }

    fn settle(&self, settlement: Settlement) -> Answer<'_, ()> {
        self.write(move |work| approvals::settle(work, &settlement))
    }

    fn redeem(&self, id: ApprovalId, action_digest: String, at: Millis) -> Answer<'_, Redeemed> {
        self.write(move |work| approvals::redeem(work, id, &action_digest, at))
    }

    fn void(&self, server: String, tool: String, why: String, at: Millis) -> Answer<'_, u64> {
        self.write(move |work| {
            approvals::void(work, &Of::Tool { server: &server, tool: &tool }, &why, at)
        })
    }

    fn void_one(&self, id: ApprovalId, why: String, at: Millis) -> Answer<'_, u64> {
        self.write(move |work| approvals::void(work, &Of::One(id), &why, at))
    }

    fn open_approvals(&self) -> Answer<'_, Vec<Approval>> {
        let (seal, name) = (self.seal.clone(), self.journal_name());
        self.read(move |conn| approvals::open(conn, seal.as_deref(), &name))
    }

    fn vault_changed(&self, change: VaultChange) -> Answer<'_, u64> {
        let seal = self.need_seal();
        self.write(move |work| {
            let seal = seal.clone()?;
            approvals::vault_changed(work, &change, |label| seal.fingerprint(label))
        })
    }

    fn approval(&self, id: ApprovalId) -> Answer<'_, Option<Approval>> {
        let (seal, name) = (self.seal.clone(), self.journal_name());
        self.read(move |conn| approvals::approval(conn, seal.as_deref(), &name, id))
    }

    fn approvals(&self, query: ApprovalQuery) -> Answer<'_, Vec<Approval>> {
        let (seal, name) = (self.seal.clone(), self.journal_name());
        self.read(move |conn| approvals::approvals(conn, seal.as_deref(), &name, &query))
    }

    fn pending(&self, at: Millis) -> Answer<'_, Vec<Approval>> {
        let (seal, name) = (self.seal.clone(), self.journal_name());
        self.read(move |conn| approvals::pending(conn, seal.as_deref(), &name, at))
    }

    fn enrol(&self, approver: Approver, by: String) -> Answer<'_, ()> {
        self.write(move |work| approvals::enrol(work, &approver, &by))
    }

    fn dismiss(&self, approver: String, by: String, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| approvals::dismiss(work, &approver, &by, at))
    }

    fn approvers(&self) -> Answer<'_, Vec<Approver>> {
        self.read(approvals::approvers)
    }

    fn count(&self, count: Count) -> Answer<'_, ()> {
        self.write(move |work| counters::count(work, &count))
    }

    fn counters(&self) -> Answer<'_, Vec<Counter>> {
        self.read(counters::counters)
    }

    fn adapter_used(&self, adapter: String, at: Millis) -> Answer<'_, ()> {
        self.write(move |work| counters::adapter_used(work, &adapter, at))
    }

    fn adapters(&self) -> Answer<'_, Vec<AdapterUse>> {
        self.read(counters::adapters)
    }

    fn records(&self) -> Answer<'_, u64> {
        self.read(journal::records)
    }

    fn leaves(&self, from: u64, limit: u32) -> Answer<'_, Vec<Leaf>> {
        self.read(move |conn| journal::leaves(conn, from, limit))
    }

    fn leaves_of(&self, request: RequestId) -> Answer<'_, Vec<Leaf>> {
        self.read(move |conn| journal::leaves_of(conn, request))
    }

    fn payloads(&self, request: RequestId) -> Answer<'_, Vec<Payload>> {
        let (seal, name) = (self.need_seal(), self.journal_name());
        self.read(move |conn| journal::payloads(conn, &*seal?, &name, request))
    }

    fn erase(&self, request: RequestId, by: String, at: Millis) -> Answer<'_, u64> {
        self.write(move |work| journal::erase(work, request, &by, at))
    }

    fn checkpoint(&self) -> Answer<'_, Checkpoint> {
        self.write(journal::checkpoint)
    }

    fn checkpoints(&self, from: u64, limit: u32) -> Answer<'_, Vec<Checkpoint>> {
        let key = self.key.clone();
        self.read(move |conn| journal::checkpoints(conn, &key, from, limit))
    }

    fn fingerprint(&self, secret: &str) -> Option<String> {
        self.seal.as_ref().map(|seal| seal.fingerprint(secret))
    }

    fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }
}
