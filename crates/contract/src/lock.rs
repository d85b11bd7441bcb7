//! The lock: the contract that was accepted, written for review.
//!
//! `steadfast.lock` is pretty JSON. Tools are sorted by name, and each definition keeps its members
//! in the order in which the server listed them, so that a change of the lock shows in a review as
//! the change of the contract and nothing else. Every tool has a revision number, which only grows.

mod operations;
mod read;

pub use operations::operations;
pub(crate) use read::read_versioned;

use crate::change::{Kind, Revision};
use crate::digest;
use crate::document::{Bundle, Contract, Problem, Tool, ToolList};
use crate::text::quoted;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The lock format that this version writes, and the newest that it reads.
pub const VERSION: u64 = 1;

/// An accepted contract.
#[derive(Debug, Clone)]
pub struct Lock {
    /// Where the contract came from, as the shell names it.
    pub source: Option<Value>,
    /// The accepted contract. Tools are sorted by name and carry their ordinals.
    pub contract: Contract,
    /// Revisions of operations (OpenAPI), or of the one schema under its name.
    pub revisions: BTreeMap<String, Revision>,
    /// The last ordinal of tools and operations that are gone: a name that comes back goes on counting.
    pub retired: BTreeMap<String, u64>,
}

/// What is to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accept {
    /// The whole contract.
    Everything,
    /// These tools alone; all others stay as they were locked.
    Tools(BTreeSet<String>),
}

impl Lock {
    /// Accepts a contract, counting on from an earlier lock.
    ///
    /// # Errors
    /// Where the earlier lock is of another kind, where a single tool is to be accepted without
    /// an earlier lock or of something that is no list of tools, and where it is in neither.
    pub fn accept(
        contract: &Contract,
        source: Option<Value>,
        earlier: Option<&Lock>,
        accept: &Accept,
    ) -> Result<Lock, Vec<Problem>> {
        if let Some(earlier) = earlier
            && earlier.contract.kind() != contract.kind()
        {
            return Err(vec![Problem::at(
                contract.name(),
                "",
                format!(
                    "The lock holds {}, and this is {}.",
                    kind_in_words(earlier.contract.kind()),
                    kind_in_words(contract.kind())
                ),
                "Use another lock file (-o FILE), or remove the old lock if the project changed its kind.",
            )]);
        }
        let retired = earlier.map(|lock| lock.retired.clone()).unwrap_or_default();
        match contract {
            Contract::Tools(list) => {
                let old = earlier.and_then(|lock| match &lock.contract {
                    Contract::Tools(list) => Some(list),
                    _ => None,
                });
                accept_tools(list, source, old, retired, accept)
            }
            Contract::Openapi(bundle) | Contract::Schema(bundle) => {
                if *accept != Accept::Everything {
                    return Err(vec![Problem::at(
                        contract.name(),
                        "",
                        "Single tools can be accepted from a list of tools only.".to_owned(),
                        "Accept the document as a whole: leave --accept out.",
                    )]);
                }
                let digests = match contract {
                    Contract::Openapi(_) => operations(bundle),
                    _ => BTreeMap::from([(SCHEMA.to_owned(), of_bundle(bundle))]),
                };
                let empty = BTreeMap::new();
                let old = earlier.map_or(&empty, |lock| &lock.revisions);
                let (revisions, retired) = count(digests, old, retired);
                Ok(Lock { source, contract: contract.clone(), revisions, retired })
            }
        }
    }

    /// The revision number of each tool or operation.
    pub fn ordinals(&self) -> BTreeMap<String, u64> {
        match &self.contract {
            Contract::Tools(list) => list
                .tools
                .iter()
                .map(|tool| (tool.name.clone(), tool.ordinal.unwrap_or(1)))
                .collect(),
            Contract::Openapi(_) | Contract::Schema(_) => self
                .revisions
                .iter()
                .map(|(name, revision)| (name.clone(), revision.ordinal.unwrap_or(1)))
                .collect(),
        }
    }

    /// The file's content: the same lock gives the same bytes.
    pub fn to_text(&self) -> String {
        let mut members = Map::new();
        members.insert("steadfast_lock".to_owned(), json!(VERSION));
        members.insert(
            "kind".to_owned(),
            json!(match self.contract.kind() {
                Kind::Tools => "tools",
                Kind::Openapi => "openapi",
                Kind::Schema => "schema",
            }),
        );
        if let Some(source) = &self.source {
            members.insert("source".to_owned(), source.clone());
        }
        match &self.contract {
            Contract::Tools(list) => tools_members(list, &mut members),
            Contract::Openapi(bundle) => {
                let operations: Vec<Value> = self
                    .revisions
                    .iter()
                    .map(|(operation, revision)| {
                        json!({"operation": operation, "revision": revision.ordinal, "digest": revision.digest})
                    })
                    .collect();
                members.insert("operations".to_owned(), Value::Array(operations));
                bundle_members(bundle, &mut members);
            }
            Contract::Schema(bundle) => {
                if let Some(revision) = self.revisions.get(SCHEMA) {
                    members.insert("revision".to_owned(), json!(revision.ordinal));
                    members.insert("digest".to_owned(), json!(revision.digest));
                }
                bundle_members(bundle, &mut members);
            }
        }
        if !self.retired.is_empty() {
            members.insert("retired".to_owned(), json!(self.retired));
        }
        let mut text = serde_json::to_string_pretty(&Value::Object(members))
            .expect("a value has no map keys other than text");
        text.push('\n');
        text
    }
}

