//! Seeded mutations of any OpenAPI 3 document: one kind of change at a time, with its label.

#[path = "operators.rs"]
mod operators;

pub use operators::all;

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One kind of change.
pub struct Operator {
    /// What it does, in a few words.
    pub name: &'static str,
    /// True where an agent's action or stop rule can change.
    pub review: bool,
    /// The places of the document where it can be done, each with what it makes of it.
    pub apply: fn(&Map, &mut Random) -> Vec<Value>,
}

/// SplitMix64: small, seeded, the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[(self.next() % list.len() as u64) as usize]
    }
}

/// A document and where its schemas stand, by direction.
pub struct Map {
    pub root: Value,
    pub operations: Vec<String>,
    pub request: BTreeSet<String>,
    pub response: BTreeSet<String>,
}

const METHODS: &[&str] = &["get", "put", "post", "delete", "patch"];

fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

impl Map {
    pub fn of(root: Value) -> Map {
        let mut map = Map {
            operations: Vec::new(),
            request: BTreeSet::new(),
            response: BTreeSet::new(),
            root,
        };
        let root = map.root.clone();
        for (path, item) in root["paths"].as_object().into_iter().flatten() {
            let base = format!("/paths/{}", escape(path));
            for method in METHODS.iter().filter(|method| item.get(**method).is_some()) {
                map.operations.push(format!("{base}/{method}"));
            }
        }
        for operation in map.operations.clone() {
            let item = operation.rsplit_once('/').expect("it has a parent").0.to_owned();
            for at in [format!("{item}/parameters"), format!("{operation}/parameters")] {
                for index in 0..map.len(&at) {
                    let place = map.follow(&format!("{at}/{index}"));
                    map.schemas(&format!("{place}/schema"), true);
                }
            }
            let body = map.follow(&format!("{operation}/requestBody"));
            map.content(&body, true);
            for status in map.keys(&format!("{operation}/responses")) {
                let response = map.follow(&format!("{operation}/responses/{}", escape(&status)));
                map.content(&response, false);
            }
        }
        map
    }

    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.root.pointer(pointer)
    }

    fn len(&self, pointer: &str) -> usize {
        self.at(pointer).and_then(Value::as_array).map_or(0, Vec::len)
    }

    pub fn keys(&self, pointer: &str) -> Vec<String> {
        let members = self.at(pointer).and_then(Value::as_object);
        members.map(|members| members.keys().cloned().collect()).unwrap_or_default()
    }

    pub fn follow(&self, pointer: &str) -> String {
        let mut pointer = pointer.to_owned();
        for _ in 0..8 {
            match self.at(&pointer).and_then(|value| value.get("$ref")).and_then(Value::as_str) {
                Some(target) => pointer = target.trim_start_matches('#').to_owned(),
                None => break,
            }
        }
        pointer
    }

    fn content(&mut self, holder: &str, request: bool) {
        for media in self.keys(&format!("{holder}/content")) {
            self.schemas(&format!("{holder}/content/{}/schema", escape(&media)), request);
        }
    }

    fn schemas(&mut self, pointer: &str, request: bool) {
        let pointer = self.follow(pointer);
        if self.at(&pointer).is_none_or(|value| !value.is_object()) {
            return;
        }
        let set = if request { &mut self.request } else { &mut self.response };
        if !set.insert(pointer.clone()) {
            return;
        }
        for name in self.keys(&format!("{pointer}/properties")) {
            self.schemas(&format!("{pointer}/properties/{}", escape(&name)), request);
        }
        for keyword in ["items", "additionalProperties"] {
            self.schemas(&format!("{pointer}/{keyword}"), request);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for at in 0..self.len(&format!("{pointer}/{keyword}")) {
                self.schemas(&format!("{pointer}/{keyword}/{at}"), request);
            }
        }
    }

    /// Schemas that travel one way only, where a label holds for certain.
    fn only(&self, request: bool) -> Vec<&String> {
        let (own, other) =
            if request { (&self.request, &self.response) } else { (&self.response, &self.request) };
        own.iter().filter(|place| !other.contains(*place) && !self.in_variant(place)).collect()
    }

    /// In a union a change of one branch may be made up for by another.
    fn in_variant(&self, place: &str) -> bool {
        ["/anyOf/", "/oneOf/", "/allOf/"].iter().any(|keyword| place.contains(keyword))
            || ["anyOf", "oneOf", "allOf"]
                .iter()
                .any(|keyword| self.at(place).is_some_and(|value| value.get(*keyword).is_some()))
    }

    /// The document with the value at a place changed.
    fn with(&self, pointer: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut root = self.root.clone();
        change(root.pointer_mut(pointer).expect("the place is there"));
        root
    }

    fn each(&self, request: bool, make: impl Fn(&str, &Value) -> Option<Value>) -> Vec<Value> {
        self.only(request)
            .into_iter()
            .filter_map(|place| make(place, self.at(place).expect("the place is there")))
            .collect()
    }

    /// `(schema of the object, member name, member schema)` in one direction.
    fn members(
        &self,
        request: bool,
        make: impl Fn(&str, &str, &Value, bool) -> Option<Value>,
    ) -> Vec<Value> {
        self.each_member(request)
            .into_iter()
            .filter_map(|(place, name)| {
                let schema = self.at(&place).expect("the place is there");
                let member = schema["properties"].get(&name)?;
                let required =
                    schema["required"].as_array().is_some_and(|list| list.contains(&json!(name)));
                make(&place, &name, member, required)
            })
            .collect()
    }

    fn each_member(&self, request: bool) -> Vec<(String, String)> {
        self.only(request)
            .into_iter()
            .flat_map(|place| {
                self.keys(&format!("{place}/properties"))
                    .into_iter()
                    .map(move |name| (place.clone(), name))
            })
            .collect()
    }

    fn is_30(&self) -> bool {
        self.root["openapi"].as_str().is_some_and(|version| version.starts_with("3.0"))
    }
}

