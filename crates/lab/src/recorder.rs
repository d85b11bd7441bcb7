//! An append-only recorder on a loopback port.

use crate::limits;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, watch};

/// One request that reached the recorder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Its number, from 1.
    pub n: usize,
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers that carry authority: their values are secrets, so only what tells them apart is kept.
    pub authority: Vec<Authority>,
    /// What ties it to a run or another request, as the sender named it: the header `X-Correlation-Id`,
    /// `X-Request-Id` or `traceparent`.
    pub correlation: Option<String>,
    /// The body.
    pub body: String,
}

/// A header that carries authority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Authority {
    /// Its name, in lower case.
    pub name: String,
    /// The first 12 hexadecimal digits of the SHA-256 of its value.
    pub fingerprint: String,
}

/// A call of a tool that reached a server of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Heard {
    /// The tool.
    pub tool: String,
    /// Its arguments, as they arrived.
    pub arguments: serde_json::Value,
}

/// What the servers of the lab are told besides the phase: each number grows by one at each telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
pub struct Signals {
    /// Tell your clients that the list changed.
    pub rings: u64,
    /// End, as by a fault.
    pub crashes: u64,
}

/// What makes another phase hold by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// This many lists were asked for.
    Lists(usize),
    /// This many calls had their effect.
    Calls(usize),
}

/// A recorder. It ends when it is dropped.
pub struct Recorder {
    address: SocketAddr,
    state: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    records: Mutex<Vec<Record>>,
    /// How many requests there are.
    recorded: watch::Sender<usize>,
    calls: Mutex<Vec<Heard>>,
    /// How many calls there are.
    heard: watch::Sender<usize>,
    phase: watch::Sender<usize>,
    signals: watch::Sender<Signals>,
    /// Where the server that was started last can be reached over HTTP.
    address: watch::Sender<Option<String>>,
    /// How many lists were asked for, from their first page on.
    lists: watch::Sender<usize>,
    /// How many calls had their effect, or none, and are about to be answered.
    settled: watch::Sender<usize>,
    /// What makes another phase hold by itself.
    armed: Mutex<Option<(Armed, usize)>>,
    /// Processes that ended because they were told to.
    ended: watch::Sender<u64>,
    /// What came of switches that real programs had to make: empty where it worked, else why not.
    switched: Mutex<Vec<String>>,
    woken: Notify,
}

const CORRELATION: &[&str] = &["x-correlation-id", "x-request-id", "traceparent"];

const AUTHORITY: &[&str] = &["authorization", "cookie", "proxy-authorization", "x-api-key"];

