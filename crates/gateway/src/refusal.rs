//! What a client is told when a call is not carried out, or was and its answer cannot be used.

use crate::limits;
use contract::Depends;
use contract::admission::{Action, Refusal, Retry};
use contract::depends::FromResults;
use mcp::Era;
use serde_json::{Map, Value, json};

/// The member of `_meta` that holds the data of a refusal.
pub const META: &str = "steadfast/refusal";

/// A tool execution error: the only kind of "no" that a model is meant to see. `structured` also puts the data where a
/// client that validates answers would not stumble over it.
pub fn result(text: &str, data: &Value, structured: bool, era: Era) -> String {
    let mut result = Map::new();
    if era == Era::Modern {
        result.insert("resultType".into(), "complete".into());
    }
    result.insert("content".into(), json!([{"type": "text", "text": text}]));
    if structured {
        result.insert("structuredContent".into(), data.clone());
    }
    result.insert("isError".into(), true.into());
    result.insert("_meta".into(), json!({META: data}));
    Value::Object(result).to_string()
}

/// A refusal as a result.
pub fn refused(refusal: &Refusal, token: Option<&str>, structured: bool, era: Era) -> String {
    result(&refusal.text(token), &refusal.data(), structured, era)
}

/// The answer came and breaks the contract that the call was planned under. It must not be taken for a failure.
pub fn broken_answer(tool: &str, lacks: &[String], why: &str, raw: &str, era: Era) -> String {
    let shown: String = raw.chars().take(limits::RAW_ANSWER).collect();
    let lacks_words = match lacks {
        [] => why.to_owned(),
        lacks => format!("it lacks {}", lacks.join(", ")),
    };
    let data = json!({
        "error_code": "ANSWER_BREAKS_CONTRACT",
        "tool": tool,
        "missing": lacks,
        "required_action": "ask_person",
        "side_effect_started": true,
        "outcome": "done",
        "retry": "no",
    });
    let text = format!(
        "EXECUTED ONCE, DO NOT REPEAT. The call was carried out, and its answer is not what it was when the call was planned: {lacks_words}. Do not take the missing values from text; stop what depends on them and ask the person you work for."
    );
    let mut result = Map::new();
    if era == Era::Modern {
        result.insert("resultType".into(), "complete".into());
    }
    result.insert(
        "content".into(),
        json!([{"type": "text", "text": text}, {"type": "text", "text": shown}]),
    );
    result.insert("isError".into(), true.into());
    result.insert("_meta".into(), json!({META: data}));
    Value::Object(result).to_string()
}

/// The call left and no answer came.
pub fn in_doubt(tool: &str, why: &str, effect: bool, request: &str, era: Era) -> String {
    let (text, data) = doubt(tool, &format!("the tool did not answer it ({why})"), effect, request);
    result(&text, &data, false, era)
}

/// The call left, and what came of it is not known: the text and the data.
pub fn doubt(tool: &str, why: &str, effect: bool, request: &str) -> (String, Value) {
    let data = json!({
        "error_code": if effect { "OUTCOME_UNKNOWN" } else { "NO_ANSWER" },
        "tool": tool,
        "required_action": if effect { "ask_person" } else { "fix_arguments" },
        "side_effect_started": if effect { Value::Null } else { Value::Bool(false) },
        "outcome": "in_doubt",
        "retry": if effect { "no" } else { "auto_allowed" },
        "request": request,
    });
    let text = if effect {
        format!(
            "IN DOUBT, DO NOT REPEAT. The call left and {why}: it may have been carried out. Look whether it was, or ask the person you work for; they can settle it as request {request}."
        )
    } else {
        format!("NO ANSWER. The call left and {why}. It only reads, so it may be made again.")
    };
    (text, data)
}

/// The code of an action of which nothing left.
pub const ACTION_NOT_SENT: &str = "ACTION_NOT_SENT";

/// An action of which nothing left: the text and the data.
pub fn action_not_sent(tool: &str, why: &str, action: Action, retry: Retry) -> (String, Value) {
    let data = json!({
        "error_code": ACTION_NOT_SENT,
        "tool": tool,
        "reason": why,
        "required_action": action.name(),
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": retry.name(),
    });
    let todo = match (action, retry) {
        (_, Retry::AutoAllowed) => "make exactly the same call again",
        (Action::RefreshTools, _) => {
            "fetch the list of tools again, look whether the call is still what you want, and make it anew"
        }
        (Action::FixArguments, _) => {
            "correct the arguments as is said below, and make the call anew"
        }
        _ => {
            "tell the person you work for what is said below; once that is settled, the call may be made anew"
        }
    };
    (format!("NOT EXECUTED: nothing left this machine. What to do: {todo}."), data)
}

