//! Values that must have come in a structured answer of this session, as a person declared it: what a model took from
//! prose, or made up, is not sent.

use super::{Call, answer};
use crate::limits;
use crate::session::{Session, lock};
use contract::Revised;
use contract::depends::FromResults;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use store::RequestId;

/// Values that came in structured answers: by the member that they came from, or from anywhere.
#[derive(Default)]
pub(crate) struct Proven(BTreeMap<Option<(String, String)>, Came>);

/// Digests of values, the oldest first, and the request that each came with at last.
#[derive(Default)]
struct Came {
    known: BTreeMap<String, RequestId>,
    order: VecDeque<String>,
}

impl Came {
    fn take(&mut self, digest: String, with: RequestId) {
        if self.known.insert(digest.clone(), with).is_some() {
            return;
        }
        self.order.push_back(digest);
        if self.order.len() > limits::PROVEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl Session {
    /// Takes down the values of a structured answer, as far as arguments are declared to come from there.
    pub(super) fn proves(
        &self,
        tool: &str,
        answered: &str,
        with: RequestId,
        result: &Map<String, Value>,
    ) {
        let declared = &self.settings().from_results;
        if declared.is_empty() {
            return;
        }
        let Some(value) = answer::structured(result) else { return };
        let from: BTreeSet<_> = declared.iter().map(|one| one.from.clone()).collect();
        let mut proven = lock(self.proven());
        for from in from {
            let mut found = Vec::new();
            match &from {
                None => _ = scalars(&value, 0, &mut found),
                Some((on, member)) if on == tool || on == answered => {
                    let names: Vec<&str> = member.split('.').collect();
                    members(&value, &names, &mut found);
                }
                Some(_) => continue,
            }
            let came = proven.0.entry(from).or_default();
            found.into_iter().for_each(|value| came.take(contract::digest::of_value(value), with));
        }
    }

    /// The first argument of a call whose value came in no such answer.
    pub(super) fn unproven_in(&self, call: &Call, live: &[Arc<Revised>]) -> Option<FromResults> {
        let proven = lock(self.proven());
        let unproven = |one: &&FromResults| {
            let Some(value) = call.arguments.get(&one.argument) else { return false };
            let mut values = Vec::new();
            let whole = scalars(value, 0, &mut values);
            let came = proven.0.get(&one.from);
            let known = |digest: &str| came.is_some_and(|came| came.known.contains_key(digest));
            // A name that no definition has is a value that somebody chose.
            let mut names = BTreeSet::new();
            free_names(value, &mut names);
            for schema in live.iter().filter_map(|live| live.argument(&one.argument)) {
                declared_names(schema, &mut names);
            }
            // What is more than is looked through is proven by nothing.
            !whole
                || !values.iter().all(|value| known(&contract::digest::of_value(value)))
                || !names.iter().all(|name| known(&contract::digest::of_value(&(*name).into())))
        };
        let declared = self.settings().from_results.iter().filter(|one| one.tool == call.tool);
        declared.clone().find(unproven).cloned()
    }

    /// The requests whose answers gave values to a call, as far as they are declared to come from there.
    pub(super) fn proven_by(&self, call: &Call, requests: &mut BTreeSet<RequestId>) {
        let declared = self.settings().from_results.iter().filter(|one| one.tool == call.tool);
        let proven = lock(self.proven());
        for one in declared {
            let (Some(value), Some(came)) =
                (call.arguments.get(&one.argument), proven.0.get(&one.from))
            else {
                continue;
            };
            let mut values = Vec::new();
            scalars(value, 0, &mut values);
            let with = |value: &Value| came.known.get(&contract::digest::of_value(value)).copied();
            requests.extend(values.into_iter().filter_map(with));
        }
    }
}

/// The names of the members in a value.
fn free_names<'v>(value: &'v Value, names: &mut BTreeSet<&'v str>) {
    let mut places = vec![value];
    while let Some(place) = places.pop() {
        match place {
            Value::Array(items) => places.extend(items),
            Value::Object(members) => {
                names.extend(members.keys().map(String::as_str));
                places.extend(members.values());
            }
            _ => {}
        }
    }
}

/// Takes out the names that a schema declares somewhere.
fn declared_names(schema: &Value, names: &mut BTreeSet<&str>) {
    let mut places = vec![schema];
    while let Some(place) = places.pop() {
        match place {
            Value::Array(items) => places.extend(items),
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    for name in properties.keys() {
                        names.remove(name.as_str());
                    }
                }
                places.extend(members.values());
            }
            _ => {}
        }
    }
}

/// The numbers and texts in a value; false where there are more than are looked for.
fn scalars<'v>(value: &'v Value, depth: usize, found: &mut Vec<&'v Value>) -> bool {
    if depth > limits::PROVEN_DEPTH || found.len() >= limits::PROVEN {
        return false;
    }
    match value {
        Value::String(_) | Value::Number(_) => {
            found.push(value);
            true
        }
        Value::Array(items) => items.iter().all(|item| scalars(item, depth + 1, found)),
        Value::Object(members) => members.values().all(|item| scalars(item, depth + 1, found)),
        Value::Null | Value::Bool(_) => true,
    }
}

/// What a dotted member holds; through lists, that of each item.
fn members<'v>(value: &'v Value, names: &[&str], found: &mut Vec<&'v Value>) {
    match (value, names) {
        (Value::Array(items), _) => items.iter().for_each(|item| members(item, names, found)),
        (value, []) => _ = scalars(value, 0, found),
        (Value::Object(object), [name, rest @ ..]) => {
            if let Some(member) = object.get(*name) {
                members(member, rest, found);
            }
        }
        _ => {}
    }
}
