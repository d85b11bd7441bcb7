//! What a finding claims must hold: of bounds on members, and of formats beside texts.

use contract::document::{Bundle, read};
use contract::{Diff, Options, Verdict, diff};
use serde_json::{Value, json};

fn compared(old: Value, new: Value) -> Diff {
    let side = |schema: Value| {
        let root =
            json!({"tools": [{"name": "t", "description": "Does it.", "inputSchema": schema}]});
        let bundle = Bundle { name: "list".into(), root, ..Bundle::default() };
        read(bundle).expect("a contract").contract
    };
    diff(&side(old), &side(new), &Options::default()).expect("two contracts")
}

/// What is said of the whole input: rule and verdict of each finding.
fn told(old: Value, new: Value) -> Vec<(&'static str, Verdict)> {
    let found = compared(old, new);
    let changes = found.entries.iter().flat_map(|entry| &entry.changes);
    changes.map(|change| (change.rule, change.verdict)).collect()
}

#[test]
fn a_bound_on_the_members_of_an_open_object_is_no_looser_one() {
    let open = json!({"type": "object", "properties": {"a": {}, "b": {}}});
    let with = |most: u64, closed: bool| {
        let mut schema = open.clone();
        schema["maxProperties"] = json!(most);
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    };
    // Both declared arguments still fit; an undeclared one beside them does not.
    assert_eq!(told(open.clone(), with(2, false)), [("SF146", Verdict::Safe)]);
    assert_eq!(told(with(3, false), with(2, false)), [("SF146", Verdict::Safe)]);
    // Of a closed object nothing is lost, and the other way round something is gained.
    let mut closed = open.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(told(closed, with(2, true)), [("SF141", Verdict::Safe)]);
    assert_eq!(told(with(2, false), open.clone()), [("SF141", Verdict::Safe)]);
    // Where a declared one is left out, calls that fitted are refused.
    assert_eq!(told(open.clone(), with(1, false)), [("SF140", Verdict::Refuse)]);
}

#[test]
fn a_format_does_not_say_the_opposite_of_the_text() {
    let of = |text: &str, format: Option<&str>| {
        let mut schema = json!({"type": "object", "properties": {"since": {"type": "string", "description": text}}});
        if let Some(format) = format {
            schema["properties"]["since"]["format"] = json!(format);
        }
        schema
    };
    let found = compared(
        of("Since when, in seconds.", None),
        of("Since when, in milliseconds.", Some("int64")),
    );
    let said: Vec<&str> = found
        .entries
        .iter()
        .flat_map(|entry| &entry.changes)
        .map(|change| change.sentence.as_str())
        .collect();
    assert!(said.len() >= 2, "{said:?}");
    assert!(!said.iter().any(|sentence| sentence.contains("the values are the same")), "{said:?}");
}
