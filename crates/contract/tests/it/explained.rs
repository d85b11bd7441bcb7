//! What a finding of notation must not hide: texts that moved to other values, an encoding, values that fit on one
//! side only, and what was not walked.

use contract::document::{Bundle, read};
use contract::{Change, Options, Verdict, diff};
use serde_json::{Value, json};

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let side = |root: &Value| {
        let bundle = Bundle { name: "side".into(), root: root.clone(), ..Bundle::default() };
        read(bundle).expect("a contract").contract
    };
    let found = diff(&side(old), &side(new), &Options::default()).expect("two of a kind");
    found.entries.into_iter().flat_map(|entry| entry.changes).collect()
}

fn list(schema: &Value) -> Value {
    json!([{"name": "t", "inputSchema": schema, "outputSchema": {"type": "object"}}])
}

fn of_argument(old: &Value, new: &Value) -> Vec<(&'static str, Verdict)> {
    let list = |a: &Value| list(&json!({"type": "object", "properties": {"a": a}}));
    changes(&list(old), &list(new)).iter().map(|change| (change.rule, change.verdict)).collect()
}

#[test]
fn the_text_of_a_value_belongs_to_that_value() {
    let one_of = |texts: &[(i32, &str)]| -> Value {
        let all = texts.iter().map(|(value, text)| json!({"const": value, "description": text}));
        json!({"oneOf": all.collect::<Vec<_>>()})
    };
    let titled = |texts: &[(i32, &str)]| -> Value {
        let all = texts.iter().map(|(value, text)| json!({"const": value, "title": text}));
        json!({"anyOf": all.collect::<Vec<_>>()})
    };
    let named = |values: &[i32], names: &[&str]| json!({"enum": values, "enumNames": names});
    let refuse = vec![("SF160", Verdict::Refuse)];
    let plain = [(1, "low"), (2, "high")];
    for make in [&one_of as &dyn Fn(&[(i32, &str)]) -> Value, &titled] {
        assert_eq!(of_argument(&make(&plain), &make(&[(1, "high"), (2, "low")])), refuse);
        let reordered = of_argument(&make(&plain), &make(&[(2, "high"), (1, "low")]));
        assert_eq!(reordered, [("SF323", Verdict::Safe)]);
    }
    let (old, swapped) = (named(&[1, 2], &["low", "high"]), named(&[1, 2], &["high", "low"]));
    assert_eq!(of_argument(&old, &swapped), refuse);
    let reordered = of_argument(&old, &named(&[2, 1], &["high", "low"]));
    assert_eq!(reordered, [("SF323", Verdict::Safe)]);
    let retold = of_argument(&one_of(&plain), &one_of(&[(1, "low"), (2, "sent to everybody")]));
    assert!(retold.iter().any(|(_, verdict)| *verdict >= Verdict::NewApproval), "{retold:?}");
}

#[test]
fn the_same_text_in_another_encoding_is_another_value() {
    for (keyword, before, after) in [
        ("contentEncoding", "base64", "base16"),
        ("contentMediaType", "application/json", "application/xml"),
    ] {
        let schema = |word: &str| json!({"type": "string", keyword: word});
        let found = of_argument(&schema(before), &schema(after));
        assert_eq!(found, [("SF143", Verdict::Refuse)], "{keyword}");
        let stated = of_argument(&json!({"type": "string"}), &schema(after));
        assert_eq!(stated, [("SF143", Verdict::NewApproval)], "{keyword}");
    }
}

#[test]
fn references_by_identifier_are_followed() {
    let schema = |reference: &str| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "http://e/", "type": "object",
            "properties": {"a": {"$ref": reference}},
            "$defs": {
                "T": {"$id": "tree", "type": "object", "properties": {"c": {"$ref": "#/$defs/k"}},
                      "$defs": {"k": {"type": "string"}}},
                "U": {"$id": "strict", "$ref": "tree", "unevaluatedProperties": false},
                "M": {"$id": "few", "$ref": "tree", "maxProperties": 0}
            }
        })
    };
    let rules = |old: &Value, new: &Value| -> Vec<&str> {
        changes(old, new).iter().map(|change| change.rule).collect()
    };
    let closed = rules(&list(&schema("tree")), &list(&schema("strict")));
    assert!(closed.contains(&"SF144"), "{closed:?}");
    let few = rules(&list(&schema("tree")), &list(&schema("few")));
    assert!(few.contains(&"SF140"), "{few:?}");
    // As schemas by themselves, where what is merely not forbidden may be sent.
    let strict = rules(&schema("tree"), &schema("strict"));
    assert!(!strict.contains(&"SF323"), "{strict:?}");
}

#[test]
fn what_fits_on_one_side_only_is_no_notation() {
    // The names of two schemas changed places: no word of what is referred to moved.
    let schema = |one: &str, two: &str| {
        json!({
            "$id": "http://e/", "type": "object",
            "properties": {"a": {"$ref": "http://e/x"}},
            "$defs": {"A": {"$id": one, "type": "string"}, "B": {"$id": two, "type": "integer"}}
        })
    };
    let found = changes(&list(&schema("x", "y")), &list(&schema("y", "x")));
    assert!(found.iter().any(|change| change.verdict == Verdict::Refuse), "{found:#?}");
}

#[test]
fn what_is_not_walked_is_told() {
    let chain = |leaf: Value| {
        let mut defs = json!({"D60": leaf});
        for at in 0..60 {
            let next = json!({"$ref": format!("#/$defs/D{}", at + 1)});
            defs[format!("D{at}")] = json!({"type": "object", "properties": {"x": next}});
        }
        list(&json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/D0"}}, "$defs": defs}))
    };
    let (old, new) = (json!({"default": 1}), json!({"default": 2}));
    let found = changes(&chain(old), &chain(new));
    assert!(found.iter().any(|change| change.verdict >= Verdict::Undecided), "{found:#?}");
}
