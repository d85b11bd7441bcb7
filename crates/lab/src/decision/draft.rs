//! A first decision map from recorded traffic, for a person to correct: which values of answers turned up in later
//! requests, and which values tell the objects that were acted on from those that were not. Pure.

use super::contract::same_operation;
use super::fixture::Fixture;
use super::place::values;
use super::record::{Content, Entry};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What was found about one value of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    /// The decision that it likely feeds.
    feeds: &'static str,
    /// Why that is thought.
    why: String,
}

/// Letters that a value must have to be taken for the same as one that was sent: shorter ones turn up by chance.
const TELLING: usize = 2;

/// Names of parameters that ask for the next part of a list.
const CURSORS: &[&str] = &["cursor", "page", "offset", "after", "continuation"];

/// Drafts a map, as YAML with a comment behind each line.
pub fn draft(entries: &[Entry], fixtures: &[Fixture]) -> String {
    let names: Vec<String> = entries.iter().map(|entry| operation(entry, fixtures)).collect();
    let mut responses: BTreeMap<&str, BTreeMap<String, Found>> = BTreeMap::new();
    let mut requests: BTreeMap<&str, BTreeMap<String, Found>> = BTreeMap::new();
    let mut before: BTreeSet<String> = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        let sent = sent(entry, &names[at]);
        before.extend(sent.iter().map(|(_, value)| value.clone()));
        let mut read = Vec::new();
        leaves(&entry.answer, "body", &mut read);
        let own = responses.entry(&names[at]).or_default();
        let mut chosen: BTreeSet<String> = BTreeSet::new();
        for (later, other) in entries.iter().enumerate().skip(at + 1) {
            for (place, value) in self::sent(other, &names[later]) {
                let from = read.iter().filter(|(_, read)| *read == value && !before.contains(read));
                for (line, value) in from {
                    let cursor = CURSORS.iter().any(|word| place.to_lowercase().contains(word));
                    let feeds = if cursor { "completion" } else { "target" };
                    let why = format!("turned up in {place} of {}", names[later]);
                    own.entry(line.clone()).or_insert(Found { feeds, why });
                    if !cursor {
                        chosen.insert(value.clone());
                        let told = Found {
                            feeds: "target",
                            why: format!("came from {line} of {}", names[at]),
                        };
                        requests
                            .entry(&names[later])
                            .or_default()
                            .entry(place.clone())
                            .or_insert(told);
                    }
                }
            }
        }
        telling(&entry.answer, "body", &chosen, own);
    }
    for (at, entry) in entries.iter().enumerate() {
        for (place, _) in
            sent(entry, &names[at]).into_iter().filter(|(place, _)| !place.starts_with("path."))
        {
            let why = "was sent; it came from no answer".to_owned();
            let own = requests.entry(&names[at]).or_default();
            own.entry(place).or_insert(Found { feeds: "scope", why });
        }
    }
    written(&names, &requests, &responses)
}

/// The operation of a request: that of the fixture that answered, else its method and path.
fn operation(entry: &Entry, fixtures: &[Fixture]) -> String {
    let own = format!("{} {}", entry.seen.method, entry.seen.path);
    let fixture = fixtures.iter().find(|f| Some(f.id()) == entry.fixture);
    let fixture =
        fixture.or_else(|| fixtures.iter().find(|f| same_operation(&f.operation(), &own)));
    fixture.map_or(own, Fixture::operation)
}

/// Every value that a request sends, with its place.
fn sent(entry: &Entry, operation: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = entry
        .seen
        .query
        .iter()
        .map(|(name, value)| (format!("query.{name}"), value.clone()))
        .collect();
    let pattern = operation.split_once(' ').map_or("", |(_, path)| path);
    for (step, value) in pattern.split('/').zip(entry.seen.path.split('/')) {
        if super::fixture::is_variable(step) {
            found.push((format!("path.{}", step.trim_matches(['{', '}'])), value.to_owned()));
        }
    }
    if let (Content::Json(_) | Content::Form(_), Some(body)) =
        (&entry.seen.body, entry.seen.body.value())
    {
        leaves(&body, "body", &mut found);
    }
    found.retain(|(_, value)| !value.is_empty());
    found
}

/// Every text and number of a value, with its place.
fn leaves(value: &Value, place: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, &format!("{place}.{name}"), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                leaves(item, &format!("{place}[]"), found);
            }
        }
        Value::String(text) if text.chars().count() >= TELLING => {
            found.push((place.to_owned(), text.clone()));
        }
        Value::Number(number) if number.to_string().len() >= TELLING => {
            found.push((place.to_owned(), number.to_string()));
        }
        _ => {}
    }
}

