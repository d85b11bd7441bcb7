//! A pair of schemas cut at its references, so that each declaration is compared once.
//!
//! Where both sides refer to a declaration, both get the same mark and the two declarations
//! become a pair of their own; a change in it is then one change, however many places reach it.
//! `allOf` parts are written out instead: they are one schema with what stands around them.

mod lone;
mod partners;

use super::limits;
use super::lower::{self, Lowering};
use super::resolve::{Document, Place};
use crate::decision::Flow;
use crate::document::Problem;
use lone::Definitions;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

pub(crate) use lone::{holds_stand_in, place as defined, spelled, stands_in};

/// Two declarations (or the two schemas of one place) and the direction in which they travel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair {
    pub old: Place,
    pub new: Place,
    pub flow: Flow,
}

/// What a pair says itself, and which pairs it refers to.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    /// The two schemas as documents of their own; absent where they say the same.
    pub own: Option<(Value, Value)>,
    /// Where each other pair is reached: steps of the value, `items`, `[]`, `owner`.
    pub children: Vec<(Pair, Vec<String>)>,
}

/// Lowered schemas of one document, each lowered once.
pub(crate) struct Side<'a> {
    pub document: Document<'a>,
    lowered: BTreeMap<(Place, Flow), Rc<Value>>,
    pub problems: Vec<Problem>,
    /// Keywords and dialects that mean nothing.
    pub flaws: Vec<Problem>,
}

impl<'a> Side<'a> {
    pub fn new(document: Document<'a>) -> Self {
        Side { document, lowered: BTreeMap::new(), problems: Vec::new(), flaws: Vec::new() }
    }

    /// All schemas that were lowered so far.
    pub fn lowered(&self) -> impl Iterator<Item = (&Place, Flow, &Value)> {
        self.lowered.iter().map(|((place, flow), value)| (place, *flow, &**value))
    }

    pub fn schema(&mut self, place: &Place, flow: Flow) -> Rc<Value> {
        let key = (place.clone(), flow);
        if let Some(found) = self.lowered.get(&key) {
            return Rc::clone(found);
        }
        let mut lowering = Lowering {
            document: self.document,
            flow,
            shown: false,
            problems: &mut self.problems,
            flaws: &mut self.flaws,
        };
        let value = Rc::new(lowering.schema(place));
        self.lowered.insert(key, Rc::clone(&value));
        value
    }
}

/// Cuts one pair.
pub(crate) fn cut<'a>(old: &mut Side<'a>, new: &mut Side<'a>, pair: &Pair) -> Cut {
    let (before, after) = (old.schema(&pair.old, pair.flow), new.schema(&pair.new, pair.flow));
    let mut cutter = Cutter {
        old,
        new,
        flow: pair.flow,
        children: Vec::new(),
        known: HashSet::new(),
        marks: BTreeMap::new(),
        steps: Vec::new(),
        lone: (Definitions::default(), Definitions::default()),
    };
    if before == after {
        cutter.references(&before);
        return Cut { own: None, children: cutter.children };
    }
    let stack = Stack { old: vec![pair.old.clone()], new: vec![pair.new.clone()] };
    let (mut before, mut after) = cutter.both(&before, &after, &stack, false);
    tell(&mut before);
    tell(&mut after);
    let mut children = std::mem::take(&mut cutter.children);
    if before == after {
        return Cut { own: None, children };
    }
    let lone = (cutter.write_out(true), cutter.write_out(false));
    children.append(&mut cutter.children);
    let marks = cutter.definitions();
    for (side, lone) in [(&mut before, lone.0), (&mut after, lone.1)] {
        let mut definitions = Value::Object(lone);
        tell(&mut definitions);
        if let (Value::Object(members), Value::Object(mut definitions)) = (side, definitions) {
            definitions.extend(marks.clone());
            if !definitions.is_empty() {
                members.insert("$defs".to_owned(), Value::Object(definitions));
            }
        }
    }
    Cut { own: Some((before, after)), children }
}

/// Texts of `allOf` parts are part of what the whole says, also where it has a text of its own.
fn tell(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for member in members.values_mut() {
                tell(member);
            }
            let own = members.get("description").and_then(Value::as_str).map(str::to_owned);
            let parts: Vec<String> = members
                .get("allOf")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|part| part.get("description").and_then(Value::as_str))
                .map(str::to_owned)
                .collect();
            let texts: Vec<String> = own.into_iter().chain(parts).collect();
            if texts.len() > 1 {
                let all = texts.join("\n\n");
                members.insert("description".to_owned(), Value::String(all));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tell),
        _ => {}
    }
}

