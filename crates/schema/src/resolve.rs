//! References: from a `$ref` text to a place in one of the documents in memory. Nothing is fetched.

use crate::node::Place;
use crate::read::{Draft, children};
use crate::reference::{Lost, halves, is_remote, join, percent_decoded};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A document and the files its references reach, all in memory.
#[derive(Debug, Default)]
pub struct Documents {
    files: Vec<File>,
}

#[derive(Debug)]
struct File {
    name: String,
    value: Arc<Value>,
    index: OnceLock<Index>,
}

/// The identifiers that one document declares.
#[derive(Debug, Default)]
struct Index {
    /// Absolute URI of each schema resource, and its pointer.
    resources: BTreeMap<String, String>,
    /// Pointer of each resource, and its URI.
    bases: BTreeMap<String, String>,
    /// (pointer of the resource, anchor) to pointer; true where it is dynamic.
    anchors: BTreeMap<(String, String), (String, bool)>,
}

impl Documents {
    /// One document and no further files.
    pub fn new(root: Arc<Value>) -> Documents {
        Documents::with_files(root, BTreeMap::new())
    }

    /// A document and the files that relative references may name, `/`-separated and relative to it.
    pub fn with_files(root: Arc<Value>, files: BTreeMap<String, Arc<Value>>) -> Documents {
        let mut all = vec![File::new(String::new(), root)];
        all.extend(files.into_iter().map(|(name, value)| File::new(name, value)));
        Documents { files: all }
    }

    pub(crate) fn at(&self, place: &Place) -> Option<&Value> {
        self.files.get(place.file as usize)?.value.pointer(&place.pointer)
    }

    pub(crate) fn is_single(&self) -> bool {
        self.files.len() == 1
    }

    pub(crate) fn file(&self, name: &str) -> Option<u32> {
        let at = self.files.iter().position(|file| file.name == name)?;
        u32::try_from(at).ok()
    }

    /// `file#pointer`, or the bare pointer in the root document.
    pub(crate) fn show(&self, place: &Place) -> String {
        match self.files.get(place.file as usize) {
            Some(file) if !file.name.is_empty() => format!("{}#{}", file.name, place.pointer),
            _ => place.pointer.clone(),
        }
    }

    fn index(&self, file: u32, draft: Draft) -> &Index {
        let file = &self.files[file as usize];
        file.index.get_or_init(|| Index::of(&file.value, draft))
    }

    /// Pointer of the schema resource that a place belongs to.
    pub(crate) fn resource(&self, place: &Place, draft: Draft) -> String {
        let index = self.index(place.file, draft);
        let mut pointer = place.pointer.as_str();
        loop {
            if index.bases.contains_key(pointer) {
                return pointer.to_string();
            }
            match pointer.rfind('/') {
                Some(at) => pointer = &pointer[..at],
                None => return String::new(),
            }
        }
    }

    /// Dynamic anchors that a resource declares.
    pub(crate) fn dynamic_anchors(
        &self,
        file: u32,
        resource: &str,
        draft: Draft,
    ) -> Vec<(String, String)> {
        self.index(file, draft)
            .anchors
            .iter()
            .filter(|((at, _), (_, dynamic))| at == resource && *dynamic)
            .map(|((_, name), (pointer, _))| (name.clone(), pointer.clone()))
            .collect()
    }

    /// Where a reference written at `from` leads, or why it leads nowhere.
    pub(crate) fn resolve(
        &self,
        from: &Place,
        reference: &str,
        draft: Draft,
    ) -> Result<Place, Lost> {
        let (target, fragment) = halves(reference);
        let (file, resource) = if target.is_empty() {
            if fragment.starts_with('/') && !self.index_needed(from.file, draft) {
                (from.file, String::new())
            } else {
                (from.file, self.resource(from, draft))
            }
        } else {
            self.resolve_target(from, target, draft)?
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let place = Place { file, pointer: format!("{resource}{fragment}") };
            return match self.at(&place) {
                Some(_) => Ok(place),
                None => Err(Lost::Place(reference.to_owned())),
            };
        }
        match self.index(file, draft).anchors.get(&(resource, fragment.clone())) {
            Some((pointer, _)) => Ok(Place { file, pointer: pointer.clone() }),
            None => Err(Lost::Anchor { reference: reference.to_owned(), anchor: fragment }),
        }
    }

    /// Local pointers start at the resource only where a document declares some.
    fn index_needed(&self, file: u32, draft: Draft) -> bool {
        draft != Draft::OpenApi30 && self.index(file, draft).bases.len() > 1
    }

