//! What a text promised or limited and does so no more: that a call may be repeated, that a run only reads, that only
//! some things may be done, that it fails where something is amiss.

use super::opposite::Texts;
use super::twins::Sentence;
use super::words::{JOINTS, LIMITING, NEGATIONS, REFUSALS, REGARDLESS, REPEATABLE, RUNS};
use super::{Signal, SignalKind, signal, stem, tokens};
use std::collections::BTreeSet;

/// The words of a text between spaces, so that a phrase is found whole.
fn said(text: &str) -> String {
    format!(" {} ", tokens(text).join(" "))
}

/// A phrase of the table, where nothing before it denies it.
fn promised(text: &str, phrases: &[&'static str]) -> Option<&'static str> {
    let said = said(text);
    phrases.iter().copied().find(|phrase| {
        said.find(&format!(" {phrase} ")).is_some_and(|at| {
            let before: Vec<&str> = said[..at].split(' ').rev().take(2).collect();
            !before.iter().any(|word| NEGATIONS.contains(word))
        })
    })
}

/// Of the texts as a whole.
pub(super) fn signals(
    (old, new): (&str, &str),
    (gone, come): (&[Sentence], &[Sentence]),
    found: &mut Vec<Signal>,
) {
    let twin = || come.first().filter(|_| come.len() == 1).map_or("", |after| after.text.as_str());
    let mut withdrawn = |phrases: &[&'static str], about: &dyn Fn(&str) -> bool| {
        let lost = gone
            .iter()
            .filter(|sentence| about(&sentence.text))
            .find_map(|sentence| Some((sentence, promised(&sentence.text, phrases)?)));
        if let Some((before, phrase)) = lost
            && promised(new, phrases).is_none()
            && !found.iter().any(|signal| signal.before == before.text)
        {
            let word = format!("no longer `{phrase}`");
            found.push(signal(SignalKind::SaidOtherwise, &before.text, twin(), &word));
        }
    };
    withdrawn(REPEATABLE, &|_| true);
    // What a tool that runs what it is given may do is told by its text alone.
    let runs = |text: &str| tokens(text).iter().any(|word| RUNS.contains(&word.as_str()));
    if runs(new) {
        withdrawn(&["read only", "readonly"], &runs);
    }
    if runs(old) && runs(new) {
        limit_dropped((gone, come), new, found);
    }
    overcome((gone, come), old, found);
}

/// `Only SELECT is supported.` is gone, and nothing limits any more.
fn limit_dropped((gone, come): (&[Sentence], &[Sentence]), new: &str, found: &mut Vec<Signal>) {
    // In a text that was written anew, what is missing says little.
    const FEW: usize = 2;
    if gone.len() > FEW || come.len() > FEW || limits(&tokens(new)) {
        return;
    }
    let lost = gone.iter().find(|sentence| {
        let words = tokens(&sentence.text);
        words.first().is_some_and(|word| word == "only") && permits(&words)
    });
    if let Some(before) = lost.filter(|b| !found.iter().any(|signal| signal.before == b.text)) {
        found.push(signal(SignalKind::SaidOtherwise, &before.text, "", "no longer `only`"));
    }
}

/// `Fails if it is not merged` became `even if it is not merged`.
fn overcome((gone, come): (&[Sentence], &[Sentence]), old: &str, found: &mut Vec<Signal>) {
    // What the old text fails for, where it fails.
    let condition = |sentence: &Sentence| -> Option<BTreeSet<String>> {
        let words = tokens(&sentence.text);
        let at = words.iter().position(|word| matches!(word.as_str(), "if" | "when" | "unless"))?;
        let fails = words[..at].iter().any(|word| REFUSALS.contains(&word.as_str()));
        fails.then(|| content(&words[at + 1..])).filter(|content| !content.is_empty())
    };
    let goes_on = |text: &str| promised(text, REGARDLESS);
    let lost = gone.iter().find_map(|sentence| Some((sentence, condition(sentence)?)));
    let Some((before, condition)) = lost.filter(|_| goes_on(old).is_none()) else { return };
    for after in come {
        let alike = condition.is_subset(&content(&tokens(&after.text)));
        if let Some(phrase) = goes_on(&after.text).filter(|_| alike) {
            let word = format!("fails became {phrase}");
            found.push(signal(SignalKind::SaidOtherwise, &before.text, &after.text, &word));
            return;
        }
    }
}

/// What is meant, without joints, negations and `only`.
fn content(words: &[String]) -> BTreeSet<String> {
    let tells = |word: &&String| {
        let word = word.as_str();
        word != "only" && !JOINTS.contains(&word) && !NEGATIONS.contains(&word)
    };
    words.iter().filter(tells).map(|word| stem(word)).collect()
}

/// `can only read` became `can read`: the sentence limits what may be done no more, and says all that it said.
pub(super) fn twins((before, after): (&str, &str), texts: &Texts, found: &mut Vec<Signal>) {
    let (was, is) = (tokens(before), tokens(after));
    let lost = was.iter().position(|word| word == "only").filter(|at| {
        let near = &was[at.saturating_sub(2)..was.len().min(at + 2)];
        permits(near) && texts.gave("only")
    });
    if lost.is_none() || limits(&is) || found.iter().any(|s| s.before == before && s.after == after)
    {
        return;
    }
    if content(&was).is_subset(&content(&is)) {
        found.push(signal(SignalKind::ScopeWidened, before, after, "no longer `only`"));
    }
}

/// Words of what may be done.
fn permits(words: &[String]) -> bool {
    words.iter().any(|word| {
        matches!(
            word.as_str(),
            "can"
                | "may"
                | "must"
                | "allowed"
                | "supported"
                | "permitted"
                | "accepted"
                | "accepts"
                | "supports"
                | "allows"
                | "works"
        )
    })
}

/// The words set a limit.
fn limits(words: &[String]) -> bool {
    words.iter().any(|word| LIMITING.contains(&word.as_str()) || NEGATIONS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::compare;

    #[test]
    fn promises_and_limits_that_are_gone_are_signals() {
        for (old, new) in [
            ("Runs the query inside a read-only transaction.", "Runs the query."),
            (
                "Charges the card. Safe to retry: repeated calls charge once.",
                "Charges the card. Repeated calls charge again.",
            ),
            ("Sets the label. This call is idempotent.", "Sets the label."),
            (
                "Deletes the branch. Fails if the branch is not merged.",
                "Deletes the branch, even if it is not merged.",
            ),
            ("Executes the SQL query. Only SELECT is supported.", "Executes the SQL query."),
            (
                "Commands can only reference files in the working directory.",
                "Commands can reference files in the working directory and elsewhere.",
            ),
            ("Credentials are always masked.", "Credentials are never masked."),
            ("Runs in a sandbox.", "Runs on the host."),
            (
                "Schedules the deploy. It starts after a person has approved it.",
                "Schedules the deploy. It starts right away.",
            ),
        ] {
            assert!(!compare(old, new).is_empty(), "{old} -> {new}");
        }
    }

    #[test]
    fn promises_and_limits_in_other_words_are_none() {
        for (old, new) in [
            ("Runs a read-only query.", "Runs the query read-only."),
            ("Lists users (read-only).", "Lists users."),
            ("Sets the label. Idempotent.", "Sets the label; safe to retry."),
            ("Not idempotent. Sets the label.", "Sets the label."),
            ("Returns only open issues.", "Returns open issues."),
            ("Commands can only read files.", "Commands may read files and nothing else, no more."),
            ("Only SELECT is supported. Runs a query.", "Runs a query, limited to SELECT."),
            ("Fails if the branch is not merged.", "Gives an error when the branch is not merged."),
            ("Lists approved requests.", "Lists requests that were approved."),
        ] {
            assert_eq!(compare(old, new), [], "{old} -> {new}");
        }
    }
}
