//! One client and one server: what passes as it is, what is read, and what each side is told.

mod changes;
mod clerk;
mod grants;
mod greeting;
mod hub;
mod instructions;
mod kept;
mod leaving;
mod list;
mod observe;
mod outgoing;
mod record;
mod tally;
mod turns;

pub(crate) use clerk::{Following, Writing};
pub(crate) use hub::settle_gone;
pub use hub::{Believed, Bound, Hub, Settings};
pub use tally::{LastCall, Tally};

pub use outgoing::{Opening, Outgoing};
pub(crate) use record::Standing;

use crate::call::{About, Call, Deferred, Later, Owed, Proven, Relied, Rounds};
use crate::catalogue::Catalogue;
use crate::compare::Comparisons;
use crate::event::{self, Event};
use crate::limits;
use crate::upstream::{FromServer, Upstream};
use crate::view::View;
use contract::admission::Adapt;
use mcp::Era;
use mcp::message::{self, Id, Kind, Message};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{NewSession, SessionEnd, SessionId, Store};
use tokio::sync::mpsc;
use tokio::time::Instant;
use turns::Queued;

/// The error of a request that the server can no longer answer. Outside of the range that the protocol reserves.
const SERVER_ENDED: i64 = -31_001;
/// The error of a client that asks for too much at once, or twice by one id.
const TOO_MUCH: i64 = -31_002;
const INVALID_PARAMS: i64 = -32_602;

/// Where a request says under which token its progress is told.
const PROGRESS: &[&str] = &["_meta", "progressToken"];

/// The server heard of a subscription, and tells from now on.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// A request of the client that is under way.
enum Open {
    Plain,
    /// The gateway answers it, and has not asked the server for it.
    Own,
    Initialize,
    /// What the server is and can do, asked without a handshake.
    Discover,
    /// The server's own list, of which nothing is known: when it was asked for, and whether from its beginning.
    List(Instant, bool),
    /// Which tasks there are.
    Tasks,
    /// A question about a call that runs as a task.
    Task(Arc<Deferred>, About),
    /// A stream of notices.
    Listen {
        /// It asked for those about tools.
        tools: bool,
        /// The server heard of it: nothing may be said on it before.
        acknowledged: bool,
        /// The digest of the list that it was last told of.
        told: Option<String>,
    },
    Call {
        withdrawn: bool,
        /// It is let end where the client leaves.
        finishes: bool,
    },
}

impl Open {
    /// True where it is answered by whoever carries it, once, and by no message of the server.
    fn is_carried(&self) -> bool {
        matches!(self, Open::Own | Open::Call { .. })
    }
}

/// One client and one server.
pub struct Session {
    hub: Arc<Hub>,
    settings: Settings,
    upstream: Arc<Upstream>,
    id: SessionId,
    principal: String,
    /// A name for the credentials by which the server knows who asks.
    authorisation: String,
    /// Messages for the client.
    down: mpsc::Sender<Outgoing>,
    queue: mpsc::Sender<Queued>,
    /// Messages in the queue, and the one whose turn it is.
    queued: AtomicUsize,
    /// All its messages come from one client, one after the other.
    in_order: bool,
    view: Mutex<View>,
    open: Mutex<BTreeMap<Id, Open>>,
    /// Requests by the token that their progress is told under.
    progress: Mutex<BTreeMap<Id, Id>>,
    /// Digest of the list that the client was last told of.
    noticed: Mutex<String>,
    recorded: tokio::sync::Mutex<Recorded>,
    /// When it was last taken down what its client may hold.
    kept_at: Mutex<Instant>,
    raw: Mutex<kept::Raw>,
    changes: Mutex<changes::Changes>,
    later: Mutex<Later>,
    relied: Mutex<Relied>,
    proven: Mutex<Proven>,
    rounds: Mutex<Rounds>,
    owed: Mutex<Owed>,
    /// Records that are still to be written, of calls that were answered.
    writing: Arc<AtomicUsize>,
    /// What became of calls, by tool.
    tallies: Mutex<BTreeMap<String, Tally>>,
}

