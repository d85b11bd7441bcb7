//! A server that follows a script, on a pipe, in both eras.

use crate::limits;
use crate::script::{Deed, Fault, Script};
use mcp::framing::{Line, Lines};
use mcp::message::{self, Id, Kind, Message};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc};

/// Serves a script on a pipe until the client leaves. `recorder` is the address of a [`crate::Recorder`].
///
/// # Errors
/// Where the recorder cannot be reached.
pub async fn serve(
    script: Script,
    recorder: &str,
    input: impl AsyncRead + Unpin,
    output: impl tokio::io::AsyncWrite + Unpin + Send + 'static,
) -> Result<(), String> {
    // The TLS library wants to know its cryptography even where no TLS is spoken.
    mcp::http::cryptography();
    let client = reqwest::Client::builder()
        .no_proxy()
        .timeout(limits::REQUEST)
        .build()
        .map_err(|why| why.to_string())?;
    let (out, lines) = mpsc::channel(256);
    let server = Arc::new(Serving {
        script,
        recorder: recorder.to_owned(),
        client,
        out,
        listens: Mutex::default(),
    });
    server.phase(None).await?;
    let writer = tokio::spawn(write(output, lines));
    if server.script.announces {
        tokio::spawn(Arc::clone(&server).announce());
    }
    read(&server, input).await;
    drop(server);
    writer.abort();
    Ok(())
}

struct Serving {
    script: Script,
    recorder: String,
    client: reqwest::Client,
    out: mpsc::Sender<String>,
    /// Open subscriptions of modern clients; a legacy client is told without one.
    listens: Mutex<Vec<Id>>,
}

async fn read(server: &Arc<Serving>, mut input: impl AsyncRead + Unpin) {
    let mut lines = Lines::new(mcp::limits::MESSAGE_BYTES);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = input.read(&mut buffer).await.unwrap_or(0);
        if n == 0 {
            return;
        }
        for line in lines.push(&buffer[..n]) {
            let Line::Whole(bytes) = line else { continue };
            for message in Message::parse_all(&bytes).unwrap_or_default() {
                if let Kind::Request { id, method } = message.kind() {
                    let (server, id, method) = (Arc::clone(server), id.clone(), method.clone());
                    tokio::spawn(async move { server.answer(&id, &method, &message).await });
                }
            }
        }
    }
}

