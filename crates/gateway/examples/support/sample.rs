//! Usual values of a schema, from its text alone.

use serde_json::{Map, Value, json};

/// Deeper than this no usual value goes.
const DEPTH: usize = 8;

/// A usual value: what is required alone, or with `full` everything that is declared.
pub fn value(root: &Value, schema: &Value, depth: usize, full: bool) -> Value {
    let Value::Object(rules) = schema else { return json!("x") };
    if depth > DEPTH {
        return Value::Null;
    }
    if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|at| root.pointer(at));
        return found.map_or(Value::Null, |found| value(root, found, depth + 1, full));
    }
    if let Some(only) = rules.get("const") {
        return only.clone();
    }
    if let Some(first) = rules.get("enum").and_then(Value::as_array).and_then(|e| e.first()) {
        return first.clone();
    }
    if let Some(example) = rules.get("examples").and_then(Value::as_array).and_then(|e| e.first()) {
        return example.clone();
    }
    for keyword in ["anyOf", "oneOf"] {
        if !rules.contains_key("properties")
            && let Some(Value::Array(variants)) = rules.get(keyword)
        {
            let usual =
                variants.iter().find(|v| v.get("type").and_then(Value::as_str) != Some("null"));
            if let Some(usual) = usual.or(variants.first()) {
                return value(root, usual, depth + 1, full);
            }
        }
    }
    let kind = match rules.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null")
        }
        _ if rules.contains_key("properties") => "object",
        _ if rules.contains_key("items") => "array",
        _ => "string",
    };
    let number = |name: &str| rules.get(name).and_then(Value::as_f64);
    let whole =
        |name: &str| rules.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    match kind {
        "object" => {
            let required: Vec<&str> = rules
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let mut object = Map::new();
            for (name, member) in
                rules.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if full || required.contains(&name.as_str()) {
                    object.insert(name.clone(), value(root, member, depth + 1, full));
                }
            }
            Value::Object(object)
        }
        "array" => {
            let count = whole("minItems").unwrap_or(0).clamp(1, 8);
            let item =
                rules.get("items").map_or(json!("x"), |items| value(root, items, depth + 1, full));
            Value::Array(vec![item; count])
        }
        "integer" | "number" => {
            let low = number("minimum").or_else(|| number("exclusiveMinimum").map(|n| n + 1.0));
            let high = number("maximum").or_else(|| number("exclusiveMaximum").map(|n| n - 1.0));
            let step = number("multipleOf").unwrap_or(1.0);
            let usual = 7.0_f64.max(low.unwrap_or(7.0)).min(high.unwrap_or(f64::MAX));
            let usual = (usual / step).ceil() * step;
            if kind == "integer" || usual.fract() == 0.0 {
                json!(usual as i64)
            } else {
                json!(usual)
            }
        }
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => {
            let text = match rules.get("format").and_then(Value::as_str) {
                Some("uri" | "url") => "https://example.com/a",
                Some("email") => "a@example.com",
                Some("date") => "2026-11-30",
                Some("date-time") => "2026-11-30T10:00:00Z",
                Some("uuid") => "01890a5d-ac96-774b-bcce-b302099a8057",
                _ => "abc",
            };
            let mut text = text.to_owned();
            while text.chars().count() < whole("minLength").unwrap_or(0).min(256) {
                text.push('a');
            }
            json!(text.chars().take(whole("maxLength").unwrap_or(256)).collect::<String>())
        }
    }
}
