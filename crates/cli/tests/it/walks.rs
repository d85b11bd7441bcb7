//! Lists page by page, and what many clients of the modern era are told of them.

use crate::front::{Gateway, Stream};
use crate::live::{ERAS, Era, Live, code, phase, tool};
use serde_json::{Value, json};

/// Seven tools that all have the same argument.
fn seven(argument: &str) -> Value {
    let tools: Vec<Value> = (0..7)
        .map(|n| tool(&format!("t{n}"), json!({ argument: {"type": "string"} }), json!([argument])))
        .collect();
    phase(json!(tools))
}

fn arguments(page: &Value) -> Vec<&str> {
    let tools = page["result"]["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
    tools.iter().map(|tool| tool["inputSchema"]["required"][0].as_str().unwrap()).collect()
}

#[tokio::test]
async fn two_walks_of_one_principal_never_share_a_page() {
    let script = json!({"phases": [seven("old"), seven("new")], "page": 3});
    let gateway = Gateway::start(script).await;
    let mut one = gateway.client(Era::Modern).await;
    let mut two = gateway.client(Era::Modern).await;
    let first = one.ask("tools/list", json!({})).await;
    assert_eq!(arguments(&first), ["old"; 3]);
    gateway.recorder.switch(1);
    let other = two.ask("tools/list", json!({})).await;
    assert_eq!(arguments(&other), ["new"; 3]);
    let mut cursor = first["result"]["nextCursor"].clone();
    let mut rest = 0;
    while !cursor.is_null() {
        let page = one.ask("tools/list", json!({"cursor": cursor})).await;
        assert!(arguments(&page).iter().all(|argument| *argument == "old"), "{page}");
        rest += arguments(&page).len();
        cursor = page["result"]["nextCursor"].clone();
    }
    assert_eq!(rest, 4);
    let next = json!({"cursor": other["result"]["nextCursor"]});
    assert_eq!(arguments(&two.ask("tools/list", next).await), ["new"; 3]);
    let guessed = one.ask("tools/list", json!({"cursor": "3"})).await;
    assert_eq!(guessed["error"]["code"], -32602, "{guessed}");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn no_list_is_to_be_kept_longer_or_shared_wider_than_the_gateway_answers_for() {
    for (server, served) in [(3_600_000, 30_000), (1_000, 1_000)] {
        let script = json!({"phases": [seven("old")], "page": 3, "ttl": server});
        let mut live = Live::start(Era::Modern, script, &[]).await;
        live.greet().await;
        let page = live.ask("tools/list", json!({})).await;
        assert_eq!(page["result"]["ttlMs"], served);
        assert_eq!(page["result"]["cacheScope"], "private");
        live.leave().await;
    }
}

#[tokio::test]
async fn a_change_that_no_stream_could_tell_is_told_when_one_is_opened() {
    let script = json!({"phases": [seven("old"), seven("new")]});
    let gateway = Gateway::start(script).await;
    let mut one = gateway.client(Era::Modern).await;
    let mut two = gateway.client(Era::Modern).await;
    two.list().await;
    gateway.recorder.switch(1);
    // Found by a call, while nobody listens; the other client then looks for itself.
    assert_eq!(code(&one.call("t0", json!({"old": "x"})).await), "STALE_TOOL_SCHEMA");
    one.list().await;
    let listen =
        two.message("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut stream = Stream::new(two.send(&listen).send().await.unwrap());
    let first = stream.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let told = stream.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listen["id"]);
    drop(stream);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_whole_list_is_the_same_whatever_its_pages() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [seven("old")], "page": 2})).await;
        assert_eq!(live.list().await, seven("old")["tools"].as_array().unwrap().clone());
        live.leave().await;
    }
}
