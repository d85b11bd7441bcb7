//! What goes to the client, and which of its requests it is about: a front with a stream a request needs to know.

use super::{Open, Session, lock};
use crate::view::View;
use mcp::json;
use mcp::message::{Id, Kind, Message};

/// A message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Its text; empty where nothing is said.
    pub text: String,
    /// The request that it answers or belongs to, where it belongs to one.
    pub about: Option<Id>,
    /// It answers that request: nothing more comes about it.
    pub ends: bool,
}

impl Outgoing {
    /// The answer to a request.
    pub fn answer(id: &Id, text: String) -> Outgoing {
        Outgoing { text, about: Some(id.clone()), ends: true }
    }

    /// Nothing more comes about a request, and it is not answered: whoever keeps a stream for it ends that.
    pub fn ended(id: &Id) -> Outgoing {
        Outgoing { text: String::new(), about: Some(id.clone()), ends: true }
    }

    /// A message beside the answer.
    pub fn beside(about: Option<Id>, text: String) -> Outgoing {
        Outgoing { text, about, ends: false }
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
