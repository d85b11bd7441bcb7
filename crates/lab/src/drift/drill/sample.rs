//! A small call that a schema takes, made up. Pure but for the folders that a command names.

use contract::document::Tool;
use contract::lexicon;
use contract::revised::{Fit, Revised};
use serde_json::{Map, Value, json};

/// How deep a made-up value nests: no tool that a first test can call needs more.
const DEPTH: usize = 12;

/// What is known of the place in which the server runs, for values that a schema alone does not tell.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Folders and files that the server likely may read, the likeliest first.
    pub paths: Vec<String>,
}

impl Surroundings {
    /// Folders that the command names, then this one.
    pub fn of_command(target: &mcp::Target) -> Surroundings {
        let words = match target {
            mcp::Target::Command(words) => words.as_slice(),
            _ => &[],
        };
        let named = words.iter().skip(1).rev().filter(|word| std::path::Path::new(word).is_dir());
        let mut paths: Vec<String> = named.cloned().collect();
        paths.extend(std::env::current_dir().map(|here| here.display().to_string()));
        Surroundings { paths }
    }
}

/// How many ways there are to fill in the same schema.
pub const WAYS: usize = 3;

/// The smallest call of a tool that can be made up: required arguments alone. `way` picks among likely values. `None`
/// where nothing that was made up is a call of the tool.
pub fn call(tool: &Tool, surroundings: &Surroundings, way: usize) -> Option<Value> {
    let schema = tool.raw.get("inputSchema")?;
    let made = Maker { root: schema, surroundings, way }.value(schema, "", 0)?;
    match Revised::new(tool.clone()).takes(&made) {
        Fit::Fits => Some(made),
        // What nobody can judge may still be right; the control call shows it.
        Fit::Unknown(_) => Some(made),
        Fit::Rejected(_) => None,
    }
}

struct Maker<'s> {
    root: &'s Value,
    surroundings: &'s Surroundings,
    way: usize,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        if let Some(stated) = stated(schema) {
            return Some(stated);
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.strip_prefix('#')?)?;
            return self.value(target, name, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(options) = schema.get(keyword).and_then(Value::as_array) {
                let own = options.iter().filter_map(|option| {
                    self.value(&with(schema, option, keyword), name, depth + 1)
                });
                return own.into_iter().find(|value| !value.is_null());
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let whole =
                parts.iter().fold(without(schema, "allOf"), |whole, part| join(&whole, part));
            return self.value(&whole, name, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "integer" | "number" => Some(number(schema)),
            "boolean" => Some(json!(false)),
            "null" => Some(Value::Null),
            _ => Some(Value::String(self.text(schema, name))),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str()?;
            let own = schema.get("properties").and_then(|properties| properties.get(name));
            let value = self.value(own.unwrap_or(&Value::Bool(true)), name, depth + 1)?;
            members.insert(name.to_owned(), value);
        }
        Some(Value::Object(members))
    }

    fn array(&self, schema: &Value, name: &str, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, 16);
        let items = schema.get("items").unwrap_or(&Value::Bool(true));
        let item = self.value(items, lexicon::singular(name), depth + 1)?;
        Some(Value::Array((0..least).map(|_| item.clone()).collect()))
    }

    /// Text by its format, its name, and its length.
    fn text(&self, schema: &Value, name: &str) -> String {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        if let Some((_, value)) = FORMATS.iter().find(|(known, _)| *known == format) {
            return (*value).to_owned();
        }
        let words = lexicon::words(name);
        let is = |list: &[&str]| words.iter().any(|word| list.contains(&lexicon::singular(word)));
        let mut text = if is(PATHS) {
            let paths = &self.surroundings.paths;
            paths.get(self.way).or(paths.first()).cloned().unwrap_or_else(|| ".".to_owned())
        } else if is(&["timezone", "tz"]) {
            ["UTC", "Europe/Paris", "Etc/UTC"][self.way % WAYS].to_owned()
        } else if is(&["url", "uri", "link"]) {
            "https://example.com/".to_owned()
        } else if is(&["date", "day"]) {
            "2026-01-01".to_owned()
        } else if is(&["time"]) {
            "12:00".to_owned()
        } else {
            ["test", "a", "1"][self.way % WAYS].to_owned()
        };
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(4_096);
        while (text.chars().count() as u64) < least {
            text.push('a');
        }
        text
    }
}

