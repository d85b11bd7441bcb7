//! Lock and gate: what is accepted, and what stands in the way.

use crate::run::{Folder, broken, grown, plain};
use crate::snapshot::scripted;

/// A folder in which `tools.json` is locked.
fn locked() -> Folder {
    let folder = Folder::new();
    folder.file("tools.json", plain()).run(&["lock", "tools.json"]).code(0).says("1 entry locked");
    folder
}

#[test]
fn from_lock_to_gate_and_back() {
    let folder = locked();
    let lock = folder.read("steadfast.lock");
    folder.run(&["gate", "tools.json"]).code(0).says("nothing changed");
    folder.run(&["lock", "tools.json", "--check"]).code(0);

    folder.file("tools.json", broken());
    folder.run(&["gate"]).code(1).says("Review record").says("ASKED FOR");
    folder.run(&["lock", "tools.json", "--check"]).code(1).says("behind").says("revision 2");
    assert_eq!(folder.read("steadfast.lock"), lock, "--check wrote");

    folder.run(&["lock", "tools.json"]).code(0).says("changed: t (revision 2)");
    folder.run(&["gate"]).code(0);
    folder.run(&["lock", "tools.json"]).code(0).says("up to date");

    folder.file("tools.json", plain()).run(&["lock", "tools.json"]).code(0).says("revision 3");
}

#[test]
fn what_is_safe_passes_and_is_not_accepted_by_itself() {
    let folder = locked();
    let lock = folder.read("steadfast.lock");
    folder.file("tools.json", grown()).run(&["gate"]).code(0);
    assert_eq!(folder.read("steadfast.lock"), lock);
    folder.run(&["lock", "tools.json", "--check"]).code(1);
}

#[test]
fn a_gate_without_a_lock_says_how_to_write_one() {
    let folder = Folder::new();
    folder.file("tools.json", plain());
    folder
        .run(&["gate", "tools.json"])
        .code(2)
        .complains("There is no lock yet")
        .complains("steadfast lock TARGET");
}

