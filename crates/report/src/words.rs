//! The words that all formats share: verdicts, headlines, nouns, counts.

use crate::escape::{clip, visible};
use crate::level::standing;
use crate::limits::{NAME_CHARS, SENTENCE_CHARS};
use contract::{
    Authority, Axes, Change, Class, Decision, Diff, Entry, Heir, Kind, Meaning, Side, Subject,
    Verdict,
};
use std::collections::BTreeMap;

/// Gravest first: the order in which findings are told.
pub(crate) const VERDICTS: [Verdict; 6] = [
    Verdict::Refuse,
    Verdict::NewApproval,
    Verdict::Undecided,
    Verdict::Adapt,
    Verdict::NewName,
    Verdict::Safe,
];

pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "safe",
        Verdict::NewName => "new-name",
        Verdict::Adapt => "adapt",
        Verdict::Undecided => "undecided",
        Verdict::NewApproval => "new-approval",
        Verdict::Refuse => "refuse",
    }
}

pub(crate) fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Target => "target",
        Decision::Eligibility => "eligibility",
        Decision::Scope => "scope",
        Decision::Completion => "completion",
        Decision::Ask => "ask",
    }
}

/// What the verdict over everything means for a session that is running.
pub(crate) fn headline(diff: &Diff) -> &'static str {
    match diff.verdict {
        Verdict::Refuse => "calls planned against the old contract break or go elsewhere",
        Verdict::NewApproval => "old calls may still pass, but a person must look again",
        Verdict::Undecided => "not decided: neither proved safe nor shown to break",
        Verdict::Adapt => "old calls need a mechanical change",
        Verdict::NewName => "the same contract under another name",
        Verdict::Safe if diff.entries.is_empty() => "nothing changed",
        Verdict::Safe => "calls planned against the old contract stay valid and mean the same",
    }
}

/// The first letter large.
pub(crate) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn subjects(kind: Kind, count: usize) -> String {
    let noun = match kind {
        Kind::Tools => "tool",
        Kind::Openapi => "operation",
        Kind::Schema => "schema",
    };
    plural(count, noun)
}

/// `1 change`, `2 changes`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("{count} {noun}") } else { format!("{count} {noun}s") }
}

/// A subject's name on one line.
pub(crate) fn name(subject: &Subject) -> String {
    name_of(subject.name())
}

pub(crate) fn name_of(name: &str) -> String {
    let name = clip(name, NAME_CHARS);
    if name.is_empty() {
        return "(no name)".to_owned();
    }
    visible(&name)
}

/// A change's sentence on one line.
pub(crate) fn sentence(change: &Change) -> String {
    line(&change.sentence)
}

pub(crate) fn line(text: &str) -> String {
    visible(&clip(text, SENTENCE_CHARS))
}

/// `old accepts, new rejects`.
pub(crate) fn sides(accepted_by: Side) -> (&'static str, &'static str) {
    match accepted_by {
        Side::Old => ("old", "new"),
        Side::New => ("new", "old"),
    }
}

/// True where a caller could not tell the difference.
pub(crate) fn is_cosmetic(class: Class, verdict: Verdict) -> bool {
    class == Class::Cosmetic && verdict == Verdict::Safe
}

/// What the axes add to the verdict, where they say more than it does.
pub(crate) fn axes_note(axes: Axes) -> Option<&'static str> {
    match (axes.authority, axes.meaning) {
        (Authority::Wider, _) => Some("an old grant would now cover more"),
        (Authority::Unknown, _) => Some("whether an old grant covers more is not known"),
        (_, Meaning::Changed) => Some("the same call means something else"),
        (_, Meaning::Unknown) => Some("whether the call means the same is not known"),
        _ => None,
    }
}

/// The same for an entry: what is refused anyway needs no word about its meaning.
pub(crate) fn entry_note(entry: &Entry) -> Option<&'static str> {
    let told = entry.verdict != Verdict::Refuse || entry.axes.authority == Authority::Wider;
    axes_note(entry.axes).filter(|_| told)
}

