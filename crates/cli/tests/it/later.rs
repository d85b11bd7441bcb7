//! What depends on answers: calls that rely on a value of another's answer, and calls that run as tasks: their deferred results are measured and put on record as immediate ones are.

use crate::live::{ERAS, Era, Live, code, phase, ran, text, tool};
use serde_json::{Value, json};
use store::{Access, ActivityQuery, Options, Sqlite, Store, Verdict};

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

#[tokio::test]
async fn a_task_whose_server_ended_is_in_doubt_and_its_result_is_late() {
    let mut phase = deferred(json!({"id": "x-1"}));
    let crash = tool("crash", json!({}), json!([]));
    phase["tools"].as_array_mut().unwrap().push(crash);
    phase["deeds"]["crash"] = json!({"fault": "ends-after"});
    let mut live = Live::listed(Era::Legacy, json!({"phases": [phase]})).await;
    let call = json!({"name": "deploy", "arguments": {"project": "shop"}, "task": {}});
    live.ask("tools/call", call).await;
    assert_eq!(code(&live.call("crash", json!({})).await), "OUTCOME_UNKNOWN");
    // The server keeps its tasks: what it says of one after all is on record too.
    // A list that was asked for while it ended is answered by an error; the next one starts it again.
    for _ in 0..20 {
        if live.ask("tools/list", json!({})).await.get("result").is_some() {
            break;
        }
    }
    assert_eq!(result(&mut live, Era::Legacy).await["structuredContent"], json!({"id": "x-1"}));
    live.leave().await;
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    let deploy = activity.iter().find(|one| one.tool == "deploy").unwrap();
    let outcomes = &deploy.attempts[0].outcomes;
    let states: Vec<_> = outcomes.iter().map(|one| (one.state.as_str(), one.late)).collect();
    assert_eq!(states, [("in-doubt", false), ("done", true)]);
}

/// One tool that makes an issue and tells its id, and one that needs it.
fn issues(answer: Value, marker: bool) -> Value {
    let mut create = tool("create_issue", json!({"title": {"type": "string"}}), json!(["title"]));
    create["outputSchema"] = json!({"type": "object", "properties": {"issue": {"type": "object"}}});
    if marker {
        create["outputSchema"]["properties"]["schema_revision"] = json!({"const": "2"});
    }
    let comment = tool("add_comment", json!({"issue_id": {"type": "string"}}), json!(["issue_id"]));
    let mut phase = phase(json!([create, comment]));
    phase["deeds"]["create_issue"]["answer"] = answer;
    phase
}

async fn depending(phases: Value) -> Live {
    let flags = ["--depends", "add_comment:issue_id=create_issue:issue.id"];
    let mut live = Live::start(Era::Legacy, json!({ "phases": phases }), &flags).await;
    live.greet().await;
    live.list().await;
    live
}

#[tokio::test]
async fn what_relies_on_a_value_that_an_answer_lacked_is_stopped() {
    let good = |id: &str| json!({"issue": {"id": id}});
    let phases = json!([
        issues(good("i-1"), false),
        issues(json!({"issue": {"title": "x"}}), false),
        issues(good("i-3"), false)
    ]);
    let mut live = depending(phases).await;
    live.call("create_issue", json!({"title": "one"})).await;
    assert!(ran(&live.call("add_comment", json!({"issue_id": "i-1"})).await));
    live.recorder.switch(1);
    live.call("create_issue", json!({"title": "two"})).await;
    let reached = live.reached().len();
    let stopped = live.call("add_comment", json!({"issue_id": "i-2"})).await;
    assert_eq!(code(&stopped), "DEPENDENCY_MISSING");
    assert!(text(&stopped).contains("`issue.id`"), "{}", text(&stopped));
    assert_eq!(live.reached().len(), reached, "nothing was sent");
    // What an earlier answer gave is known.
    assert!(ran(&live.call("add_comment", json!({"issue_id": "i-1"})).await));
    live.recorder.switch(2);
    live.call("create_issue", json!({"title": "three"})).await;
    assert!(ran(&live.call("add_comment", json!({"issue_id": "i-3"})).await));
    live.leave().await;
    // What was stopped is on record like any other refusal.
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    let refused: Vec<_> = activity.iter().filter(|one| one.attempts.is_empty()).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].tool, "add_comment");
    assert_eq!(refused[0].verdict, Verdict::Refused { code: "DEPENDENCY_MISSING".to_owned() });
}

#[tokio::test]
async fn a_marker_decides_whether_a_value_is_absent_or_unknown() {
    for (marker, stops) in [("2", false), ("1", true)] {
        let answer = json!({"schema_revision": marker, "issue": {}});
        let mut live = depending(json!([issues(answer, true)])).await;
        live.call("create_issue", json!({"title": "one"})).await;
        let next = live.call("add_comment", json!({"issue_id": "i-9"})).await;
        assert_eq!(ran(&next), !stops, "{marker}: {next}");
        live.leave().await;
    }
}

#[test]
fn a_dependency_that_is_none_is_said_so() {
    let folder = crate::run::Folder::new();
    let outcome = folder.run(&["wrap", "--depends", "a=b", "--store", "s.db", "--", "true"]);
    outcome.code(2).complains("`a=b` is no dependency");
}
