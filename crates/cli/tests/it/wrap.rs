//! `steadfast wrap`, live: what a client is told and what really reached the world, under every kind of drift.

use crate::live::{ERAS, Era, Live, code, phase, ran, text, token, tool};
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

fn meaning_moved() -> Value {
    let properties =
        json!({"project": {"type": "string", "description": "Numeric id of the project"}});
    phase(json!([tool("deploy", properties, json!(["project"]))]))
}

#[tokio::test]
async fn the_six_drift_events_go_as_they_must() {
    let own = env!("CARGO_BIN_EXE_steadfast");
    let output = tokio::process::Command::new(own).arg("demo").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("All six as they must be"), "{said}");
}

#[tokio::test]
async fn a_call_of_today_runs_and_its_bytes_are_those_of_the_client() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [deploy()]})).await;
        assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
        assert_eq!(live.reached(), [json!({"project": "shop"})]);
        live.leave().await;
    }
}

#[tokio::test]
async fn a_stale_call_is_refused_each_time_and_the_third_time_for_good() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [deploy(), region_required()]})).await;
        live.recorder.switch(1);
        let stale = json!({"project": "shop"});
        for _ in 0..2 {
            let answer = live.call("deploy", stale.clone()).await;
            assert_eq!(code(&answer), "STALE_TOOL_SCHEMA");
            assert!(text(&answer).starts_with("NOT EXECUTED"));
            let data = &answer["result"]["_meta"]["steadfast/refusal"];
            assert_eq!(data["missing"], json!(["region"]));
            assert_eq!(data["side_effect_started"], false);
            // The client's view of the tool has no output schema: the data may stand here too.
            assert_eq!(&answer["result"]["structuredContent"], data);
            let kind = answer["result"].get("resultType");
            assert_eq!(kind, (era == Era::Modern).then(|| json!("complete")).as_ref());
        }
        let third = live.call("deploy", stale).await;
        assert_eq!(third["result"]["_meta"]["steadfast/refusal"]["required_action"], "stop");
        assert!(live.reached().is_empty());
        live.leave().await;
    }
}

#[tokio::test]
async fn a_call_repaired_by_the_refusal_alone_runs_once() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [deploy(), region_required()]})).await;
        live.recorder.switch(1);
        live.call("deploy", json!({"project": "shop"})).await;
        assert!(ran(&live.call("deploy", json!({"project": "shop", "region": "eu"})).await));
        assert_eq!(live.reached(), [json!({"project": "shop", "region": "eu"})]);
        live.leave().await;
    }
}

#[tokio::test]
async fn a_moved_meaning_needs_a_look_and_the_token_is_good_once() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [deploy(), meaning_moved()]})).await;
        live.recorder.switch(1);
        let call = json!({"project": "42"});
        let refused = live.call("deploy", call.clone()).await;
        assert_eq!(code(&refused), "STALE_TOOL_SCHEMA");
        assert!(live.reached().is_empty());
        let mut known = call.clone();
        known["steadfast_ack"] = json!(token(&refused));
        assert!(ran(&live.call("deploy", known.clone()).await));
        assert_eq!(
            live.reached(),
            std::slice::from_ref(&call),
            "the token does not reach the server"
        );
        assert_eq!(code(&live.call("deploy", known).await), "STALE_TOOL_SCHEMA");
        // Another call than the refused one.
        let refused = live.call("deploy", call).await;
        let other = json!({"other": "1", "steadfast_ack": token(&refused)});
        live.call("deploy", other).await;
        assert_eq!(live.reached().len(), 1);
        live.leave().await;
    }
}

#[tokio::test]
async fn after_a_refusal_fetching_the_list_again_is_enough() {
    for era in ERAS {
        let mut live = Live::listed(era, json!({"phases": [deploy(), meaning_moved()]})).await;
        live.recorder.switch(1);
        // Fetched again, and yet the call may still come from what was seen before.
        live.list().await;
        assert_eq!(code(&live.call("deploy", json!({"project": "42"})).await), "STALE_TOOL_SCHEMA");
        // What was fetched before the refusal says nothing of it.
        assert_eq!(code(&live.call("deploy", json!({"project": "42"})).await), "STALE_TOOL_SCHEMA");
        live.list().await;
        assert!(ran(&live.call("deploy", json!({"project": "42"})).await));
        assert_eq!(live.reached().len(), 1);
        live.leave().await;
    }
}

