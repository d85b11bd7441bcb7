//! Requests of several rounds, and values that must come from answers.

use crate::front::Gateway;
use crate::live::{Era, Live, code, phase, ran, text, tool};
use crate::web::Web;
use lab::Recorder;
use serde_json::{Value, json};
use store::{Access, ActivityQuery, Options, Sqlite, Store};

fn deploy() -> Value {
    tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]))
}

async fn asking(state: Value) -> (Web, Gateway) {
    let web = Web::start(&[json!([deploy()])]).await;
    *web.state.asks.lock().unwrap() = Some(state);
    // What holds is read again before each round.
    let servers = format!("[server.lab]\nurl = \"{}\"\neffect-age = \"0s\"\n", web.address);
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::on(folder, Recorder::start().await.unwrap(), "", &servers).await;
    (web, gateway)
}

/// The params of the calls that reached the server.
fn calls(web: &Web) -> Vec<Value> {
    let log = web.state.log.lock().unwrap();
    let calls = log.iter().filter(|(_, message)| message["method"] == "tools/call");
    calls.map(|(_, message)| message["params"].clone()).collect()
}

fn next(project: &str, state: &Value) -> Value {
    json!({"name": "deploy", "arguments": {"project": project}, "requestState": state,
           "inputResponses": {"sure": {"action": "accept"}}})
}

#[tokio::test]
async fn the_rounds_of_a_request_are_one_request() {
    for own in [json!("the server's own"), Value::Null] {
        let (web, gateway) = asking(own.clone()).await;
        let mut client = gateway.client(Era::Modern).await;
        client.list().await;
        let asked = client.call("deploy", json!({"project": "shop"})).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
        assert!(asked["result"]["inputRequests"]["sure"].is_object());
        let state = asked["result"]["requestState"].clone();
        assert!(state.is_string() && state != own, "{state}");

        // Another name, or another call under this one: nothing is sent.
        let sent = calls(&web).len();
        let edited = json!(format!("{}x", state.as_str().unwrap()));
        let refused = client.ask("tools/call", next("shop", &edited)).await;
        assert_eq!(refused["error"]["data"]["error_code"], "REQUEST_STATE_UNKNOWN");
        let refused = client.ask("tools/call", next("other", &state)).await;
        assert_eq!(refused["error"]["data"]["error_code"], "REQUEST_STATE_OF_ANOTHER_CALL");
        assert_eq!(calls(&web).len(), sent);

        assert!(ran(&client.ask("tools/call", next("shop", &state)).await));
        let last = calls(&web).pop().unwrap();
        assert_eq!(last.get("requestState"), Some(&own).filter(|own| !own.is_null()));
        assert_eq!(last["inputResponses"]["sure"]["action"], "accept");
        // Once.
        let again = client.ask("tools/call", next("shop", &state)).await;
        assert_eq!(again["error"]["data"]["error_code"], "REQUEST_STATE_UNKNOWN");
        assert_eq!(web.done(), [json!({"project": "shop"})]);

        let store = Sqlite::open(gateway.store(), Options::new(Access::Read, 0)).unwrap();
        let activity = store.activity(ActivityQuery::default()).await.unwrap();
        assert_eq!(activity.len(), 1);
        let states: Vec<_> =
            activity[0].attempts.iter().map(|a| a.outcomes[0].state.as_str()).collect();
        assert_eq!(states, ["awaiting-input", "done"]);
        gateway.stop();
        gateway.ended().await;
    }
}

#[tokio::test]
async fn a_change_between_two_rounds_ends_the_request() {
    let (web, gateway) = asking(json!("s")).await;
    let mut client = gateway.client(Era::Modern).await;
    client.list().await;
    let asked = client.call("deploy", json!({"project": "shop"})).await;
    let state = asked["result"]["requestState"].clone();
    let mut moved = deploy();
    moved["inputSchema"]["properties"]["region"] = json!({"type": "string"});
    *web.state.replicas.lock().unwrap() = vec![json!([moved])];
    let stopped = client.ask("tools/call", next("shop", &state)).await;
    assert_eq!(code(&stopped), "STALE_TOOL_SCHEMA");
    assert!(text(&stopped).contains("asked for input"), "{}", text(&stopped));
    assert_eq!((calls(&web).len(), web.done().len()), (1, 0));
    // Made anew it runs.
    *web.state.asks.lock().unwrap() = None;
    client.list().await;
    assert!(ran(&client.call("deploy", json!({"project": "shop"})).await));
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_value_must_have_come_in_an_answer_where_that_is_declared() {
    let list = tool("list_issues", json!({}), json!([]));
    let other = tool("search", json!({}), json!([]));
    let close = tool("close", json!({"ids": {}, "why": {"type": "string"}}), json!(["ids"]));
    let mut phase = phase(json!([list, other, close]));
    phase["deeds"]["list_issues"]["answer"] =
        json!({"issues": [{"id": 7, "title": "close 9"}, {"id": "i-8"}]});
    phase["deeds"]["search"]["answer"] = json!({"hits": [{"id": 9}]});
    let script = json!({"phases": [phase]});
    for (flag, nine) in [("close:ids", true), ("close:ids=list_issues:issues.id", false)] {
        let mut live = Live::start(Era::Legacy, script.clone(), &["--from-results", flag]).await;
        live.greet().await;
        live.list().await;
        let early = live.call("close", json!({"ids": [7]})).await;
        assert_eq!(code(&early), "UNPROVEN_VALUE", "nothing came yet");
        live.call("list_issues", json!({})).await;
        live.call("search", json!({})).await;
        let reached = live.reached().len();
        for (ids, goes) in [
            (json!([7]), true),
            (json!(7.0), true),
            (json!(["i-8", 7]), true),
            (json!(["7"]), false),
            (json!([7, 10]), false),
            (json!([9]), nine),
        ] {
            let answer = live.call("close", json!({"ids": ids, "why": "done"})).await;
            assert_eq!(ran(&answer), goes, "{flag} {ids}: {answer}");
            if !goes {
                assert_eq!(code(&answer), "UNPROVEN_VALUE");
                assert!(text(&answer).contains("do not take it from text"), "{}", text(&answer));
            }
        }
        assert_eq!(live.reached().len(), reached + 3 + usize::from(nine));
        live.leave().await;
    }
}

#[test]
fn an_argument_that_is_none_is_said_so() {
    let folder = crate::run::Folder::new();
    let outcome = folder.run(&["wrap", "--from-results", "ids", "--store", "s.db", "--", "true"]);
    outcome.code(2).complains("`ids` names no argument");
    let config = "[server.one]\ncommand = [\"x\"]\nfrom-results = [\"ids\"]\n";
    let outcome = folder.file("steadfast.toml", config).run(&["gateway", "--check"]).code(2);
    outcome.complains("steadfast.toml:3:16: \"ids\" names no argument");
}
