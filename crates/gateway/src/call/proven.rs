//! Values that must have come in a structured answer of this session, as a person declared it: what a model took from
//! prose, or made up, is not sent.

use super::{Call, answer};
use crate::limits;
use crate::session::{Session, lock};
use contract::depends::FromResults;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Values that came in structured answers: by the member that they came from, or from anywhere.
#[derive(Default)]
pub(crate) struct Proven(BTreeMap<Option<(String, String)>, Came>);

/// Digests of values, the oldest first.
#[derive(Default)]
struct Came {
    known: BTreeSet<String>,
    order: VecDeque<String>,
}

impl Came {
    fn take(&mut self, digest: String) {
        if !self.known.insert(digest.clone()) {
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
    pub(super) fn proves(&self, tool: &str, answered: &str, result: &Map<String, Value>) {
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
                None => scalars(&value, 0, &mut found),
                Some((on, member)) if on == tool || on == answered => {
                    let names: Vec<&str> = member.split('.').collect();
                    members(&value, &names, &mut found);
                }
                Some(_) => continue,
            }
            let came = proven.0.entry(from).or_default();
            found.into_iter().for_each(|value| came.take(contract::digest::of_value(value)));
        }
    }

    /// The first argument of a call whose value came in no such answer.
    pub(super) fn unproven_in(&self, call: &Call) -> Option<FromResults> {
        let proven = lock(self.proven());
        let unproven = |one: &&FromResults| {
            let Some(value) = call.arguments.get(&one.argument) else { return false };
            let mut values = Vec::new();
            scalars(value, 0, &mut values);
            let came = proven.0.get(&one.from);
            let known = |value: &&Value| {
                came.is_some_and(|came| came.known.contains(&contract::digest::of_value(value)))
            };
            !values.iter().all(known)
        };
        let declared = self.settings().from_results.iter().filter(|one| one.tool == call.tool);
        declared.clone().find(unproven).cloned()
    }
}

/// The numbers and texts in a value.
fn scalars<'v>(value: &'v Value, depth: usize, found: &mut Vec<&'v Value>) {
    if depth > limits::PROVEN_DEPTH || found.len() >= limits::PROVEN {
        return;
    }
    match value {
        Value::String(_) | Value::Number(_) => found.push(value),
        Value::Array(items) => items.iter().for_each(|item| scalars(item, depth + 1, found)),
        Value::Object(members) => {
            members.values().for_each(|member| scalars(member, depth + 1, found));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// What a dotted member holds; through lists, that of each item.
fn members<'v>(value: &'v Value, names: &[&str], found: &mut Vec<&'v Value>) {
    match (value, names) {
        (Value::Array(items), _) => items.iter().for_each(|item| members(item, names, found)),
        (value, []) => scalars(value, 0, found),
        (Value::Object(object), [name, rest @ ..]) => {
            if let Some(member) = object.get(*name) {
                members(member, rest, found);
            }
        }
        _ => {}
    }
}
