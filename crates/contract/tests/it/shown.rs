//! A value beside a finding shows that finding, and no other.

use contract::{Bundle, Change, Contract, Options, diff, document};
use serde_json::{Value, json};

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let read = |schema: &Value| -> Contract {
        let root =
            json!({"tools": [{"name": "t", "description": "Does it.", "inputSchema": schema}]});
        let bundle = Bundle { name: "t".into(), root, files: Default::default() };
        document::read(bundle).expect("the document is sound").contract
    };
    let found = diff(&read(old), &read(new), &Options::default()).expect("both are sound");
    found.entries.into_iter().flat_map(|entry| entry.changes).collect()
}

fn witness<'c>(changes: &'c [Change], rule: &str) -> Option<&'c Value> {
    let found = changes.iter().find(|change| change.rule == rule).expect("the rule speaks");
    found.witness.as_ref().map(|witness| &witness.value)
}

#[test]
fn an_argument_that_is_gone_is_shown_by_a_call_that_sends_it() {
    let text = json!({"type": "string"});
    let old = json!({
        "type": "object",
        "properties": {"q": text, "from": text, "size": {"type": "integer", "default": 5}},
        "required": ["q"],
        "additionalProperties": false
    });
    let new = json!({
        "type": "object",
        "properties": {"q": text, "text": text, "size": {"type": "integer"}},
        "required": ["q", "text"],
        "additionalProperties": false
    });
    let found = changes(&old, &new);
    assert!(
        witness(&found, "SF110").is_some_and(|value| value.get("from").is_some()),
        "{found:#?}"
    );
    assert_eq!(witness(&found, "SF101"), Some(&json!({"q": ""})));
    assert_eq!(witness(&found, "SF152"), None);
}

#[test]
fn an_argument_that_is_only_ignored_is_shown_by_nothing_else() {
    let old =
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let new = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let found = changes(&old, &new);
    let shown = witness(&found, "SF110");
    assert!(shown.is_none_or(|value| value.get("b").is_some()), "{found:#?}");
}

#[test]
fn a_member_deep_in_a_call_is_shown_where_it_stands() {
    let inner = |members: Value| {
        json!({
            "type": "object",
            "properties": {"list": {"type": "array", "items": {
                "type": "object", "properties": members, "additionalProperties": false
            }}}
        })
    };
    let old = inner(json!({"a": {"type": "string"}, "gone": {"type": "string"}}));
    let new = inner(json!({"a": {"type": "string"}}));
    let found = changes(&old, &new);
    assert_eq!(witness(&found, "SF110"), Some(&json!({"list": [{"gone": ""}]})), "{found:#?}");
}
