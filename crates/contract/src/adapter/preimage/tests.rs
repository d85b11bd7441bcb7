//! The rewriting against the functions themselves: for random schemas, functions and values, the rewritten schema takes
//! a value exactly where the schema takes what the function makes of it.

use super::{Library, Rewriter};
use crate::adapter::Wrapper;
use crate::adapter::apply::Fun;
use schema::evaluate;
use serde_json::{Map, Value, json};

/// Enough that every keyword meets every function many times; a few seconds.
const ROUNDS: u64 = 2_000;
const VALUES: usize = 24;
const NAMES: &[&str] = &["a", "b", "c", "ab"];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % below.max(1) as u64).expect("it is below a usize")
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.roll(n) == 0
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.roll(NAMES.len())]
    }

    fn scalar(&mut self) -> Value {
        [json!(0), json!(1), json!(1.0), json!("x"), json!("y"), json!(true), json!(null)]
            [self.roll(7)]
        .clone()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.roll(if depth > 2 { 2 } else { 6 }) {
            0 | 1 => self.scalar(),
            2 => Value::Array((0..self.roll(3)).map(|_| self.value(depth + 1)).collect()),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for _ in 0..self.roll(4) {
            members.insert(self.name().to_owned(), self.value(depth + 1));
        }
        Value::Object(members)
    }

    fn names(&mut self) -> Vec<&'static str> {
        let mut names: Vec<&str> = (0..=self.roll(2)).map(|_| self.name()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn members(&mut self, depth: usize) -> Value {
        let mut members = Map::new();
        for _ in 0..=self.roll(3) {
            members.insert(self.name().to_owned(), self.schema(depth + 1));
        }
        Value::Object(members)
    }

    fn schema(&mut self, depth: usize) -> Value {
        if depth > 3 {
            return [
                json!(true),
                json!(false),
                json!({"type": "integer"}),
                json!({"enum": [1, "x"]}),
            ][self.roll(4)]
            .clone();
        }
        let mut schema = Map::new();
        for _ in 0..=self.roll(3) {
            let keyword = KEYWORDS[self.roll(KEYWORDS.len())];
            let value = match keyword {
                "type" => [
                    json!("object"),
                    json!("array"),
                    json!("integer"),
                    json!("string"),
                    json!(["object", "null"]),
                    json!(["array", "string"]),
                ][self.roll(6)]
                .clone(),
                "properties" | "dependentSchemas" => self.members(depth),
                "patternProperties" => {
                    let pattern = ["^a", "b$", "^zz"][self.roll(3)];
                    let said = if self.one_in(2) { json!(true) } else { self.schema(depth + 1) };
                    json!({ pattern: said })
                }
                "additionalProperties" if self.one_in(2) => json!(false),
                "required" => json!(self.names()),
                "dependentRequired" => json!({ self.name(): self.names() }),
                "propertyNames" => [
                    json!({"enum": ["a", "b"]}),
                    json!({"pattern": "^[ab]+$"}),
                    json!({"maxLength": 1}),
                    json!({"not": {"const": "c"}}),
                ][self.roll(4)]
                .clone(),
                "minProperties" | "maxProperties" | "minItems" | "maxItems" | "minContains"
                | "maxContains" => json!(self.roll(3)),
                "enum" => json!([self.value(1), self.value(1), self.scalar()]),
                "const" => self.value(1),
                "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
                    json!([self.schema(depth + 1), self.schema(depth + 1)])
                }
                "uniqueItems" => json!(true),
                "$ref" => json!(["#/$defs/one", "#/$defs/two"][self.roll(2)]),
                _ => self.schema(depth + 1),
            };
            schema.insert(keyword.to_owned(), value);
        }
        Value::Object(schema)
    }

    /// A schema whose references lead to places that refer no further, but for one that comes back by a member.
    fn document(&mut self) -> Value {
        let mut schema = self.schema(0);
        let mut one = self.schema(2);
        for part in [&mut one] {
            if let Value::Object(members) = part {
                members.shift_remove("$ref");
            }
        }
        let text = one.to_string().replace("#/$defs/one", "#/$defs/two");
        let one: Value = serde_json::from_str(&text).expect("it was JSON before");
        schema["$defs"] = json!({
            "one": one,
            "two": {"properties": {"a": {"$ref": "#"}, "b": {"type": "integer"}}},
        });
        schema
    }

    fn function(&mut self, depth: usize) -> Fun<'static> {
        match self.roll(if depth > 1 { 9 } else { 12 }) {
            0 | 1 => {
                let from = self.name();
                let to = NAMES[(NAMES.iter().position(|n| *n == from).expect("a name") + 1) % 4];
                Fun::Move { from: vec![from], to: vec![to] }
            }
            2 => {
                let (from, to) = [
                    (vec!["a", "b"], vec!["c"]),
                    (vec!["a"], vec!["b", "c"]),
                    (vec!["a", "b"], vec!["b", "b"]),
                    (vec!["a", "b", "c"], vec!["b", "a"]),
                ][self.roll(4)]
                .clone();
                Fun::Move { from, to }
            }
            3 => {
                let to = [vec!["a"], vec!["b"], vec!["a", "b"], vec!["c", "a", "b"]][self.roll(4)]
                    .clone();
                Fun::Set { to, value: self.scalar() }
            }
            4 => {
                let only = [None, Some(&*ONE), Some(&*NOTHING)][self.roll(3)];
                Fun::Drop { name: self.name(), only_if: only }
            }
            5 => Fun::Wrap(&WRAPPERS[self.roll(2)]),
            6 => Fun::Map(&PAIRS[self.roll(2)]),
            7 => Fun::Unwrap(&WRAPPERS[self.roll(2)]),
            8 => Fun::Fill { name: self.name(), value: &ONE },
            9 => Fun::Each(Box::new(self.function(depth + 1))),
            _ => Fun::Inside(self.name(), Box::new(self.function(depth + 1))),
        }
    }
}

