//! A reference is the same one however it is dressed, and whatever its target is called.

use contract::{Bundle, Contract, Diff, Options, Verdict, diff, document};
use serde_json::{Value, json};

fn api(version: &str, body: Value, answer: Value, schemas: Value) -> Contract {
    let content = |schema: Value| json!({"application/json": {"schema": schema}});
    let root = json!({
        "openapi": version,
        "info": {"title": "t", "version": "1"},
        "paths": {"/o": {"post": {
            "requestBody": {"content": content(body)},
            "responses": {"200": {"description": "done", "content": content(answer)}}
        }}},
        "components": {"schemas": schemas}
    });
    let bundle = Bundle { name: "t".into(), root, files: Default::default() };
    document::read(bundle).expect("the document is sound").contract
}

fn compared(old: &Contract, new: &Contract) -> Diff {
    diff(old, new, &Options::default()).expect("both are sound")
}

fn told(found: &Diff) -> Vec<String> {
    let changes = found.entries.iter().flat_map(|entry| &entry.changes);
    changes.map(|one| format!("{} {} {:?}", one.rule, one.sentence, one.witness)).collect()
}

/// A chain of schemas, each in the member `p` of the one before and in the list `q`.
fn chain(length: usize, prefix: &str) -> Value {
    let mut schemas = json!({});
    for at in 0..length {
        let next = match at + 1 == length {
            true => json!({"type": "string"}),
            false => json!({"$ref": format!("#/components/schemas/{prefix}{}", at + 1)}),
        };
        schemas[format!("{prefix}{at}")] = json!({
            "type": "object",
            "properties": {"p": next, "q": {"type": "array", "items": next}}
        });
    }
    schemas
}

fn to(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

#[test]
fn a_reference_alone_in_an_all_of_is_that_reference() {
    for length in 1..=8 {
        let schemas = chain(length, "S");
        let dressed = json!({"allOf": [to("S0")], "description": "It."});
        let old = api("3.0.3", to("S0"), to("S0"), schemas.clone());
        let new = api("3.0.3", dressed.clone(), dressed, schemas);
        for (one, other) in [(&old, &new), (&new, &old)] {
            let found = compared(one, other);
            assert_eq!(found.verdict, Verdict::Safe, "{length}: {:#?}", told(&found));
        }
    }
}

#[test]
fn a_dressed_reference_deep_in_a_chain_is_that_reference() {
    for (length, at) in (2..=7).flat_map(|length| (0..length - 1).map(move |at| (length, at))) {
        let plain = chain(length, "S");
        let mut dressed = plain.clone();
        let inner = to(&format!("S{}", at + 1));
        dressed[format!("S{at}")]["properties"]["p"] =
            json!({"allOf": [inner], "description": "The p."});
        let old = api("3.0.3", to("S0"), to("S0"), plain);
        let new = api("3.0.3", to("S0"), to("S0"), dressed);
        let found = compared(&old, &new);
        assert_eq!(found.verdict, Verdict::Safe, "{length} {at}: {:#?}", told(&found));
    }
}

#[test]
fn a_type_that_holds_itself_is_the_same_however_it_is_reached() {
    let schemas = json!({"Node": {"type": "object", "properties": {
        "v": {"type": "string"},
        "kids": {"type": "array", "items": to("Node")},
        "up": {"allOf": [to("Node")], "nullable": true}
    }}});
    let dressed = json!({"allOf": [to("Node")]});
    let written = schemas["Node"].clone();
    for other in [dressed, written] {
        let old = api("3.0.3", to("Node"), to("Node"), schemas.clone());
        let new = api("3.0.3", other.clone(), other, schemas.clone());
        let found = compared(&old, &new);
        assert_eq!(found.verdict, Verdict::Safe, "{:#?}", told(&found));
    }
}

#[test]
fn null_besides_is_the_only_change_that_is_told() {
    let plain = chain(6, "S");
    let mut nullable = plain.clone();
    nullable["S0"]["properties"]["p"] = json!({"allOf": [to("S1")], "nullable": true});
    let old = api("3.0.3", to("S0"), json!({}), plain.clone());
    let new = api("3.0.3", to("S0"), json!({}), nullable);
    let found = compared(&old, &new);
    assert_eq!(found.verdict, Verdict::Safe, "{:#?}", told(&found));
    assert!(told(&found).iter().all(|said| said.contains("`p` also takes null")));
    // Near: what is no longer taken is.
    let found = compared(&new, &old);
    assert!(found.verdict > Verdict::Safe, "{:#?}", told(&found));
}

#[test]
fn a_schema_under_another_name_is_the_same_schema() {
    let (was, is) = (chain(6, "S"), chain(6, "Zz"));
    let dress =
        |name: &str| json!({"type": "object", "properties": {"item": {"allOf": [to(name)]}}});
    let old = api("3.0.3", dress("S0"), dress("S0"), was.clone());
    let new = api("3.0.3", dress("Zz0"), dress("Zz0"), is.clone());
    let found = compared(&old, &new);
    assert_eq!(found.verdict, Verdict::Safe, "{:#?}", told(&found));

    let choice = |name: &str| json!({"oneOf": [to(name)]});
    let old = api("3.0.3", choice("S0"), choice("S0"), was);
    let new = api("3.0.3", choice("Zz0"), choice("Zz0"), is);
    let found = compared(&old, &new);
    assert_eq!(found.verdict, Verdict::Safe, "{:#?}", told(&found));
}

#[test]
fn what_changed_behind_a_dressed_reference_is_told_once_and_by_its_place() {
    let old = chain(6, "S");
    let mut new = old.clone();
    new["S5"]["properties"]["p"] = json!({"type": "integer"});
    let dressed = json!({"allOf": [to("S0")]});
    let old = api("3.0.3", to("S0"), json!({}), old);
    let new = api("3.0.3", dressed, json!({}), new);
    let found = compared(&old, &new);
    assert_eq!(found.verdict, Verdict::Refuse);
    let changes: Vec<_> = found.entries.iter().flat_map(|entry| &entry.changes).collect();
    assert_eq!(changes.len(), 1, "{:#?}", told(&found));
    assert_eq!(changes[0].path, "/components/schemas/S5/properties/p");
}

#[test]
fn no_finding_speaks_of_a_stand_in() {
    // Wider than what is written out on one side only.
    let mut schemas = json!({});
    for at in 0..400 {
        let next = to(&format!("S{}", (at + 1) % 400));
        schemas[format!("S{at}")] = json!({"type": "object", "properties": {"p": next}});
    }
    let choice = json!({"anyOf": [to("S0"), {"type": "integer"}, {"type": "boolean"}]});
    let old = api("3.0.3", to("S0"), to("S0"), schemas.clone());
    let new = api("3.0.3", choice.clone(), choice, schemas);
    for (one, other) in [(&old, &new), (&new, &old)] {
        for said in told(&compared(one, other)) {
            assert!(!said.contains("$defs") && !said.contains('\u{0}'), "{said}");
            assert!(!said.contains("`#/components"), "{said}");
        }
    }
}
