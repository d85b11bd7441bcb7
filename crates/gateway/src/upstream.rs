//! One server as the gateway knows it: the connection, what it lists, and how sure that is.
//!
//! A list is a contract only when two readings in a row agree. It is swapped whole, and whoever waits for the swap is
//! told afterwards. A reading that fails, or that is suddenly empty, is a fault of the moment and changes nothing.

mod greeting;
mod health;
mod link;

pub use health::Health;
pub use link::Epoch;

mod reading;
mod restart;
mod server;

pub use server::{Connect, Server};

use crate::catalogue::{Catalogue, Definitions};
use crate::limits;
use crate::mirror;
use crate::trail::Trails;
use contract::Revised;
use mcp::duplex::{Incoming, Routed, Sending};
use mcp::message::{Id, Kind, Message};
use mcp::{Era, Revision};
use restart::Restart;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// A question of the gateway's own. Nothing of it stays open once nobody waits for its answer.
struct Asking<'a> {
    upstream: &'a Upstream,
    id: &'a Id,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let unanswered = lock(&self.upstream.waiting).remove(self.id).is_some();
        if unanswered && let Some(link) = lock(&self.upstream.link).up.clone() {
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

/// Nothing left. Why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// The server is not there.
    #[error("{0}")]
    Unreachable(String),
    /// It was meant for a connection that another one took the place of.
    #[error("the connection to the server is another one by now")]
    Moved,
}

impl NotSent {
    fn why(why: impl Into<String>) -> NotSent {
        NotSent::Unreachable(why.into())
    }
}

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
    /// The connection that it was read over, all of it.
    epoch: Epoch,
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
    link: Mutex<link::Link>,
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
            Server::Here(pipes) => pipes.credentials(),
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
        if let Some(link) = &lock(&self.link).up {
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
        self.live_over(tool).0
    }

    /// The same, and the connection over which they were listed: both are of one list.
    pub fn live_over(&self, tool: &str) -> (Vec<Arc<Revised>>, Epoch) {
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
        (live, known.epoch)
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
        let (link, _) = self.connected().await?;
        match link.send(message, self.routed(message)).await {
            Sending::Sent => Ok(()),
            Sending::NotSent | Sending::Moved => Err(NotSent::why("the server no longer reads")),
        }
    }

    /// Nobody waits for the answer to a request any more. Where it has a stream of its own that is broken off, which
    /// is how it is cancelled; elsewhere a server that was told may still answer for a while.
    pub fn break_off(&self, id: &Id) {
        let pause = match &lock(&self.link).up {
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
                // What was read before was read over another connection, which its epoch says.
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
