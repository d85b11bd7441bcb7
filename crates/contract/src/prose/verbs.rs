//! The deed that a sentence is about: the verb it leads with, bare or in the third person, and those it adds to it.

use super::deeds::{ALSO_NOUNS, BEFORE_THE_VERB, BEHIND_THE_VERB, DEED_FAMILIES};
use super::words::JOINTS;
use super::{Signal, SignalKind, opposite, sentences, signal, stem, tokens};
use std::collections::BTreeSet;

/// The verb of a sentence as the table spells it, with the families it stands in.
struct Deed {
    verb: &'static str,
    families: BTreeSet<usize>,
}

impl Deed {
    /// Of `create` and `creates` alike.
    fn of(word: &str) -> Option<Deed> {
        let verb = DEED_FAMILIES.iter().flat_map(|family| family.iter()).find(|verb| {
            let Some(ending) = word.strip_prefix(**verb) else {
                return verb.strip_suffix('y').is_some_and(|root| word == format!("{root}ies"));
            };
            matches!(ending, "" | "s" | "es")
        })?;
        let holds = |(at, family): (usize, &&[&str])| family.contains(verb).then_some(at);
        Some(Deed { verb, families: DEED_FAMILIES.iter().enumerate().filter_map(holds).collect() })
    }

    fn looks(&self) -> bool {
        self.families.contains(&0)
    }
}

/// Adds what the verbs of sentences about the same thing tell: of those that lead both texts, and of those that differ
/// in one word. Further down in a text, a sentence more often tells of an argument or an answer than of a deed.
pub(super) fn signals(
    (old, new): (&str, &str),
    pairs: &[(&str, &str)],
    (alone, fresh): (&[&str], &[&str]),
    found: &mut Vec<Signal>,
) {
    let leads = (sentences(old).into_iter().next(), sentences(new).into_iter().next());
    let (Some(first), Some(now_first)) = leads else { return };
    for (before, after) in pairs {
        let lead = (*before == first, *after == now_first);
        let close = || opposite::replaced(&tokens(before), &tokens(after)).is_some();
        if lead == (true, true) || lead == (false, false) && close() {
            twins(before, after, old, found);
        }
    }
    if alone.contains(&first.as_str()) && fresh.contains(&now_first.as_str()) {
        twins(&first, &now_first, old, found);
    }
}

/// Adds what the verbs of two sentences tell, where nothing else was found for them.
fn twins(before: &str, after: &str, old: &str, found: &mut Vec<Signal>) {
    let known = |signal: &Signal| {
        signal.after == after
            && matches!(signal.kind, SignalKind::EffectAppeared | SignalKind::SaidOtherwise)
    };
    if found.iter().any(known) {
        return;
    }
    let (was, is) = (tokens(before), tokens(after));
    let Some(((at, old_deed), (new_at, new_deed))) = lead(&was).zip(lead(&is)) else { return };
    if old_deed.families.is_disjoint(&new_deed.families) {
        // A verb that the other sentence has as well only changed its place: `Search a message` and `Message search`.
        let elsewhere = names(&was, new_deed.verb) || names(&is, old_deed.verb);
        if !elsewhere && same_object(&was[at + 1..], &is[new_at + 1..]) {
            let word = format!("{} became {}", old_deed.verb, new_deed.verb);
            found.push(signal(SignalKind::SaidOtherwise, before, after, &word));
        }
    } else if let Some(word) = added(&is[new_at + 1..], &tokens(old)) {
        found.push(signal(SignalKind::EffectAppeared, before, after, word));
    }
}

/// True where a sentence leads with a verb, and not with a noun of the same letters.
pub(super) fn leads_with_verb(sentence: &str) -> bool {
    lead(&tokens(sentence)).is_some()
}

/// The verb that leads, with its place.
fn lead(words: &[String]) -> Option<(usize, Deed)> {
    let at = words.iter().position(|word| !BEFORE_THE_VERB.contains(&word.as_str()))?;
    let word = &words[at];
    let deed = Deed::of(word)?;
    let next = words.get(at + 1).map_or("", String::as_str);
    // `List of ids`, `Comment text`: a noun of the same letters. What follows a verb is what it is done to.
    let is_verb = match *word == deed.verb {
        true => {
            !ALSO_NOUNS.contains(&deed.verb) || BEHIND_THE_VERB.contains(&next) || plural(words, at)
        }
        false => !matches!(next, "of" | "to" | "that" | "which"),
    };
    is_verb.then_some((at, deed))
}

