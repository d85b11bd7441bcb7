//! What the map and the contract speak of and no mutant is made of: left out in silence, it would look as if it had held.

use super::{Ground, Mutant, NotMade};
use crate::decision::contract::same_operation;
use crate::decision::fixture::Fixture;

pub(super) fn make(ground: &Ground<'_>, _: &mut Vec<Mutant>, not_made: &mut Vec<NotMade>) {
    operations(ground, not_made);
    aliases(ground, not_made);
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
