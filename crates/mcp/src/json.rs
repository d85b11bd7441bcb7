//! JSON text read without decoding it: flaws that a decoder would hide, and an indented form that changes white
//! space alone. Both expect text whose syntax has been checked, and use no recursion.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Something that a decoder would hide or that a later reader cannot take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// JSON pointer to the value that has the flaw.
    pub pointer: String,
    /// Which.
    pub kind: FlawKind,
}

/// The kinds of flaw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlawKind {
    /// An object names a member twice: which one counts depends on the reader.
    DuplicateKey(String),
    /// Nested deeper than the limit.
    TooDeep(usize),
    /// A string holds one half of a surrogate pair, which is no character.
    HalfCharacter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Open(u8),
    Close(u8),
    Comma,
    Colon,
    Text,
    Other,
}

/// The tokens of JSON, with their places. Of a text that is no JSON, what looks like tokens.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = (Token, Range<usize>)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        let token = match *bytes.get(at)? {
            b @ (b'{' | b'[') => Token::Open(b),
            b @ (b'}' | b']') => Token::Close(b),
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|b| *b != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                Token::Text
            }
            _ => {
                let ends = |b: &u8| {
                    matches!(b, b',' | b'}' | b']' | b':' | b'{' | b'[' | b'"')
                        || b.is_ascii_whitespace()
                };
                while bytes.get(at + 1).is_some_and(|b| !ends(b)) {
                    at += 1;
                }
                Token::Other
            }
        };
        at = (at + 1).min(bytes.len());
        Some((token, start..at))
    })
}

enum Frame {
    Object { seen: BTreeSet<String>, key: String, expects_key: bool },
    Array(usize),
}

/// All flaws of a text, at most `most`, each with its pointer. Nothing below the depth limit is looked at.
pub fn flaws(text: &str, depth: usize, most: usize) -> Vec<Flaw> {
    let mut out = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    for (token, at) in tokens(text) {
        if out.len() >= most {
            break;
        }
        match token {
            Token::Open(b) => {
                if stack.len() >= depth {
                    out.push(Flaw { pointer: pointer(&stack), kind: FlawKind::TooDeep(depth) });
                    break;
                }
                stack.push(match b {
                    b'{' => Frame::Object {
                        seen: BTreeSet::new(),
                        key: String::new(),
                        expects_key: true,
                    },
                    _ => Frame::Array(0),
                });
            }
            Token::Close(_) => {
                stack.pop();
            }
            Token::Comma => match stack.last_mut() {
                Some(Frame::Object { expects_key, .. }) => *expects_key = true,
                Some(Frame::Array(index)) => *index += 1,
                None => {}
            },
            Token::Colon | Token::Other => {}
            Token::Text => {
                let decoded: Result<String, _> = serde_json::from_str(&text[at]);
                let Ok(decoded) = decoded else {
                    out.push(Flaw { pointer: pointer(&stack), kind: FlawKind::HalfCharacter });
                    continue;
                };
                if let Some(Frame::Object { seen, key, expects_key }) = stack.last_mut()
                    && *expects_key
                {
                    *expects_key = false;
                    key.clone_from(&decoded);
                    if !seen.insert(decoded) {
                        let twice = key.clone();
                        let above = pointer(&stack[..stack.len() - 1]);
                        out.push(Flaw { pointer: above, kind: FlawKind::DuplicateKey(twice) });
                    }
                }
            }
        }
    }
    out
}

fn pointer(stack: &[Frame]) -> String {
    let mut out = String::new();
    for frame in stack {
        out.push('/');
        match frame {
            Frame::Object { key, .. } => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Frame::Array(index) => out.push_str(&index.to_string()),
        }
    }
    out
}

/// The same text with two spaces a level, starting at `level`. Strings, numbers and the order of members stay as
/// they were spelled.
pub fn indent(text: &str, level: usize) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut level = level;
    let mut after_open = false;
    for (token, at) in tokens(text) {
        let closes = matches!(token, Token::Close(_));
        if closes {
            level = level.saturating_sub(1);
        }
        if after_open != closes {
            line(&mut out, level);
        }
        after_open = false;
        out.push_str(&text[at]);
        match token {
            Token::Open(_) => {
                level += 1;
                after_open = true;
            }
            Token::Comma => line(&mut out, level),
            Token::Colon => out.push(' '),
            Token::Close(_) | Token::Text | Token::Other => {}
        }
    }
    out
}

