//! The independent judge: is a value valid, in the opinion of a validator that shares no code with
//! the engine? Every witness is replayed here, on both sides, before it is reported.
//!
//! `format`, `contentEncoding` and `contentMediaType` are annotations. Nothing is ever fetched.

use crate::judge::{Judge, Truth};
use crate::node::Place;
use crate::read::Draft;
use crate::reference::escape;
use crate::resolve::Documents;
use crate::{Schema, limits, value};
use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Why a value was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at `{instance_pointer}`, by `{schema_pointer}`)")]
pub struct Rejection {
    /// JSON Pointer into the value.
    pub instance_pointer: String,
    /// JSON Pointer into the document that the schema is part of.
    pub schema_pointer: String,
    /// The keyword that rejects; `undecided` where the validator could not be asked.
    pub keyword: String,
    /// The validator's own words.
    pub message: String,
}

/// Judges `value` by the independent validator.
///
/// # Errors
/// The first [`Rejection`]. A schema that the validator cannot take, or a value nested deeper than
/// [`limits::VALUE_DEPTH`], is rejected with the keyword `undecided`.
pub fn evaluate(schema: &Schema, value: &Value) -> Result<(), Rejection> {
    let undecided = |message: String| Rejection {
        instance_pointer: String::new(),
        schema_pointer: schema.pointer(),
        keyword: "undecided".into(),
        message,
    };
    if value::deeper_than(value, limits::VALUE_DEPTH) {
        return Err(undecided(format!(
            "the value nests deeper than {} levels",
            limits::VALUE_DEPTH
        )));
    }
    // The validator recurses along the value and the chains of references at each level of it.
    let mut deepest = limits::JUDGE_DEPTH / schema.arena().chain.max(1);
    if schema.arena().chain <= limits::USUAL_CHAIN {
        deepest = limits::VALUE_DEPTH;
    }
    if value::deeper_than(value, deepest) {
        return Err(undecided(format!(
            "the value nests deeper than {deepest} levels in a schema with long chains of references"
        )));
    }
    let validator = schema.validator().map_err(undecided)?;
    let Err(error) = validator.validate(value) else {
        return Ok(());
    };
    let mut rejection = Rejection {
        instance_pointer: error.instance_path().as_str().to_string(),
        schema_pointer: format!("{}{}", schema.pointer(), error.schema_path().as_str()),
        keyword: error.kind().keyword().to_string(),
        message: error.to_string(),
    };
    // Where the engine agrees, its account of the place is the better one: it follows references
    // back to the document as it was written.
    let mut judge = Judge::new(schema.arena());
    if judge.holds(schema.arena().root, value) == Truth::False
        && let Some(first) = judge.rejections(schema.arena().root, value).into_iter().next()
    {
        rejection.schema_pointer = schema.show(first.node, &first.below);
        rejection.instance_pointer = first.instance;
        rejection.keyword = first.keyword.to_string();
    }
    Err(rejection)
}

struct NeverFetch;

impl Retrieve for NeverFetch {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("{uri} is not in memory, and nothing is fetched").into())
    }
}

/// Builds the validator of the schema at `place`.
pub(crate) fn build(
    documents: &Documents,
    place: &Place,
    draft: Draft,
) -> Result<Validator, String> {
    let whole = place.pointer.is_empty() && documents.is_single() && draft != Draft::OpenApi30;
    let options = jsonschema::options()
        .with_draft(match draft {
            Draft::Draft04 => jsonschema::Draft::Draft4,
            Draft::Draft06 => jsonschema::Draft::Draft6,
            Draft::Draft07 => jsonschema::Draft::Draft7,
            Draft::Draft201909 => jsonschema::Draft::Draft201909,
            Draft::Draft202012 | Draft::OpenApi30 => jsonschema::Draft::Draft202012,
        })
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_retriever(NeverFetch);
    let built = match documents.at(place) {
        Some(root) if whole => options.build(root),
        _ => options.build(&Gather::new(documents, draft).whole(place)),
    };
    built.map_err(|error| format!("the independent validator cannot read the schema: {error}"))
}

