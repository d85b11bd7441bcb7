//! Text as contract: which edits of a description only reword, and which move a duty, a number,
//! a unit, a default, an effect or what the answer holds.
//!
//! No claim of understanding: the reader looks for a few kinds of words in the sentences that
//! changed and shows the sentence. Whatever it does not recognise is wording.

mod asked;
mod deeds;
mod defaults;
mod guards;
mod moved;
pub(crate) mod named;
mod numbers;
mod opposite;
mod planted;
mod promises;
mod reach;
mod siblings;
mod spelling;
mod twins;
mod units;
mod verbs;
mod words;

pub use defaults::{stated_default, stated_limit};
pub use siblings::{Told, exchanged};

use crate::lexicon::singular;
use std::collections::BTreeSet;
use twins::Changed;
use words::{
    EFFECT_FAMILIES, EFFECT_PHRASES, EFFECT_VERBS, HANDLE_KINDS, HARD, NEGATIONS, REDUCED,
    REDUCED_PHRASES, SOFT, WIDE,
};

/// One thing that a text edit moved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signal {
    /// What kind of thing.
    pub kind: SignalKind,
    /// The old sentence, where one is gone or reworded.
    pub before: String,
    /// The new sentence, where one is new or reworded.
    pub after: String,
    /// The word or number that gave it away.
    pub word: String,
}

/// The kinds of things that a text edit can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignalKind {
    /// A duty is gone or softer: `must` became `should`, a guard is no longer asked for.
    DutyRelaxed,
    /// A duty is new or harder; a server that means it refuses by itself.
    DutyTightened,
    /// A stated limit is lower than before.
    LimitLowered,
    /// A stated limit is higher than before.
    LimitRaised,
    /// A stated default is another one.
    DefaultMoved,
    /// A unit of measure is another one.
    UnitMoved,
    /// The text names an effect that it did not name before.
    EffectAppeared,
    /// The answer holds less, or hides something.
    AnswerReduced,
    /// The reach is wider: all, every, any, across.
    ScopeWidened,
    /// A value that the text offered is no longer offered.
    ChoiceDropped,
    /// The value names its thing by another kind of handle.
    HandleMoved,
    /// A stated default is stated nowhere any more.
    DefaultDropped,
    /// The reach is narrower: the current one, where it was all.
    ScopeNarrowed,
    /// What changed things that are there fails now where something is there.
    RefusalAppeared,
    /// A value that the text offers is spelt in another case.
    ChoiceRecased,
    /// The same thing is said with the opposite, in another format or of another thing.
    SaidOtherwise,
    /// The text holds characters that nobody sees.
    HiddenText,
    /// The text gives the model an order that is not about the tool.
    OrderAppeared,
    /// The text stood on a sibling before, and its own stands on another now.
    TextOfSibling,
    /// The texts are too long, or differ in too many sentences, to be compared.
    NotCompared,
}

/// Compares two texts. Empty where the edit only rewords.
///
/// A text about many things may name units of each: there, one counts only where nothing else differs.
pub fn compare(old: &str, new: &str) -> Vec<Signal> {
    let mut signals = all_signals(old, new);
    signals
        .retain(|signal| signal.kind != SignalKind::UnitMoved || units::is_all_that_moved(signal));
    signals
}

