//! What a server or a client does wrong in the middle of a call: everything ends, and is on record as what it was.

use crate::front::{Gateway, LEGACY, Stream};
use crate::live::{Era, Live, code, phase, ran, text, tool};
use crate::web::Web;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{Access, ActivityQuery, Options, SessionQuery, Sqlite, Store};

fn deploy() -> Value {
    let properties = json!({"project": {"type": "string", "description": "Slug of the project"}});
    phase(json!([tool("deploy", properties, json!(["project"]))]))
}

fn with_fault(fault: &str) -> Value {
    let mut phase = deploy();
    phase["deeds"]["deploy"]["fault"] = json!(fault);
    phase
}

#[tokio::test]
async fn an_answer_that_is_no_message_leaves_its_call_in_doubt_and_not_waiting() {
    for fault in ["garbles", "breaks-off"] {
        let script = json!({"phases": [with_fault(fault), deploy()]});
        let mut live = Live::listed(Era::Legacy, script).await;
        let answer = live.call("deploy", json!({"project": "shop"})).await;
        assert_eq!(code(&answer), "OUTCOME_UNKNOWN", "{fault}");
        assert!(text(&answer).contains("no message"), "{fault}: {}", text(&answer));
        assert_eq!(live.reached().len(), 1);
        live.leave().await;
        let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
        let activity = store.activity(ActivityQuery::default()).await.unwrap();
        let last = activity[0].attempts[0].outcomes.last().unwrap();
        assert_eq!(last.state.as_str(), "in-doubt", "{fault}");
    }
}

#[tokio::test]
async fn the_stream_of_a_request_that_was_withdrawn_ends() {
    let gateway = Gateway::start(json!({"phases": [with_fault("silent-after")]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let call =
        client.message("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}}));
    // A question that is never answered, and a call that is not.
    let silent = client.message("lab/silent", json!({}));
    for message in [silent, call] {
        let mut stream = Stream::new(client.send(&message).send().await.unwrap());
        let params = json!({"requestId": message["id"]});
        let withdrawn =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        client.send(&withdrawn).send().await.unwrap();
        assert_eq!(stream.next().await, None, "nothing is said, and the stream ends");
    }
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_session_whose_client_left_during_a_call_that_is_never_answered_ends() {
    let script = json!({"phases": [with_fault("silent-after")]});
    let gateway = Gateway::with(script, "idle = \"1s\"\n", "").await;
    let call = json!({"name": "deploy", "arguments": {"project": "shop"}});
    let mut stays = gateway.client(Era::Legacy).await;
    stays.list().await;
    let message = stays.message("tools/call", call.clone());
    let stream = stays.send(&message).send().await.unwrap();
    for _ in 0..2 {
        let mut leaves = gateway.client(Era::Legacy).await;
        leaves.list().await;
        let message = leaves.message("tools/call", call.clone());
        drop(leaves.send(&message).send().await.unwrap());
    }
    let store = Sqlite::open(gateway.store(), Options::new(Access::Read, 0)).unwrap();
    for _ in 0..2_000 {
        let sessions = store.sessions(SessionQuery::default()).await.unwrap();
        if sessions.iter().filter(|session| session.ended.is_some()).count() < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        }
        let open: Vec<_> = sessions.iter().filter(|session| session.ended.is_none()).collect();
        assert_eq!(open.len(), 1, "one still waits for its answer");
        let activity = store.activity(ActivityQuery::default()).await.unwrap();
        for one in activity {
            let state = one.attempts[0].outcomes.last().map(|outcome| outcome.state.as_str());
            let expected = (one.session != open[0].id).then_some("in-doubt");
            assert_eq!(state, expected);
        }
        drop(stream);
        gateway.stop();
        gateway.ended().await;
        return;
    }
    panic!("the sessions are still open");
}

#[tokio::test]
async fn a_client_that_leaves_during_the_handshake_leaves_no_session_behind() {
    let web = Web::start(&[deploy()["tools"].clone()]).await;
    web.state.mute.store(true, Ordering::SeqCst);
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}});
    let left = gateway.post(&greeting).timeout(Duration::from_millis(500)).send().await;
    assert!(left.unwrap_err().is_timeout());
    let store = Sqlite::open(gateway.store(), Options::new(Access::Read, 0)).unwrap();
    for _ in 0..1_000 {
        let sessions = store.sessions(SessionQuery::default()).await.unwrap();
        assert_eq!(sessions.len(), 1);
        if sessions[0].ended.is_some() {
            gateway.stop();
            gateway.ended().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the session is still open");
}

#[tokio::test]
async fn a_server_that_cannot_start_is_tried_again_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let (own, script) = (env!("CARGO_BIN_EXE_steadfast"), folder.path().join("script.json"));
    std::fs::write(&script, json!({"phases": [deploy()]}).to_string()).unwrap();
    let recorder = lab::Recorder::start().await.unwrap();
    let mended = folder.path().join("mended");
    let starts = format!(
        "test -e {} && exec {own} demo --script {} --recorder {}",
        mended.display(),
        script.display(),
        recorder.url()
    );
    let target = ["--", "sh", "-c", &starts];
    let mut live = Live::wrapped(Era::Legacy, folder, recorder, &[], &target).await;
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    // More often than anyone would try in a row.
    for _ in 0..8 {
        let answer = live.ask("initialize", params.clone()).await;
        assert!(answer.get("error").is_some(), "{answer}");
    }
    let (_, out, _) = live.person(&["status"]).await;
    assert!(out.contains("times in a row, may start again"), "{out}");
    std::fs::write(&mended, "").unwrap();
    for _ in 0..300 {
        let answer = live.ask("initialize", params.clone()).await;
        if answer.get("result").is_some() {
            live.leave().await;
            return;
        }
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("started again in"),
            "{answer}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it stays down");
}

#[tokio::test]
async fn nobody_has_to_read_standard_error() {
    // More than any pipe holds: of what is told about lines that are no messages, and of what the server says itself.
    for flood in [
        "yes 'a line that is no message at all' | head -n 4000",
        "yes 'said on the side' | head -n 40000 >&2",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (own, script) = (env!("CARGO_BIN_EXE_steadfast"), folder.path().join("script.json"));
        std::fs::write(&script, json!({"phases": [deploy()]}).to_string()).unwrap();
        let recorder = lab::Recorder::start().await.unwrap();
        let starts = format!(
            "{flood}; exec {own} demo --script {} --recorder {}",
            script.display(),
            recorder.url()
        );
        let target = ["--", "sh", "-c", &starts];
        let mut live = Live::unheard(Era::Legacy, folder, recorder, &target).await;
        live.greet().await;
        live.list().await;
        assert!(ran(&live.call("deploy", json!({"project": "shop"})).await), "{flood}");
        live.ask("ping", json!({})).await;
        live.leave().await;
    }
}

#[tokio::test]
async fn a_change_during_a_gap_of_the_stream_is_found_when_it_is_open_again() {
    let web = Web::start(&[deploy()["tools"].clone()]).await;
    web.state.tells.store(true, Ordering::SeqCst);
    let mut live = Live::before(Era::Legacy, &web.address).await;
    live.greet().await;
    live.list().await;
    // The server moves and tells nobody; each time its stream is open again, the list is looked at.
    let mut properties = json!({"project": {"type": "string"}});
    properties["region"] = json!({"type": "string"});
    let moved = json!([tool("deploy", properties, json!(["project", "region"]))]);
    *web.state.replicas.lock().unwrap() = vec![moved];
    let told = live.notified("notifications/tools/list_changed");
    tokio::time::timeout(Duration::from_secs(15), told).await.expect("sooner than by chance");
    live.leave().await;
}

#[tokio::test]
async fn a_flood_of_changes_costs_a_reading_or_two() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [deploy()]})).await;
    let before = live.ask("lab/listed", json!({})).await;
    live.ask("lab/flood", json!({"times": 3_000})).await;
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await), "calls go on");
    for _ in 0..20 {
        live.ask("ping", json!({})).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let told = live.aside.iter().filter(|line| line.contains("list_changed")).count();
    let after = live.ask("lab/listed", json!({})).await;
    let times = |said: &Value| said["result"]["times"].as_u64().unwrap();
    assert!((1..300).contains(&told), "told {told} times");
    assert!(times(&after) - times(&before) < 300, "read {} times", times(&after));
    live.leave().await;
}

