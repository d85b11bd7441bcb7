//! From values to contracts: what a document is, told from its content.

use super::{Bundle, Contract, Problem, tools};
use crate::limits;
use crate::lock;
use crate::text::{depth, quoted};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A contract as far as it could be read.
///
/// Where `problems` is not empty it is not told which tools there are, and nothing can be compared.
/// Where only `flaws` is not empty the rest can be compared, and what the schemas concerned allow
/// is answered by a finding; a caller that accepts the contract, as a lock does, must stop.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What was read. Tools with a problem are kept wherever they have a name of their own.
    pub contract: Contract,
    /// What the document was.
    pub form: Form,
    /// What leaves open which tools there are: no name, one name twice, a list that was cut.
    pub problems: Vec<Problem>,
    /// Schemas of single tools that say nothing or cannot be read, in document order.
    pub flaws: Vec<Problem>,
    /// The names of the tools that `flaws` are about.
    pub flawed: BTreeSet<String>,
}

impl Reading {
    /// A contract in which nothing is out of order.
    pub fn sound(contract: Contract, form: Form) -> Reading {
        Reading { contract, form, problems: Vec::new(), flaws: Vec::new(), flawed: BTreeSet::new() }
    }

    /// All that is out of order.
    pub fn faults(&self) -> Vec<Problem> {
        [self.problems.as_slice(), self.flaws.as_slice()].concat()
    }
}

/// The forms that a contract comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `steadfast snapshot` wrote it.
    Snapshot,
    /// A bare `tools/list` result, with or without its JSON-RPC envelope, or an array of tools.
    List,
    /// One tool's definition.
    Tool,
    /// A folder of files with one tool each.
    Folder,
    /// `steadfast lock` wrote it.
    Lock,
    /// An OpenAPI document: 3.0 or 3.1, or Swagger 2.0.
    Openapi,
    /// A JSON Schema.
    Schema,
}

impl Form {
    /// What it is called in a sentence, with its article.
    pub fn in_words(self) -> &'static str {
        match self {
            Form::Snapshot => "a snapshot of an MCP server",
            Form::List => "a list of MCP tools",
            Form::Tool => "the definition of one MCP tool",
            Form::Folder => "a folder of MCP tools",
            Form::Lock => "a lock",
            Form::Openapi => "an OpenAPI document",
            Form::Schema => "a JSON Schema",
        }
    }
}

/// The newest snapshot format that this version reads.
const SNAPSHOT_VERSION: u64 = 1;

/// Tells from the content what a document is, and reads it.
///
/// # Errors
/// Where it is nothing that can be compared: all that can be told about why.
///
/// ```
/// use contract::document::{Bundle, Form, read};
/// let bundle = Bundle { name: "list.json".into(), root: serde_json::json!({"tools": []}), ..Bundle::default() };
/// assert_eq!(read(bundle).unwrap().form, Form::List);
/// ```
pub fn read(bundle: Bundle) -> Result<Reading, Vec<Problem>> {
    // A lock holds a contract that was measured before it was locked.
    if bundle.root.get("steadfast_lock").is_none() {
        shallow(&bundle.name, &bundle.root)?;
    }
    match &bundle.root {
        Value::Object(members) => read_object(&bundle, members),
        Value::Array(items) => {
            let looks_like_tools = items
                .iter()
                .all(|item| item.get("name").is_some() || item.get("inputSchema").is_some());
            if !looks_like_tools {
                return Err(vec![Problem::at(
                    &bundle.name,
                    "",
                    "The file holds an array whose items are not all MCP tools (objects with a name and an inputSchema).".to_owned(),
                    WHAT_IS_READ,
                )]);
            }
            Ok(tools::read(&bundle.name, "", items, Form::List))
        }
        Value::Bool(_) => Ok(schema(bundle)),
        other => Err(vec![Problem::at(
            &bundle.name,
            "",
            format!(
                "The file holds {}, not an object.",
                match other {
                    Value::String(text) => format!("the text {}", quoted(text)),
                    Value::Number(number) => format!("the number {number}"),
                    _ => "null".to_owned(),
                }
            ),
            WHAT_IS_READ,
        )]),
    }
}

const WHAT_IS_READ: &str = "What is read: a snapshot, a tools/list result, a folder of tools, a lock, an OpenAPI 3.0 or 3.1 document, a Swagger 2.0 document, a JSON Schema.";

