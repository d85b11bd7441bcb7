//! What a server lists: every page as it came, and every tool ready to be asked.

use crate::limits;
use contract::{Revised, Tool};
use mcp::{ListPage, Listed};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One whole list.
#[derive(Debug)]
pub struct Catalogue {
    /// Each page's raw `result`, in order.
    pages: Vec<Arc<str>>,
    /// Revisions by name. More than one where the server lists a name twice: a call cannot tell them apart.
    tools: BTreeMap<String, Vec<Arc<Revised>>>,
    /// Tools that cannot be read.
    flaws: Vec<Flaw>,
    /// The digest over all names and digests, in the order of names.
    digest: String,
}

/// A tool that is listed and cannot be read: a fault of that tool alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Its name, where it has one that can be read.
    pub name: Option<String>,
    /// What is wrong with it, with its place.
    pub why: String,
    /// Digest of its text.
    text: String,
}

/// Definitions by their digest, and whole lists by their text: sessions share them, so that ten thousand sessions of one
/// server hold its list once.
#[derive(Debug, Default)]
pub struct Definitions {
    known: Mutex<Known>,
    /// Lists that somebody holds, by a hash of their pages.
    lists: Mutex<HashMap<u64, Vec<Weak<Catalogue>>>>,
}

/// Definitions that somebody holds, and the last ones whether or not somebody does.
#[derive(Debug, Default)]
struct Known {
    by_digest: HashMap<String, Weak<Revised>>,
    last: VecDeque<Arc<Revised>>,
    bytes: usize,
    /// How many there may be before those that are gone are looked for.
    most: usize,
}

impl Known {
    fn shared(&mut self, revised: Revised) -> Arc<Revised> {
        if let Some(known) = self.by_digest.get(revised.digest()).and_then(Weak::upgrade) {
            return known;
        }
        let new = Arc::new(revised);
        self.bytes += new.weight();
        self.last.push_back(Arc::clone(&new));
        while self.last.len() > limits::DEFINITIONS || self.bytes > limits::DEFINITION_BYTES {
            let Some(oldest) = self.last.pop_front() else { break };
            self.bytes -= oldest.weight();
        }
        if self.by_digest.len() >= self.most.max(limits::DEFINITIONS) {
            self.by_digest.retain(|_, known| known.strong_count() > 0);
            // Looked for again once they doubled, so that each costs the same however many are held.
            self.most = 2 * self.by_digest.len();
        }
        self.by_digest.insert(new.digest().to_owned(), Arc::downgrade(&new));
        new
    }
}

impl Definitions {
    /// The list with these very pages: the one that somebody holds, or read anew. `Err` as [`Catalogue::read`].
    pub fn list(&self, pages: Vec<Arc<str>>) -> Result<Arc<Catalogue>, String> {
        let mut hasher = DefaultHasher::new();
        pages.hash(&mut hasher);
        let key = hasher.finish();
        if let Some(held) = self.held(key, &pages) {
            return Ok(held);
        }
        let read = Arc::new(Catalogue::read(pages, self)?);
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        // What nobody holds any more goes whenever a list is new, which is rare.
        lists.retain(|_, same| {
            same.retain(|list| list.strong_count() > 0);
            !same.is_empty()
        });
        lists.entry(key).or_default().push(Arc::downgrade(&read));
        Ok(read)
    }

    fn held(&self, key: u64, pages: &[Arc<str>]) -> Option<Arc<Catalogue>> {
        let lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let mut same = lists.get(&key)?.iter().filter_map(Weak::upgrade);
        same.find(|list| list.is_text(pages))
    }

    fn shared(&self, revised: Revised) -> Arc<Revised> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).shared(revised)
    }

    /// A definition that was stored, as it was listed.
    pub fn read(&self, name: &str, raw: &str) -> Option<Arc<Revised>> {
        let raw: Value = serde_json::from_str(raw).ok()?;
        Some(self.shared(Revised::new(Tool { name: name.to_owned(), raw, ordinal: None })))
    }
}

