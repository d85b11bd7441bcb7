//! Texts of an API: which edits move a number, a duty, the reach or the rule of a list's end.
//!
//! The kinds that any contract's text knows are found by [`crate::prose`]; here stand those that
//! an API adds, where a text says what is answered and when there is no more.

use super::draft::{Finish, UNSURE, change};
use super::resolve::Place;
use crate::change::Change;
use crate::decision::guess::{self, Spot};
use crate::prose::{self, SignalKind};
use crate::rules::finding::Judgement;
use crate::rules::http::{SF540, SF541};
use crate::verdict::Decision;
use std::collections::BTreeSet;

/// What an edit of a text moved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moved {
    /// In words, for the sentence: what moved.
    pub what: String,
    /// The meaning is another one for certain, not only perhaps.
    pub certain: bool,
    /// The decisions it feeds by what it speaks about.
    pub decisions: Vec<Decision>,
}

/// Sentences are about the same thing from this share of common words on.
const TWIN: f64 = 0.34;
/// From here on two sentences differ in a word or two, so that each one counts.
const CLOSE: f64 = 0.6;

const NOT: &[&str] =
    &["not", "never", "cannot", "no", "without", "don't", "doesn't", "won't", "isn't"];
const NARROW: &[&str] =
    &["only", "except", "excluding", "excludes", "excluded", "unless", "solely"];
const WIDE: &[&str] =
    &["all", "every", "everything", "everyone", "entire", "regardless", "including"];
const LISTING: &[&str] =
    &["page", "cursor", "pagination", "offset", "token", "more", "next", "results"];
const ENDING: &[&str] = &[
    "end", "last", "final", "absent", "empty", "null", "until", "missing", "omitted", "present",
    "further", "complete", "more", "stop", "follow",
];
const REPEATING: &[&str] = &[
    "retry", "retries", "retried", "poll", "polling", "idempotent", "asynchronously", "eventually",
];
/// A number after one of these names something rather than measuring it.
const NAMED_BY_NUMBER: &[&str] = &[
    "rfc", "version", "v", "section", "http", "issue", "iso", "oauth", "level", "status", "code",
    "api",
];

/// What the edit of a text moved, if it is one.
pub(crate) fn worded((was, is): (&str, &str), spot: &Spot<'_>, place: &Place) -> Option<Change> {
    if was == is {
        return None;
    }
    Some(match moved(was, is, spot) {
        Some(moved) => {
            let judgement = if moved.certain { Judgement::LOOK } else { UNSURE };
            let sentence = format!(
                "the text says something else: {}: the same call may not mean the same",
                moved.what
            );
            change(&SF540, judgement, place, sentence).guess(&moved.decisions)
        }
        None => {
            let sentence = match (was, is) {
                ("", _) => "a text is there now",
                (_, "") => "the text is gone",
                _ => "the text is worded otherwise",
            };
            change(&SF541, Judgement::WORDING, place, sentence.to_owned())
        }
    })
}

/// Compares two texts about the same thing. `None` where the edit only rewords.
pub(crate) fn moved(old: &str, new: &str, spot: &Spot<'_>) -> Option<Moved> {
    if prose::same_text(old, new) {
        return None;
    }
    // A text below a parameter or a header is about one value.
    let of_one_value = spot.path.len() > 1;
    let compare = if of_one_value { prose::compare_field } else { prose::compare };
    let signals = compare(old, new);
    let grave = signals
        .iter()
        // Where a text no longer states a default, the schema of the value does.
        .find(|signal| {
            use SignalKind::{DefaultDropped, DutyTightened, LimitRaised};
            !matches!(signal.kind, LimitRaised | DutyTightened | DefaultDropped)
        });
    if let Some(signal) = grave {
        let about = format!("{} {}", signal.before, signal.after);
        let certain = matches!(
            signal.kind,
            SignalKind::DefaultMoved
                | SignalKind::UnitMoved
                | SignalKind::LimitLowered
                | SignalKind::HandleMoved
                | SignalKind::TextOfSibling
        );
        return Some(Moved {
            what: format!("{} (`{}`)", describe(signal.kind), signal.word),
            certain,
            decisions: guess::text(&about, spot),
        });
    }
    api_moved(old, new, spot)
}

