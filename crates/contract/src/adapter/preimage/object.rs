//! Functions that touch members of one object: the keywords about that object, turned around.
//!
//! Everything written here says the same as before about values that are no objects, so that it may stand for the
//! old keyword at any place.

use super::library::Dialect;
use super::{
    Fun, Head, Rewriter, Rewritten, Stuck, all_of, any_of, anything, at, has, lacks, no_object,
    not, trivial,
};
use serde_json::{Map, Value, json};

/// What happens to the members of the object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Site<'a> {
    /// The first becomes the second. Stands beside a demand that the second is not there.
    Renamed(&'a str, &'a str),
    /// The function works on this member, where it is there.
    Changed(&'a str, &'a Fun<'a>),
    /// The member is put there. Stands beside a demand that it is not there.
    Set(&'a str, &'a Value),
    /// The member is left out, only where it has this value.
    Dropped(&'a str, Option<&'a Value>),
}

/// Whether the member is there after the function, as a demand on what is there before.
enum There {
    Always,
    Never,
    Where(Value),
}

/// Keywords that say something about the value as a whole or about values that are no objects.
const KEPT: &[&str] = &[
    "type", "nullable", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "pattern", "items", "prefixItems", "additionalItems",
    "unevaluatedItems", "contains", "minContains", "maxContains", "minItems", "maxItems",
    "uniqueItems",
];

impl<'a> Site<'a> {
    /// The names whose presence or value is not the same after the function.
    fn names(&self) -> Vec<&'a str> {
        match self {
            Site::Renamed(old, new) => vec![old, new],
            Site::Changed(name, _) | Site::Set(name, _) | Site::Dropped(name, _) => vec![name],
        }
    }

    /// The name that may be there before, and is not the same after.
    fn before(&self) -> Option<&'a str> {
        match self {
            Site::Renamed(name, _) | Site::Changed(name, _) | Site::Dropped(name, _) => Some(name),
            Site::Set(..) => None,
        }
    }

    fn there(&self, name: &str) -> There {
        match self {
            Site::Renamed(old, new) if name == *new => There::Where(has(&[old])),
            Site::Renamed(old, _) if name == *old => There::Never,
            Site::Set(set, _) if name == *set => There::Always,
            Site::Dropped(gone, only_if) if name == *gone => match only_if {
                None => There::Never,
                Some(only) => There::Where(json!({
                    "type": "object", "required": [name], "properties": { name: not(one(only)) }
                })),
            },
            _ => There::Where(has(&[name])),
        }
    }

    /// The member must be there after the function.
    fn needs(&self, name: &str) -> Value {
        match self.there(name) {
            There::Always => anything(),
            There::Never => no_object(),
            There::Where(mut demand) => {
                // Without its type the demand says nothing about what is no object.
                if let Some(members) = demand.as_object_mut() {
                    members.shift_remove("type");
                }
                demand
            }
        }
    }
}

/// Just this value, in every dialect.
pub(super) fn one(value: &Value) -> Value {
    json!({ "enum": [value] })
}

