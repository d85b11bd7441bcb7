//! Values that cannot hold together, as the contract declares them.

use super::{Due, Ground, Mutant, NotMade, Scope};
use crate::decision::contract::{Contradiction, same_operation};
use crate::decision::fixture::{Fixture, Payload};
use crate::decision::place::pointers;
use serde_json::Value;

pub(super) fn make(ground: &Ground<'_>, mutants: &mut Vec<Mutant>, not_made: &mut Vec<NotMade>) {
    for one in &ground.contract.contradictions {
        let said: Vec<String> =
            one.set.iter().map(|(place, value)| format!("{} {value}", place.name())).collect();
        let said = said.join(" and ");
        let of = |fixture: &&Fixture| same_operation(&one.on, &fixture.operation());
        let mut met = ground.fixtures.iter().copied().filter(of).peekable();
        if met.peek().is_none() {
            let why = format!("not called in `{}`", ground.case);
            not_made.push(NotMade { name: format!("{} {said}", one.on), why });
            continue;
        }
        let made: Vec<Mutant> = met
            .filter_map(|fixture| {
                Some(Mutant {
                    name: format!("{} {said}", fixture.id()),
                    what: format!("{said} together"),
                    fixture: fixture.id(),
                    changed: vec![changed(fixture, one)?],
                    faults: Vec::new(),
                    due: Due::Declared(one.then, Scope::All),
                })
            })
            .collect();
        if made.is_empty() {
            let why = format!("no fixture of {} has a place for all of these values", one.on);
            not_made.push(NotMade { name: format!("{} {said}", one.on), why });
        }
        mutants.extend(made);
    }
}

/// The fixture with all values in their places; none where one of them has no place in it.
fn changed(fixture: &Fixture, one: &Contradiction) -> Option<Fixture> {
    let mut changed = fixture.clone();
    let Payload::Json(body) = &mut changed.response.body else { return None };
    for (place, value) in &one.set {
        let (name, around) = place.steps.get(1..)?.split_last()?;
        let mut put = false;
        for pointer in pointers(body, around) {
            if let Some(Value::Object(object)) = body.pointer_mut(&pointer) {
                object.insert(name.clone(), value.clone());
                put = true;
            }
        }
        if !put {
            return None;
        }
    }
    Some(changed)
}
