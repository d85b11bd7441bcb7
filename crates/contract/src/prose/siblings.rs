//! Texts that changed places among siblings: arguments of one object, tools of one list.

use super::key;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a sibling is called and what it said before and says now, as far as it was and is there.
pub type Told<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

/// Siblings that hold the text of another one now, while their own stands on another: each with the one whose text it
/// holds. A text that several had before tells nothing.
pub fn exchanged<'a>(told: &[Told<'a>]) -> BTreeMap<&'a str, &'a str> {
    let mut owners: HashMap<String, Option<&str>> = HashMap::new();
    let mut now: HashSet<(String, &str)> = HashSet::new();
    let mut holders: HashMap<String, usize> = HashMap::new();
    for (name, before, after) in told {
        if let Some(text) = before.map(key) {
            owners.entry(text).and_modify(|owner| *owner = None).or_insert(Some(name));
        }
        if let Some(text) = after.map(key) {
            *holders.entry(text.clone()).or_default() += 1;
            now.insert((text, name));
        }
    }
    let mut found = BTreeMap::new();
    for (name, before, after) in told {
        let (Some(before), Some(after)) = (before.map(key), after.map(key)) else { continue };
        if before == after || before.is_empty() {
            continue;
        }
        let stands_elsewhere = holders.contains_key(&before) && !now.contains(&(before, *name));
        if let Some(Some(owner)) = owners.get(&after)
            && owner != name
            && stands_elsewhere
        {
            found.insert(*name, *owner);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(told: &[Told<'static>]) -> Vec<(&'static str, &'static str)> {
        exchanged(told).into_iter().collect()
    }

    #[test]
    fn texts_that_changed_places_are_found() {
        let told = [
            ("source", Some("Debited."), Some("Credited.")),
            ("target", Some("Credited."), Some("Debited.")),
            ("note", Some("Why."), Some("Why?")),
        ];
        assert_eq!(names(&told), [("source", "target"), ("target", "source")]);
        let round =
            [("a", Some("1"), Some("2")), ("b", Some("2"), Some("3")), ("c", Some("3"), Some("1"))];
        assert_eq!(names(&round), [("a", "b"), ("b", "c"), ("c", "a")]);
        let shifted = [("a", Some("1"), None), ("b", Some("2"), Some("1")), ("c", None, Some("2"))];
        assert_eq!(names(&shifted), [("b", "a")]);
    }

    #[test]
    fn texts_that_are_new_shared_or_only_copied_are_none() {
        for told in [
            [("a", Some("1"), Some("2")), ("b", Some("2"), Some("2"))],
            [("a", Some("1"), Some("3")), ("b", Some("2"), Some("1"))],
            [("a", Some("The id"), Some("The id.")), ("b", Some("The name"), Some("the name"))],
        ] {
            assert_eq!(names(&told), [], "{told:?}");
        }
        let shared =
            [("a", Some("1"), Some("2")), ("b", Some("2"), Some("1")), ("c", Some("2"), Some("2"))];
        assert_eq!(names(&shared), [("b", "a")]);
    }
}