/// What this session has put on record.
#[derive(Default)]
struct Recorded {
    /// Lists whose definitions are on record, by digest.
    lists: HashSet<String>,
    /// The one that is on record as the current one.
    current: Option<Arc<Catalogue>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        lock(&self.hub.live).remove(&self.id);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Opens a session. `down` takes the messages for the client, in order.
    ///
    /// # Errors
    /// Where the store cannot take it down: without a record there is no session.
    pub async fn open(
        hub: Arc<Hub>,
        settings: Settings,
        upstream: Arc<Upstream>,
        opening: Opening,
        down: mpsc::Sender<Outgoing>,
    ) -> Result<Arc<Session>, store::StoreError> {
        let Opening { principal, era, view } = opening;
        let new = NewSession {
            server: upstream.name().to_owned(),
            principal: principal.clone(),
            era,
            client_info: None,
            at: event::now(),
        };
        let id = hub.store.open_session(new).await?;
        let authorisation = match upstream.credentials() {
            None => "none".to_owned(),
            Some(secret) => hub.store.fingerprint(&secret).ok_or(store::StoreError::ReadOnly)?,
        };
        let (waiting, queue) = mpsc::channel(limits::QUEUED_CALLS);
        let session = Arc::new(Session {
            hub,
            settings,
            upstream,
            id,
            principal,
            authorisation,
            down,
            queue: waiting,
            queued: AtomicUsize::new(0),
            in_order: !view.is_shared(),
            view: Mutex::new(view),
            open: Mutex::default(),
            progress: Mutex::default(),
            noticed: Mutex::default(),
            recorded: tokio::sync::Mutex::default(),
            kept_at: Mutex::new(Instant::now()),
            raw: Mutex::default(),
            changes: Mutex::default(),
            later: Mutex::default(),
            relied: Mutex::default(),
            proven: Mutex::default(),
            rounds: Mutex::default(),
            owed: Mutex::default(),
            writing: Arc::default(),
            tallies: Mutex::default(),
        });
        lock(&session.hub.live).insert(id, Arc::downgrade(&session));
        tokio::spawn(turns::in_turn(Arc::downgrade(&session), queue));
        tokio::spawn(turns::watch(Arc::downgrade(&session)));
        Ok(session)
    }

    /// Takes a message of the client.
    pub async fn from_client(self: &Arc<Self>, message: Message) {
        self.listen_for_era(&message);
        match message.kind() {
            Kind::Request { id, method } => {
                let open = match method.as_str() {
                    "tools/call" => {
                        Open::Call { withdrawn: false, finishes: self.finishes(&message) }
                    }
                    "initialize" if greeting::greets(&message) => Open::Initialize,
                    "server/discover" => Open::Discover,
                    "tools/list" => Open::Own,
                    "tasks/list" => Open::Tasks,
                    "subscriptions/listen" => Open::Listen {
                        tools: asks_for_tools(&message),
                        acknowledged: false,
                        told: None,
                    },
                    _ => match self.asks_of_task(&message) {
                        Some((deferred, about)) => Open::Task(deferred, about),
                        None => Open::Plain,
                    },
                };
                if let Err(why) = self.take_in(id, open, &message) {
                    let text = message::failure(id, TOO_MUCH, &why);
                    return self.say(Outgoing::answer(id, text)).await;
                }
                match method.as_str() {
                    "tools/call" => match Call::read(&message) {
                        Ok(call) => self.put_in_turn(id, Queued::Call(Box::new(call))).await,
                        // Who only watches stands in nobody's way.
                        Err(why) if self.settings.observe => {
                            self.let_pass(id, message.clone(), &why).await;
                        }
                        Err(why) => {
                            let why = format!("Invalid params: {why}");
                            self.reply(id, message::failure(id, INVALID_PARAMS, &why)).await;
                        }
                    },
                    "tools/list" => {
                        let this = Arc::clone(self);
                        tokio::spawn(async move { this.list(message).await });
                    }
                    // A sign of life waits for nobody.
                    "ping" => self.pass(&message).await,
                    _ if self.is_foreign_task(&message) => {
                        // As one that nobody knows.
                        let text = message::failure(id, INVALID_PARAMS, "Task not found");
                        self.reply(id, text).await;
                    }
                    // What one client asks after a call that is being decided leaves after that call.
                    _ if self.in_order && self.queued.load(Ordering::Acquire) > 0 => {
                        let id = id.clone();
                        self.put_in_turn(&id, Queued::Pass(message)).await;
                    }
                    _ => self.pass(&message).await,
                }
            }
            Kind::Notification { method } if method == "notifications/initialized" => {
                self.pass(&message).await;
                self.upstream.learn(|speech| speech.initialized = true);
                let this = Arc::clone(self);
                tokio::spawn(async move {
                    // A reading that fails is kept as a fault, and said so by whoever needs it.
                    let _ = this.upstream.verified(limits::READ_AGE).await;
                    this.noted("the list of tools", this.put_on_record().await);
                });
            }
            Kind::Notification { method } if method == "tools/call" => {
                // A call that wants no answer is none that the protocol knows; some servers would run it.
                self.tell("fault", None, None, "dropped a call that asked for no answer");
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.withdraw(&message).await;
            }
            Kind::Notification { .. } | Kind::Response { .. } => self.pass(&message).await,
        }
    }

