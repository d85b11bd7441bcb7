//! How a person sees running gateways and accepts what changed: `status`, `tail`, `accept`.

use crate::live::{Era, Live, code, phase, ran, tool};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

fn deploy(properties: Value) -> Value {
    phase(json!([
        tool("deploy", properties, json!(["project"])),
        tool("look", json!({}), json!([]))
    ]))
}

fn before() -> Value {
    deploy(json!({"project": {"type": "string"}}))
}

/// The same call reaches further: an account can be chosen.
fn wider() -> Value {
    deploy(json!({"project": {"type": "string"}, "account_id": {"type": "string"}}))
}

fn meaning_moved() -> Value {
    let project = json!({"type": "string", "description": "Numeric id of the project"});
    deploy(json!({ "project": project }))
}

async fn status(live: &Live) -> Value {
    let (code, out, err) = live.person(&["status", "--format", "json"]).await;
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn of<'a>(status: &'a Value, name: &str) -> &'a Value {
    let tools = status["gateways"][0]["sessions"][0]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["tool"] == name).unwrap_or_else(|| panic!("{status:#}"))
}

#[tokio::test]
async fn four_contracts_of_a_live_session_before_during_and_after_a_drift() {
    let script = json!({"phases": [deploy(json!({"project": {"type": "string", "description": "Slug of the project"}})), meaning_moved()]});
    let mut live = Live::listed(Era::Legacy, script).await;
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    let before = status(&live).await;
    let tool = of(&before, "deploy");
    let first = tool["advertised"][0]["digest"].clone();
    assert_eq!(tool["advertised"][0]["ordinal"], 1);
    assert_eq!(tool["snapshot"]["last"]["digest"], first);
    assert_eq!(tool["snapshot"]["grade"], "session");
    assert_eq!(tool["execution"]["decision"], "forward");
    assert_eq!(tool["granted"]["revision"]["digest"], first);
    assert_eq!(tool["granted"]["how"], "first-seen");
    assert_eq!(tool["calls"]["last"]["ran_under"], first);
    assert_eq!(before["gateways"][0]["sessions"][0]["upstream"]["running"], true);

    live.recorder.switch(1);
    assert_eq!(code(&live.call("deploy", json!({"project": "42"})).await), "STALE_TOOL_SCHEMA");
    let during = status(&live).await;
    let tool = of(&during, "deploy");
    let second = tool["advertised"][0]["digest"].clone();
    assert_ne!(second, first);
    assert_eq!(tool["advertised"][0]["ordinal"], 2);
    assert_eq!(tool["snapshot"]["last"]["digest"], first, "the client has not looked again");
    assert_eq!(tool["execution"]["decision"], "refuse");
    assert_eq!(tool["execution"]["code"], "STALE_TOOL_SCHEMA");
    assert_eq!(tool["execution"]["over"], json!(["project"]));
    assert_eq!(tool["execution"]["runs_under"], json!([second]));
    assert_eq!(tool["granted"]["revision"]["digest"], first);
    assert_eq!(tool["calls"]["last"]["code"], "STALE_TOOL_SCHEMA");
    let (_, text, _) = live.person(&["status"]).await;
    assert!(text.contains("execution   refuse STALE_TOOL_SCHEMA over project"), "{text}");
    assert!(text.contains("what is live is not granted"), "{text}");
    assert!(text.contains("1 tool as granted: look"), "{text}");

    live.list().await;
    let after = status(&live).await;
    let tool = of(&after, "deploy");
    assert_eq!(tool["snapshot"]["last"]["digest"], second);
    assert_eq!(tool["execution"]["decision"], "forward");
    assert_eq!(tool["granted"]["revision"]["digest"], first, "no client moves what was granted");
    live.leave().await;

    let asleep = status(&live).await;
    assert_eq!(asleep["gateways"], json!([]));
    let remembered = &asleep["remembered"][0];
    assert_eq!(remembered["server"], "scripted");
    assert_eq!(remembered["tools"][0]["advertised"]["digest"], second);
    assert_eq!(remembered["tools"][0]["granted"]["revision"]["digest"], first);
}

#[tokio::test]
async fn status_narrows_to_a_server_and_a_tool_and_names_what_is_unknown() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [before()]})).await;
    let (code, text, err) = live.person(&["status", "scripted/look"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(text.contains("\n  look\n") && !text.contains("deploy"), "{text}");
    let (code, _, err) = live.person(&["status", "scripted/nothing"]).await;
    assert_eq!(code, 2);
    assert!(err.contains("never listed a tool of this name"), "{err}");
    let (code, _, err) = live.person(&["status", "elsewhere"]).await;
    assert_eq!(code, 2);
    assert!(err.contains("Known are: `scripted`"), "{err}");
    live.leave().await;
}

#[tokio::test]
async fn the_socket_is_the_owners_alone_and_goes_with_the_gateway() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [before()]})).await;
    let folder = live.folder.path().join("state.db.run");
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let sockets =
        || std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(mode(&sockets()[0]), 0o600);
    // What a process left that is gone is removed by whoever looks.
    let stale = folder.join("2147483646.sock");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    status(&live).await;
    assert!(!stale.exists());
    assert_eq!(sockets().len(), 1);
    live.leave().await;
    assert!(sockets().is_empty());
}