#[derive(Debug, Clone)]
struct Stack {
    old: Vec<Place>,
    new: Vec<Place>,
}

struct Cutter<'s, 'a> {
    old: &'s mut Side<'a>,
    new: &'s mut Side<'a>,
    flow: Flow,
    children: Vec<(Pair, Vec<String>)>,
    /// The same, to be looked up.
    known: HashSet<(Pair, Vec<String>)>,
    /// What a mark stands for, and its number.
    marks: BTreeMap<String, usize>,
    steps: Vec<String>,
    /// What stands on one side only, old and new.
    lone: (Definitions, Definitions),
}

fn reference(value: &Value) -> Option<Place> {
    value.get("$ref").and_then(Value::as_str).map(lower::place)
}

/// The schema without an `allOf` that holds one reference and nothing else: it says the same beside the rest.
fn undressed(value: &Value) -> Option<Value> {
    let members = value.as_object().filter(|members| !members.contains_key("$ref"))?;
    let [part] = members.get("allOf")?.as_array()?.as_slice() else { return None };
    let inner = undressed(part).unwrap_or_else(|| part.clone());
    let inner = inner.as_object().filter(|inner| inner.contains_key("$ref"))?;
    let mut bare = inner.clone();
    for (name, value) in members.iter().filter(|(name, _)| *name != "allOf") {
        // Two texts at one place are two texts; anything else twice is left as it is.
        if bare.insert(name.clone(), value.clone()).is_some() {
            return None;
        }
    }
    Some(Value::Object(bare))
}

/// The one alternative besides null of a union that stands alone, texts aside.
fn nullable(value: &Value) -> Option<(&'static str, usize)> {
    let members = value.as_object()?;
    let keyword = ["anyOf", "oneOf"].into_iter().find(|keyword| members.contains_key(*keyword))?;
    let dresses = |name: &String| {
        matches!(name.as_str(), "title" | "description" | "default" | "deprecated" | "examples")
    };
    if members.keys().any(|name| name != keyword && !dresses(name)) {
        return None;
    }
    let options = members.get(keyword)?.as_array()?;
    let is_null = |option: &Value| option.get("type").is_some_and(|kind| kind == "null");
    let mut others = (0..options.len()).filter(|&at| !is_null(&options[at]));
    let only = others.next().filter(|_| options.len() == 2)?;
    others.next().is_none().then_some((keyword, only))
}

fn is_union(value: &Value) -> bool {
    ["anyOf", "oneOf"].iter().any(|keyword| value.get(*keyword).is_some())
}

impl Cutter<'_, '_> {
    fn mark(&mut self, name: String) -> Value {
        let next = self.marks.len();
        let number = *self.marks.entry(name).or_insert(next);
        Value::String(format!("#/$defs/{number}"))
    }

    /// Marks are disjoint constants: branches that refer to different things stay different.
    fn definitions(&self) -> Map<String, Value> {
        let mut sorted: Vec<(&usize, &String)> = self.marks.iter().map(|(k, v)| (v, k)).collect();
        sorted.sort();
        sorted
            .into_iter()
            .map(|(number, name)| (number.to_string(), json!({"const": name})))
            .collect()
    }

    fn child(&mut self, old: &Place, new: &Place) {
        let pair = Pair { old: old.clone(), new: new.clone(), flow: self.flow };
        let steps = self.steps.clone();
        if self.known.insert((pair.clone(), steps.clone())) {
            self.children.push((pair, steps));
        }
    }

    /// Both sides say the same: only what they refer to can differ.
    fn references(&mut self, value: &Value) {
        if let Some(place) = reference(value) {
            self.child(&place, &place);
        }
        self.each(value, &mut |this, child| this.references(child));
    }

