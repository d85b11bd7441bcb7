//! Answers of tools that promise nothing about them.

use crate::live::{Era, Live, code, phase, text, tool};
use serde_json::{Value, json};

/// A tool without an output schema that gives this answer; `more` makes its definition another one.
fn finding(answer: Value, more: Value) -> Value {
    let mut phase = phase(json!([tool("find", json!({"what": {"type": "string"}}), more)]));
    phase["deeds"]["find"]["answer"] = answer;
    phase
}

async fn found(live: &mut Live, times: usize) -> Value {
    let mut last = Value::Null;
    for _ in 0..times {
        last = live.call("find", json!({"what": "x"})).await;
    }
    last
}

fn whole() -> Value {
    json!({"owner": {"id": "o-1"}, "size": 3, "tags": ["a"], "note": "n"})
}

#[tokio::test]
async fn an_answer_without_a_schema_is_measured_by_those_before_it() {
    let phases = json!({"phases": [
        finding(whole(), json!([])),
        // Nothing of this was promised, and nothing of it is lost.
        finding(json!({"owner": {"id": null}, "size": 3.5, "tags": [], "note": "", "more": 1}), json!([])),
        finding(json!({"owner": {}, "size": "3", "tags": [], "note": "n"}), json!([])),
        // The definition moved in a way that no call minds, and so did the answer.
        finding(json!({"owner": {"id": "o-1"}, "size": 3, "tags": []}), json!(["what"])),
    ]});
    for (flags, stops) in [(&[][..], false), (&["--shapes", "enforce"][..], true)] {
        let mut live = Live::start(Era::Legacy, phases.clone(), flags).await;
        live.greet().await;
        live.list().await;
        found(&mut live, 10).await;
        live.recorder.switch(1);
        let fine = found(&mut live, 1).await;
        assert!(fine["result"]["structuredContent"].is_object(), "{fine}");
        assert!(!live.said().contains("each one before"), "{}", live.said());
        live.recorder.switch(2);
        let reached = live.reached().len();
        let moved = found(&mut live, 1).await;
        assert_eq!(live.reached().len(), reached + 1);
        if stops {
            assert_eq!(code(&moved), "ANSWER_BREAKS_CONTRACT");
            assert!(text(&moved).starts_with("EXECUTED ONCE, DO NOT REPEAT"), "{moved}");
            assert!(text(&moved).contains("`owner.id` is not there"), "{moved}");
            assert_eq!(code(&found(&mut live, 1).await), "ANSWER_BREAKS_CONTRACT");
        } else {
            assert!(moved["result"]["structuredContent"].is_object(), "{moved}");
        }
        live.recorder.switch(3);
        live.list().await;
        let moved = found(&mut live, 1).await;
        assert_eq!(moved["result"]["isError"] == true, stops, "{moved}");
        let (_, status, _) = live.person(&["status"]).await;
        for said in
            ["`owner.id` is not there", "`size` was number and is string", "`note` is not there"]
        {
            assert!(status.contains(said), "{said}\n{status}");
        }
        live.leave().await;
        let told = live.said().matches("each one before it").count();
        assert_eq!(told, if stops { 3 } else { 2 }, "{}", live.said());
    }
}

#[tokio::test]
async fn a_text_that_is_one_object_is_an_answer_and_off_is_off() {
    for (flags, told) in [(&[][..], true), (&["--shapes", "off"][..], false)] {
        let script =
            json!({"phases": [finding(whole(), json!([])), finding(json!("gone"), json!([]))]});
        let mut live = Live::start(Era::Legacy, script, flags).await;
        live.greet().await;
        live.list().await;
        found(&mut live, 10).await;
        live.recorder.switch(1);
        found(&mut live, 1).await;
        live.leave().await;
        assert_eq!(live.said().contains("each one before it"), told, "{}", live.said());
    }
}
