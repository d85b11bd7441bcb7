//! Clients of the modern era: every POST stands alone, says in headers what its body says, and closing its stream
//! cancels it.

use super::endpoint::{Endpoint, supported};
use super::fan::{Asked, Fan, Said};
use super::legacy::VERSION;
use super::queue;
use super::streams::{self, Event};
use super::{Front, answer, single};
use crate::limits;
use crate::mirror;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::prelude::{BASE64_STANDARD, Engine};
use mcp::message::{Id, Kind, Message};
use mcp::version::{
    HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY, UNSUPPORTED_VERSION,
};
use mcp::{Era, Revision, json};
use serde_json::{Value, json as value};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::timeout;

const IN_META: &[&str] = &["_meta", "io.modelcontextprotocol/protocolVersion"];
const CAPABILITIES: &[&str] = &["_meta", "io.modelcontextprotocol/clientCapabilities"];
/// What headers begin with that mirror arguments.
const PARAM: &str = "mcp-param-";

/// True for a request of the modern era: its body names a revision, or its header one that is not of the legacy era.
pub fn is_modern(headers: &HeaderMap, messages: &[Message]) -> bool {
    let in_body = messages
        .iter()
        .any(|message| json::find(message.params().unwrap_or_default(), IN_META).is_some());
    in_body
        || match single(headers, VERSION) {
            Ok(Some(version)) => Revision::named(version).is_none_or(|r| r.era == Era::Modern),
            Ok(None) | Err(()) => false,
        }
}

impl Front {
    /// A POST of a modern client.
    pub(super) async fn modern_post(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        principal: &str,
        headers: &HeaderMap,
        messages: Vec<Message>,
    ) -> Response {
        let Ok([message]) = <[Message; 1]>::try_from(messages) else {
            return answer::refused(StatusCode::BAD_REQUEST, "This revision has no batches.");
        };
        if let Err(response) = check(headers, &message) {
            return *response;
        }
        let fan = match self.fan(endpoint, principal).await {
            Ok(fan) => fan,
            Err(response) => return response,
        };
        if let Err(response) = check_mirrored(headers, &message, &fan) {
            return *response;
        }
        if matches!(message.kind(), Kind::Notification { .. }) {
            let told = tokio::spawn(async move { fan.tell(message).await });
            return told.await.map_or_else(|why| answer::broken(&why), |()| answer::accepted());
        }
        let carried = carried(headers, &message, &fan).await;
        let Some(mut asked) = fan.ask(&message, carried) else {
            return answer::refused(
                StatusCode::BAD_REQUEST,
                "A client of this revision sends requests and notifications, no answers.",
            );
        };
        match timeout(limits::FIRST_WORD, asked.reader.next()).await {
            Ok(Some(said)) if said.ends => answer::json(status(&said.text), said.text),
            Ok(Some(said)) => streamed(asked, Some(said)),
            Ok(None) => answer::refused(StatusCode::BAD_GATEWAY, "No answer came."),
            Err(_) => streamed(asked, None),
        }
    }
}

/// The rest of an answer as a stream.
fn streamed(asked: Asked, first: Option<Said>) -> Response {
    let (writer, reader) = queue::stream::<Event>();
    let first: VecDeque<Event> =
        first.into_iter().map(|said| streams::event(None, &said.text)).collect();
    let pump = tokio::spawn(async move {
        let mut asked = asked;
        loop {
            let said = tokio::select! {
                said = asked.reader.next() => said,
                () = writer.left() => return,
            };
            let Some(said) = said else { return };
            if writer.push(streams::event(None, &said.text)).is_err() || said.ends {
                return;
            }
        }
    });
    drop(pump);
    answer::stream(first, reader, ())
}

