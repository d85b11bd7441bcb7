//! Functions on one value: wrapped, mapped, or every item of a list.

use super::object::dependents;
use super::{Fun, Head, Rewriter, Rewritten, Stuck, all_of, any_of, never, not, trivial};
use crate::adapter::{Wrapper, apply::equal};
use serde_json::{Map, Value, json};

impl Rewriter<'_> {
    /// The values that some values are replaced into.
    pub(super) fn mapped(&mut self, schema: &Value, values: &[(Value, Value)]) -> Rewritten {
        let mut taken = Vec::new();
        for (old, new) in values {
            if self.library.accepts(schema, new)? {
                taken.push(old.clone());
            }
        }
        let named: Vec<&Value> = values.iter().map(|(old, _)| old).collect();
        let others = all_of(vec![json!({"not": {"enum": named}}), self.copy(schema)?]);
        Ok(if taken.is_empty() { others } else { any_of(vec![json!({ "enum": taken }), others]) })
    }

    /// The values that, wrapped, the schema takes.
    pub(super) fn unwrapped(
        &mut self,
        schema: &Value,
        wrapper: &Wrapper,
        depth: usize,
    ) -> Rewritten {
        let (members, mut parts) = match self.head(schema, depth, &mut |rewriter, target| {
            rewriter.unwrapped(target, wrapper, depth + 1)
        })? {
            Head::Whole(whole) => return Ok(whole),
            Head::Members(members, parts) => (members, parts),
        };
        let mut base = Map::new();
        self.branches(members, &mut base, &mut parts, &mut |rewriter, part| {
            rewriter.unwrapped(part, wrapper, depth + 1)
        })?;
        if !base.is_empty() {
            parts.push(Value::Object(base));
        }
        let kind = match wrapper {
            Wrapper::Object(_) => "object",
            Wrapper::Array => "array",
        };
        let fits = match members.get("type") {
            Some(Value::String(stated)) => stated == kind,
            Some(Value::Array(stated)) => stated.iter().any(|stated| stated == kind),
            _ => true,
        };
        if !fits {
            return Ok(never());
        }
        let listed = members.get("enum").and_then(Value::as_array).cloned();
        let single = members.get("const").map(|value| vec![value.clone()]);
        for values in [listed, single].into_iter().flatten() {
            let inside: Vec<Value> = values
                .into_iter()
                .filter_map(|value| match (value, wrapper) {
                    (Value::Object(mut one), Wrapper::Object(key)) if one.len() == 1 => {
                        one.shift_remove(key)
                    }
                    (Value::Array(mut one), Wrapper::Array) if one.len() == 1 => one.pop(),
                    _ => None,
                })
                .collect();
            parts.push(if inside.is_empty() { never() } else { json!({ "enum": inside }) });
        }
        match wrapper {
            Wrapper::Object(key) => self.only_member(members, key, &mut parts, depth)?,
            Wrapper::Array => self.only_item(members, &mut parts)?,
        }
        Ok(all_of(parts))
    }

    /// What is demanded of the only member of an object.
    fn only_member(
        &mut self,
        members: &Map<String, Value>,
        key: &str,
        parts: &mut Vec<Value>,
        depth: usize,
    ) -> Result<(), Stuck> {
        let none = Map::new();
        let map = |keyword: &str| members.get(keyword).and_then(Value::as_object).unwrap_or(&none);
        let mut known = false;
        if let Some(said) = map("properties").get(key) {
            known = true;
            parts.push(self.copy(said)?);
        }
        for (pattern, said) in map("patternProperties") {
            if self.library.matches(pattern, key)? {
                known = true;
                parts.push(self.copy(said)?);
            }
        }
        if let Some(rest) = members.get("additionalProperties")
            && !known
        {
            parts.push(self.copy(rest)?);
        }
        let missing =
            |names: &Value| names.as_array().is_some_and(|names| names.iter().any(|n| n != key));
        let mut possible = !members.get("required").is_some_and(missing);
        if let Some(said) = members.get("propertyNames") {
            possible &= self.library.accepts(said, &json!(key))?;
        }
        possible &= within(members, "minProperties", "maxProperties")?;
        for (name, wanted) in dependents(members) {
            if name != key {
                continue;
            }
            match wanted {
                Value::Array(_) => possible &= !missing(wanted),
                schema => {
                    let wrapper = Wrapper::Object(key.to_owned());
                    parts.push(self.unwrapped(schema, &wrapper, depth + 1)?);
                }
            }
        }
        if !possible {
            parts.push(never());
        }
        Ok(())
    }

    /// What is demanded of the only item of a list.
    fn only_item(
        &mut self,
        members: &Map<String, Value>,
        parts: &mut Vec<Value>,
    ) -> Result<(), Stuck> {
        if !within(members, "minItems", "maxItems")? {
            parts.push(never());
        }
        let first = |keyword: &str| members.get(keyword).and_then(Value::as_array)?.first();
        let stated = first("prefixItems")
            .or_else(|| first("items"))
            .or_else(|| members.get("items").filter(|items| !items.is_array()));
        match stated {
            Some(stated) => parts.push(self.copy(stated)?),
            None => unlooked(members)?,
        }
        if let Some(said) = members.get("contains") {
            let said = self.copy(said)?;
            let count = |keyword: &str| match members.get(keyword) {
                None => Ok(None),
                Some(stated) => stated
                    .as_u64()
                    .map(Some)
                    .ok_or_else(|| Stuck::at(keyword, "its number is not a count")),
            };
            let least = count("minContains")?.unwrap_or(1);
            let most = count("maxContains")?.unwrap_or(1);
            match least {
                0 => {}
                1 => parts.push(said.clone()),
                _ => parts.push(never()),
            }
            if most == 0 {
                parts.push(not(said));
            }
        }
        Ok(())
    }

    /// The preimage under a function on every item.
    pub(super) fn items(&mut self, schema: &Value, fun: &Fun<'_>, depth: usize) -> Rewritten {
        let (members, mut parts) = match self
            .head(schema, depth, &mut |rewriter, target| rewriter.items(target, fun, depth + 1))?
        {
            Head::Whole(whole) => return Ok(whole),
            Head::Members(members, parts) => (members, parts),
        };
        let mut base = Map::new();
        for (keyword, value) in members {
            let rewritten = match (keyword.as_str(), value) {
                ("items" | "prefixItems", Value::Array(items)) => Value::Array(
                    items
                        .iter()
                        .map(|item| self.inverse(fun, item, depth + 1))
                        .collect::<Result<_, Stuck>>()?,
                ),
                ("items" | "additionalItems" | "contains", said) => {
                    self.inverse(fun, said, depth + 1)?
                }
                ("uniqueItems", Value::Bool(true)) if !injective(fun) => {
                    return Err(Stuck::at("uniqueItems", "the step may make items equal"));
                }
                ("unevaluatedItems", said) if !trivial(said) => {
                    return Err(Stuck::at("unevaluatedItems", "the step works on every item"));
                }
                ("enum" | "const", said) if lists(said, keyword) => {
                    return Err(Stuck::at(
                        keyword,
                        "it holds whole lists whose items the step changes",
                    ));
                }
                ("$ref" | "$schema" | "$defs" | "definitions" | "$id", _) => continue,
                ("allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else", _) => continue,
                ("title" | "description" | "default" | "examples" | "$comment", _) => continue,
                (_, kept) => {
                    self.left = self.left.saturating_sub(super::weight(kept));
                    kept.clone()
                }
            };
            base.insert(keyword.clone(), rewritten);
        }
        self.branches(members, &mut base, &mut parts, &mut |rewriter, part| {
            rewriter.items(part, fun, depth + 1)
        })?;
        parts.push(Value::Object(base));
        Ok(all_of(parts))
    }
}