    fn resolve_target(
        &self,
        from: &Place,
        target: &str,
        draft: Draft,
    ) -> Result<(u32, String), Lost> {
        // A file of the bundle, relative to the file that refers to it.
        let own = &self.files[from.file as usize].name;
        let joined = join(own, &percent_decoded(target));
        if let Some(file) = self.file(&joined).filter(|_| !joined.is_empty()) {
            return Ok((file, String::new()));
        }
        // A resource by its identifier.
        let resource = self.resource(from, draft);
        let base = self.index(from.file, draft).bases.get(&resource).cloned().unwrap_or_default();
        let absolute = join_uri(&base, target);
        for (number, _) in self.files.iter().enumerate() {
            let number = u32::try_from(number).expect("files were counted when read");
            if let Some(pointer) = self.index(number, draft).resources.get(&absolute) {
                return Ok((number, pointer.clone()));
            }
        }
        if is_remote(&absolute) {
            Err(Lost::Network(target.to_owned()))
        } else {
            Err(Lost::File(target.to_owned()))
        }
    }
}

/// Where a reference leads in a document that names schemas of its own by `$id`: the JSON Pointer. `None` where plain
/// reading of the reference is right, or it leads nowhere.
///
/// The whole document is looked through, so this is for the references that plain reading does not answer.
pub fn by_identifier(root: &Value, from: &str, reference: &str) -> Option<String> {
    let named = root.get("$schema").and_then(Value::as_str).and_then(Draft::of_uri);
    let index = Index::of(root, named.unwrap_or(Draft::Draft202012));
    if index.resources.is_empty() {
        return None;
    }
    let (target, fragment) = halves(reference);
    let mut own = from;
    while !index.bases.contains_key(own) {
        own = &own[..own.rfind('/')?];
    }
    let resource = match target {
        "" => own,
        _ => index.resources.get(&join_uri(&index.bases[own], target))?,
    };
    if fragment.is_empty() || fragment.starts_with('/') {
        let pointer = format!("{resource}{fragment}");
        return root.pointer(&pointer).map(|_| pointer);
    }
    index.anchors.get(&(resource.to_owned(), fragment)).map(|(pointer, _)| pointer.clone())
}

impl File {
    fn new(name: String, value: Arc<Value>) -> File {
        File { name, value, index: OnceLock::new() }
    }
}

impl Index {
    fn of(root: &Value, draft: Draft) -> Index {
        let mut index = Index::default();
        index.bases.insert(String::new(), String::new());
        // (place, pointer, pointer of the enclosing resource, its URI)
        let mut open = vec![(root, String::new(), String::new(), String::new())];
        while let Some((value, pointer, mut resource, mut base)) = open.pop() {
            let Value::Object(members) = value else { continue };
            let id = members
                .get(if draft == Draft::Draft04 { "id" } else { "$id" })
                .and_then(Value::as_str)
                .filter(|_| !(draft.ref_hides_siblings() && members.contains_key("$ref")));
            if let Some(id) = id {
                let (target, anchor) = id.split_once('#').unwrap_or((id, ""));
                if !target.is_empty() {
                    base = join_uri(&base, target);
                    resource = pointer.clone();
                    index.resources.insert(base.clone(), pointer.clone());
                    index.bases.insert(pointer.clone(), base.clone());
                }
                if !anchor.is_empty() && draft.ref_hides_siblings() {
                    index
                        .anchors
                        .insert((resource.clone(), anchor.to_string()), (pointer.clone(), false));
                }
            }
            for (keyword, dynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
                if let Some(name) = members.get(keyword).and_then(Value::as_str)
                    && !draft.ref_hides_siblings()
                {
                    index
                        .anchors
                        .insert((resource.clone(), name.to_string()), (pointer.clone(), dynamic));
                }
            }
            for (path, child) in children(members) {
                open.push((child, format!("{pointer}{path}"), resource.clone(), base.clone()));
            }
        }
        index
    }
}

/// Resolves a URI reference against a base, as far as identifiers of schemas need it.
fn join_uri(base: &str, target: &str) -> String {
    let has_scheme = target.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if has_scheme || base.is_empty() {
        return target.to_string();
    }
    let Some((scheme, rest)) = base.split_once("://") else {
        return join(base, target);
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Some(other) = target.strip_prefix("//") {
        return format!("{scheme}://{other}");
    }
    format!("{scheme}://{authority}/{}", join(path, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_joined_like_addresses() {
        for (base, target, out) in [
            ("https://ex.test/strict", "tree", "https://ex.test/tree"),
            ("https://ex.test/a/b", "../c", "https://ex.test/c"),
            ("https://ex.test/a", "https://other.test/b", "https://other.test/b"),
            ("https://ex.test/a/b", "/c", "https://ex.test/c"),
            ("", "tree", "tree"),
        ] {
            assert_eq!(join_uri(base, target), out, "{base} {target}");
        }
    }
}