#[tokio::test]
async fn an_answer_that_comes_after_its_call_was_given_up_is_on_record() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [with_fault("answers-late")]})).await;
    let call = json!({"name": "deploy", "arguments": {"project": "shop"}});
    let id = live.begin("tools/call", call).await;
    while live.reached().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let withdrawn =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    live.send(&withdrawn.to_string()).await;
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    for _ in 0..1_500 {
        let activity = store.activity(ActivityQuery::default()).await.unwrap();
        let outcomes: Vec<_> = activity[0].attempts.iter().flat_map(|a| &a.outcomes).collect();
        if let [first, late] = &outcomes[..] {
            assert_eq!((first.state.as_str(), first.late), ("in-doubt", false));
            assert_eq!((late.state.as_str(), late.late), ("done", true));
            live.leave().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the late answer is on no record");
}

#[tokio::test]
async fn an_id_whose_answer_may_still_come_is_that_of_no_other_request() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [deploy()]})).await;
    let id = live.begin("lab/silent", json!({})).await;
    let withdrawn =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    live.send(&withdrawn.to_string()).await;
    // What the server may still say with this id must not be taken for what came of the call.
    let params = json!({"name": "deploy", "arguments": {"project": "shop"}});
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    live.send(&call.to_string()).await;
    let refused = live.answer(&json!(id)).await;
    let why = refused["error"]["message"].as_str().unwrap_or_else(|| panic!("{refused}"));
    assert!(why.contains("given up"), "{why}");
    assert_eq!(live.reached().len(), 0);
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    live.leave().await;
}
