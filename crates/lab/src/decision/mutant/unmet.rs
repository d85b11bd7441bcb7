//! What the map and the contract speak of and no mutant is made of: left out in silence, it would look as if it had held.

use super::{Ground, Mutant, NotMade};
use crate::decision::contract::same_operation;
use crate::decision::expect::name;
use crate::decision::fixture::{Fixture, Payload};
use crate::decision::place::{spelled, values};
use contract::Decision;
use serde_json::Value;

pub(super) fn make(ground: &Ground<'_>, _: &mut Vec<Mutant>, not_made: &mut Vec<NotMade>) {
    operations(ground, not_made);
    aliases(ground, not_made);
    objects(ground, not_made);
}

/// What is acted on and was read in an answer of which no line of the map says that it names it: the value that decides
/// most would be changed in no way.
fn objects(ground: &Ground<'_>, not_made: &mut Vec<NotMade>) {
    let acted = ground.base.acted(0);
    for fixture in ground.fixtures.iter().copied() {
        let Payload::Json(body) = &fixture.response.body else { continue };
        // What an action answers was acted on before.
        if ground.contract.is_action(&fixture.operation()) {
            continue;
        }
        let lines = ground.surface(fixture).map(|surface| surface.response.as_slice());
        let targets = lines.unwrap_or_default().iter();
        let named: Vec<Value> = targets
            .filter(|line| line.feeds.contains(&Decision::Target))
            .flat_map(|line| values(body, line.path.get(1..).unwrap_or_default()))
            .map(spelled)
            .collect();
        let mut found = Vec::new();
        scalars(body, "body", &mut found);
        let lost = |(_, value): &&(String, Value)| acted.contains(value) && !named.contains(value);
        if let Some((place, value)) = found.iter().find(lost) {
            not_made.push(NotMade {
                name: format!("{} {place}", fixture.id()),
                why: format!(
                    "{} is acted on, and no line of the decision map about {} feeds `target` with it",
                    name(value),
                    fixture.operation()
                ),
            });
        }
    }
}

/// Texts and numbers with their places, as a map writes them.
fn scalars(value: &Value, place: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                scalars(member, &format!("{place}.{name}"), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                scalars(item, &format!("{place}[]"), found);
            }
        }
        Value::String(_) | Value::Number(_) => {
            found.push((place.to_owned(), spelled(value.clone())));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Operations of the map that this contract has answers for, and that the case does not call. A map may serve several
/// agents: an operation without any fixture here is another one's.
fn operations(ground: &Ground<'_>, not_made: &mut Vec<NotMade>) {
    for (name, surface) in &ground.map.operations {
        let about = |fixture: &Fixture| {
            ground.surface(fixture).is_some_and(|found| std::ptr::eq(found, surface))
        };
        let known = ground.known.iter().any(about);
        if known && !ground.fixtures.iter().copied().any(about) {
            let why = format!("not called in `{}`", ground.case);
            not_made.push(NotMade { name: name.clone(), why });
        }
    }
}

/// Other names of values that no line of the map is about.
fn aliases(ground: &Ground<'_>, not_made: &mut Vec<NotMade>) {
    for (operation, names) in &ground.contract.aliases {
        for (place, other) in names {
            let of = |fixture: &&Fixture| same_operation(operation, &fixture.operation());
            let lines = ground.known.iter().filter(|fixture| of(fixture)).filter_map(|fixture| {
                let lines = &ground.surface(fixture)?.response;
                Some(lines.iter().any(|line| line.path == place.steps))
            });
            if !lines.into_iter().any(|found| found) {
                not_made.push(NotMade {
                    name: format!("{operation} {} beside {other}", place.text),
                    why: format!("the decision map has no line for {}", place.text),
                });
            }
        }
    }
}
