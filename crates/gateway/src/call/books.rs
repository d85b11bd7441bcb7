//! What is on record of one attempt, and whether its call waits for that.
//!
//! An effect leaves once its record is on disk, and its outcome is on record before the client hears of it. A call that
//! only reads does not wait for the writer: its record is queued before it leaves, its outcome after the answer. Where
//! the record of one read could not be written, the next one waits for its own, and is refused while nothing can be
//! written.

use super::Plan;
use crate::event;
use crate::session::Session;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
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
        let reads = !plan.ground.effect;
        let writing = Writing::of(session);
        let Some(decision) = decision else {
            let attempt = session.store().intend(new).await.map_err(said)?;
            return Ok(Books { session, attempt, behind: None, reads, _writing: writing });
        };
        let attempt = session.store().ids().attempt(new.at).map_err(said)?;
        session.counted(&decision);
        let mut leaving = session.store().leave(decision, attempt, new);
        let waits = !reads || session.stuck().load(Ordering::Acquire);
        let end = if waits {
            Some(leaving.as_mut().await)
        } else {
            poll_fn(|context| match leaving.as_mut().poll(context) {
                Poll::Ready(end) => Poll::Ready(Some(end)),
                Poll::Pending => Poll::Ready(None),
            })
            .await
        };
        if let Some(end) = &end {
            session.stuck().store(end.is_err(), Ordering::Release);
        }
        let behind = match end {
            Some(end) => {
                end.map_err(said)?;
                None
            }
            None => Some(leaving),
        };
        Ok(Books { session, attempt, behind, reads, _writing: writing })
    }

    /// True where the client may hear of an answer before its outcome is on record.
    pub(super) fn follow(&self) -> bool {
        self.reads
    }

    /// The attempt, once its record is written. Where it cannot be, that is told and kept in mind.
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
        self.session.stuck().store(end.is_err(), Ordering::Release);
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