fn describe(kind: SignalKind) -> &'static str {
    match kind {
        SignalKind::DutyRelaxed => "a duty is gone or softer",
        SignalKind::DutyTightened => "a duty is new or harder",
        SignalKind::LimitLowered => "a stated limit is lower",
        SignalKind::LimitRaised => "a stated limit is higher",
        SignalKind::DefaultMoved => "the stated default is another one",
        SignalKind::UnitMoved => "the unit is another one",
        SignalKind::EffectAppeared => "an effect is named that was not named before",
        SignalKind::AnswerReduced => "the answer holds less",
        SignalKind::ScopeWidened => "the reach is wider",
        SignalKind::ChoiceDropped => "a value is no longer offered",
        SignalKind::HandleMoved => "another kind of handle is asked for",
        SignalKind::DefaultDropped => "the stated default is stated no more",
        SignalKind::ScopeNarrowed => "the reach is narrower",
        SignalKind::RefusalAppeared => "it fails where something is there already",
        SignalKind::ChoiceRecased => "a value is spelt otherwise",
        SignalKind::SaidOtherwise => "the same thing is said with another meaning",
        SignalKind::HiddenText => "the text holds characters that nobody sees",
        SignalKind::OrderAppeared => {
            "the text gives the model an order that is not about the operation"
        }
        SignalKind::TextOfSibling => "it holds the text of a sibling, and its own stands elsewhere",
        SignalKind::NotCompared => "the text is too long to be compared",
    }
}

/// The kinds that only an API's text has; used on its own where the others are judged elsewhere.
pub(crate) fn api_moved(old: &str, new: &str, spot: &Spot<'_>) -> Option<Moved> {
    let (was, is) = (prose::sentences(old), prose::sentences(new));
    let keys = |list: &[String]| -> BTreeSet<String> {
        list.iter().map(|sentence| prose::key(sentence)).collect()
    };
    let (old_keys, new_keys) = (keys(&was), keys(&is));
    let gone: Vec<&String> = was.iter().filter(|a| !new_keys.contains(&prose::key(a))).collect();
    let come: Vec<&String> = is.iter().filter(|b| !old_keys.contains(&prose::key(b))).collect();
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    // Where one sentence gave way to one, they are about the same thing however they are worded.
    let least = if gone.len() == 1 && come.len() == 1 { 0.0 } else { TWIN };
    for before in &gone {
        let twin = come
            .iter()
            .enumerate()
            .filter(|(at, _)| !taken.contains(at))
            .map(|(at, after)| (prose::similarity(before, after), at))
            .filter(|(score, _)| *score >= least)
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let (score, after) = match twin {
            Some((score, at)) => {
                taken.insert(at);
                (score, come[at].as_str())
            }
            None => (0.0, ""),
        };
        if let Some(what) = twin_moved(before, after, score) {
            let about = format!("{before} {after}");
            return Some(Moved { what, certain: false, decisions: guess::text(&about, spot) });
        }
        // The rule of an end, told otherwise.
        let rule = |text: &str| {
            let words = tokens(text);
            let has = |list: &[&str]| words.iter().any(|word| list.contains(&singular(word)));
            has(LISTING) && has(ENDING) || has(REPEATING)
        };
        let replaced = come.iter().any(|after| rule(after));
        if rule(before) && score < 0.8 && replaced {
            return Some(Moved {
                what: "the rule of when there is no more is told otherwise".to_owned(),
                certain: false,
                decisions: vec![Decision::Completion],
            });
        }
    }
    None
}

fn singular(word: &str) -> &str {
    crate::lexicon::singular(word)
}

