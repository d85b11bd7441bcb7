//! A server that follows a script, on a pipe or over HTTP, in both eras.

mod web;

pub use web::serve_web;

use crate::limits;
use crate::recorder::{Heard, Signals};
use crate::script::{Deed, Fault, Phase, Script};
use crate::wire::Wire;
use mcp::framing::{Line, Lines};
use mcp::message::{self, Id, Kind, Message};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc, watch};

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
    let wire = Wire::to(recorder)?;
    let (out, lines) = mpsc::channel(256);
    let server = Serving::begin(script, wire).await?;
    server.streams.lock().await.push(out.clone());
    let writer = tokio::spawn(write(output, lines));
    read(&server, input, &out).await;
    drop(server);
    writer.abort();
    Ok(())
}

/// Where what is said goes.
type Out = mpsc::Sender<String>;

struct Serving {
    script: Script,
    wire: Wire,
    /// Where legacy clients are told of changes: the pipe, or each stream that is open.
    streams: Mutex<Vec<Out>>,
    /// Open subscriptions of modern clients.
    listens: Mutex<Vec<(Id, Out)>>,
    /// How often clients were told that the list changed because the recorder said so.
    rings: watch::Sender<u64>,
    /// What the recorder had told when the server began.
    first: OnceLock<Signals>,
    /// How often the list was given.
    listed: AtomicU64,
}

