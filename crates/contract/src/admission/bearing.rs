//! Which changes of a tool bear on one call of it.
//!
//! Most findings name a field. They bear on a call that sends the field; some, on one that leaves it out. A finding
//! about the whole tool bears on every call. Findings about the answer that the answer itself will show are left to it.

use crate::change::{Change, Entry, When};
use crate::verdict::Authority;
use serde_json::Value;

/// How a change bears on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearing {
    /// Not at all: the call does not go where the contract moved.
    None,
    /// The call goes there.
    Call,
    /// The answer will show it, and is checked when it comes.
    Answer,
}

/// Findings whose path is not where the field was.
const RENAMED: &[&str] = &["SF111", "SF112"];

/// Findings about the answer that no validation of it can show: it has the same form and means something else.
const SILENT_IN_THE_ANSWER: &[&str] = &["SF208", "SF209"];

/// How `change` bears on a call with these arguments.
pub fn bearing(change: &Change, arguments: &Value) -> Bearing {
    if change.path.starts_with("/outputSchema") {
        // What says where each call acts shows in the answer only once it has acted there.
        let acts = change.axes.authority != Authority::Same;
        let silent = SILENT_IN_THE_ANSWER.contains(&change.rule);
        return if acts || silent { Bearing::Call } else { Bearing::Answer };
    }
    let Some(field) = &change.field else { return Bearing::Call };
    let bears = match change.when {
        // The path of a rename names what it is called now.
        When::Sent if RENAMED.contains(&change.rule) => sends(arguments, field),
        When::Sent => {
            sends(arguments, field)
                || reached(arguments, &change.path).is_some_and(|at| !at.is_empty())
        }
        When::LeftOut => lacks(arguments, field, &change.path),
        When::Either => true,
    };
    if bears { Bearing::Call } else { Bearing::None }
}

/// True where the arguments leave the place out: where it could stand, it is missing at least once.
fn lacks(arguments: &Value, field: &str, path: &str) -> bool {
    let member = path.rsplit_once("/properties/").filter(|(_, name)| !name.contains('/'));
    let around = member.and_then(|(around, name)| Some((reached(arguments, around)?, name)));
    match around {
        Some((places, name)) if !places.is_empty() => {
            let name = unescaped(name);
            places.iter().any(|place| place.get(&name).is_none())
        }
        _ => !sends(arguments, field),
    }
}

/// What the arguments hold at the place that a schema speaks of; `None` where the path is none of a schema of arguments, or
/// leads to a plain name, which [`sends`] tells as well.
///
/// A name of a field is written for people: `*` stands for any, and a dot may be part of it. The path says it exactly.
/// Where only the values decide which schema they meet (names by pattern, alternatives, a definition that is used in
/// several places), all count that may.
fn reached<'v>(arguments: &'v Value, path: &str) -> Option<Vec<&'v Value>> {
    let rest = path.strip_prefix("/inputSchema")?;
    let mut steps = rest.split('/').skip(1);
    let mut places = vec![arguments];
    while let Some(step) = steps.next() {
        places = match step {
            "properties" => {
                let name = unescaped(steps.next()?);
                places.into_iter().filter_map(|place| place.get(&name)).collect()
            }
            "patternProperties" => {
                steps.next()?;
                places.into_iter().flat_map(members).collect()
            }
            "additionalProperties" | "unevaluatedProperties" => {
                places.into_iter().flat_map(members).collect()
            }
            "prefixItems" => {
                steps.next()?;
                places.into_iter().flat_map(items).collect()
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                places.into_iter().flat_map(items).collect()
            }
            "anyOf" | "oneOf" | "allOf" | "dependentSchemas" => {
                steps.next()?;
                places
            }
            "if" | "then" | "else" | "not" => places,
            "$defs" | "definitions" => {
                steps.next()?;
                everything(arguments)
            }
            // A keyword of the schema that is reached.
            _ => break,
        };
    }
    Some(places)
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(|members| members.values())
}

/// Items of a list. Some schemas of items stand where numbers name them; then the number is no step of its own.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The value and all that it holds.
fn everything(value: &Value) -> Vec<&Value> {
    let mut all = vec![value];
    let mut next = 0;
    while let Some(value) = all.get(next).copied() {
        all.extend(members(value).chain(items(value)));
        next += 1;
    }
    all
}

/// The changes of an entry that bear on a call itself.
pub(super) fn on_call<'e>(
    entry: &'e Entry,
    arguments: &'e Value,
) -> impl Iterator<Item = &'e Change> {
    entry.changes.iter().filter(move |change| bearing(change, arguments) == Bearing::Call)
}

