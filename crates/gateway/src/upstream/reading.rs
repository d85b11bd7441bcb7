//! Reading the list: whole, until two readings agree, and swapped at once.

use super::{Epoch, Upstream, lock};
use crate::catalogue::Catalogue;
use crate::heavy::heavy;
use crate::limits;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A reading that failed.
pub(super) struct Failed {
    began: Instant,
    ended: Instant,
    /// The server left a page unanswered.
    silent: bool,
    why: String,
}

impl Failed {
    /// True where it says enough about the list for what was asked then and waits since: it began later, or the server was
    /// silent meanwhile.
    fn tells_of(&self, asked: Instant, since: Instant) -> bool {
        self.began >= asked || (self.silent && self.ended >= since)
    }
}

/// A reading is under way, however it ends.
struct UnderWay<'a>(&'a Upstream);

impl UnderWay<'_> {
    fn begin(upstream: &Upstream, at: Instant) -> UnderWay<'_> {
        lock(&upstream.known).reading = Some(at);
        UnderWay(upstream)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        lock(&self.0.known).reading = None;
    }
}

impl Upstream {
    /// Makes sure that the list is no older than `age`; reads it again where it is. `Err` says why that failed.
    pub async fn verified(&self, age: Duration) -> Result<(), String> {
        self.verified_since(age, Instant::now()).await
    }

    /// The same for what was asked a while ago and waited for its turn: a server that left the list unanswered meanwhile is
    /// not waited for once more. What was read meanwhile is no older than any other reading.
    pub async fn verified_since(&self, age: Duration, since: Instant) -> Result<(), String> {
        let asked = Instant::now();
        let fresh = || self.is_fresh(|at| at >= asked || at.elapsed() < age);
        if fresh() {
            return Ok(());
        }
        let _one = self.reading.lock().await;
        // Someone else read it while this call waited.
        if fresh() {
            return Ok(());
        }
        {
            let known = lock(&self.known);
            // Those who ask at once share what came of one reading, also where nothing did.
            if let Some(failed) =
                known.failed.as_ref().filter(|failed| failed.tells_of(asked, since))
            {
                return Err(failed.why.clone());
            }
        }
        let began = Instant::now();
        let under_way = UnderWay::begin(self, began);
        let read = self.read().await;
        drop(under_way);
        if let Err(why) = &read {
            let (ended, why) = (Instant::now(), why.clone());
            let silent = ended.duration_since(began) >= self.patience;
            let mut known = lock(&self.known);
            known.fault = Some(why.clone());
            known.failed = Some(Failed { began, ended, silent, why });
        }
        read
    }

    /// Reads the list over one connection. A reading that another connection took the place of says nothing about what is
    /// there now, however far it came: it is begun again, a few times.
    async fn read(&self) -> Result<(), String> {
        let mut why = String::new();
        for _ in 0..limits::READING_TURNS {
            let connected = timeout(self.patience, self.connected()).await;
            let (_, epoch) = match connected {
                Ok(connected) => connected.map_err(|why| why.to_string())?,
                Err(_) => return Err(format!("no connection within {:?}", self.patience)),
            };
            // A reading says what held when it began.
            match self.settle(epoch, Instant::now()).await {
                read if self.epoch() == epoch => return read,
                Ok(()) => "the connection to the server is another one by now".clone_into(&mut why),
                Err(failed) => why = failed,
            }
        }
        Err(why)
    }

    /// True where the list was read at such a time, and over the connection that is there now.
    fn is_fresh(&self, when: impl Fn(Instant) -> bool) -> bool {
        let now = self.epoch();
        let known = lock(&self.known);
        known.epoch == now && known.verified.is_some_and(when)
    }

    /// True where what is known of the list was read over the connection that is there now.
    fn is_of_now(&self) -> bool {
        let now = self.epoch();
        let known = lock(&self.known);
        known.catalogue.is_some() && known.epoch == now
    }

    /// The same for a call that only reads: it waits no longer than `most` for a server that leaves the list unanswered.
    /// What was read last over this very connection has to do then, which `Err` says. The reading goes on.
    pub async fn verified_soon(&self, age: Duration, most: Duration) -> Result<(), String> {
        let slow = || format!("tools/list has not been answered within {most:?}");
        if self.is_fresh(|at| at.elapsed() < age) {
            return Ok(());
        }
        let waits = lock(&self.known).reading.is_none_or(|since| since.elapsed() < most);
        // Of another process, or another server behind the address, nothing is known.
        if !waits && self.is_of_now() {
            return Err(slow());
        }
        let Some(this) = self.this.upgrade() else { return self.verified(age).await };
        let mut reading = tokio::spawn(async move { this.verified(age).await });
        loop {
            if let Ok(read) = timeout(most, &mut reading).await {
                return read.unwrap_or_else(|why| Err(format!("the reading broke off: {why}")));
            }
            if self.is_of_now() {
                return Err(slow());
            }
        }
    }

