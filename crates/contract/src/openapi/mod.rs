//! Two OpenAPI documents: operations matched by method and path, what they share compared once.
//!
//! A change is reported at its declaration. A schema that one operation reaches is that
//! operation's own; one that many reach has an entry of its own, and each operation whose
//! calls it bears on has one change that points there.

mod access;
mod answer;
mod circles;
mod cut;
mod draft;
mod graph;
mod heirs;
mod limits;
mod lower;
mod operation;
mod reach;
mod read;
mod request;
mod resolve;
mod schemas;
mod shared;
mod tags;
mod text;
mod whole;
mod wire;

use crate::change::{Change, Counts, Diff, Entry, Kind, Revision, Subject};
use crate::decision::places::{self, Known};
use crate::decision::{DecisionMap, Reading};
use crate::diff::Options;
use crate::document::{Bundle, Problem};
use crate::lock::operations;
use crate::rules::finding::{Judgement, fingerprint};
use crate::rules::http::SF501;
use crate::tools::join;
use crate::verdict::Verdict;
use cut::Side;
use draft::change;
use graph::Graph;
use operation::{Comparison, Site};
use read::{Api, Operation};
pub use request::{Part, Request, requests};
use resolve::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Everything known about one matched operation while the parts are put together.
struct Matched<'o, 'a> {
    name: String,
    old: &'o Operation<'a>,
    new: &'o Operation<'a>,
    /// The words of its path and name, for guesses.
    about: Vec<String>,
    changes: Vec<Change>,
    sites: Vec<Site>,
}

