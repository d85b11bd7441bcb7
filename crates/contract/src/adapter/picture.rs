//! The old tool as its calls look after an adapter: what is left to compare with the new tool.
//!
//! A proof says that converted calls are valid. Whether the rest of the tool still means what it meant is the question
//! of every comparison, so it is asked the same way: the old definition is carried along the steps and compared with
//! the new one. Places that a person declared a value for are taken over from the new definition; for those the
//! adapter itself vouches.

use super::path::{Part, Path};
use super::{Action, Adapter, Wrapper, apply};
use crate::change::Change;
use crate::diff::{Options, diff};
use crate::document::{Contract, Tool, ToolList};
use crate::lexicon::Lexicon;
use crate::verdict::{Authority, Meaning};
use serde_json::{Map, Value, json};

/// The old tool in the form of the new one. Where a place cannot be followed (it stands behind a reference or a
/// branch), it stays as it was, and the comparison shows a difference: that is the careful side.
pub(super) fn pictured(adapter: &Adapter, old: &Tool, new: &Tool, answers_fit: bool) -> Tool {
    let mut raw = old.raw.clone();
    raw["name"] = json!(new.name);
    if adapter.changes_name() {
        // Whoever names an heir vouches for what it is for.
        for member in ["title", "description"] {
            copy(&new.raw, &mut raw, member);
        }
    }
    if answers_fit {
        copy(&new.raw, &mut raw, "outputSchema");
    }
    let none = Value::Null;
    let after = new.raw.get("inputSchema").unwrap_or(&none);
    if let Some(schema) = raw.get_mut("inputSchema") {
        for step in &adapter.steps {
            carry(&step.action, schema, after);
        }
    }
    Tool { name: new.name.clone(), raw, ordinal: None }
}

/// What still moved between the pictured tool and the new one: everything by which a valid call may mean something
/// else, or reach further.
pub(super) fn remaining(pictured: &Tool, new: &Tool, lexicon: &Lexicon) -> Vec<Change> {
    let list = |tool: &Tool| {
        Contract::Tools(ToolList { tools: vec![tool.clone()], ..ToolList::default() })
    };
    let options = Options { lexicon: lexicon.clone(), ..Options::default() };
    let Ok(found) = diff(&list(pictured), &list(new), &options) else { return Vec::new() };
    found
        .entries
        .into_iter()
        .flat_map(|entry| entry.changes)
        .filter(|change| {
            change.axes.meaning != Meaning::Same
                || matches!(change.axes.authority, Authority::Wider | Authority::Unknown)
        })
        .collect()
}

fn copy(from: &Value, to: &mut Value, member: &str) {
    match (from.get(member), to.as_object_mut()) {
        (Some(value), _) => to[member] = value.clone(),
        (None, Some(members)) => drop(members.shift_remove(member)),
        (None, None) => {}
    }
}

fn carry(action: &Action, schema: &mut Value, after: &Value) {
    match action {
        Action::Move { from, to } => {
            if let Some((member, required)) = take(schema, from) {
                let renamed = from.0.len() == to.0.len();
                put(schema, to, member, required && renamed);
            }
        }
        Action::Wrap { at, into } => change(schema, at, |inner| {
            let description = inner.get("description").cloned();
            let mut around = match into {
                Wrapper::Array => json!({"type": "array", "items": inner}),
                Wrapper::Object(key) => json!({
                    "type": "object", "properties": { key: inner }, "required": [key]
                }),
            };
            if let Some(description) = description {
                around["description"] = description;
            }
            around
        }),
        Action::Unwrap { at, from } => change(schema, at, |around| {
            let inner = match from {
                Wrapper::Array => around.get("items"),
                Wrapper::Object(key) => around.get("properties").and_then(|named| named.get(key)),
            };
            inner.cloned().unwrap_or(around)
        }),
        Action::Map { at, values } => change(schema, at, |mut member| {
            let mapped = |value: &Value| {
                let pair = values.iter().find(|(old, _)| apply::equal(old, value));
                pair.map_or_else(|| value.clone(), |(_, new)| new.clone())
            };
            if let Some(Value::Array(listed)) = member.get_mut("enum") {
                listed.iter_mut().for_each(|value| *value = mapped(value));
            }
            for keyword in ["const", "default"] {
                if let Some(value) = member.get_mut(keyword) {
                    *value = mapped(value);
                }
            }
            member
        }),
        Action::Constant(constant) => {
            let member = find(after, &constant.at)
                .cloned()
                .unwrap_or_else(|| json!({ "const": constant.value }));
            put(schema, &constant.at, member, true);
        }
        Action::Default { at, .. } => {
            if let Some((member, _)) = take(schema, at) {
                put(schema, at, member, true);
            }
        }
        Action::Drop { at, .. } => drop(take(schema, at)),
    }
}

fn find<'v>(schema: &'v Value, path: &Path) -> Option<&'v Value> {
    path.0.iter().try_fold(schema, |here, part| match part {
        Part::Member(name) => here.get("properties")?.get(name),
        Part::Each => here.get("items"),
    })
}

/// The schema object of the object around the last name of a path.
fn around<'v>(
    schema: &'v mut Value,
    path: &Path,
    make: bool,
) -> Option<&'v mut Map<String, Value>> {
    let (_, way) = path.0.split_last()?;
    let mut here = schema;
    for part in way {
        here = match part {
            Part::Member(name) => {
                let members = here.as_object_mut()?;
                if make {
                    let named = members.entry("properties").or_insert_with(|| json!({}));
                    let fresh = || json!({"type": "object"});
                    named.as_object_mut()?.entry(name.clone()).or_insert_with(fresh)
                } else {
                    members.get_mut("properties")?.get_mut(name)?
                }
            }
            Part::Each => here.get_mut("items")?,
        };
    }
    here.as_object_mut()
}

fn take(schema: &mut Value, path: &Path) -> Option<(Value, bool)> {
    let name = path.last();
    let object = around(schema, path, false)?;
    let member = object.get_mut("properties")?.as_object_mut()?.shift_remove(name)?;
    let mut required = false;
    if let Some(Value::Array(names)) = object.get_mut("required") {
        required = names.iter().any(|other| other == name);
        names.retain(|other| other != name);
    }
    Some((member, required))
}

fn put(schema: &mut Value, path: &Path, member: Value, required: bool) {
    let name = path.last();
    let Some(object) = around(schema, path, true) else { return };
    if let Some(named) = object.entry("properties").or_insert_with(|| json!({})).as_object_mut() {
        named.insert(name.to_owned(), member);
    }
    if required
        && let Some(names) = object.entry("required").or_insert_with(|| json!([])).as_array_mut()
        && !names.iter().any(|other| other == name)
    {
        names.push(json!(name));
    }
}

fn change(schema: &mut Value, path: &Path, edit: impl FnOnce(Value) -> Value) {
    let place = match path.0.split_last() {
        Some((Part::Each, way)) => {
            let list = Path(way.to_vec());
            let Some(list) = around(schema, &list, false)
                .and_then(|object| object.get_mut("properties"))
                .and_then(|named| named.get_mut(list.last()))
            else {
                return;
            };
            list.get_mut("items")
        }
        _ => around(schema, path, false)
            .and_then(|object| object.get_mut("properties"))
            .and_then(|named| named.get_mut(path.last())),
    };
    if let Some(place) = place {
        *place = edit(place.take());
    }
}