fn all_signals(old: &str, new: &str) -> Vec<Signal> {
    if old == new {
        return Vec::new();
    }
    let Some(Changed { gone, come }) = twins::changed(old, new) else {
        return vec![signal(SignalKind::NotCompared, "", "", "")];
    };
    let mut signals = planted::hidden(old, new);
    if gone.is_empty() && come.is_empty() {
        return signals;
    }
    let old_words = stems(old);
    let new_words = stems(new);
    let texts = opposite::Texts::read(old, new);
    let mut paired: BTreeSet<usize> = BTreeSet::new();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    let mut alone: Vec<&str> = Vec::new();
    for before in &gone {
        let twin = come
            .iter()
            .enumerate()
            .filter(|(index, _)| !paired.contains(index))
            .filter_map(|(index, after)| Some((twins::about_the_same(before, after)?, index)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        match twin {
            Some((_, index)) => {
                paired.insert(index);
                let (before, after) = (before.text.as_str(), come[index].text.as_str());
                reworded(before, after, &mut signals);
                opposite::twins(before, after, &texts, &mut signals);
                guards::twins((before, after), (&old_words, &new_words), &mut signals);
                promises::twins((before, after), &texts, &mut signals);
                reach::twins((before, after), old, &mut signals);
                numbers::moved(before, after, &mut signals);
                pairs.push((before, after));
            }
            None => {
                alone.push(&before.text);
                dropped(&before.text, &new_words, &mut signals);
            }
        }
    }
    let fresh: Vec<&str> = come
        .iter()
        .enumerate()
        .filter(|(index, _)| !paired.contains(index))
        .map(|(_, after)| after.text.as_str())
        .collect();
    // Where one sentence gave way to one, they are about the same thing however they are worded.
    if let ([before], [after]) = (alone.as_slice(), fresh.as_slice()) {
        opposite::strangers(before, after, &texts, &mut signals);
        only_given_up(before, after, &mut signals);
        promises::twins((before, after), &texts, &mut signals);
        // `<= 50` has no word that could tell what it is about.
        if tokens(before).len().max(tokens(after).len()) <= NAMES {
            defaults::limit_moved(before, after, &mut signals);
        }
    }
    for sentence in &come {
        appeared(&sentence.text, &old_words, &mut signals);
    }
    opposite::meanings_swapped(old, new, &mut signals);
    guards::signals((old, new), (&gone, &come), &mut signals);
    promises::signals((old, new), (&gone, &come), &mut signals);
    verbs::signals((old, new), &pairs, (&alone, &fresh), &mut signals);
    planted::signals(old, &come, &mut signals);
    moved::signals((old, new), (&gone, &come), &mut signals);
    signals.sort();
    signals.dedup_by(|a, b| a.kind == b.kind && a.before == b.before && a.after == b.after);
    signals
}

/// Compares the texts of one argument or field: besides [`compare`], its unit and the kind of handle it holds.
pub fn compare_field(old: &str, new: &str) -> Vec<Signal> {
    let mut signals = all_signals(old, new);
    signals.retain(|signal| !planted::is_about_an_argument(signal));
    let (was, is) = (sentences(old), sentences(new));
    if let (Some(before), Some(after)) = (was.first(), is.first()) {
        let (old_words, new_words) = (tokens(before), tokens(after));
        // A text of a few words names its thing and no more.
        let names =
            was.len() == 1 && is.len() == 1 && old_words.len().max(new_words.len()) <= NAMES;
        if names || likeness(before, after) >= LIKE {
            handle_moved(before, after, &old_words, &new_words, &mut signals);
        }
        if names && !signals.iter().any(|signal| signal.kind == SignalKind::UnitMoved) {
            units::moved(before, after, &mut signals);
        }
    }
    defaults::moved_in_field(old, new, &mut signals);
    asked::signals(old, new, &mut signals);
    if !signals.iter().any(|signal| signal.kind == SignalKind::NotCompared) {
        moved::choices_recased(old, new, &mut signals);
    }
    signals.sort();
    signals
}

/// Two sentences are about the same thing from this share of common words on; below it, pairing
/// unrelated sentences invents number and unit changes.
const LIKE: f64 = 0.34;

/// The most words of a text that only names its thing.
const NAMES: usize = 5;

/// Splits a text into sentences, list items and clauses; code blocks and examples are left out,
/// since they show a use and promise nothing.
pub fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut in_code = false;
    for paragraph in paragraphs(text) {
        if paragraph.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        let mut current = String::new();
        let characters: Vec<char> = paragraph.chars().collect();
        for (position, &character) in characters.iter().enumerate() {
            current.push(character);
            let ends = matches!(character, '.' | '!' | '?' | ';')
                && characters.get(position + 1).is_none_or(|next| next.is_whitespace())
                && !current.trim_end().ends_with("e.g.")
                && !current.trim_end().ends_with("i.e.");
            if ends {
                push_sentence(&mut sentences, &current);
                current.clear();
            }
        }
        push_sentence(&mut sentences, &current);
    }
    sentences
}

fn push_sentence(sentences: &mut Vec<String>, raw: &str) {
    let sentence = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = sentence.to_lowercase();
    let is_example = lower.starts_with("example") || lower.starts_with("- example");
    if sentence.chars().any(char::is_alphanumeric) && !is_example {
        sentences.push(sentence);
    }
}

/// Joins lines that a formatter wrapped; blank lines, bullets and `name:` lines begin anew.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let begins = trimmed.is_empty()
            || trimmed.starts_with(['-', '*', '#', '|', '•'])
            || trimmed.starts_with("```")
            || trimmed.split_once(':').is_some_and(|(head, _)| {
                !head.is_empty() && head.len() < 40 && !head.trim().contains(' ')
            });
        if begins || !open {
            paragraphs.push(trimmed.to_string());
        } else if let Some(last) = paragraphs.last_mut() {
            last.push(' ');
            last.push_str(trimmed);
        }
        open = !trimmed.is_empty() && !trimmed.starts_with("```");
    }
    paragraphs
}

