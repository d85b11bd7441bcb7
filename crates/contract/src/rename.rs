//! Renames are hypotheses: a score and its reasons, never a fact.

use crate::hidden::hides;
use crate::lexicon::{handles, singular, words};
use crate::prose::{self, named};
use crate::view::{Node, View};

/// How alike two names and what stands behind them are.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// 0 to 1.
    pub score: f64,
    /// Why, in words.
    pub reasons: Vec<String>,
    /// Mechanical: the same words in another style, or the same text about the same values.
    pub certain: bool,
}

/// From this score on a pair is offered at all.
const OFFER: f64 = 0.5;

/// Pairs members that are gone with members that are new, each at most once, best first.
pub fn fields(
    gone: &[(&String, &Node<'_>)],
    come: &[(&String, &Node<'_>)],
    was: &View<'_>,
    is: &View<'_>,
) -> Vec<(String, String, Likeness)> {
    // A rewrite of everything is not a set of renames; the bound keeps the pairing quadratic in little.
    if gone.is_empty() || come.is_empty() || gone.len() * come.len() > 400 {
        return Vec::new();
    }
    let mut candidates: Vec<(String, String, Likeness)> = Vec::new();
    for (old_name, old_node) in gone {
        for (new_name, new_node) in come {
            // Nobody means a name that holds what nobody sees.
            if hides(new_name).next().is_some() {
                continue;
            }
            let likeness = field_likeness(old_name, old_node, new_name, new_node);
            let settles = was.required.contains(*old_name) || !is.required.contains(*new_name);
            if likeness.score >= OFFER && (settles || likeness.certain) {
                candidates.push(((*old_name).clone(), (*new_name).clone(), likeness));
            }
        }
    }
    best_pairs(candidates)
}

fn best_pairs(mut candidates: Vec<(String, String, Likeness)>) -> Vec<(String, String, Likeness)> {
    candidates.sort_by(|a, b| {
        b.2.score.total_cmp(&a.2.score).then_with(|| (&a.0, &a.1).cmp(&(&b.0, &b.1)))
    });
    let mut pairs: Vec<(String, String, Likeness)> = Vec::new();
    for candidate in candidates {
        if !pairs.iter().any(|pair| pair.0 == candidate.0 || pair.1 == candidate.1) {
            pairs.push(candidate);
        }
    }
    pairs
}

fn field_likeness(
    old_name: &str,
    old_node: &Node<'_>,
    new_name: &str,
    new_node: &Node<'_>,
) -> Likeness {
    let (was, is) = (View::of(old_node), View::of(new_node));
    let mut score: f64 = 0.0;
    let mut reasons = Vec::new();
    let same_words = same_words(old_name, new_name);
    let contained = !same_words && contained(old_name, new_name);
    if same_words {
        score += 0.6;
        reasons.push(format!("`{old_name}` and `{new_name}` are the same words"));
    } else if contained {
        score += 0.3;
        reasons.push(format!("`{old_name}` and `{new_name}` share a word"));
    }
    let same_kind = was.all_kinds() == is.all_kinds()
        && was.values.as_ref().map(Vec::len) == is.values.as_ref().map(Vec::len);
    if same_kind {
        score += 0.2;
        reasons.push("the same kind of value".to_string());
    }
    let (before, after) = (was.description.unwrap_or(""), is.description.unwrap_or(""));
    let same_text = !before.is_empty() && prose::same_text(before, after);
    if same_text {
        score += 0.5;
        reasons.push("the same description".to_string());
    } else if !before.is_empty() && !after.is_empty() {
        let alike = prose::similarity(before, after);
        if alike >= 0.5 {
            score += 0.2;
            reasons.push("a like description".to_string());
        }
    }
    if !same_kind && !same_words && !same_text {
        score = score.min(0.3);
    }
    let handles_agree = handles_agree(old_name, new_name);
    if !handles_agree {
        reasons.push("but one names another kind of handle".to_string());
        score = score.min(0.6);
    }
    let apart = named::apart(old_name, new_name);
    let certain = apart.is_none()
        && handles_agree
        && (same_words && (same_kind || same_text) || same_text && same_kind);
    if let Some(why) = apart {
        reasons.push(format!("but {why}"));
        score = score.min(0.6);
    }
    Likeness { score: score.min(0.99), reasons, certain }
}

/// An index is not an id: the handle words of both names must be the same, or one has none.
fn handles_agree(old_name: &str, new_name: &str) -> bool {
    let fold = |name: &str| -> Vec<String> {
        handles(name).iter().map(|word| singular(word).to_string()).collect()
    };
    let (old, new) = (fold(old_name), fold(new_name));
    old.is_empty() || new.is_empty() || old == new
}

/// The same words in another style: `projectNumber` and `project_number`. A name that holds what nobody sees is no other
/// style of anything.
pub fn same_words(a: &str, b: &str) -> bool {
    if hides(a).chain(hides(b)).next().is_some() {
        return false;
    }
    let fold = |name: &str| -> String {
        words(name).iter().map(|word| singular(word).to_string()).collect::<Vec<_>>().concat()
    };
    fold(a) == fold(b)
}

/// One name's words are among the other's, or one abbreviates the other: `q` and `query`.
fn contained(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    !short.is_empty()
        && short.iter().all(|word| {
            long.iter().any(|other| {
                singular(word) == singular(other)
                    || other.starts_with(word.as_str())
                    || word.starts_with(other.as_str())
            })
        })
}

/// How alike two tools are by name, members and description.
pub fn tool_likeness(
    old: (&str, &[String], &str),
    new: (&str, &[String], &str),
    fillers: &[String],
) -> Likeness {
    let (old_name, mine, before) = old;
    let (new_name, theirs, after) = new;
    if hides(new_name).next().is_some() {
        return Likeness { score: 0.0, reasons: Vec::new(), certain: false };
    }
    let mut score: f64 = 0.0;
    let mut reasons = Vec::new();
    let strip = |name: &str| -> Vec<String> {
        words(name)
            .into_iter()
            .map(|word| singular(&word).to_string())
            .filter(|word| !fillers.contains(word))
            .collect()
    };
    let (a, b) = (strip(old_name), strip(new_name));
    let same_name = same_words(old_name, new_name) || !a.is_empty() && a == b;
    if same_name {
        score += 0.5;
        reasons.push(format!("`{old_name}` and `{new_name}` are the same words"));
    } else if !a.is_empty() && !b.is_empty() {
        let common = a.iter().filter(|word| b.contains(word)).count() as f64;
        let share = common / a.len().max(b.len()) as f64;
        if share >= 0.5 {
            score += 0.3 * share;
            reasons.push("the names share words".to_string());
        }
    }
    let mut certain = same_name;
    let common = mine.iter().filter(|name| theirs.contains(name)).count() as f64;
    let all = mine.len().max(theirs.len()) as f64;
    if all == 0.0 || common == all {
        score += if all == 0.0 { 0.1 } else { 0.3 };
        reasons.push("the same arguments".to_string());
    } else if common / all >= 0.5 {
        score += 0.2 * common / all;
        reasons.push("most arguments are the same".to_string());
    }
    if !before.is_empty() && prose::same_text(before, after) {
        // The same arguments under the same words: another name for one thing.
        certain |= common == all && all > 0.0;
        score += 0.3;
        reasons.push("the same description".to_string());
    } else {
        let alike = prose::similarity(before, after);
        if alike >= 0.4 {
            score += 0.2 * alike;
            reasons.push("a like description".to_string());
        }
    }
    if let Some(why) = named::deeds_apart(old_name, new_name) {
        reasons.push(format!("but {why}"));
        certain = false;
    }
    Likeness { score: score.min(0.99), reasons, certain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Source;
    use serde_json::{Value, json};

    fn check(old: (&str, Value), new: (&str, Value)) -> Likeness {
        let (a, b) = (old.1, new.1);
        let node =
            |value| Node { source: Source::single(value), file: "", pointer: String::new(), value };
        field_likeness(old.0, &node(&a), new.0, &node(&b))
    }

    #[test]
    fn an_index_that_became_an_id_is_no_certain_rename() {
        let likeness = check(
            ("rowIdx", json!({"type": "number", "description": "The index of the row."})),
            ("rowId", json!({"type": "number", "description": "The ID of the row."})),
        );
        assert!(!likeness.certain, "{likeness:?}");
    }

    #[test]
    fn another_style_or_the_same_text_is_certain() {
        assert!(
            check(("maxRows", json!({"type": "number"})), ("max_rows", json!({"type": "number"})))
                .certain
        );
        let text = json!({"type": "string", "description": "What to look for"});
        assert!(check(("q", text.clone()), ("query", text)).certain);
    }

    #[test]
    fn strangers_are_not_offered() {
        let likeness = check(
            ("url", json!({"type": "string", "description": "The address."})),
            ("reqid", json!({"type": "number", "description": "The request."})),
        );
        assert!(likeness.score < OFFER, "{likeness:?}");
    }
}
