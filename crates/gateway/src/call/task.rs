//! Calls that are answered later: as a task, or after they were given up.
//!
//! A call that runs as a task has its outcome when the deferred result comes: in the old era as the answer to
//! `tasks/result`, in the new one inside the answer to `tasks/get`. It is measured as an immediate one is.

use super::books::{record, record_late};
use super::{Call, Plan, answer};
use crate::limits;
use crate::session::{Session, lock};
use crate::upstream::Epoch;
use contract::Revised;
use mcp::Era;
use mcp::json;
use mcp::message::{self, Id, Kind, Message};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use store::{AttemptId, OutcomeState, SessionId};
use tokio::time::Instant;

/// A call that left, and what is still to be put on record of it.
pub(crate) struct Deferred {
    call: Arc<Call>,
    plan: Arc<Plan>,
    attempt: AttemptId,
    since: Instant,
    /// What is on record of it.
    state: Mutex<Option<OutcomeState>>,
}

/// Calls of one server that run as tasks. A task outlives the session that it was begun in, and is measured by the contract that
/// its call was planned under whichever session of the same client asks for it.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<VecDeque<Task>>);

struct Task {
    /// The principal and the scope that it was begun in.
    whose: (String, String),
    session: SessionId,
    /// As the server calls it.
    name: String,
    deferred: Arc<Deferred>,
}

impl Tasks {
    /// Takes in a task. Gives those that are remembered no more: of one client the oldest, or the oldest of all.
    fn begun(&self, task: Task) -> Vec<Arc<Deferred>> {
        let mut tasks = lock(&self.0);
        let mut dropped = Vec::new();
        let own = |known: &Task| known.whose == task.whose;
        if tasks.iter().filter(|known| own(known)).count() >= limits::TASKS {
            let oldest = tasks.iter().position(own);
            dropped.extend(oldest.and_then(|oldest| tasks.remove(oldest)));
        }
        if tasks.len() >= limits::TASKS_ALL {
            dropped.extend(tasks.pop_front());
        }
        tasks.push_back(task);
        dropped.into_iter().map(|task| task.deferred).collect()
    }

    /// The task of this name: the one that was begun in this session, else the last one of the same client. Servers of two
    /// processes may give the same name.
    fn find(&self, whose: &(String, String), at: SessionId, name: &str) -> Option<Arc<Deferred>> {
        let tasks = lock(&self.0);
        let same = || tasks.iter().rev().filter(|task| task.name == name && task.whose == *whose);
        let found = same().find(|task| task.session == at).or_else(|| same().next());
        found.map(|task| Arc::clone(&task.deferred))
    }

    /// Those that were begun in a session.
    fn of(&self, session: SessionId) -> Vec<Arc<Deferred>> {
        let tasks = lock(&self.0);
        let own = tasks.iter().filter(|task| task.session == session);
        own.map(|task| Arc::clone(&task.deferred)).collect()
    }
}

/// Calls of one session that were given up and may still be answered.
#[derive(Default)]
pub(crate) struct Later {
    /// Calls that were given up, by the id that they had.
    given_up: VecDeque<(Id, Arc<Deferred>)>,
    /// Other requests that were cancelled, and the connection that they left over.
    cancelled: VecDeque<(Id, Epoch)>,
}

/// For whom tasks run, as far as this gateway saw them begin: a server that knows all who ask by one credential cannot
/// tell them apart.
#[derive(Default)]
pub(crate) struct Minted(Mutex<Owners>);

#[derive(Default)]
struct Owners {
    /// The principals that each task was begun for.
    of: HashMap<String, BTreeSet<String>>,
    /// The tasks, the oldest first.
    order: VecDeque<String>,
}

