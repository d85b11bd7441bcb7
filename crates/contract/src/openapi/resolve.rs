//! Where things are in a bundle of files, and what `$ref` points to. Nothing is fetched.

use super::limits;
use crate::document::{Bundle, Problem};
use schema::reference::{self, escape};
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
    pub fn target(&self, from: &Place, text: &str) -> Result<Place, String> {
        let bundle = self.bundle;
        let own = bundle.name.rsplit('/').next().unwrap_or_default();
        // A file may refer to the root document by its own name.
        let file_named = |name: &str| match bundle.files.get_key_value(name) {
            Some((name, value)) => Some((name.as_str(), value)),
            None => (name.is_empty() || name == own).then_some(("", &bundle.root)),
        };
        match reference::locate(file_named, &from.file, text) {
            Ok((file, pointer, _)) => Ok(Place { file: file.to_owned(), pointer }),
            Err(lost) => Err(lost.to_string()),
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
}
