//! What a text no longer asks, claims or softens: a person's confirmation, that nothing is changed, that an effect is a
//! small one; and in whose name a call acts.

use super::twins::Sentence;
use super::words::{
    ACTORS, DEEDS, FORCE, GUARDS, HARMLESS, LOOKS, NEGATIONS, PRICES, PROMISES, SOFTENERS,
};
use super::{Signal, SignalKind, known_effect, sentences, signal, stem, stems, tokens, verbs};
use std::collections::BTreeSet;

/// Of the texts as a whole.
pub(super) fn signals(
    (old, new): (&str, &str),
    (gone, come): (&[Sentence], &[Sentence]),
    found: &mut Vec<Signal>,
) {
    guard_gone(gone, come, new, found);
    claim_withdrawn((old, new), (gone, come), found);
    deed_in_place_of_a_look(gone, come, old, found);
    price_appeared(old, come, found);
    promise_withdrawn(gone, (old, new), found);
}

/// A text that said that nothing is lost for good says so no more.
fn promise_withdrawn(gone: &[Sentence], (old, new): (&str, &str), found: &mut Vec<Signal>) {
    let promised = |text: &str| {
        let words = tokens(text);
        let named = words.iter().enumerate().find(|(at, word)| {
            let denied = words[at.saturating_sub(3)..*at]
                .iter()
                .any(|word| NEGATIONS.contains(&word.as_str()));
            PROMISES.contains(&word.as_str()) && !denied
        });
        named.map(|(_, word)| word.clone())
    };
    // Where the text is about restoring, the word is no promise.
    let deletes = tokens(old).iter().any(|word| DESTROYS.contains(&stem(word).as_str()));
    let Some((before, word)) =
        gone.iter().find_map(|sentence| Some((&sentence.text, promised(&sentence.text)?)))
    else {
        return;
    };
    if deletes && promised(new).is_none() && !found.iter().any(|signal| signal.before == *before) {
        let what = format!("no longer `{word}`");
        found.push(signal(SignalKind::SaidOtherwise, before, "", &what));
    }
}

/// Stems of deeds that take something away.
const DESTROYS: &[&str] =
    &["delet", "remov", "archiv", "drop", "purg", "eras", "clear", "trash", "mov"];

/// Of two sentences about the same thing.
pub(super) fn twins(
    (before, after): (&str, &str),
    (old_words, new_words): (&BTreeSet<String>, &BTreeSet<String>),
    found: &mut Vec<Signal>,
) {
    let (was, is) = (tokens(before), tokens(after));
    let named = |list: &[&str], words: &[String]| {
        words.iter().find(|word| list.contains(&word.as_str())).cloned()
    };
    if let Some(word) = named(SOFTENERS, &was)
        && !new_words.contains(&stem(&word))
        && named(SOFTENERS, &is).is_none()
    {
        let what = format!("no longer `{word}`");
        found.push(signal(SignalKind::SaidOtherwise, before, after, &what));
    }
    if let Some(word) = named(FORCE, &is)
        && !FORCE.iter().any(|word| old_words.contains(&stem(word)))
        && is.first().is_some_and(|first| FORCE.contains(&first.as_str()) || is_deed(first))
    {
        found.push(signal(SignalKind::EffectAppeared, before, after, &word));
    }
    let (was, is) = (actors(&was), actors(&is));
    if let (Some(from), Some(to)) = (was.first(), is.first())
        && was.is_disjoint(&is)
    {
        let what = format!("as the {from} became as the {to}");
        found.push(signal(SignalKind::SaidOtherwise, before, after, &what));
    }
}

/// In whose name: `as the bot account`.
fn actors(words: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        if word == "as" {
            let near = words[at + 1..].iter().take(4);
            found.extend(near.filter(|word| ACTORS.contains(&word.as_str())).cloned());
        }
    }
    found
}

fn is_deed(word: &str) -> bool {
    let root = stem(word);
    DEEDS.iter().any(|deed| stem(deed) == root)
}

