//! `steadfast adapters report`: what still leans on old revisions, by real calls, and which adapters can go.

use crate::live::{Era, Live, code, phase, ran, tool};
use serde_json::{Value, json};

fn old() -> Value {
    phase(json!([tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]))]))
}

fn sized(field: &str) -> Value {
    phase(json!([tool("deploy", json!({ field: {"type": "integer"} }), json!([field]))]))
}

fn region_required() -> Value {
    let properties = json!({"project": {"type": "string"}, "region": {"type": "string"}});
    phase(json!([tool("deploy", properties, json!(["project", "region"]))]))
}

const ADAPTER: &str = "\
[[adapter]]
id = \"limit-to-page-size\"
tool = \"deploy\"
until = 2999-01-01

[[adapter.step]]
rename = { from = \"/limit\", to = \"/page_size\" }
";

async fn report(live: &Live, flags: &[&str]) -> Value {
    let mut arguments = vec!["adapters", "report", "--format", "json"];
    arguments.extend(flags);
    let (code, out, err) = live.person(&arguments).await;
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[tokio::test]
async fn refusals_and_repairs_are_counted_for_the_old_revision() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [old(), region_required()]})).await;
    let none = report(&live, &[]).await;
    assert_eq!(none, json!({"revisions": [], "adapters": []}));
    live.recorder.switch(1);
    assert_eq!(code(&live.call("deploy", json!({"project": "shop"})).await), "STALE_TOOL_SCHEMA");
    assert!(ran(&live.call("deploy", json!({"project": "shop", "region": "eu"})).await));
    assert!(ran(&live.call("deploy", json!({"project": "shop", "region": "us"})).await));
    let now = report(&live, &[]).await;
    let [one] = now["revisions"].as_array().unwrap().as_slice() else { panic!("{now:#}") };
    assert_eq!(one["revision"]["ordinal"], 1);
    assert_eq!(one["current"], false);
    assert_eq!(one["open_sessions"], 1, "the client has not looked again");
    assert_eq!(one["counts"]["refused"]["times"], 1);
    assert_eq!(one["counts"]["refused"]["effects"], 1);
    assert_eq!(one["counts"]["repaired"]["times"], 1, "once, not with each later call");
    assert!(one["weight"].as_f64().unwrap() >= 20.0, "calls with an effect weigh ten times");
    live.list().await;
    assert_eq!(report(&live, &[]).await["revisions"][0]["open_sessions"], 0);
    live.leave().await;
}

#[tokio::test]
async fn an_adapter_can_go_when_nothing_uses_it_and_nobody_holds_what_it_is_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("adapters.toml");
    std::fs::write(&file, ADAPTER).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let script = json!({"phases": [sized("limit"), sized("page_size")]});
    let mut live = Live::start_in(folder, Era::Legacy, script, &["--adapters", &file]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    let carried = live.call("deploy", json!({"limit": 5})).await;
    assert!(ran(&carried), "{carried}");
    assert_eq!(live.reached(), [json!({"page_size": 5})]);

    let (_, status, _) = live.person(&["status"]).await;
    assert!(status.contains("adapt by limit-to-page-size"), "{status}");
    assert!(status.contains("adapter limit-to-page-size  deploy  used once"), "{status}");

    let used = report(&live, &["--adapters", &file]).await;
    let adapter = &used["adapters"][0];
    assert_eq!((&adapter["id"], &adapter["retire"]), (&json!("limit-to-page-size"), &json!("no")));
    assert_eq!(adapter["why"].as_array().unwrap().len(), 2, "{adapter}");
    assert_eq!(used["revisions"][0]["counts"]["normalised"]["times"], 1);
    // Unused for long enough, but a session still holds the old revision.
    let quiet = report(&live, &["--adapters", &file, "--quiet-days", "0"]).await;
    assert_eq!(quiet["adapters"][0]["retire"], "no");
    let blind = report(&live, &["--quiet-days", "0"]).await;
    assert_eq!(blind["adapters"][0]["retire"], "unknown");
    live.leave().await;
    let free = report(&live, &["--adapters", &file, "--quiet-days", "0"]).await;
    assert_eq!(free["adapters"][0]["retire"], "yes", "{free:#}");
    let (_, text, _) = live.person(&["adapters", "report", "--adapters", &file]).await;
    assert!(text.contains("limit-to-page-size  no: it was used at"), "{text}");
}

