//! Each side is read by the dialect that it names, its parts as well.

use super::alternatives::told;
use contract::{Bundle, Contract, Diff, Options, Verdict, diff, document};
use serde_json::{Value, json};

const OLD: [&str; 3] = [
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-04/schema#",
];
const NEW: &str = "https://json-schema.org/draft/2020-12/schema";

fn contract(root: Value) -> Contract {
    let bundle = Bundle { name: "t".into(), root, files: Default::default() };
    document::read(bundle).expect("the document is sound").contract
}

/// As the input of a tool, and as a schema of its own.
fn compared(old: &Value, new: &Value) -> [Diff; 2] {
    let tool = |schema: &Value| {
        contract(
            json!({"tools": [{"name": "t", "description": "Does it.", "inputSchema": schema}]}),
        )
    };
    let options = Options::default();
    [(tool(old), tool(new)), (contract(old.clone()), contract(new.clone()))]
        .map(|(old, new)| diff(&old, &new, &options).expect("both are sound"))
}

#[track_caller]
fn check(old: Value, new: Value, verdict: Verdict) {
    for found in compared(&old, &new) {
        assert_eq!(found.verdict, verdict, "{old} -> {new}: {:#?}", told(&found));
        assert!(told(&found).iter().all(|(_, said)| !said.contains("not asked")));
    }
}

fn with(dialect: &str, member: Value) -> Value {
    json!({"$schema": dialect, "type": "object", "properties": {"p": member}})
}

#[test]
fn a_list_of_single_items_is_one_in_either_dialect() {
    let numbers = json!([{"type": "number"}, {"type": "number"}]);
    let old = json!({"type": "array", "items": numbers, "additionalItems": false});
    let new = json!({"type": "array", "prefixItems": numbers, "items": false});
    for dialect in OLD {
        check(with(dialect, old.clone()), with(NEW, new.clone()), Verdict::Safe);
        check(with(NEW, new.clone()), with(dialect, old.clone()), Verdict::Safe);
    }
    // Near: it is shorter now, and it was open before.
    let shorter = json!({"type": "array", "prefixItems": [{"type": "number"}], "items": false});
    check(with(OLD[0], old), with(NEW, shorter), Verdict::Refuse);
    let open = json!({"type": "array", "items": numbers});
    check(with(OLD[0], open), with(NEW, new), Verdict::Refuse);
}

#[test]
fn an_exclusive_bound_is_one_in_either_dialect() {
    for kind in ["integer", "number"] {
        let old = json!({"type": kind, "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false});
        let new = json!({"type": kind, "exclusiveMinimum": 0, "maximum": 9});
        check(with(OLD[2], old.clone()), with(NEW, new.clone()), Verdict::Safe);
        let mut tighter = new;
        tighter["exclusiveMinimum"] = json!(1);
        check(with(OLD[2], old), with(NEW, tighter), Verdict::Refuse);
    }
}
