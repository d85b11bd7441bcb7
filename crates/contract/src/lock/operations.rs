//! One digest for each operation of an OpenAPI document, over everything the operation reaches.

use crate::digest;
use crate::document::{Bundle, resolve_path};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

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
    let mut reached = Reached::of(bundle);
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
            // The canonical text of an object with these two members, whose second many operations share.
            let shared = reached.from(&file, &own);
            let text = format!(r#"{{"own":{},"reached":{shared}}}"#, digest::canonical(&own));
            let name = format!("{} {path}", method.to_ascii_uppercase());
            digests.insert(name, digest::of_canonical(&text));
        }
    }
    digests
}

/// What one declaration holds: its digest, and the places it refers to.
struct Node {
    /// `file#pointer`.
    name: String,
    digest: String,
    targets: Vec<usize>,
}

/// A file (empty for the root) and a JSON Pointer in it.
type Place = (String, String);

/// The declarations of a document, each read once and numbered.
struct Reached<'a> {
    bundle: &'a Bundle,
    numbers: HashMap<Place, usize>,
    places: Vec<Place>,
    nodes: Vec<Option<Node>>,
    /// The canonical text of each set of declarations that some operation reaches.
    texts: HashMap<Vec<usize>, Rc<str>>,
}

impl<'a> Reached<'a> {
    fn of(bundle: &'a Bundle) -> Reached<'a> {
        Reached {
            bundle,
            numbers: HashMap::new(),
            places: Vec::new(),
            nodes: Vec::new(),
            texts: HashMap::new(),
        }
    }

    /// The digests of all declarations that a value of `file` reaches, by place, as canonical text.
    fn from(&mut self, file: &str, value: &Value) -> Rc<str> {
        let mut open: Vec<usize> =
            targets(file, value).into_iter().map(|place| self.number(place)).collect();
        let mut seen = vec![false; self.nodes.len()];
        let mut all = Vec::new();
        while let Some(number) = open.pop() {
            if number >= seen.len() {
                seen.resize(number + 1, false);
            }
            if std::mem::replace(&mut seen[number], true) {
                continue;
            }
            all.push(number);
            open.extend(self.read(number));
        }
        all.sort_unstable();
        if let Some(text) = self.texts.get(&all) {
            return Rc::clone(text);
        }
        let named = all.iter().filter_map(|number| self.nodes[*number].as_ref());
        let members: Map<String, Value> =
            named.map(|node| (node.name.clone(), Value::from(node.digest.as_str()))).collect();
        let text: Rc<str> = digest::canonical(&Value::Object(members)).into();
        self.texts.insert(all, Rc::clone(&text));
        text
    }

    fn number(&mut self, place: Place) -> usize {
        if let Some(number) = self.numbers.get(&place) {
            return *number;
        }
        let number = self.nodes.len();
        self.numbers.insert(place.clone(), number);
        self.places.push(place);
        self.nodes.push(None);
        number
    }

    /// Reads a declaration the first time it is asked for; gives what it refers to.
    fn read(&mut self, number: usize) -> Vec<usize> {
        if let Some(node) = &self.nodes[number] {
            return node.targets.clone();
        }
        let place = self.places[number].clone();
        let (digest, places) = match at(self.bundle, &place) {
            Some(value) => (digest::of_value(value), targets(&place.0, value)),
            // Reading the document reports it; here it only has to be told apart.
            None => ("missing".to_owned(), Vec::new()),
        };
        let mut targets: Vec<usize> = places.into_iter().map(|place| self.number(place)).collect();
        targets.sort_unstable();
        targets.dedup();
        let name = format!("{}#{}", place.0, place.1);
        self.nodes[number] = Some(Node { name, digest, targets: targets.clone() });
        targets
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
