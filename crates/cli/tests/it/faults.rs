//! What a server or a client does wrong in the middle of a call: everything ends, and is on record as what it was.

use crate::front::{Gateway, LEGACY, Stream};
use crate::live::{Era, Live, code, phase, text, tool};
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
async fn a_client_that_leaves_during_the_handshake_leaves_no_session_behind() {
    let web = Web::start(&[deploy()["tools"].clone()]).await;
    web.state.hangs.store(true, Ordering::SeqCst);
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
