//! The same fixtures for an agent that speaks MCP: a call of a tool is a request of `POST /tools/NAME` with the
//! arguments as its body, and what a fixture answers is the structured result.
//!
//! Streamable HTTP without a session (MCP 2025-11-25, Transports): one answer to each request, no stream. Calls alone are
//! on record; that a list is read is no request of the agent's.

use super::fixture::Fixture;
use super::record::Seen;
use super::shelf::Sent;
use contract::Problem;
use contract::text::Notation;
use mcp::message::{Id, Kind, Message};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Where MCP is spoken.
pub const PATH: &str = "/mcp";

/// Where calls of tools stand among requests.
pub const CALLS: &str = "/tools/";

/// The revision that is spoken where a client names none.
const REVISION: &str = "2025-11-25";

/// What a message asks for.
pub enum Asked {
    /// A call of a tool, to be recorded and answered like a request.
    Call(Id, Box<Seen>),
    /// Something that is answered at once.
    Answer(Value),
    /// A notification, or an answer: nothing comes back.
    Nothing,
    /// It is no message.
    Unreadable(String),
}

/// Reads a message. `tools` is the list that is shown.
pub fn read(body: &[u8], tools: &[Value], chosen: &BTreeSet<String>) -> Asked {
    let messages = match Message::parse_all(body) {
        Ok(messages) => messages,
        Err(why) => return Asked::Unreadable(why.to_string()),
    };
    let [message] = messages.as_slice() else {
        return Asked::Unreadable("Send one message at a time.".to_owned());
    };
    let Kind::Request { id, method } = message.kind() else { return Asked::Nothing };
    let params = message.params().unwrap_or("{}");
    let result = match method.as_str() {
        "tools/call" => return call(id.clone(), params, chosen),
        "initialize" => {
            let asked: Value = serde_json::from_str(params).unwrap_or_default();
            let revision = asked["protocolVersion"].as_str().unwrap_or(REVISION);
            json!({
                "protocolVersion": revision,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "steadfast-contract-server", "version": env!("CARGO_PKG_VERSION")},
            })
        }
        "tools/list" => json!({ "tools": tools }),
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "There is no such method here."});
            return Asked::Answer(json!({"jsonrpc": "2.0", "id": id_of(id), "error": error}));
        }
    };
    Asked::Answer(json!({"jsonrpc": "2.0", "id": id_of(id), "result": result}))
}

fn call(id: Id, params: &str, chosen: &BTreeSet<String>) -> Asked {
    #[derive(serde::Deserialize)]
    struct Call<'p> {
        name: String,
        #[serde(borrow)]
        arguments: Option<&'p RawValue>,
    }
    let call: Call<'_> = match serde_json::from_str(params) {
        Ok(call) => call,
        Err(why) => return Asked::Unreadable(why.to_string()),
    };
    let path = format!("{CALLS}{}", call.name);
    let headers = [("content-type", b"application/json".as_slice())].into_iter();
    let body = call.arguments.map_or("", RawValue::get).as_bytes();
    Asked::Call(id, Box::new(Seen::read("POST", &path, headers, body, chosen)))
}

fn id_of(id: &Id) -> Value {
    match id {
        Id::Text(text) => Value::from(text.as_str()),
        Id::Number(spelled) => serde_json::from_str(spelled).unwrap_or_default(),
    }
}

/// The answer of a fixture as the result of a call.
pub fn result(id: &Id, sent: &Sent) -> Sent {
    let text = String::from_utf8_lossy(&sent.body).into_owned();
    let value = serde_json::from_str::<Value>(&text).ok().filter(Value::is_object);
    let mut result = json!({
        "content": [{"type": "text", "text": text}],
        "isError": sent.status >= 400,
    });
    if let Some(value) = value {
        result["structuredContent"] = value;
    }
    message(&json!({"jsonrpc": "2.0", "id": id_of(id), "result": result}))
}

/// A message as it is sent.
pub fn message(message: &Value) -> Sent {
    let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
    Sent { status: 200, headers, body: message.to_string().into_bytes() }
}

/// Reads the tools of a file: a list, or a `tools/list` result.
///
/// # Errors
/// Where the file holds none.
pub fn list(path: &str) -> Result<Vec<Value>, Vec<Problem>> {
    let told = |sentence: String| {
        let help = "Give the tools as a list, or a file with a `tools/list` result.".to_owned();
        vec![Problem { place: path.to_owned(), sentence, help }]
    };
    let bytes =
        std::fs::read(path).map_err(|why| told(format!("The tools cannot be read: {why}.")))?;
    let notation = Notation::of_name(path).unwrap_or(Notation::Json);
    let value = contract::text::read_as(path, &bytes, notation)?;
    let list = [&value["tools"], &value["result"]["tools"], &value];
    let tools = list.into_iter().find_map(Value::as_array).filter(|tools| !tools.is_empty());
    let Some(tools) = tools else { return Err(told("There is no list of tools here.".to_owned())) };
    if tools.iter().any(|tool| !tool["name"].is_string()) {
        return Err(told("A tool of the list has no name.".to_owned()));
    }
    Ok(tools.clone())
}

/// Fixtures that no call can reach: of tools that are not listed.
pub fn unreachable<'f>(tools: &[Value], fixtures: &'f [Fixture]) -> Vec<&'f Fixture> {
    let listed = |fixture: &&Fixture| {
        let operation = fixture.operation();
        let name = operation.strip_prefix("POST ").and_then(|path| path.strip_prefix(CALLS));
        name.is_none_or(|name| tools.iter().any(|tool| tool["name"] == *name))
    };
    fixtures.iter().filter(|fixture| !listed(fixture)).collect()
}
