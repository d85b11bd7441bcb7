//! The forms that an answer over HTTP takes.

use super::queue::Reader;
use super::streams::Event;
use crate::limits;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use mcp::message::{self, Id, NotAMessage};
use serde_json::Value;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::{Instant, Sleep, sleep};

/// The type of a stream.
pub const EVENTS: &str = "text/event-stream";

/// A body with a type. Nothing that is said here may be kept by anyone between.
pub fn text(status: StatusCode, kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// One message.
pub fn json(status: StatusCode, message: String) -> Response {
    text(status, "application/json", message)
}

/// Taken, with nothing to say.
pub fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

/// A status alone.
pub fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// The request as a whole is refused, before any message of it was looked at.
pub fn refused(status: StatusCode, why: &str) -> Response {
    error(status, None, -32600, why, None)
}

/// An error of the protocol.
pub fn error(
    status: StatusCode,
    id: Option<&Id>,
    code: i64,
    why: &str,
    data: Option<&Value>,
) -> Response {
    let id = id.map_or("null".to_owned(), ToString::to_string);
    let data = data.map_or(String::new(), |data| format!(",\"data\":{data}"));
    let why = Value::from(why);
    json(
        status,
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{why}{data}}}}}"
        ),
    )
}

/// The gateway itself failed at it. What began is on record.
pub fn broken(why: &tokio::task::JoinError) -> Response {
    let why = format!("The gateway could not finish it: {why}.");
    refused(StatusCode::INTERNAL_SERVER_ERROR, &why)
}

/// What came is no message.
pub fn unreadable(why: &NotAMessage) -> Response {
    json(StatusCode::BAD_REQUEST, message::unreadable(why))
}

/// An event stream. `kept` lives as long as the client reads it.
pub fn stream<K: Send + Unpin + 'static>(
    first: VecDeque<Event>,
    reader: Reader<Event>,
    kept: K,
) -> Response {
    let events = Events { first, reader, alive: Box::pin(sleep(limits::ALIVE)), _kept: kept };
    let mut response = text(StatusCode::OK, EVENTS, Body::from_stream(events));
    // Proxies that gather what they pass on would hold back each event.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A body that ends at the latest when that is over.
pub fn until(body: Body, over: impl Future<Output = ()> + Send + 'static) -> Body {
    Body::from_stream(Until { body: Some(body.into_data_stream()), over: Box::pin(over) })
}

struct Until {
    /// Let go of as soon as it ends, with all that lives as long as it is read.
    body: Option<BodyDataStream>,
    over: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl futures_core::Stream for Until {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.over.as_mut().poll(context).is_ready() {
            self.body = None;
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

struct Events<K> {
    first: VecDeque<Event>,
    reader: Reader<Event>,
    alive: Pin<Box<Sleep>>,
    _kept: K,
}

impl<K: Unpin> futures_core::Stream for Events<K> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = match self.first.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => self.reader.poll(context),
        };
        if let Poll::Ready(event) = next {
            self.alive.as_mut().reset(Instant::now() + limits::ALIVE);
            return Poll::Ready(event.map(|event| Ok(Bytes::from(event.0.as_bytes().to_vec()))));
        }
        std::task::ready!(self.alive.as_mut().poll(context));
        self.alive.as_mut().reset(Instant::now() + limits::ALIVE);
        // The reset timer has to be asked once to wake this task.
        let _ = self.alive.as_mut().poll(context);
        Poll::Ready(Some(Ok(Bytes::from_static(b": still here\n\n"))))
    }
}
