use crate::sample::{self, assert_inert, options, render, render_reviewed};
use contract::{Counts, Diff, Entry, Kind, Subject, Verdict};
use report::Format;
use schema::{Answer, Relation, Why, Witness};
use serde_json::{Value, json};
use std::path::Path;

/// Renders, parses, and holds the result against the published schema.
fn valid(diff: &Diff) -> Value {
    let text = render(diff, Format::Json, &options());
    assert_inert(&text);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    against_schema(&value);
    value
}

fn against_schema(value: &Value) {
    if let Err(error) = check(value) {
        panic!("{error}\n{value:#}");
    }
}

fn check(value: &Value) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/diff.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is in the repository");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let mut compiler = boon::Compiler::new();
    let name = "https://steadfast.invalid/diff.schema.json";
    compiler.add_resource(name, document).expect("a resource");
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(name, &mut schemas).expect("a schema");
    schemas.validate(value, index).map_err(|error| format!("{error:#}"))
}

#[test]
fn every_verdict() {
    let diff = sample::every_verdict();
    valid(&diff);
    insta::assert_snapshot!(render(&diff, Format::Json, &options()));
}

#[test]
fn the_minimum_shape_holds() {
    let value = valid(&sample::every_verdict());
    let tool = &value["tools"][1];
    assert_eq!(value["verdict"], "refuse");
    assert_eq!(tool["tool"], "deploy_preview");
    assert_eq!(tool["class"], "migration");
    assert_eq!(tool["axes"]["compat"], "breaking");
    let change = &tool["changes"][0];
    assert_eq!(change["rule"], "SF001");
    assert_eq!(change["name"], "sample-required");
    assert_eq!(change["before"], Value::Null);
    assert_eq!(change["witness"]["value"], json!({"name": "preview"}));
    assert_eq!(change["witness"]["accepted_by"], "old");
    assert_eq!(change["decisions"], json!(["target", "scope"]));
    assert!(tool["from"]["digest"].as_str().expect("a digest").starts_with("sha256:"));
    assert_eq!(value["whole"][0]["part"], "instructions");
}

#[test]
fn hostile_strings_are_the_same_values() {
    let value = valid(&sample::hostile());
    for (at, attack) in sample::ATTACKS.iter().enumerate() {
        let tool = &value["tools"][at];
        assert_eq!(tool["tool"], *attack);
        assert_eq!(tool["changes"][0]["sentence"], *attack);
        assert_eq!(tool["changes"][0]["before"], json!({*attack: attack}));
    }
}

#[test]
fn numbers_keep_their_digits() {
    let mut diff = sample::every_verdict();
    let big = serde_json::from_str("123456789012345678901234567890.10").expect("a number");
    diff.entries[0].changes[0].before = Some(big);
    let out = render(&diff, Format::Json, &options());
    assert!(out.contains("\"before\": 123456789012345678901234567890.10,"));
    valid(&diff);
}

#[test]
fn operations_stand_under_their_own_name() {
    let mut diff = sample::every_verdict();
    diff.kind = Kind::Openapi;
    diff.entries.truncate(2);
    for entry in &mut diff.entries {
        entry.subject = Subject::Operation("GET /users/{id}".into());
    }
    let value = valid(&diff);
    assert_eq!(value["operations"][0]["operation"], "GET /users/{id}");
    assert_eq!(value["tools"], Value::Null);
}

fn schema_pair(relation: Relation) -> Diff {
    let mut diff = sample::every_verdict();
    diff.kind = Kind::Schema;
    diff.entries.truncate(2);
    let entry: Entry = diff.entries.remove(1);
    diff.entries = vec![Entry {
        subject: Subject::Schema("config".into()),
        relation: Some(relation),
        ..entry
    }];
    diff
}

#[test]
fn two_schemas_carry_their_relation() {
    let diff = schema_pair(Relation {
        lost: Answer::Some(vec![Witness {
            value: json!("high"),
            instance_pointer: String::new(),
            rejected_by: "/enum".into(),
            keyword: "enum".into(),
            accepted_by: "/enum".into(),
        }]),
        gained: Answer::Unknown(Why {
            reason: "the pattern needs more steps than the budget has".into(),
            pointer: "/pattern".into(),
            keyword: Some("pattern".into()),
            spent: 1_000_000,
        }),
    });
    let value = valid(&diff);
    assert_eq!(value["relation"], value["schemas"][0]["relation"]);
    assert_eq!(value["relation"]["lost"]["answer"], "some");
    assert_eq!(value["relation"]["lost"]["witness"]["value"], "high");
    assert_eq!(value["relation"]["lost"]["witnesses"][0]["accepted_by"], "old");
    assert_eq!(value["relation"]["gained"]["answer"], "unknown");
    assert_eq!(value["relation"]["gained"]["witness"], Value::Null);
    assert_eq!(value["relation"]["gained"]["stopped_at"]["keyword"], "pattern");
    insta::assert_snapshot!(render(&diff, Format::Json, &options()));
}

#[test]
fn the_same_schema_lost_nothing() {
    let diff = Diff {
        kind: Kind::Schema,
        verdict: Verdict::Safe,
        entries: Vec::new(),
        counts: Counts { old: 1, new: 1, unchanged: 1 },
        flaws: Vec::new(),
    };
    assert_eq!(valid(&diff)["relation"]["lost"]["answer"], "nothing");
}

#[test]
fn the_review_record_is_a_member() {
    let diff = sample::every_verdict();
    let text = render_reviewed(&diff, &sample::review(), Format::Json);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    against_schema(&value);
    let questions = &value["review"][0]["questions"];
    assert_eq!(questions[0]["answer"], "no");
    assert_eq!(questions[3]["question"], "notified-when-ready");
    assert_eq!(questions[3]["answer"], "not-checked");
    assert_eq!(value["review"][1]["window"], Value::Null);
}

#[test]
fn the_schema_refuses_what_is_not_the_shape() {
    let text = render(&sample::every_verdict(), Format::Json, &options());
    let whole: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(check(&whole), Ok(()));
    for (pointer, wrong) in [
        ("/verdict", json!("fine")),
        ("/tools", json!({})),
        ("/tools/0/axes/compat", json!("good")),
        ("/tools/0/changes/0/rule", json!("101")),
        ("/tools/0/from/digest", json!("sha256:0")),
        ("/tools/1/changes/0/witness/accepted_by", json!("both")),
        ("/whole/0/part", json!(1)),
    ] {
        let mut value = whole.clone();
        *value.pointer_mut(pointer).expect("a place of the report") = wrong;
        assert!(check(&value).is_err(), "{pointer} is not held by the schema");
    }
}

#[test]
fn the_page_shows_the_shape() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(path).expect("the page is in the repository");
    let start = page.find("```json\n").expect("an example") + 8;
    let end = start + page[start..].find("```").expect("its end");
    let example = page[start..end].replace("sha256:…", &format!("sha256:{}", "0".repeat(64)));
    against_schema(&serde_json::from_str(&example).expect("JSON"));
}
