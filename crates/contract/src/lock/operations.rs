//! One digest for each operation of an OpenAPI document, over everything the operation reaches.

use crate::digest;
use crate::document::{Bundle, resolve_path};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The members of a path item that are operations.
const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// What a path item and the document say for all their operations.
const SHARED: &[&str] = &["parameters", "servers", "security"];

/// The digest of each operation, by `METHOD /path`.
///
/// It covers the operation, what its path item and the document set for it (parameters, servers,
/// security), and all that these reach through `$ref`, in this file and the others of the bundle.
/// A change of a shared declaration thus changes every operation that uses it, and no other.
pub fn operations(bundle: &Bundle) -> BTreeMap<String, String> {
    let mut reached = Reached { bundle, known: BTreeMap::new() };
    let mut digests = BTreeMap::new();
    let paths = bundle.root.get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten() {
        let (file, item) = reached.follow("", item);
        let Some(item) = item.as_object() else {
            continue;
        };
        for method in METHODS {
            let Some(operation) = item.get(*method) else {
                continue;
            };
            let mut own = Map::new();
            own.insert("operation".to_owned(), operation.clone());
            for key in SHARED {
                let nearest = item.get(*key).or_else(|| bundle.root.get(*key));
                if let Some(value) =
                    nearest.filter(|_| operation.get(*key).is_none() || *key == "parameters")
                {
                    own.insert((*key).to_owned(), value.clone());
                }
            }
            let own = Value::Object(own);
            let shared = reached.from(&file, &own);
            let text = json!({"own": own, "reached": shared});
            digests
                .insert(format!("{} {path}", method.to_ascii_uppercase()), digest::of_value(&text));
        }
    }
    digests
}

/// What one declaration holds: its digest, and the places it refers to.
struct Node {
    digest: String,
    targets: Vec<Place>,
}

/// A file (empty for the root) and a JSON Pointer in it.
type Place = (String, String);

struct Reached<'a> {
    bundle: &'a Bundle,
    known: BTreeMap<Place, Node>,
}

impl<'a> Reached<'a> {
    /// The digests of all declarations that a value of `file` reaches, by place.
    fn from(&mut self, file: &str, value: &Value) -> BTreeMap<String, String> {
        let mut seen: BTreeSet<Place> = BTreeSet::new();
        let mut open = targets(file, value);
        while let Some(place) = open.pop() {
            if !seen.insert(place.clone()) {
                continue;
            }
            open.extend(self.node(&place).targets.iter().cloned());
        }
        seen.into_iter()
            .map(|place| {
                let digest = self.node(&place).digest.clone();
                (format!("{}#{}", place.0, place.1), digest)
            })
            .collect()
    }

    fn node(&mut self, place: &Place) -> &Node {
        let bundle = self.bundle;
        self.known.entry(place.clone()).or_insert_with(|| {
            match at(bundle, place) {
                Some(value) => {
                    Node { digest: digest::of_value(value), targets: targets(&place.0, value) }
                }
                // Reading the document reports it; here it only has to be told apart.
                None => Node { digest: "missing".to_owned(), targets: Vec::new() },
            }
        })
    }

    /// A path item may be a reference to a path item.
    fn follow(&self, file: &str, value: &'a Value) -> (String, &'a Value) {
        /// A chain of references longer than this goes in a circle.
        const STEPS: usize = 32;
        let (mut file, mut value) = (file.to_owned(), value);
        for _ in 0..STEPS {
            let Some(target) = value.get("$ref").and_then(Value::as_str) else {
                break;
            };
            let Some(place) = resolve(&file, target) else {
                break;
            };
            let Some(next) = at(self.bundle, &place) else {
                break;
            };
            (file, value) = (place.0, next);
        }
        (file, value)
    }
}

fn at<'a>(bundle: &'a Bundle, place: &Place) -> Option<&'a Value> {
    let document = match place.0.as_str() {
        "" => &bundle.root,
        file => bundle.files.get(file)?,
    };
    document.pointer(&place.1)
}

/// All places that a value refers to.
fn targets(file: &str, value: &Value) -> Vec<Place> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let target = members.get("$ref").and_then(Value::as_str);
                found.extend(target.and_then(|target| resolve(file, target)));
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

fn resolve(file: &str, target: &str) -> Option<Place> {
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { file.to_owned() } else { resolve_path(file, path)? };
    Some((file, fragment.replace("%7B", "{").replace("%7D", "}")))
}
