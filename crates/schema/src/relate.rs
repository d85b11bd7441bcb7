//! Old against new: what was lost, what was gained.

use crate::evaluate::evaluate;
use crate::limits::Limits;
use crate::node::NodeId;
use crate::search::{GaveUp, Outcome, Search};
use crate::witness::{Separates, governs};
use crate::world::{Lit, World};
use crate::{Answer, OpenObjects, Relation, Schema, Why, Witness};
use serde_json::Value;

/// What is asked of a pair of schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Question {
    /// How undeclared members of open objects are read.
    pub open_objects: OpenObjects,
    /// The budgets.
    pub limits: Limits,
}

/// Compares two schemas as sets of values. `lost` is asked with the old side as the writer, `gained` with the new one.
///
/// Pure and bounded: the same question always gets the same answer, within [`Limits::steps`] for each direction.
pub fn relate(old: &Schema, new: &Schema, question: &Question) -> Relation {
    Relation { lost: without(old, new, question).0, gained: without(new, old, question).0 }
}

/// One half of [`relate`], and the steps that it took: values of `accepts` that `rejects` does not take.
pub fn without(accepts: &Schema, rejects: &Schema, question: &Question) -> (Answer, u64) {
    let world = World::new(accepts.arena(), rejects.arena());
    let mut search = Search::new(&world, question.limits);
    let (yes, no) = (accepts.arena().root, rejects.arena().root);
    let mut lits = vec![Lit::Yes(world.of(0, yes)), Lit::No(world.of(1, no))];
    let writer = match question.open_objects {
        OpenObjects::AsWritten => None,
        OpenObjects::DeclaredWriters => search.writers.at(&world, vec![world.exact(0, yes)]),
    };
    lits.extend(writer.map(Lit::Writer));
    let mut witnesses: Vec<Witness> = Vec::new();
    let mut last_site = None;
    loop {
        let value = match search.inhabit(lits.clone()) {
            Outcome::Value(value) => (*value).clone(),
            Outcome::Empty if witnesses.is_empty() => {
                return (Answer::Nothing, search.steps.spent());
            }
            Outcome::Unknown(why) if witnesses.is_empty() => {
                let spent = search.steps.spent();
                let why = explain(&why, accepts, rejects, &world, spent);
                return (Answer::Unknown(why), spent);
            }
            Outcome::Empty | Outcome::Unknown(_) => break,
        };
        let mut follows = |value: &Value| {
            writer.is_none_or(|writer| search.writers.follows(&world, writer, value))
        };
        let mut separates =
            Separates { accepts: accepts.arena(), rejects: rejects.arena(), follows: &mut follows };
        // Later witnesses keep to the site they were found for; the first is free to shrink.
        let shown =
            |site: &(NodeId, String)| search.shown.contains(&(world.of(1, site.0), site.1.clone()));
        let site = last_site.is_some().then(|| {
            separates
                .rejections(&value)
                .iter()
                .map(|rejected| rejected.site())
                .find(|site| !shown(site))
        });
        let Some(site) = site.map_or(Some(None), |site| site.map(Some)) else { break };
        let value = separates.shrink(value, site.as_ref());
        let rejections = separates.rejections(&value);
        let rejected = match &site {
            Some(site) => rejections.into_iter().find(|rejected| rejected.site() == *site),
            None => rejections.into_iter().next(),
        };
        let Some(rejected) = rejected else { break };
        if let Some(reason) = disputed(accepts, rejects, &value) {
            if witnesses.is_empty() {
                let spent = search.steps.spent();
                let why = Why {
                    reason,
                    pointer: rejects.show(rejected.node, &rejected.below),
                    keyword: Some(rejected.keyword.to_string()),
                    spent,
                };
                return (Answer::Unknown(why), spent);
            }
            break;
        }
        let site = rejected.site();
        let (node, below) = (world.of(1, site.0), site.1);
        last_site = Some((node, below.clone()));
        witnesses.push(Witness {
            rejected_by: rejects.show(rejected.node, &rejected.below),
            keyword: rejected.keyword.to_string(),
            accepted_by: accepts.show(governs(accepts.arena(), &rejected.instance), ""),
            instance_pointer: rejected.instance,
            value,
        });
        if witnesses.len() >= question.limits.witnesses || !search.leave_out((node, below)) {
            break;
        }
    }
    witnesses.sort_by_cached_key(|witness| witness.value.to_string().len());
    (Answer::Some(witnesses), search.steps.spent())
}

/// Replays a value on both sides. A sentence where the independent validator disagrees.
fn disputed(accepts: &Schema, rejects: &Schema, value: &Value) -> Option<String> {
    if let Err(rejection) = evaluate(accepts, value) {
        return Some(format!(
            "a value was found, and the independent validator does not accept it: {}",
            rejection.message
        ));
    }
    match evaluate(rejects, value) {
        Ok(()) => {
            Some("a value was found, and the independent validator accepts it on both sides".into())
        }
        Err(rejection) if rejection.keyword == "undecided" => {
            Some(format!("a value was found, and it could not be replayed: {}", rejection.message))
        }
        Err(_) => None,
    }
}

fn explain(why: &GaveUp, accepts: &Schema, rejects: &Schema, world: &World, spent: u64) -> Why {
    let (pointer, keyword) = match why.at {
        Some((id, keyword)) => {
            let (arena, node) = world.arena(id);
            let owner = if std::ptr::eq(arena, accepts.arena()) { accepts } else { rejects };
            (owner.show(node, ""), Some(keyword.to_string()))
        }
        None => (String::new(), None),
    };
    Why { reason: why.reason.clone(), pointer, keyword, spent }
}
