//! References that come back, in every place where a schema may stand, and lists that are long: each ends with an
//! answer or a flaw, on a small stack and within counted work.

use contract::document::{Bundle, read};
use contract::{Contract, Diff, Options, Verdict, diff};
use serde_json::{Map, Value, json};

/// A stack as small as that of a thread that nobody sized.
const STACK: usize = 2 << 20;

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(test).unwrap();
    assert!(thread.join().is_ok(), "the thread that compares has ended well");
}

fn contract(schema: &Value, output: bool) -> Contract {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    tool[if output { "outputSchema" } else { "inputSchema" }] = schema.clone();
    let root = json!({ "tools": [tool] });
    read(Bundle { name: "t.json".to_owned(), root, ..Bundle::default() }).unwrap().contract
}

fn compared(old: &Value, new: &Value, output: bool) -> Diff {
    diff(&contract(old, output), &contract(new, output), &Options::default()).unwrap()
}

/// What is said of a schema that is not in order.
fn unreadable(found: &Diff) -> Vec<String> {
    let changes = found.entries.iter().flat_map(|entry| &entry.changes);
    changes.filter(|change| change.rule == "SF904").map(|change| change.sentence.clone()).collect()
}

/// Numbers that only look random.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    /// A schema that refers to one of a few definitions from wherever a schema may stand.
    fn schema(&mut self, depth: u64) -> Value {
        let to = self.below(4);
        if depth == 0 || self.below(3) == 0 {
            return json!({"$ref": format!("#/$defs/d{to}")});
        }
        let inner = self.schema(depth - 1);
        let other = self.schema(depth - 1);
        match self.below(16) {
            0 => json!({"anyOf": [inner, {"type": "string"}]}),
            1 => json!({"oneOf": [inner, other]}),
            2 => json!({"allOf": [inner, other]}),
            3 => json!({"not": inner}),
            4 => json!({"if": inner, "then": other, "else": {"type": "null"}}),
            5 => json!({"type": "object", "properties": {"a": inner, "b": other}}),
            6 => json!({"type": "array", "items": inner}),
            7 => json!({"prefixItems": [inner, other]}),
            8 => json!({"additionalProperties": inner}),
            9 => json!({"patternProperties": {"^x": inner}}),
            10 => json!({"dependentSchemas": {"a": inner}}),
            11 => json!({"contains": inner}),
            12 => json!({"propertyNames": inner}),
            13 => json!({"unevaluatedProperties": inner, "anyOf": [other]}),
            14 => json!({"anyOf": [inner, other, {"type": "object", "required": ["k"]}]}),
            _ => json!({"type": ["string", "null"], "allOf": [inner]}),
        }
    }

    fn document(&mut self) -> Value {
        let defs: Map<String, Value> = (0..4).map(|n| (format!("d{n}"), self.schema(2))).collect();
        json!({"type": "object", "properties": {"p": self.schema(2), "q": {"type": "string"}}, "$defs": defs})
    }
}

#[test]
fn references_that_come_back_end_with_an_answer() {
    on_a_small_stack(|| {
        let mut chance = Chance(7);
        let plain = json!({"type": "object", "properties": {"p": {"type": "string"}, "q": {"type": "string"}}});
        for round in 0..300 {
            let (one, two) = (chance.document(), chance.document());
            let output = round % 2 == 1;
            for (old, new) in [(&plain, &one), (&one, &plain), (&one, &two)] {
                let found = compared(old, new, output);
                assert!(!found.entries.is_empty() || old == new, "{old} {new}");
            }
        }
    });
}

#[test]
fn a_union_that_comes_back_to_itself_is_a_flaw() {
    let plain = json!({"type": "object", "properties": {"p": {"type": "string"}}});
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let x = json!({keyword: [{"$ref": "#/$defs/X"}, {"type": "string"}]});
        let circle = json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/X"}}, "$defs": {"X": x}});
        for output in [false, true] {
            for (old, new) in [(&plain, &circle), (&circle, &plain)] {
                let found = compared(old, new, output);
                let told = unreadable(&found);
                assert!(told.iter().any(|flaw| flaw.contains("comes back to itself")), "{told:?}");
                assert_eq!(found.verdict, Verdict::Undecided);
            }
        }
    }
}

#[test]
fn long_lists_of_values_are_compared() {
    let list = |from: u32, to: u32| -> Value {
        let values: Vec<String> = (from..to).map(|n| format!("value_{n}")).collect();
        json!({"type": "object", "properties": {"e": {"type": "string", "enum": values}}})
    };
    // Pair by pair, this were 400 million comparisons.
    let found = compared(&list(0, 20_000), &list(10_000, 30_000), false);
    assert_eq!(found.verdict, Verdict::Refuse);
}
