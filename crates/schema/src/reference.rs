//! What a `$ref` text names (RFC 3986 §4.1, JSON Pointer RFC 6901): a file beside the one that refers, and a place in
//! it. Whoever holds documents finds places through [`locate`]; nothing is fetched.

use crate::limits;
use serde_json::Value;
use std::fmt;

/// Why a reference leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// It would have to be fetched.
    Network(String),
    /// The file is not among those that were read.
    File(String),
    /// The file has no such place.
    Place(String),
    /// The file declares no such anchor.
    Anchor {
        /// The whole reference.
        reference: String,
        /// The name after `#`.
        anchor: String,
    },
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Network(target) => write!(
                f,
                "`{target}` would have to be fetched from the network, which is never done; put the schema under `$defs` and refer to it there"
            ),
            Lost::File(target) => write!(f, "`{target}` is not among the files that were read"),
            Lost::Place(reference) => {
                write!(f, "`{reference}` points to a place that does not exist")
            }
            Lost::Anchor { reference, anchor } => {
                write!(f, "`{reference}` names the anchor `{anchor}`, which is not declared")
            }
        }
    }
}

/// The two halves of a reference: the file part as it is written, and the fragment, decoded.
pub fn halves(reference: &str) -> (&str, String) {
    let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    (file, percent_decoded(fragment))
}

/// True where a file part has a scheme or a host, so that only a network could answer.
///
/// ```
/// use schema::reference::is_remote;
/// assert!(is_remote("https://example.test/a.json") && is_remote("//host/a") && is_remote("urn:a:b"));
/// assert!(!is_remote("a/b.json") && !is_remote("./a:b.json"));
/// ```
pub fn is_remote(file: &str) -> bool {
    let first = file.split(['/', '?']).next().unwrap_or_default();
    file.starts_with("//") || first.contains(':')
}

/// The path of a file that another refers to, seen from where both are counted; `..` stays where it leads above that.
///
/// ```
/// use schema::reference::joined;
/// assert_eq!(joined("paths/pets.yaml", "../schemas/pet.yaml"), "schemas/pet.yaml");
/// assert_eq!(joined("api.yaml", "../shared/a%20b.yaml"), "../shared/a b.yaml");
/// ```
pub fn joined(from: &str, file: &str) -> String {
    join(from, &percent_decoded(file))
}