impl Minted {
    /// A task was begun for a principal. Servers of two processes may give the same name.
    fn begun(&self, task: &str, principal: &str) {
        let mut owners = lock(&self.0);
        if !owners.of.contains_key(task) {
            if owners.order.len() >= limits::MINTED
                && let Some(oldest) = owners.order.pop_front()
            {
                owners.of.remove(&oldest);
            }
            owners.order.push_back(task.to_owned());
        }
        owners.of.entry(task.to_owned()).or_default().insert(principal.to_owned());
    }

    /// True where a task was begun for others alone.
    fn is_foreign(&self, task: &str, principal: &str) -> bool {
        lock(&self.0).of.get(task).is_some_and(|owners| !owners.contains(principal))
    }
}

/// The task that a request is about, and what it asks.
fn asked(message: &Message) -> Option<(String, About)> {
    let Kind::Request { method, .. } = message.kind() else { return None };
    let about = About::of(method)?;
    let task = json::find(message.params()?, &["taskId"])?;
    Some((serde_json::from_str(task).ok()?, about))
}

/// What a request of the client asks about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// Its result, and nothing else.
    Result,
    /// How it goes, perhaps with its result.
    State,
}

impl About {
    /// What a method asks; `None` for one that is not about a task.
    fn of(method: &str) -> Option<About> {
        match method {
            "tasks/result" => Some(About::Result),
            "tasks/get" | "tasks/cancel" | "tasks/update" => Some(About::State),
            _ => None,
        }
    }
}

impl Call {
    /// True where the call may run as a task: the client asks for one, or says that it understands one.
    pub(super) fn may_defer(&self, live: &[Arc<Revised>], era: Era) -> bool {
        const TASKS: &[&str] = &[
            "_meta",
            "io.modelcontextprotocol/clientCapabilities",
            "extensions",
            "io.modelcontextprotocol/tasks",
        ];
        let offered = |live: &Arc<Revised>| {
            let support = live.tool().raw.pointer("/execution/taskSupport").and_then(Value::as_str);
            matches!(support, Some("optional" | "required"))
        };
        match era {
            Era::Legacy => self.as_task() && live.iter().all(offered),
            Era::Modern => {
                self.message.params().is_some_and(|p| mcp::json::find(p, TASKS).is_some())
            }
        }
    }

    /// True where the client asks for a task in place of an answer.
    pub(super) fn as_task(&self) -> bool {
        let params: Option<Map<String, Value>> =
            self.message.params().and_then(|params| serde_json::from_str(params).ok());
        params.is_some_and(|params| params.get("task").is_some_and(|task| !task.is_null()))
    }
}

/// The name of the task that an answer gives in place of a result.
pub(super) fn named(call: &Call, answer: &Message) -> Option<String> {
    let result = answer.result()?;
    let kind = json::find(result, &["resultType"]);
    if !call.as_task() && kind != Some("\"task\"") {
        return None;
    }
    let id = json::find(result, &["task", "taskId"]).or_else(|| json::find(result, &["taskId"]));
    serde_json::from_str(id?).ok()
}

impl Deferred {
    pub(super) fn new(call: &Arc<Call>, plan: &Arc<Plan>, attempt: AttemptId) -> Arc<Deferred> {
        let (call, plan) = (Arc::clone(call), Arc::clone(plan));
        Arc::new(Deferred { call, plan, attempt, since: Instant::now(), state: Mutex::default() })
    }

    fn is_settled(&self) -> bool {
        lock(&self.state).is_some()
    }

    /// Puts an outcome on record: the first as the outcome, another one as one that came late.
    async fn settle(&self, session: &Session, state: OutcomeState, text: Option<&str>) {
        let before = lock(&self.state).replace(state);
        let kept = text.filter(|_| self.plan.ground.effect).map(str::to_owned);
        match before {
            None => record(session, self.attempt, state, kept).await,
            Some(before) if before != state => {
                record_late(session, self.attempt, state, kept).await;
            }
            Some(_) => {}
        }
    }
}

