//! What a witness says: one per break site, minimal, of plain values, with both places named.

use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, Witness, evaluate, relate};
use serde_json::{Value, json};

fn lost(old: &Value, new: &Value) -> Vec<Witness> {
    let read = |schema: &Value| Schema::read(schema, &ReadOptions::default()).unwrap();
    let (old, new) = (read(old), read(new));
    let question = Question { open_objects: OpenObjects::DeclaredWriters, ..Question::default() };
    let Answer::Some(witnesses) = relate(&old, &new, &question).lost else {
        panic!("something is lost")
    };
    for witness in &witnesses {
        evaluate(&old, &witness.value).unwrap();
        let rejection = evaluate(&new, &witness.value).unwrap_err();
        assert_ne!(rejection.keyword, "undecided");
    }
    witnesses
}

/// (value, place in the value, keyword's place in the new schema) of every witness.
fn told(witnesses: &[Witness]) -> Vec<(Value, &str, &str)> {
    witnesses
        .iter()
        .map(|w| (w.value.clone(), w.instance_pointer.as_str(), w.rejected_by.as_str()))
        .collect()
}

#[test]
fn every_break_site_has_its_own_witness() {
    let old = json!({"type": "object", "properties": {
        "id": {"type": "string"}, "count": {"type": "integer"}, "mode": {"enum": ["fast", "slow"]}, "note": {"type": "string"},
    }});
    let new = json!({"type": "object", "required": ["id"], "properties": {
        "id": {"type": "string"}, "count": {"type": "string"}, "mode": {"enum": ["fast"]}, "note": {"type": "string", "maxLength": 3},
    }});
    let witnesses = lost(&old, &new);
    // The first is free to fail anywhere; each further one keeps to its own site and nothing more.
    assert_eq!(
        told(&witnesses),
        [
            (json!({}), "", "/required"),
            (json!({"count": 0}), "/count", "/properties/count/type"),
            (json!({"mode": "slow"}), "/mode", "/properties/mode/enum"),
            (json!({"note": "xxxx"}), "/note", "/properties/note/maxLength"),
        ]
    );
    assert_eq!(witnesses[1].accepted_by, "/properties/count");
    assert_eq!(witnesses[1].keyword, "type");
}

#[test]
fn a_witness_is_found_deep_inside() {
    let list = |values: &[&str]| {
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 1, "items": {
        "type": "object", "required": ["c"], "properties": {"c": {"enum": values}}}}}})
    };
    let witnesses = lost(&list(&["p", "q"]), &list(&["p"]));
    assert_eq!(
        told(&witnesses),
        [(json!({"a": [{"c": "q"}]}), "/a/0/c", "/properties/a/items/properties/c/enum")]
    );
    assert_eq!(witnesses[0].accepted_by, "/properties/a/items/properties/c");
}

#[test]
fn places_are_those_of_the_document_behind_a_reference() {
    let of = |kind: &str| json!({"$defs": {"id": {"type": kind}}, "properties": {"a": {"$ref": "#/$defs/id"}}});
    let witnesses = lost(&of("integer"), &of("string"));
    assert_eq!(told(&witnesses), [(json!({"a": 0}), "/a", "/$defs/id/type")]);
}

#[test]
fn nullable_unions_name_the_branch_that_matters() {
    let of = |most: u64| json!({"properties": {"a": {"anyOf": [{"type": "string", "maxLength": most}, {"type": "null"}]}}});
    let witnesses = lost(&of(2), &of(1));
    assert_eq!(told(&witnesses), [(json!({"a": "xx"}), "/a", "/properties/a/anyOf/0/maxLength")]);
}

#[test]
fn examples_and_defaults_make_a_witness_look_real() {
    let old = json!({"properties": {"region": {"type": "string", "examples": ["eu-west-1"]}}});
    let witnesses =
        lost(&old, &json!({"properties": {"region": {"type": "string", "maxLength": 3}}}));
    assert_eq!(witnesses[0].value, json!({"region": "eu-west-1"}));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let old = json!({"properties": {"a": {"type": ["string", "integer"]}, "b": {"pattern": "^[a-z]{2}"}}});
    let new = json!({"properties": {"a": {"type": "integer"}, "b": {"pattern": "^[a-y]{2}"}}, "required": ["b"]});
    let once = lost(&old, &new);
    for _ in 0..3 {
        assert_eq!(lost(&old, &new), once);
    }
}
