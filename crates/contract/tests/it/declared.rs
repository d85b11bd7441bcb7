//! Names that a schema demands are names that callers send, declared or not.

use super::alternatives::told;
use contract::{Bundle, Contract, Diff, Options, Verdict, diff, document};
use serde_json::{Value, json};

fn compared(old: &Value, new: &Value) -> Diff {
    let read = |schema: &Value| -> Contract {
        let root =
            json!({"tools": [{"name": "t", "description": "Does it.", "inputSchema": schema}]});
        let bundle = Bundle { name: "t".into(), root, files: Default::default() };
        document::read(bundle).expect("the document is sound").contract
    };
    diff(&read(old), &read(new), &Options::default()).expect("both are sound")
}

#[track_caller]
fn check(old: Value, new: Value, verdict: Verdict) {
    let found = compared(&old, &new);
    assert_eq!(found.verdict, verdict, "{old} -> {new}: {:#?}", told(&found));
}

#[test]
fn a_rule_over_arguments_counts_beside_an_undeclared_one() {
    let members =
        json!({"id": {"type": "string"}, "a": {"type": "string"}, "b": {"type": "string"}});
    let old = json!({"type": "object", "properties": members, "required": ["id", "token"]});
    let mut new = old.clone();
    new["dependentRequired"] = json!({"a": ["b"]});
    check(old.clone(), new, Verdict::Refuse);
    let mut more = old.clone();
    more["required"] = json!(["id", "token", "other"]);
    check(old.clone(), more, Verdict::Refuse);
    // Near: a rule that every old call keeps.
    let mut kept = old.clone();
    kept["dependentRequired"] = json!({"a": ["token"]});
    check(old, kept, Verdict::Safe);
}

#[test]
fn a_schema_of_demands_alone_is_no_empty_object() {
    check(
        json!({"type": "object", "required": ["a"]}),
        json!({"type": "object", "required": ["a", "b"]}),
        Verdict::Refuse,
    );
    check(
        json!({"type": "object", "oneOf": [{"required": ["k"]}, {"required": ["j"]}]}),
        json!({"type": "object", "oneOf": [{"required": ["k", "m"]}, {"required": ["j", "n"]}]}),
        Verdict::Refuse,
    );
    check(
        json!({"type": "object", "allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}]}),
        json!({"type": "object", "allOf": [{"anyOf": [{"required": ["b"]}, {"required": ["c"]}]}]}),
        Verdict::Refuse,
    );
    check(
        json!({"type": "object", "required": ["a", "b"]}),
        json!({"type": "object", "required": ["a"]}),
        Verdict::Safe,
    );
}

#[test]
fn an_object_is_closed_over_a_name_that_must_be_sent() {
    let old = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id", "token"]});
    let mut new = old.clone();
    new["additionalProperties"] = json!(false);
    check(old.clone(), new, Verdict::Refuse);
    // Near: the name is declared with it.
    let mut declared = old.clone();
    declared["additionalProperties"] = json!(false);
    declared["properties"]["token"] = json!({});
    check(old, declared, Verdict::Safe);
}
