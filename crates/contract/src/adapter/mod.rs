//! Adapters: declared, mechanical conversions from the arguments of an old contract to those of a new one.
//!
//! An adapter is written by a person, has an end, and loads only where [`Adapter::check`] proves that
//! *every* call that the old schema takes becomes a call that the new schema takes. Where it is not so,
//! the answer is a call that shows it. Some adapters never load, whatever the proof says: those that would
//! fill in a guard, invent a target or an authority, or drop one (see `refuse`).
//!
//! # How a proof is found
//!
//! The steps of an adapter are a function on arguments. `preimage` turns the new schema around: it writes the
//! schema of all arguments that the function takes into the new schema. The schema engine is then asked whether the
//! old schema loses anything against that one. Going backwards keeps everything exact, because taking a preimage
//! goes through `allOf`, `anyOf`, `oneOf`, `not` and `if`; and a witness of the engine is an old call as it stands.
//! What cannot be turned around exactly is undecided, and an undecided adapter does not load.

mod all;
mod apply;
mod chain;
mod context;
pub mod limits;
mod origin;
mod path;
mod picture;
mod pin;
mod preimage;
mod prove;
mod read;
mod refuse;

pub use crate::admission::Grade;
pub use all::Checked;
pub use chain::{Anew, AtCall, Chain, Link, Prove};
pub use context::{Applied, Context, Outcome};
pub use path::{Part, Path};
pub use pin::{Pin, Pinned, pin_default};
pub use prove::{About, Counterexample, Proof, Refutation, Results, Verdict};

use crate::policy::Day;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// All adapters of one file.
#[derive(Debug, Clone, Default)]
pub struct Adapters {
    /// In the order of the file. No two have one id.
    pub adapters: Vec<Adapter>,
}

/// One declared conversion.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// Its name in journals and reports.
    pub id: String,
    /// The key of the server it is for; any server where none is named.
    pub server: Option<String>,
    /// The tool's old name.
    pub tool: String,
    /// The tool's new name, where it has another.
    pub to_tool: Option<String>,
    /// The revisions it converts from.
    pub from: From,
    /// When it ends.
    pub end: End,
    /// What is done to the arguments, in this order. Only the reader writes them: it knows which places go together.
    steps: Vec<Step>,
    /// What is done to the structured answer, in this order.
    results: Vec<Step>,
    /// Where it stands: `adapters.toml:12:1`.
    pub place: String,
}

/// The revisions of the old tool that an adapter converts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// Every revision for which it is proved.
    Any,
    /// Those with these digests.
    Digests(Vec<String>),
    /// Those with these numbers in the lock.
    Ordinals(Vec<u64>),
}

/// When an adapter ends. At least one end is set, and the first one that is reached counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// The last day on which it holds.
    pub day: Option<Day>,
    /// The version of the server from which on it does not hold.
    pub version: Option<String>,
    /// It holds only for sessions that were open before the contract changed.
    pub old_sessions: bool,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ends = Vec::new();
        if let Some(day) = self.day {
            ends.push(format!("after {day}"));
        }
        if let Some(version) = &self.version {
            ends.push(format!("with version {version} of the server"));
        }
        if self.old_sessions {
            ends.push("with the last session from before the change".to_owned());
        }
        f.write_str(&ends.join(", or "))
    }
}

/// One step, and where it stands.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Why, where a person gave a reason.
    pub reason: Option<String>,
    /// Where it stands: `adapters.toml:14:3`.
    pub place: String,
}

/// What a step does. A step that finds nothing at its place changes nothing; a step never overwrites.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Takes the value at one place to another; `rename` where the object around it stays the same.
    Move {
        /// The place it is taken from.
        from: Path,
        /// The place it is put to. Objects on the way are made where they are missing.
        to: Path,
    },
    /// Puts the value into an object with one member, or into a list with one item.
    Wrap {
        /// The place of the value.
        at: Path,
        /// What is put around it.
        into: Wrapper,
    },
    /// Takes the value out of an object that has this one member only, or out of a list with one item.
    Unwrap {
        /// The place of the object or list.
        at: Path,
        /// What is taken away around it.
        from: Wrapper,
    },
    /// Replaces some values by others, and leaves the rest.
    Map {
        /// The place of the value.
        at: Path,
        /// Old value and new value; compared as JSON, so 1 is 1.0.
        values: Vec<(Value, Value)>,
    },
    /// Sends a value that the old caller could not send.
    Constant(Constant),
    /// Sends the default that the old contract states, where the caller left the member out.
    Default {
        /// The place of the member. No object is made around it.
        at: Path,
        /// The default, as the old contract states it.
        value: Value,
    },
    /// Leaves a member out.
    Drop {
        /// The place of the member.
        at: Path,
        /// Only where it has this value.
        only_if: Option<Value>,
    },
}

/// What `wrap` puts around a value, and `unwrap` takes away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrapper {
    /// An object with this one member.
    Object(String),
    /// A list with one item.
    Array,
}

/// A value that an adapter sends by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Where it is put. Objects on the way are made where they are missing.
    pub at: Path,
    /// What is put there.
    pub value: Value,
    /// Declared: before the change this was the only value that there was.
    pub historical: bool,
    /// What must be so at the time of the call for the value to hold: an account, an owner, a host.
    pub conditions: BTreeMap<String, String>,
}

impl Action {
    /// The word for it in a file.
    pub fn word(&self) -> &'static str {
        match self {
            Action::Move { from, to }
                if from.0.len() == to.0.len() && from.shared(to) + 1 == to.0.len() =>
            {
                "rename"
            }
            Action::Move { .. } => "move",
            Action::Wrap { .. } => "wrap",
            Action::Unwrap { .. } => "unwrap",
            Action::Map { .. } => "map",
            Action::Constant(_) => "constant",
            Action::Default { .. } => "default",
            Action::Drop { .. } => "drop",
        }
    }
}

impl Adapter {
    /// The name under which the new tool is called.
    pub fn target(&self) -> &str {
        self.to_tool.as_deref().unwrap_or(&self.tool)
    }

    /// What is done to the arguments, in this order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What is done to the structured answer, in this order.
    pub fn results(&self) -> &[Step] {
        &self.results
    }

    /// True where several old tools may lead to the new one.
    fn changes_name(&self) -> bool {
        self.target() != self.tool
    }

    /// The constants it sends.
    fn constants(&self) -> impl Iterator<Item = &Constant> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::Constant(constant) => Some(constant),
            _ => None,
        })
    }
}
