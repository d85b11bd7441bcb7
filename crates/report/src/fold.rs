//! What is told apart and what is told once: bursts, cosmetic changes, safe ones.

use crate::escape;
use crate::level::standing;
use crate::limits::{BURST_MIN, SAFE_SHOWN, SUBJECTS_SHOWN};
use crate::words::is_cosmetic;
use contract::{Change, Class, Diff, Entry, Subject, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// A diff arranged for reading, gravest first.
pub(crate) struct Folded<'a> {
    /// Bursts and subjects that are told.
    pub items: Vec<Item<'a>>,
    /// Subjects whose changes a caller could not tell, and that are only counted.
    pub cosmetic: Vec<&'a Entry>,
    /// Safe subjects beyond what is shown.
    pub more_safe: usize,
    /// Other subjects beyond what is shown.
    pub more: usize,
}

/// One thing to tell.
pub(crate) enum Item<'a> {
    /// The same change of several subjects.
    Burst(Burst<'a>),
    /// One subject.
    Subject(Shown<'a>),
}

/// The same rule, field and values over at least [`BURST_MIN`] subjects.
pub(crate) struct Burst<'a> {
    /// The first of the like changes.
    pub change: &'a Change,
    /// Whom it is about, in the order of the diff.
    pub subjects: Vec<&'a Subject>,
    /// The sentence for all of them.
    pub sentence: String,
}

/// A subject with the changes that no burst tells.
pub(crate) struct Shown<'a> {
    pub entry: &'a Entry,
    pub changes: Vec<&'a Change>,
    /// Changes of this subject that a burst tells.
    pub in_bursts: usize,
}

impl Item<'_> {
    pub(crate) fn verdict(&self) -> Verdict {
        match self {
            Item::Burst(burst) => burst.change.verdict,
            Item::Subject(shown) => standing(shown.entry),
        }
    }

    fn class(&self) -> Class {
        match self {
            Item::Burst(burst) => burst.change.class,
            Item::Subject(shown) => shown.entry.class,
        }
    }
}

/// What must be equal for changes to be told as one.
type Key<'a> = (&'a str, Verdict, Option<&'a str>, String, Option<String>, Option<String>);

fn key(change: &Change) -> Key<'_> {
    // A change of a whole subject (it is gone, it is new) has the subject itself as its value.
    let whole = change.path.is_empty() || change.path == "/";
    let value = |value: &Option<serde_json::Value>| {
        value.as_ref().map(|value| if whole { String::new() } else { value.to_string() })
    };
    let place = if change.field.is_some() { String::new() } else { change.path.clone() };
    (
        change.rule,
        change.verdict,
        change.field.as_deref(),
        place,
        value(&change.before),
        value(&change.after),
    )
}

/// How much is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Each subject stands alone and nothing is left out.
    All,
    /// Bursts are told once and cosmetic changes counted; nothing else is left out.
    Folded,
    /// As `Folded`, and no more subjects than a person reads.
    Screen,
}

impl Detail {
    /// What a page for people shows.
    pub(crate) fn page(all: bool) -> Detail {
        if all { Detail::All } else { Detail::Screen }
    }
}

