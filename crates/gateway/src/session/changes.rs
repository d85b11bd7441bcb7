//! What is done where the list may have moved: one reading at a time, and one more where something was said meanwhile.

use super::{Outgoing, Session, lock};
use crate::limits;
use mcp::message::Id;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Readings that were asked for.
#[derive(Default)]
pub(super) struct Changes {
    running: bool,
    /// Something was said since the reading began.
    again: bool,
    /// The server's own words for it, the last one for each stream.
    notices: BTreeMap<Option<Id>, String>,
}

impl Session {
    /// The list may have moved: it is read, and then the client is told. However often this is said, one reading runs
    /// and one waits. `notice` is the server's own word for it.
    pub(super) fn list_moved(self: &Arc<Self>, notice: Option<Outgoing>) {
        if notice.is_none() && self.upstream.catalogue().is_none() {
            // Nothing was read yet: whoever asks for the list reads it.
            return;
        }
        let mut changes = lock(&self.changes);
        changes.again = true;
        if let Some(Outgoing { about, text, .. }) = notice
            && (changes.notices.len() < limits::NOTICES || changes.notices.contains_key(&about))
        {
            changes.notices.insert(about, text);
        }
        if !std::mem::replace(&mut changes.running, true) {
            let session = Arc::clone(self);
            tokio::spawn(async move { session.read_again().await });
        }
    }

    async fn read_again(self: Arc<Self>) {
        loop {
            let notices = {
                let mut changes = lock(&self.changes);
                if !std::mem::take(&mut changes.again) {
                    changes.running = false;
                    return;
                }
                std::mem::take(&mut changes.notices)
            };
            if let Err(why) = self.upstream.verified(Duration::ZERO).await {
                let sentence = format!("the list of tools changed and could not be read: {why}");
                self.tell("fault", None, None, &sentence);
                if self.upstream.catalogue().is_some() {
                    // What cannot be served is not announced. Whoever reads the list next tells of it.
                    continue;
                }
            }
            self.noted("the list of tools", self.put_on_record().await);
            if notices.is_empty() {
                self.notice(None).await;
            }
            for (about, text) in notices {
                self.notice(Some(Outgoing::beside(about, text))).await;
            }
        }
    }
}