impl Rewriter<'_> {
    /// The preimage under what happens to the members of an object.
    pub(super) fn object(&mut self, schema: &Value, site: &Site<'_>, depth: usize) -> Rewritten {
        let (members, mut parts) = match self
            .head(schema, depth, &mut |rewriter, target| rewriter.object(target, site, depth + 1))?
        {
            Head::Whole(whole) => return Ok(whole),
            Head::Members(members, parts) => (members, parts),
        };
        let mut base = Map::new();
        for keyword in KEPT {
            if let Some(value) = members.get(*keyword) {
                self.left = self.left.saturating_sub(super::weight(value));
                base.insert((*keyword).to_owned(), value.clone());
            }
        }
        self.branches(members, &mut base, &mut parts, &mut |rewriter, part| {
            rewriter.object(part, site, depth + 1)
        })?;
        for values in listed(members) {
            let (objects, others): (Vec<Value>, Vec<Value>) =
                values.into_iter().partition(Value::is_object);
            let mut ways = Vec::new();
            if !others.is_empty() {
                ways.push(json!({ "enum": others }));
            }
            for object in objects.iter().filter_map(Value::as_object) {
                let found = self.object(&exactly(object), site, depth + 1)?;
                ways.push(all_of(vec![json!({"type": "object"}), found]));
            }
            parts.push(any_of(ways));
        }
        self.named(members, site, &mut base, &mut parts, depth)?;
        self.names(members, site, &mut base, &mut parts)?;
        counts(members, site, &mut parts)?;
        self.dependencies(members, &mut parts, site, depth)?;
        if let Some(Value::Array(names)) = members.get("required") {
            let (touched, kept): (Vec<&Value>, Vec<&Value>) = names
                .iter()
                .partition(|name| name.as_str().is_some_and(|name| site.names().contains(&name)));
            if !kept.is_empty() {
                base.insert("required".to_owned(), json!(kept));
            }
            parts.extend(touched.iter().filter_map(|name| name.as_str()).map(|n| site.needs(n)));
        }
        if !base.is_empty() {
            parts.insert(0, Value::Object(base));
        }
        Ok(all_of(parts))
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`, `if`: part by part.
    pub(super) fn branches(
        &mut self,
        members: &Map<String, Value>,
        base: &mut Map<String, Value>,
        parts: &mut Vec<Value>,
        rewrite: &mut dyn FnMut(&mut Self, &Value) -> Rewritten,
    ) -> Result<(), Stuck> {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = members.get(keyword) else { continue };
            let branches = branches
                .iter()
                .map(|branch| rewrite(self, branch))
                .collect::<Result<Vec<Value>, Stuck>>()?;
            match keyword {
                "allOf" => parts.extend(branches),
                _ => drop(base.insert(keyword.to_owned(), Value::Array(branches))),
            }
        }
        if let Some(branch) = members.get("not") {
            base.insert("not".to_owned(), rewrite(self, branch)?);
        }
        if let Some(test) = members.get("if")
            && self.library.dialect() >= Dialect::Draft07
        {
            let test = rewrite(self, test)?;
            if let Some(then) = members.get("then") {
                parts.push(any_of(vec![not(test.clone()), rewrite(self, then)?]));
            }
            if let Some(other) = members.get("else") {
                parts.push(any_of(vec![test, rewrite(self, other)?]));
            }
        }
        Ok(())
    }

    /// `properties`, `patternProperties`, `additionalProperties`.
    fn named(
        &mut self,
        members: &Map<String, Value>,
        site: &Site<'_>,
        base: &mut Map<String, Value>,
        parts: &mut Vec<Value>,
        depth: usize,
    ) -> Result<(), Stuck> {
        let none = Map::new();
        let map = |keyword: &str| members.get(keyword).and_then(Value::as_object).unwrap_or(&none);
        let (properties, patterns) = (map("properties"), map("patternProperties"));
        let rest = members.get("additionalProperties").filter(|rest| !trivial(rest));
        for name in site.names() {
            let mut says: Vec<&Value> = properties.get(name).into_iter().collect();
            let mut known = properties.contains_key(name);
            for (pattern, said) in patterns {
                if !self.library.matches(pattern, name)? {
                    continue;
                }
                known = true;
                if trivial(said) {
                    continue;
                }
                if site.before() == Some(name) {
                    return Err(Stuck::at(
                        "patternProperties",
                        &format!("its pattern {pattern:?} is about {name:?}"),
                    ));
                }
                says.push(said);
            }
            if !known {
                says.extend(rest);
            }
            for said in says {
                parts.push(self.member(site, name, said, depth)?);
            }
        }
        let mut kept: Map<String, Value> = properties
            .iter()
            .filter(|(name, _)| !site.names().contains(&name.as_str()))
            .map(|(name, said)| (name.clone(), said.clone()))
            .collect();
        self.left = self.left.saturating_sub(kept.len());
        if let Some(rest) = rest {
            // What is said about the member is said above.
            if let Some(name) = site.before() {
                kept.insert(name.to_owned(), anything());
            }
            base.insert("additionalProperties".to_owned(), rest.clone());
        }
        if !kept.is_empty() {
            base.insert("properties".to_owned(), Value::Object(kept));
        }
        if !patterns.is_empty() {
            base.insert("patternProperties".to_owned(), Value::Object(patterns.clone()));
        }
        Ok(())
    }

    /// The member satisfies the schema after the function, where it is there then.
    fn member(&mut self, site: &Site<'_>, name: &str, said: &Value, depth: usize) -> Rewritten {
        match site {
            Site::Renamed(old, new) if name == *new => Ok(at(&[old], self.copy(said)?)),
            Site::Renamed(..) => Ok(anything()),
            Site::Changed(_, fun) => {
                let inner = self.inverse(fun, said, depth + 1)?;
                Ok(if trivial(&inner) { inner } else { at(&[name], inner) })
            }
            Site::Set(_, value) => {
                Ok(if self.library.accepts(said, value)? { anything() } else { no_object() })
            }
            Site::Dropped(_, None) => Ok(anything()),
            Site::Dropped(_, Some(only)) => {
                Ok(at(&[name], any_of(vec![one(only), self.copy(said)?])))
            }
        }
    }

    /// `propertyNames`.
    fn names(
        &mut self,
        members: &Map<String, Value>,
        site: &Site<'_>,
        base: &mut Map<String, Value>,
        parts: &mut Vec<Value>,
    ) -> Result<(), Stuck> {
        let Some(said) = members.get("propertyNames").filter(|said| !trivial(said)) else {
            return Ok(());
        };
        let said = self.copy(said)?;
        let mut exempt = None;
        for name in site.names() {
            if self.library.accepts(&said, &json!(name))? {
                continue;
            }
            match site {
                Site::Renamed(old, new) if name == *new => parts.push(lacks(old)),
                Site::Renamed(..) | Site::Dropped(_, None) => exempt = Some(name),
                Site::Set(..) => parts.push(no_object()),
                Site::Changed(..) => {}
                Site::Dropped(_, Some(only)) => {
                    exempt = Some(name);
                    parts.push(at(&[name], one(only)));
                }
            }
        }
        let names = match exempt {
            Some(name) => any_of(vec![one(&json!(name)), said]),
            None => said,
        };
        base.insert("propertyNames".to_owned(), names);
        Ok(())
    }

    /// `dependentRequired`, `dependentSchemas`, and `dependencies` of older dialects.
    fn dependencies(
        &mut self,
        members: &Map<String, Value>,
        parts: &mut Vec<Value>,
        site: &Site<'_>,
        depth: usize,
    ) -> Result<(), Stuck> {
        for (name, wanted) in dependents(members) {
            let demand = match wanted {
                Value::Array(names) => {
                    all_of(names.iter().filter_map(Value::as_str).map(|n| site.needs(n)).collect())
                }
                schema => self.object(schema, site, depth + 1)?,
            };
            parts.extend(match site.there(name) {
                There::Never => None,
                There::Always => Some(any_of(vec![no_object(), demand])),
                There::Where(there) => Some(any_of(vec![not(there), demand])),
            });
        }
        Ok(())
    }
}

/// Name and demand of everything that is asked for because a member is there.
pub(super) fn dependents(members: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    ["dependentRequired", "dependentSchemas", "dependencies"]
        .into_iter()
        .filter_map(|keyword| members.get(keyword)?.as_object())
        .flatten()
        .map(|(name, wanted)| (name.as_str(), wanted))
}

/// The values that `enum` or `const` list.
pub(super) fn listed(members: &Map<String, Value>) -> Vec<Vec<Value>> {
    let many = members.get("enum").and_then(Value::as_array).cloned();
    let single = members.get("const").map(|value| vec![value.clone()]);
    many.into_iter().chain(single).collect()
}

/// Just this object, said by its members, so that what is said of each can be turned around.
pub(super) fn exactly(object: &Map<String, Value>) -> Value {
    let names: Vec<&String> = object.keys().collect();
    let members: Map<String, Value> =
        object.iter().map(|(name, value)| (name.clone(), one(value))).collect();
    // An empty list of names is none in the oldest dialect.
    let mut schema = json!({
        "type": "object", "properties": members, "additionalProperties": false
    });
    if !names.is_empty() {
        schema["required"] = json!(names);
    }
    schema
}

/// `minProperties` and `maxProperties`.
fn counts(
    members: &Map<String, Value>,
    site: &Site<'_>,
    parts: &mut Vec<Value>,
) -> Result<(), Stuck> {
    for (keyword, least) in [("minProperties", true), ("maxProperties", false)] {
        let Some(stated) = members.get(keyword) else { continue };
        let Some(bound) = stated.as_u64().filter(|bound| *bound < u64::MAX) else {
            return Err(Stuck::at(keyword, "its number is not a count"));
        };
        let bounded = |bound: u64| json!({ keyword: bound });
        parts.push(match site {
            Site::Renamed(..) | Site::Changed(..) => bounded(bound),
            Site::Set(..) if bound > 0 => bounded(bound - 1),
            Site::Set(..) if least => anything(),
            Site::Set(..) => no_object(),
            Site::Dropped(name, only_if) => {
                let mut counted = json!({"required": [name]});
                if let Some(only) = only_if {
                    counted["properties"] = json!({ *name: one(only) });
                }
                let counted = all_of(vec![json!({"type": "object"}), counted]);
                let (more, other) = if least {
                    (bounded(bound + 1), all_of(vec![not(counted), bounded(bound)]))
                } else {
                    (all_of(vec![counted, bounded(bound + 1)]), bounded(bound))
                };
                any_of(vec![more, other])
            }
        });
    }
    Ok(())
}
