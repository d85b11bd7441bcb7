//! A switch between real programs: the client keeps its connection, and behind it the server becomes another one.
//!
//! It is a process of its own, on a pipe like a server. Messages pass as they are. Requests that the first program was
//! asked are answered by the first program, also after the switch.

use super::scenario::{Hook, Real, Signal};
use crate::limits;
use crate::recorder::{Heard, Signals};
use crate::wire::Wire;
use mcp::framing::{Line, Lines};
use mcp::message::{self, Id, Kind, Message};
use mcp::stdio::{Incoming, Server};
use rustix::process::{Pid, kill_process_group};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// The id under which the second program is greeted: no client uses it.
const GREETING: &str = "steadfast-relay-greeting";

/// What happens besides messages.
enum Event {
    Client(String),
    ClientLeft,
    Switch,
    Signals(Signals),
}

/// Relays until the client leaves or the server ends. `recorder` is the address of a [`crate::Recorder`].
///
/// # Errors
/// Where a program cannot be started or the recorder cannot be reached, in a sentence.
pub async fn relay(
    real: Real,
    recorder: &str,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), String> {
    let wire = Wire::to(recorder)?;
    let (sender, events) = mpsc::channel(limits::RELAYED);
    let signals = wire.signals(None).await?;
    tokio::spawn(read(input, sender.clone()));
    let first = wire.phase(None).await?;
    tokio::spawn(watch_phase(wire.clone(), first, sender.clone()));
    tokio::spawn(watch_signals(wire.clone(), signals, sender));
    let start = if first == 0 { real.before.clone() } else { real.after().to_vec() };
    let now = Side::start(&real, &start, &wire)?;
    let mut relay = Relay { real, wire, output, now, before: None, greeting: None, signals };
    relay.run(events).await
}

/// A program behind the relay.
struct Side {
    server: Server,
    /// Requests that it was asked and has not answered, with their methods.
    open: BTreeMap<Id, String>,
}

impl Side {
    fn start(real: &Real, command: &[String], wire: &Wire) -> Result<Side, String> {
        let mut words = Vec::new();
        if let Some(name) = &real.recorder {
            words.extend(["env".to_owned(), format!("{name}={}", wire.recorder())]);
        }
        words.extend(command.iter().cloned());
        let server = Server::start_with(&words, true).map_err(|why| why.to_string())?;
        Ok(Side { server, open: BTreeMap::new() })
    }
}

struct Relay<W> {
    real: Real,
    wire: Wire,
    output: W,
    now: Side,
    /// The first program after the switch, while it still has to answer.
    before: Option<Side>,
    /// How the client greeted, to be said again to the second program.
    greeting: Option<String>,
    signals: Signals,
}

impl<W: AsyncWrite + Unpin> Relay<W> {
    async fn run(&mut self, mut events: mpsc::Receiver<Event>) -> Result<(), String> {
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Some(Event::Client(text)) => self.take_in(&text).await?,
                    Some(Event::Switch) => {
                        let outcome = self.switch().await;
                        self.wire.switched(outcome.err().as_deref()).await?;
                    }
                    Some(Event::Signals(now)) => self.signal(now).await?,
                    Some(Event::ClientLeft) | None => return Ok(()),
                },
                incoming = self.now.server.next() => match incoming {
                    Some(incoming) => pass(incoming, &mut self.now.open, &self.wire, &mut self.output).await?,
                    None => return Err("the server ended".to_owned()),
                },
                incoming = next(&mut self.before) => {
                    if let (Some(incoming), Some(side)) = (incoming, &mut self.before) {
                        pass(incoming, &mut side.open, &self.wire, &mut self.output).await?;
                    }
                    if self.before.as_ref().is_some_and(|side| side.open.is_empty()) {
                        self.before = None;
                    }
                }
            }
        }
    }

    async fn take_in(&mut self, text: &str) -> Result<(), String> {
        for message in Message::parse_all(text.as_bytes()).unwrap_or_default() {
            match message.kind() {
                Kind::Request { id, method } => {
                    self.now.open.insert(id.clone(), method.clone());
                    if method == "initialize" {
                        self.greeting = message.params().map(str::to_owned);
                    }
                    if method == "tools/call" {
                        self.wire.heard(&call(&message)).await?;
                    }
                }
                // An answer goes to whoever asked; after the switch nobody knows who, and both may have.
                Kind::Notification { .. } | Kind::Response { .. } => {}
            }
        }
        self.now.server.send(text).await;
        Ok(())
    }

    async fn switch(&mut self) -> Result<(), String> {
        match self.real.switch.clone() {
            Hook::Command(command) => self.replace(&command).await,
            Hook::Run(words) => run(&words).await,
            Hook::Request(method, address) => self.wire.request(&method, &address).await,
            Hook::File(path) => {
                tokio::fs::write(&path, "switched\n").await.map_err(|why| format!("{path}: {why}"))
            }
            Hook::Signal(signal) => send(signal, &self.now.server),
            Hook::Elsewhere => Ok(()),
        }
    }

    /// Starts the second program, greets it as the client greeted the first, and puts it in its place.
    async fn replace(&mut self, command: &[String]) -> Result<(), String> {
        let mut next = Side::start(&self.real, command, &self.wire)?;
        if let Some(params) = &self.greeting {
            let id = Id::Text(GREETING.to_owned());
            next.server.send(&message::request(&id, "initialize", Some(params))).await;
            loop {
                match next.server.next().await {
                    None => return Err("the second program ended before it was greeted".to_owned()),
                    Some(Incoming::Message(message)) if answers(&message, &id) => {
                        message.outcome().map_err(|error| error.message)?;
                        break;
                    }
                    Some(_) => {}
                }
            }
            next.server.send(&message::notification("notifications/initialized", None)).await;
        }
        let before = std::mem::replace(&mut self.now, next);
        self.before = (!before.open.is_empty()).then_some(before);
        Ok(())
    }

    async fn signal(&mut self, now: Signals) -> Result<(), String> {
        if now.crashes > self.signals.crashes {
            // Whoever waits for it says so where nobody told.
            let _ = self.wire.ended().await;
            return Err("the server was told to end".to_owned());
        }
        if now.rings > self.signals.rings {
            let text = message::notification("notifications/tools/list_changed", None);
            write(&mut self.output, &text).await?;
        }
        self.signals = now;
        Ok(())
    }
}