    async fn put_in_turn(&self, id: &Id, what: Queued) {
        self.queued.fetch_add(1, Ordering::AcqRel);
        if self.queue.send(what).await.is_err() {
            self.queued.fetch_sub(1, Ordering::AcqRel);
            let text = message::failure(id, SERVER_ENDED, "the gateway is ending");
            self.reply(id, text).await;
        }
    }

    /// Takes what the server says.
    pub async fn from_server(self: &Arc<Self>, said: FromServer) {
        match said {
            FromServer::Message(message, on) => match message.kind() {
                Kind::Response { id: Some(id) } => {
                    if self.tells_itself(id, &message).await {
                        return;
                    }
                    // A call is answered by whoever carries it, once.
                    let carried = lock(&self.open).get(id).is_some_and(Open::is_carried);
                    match if carried { None } else { self.forget(id) } {
                        Some(Open::Initialize) => self.greeted(id, &message).await,
                        Some(Open::Discover) => self.discovered(id, &message).await,
                        Some(Open::List(asked, first)) => {
                            self.given(id, &message, asked, first).await;
                        }
                        Some(Open::Tasks) => {
                            let text = self.own_tasks(&message);
                            self.say(Outgoing::answer(id, text)).await;
                        }
                        Some(Open::Task(deferred, about)) => {
                            let text = self.of_task(&deferred, about, &message).await;
                            self.say(Outgoing::answer(id, text)).await;
                        }
                        Some(_) => self.say(Outgoing::answer(id, message.text().to_owned())).await,
                        // Answered twice, or after it was given up: the client is no longer waiting.
                        None if !carried => self.came_late(id, &message).await,
                        None => {}
                    }
                }
                Kind::Notification { method } if method == LIST_CHANGED => {
                    let about = self.concerns(&message, on);
                    let text = message.text().to_owned();
                    self.list_moved(Some(Outgoing::beside(about, text)));
                }
                Kind::Notification { method } if method == ACKNOWLEDGED => {
                    let about = self.concerns(&message, on);
                    self.acknowledged(about.as_ref());
                    self.say(Outgoing::beside(about, message.text().to_owned())).await;
                    // What moved before the server began to tell was told to nobody.
                    self.list_moved(None);
                }
                _ => {
                    let about = self.concerns(&message, on);
                    self.say(Outgoing::beside(about, message.text().to_owned())).await;
                }
            },
            FromServer::Stray(start, why) => {
                self.tell(
                    "fault",
                    None,
                    None,
                    &format!("the server printed what is no message: {start} ({why})"),
                );
            }
            FromServer::Greeted(now) => self.instructed(now.as_deref()).await,
            FromServer::Gap => self.list_moved(None),
            FromServer::Lost(id, why) => {
                if self.forget(&id).is_some() {
                    let why = format!("no answer came: {why}");
                    let text = message::failure(&id, SERVER_ENDED, &why);
                    self.say(Outgoing::answer(&id, text)).await;
                }
            }
            FromServer::Ended(how) => {
                self.tell("ended", None, None, &format!("the server ended: {how}"));
                self.doubt_tasks().await;
                let lost: Vec<Id> = lock(&self.open)
                    .iter()
                    .filter(|(_, open)| !open.is_carried())
                    .map(|(id, _)| id.clone())
                    .collect();
                for id in lost {
                    self.forget(&id);
                    let text =
                        message::failure(&id, SERVER_ENDED, &format!("the server ended: {how}"));
                    self.say(Outgoing::answer(&id, text)).await;
                }
            }
        }
    }

