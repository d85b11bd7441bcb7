//! Places in documents, and the way from one to another: `$ref`, anchors, files beside the root.

use crate::document::Bundle;
use schema::reference::escape;
use serde_json::Value;
use std::collections::BTreeMap;

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
        let Source { root, files } = self.source;
        let file_named = |name: &str| match files.and_then(|files| files.get_key_value(name)) {
            Some((name, value)) => Some((name.as_str(), value)),
            None => name.is_empty().then_some(("", root)),
        };
        let plain = || schema::reference::locate(file_named, self.file, reference).ok();
        let named = || {
            let (file, root) = file_named(self.file)?;
            let pointer = schema::by_identifier(root, &self.pointer, reference)?;
            let value = root.pointer(&pointer)?;
            Some((file, pointer, value))
        };
        let (file, pointer, value) =
            if self.is_in_resource() { named().or_else(plain)? } else { plain().or_else(named)? };
        Some(Node { source: self.source, file, pointer, value })
    }

    /// True where the place stands in a schema that is named by an `$id` of its own within its document: what it
    /// refers to is counted from there.
    fn is_in_resource(&self) -> bool {
        let root = match self.source.files.and_then(|files| files.get(self.file)) {
            Some(root) => root,
            None => self.source.root,
        };
        let mut above = root;
        self.pointer.split('/').skip(1).any(|token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = match above {
                Value::Array(items) => token.parse().ok().and_then(|at: usize| items.get(at)),
                other => other.get(&token),
            };
            above = next.unwrap_or(&Value::Null);
            above.get("$id").is_some_and(Value::is_string)
        })
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
