//! Reading a lock back: nothing in it is believed without its digest.

use super::{Lock, SCHEMA, VERSION, of_bundle, operations};
use crate::change::Revision;
use crate::digest;
use crate::document::{Bundle, Contract, Form, Problem, Reading, Tool, ToolList};
use crate::text::quoted;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Reads a lock as a contract, for comparisons.
pub(crate) fn read_versioned(bundle: &Bundle, version: &Value) -> Result<Reading, Vec<Problem>> {
    crate::document::check_version(&bundle.name, "lock", "steadfast_lock", version, VERSION)?;
    let lock = Lock::read(&bundle.name, &bundle.root)?;
    Ok(Reading::sound(lock.contract, Form::Lock))
}

impl Lock {
    /// Reads the value of a lock file.
    ///
    /// # Errors
    /// A newer format, missing members, and every definition that does not have its digest: a
    /// lock that was edited or merged by hand accepts nothing.
    pub fn read(name: &str, root: &Value) -> Result<Lock, Vec<Problem>> {
        let Some(members) = root.as_object() else {
            return Err(vec![no_lock(name)]);
        };
        let Some(version) = members.get("steadfast_lock") else {
            return Err(vec![no_lock(name)]);
        };
        crate::document::check_version(name, "lock", "steadfast_lock", version, VERSION)?;
        let mut reader = Reader { name, members, problems: Vec::new() };
        let contents = match members.get("kind").and_then(Value::as_str) {
            Some("tools") => reader.tools(),
            Some("openapi") => reader.openapi(),
            Some("schema") => reader.schema(),
            _ => {
                reader.problem(
                    "/kind",
                    "The lock does not say what it holds (tools, openapi or schema).".to_owned(),
                );
                None
            }
        };
        let retired = reader.retired();
        match contents {
            Some((contract, revisions)) if reader.problems.is_empty() => {
                Ok(Lock { source: members.get("source").cloned(), contract, revisions, retired })
            }
            _ => Err(reader.problems),
        }
    }
}

fn no_lock(name: &str) -> Problem {
    Problem::at(
        name,
        "",
        "This is not a lock: it has no member steadfast_lock.".to_owned(),
        "Write one with: steadfast lock TARGET -o FILE.",
    )
}

struct Reader<'a> {
    name: &'a str,
    members: &'a Map<String, Value>,
    problems: Vec<Problem>,
}

type Contents = (Contract, BTreeMap<String, Revision>);