/// The next message of a program that may not be there; waits for ever where it is not.
async fn next(side: &mut Option<Side>) -> Option<Incoming> {
    match side {
        None => std::future::pending().await,
        Some(running) => {
            let incoming = running.server.next().await;
            if incoming.is_none() {
                *side = None;
            }
            incoming
        }
    }
}

/// Passes on what a program says.
async fn pass(
    incoming: Incoming,
    open: &mut BTreeMap<Id, String>,
    wire: &Wire,
    output: &mut (impl AsyncWrite + Unpin),
) -> Result<(), String> {
    match incoming {
        Incoming::Message(message) => {
            if let Kind::Response { id: Some(id) } = message.kind() {
                // Before the client has the answer, so that what it does next comes after.
                match open.remove(id).as_deref() {
                    Some("tools/list") => wire.listed().await?,
                    Some("tools/call") => wire.settled().await?,
                    _ => {}
                }
            }
            write(output, message.text()).await
        }
        // What is no message stays what it is: the client under test is to see it.
        Incoming::Stray(line, _) => write(output, &line).await,
        // Nothing else answers that request.
        Incoming::Garbled(id, _) => {
            open.remove(&id);
            Ok(())
        }
        Incoming::TooLong => Err("the server sent a message above the limit".to_owned()),
    }
}

async fn write(output: &mut (impl AsyncWrite + Unpin), text: &str) -> Result<(), String> {
    let line = format!("{}\n", text.replace('\n', " "));
    output.write_all(line.as_bytes()).await.map_err(|why| why.to_string())?;
    output.flush().await.map_err(|why| why.to_string())
}

fn answers(message: &Message, id: &Id) -> bool {
    matches!(message.kind(), Kind::Response { id: Some(found) } if found == id)
}

fn call(message: &Message) -> Heard {
    let params: Value =
        message.params().and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
    Heard {
        tool: params["name"].as_str().unwrap_or_default().to_owned(),
        arguments: params.get("arguments").cloned().unwrap_or_default(),
    }
}

async fn run(words: &[String]) -> Result<(), String> {
    let (program, arguments) = words.split_first().ok_or("no program is named")?;
    let mut command = tokio::process::Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    let status = command.status().await.map_err(|why| format!("`{program}`: {why}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{program}` ended with {status}")) }
}

fn send(signal: Signal, server: &Server) -> Result<(), String> {
    let signal = match signal {
        Signal::Hup => rustix::process::Signal::HUP,
        Signal::Usr1 => rustix::process::Signal::USR1,
        Signal::Usr2 => rustix::process::Signal::USR2,
    };
    let group = server.id().and_then(Pid::from_raw).ok_or("the server has ended")?;
    kill_process_group(group, signal).map_err(|why| why.to_string())
}

async fn read(mut input: impl AsyncRead + Unpin, events: mpsc::Sender<Event>) {
    let mut lines = Lines::new(mcp::limits::RELAYED_BYTES);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = input.read(&mut buffer).await.unwrap_or(0);
        if n == 0 {
            // Nobody listens any more where this fails.
            let _ = events.send(Event::ClientLeft).await;
            return;
        }
        for line in lines.push(&buffer[..n]) {
            let Line::Whole(bytes) = line else { continue };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if events.send(Event::Client(text)).await.is_err() {
                return;
            }
        }
    }
}

async fn watch_phase(wire: Wire, first: usize, events: mpsc::Sender<Event>) {
    let mut now = first;
    while let Ok(next) = wire.phase(Some(now)).await {
        if next != now {
            now = next;
            if events.send(Event::Switch).await.is_err() {
                return;
            }
        }
    }
}

async fn watch_signals(wire: Wire, first: Signals, events: mpsc::Sender<Event>) {
    let mut known = first;
    while let Ok(now) = wire.signals(Some(known)).await {
        if now != known {
            known = now;
            if events.send(Event::Signals(now)).await.is_err() {
                return;
            }
        }
    }
}