#[tokio::test]
async fn the_notification_comes_when_the_new_list_can_be_served() {
    for announces in [true, false] {
        let script = json!({"phases": [deploy(), region_required()], "announces": announces});
        let mut live = Live::listed(Era::Legacy, script).await;
        live.recorder.switch(1);
        if !announces {
            // A server that never says so is found out by the next call with an effect.
            live.call("deploy", json!({"project": "shop"})).await;
        }
        live.notified("notifications/tools/list_changed").await;
        let listed = live.list().await;
        assert_eq!(listed[0]["inputSchema"]["required"], json!(["project", "region"]));
        assert!(live.reached().is_empty());
        live.leave().await;
    }
}

#[tokio::test]
async fn a_modern_client_is_told_on_its_own_subscription() {
    let script = json!({"phases": [deploy(), region_required()], "announces": true});
    let mut live = Live::listed(Era::Modern, script).await;
    let id = live
        .begin("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
        .await;
    live.notified("notifications/subscriptions/acknowledged").await;
    live.recorder.switch(1);
    let told = live.notified("notifications/tools/list_changed").await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
    assert_eq!(live.list().await[0]["inputSchema"]["required"], json!(["project", "region"]));
}

#[tokio::test]
async fn notation_and_wording_never_stop_a_call_and_are_held_back() {
    let mut worded = tool("deploy", slug(), json!(["project"]));
    worded["title"] = json!("Deploy");
    worded["description"] = json!("Does a single thing.");
    let script = json!({"phases": [deploy(), phase(json!([worded]))], "announces": true});
    let mut live = Live::listed(Era::Legacy, script).await;
    let before = live.list().await;
    live.recorder.switch(1);
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    assert_eq!(live.list().await, before, "the list is the same text within a session");
    assert!(live.aside.iter().all(|line| !line.contains("list_changed")), "{:?}", live.aside);
    live.leave().await;
}

#[tokio::test]
async fn a_list_that_cannot_be_read_stops_effects_and_lets_reads_go_on() {
    let mut read = tool("look", json!({}), json!([]));
    read["annotations"] = json!({"readOnlyHint": true});
    let tools = json!([read, tool("deploy", slug(), json!(["project"]))]);
    let mut broken = phase(tools.clone());
    broken["list_fails"] = json!(-32603);
    let mut empty = phase(tools.clone());
    empty["tools"] = json!([]);
    for fault in [broken, empty] {
        let script = json!({"phases": [phase(tools.clone()), fault, phase(tools.clone())]});
        let mut live = Live::listed(Era::Legacy, script).await;
        live.recorder.switch(1);
        let answer = live.call("deploy", json!({"project": "shop"})).await;
        assert_eq!(code(&answer), "CONTRACT_UNVERIFIED");
        assert_eq!(live.list().await.len(), 2, "a failed reading never shows an empty list");
        assert!(live.reached().is_empty());
        live.recorder.switch(2);
        assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
        live.leave().await;
    }
}

#[tokio::test]
async fn a_tool_that_is_gone_an_unknown_tool_and_an_unknown_method_are_three_events() {
    let two =
        json!([tool("deploy", slug(), json!(["project"])), tool("look", json!({}), json!([]))]);
    let one = json!([tool("look", json!({}), json!([]))]);
    let mut live = Live::listed(Era::Legacy, json!({"phases": [phase(two), phase(one)]})).await;
    live.recorder.switch(1);
    assert_eq!(code(&live.call("deploy", json!({"project": "shop"})).await), "TOOL_REMOVED");
    let unknown = live.call("never", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let method = live.ask("never/heard", json!({})).await;
    assert_eq!(method["error"]["code"], -32601, "{method}");
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn a_renamed_tool_names_its_heir_and_is_never_followed() {
    let old = phase(json!([tool("list_project_files", slug(), json!(["project"]))]));
    let new = phase(json!([tool("list-project-files", slug(), json!(["project"]))]));
    let mut live = Live::listed(Era::Legacy, json!({"phases": [old, new]})).await;
    live.recorder.switch(1);
    let answer = live.call("list_project_files", json!({"project": "shop"})).await;
    assert_eq!(code(&answer), "TOOL_REMOVED");
    assert!(text(&answer).contains("use `list-project-files`"), "{}", text(&answer));
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn a_name_that_comes_back_as_something_else_is_judged_as_a_change() {
    let other = phase(json!([tool("other", json!({}), json!([]))]));
    let script = json!({"phases": [deploy(), other, meaning_moved()], "announces": true});
    let mut live = Live::listed(Era::Legacy, script).await;
    live.recorder.switch(1);
    live.notified("notifications/tools/list_changed").await;
    live.recorder.switch(2);
    assert_eq!(code(&live.call("deploy", json!({"project": "42"})).await), "STALE_TOOL_SCHEMA");
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn an_effect_without_an_answer_is_in_doubt_and_the_server_is_started_again() {
    let mut ends = deploy();
    ends["deeds"]["deploy"]["fault"] = json!("ends-after");
    let mut live = Live::listed(Era::Legacy, json!({"phases": [ends, deploy()]})).await;
    let answer = live.call("deploy", json!({"project": "shop"})).await;
    assert_eq!(code(&answer), "OUTCOME_UNKNOWN");
    assert!(text(&answer).starts_with("IN DOUBT, DO NOT REPEAT"));
    assert_eq!(live.reached().len(), 1);
    live.recorder.switch(1);
    assert!(ran(&live.call("deploy", json!({"project": "next"})).await), "greeted again");
    assert_eq!(live.reached().len(), 2);
    live.leave().await;
}

#[tokio::test]
async fn a_server_that_answers_twice_is_heard_once() {
    let mut twice = deploy();
    twice["deeds"]["deploy"]["fault"] = json!("answers-twice");
    let mut live = Live::listed(Era::Legacy, json!({"phases": [twice]})).await;
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    live.ask("ping", json!({})).await;
    assert!(live.aside.is_empty(), "{:?}", live.aside);
    live.leave().await;
}

#[tokio::test]
async fn observing_blocks_nothing_and_says_what_would_have_been() {
    let script = json!({"phases": [deploy(), meaning_moved()]});
    let mut live = Live::start(Era::Legacy, script, &["--observe"]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    live.leave().await;
    assert!(live.said().contains("would have refused"), "{}", live.said());
}

#[tokio::test]
async fn what_is_not_understood_passes_byte_for_byte_both_ways() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [deploy()]})).await;
    let odd = "{\"z\":1.0,\"a\":[1e400,-0.0],\"big\":12345678901234567890123,\"u\":\"\\u00e9\",\"z2\":{\"z\":null}}";
    for id in ["7", "\"a \\\" b\"", "-3", "9007199254740993"] {
        live.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"lab/echo\",\"params\":{odd}}}"
        ))
        .await;
        assert_eq!(
            live.line().await,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{odd}}}")
        );
    }
    // What the server asks of the client, and the client's answer to it.
    live.send(
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"lab/ask\",\"params\":{\"messages\":[]}}",
    )
    .await;
    assert_eq!(
        live.line().await,
        "{\"jsonrpc\":\"2.0\",\"id\":\"from-the-server\",\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[]}}"
    );
    live.leave().await;
}

