//! What the scripted server answers, whatever carries it.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Switches;

/// Something to do on the wire.
pub enum Out {
    /// Send a message.
    Say(String),
    /// Write without a line end.
    Unended(String),
    /// End the process.
    Die(i32),
    /// Close stdout and live on.
    CloseStdout,
}

/// The state between two messages.
pub struct Server {
    switches: Switches,
    tools: Vec<String>,
    lists: u64,
    discovered: bool,
    pinned: bool,
    initialized: bool,
    asked: Option<String>,
}

const TOOLS: &str = r#"[
  {"name":"read_note","title":"Read","description":"Reads one note.","inputSchema":{"type":"object","properties":{"id":{"type":"integer","maximum":1e3}},"required":["id"]},"x-vendor":{"b":1.0,"a":[]}},
  {"name":"write_note","description":"Writes \u00e9 one note.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"destructiveHint":true}},
  {"name":"list_notes","inputSchema":{"type":"object"}}
]"#;

fn raw_items(text: &str) -> Vec<String> {
    let items: Vec<Box<RawValue>> = serde_json::from_str(text).expect("an array of tools");
    items.iter().map(|t| t.get().to_owned()).collect()
}

impl Server {
    pub fn new(switches: Switches) -> Server {
        let text = switches
            .value("tools")
            .map(|f| std::fs::read_to_string(f).expect("the tools file is there"));
        let tools = raw_items(text.as_deref().unwrap_or(TOOLS));
        Server {
            switches,
            tools,
            lists: 0,
            discovered: false,
            pinned: false,
            initialized: false,
            asked: None,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.switches.has(name)
    }

    fn era(&self) -> &str {
        self.switches.value("era").unwrap_or("legacy")
    }

    /// Takes a line and gives what to do.
    pub fn take(&mut self, line: &str) -> Vec<Out> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return vec![Out::Say(
                json!({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})
                    .to_string(),
            )];
        };
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            return self.answered(&message);
        };
        if self.switches.value("die-on") == Some(&method) {
            return vec![Out::Die(9)];
        }
        if self.switches.value("close-on") == Some(&method) {
            return vec![Out::CloseStdout];
        }
        if self.switches.value("hang-on") == Some(&method) {
            return Vec::new();
        }
        if self.switches.value("big-line-on") == Some(&method) {
            return vec![Out::Say(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"pad\":\"{}\"}}}}",
                message["id"],
                "x".repeat(10 << 20)
            ))];
        }
        if self.switches.value("endless-line-on") == Some(&method) {
            return vec![Out::Unended("y".repeat(10 << 20))];
        }
        if self.switches.value("fail-on") == Some(&method) {
            return vec![error(&message["id"], -32603, "the backend is down")];
        }
        if message.get("id").is_none() {
            self.initialized |= method == "notifications/initialized";
            return Vec::new();
        }
        let mut outs = Vec::new();
        if self.has("chatty") {
            outs.push(Out::Say(format!("handling {method}")));
        }
        if self.has("chatty-properly") {
            let log = json!({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":method}});
            outs.push(Out::Say(log.to_string()));
        }
        outs.extend(self.request(&message, &method));
        outs
    }

    fn request(&mut self, message: &Value, method: &str) -> Vec<Out> {
        let id = &message["id"];
        let modern = message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion");
        let modern = modern.and_then(Value::as_str).map(str::to_owned);
        let speaks =
            self.switches.value("speaks").map_or(vec!["2026-07-28"], |v| v.split(',').collect());
        if method == "server/discover" {
            self.discovered = true;
        }
        match (self.era(), &modern) {
            ("modern", None) if method == "initialize" => {
                return vec![error(
                    id,
                    -32601,
                    "initialize is gone; this server speaks 2026-07-28",
                )];
            }
            ("modern", None) => return vec![error(id, -32602, "_meta is missing")],
            ("modern" | "dual", Some(version)) if !speaks.contains(&version.as_str()) => {
                let data = json!({"supported": speaks, "requested": version});
                let body = json!({"jsonrpc":"2.0","id":id,"error":{"code":-32022,"message":"Unsupported protocol version","data":data}});
                return vec![Out::Say(body.to_string())];
            }
            _ => {}
        }
        match method {
            "server/discover" if self.era() != "legacy" => vec![Out::Say(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"supportedVersions\":{},\"capabilities\":{{\"tools\":{{\"listChanged\":true}}}},\"instructions\":\"Read before you write.\",\"ttlMs\":0,\"cacheScope\":\"private\",\"resultType\":\"complete\",\"_meta\":{{\"io.modelcontextprotocol/serverInfo\":{{\"name\":\"scripted\",\"version\":\"1\"}}}}}}}}",
                json!(speaks)
            ))],
            "initialize" => self.initialize(message),
            "tools/list" if self.era() == "legacy" && !self.initialized => {
                vec![error(id, -32600, "not initialized")]
            }
            "tools/list" => {
                self.pinned |= modern.is_some();
                self.list(message)
            }
            _ => vec![error(id, -32601, &format!("Method not found: {method}"))],
        }
    }

    fn initialize(&mut self, message: &Value) -> Vec<Out> {
        let id = &message["id"];
        if self.pinned {
            return vec![error(id, -32022, "this connection speaks 2026-07-28")];
        }
        if self.has("refuse-after-probe") && self.discovered {
            return vec![error(id, -32600, "the first message was not initialize")];
        }
        let version = self
            .switches
            .value("answers-version")
            .map(Value::from)
            .unwrap_or_else(|| message["params"]["protocolVersion"].clone());
        let capabilities =
            if self.has("no-tools") { json!({}) } else { json!({"tools":{"listChanged":true}}) };
        let twice =
            if self.has("duplicate-greeting") { "\"instructions\":\"Another.\"," } else { "" };
        let instructions =
            if self.has("odd-instructions") { "7" } else { "\"Read before you write.\"" };
        vec![Out::Say(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{twice}\"protocolVersion\":{version},\"capabilities\":{capabilities},\"serverInfo\":{{\"name\":\"scripted\",\"version\":\"1\"}},\"instructions\":{instructions}}}}}"
        ))]
    }

    fn list(&mut self, message: &Value) -> Vec<Out> {
        let id = &message["id"];
        if self.has("no-tools") {
            return vec![error(id, -32601, "Method not found: tools/list")];
        }
        if self.has("asks-back") && self.asked.is_none() {
            self.asked = Some(message.to_string());
            let mut outs = vec![
                Out::Say(json!({"jsonrpc":"2.0","id":"s-1","method":"ping"}).to_string()),
                Out::Say(json!({"jsonrpc":"2.0","id":1,"method":"roots/list"}).to_string()),
            ];
            // Over HTTP the answers come as requests of their own, and this stream goes on meanwhile.
            if self.has("http") {
                outs.extend(self.list(message));
            }
            return outs;
        }
        let cursor = message["params"]["cursor"].as_str().map(str::to_owned);
        let first = cursor.is_none();
        self.lists += u64::from(first);
        let mut outs = Vec::new();
        let mut tools = self.tools.clone();
        match self.switches.value("drift") {
            Some("silent") => tools.push(format!(
                "{{\"name\":\"extra_{}\",\"inputSchema\":{{\"type\":\"object\"}}}}",
                self.lists
            )),
            Some("once") if self.lists == 1 => {
                tools.pop();
            }
            Some("announced") if self.lists == 1 => {
                tools.pop();
                outs.push(Out::Say(
                    json!({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})
                        .to_string(),
                ));
            }
            Some("nagging") => outs.push(Out::Say(
                json!({"jsonrpc":"2.0","method":"notifications/tools/list_changed"}).to_string(),
            )),
            Some("order") => tools.rotate_left(self.lists as usize % 3),
            Some("members") if self.lists.is_multiple_of(2) => {
                tools[2] = "{\"inputSchema\":{\"type\":\"object\"},\"name\":\"list_notes\"}".into()
            }
            _ => {}
        }
        let page = cursor.as_deref().map_or(0, |c| c.trim_start_matches('p').parse().unwrap_or(1));
        let pages = self.switches.number("pages").unwrap_or(1) as usize;
        let each = tools.len().div_ceil(pages).max(1);
        let mut slice: Vec<String> = tools.chunks(each).nth(page).unwrap_or_default().to_vec();
        let mut next = (page + 1 < pages).then(|| format!("p{}", page + 1));
        if self.has("empty-cursor") && next.as_deref() == Some("p1") {
            next = Some(String::new());
        }
        if self.has("loop-cursor") {
            next = Some("p1".into());
        }
        if self.has("endless") {
            slice.clear();
            next = Some(format!("p{}", page + 1));
        }
        if self.has("forgets-cursors") && !first {
            return vec![error(id, -32602, "Invalid cursor")];
        }
        if self.has("duplicate-keys") {
            slice[0] = slice[0]
                .replace("\"type\":\"integer\"", "\"type\":\"integer\",\"type\":\"string\"");
        }
        if self.has("duplicate-tools") {
            slice.push(self.tools[0].clone());
        }
        if self.has("duplicate-once") && self.lists == 1 && page == 1 {
            slice.push(self.tools[0].clone());
        }
        if self.has("nameless") {
            slice.extend(["{\"inputSchema\":{}}".into(), "{\"name\":\" \"}".into(), "7".into()]);
        }
        if let Some(depth) = self.switches.number("deep") {
            let depth = depth as usize;
            slice.push(format!(
                "{{\"name\":\"deep\",\"inputSchema\":{}1{}}}",
                "{\"a\":".repeat(depth),
                "}".repeat(depth)
            ));
        }
        let mut members = vec![format!("\"tools\":[{}]", slice.join(","))];
        if self.has("no-list") {
            members[0] = "\"items\":[]".into();
        }
        if self.has("null-list") {
            members[0] = "\"tools\":null".into();
        }
        if self.has("odd-cursor") {
            members.push("\"nextCursor\":7".into());
        } else if let Some(next) = next {
            members.push(format!("\"nextCursor\":{}", Value::from(next)));
        } else {
            members.push("\"nextCursor\":null".into());
        }
        if self.era() != "legacy" {
            let kind = if self.has("input-required") { "input_required" } else { "complete" };
            members
                .push(format!("\"resultType\":\"{kind}\",\"ttlMs\":0,\"cacheScope\":\"private\""));
        }
        outs.push(Out::Say(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{{}}}}}",
            members.join(",")
        )));
        outs
    }

    /// The client answered one of our requests.
    fn answered(&mut self, message: &Value) -> Vec<Out> {
        match (&self.asked, message["id"] == 1) {
            // The answer to `roots/list` was the last one waited for.
            (Some(held), true) if !self.has("http") && message["error"]["code"] == -32601 => {
                let held = serde_json::from_str(held).expect("it was a message");
                self.list(&held)
            }
            _ => Vec::new(),
        }
    }
}

fn error(id: &Value, code: i64, message: &str) -> Out {
    Out::Say(json!({"jsonrpc":"2.0","id":id,"error":{"code":code,"message":message}}).to_string())
}
