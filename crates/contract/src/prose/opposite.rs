//! The same sentence with another meaning: one word gave way to its opposite, a `not` came or
//! went, a format, a range, a unit in brackets, what is taken where nothing is given, or which
//! meaning belongs to which value.

use super::words::{FORMATS, JOINTS, LEFT_OUT, NEGATIONS, OPPOSITES, ORDERED, QUANTIFIERS};
use super::{
    HANDLE_KINDS, NAMES, Signal, SignalKind, numbers, signal, stated_default, stem, tokens, units,
};
use std::collections::{BTreeMap, BTreeSet};

/// Words besides the opposites that may differ, on both sides together: beyond it another thing is said.
const OTHER_WORDS: usize = 6;

/// Words of two texts together up to which they may have none in common.
const FEW: usize = 3;

/// One sentence, read for comparison.
struct Said {
    words: Vec<String>,
    /// What is left without joints and negations, as roots.
    content: BTreeSet<String>,
    negations: usize,
}

/// How often each word stands in the two texts as a whole, counted once for all their sentences.
pub(super) struct Texts {
    old: BTreeMap<String, usize>,
    new: BTreeMap<String, usize>,
}

impl Texts {
    pub(super) fn read(old: &str, new: &str) -> Texts {
        let count = |text: &str| {
            let mut counts = BTreeMap::new();
            for word in merged(text) {
                *counts.entry(word).or_insert(0) += 1;
            }
            counts
        };
        Texts { old: count(old), new: count(new) }
    }

    /// True where the word stands there less often now.
    pub(super) fn gave(&self, word: &str) -> bool {
        let often = |counts: &BTreeMap<String, usize>| counts.get(word).copied().unwrap_or(0);
        often(&self.new) < often(&self.old)
    }

    /// True where the one word stands there less often now, and the other more often.
    fn gave_way(&self, gone: &str, come: &str) -> bool {
        let often = |counts: &BTreeMap<String, usize>, word| counts.get(word).copied().unwrap_or(0);
        often(&self.new, gone) < often(&self.old, gone)
            && often(&self.new, come) > often(&self.old, come)
    }
}

fn denies(word: &str) -> bool {
    NEGATIONS.contains(&word) && word != "instead"
}

fn read(sentence: &str) -> Said {
    let words = merged(sentence);
    let negations = words.iter().filter(|word| denies(word)).count();
    let content = words
        .iter()
        .filter(|word| !denies(word))
        .filter(|word| !JOINTS.contains(&word.as_str()))
        .map(|word| root(word))
        .collect();
    Said { words, content, negations }
}

/// The words of a sentence, with what counts from zero or one as one word.
fn merged(sentence: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in tokens(sentence) {
        let based = matches!(word.as_str(), "based" | "indexed");
        let start = match words.last().map(String::as_str) {
            Some("zero" | "0") if based => Some("zero_based"),
            Some("one" | "1") if based => Some("one_based"),
            _ => None,
        };
        let separator = matches!(word.as_str(), "separated" | "delimited")
            .then(|| words.last().filter(|last| SEPARATORS.contains(&last.as_str())))
            .flatten()
            .map(|last| format!("{last}_separated"));
        if let Some(joined) = start.map(str::to_owned).or(separator) {
            words.pop();
            words.push(joined);
        } else if let Some(counted) = counted_from(&words, &word) {
            words.push(counted.to_owned());
        } else {
            words.push(word);
        }
    }
    words
}

/// What stands between the members of a list.
const SEPARATORS: &[&str] = &["comma", "semicolon", "space", "newline", "line", "pipe", "tab"];

/// `counted from 0`, `starts at 1`: the number that the count begins with.
fn counted_from(words: &[String], word: &str) -> Option<&'static str> {
    let [.., verb, joint] = words else { return None };
    let begins = matches!(
        verb.as_str(),
        "start"
            | "starts"
            | "starting"
            | "begin"
            | "begins"
            | "beginning"
            | "counted"
            | "counting"
            | "indexed"
            | "numbered"
            | "counts"
    );
    match word {
        _ if !begins || !matches!(joint.as_str(), "from" | "at" | "with") => None,
        "0" | "zero" => Some("zero_based"),
        "1" | "one" => Some("one_based"),
        _ => None,
    }
}

fn root(word: &str) -> String {
    let stem = stem(word);
    match stem.strip_suffix('y') {
        Some(rest) if rest.len() >= 3 => format!("{rest}i"),
        _ => stem,
    }
}