/// True where the arguments hold the dotted field (`filter.region`, `files[].path`) somewhere.
pub(super) fn sends(arguments: &Value, field: &str) -> bool {
    let mut places = vec![arguments];
    for step in field.split('.') {
        let name = step.trim_end_matches("[]");
        let mut next = Vec::new();
        for place in places {
            match place {
                Value::Object(members) => next.extend(members.get(name)),
                // A list stands between a name and its members, whether the path marks it or not.
                Value::Array(items) => {
                    next.extend(items.iter().filter_map(|item| item.get(name)));
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return false;
        }
        places = next;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Options;
    use crate::document::Tool;
    use serde_json::json;

    /// Whether a change that could stop a call bears on one with these arguments.
    fn bears(old: Value, new: Value, arguments: Value) -> bool {
        let tool = |schema: Value| {
            let raw =
                json!({"name": "act", "description": "Deploys a project.", "inputSchema": schema});
            Tool { name: "act".into(), raw, ordinal: None }
        };
        let entry =
            crate::tools::pair(&tool(old), &tool(new), &Options::default()).expect("a change");
        on_call(&entry, &arguments).any(|change| change.verdict > crate::Verdict::Safe)
    }

    fn object(properties: Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn a_place_without_a_plain_name_is_found_in_the_arguments() {
        type Around = fn(Value) -> Value;
        let places: [(Around, Value, Value); 9] = [
            (|t| object(json!({"t": t})), json!({"t": 1}), json!({"u": 1})),
            (|t| json!({"type": "object", "additionalProperties": t}), json!({"a": 1}), json!({})),
            (
                |t| object(json!({"l": {"type": "object", "additionalProperties": t}})),
                json!({"l": {"a": 1}}),
                json!({"l": {}}),
            ),
            (
                |t| json!({"type": "object", "patternProperties": {"^x": t}}),
                json!({"xa": 1}),
                json!({}),
            ),
            (
                |t| json!({"type": "object", "additionalProperties": object(json!({"t": t}))}),
                json!({"a": {"t": 1}}),
                json!({"a": {"u": 1}}),
            ),
            (
                |t| object(json!({"spec.t": t})),
                json!({"spec.t": 1}),
                json!({"spec": {"t": 1}, "x": 1}),
            ),
            (
                |t| object(json!({"o": object(json!({"a.b": t}))})),
                json!({"o": {"a.b": 1}}),
                json!({"o": {}}),
            ),
            (|t| object(json!({"ids[]": t})), json!({"ids[]": 1}), json!({"other": [1]})),
            (
                |t| {
                    let n = object(json!({"t": t, "c": {"$ref": "#/$defs/n"}}));
                    json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": n}})
                },
                json!({"n": {"c": {"t": 1}}}),
                json!({"n": {"c": {}}}),
            ),
        ];
        let timeout =
            |unit: &str| json!({"type": "integer", "description": format!("Timeout in {unit}")});
        for (around, there, elsewhere) in places {
            let (old, new) = (around(timeout("seconds")), around(timeout("hours")));
            assert!(bears(old.clone(), new.clone(), there.clone()), "{old} {there}");
            if !old.to_string().contains("spec.t") {
                assert!(!bears(old.clone(), new, elsewhere.clone()), "{old} {elsewhere}");
            }
        }
    }

    #[test]
    fn what_is_taken_in_place_of_a_value_concerns_who_leaves_it_out() {
        let dry = |default: &str| {
            let text = format!("Only report what would be done. Default {default}.");
            object(
                json!({"how": {"type": "string"}, "dry_run": {"type": "boolean", "description": text}}),
            )
        };
        assert!(bears(dry("true"), dry("false"), json!({"how": "x"})));
        let count = |all: &str| {
            let text = format!("If omitted, {all} are deleted.");
            object(json!({"count": {"type": "integer", "description": text}}))
        };
        assert!(bears(count("10"), count("all"), json!({})));
        let env = |default: Value| {
            let kinds = json!([{"type": "string"}, {"type": "null"}]);
            object(json!({"env": {"anyOf": kinds, "default": default}}))
        };
        assert!(bears(env(Value::Null), env(json!("prod")), json!({})));
        assert!(!bears(env(Value::Null), env(json!("prod")), json!({"env": "dev"})));
        // One of several lacks it.
        let list = |default: i64| {
            let item = object(
                json!({"n": {"type": "integer", "default": default}, "m": {"type": "string"}}),
            );
            object(json!({"all": {"type": "array", "items": item}}))
        };
        assert!(bears(list(1), list(2), json!({"all": [{"n": 1}, {"m": "x"}]})));
        assert!(!bears(list(1), list(2), json!({"all": [{"n": 1}]})));
    }
}
