//! Contracts of tools and APIs: two revisions in, classified changes out.
//!
//! The crate is pure: no files, no clock, no network, no randomness. Same input, same answer.

pub mod adapter;
pub mod admission;
pub mod change;
pub mod decision;
pub mod depends;
pub mod diff;
pub mod digest;
pub mod document;
pub mod edit;
pub mod engine;
pub mod heirs;
pub mod hidden;
pub mod keys;
pub mod lexicon;
pub mod limits;
pub mod lock;
pub mod node;
pub mod openapi;
pub mod policy;
pub mod prose;
pub mod relation;
pub mod rename;
pub mod retry;
pub mod revised;
pub mod rules;
pub mod schemas;
pub mod shape;
pub mod split;
pub mod text;
pub mod tools;
pub mod verdict;
pub mod view;
pub mod walk;

pub use change::{Change, Counts, Diff, Entry, Heir, Kind, Revision, Side, Subject, When, Witness};
pub use depends::Depends;
pub use diff::{Options, diff};
pub use document::{Bundle, Contract, Problem, Tool, ToolList};
pub use revised::{Fit, Revised};
pub use verdict::{Authority, Axes, Class, Compat, Decision, Meaning, Verdict};
