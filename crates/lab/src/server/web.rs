//! The scripted server over Streamable HTTP, on a loopback port.

use super::Serving;
use crate::limits;
use crate::script::Script;
use crate::wire::Wire;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mcp::message::{Kind, Message};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The session of legacy clients: what the server knows hangs on the script, not on a session.
const SESSION: &str = "lab";

/// Serves a script over HTTP until the process ends. Its address is told to the recorder at `recorder`.
///
/// # Errors
/// Where the recorder cannot be reached, or no port can be had.
pub async fn serve_web(script: Script, recorder: &str) -> Result<(), String> {
    let wire = Wire::to(recorder)?;
    let server = Serving::begin(script, wire.clone()).await?;
    let listener =
        TcpListener::bind(("127.0.0.1", 0)).await.map_err(|why| format!("no port: {why}"))?;
    let address = listener.local_addr().map_err(|why| why.to_string())?;
    wire.address(&format!("http://{address}/mcp")).await?;
    let app = Router::new()
        .fallback(answer)
        .layer(DefaultBodyLimit::max(limits::BODY))
        .with_state(server);
    tokio::select! {
        served = axum::serve(listener, app) => served.map_err(|why| why.to_string()),
        // Whoever started it holds its standard input open as long as it is wanted.
        () = left(tokio::io::stdin()) => Ok(()),
    }
}

/// Ends when the other side has closed the input, or broke.
async fn left(mut input: impl AsyncRead + Unpin) {
    let mut buffer = [0; 1 << 10];
    while input.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
}

async fn answer(State(server): State<Arc<Serving>>, method: Method, body: Bytes) -> Response {
    match method {
        Method::POST => post(&server, &body).await,
        Method::GET => {
            let (out, lines) = mpsc::channel(limits::RELAYED);
            server.streams.lock().await.push(out);
            stream(lines)
        }
        Method::DELETE => StatusCode::OK.into_response(),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn post(server: &Arc<Serving>, body: &Bytes) -> Response {
    let Ok(messages) = Message::parse_all(body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let request = messages.into_iter().find_map(|message| match message.kind() {
        Kind::Request { id, method } => Some((id.clone(), method.clone(), message)),
        Kind::Notification { .. } | Kind::Response { .. } => None,
    });
    let Some((id, method, message)) = request else { return StatusCode::ACCEPTED.into_response() };
    let (out, mut lines) = mpsc::channel(limits::RELAYED);
    let subscribes = method == "subscriptions/listen";
    let greets = method == "initialize";
    let serving = Arc::clone(server);
    tokio::spawn(async move { serving.answer(&out, &id, &method, &message).await });
    if subscribes {
        return stream(lines);
    }
    let Some(text) = lines.recv().await else {
        // A tool that never answers: the request stays open until the client gives up.
        return std::future::pending().await;
    };
    let mut response = ([(header::CONTENT_TYPE, "application/json")], text).into_response();
    if greets {
        let session = header::HeaderValue::from_static(SESSION);
        response.headers_mut().insert("mcp-session-id", session);
    }
    response
}

fn stream(lines: mpsc::Receiver<String>) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(Events(lines)))
        .into_response()
}

/// What is said, as events.
struct Events(mpsc::Receiver<String>);

impl futures_core::Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let text = std::task::ready!(self.0.poll_recv(context));
        Poll::Ready(text.map(|text| Ok(format!("event: message\ndata: {text}\n\n").into())))
    }
}
