//! `steadfast wrap URL`: a server behind HTTP, of both eras, in front of which a client speaks on a pipe.

use crate::front::{Gateway, Stream};
use crate::live::{ERAS, Era, Live, code, ran, text, tool};
use crate::web::Web;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn slug() -> Value {
    json!({"project": {"type": "string", "description": "Slug of the project"}})
}

fn deploy() -> Value {
    json!([tool("deploy", slug(), json!(["project"]))])
}

fn region_required() -> Value {
    let mut properties = slug();
    properties["region"] = json!({"type": "string", "enum": ["eu", "us"]});
    json!([tool("deploy", properties, json!(["project", "region"]))])
}

async fn listed(era: Era, web: &Web) -> Live {
    let mut live = Live::before(era, &web.address).await;
    live.greet().await;
    live.list().await;
    live
}

fn call() -> Value {
    json!({"project": "shop"})
}

#[tokio::test]
async fn calls_go_through_and_drift_is_found_in_both_eras() {
    for era in ERAS {
        let web = Web::start(&[deploy()]).await;
        let mut live = listed(era, &web).await;
        assert!(ran(&live.call("deploy", call()).await));
        *web.state.replicas.lock().unwrap() = vec![region_required()];
        // Over HTTP the list may be half a minute old; looking again is what a refresh does.
        live.list().await;
        assert_eq!(code(&live.call("deploy", call()).await), "STALE_TOOL_SCHEMA");
        assert_eq!(web.done(), [call()]);
        live.leave().await;
    }
}

#[tokio::test]
async fn a_session_that_the_server_lost_is_opened_again_and_no_effect_is_made_twice() {
    let mut look = tool("look", slug(), json!([]));
    look["annotations"] = json!({"readOnlyHint": true});
    let web = Web::start(&[json!([tool("deploy", slug(), json!(["project"])), look])]).await;
    let mut live = listed(Era::Legacy, &web).await;
    web.state.loses_session.store(true, Ordering::SeqCst);
    // The status is the word of the server alone. A call that only reads may be made again all the same.
    let lost = live.call("look", call()).await;
    assert_eq!(code(&lost), "NO_ANSWER");
    assert_eq!(lost["result"]["_meta"]["steadfast/refusal"]["retry"], "auto_allowed");
    assert!(text(&lost).contains("HTTP 404") && text(&lost).contains("opened again"), "{lost}");
    assert!(ran(&live.call("look", call()).await));
    assert_eq!((web.done().len(), web.came("initialize")), (1, 2));
    // A server that loses each session is not greeted for ever, and what may have an effect is in doubt.
    web.state.loses_session.store(true, Ordering::SeqCst);
    let lost = live.call("deploy", json!({"project": "next"})).await;
    assert_eq!(code(&lost), "OUTCOME_UNKNOWN");
    assert_eq!((web.done().len(), web.came("initialize")), (1, 2));
    live.leave().await;
}

