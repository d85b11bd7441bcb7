//! The way to the schema engine: which question is asked about which pair of places.
//!
//! Arguments are asked as *declared writers* send them: a caller sends the members that its schema
//! declares, so an optional member added to an open object is no loss. A required member with a
//! default counts as optional: leaving it out has a stated meaning. Answers are asked as *readers
//! that ignore unknown members* take them: the old side is opened first.

use crate::change::Change;
use crate::edit::{Edit, What};
use crate::relation::Local;
use crate::rules::finding::Context;
use serde_json::{Map, Value};

/// Which way a schema is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What the caller sends: a loss breaks.
    Input,
    /// What the caller receives: a gain breaks.
    Output,
}

/// True where the edit is about sets of values, so that the engine can judge it.
pub fn concerns_sets(edit: &Edit) -> bool {
    matches!(
        edit.what,
        What::KindChanged { .. }
            | What::ValuesChanged { .. }
            | What::BoundChanged { .. }
            | What::PatternChanged
            | What::VariantsChanged { .. }
            | What::Combinator { .. }
    )
}

/// Keywords whose value is a map from names to schemas.
const MAPS: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Applies `edit` to every schema of a document, keeping every place where it is.
fn every_schema(value: &Value, edit: &dyn Fn(&mut Map<String, Value>)) -> Value {
    match value {
        Value::Object(members) => {
            let mut copy = Map::new();
            for (name, member) in members {
                let inner = match (MAPS.contains(&name.as_str()), member) {
                    (true, Value::Object(named)) => Value::Object(
                        named.iter().map(|(n, v)| (n.clone(), every_schema(v, edit))).collect(),
                    ),
                    _ if matches!(name.as_str(), "enum" | "const" | "default" | "examples") => {
                        member.clone()
                    }
                    _ => every_schema(member, edit),
                };
                copy.insert(name.clone(), inner);
            }
            edit(&mut copy);
            Value::Object(copy)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| every_schema(item, edit)).collect())
        }
        other => other.clone(),
    }
}

/// The schema in which a required member with a default may be left out.
pub fn lenient(schema: &Value) -> Value {
    every_schema(schema, &|members| {
        let Some(Value::Object(properties)) = members.get("properties") else { return };
        let defaulted: Vec<String> = properties
            .iter()
            .filter(|(_, member)| member.get("default").is_some())
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| !defaulted.iter().any(|d| name.as_str() == Some(d)));
        }
    })
}

/// The schema in which undeclared members may come.
pub fn opened(schema: &Value) -> Value {
    every_schema(schema, &|members| {
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if members.get(keyword) == Some(&Value::Bool(false)) {
                members.shift_remove(keyword);
            }
        }
    })
}

/// A pair of documents ready to be asked about.
pub struct Pair {}

impl Pair {
    /// Prepares the two sides for the direction.
    pub fn new(_old: &Value, _new: &Value, _direction: Direction) -> Pair {
        Pair {}
    }

    /// The engine's answer about the two places of an edit.
    pub fn local(&self, edit: &Edit) -> Local {
        let _ = concerns_sets(edit);
        Local::not_asked()
    }

    /// What the whole relation shows and no change explains.
    pub fn unexplained(&self, _changes: &[Change], _context: &Context<'_>) -> Vec<Change> {
        Vec::new()
    }
}
