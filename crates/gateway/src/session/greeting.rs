//! How client and server speak to each other: learned from what passes.

use super::{Outgoing, Session};
use mcp::message::{Id, Kind, Message};
use mcp::{Era, Revision, json};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the gateway's own modern requests say of client and version: the client's words.
const MODERN_META: &[&str] = &[
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

/// The revision of the new era that a request names, and what it says of client and version.
fn modern(message: &Message) -> Option<(Revision, Map<String, Value>)> {
    let params = message.params()?;
    // Cheap to rule out: most messages of the old era name no version.
    if !params.contains("io.modelcontextprotocol/protocolVersion") {
        return None;
    }
    #[derive(serde::Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Map<String, Value>,
    }
    let Params { mut meta } = serde_json::from_str(params).ok()?;
    let version = meta.get("io.modelcontextprotocol/protocolVersion").and_then(Value::as_str);
    let revision = version.and_then(Revision::named).filter(|r| r.era == Era::Modern)?;
    meta.retain(|name, _| MODERN_META.contains(&name.as_str()));
    Some((revision, meta))
}

/// True for the greeting of the old era. What names a version of the new one is of that era, whatever its method.
pub(super) fn greets(message: &Message) -> bool {
    let named = matches!(message.kind(), Kind::Request { method, .. } if method == "initialize");
    named && modern(message).is_none()
}

impl Session {
    /// Learns from a message of the client how the two sides speak.
    pub(super) fn listen_for_era(&self, message: &Message) {
        let (Kind::Request { method, .. } | Kind::Notification { method }) = message.kind() else {
            return;
        };
        let Some((revision, own)) = modern(message) else {
            if method == "initialize" {
                let kept = message.clone();
                self.upstream.learn(|speech| {
                    speech.era = Some(Era::Legacy);
                    speech.meta = None;
                    speech.initialize = Some(kept);
                });
            }
            return;
        };
        let mut first = false;
        self.upstream.learn(|speech| {
            first = speech.era.is_none();
            if speech.initialize.is_none() {
                speech.era = Some(Era::Modern);
                speech.meta = Some(Value::Object(own).to_string());
            }
        });
        if first {
            self.upstream.speak(revision);
        }
    }

    /// The server answered the handshake. It is passed on as it came, but for the promise to tell of changed lists,
    /// which the gateway keeps on its behalf.
    pub(super) async fn greeted(self: &Arc<Self>, id: &Id, message: &Message) {
        let text = message.text().to_owned();
        let Ok(raw) = message.outcome() else { return self.say(Outgoing::answer(id, text)).await };
        let Ok(result) = serde_json::from_str::<Map<String, Value>>(raw) else {
            return self.say(Outgoing::answer(id, text)).await;
        };
        let version = result.get("protocolVersion").and_then(Value::as_str);
        if let Some(revision) = version.and_then(Revision::named) {
            self.upstream.speak(revision);
        }
        let named = result.get("serverInfo").and_then(|info| info.get("version"));
        let named = named.and_then(Value::as_str).map(str::to_owned);
        let told = result.get("instructions").and_then(Value::as_str).map(str::to_owned);
        self.upstream.learn(|speech| {
            speech.server_version = named;
            speech.instructions.clone_from(&told);
        });
        self.instructed(told.as_deref()).await;
        self.say(Outgoing::answer(id, promising(&text))).await;
    }

    /// The server said what it can do: the same promise.
    pub(super) async fn discovered(&self, id: &Id, message: &Message) {
        self.say(Outgoing::answer(id, promising(message.text()))).await;
    }
}

/// The answer with the promise to tell of changed lists, which the gateway keeps on behalf of a server that has tools and
/// does not make it. All else stays as it was written.
fn promising(text: &str) -> String {
    const TOOLS: &[&str] = &["result", "capabilities", "tools"];
    let Some(tools) = json::find(text, TOOLS).filter(|tools| tools.starts_with('{')) else {
        return text.to_owned();
    };
    let promised = match json::find(tools, &["listChanged"]) {
        Some("true") => return text.to_owned(),
        Some(_) => json::replace(tools, &[(&["listChanged"], "true")]),
        None => {
            let rest = tools[1..].trim_start();
            let comma = if rest == "}" { "" } else { "," };
            format!("{{\"listChanged\":true{comma}{rest}")
        }
    };
    json::replace(text, &[(TOOLS, &promised)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_promise_is_written() {
        let with = |tools: &str| {
            format!(r#"{{"id":1e0, "result":{{"capabilities":{{"tools":{tools},"x":1.0}}}}}}"#)
        };
        for (before, after) in [
            ("{ }", r#"{"listChanged":true}"#),
            (r#"{"a":1e2}"#, r#"{"listChanged":true,"a":1e2}"#),
            (r#"{"listChanged":false}"#, r#"{"listChanged":true}"#),
            (r#"{"listChanged":true}"#, r#"{"listChanged":true}"#),
            ("null", "null"),
        ] {
            assert_eq!(promising(&with(before)), with(after));
        }
        assert_eq!(promising(r#"{"id":1,"error":{}}"#), r#"{"id":1,"error":{}}"#);
    }
}