/// Two sentences that have most words in common.
pub(super) fn twins(before: &str, after: &str, texts: &Texts, found: &mut Vec<Signal>) {
    let (was, is) = (read(before), read(after));
    let word = opposite(&was, &is, texts)
        .or_else(|| reformatted(before, after, &was, &is))
        .or_else(|| another_owner(&was, &is));
    if let Some(word) = word {
        found.push(signal(SignalKind::SaidOtherwise, before, after, &word));
    }
    if let Some(word) = other_fallback(before, after, &was, &is) {
        found.push(signal(SignalKind::DefaultMoved, before, after, &word));
    }
    if let Some((kind, word)) = numbers::range_moved(before, after) {
        found.push(signal(kind, before, after, &word));
    }
    units::short(before, after, found);
}

/// The one sentence that gave way to the one that came.
pub(super) fn strangers(before: &str, after: &str, texts: &Texts, found: &mut Vec<Signal>) {
    let (was, is) = (read(before), read(after));
    // Texts of a word or two have nothing in common that could tell.
    let few = was.content.len() + is.content.len() <= FEW;
    let names = was.words.len().max(is.words.len()) <= NAMES;
    if was.content.is_disjoint(&is.content) && !few {
        // Such a text may name its format, and no more.
        if let Some(word) = reformatted(before, after, &was, &is).filter(|_| names) {
            found.push(signal(SignalKind::SaidOtherwise, before, after, &word));
        }
        return;
    }
    let word = opposite(&was, &is, texts).or_else(|| reformatted(before, after, &was, &is));
    if let Some(word) = word {
        found.push(signal(SignalKind::SaidOtherwise, before, after, &word));
    }
    units::short(before, after, found);
}

/// A word that gave way to its opposite, or a `not` that came or went. Two of them cancel out.
fn opposite(was: &Said, is: &Said, texts: &Texts) -> Option<String> {
    let mut turns = Vec::new();
    let other = was.content.symmetric_difference(&is.content).count();
    if was.content.is_disjoint(&is.content) && other > FEW {
        return None;
    }
    if other <= OTHER_WORDS {
        for (one, two) in OPPOSITES {
            turns.extend(turned(was, is, one, two).or_else(|| turned(was, is, two, one)));
        }
        for (few, many) in QUANTIFIERS {
            turns.extend(counted(was, is, few, many).or_else(|| counted(was, is, many, few)));
        }
        // Where the text as a whole names both as often as before, only sentences were recut.
        turns.retain(|(gone, come)| texts.gave_way(gone, come));
    }
    // The words are the same but for the negation and what goes with it.
    let turns_over = was.negations % 2 != is.negations % 2;
    let denied = turns_over
        && (was.content == is.content || says_less_and_denies(was, is))
        // `always` and `never` are opposites of which one denies: that is one turn, and not two.
        && !turns.iter().any(|(gone, come)| [gone, come].iter().any(|word| denies(word)));
    let odd = (turns.len() + usize::from(denied)) % 2 == 1;
    if !odd {
        return None;
    }
    Some(match turns.first() {
        Some((gone, come)) => {
            format!("{} became {}", gone.replace('_', "-"), come.replace('_', "-"))
        }
        None if is.negations > was.negations => "denied now".to_owned(),
        None => "no longer denied".to_owned(),
    })
}

/// One sentence says less than the other, and denies what the other says: `can be restored within 30 days` became
/// `cannot be restored`.
fn says_less_and_denies(was: &Said, is: &Said) -> bool {
    let within = was.content.is_subset(&is.content) || is.content.is_subset(&was.content);
    let (denying, other) = if was.negations > is.negations { (was, is) } else { (is, was) };
    let denied = denying.words.iter().enumerate().any(|(at, word)| {
        let denies = NEGATIONS.contains(&word.as_str());
        let next = denying.words[at + 1..].iter().find(|word| !JOINTS.contains(&word.as_str()));
        denies && next.is_some_and(|next| other.content.contains(&root(next)))
    });
    within && denied && was.content.intersection(&is.content).count() >= 2
}

fn turned(was: &Said, is: &Said, from: &[&str], to: &[&str]) -> Option<(String, String)> {
    let holds = |said: &Said, list: &[&str]| {
        said.words.iter().find(|w| list.contains(&w.as_str())).cloned()
    };
    let (gone, come) = (holds(was, from)?, holds(is, to)?);
    (holds(is, from).is_none() && holds(was, to).is_none()).then_some((gone, come))
}

