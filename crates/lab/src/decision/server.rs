//! The contract server: fixtures on a free loopback port, every request recorded before it is answered.

use super::control;
use super::record::{Content, Entry, Seen};
use super::shelf::{Reply, Sent, Shelf};
use super::through::Recording;
use super::tools::{self, Asked};
use crate::limits;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use futures_core::Stream;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

/// How a server is set up.
#[derive(Default)]
pub struct Setup {
    /// The port; a free one where it is 0.
    pub port: u16,
    /// Answer the control API. Off where an agent is judged: it must not reach its judge.
    pub control: bool,
    /// Append each record to this file, a line of JSON each.
    pub file: Option<File>,
    /// Headers that are shown beside those that are safe anyway, in small letters.
    pub chosen: BTreeSet<String>,
    /// How long a request that hangs is held before its connection is cut.
    pub hang: Duration,
    /// Send prompts on to a real model.
    pub through: Option<Recording>,
    /// The tools that are listed to who speaks MCP; none: nobody does.
    pub tools: Vec<Value>,
}

/// A running server. It ends when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// What all connections share.
pub(super) struct Shared {
    inner: Mutex<Inner>,
    control: bool,
    chosen: BTreeSet<String>,
    hang: Duration,
    port: u16,
    through: Option<Recording>,
    tools: Vec<Value>,
}

pub(super) struct Inner {
    pub(super) shelf: Shelf,
    pub(super) entries: Vec<Entry>,
    file: Option<File>,
    /// Why the file of records could not be written, once it could not.
    broken: Option<String>,
}

/// The connection is cut without an answer.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut on purpose")
    }
}

impl std::error::Error for Cut {}

impl Server {
    /// Starts one. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Where the port cannot be had.
    pub async fn start(shelf: Shelf, setup: Setup) -> std::io::Result<Server> {
        let listener = TcpListener::bind(("127.0.0.1", setup.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            inner: Mutex::new(Inner { shelf, entries: Vec::new(), file: setup.file, broken: None }),
            control: setup.control,
            chosen: setup.chosen,
            hang: setup.hang,
            port: address.port(),
            through: setup.through,
            tools: setup.tools,
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Server { address, shared, task })
    }

    /// Its address, as a URL without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that was asked so far, in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.shared.lock().entries.clone()
    }

