//! Defaults and limits that a sentence states.

use super::words::{DEFAULT_WORDS, JOINTS, LEFT_OUT, NEGATIONS};
use super::{Signal, SignalKind, sentences, signal, spelling, tokens};
use std::collections::BTreeSet;

/// The literal default that a sentence states: `(default: 30)`, `defaults to us-east-1`, `off by default`. A default
/// that is told in several words, or is a template, is none that can be compared.
pub fn stated_default(sentence: &str) -> Option<String> {
    let lower = spelling::plain(&sentence.to_lowercase());
    if let Some(switch) = switch_by_default(&lower) {
        return Some(switch);
    }
    let phrase = announced(&lower)?;
    let literal = phrase.trim_matches(|c: char| matches!(c, '`' | '\'' | '"'));
    let one_word = !literal.is_empty() && !literal.contains(char::is_whitespace);
    (one_word && !literal.contains('{')).then(|| literal.to_owned())
}

/// `off by default`: `off`.
fn switch_by_default(lower: &str) -> Option<String> {
    let (before, _) = lower.split_once(" by default")?;
    let last = before.rsplit(|c: char| !c.is_alphanumeric()).next()?;
    matches!(last, "on" | "off" | "true" | "false").then(|| last.to_owned())
}

/// What stands where a sentence in lower case announces its default.
fn announced(lower: &str) -> Option<&str> {
    let start = lower.find("default")? + "default".len();
    let rest = &lower[start..];
    let rest = rest.strip_prefix("ed").or_else(|| rest.strip_prefix('s')).unwrap_or(rest);
    let announces = rest.starts_with([':', '='])
        || [" to ", " is ", " value ", " value: ", "-to "].iter().any(|w| rest.starts_with(w));
    let bracketed = lower[..start].trim_end_matches("default").trim_end().ends_with('(');
    // `, default 10`: what follows can be nothing but a value.
    let plain_value = rest.strip_prefix(' ').is_some_and(|value| {
        value.starts_with(|c: char| matches!(c, '`' | '\'' | '"') || c.is_ascii_digit())
            || ["true", "false", "null", "none"].iter().any(|word| {
                value
                    .strip_prefix(word)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            })
    });
    if !(announces || bracketed || plain_value) {
        return None;
    }
    let told = rest
        .trim_start_matches(|c: char| matches!(c, ':' | '=' | '-') || c.is_whitespace())
        .trim_start_matches("value")
        .trim_start_matches("to ")
        .trim_start_matches("is ")
        .trim_start_matches(|c: char| matches!(c, ':' | '=') || c.is_whitespace());
    let end = told.find([',', ';', ')', '|']).unwrap_or(told.len());
    Some(told[..end].trim().trim_end_matches('.').trim())
}

/// True where a sentence speaks of what is taken where nothing is given, in a language that is known.
pub(super) fn speaks_of_default(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let said = format!(" {} ", tokens(&lower).join(" "));
    lower.contains("default")
        || DEFAULT_WORDS.iter().any(|word| lower.contains(word))
        || LEFT_OUT.iter().any(|phrase| said.contains(&format!(" {phrase} ")))
}

/// The stated default is another one.
pub(super) fn moved(before: &str, after: &str, found: &mut Vec<Signal>) {
    let moved = match (stated_default(before), stated_default(after)) {
        (Some(old), Some(new)) => (!same_default((&old, before), (&new, after))).then_some(new),
        // One of them is told in several words: `a new branch` became `main`.
        _ => told_otherwise(before, after),
    };
    if let Some(word) = moved {
        found.push(signal(SignalKind::DefaultMoved, before, after, &word));
    }
}

fn told_otherwise(before: &str, after: &str) -> Option<String> {
    let (before, after) = (before.to_lowercase(), after.to_lowercase());
    // In brackets, or behind a colon, nothing but the default is told.
    let alone = |lower: &str| lower.contains("default:") || lower.contains("(default");
    if !alone(&before) || !alone(&after) {
        return None;
    }
    let words = |phrase: &str| -> BTreeSet<String> {
        tokens(phrase).into_iter().filter(|word| !JOINTS.contains(&word.as_str())).collect()
    };
    let (old, new) = (announced(&before)?, announced(&after)?);
    let (was, is) = (words(old), words(new));
    let apart = !was.is_empty() && !is.is_empty() && was.is_disjoint(&is);
    (apart && !new.contains('{') && !old.contains('{')).then(|| new.to_owned())
}

/// The texts of one field state one default each, and it is another one: whatever sentences they stand in.
pub(super) fn moved_in_field(old: &str, new: &str, found: &mut Vec<Signal>) {
    if found.iter().any(|signal| signal.kind == SignalKind::DefaultMoved) {
        return;
    }
    let one = |text: &str| -> Option<(String, String)> {
        let mut stated = sentences(text)
            .into_iter()
            .filter_map(|sentence| stated_default(&sentence).map(|literal| (literal, sentence)));
        let first = stated.next()?;
        stated.next().is_none().then_some(first)
    };
    if let (Some((was, before)), Some((is, after))) = (one(old), one(new))
        && !same_default((&was, &before), (&is, &after))
    {
        found.push(signal(SignalKind::DefaultMoved, &before, &after, &is));
    }
}

/// Two spellings of one default, each with its sentence. What is off by default is false by default.
fn same_default((was, before): (&str, &str), (is, after): (&str, &str)) -> bool {
    let switch = |literal: &str| match literal {
        "on" | "true" => Some(true),
        "off" | "false" => Some(false),
        _ => None,
    };
    let told = |sentence: &str| switch_by_default(&sentence.to_lowercase()).is_some();
    let as_switch = (told(before) || told(after)) && switch(was).is_some();
    was == is || same_duration(was, is) || as_switch && switch(was) == switch(is)
}

