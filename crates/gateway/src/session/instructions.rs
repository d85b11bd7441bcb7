//! What a server tells its clients to heed, beside its tools: said once, in a handshake. A client never asks again, so a
//! server that was started or greeted anew may instruct otherwise and nobody hears of it.

use super::Session;
use crate::event;
use crate::heavy::heavy;
use contract::admission::Compare;
use contract::{Class, Revised, Tool};
use serde_json::json;
use std::sync::Arc;
use store::NewRevision;

/// Under what name instructions are on record, among the tools of their server.
const NAME: &str = "(instructions)";

impl Session {
    /// Puts on record what the server instructs now. Where that is other than what this client was told, it is judged as
    /// the description of a tool is, and told to people: no client can be made to read it.
    pub(super) async fn instructed(self: &Arc<Self>, now: Option<&str>) {
        let told = self.upstream.speech().instructions;
        if told.is_none() && now.is_none() {
            return;
        }
        let (before, after) = (revised(told.as_deref()), revised(now));
        let seen = NewRevision {
            server: self.upstream.name().to_owned(),
            tool: NAME.to_owned(),
            digest: after.digest().to_owned(),
            definition: after.tool().raw.to_string(),
            at: event::now(),
        };
        self.noted("what the server instructs", self.hub.store.seen_all(vec![seen]).await);
        if before.digest() == after.digest() {
            return self.upstream.instructs(None);
        }
        let session = Arc::clone(self);
        let entry = heavy(move || session.hub.comparisons.compare(&before, &after)).await;
        let judged = match entry {
            Ok(Some(entry)) => {
                let rules: Vec<&str> = entry.changes.iter().map(|change| change.rule).collect();
                let what =
                    if entry.class == Class::Cosmetic { "reworded" } else { "it may matter" };
                format!("{what}: {}", rules.join(", "))
            }
            Ok(None) => "nothing but notation".to_owned(),
            Err(why) => format!("not judged: {why}"),
        };
        let sentence = format!(
            "the server instructs its clients otherwise than this one was told ({judged}); a new session is told"
        );
        self.tell("changed", None, None, &sentence);
        self.upstream.instructs(Some(sentence));
    }
}

/// Instructions as the description of a tool, by which texts are judged.
fn revised(text: Option<&str>) -> Arc<Revised> {
    let mut raw = json!({"name": NAME, "inputSchema": {"type": "object"}});
    if let Some(text) = text {
        raw["description"] = text.into();
    }
    Arc::new(Revised::new(Tool { name: NAME.to_owned(), raw, ordinal: None }))
}
