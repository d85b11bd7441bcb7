//! What a client is shown, and when it is told that it moved.

use super::{ACKNOWLEDGED, LIST_CHANGED, Open, Outgoing, Session, lock};
use crate::catalogue::Catalogue;
use crate::heavy::heavy;
use crate::{event, limits};
use contract::Revised;
use mcp::message::{self, Id, Kind, Message};
use mcp::version::METHOD_NOT_FOUND;
use mcp::{Era, json};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Session {
    /// Answers `tools/list` from one whole list, page by page.
    pub(super) async fn list(self: Arc<Self>, message: Message) {
        let Kind::Request { id, .. } = message.kind() else { return };
        let asked = Instant::now();
        let cursor = message
            .params()
            .and_then(|params| serde_json::from_str::<Map<String, Value>>(params).ok())
            .and_then(|params| params.get("cursor").and_then(Value::as_str).map(str::to_owned));
        let (catalogue, index) = match &cursor {
            // The server's own answers were passed on, and so are its cursors.
            Some(_) if self.upstream.catalogue().is_none() => (None, 0),
            Some(cursor) => {
                let page = self.view().page_of(cursor);
                let Some((list, index)) = page else { return self.no_such_page(id).await };
                (Some(list), index)
            }
            None => {
                if let Err(why) = self.upstream.verified(Duration::ZERO).await {
                    self.tell(
                        "fault",
                        None,
                        None,
                        &format!("the list of tools could not be read: {why}"),
                    );
                }
                self.noted("the list of tools", self.put_on_record().await);
                let pinned = self.view().pinned().cloned();
                let served = match (pinned, self.upstream.catalogue()) {
                    (Some(pinned), _) => Some(pinned),
                    (None, Some(current)) => Some(self.served(current).await),
                    (None, None) => None,
                };
                (served, 0)
            }
        };
        let Some(catalogue) = catalogue else {
            // Nothing was ever read: the server's own answer is the best there is.
            if let Some(open) = lock(&self.open).get_mut(id) {
                *open = Open::List(asked, cursor.is_none());
            }
            return self.pass(&message).await;
        };
        let Some((page, last)) = catalogue.page(index) else {
            return self.no_such_page(id).await;
        };
        let next = (!last).then(|| self.view().cursor_to(&catalogue, index + 1));
        let answer = message::response(id, &as_served(page, next.as_deref(), self.era()));
        if last {
            catalogue.digest().clone_into(&mut lock(&self.noticed));
            self.view().show(Arc::clone(&catalogue), asked, Instant::now());
            let digest = catalogue.digest().to_owned();
            let shown = self.hub.store.shown(self.id, digest, event::now()).await;
            self.noted("which list the client was shown", shown);
        }
        self.reply(id, answer).await;
    }

    async fn no_such_page(&self, id: &Id) {
        let why = "the cursor belongs to no list that is being read; start again without one";
        self.reply(id, message::failure(id, -32602, why)).await;
    }

    /// The same, worked out beside the messages. What cannot be told apart is served as it is.
    async fn served(self: &Arc<Self>, current: Arc<Catalogue>) -> Arc<Catalogue> {
        let (session, list) = (Arc::clone(self), Arc::clone(&current));
        match heavy(move || session.held_back(list)).await {
            Ok(served) => served,
            Err(why) => {
                self.tell("fault", None, None, &format!("two lists could not be compared: {why}"));
                current
            }
        }
    }

    /// The list as this client gets it: what it has seen, where nothing but notation and wording moved since.
    pub(crate) fn held_back(&self, current: Arc<Catalogue>) -> Arc<Catalogue> {
        let last = self.view().last().cloned();
        match last {
            Some(last)
                if last.at.elapsed() < limits::HOLD_BACK
                    && self.cosmetic(&last.catalogue, &current) =>
            {
                last.catalogue
            }
            _ => current,
        }
    }

    fn cosmetic(&self, old: &Catalogue, new: &Catalogue) -> bool {
        old.len() == new.len()
            && old.flaws() == new.flaws()
            && old.tools().all(|(name, before)| self.unmoved(before, new.tool(name)))
    }

    /// True where two sets of revisions of one tool differ in notation and wording at most.
    pub(crate) fn unmoved(&self, before: &[Arc<Revised>], after: &[Arc<Revised>]) -> bool {
        let pairs = || before.iter().zip(after);
        before.len() == after.len()
            && pairs().all(|(before, after)| self.hub.comparisons.cosmetic(before, after))
    }

    /// Tells the client that the list changed, once for each list, and only now that it can be served. `original` is
    /// the server's own word for it.
    pub(crate) async fn notice(self: &Arc<Self>, original: Option<Outgoing>) {
        if self.view().pinned().is_some() {
            // What was pinned does not change.
            return;
        }
        let held = self.view().held();
        let Some(current) = self.upstream.catalogue().filter(|_| !held.is_empty()) else {
            // Nothing was shown yet; the server may say what it likes.
            if let Some(original) = original {
                self.say(original).await;
            }
            return;
        };
        let moved = held.iter().any(|held| held.digest() != current.digest());
        let cosmetic = moved && {
            let (session, now) = (Arc::clone(self), Arc::clone(&current));
            let same = move || held.iter().all(|held| session.cosmetic(held, &now));
            heavy(same).await.unwrap_or_default()
        };
        if cosmetic {
            return;
        }
        let first = {
            let mut noticed = lock(&self.noticed);
            let first = *noticed != current.digest();
            current.digest().clone_into(&mut noticed);
            first
        };
        match original {
            Some(original) => {
                self.told(original.about.as_ref(), current.digest());
                self.say(original).await;
            }
            None if moved => {
                if first {
                    self.tell("changed", None, None, "the list of tools changed");
                }
                for notice in self.notices(first, current.digest()) {
                    self.say(notice).await;
                }
            }
            None => {}
        }
    }

    /// A server that knows no subscriptions is asked for one to changed tools: the gateway knows of those, and tells of them
    /// itself. True where that is so.
    pub(super) async fn tells_itself(self: &Arc<Self>, id: &Id, answer: &Message) -> bool {
        if answer.error().is_none_or(|error| error.code != METHOD_NOT_FOUND) {
            return false;
        }
        match lock(&self.open).get_mut(id) {
            Some(Open::Listen { tools: true, acknowledged, .. }) => *acknowledged = true,
            _ => return false,
        }
        let params = format!(
            "{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"notifications\":{{\"toolsListChanged\":true}}}}"
        );
        let text = message::notification(ACKNOWLEDGED, Some(&params));
        self.say(Outgoing::beside(Some(id.clone()), text)).await;
        self.list_moved(None);
        true
    }

    /// The server heard of a subscription: from now on something may be said on it.
    pub(super) fn acknowledged(&self, about: Option<&Id>) {
        let mut open = lock(&self.open);
        if let Some(Open::Listen { acknowledged, .. }) = about.and_then(|id| open.get_mut(id)) {
            *acknowledged = true;
        }
    }

    /// Takes down that a stream was told of this list.
    fn told(&self, about: Option<&Id>, list: &str) {
        let mut open = lock(&self.open);
        if let Some(Open::Listen { told, .. }) = about.and_then(|id| open.get_mut(id)) {
            *told = Some(list.to_owned());
        }
    }

    /// The notifications that tell this client of a changed list: each stream hears once of each list, one that was
    /// opened later too.
    fn notices(&self, first: bool, list: &str) -> Vec<Outgoing> {
        if self.era() == Era::Legacy {
            let notice = Outgoing::beside(None, message::notification(LIST_CHANGED, None));
            return first.then_some(notice).into_iter().collect();
        }
        let mut notices = Vec::new();
        for (id, open) in lock(&self.open).iter_mut() {
            let Open::Listen { tools: true, told, acknowledged: true } = open else { continue };
            if told.as_deref() == Some(list) {
                continue;
            }
            *told = Some(list.to_owned());
            let params =
                format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}");
            let text = message::notification(LIST_CHANGED, Some(&params));
            notices.push(Outgoing::beside(Some(id.clone()), text));
        }
        notices
    }
}

/// A page as it is served: its cursor is the gateway's own, and a client of the modern era is not told to keep it for
/// longer, or to share it more widely, than the gateway can answer for. All else is what the server wrote.
fn as_served(page: &str, next: Option<&str>, era: Era) -> String {
    let next = next.map(|next| format!("\"{next}\""));
    let most = limits::SERVED_TTL.as_millis().to_string();
    let mut edits: Vec<(&[&str], &str)> = Vec::new();
    if let Some(next) = &next {
        edits.push((&["nextCursor"], next));
    }
    if era == Era::Modern {
        let ttl = json::find(page, &["ttlMs"]).and_then(|ttl| ttl.parse::<f64>().ok());
        if ttl.is_some_and(|ttl| ttl > limits::SERVED_TTL.as_secs_f64() * 1_000.0) {
            edits.push((&["ttlMs"], &most));
        }
        if json::find(page, &["cacheScope"]).is_some_and(|scope| scope != "\"private\"") {
            edits.push((&["cacheScope"], "\"private\""));
        }
    }
    json::replace(page, &edits)
}
