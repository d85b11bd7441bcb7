//! The same sentence with another number: `for 90 days` became `for 7 days`. It needs no knowledge of the language.

use super::defaults::speaks_of_default;
use super::words::{LOOSE_NUMBERS, NUMBERED, SHORT_UNITS, UNITS};
use super::{Signal, SignalKind, signal, tokens};

/// Adds what a moved number means, where nothing that is known better was found for these sentences.
pub(super) fn moved(before: &str, after: &str, found: &mut Vec<Signal>) {
    if found.iter().any(|signal| signal.before == before && signal.after == after) {
        return;
    }
    if let Some((from, to)) = one_number(before, after) {
        let kind = match speaks_of_default(before) {
            true => SignalKind::DefaultMoved,
            false => SignalKind::SaidOtherwise,
        };
        found.push(signal(kind, before, after, &format!("{from} became {to}")));
    }
}

/// True where the one number that differs is a default, whatever else the sentence speaks of.
pub(super) fn default_moved(before: &str, after: &str) -> Option<String> {
    let (_, to) = one_number(before, after).filter(|_| speaks_of_default(before))?;
    Some(to)
}

/// Where two sentences are the same but for one number that counts or measures: both numbers.
fn one_number(before: &str, after: &str) -> Option<(String, String)> {
    let (was, is) = (Masked::read(before), Masked::read(after));
    if was.mask != is.mask || was.numbers.len() != is.numbers.len() {
        return None;
    }
    let mut differing = was.numbers.iter().zip(&is.numbers).filter(|(a, b)| a.text != b.text);
    let (from, to) = differing.next()?;
    let counts = from.counts && to.counts && !(is_year(&from.text) && is_year(&to.text));
    // What is only about so much, or an example, was never promised.
    let loose = tokens(before).iter().any(|word| LOOSE_NUMBERS.contains(&word.as_str()))
        || ["e.g", "for example", "such as", "~", "≈", "for instance"]
            .iter()
            .any(|word| before.to_lowercase().contains(word));
    let same = from.text.parse::<f64>().ok().zip(to.text.parse::<f64>().ok());
    let same = same.is_some_and(|(a, b)| a.to_bits() == b.to_bits());
    (differing.next().is_none() && counts && !loose && !same)
        .then(|| (from.text.clone(), to.text.clone()))
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && matches!(text.parse::<u32>(), Ok(1900..=2100))
}

/// A sentence with its numbers taken out.
struct Masked {
    mask: String,
    numbers: Vec<Number>,
}

struct Number {
    text: String,
    /// It is no part of a name, a version, a date or a path.
    counts: bool,
}

impl Masked {
    fn read(sentence: &str) -> Masked {
        let chars: Vec<char> =
            sentence.trim().trim_end_matches('.').to_lowercase().chars().collect();
        let (mut mask, mut numbers) = (String::new(), Vec::new());
        let mut at = 0;
        while at < chars.len() {
            if !chars[at].is_ascii_digit() {
                // Runs of space are one.
                if !(chars[at].is_whitespace() && mask.ends_with(' ')) {
                    mask.push(if chars[at].is_whitespace() { ' ' } else { chars[at] });
                }
                at += 1;
                continue;
            }
            let start = at;
            let inside = |at: usize| {
                chars[at].is_ascii_digit()
                    || matches!(chars[at], '.' | ',' | '_')
                        && chars.get(at + 1).is_some_and(char::is_ascii_digit)
            };
            while at < chars.len() && inside(at) {
                at += 1;
            }
            let text: String =
                chars[start..at].iter().filter(|c| !matches!(c, ',' | '_')).collect();
            let joins = |c: char| matches!(c, '-' | '/' | '_' | ':' | '@' | '#' | '.' | '\\' | '–');
            let last: String =
                mask.trim_end().chars().rev().take_while(|c| c.is_alphanumeric()).collect();
            let last: String = last.chars().rev().collect();
            let is_name = NUMBERED.contains(&last.as_str());
            let free_before = start.checked_sub(1).is_none_or(|before| {
                let c = chars[before];
                !c.is_ascii_alphanumeric() && !joins(c)
                    // `: 10` and `- 10` are separated by a space.
                    || c == ':' && before > 0 && !chars[before - 1].is_ascii_digit()
            });
            let suffix: String =
                chars[at..].iter().take_while(|c| c.is_ascii_alphanumeric()).collect();
            let next = chars.get(at + suffix.chars().count()).copied();
            let free_after = (suffix.is_empty() || is_unit(&suffix))
                && next.is_none_or(|c| !joins(c) || c == '.' || c == ':');
            let one_point = text.matches('.').count() <= 1;
            numbers
                .push(Number { text, counts: !is_name && free_before && free_after && one_point });
            mask.push('#');
        }
        Masked { mask, numbers }
    }
}