/// `reaches: target, scope (guessed)`.
pub(crate) fn decisions(change: &Change) -> Option<String> {
    if change.decisions.is_empty() {
        return None;
    }
    let words: Vec<&str> = change.decisions.iter().map(|d| decision(*d)).collect();
    let guess = if change.decisions_guessed { " (guessed)" } else { "" };
    Some(format!("reaches {}{guess}", words.join(", ")))
}

/// The name of a subject, and its heir: `ls → list_files (declared)`, `list_files (was ls)`.
pub(crate) fn title(entry: &Entry) -> String {
    let name = name(&entry.subject);
    match (&entry.renamed_to, &entry.was) {
        (Some(heir), _) => format!("{name} → {} ({})", name_of(&heir.name), certainty(heir)),
        (None, Some(old)) => format!("{name} (was {})", name_of(old)),
        (None, None) => name,
    }
}

/// `declared`, or `a guess, 0.82`: a guess is never acted on alone.
pub(crate) fn certainty(heir: &Heir) -> String {
    if heir.declared { "declared".to_owned() } else { format!("a guess, {:.2}", heir.confidence) }
}

/// Why an heir is believed, where no sentence of the entry names it already.
pub(crate) fn heir_reasons(entry: &Entry) -> Option<String> {
    let heir = entry.renamed_to.as_ref()?;
    let quoted = format!("`{}`", heir.name);
    if heir.reasons.is_empty() || entry.changes.iter().any(|c| c.sentence.contains(&quoted)) {
        return None;
    }
    let reasons: Vec<String> = heir.reasons.iter().map(|reason| line(reason)).collect();
    Some(format!("the heir is believed for: {}", reasons.join("; ")))
}

/// How many entries carry each verdict. Every verdict is present.
pub(crate) fn tally(diff: &Diff) -> BTreeMap<Verdict, usize> {
    let mut tally: BTreeMap<Verdict, usize> = VERDICTS.into_iter().map(|v| (v, 0)).collect();
    for entry in &diff.entries {
        *tally.entry(standing(entry)).or_default() += 1;
    }
    tally
}

/// Changes that the policy accepted.
pub(crate) fn suppressed(diff: &Diff) -> usize {
    diff.entries
        .iter()
        .flat_map(|entry| &entry.changes)
        .filter(|change| change.suppressed.is_some())
        .count()
}

/// `3 refuse · 1 safe · 16 unchanged`; never empty.
pub(crate) fn summary(diff: &Diff) -> String {
    let tally = tally(diff);
    let mut parts: Vec<String> = VERDICTS
        .into_iter()
        .filter(|verdict| tally[verdict] > 0)
        .map(|v| format!("{} {}", tally[&v], verdict(v)))
        .collect();
    if diff.counts.unchanged > 0 || parts.is_empty() {
        parts.push(format!("{} unchanged", diff.counts.unchanged));
    }
    let suppressed = suppressed(diff);
    if suppressed > 0 {
        parts.push(format!("{} suppressed", plural(suppressed, "change")));
    }
    parts.join(" · ")
}

/// The gravest finding's rule: what the hint names. A cosmetic diff needs no hint.
pub(crate) fn first_rule(diff: &Diff) -> Option<&'static str> {
    diff.entries
        .iter()
        .flat_map(|entry| entry.changes.iter())
        .filter(|change| change.suppressed.is_none())
        .filter(|change| !is_cosmetic(change.class, change.verdict))
        // `max_by_key` keeps the last of equals; the first is wanted.
        .rev()
        .max_by_key(|change| (change.verdict, change.class))
        .map(|change| change.rule)
}

/// `3 tools`, by the kind of a subject.
pub(crate) fn subjects_of(subject: &Subject, count: usize) -> String {
    match subject {
        Subject::Tool(_) => subjects(Kind::Tools, count),
        Subject::Operation(_) => subjects(Kind::Openapi, count),
        Subject::Schema(_) => subjects(Kind::Schema, count),
        Subject::Whole(_) => plural(count, "part"),
    }
}
