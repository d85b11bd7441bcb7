//! What a text as a whole no longer says or says for the first time: a default, whose things are
//! meant, a refusal, how a choice is spelt. Sentences need no twin for these.

use super::twins::{Sentence, alike};
use super::words::{DEEDS_ON_WHAT_IS_THERE, NARROW, REFUSALS, WIDE};
use super::{LIKE, Signal, SignalKind, sentences, signal, stated_default, stem, tokens};
use crate::limits;
use std::collections::BTreeSet;

/// Defaults that an author writes for "nothing": a text that no longer says them says no less.
const NOTHING: &[&str] =
    &["false", "0", "none", "null", "nil", "no", "off", "empty", "undefined", "unset", "", "[]"];

/// All of them, for the texts of a tool and of a field alike.
pub(super) fn signals(
    (old, new): (&str, &str),
    (gone, come): (&[Sentence], &[Sentence]),
    found: &mut Vec<Signal>,
) {
    default_dropped(old, new, found);
    scope_moved(gone, come, (old, new), found);
    refusal_appeared(come, old, found);
}

/// A default that no sentence states any more, and that the new text does not even name.
fn default_dropped(old: &str, new: &str, found: &mut Vec<Signal>) {
    if sentences(new).iter().any(|sentence| stated_default(sentence).is_some()) {
        return;
    }
    let said = format!(" {} ", tokens(new).join(" "));
    let mut told: BTreeSet<String> = BTreeSet::new();
    for sentence in sentences(old) {
        let Some(literal) = stated_default(&sentence) else {
            continue;
        };
        if told.len() >= limits::TEXT_DEFAULTS {
            break;
        }
        if !told.insert(literal.clone()) {
            continue;
        }
        let words = tokens(&literal);
        let named = said.contains(&format!(" {} ", words.join(" ")));
        // A place of this machine is none that a caller relies on.
        let is_path = literal.contains('/') && !literal.contains("://");
        if !named && !words.is_empty() && !is_path && !NOTHING.contains(&literal.as_str()) {
            found.push(signal(SignalKind::DefaultDropped, &sentence, "", &literal));
        }
    }
}

/// The thing that a word of reach speaks of: the nearest words after it.
fn spoken_of(tokens: &[String], reach: &[&str], most: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, word) in tokens.iter().enumerate() {
        if reach.contains(&word.as_str()) {
            for noun in tokens[at + 1..].iter().take(most) {
                // What follows a preposition is another thing.
                if matches!(
                    noun.as_str(),
                    "of" | "in" | "for" | "from" | "to" | "with" | "and" | "or"
                ) {
                    break;
                }
                if noun.len() > 2 && !reach.contains(&noun.as_str()) {
                    found.insert(stem(noun));
                }
            }
        }
    }
    found
}

/// The things that a sentence speaks of as one or as all.
fn reached(sentence: &str, wide: &[&str]) -> BTreeSet<String> {
    let said = tokens(sentence);
    let mut things = spoken_of(&said, NARROW, 2);
    things.extend(spoken_of(&said, wide, 2));
    things
}

/// `the current project` became `all projects`, or the other way round.
fn scope_moved(
    gone: &[Sentence],
    come: &[Sentence],
    (old, new): (&str, &str),
    found: &mut Vec<Signal>,
) {
    let (old, new) = (tokens(old), tokens(new));
    let wide: Vec<&str> = WIDE.iter().copied().filter(|word| *word != "any").collect();
    let (was_one, was_all) = (spoken_of(&old, NARROW, 2), spoken_of(&old, &wide, 2));
    let (is_one, is_all) = (spoken_of(&new, NARROW, 2), spoken_of(&new, &wide, 2));
    let things = |list: &[Sentence]| -> Vec<BTreeSet<String>> {
        list.iter().map(|sentence| reached(&sentence.text, &wide)).collect()
    };
    let (before_things, after_things) = (things(gone), things(come));
    let mut weighed = 0;
    for noun in was_one.union(&is_one) {
        let one = (was_one.contains(noun), is_one.contains(noun));
        let all = (was_all.contains(noun), is_all.contains(noun));
        let kind = match (one, all) {
            ((true, false), (false, true)) => SignalKind::ScopeWidened,
            ((false, true), (true, false)) => SignalKind::ScopeNarrowed,
            _ => continue,
        };
        weighed += gone.len() + come.len();
        if weighed > limits::TEXT_PAIRS {
            found.push(signal(SignalKind::NotCompared, "", "", ""));
            return;
        }
        // Both words stand in sentences about the same thing.
        let speaks = |list: &[BTreeSet<String>]| -> Vec<usize> {
            (0..list.len()).filter(|at| list[*at].contains(noun)).collect()
        };
        let after_at = speaks(&after_things);
        let pair = speaks(&before_things).into_iter().find_map(|before| {
            // Where one sentence gave way to one, they are about the same thing.
            let alone = gone.len() == 1 && come.len() == 1;
            let twin =
                after_at.iter().find(|after| alone || alike(&gone[before], &come[**after]) >= LIKE);
            twin.map(|after| (gone[before].text.as_str(), come[*after].text.as_str()))
        });
        if let Some((before, after)) = pair {
            found.push(signal(kind, before, after, noun));
        }
    }
}