/// `Delete users`: the very next word, or the one after it, tells of many.
fn plural(words: &[String], at: usize) -> bool {
    let next = words.get(at + 1).map_or("", String::as_str);
    let many = |at: usize| {
        words.get(at).is_some_and(|word| {
            word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")
        })
    };
    !JOINTS.contains(&next) && (many(at + 1) || many(at + 2))
}

fn names(words: &[String], verb: &str) -> bool {
    let root = stem(verb);
    words.iter().any(|word| stem(word) == root)
}

/// They have a word in common besides their verbs.
fn same_object(was: &[String], is: &[String]) -> bool {
    let content = |words: &[String]| -> BTreeSet<String> {
        words
            .iter()
            .filter(|word| !JOINTS.contains(&word.as_str()))
            .map(|word| stem(word))
            .collect()
    };
    !content(was).is_disjoint(&content(is))
}

/// `… and closes it`: a deed besides the leading one, of a family that the old text knows nothing of.
fn added(is: &[String], old: &[String]) -> Option<&'static str> {
    is.windows(3).find_map(|three| {
        let [joint, verb, next] = three else { return None };
        let joins = matches!(joint.as_str(), "and" | "then");
        let done = matches!(
            next.as_str(),
            "it" | "them" | "the" | "a" | "an" | "all" | "its" | "their" | "this" | "every" | "any"
        );
        let deed = Deed::of(verb).filter(|deed| joins && done && !deed.looks())?;
        let akin = deed.families.iter().flat_map(|at| DEED_FAMILIES[*at]);
        let is_known = akin.into_iter().any(|other| names(old, other));
        (!is_known).then_some(deed.verb)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{compare, compare_field};

    #[test]
    fn another_deed_in_the_place_of_the_one_that_led_is_a_signal() {
        for (old, new) in [
            ("Create a user.", "Delete a user."),
            ("Delete a user.", "Create a user."),
            ("Creates a user.", "Deletes a user."),
            ("Start the server.", "Stop the server."),
            ("Approves the request.", "Rejects the request."),
            ("Previews the mail.", "Sends the mail."),
            ("Estimates the cost of the shipment.", "Books the shipment."),
            ("Stops the instance.", "Terminates the instance."),
            ("Merges the branch.", "Rebases the branch."),
            ("List users", "Delete users"),
            ("Use this tool to add a label.", "Use this tool to remove a label."),
            ("Adds a comment to the issue.", "Adds a comment to the issue and closes it."),
            ("Pauses the job. Waits for it.", "Cancels the job. Waits for it."),
            ("Create missing folders", "Delete missing folders"),
        ] {
            for read in [compare, compare_field] {
                assert!(!read(old, new).is_empty(), "{old} -> {new}");
            }
        }
    }

    #[test]
    fn another_verb_for_the_same_deed_and_a_noun_are_none() {
        for (old, new) in [
            ("Get a user.", "Fetch a user."),
            ("Gets a user.", "Retrieves a user."),
            ("Returns all users", "List users"),
            ("Show a user.", "Retrieve the user."),
            ("Create a label.", "Add a label."),
            ("Makes a label.", "Creates a label."),
            ("Update a page.", "Edit a page."),
            ("Modifies a page.", "Updates the page."),
            ("Remove a label.", "Delete a label."),
            ("Search for files.", "Find files."),
            ("Query the logs.", "Search the logs."),
            ("Message search in a channel.", "Search messages in a channel."),
            ("List text for the user", "Message text for the user"),
            ("Run a search over the logs.", "Search the logs."),
            ("Create or update a page.", "Update a page, or create it."),
            ("Start date of the report", "Report date"),
            ("Execute a command.", "Run a command."),
            ("Close an issue.", "Closes an issue and its threads."),
            ("Send a message.", "Post a message."),
            ("Adds a comment.", "Adds a comment and returns it."),
        ] {
            for read in [compare, compare_field] {
                assert_eq!(read(old, new), [], "{old} -> {new}");
            }
        }
    }
}
