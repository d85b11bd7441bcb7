//! Requests as calls: what an operation takes, as one schema of named arguments, and where each argument is sent.
//! Whatever can be asked about calls of tools can then be asked about requests.

use super::limits;
use super::lower::{self, Lowering};
use super::read::{self, Api, Media, Operation, Parameter, ParameterKey};
use super::resolve::{Document, Node, Place};
use crate::decision::Flow;
use crate::document::{Bundle, Problem, Tool};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One operation as something that is called.
#[derive(Debug, Clone)]
pub struct Request {
    /// Named as reports name the operation, with one schema for all that is sent and the hint whether the method
    /// only reads.
    pub tool: Tool,
    /// The method, in capitals.
    pub method: String,
    /// The path as this document writes it, with names in braces.
    pub path: String,
    /// The path of the first base address: `/v1`; empty where there is none.
    pub base: String,
    /// Where each argument is sent.
    pub places: BTreeMap<String, Part>,
    /// The media type of the body, where one is sent.
    pub media: Option<String>,
}

/// Where an argument is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `path`, `query`, `header`, `cookie`, `body` for the whole body, or `member` for a member of it.
    pub location: String,
    /// Its name there.
    pub name: String,
    /// Each value of a list is sent under the name again (`style: form`, `explode: true`).
    pub exploded: bool,
}

/// Headers that no parameter declares (OpenAPI 3.1, "Parameter Object").
const OWN_HEADERS: &[&str] = &["accept", "content-type", "authorization"];

/// The requests of two documents that reports name so: those of the old one bear the names of the new one where both
/// have the operation.
///
/// # Errors
/// All problems of both documents at once, as for a comparison.
pub fn requests(
    old: &Bundle,
    new: &Bundle,
    wanted: &BTreeSet<String>,
) -> Result<[Vec<Request>; 2], Vec<Problem>> {
    let (before, after) = match (read::read(old), read::read(new)) {
        (Ok(before), Ok(after)) => (before, after),
        (before, after) => {
            let mut problems = before.err().unwrap_or_default();
            problems.extend(after.err().unwrap_or_default());
            return Err(problems);
        }
    };
    Ok([of(&before, &after, wanted)?, of(&after, &after, wanted)?])
}

