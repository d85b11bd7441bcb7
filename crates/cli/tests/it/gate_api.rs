//! The executed part of a gate on an HTTP API: old requests against the API that was built.

use crate::run::{Folder, Outcome, command};
use serde_json::{Value, json};

/// An API whose requests change; it posts to `API` what it does.
const API: &str = include_str!("gate_api.py");

fn document(body: Value, query: Value) -> String {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Deployments", "version": "1"},
        "paths": {"/deployments": {
            "post": {
                "requestBody": {"required": true, "content": {"application/json": {"schema": body}}},
                "responses": {"201": {"description": "deployed"}}
            },
            "get": {"parameters": query, "responses": {"200": {"description": "all"}}}
        }}
    })
    .to_string()
}

/// A folder in which the API is locked as it was, and `new.json` requires more.
fn locked() -> Folder {
    let folder = Folder::new();
    let project = json!({"type": "string", "examples": ["shop"]});
    let old =
        json!({"type": "object", "properties": {"project": project}, "required": ["project"]});
    let environment = json!({"type": "string", "enum": ["staging", "production"]});
    let new = json!({
        "type": "object",
        "properties": {"project": project, "environment": environment},
        "required": ["project", "environment"]
    });
    let limit =
        json!([{"name": "limit", "in": "query", "required": true, "schema": {"type": "integer"}}]);
    folder.file("api.py", API);
    folder.file("old.json", document(old, json!([])));
    folder.file("new.json", document(new, limit));
    folder.run(&["lock", "old.json"]).code(0);
    folder
}

fn gate(folder: &Folder, kind: &str, flags: &[&str]) -> Outcome {
    let command = format!("python3 api.py {{port}} {kind}");
    folder.run(
        &[&["gate", "--execute", "new.json", "--api", &command, "--format", "json"], flags]
            .concat(),
    )
}

const SEEN: &[&str] = &["--allow-effects", "POST /deployments", "--recorder", "API"];

fn of<'v>(found: &'v Value, operation: &str) -> &'v Value {
    let review = found["review"].as_array().expect("a review");
    let entry = review.iter().find(|entry| entry["operation"] == operation);
    entry.unwrap_or_else(|| panic!("no {operation} in {found}"))
}

fn answers(entry: &Value) -> Vec<&str> {
    let questions = entry["questions"].as_array().expect("questions");
    questions.iter().map(|question| question["answer"].as_str().expect("an answer")).collect()
}

#[test]
fn old_requests_are_sent_after_requests_that_work_and_answer_the_five_questions() {
    let folder = locked();
    let found = gate(&folder, "refuse", SEEN).code(1).json();
    let post = of(&found, "POST /deployments");
    // `environment` selects what is deployed to: no error makes up for that.
    assert_eq!(
        answers(post),
        ["no", "not-applicable", "yes", "not-applicable", "undecided"],
        "{post}"
    );
    assert!(post.get("faults").is_none(), "{post}");
    // What only reads is asked without leave; its refusal names what is missing.
    let get = of(&found, "GET /deployments");
    assert_eq!(answers(get)[..4], ["no", "not-applicable", "yes", "not-applicable"], "{get}");
    assert!(
        get.to_string().contains("it only reads, by its method")
            || get.to_string().contains("nothing reached"),
        "{get}"
    );
}

#[test]
fn a_clean_error_after_an_effect_and_a_fault_of_the_server_are_faults() {
    let folder = locked();
    let fault = |kind: &str| {
        let found = gate(&folder, kind, SEEN).code(1).json();
        of(&found, "POST /deployments")["faults"].to_string()
    };
    assert!(fault("late").contains("but a request had left"), "{}", fault("late"));
    // Whoever gets a fault of the server tries again, and does not know what was done.
    assert!(fault("broken").contains("status 500"), "{}", fault("broken"));
}

#[test]
fn what_the_replaced_api_did_is_what_must_be_kept() {
    let folder = locked();
    let old = ["--old-server", "python3 api.py {port} old"];
    let found = gate(&folder, "fill", &[SEEN, &old].concat()).json();
    let post = of(&found, "POST /deployments");
    assert!(post.get("faults").is_none(), "{post}");
    let found = gate(&folder, "elsewhere", &[SEEN, &old].concat()).code(1).json();
    let post = of(&found, "POST /deployments").to_string();
    assert!(post.contains("it made other requests than the"), "{post}");
}

#[test]
fn silence_of_a_recorder_that_nothing_ever_reached_shows_nothing() {
    let folder = locked();
    let found = gate(&folder, "deaf", SEEN).json();
    assert_eq!(answers(of(&found, "POST /deployments"))[2], "undecided");
}

#[test]
fn nothing_with_effects_is_sent_unless_it_is_allowed_and_credentials_are_not_shown() {
    let folder = locked();
    folder.file("steadfast.toml", "[policy]\nfail-on = \"never\"\nundecided = \"warn\"\n");
    let found = gate(&folder, "refuse", &[]).code(3);
    found.says(
        "--allow-effects 'POST /deployments'` lets it be called; by its method it may have effects",
    );
    let words = ["gate", "--execute", "new.json", "--api", "python3 api.py {port} refuse"];
    let mut with_token = command(&folder.path("."));
    let output = with_token.args(words).env("STEADFAST_BEARER", "hush-hush").output();
    let output = output.expect("it runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("[hidden]") && !out.contains("hush-hush"), "{out}");
    gate(&folder, "refuse", &["--allow-effects", "POST /deployment"])
        .code(2)
        .complains("no changed operation `POST /deployment`");
    let nothing = ["gate", "--execute", "new.json"];
    folder.run(&nothing).code(2).complains("There is no API that could be asked");
    let words = ["gate", "--execute", "new.json", "--api"];
    folder
        .run(&[&words[..], &["python3 api.py 1"]].concat())
        .code(2)
        .complains("where the port goes");
    let ends = folder.run(&[&words[..], &["python3 nowhere.py {port}"]].concat()).code(2);
    ends.complains("before it listened").complains("nowhere.py");
}