#[test]
fn nothing_is_started_on_the_word_of_a_file() {
    let folder = locked();
    let lock = folder.read("steadfast.lock");
    let witness = folder.path("started");
    let source =
        format!(r#""source": {{"command": ["touch", {:?}]}}"#, witness.display().to_string());
    let start = lock.find("\"source\"").expect("a source");
    let end = start + lock[start..].find('}').expect("its end") + 1;
    folder.file("steadfast.lock", format!("{}{source}{}", &lock[..start], &lock[end..]));
    folder.run(&["gate"]).code(2).complains("not started or asked on the word of a file");
    assert!(!witness.exists());
}

#[test]
fn suppressions_accept_until_their_day() {
    let folder = locked();
    folder.file("tools.json", broken());
    let found = folder.run(&["gate", "--format", "json"]).code(1).json();
    let fingerprint = found["tools"][0]["changes"][0]["fingerprint"].clone();
    let suppress = |until: &str| {
        format!(
            "[[suppress]]\nfinding = {fingerprint}\nreason = \"agreed with all clients\"\nuntil = {until}\n"
        )
    };
    folder.file("steadfast.toml", suppress("2999-12-31")).run(&["gate"]).code(0);
    folder.file("steadfast.toml", suppress("2020-12-31")).run(&["gate"]).code(1).says("SF901");
    folder.file("steadfast.toml", suppress("2999-12-31"));
    folder.file("tools.json", plain()).run(&["gate"]).code(0).says("SF902");
    // Levels make the finding about the settings count.
    let strict = format!("{}[rules]\nSF902 = \"fail\"\n", suppress("2999-12-31"));
    folder.file("steadfast.toml", strict).run(&["gate"]).code(1);
}

#[test]
fn the_review_record_takes_what_people_know() {
    let folder = locked();
    folder.file("tools.json", broken()).file(
        "steadfast.toml",
        "[[review]]\nsubject = \"t\"\nwindow = \"both until March\"\nfixture = \"fixtures/t.json\"\n",
    );
    folder
        .run(&["gate"])
        .code(1)
        .says("both until March")
        .says("fixtures/t.json")
        .does_not_say("ASKED FOR");
}

#[test]
fn policies_move_the_threshold() {
    let folder = locked();
    folder.file("tools.json", broken());
    folder
        .file("steadfast.toml", "[policy]\nfail-on = \"never\"\n")
        .run(&["gate"])
        .code(0)
        .says("REFUSE");
    folder
        .file("steadfast.toml", "[policy]\nfail-on = \"nevr\"\n")
        .run(&["gate"])
        .code(2)
        .complains("steadfast.toml:2:11: \"nevr\" is no value of fail-on. Did you mean never?");
    folder
        .file("own.toml", "[policy]\nfail-on = \"refuse\"\n")
        .run(&["gate", "--config", "own.toml"])
        .code(1);
}

#[test]
fn single_tools_are_accepted() {
    let folder = Folder::new();
    let list = |a: &str, b: &str| {
        format!(
            r#"{{"tools":[{{"name":"a","inputSchema":{{"type":"object","description":"{a}"}}}},{{"name":"b","inputSchema":{{"type":"object","description":"{b}"}}}}]}}"#
        )
    };
    folder.file("tools.json", list("1", "1")).run(&["lock", "tools.json"]).code(0);
    folder.file("tools.json", list("2", "2"));
    folder
        .run(&["lock", "tools.json", "--accept", "a"])
        .code(0)
        .says("changed: a (revision 2)")
        .does_not_say("b (revision");
    folder
        .run(&["lock", "tools.json", "--accept", "zz"])
        .code(2)
        .complains("There is no tool \"zz\"");
}

#[test]
fn an_api_is_locked_and_gated() {
    let folder = Folder::new();
    let api = |required: &str| {
        format!(
            "openapi: 3.0.3\ninfo: {{title: t, version: '1'}}\npaths:\n  /orders:\n    post:\n      parameters:\n      - {{name: region, in: query, required: {required}, schema: {{type: string}}}}\n      responses:\n        '200': {{description: ok}}\n"
        )
    };
    folder.file("api.yaml", api("false")).run(&["lock", "api.yaml", "-o", "api.lock"]).code(0);
    folder.run(&["gate", "api.yaml", "--lock", "api.lock"]).code(0);
    folder
        .file("api.yaml", api("true"))
        .run(&["gate", "--lock", "api.lock"])
        .code(1)
        .says("region");
    folder.run(&["lock", "api.yaml", "-o", "api.lock"]).code(0).says("POST /orders (revision 2)");
}

#[test]
fn every_format_carries_the_record() {
    let folder = locked();
    folder.file("tools.json", broken());
    for format in ["text", "json", "markdown", "github", "sarif", "junit"] {
        let outcome = folder.run(&["gate", "--format", format]).code(1);
        assert!(!outcome.out.is_empty(), "{format}");
    }
    let found = folder.run(&["gate", "--format", "json"]).json();
    assert!(found["review"].is_object() || found["review"].is_array(), "{found:#}");
}

#[test]
fn a_running_server_is_locked_and_gated() {
    let folder = Folder::new();
    let server = scripted().display().to_string();
    folder.run(&["lock", "--", &server, "--era", "dual"]).code(0).says("3 entries locked");
    folder.run(&["gate", "--", &server, "--era", "dual"]).code(0).says("nothing changed");
    // The same server in the other era serves the same contract; a server that dies is no contract.
    folder.run(&["gate", "--", &server, "--era", "legacy"]).code(0);
    let lock = folder.read("steadfast.lock");
    folder.run(&["gate", "--timeout", "20", "--", "false"]).code(2).complains("error: ");
    folder.run(&["lock", "--timeout", "20", "--", "false"]).code(2);
    assert_eq!(folder.read("steadfast.lock"), lock);
}
