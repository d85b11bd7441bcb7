//! What was seen, held against what must be seen. Pure.

use super::peer::Silence;
use super::scenario::{Answer, Arrives, Call, Expected, Request, Shown};
use crate::recorder::{Heard, Record};
use report::escape::one_line;
use serde_json::Value;

/// Characters of a value in a sentence.
const SHOWN: usize = 300;

/// What was seen of one call.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The whole answer, or why there is none.
    pub answer: Result<Value, Silence>,
    /// Calls that reached the server meanwhile.
    pub arrived: Vec<Heard>,
    /// Requests that reached the world meanwhile.
    pub reached: Vec<Record>,
}

/// One expectation that was not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// What that means, in the language of operations.
    pub sentence: String,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub seen: String,
}

/// Of what kind an answer is.
pub fn kind(answer: &Result<Value, Silence>) -> Answer {
    let Ok(message) = answer else { return Answer::Lost };
    let Some(result) = message.get("result") else { return Answer::ProtocolError };
    if result.get("isError") != Some(&Value::Bool(true)) {
        return Answer::Done;
    }
    match marker(result, "side_effect_started") {
        Some(Value::Bool(true)) => Answer::Stopped,
        Some(Value::Null) => Answer::InDoubt,
        _ => Answer::Refused,
    }
}

/// A member of what a refusal says for machines: of steadfast, or of a server that says it in its structured answer.
fn marker<'v>(result: &'v Value, name: &str) -> Option<&'v Value> {
    let ours = result.pointer("/_meta/steadfast~1refusal").and_then(|data| data.get(name));
    ours.or_else(|| result.get("structuredContent").and_then(|data| data.get(name)))
}

/// The code of an answer that is an error.
fn code(message: &Value) -> Option<String> {
    if let Some(error) = message.get("error") {
        return error.get("code").map(ToString::to_string);
    }
    let code = marker(message.get("result")?, "error_code")?;
    code.as_str().map(str::to_owned)
}

