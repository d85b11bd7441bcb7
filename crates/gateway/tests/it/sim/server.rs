//! The simulated server: it lists what holds, does what it is told, and fails as the plan says.

use super::plan::Fault;
use super::world::{Shared, Snapshot};
use gateway::upstream::Connect;
use mcp::duplex::{Incoming, Uplink};
use mcp::message::{self, Id, Kind, Message};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{broadcast, mpsc};

/// What is told to every server that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Ring,
    End,
}

/// Starts servers.
#[derive(Clone)]
pub struct Servers {
    pub world: Shared,
    pub told: broadcast::Sender<Told>,
    /// What the gateway of one client knows, over all servers that it starts.
    pub read: Arc<Mutex<Read>>,
}

impl Connect for Servers {
    fn connect(&self) -> Result<(Uplink, mpsc::Receiver<Incoming>), String> {
        // A pipe for each direction: either end sees that the other one is closed.
        let (reading, output) = tokio::io::duplex(1 << 16);
        let (writing, input) = tokio::io::duplex(1 << 16);
        let world = self.world.clone();
        let connection = (world, Arc::clone(&self.read));
        tokio::spawn(serve(connection, self.told.subscribe(), input, output));
        Ok(mcp::duplex::over(reading, writing))
    }
}

/// What a gateway has read.
#[derive(Default)]
pub struct Read {
    /// The list that was read twice, or read again, and when.
    settled: Option<(Snapshot, u64)>,
    /// Another one, that was read once.
    once: Option<Snapshot>,
}

impl Read {
    /// An answer to a reading of the gateway's own left.
    fn given(&mut self, list: Snapshot, at: u64) {
        if list.is_empty() {
            self.once = None;
        } else if self.settled.as_ref().is_some_and(|(known, _)| *known == list)
            || self.once.as_ref() == Some(&list)
        {
            self.settled = Some((list, at));
            self.once = None;
        } else {
            self.once = Some(list);
        }
    }
}

struct Connection {
    world: Shared,
    out: mpsc::UnboundedSender<String>,
    read: Arc<Mutex<Read>>,
}

async fn serve(
    (world, read): (Shared, Arc<Mutex<Read>>),
    mut told: broadcast::Receiver<Told>,
    input: DuplexStream,
    mut output: DuplexStream,
) {
    let mut lines = BufReader::new(input).lines();
    let (out, mut due) = mpsc::unbounded_channel::<String>();
    let connection = Arc::new(Connection { world, out, read });
    loop {
        tokio::select! {
            biased;
            text = due.recv() => {
                let Some(text) = text else { return };
                if output.write_all(format!("{text}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
            said = told.recv() => match said {
                Ok(Told::Ring) => {
                    let ring = message::notification("notifications/tools/list_changed", None);
                    let _ = connection.out.send(ring);
                }
                _ => return,
            },
            line = lines.next_line() => {
                let Ok(Some(line)) = line else { return };
                if connection.take(&line) {
                    return;
                }
            }
        }
    }
}

impl Connection {
    /// Takes a line; true where the server ends.
    fn take(self: &Arc<Self>, line: &str) -> bool {
        let Ok(message) = Message::parse(line) else { return false };
        let Kind::Request { id, method } = message.kind() else { return false };
        let params: Map<String, Value> =
            message.params().and_then(|p| serde_json::from_str(p).ok()).unwrap_or_default();
        let modern = params.get("_meta").is_some();
        let result = match method.as_str() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "simulated", "version": "1"},
            }),
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {"listChanged": true}},
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            }),
            "tools/list" => {
                self.list(id, modern);
                return false;
            }
            "tools/call" => return self.call(id, &params, modern),
            _ => json!({}),
        };
        self.say(message::response(id, &result.to_string()));
        false
    }

    fn say(&self, text: String) {
        let _ = self.out.send(text);
    }

    fn list(self: &Arc<Self>, id: &Id, modern: bool) {
        let (snapshot, at, fault) = {
            let mut world = self.world.look();
            (world.snapshot(), world.tick(), world.list_fault.take())
        };
        let tools: Vec<Value> = snapshot.values().map(|contract| contract.listed()).collect();
        let mut result = json!({"tools": tools});
        if modern {
            result["resultType"] = "complete".into();
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        let text = message::response(id, &result.to_string());
        let own = id.to_string().contains("steadfast-");
        let this = Arc::clone(self);
        let give = move || {
            if own {
                this.read.lock().unwrap().given(snapshot, at);
            }
            this.say(text);
        };
        match fault {
            None => give(),
            Some(None) => {}
            Some(Some(pause)) => {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    give();
                });
            }
        }
    }

    fn call(self: &Arc<Self>, id: &Id, params: &Map<String, Value>, modern: bool) -> bool {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments =
            params.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default();
        let settled = self.read.lock().unwrap().settled.clone();
        let mut world = self.world.look();
        let fault = world.fault.take();
        if fault == Some(Fault::EndsBefore) {
            world.note(format!("the server ends before it reads {}", json!(arguments)));
            return true;
        }
        let note = world.receive(name, &arguments, settled.as_ref());
        if let Some(Fault::Moves(how)) = fault
            && let Some(tool) = super::plan::TOOLS.iter().find(|tool| **tool == name)
        {
            world.drift(tool, how);
        }
        let held = world.snapshot();
        drop(world);
        let mut result = match held.get(name) {
            None => json!({"content": [{"type": "text", "text": "Unknown tool"}], "isError": true}),
            Some(contract) if fault == Some(Fault::Fails) || contract.refuses(&arguments) => {
                json!({"content": [{"type": "text", "text": "it failed"}], "isError": true})
            }
            Some(contract) => {
                let answer = json!({contract.answer: "x-1", "echo": note});
                json!({"content": [{"type": "text", "text": answer.to_string()}], "structuredContent": answer})
            }
        };
        if modern {
            result["resultType"] = "complete".into();
        }
        let text = message::response(id, &result.to_string());
        match fault {
            Some(Fault::Silent) => {}
            Some(Fault::EndsAfter) => return true,
            Some(Fault::Garbles) => self.say(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}")),
            Some(Fault::Twice) => {
                self.say(text.clone());
                self.say(text);
            }
            Some(Fault::Slow(pause)) => {
                let this = Arc::clone(self);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    this.say(text);
                });
            }
            _ => self.say(text),
        }
        false
    }
}
