//! A server in both directions at once: what a gateway needs, where [`client`](crate::client) asks one thing at a time.
//!
//! Messages are sent as the bytes they are, and whatever comes is handed on in the order in which it came. Over HTTP
//! every request has a stream of its own; here they all end in one queue, and a request whose stream ends without an
//! answer is told as [`Incoming::Lost`].

mod listen;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::error::{Failure, quote};
use crate::message::{self, Id, Kind, Message};
use crate::pen::Pen;
use crate::version::{Era, Revision};
use crate::{http, limits, stdio};
use listen::listen;

/// What comes from a server.
#[derive(Debug)]
pub enum Incoming {
    /// A message, and the request on whose own stream it came, where it came on one.
    Message(Message, Option<Id>),
    /// Something on stdout that is no message: its start, and why.
    Stray(String, String),
    /// The request with this id gets no answer any more.
    Lost(Id, Failure),
    /// The server had lost the session and was greeted anew, with this answer: what it said before may no longer hold.
    Renewed(Message),
    /// The stream on which the server speaks unasked is open, or open again: what it said before that did not come here.
    Listening,
    /// The server is gone, with how it ended where that is known.
    Ended(Option<String>),
}

/// What becomes of a message that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// It left, or may have.
    Sent,
    /// Nothing of it left.
    NotSent,
    /// Nothing of it left: the session that it was meant for is another one by now.
    Moved,
}

/// What a modern request is mirrored into headers by, besides its method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routed {
    /// `params.name` or `params.uri`, where the method is routed by one.
    pub name: Option<String>,
    /// Names after `Mcp-Param-`, with the values of the arguments that they mirror.
    pub params: Vec<(String, String)>,
    /// Headers of other names, in whatever era.
    pub headers: Vec<(String, String)>,
}

/// The sending end. Clones send to the same server; it is told to leave when [`Uplink::close`] is called or the
/// receiving end is dropped.
#[derive(Clone)]
pub struct Uplink(Arc<Way>);

enum Way {
    Stdio { pen: Option<Pen>, pump: AbortHandle },
    Http(Box<Web>),
}

/// An endpoint in the session that is open there.
#[derive(Clone)]
struct Held {
    server: http::Server,
    /// How often a session took the place of another one. Raised with the session, in one step.
    generation: u64,
}

struct Web {
    held: Mutex<Held>,
    incoming: mpsc::Sender<Incoming>,
    /// Requests under way, to be broken off.
    open: Mutex<BTreeMap<Id, AbortHandle>>,
    /// The client's `initialize`, by which a session that the server lost is opened again.
    greeting: Mutex<Option<Message>>,
    /// When that was last done.
    renewed: tokio::sync::Mutex<Option<Instant>>,
    /// The stream of what nobody asked for is being read.
    listening: AtomicBool,
    /// The generation of the session, for those who wait for another one.
    turned: watch::Sender<u64>,
    /// The server was told to leave: what is still open is let go.
    left: watch::Sender<bool>,
}

/// Starts a command and speaks to it; its stderr is passed on. Must be called inside a tokio runtime.
///
/// # Errors
/// Where the command cannot be started.
pub fn start(command: &[String]) -> Result<(Uplink, mpsc::Receiver<Incoming>), Failure> {
    let mut server = stdio::Server::start_with(command, true)?;
    let pen = server.take_stdin().map(Pen::new);
    let (sender, incoming) = mpsc::channel(limits::QUEUE);
    let pump = tokio::spawn(pump(server, sender)).abort_handle();
    Ok((Uplink(Arc::new(Way::Stdio { pen, pump })), incoming))
}

/// Speaks to a server at the other ends of two pipes: what it says comes from `output`, what it is told goes into `input`.
/// It has ended once it says nothing any more. Must be called inside a tokio runtime.
pub fn over(
    output: impl AsyncRead + Unpin + Send + 'static,
    input: impl AsyncWrite + Unpin + Send + 'static,
) -> (Uplink, mpsc::Receiver<Incoming>) {
    let (sender, incoming) = mpsc::channel(limits::QUEUE);
    let (heard, mut said) = mpsc::channel(limits::QUEUE);
    let pump = async move {
        // Both end with the uplink: neither is a task of its own.
        let reading = stdio::read_messages(output, heard, limits::RELAYED_BYTES);
        let passing = async {
            while let Some(item) = said.recv().await {
                if sender.send(handed_on(item)).await.is_err() {
                    return;
                }
            }
            let _ = sender.send(Incoming::Ended(None)).await;
        };
        tokio::join!(reading, passing);
    };
    let pump = tokio::spawn(pump).abort_handle();
    (Uplink(Arc::new(Way::Stdio { pen: Some(Pen::new(input)), pump })), incoming)
}

