//! What is told apart and what is told once: bursts, renames, cosmetic changes, safe ones.

use crate::level::standing;
use crate::limits::{BURST_MIN, SAFE_SHOWN, SUBJECTS_SHOWN};
use crate::words::{is_cosmetic, plural, subjects_of, title};
use crate::{Report, limits};
use contract::{Change, Class, Decision, Diff, Entry, Subject, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// A diff arranged for reading, gravest first.
pub(crate) struct Folded<'a> {
    /// Bursts and subjects that are told.
    pub items: Vec<Item<'a>>,
    /// Subjects whose changes a caller could not tell, and that are only counted.
    pub cosmetic: Vec<&'a Entry>,
    /// New names that are told with the old ones.
    pub heirs: usize,
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
    pub entries: Vec<&'a Entry>,
    /// The sentence for all of them.
    pub sentence: String,
}

/// A subject with the changes that no burst tells.
pub(crate) struct Shown<'a> {
    pub entry: &'a Entry,
    pub changes: Vec<Told<'a>>,
    /// Changes of wording or notation that are only counted.
    pub cosmetic: usize,
    /// Changes of this subject that a burst tells.
    pub in_bursts: usize,
}

/// A change, and the fields of the same subject to which just the same happened.
pub(crate) struct Told<'a> {
    pub change: &'a Change,
    pub likewise: Vec<&'a str>,
}

/// How much is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Each subject and change stands alone and nothing is left out.
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

impl Burst<'_> {
    /// `3 tools`.
    pub(crate) fn title(&self) -> String {
        subjects_of(&self.entries[0].subject, self.entries.len())
    }

    /// The titles of the first few, and how many more there are.
    pub(crate) fn titles(&self) -> (Vec<String>, usize) {
        titles(&self.entries)
    }
}

/// The titles of the first few entries, and how many more there are.
pub(crate) fn titles(entries: &[&Entry]) -> (Vec<String>, usize) {
    let shown = entries.iter().take(limits::NAMES_SHOWN).map(|entry| title(entry)).collect();
    (shown, entries.len().saturating_sub(limits::NAMES_SHOWN))
}

impl Shown<'_> {
    /// What a page leaves out under this subject, `limit` changes being shown; empty where nothing is.
    pub(crate) fn rest(&self, limit: usize) -> String {
        let mut rest = Vec::new();
        if self.changes.len() > limit {
            rest.push(plural(self.changes.len() - limit, "more change"));
        }
        if self.in_bursts > 0 {
            rest.push(format!("{} told together with others", self.in_bursts));
        }
        if self.cosmetic > 0 {
            rest.push(format!("{} of wording or notation", self.cosmetic));
        }
        rest.join(", ")
    }
}

/// Arranges a diff.
pub(crate) fn fold<'a>(report: &Report<'a>, detail: Detail) -> Folded<'a> {
    let diff = report.diff;
    if detail == Detail::All {
        let items = diff.entries.iter().map(|entry| {
            Item::Subject(Shown {
                entry,
                changes: entry.changes.iter().map(alone).collect(),
                cosmetic: 0,
                in_bursts: 0,
            })
        });
        return Folded {
            items: gravest_first(items.collect()),
            cosmetic: Vec::new(),
            heirs: 0,
            more_safe: 0,
            more: 0,
        };
    }
    let (heirs, rest): (Vec<&Entry>, Vec<&Entry>) =
        diff.entries.iter().partition(|entry| is_told_with_old_name(diff, entry));
    let (cosmetic, rest): (Vec<&Entry>, Vec<&Entry>) =
        rest.into_iter().partition(|entry| is_cosmetic(entry.class, entry.verdict));
    let bursts = bursts(report, &rest);
    let mut items: Vec<Item> = rest.iter().filter_map(|entry| shown(entry, &bursts)).collect();
    items.extend(bursts.into_values().map(Item::Burst));
    let mut folded =
        Folded { items: gravest_first(items), cosmetic, heirs: heirs.len(), more_safe: 0, more: 0 };
    if detail == Detail::Screen {
        cap(&mut folded);
    }
    folded
}

/// Stable: within equals the order of the diff holds, bursts after subjects of the same gravity.
fn gravest_first(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(|item| std::cmp::Reverse((item.verdict(), item.class())));
    items
}

fn cap(folded: &mut Folded) {
    let items = &mut folded.items;
    let safe = items.iter().position(|item| item.verdict() == Verdict::Safe);
    let mut tail = items.split_off(safe.unwrap_or(items.len()));
    folded.more_safe = tail.len().saturating_sub(SAFE_SHOWN);
    tail.truncate(SAFE_SHOWN);
    folded.more = items.len().saturating_sub(SUBJECTS_SHOWN);
    items.truncate(SUBJECTS_SHOWN);
    items.append(&mut tail);
}

/// True for a new name that the old one points to, and of which there is nothing else to say.
fn is_told_with_old_name(diff: &Diff, entry: &Entry) -> bool {
    let Some(old) = &entry.was else {
        return false;
    };
    standing(entry) == Verdict::Safe
        && entry.changes.iter().all(|change| is_whole(entry, change))
        && diff.entries.iter().any(|other| {
            other.subject.name() == old
                && other.renamed_to.as_ref().is_some_and(|heir| heir.name == entry.subject.name())
        })
}