/// True where a sentence says that a person is asked before something is done.
fn asks(sentence: &str) -> bool {
    let words = tokens(sentence);
    // What is answered asks nobody: `Returns: JSON string with success confirmation`.
    if answers(sentence, &words) {
        return false;
    }
    let around = |at: usize, list: &[&str]| {
        let near = &words[at.saturating_sub(4)..words.len().min(at + 5)];
        near.iter().any(|word| list.contains(&word.as_str()))
    };
    words.iter().enumerate().any(|(at, word)| {
        let denied = words[at.saturating_sub(3)..at].iter().any(|word| {
            NEGATIONS.contains(&word.as_str())
                || matches!(word.as_str(), "skip" | "skips" | "bypass")
        });
        let guards = GUARDS
            .iter()
            .find(|(spellings, _)| spellings.contains(&word.as_str()))
            .is_some_and(|(_, beside)| beside.is_empty() || around(at, beside));
        guards && !denied
    })
}

/// True where a sentence, or the part of it behind a colon, tells what is answered: `Returns a confirmation`,
/// `str: Confirmation message`.
fn answers(sentence: &str, words: &[String]) -> bool {
    const ANSWERS: &[&str] =
        &["return", "returns", "returned", "output", "outputs", "response", "yields"];
    const TYPES: &[&str] =
        &["str", "string", "dict", "json", "object", "text", "list", "none", "bool"];
    const OF_AN_ANSWER: &[&str] =
        &["message", "messages", "status", "text", "response", "string", "id", "number", "details"];
    let leads = words.first().is_some_and(|first| {
        ANSWERS.contains(&first.as_str())
            || TYPES.contains(&first.as_str()) && sentence.contains(':')
    });
    leads
        || words.windows(2).any(|pair| {
            matches!(pair[0].as_str(), "success" | "confirmation")
                && (pair[1] == "confirmation" || OF_AN_ANSWER.contains(&pair[1].as_str()))
        })
}

/// A text that asked a person first does so no more.
fn guard_gone(gone: &[Sentence], come: &[Sentence], new: &str, found: &mut Vec<Signal>) {
    let Some(before) = gone.iter().find(|sentence| asks(&sentence.text)) else { return };
    if sentences(new).iter().any(|sentence| asks(sentence)) {
        return;
    }
    let speaks = |sentence: &&Sentence| {
        let spelt = |word: &String| GUARDS.iter().any(|(list, _)| list.contains(&word.as_str()));
        tokens(&sentence.text).iter().any(spelt)
    };
    let after = come.iter().find(speaks).or(if come.len() == 1 { come.first() } else { None });
    let after = after.map_or("", |sentence| sentence.text.as_str());
    found.push(signal(SignalKind::DutyRelaxed, &before.text, after, "confirmation"));
}

/// A text that claimed to change nothing names a deed now.
fn claim_withdrawn(
    (old, new): (&str, &str),
    (gone, come): (&[Sentence], &[Sentence]),
    found: &mut Vec<Signal>,
) {
    let said = |text: &str| format!(" {} ", tokens(text).join(" "));
    let claims = |text: &str| {
        let said = said(text);
        HARMLESS.iter().any(|claim| said.contains(&format!(" {} ", tokens(claim).join(" "))))
    };
    let Some(before) = gone.iter().find(|sentence| claims(&sentence.text)) else { return };
    if claims(new) {
        return;
    }
    let old_words = stems(old);
    for after in come {
        let words = tokens(&after.text);
        // What points to another tool tells nothing of this one.
        if words.iter().any(|word| matches!(word.as_str(), "use" | "see" | "instead")) {
            continue;
        }
        // A claim that is gone beside a deed that was there before says nothing new.
        let deed = words.iter().enumerate().find(|(at, word)| {
            let denied_here = words[at.saturating_sub(4)..*at]
                .iter()
                .any(|word| NEGATIONS.contains(&word.as_str()));
            let is_new = !old_words.contains(&stem(word)) || denied(old, word);
            is_deed(word) && !denied_here && is_new
        });
        if let Some((_, deed)) = deed {
            found.push(signal(SignalKind::EffectAppeared, &before.text, &after.text, deed));
            return;
        }
    }
}

/// True where a text names a deed only to deny it.
fn denied(text: &str, deed: &str) -> bool {
    let (words, root) = (tokens(text), stem(deed));
    let mut named = words.iter().enumerate().filter(|(_, word)| stem(word) == root).peekable();
    named.peek().is_some()
        && named.all(|(at, _)| {
            words[at.saturating_sub(4)..at].iter().any(|word| NEGATIONS.contains(&word.as_str()))
        })
}

