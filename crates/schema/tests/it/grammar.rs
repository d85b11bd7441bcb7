//! Random small schemas over every keyword, pairs of them that differ a little, and a pool of values.

use crate::generate::Dice;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "ab", "c"];
// No look-ahead: the other validator has none.
const PATTERNS: [&str; 12] = [
    "^a", "b$", "^[ab]+$", "^a{1,2}$", "a|c", "^[^b]*$", "^(a|bb)?c*$", "^$", "x", "^\\w{1,2}$",
    "^.?$", "é|\\d",
];

/// A random schema. `depth` bounds how far it nests.
pub fn schema(dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 || dice.one_in(12) {
        return match dice.roll(8) {
            0 => json!(false),
            1 => json!({}),
            2 => json!({"const": dice.pick(&values()).clone()}),
            3 => {
                let to = *dice.pick(&["#/$defs/d", "#/$defs/e", "#anchored"]);
                json!({*dice.pick(&["$ref", "$ref", "$dynamicRef"]): to})
            }
            _ => {
                json!({"type": *dice.pick(&["null", "boolean", "integer", "number", "string", "array", "object"])})
            }
        };
    }
    let mut out = Map::new();
    for _ in 0..1 + dice.roll(3) {
        keyword(&mut out, dice, depth - 1);
    }
    Value::Object(out)
}

/// A random document: a schema and two definitions it may refer to, one of them by an anchor.
pub fn document(dice: &mut Dice) -> Value {
    let mut root = match schema(dice, 3) {
        Value::Object(root) => root,
        other => Map::from_iter([("allOf".to_string(), json!([other]))]),
    };
    let mut anchored = match schema(dice, 1) {
        Value::Object(members) => members,
        other => Map::from_iter([("allOf".to_string(), json!([other]))]),
    };
    let dynamic = if dice.one_in(2) { "$dynamicAnchor" } else { "$anchor" };
    anchored.insert(dynamic.into(), json!("anchored"));
    root.insert("$defs".into(), json!({"d": schema(dice, 2), "e": anchored}));
    Value::Object(root)
}

fn keyword(out: &mut Map<String, Value>, dice: &mut Dice, depth: usize) {
    let count = json!(dice.roll(4));
    let number = json!(dice.roll(9) as i64 - 3);
    let name = *dice.pick(&NAMES);
    let list = |dice: &mut Dice| {
        Value::Array((0..1 + dice.roll(3)).map(|_| schema(dice, depth)).collect())
    };
    let (key, value) = match dice.roll(38) {
        0 | 1 => (
            "type",
            json!([
                *dice.pick(&["null", "boolean", "integer", "string"]),
                *dice.pick(&["number", "array", "object"])
            ]),
        ),
        2 => ("type", json!("object")),
        3 => ("type", json!("array")),
        4 => (
            "enum",
            Value::Array((0..1 + dice.roll(3)).map(|_| dice.pick(&values()).clone()).collect()),
        ),
        5 => ("const", dice.pick(&values()).clone()),
        6 => ("minimum", number),
        7 => ("maximum", number),
        8 => ("exclusiveMinimum", number),
        9 => ("exclusiveMaximum", number),
        10 => (
            "multipleOf",
            dice.pick(&[json!(1), json!(2), json!(3), json!(0.5), json!(1.5), json!(0.25)]).clone(),
        ),
        11 => ("minLength", count),
        12 => ("maxLength", count),
        13 | 14 => ("pattern", json!(*dice.pick(&PATTERNS))),
        15 => ("minItems", count),
        16 => ("maxItems", count),
        17 => ("uniqueItems", json!(true)),
        18 => ("items", schema(dice, depth)),
        19 => ("prefixItems", list(dice)),
        20 => {
            out.insert("contains".into(), schema(dice, depth));
            if dice.one_in(2) {
                out.insert("minContains".into(), count.clone());
            }
            if dice.one_in(3) {
                return;
            }
            ("maxContains", json!(1 + dice.roll(3)))
        }
        21..=23 => {
            let mut named = Map::new();
            for _ in 0..1 + dice.roll(2) {
                named.insert((*dice.pick(&NAMES)).into(), schema(dice, depth));
            }
            ("properties", Value::Object(named))
        }
        24 => ("patternProperties", json!({*dice.pick(&PATTERNS): schema(dice, depth)})),
        25 => (
            "additionalProperties",
            if dice.one_in(2) { json!(false) } else { schema(dice, depth) },
        ),
        26 => ("propertyNames", schema(dice, depth.min(1))),
        27 if name != "c" && dice.one_in(3) => ("required", json!([name, "c"])),
        27 => ("required", json!([name])),
        28 => {
            let asks = json!({name: [*dice.pick(&NAMES)], *dice.pick(&NAMES): [name]});
            ("dependentRequired", asks)
        }
        29 => ("dependentSchemas", json!({name: schema(dice, depth)})),
        30 => ("minProperties", count),
        31 => ("maxProperties", count),
        32 => ("allOf", list(dice)),
        33 => ("anyOf", list(dice)),
        34 => ("oneOf", list(dice)),
        35 => ("not", schema(dice, depth)),
        36 => {
            out.insert("if".into(), schema(dice, depth));
            if !dice.one_in(4) {
                out.insert("then".into(), schema(dice, depth));
            }
            if dice.one_in(4) {
                return;
            }
            ("else", schema(dice, depth))
        }
        _ => {
            let key = if dice.one_in(2) { "unevaluatedProperties" } else { "unevaluatedItems" };
            (key, if dice.one_in(2) { json!(false) } else { schema(dice, depth) })
        }
    };
    out.insert(key.into(), value);
}

