//! A server behind HTTP that a test steers while it runs: which lists it has, what it loses, how it answers.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

/// The server. It ends when it is dropped.
pub struct Web {
    pub address: String,
    pub state: Arc<Steered>,
    task: tokio::task::JoinHandle<()>,
}

/// What a test steers, and what it sees.
#[derive(Default)]
pub struct Steered {
    /// Lists of tools: replicas that take turns, one a request.
    pub replicas: Mutex<Vec<Value>>,
    turn: AtomicU32,
    /// Chance, and not their turn, says which replica answers: what it begins with.
    pub chance: AtomicU32,
    /// Calls run as tasks.
    pub tasks: AtomicBool,
    /// Which replica carried out each call.
    pub ran: Mutex<Vec<usize>>,
    session: AtomicU32,
    /// Sessions up to this one are forgotten.
    lost: AtomicU32,
    /// The session is forgotten before the next call.
    pub loses_session: AtomicBool,
    /// The session is forgotten once so many lists were given, and the next one lists what comes `then`.
    pub lists_left: AtomicU32,
    /// The status of the next calls, in place of an answer.
    pub status: Mutex<Option<u16>>,
    /// A list begins a stream and says no more.
    pub lists_hang: AtomicBool,
    /// A greeting is not answered.
    pub mute: AtomicBool,
    /// The stream of what nobody asked for is there, and ends after a moment each time.
    pub tells: AtomicBool,
    /// A call begins a stream and says no more.
    pub hangs: AtomicBool,
    /// The next calls are carried out, and their answers are cut off.
    pub cuts: AtomicU32,
    /// The list from the first such call on.
    pub then: Mutex<Option<Value>>,
    /// Calls are carried out, and answered once this is over.
    pub holds: AtomicBool,
    /// A call asks for input before it is carried out, and wants this back with it.
    pub asks: Mutex<Option<Value>>,
    /// Bytes of text in the answer of a call, and whether it comes as an event of a stream.
    pub large: Mutex<(usize, bool)>,
    /// A stream that hung was closed by the other side.
    pub closed: Arc<AtomicBool>,
    /// Headers and message of each POST.
    pub log: Mutex<Vec<(HeaderMap, Value)>>,
    /// Arguments of the calls that were carried out.
    pub done: Mutex<Vec<Value>>,
}

