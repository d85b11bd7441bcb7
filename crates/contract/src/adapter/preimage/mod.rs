//! From a function on values and a schema to the schema of all values that the function takes into it.
//!
//! For a function `f` and a schema `S` the preimage is `{v | f(v) is defined and S takes f(v)}`. Taking it goes
//! through every way in which schemas are put together (`allOf`, `anyOf`, `oneOf`, `not`, `if`), so each of them is
//! rewritten part by part; what is left are the keywords about the place that the function touches. Where `f` is
//! defined is said once, beside the rest: under a `not` it would be turned around with it. Every rewriting is exact for
//! the values that `f` is defined for. Where a keyword cannot be turned around exactly the answer is [`Stuck`].

mod cross;
mod library;
mod object;
#[cfg(test)]
mod tests;
mod value;

pub(super) use library::Library;

use super::Wrapper;
use super::apply::Fun;
use super::limits;
use object::Site;
use serde_json::{Map, Value, json};

/// What could not be turned around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stuck(pub(super) String);

impl Stuck {
    fn at(keyword: &str, why: &str) -> Stuck {
        Stuck(format!("`{keyword}` stands at a place that a step works on: {why}"))
    }
}

pub(super) type Rewritten = Result<Value, Stuck>;

/// Rewrites schemas of one document.
pub(super) struct Rewriter<'l> {
    library: &'l Library,
    /// Schema objects that may still be written.
    left: usize,
    /// Calls that already hold the new name of a renamed member are told apart. Without it they count as
    /// not convertible, which proves the same or less, and does not double the schema with each step.
    pub(super) split: bool,
}

impl<'l> Rewriter<'l> {
    pub(super) fn new(library: &'l Library, split: bool) -> Rewriter<'l> {
        Rewriter { library, left: limits::REWRITTEN, split }
    }

    /// Counts what is written.
    fn spend(&mut self, depth: usize) -> Result<(), Stuck> {
        if depth > limits::IN_PLACE {
            return Err(Stuck(format!(
                "more than {} references and branches lead to one place",
                limits::IN_PLACE
            )));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Stuck(format!(
                "the steps divide the schema into more than {} parts; split the adapter, or move fewer nested members",
                limits::REWRITTEN
            ))
        })?;
        Ok(())
    }

    /// How every rewriting of a schema begins: what it costs, and what a `$ref` leads to, rewritten by `inside`.
    fn head<'v>(
        &mut self,
        schema: &'v Value,
        depth: usize,
        inside: &mut dyn FnMut(&mut Self, &Value) -> Rewritten,
    ) -> Result<Head<'v>, Stuck> {
        self.spend(depth)?;
        let members = match schema {
            Value::Bool(true) => return Ok(Head::Whole(anything())),
            Value::Bool(false) => return Ok(Head::Whole(never())),
            Value::Object(members) => members,
            _ => {
                let why = "a schema is an object or a boolean, and one here is neither";
                return Err(Stuck(why.to_owned()));
            }
        };
        let mut parts = Vec::new();
        if let Some(reference) = members.get("$ref") {
            let target = self.library.follow(reference)?;
            parts.push(inside(self, target)?);
            if self.library.ref_hides_siblings() {
                return Ok(Head::Whole(all_of(parts)));
            }
        }
        self.library.knows(members)?;
        Ok(Head::Members(members, parts))
    }

    /// The values that `fun` takes into `schema`.
    pub(super) fn preimage(&mut self, fun: &Fun<'_>, schema: &Value) -> Rewritten {
        Ok(all_of(vec![self.defined(fun), self.inverse(fun, schema, 0)?]))
    }

    /// The values that `fun` has an answer for.
    fn defined(&self, fun: &Fun<'_>) -> Value {
        let below = |inner: &Fun<'_>, around: &dyn Fn(Value) -> Value| {
            let inner = self.defined(inner);
            if trivial(&inner) { inner } else { around(inner) }
        };
        match fun {
            Fun::Inside(name, inner) => below(inner, &|inner| at(&[name], inner)),
            Fun::Each(inner) => below(inner, &|inner| json!({ "items": inner })),
            Fun::Move { from, to } => match (&from[..], &to[..]) {
                ([_], [new]) if !self.split => lacks(new),
                ([old], [new]) => any_of(vec![lacks(old), lacks(new)]),
                (from, to) => any_of(vec![not(has(from)), room(to)]),
            },
            Fun::Set { to, .. } => room(to),
            Fun::Drop { .. } | Fun::Fill { .. } => anything(),
            Fun::Wrap(_) | Fun::Unwrap(_) | Fun::Map(_) => anything(),
        }
    }

    /// Of the values that `fun` has an answer for, those that it takes into `schema`.
    fn inverse(&mut self, fun: &Fun<'_>, schema: &Value, depth: usize) -> Rewritten {
        self.spend(depth)?;
        match fun {
            Fun::Inside(name, inner) => self.object(schema, &Site::Changed(name, inner), depth),
            Fun::Each(inner) => self.items(schema, inner, depth),
            Fun::Move { from, to } => self.moved(schema, from, to, depth),
            Fun::Set { to, value } => self.set(schema, to, value, depth),
            Fun::Drop { name, only_if } => {
                self.object(schema, &Site::Dropped(name, *only_if), depth)
            }
            Fun::Fill { name, value } => Ok(any_of(vec![
                all_of(vec![has(&[name]), self.copy(schema)?]),
                all_of(vec![
                    not(has(&[name])),
                    self.object(schema, &Site::Set(name, value), depth)?,
                ]),
            ])),
            Fun::Wrap(wrapper) => self.unwrapped(schema, wrapper, depth),
            Fun::Unwrap(wrapper) => {
                let around = |inner: Value| match wrapper {
                    Wrapper::Array => {
                        json!({"type": "array", "minItems": 1, "maxItems": 1, "items": inner})
                    }
                    Wrapper::Object(key) => json!({
                        "type": "object", "required": [key], "maxProperties": 1,
                        "properties": { key: inner }
                    }),
                };
                Ok(any_of(vec![
                    around(self.copy(schema)?),
                    all_of(vec![not(around(anything())), self.copy(schema)?]),
                ]))
            }
            Fun::Map(values) => self.mapped(schema, values),
        }
    }

    fn moved(&mut self, schema: &Value, from: &[&str], to: &[&str], depth: usize) -> Rewritten {
        let there = has(from);
        let moved = match (from, to) {
            ([old], [new]) => {
                let renamed = self.object(schema, &Site::Renamed(old, new), depth)?;
                if !self.split {
                    return Ok(renamed);
                }
                renamed
            }
            _ => self.lift(schema, &cross::Route { from, to }, &mut Vec::new(), depth)?,
        };
        Ok(any_of(vec![
            all_of(vec![not(there.clone()), self.copy(schema)?]),
            all_of(vec![there, moved]),
        ]))
    }

    fn set(&mut self, schema: &Value, to: &[&str], value: &Value, depth: usize) -> Rewritten {
        let (first, below) = to.split_first().expect("a place has a name");
        // Where nothing is there yet, what is put is the object around it, too.
        let built = below.iter().rev().fold(value.clone(), |inner, name| json!({ *name: inner }));
        let put = self.object(schema, &Site::Set(first, &built), depth)?;
        if below.is_empty() {
            return Ok(put);
        }
        let inner = Fun::Set { to: below.to_vec(), value: value.clone() };
        let inside = self.object(schema, &Site::Changed(first, &inner), depth)?;
        Ok(any_of(vec![all_of(vec![lacks(first), put]), all_of(vec![has(&[first]), inside])]))
    }

    /// The schema as it stands, counted.
    fn copy(&mut self, schema: &Value) -> Rewritten {
        let mut copy = schema.clone();
        if let Value::Object(members) = &mut copy {
            for keyword in ["$schema", "$id", "$defs", "definitions"] {
                members.shift_remove(keyword);
            }
        }
        self.left = self.left.saturating_sub(weight(&copy));
        Ok(copy)
    }
}

