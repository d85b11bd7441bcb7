//! Documents for the scored runs and tests: read from files, patched by RFC 6902.

use contract::{Bundle, Contract};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The corpus beside the repository, where it is there.
#[allow(dead_code)]
pub fn corpus() -> Option<PathBuf> {
    let found = root().join("../shared/corpus");
    if found.is_dir() {
        return Some(found);
    }
    // A worktree stands one level deeper.
    let found = root().join("../../shared/corpus");
    found.is_dir().then_some(found)
}

/// A JSON or YAML file as a value.
pub fn value(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    contract::text::read(&path.display().to_string(), text.as_bytes())
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// A document without other files.
pub fn document(name: &str, root: Value) -> Contract {
    Contract::Openapi(Bundle { name: name.to_owned(), root, ..Bundle::default() })
}

/// Applies an RFC 6902 patch of add, remove, replace and move.
pub fn patched(base: &Value, patch: &Value) -> Value {
    let mut value = base.clone();
    for step in patch.as_array().expect("a patch is a list") {
        let at = |key: &str| step[key].as_str().expect("a pointer").to_owned();
        match step["op"].as_str().expect("an operation") {
            "add" => add(&mut value, &at("path"), step["value"].clone()),
            "remove" => {
                remove(&mut value, &at("path"));
            }
            "replace" => {
                *value.pointer_mut(&at("path")).expect("it is there") = step["value"].clone()
            }
            "move" => {
                let moved = remove(&mut value, &at("from"));
                add(&mut value, &at("path"), moved);
            }
            other => panic!("{other} is not used here"),
        }
    }
    value
}

fn split(pointer: &str) -> (&str, String) {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer has a slash");
    (parent, last.replace("~1", "/").replace("~0", "~"))
}

fn add(value: &mut Value, pointer: &str, new: Value) {
    let (parent, last) = split(pointer);
    match value.pointer_mut(parent).expect("the parent is there") {
        Value::Object(members) => {
            members.insert(last, new);
        }
        Value::Array(items) => {
            let at = last.parse().unwrap_or(items.len());
            items.insert(at, new);
        }
        _ => panic!("{pointer}: nothing can stand there"),
    }
}

fn remove(value: &mut Value, pointer: &str) -> Value {
    let (parent, last) = split(pointer);
    match value.pointer_mut(parent).expect("the parent is there") {
        Value::Object(members) => members.shift_remove(&last).expect("it is there"),
        Value::Array(items) => items.remove(last.parse().expect("an index")),
        _ => panic!("{pointer}: nothing stands there"),
    }
}

/// The first place in which two values differ.
#[allow(dead_code)]
pub fn difference(old: &Value, new: &Value) -> String {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => a
            .iter()
            .find(|(name, value)| b.get(*name) != Some(value))
            .map(|(name, value)| {
                let name = name.as_str();
                let inner = new.get(name).map_or(String::new(), |new| difference(value, new));
                format!("/{}{inner}", name.replace('~', "~0").replace('/', "~1"))
            })
            .unwrap_or_default(),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .position(|(a, b)| a != b)
            .map(|at| format!("/{at}{}", difference(&a[at], &b[at])))
            .unwrap_or_default(),
        _ => String::new(),
    }
}
