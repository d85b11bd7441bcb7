//! References between files: found here, read by the shell, never fetched.

use schema::reference::{DATA, NAMED_BY_AUTHOR, escape, is_remote, joined, percent_decoded};
use serde_json::Value;

/// A `$ref` that leaves its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// JSON Pointer of the `$ref` itself.
    pub pointer: String,
    /// The file part as it is written, before any `#`.
    pub target: String,
}

/// The `$ref`s of a value that name another file, in document order.
///
/// References to the network (`https://…`, `//host/…`, `urn:…`) are not among them: they are
/// never followed, and reading the schema reports them. What stands under `example`,
/// `examples`, `default`, `enum` and `const` is data, and a `$ref` in it is text.
///
/// ```
/// use contract::document::file_references;
/// let found = file_references(&serde_json::json!({"schema": {"$ref": "./pets.yaml#/Pet"}, "x": {"$ref": "#/y"}}));
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].pointer.as_str(), found[0].target.as_str()), ("/schema/$ref", "./pets.yaml"));
/// ```
pub fn file_references(value: &Value) -> Vec<Reference> {
    let mut found = Vec::new();
    walk(value, &mut String::new(), false, &mut found);
    found
}

fn walk(value: &Value, pointer: &mut String, named: bool, found: &mut Vec<Reference>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if !named && DATA.contains(&key.as_str()) {
                    continue;
                }
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&escape(key));
                match member {
                    Value::String(target) if key == "$ref" && !named => {
                        let file = target.split('#').next().unwrap_or_default();
                        if !file.is_empty() && !is_remote(file) {
                            found.push(Reference {
                                pointer: pointer.clone(),
                                target: file.to_owned(),
                            });
                        }
                    }
                    _ => {
                        let names = !named && NAMED_BY_AUTHOR.contains(&key.as_str());
                        walk(member, pointer, names, found);
                    }
                }
                pointer.truncate(length);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let length = pointer.len();
                pointer.push('/');
                pointer.push_str(&index.to_string());
                walk(item, pointer, false, found);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Where a reference leads, seen from the root document's folder.
///
/// `from` is the path of the referring file and `target` the file part of its `$ref`, both
/// `/`-separated. `None` where the path is absolute or climbs above the root of the file system.
///
/// ```
/// use contract::document::resolve_path;
/// assert_eq!(resolve_path("paths/pets.yaml", "../schemas/pet.yaml").as_deref(), Some("schemas/pet.yaml"));
/// assert_eq!(resolve_path("api.yaml", "../shared/a.yaml").as_deref(), Some("../shared/a.yaml"));
/// assert_eq!(resolve_path("api.yaml", "/etc/hosts"), None);
/// ```
pub fn resolve_path(from: &str, target: &str) -> Option<String> {
    let decoded = percent_decoded(target);
    let relative = !decoded.starts_with('/') && !decoded.contains('\\');
    relative.then(|| joined(from, target))
}
