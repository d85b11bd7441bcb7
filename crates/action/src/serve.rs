//! The bindings as an MCP server on a pipe, in both eras of the protocol.

use crate::binding::{self, Binding, Effect, Type};
use crate::http::{self, Sent};
use crate::{limits, request};
use mcp::Problem;
use mcp::deed::{self, Deed, Unsent};
use mcp::framing::{Line, Lines};
use mcp::message::{self, Id, Kind, Message};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc};

struct Serving {
    file: PathBuf,
    vault: PathBuf,
    /// Members of the file that others read.
    beside: Vec<String>,
    /// The revision of each binding as it was last listed: a call is carried out under that one alone.
    listed: Mutex<BTreeMap<String, String>>,
    places: Semaphore,
}

/// Reads the bindings of a file, beside members that others read.
///
/// # Errors
/// Every problem.
pub fn bindings(path: &Path, beside: &[&str]) -> Result<Vec<Binding>, Vec<Problem>> {
    let name = path.display().to_string();
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(limits::FILE).read_to_string(&mut text))
        .map_err(|why| {
            vec![Problem {
                place: name.clone(),
                sentence: format!("The bindings cannot be read: {why}."),
                help: "Name the file of bindings: --bindings FILE.".to_owned(),
            }]
        })?;
    binding::read(&name, &text, beside)
}

/// Serves the bindings of a file until the client leaves; members of it under the names of `beside` are read by others.
///
/// # Errors
/// Every problem of the file as it is now.
pub async fn serve(
    file: &Path,
    beside: &[&str],
    vault: &Path,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Vec<Problem>> {
    bindings(file, beside)?;
    let serving = Arc::new(Serving {
        file: file.to_owned(),
        vault: vault.to_owned(),
        beside: beside.iter().map(|name| (*name).to_owned()).collect(),
        listed: Mutex::default(),
        places: Semaphore::new(limits::CALLS),
    });
    let (out, mut said) = mpsc::channel::<String>(limits::CALLS);
    let writer = tokio::spawn(async move {
        while let Some(text) = said.recv().await {
            if output.write_all(format!("{text}\n").as_bytes()).await.is_err()
                || output.flush().await.is_err()
            {
                return;
            }
        }
    });
    let mut lines = Lines::new(limits::MESSAGE);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = input.read(&mut buffer).await.unwrap_or(0);
        if count == 0 {
            break;
        }
        for line in lines.push(&buffer[..count]) {
            let Line::Whole(bytes) = line else { continue };
            for message in Message::parse_all(&bytes).unwrap_or_default() {
                if let Kind::Request { id, method } = message.kind() {
                    let (serving, out) = (Arc::clone(&serving), out.clone());
                    let (id, method) = (id.clone(), method.clone());
                    tokio::spawn(async move {
                        let text = serving.answer(&id, &method, &message).await;
                        let _ = out.send(text).await;
                    });
                }
            }
        }
    }
    drop(out);
    // What is under way is finished and told, where anyone still listens.
    let _ = writer.await;
    Ok(())
}

