//! Reads a folder of tool-list histories: `<server>/NNN-<version>.tools.json`, and the labels beside it.
#![allow(dead_code, reason = "each example uses its own part of this module")]

use contract::{Contract, Tool, ToolList};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Whatever stops a run: a sentence with the path in it.
pub type Result<T> = std::result::Result<T, String>;

/// One server's snapshots in the order of their file numbers.
pub struct History {
    /// The folder's name.
    pub server: String,
    /// Version and path, oldest first.
    pub snapshots: Vec<(String, PathBuf)>,
}

/// The repository's root, from the place of this crate.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every server folder below `root` that holds snapshots, by name.
pub fn histories(root: &Path) -> Result<Vec<History>> {
    let mut found = Vec::new();
    for entry in list(root)? {
        if !entry.is_dir() {
            continue;
        }
        let mut snapshots = Vec::new();
        for file in list(&entry)? {
            let name = file_name(&file);
            let Some(stem) = name.strip_suffix(".tools.json") else {
                continue;
            };
            let Some((_, version)) = stem.split_once('-') else {
                return Err(format!("{}: expected NNN-<version>.tools.json", file.display()));
            };
            snapshots.push((version.to_owned(), file));
        }
        if !snapshots.is_empty() {
            found.push(History { server: file_name(&entry), snapshots });
        }
    }
    Ok(found)
}

/// A snapshot as a contract. Of two tools with one name the first counts: the second is a flagged variant.
pub fn read_tools(path: &Path, aliases: BTreeMap<String, String>) -> Result<Contract> {
    let document = read_json(path)?;
    let listed = document
        .get("tools")
        .and_then(Value::as_array)
        .ok_or_else(|| format!("{}: no `tools` array", path.display()))?;
    let mut seen = BTreeSet::new();
    let mut tools = Vec::new();
    for raw in listed {
        let name = raw
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| format!("{}: a tool has no name", path.display()))?;
        if seen.insert(name.to_owned()) {
            tools.push(Tool { name: name.to_owned(), raw: raw.clone(), ordinal: None });
        }
    }
    Ok(Contract::Tools(ToolList {
        name: path.display().to_string(),
        tools,
        aliases,
        ..ToolList::default()
    }))
}

/// The aliases that a server's project declares, where the folder holds them.
pub fn read_aliases(folder: &Path) -> Result<BTreeMap<String, String>> {
    let path = folder.join("aliases.json");
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let document = read_json(&path)?;
    let table = document
        .get("aliases")
        .and_then(Value::as_object)
        .ok_or_else(|| format!("{}: no `aliases` object", path.display()))?;
    Ok(table
        .iter()
        .filter_map(|(old, new)| Some((old.clone(), new.as_str()?.to_owned())))
        .collect())
}

/// Reads one JSON file.
pub fn read_json(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(|error| format!("{}: {error}", folder.display()))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
