//! Changes that are none for this agent: who stops on them is too strict.

use super::{Due, Ground, Mutant, NEW_WORD, NotMade};
use crate::decision::fixture::{Fixture, Payload};
use contract::decision::{Flow, Surface, Use};
use serde_json::{Map, Value, json};

/// One way to change nothing that counts.
struct Kind {
    name: &'static str,
    /// Changes the body where this kind can, and says so.
    change: fn(&mut Fixture, Option<&Surface>) -> bool,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "a field that nobody knows",
        change: |fixture, _| {
            of_objects(fixture, &mut |object| {
                object.insert("x_steadfast_note".to_owned(), json!("new here"));
                true
            })
        },
    },
    Kind {
        name: "members in another order",
        change: |fixture, _| {
            of_objects(fixture, &mut |object| {
                let members: Vec<(String, Value)> = std::mem::take(object).into_iter().collect();
                let several = members.len() > 1;
                object.extend(members.into_iter().rev());
                several
            })
        },
    },
    Kind {
        name: "more white space",
        change: |fixture, _| {
            let Payload::Json(body) = &fixture.response.body else { return false };
            let Ok(text) = serde_json::to_string_pretty(body) else { return false };
            let kind = fixture.response.headers.entry("content-type".to_owned());
            kind.or_insert_with(|| "application/json".to_owned());
            fixture.response.body = Payload::Text(format!("{text}\n"));
            true
        },
    },
    Kind {
        name: "a header that nobody knows",
        change: |fixture, _| {
            fixture.response.headers.insert("x-steadfast-note".to_owned(), "new here".to_owned());
            true
        },
    },
    Kind {
        name: "a new value that nobody reads",
        change: |fixture, surface| {
            let Some(surface) = surface else { return false };
            let Payload::Json(body) = &mut fixture.response.body else { return false };
            unread(body, &mut vec!["body".to_owned()], surface)
        },
    },
];

pub(super) fn make(ground: &Ground<'_>, mutants: &mut Vec<Mutant>, _: &mut Vec<NotMade>) {
    for fixture in ground.fixtures.iter().copied() {
        for kind in KINDS {
            let mut changed = fixture.clone();
            if !(kind.change)(&mut changed, ground.surface(fixture)) {
                continue;
            }
            mutants.push(Mutant {
                name: format!("{} {}", fixture.id(), kind.name),
                what: kind.name.to_owned(),
                fixture: fixture.id(),
                changed: vec![changed],
                faults: Vec::new(),
                due: Due::Unchanged,
            });
        }
    }
}

/// Changes every object of the body.
fn of_objects(
    fixture: &mut Fixture,
    change: &mut dyn FnMut(&mut Map<String, Value>) -> bool,
) -> bool {
    fn walk(value: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>) -> bool) -> bool {
        match value {
            Value::Object(members) => {
                let mut any = false;
                for member in members.values_mut() {
                    any |= walk(member, change);
                }
                change(members) | any
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |any, item| walk(item, change) | any)
            }
            _ => false,
        }
    }
    let Payload::Json(body) = &mut fixture.response.body else { return false };
    walk(body, change)
}

/// Gives texts that no line of the map names a new value.
fn unread(value: &mut Value, path: &mut Vec<String>, surface: &Surface) -> bool {
    match value {
        Value::Object(members) => {
            let mut any = false;
            for (name, member) in members {
                path.push(name.clone());
                any |= unread(member, path, surface);
                path.pop();
            }
            any
        }
        Value::Array(items) => {
            path.push("[]".to_owned());
            let any = items.iter_mut().fold(false, |any, item| unread(item, path, surface) | any);
            path.pop();
            any
        }
        Value::String(text) if surface.at(Flow::Response, None, path) == Use::Unread => {
            NEW_WORD.clone_into(text);
            true
        }
        _ => false,
    }
}
