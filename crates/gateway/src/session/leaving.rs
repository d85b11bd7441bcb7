//! Clients that no longer want an answer, and clients that leave while a call is under way. Where leaving cancels, an operator may want some calls to end all the
//! same: half a payment is worse than one that nobody hears of.

use super::{Hub, Open, Outgoing, Session, lock};
use crate::call::{Minted, Owed, Proven, Relied, Rounds, Seen};
use crate::limits;
use mcp::json;
use mcp::message::{Id, Message};
use std::sync::{Arc, Mutex};
use std::time::Duration;

impl Session {
    /// Nobody will hear the answer to a request: its outcome is on record all the same.
    pub(crate) async fn unheard(&self, id: &Id) {
        if self.forget(id).is_some() {
            self.say(Outgoing::ended(id)).await;
        }
    }

    /// True where the client no longer wants an answer to a call.
    pub(crate) fn withdrawn(&self, id: &Id) -> bool {
        matches!(lock(&self.open).get(id), Some(Open::Call { withdrawn: true, .. }))
    }

    /// True for a call of a tool whose calls are let end.
    pub(super) fn finishes(&self, message: &Message) -> bool {
        let name = message.params().and_then(|params| json::find(params, &["name"]));
        let name = name.and_then(|raw| serde_json::from_str::<String>(raw).ok());
        name.is_some_and(|name| self.settings.finish.contains(&name))
    }

    /// The client that made a request left. True where the request is a call that is let end: it is not cancelled, and
    /// its outcome goes on record.
    pub(crate) fn lets_end(&self, id: &Id) -> bool {
        match lock(&self.open).get(id) {
            Some(Open::Call { finishes, .. }) => *finishes,
            _ => false,
        }
    }

    /// True where it may end, nothing having been heard of its client for so long. What the client asked and does not wait for
    /// any more holds it for a while longer: a server that never answers would hold it for ever.
    pub(crate) fn may_end(&self, unheard: Duration, idle: Duration) -> bool {
        if self.awaits_tasks() || self.awaits_input() {
            // These have bounds of their own.
            return false;
        }
        let open = lock(&self.open);
        let finishes = |open: &Open| matches!(open, Open::Call { finishes: true, .. });
        let longer = match open.is_empty() {
            true => Duration::ZERO,
            false if open.values().any(finishes) => limits::LET_END,
            false => limits::ABANDONED,
        };
        unheard >= idle.saturating_add(longer)
    }
}

/// What calls left behind for those that follow.
impl Session {
    /// What all sessions share.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// What is known of the values that calls rely on.
    pub(crate) fn relied(&self) -> &Mutex<Relied> {
        &self.relied
    }

    /// What answers looked like that no schema describes.
    pub(crate) fn shapes(&self) -> &Seen {
        &self.hub.shapes
    }

    /// For whom tasks run.
    pub(crate) fn minted(&self) -> &Minted {
        &self.hub.minted
    }

    /// Values that came in structured answers.
    pub(crate) fn proven(&self) -> &Mutex<Proven> {
        &self.proven
    }

    /// Answers of effects that nobody took yet.
    pub(crate) fn owed(&self) -> &Mutex<Owed> {
        &self.owed
    }

    /// Requests whose server waits for input.
    pub(crate) fn rounds(&self) -> &Mutex<Rounds> {
        &self.rounds
    }
}
