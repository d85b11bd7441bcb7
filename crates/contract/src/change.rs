//! What a comparison returns: a [`Diff`] of [`Entry`]s, each with its [`Change`]s.
//!
//! This is the documented shape of `steadfast diff --format json`. Members are added, never renamed.

use crate::document::Problem;
use crate::verdict::{Axes, Class, Decision, Verdict};
use serde::Serialize;
use serde_json::Value;

/// What kind of contract was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A list of MCP tools.
    Tools,
    /// An OpenAPI document.
    Openapi,
    /// One JSON Schema.
    Schema,
}

/// Who an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A tool, by name.
    Tool(String),
    /// An operation, as `METHOD /path`.
    Operation(String),
    /// The one schema that was compared.
    Schema(String),
    /// The contract as a whole (server instructions, base URL, suppressions).
    Whole(String),
}

impl Subject {
    /// The bare name, for sentences and tables.
    pub fn name(&self) -> &str {
        match self {
            Subject::Tool(name)
            | Subject::Operation(name)
            | Subject::Schema(name)
            | Subject::Whole(name) => name,
        }
    }
}

/// One located change, judged by one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The rule's code, e.g. `SF101`.
    pub rule: &'static str,
    /// JSON Pointer into the tool or document: where it happened, on the side that still has the place.
    pub path: String,
    /// The field it is about, dotted (`filter.region`), where it is about one. Bursts fold on it.
    pub field: Option<String>,
    /// The old value at the place, where there was one.
    pub before: Option<Value>,
    /// The new value at the place, where there is one.
    pub after: Option<Value>,
    /// Operational language: what moved and what it does to a call.
    pub sentence: String,
    /// The class of this change alone.
    pub class: Class,
    /// The verdict this change alone would give.
    pub verdict: Verdict,
    /// The three axes of this change alone.
    pub axes: Axes,
    /// The value that shows it, where there is one.
    pub witness: Option<Witness>,
    /// Which decisions of an agent it reaches, where known.
    pub decisions: Vec<Decision>,
    /// True where `decisions` was guessed from names and structure, not declared in a map.
    pub decisions_guessed: bool,
    /// Stable name for approvals and suppressions: code, subject, pointer and values, never wording.
    pub fingerprint: String,
    /// Set by the policy: the reason given for accepting this finding.
    pub suppressed: Option<String>,
    /// Which calls it is about, where it is about a field.
    pub when: When,
}

/// Which calls a change of a field is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum When {
    /// Those that send it.
    #[default]
    Sent,
    /// Those that leave it out: what is taken in its place moved.
    LeftOut,
    /// Both.
    Either,
}

/// A replayed value as it is reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Witness {
    /// The value.
    pub value: Value,
    /// Which side accepts it.
    pub accepted_by: Side,
    /// The keyword that rejects it on the other side.
    pub keyword: String,
    /// Where in the value.
    pub instance_pointer: String,
    /// Where in the rejecting schema.
    pub rejected_by: String,
}

/// Old or new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The revision the action was planned against.
    Old,
    /// The revision that holds now.
    New,
}

/// A revision of one subject: the digest of its contract, and its ordinal where a lock knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// `sha256:` and 64 hex digits over the canonical JSON of the contract.
    pub digest: String,
    /// Ordinal of this revision, counted by the lock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
}

/// Everything that changed about one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Who.
    pub subject: Subject,
    /// The old revision; absent where the subject was added.
    pub from: Option<Revision>,
    /// The new revision; absent where the subject is gone.
    pub to: Option<Revision>,
    /// The gravest class of its changes.
    pub class: Class,
    /// What to do with a stale call of this subject.
    pub verdict: Verdict,
    /// The three axes.
    pub axes: Axes,
    /// The changes, gravest first, then in document order.
    pub changes: Vec<Change>,
    /// A removed tool's likely or declared heir.
    pub renamed_to: Option<Heir>,
    /// On the heir's entry: the old name.
    pub was: Option<String>,
    /// For two JSON Schemas: the relation itself.
    pub relation: Option<schema::Relation>,
}

/// A likely or declared heir of a removed tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heir {
    /// The new name.
    pub name: String,
    /// 0 to 1; 1 only where it is declared.
    pub confidence: f64,
    /// Why it is believed.
    pub reasons: Vec<String>,
    /// True where a configuration or the server declares it.
    pub declared: bool,
}

/// The comparison of two contracts.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// What was compared.
    pub kind: Kind,
    /// The gravest verdict over all entries that are not suppressed.
    pub verdict: Verdict,
    /// One entry per subject that changed, in stable order.
    pub entries: Vec<Entry>,
    /// How many subjects each side has.
    pub counts: Counts,
    /// Schemas that took part and are not in order, where that is not the same on both sides. Of tools, what was read
    /// tells it already.
    pub flaws: Vec<Problem>,
}

/// How many subjects were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Counts {
    /// Subjects in the old contract.
    pub old: usize,
    /// Subjects in the new contract.
    pub new: usize,
    /// Subjects with the same digest on both sides.
    pub unchanged: usize,
}
