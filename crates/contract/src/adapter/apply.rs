//! The steps as functions on values. `preimage` turns the same functions around, so this is all they mean.

use super::path::{Part, Path};
use super::{Action, Adapter, Step, Wrapper};
use crate::digest::canonical;
use serde_json::{Map, Value};

/// One step as a function, from the outside in.
#[derive(Debug, Clone)]
pub(super) enum Fun<'a> {
    /// On this member, where the value is an object that has it.
    Inside(&'a str, Box<Fun<'a>>),
    /// On every item, where the value is a list.
    Each(Box<Fun<'a>>),
    /// Within an object: takes the value at one place to another that is free. The two differ in their first name.
    Move { from: Vec<&'a str>, to: Vec<&'a str> },
    /// Within an object: puts a value at a free place.
    Set { to: Vec<&'a str>, value: Value },
    /// Within an object: leaves the member out, only where it has this value.
    Drop { name: &'a str, only_if: Option<&'a Value> },
    /// Within an object: puts a value where the member is missing.
    Fill { name: &'a str, value: &'a Value },
    /// On a value.
    Wrap(&'a Wrapper),
    /// On a value.
    Unwrap(&'a Wrapper),
    /// On a value.
    Map(&'a [(Value, Value)]),
}

/// The function of one step.
pub(super) fn function(action: &Action) -> Fun<'_> {
    match action {
        Action::Move { from, to } => {
            let shared = from.shared(to);
            let fun = Fun::Move { from: rest(from, shared), to: rest(to, shared) };
            within(&from.0[..shared], fun)
        }
        Action::Wrap { at, into } => within(&at.0, Fun::Wrap(into)),
        Action::Unwrap { at, from } => within(&at.0, Fun::Unwrap(from)),
        Action::Map { at, values } => within(&at.0, Fun::Map(values)),
        Action::Constant(constant) => {
            // Objects are made after the last `*` only: where there is no item there is nothing to fill.
            let last_each = constant.at.0.iter().rposition(|part| *part == Part::Each);
            let open = last_each.map_or(0, |at| at + 1);
            let fun = Fun::Set { to: rest(&constant.at, open), value: constant.value.clone() };
            within(&constant.at.0[..open], fun)
        }
        Action::Default { at, value } => {
            let (name, before) = member(at);
            within(before, Fun::Fill { name, value })
        }
        Action::Drop { at, only_if } => {
            let (name, before) = member(at);
            within(before, Fun::Drop { name, only_if: only_if.as_ref() })
        }
    }
}

/// The name of a member, and the way to its object.
fn member(at: &Path) -> (&str, &[Part]) {
    match at.0.split_last() {
        Some((Part::Member(name), before)) => (name, before),
        _ => unreachable!("the reader takes only members where a member is filled or dropped"),
    }
}

fn within<'a>(parts: &'a [Part], innermost: Fun<'a>) -> Fun<'a> {
    parts.iter().rev().fold(innermost, |fun, part| match part {
        Part::Member(name) => Fun::Inside(name, Box::new(fun)),
        Part::Each => Fun::Each(Box::new(fun)),
    })
}

fn rest(path: &Path, from: usize) -> Vec<&str> {
    path.0[from..]
        .iter()
        .map(|part| match part {
            Part::Member(name) => name.as_str(),
            Part::Each => unreachable!("a place is moved or filled below the last * only"),
        })
        .collect()
}

impl Adapter {
    /// The arguments after all steps, whatever the time and the context, and the places that were filled.
    pub(super) fn convert(&self, arguments: &Value) -> Result<(Value, Vec<String>), String> {
        let mut value = arguments.clone();
        let mut sent = Vec::new();
        for step in &self.steps {
            let at = match &step.action {
                Action::Constant(constant) => Some(&constant.at),
                Action::Default { at, .. } => Some(at),
                _ => None,
            };
            let before = at.map(|_| value.clone());
            function(&step.action).run(&mut value)?;
            if let Some(at) = at.filter(|_| before.as_ref() != Some(&value)) {
                sent.push(at.to_string());
            }
        }
        Ok((value, sent))
    }

    /// Gives a structured answer of the new tool the shape of the old one.
    ///
    /// # Errors
    /// A sentence on why this answer cannot be restored: a place is taken, or an object is missing on the way.
    pub fn restore(&self, result: &Value) -> Result<Value, String> {
        run(&self.results, result)
    }
}

pub(super) fn run(steps: &[Step], value: &Value) -> Result<Value, String> {
    let mut value = value.clone();
    for step in steps {
        function(&step.action).run(&mut value)?;
    }
    Ok(value)
}

/// True where two values are equal as JSON: 1 is 1.0, and the order of members does not count.
pub(super) fn equal(one: &Value, two: &Value) -> bool {
    one == two || canonical(one) == canonical(two)
}

impl Fun<'_> {
    pub(super) fn run(&self, value: &mut Value) -> Result<(), String> {
        match self {
            Fun::Inside(name, inner) => {
                match value.as_object_mut().and_then(|o| o.get_mut(*name)) {
                    Some(member) => inner.run(member),
                    None => Ok(()),
                }
            }
            Fun::Each(inner) => match value {
                Value::Array(items) => items.iter_mut().try_for_each(|item| inner.run(item)),
                _ => Ok(()),
            },
            Fun::Move { from, to } => {
                let Value::Object(members) = value else { return Ok(()) };
                moved(members, from, to)
            }
            Fun::Set { to, value: constant } => {
                let Value::Object(members) = value else { return Ok(()) };
                put(members, to, constant.clone())
            }
            Fun::Drop { name, only_if } => {
                let Value::Object(members) = value else { return Ok(()) };
                let found = members.get(*name);
                if found.is_some_and(|found| only_if.is_none_or(|only| equal(found, only))) {
                    members.shift_remove(*name);
                }
                Ok(())
            }
            Fun::Fill { name, value: default } => {
                if let Value::Object(members) = value
                    && !members.contains_key(*name)
                {
                    members.insert((*name).to_owned(), (*default).clone());
                }
                Ok(())
            }
            Fun::Unwrap(wrapper) => {
                let inner = match (wrapper, &mut *value) {
                    (Wrapper::Array, Value::Array(items)) if items.len() == 1 => items.pop(),
                    (Wrapper::Object(key), Value::Object(members)) if members.len() == 1 => {
                        members.shift_remove(key)
                    }
                    _ => None,
                };
                if let Some(inner) = inner {
                    *value = inner;
                }
                Ok(())
            }
            Fun::Wrap(wrapper) => {
                let inner = value.take();
                *value = match wrapper {
                    Wrapper::Array => Value::Array(vec![inner]),
                    Wrapper::Object(key) => Value::Object(Map::from_iter([(key.clone(), inner)])),
                };
                Ok(())
            }
            Fun::Map(values) => {
                if let Some((_, new)) = values.iter().find(|(old, _)| equal(old, value)) {
                    *value = new.clone();
                }
                Ok(())
            }
        }
    }
}

fn moved(members: &mut Map<String, Value>, from: &[&str], to: &[&str]) -> Result<(), String> {
    let mut around = &*members;
    let (last, way) = from.split_last().expect("a place has a name");
    for name in way {
        match around.get(*name) {
            Some(Value::Object(inner)) => around = inner,
            _ => return Ok(()),
        }
    }
    if !around.contains_key(*last) {
        return Ok(());
    }
    if let ([from], [to]) = (from, to) {
        // A rename keeps the member's place in the order.
        if members.contains_key(*to) {
            return Err(taken(to));
        }
        *members = std::mem::take(members)
            .into_iter()
            .map(|(name, member)| (if name == *from { (*to).to_owned() } else { name }, member))
            .collect();
        return Ok(());
    }
    let mut around = &mut *members;
    for name in way {
        match around.get_mut(*name) {
            Some(Value::Object(inner)) => around = inner,
            _ => return Ok(()),
        }
    }
    match around.shift_remove(*last) {
        Some(value) => put(members, to, value),
        None => Ok(()),
    }
}

fn put(members: &mut Map<String, Value>, to: &[&str], value: Value) -> Result<(), String> {
    let (last, way) = to.split_last().expect("a place has a name");
    let mut around = members;
    for name in way {
        let inner = around.entry((*name).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(inner) = inner else {
            return Err(format!(
                "{name:?} is no object in this call, and a value belongs inside it"
            ));
        };
        around = inner;
    }
    if around.contains_key(*last) {
        return Err(taken(last));
    }
    around.insert((*last).to_owned(), value);
    Ok(())
}

fn taken(name: &str) -> String {
    format!("the call already holds {name:?}, and nothing is overwritten")
}
