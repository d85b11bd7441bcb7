//! Another unit of measure: in words, as a sign, in brackets, behind a number.

use super::words::{MONEY, SHORT_UNITS, SIGNS, UNITS};
use super::{Signal, SignalKind, defaults, opposite, signal, tokens};
use crate::lexicon::singular;
use std::collections::BTreeSet;

/// The sentences measure in other units.
pub(super) fn moved(before: &str, after: &str, found: &mut Vec<Signal>) {
    let (old, new) = (tokens(before), tokens(after));
    // How long a call takes is no unit of an argument or an answer.
    let pace = |tokens: &[String]| {
        tokens.iter().any(|t| matches!(t.as_str(), "slow" | "slower" | "fast" | "take" | "takes"))
    };
    if pace(&old) || pace(&new) || defaults::same_times(before, after) {
        return;
    }
    for (_, family) in UNITS {
        let (was, is) = (named(family, before, &old), named(family, after, &new));
        if !was.is_empty() && !is.is_empty() && was.is_disjoint(&is) {
            let word = is.first().copied().unwrap_or_default();
            found.push(signal(SignalKind::UnitMoved, before, after, word));
        }
    }
}

/// The units of a family that a sentence names, each by its first spelling.
fn named(family: &[&[&'static str]], text: &str, tokens: &[String]) -> BTreeSet<&'static str> {
    let signs = signs(text);
    let spelt = |spellings: &&&[&'static str]| {
        spellings.iter().any(|spelling| {
            tokens.iter().any(|token| singular(token) == *spelling) || signs.contains(spelling)
        })
    };
    family.iter().filter(spelt).filter_map(|spellings| spellings.first().copied()).collect()
}

/// Signs of units that stand for themselves or beside a number: `($)`, `5 %`, `€20`. In `$HOME` it is none.
fn signs(text: &str) -> BTreeSet<&'static str> {
    let chars: Vec<char> = text.chars().collect();
    let apart = |at: Option<usize>| {
        at.and_then(|at| chars.get(at)).is_none_or(|c| {
            c.is_whitespace()
                || c.is_ascii_digit()
                || matches!(c, '(' | ')' | '[' | ']' | ',' | '.' | ';' | ':')
        })
    };
    let found = chars.iter().enumerate().filter_map(|(at, c)| {
        let sign = SIGNS.iter().find(|sign| sign.chars().eq([*c]))?;
        (*sign == "%" || apart(at.checked_sub(1)) && apart(Some(at + 1))).then_some(*sign)
    });
    found.collect()
}

/// `(s)` became `(ms)`, `in s` became `in ms`, `5s` became `5m`.
pub(super) fn short(before: &str, after: &str, found: &mut Vec<Signal>) {
    let (was, is) = (measures(before), measures(after));
    for (_, family) in SHORT_UNITS {
        let unit = |measures: &[Measure]| {
            measures.iter().find_map(|(number, word)| {
                let at = family.iter().position(|spellings| spellings.contains(&word.as_str()))?;
                Some((number.clone(), at))
            })
        };
        if let (Some((many, from)), Some((much, to))) = (unit(&was), unit(&is))
            && from != to
            // Another number of another unit may be as much: `60s` and `1m`.
            && many == much
            && !found.iter().any(|signal| signal.kind == SignalKind::UnitMoved)
        {
            let word = family[to].first().copied().unwrap_or_default();
            found.push(signal(SignalKind::UnitMoved, before, after, word));
        }
    }
}

/// A word in the place of a unit, and the digits before it.
type Measure = (String, String);

fn measures(sentence: &str) -> Vec<Measure> {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !(c.is_alphanumeric() || c == '°'));
        // Of brackets that stand apart: `item(s)` is a plural.
        let ends = word.trim_end_matches(|c: char| !matches!(c, ')' | ']'));
        let inner = ends.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let inner =
            inner.or_else(|| ends.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')));
        let letters = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        // Nothing follows that it would belong to: `in h`, and not `in c order`.
        let last = at + 1 == words.len() || word.ends_with(['.', ',', ';', ')']);
        if let Some(inner) = inner {
            found.push((String::new(), inner.to_owned()));
        } else if letters.len() < bare.len() && !letters.is_empty() {
            let number = &bare[..bare.len() - letters.len()];
            found.push((number.to_owned(), letters.to_owned()));
        } else if last && at > 0 && words[at - 1] == "in" {
            found.push((String::new(), bare.to_owned()));
        }
    }
    found
}

/// True where the two sentences differ in nothing but the unit, or where it is one of money: what a thing costs is
/// said of no other thing besides.
pub(super) fn is_all_that_moved(signal: &Signal) -> bool {
    MONEY.contains(&signal.word.as_str())
        || opposite::replaced(&tokens(&signal.before), &tokens(&signal.after)).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::{compare, compare_field};
    use super::*;

    #[test]
    fn another_unit_is_a_signal_however_it_is_written() {
        for (old, new) in [
            ("Timeout in s", "Timeout in ms"),
            ("Timeout (s)", "Timeout (ms)"),
            ("Price ($)", "Price (€)"),
            ("Costs 5 $ each", "Costs 5 € each"),
            ("Width in pixels", "Width in percent"),
            ("Angle in degrees", "Angle in radians"),
            ("Waits 5s before it gives up", "Waits 5m before it gives up"),
        ] {
            let found: Vec<_> = compare_field(old, new).into_iter().map(|s| s.kind).collect();
            assert!(found.contains(&SignalKind::UnitMoved), "{old} -> {new}: {found:?}");
        }
        for (old, new) in [
            ("Amounts are in cents.", "Amounts are in dollars."),
            ("Prices in EUR.", "Prices in USD."),
            (
                "Adds an item. Amounts are in cents.",
                "Adds an item. All amounts are in whole dollars.",
            ),
            ("Sleeps for 5 seconds.", "Sleeps for 5 minutes."),
        ] {
            let found: Vec<_> = compare(old, new).into_iter().map(|s| s.kind).collect();
            assert!(found.contains(&SignalKind::UnitMoved), "{old} -> {new}: {found:?}");
        }
    }

    #[test]
    fn the_same_unit_and_signs_that_are_none_are_no_signal() {
        for (old, new) in [
            ("Timeout in s", "Timeout in seconds"),
            ("Price ($)", "Price in USD"),
            ("Reads $HOME", "Reads £HOME"),
            ("Waits 60s", "Waits 1m"),
            ("Opacity in %", "Opacity in percent"),
            ("Written in c", "Written in C"),
            ("The item(s)", "The item(ms)"),
        ] {
            assert_eq!(compare_field(old, new), [], "{old} -> {new}");
        }
        // A text of a tool may speak of the units of many things.
        let (old, new) = ("Reads logs of the last hour.", "Reads logs, kept for a day.");
        assert_eq!(compare(old, new), []);
    }
}
