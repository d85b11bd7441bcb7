//! What was read: a list of tools, an OpenAPI document, or one JSON Schema.

mod read;
mod refs;
mod tools;

pub(crate) use read::check_version;
pub use read::{Form, Reading, read, read_folder};
pub use refs::{Reference, file_references, resolve_path};
pub(crate) use tools::is_blank;

use serde_json::Value;
use std::collections::BTreeMap;

/// A document and the files that its local `$ref`s reach, already read from disk by the shell.
#[derive(Debug, Clone, Default)]
pub struct Bundle {
    /// The name people know it by: a path, a URL, or a command.
    pub name: String,
    /// The document itself.
    pub root: Value,
    /// Other files by their path relative to the root document, `/`-separated.
    pub files: BTreeMap<String, Value>,
}

/// Something wrong with an input: where, what, and the way forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place: `file`, `file:line:column`, or `file#/json/pointer`.
    pub place: String,
    /// What is wrong, in a sentence.
    pub sentence: String,
    /// What to do about it.
    pub help: String,
}

/// A contract that can be compared with another of its kind.
#[derive(Debug, Clone)]
pub enum Contract {
    /// MCP tools: a snapshot, a bare `tools/list` result, per-tool files, or a lock.
    Tools(ToolList),
    /// An OpenAPI document: 3.0 or 3.1, or Swagger 2.0.
    Openapi(Bundle),
    /// One JSON Schema.
    Schema(Bundle),
}

/// The tools of one server, as it listed them.
#[derive(Debug, Clone, Default)]
pub struct ToolList {
    /// The name people know it by.
    pub name: String,
    /// In the order of the list. Names are unique.
    pub tools: Vec<Tool>,
    /// The server's `instructions`, where known.
    pub instructions: Option<String>,
    /// `serverInfo`, where known.
    pub server_info: Option<Value>,
    /// The negotiated protocol version, where known.
    pub protocol_version: Option<String>,
    /// Aliases that the server or a configuration declares: old name to new name.
    pub aliases: BTreeMap<String, String>,
}

/// One tool: its name and the whole raw definition. Unknown members survive.
#[derive(Debug, Clone)]
pub struct Tool {
    /// `name`, copied out.
    pub name: String,
    /// The definition as it was listed.
    pub raw: Value,
    /// Ordinal of this revision where a lock counted it.
    pub ordinal: Option<u64>,
}

impl ToolList {
    /// What the server instructs, empty where its greeting was read and held nothing; `None` where no greeting was read.
    pub fn instructed(&self) -> Option<&str> {
        let greeted = self.server_info.is_some() || self.protocol_version.is_some();
        self.instructions.as_deref().or(greeted.then_some(""))
    }
}

impl Contract {
    /// The name people know it by.
    pub fn name(&self) -> &str {
        match self {
            Contract::Tools(list) => &list.name,
            Contract::Openapi(bundle) | Contract::Schema(bundle) => &bundle.name,
        }
    }

    /// What kind of contract it is.
    pub fn kind(&self) -> crate::change::Kind {
        match self {
            Contract::Tools(_) => crate::change::Kind::Tools,
            Contract::Openapi(_) => crate::change::Kind::Openapi,
            Contract::Schema(_) => crate::change::Kind::Schema,
        }
    }
}

impl Problem {
    /// A problem at a JSON Pointer of a file: `file#/tools/3`.
    pub(crate) fn at(name: &str, pointer: &str, sentence: String, help: &str) -> Problem {
        Problem {
            place: if pointer.is_empty() { name.to_owned() } else { format!("{name}#{pointer}") },
            sentence,
            help: help.to_owned(),
        }
    }
}
