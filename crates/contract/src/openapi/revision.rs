//! The digest of an operation's contract: the operation and everything it reaches.

use super::read::{Api, Operation};
use super::resolve::Place;
use crate::change::Revision;
use crate::rules::finding::canonical;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What one declaration says and which others it refers to.
#[derive(Debug, Clone)]
struct Part {
    digest: String,
    refers: Vec<Place>,
}

/// Digests of declarations, each computed once for each document.
#[derive(Debug, Default)]
pub(crate) struct Revisions {
    parts: BTreeMap<(usize, Place), Part>,
}

impl Revisions {
    /// `sha256:` over the operation, what it inherits, and every declaration it reaches.
    pub fn of(&mut self, api: &Api<'_>, operation: &Operation<'_>) -> Revision {
        // Two documents are open at a time; the address tells them apart, and never leaves here.
        let document = std::ptr::from_ref(api.document.bundle) as usize;
        let parameters: Vec<&Value> =
            operation.parameters.values().map(|parameter| parameter.node.value).collect();
        let own = json!([
            operation.name(),
            operation.node.value,
            parameters,
            operation.security,
            operation.servers
        ]);
        let mut seen: BTreeSet<Place> = BTreeSet::new();
        let mut open = refers(api, &operation.node.place, operation.node.value);
        for parameter in operation.parameters.values() {
            open.extend(refers(api, &parameter.node.place, parameter.node.value));
        }
        let mut lines = vec![hex(&canonical(&own))];
        while let Some(place) = open.pop() {
            if !seen.insert(place.clone()) {
                continue;
            }
            let part = self
                .parts
                .entry((document, place.clone()))
                .or_insert_with(|| part(api, &place))
                .clone();
            lines.push(format!("{place} {}", part.digest));
            open.extend(part.refers);
        }
        lines[1..].sort();
        Revision { digest: format!("sha256:{}", hex(&lines.join("\n"))), ordinal: None }
    }
}

fn part(api: &Api<'_>, place: &Place) -> Part {
    match api.document.get(place) {
        Some(node) => {
            Part { digest: hex(&canonical(node.value)), refers: refers(api, place, node.value) }
        }
        None => Part { digest: String::new(), refers: Vec::new() },
    }
}

fn refers(api: &Api<'_>, place: &Place, value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref")
                    && let Ok(target) = api.document.target(place, reference)
                {
                    found.push(target);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

fn hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