/// The requests of one document, named as `names` names them.
fn of(
    api: &Api<'_>,
    names: &Api<'_>,
    wanted: &BTreeSet<String>,
) -> Result<Vec<Request>, Vec<Problem>> {
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for (key, operation) in &api.operations {
        let named = names.operations.get(key).unwrap_or(operation);
        if !wanted.contains(&named.name()) {
            continue;
        }
        let mut writer = Writer {
            document: api.document,
            definitions: BTreeMap::new(),
            open: Vec::new(),
            problems: &mut problems,
            flaws: Vec::new(),
        };
        found.push(writer.request(operation, named));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

struct Writer<'a, 'p> {
    document: Document<'a>,
    /// Declarations that are referred to, by the name that they have in the schema that is written.
    definitions: BTreeMap<Place, String>,
    /// Those that are still to be written out.
    open: Vec<Place>,
    problems: &'p mut Vec<Problem>,
    flaws: Vec<Problem>,
}

/// Arguments under construction.
#[derive(Default)]
struct Arguments {
    properties: Map<String, Value>,
    required: BTreeSet<String>,
    places: BTreeMap<String, Part>,
    /// The body takes no other members.
    closed: bool,
}

impl Arguments {
    /// Adds one; a name that is taken is told apart by where it is sent.
    fn add(&mut self, name: &str, part: Part, schema: Value, required: bool) {
        let mut argument = name.to_owned();
        if self.places.contains_key(&argument) {
            argument = format!("{}.{name}", part.location);
        }
        if required {
            self.required.insert(argument.clone());
        }
        self.properties.insert(argument.clone(), schema);
        self.places.insert(argument, part);
    }
}

impl<'a> Writer<'a, '_> {
    fn request(&mut self, operation: &Operation<'a>, named: &Operation<'_>) -> Request {
        let mut arguments = Arguments::default();
        let names: Vec<&str> = read::names(&named.path).collect();
        let mut media = None;
        for (key, parameter) in &operation.parameters {
            if key.location == "form" {
                media = Some("application/x-www-form-urlencoded".to_owned());
            }
            self.parameter(key, parameter, &names, &mut arguments);
        }
        if let Some(body) = &operation.body
            && let Some((kind, content)) = likeliest(&body.media)
        {
            media = Some(kind.to_owned());
            self.body(content, body.required, &mut arguments);
        }
        let mut schema = json!({
            "type": "object",
            "properties": arguments.properties,
            "required": arguments.required,
        });
        if arguments.closed {
            schema["additionalProperties"] = json!(false);
        }
        let definitions = self.written_out();
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        let name = named.name();
        let raw = json!({
            "name": name,
            "annotations": {"readOnlyHint": operation.reads()},
            "inputSchema": schema,
        });
        Request {
            tool: Tool { name, raw, ordinal: None },
            method: operation.method.clone(),
            path: operation.path.clone(),
            base: base(operation),
            places: arguments.places,
            media,
        }
    }

    fn parameter(
        &mut self,
        key: &ParameterKey,
        parameter: &Parameter<'a>,
        names: &[&str],
        arguments: &mut Arguments,
    ) {
        let own = parameter.name.to_ascii_lowercase();
        if key.location == "header" && OWN_HEADERS.contains(&own.as_str()) {
            return;
        }
        let mut schema = match &parameter.schema {
            Some(node) => self.schema(&node.place),
            None => json!({}),
        };
        show(&mut schema, example(&parameter.node));
        // In a path the position counts, and the newer name is the one that errors speak of.
        let position = key.key.parse::<usize>().ok().filter(|_| key.location == "path");
        let name = position.and_then(|at| names.get(at)).copied().unwrap_or(parameter.name);
        let part = Part {
            location: if key.location == "form" { "member" } else { &key.location }.to_owned(),
            name: parameter.name.to_owned(),
            exploded: parameter.wire.contains("exploded"),
        };
        let required = parameter.required || key.location == "path";
        arguments.add(name, part, schema, required);
    }

    /// A body that is an object is told by its members, whose names errors speak of; any other as a whole.
    fn body(&mut self, media: &Media<'a>, required: bool, arguments: &mut Arguments) {
        let stated = example(&media.node);
        let whole = match &media.schema {
            Some(node) => self.schema(&node.place),
            None => json!({}),
        };
        let mut plain = whole.clone();
        // A reference to a declaration is the declaration.
        for _ in 0..limits::REF_CHAIN {
            let Some(name) = plain["$ref"].as_str().and_then(|text| text.rsplit('/').next()) else {
                break;
            };
            let place = self.definitions.iter().find(|(_, known)| *known == name);
            let Some(place) = place.map(|(place, _)| place.clone()) else { break };
            plain = self.schema(&place);
        }
        let combined = ["$ref", "allOf", "anyOf", "oneOf", "not", "if", "patternProperties"];
        let object = plain.get("type").is_none_or(|kind| kind == "object");
        let members = plain.get("properties").and_then(Value::as_object);
        let (Some(members), true, false) =
            (members, object, combined.iter().any(|word| plain.get(*word).is_some()))
        else {
            let mut schema = whole;
            show(&mut schema, stated);
            let part = Part { location: "body".to_owned(), name: String::new(), exploded: false };
            arguments.add("body", part, schema, required);
            return;
        };
        arguments.closed = plain.get("additionalProperties") == Some(&Value::Bool(false));
        let needed: Vec<&str> = plain
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, schema) in members {
            let mut schema = schema.clone();
            show(&mut schema, stated.as_ref().and_then(|stated| stated.get(name)).cloned());
            let part = Part { location: "member".to_owned(), name: name.clone(), exploded: false };
            arguments.add(name, part, schema, required && needed.contains(&name.as_str()));
        }
    }

    fn schema(&mut self, place: &Place) -> Value {
        let mut lowering = Lowering {
            document: self.document,
            flow: Flow::Request,
            shown: true,
            problems: &mut *self.problems,
            flaws: &mut self.flaws,
        };
        let mut value = lowering.schema(place);
        self.renamed(&mut value);
        value
    }

    /// Gives every reference the name that its declaration has here.
    fn renamed(&mut self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get_mut("$ref") {
                    let place = lower::place(reference);
                    let next = format!("d{}", self.definitions.len());
                    let name = self.definitions.entry(place.clone()).or_insert_with(|| {
                        self.open.push(place);
                        next
                    });
                    *reference = format!("#/$defs/{name}");
                }
                for (name, member) in members.iter_mut() {
                    // What a schema only shows is no schema.
                    if !["examples", "default", "enum", "const"].contains(&name.as_str()) {
                        self.renamed(member);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.renamed(item)),
            _ => {}
        }
    }

    /// Every declaration that is referred to, and those that they refer to.
    fn written_out(&mut self) -> Map<String, Value> {
        let mut written = Map::new();
        while let Some(place) = self.open.pop() {
            let name = self.definitions.get(&place).cloned().unwrap_or_default();
            let schema = self.schema(&place);
            written.insert(name, schema);
        }
        written
    }
}

