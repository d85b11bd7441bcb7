//! Adapters from the command line: proved, refuted with a call that shows it, and files that cannot be read.

use crate::run::{Folder, Outcome, list};
use serde_json::json;

const FILE: &str = r#"
[[adapter]]
id = "limit-to-page-size"
tool = "t"
until = 2027-03-01
step = [{ rename = { from = "/limit", to = "/page_size" } }]
"#;

/// A folder with an old list, a new one whose argument has another name and this maximum, and a file of adapters.
fn folder(maximum: u32, adapters: &str) -> Folder {
    let folder = Folder::new();
    let new = format!(r#"{{"page_size":{{"type":"integer","maximum":{maximum}}}}}"#);
    folder
        .file("old.json", list(r#"{"limit":{"type":"integer","maximum":100}}"#, "[]"))
        .file("new.json", list(&new, "[]"))
        .file("adapters.toml", adapters);
    folder
}

fn check(folder: &Folder, more: &[&str]) -> Outcome {
    let command = ["adapters", "check", "adapters.toml", "old.json", "new.json"];
    folder.run(&[&command[..], more].concat())
}

#[test]
fn a_proof_ends_with_zero() {
    let folder = folder(100, FILE);
    check(&folder, &[])
        .code(0)
        .says("proved        limit-to-page-size")
        .says("it ends after 2027-03-01")
        .says("1 adapter: 1 proved");
    let found = check(&folder, &["--format", "json"]).code(0).json();
    assert_eq!(found["outcome"], "proved");
    assert_eq!(found["adapters"][0]["to_tool"], "t");
    assert!(found["adapters"][0]["from"]["digest"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn a_counterexample_is_shown() {
    let folder = folder(50, FILE);
    check(&folder, &[])
        .code(1)
        .says("refuted       limit-to-page-size")
        .says(r#"call      {"limit":51}"#)
        .says(r#"becomes   {"page_size":51}"#)
        .says("rejected  /page_size by /properties/page_size/maximum of the new schema");
    let found = check(&folder, &["--format", "json"]).code(1).json();
    assert_eq!(found["outcome"], "refuted");
    let no = &found["adapters"][0]["refutations"][0];
    assert_eq!(no["place"], "adapters.toml:2:1");
    let example = &no["counterexample"];
    assert_eq!(example["value"], json!({"limit": 51}));
    assert_eq!(example["becomes"], json!({"page_size": 51}));
    assert_eq!(example["keyword"], "maximum");
    assert_eq!(example["about"], "call");
}

#[test]
fn nothing_proved_is_no_success() {
    let other = FILE.replace("tool = \"t\"", "tool = \"another\"");
    check(&folder(100, &other), &[]).code(1).says("not-for-this").complains("nothing was proved");
    check(&folder(100, ""), &[]).code(1).complains("nothing was proved");
    let elsewhere = FILE.replace("tool = \"t\"", "tool = \"t\"\nserver = \"there\"");
    check(&folder(100, &elsewhere), &["--server", "here"]).code(1);
    check(&folder(100, &elsewhere), &["--server", "there"]).code(0);
}

#[test]
fn two_for_the_same_calls_are_one_too_many() {
    let twice = format!("{FILE}{}", FILE.replace("limit-to-page-size", "the-other"));
    check(&folder(100, &twice), &[])
        .code(1)
        .says("refused       the-other")
        .says("call must not have two meanings");
}

#[test]
fn what_could_not_be_decided_ends_with_three() {
    let folder = folder(100, FILE);
    folder.file(
        "new.json",
        r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"page_size":{"type":"integer"}},"unevaluatedProperties":false}}]}"#,
    );
    check(&folder, &[]).code(3).says("undecided").says("unevaluatedProperties");
}

#[test]
fn a_file_that_cannot_be_read_ends_with_two() {
    let broken = FILE.replace("until = 2027-03-01\n", "").replace("/page_size", "page_size");
    check(&folder(100, &broken), &[])
        .code(2)
        .complains("adapters.toml:2:1: This adapter has no end.")
        .complains("adapters.toml:5:")
        .complains("does not begin with /");
    let folder = folder(100, FILE);
    folder.file("new.json", r#"{"openapi": "3.1.0", "info": {}, "paths": {}}"#);
    check(&folder, &[]).code(2).complains("Adapters convert calls of MCP tools");
    folder.run(&["adapters"]).code(2).complains("check");
    folder.run(&["adapters", "check", "--help"]).code(0).says("OLD");
}

#[test]
fn the_words_of_the_project_count() {
    let region = FILE.replace("/limit", "/zone_hint").replace("/page_size", "/page_limit");
    let folder = folder(100, &region);
    folder
        .file("old.json", list(r#"{"zone_hint":{"type":"integer"}}"#, "[]"))
        .file("new.json", list(r#"{"page_limit":{"type":"integer"}}"#, "[]"));
    check(&folder, &[]).code(1).says("refused").says("neutral");
    folder.file("steadfast.toml", "[lexicon]\nneutral = [\"zone_hint\"]\n");
    check(&folder, &[]).code(0);
}

#[test]
fn a_server_cannot_write_to_the_terminal() {
    let folder = folder(50, FILE);
    let values = r#"{"limit":{"enum":["\u202eab\u001b[2J"]}}"#;
    folder
        .file("old.json", list(values, r#"["limit"]"#))
        .file("new.json", list(r#"{"page_size":{"type":"integer"}}"#, "[]"));
    for format in ["text", "json"] {
        let out = check(&folder, &["--format", format]).code(1).out;
        assert!(
            out.contains("202e")
                && out.chars().all(|c| c == '\n' || c == '→' || (' '..='~').contains(&c)),
            "{out}"
        );
    }
}
