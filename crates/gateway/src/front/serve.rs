//! Listening: connections and requests within bounds, and an orderly end.

use super::endpoint::Endpoint;
use super::{Front, answer, lock, modern};
use crate::limits;
use crate::session::settle_gone;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use axum::routing::{any, get};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use mcp::Revision;
use mcp::message::{self, Message};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::SessionEnd;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// Serves until it is told to stop; then calls under way are finished, or their outcome is recorded as in doubt.
pub async fn serve(front: Arc<Front>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let app = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/mcp/{endpoint}", any(endpoint))
        .with_state(Arc::clone(&front));
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(connections()));
    let sweeper = tokio::spawn(sweep(Arc::clone(&front)));
    let settling: Vec<AbortHandle> = front
        .servers
        .values()
        .next()
        .into_iter()
        .map(|served| tokio::spawn(settle_gone(Arc::clone(&served.hub))).abort_handle())
        .collect();
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
            // Out of descriptors, as a rule: some will be free in a moment.
            sleep(limits::ACCEPT_PAUSE).await;
            continue;
        };
        // Events are small and each is waited for.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(app.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A connection that breaks ends the requests on it, which is all there is to it.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    sweeper.abort();
    settling.iter().for_each(AbortHandle::abort);
    front.finish().await;
    let _ = timeout(limits::LEAVE, graceful.shutdown()).await;
}

/// How many connections are taken at once: as many as this process may have descriptors for, once it asked for all that it
/// may have. Those that are over wait in the queue of the system, and none that was taken lacks one for its server.
fn connections() -> usize {
    let wanted = (limits::CONNECTIONS * limits::DESCRIPTORS_EACH) as u64;
    let mut given = getrlimit(Resource::Nofile);
    let most = given.maximum.map_or(wanted, |most| most.min(wanted));
    if given.current.is_some_and(|now| now < most) {
        let asked = Rlimit { current: Some(most), maximum: given.maximum };
        // Where that is refused, what there is has to do.
        let _ = setrlimit(Resource::Nofile, asked);
        given = getrlimit(Resource::Nofile);
    }
    let given = given.current.unwrap_or(wanted).min(wanted);
    usize::try_from(given).unwrap_or(limits::CONNECTIONS) / limits::DESCRIPTORS_EACH
}

/// Ends what has expired, again and again.
async fn sweep(front: Arc<Front>) {
    loop {
        sleep(limits::SWEEP.min(front.config.idle)).await;
        let (legacy, fans) = (front.expired(), front.expired_fans().await);
        // One that takes long to end holds up no other.
        let mut ending = lock(&front.ending);
        while ending.try_join_next().is_some() {}
        for legacy in legacy {
            ending.spawn(async move { legacy.close(SessionEnd::Expired).await });
        }
        for fan in fans {
            ending.spawn(async move { fan.close(SessionEnd::Expired).await });
        }
    }
}

async fn healthz(State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap) -> Response {
    match front.guard.check(&uri, &headers) {
        Ok(()) => answer::text(StatusCode::OK, "text/plain", "ok\n"),
        Err(response) => *response,
    }
}

async fn readyz(State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap) -> Response {
    match front.admit(&uri, &headers) {
        Ok(_) => front.ready().await,
        Err(response) => *response,
    }
}

async fn metrics(State(front): State<Arc<Front>>, uri: Uri, headers: HeaderMap) -> Response {
    match front.admit(&uri, &headers) {
        Ok(_) => front.metrics().await,
        Err(response) => *response,
    }
}

async fn endpoint(
    State(front): State<Arc<Front>>,
    Path(endpoint): Path<String>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match front.answer(&endpoint, &method, &uri, &headers, body).await {
        Ok(response) | Err(response) => front.while_it_opens(&headers, response),
    }
}

impl Front {
    /// Who asks, once it is known that the request is meant for here.
    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<String, Box<Response>> {
        self.guard.check(uri, headers)?;
        self.principal(headers)
    }

