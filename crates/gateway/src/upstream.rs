//! One server as the gateway knows it: the connection, what it lists, and how sure that is.
//!
//! A list is a contract only when two readings in a row agree. It is swapped whole, and whoever waits for the swap is
//! told afterwards. A reading that fails, or that is suddenly empty, is a fault of the moment and changes nothing.

mod health;

pub use health::Health;

use crate::catalogue::{Catalogue, Definitions};
use crate::limits;
use crate::mirror;
use crate::trail::Trail;
use contract::Revised;
use mcp::duplex::{self, Incoming, Routed, Sending, Uplink};
use mcp::message::{Id, Kind, Message};
use mcp::{Era, Revision, http};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

/// How a server is reached.
#[derive(Clone)]
pub enum Server {
    /// A program that is started, and started again when it ends.
    Command(Vec<String>),
    /// An endpoint.
    Web(Box<http::Server>),
}

/// What became of a request.
#[derive(Debug)]
pub enum Fate {
    /// It was answered.
    Answered(Message),
    /// It left, and no answer will come; why.
    Lost(String),
    /// The server turned it away before it did anything with it; why.
    Refused(String),
    /// It did not leave; why.
    NotSent(String),
}

/// Nothing left: the server is not there. Why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotSent(pub String);

/// What a server says that answers no question of the gateway.
#[derive(Debug)]
pub enum FromServer {
    /// A message for the client, and the request on whose own stream it came, where it came on one.
    Message(Message, Option<Id>),
    /// A line that is no message: its start, and why.
    Stray(String, String),
    /// A request of the client, other than a call, that will not be answered.
    Lost(Id, String),
    /// The server ended; how.
    Ended(String),
}

/// How the client and the server speak to each other, learned from the client.
#[derive(Debug, Clone, Default)]
pub struct Speech {
    /// The era, once the client has shown it.
    pub era: Option<Era>,
    /// The `_meta` of the client's modern requests, raw: the gateway's own requests carry it too.
    pub meta: Option<String>,
    /// The client's `initialize`, to greet a server that was started again.
    pub initialize: Option<Message>,
    /// The revision, once it is settled.
    pub revision: Option<Revision>,
    /// The version that the server names.
    pub server_version: Option<String>,
    /// The handshake is complete.
    pub initialized: bool,
}

/// What is known of the list.
#[derive(Default)]
struct Known {
    catalogue: Option<Arc<Catalogue>>,
    verified: Option<Instant>,
    /// Why the last reading failed.
    fault: Option<String>,
    trails: HashMap<String, Trail>,
}