const PATHS: &[&str] =
    &["path", "file", "filename", "dir", "directory", "folder", "repo", "cwd", "root"];

const FORMATS: &[(&str, &str)] = &[
    ("date", "2026-01-01"),
    ("date-time", "2026-01-01T12:00:00Z"),
    ("time", "12:00:00Z"),
    ("uri", "https://example.com/"),
    ("url", "https://example.com/"),
    ("email", "a@example.com"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
    ("ipv4", "127.0.0.1"),
    ("hostname", "example.com"),
];

/// A value that the schema states itself.
fn stated(schema: &Value) -> Option<Value> {
    let first = |name: &str| schema.get(name)?.as_array()?.first().cloned();
    let default = schema.get("default").filter(|value| !value.is_null()).cloned();
    schema.get("const").cloned().or(default).or_else(|| first("examples")).or_else(|| first("enum"))
}

/// The kind of value that a schema asks for first.
fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() || schema.get("required").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn number(schema: &Value) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let whole = kind(schema) == "integer";
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + 1.0));
    let value = match (least, bound("maximum")) {
        (Some(least), _) => least.max(1.0),
        (None, Some(most)) if most < 1.0 => most,
        _ => 1.0,
    };
    let value = match bound("multipleOf") {
        Some(step) if step > 0.0 => (value / step).ceil() * step,
        _ => value,
    };
    if whole || value.fract() == 0.0 { json!(value.ceil() as i64) } else { json!(value) }
}

fn without(schema: &Value, keyword: &str) -> Value {
    let mut rest = schema.clone();
    if let Some(members) = rest.as_object_mut() {
        members.shift_remove(keyword);
    }
    rest
}

/// One alternative of a schema, with what the schema says beside it.
fn with(schema: &Value, option: &Value, keyword: &str) -> Value {
    join(&without(schema, keyword), option)
}

/// Both schemas at once, as far as a made-up value needs it: the second wins, but `required` and `properties` add up.
fn join(a: &Value, b: &Value) -> Value {
    let (Some(left), Some(right)) = (a.as_object(), b.as_object()) else { return b.clone() };
    let mut whole = left.clone();
    for (name, value) in right {
        match (name.as_str(), whole.get_mut(name)) {
            ("required", Some(Value::Array(names))) => {
                names.extend(value.as_array().into_iter().flatten().cloned());
            }
            ("properties", Some(Value::Object(members))) => {
                let more = value.as_object().into_iter().flatten();
                members.extend(more.map(|(name, value)| (name.clone(), value.clone())));
            }
            _ => {
                whole.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Object(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: Value) -> Option<Value> {
        let raw = json!({"name": "t", "inputSchema": schema});
        let tool = Tool { name: "t".into(), raw, ordinal: None };
        let surroundings = Surroundings { paths: vec!["/srv".into()] };
        call(&tool, &surroundings, 0)
    }

    #[test]
    fn only_what_is_required_is_filled_in() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"}, "mode": {"enum": ["r", "w"]}, "n": {"type": "integer", "minimum": 3},
                "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}, "also": {"type": "string"},
                "either": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}
            },
            "required": ["path", "mode", "n", "tags", "either"],
            "$defs": {"tag": {"type": "string", "minLength": 6}}
        });
        let call =
            json!({"path": "/srv", "mode": "r", "n": 3, "tags": ["testaa"], "either": false});
        assert_eq!(made(schema), Some(call));
    }

    #[test]
    fn what_is_made_up_is_a_call_or_nothing() {
        let pattern = json!({"type": "object", "properties": {"id": {"type": "string", "pattern": "^X-[0-9]{9}$"}}, "required": ["id"]});
        assert_eq!(made(pattern), None);
        let circle =
            json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        assert_eq!(made(circle), None);
    }
}