/// Three names of one argument and of one member of the answer, one after the other.
fn renamed(argument: &str, member: &str) -> Value {
    let mut deploy = tool("deploy", json!({ argument: {"type": "integer"} }), json!([argument]));
    deploy["outputSchema"] = json!({"type": "object", "properties": { member: {"type": "string"} }, "required": [member]});
    let mut phase = phase(json!([deploy]));
    phase["deeds"]["deploy"]["answer"] = json!({ member: "x-1" });
    phase
}

#[tokio::test]
async fn a_call_and_its_answer_go_over_several_revisions() {
    let step = |id: &str, from: (&str, &str), to: (&str, &str)| {
        format!(
            "[[adapter]]\nid = \"{id}\"\ntool = \"deploy\"\nuntil = 2999-01-01\n\n[[adapter.step]]\nrename = {{ from = \"/{}\", to = \"/{}\" }}\n\n[[adapter.result]]\nrename = {{ from = \"/{}\", to = \"/{}\" }}\n\n",
            from.0, to.0, to.1, from.1
        )
    };
    let (one, two, three) = (("limit", "id"), ("page_size", "key"), ("size", "name"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("adapters.toml");
    // In the order of time, in which answers must not be restored.
    std::fs::write(&file, step("first", one, two) + &step("second", two, three)).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let script = json!({"phases": [renamed(one.0, one.1), renamed(two.0, two.1), renamed(three.0, three.1)]});
    let mut live = Live::start_in(folder, Era::Legacy, script, &["--adapters", &file]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    let carried = live.call("deploy", json!({"limit": 4})).await;
    assert_eq!(carried["result"]["structuredContent"], json!({"id": "x-1"}), "{carried}");
    live.recorder.switch(2);
    let carried = live.call("deploy", json!({"limit": 5})).await;
    assert_eq!(carried["result"]["structuredContent"], json!({"id": "x-1"}), "{carried}");
    assert_eq!(live.reached(), [json!({"page_size": 4}), json!({"size": 5})]);
    live.leave().await;
    assert!(!live.said().contains("the adapter"), "each carries its part: {}", live.said());
}

#[tokio::test]
async fn who_only_watches_sends_what_the_client_wrote_and_tells_what_would_be_adapted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("adapters.toml");
    std::fs::write(&file, ADAPTER).unwrap();
    let flags = ["--observe", "--adapters", file.to_str().unwrap()].map(str::to_owned);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let script = json!({"phases": [sized("limit"), sized("page_size")]});
    let mut live = Live::start_in(folder, Era::Legacy, script, &flags).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    assert!(ran(&live.call("deploy", json!({"limit": 5})).await));
    assert_eq!(live.reached(), [json!({"limit": 5})]);
    live.leave().await;
    assert!(
        live.said().contains("would have carried an old call of deploy over"),
        "{}",
        live.said()
    );
}

#[tokio::test]
async fn the_operator_is_told_of_an_adapter_that_does_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("adapters.toml");
    std::fs::write(&file, ADAPTER).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let bounded = tool(
        "deploy",
        json!({"page_size": {"type": "integer", "maximum": 5}}),
        json!(["page_size"]),
    );
    let script = json!({"phases": [sized("limit"), phase(json!([bounded]))]});
    let mut live = Live::start_in(folder, Era::Legacy, script, &["--adapters", &file]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    for _ in 0..2 {
        assert_eq!(code(&live.call("deploy", json!({"limit": 3})).await), "STALE_TOOL_SCHEMA");
    }
    assert!(live.reached().is_empty());
    live.leave().await;
    let said = live.said();
    let told: Vec<&str> = said.lines().filter(|line| line.contains("the adapter")).collect();
    let [one] = told.as_slice() else { panic!("once, and no more: {said}") };
    assert!(one.contains("`limit-to-page-size`") && one.contains("is refuted"), "{one}");
    assert!(one.contains("adapters.toml:1:1") && one.contains("adapters check"), "{one}");
}
