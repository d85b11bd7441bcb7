//! Which changes of a tool bear on one call of it.
//!
//! Most findings name a field. They bear on a call that sends the field; some, on one that leaves it out. A finding
//! about the whole tool bears on every call. Findings about the answer that the answer itself will show are left to it.

use crate::change::{Change, Entry};
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

/// Findings that concern calls which leave the field out.
const WHEN_LEFT_OUT: &[&str] =
    &["SF101", "SF102", "SF103", "SF121", "SF122", "SF123", "SF150", "SF151", "SF152", "SF406"];

/// Findings about the answer that no validation of it can show: it has the same form and means something else.
const SILENT_IN_THE_ANSWER: &[&str] = &["SF208", "SF209"];

/// How `change` bears on a call with these arguments.
pub fn bearing(change: &Change, arguments: &Value) -> Bearing {
    if change.path.starts_with("/outputSchema") {
        let silent = SILENT_IN_THE_ANSWER.contains(&change.rule);
        return if silent { Bearing::Call } else { Bearing::Answer };
    }
    let Some(field) = &change.field else { return Bearing::Call };
    let sent = sends(arguments, field);
    let bears = if WHEN_LEFT_OUT.contains(&change.rule) { !sent } else { sent };
    if bears { Bearing::Call } else { Bearing::None }
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