/// A text that led with a look leads with a deed now: `Reads the file` became `Overwrites the file`.
fn deed_in_place_of_a_look(
    gone: &[Sentence],
    come: &[Sentence],
    old: &str,
    found: &mut Vec<Signal>,
) {
    let ([before, ..], [after, ..]) = (gone, come) else { return };
    let first = |text: &str| tokens(text).into_iter().next();
    let leads =
        |sentence: &Sentence| sentences(old).first().is_some_and(|lead| *lead == sentence.text);
    let (Some(look), Some(deed)) = (first(&before.text), first(&after.text)) else { return };
    let looks = LOOKS.iter().any(|verb| stem(verb) == stem(&look));
    // `Email addresses` is no deed.
    let is_done = verbs::leads_with_verb(&after.text);
    if leads(before) && looks && is_done && is_deed(&deed) && !known_effect(&deed, &stems(old)) {
        found.push(signal(SignalKind::EffectAppeared, &before.text, &after.text, &deed));
    }
}

/// A call that costs money now.
fn price_appeared(old: &str, come: &[Sentence], found: &mut Vec<Signal>) {
    let priced = |text: &str| {
        let said = format!(" {} ", tokens(text).join(" "));
        PRICES.iter().find(|phrase| said.contains(&format!(" {phrase} ")))
    };
    if priced(old).is_some() {
        return;
    }
    for after in come {
        if let Some(phrase) = priced(&after.text) {
            found.push(signal(SignalKind::EffectAppeared, "", &after.text, phrase));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare;
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn guards_claims_and_softeners_that_are_gone_are_signals() {
        use SignalKind::{DutyRelaxed, EffectAppeared, SaidOtherwise, ScopeWidened};
        for (old, new, kind) in [
            (
                "Asks the user for confirmation before deleting.",
                "Deletes without asking.",
                DutyRelaxed,
            ),
            ("Pays after confirmation.", "Pays without confirmation.", DutyRelaxed),
            ("Read-only query.", "Query that may write.", EffectAppeared),
            ("Validates the SQL.", "Executes the SQL.", SaidOtherwise),
            ("Reads the file", "Overwrites the file", EffectAppeared),
            ("Lists.", "Sends it.", EffectAppeared),
            ("Pushes the branch.", "Force-pushes the branch.", EffectAppeared),
            ("Soft-deletes the record.", "Deletes the record.", SaidOtherwise),
            ("Returns the key, masked.", "Returns the key.", SaidOtherwise),
            (
                "Creates an invoice.",
                "Creates an invoice. The invoice is emailed to the customer.",
                EffectAppeared,
            ),
            (
                "Creates an invoice draft.",
                "Creates an invoice and emails it to the customer.",
                EffectAppeared,
            ),
            (
                "Updates the ticket silently.",
                "Updates the ticket and notifies all watchers.",
                SaidOtherwise,
            ),
            (
                "Updates the object by merging the given fields.",
                "Replaces the object by the given fields.",
                SaidOtherwise,
            ),
            ("Posts as the bot account.", "Posts as the signed-in user.", SaidOtherwise),
            (
                "Lists your own repositories.",
                "Lists all repositories of the organization.",
                ScopeWidened,
            ),
            (
                "Uploads a file. Only you can see it.",
                "Uploads a file. Everyone with the link can see it.",
                ScopeWidened,
            ),
            (
                "Free of charge. Makes an image.",
                "Makes an image. Each call costs $0.04.",
                EffectAppeared,
            ),
            (
                "Archives a project. The project can be restored within 30 days.",
                "Archives a project. The project cannot be restored.",
                SaidOtherwise,
            ),
            (
                "Runs the job and waits until it is finished.",
                "Starts the job and returns immediately.",
                SaidOtherwise,
            ),
        ] {
            assert!(kinds(old, new).contains(&kind), "{old} -> {new}: {:?}", kinds(old, new));
        }
    }

    #[test]
    fn other_words_for_the_same_are_none() {
        for (old, new) in [
            ("Ask for confirmation before deleting.", "Deletes only after the user confirms."),
            ("Read-only. Lists users.", "Lists users. This is read-only."),
            ("Lists emails.", "Lists emails sent to you."),
            ("Validates and executes the SQL.", "Executes the SQL after it validates it."),
            ("Get a user.", "Returns a user."),
            ("Deletes a file.", "Deletes a file, not a folder."),
            ("Use this tool to ask a question.", "Use this tool to search."),
            ("Adds a watcher. Returns: JSON string with success confirmation.", "Adds a watcher."),
            ("Adds a row. Returns: str: Confirmation message.", "Adds a row."),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }
}
