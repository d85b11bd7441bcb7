//! Effects once: the key by which a server knows a repetition, and calls that are let end where their client leaves.

use crate::front::{Gateway, Stream};
use crate::live::{Era, Live, code, phase, ran, text, tool};
use crate::web::Web;
use lab::Recorder;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::Ordering;
use store::{Access, Activity, ActivityQuery, Options, Sqlite, Store};

fn pay() -> Value {
    let properties = json!({"amount": {"type": "integer"}, "key": {"type": "string"}});
    tool("pay", properties, json!(["amount", "key"]))
}

/// What is on record, the oldest first.
async fn on_record(store: &Path) -> Vec<Activity> {
    let store = Sqlite::open(store, Options::new(Access::Read, 0)).unwrap();
    let mut activity = store.activity(ActivityQuery::default()).await.unwrap();
    activity.reverse();
    activity
}

async fn paying(flags: &[&str]) -> Live {
    let script = json!({"phases": [phase(json!([pay()])), phase(json!([tool("pay", json!({"amount": {"type": "integer"}}), json!(["amount"]))]))]});
    let mut live = Live::start(Era::Legacy, script, flags).await;
    live.greet().await;
    live.list().await;
    live
}

#[tokio::test]
async fn a_key_belongs_to_its_request_and_is_on_record() {
    let mut live = paying(&["--key", "pay:key"]).await;
    // The same payment twice is two payments.
    for _ in 0..2 {
        assert!(ran(&live.call("pay", json!({"amount": 7})).await));
    }
    let own = live.call("pay", json!({"amount": 7, "key": "mine"})).await;
    assert_eq!(code(&own), "KEY_SUPPLIED");
    assert!(text(&own).contains("without `key`"), "{}", text(&own));
    let reached = live.reached();
    live.leave().await;
    assert_eq!(reached.len(), 2, "nothing was sent of the third: {reached:?}");
    let record = on_record(&live.store()).await;
    for (request, body) in record.iter().zip(&reached) {
        assert_eq!(body["key"], request.request.to_string());
        assert_eq!(request.attempts[0].idempotency_key.as_deref(), body["key"].as_str());
    }
    assert_ne!(reached[0]["key"], reached[1]["key"]);
}

#[tokio::test]
async fn a_key_of_the_callers_is_replaced_by_declaration_alone() {
    let mut live = paying(&["--key", "pay:key", "--key-replaces", "pay"]).await;
    assert!(ran(&live.call("pay", json!({"amount": 7, "key": "mine"})).await));
    assert_ne!(live.reached()[0]["key"], "mine");
    live.recorder.switch(1);
    live.list().await;
    // Without the argument no repetition could be told from a new call.
    let gone = live.call("pay", json!({"amount": 8})).await;
    assert_eq!(code(&gone), "KEY_GONE");
    live.leave().await;
    assert_eq!(live.reached().len(), 1);
    assert!(live.said().contains("replaced key of a call of pay"), "{}", live.said());
}

async fn over_http(web: &Web, flags: &[&str]) -> Live {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::start().await.unwrap();
    let mut live = Live::wrapped(Era::Modern, folder, recorder, flags, &[&web.address]).await;
    live.greet().await;
    live.list().await;
    live
}

#[tokio::test]
async fn a_call_in_doubt_is_sent_once_more_where_its_key_covers_it() {
    // How often its answer is cut off, what is declared, whether the list moves meanwhile; how often it is sent.
    let keyed: &[&str] = &["--key", "pay:key"];
    let repeats: &[&str] = &["--key", "pay:key", "--key-repeats", "pay"];
    for (cuts, flags, moves, sent) in [
        (1, repeats, false, 2),
        (1, keyed, false, 1),
        (2, repeats, false, 2),
        (1, repeats, true, 1),
    ] {
        let web = Web::start(&[json!([pay()])]).await;
        let mut live = over_http(&web, flags).await;
        web.state.cuts.store(cuts, Ordering::SeqCst);
        if moves {
            let other = tool("pay", json!({"amount": {"type": "string"}, "key": {}}), json!([]));
            *web.state.then.lock().unwrap() = Some(json!([other]));
        }
        let answer = live.call("pay", json!({"amount": 7})).await;
        let done = web.done();
        assert_eq!(done.len(), sent, "{flags:?} {answer}");
        assert!(done.iter().all(|one| *one == done[0] && one["key"].is_string()), "{done:?}");
        live.leave().await;
        let record = on_record(&live.store()).await;
        assert_eq!(record.len(), 1, "one request");
        let states: Vec<Vec<_>> = record[0]
            .attempts
            .iter()
            .map(|a| a.outcomes.iter().map(|one| (one.state.as_str(), one.late)).collect())
            .collect();
        let doubt = ("in-doubt", false);
        if (cuts, moves) == (1, false) && sent == 2 {
            assert!(ran(&answer), "{answer}");
            assert_eq!(states, [vec![doubt, ("done", true)], vec![("done", false)]]);
        } else {
            assert_eq!(code(&answer), "OUTCOME_UNKNOWN");
            assert_eq!(states, vec![vec![doubt]; sent]);
        }
        assert!(
            record[0]
                .attempts
                .iter()
                .all(|a| a.idempotency_key.as_deref() == done[0]["key"].as_str())
        );
    }
}

