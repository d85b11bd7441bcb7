//! What a server lists: every page as it came, and every tool ready to be asked.

use crate::limits;
use contract::{Revised, Tool};
use mcp::{ListPage, Listed};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// One whole list.
#[derive(Debug)]
pub struct Catalogue {
    /// Each page's raw `result`, in order.
    pages: Vec<Arc<str>>,
    /// Revisions by name. More than one where the server lists a name twice: a call cannot tell them apart.
    tools: BTreeMap<String, Vec<Arc<Revised>>>,
    /// The digest over all names and digests, in the order of names.
    digest: String,
}

/// Definitions by their digest: sessions and lists share them.
#[derive(Debug, Default)]
pub struct Definitions(Mutex<HashMap<String, Arc<Revised>>>);

impl Definitions {
    fn shared(&self, revised: Revised) -> Arc<Revised> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= limits::DEFINITIONS {
            known.retain(|_, revised| Arc::strong_count(revised) > 1);
        }
        Arc::clone(known.entry(revised.digest().to_owned()).or_insert_with(|| Arc::new(revised)))
    }

    /// A definition that was stored, as it was listed.
    pub fn read(&self, name: &str, raw: &str) -> Option<Arc<Revised>> {
        let raw: Value = serde_json::from_str(raw).ok()?;
        Some(self.shared(Revised::new(Tool { name: name.to_owned(), raw, ordinal: None })))
    }
}

impl Catalogue {
    /// Reads the pages of one reading. `Err` says in a sentence why they are no list.
    pub fn read(pages: Vec<Arc<str>>, definitions: &Definitions) -> Result<Catalogue, String> {
        let mut tools: BTreeMap<String, Vec<Arc<Revised>>> = BTreeMap::new();
        for (index, page) in pages.iter().enumerate() {
            let at = format!("tools/list page {}", index + 1);
            let read = ListPage::read(page, &at).map_err(|problems| {
                problems.first().map_or_else(
                    || format!("{at} is no list"),
                    |problem| format!("{}: {}", problem.place, problem.sentence),
                )
            })?;
            for raw in &read.tools {
                let listed = Listed::read(raw).map_err(|why| format!("{at}: {why}"))?;
                let raw: Value = serde_json::from_str(listed.raw.get())
                    .map_err(|why| format!("{at}: {} cannot be read: {why}", listed.name))?;
                let tool = Tool { name: listed.name, raw, ordinal: None };
                let revised = definitions.shared(Revised::new(tool));
                let same = tools.entry(revised.name().to_owned()).or_default();
                if !same.iter().any(|known| known.digest() == revised.digest()) {
                    same.push(revised);
                }
            }
        }
        let digest =
            contract::digest::of_value(&Value::from_iter(tools.iter().map(|(name, revisions)| {
                let digests: Vec<&str> = revisions.iter().map(|r| r.digest()).collect();
                (name.clone(), Value::from(digests))
            })));
        Ok(Catalogue { pages, tools, digest })
    }

    /// The digest over all tools.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// True where the pages are the same text, so that nothing needs to be read again.
    pub fn is_text(&self, pages: &[Arc<str>]) -> bool {
        self.pages == pages
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

    /// True where nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}
