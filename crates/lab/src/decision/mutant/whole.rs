//! Changes of a whole answer: what comes is no ground for an action, or does not come at all.

use super::{Due, Ground, Mutant, NotMade};
use crate::decision::contract::of_operation;
use crate::decision::fixture::{Fixture, Payload};
use crate::decision::shelf::{Armed, Fault, HTML};
use serde_json::json;

/// One way to change an answer.
struct Kind {
    name: &'static str,
    /// The request is answered well at the next try.
    once: bool,
    change: fn(&mut Fixture) -> Change,
}

/// What was done to a fixture.
enum Change {
    /// It answers something else.
    Answer,
    /// Something goes wrong around it.
    Fault(Fault),
    /// Nothing: this kind cannot be made of it.
    None,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "an error with status 200",
        once: false,
        change: |fixture| {
            if !matches!(fixture.response.body, Payload::Json(_)) || fixture.response.status >= 300
            {
                return Change::None;
            }
            let error =
                json!({"error": {"code": "unavailable", "message": "Please try again later."}});
            fixture.response.body = Payload::Json(error);
            fixture.response.status = 200;
            Change::Answer
        },
    },
    Kind {
        name: "another content type",
        once: false,
        change: |fixture| {
            if !matches!(fixture.response.body, Payload::Json(_)) {
                return Change::None;
            }
            fixture.response.headers.insert("content-type".to_owned(), "text/html".to_owned());
            fixture.response.body = Payload::Text(HTML.to_owned());
            Change::Answer
        },
    },
    Kind {
        name: "a truncated body",
        once: false,
        change: |fixture| {
            let Payload::Json(body) = &fixture.response.body else { return Change::None };
            let text = body.to_string();
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            if half.is_empty() {
                return Change::None;
            }
            let kind = fixture.response.headers.entry("content-type".to_owned());
            kind.or_insert_with(|| "application/json".to_owned());
            fixture.response.body = Payload::Text(half);
            Change::Answer
        },
    },
    Kind {
        name: "a connection that ends in the body",
        once: false,
        change: |fixture| {
            if fixture.response.body.bytes().len() < 2 {
                return Change::None;
            }
            Change::Fault(Fault::Truncated)
        },
    },
    Kind {
        name: "a connection that ends after the headers",
        once: false,
        change: |_| Change::Fault(Fault::CutAfterHeaders),
    },
    Kind { name: "no answer at first", once: true, change: |_| Change::Fault(Fault::Hang) },
    Kind {
        name: "status 500 at first",
        once: true,
        change: |_| Change::Fault(Fault::ErrorWithEffect),
    },
];

pub(super) fn make(ground: &Ground<'_>, mutants: &mut Vec<Mutant>, _: &mut Vec<NotMade>) {
    for fixture in ground.fixtures.iter().copied() {
        let operation = fixture.operation();
        let token = of_operation(&ground.contract.tokens, &operation);
        for kind in KINDS {
            let mut changed = fixture.clone();
            let (changed, faults) = match (kind.change)(&mut changed) {
                Change::None => continue,
                Change::Answer => (vec![changed], Vec::new()),
                Change::Fault(fault) => {
                    let times = kind.once.then_some(1);
                    let name = Some(fixture.name.clone());
                    (Vec::new(), vec![Armed { fixture: name, fault, times, at: None }])
                }
            };
            let due = if ground.contract.is_action(&operation) {
                Due::Once(token.cloned())
            } else if kind.once {
                Due::SameOrLess
            } else {
                Due::NoAct
            };
            mutants.push(Mutant {
                name: format!("{} {}", fixture.id(), kind.name),
                what: format!("{} from {operation}", kind.name),
                fixture: fixture.id(),
                changed,
                faults,
                due,
            });
        }
    }
}