/// As [`joined`], with a file part that is decoded already.
pub(crate) fn join(from: &str, file: &str) -> String {
    let folder = from.rfind('/').map_or("", |at| &from[..at]);
    let mut parts: Vec<&str> = Vec::new();
    let start = if file.starts_with('/') { "" } else { folder };
    for part in start.split('/').chain(file.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Where a reference that stands in the file `from` leads: the file's own name, the JSON Pointer, and what stands there.
/// `file_named` gives a file by its path; the empty name is the root document.
///
/// # Errors
/// Where it leads nowhere.
pub fn locate<'a>(
    file_named: impl Fn(&str) -> Option<(&'a str, &'a Value)>,
    from: &str,
    reference: &str,
) -> Result<(&'a str, String, &'a Value), Lost> {
    let (target, fragment) = halves(reference);
    if is_remote(target) {
        return Err(Lost::Network(target.to_owned()));
    }
    // A path from the root of a file system is no path beside the file that refers.
    if target.starts_with('/') {
        return Err(Lost::File(target.to_owned()));
    }
    let wanted = if target.is_empty() { from.to_owned() } else { joined(from, target) };
    let (file, root) = file_named(&wanted).ok_or_else(|| Lost::File(target.to_owned()))?;
    if fragment.is_empty() || fragment.starts_with('/') {
        let value = root.pointer(&fragment).ok_or_else(|| Lost::Place(reference.to_owned()))?;
        return Ok((file, fragment, value));
    }
    match anchored(root, &fragment) {
        Some((pointer, value)) => Ok((file, pointer, value)),
        None => Err(Lost::Anchor { reference: reference.to_owned(), anchor: fragment }),
    }
}

/// Keywords whose value is data.
pub const DATA: &[&str] = &["example", "examples", "default", "enum", "const"];

/// Keywords whose members are named by the author, so that a member called `default` is a schema.
pub const NAMED_BY_AUTHOR: &[&str] = &[
    "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "schemas",
    "responses", "parameters", "headers", "requestBodies", "paths", "callbacks", "links",
    "securitySchemes", "pathItems",
];

/// The first place of a document, in its order, that declares an anchor. Data declares none, and what has an `$id` of
/// its own is another resource.
fn anchored<'a>(root: &'a Value, anchor: &str) -> Option<(String, &'a Value)> {
    let mut open = vec![(String::new(), root, false, 0)];
    while let Some((pointer, value, named, depth)) = open.pop() {
        let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|_| !named);
        if !pointer.is_empty() && text("$id").is_some_and(|id| !id.starts_with('#')) {
            continue;
        }
        if ["$anchor", "$dynamicAnchor"].iter().any(|key| text(key) == Some(anchor)) {
            return Some((pointer, value));
        }
        if depth == limits::SCHEMA_DEPTH {
            continue;
        }
        match value {
            Value::Object(members) => {
                let read = |key: &&String| named || !DATA.contains(&key.as_str());
                open.extend(members.iter().rev().filter(|(key, _)| read(key)).map(
                    |(key, member)| {
                        let names = !named && NAMED_BY_AUTHOR.contains(&key.as_str());
                        (format!("{pointer}/{}", escape(key)), member, names, depth + 1)
                    },
                ));
            }
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(at, item)| (format!("{pointer}/{at}"), item, false, depth + 1)),
            ),
            _ => {}
        }
    }
    None
}

/// One token of a JSON Pointer, escaped.
pub fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// One token of a JSON Pointer, as it was.
pub fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// A text with its `%20` and the like decoded; what is no such escape stays as it is.
pub fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = text
            .get(at + 1..at + 3)
            .filter(|hex| bytes[at] == b'%' && hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_leads_to_a_place_or_says_why_not() {
        let root = json!({"$defs": {"a b": {"$anchor": "here"}, "list": [1, {"$dynamicAnchor": "there"}]},
            "properties": {"default": {"$anchor": "member"}, "x": {"default": {"$anchor": "data"}}},
            "not": {"$id": "https://x.test/own", "$anchor": "inner"}});
        let other = json!({"x": true});
        let file = |name: &str| match name {
            "" => Some(("", &root)),
            "lib/other.json" => Some(("lib/other.json", &other)),
            _ => None,
        };
        let found = |from: &str, reference: &str| {
            locate(file, from, reference).map(|(file, pointer, _)| format!("{file}#{pointer}"))
        };
        for (from, reference, leads) in [
            ("", "#", "#"),
            ("", "#/$defs/a%20b", "#/$defs/a b"),
            ("", "#here", "#/$defs/a b"),
            ("", "#there", "#/$defs/list/1"),
            ("", "#member", "#/properties/default"),
            ("", "lib/other.json#/x", "lib/other.json#/x"),
            ("lib/other.json", "./other.json", "lib/other.json#"),
            ("lib/other.json", "#/x", "lib/other.json#/x"),
        ] {
            assert_eq!(found(from, reference).as_deref(), Ok(leads), "{from} {reference}");
        }
        assert!(matches!(found("", "https://x.test/a"), Err(Lost::Network(_))));
        assert!(matches!(found("", "other.json"), Err(Lost::File(_))));
        assert!(matches!(found("", "#/nowhere"), Err(Lost::Place(_))));
        for nowhere in ["#nowhere", "#data", "#inner"] {
            assert!(matches!(found("", nowhere), Err(Lost::Anchor { .. })), "{nowhere}");
        }
    }
}
