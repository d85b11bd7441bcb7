//! Random values near a schema, from the schema's text alone: no code of the engine is used, so what it
//! proves can be attacked with them.

use serde_json::{Map, Value, json};

/// A small seeded generator of numbers: the same seed gives the same run on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % below.max(1) as u64).unwrap()
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// Draws values near the schemas of one document.
pub struct Near<'a> {
    pub root: &'a Value,
    /// Members that no schema declares may be added.
    pub strays: bool,
    /// Values that both sides of a comparison mention.
    pub pool: Vec<Value>,
}

impl Near<'_> {
    pub fn draw(&self, schema: &Value, dice: &mut Dice, depth: usize) -> Value {
        let Value::Object(rules) = schema else {
            return self.any(dice, depth);
        };
        if depth > 6 {
            return json!(null);
        }
        if let Some(target) = rules.get("$ref").and_then(Value::as_str)
            && let Some(found) = target.strip_prefix('#').and_then(|at| self.root.pointer(at))
            && !dice.one_in(6)
        {
            return self.draw(found, dice, depth + 1);
        }
        if let Some(value) = rules.get("const")
            && !dice.one_in(6)
        {
            return value.clone();
        }
        if let Some(Value::Array(values)) = rules.get("enum")
            && !values.is_empty()
            && !dice.one_in(8)
        {
            return dice.pick(values).clone();
        }
        let mut merged = Map::new();
        for list in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(branches)) = rules.get(list)
                && !branches.is_empty()
            {
                let drawn = self.draw(dice.pick(branches), dice, depth + 1);
                match drawn {
                    Value::Object(members) => merged.extend(members),
                    other if !rules.contains_key("type") && !rules.contains_key("properties") => {
                        return other;
                    }
                    _ => {}
                }
            }
        }
        for branch in ["then", "else", "if"] {
            if let Some(branch) = rules.get(branch)
                && dice.one_in(2)
                && let Value::Object(members) = self.draw(branch, dice, depth + 1)
            {
                merged.extend(members);
            }
        }
        let kind = match rules.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) if !kinds.is_empty() => {
                dice.pick(kinds).as_str().unwrap_or("null").to_string()
            }
            _ => guess(rules, dice),
        };
        match kind.as_str() {
            "null" => json!(null),
            "boolean" => json!(dice.one_in(2)),
            "integer" | "number" => self.number(rules, &kind, dice),
            "string" => self.string(rules, dice),
            "array" => self.array(rules, dice, depth),
            _ => self.object(rules, merged, dice, depth),
        }
    }

    fn any(&self, dice: &mut Dice, depth: usize) -> Value {
        if !self.pool.is_empty() && dice.one_in(3) {
            return dice.pick(&self.pool).clone();
        }
        match dice.roll(if depth > 3 { 6 } else { 8 }) {
            0 => json!(null),
            1 => json!(dice.one_in(2)),
            2 => json!(dice.roll(5)),
            3 => json!(-1.5),
            4 => json!("x"),
            5 => json!(""),
            6 => json!([1]),
            _ => json!({"a": 1}),
        }
    }

    fn number(&self, rules: &Map<String, Value>, kind: &str, dice: &mut Dice) -> Value {
        let mut near: Vec<f64> = vec![0.0, 1.0, -1.0, 7.0];
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
        {
            if let Some(n) = rules.get(keyword).and_then(Value::as_f64) {
                near.extend([n, n + 1.0, n - 1.0, n * 2.0]);
            }
        }
        let n = *dice.pick(&near);
        if kind == "integer" || n.fract() == 0.0 && !dice.one_in(3) {
            json!(n as i64)
        } else {
            json!(n + 0.5)
        }
    }

    fn string(&self, rules: &Map<String, Value>, dice: &mut Dice) -> Value {
        let texts: Vec<&Value> = self.pool.iter().filter(|value| value.is_string()).collect();
        if !texts.is_empty() && dice.one_in(3) {
            return (*dice.pick(&texts)).clone();
        }
        let mut lengths = vec![0, 1, 3];
        for keyword in ["minLength", "maxLength"] {
            if let Some(n) = rules.get(keyword).and_then(Value::as_u64).filter(|&n| n < 3000) {
                lengths.extend([n, n + 1, n.saturating_sub(1)]);
            }
        }
        let length = usize::try_from(*dice.pick(&lengths)).unwrap();
        let letters = ["a", "x", "A", "0", "-", " ", "b", "z"];
        let letter = *dice.pick(&letters);
        json!(
            (0..length)
                .map(|_| if dice.one_in(4) { *dice.pick(&letters) } else { letter })
                .collect::<String>()
        )
    }

    fn array(&self, rules: &Map<String, Value>, dice: &mut Dice, depth: usize) -> Value {
        let mut lengths = vec![0, 1, 2];
        for keyword in ["minItems", "maxItems", "minContains", "maxContains"] {
            if let Some(n) = rules.get(keyword).and_then(Value::as_u64).filter(|&n| n < 6) {
                lengths.extend([n, n + 1]);
            }
        }
        let length = usize::try_from(*dice.pick(&lengths)).unwrap();
        let free = json!(true);
        let items = (0..length)
            .map(|at| {
                let prefix =
                    rules.get("prefixItems").or(rules.get("items")).and_then(|list| list.get(at));
                let schema = prefix
                    .or(rules.get("contains").filter(|_| dice.one_in(3)))
                    .or(rules.get("items"))
                    .unwrap_or(&free);
                self.draw(schema, dice, depth + 1)
            })
            .collect();
        Value::Array(items)
    }

    fn object(
        &self,
        rules: &Map<String, Value>,
        mut members: Map<String, Value>,
        dice: &mut Dice,
        depth: usize,
    ) -> Value {
        let required: Vec<&str> = rules
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, schema) in
            rules.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let keep =
                if required.contains(&name.as_str()) { !dice.one_in(12) } else { dice.one_in(3) };
            if keep {
                members.insert(name.clone(), self.draw(schema, dice, depth + 1));
            }
        }
        for name in required {
            if !members.contains_key(name) && self.strays && !dice.one_in(6) {
                members.insert(name.to_string(), self.any(dice, depth + 1));
            }
        }
        if let Some(rest) = rules
            .get("additionalProperties")
            .filter(|rest| rest.as_object().is_some_and(|rest| !rest.is_empty()))
            && dice.one_in(2)
        {
            members.insert("k".into(), self.draw(rest, dice, depth + 1));
        }
        if self.strays && dice.one_in(3) {
            let names: Vec<&Value> = self.pool.iter().filter(|value| value.is_string()).collect();
            let name = if names.is_empty() { "b" } else { dice.pick(&names).as_str().unwrap() };
            members.insert(name.to_string(), self.any(dice, depth + 1));
        }
        Value::Object(members)
    }
}

