//! What branches look at, and members that go together: each kind once, with a pair that is equal and one that is not.

use schema::{Answer, Question, ReadOptions, Relation, Schema, relate};
use serde_json::{Value, json};

fn ask(old: &Value, new: &Value) -> Relation {
    let read = |schema: &Value| Schema::read(schema, &ReadOptions::default()).unwrap();
    relate(&read(old), &read(new), &Question::default())
}

#[track_caller]
fn equal(one: Value, two: Value) {
    let relation = ask(&one, &two);
    assert_eq!((&relation.lost, &relation.gained), (&Answer::Nothing, &Answer::Nothing));
}

#[track_caller]
fn lost(old: Value, new: Value, value: Value) {
    match ask(&old, &new).lost {
        Answer::Some(found) => assert_eq!(found[0].value, value),
        answer => panic!("{answer:?}"),
    }
}

/// Something is lost, whatever is shown for it.
#[track_caller]
fn breaks(old: &Value, new: &Value) {
    let answer = ask(old, new).lost;
    assert!(matches!(answer, Answer::Some(_)), "{answer:?}");
}

#[test]
fn a_schema_that_takes_everything_may_still_look_at_items() {
    // Both branches take every list; only one of them looks at the items.
    let looks = json!({"anyOf": [{"items": {"type": "string"}}, true], "unevaluatedItems": {"type": "boolean"}});
    lost(json!({"items": true}), looks.clone(), json!([null]));
    lost(json!({"type": "array", "items": true}), looks, json!([null]));
    breaks(
        &json!({"properties": {"a": true}}),
        &json!({"anyOf": [{"properties": {"b": false}}, true], "unevaluatedProperties": false}),
    );
}

#[test]
fn what_contains_finds_is_looked_at() {
    let found = json!({"contains": {"type": "string"}, "unevaluatedItems": false});
    equal(
        json!({"allOf": [{"type": "array"}, found]}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
    );
    equal(
        json!({"type": "array", "contains": {"minimum": 5}, "minContains": 0, "unevaluatedItems": {"type": "null"}}),
        json!({"type": "array", "items": {"anyOf": [{"minimum": 5}, {"type": "null"}]}}),
    );
    let either = json!({"type": "array", "prefixItems": [true],
        "anyOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}], "unevaluatedItems": false});
    lost(json!({"type": "array", "items": {"enum": [1, 2, 3]}}), either.clone(), json!([]));
    breaks(&either, &json!({"maxItems": 1}));
    // 2019-09 gives what it finds no mark, but a validator does: nothing is claimed.
    let older = json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "array",
        "contains": {"type": "string"}, "unevaluatedItems": false});
    assert!(!matches!(ask(&older, &json!({"items": {"type": "string"}})).lost, Answer::Some(_)));
}

#[test]
fn of_one_of_just_one_branch_is_looked_at() {
    let branches: Vec<Value> = (0..30)
        .map(|at| json!({"properties": {format!("k{at}"): {"type": "integer"}}, "required": [format!("k{at}")]}))
        .collect();
    let tagged = json!({"type": "object", "oneOf": branches, "unevaluatedProperties": false});
    lost(tagged.clone(), json!({"not": {"required": ["k7"]}}), json!({"k7": 0}));
    assert_eq!(ask(&tagged, &json!({"maxProperties": 1})).lost, Answer::Nothing);
}

#[test]
fn dependencies_are_asserted_in_every_draft() {
    equal(
        json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
    );
    let found = ask(&json!({"type": "object"}), &json!({"dependencies": {"a": ["b"]}})).lost;
    let Answer::Some(found) = found else { panic!("{found:?}") };
    assert_eq!(found[0].value, json!({"a": null}));
    assert_eq!(found[0].rejected_by, "/dependencies");
}

#[test]
fn members_that_ask_for_others_are_added_together() {
    let of = |most: u64, least: u64| {
        json!({"type": "object", "additionalProperties": false, "properties": {"a": true, "b": true, "c": true},
        "dependentRequired": {"a": ["b"], "b": ["a"]}, "minProperties": least, "maxProperties": most})
    };
    equal(
        of(1, 1),
        json!({"type": "object", "additionalProperties": false, "properties": {"c": true}, "required": ["c"]}),
    );
    lost(of(2, 2), json!({"required": ["c"]}), json!({"a": null, "b": null}));
    let mut closed = of(1, 1);
    closed["properties"]["c"] = json!(false);
    assert_eq!(ask(&closed, &json!(false)).lost, Answer::Nothing);
}

#[test]
fn bounds_of_a_witness_are_stepped() {
    let old = json!({"type": "integer", "if": {"exclusiveMaximum": 0}, "then": {"minimum": -10}});
    lost(old, json!({"minimum": 3}), json!(0));
    lost(json!({"type": "string", "minLength": 4}), json!({"minLength": 9}), json!("xxxx"));
}