/// Compares two documents.
///
/// # Errors
/// All problems of both documents at once: no OpenAPI, a version that is not known here, a `$ref`
/// to the network, to nothing or in a circle, things that are not what the specification asks for.
pub fn diff(old: &Bundle, new: &Bundle, options: &Options) -> Result<Diff, Vec<Problem>> {
    let (old, mut new) = match (read::read(old), read::read(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (old, new) => {
            let mut problems = old.err().unwrap_or_default();
            problems.extend(new.err().unwrap_or_default());
            return Err(problems);
        }
    };
    access::under_old_names(&old, &mut new);
    let moved = access::at_old_addresses(&old, &mut new);
    let map = options.decisions.as_ref();
    let mut matched = matched(&old, &new);
    let mut sides = (Side::new(old.document), Side::new(new.document));
    let graph =
        Graph::of(matched.iter().flat_map(|one| one.sites.iter()), &mut sides.0, &mut sides.1);
    let mut problems = std::mem::take(&mut sides.0.problems);
    problems.append(&mut sides.1.problems);
    if !problems.is_empty() {
        problems.sort_by(|a, b| (&a.place, &a.sentence).cmp(&(&b.place, &b.sentence)));
        problems.dedup();
        return Err(problems);
    }
    for side in [&mut sides.0, &mut sides.1] {
        let standing = circles::standing(side);
        side.flaws.extend(standing);
    }
    let flaws = flaws(&mut sides.0.flaws, &mut sides.1.flaws);
    for one in &mut matched {
        let surface = reach::surface(map, one.old);
        for change in &mut one.changes {
            let reached = reach::of_operation(change, surface);
            reach::settle(change, &reached);
        }
    }
    let mut declarations = shared::collect(&matched, &graph, (&old, &new), options);
    let mut entries = Vec::new();
    let mut unchanged = 0;
    let revisions = Revisions::of(&old, &new);
    for (at, one) in matched.iter_mut().enumerate() {
        let mut changes = std::mem::take(&mut one.changes);
        changes.extend(shared::of(&mut declarations, at, map, one));
        if changes.is_empty() {
            unchanged += 1;
            continue;
        }
        let from = revisions.before(one.old);
        let to = revisions.after(one.new);
        entries.push(entry(Subject::Operation(one.name.clone()), from, to, changes));
    }
    let names: Vec<String> = matched.iter().map(|one| one.name.clone()).collect();
    entries.extend(shared::entries(declarations, &names));
    if moved == 0 {
        entries.extend(access::unused_servers(&old, &new, &entries));
    }
    entries.extend(whole::info(&old, &new));
    let mut lone = lone(&old, &new, options, &revisions);
    entries.append(&mut lone);
    let verdict = entries.iter().map(|entry| entry.verdict).max().unwrap_or(Verdict::Safe);
    Ok(Diff {
        kind: Kind::Openapi,
        verdict,
        entries,
        counts: Counts {
            old: old.operations.len() + old.webhooks.len(),
            new: new.operations.len() + new.webhooks.len(),
            unchanged,
        },
        flaws,
    })
}

/// All that is not in order in one document, as far as its operations reach.
pub fn check(bundle: &Bundle) -> Vec<Problem> {
    let api = match read::read(bundle) {
        Ok(api) => api,
        Err(problems) => return problems,
    };
    let matched = matched(&api, &api);
    let (mut one, mut same) = (Side::new(api.document), Side::new(api.document));
    Graph::of(matched.iter().flat_map(|one| one.sites.iter()), &mut one, &mut same);
    let standing = circles::standing(&one);
    let mut found = one.problems;
    found.extend(one.flaws);
    found.extend(standing);
    found.sort_by(|a, b| (&a.place, &a.sentence).cmp(&(&b.place, &b.sentence)));
    found.dedup();
    found
}

/// What is not in order on one side, or not as it is on the other: place in the document and sentence are compared.
fn flaws(old: &mut Vec<Problem>, new: &mut Vec<Problem>) -> Vec<Problem> {
    let told = |flaw: &Problem| {
        let pointer = flaw.place.split_once('#').map_or("", |(_, pointer)| pointer);
        (pointer.to_owned(), flaw.sentence.clone())
    };
    let sides = [&*old, &*new].map(|side| side.iter().map(told).collect::<BTreeSet<_>>());
    let mut differing = std::mem::take(old);
    differing.append(new);
    differing.retain(|flaw| sides.iter().any(|side| !side.contains(&told(flaw))));
    differing.sort_by(|a, b| (&a.place, &a.sentence).cmp(&(&b.place, &b.sentence)));
    differing.dedup();
    differing
}

/// Operations on both sides, and what each pair says but for its schemas.
fn matched<'o, 'a>(old: &'o Api<'a>, new: &'o Api<'a>) -> Vec<Matched<'o, 'a>> {
    let mut found = Vec::new();
    let lists = [(&old.operations, &new.operations, false), (&old.webhooks, &new.webhooks, true)];
    for (before, after, reversed) in lists {
        for (key, was) in before {
            let Some(is) = after.get(key) else {
                continue;
            };
            let mut comparison = Comparison::new(was, is, reversed);
            comparison.run();
            found.push(Matched {
                name: is.name(),
                old: was,
                new: is,
                about: operation::about(was),
                changes: comparison.changes,
                sites: comparison.sites,
            });
        }
    }
    found
}

/// Operations on one side only.
fn lone(old: &Api<'_>, new: &Api<'_>, options: &Options, revisions: &Revisions) -> Vec<Entry> {
    let heirs = heirs::find(old, new, &options.renames);
    let mut entries = Vec::new();
    for (before, after) in [(&old.operations, &new.operations), (&old.webhooks, &new.webhooks)] {
        for (key, was) in before {
            if after.contains_key(key) {
                continue;
            }
            let heir = heirs.get(&was.name());
            let gone = heirs::removed(was, heir);
            let from = revisions.before(was);
            let mut entry = entry(Subject::Operation(was.name()), from, None, vec![gone]);
            entry.renamed_to = heir.cloned();
            entries.push(entry);
        }
        for (key, is) in after {
            if before.contains_key(key) {
                continue;
            }
            let sentence =
                "the operation is new: no planned call names it, no grant by name covers it";
            let come = change(&SF501, Judgement::ADDITIVE, &is.node.place, sentence.to_owned());
            let to = revisions.after(is);
            let mut entry = entry(Subject::Operation(is.name()), None, to, vec![come]);
            entry.was =
                heirs.iter().find(|(_, heir)| heir.name == is.name()).map(|(was, _)| was.clone());
            entries.push(entry);
        }
    }
    entries
}

/// The digests of all operations, as a lock keeps them.
struct Revisions {
    old: BTreeMap<String, String>,
    new: BTreeMap<String, String>,
}

impl Revisions {
    fn of(old: &Api<'_>, new: &Api<'_>) -> Revisions {
        Revisions { old: operations(old.document.bundle), new: operations(new.document.bundle) }
    }

    fn before(&self, operation: &Operation<'_>) -> Option<Revision> {
        find(&self.old, operation)
    }

    fn after(&self, operation: &Operation<'_>) -> Option<Revision> {
        find(&self.new, operation)
    }
}

fn find(digests: &BTreeMap<String, String>, operation: &Operation<'_>) -> Option<Revision> {
    let digest = digests.get(&operation.name())?.clone();
    Some(Revision { digest, ordinal: None })
}

/// Joins changes under their subject, which completes their fingerprints.
fn entry(
    subject: Subject,
    from: Option<Revision>,
    to: Option<Revision>,
    mut changes: Vec<Change>,
) -> Entry {
    for change in &mut changes {
        change.fingerprint = fingerprint(change, &subject);
    }
    join(subject, from, to, changes)
}

/// The map's lines for an operation are about something: names of operations in the map that
/// neither document has, so that a typing error does not silence a finding.
pub fn unknown_subjects(map: &DecisionMap, old: &Bundle, new: &Bundle) -> Vec<String> {
    let mut known = std::collections::BTreeSet::new();
    for bundle in [old, new] {
        if let Ok(api) = read::read(bundle) {
            for operation in api.operations.values() {
                known.insert(operation.name());
                known.extend(operation.id.map(str::to_owned));
            }
        }
    }
    map.operations.keys().filter(|name| !known.contains(*name)).cloned().collect()
}

/// Lines of the map about places that an operation declares on neither side: the operation as the map names it, and the
/// line.
pub fn unknown_places(map: &DecisionMap, old: &Bundle, new: &Bundle) -> Vec<(String, String)> {
    let apis: Vec<(&Bundle, Api<'_>)> = [old, new]
        .into_iter()
        .filter_map(|bundle| Some((bundle, read::read(bundle).ok()?)))
        .collect();
    let mut found = Vec::new();
    for (subject, surface) in &map.operations {
        let named: Vec<(&Bundle, &Operation<'_>)> = apis
            .iter()
            .flat_map(|(bundle, api)| api.operations.values().map(move |one| (*bundle, one)))
            .filter(|(_, one)| one.id == Some(subject.as_str()) || one.name() == *subject)
            .collect();
        for (lines, sent) in [(&surface.request, true), (&surface.response, false)] {
            for line in lines {
                let known = named.iter().map(|(bundle, one)| declares(bundle, one, line, sent));
                if known.max() == Some(Known::No) {
                    found.push((subject.clone(), places::spelled(line)));
                }
            }
        }
    }
    found
}

/// What an operation says of the place of one line.
fn declares(bundle: &Bundle, operation: &Operation<'_>, line: &Reading, sent: bool) -> Known {
    let Some((head, rest)) = line.path.split_first() else { return Known::Yes };
    let in_media = |media: &BTreeMap<String, read::Media<'_>>| -> Known {
        let of = |media: &read::Media<'_>| match media
            .schema
            .as_ref()
            .and_then(|s| node(bundle, &s.place))
        {
            Some(schema) => places::declared(&schema, rest),
            None => Known::Unsaid,
        };
        media.values().map(of).max().unwrap_or(Known::Unsaid)
    };
    match (sent, head.as_str()) {
        (true, "body") => match &operation.body {
            Some(body) => in_media(&body.media),
            // Swagger's form fields are a body, too.
            None => match operation.parameters.keys().any(|key| key.location == "form") {
                true => Known::Unsaid,
                false => Known::No,
            },
        },
        (true, "path" | "query" | "header" | "cookie") => {
            let same = |name: &str, wanted: &String| match head.as_str() {
                "header" => name.eq_ignore_ascii_case(wanted),
                _ => name == wanted,
            };
            let declared = operation.parameters.iter().any(|(key, parameter)| {
                key.location == *head && rest.first().is_some_and(|name| same(parameter.name, name))
            });
            if declared || rest.is_empty() { Known::Yes } else { Known::No }
        }
        (false, "body") => {
            let answers = operation.responses.iter().filter(|(status, _)| {
                line.status.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(status))
            });
            answers.map(|(_, answer)| in_media(&answer.media)).max().unwrap_or(Known::Unsaid)
        }
        // Servers answer with headers that nobody declared.
        _ => Known::Unsaid,
    }
}

fn node<'b>(bundle: &'b Bundle, place: &Place) -> Option<crate::view::Node<'b>> {
    let (file, document) = match place.file.as_str() {
        "" => ("", &bundle.root),
        name => bundle.files.get_key_value(name).map(|(name, value)| (name.as_str(), value))?,
    };
    let value = document.pointer(&place.pointer)?;
    let source = crate::view::Source::bundle(bundle);
    Some(crate::view::Node { source, file, pointer: place.pointer.clone(), value })
}
