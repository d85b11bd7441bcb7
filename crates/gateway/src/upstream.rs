//! One server as the gateway knows it: the connection, what it lists, and how sure that is.
//!
//! A list is a contract only when two readings in a row agree. It is swapped whole, and whoever waits for the swap is
//! told afterwards. A reading that fails, or that is suddenly empty, is a fault of the moment and changes nothing.

mod greeting;
mod health;

pub use health::Health;

mod reading;
mod restart;
mod server;

pub use server::{Connect, Server};

use crate::catalogue::{Catalogue, Definitions};
use crate::limits;
use crate::mirror;
use crate::trail::Trails;
use contract::Revised;
use mcp::duplex::{self, Incoming, Routed, Sending, Uplink};
use mcp::message::{Id, Kind, Message};
use mcp::{Era, Revision};
use restart::Restart;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout};

/// A question of the gateway's own. Nothing of it stays open once nobody waits for its answer.
struct Asking<'a> {
    upstream: &'a Upstream,
    id: &'a Id,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let unanswered = lock(&self.upstream.waiting).remove(self.id).is_some();
        if unanswered && let Some(link) = lock(&self.upstream.link).clone() {
            link.break_off(self.id);
        }
    }
}

/// What became of a request.
#[derive(Debug)]
pub enum Fate {
    /// It was answered.
    Answered(Message),
    /// It left, and no answer will come; why.
    Lost(String),
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
    /// It was greeted again, and instructs its clients so now.
    Greeted(Option<String>),
    /// What the server said for a while did not come here: the list has to be looked at again.
    Gap,
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
    /// What the server told the client to heed, when it was greeted.
    pub instructions: Option<String>,
    /// The handshake is complete.
    pub initialized: bool,
}

/// What is known of the list.
#[derive(Default)]
struct Known {
    catalogue: Option<Arc<Catalogue>>,
    verified: Option<Instant>,
    /// The connection that it was read over.
    epoch: u64,
    /// When the reading began that is under way.
    reading: Option<Instant>,
    /// Why the last reading failed.
    fault: Option<String>,
    /// The last reading that failed.
    failed: Option<reading::Failed>,
    trails: Trails,
}

