//! What comes back, measured by the contract that the call was planned under.

use super::{Call, Plan, shape};
use crate::limits;
use crate::refusal;
use crate::session::Session;
use contract::Fit;
use mcp::message::{self, Kind, Message};
use serde_json::{Map, Value};
use std::borrow::Cow;
use store::OutcomeState;

/// Measures an answer by the contract that the call was planned under. Gives the text for the client and the outcome.
pub(super) fn judged(
    session: &Session,
    call: &Call,
    plan: &Plan,
    answer: &Message,
) -> (String, OutcomeState) {
    let Ok(raw) = answer.outcome() else {
        // A definite "no" of the server.
        return (answer.text().to_owned(), OutcomeState::Failed);
    };
    let (other, state) = measured(session, call, plan, raw);
    let text = match answer.kind() {
        Kind::Response { id: Some(id) } => other.map(|result| message::response(id, &result)),
        _ => None,
    };
    (text.unwrap_or_else(|| answer.text().to_owned()), state)
}

/// Measures a result. Gives what is told in its place, where that is not what came, and the outcome.
pub(super) fn measured(
    session: &Session,
    call: &Call,
    plan: &Plan,
    raw: &str,
) -> (Option<String>, OutcomeState) {
    let Ok(mut result) = serde_json::from_str::<Map<String, Value>>(raw) else {
        // No answer of a tool is anything but an object.
        return breaks(session, call, plan, raw, &[], "the answer is no object".to_owned());
    };
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => {}
        Some("input_required") => return (None, OutcomeState::AwaitingInput),
        // A kind that nobody knows here says nothing that could be measured.
        Some(_) => return (None, OutcomeState::Done),
    }
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return (None, OutcomeState::Failed);
    }
    let mut other = None;
    if let Some(structured) = result.get("structuredContent").filter(|_| !plan.by.is_empty()) {
        // Where it cannot be restored it is measured as it is, and stops what depends on it.
        let restored = session.adapters().restore(&plan.by, structured).ok();
        if let Some(restored) = restored.filter(|restored| restored != structured) {
            result.insert("structuredContent".into(), restored);
            other = Some(Value::Object(result.clone()).to_string());
        }
    }
    session.relied_on(call, plan, &result);
    let answered = plan.live.first().map_or(call.tool.as_str(), |live| live.name());
    let proves = || session.proves(&call.tool, answered, &result);
    let Some(planned) = plan.planned.as_ref().filter(|planned| planned.describes_answers()) else {
        if let Some((told, state)) = unpromised(session, call, plan, raw, &result) {
            return (Some(told), state);
        }
        proves();
        return (other, OutcomeState::Done);
    };
    let fit = match result.get("structuredContent") {
        Some(structured) => planned.answers(structured),
        None => Fit::Unknown("it has no structured part".to_owned()),
    };
    let (lacks, why) = match fit {
        Fit::Fits => {
            proves();
            return (other, OutcomeState::Done);
        }
        Fit::Rejected(rejection) => {
            let at = if rejection.instance_pointer.is_empty() {
                "it".to_owned()
            } else {
                rejection.instance_pointer.clone()
            };
            let lacks = planned.lacks(result.get("structuredContent"), &rejection);
            (lacks, format!("{at} does not fit ({})", rejection.keyword))
        }
        Fit::Unknown(_) if result.contains_key("structuredContent") => {
            proves();
            return (other, OutcomeState::Done);
        }
        Fit::Unknown(why) => (Vec::new(), why),
    };
    breaks(session, call, plan, raw, &lacks, why)
}

/// Measures an answer about which nothing is promised.
fn unpromised(
    session: &Session,
    call: &Call,
    plan: &Plan,
    raw: &str,
    result: &Map<String, Value>,
) -> Option<(String, OutcomeState)> {
    if plan.shown_output { None } else { shape::judged(session, call, plan, raw, result) }
}

/// The structured part of a result; without one, the only text where that is a JSON object or list and nothing else.
pub(super) fn structured(result: &Map<String, Value>) -> Option<Cow<'_, Value>> {
    if let Some(structured) = result.get("structuredContent") {
        return Some(Cow::Borrowed(structured));
    }
    let Some([Value::Object(block)]) = result.get("content")?.as_array().map(Vec::as_slice) else {
        return None;
    };
    let text = block.get("text")?.as_str().filter(|text| text.len() <= limits::TEXT_ANSWER)?;
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_object() || value.is_array()).then_some(Cow::Owned(value))
}

/// An answer that is not what the call was planned with: it was carried out, and what depends on it stops.
fn breaks(
    session: &Session,
    call: &Call,
    plan: &Plan,
    raw: &str,
    lacks: &[String],
    why: String,
) -> (Option<String>, OutcomeState) {
    let said =
        if lacks.is_empty() { why.clone() } else { format!("it lacks {}", lacks.join(", ")) };
    let sentence =
        format!("the answer of {} breaks the contract it was planned under: {said}", call.tool);
    session.tell("broken-answer", Some(&call.tool), None, &sentence);
    if session.settings().observe {
        return (None, OutcomeState::Done);
    }
    let result = refusal::broken_answer(&call.tool, lacks, &why, raw, plan.era);
    (Some(result), OutcomeState::Done)
}
