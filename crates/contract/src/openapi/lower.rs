//! A Schema Object as plain JSON Schema 2020-12, for one direction of travel.
//!
//! OpenAPI 3.0 and Swagger 2.0 write some things in their own way (`nullable`, boolean exclusive
//! bounds); `readOnly` and `writeOnly` say in which direction a member exists at all. After this
//! step only JSON Schema is left, and every `$ref` names a [`Place`].

use super::limits;
use super::resolve::{Document, Node, Place, Version};
use crate::decision::Flow;
use crate::document::Problem;
use schema::{ReadOptions, Schema};
use serde_json::{Map, Value, json};

/// Keywords whose value is one schema.
const ONE: &[&str] = &[
    "additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems",
];
/// Keywords whose value is a list of schemas.
const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
const NAMED: &[&str] = &["properties", "patternProperties", "dependentSchemas"];
/// Members that show or dress and bind nobody. `$defs` are reached by `$ref` or not at all.
const DROPPED: &[&str] = &[
    "example", "examples", "externalDocs", "xml", "nullable", "x-nullable", "readOnly",
    "writeOnly", "discriminator", "$defs", "definitions", "$schema", "$id", "$anchor", "$comment",
];
/// Members of a Swagger 2 parameter or header that are not its schema.
const NOT_SCHEMA: &[&str] = &["name", "in", "required", "collectionFormat", "allowEmptyValue"];

/// Lowers the schema at `place`. Problems are collected, never thrown.
pub(crate) struct Lowering<'a, 'p> {
    pub document: Document<'a>,
    pub flow: Flow,
    /// Values that a schema only shows are kept, as `examples`.
    pub shown: bool,
    pub problems: &'p mut Vec<Problem>,
    /// What is no schema by the letter, and leaves the rest comparable.
    pub flaws: &'p mut Vec<Problem>,
}

impl Lowering<'_, '_> {
    /// The schema at `place`; `true` where nothing readable stands there.
    pub fn schema(&mut self, place: &Place) -> Value {
        match self.document.get(place) {
            Some(node) => self.lower(place, node.value, 0),
            None => Value::Bool(true),
        }
    }

    fn note(&mut self, place: &Place, sentence: String) {
        if self.problems.len() < limits::PROBLEMS {
            self.problems.push(self.document.problem(place, sentence));
        }
    }

    fn lower(&mut self, place: &Place, value: &Value, depth: usize) -> Value {
        let Value::Object(members) = value else {
            return match value {
                Value::Bool(_) => value.clone(),
                _ => {
                    self.note(place, "a schema must be an object or a boolean".to_owned());
                    Value::Bool(true)
                }
            };
        };
        if depth > limits::SCHEMA_DEPTH {
            let most = limits::SCHEMA_DEPTH;
            self.note(place, format!("the schema nests deeper than {most} levels"));
            return Value::Bool(true);
        }
        let old_style = self.document.version != Version::V31;
        let mut out = Map::new();
        if let Some(Value::String(reference)) = members.get("$ref") {
            match self.document.target(place, reference) {
                Ok(target) => {
                    let node = Node { place: place.clone(), value };
                    if let Err(circle) = self.document.follow(node)
                        && self.problems.len() < limits::PROBLEMS
                    {
                        self.problems.push(circle);
                    }
                    out.insert("$ref".to_owned(), Value::String(key(&target)));
                }
                Err(why) => self.note(place, why),
            }
            if old_style {
                // Before 3.1 a `$ref` stands alone; what stands beside it is ignored.
                return Value::Object(out);
            }
        }
        let hidden = self.hidden(place, members);
        // A Swagger 2 parameter is its own schema.
        let parameter = self.document.version == Version::Swagger2 && members.contains_key("in");
        for (name, value) in members {
            let name = name.as_str();
            let at = place.child(name);
            if self.shown && ["example", "examples"].contains(&name) {
                let shown = match (name, value) {
                    ("examples", Value::Array(_)) => value.clone(),
                    _ => json!([value]),
                };
                out.insert("examples".to_owned(), shown);
                continue;
            }
            if name == "$ref"
                || DROPPED.contains(&name)
                || name.starts_with("x-")
                || parameter && NOT_SCHEMA.contains(&name)
            {
                continue;
            }
            let lowered = match value {
                Value::Array(list) if LIST.contains(&name) || name == "items" => Value::Array(
                    list.iter()
                        .enumerate()
                        .map(|(index, item)| {
                            self.lower(&at.child(&index.to_string()), item, depth + 1)
                        })
                        .collect(),
                ),
                Value::Object(named) if NAMED.contains(&name) => Value::Object(
                    named
                        .iter()
                        .filter(|(member, _)| name != "properties" || !hidden.contains(member))
                        .map(|(member, item)| {
                            (member.clone(), self.lower(&at.child(member), item, depth + 1))
                        })
                        .collect(),
                ),
                _ if ONE.contains(&name) => self.lower(&at, value, depth + 1),
                Value::Array(names) if name == "required" && !hidden.is_empty() => Value::Array(
                    names
                        .iter()
                        .filter(|name| !hidden.iter().any(|hide| name.as_str() == Some(hide)))
                        .cloned()
                        .collect(),
                ),
                _ => value.clone(),
            };
            out.insert(name.to_owned(), lowered);
        }
        if let Some(tags) = super::tags::canonical(self.document, place, members) {
            out.insert("discriminator".to_owned(), tags);
        }
        if old_style {
            exclusive(&mut out, "exclusiveMinimum", "minimum");
            exclusive(&mut out, "exclusiveMaximum", "maximum");
            if out.get("type") == Some(&json!("file")) {
                out.remove("type");
            }
        }
        self.keywords(place, members.get("$schema"), &out);
        let nullable = ["nullable", "x-nullable"]
            .iter()
            .any(|name| members.get(*name) == Some(&Value::Bool(true)));
        if old_style && nullable {
            return admit_null(out);
        }
        Value::Object(out)
    }