    async fn answer(
        self: &Arc<Self>,
        endpoint: &str,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, Response> {
        let principal = self.admit(uri, headers).map_err(|response| *response)?;
        let Some(endpoint) = Endpoint::read(endpoint) else {
            return Err(answer::refused(StatusCode::NOT_FOUND, "There is no such server here."));
        };
        self.served(&endpoint).map_err(|response| *response)?;
        if self.closing.load(Ordering::Acquire) {
            return Err(answer::refused(StatusCode::SERVICE_UNAVAILABLE, "The gateway is ending."));
        }
        if method != Method::POST {
            let known = method == Method::GET || method == Method::DELETE;
            if !known || modern::is_modern(headers, &[]) {
                let mut response = answer::empty(StatusCode::METHOD_NOT_ALLOWED);
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
                return Err(response);
            }
            return Ok(if method == Method::GET {
                self.legacy_get(&endpoint, &principal, headers)
            } else {
                self.legacy_delete(&endpoint, &principal, headers).await
            });
        }
        let messages = messages(headers, body).await?;
        Ok(if modern::is_modern(headers, &messages) {
            self.modern_post(&endpoint, &principal, headers, messages).await
        } else {
            self.legacy_post(&endpoint, &principal, headers, messages).await
        })
    }

    /// Lets calls finish, then ends every session.
    async fn finish(&self) {
        self.closing.store(true, Ordering::Release);
        let legacy: Vec<_> = lock(&self.sessions).values().cloned().collect();
        let fans: Vec<_> = self.fans.lock().await.values().cloned().collect();
        let deadline = Instant::now() + limits::FINISH;
        let sessions = legacy.iter().map(|l| &l.joined).chain(fans.iter().map(|f| &f.joined));
        for joined in sessions {
            let _ = tokio::time::timeout_at(deadline, joined.session.settled()).await;
        }
        let mut ending = std::mem::take(&mut *lock(&self.ending));
        for legacy in legacy {
            ending.spawn(async move { legacy.close(SessionEnd::Closed).await });
        }
        for fan in fans {
            ending.spawn(async move { fan.close(SessionEnd::Closed).await });
        }
        let ended = async { while ending.join_next().await.is_some() {} };
        let _ = timeout(limits::ENDING, ended).await;
        lock(&self.sessions).clear();
        self.fans.lock().await.clear();
    }
}

/// Reads the messages of a POST, within bounds of size and time.
async fn messages(headers: &HeaderMap, body: Body) -> Result<Vec<Message>, Response> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(answer::refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "A message is sent as Content-Type: application/json.",
        ));
    }
    let long = || {
        let why = format!("A message has at most {} bytes.", mcp::limits::MESSAGE_BYTES);
        answer::refused(StatusCode::PAYLOAD_TOO_LARGE, &why)
    };
    let said = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if said.and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n > mcp::limits::MESSAGE_BYTES) {
        return Err(long());
    }
    let read = timeout(limits::BODY, to_bytes(body, mcp::limits::MESSAGE_BYTES)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        // Longer than it said, or broken off: then nobody hears this.
        Ok(Err(_)) => return Err(long()),
        Err(_) => {
            let why = "The body did not come in time.";
            return Err(answer::refused(StatusCode::REQUEST_TIMEOUT, why));
        }
    };
    let version = headers.get(super::legacy::VERSION).and_then(|version| version.to_str().ok());
    let alone = version.is_some_and(|v| Revision::named(v).is_none_or(|r| !r.has_batches()));
    let unfit = match Message::parse_all(&bytes) {
        Ok(_) if alone && bytes.trim_ascii_start().first() == Some(&b'[') => message::NO_BATCHES,
        Ok(messages) if messages.iter().any(Message::has_null_id) => message::NULL_ID,
        Ok(messages) => return Ok(messages),
        Err(why) => why,
    };
    Err(answer::unreadable(&unfit))
}
