//! What a text as a whole no longer says or says for the first time: a default, whose things are
//! meant, a refusal, how a choice is spelt. Sentences need no twin for these.

use super::words::{DEEDS_ON_WHAT_IS_THERE, NARROW, REFUSALS, WIDE};
use super::{
    LIKE, Signal, SignalKind, key, likeness, sentences, signal, stated_default, stem, tokens,
};
use std::collections::BTreeSet;

/// Defaults that an author writes for "nothing": a text that no longer says them says no less.
const NOTHING: &[&str] =
    &["false", "0", "none", "null", "nil", "no", "off", "empty", "undefined", "unset", "", "[]"];

/// All of them, for the texts of a tool and of a field alike.
pub(super) fn signals(old: &str, new: &str, found: &mut Vec<Signal>) {
    default_dropped(old, new, found);
    let (was, is) = (sentences(old), sentences(new));
    let keys = |list: &[String]| list.iter().map(|s| key(s)).collect::<BTreeSet<_>>();
    let (old_keys, new_keys) = (keys(&was), keys(&is));
    let gone: Vec<&String> = was.iter().filter(|s| !new_keys.contains(&key(s))).collect();
    let come: Vec<&String> = is.iter().filter(|s| !old_keys.contains(&key(s))).collect();
    scope_moved(&gone, &come, (old, new), found);
    refusal_appeared(&come, old, found);
}

/// A default that no sentence states any more, and that the new text does not even name.
fn default_dropped(old: &str, new: &str, found: &mut Vec<Signal>) {
    if sentences(new).iter().any(|sentence| stated_default(sentence).is_some()) {
        return;
    }
    let said = tokens(new);
    for sentence in sentences(old) {
        let Some(literal) = stated_default(&sentence) else {
            continue;
        };
        let words = tokens(&literal);
        let named = said.windows(words.len().max(1)).any(|window| window == words.as_slice());
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

/// `the current project` became `all projects`, or the other way round.
fn scope_moved(
    gone: &[&String],
    come: &[&String],
    (old, new): (&str, &str),
    found: &mut Vec<Signal>,
) {
    let (old, new) = (tokens(old), tokens(new));
    let wide: Vec<&str> = WIDE.iter().copied().filter(|word| *word != "any").collect();
    let (was_one, was_all) = (spoken_of(&old, NARROW, 1), spoken_of(&old, &wide, 2));
    let (is_one, is_all) = (spoken_of(&new, NARROW, 1), spoken_of(&new, &wide, 2));
    for noun in was_one.union(&is_one) {
        let one = (was_one.contains(noun), is_one.contains(noun));
        let all = (was_all.contains(noun), is_all.contains(noun));
        let kind = match (one, all) {
            ((true, false), (false, true)) => SignalKind::ScopeWidened,
            ((false, true), (true, false)) => SignalKind::ScopeNarrowed,
            _ => continue,
        };
        // Both words stand in sentences about the same thing.
        let says = |sentence: &str| {
            let said = tokens(sentence);
            spoken_of(&said, NARROW, 1).contains(noun) || spoken_of(&said, &wide, 2).contains(noun)
        };
        let pair = gone.iter().filter(|before| says(before)).find_map(|before| {
            let alike = |after: &&&String| says(after) && likeness(before, after) >= LIKE;
            come.iter().find(alike).map(|after| (before.as_str(), after.as_str()))
        });
        if let Some((before, after)) = pair {
            found.push(signal(kind, before, after, noun));
        }
    }
}

/// A text that spoke of changing what is there says now that it fails where something is there.
fn refusal_appeared(come: &[&String], old: &str, found: &mut Vec<Signal>) {
    let before = tokens(old);
    let refuses =
        |tokens: &[String]| tokens.iter().position(|word| REFUSALS.contains(&word.as_str()));
    let changes_it = before.iter().find(|word| DEEDS_ON_WHAT_IS_THERE.contains(&word.as_str()));
    if refuses(&before).is_some() {
        return;
    }
    for sentence in come {
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
