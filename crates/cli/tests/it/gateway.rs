//! `steadfast gateway`, live: many clients over HTTP, in both eras, and everything that must not come in.

use crate::front::Gateway;
use crate::live::{ERAS, Era, code, phase, ran, tool};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn slug() -> Value {
    json!({"project": {"type": "string", "description": "Slug of the project"}})
}

fn deploy() -> Value {
    phase(json!([tool("deploy", slug(), json!(["project"]))]))
}

fn region_required() -> Value {
    let mut properties = slug();
    properties["region"] = json!({"type": "string", "enum": ["eu", "us"]});
    phase(json!([tool("deploy", properties, json!(["project", "region"]))]))
}

#[tokio::test]
async fn two_clients_with_different_snapshots_are_each_held_to_their_own() {
    for era in ERAS {
        let gateway = Gateway::start(json!({"phases": [deploy(), region_required()]})).await;
        let mut old = gateway.client(era).await;
        old.list().await;
        assert!(ran(&old.call("deploy", json!({"project": "one"})).await));
        gateway.recorder.switch(1);
        if era == Era::Legacy {
            // A session of its own: what it is shown is not what the other one planned with.
            let mut new = gateway.client(era).await;
            new.list().await;
            let full = json!({"project": "two", "region": "eu"});
            assert!(ran(&new.call("deploy", full).await));
        }
        let stale = old.call("deploy", json!({"project": "three"})).await;
        assert_eq!(code(&stale), "STALE_TOOL_SCHEMA");
        let reached = gateway.reached();
        assert!(reached.iter().all(|body| body["project"] != "three"), "{reached:?}");
        gateway.stop();
        gateway.ended().await;
    }
}

#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it_and_ends_when_it_is_told_to() {
    let gateway = Gateway::start(json!({"phases": [deploy()]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let ping = json!({"jsonrpc": "2.0", "id": 90, "method": "ping"});
    let missing = gateway.post(&ping).send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::BAD_REQUEST);
    for foreign in ["", "1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let answer = gateway.post(&ping).header("mcp-session-id", foreign).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{foreign:?}");
    }
    let session = client.session.clone().unwrap();
    let bye = gateway
        .request(Method::DELETE, "/mcp/lab")
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(bye.status(), StatusCode::NO_CONTENT);
    let gone = client.send(&ping).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    gateway.stop();
    gateway.ended().await;
}
