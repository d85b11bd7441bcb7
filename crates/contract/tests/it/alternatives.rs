//! Alternatives that no tag tells apart: each is compared with its like, and what cancels out is not told.

use contract::{Bundle, Contract, Diff, Options, Verdict, diff, document};
use serde_json::{Value, json};

fn contract(root: Value) -> Contract {
    let bundle = Bundle { name: "t".into(), root, files: Default::default() };
    document::read(bundle).expect("the document is sound").contract
}

pub(crate) fn tool(input: &Value) -> Contract {
    let schema = json!({"type": "object", "properties": {"value": input}});
    contract(json!({"tools": [{"name": "t", "description": "Does it.", "inputSchema": schema}]}))
}

fn answers(output: &Value) -> Contract {
    let schema = json!({"type": "object", "properties": {"value": output}});
    contract(json!({"tools": [{
        "name": "t",
        "description": "Does it.",
        "inputSchema": {"type": "object"},
        "outputSchema": schema
    }]}))
}

fn api(body: &Value) -> Contract {
    contract(json!({
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "paths": {"/o": {"post": {
            "requestBody": {"content": {"application/json": {"schema": body}}},
            "responses": {"204": {"description": "done"}}
        }}}
    }))
}

pub(crate) fn told(found: &Diff) -> Vec<(&'static str, &str)> {
    let changes = found.entries.iter().flat_map(|entry| &entry.changes);
    changes.map(|change| (change.rule, change.sentence.as_str())).collect()
}

/// The verdict in all places where a schema can stand.
#[track_caller]
fn check(old: &Value, new: &Value, verdict: Verdict) {
    let root = |schema: &Value| contract(schema.clone());
    let sides = [
        (tool(old), tool(new)),
        (answers(old), answers(new)),
        (api(old), api(new)),
        (root(old), root(new)),
    ];
    for (at, (old, new)) in sides.iter().enumerate() {
        let found = diff(old, new, &Options::default()).expect("both are sound");
        // What loses arguments gains answers; only where nothing moved do all agree.
        if verdict == Verdict::Safe || at != 1 {
            assert_eq!(found.verdict, verdict, "{at}: {:#?}", told(&found));
        }
    }
}

fn object(name: &str, more: Value) -> Value {
    let mut schema = json!({"type": "object", "properties": {}, "required": [name]});
    schema["properties"][name] = json!({"type": "string"});
    for (name, member) in more.as_object().expect("members") {
        schema["properties"][name] = member.clone();
    }
    schema
}

fn union(keyword: &str, list: &[Value]) -> Value {
    let mut schema = json!({"description": "One of them."});
    schema[keyword] = json!(list);
    schema
}

#[test]
fn texts_and_order_of_alternatives_move_nothing() {
    let plain = [object("file_id", json!({})), object("url", json!({})), json!({"type": "number"})];
    let mut dressed = plain.clone();
    for (at, one) in dressed.iter_mut().enumerate() {
        one["title"] = json!(format!("Form {at}"));
    }
    dressed[0]["properties"]["file_id"]["description"] = json!("The id.");
    dressed[1]["properties"]["url"]["description"] = json!("The address.");
    let turned: Vec<Value> = dressed.iter().rev().cloned().collect();
    for keyword in ["anyOf", "oneOf"] {
        check(&union(keyword, &plain), &union(keyword, &dressed), Verdict::Safe);
        check(&union(keyword, &plain), &union(keyword, &turned), Verdict::Safe);
    }
}

#[test]
fn alternatives_of_other_kinds_are_paired_by_what_they_say() {
    let old = [
        json!({"type": "array", "items": {"type": "number"}}),
        json!({"type": "array", "items": {"type": "string"}}),
    ];
    let new = [
        json!({"type": "array", "items": {"type": "string", "description": "A word."}}),
        json!({"type": "array", "items": {"type": "number", "description": "A count."}}),
    ];
    check(&union("anyOf", &old), &union("anyOf", &new), Verdict::Safe);
}

#[test]
fn a_member_that_all_alternatives_gain_is_told_where_it_is() {
    let more = json!({"note": {"type": "string"}});
    let old = [object("file_id", json!({})), object("url", json!({}))];
    let new = [object("url", more.clone()), object("file_id", more)];
    check(&union("anyOf", &old), &union("anyOf", &new), Verdict::Safe);
    let found =
        diff(&tool(&union("anyOf", &old)), &tool(&union("anyOf", &new)), &Options::default())
            .expect("both are sound");
    assert!(told(&found).iter().all(|(rule, _)| *rule == "SF120"), "{:#?}", told(&found));
    assert!(told(&found).iter().any(|(_, said)| said.contains("value.note")));
}

#[test]
fn what_two_alternatives_swap_is_no_loss_and_what_one_loses_is() {
    let line = json!({"line": {"type": "integer"}, "body": {"type": "string"}});
    let position = json!({"position": {"type": "integer"}, "body": {"type": "string"}});
    let closed = |name: &str, members: &Value, said: &str| {
        let mut schema = object(name, members.clone());
        schema["additionalProperties"] = json!(false);
        schema["properties"]["body"]["description"] = json!(said);
        schema
    };
    let old = [closed("line", &line, "Text"), closed("position", &position, "Text")];
    let new = [closed("position", &position, "The text."), closed("line", &line, "The text.")];
    check(&union("oneOf", &old), &union("oneOf", &new), Verdict::Safe);

    // Near: one of them is gone for real.
    let less = [closed("line", &line, "The text."), closed("line", &json!({}), "The text.")];
    check(&union("anyOf", &old), &union("anyOf", &less), Verdict::Refuse);
    let mut asks = new.clone();
    asks[1]["required"] = json!(["line", "body"]);
    check(&union("oneOf", &old), &union("oneOf", &asks), Verdict::Refuse);
}

#[test]
fn a_name_that_no_alternative_has_any_more_is_told() {
    let any = json!({"extra": {}});
    let old = [object("file_id", any.clone()), object("url", any)];
    let new = [object("file_id", json!({})), object("url", json!({}))];
    let (old, new) = (tool(&union("anyOf", &old)), tool(&union("anyOf", &new)));
    let found = diff(&old, &new, &Options::default()).expect("both are sound");
    assert!(told(&found).iter().any(|(rule, _)| *rule == "SF110"), "{:#?}", told(&found));
}

#[test]
fn alternatives_by_reference_are_looked_into() {
    let with = |thing: Value| {
        json!({
            "anyOf": [{"$ref": "#/$defs/thing"}, {"type": "string"}],
            "$defs": {"thing": thing}
        })
    };
    let (old, new) =
        (with(object("id", json!({}))), with(object("id", json!({"n": {"type": "integer"}}))));
    let (old, new) = (
        contract(
            json!({"tools": [{"name": "t", "inputSchema": {"type": "object", "properties": {"value": old["anyOf"][0]}, "$defs": old["$defs"]}}]}),
        ),
        contract(
            json!({"tools": [{"name": "t", "inputSchema": {"type": "object", "properties": {"value": new["anyOf"][0]}, "$defs": new["$defs"]}}]}),
        ),
    );
    let found = diff(&old, &new, &Options::default()).expect("both are sound");
    assert!(told(&found).iter().any(|(_, said)| said.contains("value.n")), "{:#?}", told(&found));
}