/// A text that spoke of changing what is there says now that it fails where something is there.
fn refusal_appeared(come: &[Sentence], old: &str, found: &mut Vec<Signal>) {
    let before = tokens(old);
    let refuses =
        |tokens: &[String]| tokens.iter().position(|word| REFUSALS.contains(&word.as_str()));
    let changes_it = before.iter().find(|word| DEEDS_ON_WHAT_IS_THERE.contains(&word.as_str()));
    if refuses(&before).is_some() {
        return;
    }
    for sentence in come.iter().map(|sentence| sentence.text.as_str()) {
        let said = tokens(sentence);
        let Some(at) = refuses(&said) else {
            continue;
        };
        let condition = said.iter().any(|word| matches!(word.as_str(), "if" | "when" | "unless"));
        let exists =
            said.iter().position(|word| matches!(word.as_str(), "exists" | "exist" | "existing"));
        let denied = exists.is_some_and(|exists| {
            said[exists.saturating_sub(2)..exists]
                .iter()
                .any(|word| matches!(word.as_str(), "not" | "no" | "doesn't" | "don't"))
        });
        if condition && exists.is_some() && !denied {
            let kind = match changes_it {
                Some(_) => SignalKind::RefusalAppeared,
                // What was only ever made new failed then too.
                None => SignalKind::DutyTightened,
            };
            found.push(signal(kind, "", sentence, &said[at]));
        }
    }
}

/// Choices in quotes that are spelt in another case: `'asc'` became `'ASC'`.
pub(super) fn choices_recased(old: &str, new: &str, found: &mut Vec<Signal>) {
    let (was, is) = (quoted(old), quoted(new));
    if was.len() < 2 || is.len() < 2 {
        return;
    }
    for before in &was {
        let twin = is.iter().find(|after| *after != before && after.eq_ignore_ascii_case(before));
        let kept = is.contains(before);
        if let (Some(after), false) = (twin, kept)
            && !NOTHING.contains(&before.to_lowercase().as_str())
            && !before.eq_ignore_ascii_case("true")
        {
            found.push(signal(SignalKind::ChoiceRecased, before, after, before));
        }
    }
}

/// Single words that stand in quotes.
fn quoted(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for quote in ['`', '\'', '"'] {
        let mut parts = text.split(quote);
        parts.next();
        while let (Some(inside), Some(_)) = (parts.next(), parts.next()) {
            let is_word = inside.len() > 1
                && inside.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
            if is_word {
                found.insert(inside.to_owned());
            }
        }
    }
    found
}

/// The values that a sentence offers: `list, get, or delete`, `one of 'a' | 'b'`.
pub(super) fn choices(sentence: &str) -> BTreeSet<String> {
    let body = sentence.rsplit_once(':').map_or(sentence, |(_, body)| body);
    let parts: Vec<String> = body
        .replace(" or ", ",")
        .replace(" and ", ",")
        .replace(['|', '/'], ",")
        .split(',')
        .map(|part| {
            part.trim().trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_lowercase()
        })
        .filter(|part| !part.is_empty())
        .collect();
    if parts.iter().any(|part| !part.chars().all(|c| c.is_alphanumeric() || " _-'\"`".contains(c)))
    {
        return BTreeSet::new();
    }
    let single = parts.iter().filter(|part| !part.contains(' ')).count();
    if parts.len() >= 2 && single * 10 >= parts.len() * 8 {
        parts.into_iter().filter(|part| !part.contains(' ')).collect()
    } else {
        BTreeSet::new()
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare_field;
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare_field(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn what_is_no_longer_said_or_said_first_is_a_signal() {
        use SignalKind::*;
        for (old, new, kind) in [
            ("How many rows. Defaults to 100.", "How many rows.", DefaultDropped),
            (
                "Search the current project for text.",
                "Search across all projects for text.",
                ScopeWidened,
            ),
            ("Lists all open issues.", "Lists your open issues.", ScopeNarrowed),
            (
                "Create or update a file.",
                "Create a NEW file. Fails if the file already exists.",
                RefusalAppeared,
            ),
            ("Order: 'asc' or 'desc'", "Order: 'ASC' or 'DESC'", ChoiceRecased),
        ] {
            assert!(kinds(old, new).contains(&kind), "{old} -> {new}: {:?}", kinds(old, new));
        }
    }

    #[test]
    fn what_is_said_otherwise_is_none() {
        for (old, new) in [
            ("How many rows. Defaults to 100.", "How many rows; 100 where it is left out."),
            ("Whether to wait. Defaults to false.", "Whether to wait."),
            ("How many rows (default: 100)", "How many rows to show. Default is 100."),
            ("Search the current project.", "Search the current project for a text."),
            ("Lists all issues.", "Lists all issues of your projects."),
            (
                "Search the current project.",
                "Search the current project, or all projects on demand.",
            ),
            ("Gets a file.", "Gets a file. Fails if the file does not exist."),
            ("Order: 'asc' or 'desc'", "Sort order: 'asc' or 'desc'"),
            ("The 'name' or the 'id'.", "The 'name' or the 'id'. Null or 'NULL' clears it."),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }
}
