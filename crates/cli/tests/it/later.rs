//! Calls that run as tasks: their deferred results are measured and put on record as immediate ones are.

use crate::live::{ERAS, Era, Live, phase, text, tool};
use serde_json::{Value, json};
use store::{Access, ActivityQuery, Options, Sqlite, Store};

/// A tool that runs as a task, and promises an id in its answer.
fn deferred(answer: Value) -> Value {
    let mut deploy = tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]));
    deploy["outputSchema"] =
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    deploy["execution"] = json!({"taskSupport": "optional"});
    let mut phase = phase(json!([deploy]));
    phase["deeds"]["deploy"]["task"] = json!(true);
    phase["deeds"]["deploy"]["answer"] = answer;
    phase
}

/// The outcomes on record of the one call that was made.
async fn outcomes(live: &Live) -> Vec<String> {
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    let outcomes = activity[0].attempts.iter().flat_map(|attempt| &attempt.outcomes);
    outcomes.map(|outcome| outcome.state.as_str().to_owned()).collect()
}

async fn begun(era: Era) -> Live {
    let script =
        json!({"phases": [deferred(json!({"id": "x-1"})), deferred(json!({"other": "x-1"}))]});
    let mut live = Live::listed(era, script).await;
    let mut call = json!({"name": "deploy", "arguments": {"project": "shop"}});
    if era == Era::Legacy {
        call["task"] = json!({"ttl": 60_000});
    }
    let created = live.ask("tools/call", call).await["result"].clone();
    let task = created.get("task").unwrap_or(&created);
    assert_eq!(task["taskId"], "task-deploy", "{created}");
    assert_eq!(outcomes(&live).await, [""; 0], "it is under way");
    live
}

/// The deferred result, as the era asks for it.
async fn result(live: &mut Live, era: Era) -> Value {
    let method = if era == Era::Legacy { "tasks/result" } else { "tasks/get" };
    let answer = live.ask(method, json!({"taskId": "task-deploy"})).await;
    let result = answer["result"].clone();
    if era == Era::Legacy { result } else { result["result"].clone() }
}

#[tokio::test]
async fn a_deferred_result_that_keeps_its_promise_is_done() {
    for era in ERAS {
        let mut live = begun(era).await;
        assert_eq!(result(&mut live, era).await["structuredContent"], json!({"id": "x-1"}));
        assert_eq!(outcomes(&live).await, ["done"]);
        result(&mut live, era).await;
        assert_eq!(outcomes(&live).await, ["done"], "asking again is not another outcome");
        live.leave().await;
    }
}

#[tokio::test]
async fn a_deferred_result_that_breaks_its_promise_says_so() {
    for era in ERAS {
        let mut live = begun(era).await;
        live.recorder.switch(1);
        let broken = json!({ "result": result(&mut live, era).await });
        assert!(text(&broken).starts_with("EXECUTED ONCE, DO NOT REPEAT"), "{broken}");
        let data = &broken["result"]["_meta"]["steadfast/refusal"];
        assert_eq!(data["missing"], json!(["id"]));
        assert_eq!(outcomes(&live).await, ["done"]);
        live.leave().await;
    }
}

#[tokio::test]
async fn a_task_whose_result_nobody_fetched_is_in_doubt() {
    let mut live = begun(Era::Legacy).await;
    live.leave().await;
    assert_eq!(outcomes(&live).await, ["in-doubt"]);
}
