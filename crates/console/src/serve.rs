//! The listener: connections within bounds, what is let in, and how every answer is fenced.

use crate::guard::Out;
use crate::{Console, act, limits, page};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// The pages; each is the same document, which asks for its part.
const SHELL: &str = include_str!("../assets/console.html");
const SCRIPT: &str = include_str!("../assets/console.js");
const STYLE: &str = include_str!("../assets/console.css");
const ICON: &str = include_str!("../assets/icon.svg");

/// Nothing from elsewhere, nothing inline, no frame, no form that goes anywhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct Served {
    console: Arc<Console>,
    streams: Arc<Semaphore>,
}

/// Serves until it is told to stop.
pub async fn serve(console: Arc<Console>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let watching = tokio::spawn(Arc::clone(&console).watch()).abort_handle();
    let following = tokio::spawn(Arc::clone(&console).follow()).abort_handle();
    let streams = Arc::new(Semaphore::new(limits::STREAMS));
    let app = Router::new()
        .route(
            "/console.js",
            get(|s: Place, u: Uri, h: HeaderMap| asset(s, u, h, "text/javascript", SCRIPT)),
        )
        .route(
            "/console.css",
            get(|s: Place, u: Uri, h: HeaderMap| asset(s, u, h, "text/css", STYLE)),
        )
        .route(
            "/icon.svg",
            get(|s: Place, u: Uri, h: HeaderMap| asset(s, u, h, "image/svg+xml", ICON)),
        )
        .route("/", get(|s: Place, u: Uri, h: HeaderMap| asset(s, u, h, "text/html", SHELL)))
        .route("/{page}", get(shell))
        .route("/session", post(session))
        .route("/live", get(changes))
        .route("/part/{page}", get(part))
        .route("/do/{act}", post(deed))
        .fallback(nothing)
        .with_state(Arc::new(Served { console, streams }));
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD)
        .max_buf_size(limits::HEAD_BYTES)
        .max_headers(limits::HEADERS);
    tokio::pin!(stop);
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&room).acquire_owned() => permit,
            () = &mut stop => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let Ok((stream, _)) = accepted else {
            sleep(limits::ACCEPT_PAUSE).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A connection that breaks ends the requests on it, which is all there is to it.
            let _ = connection.await;
            drop(permit);
        });
    }
    watching.abort();
    following.abort();
    let _ = timeout(limits::LEAVE, graceful.shutdown()).await;
}

type Place = State<Arc<Served>>;

fn near(served: &Place, uri: &Uri, headers: &HeaderMap, changes: bool) -> Result<(), Out> {
    served.console.guard.near(uri, headers, changes)
}

/// Meant for here, from a page of here, with a session.
fn admitted(served: &Place, uri: &Uri, headers: &HeaderMap, changes: bool) -> Result<(), Out> {
    near(served, uri, headers, changes)?;
    served.console.guard.knows(headers)
}

/// The files of the page hold no secret and tell nothing: whoever is near may read them.
async fn asset(
    served: Place,
    uri: Uri,
    headers: HeaderMap,
    kind: &'static str,
    content: &'static str,
) -> Response {
    match near(&served, &uri, &headers, false) {
        Ok(()) => answer(StatusCode::OK, kind, content),
        no => refused(&no, StatusCode::FORBIDDEN),
    }
}

async fn shell(served: Place, Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    match near(&served, &uri, &headers, false) {
        Ok(()) if page::known(&name) => answer(StatusCode::OK, "text/html", SHELL),
        no => refused(&no, StatusCode::NOT_FOUND),
    }
}

async fn nothing(served: Place, uri: Uri, headers: HeaderMap) -> Response {
    refused(&near(&served, &uri, &headers, false), StatusCode::NOT_FOUND)
}