impl Session {
    /// Remembers a call that runs as a task until its result came.
    pub(super) async fn defer(&self, task: String, deferred: Arc<Deferred>) {
        self.minted().begun(&task, self.principal());
        let task = Task { whose: self.whose(), session: self.id(), name: task, deferred };
        for dropped in self.hub().tasks.begun(task) {
            if !dropped.is_settled() {
                dropped.settle(self, OutcomeState::InDoubt, None).await;
            }
        }
    }

    /// Who may ask for tasks of this session.
    fn whose(&self) -> (String, String) {
        (self.principal().to_owned(), self.scope())
    }

    /// Remembers a call that is on record as in doubt: its answer may still come.
    pub(super) fn give_up(&self, deferred: Arc<Deferred>) {
        *lock(&deferred.state) = Some(OutcomeState::InDoubt);
        let mut later = lock(self.later());
        if later.given_up.len() >= limits::GIVEN_UP {
            later.given_up.pop_front();
        }
        later.given_up.push_back((deferred.call.id.clone(), deferred));
    }

    /// Remembers a request other than a call that nobody waits for any more: its answer may still come.
    pub(crate) fn cancelled(&self, id: &Id) {
        let epoch = self.upstream().epoch();
        let mut later = lock(self.later());
        if later.cancelled.len() >= limits::GIVEN_UP {
            later.cancelled.pop_front();
        }
        later.cancelled.push_back((id.clone(), epoch));
    }

    /// True where what comes with this id may answer a request that was given up: the protocol has every request bring an
    /// id of its own, and nobody could tell the two answers apart.
    pub(crate) fn may_come_late(&self, id: &Id) -> bool {
        let epoch = self.upstream().epoch();
        let later = lock(self.later());
        later.given_up.iter().any(|(known, call)| known == id && call.plan.epoch == epoch)
            || later.cancelled.iter().any(|(known, over)| known == id && *over == epoch)
    }

    /// An answer that nobody waits for. Where it is that of a call that was given up, it goes on record.
    pub(crate) async fn came_late(&self, id: &Id, answer: &Message) {
        let deferred = {
            let mut later = lock(self.later());
            later.cancelled.retain(|(known, _)| known != id);
            let place = later.given_up.iter().position(|(known, _)| known == id);
            place.and_then(|place| later.given_up.remove(place))
        };
        let Some((_, deferred)) = deferred else { return };
        let (_, state) = answer::judged(self, &deferred.call, &deferred.plan, answer);
        deferred.settle(self, state, Some(answer.text())).await;
        let tool = &deferred.call.tool;
        let what = format!("a call of {tool} that was in doubt was answered late: it is {state}");
        self.tell("late-answer", Some(tool), None, &what);
    }

    /// The task of this client that a request is about, and what it asks.
    pub(crate) fn asks_of_task(&self, message: &Message) -> Option<(Arc<Deferred>, About)> {
        let (task, about) = asked(message)?;
        Some((self.hub().tasks.find(&self.whose(), self.id(), &task)?, about))
    }