/// A sentence without case, punctuation, host-specific paths and spacing.
pub(crate) fn key(sentence: &str) -> String {
    tokens(sentence).join(" ")
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for raw in spelling::plain(text).split_whitespace() {
        let trimmed = raw.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        if trimmed.starts_with('/') && trimmed.matches('/').count() > 1 {
            tokens.push("<path>".to_string());
            continue;
        }
        if trimmed.starts_with("http://") || trimmed.starts_with("https://") {
            tokens.push("<url>".to_string());
            continue;
        }
        let mut current = String::new();
        for character in trimmed.chars() {
            if character.is_alphanumeric() || character == '\'' {
                current.extend(character.to_lowercase());
            } else if !current.is_empty() {
                tokens.push(std::mem::take(&mut current));
            }
        }
        if !current.is_empty() {
            tokens.push(current);
        }
    }
    tokens
}

/// The word without the endings that grammar adds.
fn stem(word: &str) -> String {
    let word = singular(word);
    for ending in ["ing", "ed", "es", "e"] {
        if let Some(root) = word.strip_suffix(ending)
            && root.len() >= 3
        {
            return root.to_string();
        }
    }
    word.to_string()
}

fn stems(text: &str) -> BTreeSet<String> {
    tokens(text).iter().map(|word| stem(word)).collect()
}

fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (stems(a), stems(b));
    let common = a.intersection(&b).count() as f64;
    let all = a.union(&b).count() as f64;
    if all == 0.0 { 0.0 } else { common / all }
}

/// How alike two texts are, 0 to 1, by common words.
pub fn similarity(a: &str, b: &str) -> f64 {
    if key(a) == key(b) { 1.0 } else { likeness(a, b) }
}

/// True where two texts differ in case, spacing, punctuation and host paths at most.
pub fn same_text(a: &str, b: &str) -> bool {
    let join = |text: &str| sentences(text).iter().map(|s| key(s)).collect::<Vec<_>>().join(" ");
    join(a) == join(b)
}

/// The signal of a text that a sibling of this name had before.
pub fn text_of_sibling(before: &str, after: &str, sibling: &str) -> Signal {
    signal(SignalKind::TextOfSibling, before, after, sibling)
}

fn signal(kind: SignalKind, before: &str, after: &str, word: &str) -> Signal {
    Signal { kind, before: before.into(), after: after.into(), word: word.into() }
}

/// A sentence that has a twin on the other side.
fn reworded(before: &str, after: &str, signals: &mut Vec<Signal>) {
    let (old, new) = (tokens(before), tokens(after));
    let hard = |tokens: &[String]| tokens.iter().find(|t| HARD.contains(&t.as_str())).cloned();
    let soft = |tokens: &[String]| tokens.iter().find(|t| SOFT.contains(&t.as_str())).cloned();
    match (hard(&old), hard(&new)) {
        // A duty is softer only where the text now says that it is a choice.
        (Some(word), None) if soft(&new).is_some() && soft(&old).is_none() => {
            signals.push(signal(SignalKind::DutyRelaxed, before, after, &word));
        }
        (None, Some(word)) => {
            signals.push(signal(SignalKind::DutyTightened, before, after, &word));
        }
        _ => {}
    }
    let mut found = Vec::new();
    defaults::moved(before, after, &mut found);
    if let Some(word) = numbers::default_moved(before, after).filter(|_| found.is_empty()) {
        found.push(signal(SignalKind::DefaultMoved, before, after, &word));
    }
    let about_default = !found.is_empty();
    signals.append(&mut found);
    if !about_default {
        defaults::limit_moved(before, after, signals);
    }
    units::moved(before, after, signals);
    let (was, is) = (moved::choices(before), moved::choices(after));
    if was.len() >= 2 && !is.is_empty() {
        for choice in was.difference(&is) {
            let kept = was.intersection(&is).count();
            if kept * 2 >= was.len() && !new.contains(choice) {
                signals.push(signal(SignalKind::ChoiceDropped, before, after, choice));
            }
        }
    }
    only_given_up(before, after, signals);
}