    /// Visits the subschemas of a schema, keeping `steps`.
    fn each(&mut self, value: &Value, visit: &mut dyn FnMut(&mut Self, &Value)) {
        let Value::Object(members) = value else {
            return;
        };
        for (name, value) in members {
            match (name.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    for (member, schema) in named {
                        self.steps.push(member.clone());
                        visit(self, schema);
                        self.steps.pop();
                    }
                }
                ("patternProperties", Value::Object(named)) => {
                    self.steps.push("[]".to_owned());
                    for schema in named.values() {
                        visit(self, schema);
                    }
                    self.steps.pop();
                }
                ("dependentSchemas", Value::Object(named)) => {
                    for schema in named.values() {
                        visit(self, schema);
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => {
                    for schema in list {
                        visit(self, schema);
                    }
                }
                ("prefixItems" | "items", Value::Array(list)) => {
                    self.steps.push("[]".to_owned());
                    for schema in list {
                        visit(self, schema);
                    }
                    self.steps.pop();
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
                    visit(self, schema);
                    self.steps.pop();
                }
                ("not" | "if" | "then" | "else" | "propertyNames", schema) => visit(self, schema),
                _ => {}
            }
        }
    }

    /// One pair of places. A reference that is dressed on one side only (`allOf` around it alone, or null besides) is
    /// the same one step further in.
    fn both(&mut self, old: &Value, new: &Value, stack: &Stack, all_of: bool) -> (Value, Value) {
        match (undressed(old), undressed(new)) {
            (Some(bare), None) => return self.both(&bare, new, stack, all_of),
            (None, Some(bare)) => return self.both(old, &bare, stack, all_of),
            _ => {}
        }
        match (nullable(old), nullable(new)) {
            (Some((keyword, at)), None) if !is_union(new) => {
                let (before, after) = self.both(&old[keyword][at], new, stack, true);
                return (self.dressed(old, keyword, at, before, true), after);
            }
            (None, Some((keyword, at))) if !is_union(old) => {
                let (before, after) = self.both(old, &new[keyword][at], stack, true);
                return (before, self.dressed(new, keyword, at, after, false));
            }
            _ => {}
        }
        match (reference(old), reference(new)) {
            (Some(a), Some(b)) if !all_of => {
                self.child(&a, &b);
                let name = if a == b {
                    lower::key(&a)
                } else {
                    format!("{} {}", lower::key(&a), lower::key(&b))
                };
                let mark = self.mark(name);
                let (mut before, mut after) = self.members(old, new, stack);
                for side in [&mut before, &mut after] {
                    if let Value::Object(members) = side {
                        members.insert("$ref".to_owned(), mark.clone());
                    }
                }
                (before, after)
            }
            (None, None) => self.members(old, new, stack),
            (a, b) => {
                let mut stack = stack.clone();
                let old_out = a.map(|place| self.unfold(&place, old, true, &mut stack));
                let new_out = b.map(|place| self.unfold(&place, new, false, &mut stack));
                let (old, new) = (
                    old_out.unwrap_or_else(|| old.clone()),
                    new_out.unwrap_or_else(|| new.clone()),
                );
                if reference(&old).is_some() || reference(&new).is_some() {
                    // A type that is an `allOf` part of itself: what is left of it is a mark.
                    return (self.alone(&old, true, 0), self.alone(&new, false, 0));
                }
                self.both(&old, &new, &stack, all_of)
            }
        }
    }

    /// The union around one alternative that is done.
    fn dressed(
        &mut self,
        around: &Value,
        keyword: &str,
        at: usize,
        done: Value,
        is_old: bool,
    ) -> Value {
        let mut around = around.clone();
        around[keyword][at] = Value::Bool(true);
        let mut written = self.alone(&around, is_old, 0);
        written[keyword][at] = done;
        written
    }

    /// The schema that a reference stands for, with what stands beside the reference; the
    /// reference itself where it leads back to where we are.
    fn unfold(&mut self, place: &Place, at: &Value, is_old: bool, stack: &mut Stack) -> Value {
        let (side, seen) = if is_old {
            (&mut *self.old, &mut stack.old)
        } else {
            (&mut *self.new, &mut stack.new)
        };
        if seen.contains(place) || seen.len() > limits::REF_CHAIN {
            return at.clone();
        }
        seen.push(place.clone());
        let target = side.schema(place, self.flow);
        beside(&target, at)
    }

    fn members(&mut self, old: &Value, new: &Value, stack: &Stack) -> (Value, Value) {
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            return (self.alone(old, true, 0), self.alone(new, false, 0));
        };
        let (mut old_out, mut new_out) = (Map::new(), Map::new());
        for (name, a) in before.iter().filter(|(name, _)| *name != "$ref") {
            let Some(b) = after.get(name) else {
                let lone = self.lone(name, a, true);
                old_out.insert(name.clone(), lone);
                continue;
            };
            let (a, b) = match (name.as_str(), a, b) {
                ("properties" | "patternProperties" | "dependentSchemas", _, _) => {
                    self.named(name, a, b, stack)
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(a), Value::Array(b)) => {
                    self.list(a, b, stack, name == "allOf")
                }
                ("prefixItems" | "items", Value::Array(a), Value::Array(b)) => {
                    self.steps.push("[]".to_owned());
                    let lists = self.in_order(a, b, stack);
                    self.steps.pop();
                    lists
                }
                (
                    "items"
                    | "additionalProperties"
                    | "contains"
                    | "unevaluatedItems"
                    | "unevaluatedProperties",
                    a,
                    b,
                ) => {
                    self.steps.push("[]".to_owned());
                    let both = self.both(a, b, stack, false);
                    self.steps.pop();
                    both
                }
                ("not" | "if" | "then" | "else" | "propertyNames", a, b) => {
                    self.both(a, b, stack, false)
                }
                _ => (a.clone(), b.clone()),
            };
            old_out.insert(name.clone(), a);
            new_out.insert(name.clone(), b);
        }
        for (name, b) in after.iter().filter(|(name, _)| *name != "$ref") {
            if !before.contains_key(name) {
                let lone = self.lone(name, b, false);
                new_out.insert(name.clone(), lone);
            }
        }
        // Members keep the order of their own document: sentences follow it.
        let order =
            |out: &mut Map<String, Value>, like: &Map<String, Value>| -> Map<String, Value> {
                like.keys()
                    .filter_map(|name| out.remove(name).map(|value| (name.clone(), value)))
                    .collect()
            };
        (Value::Object(order(&mut old_out, before)), Value::Object(order(&mut new_out, after)))
    }