/// `the first match` became `every match`: the same thing follows.
fn counted(was: &Said, is: &Said, from: &[&str], to: &[&str]) -> Option<(String, String)> {
    let things = |said: &Said, list: &[&str]| -> Vec<(String, String)> {
        said.words
            .windows(2)
            .filter(|pair| list.contains(&pair[0].as_str()))
            .map(|pair| (root(&pair[1]), pair[0].clone()))
            .collect()
    };
    let (old, new) = (things(was, from), things(is, to));
    let (kept, known) = (things(is, from), things(was, to));
    if !kept.is_empty() || !known.is_empty() {
        return None;
    }
    old.iter().find_map(|(thing, gone)| {
        let twin = new.iter().find(|(other, _)| other == thing)?;
        Some((gone.clone(), twin.1.clone()))
    })
}

/// Another format of a text, another order of a date, of coordinates or of a fixed list.
fn reformatted(before: &str, after: &str, was: &Said, is: &Said) -> Option<String> {
    let formats = |said: &Said| -> BTreeSet<&'static str> {
        FORMATS
            .iter()
            .filter(|spellings| said.words.iter().any(|w| spellings.contains(&w.as_str())))
            .filter_map(|spellings| spellings.first().copied())
            .collect()
    };
    let (old, new) = (formats(was), formats(is));
    if let (Some(from), Some(to)) = (old.first(), new.first())
        && old.is_disjoint(&new)
    {
        return Some(format!("{from} became {to}"));
    }
    let (old, new) = (date_pictures(before), date_pictures(after));
    if let (Some(from), Some(to)) = (old.first(), new.first())
        && old.is_disjoint(&new)
    {
        return Some(format!("{from} became {to}"));
    }
    let (old, new) = (fixed_list(before), fixed_list(after));
    if let (Some(old), Some(new)) = (old, new)
        && old != new
        && old.iter().collect::<BTreeSet<_>>() == new.iter().collect::<BTreeSet<_>>()
    {
        return Some(format!("[{}] became [{}]", old.join(", "), new.join(", ")));
    }
    ORDERED.iter().find_map(|(one, two)| {
        let stands = |said: &Said, first: &[&str], second: &[&str]| {
            said.words
                .windows(2)
                .any(|pair| first.contains(&pair[0].as_str()) && second.contains(&pair[1].as_str()))
        };
        let there = |said: &Said| (stands(said, one, two), stands(said, two, one));
        match (there(was), there(is)) {
            ((true, false), (false, true)) | ((false, true), (true, false)) => {
                Some("the order turned".to_owned())
            }
            _ => None,
        }
    })
}

/// `YYYY-MM-DD` and the like, in lower case.
fn date_pictures(sentence: &str) -> BTreeSet<String> {
    sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| {
            word.contains("yy")
                && word.contains("mm")
                && word.chars().all(|c| "ymdhst-/.:z".contains(c))
        })
        // The time of day that one of them also tells is no other order of the date.
        .map(|word| word.split('t').next().unwrap_or_default().to_owned())
        .collect()
}

/// The members of the one list in square brackets: their order is what tells them apart.
fn fixed_list(sentence: &str) -> Option<Vec<String>> {
    let (_, rest) = sentence.split_once('[')?;
    let (inside, _) = rest.split_once(']')?;
    let members: Vec<String> = inside.split(',').map(|member| tokens(member).join(" ")).collect();
    (members.len() >= 2 && members.iter().all(|member| !member.is_empty())).then_some(members)
}

/// `id of the issue` became `id of the project`: one thing is named in place of another.
fn another_owner(was: &Said, is: &Said) -> Option<String> {
    let (gone, come) = replaced(&was.words, &is.words)?;
    let handle = |word: &str| HANDLE_KINDS.iter().any(|(_, words)| words.contains(&word));
    let owner = |words: &[String], at: usize| {
        let joined = at.checked_sub(1).is_some_and(|of| words[of] == "of")
            || at.checked_sub(2).is_some_and(|of| {
                words[of] == "of" && matches!(words[of + 1].as_str(), "the" | "a" | "an" | "this")
            });
        joined
            && words[..at].iter().rev().take(3).any(|word| handle(word))
            // What goes on is told more closely behind it: `of the issue comment`.
            && words.get(at + 1).is_none_or(|next| JOINTS.contains(&next.as_str()))
    };
    let (from, to) = (&was.words[gone], &is.words[come]);
    (owner(&was.words, gone) && owner(&is.words, come) && !akin(from, to))
        .then(|| format!("{from} became {to}"))
}

