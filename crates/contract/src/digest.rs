//! Digests of contracts: SHA-256 over canonical JSON.
//!
//! The canonical form is RFC 8785: members sorted by UTF-16 code units, no space, shortest
//! escapes, numbers in the form of ECMAScript. One thing differs, and only outside of what that
//! form can carry: a number with more digits than a double holds keeps all its digits, so that
//! two different contracts never share a digest.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The members of a tool that say nothing about its contract.
///
/// `_meta` is set aside for implementations and may change with every answer.
const NOT_CONTRACT: &[&str] = &["_meta"];

/// The digest of one tool's definition, without `_meta`.
///
/// ```
/// use serde_json::json;
/// let one = json!({"name": "a", "inputSchema": {"maximum": 10}, "_meta": {"seen": 1}});
/// let two = json!({"inputSchema": {"maximum": 1e1}, "name": "a"});
/// assert_eq!(contract::digest::of_tool(&one), contract::digest::of_tool(&two));
/// ```
pub fn of_tool(raw: &Value) -> String {
    match raw {
        Value::Object(members) => {
            let kept: Map<String, Value> = members
                .iter()
                .filter(|(name, _)| !NOT_CONTRACT.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            of_value(&Value::Object(kept))
        }
        other => of_value(other),
    }
}

/// The digest of any value: `sha256:` and 64 hexadecimal digits over [`canonical`].
pub fn of_value(value: &Value) -> String {
    of_canonical(&canonical(value))
}

/// [`of_value`] of a value whose canonical text is at hand.
pub(crate) fn of_canonical(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut text = String::with_capacity(7 + 64);
    text.push_str("sha256:");
    for byte in hash {
        text.push(char::from_digit(u32::from(byte >> 4), 16).expect("a nibble is below 16"));
        text.push(char::from_digit(u32::from(byte & 15), 16).expect("a nibble is below 16"));
    }
    text
}

/// The canonical JSON text of a value.
///
/// ```
/// use serde_json::json;
/// assert_eq!(contract::digest::canonical(&json!({"b": 1.0, "a": "\u{7}é"})), r#"{"a":"\u0007é","b":1}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => text.push_str(&canonical_number(number.as_str())),
        Value::String(string) => write_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let sorted: BTreeMap<Vec<u16>, (&String, &Value)> =
                members.iter().map(|member| (member.0.encode_utf16().collect(), member)).collect();
            text.push('{');
            for (index, (name, member)) in sorted.values().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(name, text);
                text.push(':');
                write(member, text);
            }
            text.push('}');
        }
    }
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if control < ' ' => {
                text.push_str(&format!("\\u{:04x}", u32::from(control)));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A number in the form of ECMAScript's `Number::toString`, taken from its own digits.
///
/// For a number whose digits are the shortest that name its double, this is RFC 8785; for one
/// with more digits nothing is rounded.
fn canonical_number(written: &str) -> String {
    let (negative, unsigned) = match written.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, written),
    };
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], &unsigned[at + 1..]),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: String = [whole, fraction].concat();
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        // An exponent of 19 digits and more: no arithmetic on it, the spelling is the value.
        return written.to_owned();
    };
    // The value is 0.DIGITS times ten to the power of `point`.
    let shift =
        i64::try_from(whole.len()).unwrap_or(i64::MAX) - i64::try_from(leading).unwrap_or(i64::MAX);
    let Some(point) = exponent.checked_add(shift) else {
        return written.to_owned();
    };
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let zeros = |n: i64| "0".repeat(usize::try_from(n).unwrap_or(0));
    let body = if count <= point && point <= 21 {
        format!("{digits}{}", zeros(point - count))
    } else if 0 < point && point <= 21 {
        let (before, after) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{before}.{after}")
    } else if -6 < point && point <= 0 {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let power = point - 1;
        let sign = if power < 0 { '-' } else { '+' };
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{sign}{}", power.unsigned_abs())
    };
    if negative { format!("-{body}") } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, canonical: &str) {
        assert_eq!(canonical_number(written), canonical, "{written}");
    }

    /// The number samples of RFC 8785, appendix B, and what lies outside of doubles.
    #[test]
    fn numbers_take_the_form_of_ecmascript() {
        check("0", "0");
        check("-0", "0");
        check("-0.0e5", "0");
        check("5e-324", "5e-324");
        check("1.7976931348623157e308", "1.7976931348623157e+308");
        check("9007199254740992", "9007199254740992");
        check("295147905179352830000", "295147905179352830000");
        check("9.999999999999997e22", "9.999999999999997e+22");
        check("1e+23", "1e+23");
        check("999999999999999700000", "999999999999999700000");
        check("1e21", "1e+21");
        check("9.999999999999997e-7", "9.999999999999997e-7");
        check("0.000001", "0.000001");
        check("333333333.3333332", "333333333.3333332");
        check("1E1", "10");
        check("1.50", "1.5");
        check("100", "100");
        check("1424953923781206.2", "1424953923781206.2");
        check("9007199254740993", "9007199254740993");
        check("1e99999999999999999999", "1e99999999999999999999");
    }

    #[test]
    fn members_sort_by_utf16_code_units() {
        let value: Value =
            serde_json::from_str(r#"{"\u20ac":1,"\ud83d\ude00":2,"\ufb33":3,"1":4}"#).unwrap();
        assert_eq!(canonical(&value), "{\"1\":4,\"\u{20ac}\":1,\"\u{1f600}\":2,\"\u{fb33}\":3}");
    }
}