/// `1800s` and `30m` are one default.
fn same_duration(a: &str, b: &str) -> bool {
    let seconds = |text: &str| -> Option<u64> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        duration(text[..digits].parse().ok()?, &text[digits..])
    };
    matches!((seconds(a), seconds(b)), (Some(x), Some(y)) if x == y)
}

/// In seconds.
fn duration(number: u64, unit: &str) -> Option<u64> {
    let seconds = match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hour" | "hours" => 3_600,
        "d" | "day" | "days" => 86_400,
        _ => return None,
    };
    number.checked_mul(seconds)
}

/// True where both sentences tell the same times in other units: `60 seconds` and `1 minute`.
pub(super) fn same_times(before: &str, after: &str) -> bool {
    let times = |sentence: &str| -> BTreeSet<u64> {
        let words = tokens(sentence);
        let pairs = words.windows(2);
        pairs.filter_map(|pair| duration(pair[0].parse().ok()?, &pair[1])).collect()
    };
    let was = times(before);
    !was.is_empty() && was == times(after)
}

/// The upper limit that a sentence states: `max 100`, `up to 50`, `at most 20`, `no more than 20`, `20 max`, `<= 20`.
pub fn stated_limit(sentence: &str) -> Option<u64> {
    let signs = ["<=", "=<", "≤"]
        .iter()
        .fold(sentence.to_owned(), |text, sign| text.replace(sign, " at most "));
    let words = tokens(&signs);
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", String::as_str);
    for (at, announces) in words.iter().enumerate() {
        let before = |steps: usize| word(at.checked_sub(steps));
        let is_most = matches!(announces.as_str(), "max" | "maximum" | "most");
        let announced = is_most
            || announces == "limited"
            || announces == "to" && before(1) == "up"
            || announces == "than"
                && matches!(before(1), "more" | "larger" | "longer" | "greater" | "higher")
                && matches!(before(2), "no" | "not" | "never")
            || announces == "exceed" && NEGATIONS.contains(&before(1))
            || announces == "at" && before(1) == "capped";
        if announced {
            let number = words.iter().skip(at + 1).take(3).find_map(|word| word.parse().ok());
            // `50 max`, where nothing else follows that it could be the most of.
            let behind = || before(1).parse().ok().filter(|_| is_most && at + 1 == words.len());
            if let Some(number) = number.or_else(behind) {
                return Some(number);
            }
        }
    }
    None
}

/// The stated limit is another one.
pub(super) fn limit_moved(before: &str, after: &str, found: &mut Vec<Signal>) {
    let kind = match (stated_limit(before), stated_limit(after)) {
        (Some(old), Some(new)) if new < old => SignalKind::LimitLowered,
        (Some(old), Some(new)) if new > old => SignalKind::LimitRaised,
        _ => return,
    };
    let word = stated_limit(after).map(|limit| limit.to_string()).unwrap_or_default();
    found.push(signal(kind, before, after, &word));
}

#[cfg(test)]
mod tests {
    use super::super::compare_field;
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare_field(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn a_default_is_read_however_it_is_announced() {
        for (old, new) in [
            ("Number of results. Default: 10", "Number of results. Default: 50"),
            ("Number of results, default 10", "Number of results, default 50"),
            ("Branch to push to. Default: `main`", "Branch to push to. Default: `production`"),
            (
                "Replace an existing file (off by default)",
                "Replace an existing file (on by default)",
            ),
            ("Replace a file. Off by default.", "Replace a file. On by default."),
            ("Branch (default: a new branch)", "Branch (default: main)"),
            ("Max rows, 20 unless given", "Max rows, 200 unless given"),
            ("Region; us-east-1 when not given", "Region; eu-west-1 when not given"),
            (
                "Returns 20 rows unless specified otherwise",
                "Returns 200 rows unless specified otherwise",
            ),
            ("件数（デフォルト20）", "件数（デフォルト50）"),
            ("Suchbegriff. Standard: 10 Treffer", "Suchbegriff. Standard: 1000 Treffer"),
        ] {
            let found = kinds(old, new);
            assert!(found.contains(&SignalKind::DefaultMoved), "{old} -> {new}: {found:?}");
        }
    }

    #[test]
    fn the_same_default_in_other_words_is_none() {
        for (old, new) in [
            ("Number of results, default 10", "Number of results (default: 10)"),
            ("Look back (default 1800s)", "Look back. Default: 30m"),
            ("Branch (default: the main branch)", "Branch (default: main)"),
            ("Use the default 3 replicas", "Use the default replicas"),
            ("Off by default.", "Default: off"),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }

    #[test]
    fn a_limit_is_read_however_it_is_stated() {
        for text in [
            "max 50",
            "up to 50",
            "at most 50 rows",
            "no more than 50",
            "50 max",
            "<= 50",
            "≤50",
            "must not exceed 50",
            "not longer than 50 letters",
            "capped at 50",
        ] {
            assert_eq!(stated_limit(text), Some(50), "{text}");
            let found = kinds(text, &text.replace("50", "20"));
            assert!(found.contains(&SignalKind::LimitLowered), "{text}: {found:?}");
        }
        for text in ["more than 50", "50 rows", "max of the rows", "The 50 max values", "a < 50"] {
            assert_eq!(stated_limit(text), None, "{text}");
        }
    }
}
