use crate::sample::{self, assert_inert, options, render, render_reviewed};
use contract::Diff;
use report::{Format, RenderOptions};
use serde_json::{Value, json};

fn sarif(diff: &Diff, options: &RenderOptions) -> Value {
    let text = render(diff, Format::Sarif, options);
    assert_inert(&text);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    check(&value);
    value
}

/// The shape, and what a schema cannot say: each result's index leads to its rule.
fn check(value: &Value) {
    let schema: Value = serde_json::from_str(include_str!("sarif.schema.json")).expect("JSON");
    let mut compiler = boon::Compiler::new();
    compiler.enable_format_assertions();
    let name = "https://steadfast.invalid/sarif.schema.json";
    compiler.add_resource(name, schema).expect("a resource");
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(name, &mut schemas).expect("a schema");
    if let Err(error) = schemas.validate(value, index) {
        panic!("{error:#}\n{value:#}");
    }
    let run = &value["runs"][0];
    for result in run["results"].as_array().expect("results") {
        let at = result["ruleIndex"].to_string().parse::<usize>().expect("an index");
        assert_eq!(run["tool"]["driver"]["rules"][at]["id"], result["ruleId"]);
    }
}

fn results(value: &Value) -> &[Value] {
    value["runs"][0]["results"].as_array().expect("results")
}

#[test]
fn every_verdict() {
    let diff = sample::every_verdict();
    sarif(&diff, &options());
    insta::assert_snapshot!(render(&diff, Format::Sarif, &options()));
}

#[test]
fn safe_changes_are_no_alerts() {
    let value = sarif(&sample::every_verdict(), &options());
    assert_eq!(results(&value).len(), 7);
    let all = RenderOptions { all: true, ..options() };
    let value = sarif(&sample::every_verdict(), &all);
    assert_eq!(results(&value).len(), 12);
    let last = &results(&value)[11];
    assert_eq!(last["kind"], "informational");
    assert_eq!(last["level"], "none");
}

#[test]
fn fingerprints_and_suppressions_are_ours() {
    let diff = sample::every_verdict();
    let value = sarif(&diff, &options());
    let accepted: Vec<&Value> =
        results(&value).iter().filter(|result| result.get("suppressions").is_some()).collect();
    assert_eq!(accepted.len(), 1);
    assert_eq!(
        accepted[0]["suppressions"],
        json!([{"kind": "external", "status": "accepted",
                "justification": "every client sends it since March"}])
    );
    let ours = &diff.entries[7].changes[0].fingerprint;
    assert_eq!(accepted[0]["partialFingerprints"]["steadfast/v1"], **ours);
}

#[test]
fn rules_have_a_page() {
    let pages =
        RenderOptions { pages: Some("https://example.com/docs/rules/".into()), ..options() };
    let value = sarif(&sample::every_verdict(), &pages);
    let rule = &value["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["helpUri"], "https://example.com/docs/rules/SF001.md");
}

#[test]
fn hostile_strings_stay_strings() {
    let value = sarif(&sample::hostile(), &sample::hostile_options());
    assert_eq!(results(&value).len(), sample::ATTACKS.len());
    for result in results(&value) {
        let text = result["message"]["text"].as_str().expect("a text");
        assert!(!text.contains("]("), "a link: {text}");
        assert!(!text.contains("{0}"), "a placeholder: {text}");
    }
}

#[test]
fn the_review_record_is_a_property_of_the_run() {
    let text = render_reviewed(&sample::every_verdict(), &sample::review(), Format::Sarif);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    check(&value);
    assert_eq!(value["runs"][0]["properties"]["review"][0]["tool"], "deploy_preview");
}
