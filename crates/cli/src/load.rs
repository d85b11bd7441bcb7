//! From paths to contracts: files, folders, standard input, and the files that references reach.

use crate::exit::Failure;
use crate::files;
use crate::limits;
use contract::document::{self, Bundle, Form, Reading};
use contract::{Problem, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The endings of files that a folder of tools is read from.
const TOOL_FILES: &[&str] = &["json", "snap", "yaml", "yml"];

/// Reads the contract at a path: a file, a folder, or `-` for standard input.
pub fn contract(path: &str) -> Result<Reading, Failure> {
    if crate::server::is_address(path) {
        return Err(Failure::one(
            path,
            "Files are compared here, and this is an address.",
            "Take a snapshot first: steadfast snapshot -o FILE URL.",
        ));
    }
    if path != "-" && Path::new(path).is_dir() {
        return folder(path);
    }
    let name = if path == "-" { "standard input" } else { path };
    let root = text::read(name, &files::read(path)?)?;
    let mut bundle = Bundle { name: name.to_owned(), root, files: BTreeMap::new() };
    let reading = document::read(bundle.clone())?;
    if matches!(reading.form, Form::Openapi | Form::Schema) && path != "-" {
        bundle.files = referenced(path, &bundle.root)?;
        if !bundle.files.is_empty() {
            return Ok(document::read(bundle)?);
        }
    }
    Ok(reading)
}

/// Reads both sides of a comparison, and reports the problems of both at once.
pub fn pair(old: &str, new: &str) -> Result<(Reading, Reading), Failure> {
    if old == "-" && new == "-" {
        return Err(Failure::one(
            "-",
            "Standard input cannot be both sides.",
            "Name a file for one of them.",
        ));
    }
    match (contract(old), contract(new)) {
        (Ok(old), Ok(new)) => Ok((old, new)),
        (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => Err(failure),
        (Err(mut first), Err(second)) => {
            first.problems.extend(second.problems);
            Err(first)
        }
    }
}

fn folder(path: &str) -> Result<Reading, Failure> {
    let entries = std::fs::read_dir(path).map_err(|error| files::unreadable(path, &error))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| files::unreadable(path, &error))?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(Failure::one(
                path,
                format!("A file name is not UTF-8: {}.", entry.file_name().to_string_lossy()),
                "Rename the file.",
            ));
        };
        let known = name
            .rsplit_once('.')
            .is_some_and(|(stem, ending)| !stem.is_empty() && TOOL_FILES.contains(&ending));
        if known && !name.starts_with('.') && entry.path().is_file() {
            names.push(name);
        }
    }
    if names.len() > limits::FOLDER_FILES {
        return Err(Failure::one(
            path,
            format!(
                "The folder has {} files; more than {} are not read.",
                names.len(),
                limits::FOLDER_FILES
            ),
            "Name the folder that holds the tools and nothing else.",
        ));
    }
    names.sort();
    let mut values = BTreeMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    for name in names {
        let full = format!("{}/{name}", path.trim_end_matches('/'));
        match files::read(&full).and_then(|bytes| Ok(text::read(&full, &bytes)?)) {
            Ok(value) => {
                values.insert(name, value);
            }
            Err(failure) => problems.extend(failure.problems),
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    Ok(document::read_folder(path.trim_end_matches('/'), &values)?)
}

/// Reads the files that the references of a document reach, by their path from its folder.
///
/// Only files in the document's own folder and below are read: a contract that needs more is not
/// complete where it stands, and a description from elsewhere must not be able to name files of
/// this machine. Nothing is ever fetched. A file that does not exist is left out here; reading
/// the schemas then reports the reference.
fn referenced(path: &str, root: &Value) -> Result<BTreeMap<String, Value>, Failure> {
    let folder = match Path::new(path).parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let home = folder.canonicalize().map_err(|error| files::unreadable(path, &error))?;
    let mut files_read: BTreeMap<String, Value> = BTreeMap::new();
    let mut problems: Vec<Problem> = Vec::new();
    let mut bytes_read: u64 = 0;
    let mut open: Vec<(String, Vec<document::Reference>)> =
        vec![(String::new(), document::file_references(root))];
    while let Some((from, references)) = open.pop() {
        for reference in references {
            let place = if from.is_empty() {
                format!("{path}#{}", reference.pointer)
            } else {
                format!("{}#{}", folder.join(&from).display(), reference.pointer)
            };
            let inside = document::resolve_path(&from, &reference.target)
                .filter(|target| !target.starts_with("../") && target != "..");
            let Some(target) = inside else {
                problems.push(outside(place, &reference.target));
                continue;
            };
            if files_read.contains_key(&target) {
                continue;
            }
            let full = folder.join(&target);
            let Ok(real) = full.canonicalize() else {
                continue;
            };
            if !real.starts_with(&home) {
                problems.push(outside(place, &reference.target));
                continue;
            }
            let shown = full.display().to_string();
            let bytes = files::read(&shown)?;
            bytes_read += bytes.len() as u64;
            if files_read.len() == limits::REFERENCED_FILES || bytes_read > limits::REFERENCED_BYTES
            {
                return Err(Failure::one(
                    path,
                    format!(
                        "Its references reach more than {} files or {} MB.",
                        limits::REFERENCED_FILES,
                        limits::REFERENCED_BYTES >> 20
                    ),
                    "Bundle the description into one file first.",
                ));
            }
            match text::read(&shown, &bytes) {
                Ok(value) => {
                    open.push((target.clone(), document::file_references(&value)));
                    files_read.insert(target, value);
                }
                Err(found) => problems.extend(found),
            }
        }
    }
    if problems.is_empty() { Ok(files_read) } else { Err(problems.into()) }
}

fn outside(place: String, target: &str) -> Problem {
    Problem {
        place,
        sentence: format!("The reference {target:?} leads out of the document's folder."),
        help: "Only files in that folder and below are read: move the root document up, or bundle it into one file.".to_owned(),
    }
}