/// Gathers what a schema inside a larger document reaches into one document of its own.
struct Gather<'a> {
    documents: &'a Documents,
    draft: Draft,
    names: HashMap<Place, String>,
    open: Vec<(Place, String)>,
}

impl<'a> Gather<'a> {
    fn new(documents: &'a Documents, draft: Draft) -> Gather<'a> {
        Gather { documents, draft, names: HashMap::new(), open: Vec::new() }
    }

    fn whole(mut self, place: &Place) -> Value {
        let root = self.name(place.clone());
        let mut definitions = Map::new();
        while let Some((place, name)) = self.open.pop() {
            let schema =
                self.documents.at(&place).map_or(Value::Bool(true), |raw| self.copy(raw, &place));
            definitions.insert(name, schema);
        }
        json!({ "$ref": format!("#/definitions/{root}"), "definitions": definitions })
    }

    fn name(&mut self, place: Place) -> String {
        if let Some(name) = self.names.get(&place) {
            return name.clone();
        }
        let name = format!("s{}", self.names.len());
        self.names.insert(place.clone(), name.clone());
        self.open.push((place, name.clone()));
        name
    }

    fn copy(&mut self, raw: &Value, place: &Place) -> Value {
        let Value::Object(members) = raw else {
            return raw.clone();
        };
        if let Some(text) = members.get("$ref").and_then(Value::as_str)
            && self.draft.ref_hides_siblings()
        {
            return self.reference(text, place);
        }
        let mut out = Map::new();
        for (name, member) in members {
            match name.as_str() {
                "$ref" | "$dynamicRef" => {
                    if let Some(text) = member.as_str() {
                        let reference = self.reference(text, place);
                        let list = out.entry("allOf").or_insert_with(|| json!([]));
                        if let Value::Array(list) = list {
                            list.push(reference);
                        }
                    }
                }
                "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$defs" | "definitions"
                | "example" | "examples" | "default" => {}
                _ => {
                    let copied = self.member(name, member, place);
                    match (out.get_mut(name), copied) {
                        (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                        (_, copied) => {
                            out.insert(name.clone(), copied);
                        }
                    }
                }
            }
        }
        if self.draft == Draft::OpenApi30 {
            modernise(&mut out);
        }
        Value::Object(out)
    }

    fn reference(&mut self, text: &str, place: &Place) -> Value {
        match self.documents.resolve(place, text, self.draft) {
            Ok(target) => json!({ "$ref": format!("#/definitions/{}", self.name(target)) }),
            Err(_) => Value::Bool(true),
        }
    }

    fn member(&mut self, name: &str, member: &Value, place: &Place) -> Value {
        let paths = crate::read::children(&Map::from_iter([(name.to_string(), member.clone())]))
            .into_iter()
            .map(|(path, child)| (path, child.clone()))
            .collect::<Vec<_>>();
        let mut out = member.clone();
        let prefix = format!("/{}", escape(name));
        for (path, child) in paths {
            let own = Place { file: place.file, pointer: format!("{}{path}", place.pointer) };
            let copied = self.copy(&child, &own);
            let inner = &path[prefix.len()..];
            if let Some(slot) = out.pointer_mut(inner) {
                *slot = copied;
            }
        }
        out
    }
}

/// Says an OpenAPI 3.0 schema object in 2020-12.
fn modernise(members: &mut Map<String, Value>) {
    if members.shift_remove("nullable") == Some(Value::Bool(true))
        && let Some(Value::String(kind)) = members.get("type").cloned()
    {
        members.insert("type".into(), json!([kind, "null"]));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if members.shift_remove(exclusive) == Some(Value::Bool(true))
            && let Some(limit) = members.shift_remove(bound)
        {
            members.insert(exclusive.into(), limit);
        }
    }
    for unknown in [
        "patternProperties", "propertyNames", "contains", "if", "then", "else", "const",
        "dependencies",
    ] {
        members.shift_remove(unknown);
    }
}
