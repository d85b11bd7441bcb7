//! Dialects, references and documents of several files.

use schema::{Answer, Dialect, Documents, Question, ReadOptions, Schema, evaluate, relate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn read_as(schema: &Value, dialect: Dialect) -> Schema {
    Schema::read(schema, &ReadOptions { dialect }).unwrap()
}

/// Two schemas, each in its dialect, take the same values.
#[track_caller]
fn same(a: &Schema, b: &Schema) {
    let relation = relate(a, b, &Question::default());
    assert_eq!(
        (&relation.lost, &relation.gained),
        (&Answer::Nothing, &Answer::Nothing),
        "{a:?} {b:?}"
    );
}

/// A schema of an older dialect says the same as one of 2020-12, and the validator agrees on a value.
#[track_caller]
fn check(dialect: Dialect, old: Value, modern: Value, yes: Value, no: Value) {
    let (a, b) = (read_as(&old, dialect), read_as(&modern, Dialect::Draft202012));
    same(&a, &b);
    for schema in [&a, &b] {
        evaluate(schema, &yes).unwrap();
        assert!(
            evaluate(schema, &no).is_err_and(|why| why.keyword != "undecided"),
            "{schema:?} takes {no}"
        );
    }
}

#[test]
fn older_dialects_are_read_as_what_they_mean() {
    check(
        Dialect::Draft07,
        json!({"items": [{"type": "string"}], "additionalItems": {"type": "integer"}}),
        json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
        json!(["a", 1]),
        json!(["a", "b"]),
    );
    check(
        Dialect::Draft07,
        json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
        json!({"a": 1, "b": 1}),
        json!({"c": 1}),
    );
    check(
        Dialect::Draft07,
        json!({"definitions": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/definitions/s", "maxLength": 1}}}),
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"a": "longer"}),
        json!({"a": 1}),
    );
    check(
        Dialect::OpenApi30,
        json!({"type": "integer", "nullable": true, "minimum": 0, "exclusiveMinimum": true}),
        json!({"type": ["integer", "null"], "exclusiveMinimum": 0}),
        json!(null),
        json!(0),
    );
}

#[test]
fn the_dialect_of_the_document_wins_over_the_option() {
    let old = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]});
    same(
        &read_as(&old, Dialect::Draft202012),
        &read_as(&json!({"prefixItems": [{"type": "string"}]}), Dialect::Draft202012),
    );
    let four = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "number", "maximum": 3, "exclusiveMaximum": true});
    same(
        &read_as(&four, Dialect::Draft202012),
        &read_as(&json!({"type": "number", "exclusiveMaximum": 3}), Dialect::Draft202012),
    );
}

#[test]
fn notation_is_no_difference() {
    for (a, b) in [
        (
            json!({"type": "integer", "exclusiveMaximum": 1_000_000}),
            json!({"type": "integer", "maximum": 999_999}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"type": ["null", "string"]}),
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": true}),
            json!({"title": "x", "additionalProperties": {}}),
        ),
        (json!({"const": "a"}), json!({"enum": ["a"]})),
        (json!({"const": [1, {"a": 2.0}]}), json!({"enum": [[1.0, {"a": 2}]]})),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 3}]}), json!({"minimum": 1, "maximum": 3})),
        (json!({"required": ["a", "b"]}), json!({"required": ["b", "a"]})),
        (json!({"$defs": {"unused": {"type": "string"}}}), json!(true)),
    ] {
        same(&read_as(&a, Dialect::Draft202012), &read_as(&b, Dialect::Draft202012));
    }
}

#[test]
fn identifiers_and_anchors_lead_inside_the_document() {
    let document = json!({
        "$id": "https://ex.test/root.json",
        "properties": {"a": {"$ref": "item.json"}, "b": {"$ref": "#named"}, "c": {"$ref": "item.json#/$defs/deep"}},
        "$defs": {
            "item": {"$id": "item.json", "type": "string", "$defs": {"deep": {"type": "boolean"}}},
            "named": {"$anchor": "named", "type": "integer"},
        },
    });
    same(
        &read_as(&document, Dialect::Draft202012),
        &read_as(
            &json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "boolean"}}}),
            Dialect::Draft202012,
        ),
    );
}