/// What is taken where nothing is given is named by another word, in the same sentence.
fn other_fallback(before: &str, after: &str, was: &Said, is: &Said) -> Option<String> {
    if stated_default(before).is_some() || stated_default(after).is_some() {
        return None;
    }
    let told = |words: &[String]| {
        let text = format!(" {} ", words.join(" "));
        LEFT_OUT.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
    };
    if !told(&was.words) || !told(&is.words) {
        return None;
    }
    let (was, is) = match replaced(&was.words, &is.words) {
        Some(_) => (was.words.clone(), is.words.clone()),
        // A name with hyphens is one word here.
        None => (coarse(before), coarse(after)),
    };
    let (gone, come) = replaced(&was, &is)?;
    let (from, to) = (&was[gone], &is[come]);
    // `is omitted` and `is not given` tell the same.
    let plain = |word: &String| {
        JOINTS.contains(&word.as_str())
            || LEFT_OUT
                .iter()
                .filter(|phrase| **phrase != "by default")
                .any(|phrase| phrase.split(' ').any(|part| part == word))
    };
    (!plain(from) && !plain(to) && !akin(from, to)).then(|| format!("{from} became {to}"))
}

/// The words of a sentence as spaces part them.
fn coarse(sentence: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    sentence.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

/// Where two sentences differ in exactly one word: its places.
pub(super) fn replaced(was: &[String], is: &[String]) -> Option<(usize, usize)> {
    // An article or the word `please` before it is no difference.
    let bare = |words: &[String]| -> Vec<usize> {
        (0..words.len())
            .filter(|at| !matches!(words[*at].as_str(), "the" | "a" | "an" | "this"))
            .collect()
    };
    let (old, new) = (bare(was), bare(is));
    if old.len() != new.len() {
        return None;
    }
    let mut differing = old.iter().zip(&new).filter(|(a, b)| was[**a] != is[**b]);
    let (from, to) = differing.next()?;
    differing.next().is_none().then_some((*from, *to))
}

/// Two spellings or forms of one word, a typing error or an abbreviation.
fn akin(a: &str, b: &str) -> bool {
    let (a, b) = (root(a), root(b));
    if a == b {
        return true;
    }
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let tail = a.chars().rev().zip(b.chars().rev()).take_while(|(x, y)| x == y).count();
    let shorter = a.chars().count().min(b.chars().count());
    common >= 3 && (common >= shorter || common + tail + 2 > shorter)
}

/// What one value meant, another one means now: `1 = low, 3 = high` became `1 = high, 3 = low`.
pub(super) fn meanings_swapped(old: &str, new: &str, found: &mut Vec<Signal>) {
    let (was, is) = (meanings(old), meanings(new));
    for (name, (meaning, before)) in &was {
        let Some((now, after)) = is.get(name) else { continue };
        if now == meaning {
            continue;
        }
        let moved = |other: &String| was.get(other).is_some_and(|(then, _)| then == now);
        let known = was.keys().any(|other| other != name && moved(other));
        let given = is.iter().any(|(other, (told, _))| other != name && told == meaning);
        if known && given {
            let word = format!("what {name} means");
            found.push(signal(SignalKind::SaidOtherwise, before, after, &word));
            return;
        }
    }
}

/// `name = meaning`, `name: meaning` and `name (meaning)`, where the name is one word.
fn meanings(text: &str) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    let mut tell = |name: &str, meaning: &str, part: &str| {
        let name = tokens(name).pop().unwrap_or_default();
        let meaning = tokens(meaning).join(" ");
        if !name.is_empty() && !meaning.is_empty() {
            found.insert(name, (meaning, part.to_owned()));
        }
    };
    for part in text.split([',', ';', '\n', '(', ')']) {
        let part = part.trim().trim_end_matches('.');
        // `Priority: 1 = low` tells of the 1.
        if let Some((name, meaning)) = part.rsplit_once('=').or_else(|| part.split_once(": ")) {
            tell(name, meaning, part);
        }
    }
    for (open, _) in text.match_indices(" (") {
        let name = text[..open].rsplit(char::is_whitespace).next().unwrap_or_default();
        if let Some((meaning, _)) = text[open + 2..].split_once(')') {
            tell(name, meaning, &format!("{name} ({meaning})"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{compare, compare_field};
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare_field(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn the_same_sentence_with_another_meaning_is_a_signal() {
        use SignalKind::{DefaultMoved, SaidOtherwise, UnitMoved};
        for (old, new, kind) in [
            (
                "Only items created before this date",
                "Only items created after this date",
                SaidOtherwise,
            ),
            ("Path relative to the project root", "Absolute path on the host", SaidOtherwise),
            ("Start time in UTC", "Start time in the local time zone of the server", SaidOtherwise),
            (
                "If true, archived items are excluded",
                "If true, archived items are included",
                SaidOtherwise,
            ),
            ("Saves the message as a draft.", "Sends the message immediately.", SaidOtherwise),
            ("Zero-based index of the line", "One-based index of the line", SaidOtherwise),
            (
                "Coordinates as [latitude, longitude]",
                "Coordinates as [longitude, latitude]",
                SaidOtherwise,
            ),
            (
                "Updates the page. Does not notify watchers.",
                "Updates the page. Notifies watchers.",
                SaidOtherwise,
            ),
            (
                "Branch. Omit to use the current branch.",
                "Branch. Omit to use the default branch.",
                DefaultMoved,
            ),
            ("Where; if not given, staging", "Where; if not given, nowhere", DefaultMoved),
            ("End of the range (exclusive)", "End of the range (inclusive)", SaidOtherwise),
            ("Tags; all tags must match", "Tags; any tag may match", SaidOtherwise),
            ("User to grant access to", "Group to grant access to", SaidOtherwise),
            (
                "Text to append to the file",
                "Text to replace the file's content with",
                SaidOtherwise,
            ),
            ("Replaces the first match.", "Replaces every match.", SaidOtherwise),
            ("Oldest first", "Newest first", SaidOtherwise),
            (
                "soft: keeps changes; hard: discards changes",
                "soft: discards changes; hard: keeps changes",
                SaidOtherwise,
            ),
            (
                "Priority: 1 = low, 2 = medium, 3 = high",
                "Priority: 1 = high, 2 = medium, 3 = low",
                SaidOtherwise,
            ),
            (
                "Mode: a (append) or w (overwrite).",
                "Mode: a (overwrite) or w (append).",
                SaidOtherwise,
            ),
            ("Writing isn't allowed.", "Writing is allowed.", SaidOtherwise),
            ("The key wasn\u{2019}t shared.", "The key was shared.", SaidOtherwise),
            ("Optional name.", "Required name.", SaidOtherwise),
            ("Ignored if dry_run is set.", "Used only if dry_run is set.", SaidOtherwise),
            ("Glob pattern", "Regular expression", SaidOtherwise),
            ("Base64-encoded content", "Raw content", SaidOtherwise),
            ("Ratio between 0 and 1", "Ratio between 0 and 100", SaidOtherwise),
            ("Share (0–1)", "Share (0–100)", SaidOtherwise),
            ("Body in HTML", "Body in Markdown", SaidOtherwise),
            ("Date as YYYY-MM-DD", "Date as DD-MM-YYYY", SaidOtherwise),
            ("Delay (s)", "Delay (ms)", UnitMoved),
            ("Sorted ascending by default", "Sorted descending by default", SaidOtherwise),
            ("The source file to copy from", "The destination to copy to", SaidOtherwise),
            ("Id of the issue", "Id of the project", SaidOtherwise),
        ] {
            assert!(kinds(old, new).contains(&kind), "{old} -> {new}: {:?}", kinds(old, new));
        }
    }

    #[test]
    fn the_same_meaning_in_other_words_is_none() {
        for (old, new) in [
            ("Delay in ms", "Delay in milliseconds"),
            ("Size in kB", "Size in kilobytes"),
            ("Opacity in percent", "Opacity in %"),
            ("Do not include the leading slash", "Don't include the leading slash"),
            ("Cannot delete protected branches", "Can't delete protected branches"),
            ("The user's name", "The user\u{2019}s name"),
            ("Attendees are not told.", "Attendees aren't told."),
            ("It has not been sent.", "It hasn\u{2019}t been sent."),
            ("Mode: a (append) or w (overwrite).", "Mode: w (overwrite) or a (append)."),
            ("If true, archived items are excluded", "If false, archived items are included"),
            ("If omitted, the current branch is used", "If not given, the current branch is used"),
            ("Id of the repo", "Id of the repository"),
            ("Id of the organisation", "Id of the organization"),
            ("Timeout; default 60 seconds", "Timeout; default 1 minute"),
            ("The item(s) to show", "The item to show"),
            ("Before or after the line", "After or before the line"),
            ("Date as YYYY-MM-DD", "Date in the form yyyy-mm-dd"),
            ("Latitude and longitude of the city", "Longitude and latitude of the city"),
            ("1 = low, 3 = high", "1 = lowest, 3 = highest"),
            ("Lists all branches of a repository", "List branches in a repository"),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }

    #[test]
    fn texts_of_thousands_of_changed_sentences_are_told_as_not_compared() {
        let text = |step: usize| -> String {
            (0..3000).map(|n| format!("w{} may jump {n}. ", n * step)).collect()
        };
        let found: Vec<_> = compare(&text(1), &text(2)).into_iter().map(|s| s.kind).collect();
        assert_eq!(found, [SignalKind::NotCompared]);
        let longer = format!("{}It also hops.", text(1));
        assert_eq!(compare(&text(1), &longer), []);
    }
}