impl Reader<'_> {
    fn problem(&mut self, pointer: &str, sentence: String) {
        self.problems.push(Problem::at(
            self.name,
            pointer,
            sentence,
            "A lock is written by steadfast alone. Take it back from version control, or write it again with steadfast lock and review what it accepts.",
        ));
    }

    fn tools(&mut self) -> Option<Contents> {
        let Some(items) = self.members.get("tools").and_then(Value::as_array) else {
            self.problem("/tools", "The lock has no list of tools.".to_owned());
            return None;
        };
        let mut tools = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let at = format!("/tools/{index}");
            let name = item.get("name").and_then(Value::as_str);
            let revision = Self::revision(item);
            let (Some(name), Some(revision), Some(definition)) =
                (name, revision, item.get("definition"))
            else {
                self.problem(
                    &at,
                    "A locked tool needs a name, a revision, a digest and a definition.".to_owned(),
                );
                continue;
            };
            if !seen.insert(name) {
                self.problem(&at, format!("The tool {} is locked twice.", quoted(name)));
            } else if definition.get("name").and_then(Value::as_str) != Some(name) {
                self.problem(
                    &format!("{at}/definition/name"),
                    format!("The definition under {} has another name.", quoted(name)),
                );
            } else if digest::of_tool(definition) != revision.digest {
                self.problem(
                    &format!("{at}/digest"),
                    format!("The digest of {} is not that of its definition.", quoted(name)),
                );
            } else {
                tools.push(Tool {
                    name: name.to_owned(),
                    raw: definition.clone(),
                    ordinal: revision.ordinal,
                });
            }
        }
        let text = |key: &str| self.members.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = ToolList {
            name: self.name.to_owned(),
            tools,
            instructions: text("instructions"),
            server_info: self.members.get("serverInfo").cloned(),
            protocol_version: text("protocolVersion"),
            aliases: BTreeMap::new(),
        };
        Some((Contract::Tools(list), BTreeMap::new()))
    }

    fn openapi(&mut self) -> Option<Contents> {
        let bundle = self.bundle()?;
        let Some(items) = self.members.get("operations").and_then(Value::as_array) else {
            self.problem("/operations", "The lock has no list of operations.".to_owned());
            return None;
        };
        let mut revisions = BTreeMap::new();
        for (index, item) in items.iter().enumerate() {
            let at = format!("/operations/{index}");
            let name = item.get("operation").and_then(Value::as_str);
            match (name, Self::revision(item)) {
                (Some(name), Some(revision)) => {
                    revisions.insert(name.to_owned(), revision);
                }
                _ => self.problem(
                    &at,
                    "A locked operation needs its name, a revision and a digest.".to_owned(),
                ),
            }
        }
        let computed = operations(&bundle);
        let locked: BTreeMap<String, String> = revisions
            .iter()
            .map(|(name, revision)| (name.clone(), revision.digest.clone()))
            .collect();
        if computed != locked {
            let differing: Vec<String> = computed
                .keys()
                .chain(locked.keys())
                .filter(|name| computed.get(*name) != locked.get(*name))
                .collect::<BTreeSet<_>>()
                .into_iter()
                .take(3)
                .map(|name| quoted(name))
                .collect();
            self.problem(
                "/operations",
                format!(
                    "The digests are not those of the document, for {} among others.",
                    differing.join(", ")
                ),
            );
        }
        Some((Contract::Openapi(bundle), revisions))
    }

    fn schema(&mut self) -> Option<Contents> {
        let bundle = self.bundle()?;
        let whole = Value::Object(self.members.clone());
        let Some(revision) = Self::revision(&whole) else {
            self.problem("", "A locked schema needs a revision and a digest.".to_owned());
            return None;
        };
        if of_bundle(&bundle) != revision.digest {
            self.problem("/digest", "The digest is not that of the schema.".to_owned());
        }
        let revisions = BTreeMap::from([(SCHEMA.to_owned(), revision)]);
        Some((Contract::Schema(bundle), revisions))
    }

    fn bundle(&mut self) -> Option<Bundle> {
        let Some(root) = self.members.get("document") else {
            self.problem("/document", "The lock has no document.".to_owned());
            return None;
        };
        let files = match self.members.get("files") {
            Some(Value::Object(files)) => {
                files.iter().map(|(path, value)| (path.clone(), value.clone())).collect()
            }
            None => BTreeMap::new(),
            Some(_) => {
                self.problem("/files", "The files of the lock are not an object.".to_owned());
                return None;
            }
        };
        Some(Bundle { name: self.name.to_owned(), root: root.clone(), files })
    }

    fn revision(item: &Value) -> Option<Revision> {
        Some(Revision {
            digest: item.get("digest")?.as_str()?.to_owned(),
            ordinal: Some(item.get("revision")?.as_u64().filter(|ordinal| *ordinal > 0)?),
        })
    }

    fn retired(&mut self) -> BTreeMap<String, u64> {
        let mut retired = BTreeMap::new();
        let Some(found) = self.members.get("retired") else {
            return retired;
        };
        for (name, ordinal) in found.as_object().into_iter().flatten() {
            match ordinal.as_u64() {
                Some(ordinal) => {
                    retired.insert(name.clone(), ordinal);
                }
                None => self.problem(
                    "/retired",
                    format!("The last revision of {} is no number.", quoted(name)),
                ),
            }
        }
        if !found.is_object() {
            self.problem("/retired", "The retired names are not an object.".to_owned());
        }
        retired
    }
}
