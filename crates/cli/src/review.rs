//! The review record of a gate: what a release asks of those who depend on it, filled from a comparison.

use contract::policy::{self, ReviewNote};
use contract::{Authority, Change, Class, Compat, Diff, Entry, Meaning, Subject, Verdict};
use report::{Question, ReviewAnswer, ReviewEntry, ReviewRecord};
use std::collections::BTreeMap;

/// How many old values one sentence recalls; the findings beside it show all.
const RECALLED: usize = 4;

/// Fills the record: one entry for each subject that changed in more than notation or wording.
pub fn record(diff: &Diff, notes: &[ReviewNote]) -> ReviewRecord {
    ReviewRecord {
        entries: diff
            .entries
            .iter()
            .filter(|entry| entry.class > Class::Cosmetic)
            .filter(|entry| !policy::is_about_settings(&entry.subject))
            .map(|entry| review(entry, notes))
            .collect(),
    }
}

fn review(entry: &Entry, notes: &[ReviewNote]) -> ReviewEntry {
    let note = |part: fn(&ReviewNote) -> &Option<String>| {
        let own = notes.iter().filter(|note| note.subject == entry.subject.name());
        let every = notes.iter().filter(|note| note.subject == "*");
        own.chain(every).find_map(|note| part(note).clone())
    };
    ReviewEntry {
        subject: entry.subject.clone(),
        from: entry.from.clone(),
        to: entry.to.clone(),
        assumptions: consumer_relevant(entry).map(|change| change.sentence.clone()).collect(),
        old_behaviour: old_behaviour(entry),
        window: note(|note| &note.window),
        fixture: note(|note| &note.fixture),
        answers: answers(entry),
        faults: Vec::new(),
        kept: None,
    }
}

/// Whether the old contract did not have it.
fn is_new(entry: &Entry) -> bool {
    entry.from.is_none() && entry.to.is_some()
}

/// The changes on which an assumption of a consumer can rest, accepted or not.
fn consumer_relevant(entry: &Entry) -> impl Iterator<Item = &Change> {
    entry.changes.iter().filter(|change| {
        change.verdict != Verdict::Safe
            || change.axes.compat > Compat::Compatible
            || change.axes.meaning != Meaning::Same
            || matches!(change.axes.authority, Authority::Wider | Authority::Unknown)
    })
}

fn old_behaviour(entry: &Entry) -> String {
    if is_new(entry) {
        return "It was not there.".to_owned();
    }
    let mut recalled: Vec<String> = consumer_relevant(entry)
        .filter(|change| !change.path.is_empty())
        .map(|change| match &change.before {
            Some(before) => format!("{} was {}", change.path, short(before)),
            None => format!("{} was not there", change.path),
        })
        .collect();
    recalled.dedup();
    if recalled.is_empty() {
        return match &entry.to {
            None => "It was there, as the lock describes it.".to_owned(),
            Some(_) => "What a call sends and what it means were as they are now.".to_owned(),
        };
    }
    let more = recalled.len().saturating_sub(RECALLED);
    recalled.truncate(RECALLED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}.", recalled.join("; "))
}

