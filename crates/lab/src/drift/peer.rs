//! The old client: asks over a pipe, and keeps every message as evidence.

use crate::limits;
use mcp::message::{self, Id, Kind, Message};
use mcp::stdio::{Incoming, Server};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::timeout;

/// The revision of the protocol that it speaks.
const VERSION: &str = "2025-11-25";

const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// A client with its connection.
pub struct Peer {
    server: Server,
    next: u64,
    /// Answers that nobody took yet.
    answers: BTreeMap<u64, Value>,
    /// How often it was told that the list changed.
    told: usize,
    /// Messages in both directions, in order.
    pub messages: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Silence {
    /// The other side ended.
    Ended,
    /// Time ran out.
    Late,
}

impl Peer {
    /// Starts the command at the other end.
    ///
    /// # Errors
    /// Where it cannot be started, in a sentence.
    pub fn start(command: &[String]) -> Result<Peer, String> {
        let server = Server::start(command).map_err(|why| format!("{why}"))?;
        Ok(Peer { server, next: 1, answers: BTreeMap::new(), told: 0, messages: Vec::new() })
    }

    /// Opens the session.
    ///
    /// # Errors
    /// Where the other side does not greet back, in a sentence.
    pub async fn greet(&mut self, wait: Duration) -> Result<(), String> {
        let params = json!({
            "protocolVersion": VERSION,
            "capabilities": {},
            "clientInfo": {"name": "steadfast-drift", "version": env!("CARGO_PKG_VERSION")},
        });
        let answer = match self.ask("initialize", &params, wait).await {
            Ok(answer) => answer,
            Err(Silence::Late) => return Err("it does not answer `initialize` in time".to_owned()),
            Err(Silence::Ended) => {
                let said = self.server.last_words().await.join(" | ");
                let said = if said.is_empty() { "without a word".to_owned() } else { said };
                return Err(format!("it ended before it answered: {said}"));
            }
        };
        if answer.get("result").is_none() {
            return Err(format!("it does not take `initialize`: {answer}"));
        }
        self.send(message::notification("notifications/initialized", None)).await;
        Ok(())
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// Where none comes.
    pub async fn ask(
        &mut self,
        method: &str,
        params: &Value,
        wait: Duration,
    ) -> Result<Value, Silence> {
        let id = self.begin(method, params).await;
        self.answer(id, wait).await
    }

    /// Sends a request; gives its id.
    pub async fn begin(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(message::request(&Id::from(id), method, Some(&params.to_string()))).await;
        id
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// Where none comes.
    pub async fn answer(&mut self, id: u64, wait: Duration) -> Result<Value, Silence> {
        let answered = async {
            loop {
                if let Some(answer) = self.answers.remove(&id) {
                    return Ok(answer);
                }
                self.take().await?;
            }
        };
        timeout(wait, answered).await.unwrap_or(Err(Silence::Late))
    }

    /// Reads the whole list: the tools, or the error.
    ///
    /// # Errors
    /// Where no answer comes.
    pub async fn list(&mut self, wait: Duration) -> Result<Result<Vec<Value>, Value>, Silence> {
        let mut tools = Vec::new();
        let mut params = json!({});
        for _ in 0..mcp::limits::PAGES {
            let answer = self.ask("tools/list", &params, wait).await?;
            let Some(result) = answer.get("result") else { return Ok(Err(answer)) };
            tools.extend(result["tools"].as_array().into_iter().flatten().cloned());
            match result.get("nextCursor") {
                Some(cursor) if !cursor.is_null() => params = json!({"cursor": cursor}),
                _ => return Ok(Ok(tools)),
            }
        }
        Ok(Err(json!({"error": {"message": "the list has no end"}})))
    }

    /// Waits until it was told more often than `before` that the list changed; gives how often by then.
    ///
    /// # Errors
    /// Where it is not told.
    pub async fn told(&mut self, before: usize, wait: Duration) -> Result<usize, Silence> {
        let told = async {
            while self.told <= before {
                self.take().await?;
            }
            Ok(self.told)
        };
        timeout(wait, told).await.unwrap_or(Err(Silence::Late))
    }

    /// Leaves, and waits for the other side to end.
    pub async fn leave(self) -> Vec<String> {
        self.server.close().await;
        self.messages
    }

    async fn send(&mut self, text: String) {
        self.server.send(&text).await;
        self.note("->", &text);
    }

    /// Takes the next message in.
    async fn take(&mut self) -> Result<(), Silence> {
        match self.server.next().await {
            None => Err(Silence::Ended),
            Some(Incoming::TooLong) => {
                self.note("<-", "(a message above the limit)");
                Ok(())
            }
            Some(Incoming::Stray(line, why)) => {
                self.note("<-", &format!("(no message: {why}) {line}"));
                Ok(())
            }
            // What stood in its place was noted.
            Some(Incoming::Garbled(..)) => Ok(()),
            Some(Incoming::Message(message)) => {
                let value: Value = serde_json::from_str(message.text()).unwrap_or_default();
                self.note("<-", message.text());
                self.sort(&message, value).await;
                Ok(())
            }
        }
    }

    async fn sort(&mut self, message: &Message, value: Value) {
        match message.kind() {
            Kind::Response { id: Some(Id::Number(id)) } => {
                // An answer to what nobody asked is on record in the messages alone.
                if let Some(id) = id.parse().ok().filter(|id| *id < self.next) {
                    // A second answer to one request is on record in the messages; the first one counts.
                    self.answers.entry(id).or_insert(value);
                }
            }
            Kind::Response { .. } => {}
            Kind::Notification { method } => self.told += usize::from(method == LIST_CHANGED),
            Kind::Request { id, method } if method == "ping" => {
                self.send(message::response(id, "{}")).await;
            }
            Kind::Request { id, method } => {
                let why = format!("this client declared no capability for {method}");
                self.send(message::failure(id, -32601, &why)).await;
            }
        }
    }

    fn note(&mut self, way: &str, text: &str) {
        if self.messages.len() < limits::MESSAGES {
            let head = report::escape::clip(text, limits::MESSAGE_CHARS);
            self.messages.push(format!("{way} {head}"));
        }
    }
}