impl Web {
    pub async fn start(replicas: &[Value]) -> Web {
        let state = Arc::new(Steered::default());
        *state.replicas.lock().unwrap() = replicas.to_vec();
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = format!("http://{}/mcp", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(Arc::clone(&state));
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Web { address, state, task }
    }

    /// How often a method came.
    pub fn came(&self, method: &str) -> usize {
        self.state.log.lock().unwrap().iter().filter(|(_, m)| m["method"] == method).count()
    }

    /// What calls were carried out.
    pub fn done(&self) -> Vec<Value> {
        self.state.done.lock().unwrap().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    State(state): State<Arc<Steered>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if method == Method::DELETE {
        return StatusCode::OK.into_response();
    }
    if method == Method::GET && state.tells.load(Ordering::SeqCst) {
        let short = Short(Box::pin(tokio::time::sleep(Duration::from_millis(300))));
        return ([("content-type", "text/event-stream")], Body::from_stream(short)).into_response();
    }
    if method != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    state.log.lock().unwrap().push((headers.clone(), message.clone()));
    let modern =
        message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some();
    let asked = message["method"].as_str().unwrap_or_default();
    let turn = state.turn.fetch_add(1, Ordering::SeqCst);
    let replicas = state.replicas.lock().unwrap().clone();
    let replica = match state.chance.load(Ordering::SeqCst) {
        0 => turn as usize % replicas.len(),
        begin => {
            let next = begin.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.chance.store(next, Ordering::SeqCst);
            (next >> 16) as usize % replicas.len()
        }
    };
    let tools = replicas[replica].clone();
    let mut session = None;
    if asked == "initialize" {
        session = Some(state.session.fetch_add(1, Ordering::SeqCst) + 1);
    } else if !modern {
        let opened = state.session.load(Ordering::SeqCst);
        if asked == "tools/call" && state.loses_session.swap(false, Ordering::SeqCst) {
            state.lost.store(opened, Ordering::SeqCst);
        }
        let known = state.lost.load(Ordering::SeqCst) + 1..=opened;
        let named = headers.get("mcp-session-id").and_then(|s| s.to_str().ok());
        let number = named.and_then(|s| s.strip_prefix("s-")?.parse::<u32>().ok());
        if number.is_none_or(|number| !known.contains(&number)) {
            return StatusCode::NOT_FOUND.into_response();
        }
    }
    if message.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    if asked == "initialize" && state.mute.load(Ordering::SeqCst) {
        let hung = Hung(None, Arc::clone(&state.closed));
        return ([("content-type", "text/event-stream")], Body::from_stream(hung)).into_response();
    }
    if asked == "tools/list" && state.lists_hang.load(Ordering::SeqCst) {
        let hung = Hung(None, Arc::clone(&state.closed));
        return ([("content-type", "text/event-stream")], Body::from_stream(hung)).into_response();
    }
    if asked == "tools/list" && state.lists_left.load(Ordering::SeqCst) > 0 {
        // This one is still given.
        if state.lists_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let opened = state.session.load(Ordering::SeqCst);
            state.lost.store(opened, Ordering::SeqCst);
            *state.replicas.lock().unwrap() = vec![state.then.lock().unwrap().take().unwrap()];
        }
    }
    let mut result = match asked {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "steered", "version": "1"},
        }),
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private",
        }),
        "tools/list" => json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"}),
        "tools/call" => {
            if let Some(status) = *state.status.lock().unwrap() {
                let away = [("location", "/mcp/elsewhere")];
                return (StatusCode::from_u16(status).unwrap(), away).into_response();
            }
            let asks = state.asks.lock().unwrap().clone();
            if let Some(state) = asks.filter(|_| message["params"].get("inputResponses").is_none())
            {
                let mut result = json!({"resultType": "input_required", "inputRequests": {"sure": {"method": "elicitation/create", "params": {}}}});
                if !state.is_null() {
                    result["requestState"] = state;
                }
                let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                return ([("content-type", "application/json")], text.to_string()).into_response();
            }
            state.done.lock().unwrap().push(message["params"]["arguments"].clone());
            state.ran.lock().unwrap().push(replica);
            if state.tasks.load(Ordering::SeqCst) {
                let task = json!({"taskId": "task-1", "status": "working"});
                let result = json!({"resultType": "task", "taskId": "task-1", "status": "working", "task": task});
                let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                return ([("content-type", "application/json")], text.to_string()).into_response();
            }
            if state.cuts.load(Ordering::SeqCst) > 0 {
                state.cuts.fetch_sub(1, Ordering::SeqCst);
                if let Some(tools) = state.then.lock().unwrap().take() {
                    *state.replicas.lock().unwrap() = vec![tools];
                }
                let short = Short(Box::pin(tokio::time::sleep(Duration::from_millis(20))));
                return ([("content-type", "text/event-stream")], Body::from_stream(short))
                    .into_response();
            }
            let held = Hung(None, Arc::clone(&state.closed));
            while state.holds.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            // It was let end.
            std::mem::forget(held);
            if state.hangs.load(Ordering::SeqCst) {
                let token = &message["params"]["_meta"]["progressToken"];
                let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
                let first = format!("event: message\ndata: {progress}\n\n");
                let hung = Hung(Some(first.into()), Arc::clone(&state.closed));
                return ([("content-type", "text/event-stream")], Body::from_stream(hung))
                    .into_response();
            }
            let (large, streams) = *state.large.lock().unwrap();
            let content = match large {
                0 => json!([]),
                _ => json!([{"type": "text", "text": "x".repeat(large)}]),
            };
            let result = json!({"content": content, "structuredContent": {"id": "x-1"}});
            if streams {
                let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                let event = format!("event: message\ndata: {text}\n\n");
                return ([("content-type", "text/event-stream")], event).into_response();
            }
            result
        }
        "tasks/list" => json!({"tasks": [
            {"taskId": "task-1", "status": "completed"}, {"taskId": "task-9", "status": "working"},
        ]}),
        "tasks/get" => json!({
            "taskId": message["params"]["taskId"], "status": "completed",
            "result": {"content": [], "structuredContent": {"id": "x-1"}},
        }),
        _ => {
            let error = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}});
            let status = if modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
            return (status, [("content-type", "application/json")], error.to_string())
                .into_response();
        }
    };
    if modern {
        result["resultType"] = json!("complete");
    }
    let text = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let mut response = ([("content-type", "application/json")], text).into_response();
    if let Some(session) = session {
        response.headers_mut().insert("mcp-session-id", format!("s-{session}").parse().unwrap());
    }
    response
}

/// A stream that says nothing and ends.
struct Short(Pin<Box<tokio::time::Sleep>>);

impl futures_core::Stream for Short {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll(context).map(|()| None)
    }
}

/// A stream that says one thing and no more.
struct Hung(Option<Bytes>, Arc<AtomicBool>);

impl futures_core::Stream for Hung {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(bytes))))
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
    }
}