/// A value on one line, cut where it is long.
fn short(value: &serde_json::Value) -> String {
    /// What fits beside a path on one line.
    const CHARACTERS: usize = 80;
    let text = value.to_string();
    match text.char_indices().nth(CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

fn answers(entry: &Entry) -> BTreeMap<Question, ReviewAnswer> {
    let old_arguments = old_arguments(entry);
    let same_meaning = same_meaning(entry);
    let harmless =
        matches!(old_arguments, ReviewAnswer::Yes { .. } | ReviewAnswer::NotApplicable { .. })
            && matches!(
                same_meaning,
                ReviewAnswer::Yes { .. } | ReviewAnswer::NotApplicable { .. }
            );
    let refused = if harmless {
        ReviewAnswer::NotApplicable { why: "old arguments stay valid and mean the same".to_owned() }
    } else {
        ReviewAnswer::NotChecked {
            run: "`steadfast gate --execute -- COMMAND`: an old call to the new version is refused, and nothing happened".to_owned(),
        }
    };
    let notified = match entry.subject {
        Subject::Operation(_) => ReviewAnswer::NotApplicable {
            why: "an HTTP API announces no change of its list".to_owned(),
        },
        Subject::Schema(_) => {
            ReviewAnswer::NotApplicable { why: "a schema alone is not served".to_owned() }
        }
        Subject::Tool(_) | Subject::Whole(_) => ReviewAnswer::NotChecked {
            run: "`steadfast gate --tests SCENARIO`: the switch, with a client that lists the tools as soon as it is told"
                .to_owned(),
        },
    };
    BTreeMap::from([
        (Question::OldArguments, old_arguments),
        (Question::SameMeaning, same_meaning),
        (Question::RefusedBeforeEffect, refused),
        (Question::NotifiedWhenReady, notified),
        (Question::RepairWithoutAuthority, without_authority(entry)),
    ])
}

fn old_arguments(entry: &Entry) -> ReviewAnswer {
    if is_new(entry) {
        return ReviewAnswer::NotApplicable { why: "no old session knows it".to_owned() };
    }
    match entry.axes.compat {
        Compat::Identical | Compat::Notation | Compat::Wording | Compat::Compatible => {
            ReviewAnswer::Yes {
                checked: "compared: every call that the old contract describes is still taken"
                    .to_owned(),
            }
        }
        Compat::Adaptable => ReviewAnswer::No {
            checked: format!(
                "only after a mechanical conversion: {}",
                because(entry, |change| { change.axes.compat == Compat::Adaptable })
            ),
        },
        Compat::Breaking => ReviewAnswer::No {
            checked: because(entry, |change| change.axes.compat == Compat::Breaking),
        },
        Compat::Undecided => ReviewAnswer::Undecided {
            why: because(entry, |change| change.axes.compat == Compat::Undecided),
        },
    }
}

fn same_meaning(entry: &Entry) -> ReviewAnswer {
    if is_new(entry) {
        return ReviewAnswer::NotApplicable { why: "no old session knows it".to_owned() };
    }
    match entry.axes.meaning {
        Meaning::Same => ReviewAnswer::Yes {
            checked: "compared: defaults, enums, units, guards, hints and descriptions, as far as the contract states them".to_owned(),
        },
        Meaning::Changed => ReviewAnswer::No {
            checked: because(entry, |change| change.axes.meaning == Meaning::Changed),
        },
        Meaning::Unknown => ReviewAnswer::Undecided {
            why: because(entry, |change| change.axes.meaning == Meaning::Unknown),
        },
    }
}

fn without_authority(entry: &Entry) -> ReviewAnswer {
    match entry.axes.authority {
        Authority::Same | Authority::Narrower => ReviewAnswer::Yes {
            checked: "compared: nothing in the new contract reaches further than the old"
                .to_owned(),
        },
        Authority::Wider => ReviewAnswer::No {
            checked: because(entry, |change| change.axes.authority == Authority::Wider),
        },
        Authority::Unknown => ReviewAnswer::Undecided {
            why: because(entry, |change| change.axes.authority == Authority::Unknown),
        },
    }
}

/// The first change that moved the axis, with its witness where it has one.
fn because(entry: &Entry, moved: impl Fn(&Change) -> bool) -> String {
    let Some(change) = entry.changes.iter().find(|change| moved(change)) else {
        return "it follows from its changes together".to_owned();
    };
    match &change.witness {
        Some(witness) => {
            let told = change.sentence.trim_end_matches('.');
            format!("{} {told}. Shown by {}.", change.rule, short(&witness.value))
        }
        None => format!("{} {}", change.rule, change.sentence),
    }
}
