//! Kinds of change that a schema alone does not show, each as a hit and as a near miss.

use contract::document::{Bundle, read};
use contract::{Authority, Change, Meaning, Options, Verdict, diff};
use serde_json::{Value, json};

fn compared(old: &Value, new: &Value) -> Vec<Change> {
    let side = |tool: &Value| {
        let root = json!({"tools": [tool]});
        let bundle = Bundle { name: "list".into(), root, ..Bundle::default() };
        read(bundle).expect("a list").contract
    };
    let found = diff(&side(old), &side(new), &Options::default()).expect("two lists");
    found.entries.into_iter().flat_map(|entry| entry.changes).collect()
}

fn tool(description: &str, properties: Value) -> Value {
    json!({"name": "t", "description": description,
           "inputSchema": {"type": "object", "properties": properties}})
}

fn arguments(old: Value, new: Value) -> Vec<Change> {
    compared(&tool("Does it.", old), &tool("Does it.", new))
}

fn texts(old: &str, new: &str) -> Vec<Change> {
    compared(&tool(old, json!({})), &tool(new, json!({})))
}

fn worst(changes: &[Change]) -> Verdict {
    changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::Safe)
}

fn meaning(changes: &[Change]) -> Meaning {
    changes.iter().map(|change| change.axes.meaning).max().unwrap_or(Meaning::Same)
}

fn reach(changes: &[Change]) -> Authority {
    changes.iter().map(|change| change.axes.authority).max().unwrap_or(Authority::Same)
}

#[test]
fn a_switch_a_measure_or_a_page_selects_nothing() {
    let added = |name: &str, schema: Value| {
        let mut after = json!({"q": {"type": "string"}});
        after[name] = schema;
        reach(&arguments(json!({"q": {"type": "string"}}), after))
    };
    for (name, kind) in [
        ("profile", "boolean"),
        ("pageNum", "integer"),
        ("page", "integer"),
        ("page_width", "integer"),
        ("remove_images", "boolean"),
        ("page_size", "integer"),
        ("start_index", "integer"),
        ("file_format", "string"),
        ("next_page_token", "string"),
        ("target_date", "string"),
    ] {
        assert_eq!(added(name, json!({"type": kind})), Authority::Same, "{name}");
    }
    for (name, schema) in [
        ("profile", json!({"type": "string"})),
        ("profile", json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        ("page_id", json!({"type": "string"})),
        ("file", json!({"type": "string"})),
        ("private", json!({"type": "boolean"})),
        ("is_url", json!({"type": "boolean"})),
    ] {
        assert_eq!(added(name, schema), Authority::Wider, "{name}");
    }
}

#[test]
fn what_absent_means_may_be_written_out() {
    let hinted = |annotations: Value| json!({"name": "t", "inputSchema": {"type": "object"}, "annotations": annotations});
    let said = |old: Value, new: Value| -> (Verdict, String) {
        let found = compared(&hinted(old), &hinted(new));
        (worst(&found), found.iter().map(|change| change.sentence.clone()).collect())
    };
    for (old, new) in [
        (json!({}), json!({"openWorldHint": true})),
        (json!({}), json!({"destructiveHint": true, "idempotentHint": false})),
        (json!({"readOnlyHint": false}), json!({})),
    ] {
        let (verdict, sentence) = said(old, new);
        assert_eq!(verdict, Verdict::Safe);
        assert!(sentence.contains("mean what absent means"), "{sentence}");
    }
    for (new, claim) in [
        (json!({"openWorldHint": false}), "stays in its own domain"),
        (json!({"destructiveHint": false}), "destroys nothing"),
        (json!({"readOnlyHint": true}), "only reads"),
    ] {
        let (verdict, sentence) = said(json!({}), new);
        assert_eq!(verdict, Verdict::Safe);
        assert!(sentence.contains(claim) && sentence.contains("lowers no approval"), "{sentence}");
    }
    let (verdict, sentence) = said(json!({"openWorldHint": false}), json!({}));
    assert_eq!(verdict, Verdict::NewApproval, "{sentence}");
}

#[test]
fn a_default_in_another_order_is_the_same_default() {
    let with = |default: Value| json!({"fields": {"type": "array", "default": default}});
    let same = arguments(with(json!(["a", "b"])), with(json!(["b", "a"])));
    assert!(same.iter().all(|change| change.rule == "SF323"), "{same:#?}");
    let object = |default: Value| json!({"filter": {"type": "object", "default": default}});
    let same = arguments(object(json!({"a": 1, "b": 2})), object(json!({"b": 2, "a": 1})));
    assert!(same.iter().all(|change| change.rule == "SF323"), "{same:#?}");
    for other in [json!(["a"]), json!(["a", "c"]), json!(["a", "a"])] {
        let found = arguments(with(json!(["a", "b"])), with(other));
        assert!(worst(&found) >= Verdict::Adapt, "{found:#?}");
    }
}