fn shown<'a>(entry: &'a Entry, bursts: &BTreeMap<Key, Burst<'a>>) -> Option<Item<'a>> {
    let (in_bursts, rest): (Vec<&Change>, Vec<&Change>) = entry
        .changes
        .iter()
        .partition(|change| foldable(change) && bursts.contains_key(&key(entry, change)));
    let (cosmetic, rest): (Vec<&Change>, Vec<&Change>) =
        rest.into_iter().partition(|change| is_cosmetic(change.class, change.verdict));
    if !in_bursts.is_empty() && rest.is_empty() {
        return None;
    }
    Some(Item::Subject(Shown {
        entry,
        changes: likewise(rest),
        cosmetic: cosmetic.len(),
        in_bursts: in_bursts.len(),
    }))
}

fn alone(change: &Change) -> Told<'_> {
    Told { change, likewise: Vec::new() }
}

/// Joins the changes of one subject that say the same of several fields, at the place of the first.
fn likewise(changes: Vec<&Change>) -> Vec<Told<'_>> {
    let mut told: Vec<Told> = Vec::new();
    let mut places: BTreeMap<(&str, Verdict, &[Decision], String), usize> = BTreeMap::new();
    for change in changes {
        let (Some(field), true) = (change.field.as_deref(), foldable(change)) else {
            told.push(alone(change));
            continue;
        };
        let pattern = without(&change.sentence, field);
        if pattern == change.sentence {
            told.push(alone(change));
            continue;
        }
        let alike = (change.rule, change.verdict, change.decisions.as_slice(), pattern);
        match places.get(&alike) {
            Some(at) => told[*at].likewise.push(field),
            None => {
                places.insert(alike, told.len());
                told.push(alone(change));
            }
        }
    }
    told
}

/// Suppressed changes are told with their reason, cosmetic ones are counted: neither is joined.
fn foldable(change: &Change) -> bool {
    change.suppressed.is_none() && !is_cosmetic(change.class, change.verdict)
}

/// True for a change of a subject as a whole: it is gone, it is new, it has another name.
fn is_whole(entry: &Entry, change: &Change) -> bool {
    change.field.is_none()
        && match (&entry.subject, change.path.as_str()) {
            (_, "" | "/") => true,
            (Subject::Operation(name), path) => own_place(name).is_some_and(|own| own == path),
            (Subject::Tool(_) | Subject::Schema(_) | Subject::Whole(_), _) => false,
        }
}

/// Where an operation stands in its document: `GET /a/b` at `/paths/~1a~1b/get`.
fn own_place(operation: &str) -> Option<String> {
    let (method, path) = operation.split_once(' ')?;
    let path = path.replace('~', "~0").replace('/', "~1");
    Some(format!("/paths/{path}/{}", method.to_ascii_lowercase()))
}

/// What must be equal for changes to be told as one.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Key {
    rule: &'static str,
    verdict: Verdict,
    place: String,
    before: Option<String>,
    after: Option<String>,
    pattern: String,
}

fn key(entry: &Entry, change: &Change) -> Key {
    let value = |value: &Option<serde_json::Value>| value.as_ref().map(ToString::to_string);
    let mut key = Key {
        rule: change.rule,
        verdict: change.verdict,
        place: change.field.clone().unwrap_or_default(),
        before: None,
        after: None,
        pattern: String::new(),
    };
    // The value of a whole change is the subject, and its sentence may name others: neither is equal.
    if !is_whole(entry, change) {
        if change.field.is_none() {
            key.place.clone_from(&change.path);
        }
        key.before = value(&change.before);
        key.after = value(&change.after);
        key.pattern = without(&change.sentence, entry.subject.name());
    }
    key
}

fn bursts<'a>(report: &Report<'a>, entries: &[&'a Entry]) -> BTreeMap<Key, Burst<'a>> {
    let mut groups: BTreeMap<Key, Vec<(&Entry, &Change)>> = BTreeMap::new();
    for entry in entries {
        let mut seen = BTreeSet::new();
        for change in entry.changes.iter().filter(|change| foldable(change)) {
            let key = key(entry, change);
            if seen.insert(key.clone()) {
                groups.entry(key).or_default().push((entry, change));
            }
        }
    }
    groups
        .into_iter()
        .filter(|(_, group)| group.len() >= BURST_MIN)
        .map(|(key, group)| {
            let sentence = for_many(report, &group);
            let change = group[0].1;
            let entries = group.into_iter().map(|(entry, _)| entry).collect();
            (key, Burst { change, entries, sentence })
        })
        .collect()
}

/// A sentence with the quoted name taken out, so that sentences about different names compare equal.
fn without(sentence: &str, name: &str) -> String {
    sentence.replace(&format!("`{name}`"), "`\0`")
}

/// One sentence for many: the name of the first gives way to their number, or the number is put in
/// after the first clause. Where the sentences differ in more than the name, the rule's own is used.
fn for_many(report: &Report, group: &[(&Entry, &Change)]) -> String {
    let (first, change) = group[0];
    let sentence = &change.sentence;
    let pattern = without(sentence, first.subject.name());
    let alike = group
        .iter()
        .all(|(entry, change)| without(&change.sentence, entry.subject.name()) == pattern);
    if !alike {
        return report.rule(change.rule).map_or_else(
            || format!("{sentence} (the first of them)"),
            |rule| rule.summary.trim_end_matches('.').to_owned(),
        );
    }
    let many = subjects_of(&first.subject, group.len());
    if let Some(at) = pattern.find("`\0`") {
        let each = if at == 0 { "Each of" } else { "each of" };
        return format!("{}{each} {many}{}", &pattern[..at], &pattern[at + 3..]).replace('\0', "…");
    }
    if is_whole(first, change) {
        // Gone, new: the title says how many.
        return sentence.clone();
    }
    let (head, tail) = sentence.split_at(clause_end(sentence));
    format!("{head} in {many}{tail}")
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
