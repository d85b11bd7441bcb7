//! The review record: what a release asks of the people who depend on it (input of the renderers).

use contract::{Revision, Subject};
use std::collections::BTreeMap;

/// What a reviewer must know about a release: one entry for each changed subject.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewRecord {
    /// In the order of the diff.
    pub entries: Vec<ReviewEntry>,
}

/// The record of one changed subject.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewEntry {
    /// Who.
    pub subject: Subject,
    /// The accepted revision; absent where the subject was added.
    pub from: Option<Revision>,
    /// The revision to be released; absent where the subject is gone.
    pub to: Option<Revision>,
    /// Which assumptions of a consumer stop being true, a sentence each. Empty: none that is known.
    pub assumptions: Vec<String>,
    /// What the old revision did, a sentence.
    pub old_behaviour: String,
    /// How long both live, in the words of the configuration. `None`: it is asked for.
    pub window: Option<String>,
    /// Which fixture or scenario shows the new behaviour. `None`: it is asked for.
    pub fixture: Option<String>,
    /// Answers to the five release questions. A missing one counts as not checked.
    pub answers: BTreeMap<Question, ReviewAnswer>,
    /// What an executed check showed that must not be, a sentence each.
    pub faults: Vec<String>,
    /// The file that keeps the executed check as a test.
    pub kept: Option<String>,
}

/// The five questions of a release, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// Can an old session still send the old arguments?
    OldArguments,
    /// Do they mean exactly the same?
    SameMeaning,
    /// If not, is the refusal before any effect?
    RefusedBeforeEffect,
    /// Is the notification sent only after the new list is ready?
    NotifiedWhenReady,
    /// Can the client explain the repair without inventing authority?
    RepairWithoutAuthority,
}

impl Question {
    /// All five, in order.
    pub const ALL: [Question; 5] = [
        Question::OldArguments,
        Question::SameMeaning,
        Question::RefusedBeforeEffect,
        Question::NotifiedWhenReady,
        Question::RepairWithoutAuthority,
    ];

    /// The question as it is put to people.
    pub fn text(self) -> &'static str {
        match self {
            Question::OldArguments => "Can an old session still send the old arguments?",
            Question::SameMeaning => "Do they mean exactly the same?",
            Question::RefusedBeforeEffect => "If not, is the refusal before any effect?",
            Question::NotifiedWhenReady => {
                "Is the notification sent only after the new list is ready?"
            }
            Question::RepairWithoutAuthority => {
                "Can the client explain the repair without inventing authority?"
            }
        }
    }

    /// The name in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Question::OldArguments => "old-arguments",
            Question::SameMeaning => "same-meaning",
            Question::RefusedBeforeEffect => "refused-before-effect",
            Question::NotifiedWhenReady => "notified-when-ready",
            Question::RepairWithoutAuthority => "repair-without-authority",
        }
    }
}

/// An answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewAnswer {
    /// Yes, and how it was checked.
    Yes {
        /// E.g. "proved: no value accepted before is rejected now".
        checked: String,
    },
    /// No, and how it was checked.
    No {
        /// E.g. "shown: {} is accepted before and rejected now".
        checked: String,
    },
    /// It was asked and could not be decided, and why.
    Undecided {
        /// E.g. "the pattern at /inputSchema/… exceeds the budget".
        why: String,
    },
    /// Nothing to ask: the question does not arise for this change.
    NotApplicable {
        /// E.g. "old arguments stay valid and mean the same".
        why: String,
    },
    /// Not checked here; the command or step that would check it.
    NotChecked {
        /// E.g. "steadfast drill -- CMD". Empty: no command is known.
        run: String,
    },
}

impl ReviewAnswer {
    /// The answer as one word, as it stands in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            ReviewAnswer::Yes { .. } => "yes",
            ReviewAnswer::No { .. } => "no",
            ReviewAnswer::Undecided { .. } => "undecided",
            ReviewAnswer::NotApplicable { .. } => "not-applicable",
            ReviewAnswer::NotChecked { .. } => "not-checked",
        }
    }

    /// What it rests on, or what would settle it.
    pub fn basis(&self) -> String {
        match self {
            ReviewAnswer::Yes { checked } | ReviewAnswer::No { checked } => checked.clone(),
            ReviewAnswer::Undecided { why } | ReviewAnswer::NotApplicable { why } => why.clone(),
            ReviewAnswer::NotChecked { run } if run.is_empty() => "not checked here".to_owned(),
            ReviewAnswer::NotChecked { run } => format!("not checked here: run {run}"),
        }
    }
}

impl ReviewEntry {
    /// The answer to one question; a missing one reads as not checked.
    pub(crate) fn answer(&self, question: Question) -> ReviewAnswer {
        self.answers
            .get(&question)
            .cloned()
            .unwrap_or(ReviewAnswer::NotChecked { run: String::new() })
    }
}
