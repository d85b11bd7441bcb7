//! The executed part of a gate: old calls against a server that was built, answers, and what is kept of them.

use crate::run::{Folder, Outcome};
use serde_json::Value;

/// A server whose `deploy` changes with its first argument; it posts to `API` what it does.
const SERVER: &str = include_str!("gate_server.py");

/// A folder in which `deploy` is locked as it was.
fn locked() -> Folder {
    let folder = Folder::new();
    folder.file("server.py", SERVER);
    folder.run(&["lock", "--", "python3", "server.py", "old"]).code(0);
    folder
}

fn gate(folder: &Folder, flags: &[&str], kind: &str) -> Outcome {
    let mut words = vec!["gate", "--execute"];
    words.extend(flags);
    words.extend(["--", "python3", "server.py", kind]);
    folder.run(&words)
}

const SEEN: &[&str] = &["--allow-effects", "deploy", "--recorder", "API"];

fn answers(found: &Value) -> Vec<(&str, &str)> {
    let questions = found["review"][0]["questions"].as_array().expect("questions");
    questions
        .iter()
        .map(|q| {
            (q["question"].as_str().expect("a question"), q["answer"].as_str().expect("an answer"))
        })
        .collect()
}

#[test]
fn a_refusal_before_any_effect_is_seen_and_kept_as_a_test() {
    let folder = locked();
    let flags = [SEEN, &["--keep", "drift/archive", "--format", "json"]].concat();
    let found = gate(&folder, &flags, "refuse").code(1).json();
    assert_eq!(
        answers(&found),
        [
            ("old-arguments", "no"),
            ("same-meaning", "not-applicable"),
            ("refused-before-effect", "yes"),
            ("notified-when-ready", "not-applicable"),
            // `environment` selects what is deployed to: no error makes up for that.
            ("repair-without-authority", "undecided"),
        ]
    );
    assert!(found["review"][0].get("faults").is_none());
    let kept = found["review"][0]["kept"].as_str().expect("a path").to_owned();
    let old = folder.read(&kept.replace(".yaml", ".old.tools.json"));
    assert!(!old.contains("environment"), "{old}");
    assert!(folder.read(&kept.replace(".yaml", ".new.tools.json")).contains("environment"));
    folder.run(&["test", "drift/archive"]).code(0).says("1 passed");
    // The branch that refused is lost later on.
    let text = folder.read(&kept).replace("\"refuse\"", "\"late\"");
    folder.file(&kept, text);
    folder
        .run(&["test", "drift/archive"])
        .code(1)
        .says("a clean error was answered to deploy, but POST /deployments had begun");
}

#[test]
fn a_clean_error_after_an_effect_is_a_fault_in_every_format() {
    let folder = locked();
    folder.file("steadfast.toml", "[policy]\nfail-on = \"never\"\nundecided = \"warn\"\n");
    let format = |format| gate(&folder, &[SEEN, &["--format", format]].concat(), "late").code(1);
    format("text").says("FAULT");
    format("markdown").says("**Fault:**");
    format("junit").says("failures=\"1\"").says("but a request had left");
    format("sarif").says("but a request had left");
    let found = format("json").json();
    assert_eq!(answers(&found)[2], ("refused-before-effect", "no"));
    // Without the recorder nobody sees it, and the gate says so.
    let unseen = gate(&folder, &["--allow-effects", "deploy", "--format", "json"], "late").json();
    assert_eq!(answers(&unseen)[2], ("refused-before-effect", "undecided"));
}

#[test]
fn what_the_replaced_server_did_is_what_must_be_kept() {
    let folder = locked();
    // Without it, what the control call did is the measure.
    gate(&folder, SEEN, "fill").code(1).says("old calls did what the control call does");
    let old = ["--old-server", "python3 server.py old"];
    let found = gate(&folder, &[SEEN, &old, &["--format", "json"]].concat(), "fill").json();
    assert!(found["review"][0].get("faults").is_none(), "{}", found["review"]);
    assert_eq!(answers(&found)[0], ("old-arguments", "yes"));
    gate(&folder, &[SEEN, &old].concat(), "elsewhere")
        .code(1)
        .says("it made other requests than the");
}

#[test]
fn nothing_with_effects_is_called_unless_it_is_allowed() {
    let folder = locked();
    folder.file("steadfast.toml", "[policy]\nfail-on = \"never\"\nundecided = \"warn\"\n");
    gate(&folder, &["--format", "json"], "refuse")
        .code(3)
        .says("`--allow-effects deploy` lets it be called");
    gate(&folder, &["--allow-effects", "deplyo"], "refuse").code(2).complains("no tool `deplyo`");
    folder.file("tools.json", r#"{"tools":[]}"#);
    folder
        .run(&["gate", "--execute", "tools.json"])
        .code(2)
        .complains("no server that could be called");
}

#[test]
fn a_refusal_that_names_nothing_leads_to_no_repair() {
    let folder = locked();
    let found = gate(&folder, &[SEEN, &["--format", "json"]].concat(), "vague").json();
    assert_eq!(answers(&found)[4], ("repair-without-authority", "no"));
}

#[test]
fn a_scenario_shows_whether_the_server_announces_its_list_in_time() {
    let folder = locked();
    let list = |required: &str| {
        format!(
            r#"{{"tools":[{{"name":"deploy","description":"Deploys a preview.","inputSchema":{{"type":"object","properties":{{"project":{{"type":"string","description":"Slug of the project"}}{required}}}]}}"#
        )
    };
    folder.file("old.tools.json", list(r#"},"required":["project"]}"#));
    let environment = r#","environment":{"type":"string","enum":["staging","production"]}},"required":["project","environment"]}"#;
    folder.file("new.tools.json", list(environment));
    let scenario = |kind: &str| {
        format!(
            "drift: 1\ntarget: server\npatience: 10\nserver:\n  command: [python3, server.py, {kind}]\n  lists: {{before: old.tools.json, after: new.tools.json}}\n  switch: {{file: flipped}}\nsteps:\n  - list:\n    shows: before\n  - plan: old\n    tool: deploy\n    arguments: {{project: shop}}\n  - switch\n  - told\n  - refresh:\n    shows: after\n  - call: old\n    answer: refused\n"
        )
    };
    let answer = |kind: &str| {
        let _ = std::fs::remove_file(folder.path("flipped"));
        folder.file(
            "drift/flip.yaml",
            scenario(kind)
                .replace(": old.tools", ": ../old.tools")
                .replace(": new.tools", ": ../new.tools"),
        );
        let found =
            gate(&folder, &[SEEN, &["--tests", "drift/", "--format", "json"]].concat(), "refuse")
                .json();
        let (_, answer) = answers(&found)[3];
        answer.to_owned()
    };
    assert_eq!(answer("told"), "yes");
    // It says so before its list can be read.
    assert_eq!(answer("early"), "no");
}