#[tokio::test]
async fn a_key_may_go_in_a_header() {
    let deploy = tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]));
    let web = Web::start(&[json!([deploy])]).await;
    let mut live = over_http(&web, &["--key-header", "deploy:Idempotency-Key"]).await;
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    live.leave().await;
    assert_eq!(web.done(), [json!({"project": "shop"})]);
    let record = on_record(&live.store()).await;
    let key = record[0].attempts[0].idempotency_key.clone().unwrap();
    let log = web.state.log.lock().unwrap();
    let (headers, _) = log.iter().find(|(_, message)| message["method"] == "tools/call").unwrap();
    assert_eq!(headers["idempotency-key"], key);
    assert!(
        log.iter().all(|(h, m)| m["method"] == "tools/call" || !h.contains_key("idempotency-key"))
    );
}

#[test]
fn keys_that_are_none_are_said_so_all_at_once() {
    let folder = crate::run::Folder::new();
    let flags = ["--key", "pay", "--key-header", "pay:Idempotency-Key", "--key-repeats", "refund"];
    let mut words = vec!["wrap", "--store", "s.db"];
    words.extend(flags);
    words.extend(["--", "true"]);
    let outcome = folder.run(&words).code(2);
    for expected in [
        "`pay` names no tool and no place for its key",
        "is a header, and a server on a pipe is sent none",
        "`refund` is a tool without a key",
    ] {
        assert!(outcome.err.contains(expected), "{expected}\n{}", outcome.err);
    }
    let config = "[server.one]\nurl = \"http://127.0.0.1/mcp\"\nkeys = [\"pay\"]\nkey-headers = [\"pay:Host\"]\nkey-replaces = [\"x\"]\n";
    let outcome = folder.file("steadfast.toml", config).run(&["gateway", "--check"]).code(2);
    for expected in [
        "steadfast.toml:3:8: \"pay\" names no tool",
        "steadfast.toml:4:15:",
        "steadfast.toml:5:16:",
    ] {
        assert!(outcome.err.contains(expected), "{expected}\n{}", outcome.err);
    }
}

async fn until(holds: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("it never came to hold");
}

#[tokio::test]
async fn a_call_that_is_to_finish_outlives_its_client() {
    let deploy = tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]));
    for (setting, expected) in [("finish = [\"deploy\"]", "done"), ("", "in-doubt")] {
        let web = Web::start(&[json!([deploy])]).await;
        let servers = format!("[server.lab]\nurl = \"{}\"\n{setting}\n", web.address);
        let folder = tempfile::tempdir().unwrap();
        let gateway = Gateway::on(folder, Recorder::start().await.unwrap(), "", &servers).await;
        let mut client = gateway.client(Era::Modern).await;
        client.list().await;
        web.state.holds.store(true, Ordering::SeqCst);
        let call = client
            .message("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}}));
        let request = client.send(&call);
        let asked =
            tokio::spawn(async move { Stream::new(request.send().await.unwrap()).next().await });
        until(|| web.done().len() == 1).await;
        asked.abort();
        if expected == "in-doubt" {
            until(|| web.state.closed.load(Ordering::SeqCst)).await;
        } else {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            assert!(!web.state.closed.load(Ordering::SeqCst), "it was cancelled");
        }
        web.state.holds.store(false, Ordering::SeqCst);
        let store = gateway.store();
        let state = async || {
            let record = on_record(&store).await;
            let outcome = record[0].attempts[0].outcomes.last();
            outcome.map(|outcome| outcome.state.as_str().to_owned())
        };
        let mut last = None;
        for _ in 0..1_000 {
            last = state().await;
            if last.is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(last.as_deref(), Some(expected));
        gateway.stop();
        gateway.ended().await;
    }
}