/// One item or member is within the bounds.
fn within(members: &Map<String, Value>, least: &str, most: &str) -> Result<bool, Stuck> {
    let bound = |keyword: &str| match members.get(keyword) {
        None => Ok(1),
        Some(stated) => {
            stated.as_u64().ok_or_else(|| Stuck::at(keyword, "its number is not a count"))
        }
    };
    Ok(bound(least)? <= 1 && bound(most)? >= 1)
}

/// Without `items` an item may still be looked at by what is left.
fn unlooked(members: &Map<String, Value>) -> Result<(), Stuck> {
    match members.get("unevaluatedItems") {
        Some(said) if !trivial(said) => {
            Err(Stuck::at("unevaluatedItems", "a value becomes an item of this list"))
        }
        _ => Ok(()),
    }
}

fn lists(said: &Value, keyword: &str) -> bool {
    match said {
        Value::Array(values) if keyword == "enum" => values.iter().any(Value::is_array),
        said => said.is_array(),
    }
}

/// Never makes two different values equal.
fn injective(fun: &Fun<'_>) -> bool {
    match fun {
        Fun::Inside(_, inner) | Fun::Each(inner) => injective(inner),
        Fun::Wrap(_) => true,
        Fun::Move { from, to } => from.len() == 1 && to.len() == 1,
        Fun::Map(values) => values.iter().enumerate().all(|(index, (_, new))| {
            values[..index].iter().all(|(_, other)| !equal(new, other))
                && values.iter().any(|(old, _)| equal(old, new))
        }),
        Fun::Set { .. } | Fun::Fill { .. } | Fun::Drop { .. } | Fun::Unwrap(_) => false,
    }
}
