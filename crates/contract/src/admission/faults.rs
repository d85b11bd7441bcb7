//! What moved, in words for a refusal.

use super::Fault;
use super::refusal::{escaped, name, takes};
use crate::change::Change;
use crate::revised::{Fit, Revised};
use crate::rules;
use serde_json::Value;
use std::sync::Arc;

/// Faults in words that hold nothing of the server's prose: the rule's own summary, and values as JSON.
/// What an argument takes now is said too: that is what a caller needs to repair it.
pub(super) fn faults(changes: &[&Change], live: &Revised) -> Vec<Fault> {
    changes
        .iter()
        .map(|change| {
            let summary = rules::by_code(change.rule).map_or("it changed", |rule| rule.summary);
            let mut what = summary.trim_end_matches('.').to_owned();
            if let Some(values) = moved_values(change) {
                what = format!("{what} ({values})");
            }
            let about_input = change.path.starts_with("/inputSchema");
            let argument = change.field.as_deref().filter(|_| about_input);
            if let Some(schema) = argument.and_then(|field| live.argument(field)) {
                what.push_str(&format!(". It takes {}", takes(schema)));
            }
            Fault { rule: change.rule, field: change.field.clone(), what }
        })
        .collect()
}

/// Rules whose values before and after say what moved and hold no prose: kinds, listed values, bounds, patterns, formats,
/// defaults and hints.
const VALUES: &[&str] = &[
    "SF130", "SF131", "SF132", "SF133", "SF134", "SF135", "SF140", "SF141", "SF142", "SF143",
    "SF150", "SF151", "SF152", "SF310", "SF311", "SF312", "SF315",
];

/// Characters of a value that a refusal shows: longer ones say no more to a model.
const SHOWN: usize = 160;

/// What moved, as it was and as it is, where that is a plain value.
fn moved_values(change: &Change) -> Option<String> {
    if !VALUES.contains(&change.rule) {
        return None;
    }
    let plain = |value: &Value| match value {
        Value::Array(values) => values.iter().all(|value| !value.is_array() && !value.is_object()),
        value => !value.is_object(),
    };
    let shown = |value: &Option<Value>| match value {
        None => Some("nothing stated".to_owned()),
        Some(value) => Some(escaped(value)).filter(|text| plain(value) && text.len() <= SHOWN),
    };
    let (before, after) = (shown(&change.before)?, shown(&change.after)?);
    (before != after).then(|| format!("was {before}, is {after}"))
}

/// What the live revision misses in the arguments, and where they do not fit.
pub(super) fn misfit(
    live: &Arc<Revised>,
    arguments: &Value,
) -> (Vec<(String, Value)>, Option<String>) {
    let required = live.tool().raw.pointer("/inputSchema/required").and_then(Value::as_array);
    let missing = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|field| arguments.get(*field).is_none())
        .map(|field| (field.to_owned(), live.argument(field).cloned().unwrap_or(Value::Null)))
        .filter(|(_, schema)| schema.get("default").is_none())
        .collect();
    let rejection = match live.takes(arguments) {
        Fit::Fits => None,
        Fit::Unknown(_) => Some("the current definition cannot be checked against".to_owned()),
        Fit::Rejected(rejection) => {
            let place = match rejection.instance_pointer.as_str() {
                "" => "the whole of the arguments".to_owned(),
                pointer => name(pointer.trim_start_matches('/')),
            };
            let keyword = escaped(&Value::from(rejection.keyword.as_str()));
            let around = rejection.schema_pointer.rsplit_once('/').map_or("", |(around, _)| around);
            let schema = live.tool().raw.get("inputSchema").and_then(|root| root.pointer(around));
            let taken = schema
                .filter(|_| !rejection.instance_pointer.is_empty())
                .map_or(String::new(), |schema| format!(". It takes {}", takes(schema)));
            Some(format!(
                "{place} does not fit the current definition ({}){taken}",
                keyword.trim_matches('"')
            ))
        }
    };
    (missing, rejection)
}
