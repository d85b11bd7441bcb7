//! Changes of what operations share: judged once, given to the one operation that reaches them or
//! to an entry of their own, with one pointing change on each operation they bear on.

use super::access;
use super::cut::Pair;
use super::draft::{Finish, change, some};
use super::graph::{Graph, Routes};
use super::limits;
use super::operation::Site;
use super::reach::{self, Reached};
use super::read::Api;
use super::schemas::{self, Judged};
use super::{Matched, entry};
use crate::change::{Change, Entry, Subject};
use crate::decision::{DecisionMap, guess};
use crate::diff::Options;
use crate::rules::finding::Judgement;
use crate::rules::http::SF560;
use crate::verdict::{Axes, Class, Decision, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// One declaration, or one schema of one operation, with its changes.
pub(crate) struct Declaration {
    subject: String,
    changes: Vec<Change>,
    /// For each operation that reaches it: what each change bears on there.
    reached: BTreeMap<usize, Vec<Reached>>,
}

impl Declaration {
    fn alone(&self) -> bool {
        self.reached.len() <= 1
    }
}

/// An operation (by its number), the site of it, and the ways from there to a pair.
type Way<'s> = (usize, &'s Site, &'s [Vec<String>]);

/// Judges every pair that says something, and finds who reaches it.
pub(crate) fn collect(
    matched: &[Matched<'_, '_>],
    graph: &Graph,
    (old, new): (&Api<'_>, &Api<'_>),
    options: &Options,
) -> Vec<Declaration> {
    let map = options.decisions.as_ref();
    // Many sites hold the same pair: the ways from it are found once.
    let mut routes: BTreeMap<usize, Routes> = BTreeMap::new();
    for site in matched.iter().flat_map(|one| &one.sites) {
        let from = graph.at(site);
        routes.entry(from).or_insert_with(|| graph.routes(from));
    }
    // Who reaches which pair, and by which ways.
    let mut ways: BTreeMap<usize, Vec<Way<'_>>> = BTreeMap::new();
    for (at, one) in matched.iter().enumerate() {
        for site in &one.sites {
            for (pair, routes) in &routes[&graph.at(site)] {
                ways.entry(*pair).or_default().push((at, site, routes));
            }
        }
    }
    // The same edit may be seen from several pairs (a part of an `allOf` is written out in each);
    // it is one change, and everyone who sees it reaches it.
    let mut found: BTreeMap<String, Declaration> = BTreeMap::new();
    let mut known: BTreeMap<(String, &'static str, String), (String, usize)> = BTreeMap::new();
    for (id, pair, own) in graph.changed() {
        let Some(reaching) = ways.get(&id) else {
            continue;
        };
        let name = first_name(reaching);
        let always = reaching
            .iter()
            .all(|(_, site, routes)| site.always && routes.iter().all(Vec::is_empty));
        let judged = schemas::judge(
            pair,
            own,
            (&name, always),
            (old.document, new.document),
            &options.lexicon,
        );
        for one in judged {
            let subject = subject_of(&one.change, pair);
            let identity = (
                format!("{:?} {}", pair.flow, one.change.path),
                one.change.rule,
                format!(
                    "{:?} {:?} {:?}",
                    one.change.field.as_deref().map(last),
                    one.change.before,
                    one.change.after
                ),
            );
            let (subject, index) = known
                .entry(identity)
                .or_insert_with(|| {
                    let declaration = found.entry(subject.clone()).or_insert_with(|| Declaration {
                        subject: subject.clone(),
                        changes: Vec::new(),
                        reached: BTreeMap::new(),
                    });
                    declaration.changes.push(one.change.clone());
                    (subject, declaration.changes.len() - 1)
                })
                .clone();
            let declaration = found.get_mut(&subject).expect("it was entered above");
            note(declaration, index, &one, reaching, matched, map);
        }
    }
    let mut all: Vec<Declaration> = found.into_values().collect();
    all.extend(schemes(matched, old, new, map));
    for declaration in &mut all {
        let count = declaration.changes.len();
        for reached in declaration.reached.values_mut() {
            reached.resize_with(count, || Reached { unread: true, ..Reached::default() });
        }
    }
    all
}

fn last(field: &str) -> &str {
    field.rsplit('.').next().unwrap_or(field)
}

/// The name by which a pair is reached first: what its root is called.
fn first_name(reaching: &[Way<'_>]) -> String {
    reaching
        .iter()
        .flat_map(|(_, site, routes)| routes.iter().map(|route| (*site, route)))
        .map(|(site, route)| match guess::field(route) {
            "" => guess::field(&site.steps),
            name => name,
        })
        .find(|name| !name.is_empty() && *name != "body")
        .unwrap_or_default()
        .to_owned()
}

/// The declaration that holds a place: `#/components/schemas/X`, or the operation's own schema.
fn subject_of(change: &Change, pair: &Pair) -> String {
    let (file, pointer) = change.path.split_once('#').unwrap_or(("", change.path.as_str()));
    let tokens: Vec<&str> = pointer.split('/').skip(1).collect();
    let depth = match tokens.first() {
        Some(&"components") => 3,
        Some(&"definitions" | &"parameters" | &"responses") => 2,
        _ => return pair.new.to_string(),
    };
    let head = tokens[..depth.min(tokens.len())].join("/");
    if file.is_empty() { format!("/{head}") } else { format!("{file}#/{head}") }
}

fn note(
    declaration: &mut Declaration,
    index: usize,
    judged: &Judged,
    reaching: &[Way<'_>],
    matched: &[Matched<'_, '_>],
    map: Option<&DecisionMap>,
) {
    for (at, site, routes) in reaching {
        let one = &matched[*at];
        let surface = reach::surface(map, one.old);
        let more = reach::of_schema(judged, site, routes, one, surface);
        let list = declaration.reached.entry(*at).or_default();
        while list.len() <= index {
            list.push(Reached { unread: true, ..Reached::default() });
        }
        let known = &mut list[index];
        known.decisions.extend(more.decisions);
        known.guessed |= more.guessed;
        known.unread &= more.unread;
        known.consequences.extend(more.consequences);
    }
}

/// Security schemes: declarations too, reached by the operations that ask for them.
fn schemes(
    matched: &[Matched<'_, '_>],
    old: &Api<'_>,
    new: &Api<'_>,
    map: Option<&DecisionMap>,
) -> Vec<Declaration> {
    let mut all = Vec::new();
    for (name, changes) in access::schemes(old, new) {
        let mut reached = BTreeMap::new();
        for (at, one) in matched.iter().enumerate() {
            let uses = one.old.security.iter().any(|way| way.contains_key(&name));
            if uses {
                let surface = reach::surface(map, one.old);
                let bears =
                    changes.iter().map(|change| reach::of_operation(change, surface)).collect();
                reached.insert(at, bears);
            }
        }
        if !reached.is_empty() {
            let place = new.schemes[&name].place.to_string();
            all.push(Declaration { subject: place, changes, reached });
        }
    }
    all
}

/// The changes of an operation that come from what it reaches.
pub(crate) fn of(
    declarations: &mut [Declaration],
    at: usize,
    _map: Option<&DecisionMap>,
    one: &Matched<'_, '_>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut pointing: Vec<(String, Change, usize)> = Vec::new();
    for declaration in declarations.iter_mut() {
        let Some(reached) = declaration.reached.get(&at) else {
            continue;
        };
        if declaration.alone() {
            for (mut change, reached) in declaration.changes.drain(..).zip(reached) {
                reach::settle(&mut change, reached);
                changes.push(change);
            }
            continue;
        }
        let mut bearing: Vec<Change> = Vec::new();
        for (change, reached) in declaration.changes.iter().zip(reached) {
            let mut change = change.clone();
            reach::settle(&mut change, reached);
            // A pair seen only from elsewhere says nothing about this operation.
            let seen =
                !reached.unread || !reached.decisions.is_empty() || change.verdict != Verdict::Safe;
            if seen && change.verdict != Verdict::Safe {
                bearing.push(change);
            }
        }
        let count = bearing.len();
        if let Some(gravest) = joined(bearing) {
            pointing.push((declaration.subject.clone(), gravest, count));
        }
    }
    if let Some(change) = pointer(&pointing, one) {
        changes.push(change);
    }
    changes
}

/// Several changes as one: the gravest speaks, the axes and decisions are those of all.
fn joined(mut changes: Vec<Change>) -> Option<Change> {
    changes.sort_by_key(|change| std::cmp::Reverse((change.verdict, change.class)));
    let axes = changes.iter().fold(Axes::SAME, |axes, change| axes.join(change.axes));
    let class = changes.iter().map(|change| change.class).max()?;
    let decisions: BTreeSet<Decision> =
        changes.iter().flat_map(|change| change.decisions.iter().copied()).collect();
    let guessed = changes.iter().any(|change| change.decisions_guessed);
    let mut first = changes.into_iter().next()?;
    first.axes = axes;
    first.class = class;
    first.decisions = decisions.into_iter().collect();
    first.decisions_guessed = guessed;
    Some(first)
}

/// The one change of an operation that points at the declarations it uses.
fn pointer(pointing: &[(String, Change, usize)], one: &Matched<'_, '_>) -> Option<Change> {
    let all = joined(pointing.iter().map(|(_, change, _)| change.clone()).collect())?;
    let total: usize = pointing.iter().map(|(_, _, count)| count).sum();
    let names: Vec<String> =
        pointing.iter().map(|(subject, _, _)| format!("`{}`", last_token(subject))).collect();
    let names = some(&names, limits::NAMED);
    let sentence = match total {
        1 => format!("through {names}: {}", all.sentence),
        _ => format!("through {names}, {total} changes; the gravest: {}", all.sentence),
    };
    let mut change =
        change(&SF560, Judgement::WORDING, &one.new.node.place, sentence).guess(&all.decisions);
    change.decisions_guessed = all.decisions_guessed;
    change.class = all.class;
    change.verdict = all.verdict;
    change.axes = all.axes;
    Some(change)
}

fn last_token(subject: &str) -> String {
    schema::reference::unescape(subject.rsplit('/').next().unwrap_or(subject))
}

/// An entry for each declaration that several operations reach.
pub(crate) fn entries(declarations: Vec<Declaration>, names: &[String]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for declaration in declarations {
        if declaration.changes.is_empty() {
            continue;
        }
        let reach: Vec<String> = declaration.reached.keys().map(|at| names[*at].clone()).collect();
        let mut changes = declaration.changes;
        for (at, change) in changes.iter_mut().enumerate() {
            let mut all = Reached { unread: true, ..Reached::default() };
            for reached in declaration.reached.values() {
                let one = &reached[at];
                all.decisions.extend(&one.decisions);
                all.guessed |= one.guessed;
                all.unread &= one.unread;
                all.consequences.extend(one.consequences.iter().cloned());
            }
            reach::settle(change, &all);
            if change.class > Class::Cosmetic {
                let reach = some(&reach, limits::NAMED);
                change.sentence.push_str(&format!(" (reaches {reach})"));
            }
        }
        entries.push(entry(Subject::Schema(declaration.subject), None, None, changes));
    }
    entries
}
