//! `discriminator`: what says which alternative is meant, in each way in which it is written.

use crate::openapi::documents;
use contract::{Options, Verdict, diff};
use serde_json::{Value, json};

/// A document that takes and answers one of two things; `method` is the schema that chooses.
fn document(method: &Value, schemas: &Value) -> Value {
    let mut schemas = schemas.clone();
    schemas["Method"] = method.clone();
    let body = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Method"}}});
    json!({
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {
            "/in": {"post": {
                "requestBody": {"required": true, "content": body},
                "responses": {"204": {"description": "done"}}
            }},
            "/out": {"get": {"responses": {"200": {"description": "it", "content": body}}}}
        },
        "components": {"schemas": schemas}
    })
}

/// The verdicts of what is sent and of what is answered.
fn verdicts(old: &Value, new: &Value) -> (Verdict, Verdict) {
    let (old, new) = (
        documents::document("old.json", old.clone()),
        documents::document("new.json", new.clone()),
    );
    let found = diff(&old, &new, &Options::default()).expect("both documents are sound");
    let of = |path: &str| {
        let named = |entry: &&contract::Entry| entry.subject.name().contains(path);
        found.entries.iter().find(named).map_or(Verdict::Safe, |entry| entry.verdict)
    };
    (of("/in"), of("/out"))
}

fn schemas() -> Value {
    let one = |member: &str| {
        json!({"type": "object", "required": ["kind"],
               "properties": {"kind": {"type": "string"}, "sort": {"type": "string"}, member: {"type": "string"}}})
    };
    json!({"Card": one("number"), "Transfer": one("iban")})
}

fn choice(discriminator: Value) -> Value {
    json!({
        "oneOf": [{"$ref": "#/components/schemas/Card"}, {"$ref": "#/components/schemas/Transfer"}],
        "discriminator": discriminator
    })
}

#[test]
fn what_a_tag_stands_for_is_contract() {
    use Verdict::{NewApproval, Refuse, Safe};
    let stated = |mapping: Value| json!({"propertyName": "kind", "mapping": mapping});
    let base = stated(json!({"a": "Card", "b": "Transfer"}));
    for (case, after, sent, answered) in [
        (
            "another field",
            json!({"propertyName": "sort", "mapping": {"a": "Card", "b": "Transfer"}}),
            Refuse,
            Refuse,
        ),
        ("swapped", stated(json!({"a": "Transfer", "b": "Card"})), Refuse, Refuse),
        ("a tag gone", stated(json!({"a": "Card"})), Refuse, NewApproval),
        (
            "a tag come",
            stated(json!({"a": "Card", "b": "Transfer", "c": "Card"})),
            Safe,
            NewApproval,
        ),
        (
            "by reference",
            stated(json!({"b": "#/components/schemas/Transfer", "a": "#/components/schemas/Card"})),
            Safe,
            Safe,
        ),
    ] {
        let found = verdicts(
            &document(&choice(base.clone()), &schemas()),
            &document(&choice(after), &schemas()),
        );
        assert_eq!(found, (sent, answered), "{case}");
    }
}

#[test]
fn an_implicit_mapping_written_out_is_notation() {
    let implicit = json!({"propertyName": "kind"});
    let named =
        json!({"propertyName": "kind", "mapping": {"Card": "Card", "Transfer": "Transfer"}});
    let old = document(&choice(implicit.clone()), &schemas());
    assert_eq!(
        verdicts(&old, &document(&choice(named), &schemas())),
        (Verdict::Safe, Verdict::Safe)
    );
    // The field of each alternative tells its tag: the mapping adds nothing.
    let mut telling = schemas();
    telling["Card"]["properties"]["kind"]["enum"] = json!(["card"]);
    telling["Transfer"]["properties"]["kind"]["enum"] = json!(["transfer"]);
    let mapped =
        json!({"propertyName": "kind", "mapping": {"card": "Card", "transfer": "Transfer"}});
    assert_eq!(
        verdicts(&document(&choice(implicit), &telling), &document(&choice(mapped), &telling)),
        (Verdict::Safe, Verdict::Safe)
    );
}

#[test]
fn what_builds_upon_a_schema_is_its_alternatives() {
    let method = |discriminator: Value| {
        json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}},
               "discriminator": discriminator})
    };
    let upon = |member: &str| {
        json!({"allOf": [{"$ref": "#/components/schemas/Method"},
                         {"properties": {member: {"type": "string"}}}]})
    };
    let both = json!({"Card": upon("number"), "Transfer": upon("iban")});
    let implicit = method(json!({"propertyName": "kind"}));
    let old = document(&implicit, &both);
    let same = method(
        json!({"propertyName": "kind", "mapping": {"Transfer": "#/components/schemas/Transfer"}}),
    );
    assert_eq!(verdicts(&old, &document(&same, &both)), (Verdict::Safe, Verdict::Safe));
    // One of them is gone, and its tag with it.
    let less = json!({"Card": upon("number")});
    assert_eq!(verdicts(&old, &document(&implicit, &less)).0, Verdict::Refuse);
    assert_eq!(verdicts(&document(&implicit, &less), &old), (Verdict::Safe, Verdict::NewApproval));
    let swapped = method(
        json!({"propertyName": "kind", "mapping": {"Transfer": "Card", "Card": "Transfer"}}),
    );
    assert_eq!(verdicts(&old, &document(&swapped, &both)), (Verdict::Refuse, Verdict::Refuse));
}

#[test]
fn swagger_2_names_the_field_alone() {
    let document = |field: &str| {
        json!({
            "swagger": "2.0",
            "info": {"title": "t", "version": "1"},
            "paths": {"/in": {"post": {
                "parameters": [{"name": "body", "in": "body", "required": true,
                                "schema": {"$ref": "#/definitions/Method"}}],
                "responses": {"204": {"description": "done"}}
            }}},
            "definitions": {
                "Method": {"type": "object", "discriminator": field,
                           "properties": {"kind": {"type": "string"}, "sort": {"type": "string"}}},
                "Card": {"allOf": [{"$ref": "#/definitions/Method"}, {"type": "object"}]}
            }
        })
    };
    assert_eq!(verdicts(&document("kind"), &document("sort")).0, Verdict::Refuse);
    assert_eq!(verdicts(&document("kind"), &document("kind")).0, Verdict::Safe);
}

#[test]
fn a_tag_that_leads_nowhere_stops_no_comparison() {
    let stated = |to: &str| json!({"propertyName": "kind", "mapping": {"a": "Card", "b": to}});
    let old = document(&choice(stated("Gone")), &schemas());
    assert_eq!(verdicts(&old, &old), (Verdict::Safe, Verdict::Safe));
    let new = document(&choice(stated("https://example.com/elsewhere.json")), &schemas());
    assert_eq!(verdicts(&old, &new), (Verdict::Refuse, Verdict::Refuse));
}