    /// Why the file of records could not be written, where it could not.
    pub fn broken(&self) -> Option<String> {
        self.shared.lock().broken.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptor is free: the next one may be.
            tokio::time::sleep(limits::ACCEPT_AGAIN).await;
            continue;
        };
        while connections.len() >= limits::CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        // Without it a small answer waits for the other side; where it cannot be set, it is only slower.
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { shared.serve(request).await }
            });
            // How a connection ended is the client's to know: every request that came is on record.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port that is listened on.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    async fn serve(&self, request: Request<Incoming>) -> Result<Response<Body>, Cut> {
        let (head, body) = request.into_parts();
        let read = to_bytes(Body::new(body), limits::BODY).await;
        let whole = read.is_ok();
        let body = read.unwrap_or_default();
        if self.control && head.uri.path().starts_with(control::PREFIX) {
            return Ok(control::answer(self, &head, &body));
        }
        let headers = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let seen = Seen::read(head.method.as_str(), target, headers, &body, &self.chosen);
        if !whole {
            // What came is on record even so: "nothing was sent" must not be said of it.
            return Ok(match self.record_unread(seen) {
                Ok(why) => control::refused(413, &why),
                Err(why) => control::refused(507, &why),
            });
        }
        if whole && !self.tools.is_empty() && head.uri.path() == tools::PATH {
            return self.speak(&head, seen, &body).await;
        }
        if let Some(through) = self.through.as_ref().filter(|through| through.is_for(&seen)) {
            return Ok(self.pass_on(through, seen, &head, body).await);
        }
        let reply = match self.record(seen) {
            Ok(reply) => reply,
            Err(why) => return Ok(control::refused(507, &why)),
        };
        self.reply(reply).await
    }

    /// Answers an MCP client.
    async fn speak(
        &self,
        head: &axum::http::request::Parts,
        whole: Seen,
        body: &Bytes,
    ) -> Result<Response<Body>, Cut> {
        if head.method != axum::http::Method::POST {
            return Ok(control::refused(405, "Messages come by POST; there is no stream here."));
        }
        match tools::read(body, &self.tools, &self.chosen) {
            Asked::Unreadable(why) => Ok(match self.record(whole) {
                // It may have been meant as a call: "nothing was sent" must not be said of it.
                Ok(_) => control::refused(400, &why),
                Err(full) => control::refused(507, &full),
            }),
            Asked::Nothing => {
                let sent = Sent { status: 202, headers: Default::default(), body: Vec::new() };
                self.reply(Reply::Whole(sent)).await
            }
            Asked::Answer(message) => self.reply(Reply::Whole(tools::message(&message))).await,
            Asked::Call(id, seen) => {
                let reply = match self.record(*seen) {
                    Ok(reply) => reply,
                    Err(why) => return Ok(control::refused(507, &why)),
                };
                let reply = match reply {
                    Reply::Whole(sent) => Reply::Whole(tools::result(&id, &sent)),
                    Reply::Headers(sent) => Reply::Headers(tools::result(&id, &sent)),
                    Reply::Half(sent) => Reply::Half(tools::result(&id, &sent)),
                    Reply::Silence => Reply::Silence,
                };
                self.reply(reply).await
            }
        }
    }

    async fn reply(&self, reply: Reply) -> Result<Response<Body>, Cut> {
        match reply {
            Reply::Whole(sent) => Ok(response(&sent, Body::from(sent.body.clone()), None)),
            Reply::Headers(sent) => {
                let length = sent.body.len().max(1);
                Ok(response(&sent, broken_off(Vec::new()), Some(length)))
            }
            Reply::Half(sent) => {
                let half = sent.body[..sent.body.len() / 2].to_vec();
                let length = sent.body.len().max(1);
                Ok(response(&sent, broken_off(half), Some(length)))
            }
            Reply::Silence => {
                tokio::time::sleep(self.hang).await;
                Err(Cut)
            }
        }
    }

    /// Records a prompt, and only then asks the real model.
    async fn pass_on(
        &self,
        through: &Recording,
        seen: Seen,
        head: &axum::http::request::Parts,
        body: Bytes,
    ) -> Response<Body> {
        let recorded = {
            let mut inner = self.lock();
            next(&inner).and_then(|n| {
                let turn = inner.entries.iter().filter(|entry| entry.is_prompt()).count() + 1;
                let name = format!("{}{turn}", Entry::TURN);
                let (fixture, seen) = (Some(name), seen.clone());
                let answer = Value::Null;
                append(&mut inner, Entry { n, seen, fixture, status: None, fault: None, answer })
            })
        };
        if let Err(why) = recorded {
            return control::refused(507, &why);
        }
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let (status, answer) = through.ask(&seen, target, &head.headers, body).await;
        let headers = [("content-type".to_owned(), "application/json".to_owned())].into();
        let body = answer.to_string().into_bytes();
        response(&Sent { status, headers, body: body.clone() }, Body::from(body), None)
    }

    /// Records a request, and only then says what it is answered.
    fn record(&self, seen: Seen) -> Result<Reply, String> {
        let mut inner = self.lock();
        let n = next(&inner)?;
        let (entry, reply) = inner.shelf.answer(n, seen);
        append(&mut inner, entry)?;
        Ok(reply)
    }

    /// Records a request whose body could not be read; gives what it is told.
    fn record_unread(&self, mut seen: Seen) -> Result<String, String> {
        let mut inner = self.lock();
        let n = next(&inner)?;
        let most = limits::BODY >> 20;
        seen.body = Content::Text(format!("(more than {most} MB, or broken off)"));
        let why = format!("A body may have {most} MB, and must be whole.");
        let answer = Value::from(why.as_str());
        let entry = Entry { n, seen, fixture: None, status: Some(413), fault: None, answer };
        append(&mut inner, entry)?;
        Ok(why)
    }
}

/// The number of the next record.
fn next(inner: &Inner) -> Result<usize, String> {
    match inner.entries.len() >= limits::RECORDS {
        true => Err(format!("{} requests are on record; there is no room.", limits::RECORDS)),
        false => Ok(inner.entries.len() + 1),
    }
}

fn append(inner: &mut Inner, entry: Entry) -> Result<(), String> {
    if let Some(file) = &mut inner.file {
        let line = serde_json::to_string(&entry).map_err(|why| why.to_string());
        let written = line.and_then(|line| {
            file.write_all(format!("{line}\n").as_bytes()).map_err(|why| why.to_string())
        });
        if let Err(why) = written {
            let why = format!("The file of records cannot be written: {why}.");
            inner.broken = Some(why.clone());
            return Err(why);
        }
    }
    inner.entries.push(entry);
    Ok(())
}

fn response(sent: &Sent, body: Body, length: Option<usize>) -> Response<Body> {
    let mut response = Response::builder().status(sent.status);
    for (name, value) in &sent.headers {
        response = response.header(name, value);
    }
    if let Some(length) = length {
        response = response.header("content-length", length);
    }
    response
        .body(body)
        .unwrap_or_else(|_| control::refused(500, "The fixture has a header that HTTP has not."))
}

/// A body that gives these bytes, lets them leave, and breaks off.
fn broken_off(bytes: Vec<u8>) -> Body {
    let first = (!bytes.is_empty()).then(|| Bytes::from(bytes));
    Body::from_stream(BrokenOff { first, pause: None })
}

struct BrokenOff {
    first: Option<Bytes>,
    pause: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Stream for BrokenOff {
    type Item = Result<Bytes, Cut>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(bytes) = self.first.take() {
            return Poll::Ready(Some(Ok(bytes)));
        }
        let pause = self.pause.get_or_insert_with(|| Box::pin(tokio::time::sleep(limits::LEAVE)));
        match pause.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(Cut))),
            Poll::Pending => Poll::Pending,
        }
    }
}