const KEYWORDS: &[&str] = &[
    "type", "type", "properties", "properties", "properties", "patternProperties",
    "additionalProperties", "additionalProperties", "required", "required", "dependentRequired",
    "dependentSchemas", "propertyNames", "minProperties", "maxProperties", "enum", "const",
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "items", "prefixItems", "contains",
    "minItems", "maxItems", "minContains", "maxContains", "uniqueItems", "$ref",
];

static ONE: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(1));
static NOTHING: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({}));
static WRAPPERS: std::sync::LazyLock<[Wrapper; 2]> =
    std::sync::LazyLock::new(|| [Wrapper::Array, Wrapper::Object("a".to_owned())]);
static PAIRS: std::sync::LazyLock<[Vec<(Value, Value)>; 2]> = std::sync::LazyLock::new(|| {
    [
        vec![(json!("x"), json!("y")), (json!("y"), json!("x"))],
        vec![(json!(1), json!("x")), (json!(null), json!({"a": 1}))],
    ]
});

#[derive(Default, Debug)]
struct Tally {
    compared: usize,
    taken: usize,
    stopped: usize,
    stuck: usize,
    unreadable: usize,
}

fn compare(split: bool) -> Tally {
    let mut tally = Tally::default();
    for round in 1..=ROUNDS {
        let mut dice = Dice(round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let document = dice.document();
        let fun = dice.function(0);
        let Ok(original) = schema::Schema::read(&document, &schema::ReadOptions::default()) else {
            tally.unreadable += 1;
            continue;
        };
        let library = Library::new(&document).expect("nothing here names places by identifiers");
        let mut rewriter = Rewriter::new(&library, split);
        let Ok(rewritten) = rewriter.preimage(&fun, library.root()) else {
            tally.stuck += 1;
            continue;
        };
        let image = match library.schema(&rewritten) {
            Ok(schema) => schema,
            Err(why) => panic!("round {round}: {why:?}\n{document}\n{fun:?}\n{rewritten}"),
        };
        for _ in 0..VALUES {
            let value = if dice.one_in(4) { dice.value(0) } else { dice.object(0) };
            let mut converted = value.clone();
            let stopped = fun.run(&mut converted).is_err();
            let expected = !stopped && evaluate(&original, &converted).is_ok();
            let found = evaluate(&image, &value).is_ok();
            let right = if split { found == expected } else { !found || expected };
            assert!(
                right,
                "round {round}: expected {expected}, found {found}\nschema {document}\nfunction {fun:?}\nvalue {value}\nbecomes {converted} (stopped: {stopped})\nrewritten {rewritten}"
            );
            tally.compared += 1;
            tally.taken += usize::from(found);
            tally.stopped += usize::from(stopped);
        }
    }
    tally
}

#[test]
fn the_preimage_is_exact() {
    let tally = compare(true);
    // The comparison means something only where much was compared and much was taken.
    assert!(tally.compared > 30_000 && tally.taken > 6_000 && tally.stopped > 500, "{tally:?}");
    assert!(tally.stuck < tally.compared / 200, "{tally:?}");
}

#[test]
fn the_short_preimage_proves_nothing_more() {
    let tally = compare(false);
    assert!(tally.compared > 30_000 && tally.taken > 6_000, "{tally:?}");
}