/// `only` is gone, and a word of reach has come.
fn only_given_up(before: &str, after: &str, signals: &mut Vec<Signal>) {
    let (old, new) = (tokens(before), tokens(after));
    let scope = |tokens: &[String]| -> BTreeSet<String> {
        tokens.iter().filter(|t| WIDE.contains(&t.as_str())).cloned().collect()
    };
    let narrow = old.iter().any(|word| word == "only");
    if narrow
        && !new.iter().any(|word| word == "only")
        && let Some(word) = scope(&new).difference(&scope(&old)).next()
    {
        signals.push(signal(SignalKind::ScopeWidened, before, after, word));
    }
}

/// The text names another kind of handle: an index became an id, a name became a number.
fn handle_moved(
    before: &str,
    after: &str,
    old: &[String],
    new: &[String],
    signals: &mut Vec<Signal>,
) {
    let kinds = |tokens: &[String]| -> BTreeSet<&'static str> {
        HANDLE_KINDS
            .iter()
            .filter(|(_, words)| tokens.iter().any(|t| words.contains(&t.as_str())))
            .map(|(kind, _)| *kind)
            .collect()
    };
    let (was, is) = (kinds(old), kinds(new));
    if was.len() == 1 && is.len() == 1 && was != is {
        let word = is.first().copied().unwrap_or_default();
        signals.push(signal(SignalKind::HandleMoved, before, after, word));
    }
}

/// A sentence that is gone without a twin. Long ones are manuals, not duties.
fn dropped(before: &str, new_words: &BTreeSet<String>, signals: &mut Vec<Signal>) {
    const LONGEST_DUTY: usize = 16;
    let old = tokens(before);
    let duty = old.iter().any(|t| t == "must") && old.len() <= LONGEST_DUTY;
    // The duty is gone only if what it was about is still there to be done without it.
    let about = old.iter().filter(|t| t.len() > 3 && new_words.contains(&stem(t))).count();
    let told_elsewhere = new_words.contains("must") || new_words.contains("requir");
    let told_softly = ["should", "optional", "recommend", "otherwise"]
        .iter()
        .any(|word| new_words.contains(*word));
    if duty && about >= 3 && !told_elsewhere && told_softly {
        signals.push(signal(SignalKind::DutyRelaxed, before, "", "must"));
    }
}