impl Serving {
    async fn answer(&self, id: &Id, method: &str, message: &Message) -> String {
        let raw = message.params().unwrap_or("{}");
        let params: Map<String, Value> = serde_json::from_str(raw).unwrap_or_default();
        let modern = params
            .get("_meta")
            .is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some());
        let capabilities = json!({"tools": {"listChanged": true}});
        let mut result = match method {
            "initialize" => json!({
                "protocolVersion": params.get("protocolVersion").cloned().unwrap_or_else(|| "2025-11-25".into()),
                "capabilities": capabilities,
                "serverInfo": {"name": "steadfast actions", "version": env!("CARGO_PKG_VERSION")},
            }),
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"], "capabilities": capabilities,
                "ttlMs": 0, "cacheScope": "private",
            }),
            "ping" => json!({}),
            "tools/list" => match self.bindings() {
                Ok(bindings) => self.list(&bindings),
                Err(problems) => return message::failure(id, -32603, &told(&problems)),
            },
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let arguments = mcp::json::find(raw, &["arguments"]).unwrap_or("{}");
                let approved = params.get("_meta").and_then(|meta| meta.get(deed::APPROVED));
                let approved = approved.map(|digest| digest.as_str().unwrap_or_default());
                match self.call(name, arguments, approved).await {
                    Some(result) => result,
                    None => return message::failure(id, -32602, &format!("Unknown tool: {name}")),
                }
            }
            deed::FORETELL => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                self.foretell(name, mcp::json::find(raw, &["arguments"]).unwrap_or("{}")).await
            }
            _ => return message::failure(id, -32601, &format!("Method not found: {method}")),
        };
        if modern {
            result["resultType"] = "complete".into();
        }
        message::response(id, &result.to_string())
    }

    /// The bindings as they are now.
    fn bindings(&self) -> Result<Vec<Binding>, Vec<Problem>> {
        let beside: Vec<&str> = self.beside.iter().map(String::as_str).collect();
        bindings(&self.file, &beside)
    }

    fn list(&self, bindings: &[Binding]) -> Value {
        let revisions = bindings.iter().map(|b| (b.name.clone(), b.revision.clone())).collect();
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = revisions;
        let tools: Vec<Value> = bindings.iter().map(tool).collect();
        json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" })
    }

    /// Carries out one call under the binding that was listed. `None` where there is no such tool.
    async fn call(&self, name: &str, arguments: &str, approved: Option<&str>) -> Option<Value> {
        let bindings = self.bindings();
        let (sent, binding) = match bindings {
            Err(problems) => (Sent::not(Unsent::Binding, told(&problems)), None),
            Ok(bindings) => {
                let binding = bindings.into_iter().find(|binding| binding.name == name)?;
                let sent = match self.as_listed(&binding) {
                    Ok(()) => self.carry(&binding, arguments, approved).await,
                    Err((kind, why)) => Sent::not(kind, why),
                };
                (sent, Some(binding))
            }
        };
        Some(result(&sent, binding.as_ref()))
    }

    /// What exactly a call would send, as it is shown to whoever is to approve it, with its digest; or why it would not.
    async fn foretell(&self, name: &str, arguments: &str) -> Value {
        let exact = async {
            let bindings = self.bindings().map_err(|all| (Unsent::Binding, told(&all)))?;
            let binding = bindings.into_iter().find(|binding| binding.name == name);
            let gone = || (Unsent::Moved, "There is no such binding any more.".to_owned());
            let binding = binding.ok_or_else(gone)?;
            self.as_listed(&binding)?;
            let filled =
                request::fill(&binding, arguments).map_err(|why| (Unsent::Arguments, why))?;
            http::foretold(&binding, &filled, &self.vault).await
        };
        match exact.await {
            Ok(exact) => json!({"digest": exact.digest(), "shown": exact.shown()}),
            Err((kind, why)) => json!({"unsent": Deed::NotSent(kind).written(), "note": why}),
        }
    }

    /// A binding is carried out only as it was listed last.
    fn as_listed(&self, binding: &Binding) -> Result<(), http::Why> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.get(&binding.name) == Some(&binding.revision) {
            return Ok(());
        }
        let why = "The binding is another one than the tool that was listed. List the tools again.";
        Err((Unsent::Moved, why.to_owned()))
    }

    async fn carry(&self, binding: &Binding, arguments: &str, approved: Option<&str>) -> Sent {
        let Ok(_place) = self.places.try_acquire() else {
            let why = "Too many actions are under way. Try again when one has ended.";
            return Sent::not(Unsent::Busy, why);
        };
        match request::fill(binding, arguments) {
            Ok(filled) => http::perform(binding, &filled, &self.vault, approved).await,
            Err(why) => Sent::not(Unsent::Arguments, why),
        }
    }
}

