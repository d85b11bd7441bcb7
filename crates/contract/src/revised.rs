//! One revision of one tool, ready to be asked: digest, hints and schemas are worked out once.

use crate::digest;
use crate::document::Tool;
use crate::engine::lenient;
use crate::rules::tool::Hints;
use crate::view::{Node, Source, View};
use schema::{ReadOptions, Rejection, Schema};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// One revision of one tool.
#[derive(Debug)]
pub struct Revised {
    tool: Tool,
    digest: String,
    weight: usize,
    input: OnceLock<Option<Schema>>,
    output: OnceLock<Option<Schema>>,
}

/// About how many bytes a value takes in memory.
fn weight(value: &Value) -> usize {
    const NODE: usize = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) => NODE,
        Value::Number(number) => NODE + number.as_str().len(),
        Value::String(text) => NODE + text.len(),
        Value::Array(items) => NODE + items.iter().map(weight).sum::<usize>(),
        // An entry has its key, its hash and its place in the order.
        Value::Object(members) => {
            let entry = |(key, value): (&String, &Value)| NODE + key.len() + weight(value);
            NODE + members.iter().map(entry).sum::<usize>()
        }
    }
}

/// How a value stands to a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It is valid.
    Fits,
    /// It is not, and this is the first reason.
    Rejected(Box<Rejection>),
    /// Nobody can tell: the schema cannot be read, or asking hit a limit.
    Unknown(String),
}

impl Revised {
    /// A revision of a tool as it was listed.
    pub fn new(tool: Tool) -> Revised {
        let digest = digest::of_tool(&tool.raw);
        let weight = weight(&tool.raw);
        Revised { tool, digest, weight, input: OnceLock::new(), output: OnceLock::new() }
    }

    /// The tool.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.tool.name
    }

    /// The digest of its contract, `sha256:` and 64 hex digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// About how many bytes of memory it takes: whoever keeps revisions for a while counts these.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Its effective hints.
    pub fn hints(&self) -> Hints {
        Hints::of(&self.tool)
    }

    /// True where the server says what an answer looks like.
    pub fn describes_answers(&self) -> bool {
        self.tool.raw.get("outputSchema").is_some_and(Value::is_object)
    }

    /// Whether the arguments are a call of this revision. A required argument with a default counts as optional: what
    /// leaving it out means is stated.
    pub fn takes(&self, arguments: &Value) -> Fit {
        let schema = self.input.get_or_init(|| {
            read(lenient(self.tool.raw.get("inputSchema").unwrap_or(&Value::Object(Map::new()))))
        });
        fit(schema.as_ref(), arguments, "inputSchema")
    }

    /// Whether a structured result is an answer of this revision.
    pub fn answers(&self, result: &Value) -> Fit {
        let Some(schema) = self.tool.raw.get("outputSchema") else { return Fit::Fits };
        let schema = self.output.get_or_init(|| read(schema.clone()));
        fit(schema.as_ref(), result, "outputSchema")
    }

    /// The members that a result lacks where the revision promises them, dotted, by the rejection of it.
    pub fn lacks(&self, result: Option<&Value>, rejection: &Rejection) -> Vec<String> {
        let required = || {
            let around = rejection.schema_pointer.strip_suffix("/required")?;
            let schema = self.tool.raw.get("outputSchema")?.pointer(around)?;
            let place = result?.pointer(&rejection.instance_pointer)?.as_object()?;
            let prefix: String = rejection
                .instance_pointer
                .split('/')
                .skip(1)
                .map(|step| format!("{step}."))
                .collect();
            let names = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
            let lacking = names.filter(|name| !place.contains_key(*name));
            Some(lacking.map(|name| format!("{prefix}{name}")).collect())
        };
        required().unwrap_or_default()
    }

    /// The top-level arguments that the revision declares; `None` where it takes any name, so that nothing can be told
    /// from a name.
    pub fn declared(&self) -> Option<Vec<String>> {
        let schema = self.tool.raw.get("inputSchema")?;
        let view = View::of(&Node {
            source: Source::single(schema),
            file: "",
            pointer: String::new(),
            value: schema,
        });
        let free = !view.patterns.is_empty()
            || !view.variants.is_empty()
            || matches!(
                schema.get("additionalProperties"),
                Some(Value::Bool(true) | Value::Object(_))
            );
        if free || (view.members.is_empty() && !view.describes_object) {
            return None;
        }
        Some(view.members.into_iter().map(|(name, _)| name).collect())
    }

    /// Whether a top-level argument takes a value; `None` where it is not declared.
    pub fn takes_argument(&self, name: &str, value: &Value) -> Option<Fit> {
        self.argument(name)?;
        let place = format!("/properties/{}", name.replace('~', "~0").replace('/', "~1"));
        let whole = lenient(self.tool.raw.get("inputSchema")?);
        let schema = Schema::read_at(Arc::new(whole), &place, &ReadOptions::default()).ok();
        Some(fit(schema.as_ref(), value, "schema of the argument"))
    }

    /// The schema of a top-level argument, as it was listed.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.tool.raw.get("inputSchema")?.get("properties")?.get(name)
    }

    /// True where someone who read this revision could have written these arguments: they are valid, and each is
    /// declared. An open schema takes other names too, but nobody writes them.
    pub fn could_write(&self, arguments: &Value) -> bool {
        let names_known = match (self.declared(), arguments) {
            (Some(declared), Value::Object(members)) => {
                members.keys().all(|name| declared.contains(name))
            }
            _ => true,
        };
        names_known && !matches!(self.takes(arguments), Fit::Rejected(_))
    }
}

fn read(schema: Value) -> Option<Schema> {
    Schema::read_at(Arc::new(schema), "", &ReadOptions::default()).ok()
}

fn fit(schema: Option<&Schema>, value: &Value, which: &str) -> Fit {
    let Some(schema) = schema else {
        return Fit::Unknown(format!("the {which} cannot be read"));
    };
    match schema::evaluate(schema, value) {
        Ok(()) => Fit::Fits,
        Err(rejection) if rejection.keyword == "undecided" => Fit::Unknown(rejection.message),
        Err(rejection) => Fit::Rejected(Box::new(rejection)),
    }
}
