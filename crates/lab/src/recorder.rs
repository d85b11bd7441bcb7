//! An append-only recorder on a loopback port.

use crate::limits;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::IntoResponse;
use axum::routing::get;
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// One request that reached the recorder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Its number, from 1.
    pub n: usize,
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// Names of the headers that carry authority; their values are secrets.
    pub authority: Vec<String>,
    /// The body.
    pub body: String,
}

/// A recorder. It ends when it is dropped.
pub struct Recorder {
    address: SocketAddr,
    state: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    records: Mutex<Vec<Record>>,
    phase: watch::Sender<usize>,
}

const AUTHORITY: &[&str] = &["authorization", "cookie", "proxy-authorization", "x-api-key"];

impl Recorder {
    /// Starts one on a free loopback port.
    ///
    /// # Errors
    /// Where no port can be had.
    pub async fn start() -> std::io::Result<Recorder> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(Shared { records: Mutex::default(), phase: watch::Sender::new(0) });
        let app = Router::new()
            .route("/lab/phase", get(phase))
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

    /// Lets a phase hold from now on.
    pub fn switch(&self, phase: usize) {
        self.state.phase.send_replace(phase);
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

async fn record(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let mut records = shared.records.lock().unwrap_or_else(PoisonError::into_inner);
    if records.len() >= limits::RECORDS {
        return (StatusCode::INSUFFICIENT_STORAGE, String::new());
    }
    let authority = AUTHORITY.iter().filter(|name| headers.contains_key(**name));
    let record = Record {
        n: records.len() + 1,
        method: method.to_string(),
        path: uri.path_and_query().map_or_else(String::new, ToString::to_string),
        authority: authority.map(ToString::to_string).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let answer = format!("{{\"recorded\":{}}}", record.n);
    records.push(record);
    (StatusCode::OK, answer)
}