/// A document that differs a little from another.
pub fn neighbour(document: &Value, dice: &mut Dice) -> Value {
    let mut out = document.clone();
    for _ in 0..1 + dice.roll(2) {
        let pointers = places(&out);
        let at = dice.pick(&pointers).clone();
        let Some(Value::Object(members)) = out.pointer_mut(&at) else { continue };
        let names: Vec<String> = members.keys().filter(|name| *name != "$defs").cloned().collect();
        if names.is_empty() || dice.one_in(2) {
            keyword(members, dice, 1);
        } else {
            let name = dice.pick(&names).clone();
            members.shift_remove(&name);
        }
    }
    out
}

/// Pointers to the schema objects of a document.
pub fn places(document: &Value) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut at = 0;
    while at < out.len() {
        let here = out[at].clone();
        at += 1;
        let Some(Value::Object(members)) = document.pointer(&here) else { continue };
        for (name, member) in members {
            match (name.as_str(), member) {
                (
                    "items"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "additionalProperties"
                    | "propertyNames"
                    | "contains"
                    | "unevaluatedProperties"
                    | "unevaluatedItems",
                    Value::Object(_),
                ) => {
                    out.push(format!("{here}/{name}"));
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                    out.extend(
                        (0..list.len())
                            .filter(|&at| list[at].is_object())
                            .map(|at| format!("{here}/{name}/{at}")),
                    );
                }
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas",
                    Value::Object(map),
                ) => {
                    out.extend(map.iter().filter(|(_, member)| member.is_object()).map(
                        |(key, _)| {
                            format!("{here}/{name}/{}", key.replace('~', "~0").replace('/', "~1"))
                        },
                    ));
                }
                _ => {}
            }
        }
    }
    out
}

/// Small values of every kind, chosen to sit on both sides of the keywords above.
pub fn values() -> Vec<Value> {
    let mut out: Vec<Value> = vec![json!(null), json!(true), json!(false)];
    out.extend([-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6].map(|n| json!(n)));
    out.extend([0.5, 1.5, -0.5, 2.25, 4.5].map(|n| json!(n)));
    out.extend(["", "a", "b", "c", "ab", "ba", "aa", "x", "abc", "bbb"].map(|text| json!(text)));
    out.extend([
        json!([]),
        json!([1]),
        json!([1, 1]),
        json!([1, 2]),
        json!(["a"]),
        json!([null, "a", 1]),
        json!([1, 2, 3]),
        json!({}),
        json!({"a": 1}),
        json!({"b": null}),
        json!({"a": "a", "b": 1}),
        json!({"c": []}),
        json!({"ab": {"a": 1}}),
        json!({"x": 0}),
        json!({"a": null, "ab": 2, "c": "x"}),
    ]);
    out
}
