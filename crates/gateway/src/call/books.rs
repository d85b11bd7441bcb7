//! What is on record of one attempt, and whether its call waits for that.
//!
//! An effect leaves once its record is on disk, and its outcome is on record before the client hears of it. A call that
//! only reads does not wait for the writer: its record is queued before it leaves, its outcome after the answer. Where
//! the record of one read could not be written, the next one waits for its own, and is refused while nothing can be
//! written.

use super::Plan;
use crate::event;
use crate::session::{Following, Session, Writing};
use std::sync::Arc;
use store::{Again, Answer, AttemptId, Decision, NewAttempt, NewOutcome, OutcomeState};

/// The record of one attempt.
pub(super) struct Books {
    session: Arc<Session>,
    attempt: AttemptId,
    /// The record that is queued and not yet known to be written.
    behind: Option<Answer<'static, ()>>,
    reads: bool,
    /// An earlier attempt of the same key that is in doubt: what is done now is what it did.
    covers: Option<AttemptId>,
    /// Its outcome is on record.
    settled: bool,
    writing: Writing,
}

impl Books {
    /// Records that an attempt is about to leave, with the decision where that is not on record yet. `covers` is the
    /// attempt in doubt that it repeats with the same key.
    ///
    /// # Errors
    /// Where that cannot be recorded: then nothing may leave.
    pub(super) async fn open(
        session: &Arc<Session>,
        plan: &Plan,
        decision: Option<Decision>,
        covers: Option<AttemptId>,
    ) -> Result<Books, String> {
        let said = |why: store::StoreError| why.to_string();
        let new = NewAttempt {
            request: plan.request,
            target: session.upstream().name().to_owned(),
            idempotency_key: plan.key.as_ref().map(|bound| bound.value.clone()),
            again: covers.map(|_| Again::KeyCovers),
            at: event::now(),
        };
        let writing = Writing::of(session);
        let session = Arc::clone(session);
        let Some(decision) = decision else {
            let attempt = session.store().intend(new).await.map_err(said)?;
            let reads = !plan.ground.effect;
            return Ok(Books {
                session,
                attempt,
                behind: None,
                reads,
                covers,
                settled: false,
                writing,
            });
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
        Ok(Books { session, attempt, behind, reads, covers, settled: false, writing })
    }

    /// The record of an attempt of an effect whose outcome is on record already.
    pub(super) fn settled(session: &Arc<Session>, attempt: AttemptId) -> Books {
        let (session, writing) = (Arc::clone(session), Writing::of(session));
        Books { session, attempt, behind: None, reads: false, covers: None, settled: true, writing }
    }

    /// True where the client may hear of an answer before its outcome is on record.
    pub(super) fn follow(&self) -> bool {
        self.reads
    }

    /// The attempt, once its record is written. Where it cannot be, that is told.
    pub(super) async fn attempt(&mut self) -> AttemptId {
        if let Some(behind) = self.behind.take() {
            self.session.noted("a call that reads", behind.await);
        }
        self.attempt
    }

    /// Records what came of it. Of a call that only reads this returns once that is queued.
    pub(super) async fn settle(self, state: OutcomeState, answer: Option<String>) {
        if self.settled {
            return;
        }
        if !self.reads {
            record(&self.session, self.attempt, state, answer).await;
            if let (Some(earlier), OutcomeState::Done) = (self.covers, state) {
                record_late(&self.session, earlier, state, None).await;
            }
            return;
        }
        let Books { session, attempt, behind, writing, .. } = self;
        session.came(state);
        let outcome = NewOutcome { attempt, state, answer, late: false, at: event::now() };
        let queued = session.store().outcome_of_read(outcome).await;
        let mut written: Vec<_> = behind.into_iter().collect();
        match queued {
            Ok(outcome) => written.push(outcome),
            Err(why) => session.noted("an outcome", Err::<(), _>(why)),
        }
        Session::follow(Following { session, written, writing });
    }
}

/// Records what came of an attempt.
pub(super) async fn record(
    session: &Session,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<String>,
) {
    session.came(state);
    let outcome = NewOutcome { attempt, state, answer, late: false, at: event::now() };
    session.noted("an outcome", session.store().outcome(outcome).await);
}

/// Records what became known after another outcome was on record.
pub(super) async fn record_late(
    session: &Session,
    attempt: AttemptId,
    state: OutcomeState,
    answer: Option<String>,
) {
    let outcome = NewOutcome { attempt, state, answer, late: true, at: event::now() };
    session.noted("a late outcome", session.store().outcome(outcome).await);
}
