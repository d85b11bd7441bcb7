//! What stands on one side only, written out so that it can be judged by what it holds.
//!
//! A few levels are written in place. What lies deeper becomes a definition of the cut schema: it is compared as it
//! is, by however many references either side gets there, and a type that holds itself stays one.

use super::{Cutter, beside, reference};
use crate::openapi::limits;
use crate::openapi::lower;
use crate::openapi::resolve::Place;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// Definitions of one side, and those still to be written out with the steps to the value.
#[derive(Default)]
pub(super) struct Definitions {
    written: Map<String, Value>,
    open: VecDeque<(Place, Vec<String>)>,
}

/// What a text begins with that stands for a schema which was not written out.
const STAND_IN: char = '\u{0}';

/// True where a schema, or what it refers to in its own document, only stands for one that was not written out.
pub(crate) fn stands_in(root: &Value, pointer: &str) -> bool {
    let Some(value) = root.pointer(pointer) else { return false };
    let target = value.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
    let value = target.and_then(|to| root.pointer(to)).unwrap_or(value);
    value.get("const").and_then(Value::as_str).is_some_and(|text| text.starts_with(STAND_IN))
}

/// True where a value holds such a text.
pub(crate) fn holds_stand_in(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with(STAND_IN),
        Value::Array(items) => items.iter().any(holds_stand_in),
        Value::Object(members) => members.values().any(holds_stand_in),
        _ => false,
    }
}

/// The name of the definition for a place: letters and digits, so that no reference spells it otherwise.
fn name(place: &Place) -> String {
    let mut name = String::from("at");
    for byte in lower::key(place).bytes() {
        match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => name.push(char::from(byte)),
            other => name.push_str(&format!("_{other:02x}")),
        }
    }
    name
}

/// The place that [`name`] wrote down.
pub(crate) fn place(name: &str) -> Option<Place> {
    let mut key = Vec::new();
    let mut rest = name.strip_prefix("at")?;
    while let Some(first) = rest.bytes().next() {
        let taken = if first == b'_' {
            key.push(u8::from_str_radix(rest.get(1..3)?, 16).ok()?);
            3
        } else {
            key.push(first);
            1
        };
        rest = rest.get(taken..)?;
    }
    String::from_utf8(key).ok().map(|key| lower::place(&key))
}

/// A sentence in which such definitions are called what they are called in the document.
pub(crate) fn spelled(text: &str) -> String {
    let mut parts = text.split("/$defs/at");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (encoded, rest) = part.split_at(end.unwrap_or(part.len()));
        match place(&format!("at{encoded}")) {
            Some(place) => out.push_str(&place.to_string()),
            None => out.push_str(&format!("/$defs/at{encoded}")),
        }
        out.push_str(rest);
    }
    out
}

impl Cutter<'_, '_> {
    /// A reference to the definition of a place on one side.
    fn definition(&mut self, place: &Place, is_old: bool) -> Value {
        let steps = self.steps.clone();
        let side = if is_old { &mut self.lone.0 } else { &mut self.lone.1 };
        let name = name(place);
        if !side.written.contains_key(&name) {
            if side.written.len() >= limits::DEFINITIONS {
                return self.mark(format!("{STAND_IN}{}", lower::key(place)));
            }
            side.written.insert(name.clone(), Value::Bool(true));
            side.open.push_back((place.clone(), steps));
        }
        Value::String(format!("#/$defs/{name}"))
    }

    /// Writes out what was referred to. To be called once the rest is cut.
    pub(super) fn write_out(&mut self, is_old: bool) -> Map<String, Value> {
        loop {
            let lone = if is_old { &mut self.lone.0 } else { &mut self.lone.1 };
            let Some((place, steps)) = lone.open.pop_front() else {
                return std::mem::take(&mut lone.written);
            };
            let side = if is_old { &mut *self.old } else { &mut *self.new };
            let target = side.schema(&place, self.flow);
            let before = std::mem::replace(&mut self.steps, steps);
            let written = self.alone(&target, is_old, limits::UNFOLD_DEPTH);
            self.steps = before;
            let lone = if is_old { &mut self.lone.0 } else { &mut self.lone.1 };
            lone.written.insert(name(&place), written);
        }
    }

    pub(super) fn lone(&mut self, keyword: &str, value: &Value, is_old: bool) -> Value {
        // Written out as a schema with this one keyword, so that the steps are kept.
        let mut holder = Map::new();
        holder.insert(keyword.to_owned(), value.clone());
        match self.alone(&Value::Object(holder), is_old, 0) {
            Value::Object(mut members) => members.remove(keyword).unwrap_or(Value::Null),
            other => other,
        }
    }

    /// A schema without a counterpart: its references are written out a few levels, then defined.
    pub(super) fn alone(&mut self, value: &Value, is_old: bool, depth: usize) -> Value {
        if let Some(place) = reference(value) {
            // The declaration may still exist on both sides and be reached only here.
            let other =
                if is_old { self.new.document.get(&place) } else { self.old.document.get(&place) };
            if other.is_some() {
                self.child(&place, &place);
            }
            if depth >= limits::UNFOLD_DEPTH {
                let definition = self.definition(&place, is_old);
                let mut beside = value.clone();
                beside["$ref"] = definition;
                return beside;
            }
            let side = if is_old { &mut *self.old } else { &mut *self.new };
            let target = side.schema(&place, self.flow);
            let target = beside(&target, value);
            return self.alone(&target, is_old, depth + 1);
        }
        let Value::Object(members) = value else {
            return value.clone();
        };
        let mut out = Map::new();
        for (name, value) in members {
            let rewritten = match (name.as_str(), value) {
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                    Value::Object(
                        named
                            .iter()
                            .map(|(member, schema)| {
                                let step = match name.as_str() {
                                    "properties" => Some(member.clone()),
                                    "patternProperties" => Some("[]".to_owned()),
                                    _ => None,
                                };
                                let pushed = step.is_some();
                                self.steps.extend(step);
                                let lone = self.alone(schema, is_old, depth);
                                if pushed {
                                    self.steps.pop();
                                }
                                (member.clone(), lone)
                            })
                            .collect(),
                    )
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => Value::Array(
                    list.iter().map(|schema| self.alone(schema, is_old, depth)).collect(),
                ),
                ("prefixItems" | "items", Value::Array(list)) => {
                    self.steps.push("[]".to_owned());
                    let list =
                        list.iter().map(|schema| self.alone(schema, is_old, depth)).collect();
                    self.steps.pop();
                    Value::Array(list)
                }
                (
                    "items"
                    | "additionalProperties"
                    | "contains"
                    | "unevaluatedItems"
                    | "unevaluatedProperties",
                    schema,
                ) => {
                    self.steps.push("[]".to_owned());
                    let lone = self.alone(schema, is_old, depth);
                    self.steps.pop();
                    lone
                }
                ("not" | "if" | "then" | "else" | "propertyNames", schema) => {
                    self.alone(schema, is_old, depth)
                }
                _ => value.clone(),
            };
            out.insert(name.clone(), rewritten);
        }
        Value::Object(out)
    }
}