    /// Reads the list until two readings agree, and swaps it.
    async fn settle(&self, epoch: Epoch, began: Instant) -> Result<(), String> {
        let mut readings: Vec<Arc<Catalogue>> = Vec::new();
        let before = self.catalogue();
        for _ in 0..limits::READINGS {
            let pages = self.walk(epoch).await?;
            if let Some(before) =
                before.as_ref().filter(|b| readings.is_empty() && b.is_text(&pages))
            {
                let same = Arc::clone(before);
                self.swap(same, &[], epoch, began);
                return Ok(());
            }
            let definitions = Arc::clone(&self.definitions);
            let catalogue = heavy(move || definitions.list(pages)).await??;
            if catalogue.is_empty() && before.as_ref().is_some_and(|before| !before.is_empty()) {
                return Err("the server lists no tools any more, which counts as a fault until it lists some".into());
            }
            let unmoved = before.as_ref().is_some_and(|b| b.digest() == catalogue.digest());
            let agreed = readings.last().is_some_and(|last| last.digest() == catalogue.digest());
            readings.push(Arc::clone(&catalogue));
            if agreed || (unmoved && readings.len() == 1) {
                self.swap(catalogue, &readings, epoch, began);
                return Ok(());
            }
        }
        // Two revisions that take turns are replicas behind one address, not a list in motion.
        let Some(last) = readings.last().cloned() else {
            return Err("the list was not read".into());
        };
        let returned = readings.iter().filter(|r| r.digest() == last.digest()).count() > 1;
        if returned {
            self.swap(last, &readings, epoch, began);
            return Ok(());
        }
        Err(format!("the list of tools did not hold still in {} readings", limits::READINGS))
    }

    /// One reading of all pages.
    async fn walk(&self, epoch: Epoch) -> Result<Vec<Arc<str>>, String> {
        let meta = self.speech().meta;
        let (mut pages, mut bytes) = (Vec::new(), 0);
        let mut cursor: Option<String> = None;
        let mut cursors: Vec<String> = Vec::new();
        loop {
            let mut params = serde_json::Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".into(), cursor.clone().into());
            }
            if let Some(meta) = meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok()) {
                params.insert("_meta".into(), meta);
            }
            let answer = self.own(epoch, "tools/list", &Value::Object(params).to_string()).await?;
            let page = answer.outcome().map_err(|error| {
                format!("the server answers tools/list with error {}", error.code)
            })?;
            if cursor.as_deref() == Some("")
                && pages.first().is_some_and(|first: &Arc<str>| **first == *page)
            {
                // An empty cursor is one like any other, but some servers end a list with it, and begin anew when they are asked.
                return Ok(pages);
            }
            bytes += page.len();
            pages.push(Arc::from(page));
            let at = format!("tools/list page {}", pages.len());
            let next = mcp::ListPage::read(page, &at)
                .map_err(|problems| {
                    problems.first().map_or(at.clone(), |p| format!("{}: {}", p.place, p.sentence))
                })?
                .next;
            let Some(next) = next else { return Ok(pages) };
            if cursors.contains(&next) {
                return Err(format!(
                    "{at} gives a cursor that an earlier page gave: the list goes round in a circle"
                ));
            }
            if pages.len() >= limits::PAGES || bytes > limits::LIST_BYTES {
                return Err(format!("{at} is not the last, and no list is that long"));
            }
            cursors.push(next.clone());
            cursor = Some(next);
        }
    }

    /// Puts a list in place of the last one, with the connection that it was read over and when, and tells who waits for it.
    fn swap(
        &self,
        catalogue: Arc<Catalogue>,
        readings: &[Arc<Catalogue>],
        epoch: Epoch,
        began: Instant,
    ) {
        let now = Instant::now();
        let mut known = lock(&self.known);
        let old = known.catalogue.clone();
        let first = old.is_none();
        let one = std::slice::from_ref(&catalogue);
        for list in if readings.is_empty() { one } else { readings } {
            known.trails.saw(list, now);
        }
        let moved = old.as_ref().is_none_or(|old| old.digest() != catalogue.digest());
        known.catalogue = Some(catalogue);
        (known.epoch, known.verified) = (epoch, Some(began));
        known.fault = None;
        drop(known);
        if moved && !first {
            self.moved.send_modify(|count| *count += 1);
        }
    }
}
