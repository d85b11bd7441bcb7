//! Where things are in a bundle of files, and what `$ref` points to. Nothing is fetched.

use super::limits;
use crate::document::{Bundle, Problem};
use serde_json::Value;
use std::fmt;

/// A place in a bundle: a file (empty for the root document) and a JSON Pointer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Place {
    pub file: String,
    pub pointer: String,
}

impl Place {
    /// The place of a member or item of this one.
    pub fn child(&self, token: &str) -> Place {
        let mut pointer = String::with_capacity(self.pointer.len() + token.len() + 1);
        pointer.push_str(&self.pointer);
        pointer.push('/');
        pointer.push_str(&escape(token));
        Place { file: self.file.clone(), pointer }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            f.write_str(&self.pointer)
        } else {
            write!(f, "{}#{}", self.file, self.pointer)
        }
    }
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub place: Place,
    pub value: &'a Value,
}

impl<'a> Node<'a> {
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        Some(Node { value: self.value.get(key)?, place: self.place.child(key) })
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.value.get(key).and_then(Value::as_str)
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        self.value.get(key).and_then(Value::as_bool)
    }

    /// Members of an object, in the order of the document.
    pub fn members(&self) -> impl Iterator<Item = (&'a String, Node<'a>)> + use<'a> {
        let place = self.place.clone();
        self.value.as_object().into_iter().flatten().map(move |(key, value)| {
            let child = place.child(key);
            (key, Node { place: child, value })
        })
    }

    /// Items of an array.
    pub fn items(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let place = self.place.clone();
        self.value
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .map(move |(at, value)| Node { place: place.child(&at.to_string()), value })
    }
}

/// Which specification a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// Swagger 2.0: the same things, said in an older way.
    Swagger2,
    /// OpenAPI 3.0: its own schema dialect, siblings of `$ref` ignored.
    V30,
    /// OpenAPI 3.1: JSON Schema 2020-12.
    V31,
}

/// A bundle that can be asked for places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a> {
    pub bundle: &'a Bundle,
    pub version: Version,
}

impl<'a> Document<'a> {
    pub fn root(&self) -> Node<'a> {
        Node { place: Place::default(), value: &self.bundle.root }
    }

    pub fn get(&self, place: &Place) -> Option<Node<'a>> {
        let file = if place.file.is_empty() {
            &self.bundle.root
        } else {
            self.bundle.files.get(&place.file)?
        };
        Some(Node { value: file.pointer(&place.pointer)?, place: place.clone() })
    }

    /// The place a reference names, seen from `from`; a sentence where it names none.
    pub fn target(&self, from: &Place, reference: &str) -> Result<Place, String> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if path.contains("://") || path.starts_with("//") {
            return Err(format!(
                "`$ref` points to the network (`{reference}`), and nothing is ever fetched"
            ));
        }
        let file = if path.is_empty() {
            from.file.clone()
        } else {
            self.file(&from.file, &percent_decode(path))
        };
        let pointer = percent_decode(fragment);
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return self.anchor(&file, &pointer).ok_or_else(|| {
                format!("`$ref` names the anchor `{pointer}`, which the document does not have")
            });
        }
        let place = Place { file, pointer };
        if self.get(&place).is_some() {
            Ok(place)
        } else {
            Err(format!("`$ref` points to nothing: `{reference}`"))
        }
    }

    /// Follows `$ref` until something else stands there.
    pub fn follow(&self, node: Node<'a>) -> Result<Node<'a>, Problem> {
        let start = node.place.clone();
        let mut node = node;
        for _ in 0..limits::REF_CHAIN {
            let Some(reference) = node.text("$ref") else {
                return Ok(node);
            };
            let place = self
                .target(&node.place, reference)
                .map_err(|why| self.problem(&node.place, why))?;
            node = self
                .get(&place)
                .ok_or_else(|| self.problem(&place, "`$ref` points to nothing".to_owned()))?;
        }
        Err(self
            .problem(&start, "`$ref` goes round in a circle and never reaches a value".to_owned()))
    }

    pub fn problem(&self, place: &Place, sentence: String) -> Problem {
        let file =
            if place.file.is_empty() { self.bundle.name.as_str() } else { place.file.as_str() };
        Problem {
            place: format!("{file}#{}", place.pointer),
            sentence,
            help: "Correct the document at this place, then compare again.".to_owned(),
        }
    }

    fn file(&self, from: &str, path: &str) -> String {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                other => parts.push(other),
            }
        }
        let joined = parts.join("/");
        let own = self.bundle.name.rsplit('/').next().unwrap_or_default();
        if joined == own && !self.bundle.files.contains_key(&joined) {
            String::new()
        } else {
            joined
        }
    }

    /// `$anchor` below `components` or `$defs` of one file.
    fn anchor(&self, file: &str, name: &str) -> Option<Place> {
        let root = self.get(&Place { file: file.to_owned(), pointer: String::new() })?;
        let mut open = vec![(root, 0usize)];
        while let Some((node, depth)) = open.pop() {
            if node.text("$anchor") == Some(name) {
                return Some(node.place);
            }
            if depth < limits::SCHEMA_DEPTH {
                open.extend(node.members().map(|(_, child)| (child, depth + 1)));
                open.extend(node.items().map(|child| (child, depth + 1)));
            }
        }
        None
    }
}

/// One token of a JSON Pointer, escaped.
pub(crate) fn escape(token: &str) -> String {
    if token.contains(['~', '/']) {
        token.replace('~', "~0").replace('/', "~1")
    } else {
        token.to_owned()
    }
}

/// One token of a JSON Pointer, as it was.
pub(crate) fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match hex {
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
