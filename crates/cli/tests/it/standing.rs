//! What stands of earlier contracts: what was granted, what clients may know, which of several definitions runs a call, and
//! for whom a task was begun. No client moves it.

use crate::front::Gateway;
use crate::live::{ERAS, Era, Live, code, phase, ran, tool};
use crate::web::Web;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::{Access, NewRevision, Options, Sqlite, Store};

fn run_on(host: Value) -> Value {
    tool("run", json!({ "host": host }), json!(["host"]))
}

fn narrow() -> Value {
    run_on(json!({"type": "string", "enum": ["a"]}))
}

fn wide() -> Value {
    run_on(json!({"type": "string"}))
}

fn other(name: &str) -> Value {
    tool(name, json!({}), json!([]))
}

/// A session that looks at each phase in turn.
async fn through(folder: tempfile::TempDir, era: Era, phases: &[Value], flags: &[&str]) -> Live {
    let mut live = Live::start_in(folder, era, json!({ "phases": phases }), flags).await;
    live.greet().await;
    for phase in 0..phases.len() {
        live.recorder.switch(phase);
        live.list().await;
    }
    live
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[tokio::test]
async fn a_name_that_went_and_came_back_wider_is_granted_to_nobody() {
    let refuse = ["--on-wider", "refuse"];
    let prod = json!({"host": "prod"});
    let without = phase(json!([other("x")]));
    for era in ERAS {
        let back = phase(json!([wide(), other("x")]));
        let phases = [phase(json!([narrow(), other("x")])), without.clone(), back.clone()];
        let mut live = through(folder(), era, &phases, &refuse).await;
        assert_eq!(code(&live.call("run", prod.clone()).await), "AUTHORITY_WIDENED");
        live.leave().await;
        // Neither does a new session, which never saw another definition.
        let mut next = through(live.folder, era, std::slice::from_ref(&back), &refuse).await;
        assert_eq!(code(&next.call("run", prod.clone()).await), "AUTHORITY_WIDENED");
        assert!(next.reached().is_empty(), "nothing was sent");
        let (_, told, _) = next.person(&["status", "scripted/run", "--format", "json"]).await;
        let told: Value = serde_json::from_str(&told).unwrap();
        let tool = &told["gateways"][0]["sessions"][0]["tools"][0];
        assert_eq!(tool["execution"]["code"], "AUTHORITY_WIDENED", "{tool:#}");
        let (done, _, err) = next.person(&["accept", "scripted/run", "--yes"]).await;
        assert_eq!(done, 0, "{err}");
        assert!(ran(&next.call("run", prod.clone()).await), "a person accepted it");
        next.leave().await;
        // Without a policy of its own it is as any reach that is new: whoever looks goes on.
        let mut plain = through(folder(), era, &phases, &[]).await;
        assert_eq!(code(&plain.call("run", prod.clone()).await), "AUTHORITY_WIDENED");
        plain.list().await;
        assert!(ran(&plain.call("run", prod.clone()).await));
        plain.leave().await;
    }
}

#[tokio::test]
async fn a_name_that_came_back_as_it_was_keeps_its_grant_and_a_new_one_is_granted_at_sight() {
    let listed = phase(json!([narrow(), other("x")]));
    let phases =
        [listed.clone(), phase(json!([other("x")])), listed, phase(json!([narrow(), other("y")]))];
    let mut live = through(folder(), Era::Legacy, &phases, &["--on-wider", "refuse"]).await;
    assert!(ran(&live.call("run", json!({"host": "a"})).await));
    assert!(ran(&live.call("y", json!({})).await));
    live.leave().await;
}

fn archive(project: &str, beside: &str) -> Value {
    let project = json!({"project": {"type": "string", "description": project}});
    phase(json!([tool("archive", project, json!(["project"])), other(beside)]))
}

#[tokio::test]
async fn what_other_tools_do_ages_no_definition() {
    let (slug, number) = ("The slug of the project.", "The numeric id of the project.");
    let seven = json!({"project": "7"});
    let mut phases = vec![archive(slug, "x")];
    phases.extend((0..18).map(|n| archive(number, &format!("x{n}"))));
    let live = through(folder(), Era::Legacy, &phases, &[]).await;
    let last = phases.pop().unwrap();
    let folder = left(live).await;
    // The other client was shown nothing here. Whether it speaks another era says nothing of what it knows.
    let mut folder = Some(folder);
    for era in ERAS {
        let script = json!({"phases": [last]});
        let mut next = Live::start_in(folder.take().unwrap(), era, script, &[]).await;
        next.greet().await;
        assert_eq!(code(&next.call("archive", seven.clone()).await), "STALE_TOOL_SCHEMA");
        assert!(next.reached().is_empty(), "nothing was sent");
        next.list().await;
        assert!(ran(&next.call("archive", seven.clone()).await));
        folder = Some(left(next).await);
    }
}

async fn left(mut live: Live) -> tempfile::TempDir {
    live.leave().await;
    live.folder
}

fn millis() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[tokio::test]
async fn a_definition_is_known_for_a_day_after_it_was_last_in_a_session() {
    const HOUR: u64 = 60 * 60 * 1_000;
    let tool = |text: &str| archive(text, "x")["tools"][0].clone();
    let number = archive("The numeric id of the project.", "x");
    for (hours, known) in [(23, true), (25, false)] {
        let folder = folder();
        let old = tool("The slug of the project.");
        let seen = NewRevision {
            server: "scripted".into(),
            tool: "archive".into(),
            digest: contract::digest::of_tool(&old),
            definition: old.to_string(),
            at: millis() - hours * HOUR,
        };
        let path = folder.path().join("state.db");
        let store = Sqlite::open(path, Options::new(Access::Gateway, millis())).unwrap();
        store.seen(seen).await.unwrap();
        drop(store);
        let script = json!({"phases": [number]});
        let mut live = Live::start_in(folder, Era::Legacy, script, &[]).await;
        live.greet().await;
        let answer = live.call("archive", json!({"project": "7"})).await;
        assert_eq!(!ran(&answer), known, "{hours} h: {answer}");
        live.leave().await;
    }
    // It is live as long as the session is, not when it was listed alone.
    let mut live = through(folder(), Era::Legacy, &[number], &[]).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let later = millis();
    live.leave().await;
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let kept = store.kept("scripted".into(), "archive".into(), later, 9).await.unwrap();
    assert_eq!(kept.len(), 1);
}

#[tokio::test]
async fn where_a_tool_moved_too_often_to_compare_an_effect_wants_a_fresh_look() {
    let wordings: Vec<Value> =
        (0..36).map(|n| archive(&format!("The project, in way {n}."), "x")).collect();
    let folder = left(through(folder(), Era::Legacy, &wordings, &[]).await).await;
    let script = json!({"phases": [wordings[35]]});
    let mut live = Live::start_in(folder, Era::Legacy, script, &[]).await;
    live.greet().await;
    let answer = live.call("archive", json!({"project": "7"})).await;
    assert_eq!(code(&answer), "CONTRACT_UNDECIDED", "{answer}");
    assert!(live.reached().is_empty(), "nothing was sent");
    live.list().await;
    assert!(ran(&live.call("archive", json!({"project": "7"})).await));
    live.leave().await;
}

#[tokio::test]
async fn replicas_that_chance_picks_run_no_call_that_another_would_run_otherwise() {
    let replica = |project: &str| archive(project, "x")["tools"].clone();
    let slug = replica("The slug of the project.");
    let web = Web::start(&[slug.clone(), replica("The numeric id of the project.")]).await;
    web.state.chance.store(7, Ordering::SeqCst);
    let servers = format!("[server.lab]\nurl = \"{}\"\neffect-age = \"0s\"\n", web.address);
    let recorder = lab::Recorder::start().await.unwrap();
    let gateway = Gateway::on(folder(), recorder, "", &servers).await;
    let mut client = gateway.client(Era::Legacy).await;
    let alternates = async || {
        let told = gateway.run(&["status", "--format", "json", "--store", "state.db"]).await;
        told.contains("\"alternates\": true")
    };
    for _ in 0..50 {
        client.list().await;
    }
    assert!(alternates().await);
    for n in 0..150 {
        let answer = client.call("archive", json!({"project": format!("p{n}")})).await;
        assert!(!ran(&answer), "{n}: {answer}");
    }
    assert_eq!(web.state.ran.lock().unwrap().len(), 0, "either may run it");
    // One of them is left, and many readings in a moment say so; who knows it says so too.
    *web.state.replicas.lock().unwrap() = vec![slug];
    let call = json!({"project": "shop"});
    for _ in 0..100 {
        client.list().await;
    }
    assert!(!ran(&client.call("archive", call.clone()).await));
    gateway.run(&["accept", "lab/archive", "--yes", "--store", "state.db"]).await;
    assert!(!alternates().await, "at once");
    client.list().await;
    let answer = client.call("archive", call.clone()).await;
    assert!(ran(&answer), "{answer}");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_task_is_measured_in_whichever_session_its_client_fetches_it() {
    let mut job = other("job");
    job["outputSchema"] = json!({"type": "object", "properties": {"other": {"type": "string"}}, "required": ["other"]});
    job["execution"] = json!({"taskSupport": "optional"});
    let web = Web::start(&[json!([job])]).await;
    web.state.tasks.store(true, Ordering::SeqCst);
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let recorder = lab::Recorder::start().await.unwrap();
    let gateway = Gateway::on(folder(), recorder, "", &servers).await;
    let mut first = gateway.client(Era::Legacy).await;
    first.list().await;
    let call = json!({"name": "job", "arguments": {}, "task": {}});
    assert_eq!(first.ask("tools/call", call).await["result"]["taskId"], "task-1");
    let mut second = gateway.client(Era::Legacy).await;
    let told = second.ask("tasks/get", json!({"taskId": "task-1"})).await;
    let told = told["result"]["result"].to_string();
    assert!(told.contains("EXECUTED ONCE, DO NOT REPEAT"), "{told}");
    gateway.stop();
    assert_eq!(gateway.activity_after_end().await, ["done"]);
}

#[tokio::test]
async fn a_task_that_was_begun_for_one_principal_is_unknown_to_others() {
    let web = Web::start(&[json!([other("job")])]).await;
    web.state.tasks.store(true, Ordering::SeqCst);
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let recorder = lab::Recorder::start().await.unwrap();
    let gateway = Gateway::on(folder(), recorder, "anonymous = false", &servers).await;
    let token = async |name: &str| {
        gateway.run(&["token", "--store", "state.db", "add", name]).await.trim().to_owned()
    };
    let (alice, bob) = (token("alice").await, token("bob").await);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let known = async || gateway.post(&ping).bearer_auth(&bob).send().await.unwrap().status();
    while known().await == 401 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for era in ERAS {
        let mut a = gateway.client_at(era, "/mcp/lab", Some(&alice)).await;
        let mut b = gateway.client_at(era, "/mcp/lab", Some(&bob)).await;
        let task = json!({"taskId": "task-1"});
        if era == Era::Legacy {
            // What this gateway never saw begin is the server's to judge.
            assert_eq!(b.ask("tasks/get", task.clone()).await["result"]["status"], "completed");
        }
        a.list().await;
        let begun = a.ask("tools/call", json!({"name": "job", "arguments": {}, "task": {}})).await;
        assert_eq!(begun["result"]["taskId"], "task-1", "{begun}");
        let came = web.came("tasks/get");
        for method in ["tasks/get", "tasks/result", "tasks/cancel", "tasks/update"] {
            let answer = b.ask(method, task.clone()).await;
            assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
        }
        assert_eq!(web.came("tasks/get"), came, "nothing was asked");
        let names = |listed: Value| -> Vec<String> {
            let tasks = listed["result"]["tasks"].as_array().unwrap().clone();
            tasks.iter().map(|task| task["taskId"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(a.ask("tasks/list", json!({})).await), ["task-1", "task-9"]);
        assert_eq!(names(b.ask("tasks/list", json!({})).await), ["task-9"]);
        let mine = a.ask("tasks/get", task.clone()).await;
        assert_eq!(mine["result"]["result"]["structuredContent"]["id"], "x-1", "{mine}");
    }
    gateway.stop();
    gateway.ended().await;
}
