//! Comparisons of revisions, each made once.

use crate::limits;
use contract::admission::Compare;
use contract::diff::Options;
use contract::{Class, Entry, Revised};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
struct Known {
    by_digests: HashMap<(String, String), Option<Arc<Entry>>>,
    /// Of the definitions that were compared.
    bytes: usize,
}

/// Compares revisions and keeps what it found by the two digests.
#[derive(Debug, Default)]
pub struct Comparisons {
    options: Options,
    known: Mutex<Known>,
}

impl Comparisons {
    /// Comparisons that know what a project knows.
    pub fn new(options: Options) -> Comparisons {
        Comparisons { options, known: Mutex::default() }
    }

    /// What a project knows beyond the definitions.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// True where the two differ in notation and wording at most.
    pub fn cosmetic(&self, old: &Arc<Revised>, new: &Arc<Revised>) -> bool {
        self.compare(old, new).is_none_or(|entry| entry.class == Class::Cosmetic)
    }
}

impl Compare for Comparisons {
    fn compare(&self, old: &Arc<Revised>, new: &Arc<Revised>) -> Option<Arc<Entry>> {
        if old.digest() == new.digest() {
            return None;
        }
        let key = (old.digest().to_owned(), new.digest().to_owned());
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().by_digests.get(&key) {
            return found.clone();
        }
        // Made outside of the lock: two calls may both make it, and find the same.
        let made = contract::tools::pair(old.tool(), new.tool(), &self.options).map(Arc::new);
        let mut known = lock();
        known.bytes += old.weight() + new.weight();
        if known.by_digests.len() >= limits::COMPARISONS || known.bytes > limits::COMPARED_BYTES {
            *known = Known { bytes: old.weight() + new.weight(), ..Known::default() };
        }
        known.by_digests.insert(key, made.clone());
        made
    }
}
