//! What a refusal says is true, and says what moved; and what one client sends leaves in its order.

use crate::live::{Era, Live, code, phase, ran, text, tool};
use crate::run::Folder;
use serde_json::{Value, json};

fn deploy(project: &str) -> Value {
    let properties = json!({"project": {"type": "string", "description": project}});
    tool("deploy", properties, json!(["project"]))
}

fn call() -> Value {
    json!({"project": "shop"})
}

#[tokio::test]
async fn a_name_that_is_listed_twice_is_refused_for_that() {
    let region = json!({"project": {"type": "string"}, "region": {"type": "string"}});
    let twice = json!([deploy("Slug"), tool("deploy", region, json!(["project", "region"]))]);
    let mut live = Live::listed(Era::Legacy, json!({"phases": [phase(twice)]})).await;
    let answer = live.call("deploy", call()).await;
    assert_eq!(code(&answer), "TOOL_AMBIGUOUS");
    assert!(text(&answer).contains("more than one tool by the name `deploy`"), "{}", text(&answer));
    assert!(!text(&answer).contains("changed"), "{}", text(&answer));
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn a_name_that_came_to_be_listed_twice_is_not_said_to_go_back_and_forth() {
    let region = json!({"project": {"type": "string"}, "region": {"type": "string"}});
    let other = tool("deploy", region, json!(["project", "region"]));
    let phases = [phase(json!([deploy("Slug")])), phase(json!([deploy("Slug"), other]))];
    let mut live = Live::listed(Era::Legacy, json!({ "phases": phases })).await;
    for round in 0..3 {
        live.recorder.switch(0);
        live.list().await;
        live.recorder.switch(1);
        live.list().await;
        let answer = live.call("deploy", call()).await;
        assert_eq!(code(&answer), "TOOL_AMBIGUOUS", "{round}");
        assert!(!text(&answer).contains("back and forth"), "{round}: {}", text(&answer));
        assert_eq!(answer["result"]["_meta"]["steadfast/refusal"]["retry"], "no", "{round}");
    }
    live.leave().await;
}

#[tokio::test]
async fn while_a_list_goes_back_and_forth_nobody_is_told_that_repeating_is_futile() {
    let phases = [
        phase(json!([deploy("Slug of the project")])),
        phase(json!([deploy("Numeric id of the project")])),
    ];
    let mut live = Live::listed(Era::Legacy, json!({ "phases": phases })).await;
    live.recorder.switch(1);
    for _ in 0..2 {
        assert_eq!(code(&live.call("deploy", call()).await), "STALE_TOOL_SCHEMA");
    }
    // The server is rolled back to what the client planned with.
    live.recorder.switch(0);
    let third = live.call("deploy", call()).await;
    let data = &third["result"]["_meta"]["steadfast/refusal"];
    assert_ne!(data["required_action"], "stop", "{third}");
    assert!(text(&third).contains("once it has held still"), "{}", text(&third));
    // A few readings in a row are what two replicas may give by chance; who rolled it back knows.
    for _ in 0..20 {
        assert!(!ran(&live.call("deploy", call()).await));
    }
    let (code_, _, err) = live.person(&["accept", "scripted/deploy", "--yes"]).await;
    assert_eq!(code_, 0, "{err}");
    let answer = live.call("deploy", call()).await;
    assert!(ran(&answer), "{answer}");
    live.leave().await;
}

#[tokio::test]
async fn a_refusal_shows_what_moved() {
    let size = |most: u64| {
        let size = json!({"size": {"type": "integer", "maximum": most}});
        phase(json!([tool("resize", size, json!(["size"]))]))
    };
    let mut live = Live::listed(Era::Legacy, json!({"phases": [size(100), size(50)]})).await;
    live.recorder.switch(1);
    let answer = live.call("resize", json!({"size": 80})).await;
    assert_eq!(code(&answer), "STALE_TOOL_SCHEMA");
    assert!(text(&answer).contains("was 100, is 50"), "{}", text(&answer));
    live.leave().await;
}

#[tokio::test]
async fn the_time_that_is_given_holds_for_the_readings_of_the_list() {
    let mut slow = phase(json!([deploy("Slug")]));
    slow["list_takes"] = json!(600_000);
    let script = json!({"phases": [phase(json!([deploy("Slug")])), slow]});
    let mut live = Live::start(Era::Legacy, script, &["--timeout", "1"]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    assert_eq!(code(&live.call("deploy", call()).await), "CONTRACT_UNVERIFIED");
    assert!(live.said().contains("did not answer tools/list within 1s"), "{}", live.said());
    live.leave().await;
}

#[tokio::test]
async fn what_is_asked_after_a_call_leaves_after_it() {
    let mut slow = phase(json!([deploy("Slug")]));
    slow["list_takes"] = json!(300);
    let mut live = Live::listed(Era::Legacy, json!({"phases": [slow]})).await;
    let before = live.ask("lab/listed", json!({})).await["result"]["times"].as_u64().unwrap();
    let first = live.begin("tools/call", json!({"name": "deploy", "arguments": call()})).await;
    let second = live.begin("lab/listed", json!({})).await;
    let after = live.answer(&json!(second)).await["result"]["times"].as_u64().unwrap();
    assert!(after > before, "it went before the list was read for the call");
    assert!(ran(&live.answer(&json!(first)).await));
    live.leave().await;
}

#[test]
fn a_command_that_is_not_there_is_said_at_once() {
    let folder = Folder::new();
    for missing in ["no-such-program-anywhere", "./no-such-file"] {
        let outcome = folder.run(&["wrap", "--store", "state.db", "--", missing]);
        outcome.code(2).complains("There is no such program to start.");
    }
    assert!(!folder.names().contains("state.db"));
}
