//! Clients of the legacy era: a session with a handshake, a stream a POST, and one for what nobody asked for.

use super::answer;
use super::endpoint::Endpoint;
use super::joined::Joined;
use super::queue::Reader;
use super::streams::{Event, Put, Streams};
use super::token::random;
use super::{Front, lock, single};
use crate::limits;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use mcp::message::{Id, Kind, Message};
use mcp::{Era, Revision, json};
use std::collections::VecDeque;
use std::sync::Arc;
use store::SessionEnd;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio::time::timeout;

/// The header that names the session.
pub const SESSION: &str = "mcp-session-id";
/// The header that names the revision.
pub const VERSION: &str = "mcp-protocol-version";

/// One client of the legacy era.
pub struct Legacy {
    pub(super) joined: Joined,
    streams: Arc<Streams>,
}

impl Front {
    /// A POST of a legacy client.
    pub(super) async fn legacy_post(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        principal: &str,
        headers: &HeaderMap,
        messages: Vec<Message>,
    ) -> Response {
        let greets = |message: &Message| matches!(message.kind(), Kind::Request { method, .. } if method == "initialize");
        if messages.iter().any(greets) {
            let one = <[Message; 1]>::try_from(messages);
            return match (one, single(headers, SESSION)) {
                (Ok([message]), Ok(None)) => self.initialize(endpoint, principal, message).await,
                _ => answer::refused(
                    StatusCode::BAD_REQUEST,
                    "initialize opens a session: it comes alone and names none.",
                ),
            };
        }
        let legacy = match self.session_of(endpoint, principal, headers) {
            Ok(legacy) => legacy,
            Err(response) => return *response,
        };
        let version = single(headers, VERSION).ok().flatten();
        if messages.len() > 1 && version.is_some_and(|version| version != "2025-03-26") {
            let why = format!("Revision {} has no batches.", version.unwrap_or_default());
            return answer::refused(StatusCode::BAD_REQUEST, &why);
        }
        let requests: Vec<Id> = messages
            .iter()
            .filter_map(|message| match message.kind() {
                Kind::Request { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect();
        if requests.is_empty() {
            return match legacy.take(messages).await {
                Ok(()) => answer::accepted(),
                Err(why) => answer::broken(&why),
            };
        }
        // Before this revision clients took the first event for the answer.
        let primed = version.and_then(Revision::named) >= Revision::named("2025-11-25");
        let (first, reader) = match legacy.streams.open(&requests, primed) {
            Ok(stream) => stream,
            Err(id) => {
                let why = format!("The id {id} is in use by a request under way.");
                return answer::error(StatusCode::BAD_REQUEST, Some(&id), -31_002, &why, None);
            }
        };
        if let Err(why) = legacy.take(messages).await {
            return answer::broken(&why);
        }
        let streams = headers.get_all(header::ACCEPT).iter().any(|value| {
            value.to_str().is_ok_and(|v| v.contains("text/event-stream") || v.contains("*/*"))
        });
        if streams {
            return answer::stream(first, reader, legacy);
        }
        answers(reader, requests.len()).await
    }

    /// Opens a session, in a task of its own: what began is finished or undone also where the client leaves meanwhile.
    async fn initialize(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        principal: &str,
        message: Message,
    ) -> Response {
        let (reply, answer) = oneshot::channel();
        let (front, endpoint, principal) =
            (Arc::clone(self), endpoint.clone(), principal.to_owned());
        tokio::spawn(async move { front.open(&endpoint, &principal, &message, reply).await });
        answer.await.unwrap_or_else(|_| {
            answer::refused(StatusCode::INTERNAL_SERVER_ERROR, "No session could be opened.")
        })
    }

    /// Opens a session. Its answer is one message, so that the header with the session goes with it. Where nobody waits
    /// for it any more, the session ends again: nobody knows its name.
    async fn open(
        &self,
        endpoint: &Endpoint,
        principal: &str,
        message: &Message,
        mut reply: oneshot::Sender<Response>,
    ) {
        let Kind::Request { id, .. } = message.kind() else { return };
        let (name, legacy) = match self.opened(endpoint, principal).await {
            Ok(opened) => opened,
            // A client that left needs no answer.
            Err(response) => return drop(reply.send(response)),
        };
        let Ok((_, mut reader)) = legacy.streams.open(std::slice::from_ref(id), false) else {
            return legacy.close(SessionEnd::Closed).await;
        };
        legacy.joined.session.from_client(message.clone()).await;
        let greeting = tokio::select! {
            greeting = timeout(limits::HANDSHAKE, reader.next()) => greeting.ok().flatten(),
            () = reply.closed() => None,
        };
        let Some(text) = greeting.as_ref().and_then(data) else {
            legacy.close(SessionEnd::Closed).await;
            let why = format!("{} did not answer the handshake.", endpoint.server);
            let response =
                answer::error(StatusCode::GATEWAY_TIMEOUT, Some(id), -31_001, &why, None);
            return drop(reply.send(response));
        };
        let mut response = answer::json(StatusCode::OK, text.to_owned());
        if json::find(text, &["error"]).is_some() {
            // No handshake, no session.
            legacy.close(SessionEnd::Closed).await;
            return drop(reply.send(response));
        }
        if let Ok(mut value) = HeaderValue::from_str(&name) {
            value.set_sensitive(true);
            response.headers_mut().insert(SESSION, value);
        }
        lock(&self.sessions).insert(name.clone(), legacy);
        if reply.send(response).is_err() {
            let legacy = lock(&self.sessions).remove(&name);
            if let Some(legacy) = legacy {
                legacy.close(SessionEnd::Closed).await;
            }
        }
    }

    /// A session that is joined to its server, with the name that its client will know it by.
    async fn opened(
        &self,
        endpoint: &Endpoint,
        principal: &str,
    ) -> Result<(String, Arc<Legacy>), Response> {
        let served = self.served(endpoint).map_err(|response| *response)?;
        let place = self.reserve(endpoint, principal).map_err(|response| *response)?;
        let name =
            random().map_err(|why| answer::refused(StatusCode::SERVICE_UNAVAILABLE, &why))?;
        let streams = Arc::new(Streams::counted(&self.replay));
        let take = {
            let (streams, events) = (Arc::clone(&streams), served.hub.events.clone());
            let server = served.name.clone();
            move |outgoing| {
                if streams.put(&outgoing) == Put::Cut {
                    events.tell(crate::Event::slow(&server));
                }
            }
        };
        let era = store::Era::Legacy;
        let joined = Joined::open(served, endpoint, principal, era, place, take).await?;
        Ok((name, Arc::new(Legacy { joined, streams })))
    }

    /// A GET of a legacy client: the stream of what it did not ask for, or one that broke.
    pub(super) fn legacy_get(
        &self,
        endpoint: &Endpoint,
        principal: &str,
        headers: &HeaderMap,
    ) -> Response {
        let legacy = match self.session_of(endpoint, principal, headers) {
            Ok(legacy) => legacy,
            Err(response) => return *response,
        };
        match single(headers, "last-event-id") {
            Ok(None) => {
                let (first, reader) = legacy.streams.listen();
                answer::stream(first, reader, ())
            }
            Ok(Some(last)) => match legacy.streams.resume(last) {
                Some((first, reader)) => answer::stream(first, reader, ()),
                None => answer::refused(
                    StatusCode::BAD_REQUEST,
                    "What came after that event is not kept any more. What was done is on record: steadfast activity.",
                ),
            },
            Err(()) => answer::refused(StatusCode::BAD_REQUEST, "Last-Event-ID must stand once."),
        }
    }

    /// A DELETE of a legacy client: it leaves.
    pub(super) async fn legacy_delete(
        &self,
        endpoint: &Endpoint,
        principal: &str,
        headers: &HeaderMap,
    ) -> Response {
        if let Err(response) = self.session_of(endpoint, principal, headers) {
            return *response;
        }
        let name = single(headers, SESSION).ok().flatten().unwrap_or_default();
        let legacy = lock(&self.sessions).remove(name);
        if let Some(legacy) = legacy {
            // It ends also where the client does not wait for that.
            let closing = tokio::spawn(async move { legacy.close(SessionEnd::Closed).await });
            if let Err(why) = closing.await {
                return answer::broken(&why);
            }
        }
        answer::empty(StatusCode::NO_CONTENT)
    }

    /// The session that a request belongs to. One of another principal or server is as unknown as one that ended: the
    /// client then opens a new one.
    fn session_of(
        &self,
        endpoint: &Endpoint,
        principal: &str,
        headers: &HeaderMap,
    ) -> Result<Arc<Legacy>, Box<Response>> {
        match single(headers, VERSION) {
            Ok(None) => {}
            Ok(Some(version)) if Revision::named(version).is_some_and(|r| r.era == Era::Legacy) => {
            }
            _ => {
                return Err(answer::refused(
                    StatusCode::BAD_REQUEST,
                    "MCP-Protocol-Version names no revision that has sessions.",
                )
                .into());
            }
        }
        let name = match single(headers, SESSION) {
            Ok(Some(name)) => name,
            _ => {
                return Err(answer::refused(
                    StatusCode::BAD_REQUEST,
                    "Mcp-Session-Id is missing; initialize gives one.",
                )
                .into());
            }
        };
        let legacy = lock(&self.sessions).get(name).cloned().filter(|legacy| {
            legacy.joined.principal == principal && legacy.joined.endpoint == *endpoint
        });
        match legacy {
            Some(legacy) => {
                legacy.joined.touch();
                Ok(legacy)
            }
            None => Err(answer::error(
                StatusCode::NOT_FOUND,
                None,
                -32_001,
                "There is no such session; initialize opens one.",
                None,
            )
            .into()),
        }
    }

    /// Takes the sessions out that have expired.
    pub(super) fn expired(&self) -> Vec<Arc<Legacy>> {
        let idle = self.config.idle;
        let mut sessions = lock(&self.sessions);
        let expired: Vec<String> = sessions
            .iter()
            .filter(|(_, legacy)| {
                legacy.streams.sweep();
                legacy.joined.is_over(idle, !legacy.streams.is_quiet())
            })
            .map(|(name, _)| name.clone())
            .collect();
        expired.into_iter().filter_map(|name| sessions.remove(&name)).collect()
    }
}

impl Legacy {
    /// Takes messages in, in their order and all of them, whether or not the client stays to hear of it.
    async fn take(self: &Arc<Self>, messages: Vec<Message>) -> Result<(), JoinError> {
        let legacy = Arc::clone(self);
        let taking = tokio::spawn(async move {
            for message in messages {
                legacy.joined.session.from_client(message).await;
            }
        });
        taking.await
    }

    /// Ends the session and its streams.
    pub(super) async fn close(&self, how: SessionEnd) {
        self.joined.close(how).await;
        self.streams.close();
    }
}

/// The answers of a stream as one body, for a client that reads no streams. What comes beside them has nowhere to go.
async fn answers(mut reader: Reader<Event>, count: usize) -> Response {
    let mut found = VecDeque::new();
    while let Some(event) = reader.next().await {
        let Some(text) = data(&event) else { continue };
        if json::find(text, &["method"]).is_none() {
            found.push_back(text.to_owned());
        }
    }
    match (count, found.len()) {
        (1, 1) => answer::json(StatusCode::OK, found.pop_front().unwrap_or_default()),
        (_, 0) => answer::refused(StatusCode::BAD_GATEWAY, "No answer came."),
        _ => {
            let texts: Vec<String> = found.into();
            answer::json(StatusCode::OK, format!("[{}]", texts.join(",")))
        }
    }
}

/// The message of an event.
fn data(event: &Event) -> Option<&str> {
    event.0.lines().find_map(|line| line.strip_prefix("data: ")).filter(|text| !text.is_empty())
}