/// What a rewriting of a schema begins with.
enum Head<'v> {
    /// The whole answer.
    Whole(Value),
    /// The keywords, and what the reference among them demands already.
    Members(&'v Map<String, Value>, Vec<Value>),
}

/// True where a schema takes everything as it is written.
fn trivial(schema: &Value) -> bool {
    match schema {
        Value::Bool(all) => *all,
        Value::Object(members) => members.keys().all(|keyword| {
            matches!(
                keyword.as_str(),
                "title" | "description" | "default" | "examples" | "$comment" | "deprecated"
            )
        }),
        _ => false,
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(weight).sum::<usize>(),
        Value::Array(items) => items.iter().map(weight).sum(),
        _ => 0,
    }
}

fn anything() -> Value {
    json!({})
}

fn never() -> Value {
    json!({"not": {}})
}

/// Nothing that is an object.
fn no_object() -> Value {
    json!({"not": {"type": "object"}})
}

fn not(schema: Value) -> Value {
    json!({ "not": schema })
}

fn all_of(parts: Vec<Value>) -> Value {
    let mut parts: Vec<Value> = parts.into_iter().filter(|part| !trivial(part)).collect();
    match parts.len() {
        0 => anything(),
        1 => parts.remove(0),
        _ => json!({ "allOf": parts }),
    }
}

fn any_of(mut parts: Vec<Value>) -> Value {
    match parts.len() {
        0 => never(),
        1 => parts.remove(0),
        _ => json!({ "anyOf": parts }),
    }
}

/// What lies at a place satisfies the schema, where there is something and the way leads through objects.
fn at(place: &[&str], schema: Value) -> Value {
    place.iter().rev().fold(schema, |inner, name| json!({"properties": { *name: inner }}))
}

/// There is something at the place, and the way leads through objects.
fn has(place: &[&str]) -> Value {
    place.iter().rev().fold(anything(), |inner, name| {
        let mut object = json!({"type": "object", "required": [name]});
        if !trivial(&inner) {
            object["properties"] = json!({ *name: inner });
        }
        object
    })
}

/// An object, where it is one, without the member.
fn lacks(name: &str) -> Value {
    at(&[name], never())
}

/// The place is free, and what is on the way, as far as there is anything, is an object.
fn room(to: &[&str]) -> Value {
    let (last, way) = to.split_last().expect("a place has a name");
    way.iter().rev().fold(lacks(last), |inner, name| {
        let mut around = inner;
        around["type"] = json!("object");
        json!({"properties": { *name: around }})
    })
}
