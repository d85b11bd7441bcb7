//! Whether each object of a fixture says why it is there, and shows something that no other shows. Pure.

use super::contract::{Contract, of_operation};
use super::expect::name;
use super::fixture::{Fixture, Payload};
use super::outcome::Outcome;
use super::place::{spelled, values};
use contract::Decision;
use contract::decision::{DecisionMap, Reading, Surface};
use serde_json::Value;
use std::collections::BTreeMap;

/// What is wrong with the objects of fixtures, a sentence each.
pub fn wrong<'f>(
    contract: &Contract,
    map: Option<&DecisionMap>,
    fixtures: impl Iterator<Item = &'f Fixture>,
    base: Option<&Outcome>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for fixture in fixtures {
        let Payload::Json(body) = &fixture.response.body else { continue };
        let mut lists = Vec::new();
        of_lists(body, "", &mut lists);
        for (pointer, object) in &lists {
            if !fixture.why.contains_key(pointer) {
                let shown = super::pattern::short(object);
                wrong.push(format!("{}: {shown} does not say why it is there", fixture.id()));
            }
        }
        let surface = map.and_then(|map| {
            let found = map.operation(fixture.operation_id.as_deref(), &fixture.operation());
            found.or_else(|| of_operation(&map.operations, &fixture.operation()))
        });
        if let (Some(surface), Some(base)) = (surface, base) {
            wrong.extend(alike(contract, fixture, surface, &lists, base));
        }
    }
    wrong
}

/// The line of a map that names the objects of a list: the target whose values are acted on, else the first target.
pub fn identity<'s>(surface: &'s Surface, body: &Value, acted: &[Value]) -> Option<&'s Reading> {
    let listed = |r: &&Reading| {
        r.feeds.contains(&Decision::Target) && r.path.iter().any(|step| step == "[]")
    };
    let named = |r: &&Reading| {
        let inner = r.path.get(1..).unwrap_or_default();
        values(body, inner).into_iter().any(|value| acted.contains(&spelled(value)))
    };
    let mut lines = surface.response.iter().filter(listed);
    let first = lines.clone().next();
    lines.find(named).or(first)
}

/// The objects of lists, with their places; those within them belong to them.
fn of_lists<'v>(value: &'v Value, place: &str, found: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if item.is_object() {
                    found.push((format!("{place}/{index}"), item));
                }
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                of_lists(member, &format!("{place}/{}", super::pattern::escape(name)), found);
            }
        }
        _ => {}
    }
}

/// Objects that are left alone and have the same deciding values as another: no assertion tells them apart.
fn alike(
    contract: &Contract,
    fixture: &Fixture,
    surface: &Surface,
    objects: &[(String, &Value)],
    base: &Outcome,
) -> Vec<String> {
    let acted = base.acted(0);
    let Payload::Json(body) = &fixture.response.body else { return Vec::new() };
    let Some(target) = identity(surface, body, &acted) else { return Vec::new() };
    let inner = |path: &[String]| -> Option<Vec<String>> {
        let at = path.iter().position(|step| step == "[]")?;
        Some(path[at + 1..].to_vec())
    };
    let Some(id_steps) = inner(&target.path) else { return Vec::new() };
    let asserted: Vec<Value> =
        contract.cases.iter().flat_map(|case| case.acts_on.iter().flatten()).cloned().collect();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (_, object) in objects {
        let Some(id) = values(object, &id_steps).into_iter().next().map(spelled) else { continue };
        if acted.contains(&id) || asserted.contains(&id) {
            continue;
        }
        let deciding: Vec<Vec<Value>> = surface
            .response
            .iter()
            .filter(|reading| reading.path != target.path)
            .filter_map(|reading| Some(values(object, &inner(&reading.path)?)))
            .collect();
        let key =
            Value::from(deciding.into_iter().map(Value::from).collect::<Vec<_>>()).to_string();
        if let Some(first) = known.insert(key, name(&id)) {
            wrong.push(format!(
                "{}: no assertion tells {} from {first}: all that decides is the same in both",
                fixture.id(),
                name(&id)
            ));
        }
    }
    wrong
}
