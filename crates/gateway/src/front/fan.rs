//! Clients of the modern era: all of one principal share a session and its connection to the server.
//!
//! Two clients may use one id at once, so on the way to the server each request gets an id of the gateway's own, of the
//! same type; so do the tokens under which progress is told. On the way back everything is put back as the client
//! wrote it. Nothing else of a message is touched.

use super::endpoint::Endpoint;
use super::joined::Joined;
use super::queue::{self, Cut, Reader, Weighed, Writer};
use super::{Front, Served, answer, lock};
use crate::Event;
use crate::session::Outgoing;
use axum::response::Response;
use mcp::json;
use mcp::message::{self, Id, Kind, Message};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use store::SessionEnd;
use tokio::task::JoinHandle;

/// Where a message names the subscription that it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What the modern clients of one principal share.
pub struct Fan {
    pub(super) joined: Joined,
    waiting: Arc<Waiting>,
    count: AtomicU64,
}

/// Requests under way, by the id that the server knows them by.
type Waiting = Mutex<BTreeMap<Id, Waiter>>;

/// A request under way.
struct Waiter {
    /// The id as the client wrote it.
    id: String,
    /// The token for progress as the client wrote it.
    token: Option<String>,
    writer: Writer<Said>,
}

/// A message for the client.
pub struct Said {
    /// Its text, in the client's ids.
    pub text: String,
    /// It is the answer.
    pub ends: bool,
}

impl Weighed for Said {
    fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// A request that a client waits for. Dropped before its answer came, it is cancelled: that is what closing the stream
/// means in this era.
pub struct Asked {
    fan: Arc<Fan>,
    id: Id,
    /// The request is being taken in; that is finished whoever still waits.
    begun: Option<JoinHandle<()>>,
    /// What comes.
    pub reader: Reader<Said>,
}

impl Front {
    /// What the modern clients of a principal share; it is opened where nobody has come in this way yet, in a task of its
    /// own, so that it is there whole also where the client leaves meanwhile.
    pub(super) async fn fan(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        principal: &str,
    ) -> Result<Arc<Fan>, Response> {
        let key = (endpoint.clone(), principal.to_owned());
        let known = self.fans.lock().await.get(&key).cloned();
        if let Some(fan) = known {
            fan.joined.touch();
            return Ok(fan);
        }
        let (front, endpoint, principal) =
            (Arc::clone(self), endpoint.clone(), principal.to_owned());
        let opened = tokio::spawn(async move {
            let served = front.served(&endpoint).map_err(|response| *response)?;
            front.open_fan(served, &endpoint, &principal).await
        });
        match opened.await {
            Ok(opened) => opened,
            Err(why) => Err(answer::broken(&why)),
        }
    }

    async fn open_fan(
        &self,
        served: &Served,
        endpoint: &Endpoint,
        principal: &str,
    ) -> Result<Arc<Fan>, Response> {
        let key = (endpoint.clone(), principal.to_owned());
        let waiting: Arc<Waiting> = Arc::default();
        let take = {
            let (waiting, events) = (Arc::clone(&waiting), served.hub.events.clone());
            let server = served.name.clone();
            move |outgoing| {
                if put(&waiting, outgoing) == Err(Cut::Slow) {
                    events.tell(Event::slow(&server));
                }
            }
        };
        let mut fans = self.fans.lock().await;
        if let Some(fan) = fans.get(&key) {
            return Ok(Arc::clone(fan));
        }
        let era = store::Era::Modern;
        let place = self.reserve(endpoint, principal).map_err(|response| *response)?;
        let joined = Joined::open(served, endpoint, principal, era, place, take).await?;
        let fan = Arc::new(Fan { joined, waiting, count: AtomicU64::new(1) });
        fans.insert(key, Arc::clone(&fan));
        Ok(fan)
    }

