//! A simulated client: it plans by a list, writes calls as they come to its mind, and remembers what it was told.

use super::plan::Sets;
use super::truth::Contract;
use super::world::{Meant, Shared};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::time::Instant;

/// How long a client may go on with an old plan once it fetched the list: within the time that a gateway allows for.
const LAG: Duration = Duration::from_secs(50);
/// Lists that it may be behind then.
const BEHIND: usize = 5;

/// What a request was.
#[derive(Clone)]
enum Asked {
    Greeting,
    List { at: u64, lags: bool },
    Call { note: String },
}

/// The last call that was not carried out.
#[derive(Clone)]
struct Stopped {
    tool: &'static str,
    note: String,
    token: Option<String>,
    current: Option<String>,
}

/// What each tool is, as a list had it.
type Plan = BTreeMap<&'static str, Arc<Contract>>;

/// What a client has in mind, over all its connections.
#[derive(Default)]
pub struct Mind {
    plan: Plan,
    /// A newer list, taken over later.
    newer: Option<(Plan, Instant, usize)>,
    /// When a call of the tool was last stopped.
    stopped_at: BTreeMap<&'static str, u64>,
    stopped: Option<Stopped>,
    /// Contracts that this connection was shown.
    shown: BTreeMap<&'static str, Vec<Arc<Contract>>>,
    open: BTreeMap<u64, Asked>,
    answered: BTreeSet<u64>,
    cancelled: BTreeSet<u64>,
    /// Ids that were used again: of those two calls one answer may be missing.
    last: Option<u64>,
    calls: u32,
    /// The connection that it listens to: what one says that it left is not heard.
    connection: u32,
}

pub struct Client {
    number: usize,
    modern: bool,
    world: Shared,
    pub mind: Arc<Mutex<Mind>>,
    output: DuplexStream,
    next: u64,
}

