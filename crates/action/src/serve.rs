//! The bindings as an MCP server on a pipe, in both eras of the protocol.

use crate::binding::{self, Binding, Effect, Type};
use crate::http::{self, Outcome, Sent};
use crate::{limits, request};
use mcp::Problem;
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
    /// The revision of each binding as it was last listed: a call is carried out under that one alone.
    listed: Mutex<BTreeMap<String, String>>,
    places: Semaphore,
}

/// Reads the bindings of a file.
///
/// # Errors
/// Every problem.
pub(crate) fn bindings(path: &Path) -> Result<Vec<Binding>, Vec<Problem>> {
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
    binding::read(&name, &text)
}

/// Serves the bindings of a file until the client leaves.
///
/// # Errors
/// Every problem of the file as it is now.
pub async fn serve(
    file: &Path,
    vault: &Path,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), Vec<Problem>> {
    bindings(file)?;
    let serving = Arc::new(Serving {
        file: file.to_owned(),
        vault: vault.to_owned(),
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
            "tools/list" => match bindings(&self.file) {
                Ok(bindings) => self.list(&bindings),
                Err(problems) => return message::failure(id, -32603, &told(&problems)),
            },
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                match self.call(name, mcp::json::find(raw, &["arguments"]).unwrap_or("{}")).await {
                    Some(result) => result,
                    None => return message::failure(id, -32602, &format!("Unknown tool: {name}")),
                }
            }
            _ => return message::failure(id, -32601, &format!("Method not found: {method}")),
        };
        if modern {
            result["resultType"] = "complete".into();
        }
        message::response(id, &result.to_string())
    }

    fn list(&self, bindings: &[Binding]) -> Value {
        let revisions = bindings.iter().map(|b| (b.name.clone(), b.revision.clone())).collect();
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = revisions;
        let tools: Vec<Value> = bindings.iter().map(tool).collect();
        json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" })
    }

    /// Carries out one call under the binding that was listed. `None` where there is no such tool.
    async fn call(&self, name: &str, arguments: &str) -> Option<Value> {
        let bindings = bindings(&self.file);
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let (sent, destination) = match bindings {
            Err(problems) => (Sent::not(told(&problems)), String::new()),
            Ok(bindings) => {
                let binding = bindings.into_iter().find(|binding| binding.name == name)?;
                let sent = if listed.as_ref() == Some(&binding.revision) {
                    self.carry(&binding, arguments).await
                } else {
                    Sent::not(
                        "The binding is another one than the tool that was listed. List the tools again.",
                    )
                };
                (sent, binding.destination())
            }
        };
        Some(result(&sent, &destination))
    }

    async fn carry(&self, binding: &Binding, arguments: &str) -> Sent {
        let Ok(_place) = self.places.try_acquire() else {
            return Sent::not("Too many actions are under way. Try again when one has ended.");
        };
        match request::fill(binding, arguments) {
            Ok(filled) => http::perform(binding, &filled, &self.vault).await,
            Err(why) => Sent::not(why),
        }
    }
}

fn told(problems: &[Problem]) -> String {
    let first =
        problems.first().map_or(String::new(), |one| format!("{}: {}", one.place, one.sentence));
    format!("The bindings have {} problems. {first}", problems.len())
}

/// A binding as a tool. Where it goes and with which credential is part of what the result promises, so that another
/// place is another contract and not only another text.
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
    json!({
        "name": binding.name,
        "description": format!("{}\n\nSends {destination} {with}.", binding.description),
        "inputSchema": {"type": "object", "properties": properties, "required": required, "additionalProperties": false},
        "outputSchema": {
            "type": "object",
            "properties": {
                "outcome": {"enum": ["not_sent", "done", "failed", "in_doubt"]},
                "destination": {"const": destination},
                "status": {"type": "integer"},
                "redacted": {"type": "integer"},
                "credential": {"type": "string"},
                "notes": {"type": "array", "items": {"type": "string"}},
                "body": {},
            },
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

fn result(sent: &Sent, destination: &str) -> Value {
    let mut content = json!({"outcome": sent.outcome.word(), "destination": destination});
    if let Some(status) = sent.status {
        content["status"] = status.into();
    }
    if sent.redacted > 0 {
        content["redacted"] = sent.redacted.into();
    }
    if let Some((label, version)) = &sent.credential {
        content["credential"] = format!("{label}@{version}").into();
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
        Outcome::NotSent => "NOT SENT. Nothing left this machine.",
        Outcome::Done => "DONE.",
        Outcome::Failed => "FAILED. The server answered that it was not done.",
        Outcome::InDoubt => {
            "IN DOUBT. It left, and whether it was done is not known. Do not send it again before that is known."
        }
    };
    json!({
        "content": [{"type": "text", "text": format!("{said} {}\n{content}", sent.notes.join(" "))}],
        "structuredContent": content,
        "isError": sent.outcome != Outcome::Done,
    })
}
