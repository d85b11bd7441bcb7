//! Is a witness minimal? Judged by another validator: taking out any member or item, or stepping any number towards
//! zero or any text by a character, must stop it from telling the two schemas apart.

use crate::generate::Boon;
use schema::Witness;
use serde_json::Value;

/// The first smaller value that still separates, where there is one.
pub fn larger_than_needed(a: &Value, b: &Value, found: &[Witness]) -> Option<String> {
    let (yes, no) = (Boon::new(a)?, Boon::new(b)?);
    let mut named = Vec::new();
    plain_values(a, &mut named);
    plain_values(b, &mut named);
    let value = &found[0].value;
    if !yes.accepts(value) || no.accepts(value) {
        return None;
    }
    smaller(value, &named)
        .into_iter()
        .find(|smaller| yes.accepts(smaller) && !no.accepts(smaller))
        .map(|smaller| format!("{value} where {smaller} would do"))
}

fn plain_values(value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Object(members) => members.values().for_each(|member| plain_values(member, out)),
        Value::Array(items) => items.iter().for_each(|item| plain_values(item, out)),
        plain => out.push(plain.clone()),
    }
}

/// Every value that is one step smaller. Plain values that the schemas themselves name are kept: they look real.
pub fn smaller(value: &Value, named: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    match value {
        Value::Array(items) => {
            for at in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(at);
                out.push(Value::Array(fewer));
                for less in smaller(&items[at], named) {
                    let mut other = items.clone();
                    other[at] = less;
                    out.push(Value::Array(other));
                }
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let mut fewer = members.clone();
                fewer.shift_remove(name);
                out.push(Value::Object(fewer));
                for less in smaller(member, named) {
                    let mut other = members.clone();
                    other[name] = less;
                    out.push(Value::Object(other));
                }
            }
        }
        plain if named.contains(plain) => {}
        Value::String(text) => {
            let all: Vec<char> = text.chars().collect();
            for at in 0..all.len().min(64) {
                let mut fewer = all.clone();
                fewer.remove(at);
                out.push(Value::String(fewer.into_iter().collect()));
            }
        }
        Value::Number(number) => {
            if let Some(n) = number.as_i64().filter(|&n| n != 0) {
                out.push((n - n.signum()).into());
            } else if let Some(n) = number.as_f64().filter(|n| n.fract() != 0.0 && n.abs() < 1e9) {
                out.push((n.trunc() as i64).into());
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    out
}
