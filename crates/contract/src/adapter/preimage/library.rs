//! The document that is turned around: what it refers to, and what its parts take.

use super::{Stuck, trivial};
use crate::engine::every_schema;
use schema::{Documents, ReadOptions, Schema, evaluate};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name under which the schema as it was written is known to the rewritten one. Places of the schema
/// that no step touches keep referring to it.
const FILE: &str = "schema";

/// The dialects, as far as rewriting tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::adapter) enum Dialect {
    /// No `const`, no boolean schemas.
    Draft04,
    /// No `if`.
    Draft06,
    Draft07,
    Draft201909,
    Draft202012,
}

/// A schema document, and a copy of it that can be taken apart.
pub(in crate::adapter) struct Library {
    original: Arc<Value>,
    /// The same with every reference naming its file, so that its parts can stand anywhere.
    copy: Value,
    dialect: Dialect,
}

impl Library {
    pub(in crate::adapter) fn new(original: &Value) -> Result<Library, Stuck> {
        let dialect = match original.get("$schema").and_then(Value::as_str) {
            Some(uri) if uri.contains("draft-04") => Dialect::Draft04,
            Some(uri) if uri.contains("draft-06") => Dialect::Draft06,
            Some(uri) if uri.contains("draft-07") => Dialect::Draft07,
            Some(uri) if uri.contains("2019-09") => Dialect::Draft201909,
            _ => Dialect::Draft202012,
        };
        let mut copy = every_schema(original, &|members| {
            if let Some(Value::String(reference)) = members.get_mut("$ref")
                && reference.starts_with('#')
            {
                *reference = format!("{FILE}{reference}");
            }
        });
        for keyword in ["$id", "id"] {
            if let Some(members) = copy.as_object_mut()
                && members.get(keyword).is_some_and(Value::is_string)
            {
                members.shift_remove(keyword);
            }
        }
        // What names places in another way than by a pointer from the root would mean something else in a copy.
        for keyword in ["$id", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"]
        {
            if states(&copy, keyword, Value::is_string) || states(&copy, keyword, Value::is_boolean)
            {
                return Err(Stuck(format!(
                    "the schema uses `{keyword}`, which adapters are not proved through"
                )));
            }
        }
        let local =
            |reference: &Value| reference.as_str().is_some_and(|text| text.starts_with('#'));
        if dialect == Dialect::Draft04 && states(&copy, "id", Value::is_string) {
            return Err(Stuck("the schema names its parts by `id`".to_owned()));
        }
        if states(&copy, "$ref", local) {
            return Err(Stuck(
                "a reference stands at a place that is not known to hold a schema".to_owned(),
            ));
        }
        Ok(Library { original: Arc::new(original.clone()), copy, dialect })
    }

    /// The schema as a whole, ready to be rewritten.
    pub(in crate::adapter) fn root(&self) -> &Value {
        &self.copy
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Refuses what the dialect does not know, or knows differently, at a place that is turned around: what is
    /// written in its place would be read by another rule.
    pub(super) fn knows(&self, members: &Map<String, Value>) -> Result<(), Stuck> {
        let unknown: &[&str] = match self.dialect {
            Dialect::Draft04 => &["const", "contains", "propertyNames", "if", "prefixItems"],
            Dialect::Draft06 => &["if", "prefixItems"],
            Dialect::Draft07 => &["prefixItems"],
            Dialect::Draft201909 => &["prefixItems", "dependencies"],
            Dialect::Draft202012 => &["dependencies", "additionalItems"],
        };
        let later: &[&str] = match self.dialect {
            Dialect::Draft201909 | Dialect::Draft202012 => &[],
            _ => &[
                "dependentRequired", "dependentSchemas", "unevaluatedItems",
                "unevaluatedProperties", "minContains", "maxContains",
            ],
        };
        for keyword in unknown.iter().chain(later) {
            if members.contains_key(*keyword) {
                return Err(Stuck::at(keyword, "it is not part of the dialect of this schema"));
            }
        }
        if self.dialect == Dialect::Draft202012 && members.get("items").is_some_and(Value::is_array)
        {
            return Err(Stuck::at("items", "a list of schemas is `prefixItems` in this dialect"));
        }
        match members.get("unevaluatedProperties") {
            // It depends on what other keywords looked at.
            Some(said) if !trivial(said) => Err(Stuck::at(
                "unevaluatedProperties",
                "use `additionalProperties` there, which says the same in a schema without branches",
            )),
            _ => Ok(()),
        }
    }

    /// Up to draft-07 everything beside a `$ref` is ignored.
    pub(super) fn ref_hides_siblings(&self) -> bool {
        self.dialect < Dialect::Draft201909
    }

    /// Where a reference in a rewritten schema leads.
    pub(super) fn follow(&self, reference: &Value) -> Result<&Value, Stuck> {
        let text = reference.as_str().unwrap_or_default();
        let stuck = || Stuck(format!("the reference {text} cannot be followed"));
        let pointer = text
            .strip_prefix(FILE)
            .and_then(|rest| rest.strip_prefix('#'))
            .filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
            .filter(|pointer| !pointer.contains('%'))
            .ok_or_else(stuck)?;
        self.copy.pointer(pointer).ok_or_else(stuck)
    }

    /// A rewritten schema as the engine reads it.
    pub(in crate::adapter) fn schema(&self, rewritten: &Value) -> Result<Schema, Stuck> {
        let mut root = json!({ "allOf": [rewritten] });
        if let Some(dialect) = self.original.get("$schema") {
            root["$schema"] = dialect.clone();
        }
        let files = BTreeMap::from([(FILE.to_owned(), Arc::clone(&self.original))]);
        let documents = Arc::new(Documents::with_files(Arc::new(root), files));
        Schema::read_in(&documents, "", "", &ReadOptions::default()).map_err(|problems| {
            Stuck(problems.first().map_or_else(
                || "the schema cannot be read".to_owned(),
                |problem| format!("the schema cannot be read: {problem}"),
            ))
        })
    }

    /// Whether a part of a rewritten schema takes a value.
    pub(super) fn accepts(&self, part: &Value, value: &Value) -> Result<bool, Stuck> {
        if let Value::Bool(all) = part {
            return Ok(*all);
        }
        match evaluate(&self.schema(part)?, value) {
            Ok(()) => Ok(true),
            Err(rejection) if rejection.keyword == "undecided" => Err(Stuck(rejection.message)),
            Err(_) => Ok(false),
        }
    }

    /// Whether a pattern of `patternProperties` is about a name.
    pub(super) fn matches(&self, pattern: &str, name: &str) -> Result<bool, Stuck> {
        let only = json!({"patternProperties": { pattern: {"not": {}} }});
        Ok(!self.accepts(&only, &json!({ name: null }))?)
    }
}

/// True where some schema of the document states the keyword with such a value.
fn states(value: &Value, keyword: &str, such: impl Fn(&Value) -> bool + Copy) -> bool {
    match value {
        Value::Object(members) => {
            members.get(keyword).is_some_and(such)
                || members.values().any(|member| states(member, keyword, such))
        }
        Value::Array(items) => items.iter().any(|item| states(item, keyword, such)),
        _ => false,
    }
}