    /// Notes a dialect that is not known and keywords that hold what they must not hold, without what lies below.
    fn keywords(&mut self, place: &Place, dialect: Option<&Value>, lowered: &Map<String, Value>) {
        let mut alone = Map::new();
        alone.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect.clone())));
        for (name, value) in lowered {
            let value = match value {
                _ if name == "$ref" => continue,
                Value::Array(list) if LIST.contains(&name.as_str()) || name == "items" => {
                    Value::Array(vec![Value::Bool(true); list.len()])
                }
                Value::Object(named) if NAMED.contains(&name.as_str()) => {
                    named.keys().map(|member| (member.clone(), Value::Bool(true))).collect()
                }
                _ if ONE.contains(&name.as_str()) => Value::Bool(true),
                other => other.clone(),
            };
            alone.insert(name.clone(), value);
        }
        let read = Schema::read(&Value::Object(alone), &ReadOptions::default());
        for problem in read.err().unwrap_or_default() {
            if self.flaws.len() == limits::PROBLEMS {
                return;
            }
            let at =
                Place { pointer: format!("{}{}", place.pointer, problem.pointer), ..place.clone() };
            self.flaws.push(self.document.problem(&at, problem.sentence));
        }
    }

    /// Members that do not exist in this direction: `readOnly` ones are not sent, `writeOnly`
    /// ones are not answered.
    fn hidden(&self, place: &Place, members: &Map<String, Value>) -> Vec<String> {
        let mark = match self.flow {
            Flow::Request => "readOnly",
            Flow::Response => "writeOnly",
        };
        let Some(Value::Object(properties)) = members.get("properties") else {
            return Vec::new();
        };
        let at = place.child("properties");
        properties
            .iter()
            .filter(|(name, value)| {
                let own = value.get(mark).and_then(Value::as_bool);
                own.unwrap_or_else(|| {
                    let node = super::resolve::Node { place: at.child(name), value };
                    value.get("$ref").is_some()
                        && self
                            .document
                            .follow(node)
                            .is_ok_and(|node| node.flag(mark) == Some(true))
                })
            })
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// 3.0: `exclusiveMinimum: true` makes `minimum` exclusive.
fn exclusive(out: &mut Map<String, Value>, exclusive: &str, bound: &str) {
    match out.get(exclusive) {
        Some(Value::Bool(true)) => {
            out.remove(exclusive);
            if let Some(value) = out.remove(bound) {
                out.insert(exclusive.to_owned(), value);
            }
        }
        Some(Value::Bool(false)) => {
            out.remove(exclusive);
        }
        _ => {}
    }
}

/// `nullable: true`, by what its authors mean: null is one of the values, whatever else stands
/// there. (By the letter it needs a `type` beside it and a null in the `enum`.)
fn admit_null(mut out: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match out.get("type") {
        Some(Value::String(name)) => {
            let both = json!([name, "null"]);
            out.insert("type".to_owned(), both);
            Value::Object(out)
        }
        Some(_) => Value::Object(out),
        None if out.contains_key("enum") => Value::Object(out),
        None if out.is_empty() => Value::Object(out),
        None => {
            let mut around = Map::new();
            for note in ["description", "default", "deprecated", "title"] {
                if let Some(value) = out.remove(note) {
                    around.insert(note.to_owned(), value);
                }
            }
            around.insert("anyOf".to_owned(), json!([Value::Object(out), {"type": "null"}]));
            Value::Object(around)
        }
    }
}

/// A place as the text of a lowered `$ref`: unique, and no URL.
pub(crate) fn key(place: &Place) -> String {
    format!("{}#{}", place.file, place.pointer)
}

/// The place that [`key`] wrote down.
pub(crate) fn place(key: &str) -> Place {
    let (file, pointer) = key.split_once('#').unwrap_or((key, ""));
    Place { file: file.to_owned(), pointer: pointer.to_owned() }
}