/// Speaks to a server behind Streamable HTTP. Opens no connection yet.
pub fn reach(server: http::Server) -> (Uplink, mpsc::Receiver<Incoming>) {
    let (sender, incoming) = mpsc::channel(limits::QUEUE);
    let web = Web {
        held: Mutex::new(Held { server: server.relayed(), generation: 0 }),
        incoming: sender,
        open: Mutex::default(),
        greeting: Mutex::default(),
        renewed: tokio::sync::Mutex::default(),
        listening: AtomicBool::new(false),
        turned: watch::Sender::new(0),
        left: watch::Sender::new(false),
    };
    (Uplink(Arc::new(Way::Http(Box::new(web)))), incoming)
}

fn handed_on(item: stdio::Incoming) -> Incoming {
    match item {
        stdio::Incoming::Message(message) => Incoming::Message(message, None),
        stdio::Incoming::Stray(start, why) => Incoming::Stray(start, why),
        stdio::Incoming::Garbled(id, why) => {
            Incoming::Lost(id, Failure::Garbled(why, String::new()))
        }
        stdio::Incoming::TooLong => {
            let why = format!("it is longer than {} bytes", limits::RELAYED_BYTES);
            Incoming::Stray(String::new(), why)
        }
    }
}

async fn pump(mut server: stdio::Server, sender: mpsc::Sender<Incoming>) {
    while let Some(item) = server.next().await {
        if sender.send(handed_on(item)).await.is_err() {
            // Nobody listens any more.
            server.close().await;
            return;
        }
    }
    let mut said = server.status().await;
    if let Some(last) = server.last_words().await.pop() {
        said = Some(said.map_or(last.clone(), |said| format!("{said}; its last words: {last}")));
    }
    let _ = sender.send(Incoming::Ended(said)).await;
    server.close().await;
}

impl Uplink {
    /// Which session this leads to: raised whenever one that the server lost is opened again. A pipe leads to one.
    pub fn generation(&self) -> u64 {
        match &*self.0 {
            Way::Stdio { .. } => 0,
            Way::Http(web) => lock(&web.held).generation,
        }
    }

    /// Sends a message, as it is.
    pub async fn send(&self, message: &Message, routed: Routed) -> Sending {
        self.send_over(None, message, routed).await
    }

    /// Sends a message in the session of this [generation](Uplink::generation), or not at all: it is never sent again in
    /// another one either.
    pub async fn send_in(&self, generation: u64, message: &Message, routed: Routed) -> Sending {
        self.send_over(Some(generation), message, routed).await
    }

    async fn send_over(
        &self,
        generation: Option<u64>,
        message: &Message,
        routed: Routed,
    ) -> Sending {
        match &*self.0 {
            Way::Stdio { .. } if generation.is_some_and(|generation| generation != 0) => {
                Sending::Moved
            }
            Way::Stdio { pen: Some(pen), .. } => pen.send(message.text()).await,
            Way::Stdio { pen: None, .. } => Sending::NotSent,
            Way::Http(web) => {
                // From here on it is bound to this session, whatever takes its place.
                let held = lock(&web.held).clone();
                if generation.is_some_and(|generation| generation != held.generation) {
                    return Sending::Moved;
                }
                let id = match message.kind() {
                    Kind::Request { id, .. } => Some(id.clone()),
                    _ => None,
                };
                let (way, message) = (Arc::clone(&self.0), message.clone());
                // It must not end before it is known to be open.
                let mut open = lock(&web.open);
                let due = Due { held, bound: generation.is_some(), message, routed };
                let task = tokio::spawn(carry(way, due)).abort_handle();
                if let Some(id) = id {
                    open.insert(id, task);
                }
                Sending::Sent
            }
        }
    }

    /// Breaks off a request: under modern HTTP, closing its stream is how it is cancelled. Says whether it was open.
    pub fn break_off(&self, id: &Id) -> bool {
        match &*self.0 {
            Way::Stdio { .. } => false,
            Way::Http(web) => lock(&web.open).remove(id).map(|task| task.abort()).is_some(),
        }
    }

    /// Names the revision that the two sides agreed on, and opens the stream of what nobody asked for where there is
    /// one.
    pub fn speak(&self, revision: Revision) {
        if let Way::Http(web) = &*self.0 {
            lock(&web.held).server.speak(revision);
            if revision.era == Era::Legacy {
                tokio::spawn(listen(Arc::clone(&self.0)));
            }
        }
    }