impl Client {
    /// A client with what it has in mind, at its ends of two pipes.
    pub async fn begin(
        number: usize,
        modern: bool,
        world: Shared,
        mind: Arc<Mutex<Mind>>,
        input: DuplexStream,
        output: DuplexStream,
    ) -> Client {
        let connection = {
            let mut mind = mind.lock().unwrap();
            mind.connection += 1;
            mind.open.clear();
            mind.answered.clear();
            mind.cancelled.clear();
            mind.shown.clear();
            mind.newer = None;
            mind.last = None;
            // A token is good for the session that got it.
            if let Some(stopped) = &mut mind.stopped {
                stopped.token = None;
            }
            mind.connection
        };
        let (hearing, heard) = (Arc::clone(&mind), world.clone());
        tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                if hearing.lock().unwrap().connection != connection {
                    return;
                }
                hear(number, &heard, &hearing, &line);
            }
        });
        let mut client = Client { number, modern, world, mind, output, next: 1 };
        let (method, params) = if modern {
            ("server/discover", json!({}))
        } else {
            let info = json!({"name": "simulated", "version": "1"});
            (
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}),
            )
        };
        client.ask(method, params, Asked::Greeting).await;
        // A client that is refused a greeting goes on all the same.
        tokio::time::sleep(Duration::from_millis(10)).await;
        if !modern {
            client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        }
        client
    }

    async fn write(&mut self, message: &Value) {
        // A gateway that is gone reads nothing.
        let _ = self.output.write_all(format!("{message}\n").as_bytes()).await;
    }

    async fn ask(&mut self, method: &str, params: Value, asked: Asked) {
        let id = self.next;
        self.next += 1;
        self.ask_as(id, method, params, asked).await;
    }

    async fn ask_as(&mut self, id: u64, method: &str, mut params: Value, asked: Asked) {
        if self.modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        {
            let mut mind = self.mind.lock().unwrap();
            mind.open.insert(id, asked);
            mind.answered.remove(&id);
            mind.last = Some(id);
        }
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub async fn list(&mut self, lags: bool) {
        let at = self.world.look().tick();
        self.ask("tools/list", json!({}), Asked::List { at, lags }).await;
    }

    pub async fn call(&mut self, tool: &'static str, sets: Sets) {
        let id = self.next;
        self.next += 1;
        self.call_as(id, tool, sets).await;
    }

    async fn call_as(&mut self, id: u64, tool: &'static str, sets: Sets) {
        let made = {
            let mut mind = self.mind.lock().unwrap();
            mind.calls += 1;
            let note = format!("c{}-{}", self.number, mind.calls);
            mind.planned(tool).map(|planned| {
                let arguments = planned.arguments(&note, sets.reach, sets.optional);
                (note, planned, arguments)
            })
        };
        let Some((note, planned, arguments)) = made else { return };
        self.make(id, tool, note, planned, arguments, None).await;
    }

    async fn make(
        &mut self,
        id: u64,
        tool: &'static str,
        note: String,
        planned: Arc<Contract>,
        arguments: Map<String, Value>,
        token: Option<String>,
    ) {
        let mut sent = arguments.clone();
        {
            let mut world = self.world.look();
            let (number, shown) = (self.number, json!(arguments));
            world.note(format!("client {number} calls {tool} {shown} (id {id})"));
            let at = world.order;
            world.meant.insert(note.clone(), Meant { planned, arguments, at });
        }
        if let Some(token) = token {
            sent.insert("steadfast_ack".into(), token.into());
        }
        let params = json!({"name": tool, "arguments": sent});
        self.ask_as(id, "tools/call", params, Asked::Call { note }).await;
    }

    /// Makes the last call again that was stopped: as it was, or with the token that it was given.
    pub async fn again(&mut self, acknowledges: bool) {
        let Some(stopped) = self.mind.lock().unwrap().stopped.take() else { return };
        let Some(meant) = self.world.look().meant.get(&stopped.note).cloned() else { return };
        let planned = if acknowledges {
            let current = stopped.current.as_deref();
            let current = current.and_then(|digest| self.world.look().digested(digest));
            match (current, &stopped.token) {
                (Some(current), Some(_)) => current,
                _ => return,
            }
        } else {
            // Who has looked since means what it says by what it saw.
            let planned = self.mind.lock().unwrap().planned(stopped.tool);
            let Some(planned) = planned else { return };
            planned
        };
        let id = self.next;
        self.next += 1;
        let token = stopped.token.filter(|_| acknowledges);
        self.make(id, stopped.tool, stopped.note, planned, meant.arguments, token).await;
    }

    /// Cancels the last request; uses its id again, though the protocol forbids that.
    pub async fn cancel(&mut self, reuses: bool) {
        let Some(id) = self.mind.lock().unwrap().last else { return };
        let open = self.mind.lock().unwrap().open.contains_key(&id);
        if !open {
            return;
        }
        self.mind.lock().unwrap().cancelled.insert(id);
        self.world.look().note(format!("client {} cancels {id}", self.number));
        let params = json!({"requestId": id});
        let method = "notifications/cancelled";
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
        if reuses {
            self.call_as(id, "post", Sets { reach: false, optional: false }).await;
        }
    }

    /// What was asked and neither answered nor cancelled.
    pub fn unanswered(&self) -> Vec<u64> {
        let mind = self.mind.lock().unwrap();
        mind.open.keys().filter(|id| !mind.cancelled.contains(id)).copied().collect()
    }
}

impl Mind {
    /// What the client means by a call of the tool now.
    fn planned(&mut self, tool: &'static str) -> Option<Arc<Contract>> {
        if self.newer.as_ref().is_some_and(|(_, since, _)| since.elapsed() >= LAG) {
            self.take_over();
        }
        // Who was told that its plan is old, and asked for the list, waits for it.
        let told = self.stopped_at.get(tool).copied();
        // So does whoever came back and is shown a first list: no gateway can tell what it wrote before it read that.
        let first = !self.shown.contains_key(tool);
        let waits = |at: u64| first || told.is_some_and(|told| told < at);
        if self.open.values().any(|asked| matches!(asked, Asked::List { at, .. } if waits(*at))) {
            return None;
        }
        self.plan.get(tool).cloned()
    }

    fn take_over(&mut self) {
        if let Some((newer, ..)) = self.newer.take() {
            self.plan = newer;
        }
    }
}