/// A result as it came, with a text ahead of its own and the data beside it.
pub fn ahead(came: &Map<String, Value>, text: &str, data: &Value) -> String {
    let mut told = came.clone();
    let own = told.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    let texts = std::iter::once(json!({"type": "text", "text": text})).chain(own);
    told.insert("content".into(), texts.collect());
    told.insert("isError".into(), true.into());
    let mut meta = told.get("_meta").and_then(Value::as_object).cloned().unwrap_or_default();
    meta.insert(META.into(), data.clone());
    told.insert("_meta".into(), Value::Object(meta));
    Value::Object(told).to_string()
}

/// Nothing left.
pub fn not_sent(tool: &str, why: &str, era: Era) -> String {
    let data = json!({
        "error_code": "SERVER_UNREACHABLE",
        "tool": tool,
        "required_action": "ask_person",
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": "new_decision",
    });
    result(
        &format!(
            "NOT EXECUTED: the server cannot be reached ({why}). Nothing was sent. What to do: tell the person you work for; once the server is back, the call may be made anew."
        ),
        &data,
        false,
        era,
    )
}

/// The code of a refusal for want of a task.
pub const NEEDS_TASK: &str = "NEEDS_TASK";

/// The call may outlive the contract that it was planned under, and would not run as a task.
pub fn needs_task(tool: &str, structured: bool, era: Era) -> String {
    let data = json!({
        "error_code": NEEDS_TASK,
        "tool": tool,
        "required_action": "ask_person",
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": "no",
    });
    result(
        "NOT EXECUTED: calls of this tool take long and may outlive the contract they were planned under, so they are carried out as tasks alone. Nothing was sent. What to do: ask for a task, where the client can; else ask the person you work for.",
        &data,
        structured,
        era,
    )
}

/// The code of a refusal for want of a value that another answer lacked.
pub const DEPENDENCY_MISSING: &str = "DEPENDENCY_MISSING";

/// The call relies on a value that the last answer of another tool lacked.
pub fn dependency_missing(missing: &Depends, structured: bool, era: Era) -> String {
    let data = json!({
        "error_code": DEPENDENCY_MISSING,
        "tool": missing.tool,
        "missing": [missing.member],
        "depends_on": missing.on,
        "required_action": "ask_person",
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": "no",
    });
    let text = format!(
        "NOT EXECUTED: {} of {} is declared to come from {} of the answer of {}, and its last answer lacked that. Nothing was sent. What to do: do not take the value from text or guess it; stop what depends on it, and ask the person you work for. A value that an earlier answer gave is fine.",
        quoted(&missing.argument),
        quoted(&missing.tool),
        quoted(&missing.member),
        quoted(&missing.on),
    );
    result(&text, &data, structured, era)
}

/// The code of a refusal of a key that the caller wrote.
pub const KEY_SUPPLIED: &str = "KEY_SUPPLIED";

/// The caller wrote a key that the gateway makes.
pub fn key_supplied(tool: &str, argument: &str, structured: bool, era: Era) -> String {
    let data = own_refusal(KEY_SUPPLIED, tool, &[argument], "fix_arguments", "auto_allowed");
    let text = format!(
        "NOT EXECUTED: {} of {} is the key by which the server knows a repetition, and the gateway writes it. Nothing was sent. What to do: make the same call without {}.",
        quoted(argument),
        quoted(tool),
        quoted(argument),
    );
    result(&text, &data, structured, era)
}

/// The code of a refusal for want of the argument that takes the key.
pub const KEY_GONE: &str = "KEY_GONE";

/// The tool no longer has the argument that takes the key.
pub fn key_gone(tool: &str, argument: &str, structured: bool, era: Era) -> String {
    let data = own_refusal(KEY_GONE, tool, &[argument], "ask_person", "no");
    let text = format!(
        "NOT EXECUTED: calls of {} are sent with a key in {}, and the tool no longer has that argument: a repetition could no longer be told from a new call. Nothing was sent. What to do: ask the person you work for.",
        quoted(tool),
        quoted(argument),
    );
    result(&text, &data, structured, era)
}

/// The code of a refusal of a value that came in no structured answer.
pub const UNPROVEN_VALUE: &str = "UNPROVEN_VALUE";

/// An argument must have come in a structured answer, and did not.
pub fn unproven(one: &FromResults, structured: bool, era: Era) -> String {
    let data =
        own_refusal(UNPROVEN_VALUE, &one.tool, &[&one.argument], "fix_arguments", "new_decision");
    let from = match &one.from {
        Some((on, member)) => format!("{} of an answer of {}", quoted(member), quoted(on)),
        None => "a structured answer of a tool".to_owned(),
    };
    let text = format!(
        "NOT EXECUTED: {} of {} must be a value that came in this session in {from}; this one did not. Nothing was sent. What to do: call the tool that gives it, and use the value as it stands there; do not take it from text, from memory or from a guess. Where no tool gives it, ask the person you work for.",
        quoted(&one.argument),
        quoted(&one.tool),
    );
    result(&text, &data, structured, era)
}

/// The code of a refusal of a request state that was never given, edited, used, or is over.
pub const STATE_UNKNOWN: &str = "REQUEST_STATE_UNKNOWN";

