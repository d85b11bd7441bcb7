//! Requests of several rounds: a server that asks for input before it goes on, and the client that calls again with it.
//!
//! The rounds are one request under one plan. What the server wants back is kept here, and the client is given a name
//! for it that nobody can guess: with another name, for another call, or after the tool changed, nothing is sent.

use super::send::{holds_on, send};
use super::{Call, Plan, Turn};
use crate::session::{Session, lock};
use crate::{limits, refusal};
use mcp::json;
use mcp::message::{self, Message};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;
use store::OutcomeState;
use tokio::time::Instant;

/// The member of a call, and of an answer, that holds what the server wants back.
const STATE: &str = "requestState";

/// Requests of one session whose server waits for input, by the name that the client was given; the oldest first.
#[derive(Default)]
pub(crate) struct Rounds(VecDeque<(String, Arc<Round>)>);

/// A request whose server waits for input.
struct Round {
    plan: Arc<Plan>,
    /// The tool as the client called it.
    tool: String,
    /// The digest of the arguments as the client wrote them.
    arguments: String,
    /// The call as it was sent.
    sent: (String, Value),
    /// What the server wants back, raw; some want nothing.
    state: Option<String>,
    asked: Instant,
}

/// The name by which a call goes on with an earlier one.
pub(super) fn continues(call: &Call) -> Option<String> {
    let state = json::find(call.message.params()?, &[STATE])?;
    // What is no text is no name that was given.
    Some(serde_json::from_str(state).unwrap_or_default())
}

/// The answer of a server that waits for input, with the name in place of what it wants back.
pub(super) fn begun(
    session: &Session,
    call: &Call,
    plan: &Arc<Plan>,
    sent: &Message,
    text: String,
) -> String {
    if session.settings().observe {
        return text;
    }
    let named = (|| {
        let mut whole: Map<String, Value> = serde_json::from_str(&text).ok()?;
        let params: Map<String, Value> = serde_json::from_str(sent.params()?).ok()?;
        let tool = params.get("name")?.as_str()?.to_owned();
        let arguments =
            params.get("arguments").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        let name = format!("steadfast-{}", uuid::Uuid::new_v4().simple());
        let result = whole.get_mut("result")?.as_object_mut()?;
        let state = result.insert(STATE.to_owned(), name.clone().into());
        let told = match &state {
            // Nothing else of it is touched.
            Some(_) => {
                json::replace(&text, &[(&["result", STATE], &Value::from(&*name).to_string())])
            }
            None => Value::Object(whole).to_string(),
        };
        let round = Round {
            plan: Arc::clone(plan),
            tool: call.tool.clone(),
            arguments: call.digest_without(&[]),
            sent: (tool, arguments),
            state: state.map(|state| state.to_string()),
            asked: Instant::now(),
        };
        Some((name, round, told))
    })();
    let Some((name, round, told)) = named else { return text };
    let mut rounds = lock(session.rounds());
    if rounds.0.len() >= limits::ROUNDS {
        rounds.0.pop_front();
    }
    rounds.0.push_back((name, Arc::new(round)));
    told
}

/// Carries the next round of a request.
pub(super) async fn carry_on(session: Arc<Session>, call: Arc<Call>, name: String, turn: Turn) {
    let round = {
        let mut rounds = lock(session.rounds());
        rounds.0.retain(|(_, round)| round.asked.elapsed() < limits::ROUND);
        // Good for one call: what is sent twice is done twice.
        let place = rounds.0.iter().position(|(known, _)| *known == name);
        place.and_then(|place| rounds.0.remove(place)).map(|(_, round)| round)
    };
    let Some(round) = round else {
        return reject(&session, &call, turn, refusal::state_unknown(&call.tool)).await;
    };
    if round.tool != call.tool || round.arguments != call.digest_without(&[]) {
        // It is another call. The one that began may still go on.
        lock(session.rounds()).0.push_back((name, round));
        return reject(&session, &call, turn, refusal::state_other(&call.tool)).await;
    }
    let era = session.era();
    let now = session.standing(&call.tool, Instant::now()).await;
    let plan = round.plan.over(now.epoch);
    if !holds_on(&session, &plan, &now.live) {
        return stop(
            &session,
            &call,
            turn,
            refusal::ROUND_VOID,
            refusal::round_void(&call.tool, era),
        )
        .await;
    }
    if now.verified.is_err() && plan.ground.effect {
        lock(session.rounds()).0.push_back((name, round));
        let told = refusal::round_unverified(&call.tool, era);
        return stop(&session, &call, turn, "CONTRACT_UNVERIFIED", told).await;
    }
    match message_of(&call, &round) {
        Some(message) => send(&session, &call, &plan, &message, None, turn).await,
        None => session.broken(&call, turn, "the call cannot be written in its new form").await,
    }
}

/// The next round as the server wants it: as its first was sent, with what it wants back.
fn message_of(call: &Call, round: &Round) -> Option<Message> {
    let mut whole: Map<String, Value> = serde_json::from_str(call.message.text()).ok()?;
    let params = whole.get_mut("params")?.as_object_mut()?;
    params.insert("name".into(), round.sent.0.clone().into());
    params.insert("arguments".into(), round.sent.1.clone());
    match &round.state {
        Some(state) => {
            params.insert(STATE.into(), serde_json::from_str(state).ok()?);
        }
        None => {
            params.shift_remove(STATE);
        }
    }
    Message::parse(&Value::Object(whole).to_string()).ok()
}

/// Refuses a request state that is not the one of this call: an error of the protocol, as of a server that finds its
/// state edited. A result would pass for the end of the request.
async fn reject(session: &Session, call: &Call, turn: Turn, (code, data, text): refusal::Rejected) {
    drop(turn);
    let sentence = format!("refused a further round of a call of {}: nothing was sent", call.tool);
    session.tell("refused", Some(&call.tool), Some(code), &sentence);
    let answer = message::failure_with(&call.id, mcp::version::INVALID_PARAMS, text, &data);
    session.reply(&call.id, answer).await;
}

async fn stop(session: &Session, call: &Call, turn: Turn, code: &'static str, result: String) {
    drop(turn);
    let sentence = format!("refused a further round of a call of {}: nothing was sent", call.tool);
    session.tell("refused", Some(&call.tool), Some(code), &sentence);
    session.reply(&call.id, message::response(&call.id, &result)).await;
}

/// What the client is told of an answer, and what came of it, where the server may have asked for input.
pub(super) fn told(
    session: &Session,
    call: &Call,
    plan: &Arc<Plan>,
    sent: &Message,
    (text, state): (String, OutcomeState),
) -> (String, OutcomeState) {
    match state {
        OutcomeState::AwaitingInput => (begun(session, call, plan, sent, text), state),
        _ => (text, state),
    }
}

impl Session {
    /// True where a server waits for input that may still come.
    pub(crate) fn awaits_input(&self) -> bool {
        lock(self.rounds()).0.iter().any(|(_, round)| round.asked.elapsed() < limits::ROUND)
    }
}