/// The media type that a program would send: JSON before others.
fn likeliest<'m, 'a>(media: &'m BTreeMap<String, Media<'a>>) -> Option<(&'m str, &'m Media<'a>)> {
    let is_json = |name: &str| name == "application/json" || name.ends_with("+json");
    let json = media.iter().find(|(name, _)| is_json(name));
    let form = || media.get_key_value("application/x-www-form-urlencoded");
    json.or_else(form).map(|(name, media)| (name.as_str(), media))
}

/// The value that a parameter or a body shows beside its schema.
fn example(node: &Node<'_>) -> Option<Value> {
    let first = || node.value.get("examples")?.as_object()?.values().next()?.get("value").cloned();
    node.value.get("example").cloned().or_else(first)
}

/// Puts a shown value first.
fn show(schema: &mut Value, value: Option<Value>) {
    if let (Some(members), Some(value)) = (schema.as_object_mut(), value) {
        members.insert("examples".to_owned(), json!([value]));
    }
}

/// The path of the first base address.
fn base(operation: &Operation<'_>) -> String {
    let Some(address) = operation.servers.first() else { return String::new() };
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => address.trim_start_matches('/'),
    };
    let path = path.trim_end_matches('/');
    if path.is_empty() { String::new() } else { format!("/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r##"{
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://api.example/v1/"}],
        "paths": {"/projects/{id}/archive": {"post": {
            "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "example": "p1"},
                {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
                {"name": "Authorization", "in": "header", "schema": {"type": "string"}}
            ],
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Archive"}}}},
            "responses": {"200": {"description": "ok"}}
        }}},
        "components": {"schemas": {
            "Archive": {"type": "object", "required": ["reason"], "properties": {
                "id": {"type": "string"}, "reason": {"type": "string", "example": "old"}, "next": {"$ref": "#/components/schemas/Archive"}
            }}
        }}
    }"##;

    fn bundle(text: &str) -> Bundle {
        let root = serde_json::from_str(text).unwrap();
        Bundle { name: "t.json".into(), root, ..Bundle::default() }
    }

    #[test]
    fn a_request_is_a_call_with_a_place_for_each_argument() {
        let new =
            OLD.replace("{id}/", "{project}/").replace("\"name\": \"id\"", "\"name\": \"project\"");
        let wanted = ["POST /projects/{project}/archive".to_owned()].into();
        let [old, new] = requests(&bundle(OLD), &bundle(&new), &wanted).unwrap();
        let (old, new) = (&old[0], &new[0]);
        assert_eq!(old.tool.name, "POST /projects/{project}/archive");
        assert_eq!((old.path.as_str(), old.base.as_str()), ("/projects/{id}/archive", "/v1"));
        assert_eq!(old.media.as_deref(), Some("application/json"));
        assert_eq!(old.places["project"].name, "id");
        assert_eq!(new.places["project"].name, "project");
        assert_eq!(old.places["id"].location, "member");
        assert_eq!(old.places["dry"].location, "query");
        assert!(!old.places.contains_key("Authorization"));
        let schema = &old.tool.raw["inputSchema"];
        assert_eq!(schema["required"], json!(["project", "reason"]));
        assert_eq!(schema["properties"]["project"]["examples"], json!(["p1"]));
        assert_eq!(schema["properties"]["reason"]["examples"], json!(["old"]));
        // A declaration that refers to itself is written out once.
        let next = schema["properties"]["next"]["$ref"].as_str().unwrap();
        assert!(schema.pointer(next.trim_start_matches('#')).is_some(), "{schema}");
        assert_eq!(old.tool.raw["annotations"]["readOnlyHint"], false);
    }
}
