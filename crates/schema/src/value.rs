//! Values as JSON Schema sees them: 1 equals 1.0, member order does not matter.

use crate::number;
use serde_json::Value;

/// Deep equality by JSON Schema's rules. Callers bound the depth first.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || match (number::read(a), number::read(b)) {
                    (Some(a), Some(b)) => a == b,
                    _ => false,
                }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// True where the value nests deeper than `limit`. Uses no call stack.
pub(crate) fn deeper_than(value: &Value, limit: usize) -> bool {
    let mut open = vec![(value, 0usize)];
    while let Some((value, depth)) = open.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                open.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}

/// A text that is the same for values that JSON Schema takes as equal (`1` and `1.0`), and for no others. Linear in
/// the value, which nests no deeper than [`limits::VALUE_DEPTH`](crate::limits::VALUE_DEPTH).
///
/// ```
/// use schema::value_key;
/// use serde_json::json;
/// assert_eq!(value_key(&json!({"a": 1, "b": 2})), value_key(&json!({"b": 2.0, "a": 1})));
/// assert_ne!(value_key(&json!("1")), value_key(&json!(1)));
/// ```
pub fn key(value: &Value) -> String {
    let mut out = String::new();
    write_key(value, &mut out);
    out
}

fn write_key(value: &Value, out: &mut String) {
    match value {
        Value::Number(n) => match number::read(n) {
            Some(exact) => out.push_str(&exact.to_string()),
            None => out.push_str(n.as_str()),
        },
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_key(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            out.push('{');
            for name in names {
                out.push_str(&Value::String(name.clone()).to_string());
                out.push(':');
                write_key(&members[name], out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::String(_) => out.push_str(&value.to_string()),
    }
}
