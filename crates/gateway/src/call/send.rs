//! One attempt: what is on record before the first byte leaves, and what came of it.

use super::again::{self, Again};
use super::books::Books;
use super::task::{self, Deferred};
use super::{Call, Plan, Turn, answer, owed, rounds};
use crate::heavy::heavy;
use crate::limits;
use crate::refusal;
use crate::session::Session;
use crate::upstream::{Fate, NotSent};
use contract::Revised;
use contract::admission::{Action, Code, Refusal, Retry};
use mcp::message::{self, Message};
use std::sync::Arc;
use store::{Decision, OutcomeState};

/// True where these are what was decided about.
pub(super) fn holds_on(session: &Session, plan: &Plan, live: &[Arc<Revised>]) -> bool {
    session.settings().observe || session.unmoved(&plan.live, live)
}

/// True where what is live is no longer what was decided about. Nothing was read for this call since, and yet it may have
/// moved; a connection that is another one is found where the bytes leave.
fn moved_on(session: &Session, call: &Call, plan: &Plan) -> bool {
    !holds_on(session, plan, &session.runs(&call.tool))
}

/// Tells the client that its call was decided about what is no longer there.
pub(super) async fn say_moved(session: &Session, call: &Call, plan: &Plan) {
    let text = "NOT EXECUTED: the tool, or the server behind it, changed while the call was on its way. Nothing was sent. What to do: make the same call again; it is judged anew.";
    let data = Refusal {
        code: Code::StaleToolSchema,
        tool: call.tool.clone(),
        missing: Vec::new(),
        obsolete: Vec::new(),
        changed: Vec::new(),
        required_action: Action::RefreshTools,
        retry: Retry::AutoAllowed,
        planned_revision: plan.ground.planned.clone(),
        current_revision: None,
        ready: None,
        heir: None,
        rejection: None,
    };
    let result = refusal::result(text, &data.data(), !plan.shown_output, plan.era);
    session.reply(&call.id, message::response(&call.id, &result)).await;
}

/// One attempt. `decision` is what is not on record yet of why it may leave.
pub(super) async fn send(
    session: &Arc<Session>,
    call: &Arc<Call>,
    plan: &Arc<Plan>,
    message: &Message,
    decision: Option<Decision>,
    turn: Turn,
) {
    if moved_on(session, call, plan) {
        if let Some(decision) = decision
            && let Err(why) = session.decided(&decision).await
        {
            return session.broken(call, turn, &why).await;
        }
        drop(turn);
        return say_moved(session, call, plan).await;
    }
    let books = match Books::open(session, plan, decision, None).await {
        Ok(books) => books,
        Err(why) => return session.broken(call, turn, &why).await,
    };
    if session.withdrawn(&call.id) {
        // Cancelled before it left: the client expects no answer.
        drop(turn);
        books.settle(OutcomeState::NotSent, None).await;
        return session.unheard(&call.id).await;
    }
    // Recording took its time: what was decided must still be about what is there now.
    if moved_on(session, call, plan) {
        drop(turn);
        books.settle(OutcomeState::NotSent, None).await;
        return say_moved(session, call, plan).await;
    }
    let headers = plan.key.as_ref().map_or(Vec::new(), |key| key.headers());
    let sent = session.upstream().ask_in(plan.epoch, message, headers).await;
    drop(turn);
    let fate = match sent {
        Ok(fate) => fate.await.unwrap_or_else(|_| Fate::Lost("the gateway is ending".to_owned())),
        Err(NotSent::Moved) => {
            books.settle(OutcomeState::NotSent, None).await;
            return say_moved(session, call, plan).await;
        }
        Err(why) => Fate::NotSent(why.to_string()),
    };
    let (mut books, fate) = match fate {
        Fate::Lost(why) => match again::send(session, call, plan, message, books, why).await {
            Again::Not(books, why) => (books, Fate::Lost(why)),
            Again::Sent(books, fate) => (books, fate),
        },
        fate => (books, fate),
    };
    match fate {
        Fate::Answered(answer) => {
            if let Some(task) = task::named(call, &answer) {
                // Under way until its result comes; a plan is kept as long.
                let attempt = books.attempt().await;
                session.defer(task, Deferred::new(call, plan, attempt)).await;
                return session.reply(&call.id, answer.text().to_owned()).await;
            }
            let judged = judged(session, call, plan, answer).await;
            let (text, state) = rounds::told(session, call, plan, message, judged);
            if state == OutcomeState::InDoubt {
                let what =
                    format!("a call of {} left, and what came of it is not known", call.tool);
                session.tell("in-doubt", Some(&call.tool), None, &what);
            }
            if books.follow() {
                session.reply(&call.id, text).await;
                return books.settle(state, None).await;
            }
            books.settle(state, Some(text.clone())).await;
            owed::hand_over(session, call, plan, text).await;
        }
        Fate::NotSent(why) => {
            books.settle(OutcomeState::NotSent, None).await;
            let result = refusal::not_sent(&call.tool, &why, plan.era);
            session.reply(&call.id, message::response(&call.id, &result)).await;
        }
        Fate::Lost(why) => {
            let attempt = books.attempt().await;
            books.settle(OutcomeState::InDoubt, None).await;
            session.give_up(Deferred::new(call, plan, attempt));
            if session.withdrawn(&call.id) {
                return session.unheard(&call.id).await;
            }
            session.tell(
                "in-doubt",
                Some(&call.tool),
                None,
                &format!("a call of {} left and was not answered ({why})", call.tool),
            );
            let request = plan.request.to_string();
            let result =
                refusal::in_doubt(&call.tool, &why, plan.ground.effect, &request, plan.era);
            session.reply(&call.id, message::response(&call.id, &result)).await;
        }
    }
}

/// The answer as the client is told, and the outcome. A large one is measured beside the messages.
async fn judged(
    session: &Arc<Session>,
    call: &Arc<Call>,
    plan: &Arc<Plan>,
    answer: Message,
) -> (String, OutcomeState) {
    if answer.text().len() < limits::HEAVY_ANSWER {
        return answer::judged(session, call, plan, &answer);
    }
    let as_it_came = answer.text().to_owned();
    let (own, call, plan) = (Arc::clone(session), Arc::clone(call), Arc::clone(plan));
    match heavy(move || answer::judged(&own, &call, &plan, &answer)).await {
        Ok(judged) => judged,
        Err(why) => {
            // It was carried out; that it could not be measured is no reason to keep it back.
            session.tell("fault", None, None, &format!("an answer could not be measured: {why}"));
            (as_it_came, OutcomeState::Done)
        }
    }
}
