//! What clients may hold of what was listed: it lives while a session is open that was shown it, and for a day after.

use super::{Outgoing, Session, lock};
use crate::catalogue::Catalogue;
use crate::heavy::heavy;
use crate::{event, limits, mirror};
use contract::Revised;
use mcp::message::{Id, Message};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::{NewRevision, StoreError};
use tokio::time::Instant;

/// The pages of a list that the server gives the client itself, as far as they came.
#[derive(Default)]
pub(super) struct Raw {
    pages: Vec<Arc<str>>,
    bytes: usize,
}

impl Session {
    /// The definitions of a list, as they are taken down.
    pub(super) fn to_record(&self, list: &Catalogue, at: u64) -> Vec<NewRevision> {
        let revisions = list.tools().flat_map(|(_, revisions)| revisions);
        revisions
            .map(|revised| NewRevision {
                server: self.upstream.name().to_owned(),
                tool: revised.name().to_owned(),
                digest: revised.digest().to_owned(),
                definition: revised.tool().raw.to_string(),
                at,
            })
            .collect()
    }

    /// The revisions of a tool that a client may still hold, and whether there are more than can be looked through.
    ///
    /// # Errors
    /// Where the store cannot be read: what a client may hold is then not known, which is not the same as nothing.
    pub(crate) async fn kept(&self, tool: &str) -> Result<(Vec<Arc<Revised>>, bool), String> {
        let failed = |why: StoreError| why.to_string();
        let server = self.upstream.name().to_owned();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        // What was last taken down may have been live for a while after.
        let since = event::now().saturating_sub(millis(limits::KEPT + limits::KEEP));
        let most = limits::KEPT_DEFINITIONS;
        let digests = self.hub.store.kept(server.clone(), tool.to_owned(), since, most + 1);
        let mut digests = digests.await.map_err(failed)?;
        let mut crowded = digests.len() > most as usize;
        digests.truncate(most as usize);
        let mut kept: Vec<Arc<Revised>> = Vec::new();
        for digest in digests {
            let raw = self.hub.store.definition(server.clone(), tool.to_owned(), digest.clone());
            // Its text went where those of the server were too much to keep: there is more than can be looked through.
            let Some(raw) = raw.await.map_err(failed)? else {
                crowded = true;
                continue;
            };
            kept.push(self.hub.definitions.read(tool, &raw).ok_or_else(|| {
                format!("the definition {digest} of {tool} is on no record that can be read")
            })?);
        }
        Ok((kept, crowded))
    }

    /// The names, in lower case, that any known definition of a tool, or of what its calls are carried over to, marks for
    /// headers: those that its callers may have planned with, and those that may run it.
    ///
    /// # Errors
    /// Where the store cannot be read.
    pub(crate) async fn marks(&self, tool: &str) -> Result<BTreeSet<String>, String> {
        let (kept, _) = self.kept(tool).await?;
        let pinned = self.view().pinned().map(|list| list.tool(tool).to_vec());
        let known = kept.into_iter().chain(self.view().earlier(tool)).chain(self.runs(tool));
        let known = known.chain(pinned.into_iter().flatten());
        let marks = known.flat_map(|known| mirror::marked(&known.tool().raw, &Value::Null));
        Ok(marks.map(|(name, _)| name.to_ascii_lowercase()).collect())
    }

    /// Takes down from time to time, and when the session ends, that what is live and what its client was shown is not
    /// a thing of the past.
    pub(crate) async fn keep(&self, ends: bool) {
        {
            let mut kept = lock(&self.kept_at);
            if !ends && kept.elapsed() < limits::KEEP {
                return;
            }
            *kept = Instant::now();
        }
        let lists = self.view().held();
        let current = self.upstream.catalogue();
        let held: BTreeSet<(String, String)> = lists
            .iter()
            .chain(&current)
            .flat_map(|list| list.tools())
            .flat_map(|(name, revisions)| revisions.iter().map(move |r| (name, r)))
            .map(|(name, revised)| (name.clone(), revised.digest().to_owned()))
            .collect();
        if held.is_empty() {
            return;
        }
        let server = self.upstream.name().to_owned();
        let done = self.hub.store.held(server, held.into_iter().collect(), event::now()).await;
        self.noted("what clients may hold", done);
    }

    /// No reading has settled yet, and the client gets a page of the server's own list: what it was given is what it knows.
    pub(super) async fn given(&self, id: &Id, message: &Message, asked: Instant, first: bool) {
        if let Ok(page) = message.outcome() {
            let pages = {
                let mut raw = lock(&self.raw);
                if first || raw.pages.len() >= limits::PAGES || raw.bytes >= limits::LIST_BYTES {
                    *raw = Raw::default();
                }
                raw.bytes += page.len();
                raw.pages.push(Arc::from(page));
                raw.pages.clone()
            };
            let definitions = Arc::clone(&self.hub.definitions);
            let read = heavy(move || Catalogue::read(pages, &definitions)).await;
            match read.and_then(|read| read) {
                Ok(list) => self.was_given(Arc::new(list), asked).await,
                Err(why) => {
                    let what =
                        format!("what the client was given for a list cannot be read: {why}");
                    self.tell("fault", None, None, &what);
                }
            }
        }
        self.say(Outgoing::answer(id, message.text().to_owned())).await;
    }

    async fn was_given(&self, list: Arc<Catalogue>, asked: Instant) {
        let (at, digest) = (event::now(), list.digest().to_owned());
        let seen = self.hub.store.seen_all(self.to_record(&list, at)).await;
        self.noted("the definitions that the client was given", seen);
        let shown = self.hub.store.shown(self.id, digest.clone(), at).await;
        self.noted("which list the client was given", shown);
        *lock(&self.noticed) = digest;
        self.view().show(list, asked, Instant::now());
    }
}