/// Members whose values tell the objects of a list that were chosen from those that were not.
fn telling(
    value: &Value,
    place: &str,
    chosen: &BTreeSet<String>,
    found: &mut BTreeMap<String, Found>,
) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                telling(member, &format!("{place}.{name}"), chosen, found);
            }
        }
        Value::Array(items) => {
            let objects: Vec<&Map<String, Value>> =
                items.iter().filter_map(Value::as_object).collect();
            let is_chosen = |object: &Map<String, Value>| {
                let mut own = Vec::new();
                leaves(&Value::Object(object.clone()), "", &mut own);
                own.iter().any(|(_, value)| chosen.contains(value))
            };
            let (taken, left): (Vec<_>, Vec<_>) = objects.into_iter().partition(|o| is_chosen(o));
            let names: BTreeSet<&String> =
                taken.iter().chain(&left).flat_map(|o| o.keys()).collect();
            for name in names.into_iter().filter(|_| !taken.is_empty() && !left.is_empty()) {
                let of = |objects: &[&Map<String, Value>]| -> Vec<Value> {
                    objects
                        .iter()
                        .flat_map(|o| {
                            values(&Value::Object((*o).clone()), std::slice::from_ref(name))
                        })
                        .collect()
                };
                let (with, without) = (of(&taken), of(&left));
                let own = without.iter().any(|value| !with.contains(value));
                let shared = with.iter().all(|value| with.first() == Some(value));
                let line = format!("{place}[].{name}");
                if own && shared && !with.is_empty() {
                    let why = "tells what was acted on from what was not".to_owned();
                    found.entry(line).or_insert(Found { feeds: "eligibility", why });
                }
            }
        }
        _ => {}
    }
}

fn written(
    names: &[String],
    requests: &BTreeMap<&str, BTreeMap<String, Found>>,
    responses: &BTreeMap<&str, BTreeMap<String, Found>>,
) -> String {
    let mut out = String::from(
        "# A draft from recorded traffic: what it says is a guess. Correct each line, and say what the agent does\n\
         # where a value is missing (absent) or not known (unknown): stop, skip, ask or note.\n\
         decision-map: 1\noperations:\n",
    );
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for name in names.iter().filter(|name| told.insert(name.as_str())) {
        let request = requests.get(name.as_str()).filter(|lines| !lines.is_empty());
        let response = responses.get(name.as_str()).filter(|lines| !lines.is_empty());
        out.push_str(&format!("  {}:", key(name)));
        if request.is_none() && response.is_none() {
            out.push_str(" {}\n");
            continue;
        }
        out.push('\n');
        for (head, lines) in [("request", request), ("response", response)] {
            let Some(lines) = lines else { continue };
            out.push_str(&format!("    {head}:\n"));
            for (place, found) in lines {
                let feeds = if head == "request" || found.feeds == "completion" {
                    found.feeds.to_owned()
                } else {
                    format!("{{feeds: {}, absent: stop}}", found.feeds)
                };
                out.push_str(&format!("      {}: {feeds}  # {}\n", key(place), found.why));
            }
        }
    }
    out
}

/// A key of YAML, in quotes where it could be read as something else.
fn key(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/[] ".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::record::Seen;
    use contract::decision::DecisionMap;
    use serde_json::json;

    fn entry(n: usize, method: &str, path: &str, body: &str, answer: Value) -> Entry {
        let headers = [("content-type", &b"application/json"[..])];
        let seen = Seen::read(method, path, headers.into_iter(), body.as_bytes(), &BTreeSet::new());
        Entry { n, seen, fixture: None, status: Some(200), fault: None, answer }
    }

    #[test]
    fn what_turns_up_later_and_what_tells_objects_apart_is_drafted_and_readable() {
        let list = json!({"items": [
            {"id": "p17", "state": "inactive", "owner": "team-a"},
            {"id": "p19", "state": "inactive", "owner": "team-b"},
        ], "next_cursor": "c-2"});
        let entries = [
            entry(1, "GET", "/projects?state=inactive&limit=100", "", list),
            entry(
                2,
                "GET",
                "/projects?state=inactive&limit=100&cursor=c-2",
                "",
                json!({"items": []}),
            ),
            entry(
                3,
                "POST",
                "/archive",
                "{\"ids\":[\"p17\"],\"dry_run\":false}",
                json!({"ok": true}),
            ),
        ];
        let text = draft(&entries, &[]);
        for line in [
            "      body.items[].id: {feeds: target, absent: stop}  # turned up in body.ids[] of POST /archive",
            "      body.items[].owner: {feeds: eligibility, absent: stop}  # tells what was acted on from what was not",
            "      body.next_cursor: completion  # turned up in query.cursor of GET /projects",
            "      body.ids[]: target  # came from body.items[].id of GET /projects",
            "      query.limit: scope  # was sent; it came from no answer",
        ] {
            assert!(text.contains(line), "no {line:?} in\n{text}");
        }
        assert!(!text.contains("items[].state"), "{text}");
        DecisionMap::parse("draft.yaml", &text).unwrap();
    }
}