/// A sentence that is new, with or without a twin.
fn appeared(after: &str, old_words: &BTreeSet<String>, signals: &mut Vec<Signal>) {
    let new = tokens(after);
    let negated = |position: usize| {
        new[position.saturating_sub(4)..position].iter().any(|t| NEGATIONS.contains(&t.as_str()))
    };
    // What happens only when a new argument is given is no effect of an old call, and what may
    // happen in a later release is none yet.
    let conditional = matches!(new.first().map(String::as_str), Some("if" | "when"))
        && new
            .iter()
            .any(|t| matches!(t.as_str(), "provided" | "set" | "given" | "true" | "enabled"))
        && !new.iter().any(|t| t == "not");
    let announced = new.iter().any(|t| matches!(t.as_str(), "future" | "deprecated"));
    // A sentence that tells what to pass, or when to use which tool, is advice.
    let told = |first: &String| {
        matches!(
            first.as_str(),
            "use" | "prefer" | "see" | "note" | "tip" | "avoid" | "pass" | "set" | "to"
        )
    };
    let advice = new.first().is_some_and(told)
        || new.iter().take(3).any(|t| matches!(t.as_str(), "set" | "pass" | "use"));
    if conditional || announced || advice {
        return;
    }
    for (position, word) in new.iter().enumerate() {
        let passive = |word: &str| {
            EFFECT_VERBS.iter().any(|(_, participle)| *participle == word)
                && new[position.saturating_sub(3)..position]
                    .iter()
                    .any(|t| matches!(t.as_str(), "is" | "are" | "be" | "been" | "gets" | "get"))
        };
        let active = EFFECT_VERBS.iter().any(|(verb, _)| verb == word);
        if (active || passive(word)) && !negated(position) && !known_effect(word, old_words) {
            signals.push(signal(SignalKind::EffectAppeared, "", after, word));
        }
        let reduced = REDUCED.iter().find(|root| stem(word).starts_with(**root));
        if let Some(root) = reduced
            && !negated(position)
            && !old_words.range(root.to_string()..).next().is_some_and(|old| old.starts_with(root))
        {
            signals.push(signal(SignalKind::AnswerReduced, "", after, word));
        }
    }
    let text = format!(" {} ", new.join(" "));
    let phrase_is_new = |phrase: &str| {
        text.contains(&format!(" {phrase} "))
            && !phrase.split(' ').all(|part| old_words.contains(&stem(part)))
    };
    for phrase in EFFECT_PHRASES.iter().filter(|phrase| phrase_is_new(phrase)) {
        if known_effect(phrase, old_words) {
            continue;
        }
        signals.push(signal(SignalKind::EffectAppeared, "", after, phrase));
    }
    for phrase in REDUCED_PHRASES.iter().filter(|phrase| phrase_is_new(phrase)) {
        signals.push(signal(SignalKind::AnswerReduced, "", after, phrase));
    }
}

/// True where the old side already spoke of an effect of the same family: a tool that deletes
/// does not begin to remove.
fn known_effect(word: &str, old_words: &BTreeSet<String>) -> bool {
    old_words.contains(&stem(word))
        || EFFECT_FAMILIES
            .iter()
            .filter(|family| family.contains(&word))
            .any(|family| family.iter().any(|other| old_words.contains(&stem(other))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(old: &str, new: &str) -> Vec<SignalKind> {
        compare_field(old, new).into_iter().map(|signal| signal.kind).collect()
    }

    #[test]
    fn rewording_is_no_signal() {
        for (old, new) in [
            ("Install a chart", "Install (deploy) a chart to create a release"),
            ("Gets all alarms.", "Gets all Alarms."),
            ("The directory is /srv/data", "The directory is /home/me/data"),
            ("List projects for a user or org", "List projects for a user or organization"),
            ("Look back (default 1800s)", "Look back (default 30m)"),
            ("Sets the type.", "Sets the type. Pass null to remove the current type."),
            ("Gets one.", "Gets one. If omitted, the selected one is returned."),
            ("The id (required)", "The id of the state"),
            ("Path. Defaults to the session's folder.", "Path. Defaults to session folder."),
            ("Delete one.", "Deletes one; this removes data and may be irreversible."),
            ("Gets one.", "Gets one. The old shape may be removed in a future release."),
        ] {
            assert_eq!(kinds(old, new), [], "{old} -> {new}");
        }
    }

    #[test]
    fn duties_numbers_units_defaults_effects_and_answers_are_signals() {
        use SignalKind::*;
        for (old, new, kind) in [
            ("You must give the version.", "You should give the version.", DutyRelaxed),
            ("You should give the version.", "You must give the version.", DutyTightened),
            ("Results per page (max 100)", "Results per page (max 50)", LimitLowered),
            ("Budget in whole US dollars", "Budget in US cents", UnitMoved),
            ("Region. Defaults to us-east-1.", "Region. Defaults to eu-west-1.", DefaultMoved),
            ("Saves the record.", "Saves the record. Fields left out are removed.", EffectAppeared),
            ("Shows the key.", "Shows the key. Secrets are masked.", AnswerReduced),
            ("Action: list, get, or delete", "Action: get or delete", ChoiceDropped),
            ("The index of the row to open", "The ID of the row to open", HandleMoved),
            (
                "Returns only projects the caller may modify.",
                "Returns all projects the caller may view.",
                ScopeWidened,
            ),
        ] {
            assert!(kinds(old, new).contains(&kind), "{old} -> {new}: {:?}", kinds(old, new));
        }
    }
}
