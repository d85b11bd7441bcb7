//! What comes back, measured by the contract that the call was planned under.

use super::{Call, Plan, deed, shape};
use crate::limits;
use crate::refusal;
use crate::session::Session;
use contract::admission::{Grade, Ground};
use contract::{Fit, Revised};
use mcp::Era;
use mcp::message::{self, Kind, Message};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use store::OutcomeState;

/// The definitions that promise something about the answer. Where several may be what the client planned with, it relies
/// on what any of them promises.
pub(super) fn measures(
    candidates: &[Arc<Revised>],
    live: &[Arc<Revised>],
    ground: &Ground,
) -> Vec<Arc<Revised>> {
    let spoke = |revised: &&Arc<Revised>| Some(revised.digest()) == ground.planned.as_deref();
    let first = candidates.iter().chain(live).find(spoke);
    let others = match ground.grade {
        // Written by one definition alone.
        Some(grade) if grade == Grade::Shape.name() => &[],
        _ => candidates,
    };
    let mut measures: Vec<Arc<Revised>> = Vec::new();
    for one in first.into_iter().chain(others) {
        if !measures.iter().any(|known| known.digest() == one.digest()) {
            measures.push(Arc::clone(one));
        }
    }
    measures
}

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
    // The older era has no such member: what stands there is one of many that nobody knows.
    let kind = result.get("resultType").and_then(Value::as_str).filter(|_| plan.era == Era::Modern);
    match kind {
        Some("input_required") => return (None, OutcomeState::AwaitingInput),
        // A task says nothing yet that could be measured.
        Some("task") if result.contains_key("task") || result.contains_key("taskId") => {
            return (None, OutcomeState::Done);
        }
        // Of a kind that nobody knows here, what was promised is demanded all the same.
        _ => {}
    }
    if let Some(told) = deed::told(session, call, plan, &result) {
        return told;
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
    let answered = plan.sent_as(call);
    let proves = || session.proves(&call.tool, answered, plan.request, &result);
    let promising: Vec<&Arc<Revised>> =
        plan.planned.iter().filter(|planned| planned.describes_answers()).collect();
    if promising.is_empty() {
        if let Some((told, state)) = unpromised(session, call, plan, raw, &result) {
            return (Some(told), state);
        }
        proves();
        return (other, OutcomeState::Done);
    }
    let structured = result.get("structuredContent");
    for planned in promising {
        let (lacks, why) = match structured.map(|structured| planned.answers(structured)) {
            Some(Fit::Fits) => continue,
            Some(Fit::Rejected(rejection)) => {
                let why = unfit(&rejection.instance_pointer, &rejection.keyword);
                (planned.lacks(structured, &rejection), why)
            }
            Some(Fit::Unknown(why)) => {
                let what = format!(
                    "nobody can tell whether the answer of {} keeps its contract: {why}",
                    call.tool
                );
                session.tell("unmeasured-answer", Some(&call.tool), None, &what);
                continue;
            }
            None => (Vec::new(), "it has no structured part".to_owned()),
        };
        return breaks(session, call, plan, raw, &lacks, why);
    }
    if let Some(structured) = structured {
        of_today(session, call, plan, structured);
    }
    proves();
    (other, OutcomeState::Done)
}

/// In words, why a value does not fit.
fn unfit(pointer: &str, keyword: &str) -> String {
    let at = if pointer.is_empty() { "it" } else { pointer };
    format!("{at} does not fit ({keyword})")
}

/// An answer that keeps what the client planned with, and not what its server promises by now: that is told, and no reason
/// to withhold it.
fn of_today(session: &Session, call: &Call, plan: &Plan, structured: &Value) {
    // Restored for the client, it has the old form.
    let [live] = &plan.live[..] else { return };
    if !plan.by.is_empty() || plan.planned.iter().any(|one| one.digest() == live.digest()) {
        return;
    }
    if let Fit::Rejected(rejection) = live.answers(structured) {
        let why = unfit(&rejection.instance_pointer, &rejection.keyword);
        let what = format!("the answer of {} is none of its current contract: {why}", call.tool);
        session.tell("answer-of-old", Some(&call.tool), None, &what);
    }
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
