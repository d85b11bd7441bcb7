//! The real store, on the simulated clock: each operation is done where it is asked for, may take its time, may fail, and
//! may be the last one before the gateway ends.

use super::world::Shared;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use store::journal::{Checkpoint, Leaf, Payload, VerifyingKey};
use store::{
    Activity, ActivityQuery, AdapterUse, Answer, Approval, ApprovalId, ApprovalQuery, Approver,
    AttemptId, Count, Counter, Decision, Grant, Ids, List, Millis, NewApproval, NewAttempt,
    NewGrant, NewList, NewOutcome, NewRevision, NewSession, Redeemed, RequestId, Resolution,
    Revision, Seen, Session, SessionEnd, SessionId, SessionQuery, Settlement, Shown, Sqlite, Store,
    StoreError, StoredAnswer, VaultChange,
};
use tokio::sync::Notify;

struct Here(Thread);

impl Wake for Here {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Does it here and now: threads of the store are waited for without the clock going on.
pub fn now<F: Future>(work: F) -> F::Output {
    let mut work = pin!(tokio::task::unconstrained(work));
    let waker = Waker::from(Arc::new(Here(thread::current())));
    loop {
        match work.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

/// What happens to the operations of a store.
#[derive(Default)]
pub struct Mishaps {
    /// The gateway ends at this operation from now, before it is done or after.
    pub ends: Option<(u32, bool)>,
    pub pause: u64,
    pub failing: u32,
}

/// The store of one life of a gateway.
pub struct Books {
    inner: Arc<Sqlite>,
    world: Shared,
    pub mishaps: Mutex<Mishaps>,
    /// The gateway has ended.
    pub over: Notify,
    notes: Mutex<BTreeMap<RequestId, String>>,
    /// On purpose: nothing is on record before it leaves.
    pub forgets: bool,
}

fn note_of(decision: &Decision) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&decision.raw_arguments).unwrap();
    arguments["note"].as_str().unwrap_or_default().to_owned()
}

impl Books {
    pub fn new(inner: Sqlite, world: Shared, forgets: bool) -> Books {
        Books {
            inner: Arc::new(inner),
            world,
            mishaps: Mutex::default(),
            over: Notify::new(),
            notes: Mutex::default(),
            forgets,
        }
    }

    /// The note of a request that was decided in this life.
    pub fn note(&self, request: RequestId) -> Option<String> {
        self.notes.lock().unwrap().get(&request).cloned()
    }

    fn admitted(&self, note: &str) {
        self.world.look().admitted.insert(note.to_owned());
    }

    /// The operation whose turn it is, if it is the last one; how long it takes, and whether it fails.
    fn turn(&self) -> (Option<bool>, u64, bool) {
        let mut mishaps = self.mishaps.lock().unwrap();
        let last = match &mut mishaps.ends {
            Some((0, before)) => Some(*before),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        };
        let fails = mishaps.failing > 0;
        mishaps.failing = mishaps.failing.saturating_sub(1);
        (last, mishaps.pause, fails)
    }

    async fn end(&self, name: &str, when: &str) {
        self.world.look().note(format!("the gateway ends {when} {name}"));
        self.over.notify_one();
        std::future::pending::<()>().await;
    }

    async fn step<T>(
        &self,
        name: &'static str,
        work: impl Future<Output = Result<T, StoreError>>,
        done: impl FnOnce(&T),
    ) -> Result<T, StoreError> {
        let (last, pause, fails) = self.turn();
        if last == Some(true) {
            self.end(name, "before").await;
        }
        if fails {
            self.world.look().note(format!("the store fails at {name}"));
            return Err(StoreError::Closed);
        }
        let came = now(work);
        if let Ok(came) = &came {
            done(came);
        }
        if last == Some(false) {
            self.end(name, "after").await;
        }
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        came
    }
}

macro_rules! through {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty;)*) => {$(
        fn $name(&self, $($argument: $kind),*) -> Answer<'_, $out> {
            Box::pin(self.step(stringify!($name), self.inner.$name($($argument),*), |_| {}))
        }
    )*};
}

impl Store for Books {
    fn ids(&self) -> &Ids {
        self.inner.ids()
    }

