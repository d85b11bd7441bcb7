//! What a text edit is worth: one judgement for each kind of signal, shared by all areas.

use super::finding::Judgement;
use crate::change::{Change, When};
use crate::prose::{self, SignalKind};
use crate::verdict::{Authority, Class, Meaning};

/// Signals of one text, judged; shared with the rules for whole tools and operations.
pub fn text_findings(
    signals: &[prose::Signal],
    make: &dyn Fn(Option<SignalKind>, Judgement, String) -> Change,
) -> Vec<Change> {
    if signals.is_empty() {
        return vec![make(None, Judgement::WORDING, "the text was reworded".to_string())];
    }
    signals
        .iter()
        .map(|signal| {
            let (judgement, what) = judge_signal(signal);
            Change { when: when(signal), ..make(Some(signal.kind), judgement, what) }
        })
        .collect()
}

/// True where a default that one text no longer states is stated by another one of the tool.
pub fn told_elsewhere(signal: &prose::Signal, new_text: &str) -> bool {
    let sentences = || prose::sentences(new_text).into_iter();
    match signal.kind {
        SignalKind::DefaultDropped => sentences().any(|sentence| {
            let said = sentence.to_lowercase();
            said.contains("default") && said.contains(&signal.word)
        }),
        // A duty that went from the text of the tool stands in that of the argument it is about.
        SignalKind::DutyRelaxed if signal.after.is_empty() => {
            sentences().any(|sentence| prose::similarity(&sentence, &signal.before) >= KEPT)
        }
        _ => false,
    }
}

/// Which calls a signal is about: what is taken where a value is left out concerns those that leave it out, and what
/// speaks of that beside something else concerns both.
fn when(signal: &prose::Signal) -> When {
    const LEAVING_OUT: &[&str] = &[
        "default", "omit", "left out", "leave out", "not given", "not set", "not provided",
        "unset", "unspecified", "absent",
    ];
    match signal.kind {
        SignalKind::DefaultMoved | SignalKind::DefaultDropped => When::LeftOut,
        SignalKind::NotCompared | SignalKind::HiddenText | SignalKind::OrderAppeared => {
            When::Either
        }
        _ => {
            let said = format!("{} {} {}", signal.word, signal.before, signal.after).to_lowercase();
            if LEAVING_OUT.iter().any(|word| said.contains(word)) {
                When::Either
            } else {
                When::Sent
            }
        }
    }
}

/// From this share of common words on a duty is the same one.
const KEPT: f64 = 0.8;

fn judge_signal(signal: &prose::Signal) -> (Judgement, String) {
    let quote = |text: &str| {
        let short: String = text.chars().take(110).collect();
        if short.len() < text.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
    };
    let (before, after) = (quote(&signal.before), quote(&signal.after));
    match signal.kind {
        SignalKind::DutyRelaxed => (
            Judgement::LOOK.authority(Authority::Wider),
            if signal.after.is_empty() {
                format!("the duty {before} is gone from the text")
            } else {
                format!("a duty is softer: {before} reads {after} now")
            },
        ),
        SignalKind::DutyTightened => (
            Judgement::WORDING.authority(Authority::Narrower).meaning(Meaning::Changed),
            format!("a duty is harder: {after}"),
        ),
        SignalKind::LimitLowered => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("the stated limit is lower: {before} reads {after} now"),
        ),
        SignalKind::LimitRaised => {
            (Judgement::WORDING, format!("the stated limit is higher: {after}"))
        }
        SignalKind::DefaultMoved => (
            Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Changed),
            format!("the stated default moved: {before} reads {after} now"),
        ),
        SignalKind::UnitMoved => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("another unit: {before} reads {after} now"),
        ),
        SignalKind::EffectAppeared => (
            Judgement::LOOK.authority(Authority::Unknown).meaning(Meaning::Unknown),
            format!("the text names an effect it did not name before: {after}"),
        ),
        SignalKind::AnswerReduced => (
            Judgement::LOOK.authority(Authority::Narrower),
            format!("the answer holds less: {after}"),
        ),
        SignalKind::ScopeWidened => (
            Judgement::LOOK.authority(Authority::Wider),
            format!("the reach is wider: {before} reads {after} now"),
        ),
        SignalKind::HandleMoved => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("names its thing by {} now: {before} reads {after} now", signal.word),
        ),
        SignalKind::DefaultDropped => (
            Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Unknown),
            format!(
                "the default `{}` is stated nowhere any more ({before}); the planned default can be written in",
                signal.word
            ),
        ),
        SignalKind::ScopeNarrowed => (
            Judgement::LOOK.authority(Authority::Narrower),
            format!("the reach is narrower: {before} reads {after} now"),
        ),
        SignalKind::RefusalAppeared => (
            Judgement::LOOK.authority(Authority::Narrower),
            format!("fails now where it changed what is there: {after}"),
        ),
        SignalKind::ChoiceRecased => (
            Judgement::ADAPTABLE.meaning(Meaning::Unknown),
            format!("the text spells {before} as {after} now; a value map carries old calls over"),
        ),
        SignalKind::SaidOtherwise if signal.after.is_empty() => (
            Judgement::LOOK,
            format!("the text says so no more ({}): {before}", signal.word),
        ),
        SignalKind::SaidOtherwise => (
            Judgement::LOOK,
            format!("the same thing is said otherwise ({}): {before} reads {after} now", signal.word),
        ),
        SignalKind::HiddenText => (
            Judgement::LOOK.authority(Authority::Unknown),
            format!("the text holds characters now that nobody sees ({})", signal.word),
        ),
        SignalKind::OrderAppeared => (
            Judgement::LOOK.authority(Authority::Unknown),
            format!("the text gives the model an order that {}: {after}", signal.word),
        ),
        SignalKind::TextOfSibling => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!(
                "holds the text now that `{}` had, and what it said stands elsewhere: {before} reads {after} now",
                signal.word
            ),
        ),
        SignalKind::NotCompared => (
            Judgement::UNDECIDED,
            "the text changed and is too long, or changed in too many sentences, to be compared: a person reads it"
                .to_string(),
        ),
        SignalKind::ChoiceDropped => (
            Judgement::BREAKING.meaning(Meaning::Changed).authority(Authority::Narrower),
            format!("the text no longer offers `{}`: {before} reads {after} now", signal.word),
        ),
    }
}
