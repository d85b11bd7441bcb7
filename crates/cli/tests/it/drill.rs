//! `steadfast drill` against made-up servers: the three outcomes, and what it may not do.

use crate::run::Folder;
use lab::Recorder;
use serde_json::{Value, json};

/// A folder with the script of one server, and a recorder for it.
struct Scene {
    folder: Folder,
    recorder: Recorder,
    runtime: tokio::runtime::Runtime,
}

fn tool(name: &str, annotations: Value) -> Value {
    json!({
        "name": name, "description": "Does one thing.", "annotations": annotations,
        "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
    })
}

fn scene(tool: Value, deed: Value) -> Scene {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let recorder = runtime.block_on(Recorder::start()).unwrap();
    let folder = Folder::new();
    let name = tool["name"].as_str().unwrap().to_owned();
    let script = json!({"phases": [{"tools": [tool], "deeds": {name: deed}}]});
    folder.file("script.json", script.to_string());
    Scene { folder, recorder, runtime }
}

impl Scene {
    fn drill(&self, flags: &[&str]) -> crate::run::Outcome {
        let url = self.recorder.url();
        let mut words = vec!["drill"];
        words.extend(flags);
        let own = env!("CARGO_BIN_EXE_steadfast");
        words.extend(["--", own, "demo", "--script", "script.json", "--recorder", &url]);
        let _inside = self.runtime.enter();
        self.folder.run(&words)
    }
}

#[test]
fn a_server_that_names_what_is_missing_is_safe_and_repairable() {
    let scene =
        scene(tool("get_time", json!(null)), json!({"validates": true, "answer": {"now": 1}}));
    scene
        .drill(&[])
        .code(0)
        .says("passed      get_time  refused (effects not observed); the error names `zone`, so a model can repair the call")
        .says("it only reads, by its name")
        .says("the old client did not know `zone`, which is required now")
        .says("get_time({\"zone\":\"test\"}) answered");
    assert_eq!(scene.recorder.calls().len(), 3, "control, without, under another name");
}

#[test]
fn a_server_that_goes_on_is_safe_only_where_it_does_what_it_did() {
    let deed = json!({"path": "/x", "answer": {"now": 1}});
    let scene = scene(tool("get_time", json!(null)), deed);
    // It only reads, and the answer is the same as that of the control call.
    scene.drill(&[]).code(0).says("kept the old safe behaviour");
    let mut moved = tool("get_time", json!(null));
    moved["inputSchema"]["properties"]["zone"]["description"] = json!("Slug of the zone");
    scene.folder.file("old.json", json!({"tools": [moved]}).to_string());
    let now = scene.folder.read("script.json");
    let numeric = r#"{"type":"string","description":"Numeric id of the zone"}"#;
    scene.folder.file("script.json", now.replace(r#"{"type":"string"}"#, numeric));
    scene.drill(&["--old", "old.json"]).code(1).says(
        "did something else: it carried the old call out although its meaning or reach moved",
    );
}

#[test]
fn an_argument_that_is_ignored_without_a_word_is_not_safe() {
    let mut open = tool("list_zones", json!(null));
    open["inputSchema"]["required"] = json!([]);
    let scene = scene(open, json!({"answer": {"zones": []}}));
    scene.drill(&["--format", "json"]).code(1).says("it ignored `previous_scope` without a word");
}

#[test]
fn a_tool_with_effects_must_do_in_the_world_what_it_did() {
    let scene = scene(tool("wipe", json!(null)), json!({"path": "/x", "answer": {"done": true}}));
    let own = env!("CARGO_BIN_EXE_steadfast");
    let line = format!("exec {own} demo --script script.json --recorder \"$WORLD\"");
    scene
        .folder
        .run(&["drill", "--recorder", "WORLD", "--allow-effects", "wipe", "--", "sh", "-c", &line])
        .code(1)
        .says("it carried out a call without `zone`, which it requires")
        .says("1 requests reached the recorder (WORLD) during the old call");
}

#[test]
fn effects_are_seen_where_the_server_is_sent_to_the_recorder() {
    let deed = json!({"path": "/x", "fault": "fails-after"});
    let scene = scene(tool("wipe", json!(null)), deed);
    let own = env!("CARGO_BIN_EXE_steadfast");
    let line = format!("exec {own} demo --script script.json --recorder \"$WORLD\"");
    let refused = scene.folder.run(&["drill", "--recorder", "WORLD", "--", "sh", "-c", &line]);
    refused
        .code(2)
        .complains("nothing was called")
        .complains("--allow-effects TOOL. There are: wipe.");
    scene
        .folder
        .run(&["drill", "--recorder", "WORLD", "--allow-effects", "wipe", "--", "sh", "-c", &line])
        .code(1)
        .says("it answered a clean error, but a request had left");
}

#[test]
fn a_kept_contract_gives_the_old_call() {
    let deed = json!({"validates": true, "answer": {"now": 1}});
    let scene = scene(tool("get_time", json!({"readOnlyHint": true})), deed);
    let old = json!({"tools": [{
        "name": "get_time", "description": "Does one thing.", "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    }]});
    scene.folder.file("old.json", old.to_string());
    scene.drill(&["--old", "old.json"]).code(0).says("refused").says("\"place\"");
    scene.folder.run(&["lock", "old.json"]).code(0);
    let outcome =
        scene.drill(&[]).code(0).complains("The old contract is taken from steadfast.lock");
    assert!(outcome.out.contains("\"place\""), "{}", outcome.out);
}

#[test]
fn what_cannot_be_told_is_said_to_be_so() {
    let scene = scene(tool("get_time", json!(null)), json!({"fault": "fails"}));
    scene.drill(&[]).code(3).says("undecided").says("the control call failed too");
    scene.drill(&["--tool", "get_tme"]).code(2).complains("lists no tool `get_tme`");
    scene.folder.run(&["drill", "--", "false"]).code(2);
    scene.folder.run(&["drill", "nowhere"]).code(2).complains("not the address of a server");
}

#[test]
fn a_server_over_http_is_drilled_in_both_eras() {
    let scene =
        scene(tool("get_time", json!(null)), json!({"validates": true, "answer": {"now": 1}}));
    let mut command = crate::run::command(scene.folder.path(".").as_path());
    let url = scene.recorder.url();
    command.args(["demo", "--script", "script.json", "--web", "--recorder", &url]);
    let mut server = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let address = scene.recorder.address(std::time::Duration::from_secs(30));
    let address = scene.runtime.block_on(address).expect("the server says where it is");
    for era in ["legacy", "modern"] {
        let outcome = scene.folder.run(&["drill", "--era", era, &address]);
        outcome.code(0).says("the error names `zone`, so a model can repair the call");
    }
    // It ends when nobody holds its input any more.
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}