impl Recorder {
    /// Starts one on a free loopback port.
    ///
    /// # Errors
    /// Where no port can be had.
    pub async fn start() -> std::io::Result<Recorder> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Shared {
            records: Mutex::default(),
            recorded: watch::Sender::new(0),
            calls: Mutex::default(),
            heard: watch::Sender::new(0),
            phase: watch::Sender::new(0),
            signals: watch::Sender::default(),
            address: watch::Sender::new(None),
            lists: watch::Sender::new(0),
            settled: watch::Sender::new(0),
            armed: Mutex::default(),
            ended: watch::Sender::new(0),
            switched: Mutex::default(),
            woken: Notify::new(),
        });
        let app = Router::new()
            .route("/lab/phase", get(phase))
            .route("/lab/signals", get(signals))
            .route("/lab/calls", post(heard))
            .route("/lab/address", post(reachable))
            .route("/lab/lists", post(listed))
            .route("/lab/settled", post(settled))
            .route("/lab/ended", post(ended))
            .route("/lab/switched", post(switched))
            .fallback(record)
            .layer(DefaultBodyLimit::max(limits::BODY))
            .with_state(Arc::clone(&state));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, app).await;
        });
        Ok(Recorder { address, state, task })
    }

    /// Its address, as a URL without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that reached it so far, in order.
    pub fn records(&self) -> Vec<Record> {
        self.state.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every call of a tool that reached a server so far, in order.
    pub fn calls(&self) -> Vec<Heard> {
        self.state.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until more calls than this have reached a server; false where they do not in time.
    pub async fn arrived(&self, more_than: usize, wait: Duration) -> bool {
        reached(&self.state.heard, more_than + 1, wait).await
    }

    /// Waits until a server says where it can be reached over HTTP; `None` where none does in time.
    pub async fn address(&self, wait: Duration) -> Option<String> {
        let mut address = self.state.address.subscribe();
        let known = address.wait_for(Option::is_some);
        let known = tokio::time::timeout(wait, known).await;
        known.ok()?.ok()?.clone()
    }

    /// Waits until more requests than this were recorded; false where they are not in time.
    pub async fn recorded(&self, more_than: usize, wait: Duration) -> bool {
        reached(&self.state.recorded, more_than + 1, wait).await
    }

    /// How many lists were asked for so far.
    pub fn lists(&self) -> usize {
        *self.state.lists.borrow()
    }

    /// Waits until this many lists were asked for; false where they are not in time.
    pub async fn listed(&self, count: usize, wait: Duration) -> bool {
        reached(&self.state.lists, count, wait).await
    }

    /// Waits until this many calls had their effect; false where they had not in time.
    pub async fn settled(&self, count: usize, wait: Duration) -> bool {
        reached(&self.state.settled, count, wait).await
    }

    /// Lets a phase hold by itself as soon as something has happened, before whoever did it is answered: nothing that
    /// comes after can still meet the phase before.
    pub fn arm(&self, when: Armed, phase: usize) {
        *self.state.armed.lock().unwrap_or_else(PoisonError::into_inner) = Some((when, phase));
    }

    /// Lets a phase hold from now on.
    pub fn switch(&self, phase: usize) {
        self.state.phase.send_replace(phase);
    }

    /// Waits until a program says what came of a switch.
    ///
    /// # Errors
    /// Where it could not be made another one, or nobody said anything in time.
    pub async fn switched(&self, wait: Duration) -> Result<(), String> {
        let told = async {
            loop {
                let woken = self.state.woken.notified();
                let first =
                    self.state.switched.lock().unwrap_or_else(PoisonError::into_inner).pop();
                match first {
                    Some(why) if why.is_empty() => return Ok(()),
                    Some(why) => return Err(why),
                    None => woken.await,
                }
            }
        };
        let late = || Err("the server did not become another one in time".to_owned());
        tokio::time::timeout(wait, told).await.unwrap_or_else(|_| late())
    }

    /// Has the servers tell their clients that the list changed.
    pub fn ring(&self) {
        self.state.signals.send_modify(|signals| signals.rings += 1);
    }

    /// Has the server end as by a fault, and waits until it says that it does; false where none said so in time.
    pub async fn crash(&self) -> bool {
        let mut ended = self.state.ended.subscribe();
        let before = *ended.borrow_and_update();
        self.state.signals.send_modify(|signals| signals.crashes += 1);
        let told = ended.wait_for(|now| *now > before);
        tokio::time::timeout(limits::CRASH, told).await.is_ok_and(|told| told.is_ok())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(serde::Deserialize)]
struct After {
    /// Wait until the phase is another one.
    not: Option<usize>,
}

async fn phase(State(shared): State<Arc<Shared>>, Query(after): Query<After>) -> String {
    let mut phases = shared.phase.subscribe();
    let other = async {
        match phases.wait_for(|phase| Some(*phase) != after.not).await {
            Ok(phase) => *phase,
            Err(_) => after.not.unwrap_or(0),
        }
    };
    match tokio::time::timeout(limits::PHASE_WAIT, other).await {
        Ok(phase) => phase.to_string(),
        Err(_) => after.not.unwrap_or(0).to_string(),
    }
}

/// What a server was told already; absent when it begins.
#[derive(serde::Deserialize)]
struct Known {
    rings: Option<u64>,
    crashes: Option<u64>,
}

async fn signals(
    State(shared): State<Arc<Shared>>,
    Query(known): Query<Known>,
) -> axum::Json<Signals> {
    let mut signals = shared.signals.subscribe();
    let now = *signals.borrow_and_update();
    let (Some(rings), Some(crashes)) = (known.rings, known.crashes) else {
        return axum::Json(now);
    };
    let known = Signals { rings, crashes };
    let other = signals.wait_for(|signals| *signals != known);
    match tokio::time::timeout(limits::PHASE_WAIT, other).await {
        Ok(Ok(signals)) => axum::Json(*signals),
        _ => axum::Json(known),
    }
}

async fn heard(
    State(shared): State<Arc<Shared>>,
    axum::Json(call): axum::Json<Heard>,
) -> StatusCode {
    let mut calls = shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
    if calls.len() >= limits::RECORDS {
        return StatusCode::INSUFFICIENT_STORAGE;
    }
    calls.push(call);
    shared.heard.send_replace(calls.len());
    StatusCode::NO_CONTENT
}

async fn reachable(State(shared): State<Arc<Shared>>, address: String) -> StatusCode {
    shared.address.send_replace(Some(address));
    StatusCode::NO_CONTENT
}

async fn listed(State(shared): State<Arc<Shared>>) -> StatusCode {
    let mut count = 0;
    shared.lists.send_modify(|lists| {
        *lists += 1;
        count = *lists;
    });
    fire(&shared, Armed::Lists(count));
    StatusCode::NO_CONTENT
}

async fn settled(State(shared): State<Arc<Shared>>) -> StatusCode {
    let mut count = 0;
    shared.settled.send_modify(|settled| {
        *settled += 1;
        count = *settled;
    });
    fire(&shared, Armed::Calls(count));
    StatusCode::NO_CONTENT
}

/// Lets the armed phase hold where this is what it waited for.
fn fire(shared: &Shared, happened: Armed) {
    let armed = *shared.armed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((when, phase)) = armed
        && when == happened
    {
        shared.phase.send_replace(phase);
    }
}

/// Waits until a count is reached.
async fn reached(counter: &watch::Sender<usize>, count: usize, wait: Duration) -> bool {
    let mut counter = counter.subscribe();
    let there = counter.wait_for(|now| *now >= count);
    tokio::time::timeout(wait, there).await.is_ok_and(|there| there.is_ok())
}

async fn ended(State(shared): State<Arc<Shared>>) -> StatusCode {
    shared.ended.send_modify(|ended| *ended += 1);
    StatusCode::NO_CONTENT
}

async fn switched(State(shared): State<Arc<Shared>>, why_not: String) -> StatusCode {
    shared.switched.lock().unwrap_or_else(PoisonError::into_inner).push(why_not);
    shared.woken.notify_one();
    StatusCode::NO_CONTENT
}

/// What tells one value from another, and not what it is.
fn fingerprint(value: &[u8]) -> String {
    Sha256::digest(value).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

async fn record(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> impl IntoResponse {
    // What cannot be read is on record even so: "nothing was sent" must not be said of it.
    let (status, body) = match body {
        Ok(body) => (StatusCode::OK, String::from_utf8_lossy(&body).into_owned()),
        Err(why) => (why.status(), format!("(not read: {why})")),
    };
    let mut records = shared.records.lock().unwrap_or_else(PoisonError::into_inner);
    if records.len() >= limits::RECORDS {
        return (StatusCode::INSUFFICIENT_STORAGE, String::new());
    }
    let authority = AUTHORITY.iter().flat_map(|name| {
        headers.get_all(*name).into_iter().map(|value| Authority {
            name: (*name).to_owned(),
            fingerprint: fingerprint(value.as_bytes()),
        })
    });
    let record = Record {
        n: records.len() + 1,
        method: method.to_string(),
        path: uri.path_and_query().map_or_else(String::new, ToString::to_string),
        authority: authority.collect(),
        correlation: CORRELATION.iter().find_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            Some(value.chars().take(limits::CORRELATION_CHARS).collect())
        }),
        body,
    };
    let answer = format!("{{\"recorded\":{}}}", record.n);
    records.push(record);
    shared.recorded.send_replace(records.len());
    (status, answer)
}