async fn write(mut output: impl tokio::io::AsyncWrite + Unpin, mut lines: mpsc::Receiver<String>) {
    while let Some(text) = lines.recv().await {
        let line = format!("{text}\n");
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl Serving {
    /// The phase that holds; with `not`, waits until it is another one.
    async fn phase(&self, not: Option<usize>) -> Result<usize, String> {
        let query = not.map_or(String::new(), |not| format!("?not={not}"));
        let url = format!("{}/lab/phase{query}", self.recorder);
        let answer = self.client.get(url).send().await.map_err(|why| why.to_string())?;
        let text = answer.text().await.map_err(|why| why.to_string())?;
        text.parse().map_err(|_| format!("the recorder names no phase but {text}"))
    }

    /// Tells clients when the phase changes.
    async fn announce(self: Arc<Self>) {
        let Ok(mut now) = self.phase(None).await else { return };
        while let Ok(next) = self.phase(Some(now)).await {
            if next == now {
                continue;
            }
            now = next;
            let listens = self.listens.lock().await;
            let method = "notifications/tools/list_changed";
            if listens.is_empty() {
                let _ = self.out.send(message::notification(method, None)).await;
            }
            for id in listens.iter() {
                let params =
                    format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}");
                let _ = self.out.send(message::notification(method, Some(&params))).await;
            }
        }
    }

    async fn answer(&self, id: &Id, method: &str, message: &Message) {
        let params: Map<String, Value> =
            message.params().and_then(|p| serde_json::from_str(p).ok()).unwrap_or_default();
        let modern = params
            .get("_meta")
            .is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some());
        let result = match method {
            "initialize" => json!({
                "protocolVersion": params.get("protocolVersion").cloned().unwrap_or(Value::Null),
                "capabilities": {"tools": {"listChanged": self.script.announces}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }),
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": self.script.announces}},
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            }),
            "ping" => json!({}),
            // Says back what it was asked, byte for byte.
            "lab/echo" => {
                let text = message::response(id, message.params().unwrap_or("null"));
                let _ = self.out.send(text).await;
                return;
            }
            "lab/ask" => {
                // Asks the client something, as servers of the old era may.
                let own = Id::Text("from-the-server".to_owned());
                let text = message::request(&own, "sampling/createMessage", message.params());
                let _ = self.out.send(text).await;
                json!({})
            }
            "subscriptions/listen" => {
                self.listens.lock().await.push(id.clone());
                let params = json!({
                    "_meta": {"io.modelcontextprotocol/subscriptionId": id_value(id)},
                    "notifications": {"toolsListChanged": true},
                });
                let method = "notifications/subscriptions/acknowledged";
                let _ =
                    self.out.send(message::notification(method, Some(&params.to_string()))).await;
                return;
            }
            "tools/list" => match self.list(&params, modern).await {
                Ok(result) => result,
                Err((code, why)) => {
                    let _ = self.out.send(message::failure(id, code, &why)).await;
                    return;
                }
            },
            "tools/call" => return self.call(id, &params, modern).await,
            _ => {
                let why = format!("Method not found: {method}");
                let _ = self.out.send(message::failure(id, -32601, &why)).await;
                return;
            }
        };
        let _ = self.out.send(message::response(id, &result.to_string())).await;
    }

    async fn list(
        &self,
        params: &Map<String, Value>,
        modern: bool,
    ) -> Result<Value, (i64, String)> {
        let phase = self.phase(None).await.map_err(|why| (-32603, why))?;
        let phase = self.script.phase(phase);
        if let Some(code) = phase.list_fails {
            return Err((code, "the list cannot be read".to_owned()));
        }
        let start = match params.get("cursor").and_then(Value::as_str) {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| (-32602, "no such cursor".to_owned()))?,
        };
        let size = self.script.page.unwrap_or(usize::MAX).max(1);
        let mut result = Map::new();
        if modern {
            result.insert("resultType".into(), "complete".into());
            result.insert("ttlMs".into(), 0.into());
            result.insert("cacheScope".into(), "private".into());
        }
        let tools = phase.tools.iter().skip(start).take(size).cloned().collect();
        result.insert("tools".into(), Value::Array(tools));
        let next = start.saturating_add(size);
        if next < phase.tools.len() {
            result.insert("nextCursor".into(), next.to_string().into());
        }
        Ok(Value::Object(result))
    }

    async fn call(&self, id: &Id, params: &Map<String, Value>, modern: bool) {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let phase = self.phase(None).await.unwrap_or(0);
        let phase = self.script.phase(phase);
        if !phase.tools.iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(name)) {
            let why = format!("Unknown tool: {name}");
            let _ = self.out.send(message::failure(id, -32602, &why)).await;
            return;
        }
        let nothing = Deed::default();
        let deed = phase.deeds.get(name).unwrap_or(&nothing);
        if deed.fault != Some(Fault::Fails)
            && let Some(path) = &deed.path
        {
            let mut body = deed.defaults.clone();
            if let Some(Value::Object(arguments)) = params.get("arguments") {
                body.extend(arguments.clone());
            }
            let url = format!("{}{path}", self.recorder);
            let _ = self.client.post(url).body(Value::Object(body).to_string()).send().await;
        }
        let mut result = Map::new();
        if modern {
            result.insert("resultType".into(), "complete".into());
        }
        match deed.fault {
            Some(Fault::SilentAfter) => return,
            Some(Fault::EndsAfter) => std::process::exit(9),
            Some(Fault::Fails) => {
                result.insert("content".into(), json!([{"type": "text", "text": "it failed"}]));
                result.insert("isError".into(), true.into());
            }
            _ => {
                let text = deed.answer.to_string();
                result.insert("content".into(), json!([{"type": "text", "text": text}]));
                if deed.answer.is_object() {
                    result.insert("structuredContent".into(), deed.answer.clone());
                }
            }
        }
        let text = message::response(id, &Value::Object(result).to_string());
        if deed.fault == Some(Fault::AnswersTwice) {
            let _ = self.out.send(text.clone()).await;
        }
        let _ = self.out.send(text).await;
    }
}

fn id_value(id: &Id) -> Value {
    serde_json::from_str(&id.to_string()).unwrap_or(Value::Null)
}
