//! What an agent does where a value is missing or not one that it knows, as the map declares it,
//! told beside the change that brings it about (C7, C12).

use super::{Consequence, Reading};
use crate::change::Change;
use crate::verdict::Verdict;
use serde_json::Value;
use std::collections::BTreeSet;

/// What a change of an answer brings about for its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The value may not be there.
    Absent,
    /// The value may be one that no branch is for.
    Unknown,
}

fn event(change: &Change) -> Option<Event> {
    if change.verdict == Verdict::Safe {
        return None;
    }
    match change.rule {
        "SF201" | "SF202" | "SF203" | "SF525" | "SF527" => Some(Event::Absent),
        "SF204" => {
            let null = |kinds: &Option<Value>| {
                kinds.as_ref().is_some_and(|kinds| match kinds {
                    Value::Array(kinds) => kinds.iter().any(|kind| kind == "null"),
                    kind => kind == "null",
                })
            };
            (null(&change.after) && !null(&change.before)).then_some(Event::Absent)
        }
        "SF205" | "SF521" | "SF561" => Some(Event::Unknown),
        _ => None,
    }
}

/// What the lines about the value at `path` declare for this change: `owner missing: the agent
/// asks a person`.
pub(crate) fn told(change: &Change, lines: &[&Reading], path: &[String]) -> BTreeSet<String> {
    let Some(event) = event(change) else {
        return BTreeSet::new();
    };
    let declared = |line: &&&Reading| -> Option<Consequence> {
        match event {
            // What holds a value is not missing where the value is.
            Event::Absent => line.absent.filter(|_| line.path.starts_with(path)),
            Event::Unknown => line.unknown.filter(|_| line.path == path),
        }
    };
    let what = match event {
        Event::Absent => "missing",
        Event::Unknown => "not known",
    };
    lines
        .iter()
        .filter_map(|line| {
            let deed = declared(&line)?.deed();
            let name = line.path.iter().rev().find(|step| *step != "[]")?;
            Some(format!("{name} {what}: the agent {deed}"))
        })
        .collect()
}

/// Writes the consequences behind the sentence of the change.
pub(crate) fn tell(change: &mut Change, told: &BTreeSet<String>) {
    for one in told {
        change.sentence.push_str("; ");
        change.sentence.push_str(one);
    }
}
