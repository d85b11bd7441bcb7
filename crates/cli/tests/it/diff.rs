//! Comparing files: forms, formats, exit codes.

use crate::run::{Folder, broken, command, grown, plain};
use std::process::Stdio;

#[test]
fn the_example_needs_nothing() {
    let folder = Folder::new();
    folder
        .run(&["diff", "--example"])
        .code(0)
        .says("tavily-mcp 0.2.9")
        .says("allow_external")
        .does_not_say("\u{1b}");
    assert!(folder.names().is_empty());
    let found = folder.run(&["diff", "--example", "--format", "json"]).code(0).json();
    assert_eq!(found["kind"], "tools");
    assert!(found["tools"].as_array().is_some_and(|tools| !tools.is_empty()));
}

#[test]
fn every_form_of_a_list_is_the_same_list() {
    let folder = Folder::new();
    let tool = r#"{"name":"t","description":"Does it.","inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}"#;
    folder
        .file("list.json", plain())
        .file("rpc.json", format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, plain()))
        .file("array.json", format!("[{tool}]"))
        .file("tool.json", tool)
        .file("folder/t.snap", tool)
        .file("folder/README.md", "not a tool")
        .file("snapshot.json", format!("{{\"steadfast_snapshot\":1,{}", &plain()[1..]))
        .file(
            "list.yaml",
            "tools:\n- name: t\n  description: Does it.\n  inputSchema:\n    type: object\n    required: [a]\n    properties:\n      a: {type: string}\n",
        );
    folder.run(&["lock", "list.json", "-o", "list.lock"]).code(0);
    for other in
        ["rpc.json", "array.json", "tool.json", "folder", "snapshot.json", "list.yaml", "list.lock"]
    {
        let found = folder.run(&["diff", "list.json", other, "--format", "json"]).code(0).json();
        assert_eq!(found["verdict"], "safe", "{other}");
        assert_eq!(found["counts"]["unchanged"], 1, "{other}");
    }
    let piped = folder.run_with(&["diff", "-", "list.json"], plain().as_bytes()).code(0);
    assert!(piped.out.contains("nothing changed"), "{}", piped.out);
}

#[test]
fn exit_codes_follow_the_threshold() {
    let folder = Folder::new();
    folder.file("old.json", plain()).file("broken.json", broken()).file("grown.json", grown());
    folder.run(&["diff", "old.json", "broken.json"]).code(0).says("REFUSE");
    folder.run(&["diff", "old.json", "broken.json", "--fail-on", "refuse"]).code(1);
    folder.run(&["diff", "old.json", "broken.json", "--fail-on", "adapt"]).code(1);
    folder.run(&["diff", "old.json", "grown.json", "--fail-on", "new-name"]).code(0);
    folder.run(&["diff", "old.json", "old.json", "--fail-on", "new-name"]).code(0);
}

#[test]
fn every_format_is_written() {
    let folder = Folder::new();
    folder.file("old.json", plain()).file("new.json", broken());
    for (format, part) in [
        ("text", "REFUSE"),
        ("json", "\"verdict\": \"refuse\""),
        ("markdown", "refuse"),
        ("github", "::error"),
        ("sarif", "\"version\": \"2.1.0\""),
        ("junit", "<testsuite"),
    ] {
        let outcome =
            folder.run(&["diff", "old.json", "new.json", "--format", format]).code(0).says(part);
        assert!(outcome.err.is_empty(), "{format}: {}", outcome.err);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::new();
    folder.file("old.json", plain()).file("new.json", broken());
    let run = || folder.run(&["diff", "old.json", "new.json", "--format", "json"]).out;
    assert_eq!(run(), run());
}

#[test]
fn settings_are_applied_where_they_are_named() {
    let folder = Folder::new();
    folder.file("old.json", plain()).file("new.json", broken());
    let found = folder.run(&["diff", "old.json", "new.json", "--format", "json"]).json();
    let change = &found["tools"][0]["changes"][0];
    let text = format!(
        "[[suppress]]\nfinding = {}\nreason = \"agreed\"\nuntil = 2999-01-01\n",
        change["fingerprint"]
    );
    folder.file("steadfast.toml", text);
    folder.run(&["diff", "old.json", "new.json"]).code(0).says("REFUSE");
    folder
        .run(&["diff", "old.json", "new.json", "--config", "steadfast.toml"])
        .code(0)
        .does_not_say("REFUSE");
    folder
        .run(&["diff", "old.json", "new.json", "--config", "none.toml"])
        .code(2)
        .complains("none.toml: There is no such file");
}

#[test]
fn colour_is_for_terminals() {
    let folder = Folder::new();
    folder.file("old.json", plain()).file("new.json", broken());
    let run = |name: &str, value: &str| {
        let output = command(&folder.path(""))
            .args(["diff", "old.json", "new.json"])
            .env(name, value)
            .output()
            .expect("the binary runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(run("CLICOLOR_FORCE", "1").contains('\u{1b}'));
    assert!(!run("CLICOLOR", "1").contains('\u{1b}'));
    let both = command(&folder.path(""))
        .args(["diff", "old.json", "new.json"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary runs");
    assert!(!String::from_utf8_lossy(&both.stdout).contains('\u{1b}'));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let mut child = command(&folder.path(""))
        .args(["diff", "--example", "--format", "json", "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
