//! What a text of one value asks of its caller: who encodes it, and what is taken where it is left out.

use super::words::JOINTS;
use super::{Signal, SignalKind, sentences, signal, stem, tokens};
use std::collections::BTreeSet;

/// Of two texts about one value.
pub(super) fn signals(old: &str, new: &str, found: &mut Vec<Signal>) {
    let (was, is) = (sentences(old), sentences(new));
    let who = |list: &[String]| list.iter().find_map(|s| Some((s.clone(), encoder(s)?)));
    if let (Some((before, from)), Some((after, to))) = (who(&was), who(&is))
        && from != to
    {
        let word = if to == Encoder::Server {
            "encoded by the server now"
        } else {
            "encoded by the caller now"
        };
        found.push(signal(SignalKind::SaidOtherwise, &before, &after, word));
    }
    if found.iter().any(|signal| signal.kind == SignalKind::DefaultMoved) {
        return;
    }
    let taken = |list: &[String]| list.iter().find_map(|s| Some((s.clone(), omitted_for(s)?)));
    if let (Some((before, from)), Some((after, to))) = (taken(&was), taken(&is))
        && from.is_disjoint(&to)
    {
        found.push(signal(SignalKind::DefaultMoved, &before, &after, "what leaving it out gives"));
    }
}

#[derive(PartialEq, Eq)]
enum Encoder {
    Caller,
    Server,
}

/// `URL-encoded slug` is for the caller to do; `will be URL-encoded internally` is done for it.
fn encoder(sentence: &str) -> Option<Encoder> {
    const DONE: &[&str] = &["encoded", "escaped"];
    const BY_ITSELF: &[&str] = &["internally", "automatically"];
    const MUST: &[&str] = &["must", "should", "need", "needs", "already"];
    let words = tokens(sentence);
    let at = words.iter().position(|word| DONE.contains(&word.as_str()))?;
    let before = &words[at.saturating_sub(4)..at];
    let holds =
        |list: &[&str], words: &[String]| words.iter().any(|word| list.contains(&word.as_str()));
    // `need not be encoded` is neither.
    if holds(&["not", "no", "never", "without"], before) {
        return None;
    }
    let server = holds(BY_ITSELF, &words) || holds(&["will"], before);
    Some(if server && !holds(MUST, before) { Encoder::Server } else { Encoder::Caller })
}

/// `omit for full content`: the words of what is taken then.
fn omitted_for(sentence: &str) -> Option<BTreeSet<String>> {
    const LEFT: &[&str] = &["omit", "empty", "blank", "unset"];
    let words = tokens(sentence);
    let at = words.windows(2).position(|pair| {
        LEFT.contains(&pair[0].as_str()) && matches!(pair[1].as_str(), "for" | "to")
    })?;
    let rest: BTreeSet<String> = words[at + 2..]
        .iter()
        .filter(|word| !JOINTS.contains(&word.as_str()))
        .map(|word| stem(word))
        .collect();
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::super::compare_field;
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare_field(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn who_encodes_and_what_leaving_out_gives_are_read() {
        use SignalKind::{DefaultMoved, SaidOtherwise};
        for (old, new, kind) in [
            (
                "URL-encoded slug of the page",
                "Slug of the page (will be URL-encoded internally)",
                SaidOtherwise,
            ),
            ("Path; it is escaped automatically", "Path, which must be escaped", SaidOtherwise),
            (
                "Longest text; omit for full content",
                "Longest text; omit for the bounded default (12,000 chars)",
                DefaultMoved,
            ),
        ] {
            assert!(kinds(old, new).contains(&kind), "{old} -> {new}: {:?}", kinds(old, new));
        }
    }

    #[test]
    fn the_same_asked_in_other_words_is_none() {
        for (old, new) in [
            ("URL-encoded slug", "Slug, URL-encoded"),
            ("Slug; encoded automatically", "Slug (will be encoded internally)"),
            ("Slug; need not be encoded", "Slug (will be encoded internally)"),
            ("Branch; omit for the default branch", "Branch; omit to take the default branch"),
            ("Rows; omit for all rows", "Rows; leave empty for all"),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }
}
