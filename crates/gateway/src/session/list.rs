//! What a client is shown, and when it is told that it moved.

use super::{LIST_CHANGED, Open, Outgoing, Session, lock};
use crate::catalogue::Catalogue;
use crate::{event, limits};
use contract::Revised;
use mcp::Era;
use mcp::message::{self, Kind, Message};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

impl Session {
    /// Answers `tools/list` from one whole list, page by page.
    pub(super) async fn list(self: Arc<Self>, message: Message) {
        let Kind::Request { id, .. } = message.kind() else { return };
        let cursor = message
            .params()
            .and_then(|params| serde_json::from_str::<Map<String, Value>>(params).ok())
            .and_then(|params| params.get("cursor").and_then(Value::as_str).map(str::to_owned));
        let catalogue = match &cursor {
            Some(_) => self.view().walking(),
            None => {
                if let Err(why) = self.upstream.verified(Duration::ZERO).await {
                    self.tell(
                        "fault",
                        None,
                        None,
                        &format!("the list of tools could not be read: {why}"),
                    );
                }
                if let Err(why) = self.put_on_record().await {
                    self.tell(
                        "fault",
                        None,
                        None,
                        &format!("the list of tools could not be recorded: {why}"),
                    );
                }
                let pinned = self.view().pinned().cloned();
                pinned.or_else(|| self.upstream.catalogue().map(|current| self.held_back(current)))
            }
        };
        let Some(catalogue) = catalogue else {
            // Nothing was ever read: the server's own answer is the best there is.
            return self.pass(&message).await;
        };
        let Some((page, last)) = catalogue.page(cursor.as_deref()) else {
            let why = "the cursor belongs to no list that is being read; start again without one";
            return self.reply(id, message::failure(id, -32602, why)).await;
        };
        let answer = message::response(id, page);
        if last {
            *lock(&self.noticed) = catalogue.digest().to_owned();
            self.view().show(Arc::clone(&catalogue), Instant::now());
            let _ =
                self.hub.store.shown(self.id, catalogue.digest().to_owned(), event::now()).await;
        } else {
            self.view().walk(catalogue.clone());
        }
        self.reply(id, answer).await;
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
    pub(crate) async fn notice(&self, original: Option<Outgoing>) {
        if self.view().pinned().is_some() {
            // What was pinned does not change.
            return;
        }
        let Some(current) = self.upstream.catalogue() else {
            if let Some(original) = original {
                self.say(original).await;
            }
            return;
        };
        let last = self.view().last().cloned();
        let Some(last) = last else {
            // Nothing was shown yet; the server may say what it likes.
            if let Some(original) = original {
                self.say(original).await;
            }
            return;
        };
        let moved = last.catalogue.digest() != current.digest();
        let cosmetic = moved && self.cosmetic(&last.catalogue, &current);
        let known = {
            let mut noticed = lock(&self.noticed);
            let known = *noticed == current.digest();
            if !cosmetic {
                current.digest().clone_into(&mut noticed);
            }
            known
        };
        if cosmetic {
            return;
        }
        match original {
            Some(original) => self.say(original).await,
            None if moved && !known => {
                self.tell("changed", None, None, "the list of tools changed");
                for notice in self.notices() {
                    self.say(notice).await;
                }
            }
            None => {}
        }
    }

    /// The notifications that tell this client of a changed list.
    fn notices(&self) -> Vec<Outgoing> {
        if self.era() == Era::Legacy {
            return vec![Outgoing::beside(None, message::notification(LIST_CHANGED, None))];
        }
        let open = lock(&self.open);
        open.iter()
            .filter(|(_, open)| matches!(open, Open::Listen(true)))
            .map(|(id, _)| {
                let params =
                    format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}}}}");
                Outgoing::beside(
                    Some(id.clone()),
                    message::notification(LIST_CHANGED, Some(&params)),
                )
            })
            .collect()
    }
}
