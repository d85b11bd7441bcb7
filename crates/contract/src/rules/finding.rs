//! How a rule speaks: from an edit and a row to a [`Change`].

use super::Rule;
use crate::change::{Change, Subject, When, Witness};
use crate::edit::Edit;
use crate::lexicon::Lexicon;
use crate::verdict::{Authority, Axes, Class, Compat, Meaning, Verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What a rule may look at besides the edit.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Who the finding is about.
    pub subject: &'a Subject,
    /// Built-in and project words.
    pub lexicon: &'a Lexicon,
    /// Everything the old side says in prose about the subject.
    pub old_text: &'a str,
    /// Everything the new side says in prose about the subject.
    pub new_text: &'a str,
    /// Put before the place of an edit: `/inputSchema`.
    pub prefix: &'a str,
}

/// A judgement in short: class, verdict and the three axes.
#[derive(Debug, Clone, Copy)]
pub struct Judgement {
    class: Class,
    verdict: Verdict,
    axes: Axes,
}

impl Judgement {
    const fn of(class: Class, verdict: Verdict, compat: Compat) -> Judgement {
        let axes = Axes { compat, authority: Authority::Same, meaning: Meaning::Same };
        Judgement { class, verdict, axes }
    }
    /// Written differently, nothing else.
    pub const NOTATION: Judgement = Judgement::of(Class::Cosmetic, Verdict::Safe, Compat::Notation);
    /// Worded differently, nothing else.
    pub const WORDING: Judgement = Judgement::of(Class::Cosmetic, Verdict::Safe, Compat::Wording);
    /// Old calls go on as before.
    pub const ADDITIVE: Judgement =
        Judgement::of(Class::Additive, Verdict::Safe, Compat::Compatible);
    /// A mechanical conversion carries old calls over.
    pub const ADAPTABLE: Judgement =
        Judgement::of(Class::Migration, Verdict::Adapt, Compat::Adaptable);
    /// Some old call no longer validates or is no longer obeyed.
    pub const BREAKING: Judgement =
        Judgement::of(Class::Migration, Verdict::Refuse, Compat::Breaking);
    /// Old calls validate and mean something else: a person looks.
    pub const LOOK: Judgement =
        Judgement::of(Class::Semantic, Verdict::NewApproval, Compat::Compatible)
            .meaning(Meaning::Changed);
    /// Neither proved nor refuted.
    pub const UNDECIDED: Judgement =
        Judgement::of(Class::Migration, Verdict::Undecided, Compat::Undecided)
            .meaning(Meaning::Unknown);

    /// True where the call is refused outright.
    pub fn stops(self) -> bool {
        self.verdict == Verdict::Refuse
    }

    /// The same with another class.
    #[must_use]
    pub const fn class(mut self, class: Class) -> Judgement {
        self.class = class;
        self
    }
    /// The same with another verdict.
    #[must_use]
    pub const fn verdict(mut self, verdict: Verdict) -> Judgement {
        self.verdict = verdict;
        self
    }
    /// The same with another reach.
    #[must_use]
    pub const fn authority(mut self, authority: Authority) -> Judgement {
        self.axes.authority = authority;
        self
    }
    /// The same with another meaning.
    #[must_use]
    pub const fn meaning(mut self, meaning: Meaning) -> Judgement {
        self.axes.meaning = meaning;
        self
    }
    /// The same with another compatibility.
    #[must_use]
    pub const fn compat(mut self, compat: Compat) -> Judgement {
        self.axes.compat = compat;
        self
    }
}

/// A finding about an edit.
pub fn finding(
    rule: &'static Rule,
    edit: &Edit,
    context: &Context<'_>,
    judgement: Judgement,
    sentence: String,
) -> Change {
    let mut change = bare(
        rule,
        context.subject,
        format!("{}{}", context.prefix, edit.place),
        (edit.before.clone(), edit.after.clone()),
        judgement,
        sentence,
    );
    if !edit.field.is_empty() {
        change.field = Some(edit.field.clone());
        change.fingerprint = fingerprint(&change, context.subject);
    }
    change
}

/// Findings that concern calls which leave the field out.
const WHEN_LEFT_OUT: &[&str] =
    &["SF101", "SF102", "SF103", "SF121", "SF122", "SF123", "SF150", "SF151", "SF152", "SF406"];

/// A finding that stands at no edit: about a tool, a list, an operation.
pub fn bare(
    rule: &'static Rule,
    subject: &Subject,
    path: String,
    (before, after): (Option<Value>, Option<Value>),
    judgement: Judgement,
    sentence: String,
) -> Change {
    let mut change = Change {
        rule: rule.code,
        path,
        field: None,
        before,
        after,
        sentence,
        class: judgement.class,
        verdict: judgement.verdict,
        axes: judgement.axes,
        witness: None,
        decisions: Vec::new(),
        decisions_guessed: false,
        fingerprint: String::new(),
        suppressed: None,
        when: if WHEN_LEFT_OUT.contains(&rule.code) { When::LeftOut } else { When::Sent },
    };
    change.fingerprint = fingerprint(&change, subject);
    change
}

/// Stable over runs and wording: rule, subject, place and values in canonical form.
pub fn fingerprint(change: &Change, subject: &Subject) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    };
    part(change.rule);
    part(subject.name());
    part(change.field.as_deref().unwrap_or(&change.path));
    for value in [&change.before, &change.after] {
        part(&value.as_ref().map(canonical).unwrap_or_default());
    }
    let digest = hash.finalize();
    digest[..10].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Canonical JSON: equal values, equal text.
pub fn canonical(value: &Value) -> String {
    crate::digest::canonical(value)
}

/// Attaches a replayed value.
#[must_use]
pub fn with_witness(mut change: Change, witness: Option<Witness>) -> Change {
    change.witness = witness;
    change
}

/// A value in a sentence: short, quoted, never a page of JSON.
pub fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = match value {
        Value::String(text) => format!("\"{text}\""),
        other => other.to_string(),
    };
    if text.chars().count() > LONGEST {
        format!("{}…", text.chars().take(LONGEST).collect::<String>())
    } else {
        text
    }
}

/// Several values in a sentence.
pub fn shown_list(values: &[Value]) -> String {
    const MOST: usize = 6;
    let mut shown: Vec<String> = values.iter().take(MOST).map(shown_value).collect();
    if values.len() > MOST {
        shown.push(format!("and {} more", values.len() - MOST));
    }
    shown.join(", ")
}

fn shown_value(value: &Value) -> String {
    format!("`{}`", shown(value).trim_matches('"'))
}

/// True where old values are said not to fit any more, or new ones to come, or where neither could be told.
pub fn claims_loss(change: &Change) -> bool {
    change.axes.compat >= Compat::Adaptable
}

/// The gravest verdict of several changes.
pub fn worst(changes: &[Change]) -> Verdict {
    changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::Safe)
}