fn line(out: &mut String, level: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

/// The raw value at a path of member names. `None` where there is none, or the text is no object.
pub fn find<'t>(text: &'t str, path: &[&str]) -> Option<&'t str> {
    // Cheap to rule out: most texts do not hold the last name at all.
    if !path.last().is_none_or(|last| text.contains(last) || text.contains('\\')) {
        return None;
    }
    let mut found = text;
    for name in path {
        let mut members: BTreeMap<Cow<'t, str>, &'t RawValue> = serde_json::from_str(found).ok()?;
        found = members.remove(*name)?.get();
    }
    Some(found)
}

/// The parts of an object or a list as they are spelled: the name of each member, where it has one, and its value. Empty
/// where the text is neither.
pub fn parts(text: &str) -> Vec<(Option<&str>, &str)> {
    let mut found = Vec::new();
    let (mut level, mut object) = (0_usize, false);
    let (mut name, mut start) = (None, None);
    for (token, place) in tokens(text) {
        let at_top = level == 1;
        match token {
            Token::Open(b) => {
                if level == 0 {
                    object = b == b'{';
                } else if at_top && start.is_none() {
                    start = Some(place.start);
                }
                level += 1;
            }
            Token::Colon if at_top => {
                name = start.take().map(|start: usize| text[start..place.start].trim_end());
            }
            Token::Comma | Token::Close(_) if at_top => {
                if let Some(start) = start.take() {
                    let value = text[start..place.start].trim_end();
                    found.push((name.take().filter(|_| object), value));
                }
                if token != Token::Comma {
                    level = 0;
                }
            }
            Token::Close(_) => level = level.saturating_sub(1),
            _ if at_top && start.is_none() => start = Some(place.start),
            _ => {}
        }
    }
    found
}