/// The status that an answer calls for.
fn status(text: &str) -> StatusCode {
    let code = json::find(text, &["error", "code"]).and_then(|code| code.parse::<i64>().ok());
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn mismatch(id: Option<&Id>, why: &str) -> Box<Response> {
    answer::error(StatusCode::BAD_REQUEST, id, HEADER_MISMATCH, why, None).into()
}

/// Holds version, method and name in the headers against the body.
fn check(headers: &HeaderMap, message: &Message) -> Result<(), Box<Response>> {
    let (id, method) = match message.kind() {
        Kind::Request { id, method } => (Some(id), method),
        Kind::Notification { method } => (None, method),
        Kind::Response { .. } => return Ok(()),
    };
    let params = message.params().unwrap_or_default();
    let in_body =
        json::find(params, IN_META).and_then(|raw| serde_json::from_str::<String>(raw).ok());
    let in_header = single(headers, VERSION);
    let unsupported = |version: &str| {
        let data = value!({"supported": supported(), "requested": version});
        let why = format!("Unsupported protocol version: {version}");
        Box::new(answer::error(StatusCode::BAD_REQUEST, id, UNSUPPORTED_VERSION, &why, Some(&data)))
    };
    let is_modern = |version: &str| Revision::named(version).is_some_and(|r| r.era == Era::Modern);
    if id.is_some() {
        let Some(version) = in_body.as_deref() else {
            if let Ok(Some(version)) = in_header
                && !is_modern(version)
            {
                return Err(unsupported(version));
            }
            let why = "params._meta must name io.modelcontextprotocol/protocolVersion and io.modelcontextprotocol/clientCapabilities.";
            return Err(
                answer::error(StatusCode::BAD_REQUEST, id, INVALID_PARAMS, why, None).into()
            );
        };
        if in_header != Ok(Some(version)) {
            return Err(mismatch(
                id,
                "MCP-Protocol-Version is not the version that the body names.",
            ));
        }
        if !is_modern(version) {
            return Err(unsupported(version));
        }
        if json::find(params, CAPABILITIES).is_none_or(|raw| !raw.starts_with('{')) {
            let why = "params._meta must name io.modelcontextprotocol/clientCapabilities.";
            return Err(
                answer::error(StatusCode::BAD_REQUEST, id, INVALID_PARAMS, why, None).into()
            );
        }
    } else if !matches!(in_header, Ok(Some(version)) if is_modern(version)) {
        return Err(mismatch(id, "MCP-Protocol-Version names no revision of this era."));
    }
    if single(headers, "mcp-method") != Ok(Some(method)) {
        return Err(mismatch(id, "Mcp-Method is not the method that the body names."));
    }
    let name = mirror::routed(message, |_| None).name;
    let in_header = single(headers, "mcp-name").map(|name| name.map(decoded));
    let agrees = match (&name, in_header) {
        (Some(name), Ok(Some(Some(said)))) => *name == said,
        (None, Ok(_)) => true,
        _ => false,
    };
    if !agrees {
        return Err(mismatch(id, "Mcp-Name is not the name that the body names."));
    }
    Ok(())
}

/// Holds mirrored arguments against those of the body, by the definition that the client was shown.
fn check_mirrored(
    headers: &HeaderMap,
    message: &Message,
    fan: &Arc<Fan>,
) -> Result<(), Box<Response>> {
    let id = match message.kind() {
        Kind::Request { id, method } if method == "tools/call" => id,
        _ => return Ok(()),
    };
    let params: Value =
        serde_json::from_str(message.params().unwrap_or_default()).unwrap_or_default();
    let Some(tool) = params.get("name").and_then(Value::as_str) else { return Ok(()) };
    let shown = {
        let view = fan.joined.session.view();
        let shown = view.pinned().or_else(|| view.last().map(|last| &last.catalogue));
        shown.and_then(|list| list.tool(tool).first().cloned())
    };
    let live = || fan.joined.session.upstream().live(tool).first().cloned();
    let Some(shown) = shown.or_else(live) else { return Ok(()) };
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    for (name, expected) in mirror::marked(&shown.tool().raw, arguments) {
        let header = format!("{PARAM}{name}").to_ascii_lowercase();
        let said = single(headers, &header);
        let agrees = match &expected {
            Some(expected) => {
                let said = said.ok().flatten().and_then(decoded);
                said.is_some_and(|said| said == *expected || same_number(&said, expected))
            }
            // Machines between route by what the server is not told.
            None => said == Ok(None),
        };
        if !agrees {
            let why = match expected {
                Some(_) => format!("Mcp-Param-{name} is not the argument that the body has."),
                None => format!("Mcp-Param-{name} is an argument that the body does not have."),
            };
            return Err(mismatch(Some(id), &why));
        }
    }
    Ok(())
}

/// What the client says in headers for arguments, by the name after `Mcp-Param-`: what no definition marks is for others on
/// the way, and goes on. What one of them marks stands for an argument, and is written anew from what is sent.
async fn carried(headers: &HeaderMap, message: &Message, fan: &Arc<Fan>) -> Vec<(String, String)> {
    let named = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(PARAM)?;
        Some((name.to_owned(), decoded(value.to_str().ok()?)?))
    });
    let mut named: Vec<(String, String)> = named.collect();
    let calls = matches!(message.kind(), Kind::Request { method, .. } if method == "tools/call");
    if calls && !named.is_empty() {
        let tool = mirror::routed(message, |_| None).name.unwrap_or_default();
        match fan.joined.session.marks(&tool).await {
            Ok(marks) => named.retain(|(name, _)| !marks.contains(name)),
            // What may be an argument is not passed on unseen.
            Err(_) => named.clear(),
        }
    }
    named
}

/// Integers are compared by what they are, not by how they are written.
fn same_number(one: &str, two: &str) -> bool {
    matches!((one.parse::<i128>(), two.parse::<i128>()), (Ok(one), Ok(two)) if one == two)
}

/// The value of a header, out of its base64 form where it has that.
fn decoded(text: &str) -> Option<String> {
    let Some(coded) = text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(text.to_owned());
    };
    String::from_utf8(BASE64_STANDARD.decode(coded).ok()?).ok()
}
