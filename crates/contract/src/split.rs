//! One object that became tagged alternatives: the calls that its callers usually make.
//!
//! Before, the object took every mix of its members; each alternative takes only its own. A mix
//! that the old texts spoke against (a member "for `create`", sent with `delete`) is one that
//! nobody sends. What the texts tie to no tag is sent with every tag, as far as anyone can tell.

use crate::lexicon::words;
use crate::limits;
use crate::view::{Node, Rest, View};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The old object as tagged alternatives of its own: each tag with the members that the old texts
/// tie to it, that they tie to no tag, or that the new side has for it. `None` where the pair is
/// no such split, so that only the sets themselves can tell.
pub fn usual(old: &Node<'_>, new: &Node<'_>, old_text: &str) -> Option<Value> {
    let (was, is) = (View::of(old), View::of(new));
    let plain = was.variants.is_empty()
        && was.opaque.is_empty()
        && was.patterns.is_empty()
        && was.bounds.is_empty()
        && was.values.is_none()
        && !matches!(was.rest, Rest::Schema(_));
    if !plain || is.variants.len() < 2 || is.variants.len() > limits::SPLIT_TAGS {
        return None;
    }
    let (tag, alternatives) = tagged(&is)?;
    let values = values(&was, &tag, &alternatives)?;
    let ties: BTreeMap<&str, Tie> = was
        .members
        .iter()
        .filter(|(name, _)| *name != tag)
        .map(|(name, node)| (name.as_str(), Tie::of(name, node, &tag, &values, old_text)))
        .collect();
    if ties.values().all(|tie| tie.to.is_empty()) {
        return None;
    }
    let branches = values.iter().map(|value| {
        let declared = alternatives.get(value);
        let mut properties = Map::new();
        let mut required = vec![Value::from(tag.as_str())];
        properties.insert(tag.clone(), json!({"const": value}));
        for (name, node) in was.members.iter().filter(|(name, _)| *name != tag) {
            let tie = &ties[name.as_str()];
            let here = tie.to.contains(value);
            let sent = here
                || tie.to.is_empty()
                || declared.is_some_and(|view| view.member(name).is_some());
            if sent {
                properties.insert(name.clone(), node.value.clone());
                if was.required.contains(name) || here && tie.demanded {
                    required.push(Value::from(name.as_str()));
                }
            }
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false
        })
    });
    let mut usual = json!({"oneOf": branches.collect::<Vec<_>>()});
    // References of the members lead into the document that they stood in.
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(value) = old.source.root.get(keyword) {
            usual[keyword] = value.clone();
        }
    }
    Some(usual)
}

/// The member that is one constant text in each alternative, another in each.
fn tagged<'a>(is: &View<'a>) -> Option<(String, BTreeMap<String, View<'a>>)> {
    let views: Vec<View<'_>> = is.variants.iter().map(View::of).collect();
    let constant = |view: &View<'_>, name: &str| -> Option<String> {
        match View::of(view.member(name)?).values.as_deref() {
            Some([Value::String(only)]) => Some(only.clone()),
            _ => None,
        }
    };
    let (tag, _) = views.first()?.members.iter().find(|(name, _)| {
        let tags: std::collections::BTreeSet<_> =
            views.iter().filter_map(|view| constant(view, name)).collect();
        tags.len() == views.len()
    })?;
    let tag = tag.clone();
    let named = views.into_iter().filter_map(|view| Some((constant(&view, &tag)?, view)));
    Some((tag.clone(), named.collect()))
}

/// The tags that old calls hold: those listed before, or else those that the old text of the tag
/// named, each of them.
fn values(
    was: &View<'_>,
    tag: &str,
    alternatives: &BTreeMap<String, View<'_>>,
) -> Option<Vec<String>> {
    let view = View::of(was.member(tag)?);
    match view.values {
        Some(listed) => listed.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
        None => {
            let said = tokens(view.description?);
            let named = |value: &&String| {
                let value = words(value);
                said.windows(value.len().max(1)).any(|window| window == value.as_slice())
            };
            let all: Vec<String> = alternatives.keys().filter(named).cloned().collect();
            (all.len() == alternatives.len()).then_some(all)
        }
    }
}

/// What the old texts say about which tags a member goes with.
struct Tie {
    to: Vec<String>,
    /// They also say that it must be there.
    demanded: bool,
}

impl Tie {
    fn of(name: &str, node: &Node<'_>, tag: &str, values: &[String], old_text: &str) -> Tie {
        let own = View::of(node).description.unwrap_or("");
        let member = words(name);
        let about: Vec<&str> = old_text
            .split(['\n', '.', ';'])
            .filter(|sentence| {
                let said = tokens(sentence);
                said.windows(member.len().max(1)).any(|window| window == member.as_slice())
            })
            .collect();
        let texts: Vec<&str> = std::iter::once(own).chain(about).collect();
        let to: Vec<String> = values
            .iter()
            .filter(|value| texts.iter().any(|text| names(text, value, tag)))
            .cloned()
            .collect();
        let demanded = ["required", "must", "mandatory", "needs", "requires"];
        let demanded =
            tokens(own).iter().any(|word| demanded.contains(&word.as_str())) && !to.is_empty();
        Tie { to, demanded }
    }
}

fn tokens(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).flat_map(words).collect()
}

/// True where the text names the value as a choice: in quotes, after `for`, `when` and their like
/// or the tag itself, before `only`, or as the head of what follows. The same word as any other
/// (a *list* of names) says nothing.
fn names(text: &str, value: &str, tag: &str) -> bool {
    const BEFORE: &[&str] = &[
        "for", "when", "with", "if", "is", "only", "action", "mode", "operation", "method", "and",
        "or",
    ];
    const AFTER: &[&str] = &["only", "action", "actions", "mode", "operation", "method"];
    let quoted =
        ['`', '\'', '"'].iter().any(|quote| text.contains(&format!("{quote}{value}{quote}")));
    let heads = text.trim_start().trim_start_matches(['-', '*', ' ']);
    let heads = heads.strip_prefix(value).is_some_and(|rest| rest.trim_start().starts_with(':'));
    if quoted || heads {
        return true;
    }
    let (said, wanted, tag) = (tokens(text), words(value), words(tag));
    let length = wanted.len().max(1);
    said.windows(length).enumerate().filter(|(_, window)| *window == wanted.as_slice()).any(
        |(at, _)| {
            let before = at.checked_sub(1).map(|at| said[at].as_str());
            let after = said.get(at + length).map(String::as_str);
            let is_tag = |word: &str| tag.last().is_some_and(|last| last == word);
            before.is_some_and(|word| BEFORE.contains(&word) || is_tag(word))
                || after.is_some_and(|word| AFTER.contains(&word) || is_tag(word))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_told_from_the_same_word() {
        for text in [
            "The id, for delete.",
            "Only with action=delete",
            "Used when action is delete",
            "Id (delete only)",
            "Required for 'delete'",
            "delete: the id of the row",
            "For update and delete",
        ] {
            assert!(names(text, "delete", "action"), "{text}");
        }
        for text in ["What to delete", "Rows that a delete would touch", "The id."] {
            assert!(!names(text, "delete", "action"), "{text}");
        }
    }
}