/// The name under which the one schema of a schema lock has its revision.
const SCHEMA: &str = "schema";

fn kind_in_words(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "a list of MCP tools",
        Kind::Openapi => "an OpenAPI document",
        Kind::Schema => "a JSON Schema",
    }
}

fn accept_tools(
    list: &ToolList,
    source: Option<Value>,
    old: Option<&ToolList>,
    mut retired: BTreeMap<String, u64>,
    accept: &Accept,
) -> Result<Lock, Vec<Problem>> {
    let by_name = |list: &ToolList| -> BTreeMap<String, Tool> {
        list.tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect()
    };
    let new_tools = by_name(list);
    let old_tools = old.map(by_name).unwrap_or_default();
    let mut accepted = ToolList {
        name: list.name.clone(),
        ..match (accept, old) {
            (Accept::Tools(_), Some(old)) => old.clone(),
            _ => list.clone(),
        }
    };
    let wanted: BTreeMap<String, Tool> = match accept {
        Accept::Everything => new_tools,
        Accept::Tools(names) => {
            if old.is_none() {
                return Err(vec![Problem::at(
                    &list.name,
                    "",
                    "There is no lock yet into which a single tool could be accepted.".to_owned(),
                    "Lock the whole list first: leave --accept out.",
                )]);
            }
            let problems: Vec<Problem> = names
                .iter()
                .filter(|name| !new_tools.contains_key(*name) && !old_tools.contains_key(*name))
                .map(|name| {
                    Problem::at(
                        &list.name,
                        "",
                        format!(
                            "There is no tool {}, neither locked nor listed now.",
                            quoted(name)
                        ),
                        "Check the spelling; steadfast gate names the tools that changed.",
                    )
                })
                .collect();
            if !problems.is_empty() {
                return Err(problems);
            }
            let mut kept = old_tools.clone();
            for name in names {
                match new_tools.get(name) {
                    Some(tool) => kept.insert(name.clone(), tool.clone()),
                    None => kept.remove(name),
                };
            }
            kept
        }
    };
    for (name, tool) in &old_tools {
        if !wanted.contains_key(name) {
            retired.insert(name.clone(), tool.ordinal.unwrap_or(1));
        }
    }
    accepted.tools = wanted
        .into_values()
        .map(|tool| {
            let before = old_tools.get(&tool.name);
            let ordinal = match before {
                Some(before) if digest::of_tool(&before.raw) == digest::of_tool(&tool.raw) => {
                    before.ordinal.unwrap_or(1)
                }
                Some(before) => before.ordinal.unwrap_or(1) + 1,
                None => retired.remove(&tool.name).unwrap_or(0) + 1,
            };
            Tool { ordinal: Some(ordinal), ..tool }
        })
        .collect();
    Ok(Lock { source, contract: Contract::Tools(accepted), revisions: BTreeMap::new(), retired })
}

/// Ordinals for digests: kept where the digest is, one more where it is not.
fn count(
    digests: BTreeMap<String, String>,
    old: &BTreeMap<String, Revision>,
    mut retired: BTreeMap<String, u64>,
) -> (BTreeMap<String, Revision>, BTreeMap<String, u64>) {
    for (name, revision) in old {
        if !digests.contains_key(name) {
            retired.insert(name.clone(), revision.ordinal.unwrap_or(1));
        }
    }
    let revisions = digests
        .into_iter()
        .map(|(name, digest)| {
            let ordinal = match old.get(&name) {
                Some(before) if before.digest == digest => before.ordinal.unwrap_or(1),
                Some(before) => before.ordinal.unwrap_or(1) + 1,
                None => retired.remove(&name).unwrap_or(0) + 1,
            };
            let revision = Revision { digest, ordinal: Some(ordinal) };
            (name, revision)
        })
        .collect();
    (revisions, retired)
}

fn tools_members(list: &ToolList, members: &mut Map<String, Value>) {
    if let Some(version) = &list.protocol_version {
        members.insert("protocolVersion".to_owned(), json!(version));
    }
    if let Some(info) = &list.server_info {
        members.insert("serverInfo".to_owned(), info.clone());
    }
    if let Some(instructions) = &list.instructions {
        members.insert("instructions".to_owned(), json!(instructions));
    }
    let tools: Vec<Value> = list
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "revision": tool.ordinal.unwrap_or(1),
                "digest": digest::of_tool(&tool.raw),
                "definition": tool.raw,
            })
        })
        .collect();
    members.insert("tools".to_owned(), Value::Array(tools));
}

fn bundle_members(bundle: &Bundle, members: &mut Map<String, Value>) {
    members.insert("document".to_owned(), bundle.root.clone());
    if !bundle.files.is_empty() {
        members.insert("files".to_owned(), json!(bundle.files));
    }
}

/// The digest of a document and the files it reaches.
fn of_bundle(bundle: &Bundle) -> String {
    digest::of_value(&json!({"document": bundle.root, "files": bundle.files}))
}