    /// Tells the server to leave: a child's stdin is closed once what is being written left, a legacy session is ended.
    /// Waits for no server longer than it may take.
    pub async fn close(&self) {
        match &*self.0 {
            Way::Stdio { pen, .. } => {
                if let Some(pen) = pen {
                    pen.leave();
                }
            }
            Way::Http(web) => {
                let server = lock(&web.held).server.clone();
                web.left.send_replace(true);
                let open = std::mem::take(&mut *lock(&web.open));
                let deadline = Instant::now() + limits::LEAVE;
                for (id, task) in open {
                    task.abort();
                    let lost = web.incoming.send(Incoming::Lost(id, Failure::Interrupted));
                    let _ = timeout_at(deadline, lost).await;
                }
                server.close().await;
            }
        }
    }

    /// Ends a child and all that it started, at once; whoever still holds this end can send nothing more.
    pub fn end(&self) {
        if let Way::Stdio { pen, pump } = &*self.0 {
            if let Some(pen) = pen {
                pen.leave();
            }
            pump.abort();
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        if let Way::Stdio { pump, .. } = self {
            // Ends the process group with it.
            pump.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message that is to be posted, and the session that it goes in.
struct Due {
    held: Held,
    /// It goes in no other one, also where the server does not know this one any more.
    bound: bool,
    message: Message,
    routed: Routed,
}

/// Posts one message and hands on what comes back. What was said last still has its time once the server is told to
/// leave; it then ends, also where it is never answered.
async fn carry(way: Arc<Way>, due: Due) {
    let Way::Http(web) = &*way else { return };
    let mut left = web.left.subscribe();
    let ended = async {
        let _ = left.wait_for(|left| *left).await;
        tokio::time::sleep(limits::LEAVE).await;
    };
    tokio::select! {
        () = posted(&way, web, due) => {}
        () = ended => {}
    }
}

async fn posted(way: &Arc<Way>, web: &Web, due: Due) {
    let Due { held: Held { mut server, mut generation }, bound, message, routed } = due;
    let (id, method) = match message.kind() {
        Kind::Request { id, method } => (Some(id.clone()), method.as_str()),
        Kind::Notification { method } => (None, method.as_str()),
        Kind::Response { .. } => (None, ""),
    };
    if method == "initialize" {
        *lock(&web.greeting) = Some(message.clone());
    }
    let routing = http::Routing {
        method,
        name: routed.name.as_deref(),
        params: &routed.params,
        headers: &routed.headers,
    };
    let mut answered = post(&mut server, &message, routing, id.as_ref()).await;
    // By the protocol a server that does not know the session did nothing with the message: it may be sent again, once.
    if let Err(Failure::Status { code: code @ (400 | 404), .. }) = answered
        && server.has_session()
        && method != "initialize"
        && let Some(mut again) = renew(way, &server).await
    {
        // Except for what is about the old session, and for a call: a status is the word of a server that may have
        // carried it out.
        if bound || method == http::CALL {
            answered = Err(Failure::SessionLost(code));
        } else {
            answered = post(&mut again.server, &message, routing, id.as_ref()).await;
        }
        Held { server, generation } = again;
    }
    let answered = match answered {
        Ok(answer) => {
            {
                let mut held = lock(&web.held);
                // What an old session settled is no word about the one that took its place.
                if held.generation == generation {
                    held.server.settle(&server);
                }
            }
            read(web, &mut server, answer, id.as_ref()).await
        }
        Err(failure) => Err(failure),
    };
    if let Some(id) = id {
        lock(&web.open).remove(&id);
        match answered {
            Ok(true) => {}
            Ok(false) => {
                let _ = web.incoming.send(Incoming::Lost(id, Failure::Cut)).await;
            }
            Err(failure) => {
                let _ = web.incoming.send(Incoming::Lost(id, failure)).await;
            }
        }
    }
}

/// Posts one message. A refusal of the whole request is a failure with its status, in whatever form it is written.
async fn post(
    server: &mut http::Server,
    message: &Message,
    routing: http::Routing<'_>,
    id: Option<&Id>,
) -> Result<http::Answer, Failure> {
    match server.post(message.text(), routing).await? {
        http::Answer::Messages(messages, status)
            if !status.is_success()
                && ((status.as_u16() == 404 && server.has_session())
                    || !messages.iter().any(|m| id.is_some() && answers(m, id))) =>
        {
            let said = messages.iter().find_map(Message::error).map(|error| quote(&error.message));
            Err(Failure::Status {
                code: status.as_u16(),
                body: said.unwrap_or_default(),
                authenticate: None,
            })
        }
        answer => Ok(answer),
    }
}

/// Opens a session again that the server lost, as the client opened it. `None` where that fails, or was just done.
async fn renew(way: &Arc<Way>, lost: &http::Server) -> Option<Held> {
    let Way::Http(web) = &**way else { return None };
    let mut renewed = web.renewed.lock().await;
    let held = lock(&web.held).clone();
    if !held.server.shares_session(lost) {
        // Another request found out first.
        return Some(held);
    }
    let mut server = held.server;
    if renewed.is_some_and(|at| at.elapsed() < limits::RENEW_PAUSE) {
        return None;
    }
    let greeting = lock(&web.greeting).clone()?;
    server.forget_session();
    let opened = timeout(limits::REQUEST, greet_again(&mut server, &greeting)).await;
    // Those who wait here do not try one after the other what one of them found to fail.
    *renewed = Some(Instant::now());
    let greeting = opened.ok()??;
    let held = Held { server, generation: held.generation + 1 };
    *lock(&web.held) = held.clone();
    web.turned.send_replace(held.generation);
    let _ = web.incoming.send(Incoming::Renewed(greeting)).await;
    tokio::spawn(listen(Arc::clone(way)));
    Some(held)
}

/// Greets the server as the client greeted it. Gives its answer.
async fn greet_again(server: &mut http::Server, greeting: &Message) -> Option<Message> {
    let Kind::Request { id, method } = greeting.kind() else { return None };
    let routing = http::Routing { method, ..http::Routing::default() };
    let answer = post(server, greeting, routing, Some(id)).await.ok()?;
    let (revision, greeting) = greeted(answer, id).await?;
    server.speak(revision);
    let method = "notifications/initialized";
    let routing = http::Routing { method, ..http::Routing::default() };
    server.post(&message::notification(method, None), routing).await.ok()?;
    Some(greeting)
}

/// The answer to a greeting, and the revision that it names.
async fn greeted(answer: http::Answer, id: &Id) -> Option<(Revision, Message)> {
    #[derive(serde::Deserialize)]
    struct Result {
        #[serde(rename = "protocolVersion")]
        version: String,
    }
    let named = |messages: Vec<Message>| {
        let message = messages.into_iter().find(|message| answers(message, Some(id)))?;
        let result: Result = serde_json::from_str(message.result()?).ok()?;
        Some((Revision::named(&result.version)?, message))
    };
    match answer {
        http::Answer::Accepted => None,
        http::Answer::Messages(messages, _) => named(messages),
        http::Answer::Stream(mut stream) => {
            for _ in 0..limits::SIDE_MESSAGES {
                let event = stream.next().await.ok()??;
                if let Some(revision) = Message::parse_all(&event.data).ok().and_then(named) {
                    return Some(revision);
                }
            }
            None
        }
    }
}

/// Hands on the messages of an answer. True once the one that answers `id` has come.
async fn read(
    web: &Web,
    server: &mut http::Server,
    answer: http::Answer,
    id: Option<&Id>,
) -> Result<bool, Failure> {
    let mut stream = match answer {
        http::Answer::Accepted => return Ok(false),
        http::Answer::Messages(messages, _) => {
            let mut answered = false;
            for message in messages {
                answered |= answers(&message, id);
                let _ = web.incoming.send(Incoming::Message(message, id.cloned())).await;
            }
            return Ok(answered);
        }
        http::Answer::Stream(stream) => *stream,
    };
    let mut resumes_left = limits::RESUMES;
    loop {
        let Some(event) = stream.next().await? else {
            let resumption = stream.resumption().filter(|_| resumes_left > 0);
            let Some((last, pause)) = resumption else { return Ok(false) };
            resumes_left -= 1;
            tokio::time::sleep(pause).await;
            match server.resume(&last).await {
                Ok(again) => stream = again,
                Err(_) => return Ok(false),
            }
            continue;
        };
        if event.data.is_empty() || event.name != "message" {
            continue;
        }
        let messages = Message::parse_all(&event.data)
            .map_err(|why| Failure::Garbled(why.to_string(), String::new()))?;
        let mut answered = false;
        for message in messages {
            answered |= answers(&message, id);
            if web.incoming.send(Incoming::Message(message, id.cloned())).await.is_err() {
                return Ok(answered);
            }
        }
        if answered {
            return Ok(true);
        }
    }
}

fn answers(message: &Message, id: Option<&Id>) -> bool {
    match message.kind() {
        Kind::Response { id: answered } => answered.as_ref() == id,
        _ => false,
    }
}