/// Reads a folder: one tool a file, in the order of the file names.
///
/// # Errors
/// Where the folder holds no file, or a file that is not one tool.
pub fn read_folder(name: &str, files: &BTreeMap<String, Value>) -> Result<Reading, Vec<Problem>> {
    if files.is_empty() {
        return Err(vec![Problem::at(
            name,
            "",
            "The folder holds no file with a tool (*.json, *.snap, *.yaml, *.yml).".to_owned(),
            "An empty folder is not an empty list of tools: check the path.",
        )]);
    }
    let mut fatal = Vec::new();
    for (file, value) in files {
        if let Err(problems) = shallow(&format!("{name}/{file}"), value) {
            fatal.extend(problems);
            continue;
        }
        let is_tool = value.as_object().is_some_and(|members| {
            members.contains_key("name") || members.contains_key("inputSchema")
        });
        if !is_tool {
            let place = format!("{name}/{file}");
            let what = match read(Bundle {
                name: place.clone(),
                root: value.clone(),
                files: BTreeMap::new(),
            }) {
                Ok(reading) => reading.form.in_words().to_owned(),
                Err(_) => "something else".to_owned(),
            };
            fatal.push(Problem::at(
                &place,
                "",
                format!("In a folder each file holds one MCP tool; this one holds {what}."),
                "Name that file itself, or move it out of the folder.",
            ));
        }
    }
    if !fatal.is_empty() {
        return Err(fatal);
    }
    Ok(tools::read_files(name, files))
}

/// Refuses what nests too deep to be put into a lock.
fn shallow(name: &str, root: &Value) -> Result<(), Vec<Problem>> {
    if depth(root) <= limits::CONTRACT_DEPTH {
        return Ok(());
    }
    Err(vec![Problem::at(
        name,
        "",
        format!("Objects and arrays nest deeper than {} levels.", limits::CONTRACT_DEPTH),
        "No contract needs this; look for a generator that repeats itself.",
    )])
}

fn read_object(bundle: &Bundle, members: &Map<String, Value>) -> Result<Reading, Vec<Problem>> {
    let name = &bundle.name;
    if let Some(version) = members.get("steadfast_lock") {
        return lock::read_versioned(bundle, version);
    }
    if let Some(version) = members.get("steadfast_snapshot") {
        check_version(name, "snapshot", "steadfast_snapshot", version, SNAPSHOT_VERSION)?;
        return list(name, "", members, Form::Snapshot);
    }
    if members.contains_key("jsonrpc") || is_envelope(members) {
        return read_envelope(name, members);
    }
    if members.contains_key("openapi") {
        return openapi(bundle, members);
    }
    // The same things said in an older way: what is compared is said in both.
    if members.get("swagger").map(plain).as_deref() == Some("2.0") {
        return openapi(bundle, members);
    }
    if let Some(version) = members.get("swagger") {
        return Err(vec![Problem::at(
            name,
            "/swagger",
            format!("This is a Swagger {} document, which is not read.", plain(version)),
            "Swagger 2.0 is read; convert older documents first, on both sides with the same converter.",
        )]);
    }
    if members.contains_key("tools") {
        return list(name, "", members, Form::List);
    }
    if members.contains_key("inputSchema") {
        return Ok(tools::read(name, "", std::slice::from_ref(&bundle.root), Form::Tool));
    }
    if members.contains_key("mcpServers") {
        return Err(vec![Problem::at(
            name,
            "/mcpServers",
            "This is a client's configuration: it says how servers are started, not what they list.".to_owned(),
            "Take a snapshot of a server first: steadfast snapshot -o FILE -- COMMAND.",
        )]);
    }
    if members.is_empty() {
        return Err(vec![Problem::at(
            name,
            "",
            "The file holds an empty object: it says nothing, and nothing is no contract."
                .to_owned(),
            "Look whether what wrote it failed. A schema that takes everything is written true.",
        )]);
    }
    if members.keys().any(|key| SCHEMA_KEYWORDS.contains(&key.as_str())) {
        return Ok(schema(bundle.clone()));
    }
    let keys: Vec<String> = members.keys().take(5).map(|key| quoted(key)).collect();
    Err(vec![Problem::at(
        name,
        "",
        format!(
            "Nothing in the file says what it is: its members are {}{}.",
            keys.join(", "),
            if members.len() > 5 { " and more" } else { "" }
        ),
        WHAT_IS_READ,
    )])
}

/// The keywords by which an object is taken for a JSON Schema, of any dialect.
const SCHEMA_KEYWORDS: &[&str] = &[
    "$schema", "$id", "id", "$ref", "$defs", "$anchor", "$dynamicRef", "definitions", "type",
    "enum", "const", "properties", "patternProperties", "additionalProperties", "propertyNames",
    "required", "items", "prefixItems", "contains", "allOf", "anyOf", "oneOf", "not", "if",
    "format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties",
    "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
    "unevaluatedProperties", "unevaluatedItems", "description", "title", "default", "examples",
];

fn schema(bundle: Bundle) -> Reading {
    Reading::sound(Contract::Schema(bundle), Form::Schema)
}

