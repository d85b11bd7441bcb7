//! What exactly a bound action would send, as its server foretells it: that is what a person is shown and approves, and
//! what the server holds the request against before it sends the first byte.

use super::{Call, Plan, deed};
use crate::refusal;
use crate::session::Session;
use crate::upstream::Epoch;
use mcp::deed::{APPROVED, Deed, FORETELL};
use mcp::json;
use mcp::message::Message;
use serde_json::{Map, Value};

/// What would leave.
pub(super) struct Exact {
    /// Stands for every byte of it.
    pub digest: String,
    /// What a person is shown.
    pub shown: Map<String, Value>,
}

/// Asks over a connection what a call would send. `Ok(None)` where its server is none of bound actions: then its arguments are all that is
/// known. `Err` is what the client is told where nothing would leave anyway, or that cannot be known.
pub(super) async fn of(
    session: &Session,
    call: &Call,
    plan: &Plan,
    over: Epoch,
    message: &Message,
) -> Result<Option<Exact>, String> {
    if !session.settings().believed.counts(plan.sent_as(call)) {
        return Ok(None);
    }
    let unknown = |why: String| refusal::not_sent(&call.tool, &why, plan.era);
    let answer = session.upstream().foretold(over, message).await.map_err(unknown)?;
    let result = answer.outcome().map_err(|error| unknown(error.message.clone()))?;
    let result: Map<String, Value> =
        serde_json::from_str(result).map_err(|why| unknown(why.to_string()))?;
    if let (Some(digest), Some(shown)) = (
        result.get("digest").and_then(Value::as_str),
        result.get("shown").and_then(Value::as_object),
    ) {
        return Ok(Some(Exact { digest: digest.to_owned(), shown: shown.clone() }));
    }
    let why = result.get("unsent").and_then(Deed::told);
    let note = result.get("note").and_then(Value::as_str).unwrap_or_default();
    Err(match why {
        Some(Deed::NotSent(why)) => deed::not_sent(call, plan, why, note),
        _ => unknown("it does not say what the call would send".to_owned()),
    })
}

/// The same message, which leaves only as what was approved, where that was foretold.
pub(super) fn bound_to(message: Option<Message>, approved: Option<&str>) -> Option<Message> {
    let message = message?;
    let Some(digest) = approved else { return Some(message) };
    let params = message.params()?.trim();
    let digest = Value::from(digest).to_string();
    let name = Value::from(APPROVED).to_string();
    let member = |inner: &str| match inner.trim() {
        "" => format!("{{{name}:{digest}}}"),
        inner => format!("{{{inner},{name}:{digest}}}"),
    };
    let new = match json::find(params, &["_meta"]) {
        // What a client wrote there is not what a person said.
        Some(meta) if json::find(meta, &[APPROVED]).is_some() => {
            json::replace(params, &[(&["_meta", APPROVED], &digest)])
        }
        Some(meta) => {
            let inner = meta.trim().strip_prefix('{')?.strip_suffix('}')?;
            json::replace(params, &[(&["_meta"], &member(inner))])
        }
        None => {
            let open = params.strip_suffix('}')?;
            format!("{open},\"_meta\":{}}}", member(""))
        }
    };
    Message::parse(&json::replace(message.text(), &[(&["params"], &new)])).ok()
}

/// The question that foretells a call.
pub(crate) fn question(call: &Message) -> Option<(&'static str, String)> {
    let params = call.params()?;
    let name = json::find(params, &["name"])?;
    let arguments = json::find(params, &["arguments"]).unwrap_or("{}");
    Some((FORETELL, format!("{{\"name\":{name},\"arguments\":{arguments}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_written_beside_what_is_there_and_over_what_a_client_wrote() {
        let bound = |meta: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1e0,"method":"tools/call","params":{{"name":"t","arguments":{{"n":1.0}}{meta}}}}}"#
            );
            let message = Message::parse(&text).ok();
            bound_to(message, Some("sha256:aa")).unwrap().text().to_owned()
        };
        let with = |meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1e0,"method":"tools/call","params":{{"name":"t","arguments":{{"n":1.0}},"_meta":{meta}}}}}"#
            )
        };
        assert_eq!(bound(""), with(r#"{"steadfast/approved":"sha256:aa"}"#));
        assert_eq!(bound(r#","_meta":{}"#), with(r#"{"steadfast/approved":"sha256:aa"}"#));
        assert_eq!(
            bound(r#","_meta":{"p":1e0}"#),
            with(r#"{"p":1e0,"steadfast/approved":"sha256:aa"}"#)
        );
        assert_eq!(
            bound(r#","_meta":{"steadfast/approved":"mine"}"#),
            with(r#"{"steadfast/approved":"sha256:aa"}"#)
        );
    }
}