fn is_unit(word: &str) -> bool {
    let spelt = |families: &[(&str, &[&[&str]])]| {
        families.iter().any(|(_, family)| family.iter().any(|unit| unit.contains(&word)))
    };
    spelt(SHORT_UNITS) || spelt(UNITS)
}

/// Another range of numbers: `between 0 and 1` became `between 0 and 100`.
pub(super) fn range_moved(before: &str, after: &str) -> Option<(SignalKind, String)> {
    let ((low, high), (least, most)) = (range(before)?, range(after)?);
    let word = format!("{least} to {most}");
    let share = |low: f64, high: f64| low == 0.0 && high == 1.0;
    if (low, high) == (least, most) {
        None
    } else if share(low, high) || share(least, most) {
        // A share of one became a share of a hundred.
        Some((SignalKind::SaidOtherwise, word))
    } else if least <= low && most >= high {
        Some((SignalKind::LimitRaised, word))
    } else {
        Some((SignalKind::LimitLowered, word))
    }
}

/// The one range that a sentence states.
fn range(sentence: &str) -> Option<(f64, f64)> {
    let number = |word: &str| -> Option<f64> {
        word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).parse().ok()
    };
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let lead = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let join = words.get(at + 2).map_or("", |word| word);
        let ends = (words.get(at + 1), words.get(at + 3));
        if let (Some(low), Some(high)) = ends
            && (lead == "between" && join == "and" || matches!(lead.as_str(), "from" | "range"))
            && matches!(join, "and" | "to")
        {
            found.extend(number(low).zip(number(high)));
        }
        let parts: Vec<&str> = word.split(['-', '–']).collect();
        if let [low, high] = parts.as_slice() {
            found.extend(number(low).zip(number(high)));
        }
    }
    match found.as_slice() {
        [(low, high)] if low < high => Some((*low, *high)),
        _ => None,
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
    fn another_number_in_the_same_sentence_is_a_signal() {
        for (old, new) in [
            ("Stores a note for 90 days.", "Stores a note for 7 days."),
            ("Keeps the last 5 versions", "Keeps the last 50 versions"),
            ("Waits 10s before it gives up", "Waits 30s before it gives up"),
            ("保持 7 日間", "保持 30 日間"),
        ] {
            let found = kinds(old, new);
            assert!(found.contains(&SignalKind::SaidOtherwise), "{old} -> {new}: {found:?}");
        }
    }

    #[test]
    fn names_versions_dates_examples_and_estimates_are_none() {
        for (old, new) in [
            ("Uses gpt-4 to answer", "Uses gpt-5 to answer"),
            ("See v1.2.3 of the protocol", "See v1.2.4 of the protocol"),
            ("Data up from 2023 on", "Data up from 2024 on"),
            ("A page, e.g. 10", "A page, e.g. 20"),
            ("Takes about 10 seconds", "Takes about 20 seconds"),
            ("Supports over 100 languages", "Supports over 120 languages"),
            ("Costs 1,000 units", "Costs 1000 units"),
            ("A date such as 2024-01-02", "A date such as 2025-01-02"),
            ("See section 4 of the guide", "See section 5 of the guide"),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }
}
