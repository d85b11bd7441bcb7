//! A server in both directions at once: what a gateway needs, where [`client`](crate::client) asks one thing at a time.
//!
//! Messages are sent as the bytes they are, and whatever comes is handed on in the order in which it came. Over HTTP
//! every request has a stream of its own; here they all end in one queue, and a request whose stream ends without an
//! answer is told as [`Incoming::Lost`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::error::Failure;
use crate::message::{Id, Kind, Message};
use crate::version::{Era, Revision};
use crate::{http, limits, stdio};

/// What comes from a server.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Something on stdout that is no message: its start, and why.
    Stray(String, String),
    /// The request with this id gets no answer any more.
    Lost(Id, Failure),
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
}

/// The sending end. Clones send to the same server; it is told to leave when [`Uplink::close`] is called or the
/// receiving end is dropped.
#[derive(Clone)]
pub struct Uplink(Arc<Way>);

enum Way {
    Stdio { stdin: tokio::sync::Mutex<Option<ChildStdin>>, pump: AbortHandle },
    Http(Box<Web>),
}

struct Web {
    server: Mutex<http::Server>,
    incoming: mpsc::Sender<Incoming>,
    /// Requests under way, to be broken off.
    open: Mutex<BTreeMap<Id, AbortHandle>>,
}

/// Starts a command and speaks to it; its stderr is passed on. Must be called inside a tokio runtime.
///
/// # Errors
/// Where the command cannot be started.
pub fn start(command: &[String]) -> Result<(Uplink, mpsc::Receiver<Incoming>), Failure> {
    let mut server = stdio::Server::start_with(command, true)?;
    let stdin = tokio::sync::Mutex::new(server.take_stdin());
    let (sender, incoming) = mpsc::channel(limits::QUEUE);
    let pump = tokio::spawn(pump(server, sender)).abort_handle();
    Ok((Uplink(Arc::new(Way::Stdio { stdin, pump })), incoming))
}

/// Speaks to a server behind Streamable HTTP. Opens no connection yet.
pub fn reach(server: http::Server) -> (Uplink, mpsc::Receiver<Incoming>) {
    let (sender, incoming) = mpsc::channel(limits::QUEUE);
    let web = Web { server: Mutex::new(server), incoming: sender, open: Mutex::default() };
    (Uplink(Arc::new(Way::Http(Box::new(web)))), incoming)
}

async fn pump(mut server: stdio::Server, sender: mpsc::Sender<Incoming>) {
    while let Some(item) = server.next().await {
        let item = match item {
            stdio::Incoming::Message(message) => Incoming::Message(message),
            stdio::Incoming::Stray(start, why) => Incoming::Stray(start, why),
            stdio::Incoming::TooLong => Incoming::Stray(
                String::new(),
                format!("it is longer than {} bytes", limits::MESSAGE_BYTES),
            ),
        };
        if sender.send(item).await.is_err() {
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
    /// Sends a message, as it is. `name` is what a modern request is routed by, where its method has such a thing.
    pub async fn send(&self, message: &Message, name: Option<&str>) -> Sending {
        match &*self.0 {
            Way::Stdio { stdin, .. } => {
                let mut stdin = stdin.lock().await;
                let Some(pipe) = stdin.as_mut() else { return Sending::NotSent };
                if stdio::write_line(pipe, message.text()).await.is_err() {
                    *stdin = None;
                    // Half a line is no message.
                    return Sending::NotSent;
                }
                Sending::Sent
            }
            Way::Http(_) => {
                let way = Arc::clone(&self.0);
                let (message, name) = (message.clone(), name.map(str::to_owned));
                let id = match message.kind() {
                    Kind::Request { id, .. } => Some(id.clone()),
                    _ => None,
                };
                let task = tokio::spawn(carry(way, message, name)).abort_handle();
                if let (Way::Http(web), Some(id)) = (&*self.0, id)
                    && !task.is_finished()
                {
                    lock(&web.open).insert(id, task);
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
            lock(&web.server).speak(revision);
            if revision.era == Era::Legacy {
                tokio::spawn(listen(Arc::clone(&self.0)));
            }
        }
    }

    /// Tells the server to leave: a child's stdin is closed, a legacy session is ended.
    pub async fn close(&self) {
        match &*self.0 {
            Way::Stdio { stdin, .. } => *stdin.lock().await = None,
            Way::Http(web) => {
                let server = lock(&web.server).clone();
                let open = std::mem::take(&mut *lock(&web.open));
                open.values().for_each(AbortHandle::abort);
                server.close().await;
            }
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

/// Posts one message and hands on what comes back.
async fn carry(way: Arc<Way>, message: Message, name: Option<String>) {
    let Way::Http(web) = &*way else { return };
    let (id, method) = match message.kind() {
        Kind::Request { id, method } => (Some(id.clone()), method.as_str()),
        Kind::Notification { method } => (None, method.as_str()),
        Kind::Response { .. } => (None, ""),
    };
    let mut server = lock(&web.server).clone();
    let routing = http::Routing { method, name: name.as_deref() };
    let answered = match server.post(message.text(), routing).await {
        Ok(answer) => {
            lock(&web.server).settle(&server);
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
                let _ = web.incoming.send(Incoming::Message(message)).await;
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
            if web.incoming.send(Incoming::Message(message)).await.is_err() {
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

/// Reads the stream of a legacy server on which it speaks unasked, again and again until the session ends.
async fn listen(way: Arc<Way>) {
    let Way::Http(web) = &*way else { return };
    let mut failures = 0;
    while failures < limits::RESUMES && !web.incoming.is_closed() {
        let mut server = lock(&web.server).clone();
        match server.listen().await {
            // It offers none.
            Ok(None) => return,
            Ok(Some(stream)) => {
                let answer = http::Answer::Stream(Box::new(stream));
                if read(web, &mut server, answer, None).await.is_ok() {
                    failures = 0;
                }
            }
            Err(_) => failures += 1,
        }
        failures += 1;
        tokio::time::sleep(limits::LISTEN_PAUSE).await;
    }
}
