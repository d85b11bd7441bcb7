//! What is on record of one attempt, and whether its call waits for that.
//!
//! An effect leaves once its record is on disk, and its outcome is on record before the client hears of it. A call that
//! only reads does not wait for the writer: its record is queued before it leaves, its outcome after the answer. Where
//! the record of one read could not be written, the next one waits for its own, and is refused while nothing can be
//! written.

use super::Plan;
use crate::event;
use crate::session::Session;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{Answer, AttemptId, Decision, NewAttempt, NewOutcome, OutcomeState};

/// The record of one attempt.
pub(super) struct Books<'s> {
    session: &'s Session,
    attempt: AttemptId,
    /// The record that is queued and not yet known to be written.
    behind: Option<Answer<'s, ()>>,
    reads: bool,
    _writing: Writing,
}

/// Counts a call whose records are not all written; the session ends after them.
struct Writing(Arc<AtomicUsize>);

impl Writing {
    fn of(session: &Session) -> Writing {
        session.writing().fetch_add(1, Ordering::AcqRel);
        Writing(Arc::clone(session.writing()))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<'s> Books<'s> {
    /// Records that an attempt is about to leave, with the decision where that is not on record yet.
    ///
    /// # Errors
    /// Where that cannot be recorded: then nothing may leave.
    pub(super) async fn open(
        session: &'s Session,
        plan: &Plan,
        decision: Option<Decision>,
    ) -> Result<Books<'s>, String> {
        let said = |why: store::StoreError| why.to_string();
        let new = NewAttempt {
            request: plan.request,
            target: session.upstream().name().to_owned(),
            idempotency_key: None,
            again: None,
            at: event::now(),
        };
        let writing = Writing::of(session);
        let Some(decision) = decision else {
            let attempt = session.store().intend(new).await.map_err(said)?;
            let reads = !plan.ground.effect;
            return Ok(Books { session, attempt, behind: None, reads, _writing: writing });
        };
        let reads = !decision.effect && !plan.ground.effect;
        let attempt = session.store().ids().attempt(new.at).map_err(said)?;
        let told = (decision.server.clone(), decision.verdict.clone());
        let waits = !reads || session.store().is_stuck();
        let written = session.store().leave(decision, attempt, new).await.map_err(said)?;
        session.counted(&told.0, &told.1);
        let behind = match waits {
            true => {
                written.await.map_err(said)?;
                None
            }
            false => Some(written),
        };
        Ok(Books { session, attempt, behind, reads, _writing: writing })
    }

    /// True where the client may hear of an answer before its outcome is on record.
    pub(super) fn follow(&self) -> bool {
        self.reads
    }

    /// The attempt, once its record is written. Where it cannot be, that is told.
    pub(super) async fn attempt(&mut self) -> AttemptId {
        if let Some(behind) = self.behind.take() {
            let end = behind.await;
            self.written(end);
        }
        self.attempt
    }

    /// Records what came of it.
    pub(super) async fn settle(&mut self, state: OutcomeState, answer: Option<String>) {
        let outcome = put(self.session, self.attempt, state, answer, self.reads);
        match self.behind.take() {
            None => outcome.await,
            Some(behind) => {
                // Queued in this order, and written together.
                let (end, ()) = tokio::join!(biased; behind, outcome);
                self.written(end);
            }
        }
    }

    fn written(&self, end: Result<(), store::StoreError>) {
        self.session.noted("a call that reads", end);
    }
}

/// Records what came of an attempt.
pub(super) async fn record(
    session: &Session,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<String>,
) {
    put(session, attempt, state, answer, false).await;
}

async fn put(
    session: &Session,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<String>,
    reads: bool,
) {
    session.came(state);
    let outcome = NewOutcome { attempt, state, answer, late: false, reads, at: event::now() };
    session.noted("an outcome", session.store().outcome(outcome).await);
}

/// Records what became known after another outcome was on record.
pub(super) async fn record_late(
    session: &Session,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<String>,
) {
    let outcome = NewOutcome { attempt, state, answer, late: true, reads: false, at: event::now() };
    session.noted("a late outcome", session.store().outcome(outcome).await);
}