    /// Resolves when nothing that wants an answer is under way any more, and all of it is on record.
    pub async fn settled(&self) {
        loop {
            let waits = |open: &Open| !matches!(open, Open::Listen { .. });
            // In this order: a call that is no longer open has its records counted.
            let answered = !lock(&self.open).values().any(waits);
            if answered && self.writing.load(Ordering::Acquire) == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends the session: calls under way are settled by whoever carries them.
    pub async fn close(&self, how: SessionEnd) {
        lock(&self.hub.live).remove(&self.id);
        self.doubt_tasks().await;
        self.keep(true).await;
        let closed = self.hub.store.close_session(self.id, how, event::now()).await;
        self.noted("the end of a session", closed);
    }

    /// Takes a request in.
    fn take_in(&self, id: &Id, new: Open, message: &Message) -> Result<(), String> {
        let mut open = lock(&self.open);
        if open.contains_key(id) {
            return Err(format!("the id {id} is in use by a request under way"));
        }
        if open.len() >= limits::OPEN_REQUESTS {
            return Err(format!("{} requests are under way", limits::OPEN_REQUESTS));
        }
        if self.may_come_late(id) {
            return Err(format!(
                "the id {id} is that of a request that was given up and may still be answered; ask under an id of its own"
            ));
        }
        open.insert(id.clone(), new);
        let token = mcp::json::find(message.params().unwrap_or_default(), PROGRESS);
        if let Some(token) = token.and_then(Id::read) {
            lock(&self.progress).insert(token, id.clone());
        }
        Ok(())
    }

    /// A request is no longer under way.
    fn forget(&self, id: &Id) -> Option<Open> {
        let open = lock(&self.open).remove(id)?;
        lock(&self.progress).retain(|_, about| about != id);
        Some(open)
    }

    /// True where a request of this id is under way.
    pub fn is_open(&self, id: &Id) -> bool {
        lock(&self.open).contains_key(id)
    }

    /// True where the client still waits for what a message asks.
    fn wants(&self, message: &Message) -> bool {
        matches!(message.kind(), Kind::Request { id, .. } if self.is_open(id))
    }

    /// Passes a message on as it is.
    async fn pass(&self, message: &Message) {
        if let Err(why) = self.upstream.forward(message).await
            && let Kind::Request { id, .. } = message.kind()
        {
            self.reply(
                id,
                message::failure(id, SERVER_ENDED, &format!("the server cannot be reached: {why}")),
            )
            .await;
        }
    }

    /// The client no longer wants an answer.
    async fn withdraw(&self, message: &Message) {
        #[derive(serde::Deserialize)]
        struct Params<'a> {
            #[serde(rename = "requestId", borrow)]
            id: &'a serde_json::value::RawValue,
        }
        let id = message
            .params()
            .and_then(|params| serde_json::from_str::<Params<'_>>(params).ok())
            .and_then(|params| Id::read(params.id.get()));
        if let Some(id) = id {
            let (answered_elsewhere, left) = match lock(&self.open).get_mut(&id) {
                Some(Open::Call { withdrawn, .. }) => {
                    *withdrawn = true;
                    (true, false)
                }
                Some(Open::Initialize) | None => (true, false),
                Some(Open::Own) => (false, false),
                Some(_) => (false, true),
            };
            if !answered_elsewhere {
                // Nobody will answer it.
                self.unheard(&id).await;
            }
            if left {
                self.cancelled(&id);
            }
            self.upstream.break_off(&id);
        }
        if !self.upstream.cancels_by_closing() {
            self.pass(message).await;
        }
    }

    /// Tells who watches.
    pub(crate) fn tell(
        &self,
        kind: &'static str,
        tool: Option<&str>,
        code: Option<&'static str>,
        sentence: &str,
    ) {
        self.hub.events.tell(Event {
            at: event::now(),
            kind,
            server: self.upstream.name().to_owned(),
            tool: tool.map(str::to_owned),
            code,
            sentence: sentence.to_owned(),
        });
    }

    /// Sends a message to the client.
    pub(crate) async fn say(&self, outgoing: Outgoing) {
        // A client that left hears nothing; what was done is on record.
        let _ = self.down.send(outgoing).await;
    }

    /// The era, legacy until the client shows another.
    pub fn era(&self) -> Era {
        self.upstream.era()
    }

    /// What lists and grants of this session belong to: the era, and the authorisation at the server.
    pub fn scope(&self) -> String {
        let era = match self.era() {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        format!("{era}/{}", self.authorisation)
    }

    /// The server.
    pub fn upstream(&self) -> &Arc<Upstream> {
        &self.upstream
    }

    /// What the client has seen.
    pub fn view(&self) -> MutexGuard<'_, View> {
        lock(&self.view)
    }

    /// Its id.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Who is authorised.
    pub fn principal(&self) -> &str {
        &self.principal
    }

    /// What the operator decided.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Calls that may still be answered.
    pub(crate) fn later(&self) -> &Mutex<Later> {
        &self.later
    }

    /// What is still to be written, as a count.
    pub(crate) fn writing(&self) -> &Arc<AtomicUsize> {
        &self.writing
    }

    /// Durable state.
    pub fn store(&self) -> &dyn Store {
        &*self.hub.store
    }

    /// Comparisons.
    pub fn comparisons(&self) -> &Comparisons {
        &self.hub.comparisons
    }

    /// Adapters.
    pub fn adapters(&self) -> &dyn Adapt {
        &*self.hub.adapters
    }
}

/// True for a `subscriptions/listen` that wants to hear of changed tools.
fn asks_for_tools(message: &Message) -> bool {
    let params: Option<Value> = message.params().and_then(|p| serde_json::from_str(p).ok());
    params.is_some_and(|params| {
        params.pointer("/notifications/toolsListChanged") == Some(&Value::Bool(true))
    })
}
