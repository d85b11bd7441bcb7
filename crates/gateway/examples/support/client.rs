//! A plain client on a pipe, and how it repairs a call by the text of a refusal alone.

use crate::Result;
use gateway::wrap::{Wrapped, wrap};
use gateway::{Hub, Server, Settings};
use lab::{Record, Recorder};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a call was answered with.
#[derive(Debug, Clone)]
pub enum Said {
    /// It ran.
    Ran,
    /// It ran, and its answer breaks the contract.
    Broken,
    /// It was refused.
    Refused { code: String, text: String, repairable: bool },
    /// A protocol error.
    Error(i64),
}

/// A client of a wrapped server.
pub struct Client {
    input: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next: u64,
    task: JoinHandle<()>,
}

impl Client {
    /// Starts the server, and the gateway before it.
    pub async fn start(folder: &Path, script: &Path, recorder: &str) -> Result<Client> {
        let store = store::Sqlite::open(
            folder.join("state.db"),
            store::Options::new(store::Access::Gateway, gateway::event::now()),
        )?;
        let mut hub = Hub::new(Arc::new(store), contract::Options::default());
        hub.adapters = Box::new(gateway::adapt::Declared::new(
            contract::adapter::Adapters::default(),
            std::collections::BTreeMap::new(),
            contract::lexicon::Lexicon::default(),
            Box::new(|| contract::policy::Day { year: 2026, month: 11, day: 30 }),
        ));
        let own = std::env::current_exe()?.display().to_string();
        let command =
            vec![own, "--serve".into(), script.display().to_string(), recorder.to_owned()];
        let wrapped = Wrapped {
            name: "replayed".into(),
            server: Server::Command(command),
            principal: "replay".into(),
            settings: Settings::default(),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let task = tokio::spawn(async move {
            if let Err(why) =
                wrap(Arc::new(hub), wrapped, input, output, std::future::pending()).await
            {
                eprintln!("replay: {why}");
            }
        });
        let (lines, input) = tokio::io::split(ours);
        Ok(Client { input, lines: BufReader::new(lines).lines(), next: 1, task })
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.next;
        self.next += 1;
        let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.write_all(format!("{text}\n").as_bytes()).await?;
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line =
                line.map_err(|_| format!("no answer to {method}"))??.ok_or("the gateway ended")?;
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id") == Some(&json!(id)) {
                return Ok(message);
            }
        }
    }

    /// Waits until the client is told that the list changed.
    pub async fn told(&mut self) -> Result<()> {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
            let line =
                line.map_err(|_| "nobody told of the change")??.ok_or("the gateway ended")?;
            if line.contains("notifications/tools/list_changed") {
                return Ok(());
            }
        }
    }

    /// Greets the server and lists its tools.
    pub async fn greet(&mut self) -> Result<()> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "replay", "version": "1"}});
        self.ask("initialize", params).await?;
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.input.write_all(format!("{done}\n").as_bytes()).await?;
        self.ask("tools/list", json!({})).await?;
        Ok(())
    }

    /// Makes a call; gives what was said, and what arrived behind the server.
    pub async fn call(
        &mut self,
        recorder: &Recorder,
        tool: &str,
        arguments: &Value,
    ) -> Result<(Said, Vec<Record>)> {
        let before = recorder.records().len();
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let arrived = recorder.records().split_off(before);
        let refusal = answer.pointer("/result/_meta/steadfast~1refusal");
        let text =
            answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
        let said = match refusal {
            None => match answer.pointer("/error/code").and_then(Value::as_i64) {
                Some(code) => Said::Error(code),
                None => Said::Ran,
            },
            Some(_) if text.starts_with("EXECUTED") => Said::Broken,
            Some(data) => {
                let member =
                    |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
                let repairable =
                    matches!(member("required_action"), "fix_arguments" | "refresh_tools")
                        && member("error_code") != "TOOL_REMOVED";
                Said::Refused {
                    code: member("error_code").to_owned(),
                    text: text.to_owned(),
                    repairable,
                }
            }
        };
        Ok((said, arrived))
    }

    /// Leaves.
    pub async fn leave(mut self) {
        let _ = self.input.shutdown().await;
        let _ = tokio::time::timeout(PATIENCE, self.task).await;
    }
}

/// The call as a model would make it again that knows the text of the refusal and nothing else.
pub fn repaired(text: &str, arguments: &Value) -> Option<Value> {
    let mut arguments = arguments.as_object()?.clone();
    let between = |line: &str, before: &str, after: &str| -> Option<String> {
        let start = line.find(before)? + before.len();
        line[start..].find(after).map(|end| line[start..start + end].to_owned())
    };
    for line in text.lines() {
        let name = between(line, "- `", "`").unwrap_or_default();
        if let Some(ready) = between(line, "says the same: ", "}.") {
            arguments = serde_json::from_str(&format!("{ready}}}")).ok()?;
        } else if name.contains(['.', '[']) {
            continue;
        } else if line.ends_with("is no longer an argument.") {
            arguments.shift_remove(&name);
        } else if let Some(takes) = between(line, "must be sent now: ", ".\u{0}").or_else(|| {
            line.split_once("must be sent now: ")
                .map(|(_, takes)| takes.trim_end_matches('.').to_owned())
        }) {
            arguments.insert(name, filled(&takes));
        } else if let Some((_, takes)) = line.split_once("It takes ") {
            arguments.insert(name, filled(takes.trim_end_matches('.')));
        }
    }
    if let Some(token) = between(text, "\"steadfast_ack\": \"", "\"") {
        arguments.insert("steadfast_ack".into(), json!(token));
    }
    Some(Value::Object(arguments))
}

/// A value by the words for what an argument takes.
fn filled(takes: &str) -> Value {
    if let Some(values) = takes.strip_prefix("one of ") {
        let mut stream = serde_json::Deserializer::from_str(values).into_iter::<Value>();
        if let Some(Ok(first)) = stream.next() {
            return first;
        }
    }
    match takes.split([' ', ',']).next().unwrap_or_default() {
        "integer" | "number" => json!(7),
        "boolean" => json!(false),
        "array" => match takes.split_once("array of ") {
            Some((_, items)) => json!([filled(items)]),
            None => json!(["abc"]),
        },
        "object" => json!({}),
        _ => json!("abc"),
    }
}