fn list(
    name: &str,
    pointer: &str,
    members: &Map<String, Value>,
    form: Form,
) -> Result<Reading, Vec<Problem>> {
    let at = format!("{pointer}/tools");
    let Some(Value::Array(items)) = members.get("tools") else {
        return Err(vec![Problem::at(
            name,
            &at,
            match members.get("tools") {
                None => "The list of tools is missing.".to_owned(),
                Some(other) => format!("The list of tools is {}, not an array.", kind_of(other)),
            },
            "A list that could not be read is not an empty list: fetch it again.",
        )]);
    };
    let mut reading = tools::read(name, &at, items, form);
    let Contract::Tools(list) = &mut reading.contract else {
        return Ok(reading);
    };
    let text = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);
    list.instructions = text("instructions");
    list.server_info = members.get("serverInfo").filter(|info| !info.is_null()).cloned();
    list.protocol_version = text("protocolVersion");
    if form == Form::List && members.get("nextCursor").is_some_and(|next| !next.is_null()) {
        reading.problems.push(Problem::at(
            name,
            &format!("{pointer}/nextCursor"),
            "The list goes on: this is one page of several.".to_owned(),
            "Put the tools of all pages into one list, or take a snapshot, which reads them all.",
        ));
    }
    Ok(reading)
}

/// A JSON-RPC answer written down without its `jsonrpc` member.
fn is_envelope(members: &Map<String, Value>) -> bool {
    let result = members.get("result").is_some_and(|result| result.get("tools").is_some());
    let error = members.get("error").is_some_and(|error| error.get("message").is_some());
    (result || error) && !members.contains_key("tools")
}

fn read_envelope(name: &str, members: &Map<String, Value>) -> Result<Reading, Vec<Problem>> {
    if let Some(error) = members.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
        let code = error.get("code").map(|code| format!(" (code {code})")).unwrap_or_default();
        return Err(vec![Problem::at(
            name,
            "/error",
            format!(
                "The server answered with an error instead of a list: {}{code}.",
                quoted(message)
            ),
            "An error is not an empty list: ask the server again once it is well.",
        )]);
    }
    match members.get("result") {
        Some(Value::Object(result)) if result.contains_key("tools") => {
            list(name, "/result", result, Form::List)
        }
        Some(_) => Err(vec![Problem::at(
            name,
            "/result",
            "This is a JSON-RPC answer, but not to tools/list: its result has no tools.".to_owned(),
            "Keep the answer to tools/list.",
        )]),
        None if members.contains_key("method") => Err(vec![Problem::at(
            name,
            "/method",
            format!(
                "This is a JSON-RPC message with the method {}, not the answer to tools/list.",
                members.get("method").map(plain).unwrap_or_default()
            ),
            "Keep the answer to tools/list.",
        )]),
        None => Err(vec![Problem::at(
            name,
            "",
            "This is a JSON-RPC message without a result.".to_owned(),
            "Keep the answer to tools/list.",
        )]),
    }
}

fn openapi(bundle: &Bundle, members: &Map<String, Value>) -> Result<Reading, Vec<Problem>> {
    let name = &bundle.name;
    let version = members.get("openapi").map(plain).unwrap_or_default();
    let mut parts = version.split('.');
    let known = members.contains_key("swagger")
        || parts.next() == Some("3") && matches!(parts.next(), Some("0" | "1"));
    let mut problems = Vec::new();
    if !known {
        problems.push(Problem::at(
            name,
            "/openapi",
            format!("OpenAPI version {} is not read.", quoted(&version)),
            "OpenAPI 3.0 and 3.1 are read, and Swagger 2.0.",
        ));
    }
    match members.get("paths") {
        Some(Value::Object(_)) => {}
        None if members.contains_key("webhooks") || members.contains_key("components") => {}
        None => problems.push(Problem::at(
            name,
            "",
            "The OpenAPI document has no paths.".to_owned(),
            "A document without operations is no contract: check whether it was cut.",
        )),
        Some(other) => problems.push(Problem::at(
            name,
            "/paths",
            format!("The paths are {}, not an object.", kind_of(other)),
            "Write one member for each path.",
        )),
    }
    if problems.is_empty() {
        Ok(Reading::sound(Contract::Openapi(bundle.clone()), Form::Openapi))
    } else {
        Err(problems)
    }
}

/// Refuses a file of our own that a newer version wrote.
pub(crate) fn check_version(
    name: &str,
    what: &str,
    member: &str,
    found: &Value,
    newest: u64,
) -> Result<(), Vec<Problem>> {
    match found.as_u64() {
        Some(version) if (1..=newest).contains(&version) => Ok(()),
        Some(version) if version > newest => Err(vec![Problem::at(
            name,
            &format!("/{member}"),
            format!(
                "A newer steadfast wrote this {what}: its format is {version}, and this version reads up to {newest}."
            ),
            "Update steadfast. Nothing was changed.",
        )]),
        _ => Err(vec![Problem::at(
            name,
            &format!("/{member}"),
            format!("The format of this {what} is {}, which is no version.", quoted(&plain(found))),
            "Write the file again with steadfast.",
        )]),
    }
}

/// What a value is, with its article.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Text without its quotes, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