/// Arranges a diff.
pub(crate) fn fold(diff: &Diff, detail: Detail) -> Folded<'_> {
    let all = detail == Detail::All;
    let bursts = if all { BTreeMap::new() } else { bursts(diff) };
    let mut items: Vec<Item> = Vec::new();
    let mut cosmetic = Vec::new();
    for entry in &diff.entries {
        if !all && is_cosmetic(entry.class, entry.verdict) {
            cosmetic.push(entry);
            continue;
        }
        let (told, changes): (Vec<&Change>, Vec<&Change>) = entry
            .changes
            .iter()
            .partition(|change| foldable(change) && bursts.contains_key(&key(change)));
        let nothing_else = changes.iter().all(|change| is_cosmetic(change.class, change.verdict));
        if !told.is_empty() && nothing_else && entry.renamed_to.is_none() && entry.was.is_none() {
            continue;
        }
        items.push(Item::Subject(Shown { entry, changes, in_bursts: told.len() }));
    }
    items.extend(bursts.into_values().map(Item::Burst));
    // Stable: within equals the order of the diff holds, bursts after subjects of the same gravity.
    items.sort_by_key(|item| std::cmp::Reverse((item.verdict(), item.class())));
    let (mut more_safe, mut more) = (0, 0);
    if detail == Detail::Screen {
        let safe = items.iter().position(|item| item.verdict() == Verdict::Safe);
        let mut tail = items.split_off(safe.unwrap_or(items.len()));
        more_safe = tail.len().saturating_sub(SAFE_SHOWN);
        tail.truncate(SAFE_SHOWN);
        more = items.len().saturating_sub(SUBJECTS_SHOWN);
        items.truncate(SUBJECTS_SHOWN);
        items.append(&mut tail);
    }
    Folded { items, cosmetic, more_safe, more }
}

/// Suppressed changes are told with their reason, cosmetic ones are counted: neither bursts.
fn foldable(change: &Change) -> bool {
    change.suppressed.is_none() && !is_cosmetic(change.class, change.verdict)
}

fn bursts(diff: &Diff) -> BTreeMap<Key<'_>, Burst<'_>> {
    let mut groups: BTreeMap<Key, Vec<(&Subject, &Change)>> = BTreeMap::new();
    for entry in &diff.entries {
        let mut seen = BTreeSet::new();
        for change in entry.changes.iter().filter(|change| foldable(change)) {
            let key = key(change);
            if seen.insert(key.clone()) {
                groups.entry(key).or_default().push((&entry.subject, change));
            }
        }
    }
    groups
        .into_iter()
        .filter(|(_, group)| group.len() >= BURST_MIN)
        .map(|(key, group)| {
            let (first, change) = group[0];
            let burst = Burst {
                change,
                sentence: for_many(change, first, group.len()),
                subjects: group.into_iter().map(|(subject, _)| subject).collect(),
            };
            (key, burst)
        })
        .collect()
}

/// One sentence for many: the name of the first gives way to the number, or the number is put in
/// after the first clause.
fn for_many(change: &Change, first: &Subject, count: usize) -> String {
    let noun = match first {
        Subject::Tool(_) => "tools",
        Subject::Operation(_) => "operations",
        Subject::Schema(_) => "schemas",
        Subject::Whole(_) => "parts",
    };
    let quoted = format!("`{}`", first.name());
    if let Some(at) = change.sentence.find(&quoted) {
        let each = if at == 0 { "Each of" } else { "each of" };
        let rest = &change.sentence[at + quoted.len()..];
        return format!("{}{each} {count} {noun}{rest}", &change.sentence[..at]);
    }
    let at = clause_end(&change.sentence);
    let (head, tail) = change.sentence.split_at(at);
    format!("{head} in {count} {noun}{tail}")
}

/// Where the first clause ends: before `;`, `:`, `,`, `.` or ` (` outside quotes.
fn clause_end(sentence: &str) -> usize {
    let mut quote: Option<char> = None;
    for (at, c) in sentence.char_indices() {
        if let Some(open) = quote {
            if c == open {
                quote = None;
            }
            continue;
        }
        match c {
            '`' | '"' => quote = Some(c),
            ';' | ':' | ',' | '.' => {
                let after = &sentence[at + 1..];
                if after.is_empty() || after.starts_with(' ') {
                    return at;
                }
            }
            ' ' if sentence[at..].starts_with(" (") => return at,
            _ => {}
        }
    }
    sentence.len()
}

/// The names of a burst on one line: all, or the first few and a number.
pub(crate) fn names(subjects: &[&Subject], shown: usize) -> String {
    let mut names: Vec<String> = subjects
        .iter()
        .take(shown)
        .map(|subject| escape::visible(&escape::clip(subject.name(), crate::limits::NAME_CHARS)))
        .collect();
    if subjects.len() > shown {
        names.push(format!("… {} more", subjects.len() - shown));
    }
    names.join(", ")
}