/// One server.
pub struct Upstream {
    name: String,
    server: Server,
    definitions: Arc<Definitions>,
    link: Mutex<Option<Uplink>>,
    /// Raised whenever the connection is another one, or may lead to another server: what was read before says nothing
    /// about what is there now.
    epoch: AtomicU64,
    /// The session is ending: nothing is started any more.
    closing: AtomicBool,
    waiting: Mutex<BTreeMap<Id, oneshot::Sender<Fate>>>,
    /// Headers for arguments that clients sent with requests under way.
    carried: Mutex<BTreeMap<Id, Vec<(String, String)>>>,
    out: mpsc::Sender<FromServer>,
    speech: Mutex<Speech>,
    known: Mutex<Known>,
    reading: tokio::sync::Mutex<()>,
    connecting: tokio::sync::Mutex<()>,
    restart: Mutex<Restart>,
    starts: AtomicU32,
    last_end: Mutex<Option<String>>,
    /// Other instructions than its client was given, in a sentence.
    instructs: Mutex<Option<String>>,
    this: Weak<Upstream>,
    moved: watch::Sender<u64>,
    own: String,
    count: AtomicU64,
    /// How long one answer to a question of the gateway's own may take.
    patience: Duration,
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
        patience: Option<Duration>,
    ) -> (Arc<Upstream>, mpsc::Receiver<FromServer>) {
        let (out, incoming) = mpsc::channel(limits::EVENTS);
        let upstream = Arc::new_cyclic(|this| Upstream {
            this: Weak::clone(this),
            name,
            server,
            definitions,
            link: Mutex::default(),
            epoch: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            waiting: Mutex::default(),
            carried: Mutex::default(),
            out,
            speech: Mutex::default(),
            known: Mutex::default(),
            reading: tokio::sync::Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            restart: Mutex::default(),
            starts: AtomicU32::new(0),
            last_end: Mutex::default(),
            instructs: Mutex::default(),
            moved: watch::Sender::new(0),
            // Ids of the gateway's own requests cannot be those of a client.
            own: format!("steadfast-{}-", uuid::Uuid::new_v4().simple()),
            count: AtomicU64::new(0),
            patience: patience.unwrap_or(limits::PAGE),
        });
        (upstream, incoming)
    }

    /// The name that people know it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True where it is a program on a pipe.
    pub fn is_pipe(&self) -> bool {
        matches!(self.server, Server::Command(_) | Server::Here(_))
    }

    /// By what the server knows who asks, where the gateway was told: a text that must not be shown.
    pub fn credentials(&self) -> Option<String> {
        match &self.server {
            Server::Command(words) => {
                (mcp::shown_command(words) != *words).then(|| words.join("\n"))
            }
            Server::Web(server) => server.credentials(),
            Server::Here(_) => None,
        }
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
    /// that came and went since it began.
    pub fn live(&self, tool: &str) -> Vec<Arc<Revised>> {
        let known = lock(&self.known);
        let listed = known.catalogue.as_ref().map_or(&[][..], |catalogue| catalogue.tool(tool));
        let mut live = listed.to_vec();
        if let Some(trail) = known.trails.get(tool).filter(|trail| trail.alternates) {
            for (revised, _) in &trail.seen {
                if !live.iter().any(|known| known.digest() == revised.digest()) {
                    live.push(Arc::clone(revised));
                }
            }
        }
        live
    }

    /// True where the list has the name more than once.
    pub fn lists_twice(&self, tool: &str) -> bool {
        lock(&self.known).catalogue.as_ref().is_some_and(|list| list.tool(tool).len() > 1)
    }

    /// What is wrong with the definition of a tool that is listed and cannot be read.
    pub fn flaw(&self, tool: &str) -> Option<String> {
        let catalogue = self.catalogue()?;
        let mut flaws = catalogue.flaws().iter();
        flaws.find(|flaw| flaw.name.as_deref() == Some(tool)).map(|flaw| flaw.why.clone())
    }

    /// True where the tool's definition alternates.
    pub fn alternates(&self, tool: &str) -> bool {
        lock(&self.known).trails.get(tool).is_some_and(|trail| trail.alternates)
    }

    /// The tools whose definitions alternate; not those that one list has twice, which no time settles.
    pub fn alternating(&self) -> Vec<String> {
        let known = lock(&self.known);
        let twice =
            |tool: &str| known.catalogue.as_ref().is_some_and(|list| list.tool(tool).len() > 1);
        let trails = known.trails.iter().filter(|(tool, t)| t.alternates && !twice(tool));
        trails.map(|(tool, _)| tool.clone()).collect()
    }

    /// A person took a definition for granted at this time, by the clock: where it is the one that is listed and it
    /// alternated by then, it counts as settled until another one is read. True where that is news.
    pub fn hold_still(&self, tool: &str, digest: &str, at: u64) -> bool {
        let mut known = lock(&self.known);
        let listed = known.catalogue.as_ref().map_or(&[][..], |catalogue| catalogue.tool(tool));
        let meant = matches!(listed, [one] if one.digest() == digest);
        let trail = known.trails.get_mut(tool).filter(|trail| meant && trail.alternates);
        let Some(trail) = trail.filter(|trail| trail.since <= at) else { return false };
        trail.alternates = false;
        true
    }

    /// Sends a message of the client as it is, and forgets it.
    pub async fn forward(&self, message: &Message) -> Result<(), NotSent> {
        let link = self.connected().await?;
        match link.send(message, self.routed(message)).await {
            Sending::Sent => Ok(()),
            Sending::NotSent => Err(NotSent("the server no longer reads".into())),
        }
    }

    /// Which connection this is: what was decided about one must not be sent over another.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Sends a request over the connection that it was decided about, with headers of its own where it goes over HTTP;
    /// what becomes of it comes from the receiver.
    pub async fn ask_in(
        &self,
        epoch: u64,
        message: &Message,
        headers: Vec<(String, String)>,
    ) -> Result<oneshot::Receiver<Fate>, NotSent> {
        let link = lock(&self.link).clone();
        match link {
            Some(link) if self.epoch() == epoch => self.ask_over(&link, message, headers).await,
            _ => Err(NotSent("the connection to the server is another one by now".into())),
        }
    }

    /// Sends a request; what becomes of it comes from the receiver.
    pub async fn ask(&self, message: &Message) -> Result<oneshot::Receiver<Fate>, NotSent> {
        let link = self.connected().await?;
        self.ask_over(&link, message, Vec::new()).await
    }

    async fn ask_over(
        &self,
        link: &Uplink,
        message: &Message,
        headers: Vec<(String, String)>,
    ) -> Result<oneshot::Receiver<Fate>, NotSent> {
        let Kind::Request { id, .. } = message.kind() else {
            return Err(NotSent("only a request can be answered".into()));
        };
        let (sender, fate) = oneshot::channel();
        lock(&self.waiting).insert(id.clone(), sender);
        match link.send(message, Routed { headers, ..self.routed(message) }).await {
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
        let mut routed = mirror::routed(message, listed);
        if let Kind::Request { id, .. } = message.kind()
            && let Some(carried) = lock(&self.carried).get(id)
        {
            // What the definition marks is written anew, from the arguments that are sent.
            let new = |name: &str| !routed.params.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
            let more: Vec<_> = carried.iter().filter(|(name, _)| new(name)).cloned().collect();
            routed.params.extend(more);
        }
        routed
    }

    /// Takes down which headers for arguments the client sent with a request; none once it is over.
    pub fn carry(&self, id: &Id, headers: Vec<(String, String)>) {
        let mut carried = lock(&self.carried);
        if headers.is_empty() {
            carried.remove(id);
        } else {
            carried.insert(id.clone(), headers);
        }
    }

    /// Asks a question of the gateway's own and waits for the raw result. `Err` is a sentence.
    async fn own(&self, method: &str, params: &str) -> Result<Message, String> {
        let id = Id::Text(format!("{}{}", self.own, self.count.fetch_add(1, Ordering::Relaxed)));
        let text = mcp::message::request(&id, method, Some(params));
        let message = Message::parse(&text).map_err(|why| why.to_string())?;
        // Whoever asked may stop waiting at any moment.
        let _asking = Asking { upstream: self, id: &id };
        // A server that no longer reads must not hold up the sending either.
        let asked = async {
            let fate = self.ask(&message).await.map_err(|why| why.to_string())?;
            fate.await.map_err(|_| "the connection ended".to_owned())
        };
        match timeout(self.patience, asked).await {
            Ok(Ok(Fate::Answered(answer))) => Ok(answer),
            Ok(Ok(Fate::Lost(why) | Fate::NotSent(why)) | Err(why)) => Err(why),
            Err(_) => Err(format!("the server did not answer {method} within {:?}", self.patience)),
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
        if self.closing.load(Ordering::Acquire) {
            return Err(NotSent("the session is ending".into()));
        }
        let (wait, tries) = {
            let restart = lock(&self.restart);
            (restart.wait(Instant::now()), restart.tries)
        };
        if wait > limits::RESTART_WAIT {
            let seconds = wait.as_secs() + 1;
            return Err(NotSent(format!(
                "the server ended {tries} times in a row and is started again in {seconds} s at the earliest"
            )));
        }
        tokio::time::sleep(wait).await;
        lock(&self.restart).begin(Instant::now());
        let (link, incoming) = match &self.server {
            Server::Command(command) => {
                duplex::start(command).map_err(|why| NotSent(why.to_string()))?
            }
            Server::Web(server) => duplex::reach((**server).clone()),
            Server::Here(pipes) => pipes.connect().map_err(NotSent)?,
        };
        // Without a handshake the first request already names its revision.
        let revision = lock(&self.speech).revision.filter(|r| r.era == Era::Modern);
        if let Some(revision) = revision {
            link.speak(revision);
        }
        let incoming = self.greet(&link, incoming).await?;
        // Known before anything that the server says is handed on: its end among it.
        *lock(&self.link) = Some(link.clone());
        self.renewed();
        tokio::spawn(pump(Weak::clone(&self.this), self.out.clone(), incoming));
        if self.starts.fetch_add(1, Ordering::Relaxed) > 0 {
            let out = self.out.clone();
            // Where nobody listens any more, nobody has to look again.
            tokio::spawn(async move { out.send(FromServer::Gap).await });
        }
        Ok(link)
    }

    /// What was read so far says nothing about what is there now.
    fn renewed(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
        lock(&self.known).verified = None;
    }

    /// The connection ended: nobody who waits will be answered.
    fn ended(&self, why: &str) {
        *lock(&self.link) = None;
        *lock(&self.last_end) = Some(why.to_owned());
        self.renewed();
        self.settle_waiters(why);
    }

    fn settle_waiters(&self, why: &str) {
        for waiter in std::mem::take(&mut *lock(&self.waiting)).into_values() {
            let _ = waiter.send(Fate::Lost(why.to_owned()));
        }
    }

    /// Tells the server to leave, waits a while for it, and ends it. Nothing is started any more, and nobody waits for
    /// an answer afterwards.
    pub async fn close(&self) {
        self.closing.store(true, Ordering::Release);
        let link = lock(&self.link).clone();
        let Some(link) = link else { return self.settle_waiters("the session ended") };
        link.close().await;
        let left = async {
            while lock(&self.link).is_some() && self.is_pipe() {
                tokio::time::sleep(limits::LEFT).await;
            }
        };
        let stays = timeout(limits::LEAVE, left).await.is_err();
        // Ends a program that does not leave, with everything that it started.
        *lock(&self.link) = None;
        link.end();
        self.settle_waiters("the session ended");
        if stays {
            // It says nothing any more, its end included. Where nobody listens, nobody waits for it.
            let _ = self.out.try_send(FromServer::Ended("it did not leave".to_owned()));
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
                        lock(&upstream.restart).answered(Instant::now());
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
                        } else {
                            // A status among them: it is a word of the server, and proves nothing.
                            Fate::Lost(why)
                        });
                        continue;
                    }
                    None => FromServer::Lost(id, why),
                }
            }
            Incoming::Renewed(greeting) => {
                upstream.renewed();
                let greeted = upstream.greeted_again(greeting.result().unwrap_or_default());
                if out.send(greeted).await.is_err() {
                    return;
                }
                FromServer::Gap
            }
            Incoming::Listening => FromServer::Gap,
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