async fn session(served: Place, uri: Uri, headers: HeaderMap) -> Response {
    if let no @ Err(_) = near(&served, &uri, &headers, true) {
        return refused(&no, StatusCode::FORBIDDEN);
    }
    match served.console.guard.open(&headers) {
        Ok(Some(session)) => json_answer(StatusCode::OK, &json!({ "session": session })),
        Ok(None) => refused(&Err(Out::Unknown), StatusCode::UNAUTHORIZED),
        Err(why) => json_answer(StatusCode::SERVICE_UNAVAILABLE, &json!({ "error": why })),
    }
}

async fn changes(served: Place, uri: Uri, headers: HeaderMap) -> Response {
    if let no @ Err(_) = admitted(&served, &uri, &headers, false) {
        return refused(&no, StatusCode::FORBIDDEN);
    }
    match Arc::clone(&served.streams).try_acquire_owned() {
        Ok(place) => answer(StatusCode::OK, "text/event-stream", served.console.stream(place)),
        Err(_) => {
            let why = format!("{} windows are open already; close one.", limits::STREAMS);
            json_answer(StatusCode::SERVICE_UNAVAILABLE, &json!({ "error": why }))
        }
    }
}

async fn part(served: Place, Path(name): Path<String>, uri: Uri, headers: HeaderMap) -> Response {
    if let no @ Err(_) = admitted(&served, &uri, &headers, false) {
        return refused(&no, StatusCode::FORBIDDEN);
    }
    let query = page::Query::read(uri.query().unwrap_or_default());
    match page::draw(&served.console, &name, &query).await {
        Some(drawn) => answer(StatusCode::OK, "text/html", drawn),
        None => refused(&Ok(()), StatusCode::NOT_FOUND),
    }
}

async fn deed(
    served: Place,
    Path(name): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    if let no @ Err(_) = admitted(&served, &uri, &headers, true) {
        return refused(&no, StatusCode::FORBIDDEN);
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if kind != Some("application/json") {
        let why = "An act is sent as Content-Type: application/json.";
        return json_answer(StatusCode::UNSUPPORTED_MEDIA_TYPE, &json!({ "error": why }));
    }
    let asked: Value = match timeout(limits::BODY, to_bytes(body, limits::BODY_BYTES)).await {
        Ok(Ok(bytes)) => serde_json::from_slice(&bytes).unwrap_or(Value::Null),
        Ok(Err(_)) => {
            let why = format!("An act has at most {} bytes.", limits::BODY_BYTES);
            return json_answer(StatusCode::PAYLOAD_TOO_LARGE, &json!({ "error": why }));
        }
        Err(_) => {
            let why = "The body did not come in time.";
            return json_answer(StatusCode::REQUEST_TIMEOUT, &json!({ "error": why }));
        }
    };
    match act::done(&served.console, &name, &asked).await {
        Ok(said) => json_answer(StatusCode::OK, &json!({ "said": said })),
        Err(act::No::Unknown) => refused(&Ok(()), StatusCode::NOT_FOUND),
        Err(act::No::ReadOnly(why)) => json_answer(StatusCode::FORBIDDEN, &json!({ "error": why })),
        Err(act::No::Refused(why)) => json_answer(StatusCode::CONFLICT, &json!({ "error": why })),
    }
}

/// The answer to whoever does not come in; `otherwise` where it was let in.
fn refused(no: &Result<(), Out>, otherwise: StatusCode) -> Response {
    let (status, why) = match no {
        Err(Out::Elsewhere) => (
            StatusCode::FORBIDDEN,
            "This console answers its own page alone, at the address that its terminal printed.",
        ),
        Err(Out::Unknown) => (
            StatusCode::UNAUTHORIZED,
            "No session of this console: open the link that its terminal printed. Each opens it once.",
        ),
        Ok(()) => (otherwise, "There is no such page here."),
    };
    json_answer(status, &json!({ "error": why }))
}

fn json_answer(status: StatusCode, value: &Value) -> Response {
    answer(status, "application/json", value.to_string())
}

/// An answer with the fence around it.
fn answer(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let kind = match kind {
        "text/html" => "text/html; charset=utf-8",
        "text/javascript" => "text/javascript; charset=utf-8",
        "text/css" => "text/css; charset=utf-8",
        other => other,
    };
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