/// One server.
pub struct Upstream {
    name: String,
    server: Server,
    definitions: Arc<Definitions>,
    link: Mutex<Option<Uplink>>,
    waiting: Mutex<BTreeMap<Id, oneshot::Sender<Fate>>>,
    out: mpsc::Sender<FromServer>,
    speech: Mutex<Speech>,
    known: Mutex<Known>,
    reading: tokio::sync::Mutex<()>,
    connecting: tokio::sync::Mutex<()>,
    /// Starts in a row after which nothing was answered.
    tries: AtomicU32,
    starts: AtomicU32,
    last_end: Mutex<Option<String>>,
    this: Weak<Upstream>,
    moved: watch::Sender<u64>,
    own: String,
    count: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Upstream {
    /// A server that is not connected yet. What it says unasked comes from the receiver.
    pub fn new(
        name: String,
        server: Server,
        definitions: Arc<Definitions>,
    ) -> (Arc<Upstream>, mpsc::Receiver<FromServer>) {
        let (out, incoming) = mpsc::channel(limits::EVENTS);
        let upstream = Arc::new_cyclic(|this| Upstream {
            this: Weak::clone(this),
            name,
            server,
            definitions,
            link: Mutex::default(),
            waiting: Mutex::default(),
            out,
            speech: Mutex::default(),
            known: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            tries: AtomicU32::new(0),
            starts: AtomicU32::new(0),
            last_end: Mutex::default(),
            moved: watch::Sender::new(0),
            // Ids of the gateway's own requests cannot be those of a client.
            own: format!("steadfast-{}-", uuid::Uuid::new_v4().simple()),
            count: AtomicU64::new(0),
        });
        (upstream, incoming)
    }

    /// The name that people know it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True where it is a program on a pipe.
    pub fn is_pipe(&self) -> bool {
        matches!(self.server, Server::Command(_))
    }

    /// How client and server speak.
    pub fn speech(&self) -> Speech {
        lock(&self.speech).clone()
    }

    /// Changes how client and server speak.
    pub fn learn(&self, change: impl FnOnce(&mut Speech)) {
        change(&mut lock(&self.speech));
    }

    /// Names the revision that the handshake settled.
    pub fn speak(&self, revision: Revision) {
        lock(&self.speech).revision = Some(revision);
        if let Some(link) = &*lock(&self.link) {
            link.speak(revision);
        }
    }

    /// Counts the swaps of the list.
    pub fn moves(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// The list as it was last read whole.
    pub fn catalogue(&self) -> Option<Arc<Catalogue>> {
        lock(&self.known).catalogue.clone()
    }

    /// Why the last reading failed, where it did.
    pub fn fault(&self) -> Option<String> {
        lock(&self.known).fault.clone()
    }

    /// How long ago the list was last read.
    pub fn age(&self) -> Option<Duration> {
        lock(&self.known).verified.map(|at| at.elapsed())
    }

    /// The revisions that may run a call of this tool: the listed one, and, while a rolling deploy alternates, all
    /// that came and went lately.
    pub fn live(&self, tool: &str) -> Vec<Arc<Revised>> {
        let known = lock(&self.known);
        let listed = known.catalogue.as_ref().map_or(&[][..], |catalogue| catalogue.tool(tool));
        let mut live = listed.to_vec();
        if let Some(trail) = known.trails.get(tool).filter(|trail| trail.alternates) {
            for (revised, at) in &trail.seen {
                let fresh = at.elapsed() < limits::ROLLING;
                if fresh && !live.iter().any(|known| known.digest() == revised.digest()) {
                    live.push(Arc::clone(revised));
                }
            }
        }
        live
    }

    /// True where the tool's definition alternates.
    pub fn alternates(&self, tool: &str) -> bool {
        lock(&self.known).trails.get(tool).is_some_and(|trail| trail.alternates)
    }

    /// Sends a message of the client as it is, and forgets it.
    pub async fn forward(&self, message: &Message) -> Result<(), NotSent> {
        let link = self.connected().await?;
        match link.send(message, self.routed(message)).await {
            Sending::Sent => Ok(()),
            Sending::NotSent => Err(NotSent("the server no longer reads".into())),
        }
    }

    /// Sends a request; what becomes of it comes from the receiver.
    pub async fn ask(&self, message: &Message) -> Result<oneshot::Receiver<Fate>, NotSent> {
        let Kind::Request { id, .. } = message.kind() else {
            return Err(NotSent("only a request can be answered".into()));
        };
        let link = self.connected().await?;
        let (sender, fate) = oneshot::channel();
        lock(&self.waiting).insert(id.clone(), sender);
        match link.send(message, self.routed(message)).await {
            Sending::Sent => Ok(fate),
            Sending::NotSent => {
                lock(&self.waiting).remove(id);
                Err(NotSent("the server no longer reads".into()))
            }
        }
    }

    /// Nobody waits for the answer to a request any more. Where it has a stream of its own that is broken off, which
    /// is how it is cancelled; elsewhere a server that was told may still answer for a while.
    pub fn break_off(&self, id: &Id) {
        let pause = match &*lock(&self.link) {
            Some(link) if self.era() == Era::Modern && link.break_off(id) => Duration::ZERO,
            _ => limits::WITHDRAWN,
        };
        if !lock(&self.waiting).contains_key(id) {
            return;
        }
        let (upstream, id) = (Weak::clone(&self.this), id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let Some(upstream) = upstream.upgrade() else { return };
            let waiter = lock(&upstream.waiting).remove(&id);
            if let Some(waiter) = waiter {
                let _ = waiter.send(Fate::Lost("it was cancelled".to_owned()));
            }
        });
    }

    /// True where a request is cancelled by closing its stream rather than by a message.
    pub fn cancels_by_closing(&self) -> bool {
        !self.is_pipe() && self.era() == Era::Modern
    }

    /// The era, legacy until the client shows another.
    pub fn era(&self) -> Era {
        lock(&self.speech).era.unwrap_or(Era::Legacy)
    }

    /// What a modern request is mirrored into headers by.
    fn routed(&self, message: &Message) -> Routed {
        if !self.cancels_by_closing() {
            return Routed::default();
        }
        let listed = |tool: &str| {
            lock(&self.known).catalogue.as_ref().and_then(|c| c.tool(tool).first().cloned())
        };
        mirror::routed(message, listed)
    }

    /// Asks a question of the gateway's own and waits for the raw result. `Err` is a sentence.
    async fn own(&self, method: &str, params: &str) -> Result<Message, String> {
        let id = Id::Text(format!("{}{}", self.own, self.count.fetch_add(1, Ordering::Relaxed)));
        let text = mcp::message::request(&id, method, Some(params));
        let message = Message::parse(&text).map_err(|why| why.to_string())?;
        let fate = self.ask(&message).await.map_err(|why| why.to_string())?;
        match timeout(limits::PAGE, fate).await {
            Ok(Ok(Fate::Answered(answer))) => Ok(answer),
            Ok(Ok(Fate::Lost(why) | Fate::Refused(why) | Fate::NotSent(why))) => Err(why),
            Ok(Err(_)) => Err("the connection ended".into()),
            Err(_) => {
                lock(&self.waiting).remove(&id);
                Err(format!("the server did not answer {method} within {:?}", limits::PAGE))
            }
        }
    }

    /// Makes sure that the list is no older than `age`; reads it again where it is. `Err` says why that failed.
    pub async fn verified(&self, age: Duration) -> Result<(), String> {
        let asked = Instant::now();
        let fresh =
            |known: &Known| known.verified.is_some_and(|at| at >= asked || at.elapsed() < age);
        if fresh(&lock(&self.known)) {
            return Ok(());
        }
        let _one = self.reading.lock().await;
        // Someone else read it while this call waited.
        if fresh(&lock(&self.known)) {
            return Ok(());
        }
        // What is read is as old as its beginning: a list that was under way when this was asked may be the old one.
        let began = Instant::now();
        let read = self.settle(began).await;
        if let Err(why) = &read {
            lock(&self.known).fault = Some(why.clone());
        }
        read
    }

    /// Reads the list until two readings agree, and swaps it.
    async fn settle(&self, began: Instant) -> Result<(), String> {
        let mut readings: Vec<Arc<Catalogue>> = Vec::new();
        let before = self.catalogue();
        for _ in 0..limits::READINGS {
            let pages = self.walk().await?;
            if let Some(before) =
                before.as_ref().filter(|b| readings.is_empty() && b.is_text(&pages))
            {
                let same = Arc::clone(before);
                self.swap(same, &[], began);
                return Ok(());
            }
            let catalogue = Catalogue::read(pages, &self.definitions)?;
            if catalogue.is_empty() && before.as_ref().is_some_and(|before| !before.is_empty()) {
                return Err("the server lists no tools any more, which counts as a fault until it lists some".into());
            }
            let catalogue = Arc::new(catalogue);
            let unmoved = before.as_ref().is_some_and(|b| b.digest() == catalogue.digest());
            let agreed = readings.last().is_some_and(|last| last.digest() == catalogue.digest());
            readings.push(Arc::clone(&catalogue));
            if agreed || (unmoved && readings.len() == 1) {
                self.swap(catalogue, &readings, began);
                return Ok(());
            }
        }
        // Two revisions that take turns are replicas behind one address, not a list in motion.
        let Some(last) = readings.last().cloned() else {
            return Err("the list was not read".into());
        };
        let returned = readings.iter().filter(|r| r.digest() == last.digest()).count() > 1;
        if returned {
            self.swap(last, &readings, began);
            return Ok(());
        }
        Err(format!("the list of tools did not hold still in {} readings", limits::READINGS))
    }

    /// One reading of all pages.
    async fn walk(&self) -> Result<Vec<Arc<str>>, String> {
        let meta = self.speech().meta;
        let (mut pages, mut bytes) = (Vec::new(), 0);
        let mut cursor: Option<String> = None;
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let mut params = serde_json::Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".into(), cursor.clone().into());
            }
            if let Some(meta) = meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok()) {
                params.insert("_meta".into(), meta);
            }
            let answer = self.own("tools/list", &Value::Object(params).to_string()).await?;
            let page = answer.outcome().map_err(|error| {
                format!("the server answers tools/list with error {}", error.code)
            })?;
            bytes += page.len();
            pages.push(Arc::from(page));
            let at = format!("tools/list page {}", pages.len());
            let next = mcp::ListPage::read(page, &at)
                .map_err(|problems| {
                    problems.first().map_or(at.clone(), |p| format!("{}: {}", p.place, p.sentence))
                })?
                .next;
            let Some(next) = next else { return Ok(pages) };
            if cursors.contains(&next) {
                return Err(format!(
                    "{at} gives a cursor that an earlier page gave: the list goes round in a circle"
                ));
            }
            if pages.len() >= limits::PAGES || bytes > limits::LIST_BYTES {
                return Err(format!("{at} is not the last, and no list is that long"));
            }
            cursors.push(next.clone());
            cursor = Some(next);
        }
    }

    /// Puts a list in place of the last one, and tells who waits for it.
    fn swap(&self, catalogue: Arc<Catalogue>, readings: &[Arc<Catalogue>], began: Instant) {
        let now = Instant::now();
        let mut known = lock(&self.known);
        let old = known.catalogue.clone();
        let first = old.is_none();
        for list in old.iter().chain(readings) {
            for (name, revisions) in list.tools() {
                let trail = known.trails.entry(name.clone()).or_default();
                revisions.iter().for_each(|revised| trail.saw(revised, now));
            }
        }
        for (name, revisions) in catalogue.tools() {
            if let Some(trail) = known.trails.get_mut(name) {
                revisions.iter().for_each(|revised| trail.saw(revised, now));
            }
        }
        let moved = old.as_ref().is_none_or(|old| old.digest() != catalogue.digest());
        known.catalogue = Some(catalogue);
        known.verified = Some(began);
        known.fault = None;
        drop(known);
        if moved && !first {
            self.moved.send_modify(|count| *count += 1);
        }
    }

    /// The connection; a server that ended is started again and greeted as the client greeted it.
    async fn connected(&self) -> Result<Uplink, NotSent> {
        if let Some(link) = lock(&self.link).clone() {
            return Ok(link);
        }
        let _one = self.connecting.lock().await;
        if let Some(link) = lock(&self.link).clone() {
            return Ok(link);
        }
        let tries = self.tries.fetch_add(1, Ordering::Relaxed);
        if tries >= limits::RESTARTS {
            return Err(NotSent(format!(
                "the server ended {tries} times in a row and is not started again"
            )));
        }
        if tries > 0 {
            tokio::time::sleep(limits::RESTART_PAUSE * tries).await;
        }
        let (link, incoming) = match &self.server {
            Server::Command(command) => {
                duplex::start(command).map_err(|why| NotSent(why.to_string()))?
            }
            Server::Web(server) => duplex::reach((**server).clone()),
        };
        // Without a handshake the first request already names its revision.
        let revision = lock(&self.speech).revision.filter(|r| r.era == Era::Modern);
        if let Some(revision) = revision {
            link.speak(revision);
        }
        let greeting = self.greet(link, incoming).await?;
        *lock(&self.link) = Some(greeting.clone());
        self.starts.fetch_add(1, Ordering::Relaxed);
        Ok(greeting)
    }

    /// Greets a server that was started again. What it says until then is its answer to the greeting.
    async fn greet(
        &self,
        link: Uplink,
        mut incoming: mpsc::Receiver<Incoming>,
    ) -> Result<Uplink, NotSent> {
        let speech = self.speech();
        if let Some(initialize) = speech.initialize.filter(|_| speech.initialized) {
            let id = Id::Text(format!("{}greeting", self.own));
            let text = mcp::message::request(&id, "initialize", initialize.params());
            let greeting = Message::parse(&text).map_err(|why| NotSent(why.to_string()))?;
            link.send(&greeting, Routed::default()).await;
            let answered = async {
                while let Some(item) = incoming.recv().await {
                    match item {
                        Incoming::Message(message, _) if matches!(message.kind(), Kind::Response { id: Some(i) } if *i == id) =>
                        {
                            return message.outcome().map(|_| ()).map_err(|error| {
                                NotSent(format!(
                                    "the server refuses to be greeted again: error {}",
                                    error.code
                                ))
                            });
                        }
                        Incoming::Ended(_) => break,
                        _ => {}
                    }
                }
                Err(NotSent("the server ended again while it was greeted".into()))
            };
            timeout(limits::HANDSHAKE, answered).await.map_err(|_| {
                NotSent("the server that was started again does not answer".into())
            })??;
            let text = mcp::message::notification("notifications/initialized", None);
            if let Ok(done) = Message::parse(&text) {
                link.send(&done, Routed::default()).await;
            }
        }
        Ok(self.pumped(link, incoming))
    }

    /// Starts handing on what the server says.
    fn pumped(&self, link: Uplink, incoming: mpsc::Receiver<Incoming>) -> Uplink {
        tokio::spawn(pump(Weak::clone(&self.this), self.out.clone(), incoming));
        link
    }

    /// The connection ended: nobody who waits will be answered.
    fn ended(&self, why: &str) {
        *lock(&self.link) = None;
        *lock(&self.last_end) = Some(why.to_owned());
        lock(&self.known).verified = None;
        for waiter in std::mem::take(&mut *lock(&self.waiting)).into_values() {
            let _ = waiter.send(Fate::Lost(why.to_owned()));
        }
    }

    /// Tells the server to leave.
    pub async fn close(&self) {
        let link = lock(&self.link).clone();
        if let Some(link) = link {
            link.close().await;
        }
    }
}

