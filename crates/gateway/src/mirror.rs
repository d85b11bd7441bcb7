//! Modern requests over HTTP say in headers what they say in their body, so that machines between can route by it.
//!
//! What is mirrored: `params.name` or `params.uri`, and each argument that the tool's schema marks with
//! `x-mcp-header`. The gateway writes them anew for the server, and holds those of a client against its body.

use crate::limits;
use contract::Revised;
use mcp::duplex::Routed;
use mcp::message::{Kind, Message};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a request is mirrored by, given the definition of the tool that it calls.
pub fn routed(message: &Message, listed: impl Fn(&str) -> Option<Arc<Revised>>) -> Routed {
    let (Kind::Request { method, .. } | Kind::Notification { method }) = message.kind() else {
        return Routed::default();
    };
    let Some(params) = message.params() else { return Routed::default() };
    let Ok(params) = serde_json::from_str::<Map<String, Value>>(params) else {
        return Routed::default();
    };
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = match method.as_str() {
        "tools/call" | "prompts/get" => text("name"),
        "resources/read" => text("uri"),
        method if method.starts_with("tasks/") => text("taskId"),
        _ => None,
    };
    let tool = name.as_deref().filter(|_| method == "tools/call").and_then(listed);
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    let params = tool.map_or(Vec::new(), |tool| mirrored(&tool.tool().raw, arguments));
    Routed { name, params, headers: Vec::new() }
}

/// The marked arguments of a call that are sent: the name after `Mcp-Param-`, and the value as a header has it.
pub fn mirrored(tool: &Value, arguments: &Value) -> Vec<(String, String)> {
    let marked = marked(tool, arguments).into_iter();
    marked.filter_map(|(name, value)| Some((name, value?))).collect()
}

/// All marks of a tool: the name after `Mcp-Param-`, and the value where the call has one that a header can hold.
pub fn marked(tool: &Value, arguments: &Value) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    if let Some(schema) = tool.get("inputSchema") {
        walk(schema, Some(arguments), 0, &mut found);
    }
    found
}

/// Marks count only where they are reached through `properties` alone.
fn walk(
    schema: &Value,
    value: Option<&Value>,
    depth: usize,
    found: &mut Vec<(String, Option<String>)>,
) {
    if depth > limits::MIRROR_DEPTH || found.len() >= limits::MIRRORED {
        return;
    }
    if let Some(name) = schema.get("x-mcp-header").and_then(Value::as_str) {
        found.push((name.to_owned(), value.and_then(as_header)));
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, schema) in properties {
        walk(schema, value.and_then(|value| value.get(name)), depth + 1, found);
    }
}

fn as_header(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_marked_scalars_on_a_chain_of_properties_are_mirrored() {
        let tool = json!({"inputSchema": {"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "list": {"items": {"x-mcp-header": "Item"}},
            "left_out": {"x-mcp-header": "Absent"},
            "whole": {"x-mcp-header": "Whole"}
        }}});
        let arguments = json!({"region": "eu", "deep": {"n": 7}, "list": ["x"], "whole": {"a": 1}});
        let expected = [("Region", "eu"), ("N", "7")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        assert_eq!(mirrored(&tool, &arguments), expected);
        let without: Vec<String> = marked(&tool, &arguments)
            .into_iter()
            .filter_map(|(name, value)| value.is_none().then_some(name))
            .collect();
        assert_eq!(without, ["Absent", "Whole"]);
        assert_eq!(marked(&tool, &json!({})).len(), 4, "a mark is one whatever is sent");
    }
}