fn hear(number: usize, world: &Shared, mind: &Mutex<Mind>, line: &str) {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return world.look().wrong(format!("client {number} hears what is no message: {line}"));
    };
    if message.get("method").is_some() {
        return;
    }
    let Some(id) = message["id"].as_u64() else {
        return world.look().wrong(format!("client {number} hears of no request: {line}"));
    };
    let mut mind = mind.lock().unwrap();
    let Some(asked) = mind.open.remove(&id) else {
        let cancelled = mind.cancelled.contains(&id);
        if !cancelled {
            world.look().wrong(format!("client {number} hears twice of {id}: {line}"));
        }
        return;
    };
    mind.answered.insert(id);
    match asked {
        Asked::Greeting => {}
        Asked::List { at, lags } => mind.listed(number, world, &message, at, lags),
        Asked::Call { note } => mind.told(number, world, &message, &note),
    }
}

impl Mind {
    fn listed(&mut self, number: usize, world: &Shared, message: &Value, at: u64, lags: bool) {
        let Some(tools) = message["result"]["tools"].as_array() else { return };
        let mut world = world.look();
        let mut list = BTreeMap::new();
        for tool in tools {
            match world.known(tool) {
                Some(contract) => {
                    self.shown.entry(contract.tool).or_default().push(Arc::clone(&contract));
                    list.insert(contract.tool, contract);
                }
                None => {
                    let what = format!("client {number} is shown what was never listed: {tool}");
                    world.wrong(what);
                }
            }
        }
        world.note(format!(
            "client {number} has the list, {}",
            if lags { "for later" } else { "and plans by it" }
        ));
        // Whoever was told that its plan is old looks at what it asked for after that.
        let told = self.stopped_at.values().any(|stopped| *stopped < at);
        let behind = self.newer.as_ref().map_or(0, |(.., behind)| *behind);
        if lags && !told && behind < BEHIND {
            let since = self.newer.as_ref().map_or_else(Instant::now, |(_, since, _)| *since);
            self.newer = Some((list, since, behind + 1));
            if self.plan.is_empty() {
                self.take_over();
            }
        } else {
            self.newer = None;
            self.plan = list;
            self.stopped_at.clear();
        }
    }

    fn told(&mut self, number: usize, shared: &Shared, message: &Value, note: &str) {
        let mut world = shared.look();
        let Some(meant) = world.meant.get(note).cloned() else { return };
        let received = world.received.get(note).copied().unwrap_or(0);
        let result = &message["result"];
        let refusal = &result["_meta"]["steadfast/refusal"];
        let tool = meant.planned.tool;
        let said = |what: &str| format!("client {number} hears of {note}: {what}");
        if refusal.is_object() {
            let code = refusal["error_code"].as_str().unwrap_or_default();
            world.note(said(code));
            let begun = &refusal["side_effect_started"];
            if *begun == false && received > 0 && !meant.planned.reads {
                world.wrong(format!("{note} is said not to have begun, and was received"));
            }
            if *begun == false {
                match code {
                    "APPROVAL_PENDING" => world.counts.held += 1,
                    _ => world.counts.refused += 1,
                }
                if ["STALE_TOOL_SCHEMA", "TOOL_REMOVED", "AUTHORITY_WIDENED"].contains(&code) {
                    let at = world.order;
                    self.stopped_at.insert(tool, at);
                }
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                let token = text
                    .split_once("\"steadfast_ack\": \"")
                    .and_then(|(_, rest)| rest.split('"').next().map(str::to_owned));
                let current = refusal["current_revision"].as_str().map(str::to_owned);
                self.stopped = Some(Stopped { tool, note: note.to_owned(), token, current });
            } else if refusal["outcome"] == "in_doubt" {
                world.counts.in_doubt += 1;
            } else {
                world.counts.broken += 1;
            }
            return;
        }
        let structured = &result["structuredContent"];
        if !structured.is_object() {
            world.note(said(&message.to_string().chars().take(160).collect::<String>()));
            return;
        }
        world.counts.done += 1;
        world.note(said("done"));
        if structured["echo"] != note {
            world.wrong(format!("{note} is answered with what came of {}", structured["echo"]));
        }
        if received == 0 || (received > 1 && !meant.planned.reads) {
            world.wrong(format!("{note} is said to be done, and was received {received} times"));
        }
        let fits = |contract: &Arc<Contract>| structured.get(contract.answer).is_some();
        let shown = self.shown.get(tool).is_some_and(|shown| shown.iter().any(fits));
        // A connection that was shown nothing was promised nothing.
        if !fits(&meant.planned) && !shown && self.shown.contains_key(tool) {
            world.wrong(format!("the answer to {note} fits nothing that was shown: {structured}"));
        }
    }
}
