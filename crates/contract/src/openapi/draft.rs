//! A change under construction. The subject, and with it the fingerprint, comes last: the same
//! change belongs to one operation, or to a declaration that many reach.

use super::resolve::Place;
use crate::change::Change;
use crate::change::Subject;
use crate::rules::Rule;
use crate::rules::finding;
use crate::rules::finding::Judgement;
use crate::verdict::{Authority, Class, Decision, Meaning, Verdict};
use serde_json::Value;

/// The same contract under another name.
pub(crate) const NEW_NAME: Judgement = Judgement::ADAPTABLE.verdict(Verdict::NewName);
/// The old answer can no longer be relied on.
pub(crate) const READER: Judgement = Judgement::BREAKING.meaning(Meaning::Changed);
/// Whether old calls still mean the same cannot be told.
pub(crate) const UNSURE: Judgement = Judgement::LOOK.meaning(Meaning::Unknown);
/// Target or reach moves.
pub(crate) const REACH: Judgement =
    Judgement::LOOK.class(Class::Authority).authority(Authority::Wider);
/// Gone.
pub(crate) const GONE: Judgement = Judgement::BREAKING
    .class(Class::Removal)
    .authority(Authority::Narrower)
    .meaning(Meaning::Unknown);

/// Begins a change.
pub(crate) fn change(
    rule: &'static Rule,
    judgement: Judgement,
    place: &Place,
    sentence: String,
) -> Change {
    let nobody = Subject::Whole(String::new());
    finding::bare(rule, &nobody, place.to_string(), (None, None), judgement, sentence)
}

/// Gives a change its field, values and guessed decisions.
pub(crate) trait Finish {
    fn field(self, field: &str) -> Self;
    fn values(self, before: Option<&Value>, after: Option<&Value>) -> Self;
    fn guess(self, decisions: &[Decision]) -> Self;
}

impl Finish for Change {
    fn field(mut self, field: &str) -> Self {
        self.field = Some(field.to_owned());
        self
    }

    fn values(mut self, before: Option<&Value>, after: Option<&Value>) -> Self {
        self.before = before.cloned();
        self.after = after.cloned();
        self
    }

    fn guess(mut self, decisions: &[Decision]) -> Self {
        self.decisions = decisions.to_vec();
        self.decisions_guessed = true;
        self
    }
}

/// The first few names and how many more there are.
pub(crate) fn some(names: &[String], most: usize) -> String {
    if names.len() <= most {
        names.join(", ")
    } else {
        let more = names.len() - most;
        format!("{} and {more} more", names[..most].join(", "))
    }
}
