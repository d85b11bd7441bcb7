//! JSON Schema as sets of values: old against new, what was lost and what was gained.
//!
//! ```
//! use schema::{Answer, Question, ReadOptions, Schema, relate};
//! use serde_json::json;
//!
//! let old = Schema::read(&json!({"enum": ["low", "high"]}), &ReadOptions::default()).unwrap();
//! let new = Schema::read(&json!({"enum": ["low"]}), &ReadOptions::default()).unwrap();
//! let relation = relate(&old, &new, &Question::default());
//! let Answer::Some(witnesses) = relation.lost else { panic!("a value is lost") };
//! assert_eq!(witnesses[0].value, json!("high"));
//! assert_eq!(relation.gained, Answer::Nothing);
//! ```

mod array;
mod automaton;
mod branch;
mod cases;
mod class;
mod evaluate;
mod expand;
mod judge;
mod keywords;
pub mod limits;
mod node;
mod number;
mod object;
mod pattern;
mod propagate;
mod read;
mod reject;
mod rejected;
mod relate;
mod resolve;
mod schema;
mod search;
mod steps;
mod string;
mod value;
mod witness;
mod world;

pub use evaluate::{Rejection, evaluate};
pub use limits::Limits;
pub use read::SchemaProblem;
pub use relate::{Question, relate};
pub use resolve::Documents;
pub use schema::Schema;

use serde_json::Value;

/// What [`relate`] found: `lost` is old without new, `gained` is new without old.
///
/// For what a caller sends, `lost` breaks; for what a caller reads, `gained` breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Values the old schema takes and the new one rejects.
    pub lost: Answer,
    /// Values the new schema takes and the old one rejects.
    pub gained: Answer,
}

/// A three-valued answer to "is there such a value?".
///
/// `Nothing` is a proof, `Some` was replayed by an independent validator, and `Unknown` is
/// neither: it must never be read as "compatible".
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Proved: there is no such value.
    Nothing,
    /// At least one witness, one per break site, the smallest first.
    Some(Vec<Witness>),
    /// Neither proved nor shown.
    Unknown(Why),
}

/// A value that one side accepts and the other rejects, replayed by an independent validator.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The value; removing any member or item, or stepping any bound, stops it separating.
    pub value: Value,
    /// JSON Pointer into the value: where the rejecting side objects.
    pub instance_pointer: String,
    /// JSON Pointer into the rejecting document: the keyword that rejects.
    pub rejected_by: String,
    /// The keyword itself, e.g. `required`.
    pub keyword: String,
    /// JSON Pointer into the accepting document: the subschema that governs the same place, if one does.
    pub accepted_by: String,
}

/// Why an answer is [`Answer::Unknown`].
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// A sentence: what could not be decided.
    pub reason: String,
    /// JSON Pointer into the document where the engine stopped.
    pub pointer: String,
    /// The keyword that stopped it, where one did.
    pub keyword: Option<String>,
    /// Counted steps spent before it stopped.
    pub spent: u64,
}

/// How undeclared members of open objects are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenObjects {
    /// Strict: any member that the schema does not forbid may be sent.
    #[default]
    AsWritten,
    /// Writers send only members that their own schema declares. An object schema that
    /// declares no member at all stays a free map.
    DeclaredWriters,
}

/// The dialect a document is read in when it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// JSON Schema 2020-12, also the Schema Object of OpenAPI 3.1.
    #[default]
    Draft202012,
    /// JSON Schema draft-07.
    Draft07,
    /// The Schema Object of OpenAPI 3.0: `nullable`, boolean exclusive bounds.
    OpenApi30,
}

/// How a document is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Used where the document names no dialect itself.
    pub dialect: Dialect,
}