#[tokio::test]
async fn bad_input_is_answered_and_the_session_goes_on() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [deploy()]})).await;
    for bad in [
        "{",
        "[]",
        "17",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}",
    ] {
        live.send(bad).await;
        let answer: Value = serde_json::from_str(&live.line().await).unwrap();
        // JSON that is no request is another matter than what is no JSON.
        let code = if bad == "{" { -32700 } else { -32600 };
        assert_eq!(answer["error"]["code"], code, "{bad}: {answer}");
    }
    // A call whose parameters are no call is the server's to answer.
    live.send("{\"jsonrpc\":\"2.0\",\"id\":70,\"method\":\"tools/call\",\"params\":{\"name\":7}}")
        .await;
    assert!(live.answer(&json!(70)).await.get("error").is_some());
    assert!(ran(&live.call("deploy", json!({"project": "shop"})).await));
    assert_eq!(live.reached().len(), 1);
    live.leave().await;
}

#[tokio::test]
async fn pages_of_one_list_belong_together() {
    let tools: Vec<Value> = (0..7).map(|n| tool(&format!("t{n}"), json!({}), json!([]))).collect();
    let script = json!({"phases": [phase(json!(tools))], "page": 3});
    let mut live = Live::listed(Era::Legacy, script).await;
    assert_eq!(live.list().await.len(), 7);
    let bad = live.ask("tools/list", json!({"cursor": "elsewhere"})).await;
    assert_eq!(bad["error"]["code"], -32602);
    live.leave().await;
}

