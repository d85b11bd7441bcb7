//! Open objects: as they are written, and as a writer uses them who sends declared members only.

use schema::{Answer, OpenObjects, Question, ReadOptions, Relation, Schema, relate};
use serde_json::{Value, json};

fn ask(old: &Value, new: &Value, open_objects: OpenObjects) -> Relation {
    let read = |schema: &Value| Schema::read(schema, &ReadOptions::default()).unwrap();
    relate(&read(old), &read(new), &Question { open_objects, ..Question::default() })
}

/// What is lost in either reading: none, or a witness.
#[track_caller]
fn check(old: Value, new: Value, as_written: Option<Value>, declared: Option<Value>) {
    for (open_objects, expected) in
        [(OpenObjects::AsWritten, as_written), (OpenObjects::DeclaredWriters, declared)]
    {
        match (ask(&old, &new, open_objects).lost, expected) {
            (Answer::Nothing, None) => {}
            (Answer::Some(found), Some(value)) => {
                assert_eq!(found[0].value, value, "{open_objects:?}")
            }
            (answer, _) => panic!("{open_objects:?}: {answer:?}"),
        }
    }
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn an_optional_member_added_to_an_open_object_loses_no_declared_call() {
    let old = object(json!({"a": {"type": "string"}}));
    let new = object(json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
    check(old, new, Some(json!({"b": null})), None);
}

#[test]
fn closing_an_object_loses_undeclared_members_only() {
    let old = object(json!({"a": true}));
    let mut new = old.clone();
    new["additionalProperties"] = json!(false);
    check(old, new, Some(json!({"extra": null})), None);
}

#[test]
fn a_declared_member_that_is_gone_from_a_closed_object_is_lost() {
    let old = object(json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
    let mut new = object(json!({"a": {"type": "string"}}));
    new["additionalProperties"] = json!(false);
    // As written, the undeclared member is no larger a witness, and the declared one is preferred.
    check(
        old,
        new,
        Some(json!({"b": null})).filter(|_| false).or(Some(json!({"b": 0}))),
        Some(json!({"b": 0})),
    );
}

#[test]
fn nested_objects_and_items_have_writers_too() {
    let inner =
        |properties: Value| object(json!({"list": {"type": "array", "items": object(properties)}}));
    let (old, new) = (
        inner(json!({"x": {"type": "string"}})),
        inner(json!({"x": {"type": "string"}, "y": {"type": "integer"}})),
    );
    check(old, new, Some(json!({"list": [{"y": null}]})), None);
}

#[test]
fn names_declared_in_branches_are_declared() {
    let old = json!({
        "type": "object",
        "anyOf": [{"properties": {"kind": {"const": "x"}, "x": true}}, {"properties": {"kind": {"const": "y"}, "y": true}}],
        "$defs": {"more": {"properties": {"z": true}}},
        "allOf": [{"$ref": "#/$defs/more"}],
    });
    let closed = |names: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| (name.to_string(), json!(true))).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    assert_eq!(
        ask(&old, &closed(&["kind", "x", "y", "z"]), OpenObjects::DeclaredWriters).lost,
        Answer::Nothing
    );
    let lost = ask(&old, &closed(&["kind", "x", "y"]), OpenObjects::DeclaredWriters).lost;
    assert!(
        matches!(&lost, Answer::Some(found) if found[0].value == json!({"z": null})),
        "{lost:?}"
    );
}

#[test]
fn an_object_that_declares_nothing_stays_a_free_map() {
    let lost = ask(
        &json!({"type": "object"}),
        &json!({"type": "object", "additionalProperties": {"type": "string"}}),
        OpenObjects::DeclaredWriters,
    )
    .lost;
    assert!(matches!(lost, Answer::Some(_)), "{lost:?}");
    // So does one that says what further members look like.
    let map = json!({"type": "object", "properties": {"a": true}, "additionalProperties": {"type": "integer"}});
    let lost =
        ask(&map, &object(json!({"b": {"type": "string"}})), OpenObjects::DeclaredWriters).lost;
    assert!(matches!(&lost, Answer::Some(found) if found[0].value == json!({"b": 0})), "{lost:?}");
}

#[test]
fn for_gained_the_new_side_is_the_writer() {
    let old = object(json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
    let new = object(json!({"a": {"type": "string"}}));
    assert!(matches!(ask(&old, &new, OpenObjects::AsWritten).gained, Answer::Some(_)));
    assert_eq!(ask(&old, &new, OpenObjects::DeclaredWriters).gained, Answer::Nothing);
}

#[test]
fn recursive_schemas_have_writers_at_every_level() {
    let tree = |more: Value| {
        let mut node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}});
        for (name, schema) in more.as_object().unwrap() {
            node["properties"][name] = schema.clone();
        }
        json!({"$ref": "#/$defs/node", "$defs": {"node": node}})
    };
    let (old, new) = (
        tree(json!({"v": {"type": "integer"}})),
        tree(json!({"v": {"type": "integer"}, "w": {"type": "string"}})),
    );
    assert_eq!(ask(&old, &new, OpenObjects::DeclaredWriters).lost, Answer::Nothing);
    assert!(matches!(ask(&old, &new, OpenObjects::AsWritten).lost, Answer::Some(_)));
}

#[test]
fn names_that_are_demanded_are_declared() {
    let old = json!({"type": "object", "properties": {"a": true}, "required": ["token"]});
    let mut new = old.clone();
    new["dependentRequired"] = json!({"a": ["b"]});
    let lost = ask(&old, &new, OpenObjects::DeclaredWriters).lost;
    assert!(
        matches!(&lost, Answer::Some(found) if found[0].value == json!({"a": null, "token": null})),
        "{lost:?}"
    );
    // Asked for by another member, or by a branch.
    let rest =
        json!({"type": "object", "properties": {"a": true}, "dependentRequired": {"a": ["b"]}});
    let closed =
        json!({"type": "object", "properties": {"a": true}, "additionalProperties": false});
    assert!(matches!(ask(&rest, &closed, OpenObjects::DeclaredWriters).lost, Answer::Some(_)));
    // A map that names what must be in it is still one.
    let map = json!({"type": "object", "required": ["a"]});
    let lost = ask(&map, &closed, OpenObjects::DeclaredWriters).lost;
    assert!(matches!(lost, Answer::Some(_)), "{lost:?}");
}