    fn decide(&self, decision: Decision) -> Answer<'_, ()> {
        self.notes.lock().unwrap().insert(decision.request, note_of(&decision));
        Box::pin(self.step("decide", self.inner.decide(decision), |()| {}))
    }

    fn intend(&self, attempt: NewAttempt) -> Answer<'_, AttemptId> {
        let note = self.note(attempt.request).unwrap_or_default();
        Box::pin(self.step("intend", self.inner.intend(attempt), move |_| self.admitted(&note)))
    }

    fn leave(
        &self,
        decision: Decision,
        attempt: AttemptId,
        new: NewAttempt,
    ) -> Answer<'_, Answer<'static, ()>> {
        let (note, reads) = (note_of(&decision), !decision.effect);
        self.notes.lock().unwrap().insert(decision.request, note.clone());
        if self.forgets {
            return Box::pin(async { Ok(Box::pin(async { Ok(()) }) as Answer<'static, ()>) });
        }
        let inner = Arc::clone(&self.inner);
        let world = self.world.clone();
        // What only reads is on its way to the disk once it is queued; an effect is on it once that is written.
        let work = async move {
            let written = inner.leave(decision, attempt, new).await?;
            if !reads {
                written.await?;
            }
            Ok::<Option<Answer<'static, ()>>, StoreError>(None)
        };
        Box::pin(async move {
            let told = |_: &Option<Answer<'static, ()>>| {
                world.look().admitted.insert(note.clone());
            };
            self.step("leave", work, told).await?;
            Ok(Box::pin(async { Ok(()) }) as Answer<'static, ()>)
        })
    }

    fn is_stuck(&self) -> bool {
        self.inner.is_stuck()
    }

    fn outcome_of_read(&self, outcome: NewOutcome) -> Answer<'_, Answer<'static, ()>> {
        let work = async move {
            self.inner.outcome(outcome).await?;
            Ok(())
        };
        Box::pin(async move {
            self.step("outcome_of_read", work, |()| {}).await?;
            Ok(Box::pin(async { Ok(()) }) as Answer<'static, ()>)
        })
    }

    fn fingerprint(&self, secret: &str) -> Option<String> {
        self.inner.fingerprint(secret)
    }

    fn verifying_key(&self) -> &VerifyingKey {
        self.inner.verifying_key()
    }

    through! {
        open_session(session: NewSession) -> SessionId;
        close_session(session: SessionId, how: SessionEnd, at: Millis) -> ();
        servers() -> Vec<String>;
        sessions(query: SessionQuery) -> Vec<Session>;
        seen(revision: NewRevision) -> Seen;
        seen_all(revisions: Vec<NewRevision>) -> Vec<Seen>;
        list_seen(list: NewList) -> ();
        held(server: String, held: Vec<(String, String)>, at: Millis) -> ();
        kept(server: String, tool: String, since: Millis, limit: u32) -> Vec<String>;
        shown(session: SessionId, list: String, at: Millis) -> ();
        revisions(server: String) -> Vec<Revision>;
        definition(server: String, tool: String, digest: String) -> Option<String>;
        lists(server: String, scope: Option<String>, limit: u32) -> Vec<List>;
        list(server: String, digest: String) -> Option<List>;
        shown_to(session: SessionId) -> Vec<Shown>;
        grant(grant: NewGrant) -> ();
        grants(server: String) -> Vec<Grant>;
        grant_of(server: String, scope: String, tool: String) -> Option<Grant>;
        outcome(outcome: NewOutcome) -> ();
        resolve(attempt: AttemptId, found: Resolution, by: String, at: Millis) -> ();
        settle_gone(at: Millis) -> u64;
        activity(query: ActivityQuery) -> Vec<Activity>;
        undelivered(session: SessionId, since: Millis) -> Vec<StoredAnswer>;
        delivered(request: RequestId, at: Millis) -> ();
        ask(approval: NewApproval) -> ();
        settle(settlement: Settlement) -> ();
        redeem(id: ApprovalId, action_digest: String, at: Millis) -> Redeemed;
        void(server: String, tool: String, why: String, at: Millis) -> u64;
        void_one(id: ApprovalId, why: String, at: Millis) -> u64;
        open_approvals() -> Vec<Approval>;
        vault_changed(change: VaultChange) -> u64;
        approval(id: ApprovalId) -> Option<Approval>;
        approvals(query: ApprovalQuery) -> Vec<Approval>;
        pending(at: Millis) -> Vec<Approval>;
        enrol(approver: Approver, by: String) -> ();
        dismiss(approver: String, by: String, at: Millis) -> ();
        approvers() -> Vec<Approver>;
        count(count: Count) -> ();
        counters() -> Vec<Counter>;
        adapter_used(adapter: String, at: Millis) -> ();
        adapters() -> Vec<AdapterUse>;
        records() -> u64;
        leaves(from: u64, limit: u32) -> Vec<Leaf>;
        leaves_of(request: RequestId) -> Vec<Leaf>;
        payloads(request: RequestId) -> Vec<Payload>;
        erase(request: RequestId, by: String, at: Millis) -> u64;
        checkpoint() -> Checkpoint;
        checkpoints(from: u64, limit: u32) -> Vec<Checkpoint>;
    }
}
