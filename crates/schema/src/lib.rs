//! JSON Schema as sets of values: old against new, what was lost and what was gained.
//!
//! # The question
//!
//! A schema is the set of values it takes. A change of a schema loses some values and gains
//! others; everything else about it is notation. [`relate`] answers both halves:
//!
//! ```
//! use schema::{Answer, Question, ReadOptions, Schema, relate};
//! use serde_json::json;
//!
//! let options = ReadOptions::default();
//! let old = Schema::read(&json!({"enum": ["low", "high"]}), &options).unwrap();
//! let new = Schema::read(&json!({"enum": ["low"]}), &options).unwrap();
//! let relation = relate(&old, &new, &Question::default());
//!
//! let Answer::Some(witnesses) = relation.lost else { panic!("a value is lost") };
//! assert_eq!(witnesses[0].value, json!("high"));
//! assert_eq!(witnesses[0].rejected_by, "/enum");
//! assert_eq!(relation.gained, Answer::Nothing);
//! ```
//!
//! For what a caller sends (arguments), `lost` breaks. For what a caller reads (results), `gained` breaks.
//!
//! # The answer
//!
//! [`Answer::Nothing`] is a proof. [`Answer::Some`] holds witnesses, each one a value that one
//! side accepts and the other rejects, replayed on both sides by a validator that shares no code
//! with the engine. [`Answer::Unknown`] is neither, and which way it may be read depends on the question asked:
//!
//! | you want to know | `Unknown` must be read as |
//! | --- | --- |
//! | may an old call go on? | no |
//! | did anything break? | perhaps: say so, and let a person or a policy decide |
//! | is this change worth a look? | yes |
//!
//! Reading it as "compatible" is a silent mistake in every case. [`Why`] names the place, the keyword and the
//! steps spent:
//!
//! ```
//! # use schema::{Answer, Question, ReadOptions, Schema, relate};
//! # use serde_json::json;
//! # let options = ReadOptions::default();
//! let old = Schema::read(&json!({"type": "string", "pattern": "^(a|b)\\1$"}), &options).unwrap();
//! let new = Schema::read(&json!({"type": "string", "pattern": "^(aa|bb)$"}), &options).unwrap();
//! let Answer::Unknown(why) = relate(&old, &new, &Question::default()).lost else { panic!() };
//! assert_eq!(why.reason, "back-references are not reasoned about");
//! ```
//!
//! # Open objects
//!
//! An object schema that does not close itself takes members it never heard of. Taken literally, an
//! optional member that is added loses values: the old side took that name with any type. So it is
//! said with the question how open objects are meant, see [`OpenObjects`]:
//!
//! ```
//! # use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, relate};
//! # use serde_json::json;
//! # let options = ReadOptions::default();
//! let old = Schema::read(&json!({"properties": {"a": {"type": "string"}}}), &options).unwrap();
//! let new = Schema::read(&json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}), &options).unwrap();
//! let ask = |open_objects| relate(&old, &new, &Question { open_objects, ..Question::default() }).lost;
//!
//! let Answer::Some(witnesses) = ask(OpenObjects::AsWritten) else { panic!() };
//! assert_eq!(witnesses[0].value, json!({"b": null}));
//! assert_eq!(ask(OpenObjects::DeclaredWriters), Answer::Nothing);
//! ```
//!
//! # What is understood
//!
//! Drafts 04 to 2020-12 and the Schema Object of OpenAPI 3.0 and 3.1, references within the documents at hand
//! (nothing is ever fetched), dynamic references, every assertion and applicator. `format`,
//! `contentEncoding` and `contentMediaType` are annotations. Not reasoned about, and then `Unknown`: back-references,
//! look-behind and inner look-ahead in patterns, `$recursiveRef`, numbers of more than a thousand digits.
//!
//! # How it works
//!
//! One search gives proof and witness together (`search`): is there a value for which all of a set of literals hold,
//! where a literal is a node of either schema, accepted or rejected? For each kind of value the literals are expanded
//! into facts and clauses (`expand`, `rejected`, `cases`), simplified (`propagate`), split, and solved by
//! a theory: `number`, `string` with `automaton`, `array`, `object`. Nodes that say the same share one
//! number (`class`), so what did not change costs next to nothing. All work is counted in steps ([`limits`]); there is
//! no clock, so the same question always has the same answer.

mod apart;
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
pub mod reference;
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
pub use relate::{Question, relate, without};
pub use resolve::{Documents, by_identifier};
pub use schema::Schema;
pub use value::key as value_key;

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
    /// Writers send only members that their own schema declares, or demands by name. An object
    /// schema that declares no member at all stays a free map.
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