/// A value that was made from another, with the spelling of the text that the other was read from wherever it is the same.
pub fn respell(text: &str, old: &Value, new: &Value) -> String {
    if old == new {
        return text.to_owned();
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            let parts = parts(text);
            let spelled = |name: &str| {
                parts.iter().find_map(|(key, value)| {
                    let key = (*key)?;
                    let decoded: String = serde_json::from_str(key).ok()?;
                    (decoded == name).then_some((key, *value))
                })
            };
            let members: Vec<String> = after
                .iter()
                .map(|(name, value)| match (spelled(name), before.get(name)) {
                    (Some((key, text)), Some(old)) => {
                        format!("{key}:{}", respell(text, old, value))
                    }
                    // Under another name, the value may be the one that some member had.
                    _ => format!("{}:{}", Value::from(name.as_str()), {
                        let same = before.iter().find(|(_, old)| *old == value);
                        let text = same.and_then(|(name, _)| spelled(name));
                        text.map_or_else(|| value.to_string(), |(_, text)| text.to_owned())
                    }),
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        (Value::Array(before), Value::Array(after)) => {
            let parts = parts(text);
            let items: Vec<String> = after
                .iter()
                .enumerate()
                .map(|(at, value)| match (parts.get(at), before.get(at)) {
                    (Some((_, text)), Some(old)) => respell(text, old, value),
                    _ => value.to_string(),
                })
                .collect();
            format!("[{}]", items.join(","))
        }
        _ => new.to_string(),
    }
}

/// The text with other values at some paths, where there are values; all else stays as it is.
pub fn replace(text: &str, edits: &[(&[&str], &str)]) -> String {
    let mut places: Vec<(Range<usize>, &str)> = edits
        .iter()
        .filter_map(|(path, value)| {
            let found = find(text, path)?;
            let start = found.as_ptr() as usize - text.as_ptr() as usize;
            Some((start..start + found.len(), *value))
        })
        .collect();
    places.sort_by_key(|(place, _)| place.start);
    let mut out = String::with_capacity(text.len() + 32);
    let mut at = 0;
    for (place, value) in places {
        out.push_str(&text[at..place.start]);
        out.push_str(value);
        at = place.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, FlawKind)]) {
        let found: Vec<_> = flaws(text, 4, 10).into_iter().map(|f| (f.pointer, f.kind)).collect();
        let expected: Vec<_> = expected.iter().map(|(p, k)| ((*p).to_owned(), k.clone())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn flaws_are_located() {
        check(r#"{"a":1,"b":{"c":[1,{"d":1,"e":2}]}}"#, &[]);
        check(r#"{"a":1,"a":2}"#, &[("", FlawKind::DuplicateKey("a".into()))]);
        check(
            r#"{"x/y":[0,{"a":1,"\u0061":2}]}"#,
            &[("/x~1y/1", FlawKind::DuplicateKey("a".into()))],
        );
        check(r#"{"a":{"b":1},"c":{"b":1}}"#, &[]);
        check(r#"["\ud800"]"#, &[("/0", FlawKind::HalfCharacter)]);
        check(r#"[[[[[1]]]]]"#, &[("/0/0/0/0", FlawKind::TooDeep(4))]);
        check(r#"["}{\"a\":1,\"a\":[[[[[["]"#, &[]);
    }

    #[test]
    fn values_are_replaced_in_place_and_nothing_else_moves() {
        let text = r#"{ "params":{"_meta":{"progressToken" : 7,"x":1.0}},"id":"a\"b","n":1e2 }"#;
        let edits: &[(&[&str], &str)] = &[
            (&["id"], "9"),
            (&["params", "_meta", "progressToken"], "\"t\""),
            (&["params", "absent"], "0"),
        ];
        assert_eq!(
            replace(text, edits),
            r#"{ "params":{"_meta":{"progressToken" : "t","x":1.0}},"id":9,"n":1e2 }"#
        );
        assert_eq!(find(r#"{"\u0069d":3}"#, &["id"]), Some("3"));
        assert_eq!(find("[1]", &["id"]), None);
    }

    #[test]
    fn what_is_the_same_keeps_its_spelling() {
        let text = r#"{ "a" : 1e2, "\u00e9":["\u00e9\/", 1e400 ,{"x":1.0,"y":[ ]}] ,"b":{}}"#;
        let names: Vec<_> = parts(text).into_iter().map(|(name, _)| name.unwrap()).collect();
        assert_eq!(names, [r#""a""#, r#""\u00e9""#, r#""b""#]);
        assert_eq!(parts("[1, [2],\"a,b\"]").len(), 3);
        assert_eq!(parts("[ ]"), []);
        assert_eq!(parts("7"), []);
        let old: Value = serde_json::from_str(text).unwrap();
        assert_eq!(respell(text, &old, &old), text);
        let mut new = old.clone();
        new["é"][2]["x"] = 7.into();
        let moved = new.as_object_mut().unwrap().shift_remove("a").unwrap();
        new["size"] = moved;
        assert_eq!(
            respell(text, &old, &new),
            r#"{"\u00e9":["\u00e9\/",1e400,{"x":7,"y":[ ]}],"b":{},"size":1e2}"#
        );
    }

    #[test]
    fn a_very_deep_text_needs_no_stack() {
        let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(flaws(&deep, 100, 10).len(), 1);
        assert_eq!(indent(&deep[..20], 0).matches('[').count(), 20);
    }

    #[test]
    fn indenting_changes_white_space_only() {
        let text = r#"{"b":[1.0,1e5,{}],"a":{"x":[],"y":"a, b: {c}"},"e":"\u00e9 \" \\"}"#;
        let indented = indent(text, 0);
        assert_eq!(
            indented,
            "{\n  \"b\": [\n    1.0,\n    1e5,\n    {}\n  ],\n  \"a\": {\n    \"x\": [],\n    \"y\": \"a, b: {c}\"\n  },\n  \"e\": \"\\u00e9 \\\" \\\\\"\n}"
        );
        assert_eq!(indent(&indented, 0), indented, "indenting twice is indenting once");
    }
}