    /// The answer to `tasks/list` without the tasks that run for others.
    pub(crate) fn own_tasks(&self, answer: &Message) -> String {
        const TASKS: &[&str] = &["result", "tasks"];
        let as_it_came = || answer.text().to_owned();
        let listed = json::find(answer.text(), TASKS);
        let Some(listed) = listed.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw).ok())
        else {
            return as_it_came();
        };
        let foreign = |task: &&RawValue| {
            let name = json::find(task.get(), &["taskId"]);
            let name = name.and_then(|name| serde_json::from_str::<String>(name).ok());
            name.is_some_and(|name| self.minted().is_foreign(&name, self.principal()))
        };
        let own: Vec<&str> =
            listed.iter().filter(|task| !foreign(task)).map(|task| task.get()).collect();
        let others = listed.len() - own.len();
        if others == 0 {
            return as_it_came();
        }
        let observe = self.settings().observe;
        let (kind, word) =
            if observe { ("would-refuse", "would have left") } else { ("refused", "left") };
        let what = format!("{word} {others} tasks that run for another principal out of a list");
        self.tell(kind, None, None, &what);
        if observe {
            return as_it_came();
        }
        json::replace(answer.text(), &[(TASKS, &format!("[{}]", own.join(",")))])
    }

    /// True where a request is about a task that was begun for somebody else: its answer is not this client's to see.
    pub(crate) fn is_foreign_task(&self, message: &Message) -> bool {
        let foreign = |task: &str| self.minted().is_foreign(task, self.principal());
        let Some((task, _)) = asked(message).filter(|(task, _)| foreign(task)) else {
            return false;
        };
        let (kind, word) = match self.settings().observe {
            true => ("would-refuse", "would have refused"),
            false => ("refused", "refused"),
        };
        let task = contract::admission::shown_name(&task);
        let what =
            format!("{word} a question about {task}, a task that runs for another principal");
        self.tell(kind, None, None, &what);
        !self.settings().observe
    }

    /// What came of a question about a task, as the client is told.
    pub(crate) async fn of_task(
        &self,
        deferred: &Deferred,
        about: About,
        answer: &Message,
    ) -> String {
        let as_it_came = answer.text().to_owned();
        let Kind::Response { id: Some(id) } = answer.kind() else { return as_it_came };
        let (call, plan) = (&deferred.call, &deferred.plan);
        match (about, answer.outcome()) {
            (About::Result, Ok(raw)) => {
                let (other, state) = answer::measured(self, call, plan, raw);
                let text = other.map_or(as_it_came, |result| message::response(id, &result));
                deferred.settle(self, state, Some(&text)).await;
                text
            }
            // The answer of the call itself; that the task is not known says nothing of it.
            (About::Result, Err(error)) if error.code != UNKNOWN_TASK => {
                deferred.settle(self, OutcomeState::Failed, None).await;
                as_it_came
            }
            (About::State, Ok(raw)) => {
                let state = json::find(raw, &["status"])
                    .or_else(|| json::find(raw, &["task", "status"]))
                    .unwrap_or_default();
                let within: &[&str] = match json::find(raw, &["result"]) {
                    Some(_) => &["result"],
                    None => &["task", "result"],
                };
                match (state, json::find(raw, within)) {
                    ("\"completed\"", Some(result)) => {
                        let (other, state) = answer::measured(self, call, plan, result);
                        let path: Vec<&str> =
                            std::iter::once("result").chain(within.iter().copied()).collect();
                        let text = other.map_or(as_it_came.clone(), |other| {
                            json::replace(&as_it_came, &[(&path, &other)])
                        });
                        deferred.settle(self, state, Some(&text)).await;
                        return text;
                    }
                    ("\"failed\"", _) => deferred.settle(self, OutcomeState::Failed, None).await,
                    // It was told to stop; how far it came is not known.
                    ("\"cancelled\"", _) => {
                        deferred.settle(self, OutcomeState::InDoubt, None).await;
                    }
                    _ => {}
                }
                as_it_came
            }
            _ => as_it_came,
        }
    }

    /// The server or the session ends: what became of tasks whose result nobody fetched is not known. One that is
    /// fetched all the same goes on record as late.
    pub(crate) async fn doubt_tasks(&self) {
        for deferred in self.hub().tasks.of(self.id()) {
            if !deferred.is_settled() {
                deferred.settle(self, OutcomeState::InDoubt, None).await;
            }
        }
    }

    /// True where the result of a task may still be fetched: its contract is kept as long.
    pub(crate) fn awaits_tasks(&self) -> bool {
        let waits = |deferred: &Arc<Deferred>| {
            !deferred.is_settled() && deferred.since.elapsed() < limits::KEPT
        };
        self.hub().tasks.of(self.id()).iter().any(waits)
    }
}

/// What servers say of a task that they do not know, or no longer.
const UNKNOWN_TASK: i64 = -32_602;