/// Hands on what a server says until its connection ends.
async fn pump(
    upstream: Weak<Upstream>,
    out: mpsc::Sender<FromServer>,
    mut incoming: mpsc::Receiver<Incoming>,
) {
    while let Some(item) = incoming.recv().await {
        let Some(upstream) = upstream.upgrade() else { return };
        let on = match item {
            Incoming::Message(message, about) => {
                let waiter = match message.kind() {
                    Kind::Response { id: Some(id) } => lock(&upstream.waiting).remove(id),
                    _ => None,
                };
                match waiter {
                    Some(waiter) => {
                        upstream.tries.store(0, Ordering::Relaxed);
                        let _ = waiter.send(Fate::Answered(message));
                        continue;
                    }
                    None => FromServer::Message(message, about),
                }
            }
            Incoming::Lost(id, failure) => {
                // Whatever it was, the list has to be looked at before it counts again.
                lock(&upstream.known).verified = None;
                let why = failure.to_string();
                let waiter = lock(&upstream.waiting).remove(&id);
                match waiter {
                    Some(waiter) => {
                        let _ = waiter.send(if failure.sent_nothing() {
                            Fate::NotSent(why)
                        } else if failure.turned_away() {
                            Fate::Refused(why)
                        } else {
                            Fate::Lost(why)
                        });
                        continue;
                    }
                    None => FromServer::Lost(id, why),
                }
            }
            Incoming::Renewed => {
                lock(&upstream.known).verified = None;
                continue;
            }
            Incoming::Stray(start, why) => FromServer::Stray(start, why),
            Incoming::Ended(how) => {
                let how = how.unwrap_or_else(|| "it closed the connection".to_owned());
                upstream.ended(&how);
                FromServer::Ended(how)
            }
        };
        if out.send(on).await.is_err() {
            return;
        }
    }
}