#[test]
fn a_schema_inside_a_larger_document_is_read_where_it_stands() {
    let document = Arc::new(json!({
        "openapi": "3.0.3",
        "components": {"schemas": {
            "Id": {"type": "string", "nullable": true},
            "Node": {"type": "object", "required": ["id"], "properties": {"id": {"$ref": "#/components/schemas/Id"}, "next": {"$ref": "#/components/schemas/Node"}}},
        }},
    }));
    let options = ReadOptions { dialect: Dialect::OpenApi30 };
    let node = Schema::read_at(document.clone(), "/components/schemas/Node", &options).unwrap();
    evaluate(&node, &json!({"id": null, "next": {"id": "x"}})).unwrap();
    let rejection = evaluate(&node, &json!({"id": "x", "next": {}})).unwrap_err();
    assert_eq!(
        (rejection.instance_pointer.as_str(), rejection.schema_pointer.as_str()),
        ("/next", "/components/schemas/Node/required")
    );
    let stricter =
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    let Answer::Some(witnesses) =
        relate(&node, &read_as(&stricter, Dialect::Draft202012), &Question::default()).lost
    else {
        panic!()
    };
    assert_eq!(witnesses[0].value, json!({"id": null}));
    assert_eq!(witnesses[0].accepted_by, "/components/schemas/Id");
    let problems = Schema::read_at(document, "/components/schemas/None", &options).unwrap_err();
    assert_eq!(problems[0].pointer, "/components/schemas/None");
}

#[test]
fn references_reach_other_files_in_memory() {
    let files = BTreeMap::from([
        (
            "common/types.yaml".to_string(),
            Arc::new(
                json!({"Id": {"type": "string"}, "Pair": {"prefixItems": [{"$ref": "#/Id"}, {"$ref": "../more.yaml#/Flag"}]}}),
            ),
        ),
        (
            "more.yaml".to_string(),
            Arc::new(json!({"Flag": {"type": "boolean"}, "bad": {"pattern": "("}})),
        ),
    ]);
    let root = Arc::new(
        json!({"pair": {"$ref": "common/types.yaml#/Pair"}, "broken": {"$ref": "./more.yaml#/bad"}}),
    );
    let documents = Arc::new(Documents::with_files(root, files));
    let pair = Schema::read_in(&documents, "", "/pair", &ReadOptions::default()).unwrap();
    same(
        &pair,
        &read_as(
            &json!({"prefixItems": [{"type": "string"}, {"type": "boolean"}]}),
            Dialect::Draft202012,
        ),
    );
    evaluate(&pair, &json!(["a", true])).unwrap();
    assert_eq!(
        evaluate(&pair, &json!(["a", 1])).unwrap_err().schema_pointer,
        "more.yaml#/Flag/type"
    );
    let problems = Schema::read_in(&documents, "", "/broken", &ReadOptions::default()).unwrap_err();
    assert_eq!(problems[0].pointer, "more.yaml#/bad/pattern");
}

#[test]
fn dynamic_references_follow_the_outermost_resource() {
    let strict = json!({
        "$id": "https://ex.test/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": false,
        "$defs": {"tree": {"$id": "https://ex.test/tree", "$dynamicAnchor": "node", "type": "object",
            "properties": {"data": true, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}}}},
    });
    let schema = read_as(&strict, Dialect::Draft202012);
    let closed = json!({"$defs": {"n": {"type": "object", "additionalProperties": false,
        "properties": {"data": true, "children": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}}, "$ref": "#/$defs/n"});
    same(&schema, &read_as(&closed, Dialect::Draft202012));
}