fn tokens(text: &str) -> Vec<String> {
    // `next_cursor` counts as its words: a text names fields.
    crate::lexicon::words(text).into_iter().map(|word| word.to_lowercase()).collect()
}

fn numbers(words: &[String]) -> BTreeSet<String> {
    words
        .iter()
        .enumerate()
        .filter(|(at, word)| {
            word.chars().all(|c| c.is_ascii_digit())
                && (*at == 0 || !NAMED_BY_NUMBER.contains(&words[at - 1].as_str()))
        })
        .map(|(_, word)| word.clone())
        .collect()
}

fn twin_moved(before: &str, after: &str, score: f64) -> Option<String> {
    if after.is_empty() {
        return None;
    }
    let (old, new) = (tokens(before), tokens(after));
    let in_list = |words: &[String], list: &[&str]| -> BTreeSet<String> {
        words.iter().filter(|word| list.contains(&word.as_str())).cloned().collect()
    };
    let (was, is) = (numbers(&old), numbers(&new));
    if score >= CLOSE && !was.is_empty() && !is.is_empty() && was != is {
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        return Some(format!("a number moved ({} to {})", list(&was), list(&is)));
    }
    let raw = |text: &str| -> usize {
        text.split_whitespace()
            .map(|word| {
                word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase()
            })
            .filter(|word| NOT.contains(&word.as_str()))
            .count()
    };
    if score >= CLOSE && raw(before) % 2 != raw(after) % 2 {
        return Some("a statement turned into its opposite".to_owned());
    }
    let (narrow_was, narrow_is) = (in_list(&old, NARROW), in_list(&new, NARROW));
    let (wide_was, wide_is) = (in_list(&old, WIDE), in_list(&new, WIDE));
    let widened = !narrow_was.is_empty() && wide_is.difference(&wide_was).next().is_some();
    let narrowed = !narrow_is.is_empty() && wide_was.difference(&wide_is).next().is_some();
    let alone = score >= CLOSE && narrow_was != narrow_is;
    if widened || narrowed || alone {
        return Some("what it covers is told otherwise".to_owned());
    }
    let modal = |words: &[String]| -> Option<&'static str> {
        ["must", "should", "may", "can", "will", "might"]
            .into_iter()
            .find(|modal| words.iter().any(|word| word == modal))
    };
    if let (true, Some(a), Some(b)) = (score >= CLOSE, modal(&old), modal(&new)) {
        let firm = |word: &str| matches!(word, "must" | "will");
        if firm(a) != firm(b) {
            return Some(format!("`{a}` became `{b}`"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Flow;

    fn check(old: &str, new: &str) -> Option<Moved> {
        let path = ["body".to_owned()];
        let spot = Spot {
            flow: Flow::Response,
            path: &path,
            schema: None,
            reads: true,
            error: false,
            about: &[],
        };
        moved(old, new, &spot)
    }

    #[test]
    fn numbers_reach_duty_and_end_are_seen() {
        for (old, new) in [
            ("Reports are kept for 30 days.", "Reports are kept for 7 days."),
            ("Returns only orders you own.", "Returns all orders of the company."),
            ("Archived notes are returned.", "Archived notes are not returned."),
            (
                "When after is absent there are no more pages.",
                "An empty page does not mean the end; follow after until it is null.",
            ),
            ("The parcel will be sent at once.", "The parcel may be sent at once."),
        ] {
            assert!(check(old, new).is_some(), "{old} -> {new}");
        }
    }

    #[test]
    fn rewording_is_not() {
        for (old, new) in [
            ("Returns a list of orders.", "Lists orders."),
            ("The order's number", "Number of the order"),
            ("See RFC 7231 for dates.", "See RFC 9110 for dates."),
            ("Retrieve a user", "Retrieves a single user"),
            ("A page of orders.", "One page of orders."),
        ] {
            assert_eq!(check(old, new), None, "{old} -> {new}");
        }
    }
}