#[tokio::test]
async fn replicas_of_two_revisions_behind_one_server_are_recognised() {
    // The list flips at every look, as behind a load balancer in a rolling deploy.
    let mut phases = Vec::new();
    for n in 0..8 {
        phases.push(if n % 2 == 0 { deploy() } else { region_required() });
    }
    let mut live = Live::listed(Era::Legacy, json!({"phases": phases})).await;
    let old = json!({"project": "shop"});
    for n in 1..5 {
        live.recorder.switch(n);
        let answer = live.call("deploy", old.clone()).await;
        assert_eq!(code(&answer), "STALE_TOOL_SCHEMA", "at {n}: either process may run it");
    }
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn what_was_decided_and_what_left_is_on_record() {
    use store::{Access, ActivityQuery, Options, OutcomeState, Sqlite, Store, Verdict};
    let mut live =
        Live::listed(Era::Legacy, json!({"phases": [deploy(), region_required()]})).await;
    live.call("deploy", json!({"project": "one"})).await;
    live.recorder.switch(1);
    live.call("deploy", json!({"project": "two"})).await;
    live.leave().await;
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    assert_eq!(activity.len(), 2);
    assert_eq!(activity[0].verdict, Verdict::Refused { code: "STALE_TOOL_SCHEMA".into() });
    assert!(activity[0].attempts.is_empty());
    assert_eq!(activity[1].verdict, Verdict::Admitted);
    assert_eq!(activity[1].attempts[0].outcomes[0].state, OutcomeState::Done);
    let session = &store.sessions(store::SessionQuery::default()).await.unwrap()[0];
    assert!(session.ended.is_some());
}

#[tokio::test]
async fn calls_made_before_the_first_refusal_was_heard_are_refused_with_it() {
    let script = json!({"phases": [deploy(), meaning_moved()], "announces": true});
    let mut live = Live::listed(Era::Legacy, script).await;
    live.recorder.switch(1);
    live.notified("notifications/tools/list_changed").await;
    live.list().await;
    let mut ids = Vec::new();
    for n in 0..5 {
        let call = json!({"name": "deploy", "arguments": {"project": n.to_string()}});
        ids.push(live.begin("tools/call", call).await);
    }
    for id in ids {
        assert_eq!(code(&live.answer(&json!(id)).await), "STALE_TOOL_SCHEMA");
    }
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn no_form_of_a_call_goes_past_the_decision() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [deploy(), meaning_moved()]})).await;
    live.recorder.switch(1);
    let start = "{\"jsonrpc\":\"2.0\",";
    let name = "\"method\":\"tools/call\",\"params\":{\"name\":\"deploy\"";
    for (id, rest) in [
        ("\"id\":71,", ",\"arguments\":null}}"),
        ("\"id\":72,", ",\"arguments\":[1]}}"),
        ("\"id\":73,", ",\"arguments\":{\"project\":\"a\",\"project\":\"b\"}}}"),
        ("\"id\":74,", ",\"arguments\":{\"project\":\"\\ud83d\"}}}"),
        ("", ",\"arguments\":{\"project\":\"a\"}}}"),
        ("\"id\":null,", ",\"arguments\":{\"project\":\"a\"}}}"),
    ] {
        live.send(&format!("{start}{id}{name}{rest}")).await;
    }
    for id in 71..75 {
        let answer = live.answer(&json!(id)).await;
        let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
        assert!(refused, "{answer}");
    }
    live.ask("ping", json!({})).await;
    assert!(live.reached().is_empty(), "{:?}", live.reached());
    live.leave().await;
}

#[tokio::test]
async fn what_was_asked_before_the_client_closed_its_end_is_answered() {
    let mut live = Live::start(Era::Legacy, json!({"phases": [deploy()]}), &[]).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let first = live.begin("initialize", params).await;
    let second = live.begin("tools/list", json!({})).await;
    live.close_input();
    assert!(live.answer(&json!(first)).await.get("result").is_some());
    assert_eq!(live.answer(&json!(second)).await["result"]["tools"].as_array().unwrap().len(), 1);
    live.leave().await;
}