async fn read(server: &Arc<Serving>, mut input: impl AsyncRead + Unpin, out: &Out) {
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
                    let out = out.clone();
                    tokio::spawn(async move { server.answer(&out, &id, &method, &message).await });
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
    /// A server that does what its recorder tells from here on.
    async fn begin(script: Script, wire: Wire) -> Result<Arc<Serving>, String> {
        let server = Arc::new(Serving {
            script,
            wire,
            streams: Mutex::default(),
            listens: Mutex::default(),
            rings: watch::Sender::new(0),
            first: OnceLock::new(),
            listed: AtomicU64::new(0),
        });
        server.wire.phase(None).await?;
        if server.script.announces {
            tokio::spawn(Arc::clone(&server).announce());
        }
        let signals = server.wire.signals(None).await?;
        server.rings.send_replace(signals.rings);
        server.first.get_or_init(|| signals);
        tokio::spawn(Arc::clone(&server).obey(signals));
        Ok(server)
    }

    /// Tells clients when the phase changes.
    async fn announce(self: Arc<Self>) {
        let Ok(mut now) = self.wire.phase(None).await else { return };
        while let Ok(next) = self.wire.phase(Some(now)).await {
            if next == now {
                continue;
            }
            now = next;
            self.tell().await;
        }
    }

    /// Says that the list changed, to every client that wants to know.
    async fn tell(&self) {
        let mut listens = self.listens.lock().await;
        let mut streams = self.streams.lock().await;
        listens.retain(|(_, out)| !out.is_closed());
        streams.retain(|out| !out.is_closed());
        let method = "notifications/tools/list_changed";
        for (id, out) in listens.iter() {
            let params =
                format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}");
            self.say(out, message::notification(method, Some(&params))).await;
        }
        // On a pipe, a client that subscribed is told by that alone.
        for out in
            streams.iter().filter(|out| !listens.iter().any(|(_, other)| other.same_channel(out)))
        {
            self.say(out, message::notification(method, None)).await;
        }
    }

    /// Does what the recorder tells, as long as it is there.
    async fn obey(self: Arc<Self>, mut known: Signals) {
        while let Ok(now) = self.wire.signals(Some(known)).await {
            if now.crashes > known.crashes {
                self.end().await;
            }
            if now.rings > known.rings {
                self.tell().await;
                self.rings.send_replace(now.rings);
            }
            known = now;
        }
    }

    /// Ends as by a fault: what is under way is not answered.
    async fn end(&self) {
        // Whoever waits for it says so where nobody told.
        let _ = self.wire.ended().await;
        std::process::exit(9);
    }

    async fn answer(&self, out: &Out, id: &Id, method: &str, message: &Message) {
        let params: Map<String, Value> =
            message.params().and_then(|p| serde_json::from_str(p).ok()).unwrap_or_default();
        let modern = params
            .get("_meta")
            .is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some());
        let result = match method {
            "initialize" => json!({
                "protocolVersion": params.get("protocolVersion").cloned().unwrap_or(Value::Null),
                "capabilities": {"tools": {"listChanged": self.script.announces || self.script.tells}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }),
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": self.script.announces || self.script.tells}},
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            }),
            "ping" => json!({}),
            // Says back what it was asked, byte for byte.
            "lab/echo" => {
                let text = message::response(id, message.params().unwrap_or("null"));
                let _ = out.send(text).await;
                return;
            }
            "lab/silent" => return,
            "lab/listed" => json!({"times": self.listed.load(Ordering::Acquire)}),
            "tasks/result" | "tasks/get" => self.task(&params, method).await,
            "lab/flood" => {
                // Says that its list changed, again and again.
                let times = params.get("times").and_then(Value::as_u64).unwrap_or(0);
                let text = message::notification("notifications/tools/list_changed", None);
                for _ in 0..times.min(limits::FLOOD) {
                    self.say(out, text.clone()).await;
                }
                json!({})
            }
            "lab/ask" => {
                // Asks the client something, as servers of the old era may.
                let own = Id::Text("from-the-server".to_owned());
                let text = message::request(&own, "sampling/createMessage", message.params());
                let _ = out.send(text).await;
                json!({})
            }
            "subscriptions/listen" => {
                self.listens.lock().await.push((id.clone(), out.clone()));
                let params = json!({
                    "_meta": {"io.modelcontextprotocol/subscriptionId": id_value(id)},
                    "notifications": {"toolsListChanged": true},
                });
                let method = "notifications/subscriptions/acknowledged";
                let _ = out.send(message::notification(method, Some(&params.to_string()))).await;
                return;
            }
            "tools/list" => match self.list(&params, modern).await {
                Ok(result) => result,
                Err((code, why)) => {
                    let _ = out.send(message::failure(id, code, &why)).await;
                    return;
                }
            },
            "tools/call" => return self.call(out, id, &params, modern).await,
            _ => {
                let why = format!("Method not found: {method}");
                let _ = out.send(message::failure(id, -32601, &why)).await;
                return;
            }
        };
        let _ = out.send(message::response(id, &result.to_string())).await;
    }

    async fn list(
        &self,
        params: &Map<String, Value>,
        modern: bool,
    ) -> Result<Value, (i64, String)> {
        let phase = self.wire.phase(None).await.map_err(|why| (-32603, why))?;
        let phase = self.script.phase(phase);
        if !params.contains_key("cursor") && !self.script.unheard {
            self.wire.listed().await.map_err(|why| (-32603, why))?;
        }
        if phase.list_waits {
            let mut rings = self.rings.subscribe();
            let before = self.first.get().map_or(0, |signals| signals.rings);
            let _ = rings.wait_for(|rings| *rings > before).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(phase.list_takes)).await;
        self.listed.fetch_add(1, Ordering::AcqRel);
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
            let scope = if self.script.ttl.is_some() { "public" } else { "private" };
            result.insert("ttlMs".into(), self.script.ttl.unwrap_or(0).into());
            result.insert("cacheScope".into(), scope.into());
        }
        let tools = phase.tools.iter().skip(start).take(size).cloned().collect();
        result.insert("tools".into(), Value::Array(tools));
        let next = start.saturating_add(size);
        if next < phase.tools.len() {
            result.insert("nextCursor".into(), next.to_string().into());
        }
        Ok(Value::Object(result))
    }

    /// What came of a task: what its tool answers in the phase that holds now.
    async fn task(&self, params: &Map<String, Value>, method: &str) -> Value {
        let phase = self.wire.phase(None).await.unwrap_or(0);
        let task = params.get("taskId").and_then(Value::as_str).unwrap_or_default();
        let deed =
            task.strip_prefix("task-").and_then(|tool| self.script.phase(phase).deeds.get(tool));
        let answer = deed.map_or(Value::Null, |deed| deed.answer.clone());
        let result = json!({"content": [], "structuredContent": answer});
        if method == "tasks/result" {
            return result;
        }
        json!({"resultType": "complete", "taskId": task, "status": "completed", "result": result})
    }

    async fn call(&self, out: &Out, id: &Id, params: &Map<String, Value>, modern: bool) {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        // One call runs under one phase, whatever comes meanwhile.
        let number = self.wire.phase(None).await.unwrap_or(0);
        let phase = self.script.phase(number);
        let arguments = params.get("arguments").cloned().unwrap_or_default();
        // What is not on record must not look as if it had gone well.
        if !self.script.unheard
            && let Err(why) = self.wire.heard(&Heard { tool: name.to_owned(), arguments }).await
        {
            let text = message::failure(id, -32603, &format!("The call is not on record: {why}."));
            return self.say(out, text).await;
        }
        let nothing = Deed::default();
        let deed = phase.deeds.get(name).unwrap_or(&nothing);
        let outcome = self.carry_out(phase, deed, name, params).await;
        if !self.script.unheard {
            let _ = self.wire.settled().await;
        }
        if deed.fault == Some(Fault::WaitsForSwitch) {
            while self.wire.phase(Some(number)).await == Ok(number) {}
        }
        let text = match outcome {
            Outcome::Unknown => message::failure(id, -32602, &format!("Unknown tool: {name}")),
            Outcome::Failed(why) => {
                let result = json!({"content": [{"type": "text", "text": why}], "isError": true});
                message::response(id, &complete(result, modern))
            }
            Outcome::Done if deed.task => {
                let name = format!("task-{name}");
                let result = if modern {
                    json!({"resultType": "task", "taskId": name, "status": "working"})
                } else {
                    json!({"task": {"taskId": name, "status": "working", "ttl": null}})
                };
                message::response(id, &result.to_string())
            }
            Outcome::Done => {
                let text = deed.answer.to_string();
                let mut result = json!({"content": [{"type": "text", "text": text}]});
                if deed.answer.is_object() {
                    result["structuredContent"] = deed.answer.clone();
                }
                message::response(id, &complete(result, modern))
            }
        };
        match deed.fault {
            Some(Fault::SilentAfter) => return,
            Some(Fault::AnswersLate) => tokio::time::sleep(limits::LATE).await,
            Some(Fault::Garbles) => {
                return self.say(out, format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}")).await;
            }
            Some(Fault::BreaksOff) => {
                let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[");
                return self.say(out, start).await;
            }
            Some(Fault::EndsAfter) => std::process::exit(9),
            Some(Fault::AnswersTwice) => self.say(out, text.clone()).await,
            _ => {}
        }
        self.say(out, text).await;
    }

    /// Does what the tool does, with its effect.
    async fn carry_out(
        &self,
        phase: &Phase,
        deed: &Deed,
        name: &str,
        params: &Map<String, Value>,
    ) -> Outcome {
        if !phase.tools.iter().any(|tool| tool.get("name").and_then(Value::as_str) == Some(name)) {
            return Outcome::Unknown;
        }
        if deed.validates
            && let Some(why) = not_taken(phase, name, params)
        {
            return Outcome::Failed(format!("Invalid arguments for {name}: {why}"));
        }
        if deed.fault == Some(Fault::Fails) {
            return Outcome::Failed("it failed".to_owned());
        }
        if let Some(path) = &deed.path {
            let mut body = deed.defaults.clone();
            if let Some(Value::Object(arguments)) = params.get("arguments") {
                body.extend(arguments.clone());
            }
            let body = Value::Object(body).to_string();
            let _ = self.wire.effect(deed.method(), path, body).await;
        }
        match deed.fault {
            Some(Fault::FailsAfter) => Outcome::Failed("it failed".to_owned()),
            _ => Outcome::Done,
        }
    }

    /// Says one thing to whoever asked; one who is gone hears nothing.
    async fn say(&self, out: &Out, text: String) {
        let _ = out.send(text).await;
    }
}

/// What came of a call.
enum Outcome {
    /// There is no such tool.
    Unknown,
    /// An error of the tool, and why.
    Failed(String),
    /// It was done.
    Done,
}

/// A result as the era of the client wants it.
fn complete(mut result: Value, modern: bool) -> String {
    if modern {
        result["resultType"] = "complete".into();
    }
    result.to_string()
}

/// Why the listed schema does not take the arguments.
fn not_taken(phase: &Phase, name: &str, params: &Map<String, Value>) -> Option<String> {
    let raw = phase.tools.iter().find(|tool| tool["name"] == name)?.clone();
    let tool = contract::Tool { name: name.to_owned(), raw, ordinal: None };
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    match contract::Revised::new(tool).takes(&arguments) {
        contract::Fit::Rejected(why) => Some(why.message),
        contract::Fit::Fits | contract::Fit::Unknown(_) => None,
    }
}

fn id_value(id: &Id) -> Value {
    serde_json::from_str(&id.to_string()).unwrap_or(Value::Null)
}