impl Catalogue {
    /// Reads the pages of one reading. `Err` says in a sentence why they are no list. A tool that cannot be read is left
    /// out and noted.
    pub fn read(pages: Vec<Arc<str>>, definitions: &Definitions) -> Result<Catalogue, String> {
        let mut tools: BTreeMap<String, Vec<Arc<Revised>>> = BTreeMap::new();
        let mut flaws = Vec::new();
        for (index, page) in pages.iter().enumerate() {
            let at = format!("tools/list page {}", index + 1);
            let read = ListPage::read(page, &at).map_err(|problems| {
                problems.first().map_or_else(
                    || format!("{at} is no list"),
                    |problem| format!("{}: {}", problem.place, problem.sentence),
                )
            })?;
            for (index, raw) in read.tools.iter().enumerate() {
                let flaw = |name: Option<String>, why: &str| Flaw {
                    name,
                    why: format!("{at} /tools/{index}: {why}"),
                    text: contract::digest::of_value(&raw.get().into()),
                };
                let listed = match Listed::read(raw) {
                    Ok(listed) => listed,
                    Err(fault) => {
                        flaws.push(flaw(fault.name, &fault.why));
                        continue;
                    }
                };
                let raw: Value = match serde_json::from_str(listed.raw.get()) {
                    Ok(raw) => raw,
                    Err(why) => {
                        flaws.push(flaw(Some(listed.name), &why.to_string()));
                        continue;
                    }
                };
                let tool = Tool { name: listed.name, raw, ordinal: None };
                let revised = definitions.shared(Revised::new(tool));
                let same = tools.entry(revised.name().to_owned()).or_default();
                if !same.iter().any(|known| known.digest() == revised.digest()) {
                    same.push(revised);
                }
            }
        }
        let digests = tools.iter().map(|(name, revisions)| {
            let digests: Vec<&str> = revisions.iter().map(|r| r.digest()).collect();
            (name.clone(), Value::from(digests))
        });
        let mut all = vec![Value::from_iter(digests)];
        all.extend(flaws.iter().map(|flaw| Value::from(flaw.text.as_str())));
        // A list in order has the digest of its tools alone.
        let whole = if flaws.is_empty() { all.remove(0) } else { Value::from(all) };
        let digest = contract::digest::of_value(&whole);
        Ok(Catalogue { pages, tools, flaws, digest })
    }

    /// Tools that are listed and cannot be read.
    pub fn flaws(&self) -> &[Flaw] {
        &self.flaws
    }

    /// The digest over all tools.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// True where the pages are the same text, so that nothing needs to be read again.
    pub fn is_text(&self, pages: &[Arc<str>]) -> bool {
        self.pages == pages
    }

    /// About how many bytes of memory it takes, with its pages.
    pub fn weight(&self) -> usize {
        let pages: usize = self.pages.iter().map(|page| page.len()).sum();
        pages + self.tools.values().flatten().map(|revised| revised.weight()).sum::<usize>()
    }

    /// All pages as a JSON list of texts, for the record; `None` where that is too much to keep.
    pub fn verbatim(&self) -> Option<String> {
        let bytes: usize = self.pages.iter().map(|page| page.len()).sum();
        let pages: Vec<&str> = self.pages.iter().map(|page| &**page).collect();
        (bytes <= limits::KEPT_PAGES).then(|| Value::from(pages).to_string())
    }

    /// A page by its number from 0, and whether it is the last.
    pub fn page(&self, index: usize) -> Option<(&Arc<str>, bool)> {
        self.pages.get(index).map(|page| (page, index + 1 == self.pages.len()))
    }

    /// The revisions listed under a name: one, as a rule.
    pub fn tool(&self, name: &str) -> &[Arc<Revised>] {
        self.tools.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every name with its revisions.
    pub fn tools(&self) -> impl Iterator<Item = (&String, &Vec<Arc<Revised>>)> {
        self.tools.iter()
    }

    /// How many names are listed.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True where nothing is listed, not even what cannot be read.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.flaws.is_empty()
    }
}