/// A request that is answered by an error of the protocol: its code, the data and the text.
pub type Rejected = (&'static str, Value, &'static str);

/// The request state is none that the gateway gave, or no longer.
pub fn state_unknown(tool: &str) -> Rejected {
    let data = own_refusal(STATE_UNKNOWN, tool, &["requestState"], "fix_arguments", "new_decision");
    (
        STATE_UNKNOWN,
        data,
        "NOT EXECUTED: the request state of this call is none that was given here: it was edited, was used before, or is over. Nothing was sent. What to do: look whether the call went through already; where it did not, make it anew, without requestState and inputResponses.",
    )
}

/// The code of a refusal of another call under the request state of a first.
pub const STATE_OTHER: &str = "REQUEST_STATE_OF_ANOTHER_CALL";

/// The request state belongs to a call of another tool or with other arguments.
pub fn state_other(tool: &str) -> Rejected {
    let data = own_refusal(STATE_OTHER, tool, &["requestState"], "fix_arguments", "new_decision");
    (
        STATE_OTHER,
        data,
        "NOT EXECUTED: the request state of this call belongs to a call of another tool or with other arguments. Nothing was sent. What to do: go on with the very call that began; or make this one on its own, without requestState and inputResponses.",
    )
}

/// The code of a refusal of a further round after the tool changed.
pub const ROUND_VOID: &str = "STALE_TOOL_SCHEMA";

/// The tool changed between two rounds of one request.
pub fn round_void(tool: &str, era: Era) -> String {
    let data = own_refusal(ROUND_VOID, tool, &["requestState"], "refresh_tools", "new_decision");
    let text = "NOT EXECUTED: the tool changed after it asked for input, so what was begun does not go on. Nothing of this round was sent. What to do: fetch the list of tools again, look whether the call is still what you want, and make it anew, without requestState and inputResponses.";
    result(text, &data, false, era)
}

/// What holds could not be read between two rounds of a request with an effect.
pub fn round_unverified(tool: &str, era: Era) -> String {
    let data = own_refusal("CONTRACT_UNVERIFIED", tool, &[], "refresh_tools", "auto_allowed");
    let text = "NOT EXECUTED: it could not be read whether the tool is still what it was when it asked for input. Nothing of this round was sent. What to do: make exactly the same call again.";
    result(text, &data, false, era)
}

/// The data of a refusal for a reason of the gateway's own: nothing was sent.
fn own_refusal(code: &str, tool: &str, over: &[&str], action: &str, retry: &str) -> Value {
    json!({
        "error_code": code,
        "tool": tool,
        "changed": over,
        "required_action": action,
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": retry,
    })
}

/// The gateway cannot write down what it is about to do, so it does not do it.
pub fn not_recorded(tool: &str, why: &str, era: Era) -> String {
    let data = json!({
        "error_code": "NOT_RECORDED",
        "tool": tool,
        "required_action": "ask_person",
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": "no",
    });
    result(
        &format!(
            "NOT EXECUTED: the gateway could not record this call ({why}), and carries out nothing that it cannot record. Nothing was sent."
        ),
        &data,
        false,
        era,
    )
}

/// A name in a text for a model: plain, or as JSON of plain ASCII.
fn quoted(name: &str) -> String {
    contract::admission::shown_name(name)
}

/// A call that waits for a person, or for which a person said no.
pub fn held(tool: &str, code: &str, id: &str, expires: u64, era: Era) -> String {
    let text = match code {
        "APPROVAL_PENDING" => format!(
            "WAITING, NOT EXECUTED: this call needs the approval of a person. Nothing was sent. What to do: tell the person you work for that approval {id} waits. Once it is given, make exactly the same call again: it runs once. Any other call needs an approval of its own."
        ),
        "APPROVAL_DENIED" => format!(
            "NOT EXECUTED: a person denied this call (approval {id}). Nothing was sent. What to do: stop, and ask the person you work for; do not try to reach the same by another way."
        ),
        "CONTRACT_UNVERIFIED" => format!(
            "NOT EXECUTED: a person approved this call, and then it could not be checked whether {tool} is still what they were shown. Nothing was sent, and the approval {id} is not used up. What to do: make exactly the same call again; it runs once what holds can be read.",
            tool = quoted(tool)
        ),
        _ => format!(
            "NOT EXECUTED: the approval {id} no longer covers this call: its time is over, it was used, or the tool changed. Nothing was sent. What to do: where the call is still wanted, make it again; a person is asked anew."
        ),
    };
    let (action, retry) = match code {
        "APPROVAL_DENIED" => ("stop", "no"),
        // The very same call, and nothing to decide anew.
        "CONTRACT_UNVERIFIED" => ("refresh_tools", "auto_allowed"),
        _ => ("ask_person", "no"),
    };
    let data = json!({
        "error_code": code,
        "tool": tool,
        "id": id,
        "expires": expires,
        "required_action": action,
        "side_effect_started": false,
        "outcome": "not_sent",
        "retry": retry,
    });
    result(&text, &data, false, era)
}
