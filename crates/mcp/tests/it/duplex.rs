//! A server in both directions, over sockets: which session a message goes in.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use mcp::duplex::{Incoming, Routed, Sending, Uplink, reach};
use mcp::message::Message;
use mcp::{Era, Headers, Revision};
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server that gives sessions, and forgets those up to one of them.
#[derive(Default)]
struct Sessions {
    opened: AtomicU32,
    lost: AtomicU32,
    /// Method and session of each message that it took.
    took: Mutex<Vec<(String, u32)>>,
    /// Sessions whose stream was asked for and is not answered, while somebody waits for it.
    listened: Arc<Mutex<Vec<u32>>>,
    /// A session that is lost is answered by this status.
    status: AtomicU32,
    /// Sessions that were ended.
    ended: Mutex<Vec<u32>>,
}

/// Somebody waits for a stream of this session.
struct Waits(Arc<Mutex<Vec<u32>>>, u32);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.lock().unwrap().retain(|session| *session != self.1);
    }
}

async fn answer(
    State(sessions): State<Arc<Sessions>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let named = headers
        .get("mcp-session-id")
        .map_or(0, |session| session.to_str().unwrap().parse::<u32>().unwrap());
    if method == Method::GET {
        sessions.listened.lock().unwrap().push(named);
        let _waits = Waits(Arc::clone(&sessions.listened), named);
        return std::future::pending().await;
    }
    if method == Method::DELETE {
        sessions.ended.lock().unwrap().push(named);
        return StatusCode::OK.into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    let asked = message["method"].as_str().unwrap().to_owned();
    let mut session = named;
    let mut result = json!({});
    if asked == "initialize" {
        session = sessions.opened.fetch_add(1, Ordering::SeqCst) + 1;
        result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}});
    } else if session <= sessions.lost.load(Ordering::SeqCst) {
        let status = u16::try_from(sessions.status.load(Ordering::SeqCst)).unwrap();
        return StatusCode::from_u16(status).unwrap_or(StatusCode::NOT_FOUND).into_response();
    }
    sessions.took.lock().unwrap().push((asked, session));
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let text = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    ([("content-type", "application/json"), ("mcp-session-id", &*session.to_string())], text)
        .into_response()
}

fn request(id: u32, method: &str) -> Message {
    let params = json!({"protocolVersion": "2025-11-25", "name": "pay"});
    let text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    Message::parse(&text.to_string()).unwrap()
}

async fn next(incoming: &mut Receiver<Incoming>) -> Incoming {
    timeout(PATIENCE, incoming.recv()).await.expect("in time").expect("goes on")
}

/// A server, and a greeted client of it.
async fn greeted() -> (Arc<Sessions>, Uplink, Receiver<Incoming>) {
    let sessions = Arc::new(Sessions { status: AtomicU32::new(404), ..Sessions::default() });
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = Router::new().fallback(answer).with_state(Arc::clone(&sessions));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let server = mcp::http::Server::new(&address, Headers::default(), false, false).unwrap();
    let (link, mut incoming) = reach(server);
    link.send(&request(1, "initialize"), Routed::default()).await;
    assert!(matches!(next(&mut incoming).await, Incoming::Message(..)));
    (sessions, link, incoming)
}

/// The session is another one as soon as the server was greeted again, whoever has heard of it by then.
async fn renewed(sessions: &Sessions, link: &Uplink) {
    let before = link.generation();
    sessions.lost.store(1, Ordering::SeqCst);
    link.send(&request(2, "ping"), Routed::default()).await;
    let moved = async {
        while link.generation() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, moved).await.expect("it is opened again");
}

#[tokio::test]
async fn what_is_meant_for_one_session_leaves_in_no_other() {
    let (sessions, link, mut incoming) = greeted().await;
    let first = link.generation();
    let sent = link.send_in(first, &request(3, "tools/call"), Routed::default()).await;
    assert_eq!(sent, Sending::Sent);
    assert!(matches!(next(&mut incoming).await, Incoming::Message(..)));
    // Nothing of what comes is read from here on: what was decided must not hang on that.
    renewed(&sessions, &link).await;
    for method in ["tools/call", "tools/list"] {
        let sent = link.send_in(first, &request(4, method), Routed::default()).await;
        assert_eq!(sent, Sending::Moved, "{method}");
    }
    let now = link.generation();
    let sent = link.send_in(now, &request(5, "tools/call"), Routed::default()).await;
    assert_eq!(sent, Sending::Sent);
    loop {
        if let Incoming::Message(message, _) = next(&mut incoming).await
            && message.text().contains("\"id\":5")
        {
            break;
        }
    }
    let took = sessions.took.lock().unwrap().clone();
    let calls: Vec<u32> =
        took.iter().filter(|(method, _)| method == "tools/call").map(|(_, s)| *s).collect();
    assert_eq!(calls, [1, 2], "{took:?}");
}

#[tokio::test]
async fn what_a_lost_session_did_not_take_is_not_sent_again_in_the_next() {
    for method in ["tools/list", "tools/call"] {
        let (sessions, link, mut incoming) = greeted().await;
        let first = link.generation();
        sessions.lost.store(1, Ordering::SeqCst);
        let sent = link.send_in(first, &request(3, method), Routed::default()).await;
        assert_eq!(sent, Sending::Sent, "it was not known yet");
        loop {
            match next(&mut incoming).await {
                Incoming::Lost(id, why) => {
                    assert!(why.to_string().contains("opened again"), "{id}: {why}");
                    break;
                }
                Incoming::Message(message, _) => panic!("{}", message.text()),
                _ => {}
            }
        }
        assert_ne!(link.generation(), first);
        let took = sessions.took.lock().unwrap().clone();
        assert!(took.iter().all(|(taken, _)| taken != method), "{took:?}");
    }
}

/// Waits until this is so.
async fn until(what: &str, so: impl Fn() -> bool) {
    let waits = async {
        while !so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{what}"));
}

#[tokio::test]
async fn a_stream_that_is_never_answered_holds_neither_the_next_session_nor_the_end() {
    let (sessions, link, _incoming) = greeted().await;
    let listened = || sessions.listened.lock().unwrap().clone();
    link.speak(Revision::newest(Era::Legacy));
    until("the stream is asked for", || listened() == [1]).await;
    renewed(&sessions, &link).await;
    until("that of the next session is", || listened() == [2]).await;
    link.close().await;
    until("and let go of", || listened().is_empty()).await;
}