#[tokio::test]
async fn a_call_never_runs_in_a_session_that_it_was_not_decided_about() {
    let pay = |says: &str| {
        tool("pay", json!({"project": {"type": "string", "description": says}}), json!(["project"]))
    };
    // Taking down that so many moved takes its time.
    let list = |says: &str, other: &str| {
        let others = (0..400).map(|n| {
            let mut one = tool(&format!("t{n}"), json!({"a": {"type": "string"}}), json!([]));
            one["description"] = json!(format!("Tool {n} {other}"));
            one
        });
        Value::from_iter(std::iter::once(pay(says)).chain(others))
    };
    let (slug, number) = ("Slug of the project", "Numeric id of the project");
    let web = Web::start(&[list(slug, "looks")]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\neffect-age = \"0s\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    // The list moves in wording; right after it was read the session is gone, and the next one means something else.
    *web.state.replicas.lock().unwrap() = vec![list(slug, "looks closely")];
    *web.state.then.lock().unwrap() = Some(list(number, "looks closely"));
    web.state.lists_left.store(2, Ordering::SeqCst);
    let call = client.message("tools/call", json!({"name": "pay", "arguments": {"project": "42"}}));
    let mut call =
        Box::pin(async { Stream::new(client.send(&call).send().await.unwrap()).next().await });
    let mut id = 1_000;
    let answer = loop {
        // Whatever else is asked finds that the session is gone, and has it opened again.
        id += 1;
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        tokio::select! {
            answer = &mut call => break answer.unwrap(),
            _ = client.send(&ping).send() => tokio::time::sleep(std::time::Duration::from_millis(2)).await,
        }
    };
    drop(call);
    assert!(!ran(&answer), "{answer}");
    assert!(web.done().is_empty(), "{answer}");
    assert_eq!(web.came("initialize"), 2);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_large_answer_is_passed_on() {
    let web = Web::start(&[deploy()]).await;
    let mut live = listed(Era::Legacy, &web).await;
    for streams in [false, true] {
        *web.state.large.lock().unwrap() = (9 << 20, streams);
        let answer = live.call("deploy", call()).await;
        assert!(ran(&answer), "streams: {streams}");
        assert_eq!(text(&answer).len(), 9 << 20);
    }
    live.leave().await;
}

/// How many answers are on record as delivered.
fn delivered(journal: &str) -> usize {
    journal.matches("\"delivered\"").count()
}

#[tokio::test]
async fn what_nobody_heard_is_not_on_record_as_delivered() {
    let web = Web::start(&[deploy()]).await;
    let mut live = listed(Era::Legacy, &web).await;
    web.state.holds.store(true, Ordering::SeqCst);
    let id = live.begin("tools/call", json!({"name": "deploy", "arguments": call()})).await;
    while web.done().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let withdrawn =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    live.send(&withdrawn.to_string()).await;
    while web.came("notifications/cancelled") == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    web.state.holds.store(false, Ordering::SeqCst);
    assert!(ran(&live.call("deploy", json!({"project": "heard"})).await));
    live.leave().await;
    assert_eq!(delivered(&live.person(&["journal", "show", "--format", "json"]).await.1), 1);
}

#[tokio::test]
async fn an_answer_whose_client_left_is_not_on_record_as_delivered() {
    let web = Web::start(&[deploy()]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    web.state.holds.store(true, Ordering::SeqCst);
    let left = client.message("tools/call", json!({"name": "deploy", "arguments": call()}));
    let stream = client.send(&left).send().await.unwrap();
    while web.done().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    drop(stream);
    // The connection is gone once the gateway has seen that.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    web.state.holds.store(false, Ordering::SeqCst);
    assert!(ran(&client.call("deploy", json!({"project": "heard"})).await));
    for _ in 0..500 {
        let show = ["journal", "show", "--format", "json", "--store", "state.db"];
        let journal = gateway.run(&show).await;
        let outcomes = journal.matches("\"outcome\"").count();
        if outcomes > 1 && delivered(&journal) > 0 {
            assert_eq!(delivered(&journal), 1, "{journal}");
            gateway.stop();
            gateway.ended().await;
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("nothing is on record");
}

#[tokio::test]
async fn the_same_request_made_again_gets_the_answer_that_nobody_took() {
    let web = Web::start(&[deploy()]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    web.state.holds.store(true, Ordering::SeqCst);
    let left = client.message("tools/call", json!({"name": "deploy", "arguments": call()}));
    let stream = client.send(&left).send().await.unwrap();
    while web.done().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    drop(stream);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    web.state.holds.store(false, Ordering::SeqCst);
    while !gateway
        .run(&["journal", "show", "--format", "json", "--store", "state.db"])
        .await
        .contains("\"outcome\"")
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let again = Stream::new(client.send(&left).send().await.unwrap()).next().await.unwrap();
    assert!(ran(&again), "{again}");
    assert_eq!(again["id"], left["id"]);
    assert_eq!(web.done().len(), 1, "it was not made twice");
    // It was taken now; and the same call under another id is another one.
    assert!(ran(&client.call("deploy", call()).await));
    assert_eq!(web.done().len(), 2);
    let journal =
        gateway.run(&["journal", "show", "--format", "json", "--store", "state.db"]).await;
    assert_eq!(delivered(&journal), 2, "{journal}");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_status_in_place_of_an_answer_proves_nothing() {
    for era in ERAS {
        let web = Web::start(&[deploy()]).await;
        let mut live = listed(era, &web).await;
        for status in [400, 401, 403, 404, 405, 408, 409, 413, 429, 500, 502] {
            *web.state.status.lock().unwrap() = Some(status);
            let answer = live.call("deploy", json!({"project": status.to_string()})).await;
            assert_eq!(code(&answer), "OUTCOME_UNKNOWN", "{status}");
            let refusal = &answer["result"]["_meta"]["steadfast/refusal"];
            assert_eq!(refusal["side_effect_started"], Value::Null, "{status}");
            assert!(text(&answer).contains(&format!("HTTP {status}")), "{answer}");
        }
        assert!(web.done().is_empty());
        live.leave().await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_was_sent_nothing() {
    let web = Web::start(&[deploy()]).await;
    let mut live = listed(Era::Legacy, &web).await;
    assert!(ran(&live.call("deploy", call()).await));
    drop(web);
    // The connection that is still open ends first.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let answer = live.call("deploy", json!({"project": "next"})).await;
    assert!(text(&answer).starts_with("NOT EXECUTED"), "{answer}");
    live.leave().await;
}

#[tokio::test]
async fn headers_say_what_the_body_says() {
    let mut marked = slug();
    marked["project"]["x-mcp-header"] = json!("Project");
    let web = Web::start(&[json!([tool("deploy", marked, json!(["project"]))])]).await;
    let mut live = listed(Era::Modern, &web).await;
    assert!(ran(&live.call("deploy", json!({"project": "größe"})).await));
    let log = web.state.log.lock().unwrap().clone();
    let (headers, _) = log.iter().find(|(_, m)| m["method"] == "tools/call").unwrap();
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "deploy");
    assert_eq!(headers["mcp-param-project"], "=?base64?Z3LDtsOfZQ==?=");
    live.leave().await;
}

#[tokio::test]
async fn replicas_of_two_revisions_behind_one_address_are_recognised() {
    for era in ERAS {
        let web = Web::start(&[deploy(), region_required()]).await;
        let mut live = listed(era, &web).await;
        for _ in 0..4 {
            // Planned by whichever of the two was shown, it means something else to the other.
            let shown = live.list().await;
            let wants_region = shown[0]["inputSchema"]["properties"].get("region").is_some();
            let call =
                if wants_region { json!({"project": "shop", "region": "eu"}) } else { call() };
            let answer = live.call("deploy", call).await;
            assert_eq!(code(&answer), "STALE_TOOL_SCHEMA", "either may run it");
        }
        assert!(web.done().is_empty());
        live.leave().await;
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_closes_its_stream() {
    let web = Web::start(&[deploy()]).await;
    let mut live = listed(Era::Modern, &web).await;
    web.state.hangs.store(true, Ordering::SeqCst);
    let id = live.begin("tools/call", json!({"name": "deploy", "arguments": call()})).await;
    while web.done().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    live.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string(),
    )
    .await;
    for _ in 0..500 {
        if web.state.closed.load(Ordering::SeqCst) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(web.state.closed.load(Ordering::SeqCst));
    assert_eq!(web.came("notifications/cancelled"), 0, "closing is the message");
    live.leave().await;
}
