//! What goes to the client, and which of its requests it is about: a front with a stream a request needs to know.

use super::{Open, Session, lock};
use crate::view::View;
use mcp::json;
use mcp::message::{Id, Kind, Message};
use tokio::sync::watch;

/// A message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its text; empty where nothing is said.
    pub text: String,
    /// The request that it answers or belongs to, where it belongs to one.
    pub about: Option<Id>,
    /// It answers that request: nothing more comes about it.
    pub ends: bool,
    /// Whoever wants to know whether it was handed to the client.
    pub receipt: Receipt,
}

/// Says once that a message was handed to a connection of the client. Where it is dropped before, it was not.
#[derive(Debug, Clone, Default)]
pub struct Receipt(Option<watch::Sender<bool>>);

impl Receipt {
    /// The message was handed over.
    pub fn give(&self) {
        if let Some(receipt) = &self.0 {
            receipt.send_replace(true);
        }
    }
}

/// Who wants to know of a message is no part of what it says.
impl PartialEq for Receipt {
    fn eq(&self, _: &Receipt) -> bool {
        true
    }
}

impl Eq for Receipt {}

impl Outgoing {
    /// The answer to a request.
    pub fn answer(id: &Id, text: String) -> Outgoing {
        Outgoing { text, about: Some(id.clone()), ends: true, receipt: Receipt::default() }
    }

    /// Nothing more comes about a request, and it is not answered: whoever keeps a stream for it ends that.
    pub fn ended(id: &Id) -> Outgoing {
        Outgoing::answer(id, String::new())
    }

    /// A message beside the answer.
    pub fn beside(about: Option<Id>, text: String) -> Outgoing {
        Outgoing { text, about, ends: false, receipt: Receipt::default() }
    }
}

/// For whom a session is opened.
pub struct Opening {
    /// Who is authorised.
    pub principal: String,
    /// The era that the client speaks, as far as it is known before it speaks.
    pub era: store::Era,
    /// What the client has seen: nothing yet, or what a pinned endpoint says that it planned with.
    pub view: View,
}

/// Where a server names the subscription that a notice belongs to.
const SUBSCRIPTION: &[&str] = &["_meta", "io.modelcontextprotocol/subscriptionId"];

impl Session {
    /// What answers a request of the client; `None` where it is under way no more: it was answered already, or whoever keeps
    /// a stream for it heard that it ended.
    fn answering(&self, id: &Id, text: String) -> Option<Outgoing> {
        Some(match self.forget(id)? {
            // Who withdrew a request expects no answer to it.
            Open::Call { withdrawn: true, .. } => Outgoing::ended(id),
            _ => Outgoing::answer(id, text),
        })
    }

    /// Answers a request of the client.
    pub(crate) async fn reply(&self, id: &Id, text: String) {
        if let Some(outgoing) = self.answering(id, text) {
            self.say(outgoing).await;
        }
    }

    /// The same; true once the answer was handed to a connection of the client, false where none took it.
    pub(crate) async fn hand_over(&self, id: &Id, text: String) -> bool {
        let Some(mut outgoing) = self.answering(id, text) else { return false };
        let (receipt, mut handed) = watch::channel(false);
        outgoing.receipt = Receipt(Some(receipt));
        self.say(outgoing).await;
        handed.wait_for(|handed| *handed).await.is_ok()
    }

    /// The request that a message of the server belongs to. `on` is the request on whose own stream it came.
    pub(super) fn concerns(&self, message: &Message, on: Option<Id>) -> Option<Id> {
        let Kind::Notification { method } = message.kind() else { return on };
        let params = message.params().unwrap_or_default();
        if method == "notifications/progress" {
            let token = Id::read(json::find(params, &["progressToken"])?)?;
            return lock(&self.progress).get(&token).cloned().or(on);
        }
        if let Some(id) = json::find(params, SUBSCRIPTION).and_then(Id::read) {
            return Some(id);
        }
        if on.is_some() || method != "notifications/message" {
            return on;
        }
        // On a pipe a log message names no request: it is about the only one there is.
        let open = lock(&self.open);
        let mut requests = open.iter().filter(|(_, open)| !matches!(open, Open::Listen { .. }));
        match (requests.next(), requests.next()) {
            (Some((id, _)), None) => Some(id.clone()),
            _ => None,
        }
    }
}