    /// Takes those out that have expired.
    pub(super) async fn expired_fans(&self) -> Vec<Arc<Fan>> {
        let mut fans = self.fans.lock().await;
        let expired: Vec<_> = fans
            .iter()
            .filter(|(_, fan)| {
                let reads = !lock(&fan.waiting).is_empty();
                fan.joined.is_over(self.config.idle, reads)
            })
            .map(|(key, _)| key.clone())
            .collect();
        expired.into_iter().filter_map(|key| fans.remove(&key)).collect()
    }
}

/// Puts a message where it is waited for, in the client's ids.
fn put(waiting: &Waiting, outgoing: Outgoing) -> Result<(), Cut> {
    // In this era nothing comes without having been asked for.
    let Some(about) = outgoing.about else { return Ok(()) };
    let mut waiting = lock(waiting);
    if outgoing.text.is_empty() {
        waiting.remove(&about);
        return Ok(());
    }
    let Some(waiter) = waiting.get(&about) else { return Ok(()) };
    let text = if outgoing.ends {
        json::replace(
            &outgoing.text,
            &[(&["id"], &waiter.id), (&["result", "_meta", SUBSCRIPTION], &waiter.id)],
        )
    } else {
        let token = waiter.token.as_deref();
        let subscription: (&[&str], &str) = (&["params", "_meta", SUBSCRIPTION], &waiter.id);
        match token {
            Some(token) => json::replace(
                &outgoing.text,
                &[subscription, (&["params", "progressToken"], token)],
            ),
            None => json::replace(&outgoing.text, &[subscription]),
        }
    };
    let pushed = waiter.writer.push(Said { text, ends: outgoing.ends });
    if pushed.is_ok() {
        outgoing.receipt.give();
    }
    // A client that left cancels by that; one that does not read loses its stream, which is the same.
    if outgoing.ends || pushed.is_err() {
        waiting.remove(&about);
    }
    pushed
}

impl Fan {
    /// Sends a request; what comes of it is in what is returned. `None` where it is no request. `carried` are the headers
    /// that the client sent for arguments, by the name after `Mcp-Param-`.
    pub fn ask(
        self: &Arc<Self>,
        message: &Message,
        carried: Vec<(String, String)>,
    ) -> Option<Asked> {
        let Kind::Request { id, .. } = message.kind() else { return None };
        let n = self.count.fetch_add(1, Ordering::Relaxed);
        let own = match id {
            Id::Number(_) => Id::Number(n.to_string()),
            Id::Text(_) => Id::Text(format!("s{n}")),
        };
        const TOKEN: &[&str] = &["params", "_meta", "progressToken"];
        let written = json::find(message.text(), &["id"])?.to_owned();
        let token = json::find(message.text(), TOKEN).map(str::to_owned);
        let own_token = match token.as_deref() {
            Some(text) if text.starts_with('"') => format!("\"s{n}\""),
            _ => n.to_string(),
        };
        let text =
            json::replace(message.text(), &[(&["id"], &own.to_string()), (TOKEN, &own_token)]);
        let message = Message::parse(&text).ok()?;
        let (writer, reader) = queue::stream();
        let waiter = Waiter { id: written, token, writer };
        lock(&self.waiting).insert(own.clone(), waiter);
        let session = Arc::clone(&self.joined.session);
        session.upstream().carry(&own, carried);
        let begun = tokio::spawn(async move { session.from_client(message).await });
        Some(Asked { fan: Arc::clone(self), id: own, begun: Some(begun), reader })
    }

    /// Takes a notification. One that cancels a request names it by the client's id, which counts where only one
    /// request under way has it.
    pub async fn tell(&self, message: Message) {
        let cancels = matches!(message.kind(), Kind::Notification { method } if method == "notifications/cancelled");
        if !cancels {
            return self.joined.session.from_client(message).await;
        }
        let named = json::find(message.params().unwrap_or_default(), &["requestId"]);
        let named = named.and_then(Id::read);
        let own = {
            let waiting = lock(&self.waiting);
            let mut same = waiting.iter().filter(|(_, waiter)| Id::read(&waiter.id) == named);
            match (same.next(), same.next()) {
                (Some((own, _)), None) => own.clone(),
                _ => return,
            }
        };
        let text = json::replace(message.text(), &[(&["params", "requestId"], &own.to_string())]);
        if let Ok(message) = Message::parse(&text) {
            self.joined.session.from_client(message).await;
        }
    }

    /// Ends the session.
    pub(super) async fn close(&self, how: SessionEnd) {
        self.joined.close(how).await;
        lock(&self.waiting).clear();
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.fan.joined.touch();
        lock(&self.fan.waiting).remove(&self.id);
        self.fan.joined.session.upstream().carry(&self.id, Vec::new());
        let params =
            format!("{{\"requestId\":{},\"reason\":\"the client closed the stream\"}}", self.id);
        let text = message::notification("notifications/cancelled", Some(&params));
        let (Ok(message), Ok(runtime)) =
            (Message::parse(&text), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let (fan, id, begun) = (Arc::clone(&self.fan), self.id.clone(), self.begun.take());
        runtime.spawn(async move {
            // What is cancelled before it was taken in would be taken in all the same.
            if let Some(begun) = begun {
                let _ = begun.await;
            }
            let session = &fan.joined.session;
            if session.is_open(&id) && !session.lets_end(&id) {
                fan.joined.session.from_client(message).await;
            }
        });
    }
}