/// The text for the model.
pub fn text(message: &Value) -> String {
    if let Some(error) = message.pointer("/error/message").and_then(Value::as_str) {
        return error.to_owned();
    }
    let content = message.pointer("/result/content").and_then(Value::as_array);
    let texts = content.into_iter().flatten().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// Holds one call against what must be seen of it. The gravest miss comes first.
pub fn call(call: &Call, expected: &Expected, seen: &Seen) -> Vec<Miss> {
    let mut misses = Vec::new();
    effects(call, expected, seen, &mut misses);
    answer(call, expected, seen, &mut misses);
    arrival(call, expected, seen, &mut misses);
    // What an answer of another kind says is no news.
    if expected.answer.is_none_or(|wanted| wanted == kind(&seen.answer)) {
        content(expected, seen, &mut misses);
    }
    misses
}

/// How many expectations there are.
pub fn count(expected: &Expected) -> usize {
    usize::from(expected.answer.is_some())
        + usize::from(expected.code.is_some())
        + expected.names.len()
        + expected.holds.len()
        + expected.lacks.len()
        + usize::from(expected.arrives.is_some())
        + usize::from(expected.downstream.is_some())
}

fn effects(call: &Call, expected: &Expected, seen: &Seen, misses: &mut Vec<Miss>) {
    let Some(requests) = &expected.downstream else { return };
    let same = requests.len() == seen.reached.len()
        && requests.iter().zip(&seen.reached).all(|(request, record)| meets(request, record));
    if same {
        return;
    }
    let tool = &call.tool;
    let first = seen.reached.first().map(|record| format!("{} {}", record.method, record.path));
    let sentence = match (kind(&seen.answer), requests.is_empty(), first) {
        (Answer::Refused, true, Some(first)) => {
            format!("a clean error was answered to {tool}, but {first} had begun")
        }
        (_, true, Some(first)) => format!("{tool} must not reach the world, and {first} left"),
        (_, false, None) => format!("{tool} must reach the world, and nothing left"),
        _ if seen.reached.len() > requests.len() => {
            let (n, m) = (seen.reached.len(), requests.len());
            format!("{tool} reached the world {n} times in place of {m}")
        }
        _ => format!("{tool} reached the world with another request"),
    };
    misses.push(Miss {
        sentence,
        expected: lines(requests.iter().map(show_request)),
        seen: lines(seen.reached.iter().map(show_record)),
    });
}

fn meets(request: &Request, record: &Record) -> bool {
    let body = request.body.as_ref().is_none_or(|body| {
        serde_json::from_str::<Value>(&record.body).is_ok_and(|sent| same_value(&sent, body))
    });
    let carries = |name: &String| record.authority.iter().any(|header| header.name == *name);
    request.method == record.method
        && request.path == record.path
        && body
        && request.authority.iter().all(carries)
}

/// Equal, whatever the order of members.
fn same_value(a: &Value, b: &Value) -> bool {
    contract::view::same_value(a, b)
}

fn answer(call: &Call, expected: &Expected, seen: &Seen, misses: &mut Vec<Miss>) {
    let Some(wanted) = expected.answer else { return };
    let got = kind(&seen.answer);
    if got == wanted {
        return;
    }
    let tool = &call.tool;
    let sentence = match (wanted, got) {
        (Answer::Refused, Answer::Done) => {
            format!("{tool} had to be refused, and was carried out as if nothing had changed")
        }
        (Answer::Refused, Answer::Stopped) => {
            format!("{tool} had to be refused before anything began, and it had begun")
        }
        (Answer::Done, Answer::Refused) => {
            format!("{tool} still means the same, and was refused")
        }
        (_, Answer::Lost) => format!("{tool} was never answered"),
        (Answer::Stopped, Answer::Done) => {
            format!("the answer of {tool} lacks what later calls depend on, and nobody was stopped")
        }
        _ => format!("{tool} was answered in another way"),
    };
    misses.push(Miss {
        sentence,
        expected: wanted.word().to_owned(),
        seen: show_answer(&seen.answer),
    });
}

fn arrival(call: &Call, expected: &Expected, seen: &Seen, misses: &mut Vec<Miss>) {
    let Some(arrives) = &expected.arrives else { return };
    let met = match (arrives, seen.arrived.as_slice()) {
        (Arrives::Nothing, []) => true,
        (Arrives::Arguments(wanted), [one]) => {
            one.tool == call.tool && same_value(&one.arguments, wanted)
        }
        _ => false,
    };
    if met {
        return;
    }
    misses.push(Miss {
        sentence: format!("{} reached the server in another form than it must", call.tool),
        expected: match arrives {
            Arrives::Nothing => "nothing".to_owned(),
            Arrives::Arguments(wanted) => one_line(wanted, SHOWN),
        },
        seen: lines(
            seen.arrived.iter().map(|c| format!("{} {}", c.tool, one_line(&c.arguments, SHOWN))),
        ),
    });
}

fn content(expected: &Expected, seen: &Seen, misses: &mut Vec<Miss>) {
    let Ok(message) = &seen.answer else { return };
    if let Some(wanted) = &expected.code {
        let got = code(message);
        if got.as_ref() != Some(wanted) {
            misses.push(Miss {
                sentence: "the refusal has another reason".to_owned(),
                expected: format!("code {wanted}"),
                seen: got.map_or("no code".to_owned(), |got| format!("code {got}")),
            });
        }
    }
    let text = text(message);
    for name in expected.names.iter().filter(|name| !text.contains(name.as_str())) {
        misses.push(Miss {
            sentence: format!("the answer does not name `{name}`, so nobody can repair the call"),
            expected: format!("a text that names {name}"),
            seen: one_line(&Value::String(text.clone()), SHOWN),
        });
    }
    let structured = message.pointer("/result/structuredContent").cloned().unwrap_or_default();
    for (name, wanted) in &expected.holds {
        let got = structured.get(name);
        if !got.is_some_and(|got| same_value(got, wanted)) {
            misses.push(Miss {
                sentence: format!("the answer does not hold `{name}` as it must"),
                expected: format!("{name}: {}", one_line(wanted, SHOWN)),
                seen: got.map_or("it is absent".to_owned(), |got| one_line(got, SHOWN)),
            });
        }
    }
    for name in expected.lacks.iter().filter(|name| structured.get(name.as_str()).is_some()) {
        misses.push(Miss {
            sentence: format!("the answer holds `{name}`, which it must not"),
            expected: format!("no {name}"),
            seen: one_line(&structured, SHOWN),
        });
    }
}

/// Holds a list against what must be shown. `phases` are those of a made-up server, before and after.
pub fn shown(
    wanted: &Shown,
    got: &Result<Vec<Value>, Value>,
    lists: [Option<&[Value]>; 2],
) -> Option<Miss> {
    let names = |tools: &[Value]| {
        tools.iter().map(|t| t["name"].as_str().unwrap_or("?").to_owned()).collect::<Vec<_>>()
    };
    let of = |at: usize| lists[at];
    let same = |tools: &[Value], wanted: Option<&[Value]>| {
        wanted.is_some_and(|wanted| {
            wanted.len() == tools.len() && wanted.iter().zip(tools).all(|(a, b)| same_value(a, b))
        })
    };
    let (met, expected) = match (wanted, got) {
        (Shown::Fails, got) => (got.is_err(), "an error".to_owned()),
        (Shown::Before, Ok(tools)) => {
            (same(tools, of(0)), "the list of before the switch".to_owned())
        }
        (Shown::After, Ok(tools)) => {
            (same(tools, of(1)), "the list of after the switch".to_owned())
        }
        (Shown::Names(wanted), Ok(tools)) => {
            let (mut a, mut b) = (wanted.clone(), names(tools));
            a.sort();
            b.sort();
            (a == b, wanted.join(", "))
        }
        (_, Err(_)) => (false, "a list".to_owned()),
    };
    if met {
        return None;
    }
    Some(Miss {
        sentence: "the client is shown another list than it must".to_owned(),
        expected,
        seen: match got {
            Ok(tools) => match (same(tools, of(0)), same(tools, of(1))) {
                (true, _) => "the list of before the switch".to_owned(),
                (_, true) => "the list of after the switch".to_owned(),
                _ => names(tools).join(", "),
            },
            Err(error) => one_line(error, SHOWN),
        },
    })
}

/// A request that nobody expected, after all steps.
pub fn left_over(records: &[Record]) -> Option<Miss> {
    let first = records.first()?;
    Some(Miss {
        sentence: format!(
            "{} {} reached the world after the answer, and no step expects it",
            first.method, first.path
        ),
        expected: "nothing more".to_owned(),
        seen: lines(records.iter().map(show_record)),
    })
}

/// Holds a call of a client under test against what it must be.
pub fn client_call(wanted: &Call, expected: &Expected, seen: &Seen) -> Vec<Miss> {
    let mut misses = Vec::new();
    let other = seen.arrived.first().filter(|call| call.tool != wanted.tool);
    if let Some(other) = other {
        misses.push(Miss {
            sentence: format!("the client called {} in place of {}", other.tool, wanted.tool),
            expected: wanted.tool.clone(),
            seen: show_call(other),
        });
    }
    effects(wanted, expected, seen, &mut misses);
    arrival(wanted, expected, seen, &mut misses);
    misses
}

/// A call of a client under test that nobody expected.
pub fn uncalled_for(calls: &[Heard]) -> Option<Miss> {
    let first = calls.first()?;
    Some(Miss {
        sentence: format!("the client also called {}, and no step expects it", first.tool),
        expected: "no other call".to_owned(),
        seen: lines(calls.iter().map(show_call)),
    })
}

/// Holds the end of a client under test against what it must be. `log` are its events, where they are known.
pub fn client_end(
    code: i32,
    exit: Option<i32>,
    events: &[String],
    log: Option<&str>,
    said: &str,
) -> Vec<Miss> {
    let mut misses = Vec::new();
    if let Some(wanted) = exit.filter(|wanted| *wanted != code) {
        misses.push(Miss {
            sentence: format!("the client ended with {code}"),
            expected: format!("exit code {wanted}"),
            seen: said.to_owned(),
        });
    }
    let log = log.unwrap_or_default();
    for event in events.iter().filter(|event| !log.contains(event.as_str())) {
        misses.push(Miss {
            sentence: format!("the client's events do not tell of `{event}`"),
            expected: event.clone(),
            seen: if log.is_empty() { "no event".to_owned() } else { log.to_owned() },
        });
    }
    misses
}

fn show_call(call: &Heard) -> String {
    format!("{} {}", call.tool, one_line(&call.arguments, SHOWN))
}

fn lines(items: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = items.collect();
    if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") }
}

fn show_request(request: &Request) -> String {
    let body = request.body.as_ref().map(|body| format!(" {}", one_line(body, SHOWN)));
    let authority =
        request.authority.iter().map(|name| format!(" with {name}")).collect::<String>();
    format!("{} {}{}{authority}", request.method, request.path, body.unwrap_or_default())
}

fn show_record(record: &Record) -> String {
    let authority: String =
        record.authority.iter().map(|h| format!(" {} {}", h.name, h.fingerprint)).collect();
    let body = report::escape::clip(&report::escape::visible(&record.body), SHOWN);
    let correlation =
        record.correlation.as_ref().map(|id| format!(" [{}]", report::escape::visible(id)));
    let correlation = correlation.unwrap_or_default();
    format!("{} {} {body}{authority}{correlation}", record.method, record.path)
}

fn show_answer(answer: &Result<Value, Silence>) -> String {
    match answer {
        Err(Silence::Ended) => "lost: the connection ended".to_owned(),
        Err(Silence::Late) => "lost: no answer in time".to_owned(),
        Ok(message) => {
            let code = code(message).map_or(String::new(), |code| format!(" [{code}]"));
            let text = Value::String(text(message));
            format!("{}{code} {}", kind(answer).word(), one_line(&text, SHOWN))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(started: Value) -> Result<Value, Silence> {
        Ok(json!({"result": {
            "isError": true,
            "content": [{"type": "text", "text": "NOT EXECUTED: `region` is missing"}],
            "structuredContent": {"error_code": "STALE_TOOL_SCHEMA", "side_effect_started": started},
        }}))
    }

    fn record() -> Record {
        Record {
            n: 1,
            method: "POST".into(),
            path: "/d".into(),
            authority: vec![],
            correlation: None,
            body: "{\"b\":1,\"a\":2}".into(),
        }
    }

    fn deploy() -> Call {
        Call { tool: "deploy".into(), arguments: json!({}) }
    }

    #[test]
    fn an_answer_is_known_by_what_it_says_of_effects() {
        assert_eq!(kind(&refused(json!(false))), Answer::Refused);
        assert_eq!(kind(&refused(json!(true))), Answer::Stopped);
        assert_eq!(kind(&refused(Value::Null)), Answer::InDoubt);
        assert_eq!(kind(&Ok(json!({"error": {"code": -32602}}))), Answer::ProtocolError);
        assert_eq!(kind(&Ok(json!({"result": {"content": []}}))), Answer::Done);
        assert_eq!(kind(&Err(Silence::Late)), Answer::Lost);
    }

    #[test]
    fn a_clean_error_after_an_effect_is_the_gravest_miss() {
        let expected = Expected {
            answer: Some(Answer::Refused),
            downstream: Some(vec![]),
            ..Expected::default()
        };
        let seen = Seen { answer: refused(json!(false)), arrived: vec![], reached: vec![record()] };
        let misses = call(&deploy(), &expected, &seen);
        assert_eq!(
            misses[0].sentence,
            "a clean error was answered to deploy, but POST /d had begun"
        );
        let clean = Seen { reached: vec![], ..seen };
        assert_eq!(call(&deploy(), &expected, &clean), []);
    }

    #[test]
    fn a_body_is_met_whatever_its_order_and_never_in_part() {
        let request = |body: Value| Request {
            method: "POST".into(),
            path: "/d".into(),
            body: Some(body),
            authority: vec![],
        };
        assert!(meets(&request(json!({"a": 2, "b": 1})), &record()));
        assert!(!meets(&request(json!({"a": 2})), &record()));
        let with =
            Request { authority: vec!["authorization".into()], ..request(json!({"a": 2, "b": 1})) };
        assert!(!meets(&with, &record()));
    }

    #[test]
    fn every_kind_of_expectation_can_fail() {
        let expected = Expected {
            answer: Some(Answer::Refused),
            code: Some("OTHER".into()),
            names: vec!["environment".into()],
            holds: json!({"deployment_id": "d-1"}).as_object().cloned().unwrap(),
            lacks: vec!["error_code".into()],
            arrives: Some(Arrives::Arguments(json!({}))),
            downstream: Some(vec![Request {
                method: "PUT".into(),
                path: "/d".into(),
                body: None,
                authority: vec![],
            }]),
        };
        let seen = Seen { answer: refused(json!(false)), arrived: vec![], reached: vec![record()] };
        // All but the kind of the answer.
        assert_eq!(call(&deploy(), &expected, &seen).len(), count(&expected) - 1);
        let other = Expected { answer: Some(Answer::Done), ..Expected::default() };
        assert_eq!(
            call(&deploy(), &other, &seen)[0].sentence,
            "deploy still means the same, and was refused"
        );
    }
}