    fn named(&mut self, keyword: &str, a: &Value, b: &Value, stack: &Stack) -> (Value, Value) {
        let (Value::Object(a), Value::Object(b)) = (a, b) else {
            return (a.clone(), b.clone());
        };
        let step = |member: &str| match keyword {
            "properties" => Some(member.to_owned()),
            "patternProperties" => Some("[]".to_owned()),
            _ => None,
        };
        let (mut old_out, mut new_out) = (Map::new(), Map::new());
        for (member, schema) in a {
            let pushed = step(member);
            self.steps.extend(pushed.clone());
            match b.get(member) {
                Some(other) => {
                    let (before, after) = self.both(schema, other, stack, false);
                    old_out.insert(member.clone(), before);
                    new_out.insert(member.clone(), after);
                }
                None => {
                    let lone = self.alone(schema, true, 0);
                    old_out.insert(member.clone(), lone);
                }
            }
            if pushed.is_some() {
                self.steps.pop();
            }
        }
        let mut ordered = Map::new();
        for (member, schema) in b {
            let pushed = step(member);
            self.steps.extend(pushed.clone());
            let value = match new_out.remove(member) {
                Some(value) => value,
                None => self.alone(schema, false, 0),
            };
            ordered.insert(member.clone(), value);
            if pushed.is_some() {
                self.steps.pop();
            }
        }
        (Value::Object(old_out), Value::Object(ordered))
    }

    fn in_order(&mut self, a: &[Value], b: &[Value], stack: &Stack) -> (Value, Value) {
        let (mut old_out, mut new_out) = (Vec::new(), Vec::new());
        for at in 0..a.len().max(b.len()) {
            match (a.get(at), b.get(at)) {
                (Some(a), Some(b)) => {
                    let (before, after) = self.both(a, b, stack, false);
                    old_out.push(before);
                    new_out.push(after);
                }
                (Some(a), None) => old_out.push(self.alone(a, true, 0)),
                (None, Some(b)) => new_out.push(self.alone(b, false, 0)),
                (None, None) => {}
            }
        }
        (Value::Array(old_out), Value::Array(new_out))
    }
}

/// The target of a reference, with the members that stand beside the reference: notes replace
/// the target's, constraints come on top of it.
fn beside(target: &Value, at: &Value) -> Value {
    let (Value::Object(target), Value::Object(own)) = (target, at) else {
        return target.clone();
    };
    let mut out = target.clone();
    let mut rest = Map::new();
    for (name, value) in own.iter().filter(|(name, _)| *name != "$ref") {
        let note = matches!(name.as_str(), "description" | "title" | "default" | "deprecated");
        if note || !out.contains_key(name) {
            out.insert(name.clone(), value.clone());
        } else if out.get(name) != Some(value) {
            rest.insert(name.clone(), value.clone());
        }
    }
    if !rest.is_empty() {
        let parts = out.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(parts) = parts {
            parts.push(Value::Object(rest));
        }
    }
    Value::Object(out)
}
