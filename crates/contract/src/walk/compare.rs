//! Small questions about two views that the walk asks.

use crate::edit::Conversion;
use crate::edit::only_kind;
use crate::limits;
use crate::view::{Kinds, Node, View, same_value};
use serde_json::Value;
use std::collections::HashMap;

pub(super) fn described(node: Option<&Node<'_>>) -> String {
    let text = node.and_then(|node| View::of(node).description);
    text.unwrap_or("").to_string()
}

pub(super) fn holds_reference(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key("$ref") || members.values().any(holds_reference)
        }
        Value::Array(items) => items.iter().any(holds_reference),
        _ => false,
    }
}

pub(super) fn says_something(view: &View) -> bool {
    view.kinds.is_some()
        || view.describes_object
        || view.values.is_some()
        || !view.variants.is_empty()
        || !view.opaque.is_empty()
        || view.items.is_some()
}

pub(super) fn kinds_value(kinds: Option<&Kinds>) -> Option<Value> {
    let kinds = kinds?;
    Some(match kinds.iter().collect::<Vec<_>>().as_slice() {
        [only] => Value::from(**only),
        many => Value::Array(many.iter().map(|kind| Value::from(**kind)).collect()),
    })
}

pub(super) fn conversion(
    field: &str,
    was: &View,
    is: &View,
    dropped: &Kinds,
    added: &Kinds,
) -> Option<Conversion> {
    let only = |kinds: &Kinds, kind: &str| kinds.len() == 1 && kinds.contains(kind);
    if only(dropped, "null") && added.is_empty() {
        return Some(Conversion::DropNull);
    }
    if only(added, "array") && !dropped.contains("object") && dropped.len() == 1 {
        // One value makes a list of one.
        let least = is.bounds.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if least > 1 {
            return None;
        }
        let items = is.items.as_ref().map(View::of)?;
        let item_kinds = items.all_kinds()?;
        return dropped.iter().all(|kind| item_kinds.contains(kind)).then_some(Conversion::Wrap);
    }
    if only(dropped, "object") && added.len() == 1 && was.members.len() == 1 {
        let inner = View::of(&was.members[0].1).all_kinds()?;
        return (inner == *added).then_some(Conversion::Unwrap);
    }
    let numeric = |kinds: &Kinds| only(kinds, "number") || only(kinds, "integer");
    let reads_as_number = only(dropped, "string")
        && numeric(added)
        && (is.values.is_none() || was.values.is_some())
        && spells_numbers(field, was);
    // A number can always be written down; whether it is among listed values is no question of form.
    let writes_number = numeric(dropped) && only(added, "string") && is.values.is_none();
    (reads_as_number || writes_number).then_some(Conversion::Reparse)
}

/// Last words of names of numbers, however they are written down.
const COUNTED: &[&str] = &["number", "num", "count", "index", "page", "limit", "offset", "port"];

/// True where every text that fitted is the spelling of a number: the values are listed, or
/// its name says that it is a number. Of any other text it is not known what number it should become.
fn spells_numbers(field: &str, view: &View) -> bool {
    if let Some(values) = &view.values {
        return values.iter().all(|value| {
            value.as_str().is_some_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
        });
    }
    let name = field.rsplit('.').next().unwrap_or(field).trim_end_matches("[]");
    crate::lexicon::words(name).last().is_some_and(|word| COUNTED.contains(&word.as_str()))
}

/// Pairs dropped with added values that differ by case and separators only, one to one.
pub(super) fn recased(dropped: &[Value], added: &[Value]) -> Vec<(Value, Value)> {
    let fold = |value: &Value| {
        value.as_str().map(|text| crate::lexicon::words(text).concat().to_lowercase())
    };
    let mut folded: HashMap<String, Vec<&Value>> = HashMap::new();
    for new in added {
        if let Some(key) = fold(new) {
            folded.entry(key).or_default().push(new);
        }
    }
    let twin = |old: &Value| match folded.get(&fold(old)?)?.as_slice() {
        [twin] => Some((old.clone(), (*twin).clone())),
        _ => None,
    };
    dropped.iter().filter_map(twin).collect()
}

/// True where two defaults are one: the same value, or the same things listed in another order.
pub(super) fn same_default(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut left: Vec<&Value> = b.iter().collect();
            a.iter().all(|item| {
                let twin = left.iter().position(|other| same_value(item, other));
                twin.map(|at| left.swap_remove(at)).is_some()
            })
        }
        (Value::String(a), Value::String(b)) => {
            a == b || matches!((listed(a), listed(b)), (Some(a), Some(b)) if a == b)
        }
        _ => same_value(a, b),
    }
}

/// The words of a text that lists some with commas between them, sorted. What has a direction or a place is no such list.
fn listed(text: &str) -> Option<Vec<&str>> {
    let mut words: Vec<&str> = text.split(',').map(str::trim).collect();
    let plain = |word: &&str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
            && !word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let is_list = words.len() >= 3 && words.iter().all(plain);
    words.sort_unstable();
    is_list.then_some(words)
}

pub(super) fn is_tighter(keyword: &str, before: Option<&Value>, after: Option<&Value>) -> bool {
    let (before, after) = match (before, after) {
        (_, None) => return false,
        (None, Some(_)) => return true,
        (Some(before), Some(after)) => (before, after),
    };
    match keyword {
        "uniqueItems" => after == &Value::Bool(true),
        "multipleOf" => true,
        _ => {
            let (a, b) = (before.as_f64().unwrap_or(0.0), after.as_f64().unwrap_or(0.0));
            if keyword.to_lowercase().contains("max") { b < a } else { b > a }
        }
    }
}

/// The alternative of the same kinds that shares most members with the one form.
pub(super) fn likest(one: &View<'_>, many: &[Node<'_>]) -> Option<usize> {
    many.iter()
        .enumerate()
        .map(|(index, node)| (index, View::of(node)))
        .filter(|(_, view)| view.kinds == one.kinds)
        .map(|(index, view)| {
            let common = view.members.iter().filter(|(n, _)| one.member(n).is_some()).count();
            (common, std::cmp::Reverse(index))
        })
        .max()
        .map(|(_, std::cmp::Reverse(index))| index)
}

/// The constant members of an alternative: what tells it from its siblings.
pub(super) fn tags(node: &Node<'_>) -> Vec<(String, Value)> {
    let view = View::of(node);
    view.members
        .iter()
        .filter_map(|(name, member)| match View::of(member).values.as_deref() {
            Some([only]) => Some((name.clone(), only.clone())),
            _ => None,
        })
        .collect()
}

/// The members of what a place holds, through lists and alternatives, as dotted names with the one
/// kind of value that each takes.
pub(super) fn inner_members(node: &Node<'_>) -> Vec<(String, Option<&'static str>)> {
    let mut found = Vec::new();
    gather(node, "", &mut found, 0);
    found
}

fn gather(
    node: &Node<'_>,
    prefix: &str,
    found: &mut Vec<(String, Option<&'static str>)>,
    depth: usize,
) {
    if depth > limits::INNER_DEPTH {
        return;
    }
    let view = View::of(node);
    for (name, member) in &view.members {
        if found.len() >= limits::INNER_MEMBERS {
            return;
        }
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        found.push((path.clone(), only_kind(&View::of(member))));
        gather(member, &path, found, depth + 1);
    }
    for inner in view.items.iter().chain(&view.variants) {
        gather(inner, prefix, found, depth + 1);
    }
}
