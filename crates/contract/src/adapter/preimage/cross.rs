//! A value that moves from one object into another: the demands on both objects, as demands on the whole around them.
//!
//! All that is written here stands beside the demand that there is something to move, that its new place is free, and
//! that what lies on both ways, as far as it is there, is an object.

use super::object::{dependents, exactly, listed};
use super::{
    Head, Rewriter, Rewritten, Stuck, all_of, any_of, anything, at, has, never, not, trivial,
};
use serde_json::{Map, Value, json};

/// From where to where, from the innermost object that holds both. The first names differ.
pub(super) struct Route<'a> {
    pub(super) from: &'a [&'a str],
    pub(super) to: &'a [&'a str],
}

/// What a member of an object on the way is.
enum Member {
    /// Not on the way.
    Off,
    /// An object on the way.
    Way,
    /// What is moved: not there any more.
    Gone,
    /// What was moved: there now.
    Come,
}

impl Route<'_> {
    fn member(&self, place: &[&str], name: &str) -> Member {
        let mut here = place.to_vec();
        here.push(name);
        if here == self.from {
            Member::Gone
        } else if here == self.to {
            Member::Come
        } else if self.from.starts_with(&here) || self.to.starts_with(&here) {
            Member::Way
        } else {
            Member::Off
        }
    }

    /// Whether the member is there after the move.
    fn there(&self, place: &[&str], name: &str) -> Value {
        match self.member(place, name) {
            Member::Way | Member::Come => anything(),
            Member::Gone => never(),
            Member::Off => {
                let mut here = place.to_vec();
                here.push(name);
                has(&here)
            }
        }
    }
}

impl Rewriter<'_> {
    /// What a schema demands of the object at a place after the move, as a demand on the whole before it.
    pub(super) fn lift<'a>(
        &mut self,
        schema: &Value,
        route: &Route<'a>,
        place: &mut Vec<&'a str>,
        depth: usize,
    ) -> Rewritten {
        let (members, mut parts) = match self.head(schema, depth, &mut |rewriter, target| {
            rewriter.lift(target, route, place, depth + 1)
        })? {
            Head::Whole(whole) => return Ok(whole),
            Head::Members(members, parts) => (members, parts),
        };
        for keyword in ["propertyNames", "minProperties", "maxProperties"] {
            if members.contains_key(keyword) {
                return Err(Stuck::at(keyword, "a value moves into this object or out of it"));
            }
        }
        let kinds = match members.get("type") {
            Some(Value::String(kind)) => kind == "object",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
            _ => true,
        };
        if !kinds {
            return Ok(never());
        }
        for values in listed(members) {
            let mut ways = Vec::new();
            for object in values.iter().filter_map(Value::as_object) {
                ways.push(self.lift(&exactly(object), route, place, depth + 1)?);
            }
            parts.push(any_of(ways));
        }
        let mut base = Map::new();
        self.branches(members, &mut base, &mut parts, &mut |rewriter, part| {
            rewriter.lift(part, route, place, depth + 1)
        })?;
        if !base.is_empty() {
            parts.push(Value::Object(base));
        }
        self.lift_members(members, route, place, &mut parts, depth)?;
        let names = members.get("required").and_then(Value::as_array).into_iter().flatten();
        parts.extend(names.filter_map(Value::as_str).map(|name| route.there(place, name)));
        for (name, wanted) in dependents(members) {
            let demand = match wanted {
                Value::Array(names) => all_of(
                    names.iter().filter_map(Value::as_str).map(|n| route.there(place, n)).collect(),
                ),
                schema => self.lift(schema, route, place, depth + 1)?,
            };
            parts.push(any_of(vec![not(route.there(place, name)), demand]));
        }
        Ok(all_of(parts))
    }

    /// `properties`, `patternProperties`, `additionalProperties`.
    fn lift_members<'a>(
        &mut self,
        members: &Map<String, Value>,
        route: &Route<'a>,
        place: &mut Vec<&'a str>,
        parts: &mut Vec<Value>,
        depth: usize,
    ) -> Result<(), Stuck> {
        let none = Map::new();
        let map = |keyword: &str| members.get(keyword).and_then(Value::as_object).unwrap_or(&none);
        let (properties, patterns) = (map("properties"), map("patternProperties"));
        let rest = members.get("additionalProperties").filter(|rest| !trivial(rest));
        let names: Vec<&'a str> = {
            let mut names = Vec::new();
            for way in [route.from, route.to] {
                if way.starts_with(place)
                    && let Some(name) = way.get(place.len())
                    && !names.contains(name)
                {
                    names.push(*name);
                }
            }
            names
        };
        for name in &names {
            let mut says: Vec<&Value> = properties.get(*name).into_iter().collect();
            let mut known = properties.contains_key(*name);
            for (pattern, said) in patterns {
                if !self.library.matches(pattern, name)? {
                    continue;
                }
                known = true;
                if !trivial(said) {
                    return Err(Stuck::at(
                        "patternProperties",
                        &format!("its pattern {pattern:?} is about {name:?}"),
                    ));
                }
            }
            if !known {
                says.extend(rest);
            }
            for said in says {
                let part = match route.member(place, name) {
                    Member::Off | Member::Gone => anything(),
                    Member::Come => at(route.from, self.copy(said)?),
                    Member::Way => {
                        place.push(name);
                        let lifted = self.lift(said, route, place, depth + 1);
                        place.pop();
                        lifted?
                    }
                };
                parts.push(part);
            }
        }
        let mut kept: Map<String, Value> = properties
            .iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, said)| (name.clone(), said.clone()))
            .collect();
        self.left = self.left.saturating_sub(kept.len());
        let mut object = Map::new();
        if let Some(rest) = rest {
            kept.extend(names.iter().map(|name| ((*name).to_owned(), anything())));
            object.insert("additionalProperties".to_owned(), rest.clone());
        }
        if !kept.is_empty() {
            object.insert("properties".to_owned(), Value::Object(kept));
        }
        if !patterns.is_empty() {
            object.insert("patternProperties".to_owned(), json!(patterns));
        }
        if !object.is_empty() {
            parts.push(at(place, Value::Object(object)));
        }
        Ok(())
    }
}
