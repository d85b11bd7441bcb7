//! Places in documents, and the way from one to another: `$ref`, anchors, files beside the root.

use crate::document::Bundle;
use serde_json::Value;
use std::collections::BTreeMap;

/// How deep anchors are looked for. Real documents stay under 10.
const MAX_ANCHOR_DEPTH: usize = 48;

/// A place in a document.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// The documents that `$ref` may reach.
    pub source: Source<'a>,
    /// The file of `source` that holds the place; empty for the root document.
    pub file: &'a str,
    /// JSON Pointer in that file.
    pub pointer: String,
    /// The schema at the place.
    pub value: &'a Value,
}

/// A document and the files around it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The root document.
    pub root: &'a Value,
    /// Other files by relative path.
    pub files: Option<&'a BTreeMap<String, Value>>,
}

impl<'a> Source<'a> {
    /// A single document.
    pub fn single(root: &'a Value) -> Self {
        Source { root, files: None }
    }

    /// A document with files beside it.
    pub fn bundle(bundle: &'a Bundle) -> Self {
        Source { root: &bundle.root, files: Some(&bundle.files) }
    }

    /// The place at `pointer` of the root document.
    pub fn at(self, pointer: &str) -> Option<Node<'a>> {
        let value = self.root.pointer(pointer)?;
        Some(Node { source: self, file: "", pointer: pointer.to_string(), value })
    }
}

impl<'a> Node<'a> {
    /// The member or item `step` below this place.
    pub fn child(&self, steps: &[&str], value: &'a Value) -> Node<'a> {
        let mut pointer = self.pointer.clone();
        for step in steps {
            pointer.push('/');
            pointer.push_str(&escape(step));
        }
        Node { source: self.source, file: self.file, pointer, value }
    }

    /// Follows one `$ref`, if there is one and it leads somewhere in the bundle.
    pub fn follow(&self) -> Option<Node<'a>> {
        let reference = self.value.get("$ref")?.as_str()?;
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let (file, root): (&'a str, &'a Value) = if file.is_empty() {
            let root = match self.source.files {
                Some(files) if !self.file.is_empty() => files.get(self.file)?,
                _ => self.source.root,
            };
            (self.file, root)
        } else {
            let wanted = join_path(self.file, file);
            let (name, value) = self.source.files?.get_key_value(wanted.as_str())?;
            (name.as_str(), value)
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let value = root.pointer(&unescape_percent(fragment))?;
            let pointer = unescape_percent(fragment);
            return Some(Node { source: self.source, file, pointer, value });
        }
        let (pointer, value) = find_anchor(root, fragment, String::new(), 0)?;
        Some(Node { source: self.source, file, pointer, value })
    }

    /// Where the place is, for people: `file#/pointer`, or the bare pointer in the root document.
    pub fn place(&self) -> String {
        if self.file.is_empty() {
            self.pointer.clone()
        } else {
            format!("{}#{}", self.file, self.pointer)
        }
    }
}

/// Escapes a member name for a JSON Pointer (RFC 6901).
pub fn escape(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}

fn unescape_percent(fragment: &str) -> String {
    fragment.replace("%25", "%").replace("%7B", "{").replace("%7D", "}").replace("%20", " ")
}

fn join_path(base: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

fn find_anchor<'a>(
    value: &'a Value,
    anchor: &str,
    pointer: String,
    depth: usize,
) -> Option<(String, &'a Value)> {
    if depth > MAX_ANCHOR_DEPTH {
        return None;
    }
    match value {
        Value::Object(members) => {
            let names = ["$anchor", "$dynamicAnchor"];
            if names.iter().any(|name| members.get(*name).and_then(Value::as_str) == Some(anchor)) {
                return Some((pointer, value));
            }
            members.iter().find_map(|(name, member)| {
                find_anchor(member, anchor, format!("{pointer}/{}", escape(name)), depth + 1)
            })
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            find_anchor(item, anchor, format!("{pointer}/{index}"), depth + 1)
        }),
        _ => None,
    }
}