fn guess(rules: &Map<String, Value>, dice: &mut Dice) -> String {
    for (keyword, kind) in [
        ("properties", "object"),
        ("required", "object"),
        ("items", "array"),
        ("prefixItems", "array"),
        ("pattern", "string"),
        ("minLength", "string"),
        ("minimum", "number"),
        ("maximum", "number"),
        ("multipleOf", "number"),
        ("patternProperties", "object"),
        ("additionalProperties", "object"),
        ("contains", "array"),
    ] {
        if rules.contains_key(keyword) && !dice.one_in(5) {
            return kind.into();
        }
    }
    (*dice.pick(&["null", "boolean", "integer", "number", "string", "array", "object"])).into()
}

/// Names, texts and other plain values that a schema mentions.
pub fn mentioned(schema: &Value, out: &mut Vec<Value>) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "properties" || name == "patternProperties" {
                    out.extend(
                        member
                            .as_object()
                            .into_iter()
                            .flatten()
                            .map(|(name, _)| json!(name.trim_matches(['^', '$']))),
                    );
                }
                if !matches!(name.as_str(), "description" | "title" | "$schema" | "$id" | "$ref") {
                    mentioned(member, out);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| mentioned(item, out)),
        plain => out.push(plain.clone()),
    }
}

/// The other implementation: judges with `format` left out, as the engine does.
pub struct Boon {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Boon {
    pub fn new(schema: &Value) -> Option<Boon> {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("mem:///schema.json", without_formats(schema)).ok()?;
        let index = compiler.compile("mem:///schema.json", &mut schemas).ok()?;
        Some(Boon { schemas, index })
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }
}

fn without_formats(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter(|(name, member)| {
                    !(matches!(name.as_str(), "format" | "contentEncoding" | "contentMediaType")
                        && member.is_string())
                })
                .map(|(name, member)| (name.clone(), without_formats(member)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_formats).collect()),
        other => other.clone(),
    }
}