fn told(problems: &[Problem]) -> String {
    let first =
        problems.first().map_or(String::new(), |one| format!("{}: {}", one.place, one.sentence));
    format!("The bindings have {} problems. {first}", problems.len())
}

/// Stands for the request that a call makes, in what its result promises.
fn target(binding: &Binding) -> String {
    format!("sha256:{}", binding.deed)
}

/// A binding as a tool. Where it goes, with which credential, and which request it makes is part of what the result
/// promises: another request is another contract, and not only another text.
fn tool(binding: &Binding) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, argument) in &binding.arguments {
        let kind = match argument.kind {
            Type::Text => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Flag => "boolean",
        };
        let mut schema = json!({ "type": kind });
        if let Some(text) = &argument.description {
            schema["description"] = text.as_str().into();
        }
        if !argument.values.is_empty() {
            schema["enum"] = argument.values.clone().into();
        }
        properties.insert(name.clone(), schema);
        if argument.required {
            required.push(name.as_str());
        }
    }
    let destination = binding.destination();
    let with = match &binding.credential {
        Some(label) => format!("with the credential {label}, which stays with steadfast"),
        None => "without a credential".to_owned(),
    };
    let mut promised = json!({
        "outcome": {"enum": ["not_sent", "done", "failed", "in_doubt"]},
        "destination": {"const": destination},
        "target_revision": {"const": target(binding)},
        "status": {"type": "integer"},
        "redacted": {"type": "integer"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "body": {},
    });
    if let Some(label) = &binding.credential {
        promised["credential"] = json!({"const": label});
        promised["credential_version"] = json!({"type": "integer"});
    }
    json!({
        "name": binding.name,
        "description": format!("{}\n\nSends {destination} {with}.", binding.description),
        "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
        "outputSchema": {
            "type": "object",
            "properties": promised,
            "required": ["outcome", "destination"],
        },
        "annotations": {
            "readOnlyHint": binding.effect == Effect::Read,
            "destructiveHint": binding.effect == Effect::Irreversible,
            "idempotentHint": binding.repeats,
            "openWorldHint": true,
        },
        "_meta": {"steadfast/binding": format!("sha256:{}", binding.revision)},
    })
}

fn result(sent: &Sent, binding: Option<&Binding>) -> Value {
    let mut content = json!({"outcome": sent.outcome.word()});
    if let Some(binding) = binding {
        content["destination"] = binding.destination().into();
        content["target_revision"] = target(binding).into();
    }
    if let Some(status) = sent.status {
        content["status"] = status.into();
    }
    if sent.redacted > 0 {
        content["redacted"] = sent.redacted.into();
    }
    if let Some((label, version)) = &sent.credential {
        content["credential"] = label.as_str().into();
        content["credential_version"] = (*version).into();
    }
    if !sent.notes.is_empty() {
        content["notes"] = sent.notes.clone().into();
    }
    if let Some(body) = sent.body.as_ref().filter(|body| !body.is_empty()) {
        // JSON as JSON where it says each thing once; any other text as the text it is.
        let read =
            mcp::json::flaws(body, 64, 1).is_empty().then(|| serde_json::from_str(body).ok());
        content["body"] = read.flatten().unwrap_or_else(|| body.as_str().into());
    }
    let said = match sent.outcome {
        Deed::NotSent(_) => "NOT SENT. Nothing left this machine.",
        Deed::Done => "DONE.",
        Deed::Failed => "FAILED. The server answered that it was not done.",
        Deed::InDoubt => {
            "IN DOUBT. It left, and whether it was done is not known. Do not send it again before that is known."
        }
    };
    json!({
        "content": [{"type": "text", "text": format!("{said} {}\n{content}", sent.notes.join(" "))}],
        "structuredContent": content,
        "isError": sent.outcome != Deed::Done,
        "_meta": {deed::META: sent.outcome.written()},
    })
}
