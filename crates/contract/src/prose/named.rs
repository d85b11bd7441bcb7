//! Words of names that exclude each other: one name that holds the one is no spelling of a name that holds the other,
//! however alike the texts beside them are.

use super::deeds::DEED_FAMILIES;
use super::words::{OPPOSITES, SHORT_UNITS, UNITS};
use crate::lexicon::{singular, words};

/// Words of names, besides those of texts, that say the opposite.
const APART: &[(&[&str], &[&str])] = &[
    (&["min", "minimum", "least"], &["max", "maximum", "most"]),
    (&["from", "source", "src", "origin"], &["to", "target", "dest", "destination"]),
    (&["start", "begin", "first"], &["end", "stop", "finish", "last"]),
    (&["since", "after"], &["until", "before"]),
    (&["left"], &["right"]),
    (&["top", "upper", "head"], &["bottom", "lower", "tail"]),
    (&["up"], &["down"]),
    (&["input"], &["output"]),
    (&["read", "reader"], &["write", "writer"]),
    (&["old", "previous"], &["new", "next"]),
    (&["allow", "allowed", "permit", "whitelist"], &["deny", "denied", "block", "blacklist"]),
    (&["add"], &["remove"]),
    (&["width"], &["height"]),
    (&["row"], &["column", "col"]),
    (&["lat", "latitude"], &["lon", "lng", "longitude"]),
    (&["internal"], &["external"]),
    (&["buy"], &["sell"]),
    (&["push"], &["pull"]),
    (&["encrypt"], &["decrypt"]),
    (&["positive"], &["negative"]),
];

/// Places where the same deed is not the same; each with its spellings.
const STAGES: &[&[&str]] = &[
    &["production", "prod", "live"],
    &["staging", "stage", "stg"],
    &["development", "dev"],
    &["test", "testing", "qa"],
    &["sandbox"],
];

/// Beginnings of a word that turn it over.
const TURNS: &[&str] = &["un", "non", "de", "dis", "in"];

/// Leading words of a name that turn the rest over.
const WITHOUT: &[&str] = &["no", "not", "non", "without", "skip", "exclude", "disable", "dont"];

/// What sets two names apart that stand for one thing otherwise: a word of each.
pub(crate) fn apart(old: &str, new: &str) -> Option<String> {
    sides(old, new, |gone, come| {
        opposed(gone, come) || measured_apart(gone, come) || staged_apart(gone, come)
    })
    .or_else(|| turned(old, new))
}

/// The same for names of deeds, whose verbs count too.
pub(crate) fn deeds_apart(old: &str, new: &str) -> Option<String> {
    let (was, is) = (words(old), words(new));
    let verb = |words: &[String], word: &str| {
        // A verb leads a name or ends it; in between it is a noun. At the end, `issue_write` takes many deeds.
        words.first().is_some_and(|first| first == word)
            || word != "write" && words.last().is_some_and(|last| last == word)
    };
    apart(old, new).or_else(|| {
        sides(old, new, |gone, come| verb(&was, gone) && verb(&is, come) && other_deed(gone, come))
    })
}

fn sides(old: &str, new: &str, apart: impl Fn(&str, &str) -> bool) -> Option<String> {
    let (was, is) = (words(old), words(new));
    let gone = was.iter().filter(|word| !is.contains(word));
    gone.flat_map(|gone| {
        let come = is.iter().filter(|word| !was.contains(word));
        come.map(move |come| (gone.as_str(), come.as_str()))
    })
    .find(|(gone, come)| apart(gone, come))
    .map(|(gone, come)| format!("`{gone}` is not `{come}`"))
}

fn holds(list: &[&str], word: &str) -> bool {
    list.contains(&word) || list.contains(&singular(word))
}

fn opposed(one: &str, other: &str) -> bool {
    APART.iter().chain(OPPOSITES).any(|(left, right)| {
        holds(left, one) && holds(right, other) || holds(left, other) && holds(right, one)
    }) || TURNS.iter().any(|turn| {
        let turns = |whole: &str, rest: &str| {
            whole.strip_prefix(turn).is_some_and(|r| r == rest && r.len() > 3)
        };
        turns(one, other) || turns(other, one)
    })
}

/// Two units of one measure.
fn measured_apart(one: &str, other: &str) -> bool {
    UNITS.iter().chain(SHORT_UNITS).any(|(_, units)| {
        let unit = |word: &str| units.iter().position(|unit| holds(unit, word));
        matches!((unit(one), unit(other)), (Some(one), Some(other)) if one != other)
    })
}

fn staged_apart(one: &str, other: &str) -> bool {
    let stage = |word: &str| STAGES.iter().position(|stage| stage.contains(&word));
    matches!((stage(one), stage(other)), (Some(one), Some(other)) if one != other)
}

fn other_deed(one: &str, other: &str) -> bool {
    let of = |word: &str| -> Vec<usize> {
        (0..DEED_FAMILIES.len()).filter(|at| DEED_FAMILIES[*at].contains(&word)).collect()
    };
    let (one, other) = (of(one), of(other));
    !one.is_empty() && !other.is_empty() && !one.iter().any(|deed| other.contains(deed))
}

/// One name begins with what turns the other over, or gives the two ends of a way the other way round.
fn turned(old: &str, new: &str) -> Option<String> {
    let (was, is) = (words(old), words(new));
    let leads = |words: &[String]| words.len() > 1 && WITHOUT.contains(&words[0].as_str());
    if leads(&was) != leads(&is) {
        let word = if leads(&was) { &was[0] } else { &is[0] };
        return Some(format!("one of them begins with `{word}`"));
    }
    let way =
        |words: &[String]| words.iter().any(|word| matches!(word.as_str(), "to" | "from" | "2"));
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    (was != is && way(&was) && sorted(&was) == sorted(&is))
        .then(|| "the order is another one".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_exclude_each_other_set_names_apart() {
        for (old, new) in [
            ("before", "after"),
            ("minPrice", "max_price"),
            ("include_tags", "exclude_tags"),
            ("timeout_s", "timeout_ms"),
            ("from_account", "to_account"),
            ("disabled", "enabled"),
            ("price_usd", "price_eur"),
            ("active", "inactive"),
            ("cache", "no_cache"),
            ("user_to_group", "group_to_user"),
        ] {
            assert!(apart(old, new).is_some(), "{old} {new}");
        }
        for (old, new) in [
            ("deploy_staging", "deploy_production"),
            ("start_vm", "stop_vm"),
            ("approve", "reject"),
            ("preview_email", "send_email"),
            ("unlock_door", "lock_door"),
        ] {
            assert!(deeds_apart(old, new).is_some(), "{old} {new}");
        }
    }

    #[test]
    fn other_spellings_are_not_apart() {
        for (old, new) in [
            ("q", "query"),
            ("projectId", "project_id"),
            ("timeout", "timeout_ms"),
            ("issue_no", "issue_number"),
            ("timeout_secs", "timeoutSeconds"),
            ("max_results", "limit"),
            ("prod", "production"),
            ("include", "including"),
        ] {
            assert_eq!(apart(old, new), None, "{old} {new}");
        }
        for (old, new) in [
            ("create_issue", "add_issue"),
            ("get_user", "fetch_user"),
            ("list_repos", "search_repos"),
            ("write_file", "create_file"),
            ("issue_create", "create_issue"),
            ("get_test_run", "read_test_run"),
            ("remove_sub_issue", "sub_issue_write"),
        ] {
            assert_eq!(deeds_apart(old, new), None, "{old} {new}");
        }
    }
}
