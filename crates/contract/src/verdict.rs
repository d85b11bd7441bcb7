//! The words of a judgement: class, verdict and the three axes.
//!
//! The order of the variants is the order of gravity, so that the gravest of many is their maximum.

use serde::{Deserialize, Serialize};

/// What a careful gateway does with a call planned under the old definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Carry the call on unchanged.
    Safe,
    /// The same contract under another name.
    NewName,
    /// Carry the call on after a mechanical, recorded change.
    Adapt,
    /// Neither proved nor refuted; never read as safe.
    Undecided,
    /// A person looks again although the call may validate.
    NewApproval,
    /// A clear error that names the change.
    Refuse,
}

/// The four classes of change of the drift model, and the two that need no action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Notation or wording: nothing a caller could tell.
    Cosmetic,
    /// Old calls stay valid and mean the same.
    Additive,
    /// Syntax only, with a deterministic and safe conversion, or a plain break of form.
    Migration,
    /// The same call means something else.
    Semantic,
    /// Target or reach changes.
    Authority,
    /// Gone.
    Removal,
}

/// Does the old call still validate?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compat {
    /// Byte for byte the same contract.
    Identical,
    /// Equal sets written differently.
    Notation,
    /// Text that only rewords.
    Wording,
    /// Every old call validates.
    Compatible,
    /// A mechanical conversion carries every old call over.
    Adaptable,
    /// Neither proved nor refuted.
    Undecided,
    /// Some old call no longer validates, or is silently not obeyed.
    Breaking,
}

/// Does an old standing grant now cover more?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authority {
    /// The same reach.
    Same,
    /// Less reach.
    Narrower,
    /// Cannot be told from the contract.
    Unknown,
    /// More reach.
    Wider,
}

/// Does the same call still mean the same, its answer included?
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// It does.
    Same,
    /// Cannot be told from the contract.
    Unknown,
    /// It does not.
    Changed,
}

/// The three axes, judged apart from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Axes {
    /// Does the old call validate?
    pub compat: Compat,
    /// Does an old grant now cover more?
    pub authority: Authority,
    /// Does the call mean the same?
    pub meaning: Meaning,
}

impl Axes {
    /// Nothing moved on any axis.
    pub const SAME: Axes =
        Axes { compat: Compat::Identical, authority: Authority::Same, meaning: Meaning::Same };

    /// The graver of the two on each axis.
    #[must_use]
    pub fn join(self, other: Axes) -> Axes {
        Axes {
            compat: self.compat.max(other.compat),
            authority: self.authority.max(other.authority),
            meaning: self.meaning.max(other.meaning),
        }
    }
}

/// Which decision of an agent a value feeds (C1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The object the agent acts on.
    Target,
    /// Whether an object qualifies for the action.
    Eligibility,
    /// How much, how far, where to.
    Scope,
    /// Whether an earlier action is done, failed, or to be tried again.
    Completion,
    /// Whether a person must be asked.
    Ask,
}
