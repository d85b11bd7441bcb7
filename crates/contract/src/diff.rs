//! One pair of contracts: matched, walked once, judged, joined.

use crate::change::Diff;
use crate::document::{Contract, Problem};
use std::collections::BTreeMap;

/// What a project knows beyond the two documents.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Words that a project adds to the built-in lexicon.
    pub lexicon: crate::lexicon::Lexicon,
    /// Tool renames that a person declared: old name to new name.
    pub renames: BTreeMap<String, String>,
    /// Which values feed which decision of the agent.
    pub decisions: Option<crate::decision::DecisionMap>,
}

/// All that is not in order in a contract and that reading it did not tell: a caller that accepts it must stop.
pub fn check(contract: &Contract) -> Vec<Problem> {
    match contract {
        Contract::Openapi(bundle) => crate::openapi::check(bundle),
        // Reading tools and schemas reads all of them.
        Contract::Tools(_) | Contract::Schema(_) => Vec::new(),
    }
}

/// Compares two contracts of the same kind.
///
/// # Errors
/// Where the kinds differ, or a document cannot be read as what it claims to be: all problems at once.
pub fn diff(old: &Contract, new: &Contract, options: &Options) -> Result<Diff, Vec<Problem>> {
    match (old, new) {
        (Contract::Tools(old), Contract::Tools(new)) => Ok(crate::tools::diff(old, new, options)),
        (Contract::Openapi(old), Contract::Openapi(new)) => crate::openapi::diff(old, new, options),
        (Contract::Schema(old), Contract::Schema(new)) => crate::schemas::diff(old, new, options),
        _ => Err(vec![Problem {
            place: String::new(),
            sentence: "the two sides are different kinds of contract".to_string(),
            help: "compare two tool lists, two OpenAPI documents or two JSON Schemas".to_string(),
        }]),
    }
}