#[tokio::test]
async fn a_socket_that_is_asked_nonsense_says_so_and_changes_nothing() {
    use tokio::io::AsyncWriteExt;
    let mut live = Live::listed(Era::Legacy, json!({"phases": [before()]})).await;
    let folder = live.folder.path().join("state.db.run");
    let socket = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut stream = tokio::net::UnixStream::connect(socket).await.unwrap();
    let long = "x".repeat(64 << 10);
    for question in ["{}", "grant everything", "{\"ask\":\"accept\"}", &long] {
        stream.write_all(format!("{question}\n").as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(stream).lines();
    for _ in 0..4 {
        let line =
            timeout(Duration::from_secs(10), lines.next_line()).await.unwrap().unwrap().unwrap();
        assert!(line.starts_with("{\"error\":"), "{line}");
    }
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    live.leave().await;
}

#[tokio::test]
async fn observing_tells_what_would_have_been_stopped() {
    let script = json!({"phases": [deploy(json!({"project": {"type": "string", "description": "Slug of the project"}})), meaning_moved()]});
    let mut live = Live::start(Era::Legacy, script, &["--observe"]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    for _ in 0..2 {
        assert!(ran(&live.call("deploy", json!({"project": "42"})).await));
    }
    let now = status(&live).await;
    assert_eq!(now["gateways"][0]["sessions"][0]["observe"], true);
    assert_eq!(of(&now, "deploy")["calls"]["would"], json!({"STALE_TOOL_SCHEMA": 2}));
    let (_, text, _) = live.person(&["status"]).await;
    assert!(text.contains("2 calls would have been stopped: STALE_TOOL_SCHEMA"), "{text}");
    live.leave().await;
}

#[tokio::test]
async fn tail_follows_gateways_that_run_and_those_that_start_later() {
    let script = json!({"phases": [deploy(json!({"project": {"type": "string", "description": "Slug of the project"}})), meaning_moved()]});
    let mut live = Live::listed(Era::Legacy, script).await;
    let mut tail = tokio::process::Command::new(env!("CARGO_BIN_EXE_steadfast"))
        .args(["tail", "--format", "json", "--store"])
        .arg(live.store())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    live.recorder.switch(1);
    // The tail connects in its own time; the call is refused as often as it takes.
    let told = async {
        loop {
            live.call("deploy", json!({"project": "42"})).await;
            let line = timeout(Duration::from_millis(500), lines.next_line()).await;
            if let Ok(line) = line {
                return line.unwrap().unwrap();
            }
        }
    };
    let line = timeout(Duration::from_secs(30), told).await.unwrap();
    let event: Value = serde_json::from_str(&line).unwrap();
    assert!(event["at"].is_u64() && event["server"] == "scripted", "{event}");
    let kind = event["kind"].as_str().unwrap();
    assert!(["refused", "changed"].contains(&kind), "{event}");
    live.leave().await;
}

#[tokio::test]
async fn accepting_shows_the_change_and_holds_from_the_next_call_on() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [before(), wider()]})).await;
    live.recorder.switch(1);
    let call = json!({"project": "shop", "account_id": "a-7"});
    assert_eq!(code(&live.call("deploy", call.clone()).await), "AUTHORITY_WIDENED");

    let (code_, _, err) = live.person(&["accept", "scripted/deploy"]).await;
    assert_eq!(code_, 2, "nobody can be asked");
    assert!(err.contains("--yes"), "{err}");
    let granted = status(&live).await;
    assert_eq!(of(&granted, "deploy")["granted"]["how"], "first-seen");

    let (code_, text, err) = live.person(&["accept", "scripted/deploy", "--yes"]).await;
    assert_eq!(code_, 0, "{err}");
    assert!(text.contains("account_id") && text.contains("accepted: deploy"), "{text}");
    assert!(ran(&live.call("deploy", call).await), "the gateway that runs sees it");
    let granted = status(&live).await;
    let tool = of(&granted, "deploy");
    assert_eq!(tool["granted"]["how"], "accepted");
    assert_eq!(tool["granted"]["revision"]["digest"], tool["advertised"][0]["digest"]);

    let (code_, text, _) = live.person(&["accept", "scripted", "--yes", "--format", "json"]).await;
    assert_eq!(code_, 0);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["accepted"], json!([]));
    live.leave().await;
}

#[tokio::test]
async fn a_server_that_goes_back_is_on_record_as_it_is_now() {
    let mut live =
        Live::listed(Era::Legacy, json!({"phases": [before(), wider(), before()]})).await;
    live.call("deploy", json!({"project": "shop"})).await;
    for phase in [1, 2] {
        live.recorder.switch(phase);
        live.call("look", json!({})).await;
    }
    let (code, text, _) = live.person(&["accept", "scripted", "--yes"]).await;
    assert_eq!(code, 0);
    assert!(text.contains("granted already"), "{text}");
    live.leave().await;
}

#[tokio::test]
async fn a_gateway_of_many_clients_tells_of_each_session() {
    use crate::front::Gateway;
    let gateway = Gateway::start(json!({"phases": [before(), wider()]})).await;
    // The second greets before the server moves: what it reads of itself meanwhile must not pass for fresh.
    let (mut one, mut two) = (gateway.client(Era::Legacy).await, gateway.client(Era::Legacy).await);
    one.list().await;
    gateway.recorder.switch(1);
    two.list().await;
    let store = gateway.store().display().to_string();
    let asked = ["status", "lab/deploy", "--format", "json", "--store", store.as_str()];
    let shown = gateway.run(&asked).await;
    let status: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown}"));
    let sessions = status["gateways"][0]["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{status:#}");
    let seen = |n: usize| &sessions[n]["tools"][0]["snapshot"]["last"]["digest"];
    assert_ne!(seen(0), seen(1), "each was shown its own");
    assert!(sessions.iter().all(|session| session["server"] == "lab"));
    gateway.stop();
    gateway.ended().await;
}