fn kind(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or("")
}

fn swap(text: &str, pairs: &[(&str, &str)]) -> Option<String> {
    for (from, to) in pairs {
        let whole = text
            .match_indices(from)
            .find(|(at, _)| {
                let before = text[..*at].chars().next_back();
                let after = text[at + from.len()..].chars().next();
                !before.is_some_and(char::is_alphanumeric)
                    && !after.is_some_and(char::is_alphanumeric)
            })
            .map(|(at, _)| at);
        if let Some(at) = whole {
            return Some(format!("{}{to}{}", &text[..at], &text[at + from.len()..]));
        }
    }
    None
}

fn described(
    map: &Map,
    places: impl Iterator<Item = String>,
    pairs: &[(&str, &str)],
) -> Vec<Value> {
    places
        .filter_map(|place| {
            let text = map.at(&place)?.get("description")?.as_str()?;
            let new = swap(text, pairs)?;
            Some(map.with(&place, |value| value["description"] = json!(new)))
        })
        .collect()
}

/// Responses by operation: `(operation, status, place)`.
fn responses(map: &Map) -> Vec<(String, String, String)> {
    map.operations
        .iter()
        .flat_map(|operation| {
            map.keys(&format!("{operation}/responses")).into_iter().map(move |status| {
                (
                    operation.clone(),
                    status.clone(),
                    format!("{operation}/responses/{}", escape(&status)),
                )
            })
        })
        .collect()
}

fn parameters(map: &Map) -> Vec<String> {
    map.operations
        .iter()
        .flat_map(|operation| {
            (0..map.len(&format!("{operation}/parameters")))
                .map(move |at| format!("{operation}/parameters/{at}"))
        })
        .filter(|place| map.at(place).is_some_and(|value| value.get("$ref").is_none()))
        .collect()
}

/// Adds a member to the object schemas of request bodies.
fn bodies(map: &Map) -> Vec<String> {
    map.only(true)
        .into_iter()
        .filter(|place| {
            map.at(place)
                .is_some_and(|value| value["properties"].as_object().is_some_and(|m| !m.is_empty()))
        })
        .cloned()
        .collect()
}

/// The old side that a mutation asks for, where it plants a text first.
pub fn old_side(map: &Map, mutated: &mut Value) -> Value {
    let planted = mutated.as_object_mut().and_then(|root| root.shift_remove("x-old"));
    match planted {
        Some(planted) => {
            let text = |at: usize| planted[at].as_str().expect("a text").to_owned();
            map.with(&text(0), |value| value[text(1)] = json!(text(2)))
        }
        None => map.root.clone(),
    }
}
