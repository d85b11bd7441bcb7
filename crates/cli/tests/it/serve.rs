//! The contract server: fixtures by version, every request on record, faults on demand.

use crate::run::{Folder, command};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

const LIST_1: &str = "\
fixture: 1
name: projects-list
version: 1
request:
  method: GET
  path: /projects
  query: {state: inactive}
response:
  body:
    items:
      - {why: of an owner that may be archived, id: p17, state: inactive, owner: team-a}
    next_cursor: null
";

const ARCHIVE: &str = "\
fixture: 1
name: projects-archive
version: 1
request: {method: POST, path: /projects/archive}
response: {status: 202, body: {archived: [p17]}}
";

/// A server that runs. It ends when it is dropped.
struct Serving {
    child: Child,
    url: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> Folder {
    let folder = Folder::new();
    let first = LIST_1.replace("version: 1", "version: 1\nuntil: 2999-12-31");
    folder.file("fixtures/projects-list-v1.yaml", first);
    let second = LIST_1
        .replace("version: 1", "version: 2\nkeeps: {projects-list-v1: 2999-12-31}")
        .replace("owner: team-a", "owner_id: 7");
    folder.file("fixtures/projects-list-v2.yaml", second);
    folder.file("fixtures/projects-archive-v1.yaml", ARCHIVE);
    folder.file("fixtures/contract.yaml", "contract: 1\n");
    folder
}

fn serve(folder: &Folder, more: &[&str]) -> Serving {
    let mut child = command(&folder.path(""))
        .args(["serve", "fixtures"])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Serving { child, url: line.trim().to_owned() }
}

async fn send(
    client: &reqwest::Client,
    method: &str,
    url: &str,
    body: Option<Value>,
) -> (u16, Value) {
    let mut request = client.request(method.parse().unwrap(), url);
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_string());
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
}

fn client() -> reqwest::Client {
    mcp::http::cryptography();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn fixtures_are_served_by_version_and_every_request_is_recorded() {
    let folder = folder();
    let serving = serve(&folder, &["--records", "requests.jsonl"]);
    let (client, url) = (client(), &serving.url);
    let list = format!("{url}/projects?state=inactive&limit=100");
    let (_, second) = send(&client, "GET", &list, None).await;
    assert_eq!(second["items"][0], json!({"id": "p17", "state": "inactive", "owner_id": 7}));
    let versions = format!("{url}/.steadfast/versions");
    let chosen = send(&client, "PUT", &versions, Some(json!({"projects-list": 1}))).await;
    assert_eq!(chosen.0, 200);
    let (_, first) = send(&client, "GET", &list, None).await;
    assert_eq!(first["items"][0]["owner"], "team-a");
    let (status, why) = send(&client, "PUT", &versions, Some(json!({"projects-list": 9}))).await;
    assert_eq!(status, 400);
    assert_eq!(why["error"], "`projects-list` has no version 9; it has: 1, 2.");

    let request = client.post(format!("{url}/projects/archive"));
    let request = request.header("authorization", "Bearer hush").header("x-request-id", "r-7");
    request.body("{\"project_ids\":[\"p17\"],\"dry_run\":null}").send().await.unwrap();
    let (status, why) = send(&client, "GET", &format!("{url}/projects?state=all"), None).await;
    assert_eq!(status, 501);
    assert_eq!(
        why["error"],
        "No fixture answers GET /projects. The nearest is projects-list-v1: query.state is \"all\"; \"inactive\" was expected."
    );

    let (_, told) = send(&client, "GET", &format!("{url}/.steadfast/records?after=2"), None).await;
    let records = told["records"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{told}");
    assert_eq!(records[0]["n"], 3);
    assert_eq!(
        records[0]["body"],
        json!({"kind": "json", "value": {"project_ids": ["p17"], "dry_run": null}})
    );
    assert_eq!(records[0]["correlation"], "r-7");
    assert_eq!(records[0]["sealed"][0][0], "authorization");
    assert_eq!(records[0]["fixture"], "projects-archive-v1");
    assert_eq!(records[1]["fixture"], Value::Null);
    let lines = folder.read("requests.jsonl");
    assert_eq!(lines.lines().count(), 4);
    assert!(!lines.contains("hush"), "{lines}");
    let (_, fixtures) = send(&client, "GET", &format!("{url}/.steadfast/fixtures"), None).await;
    let of = |id: &str| {
        fixtures["fixtures"].as_array().unwrap().iter().find(|f| f["id"] == id).unwrap().clone()
    };
    assert_eq!(of("projects-list-v1")["served"], 1);
    assert_eq!(of("projects-list-v1")["why"]["/items/0"], "of an owner that may be archived");
}

/// "Nothing was sent" must not be said of what could not be read.
#[tokio::test]
async fn a_request_that_cannot_be_read_is_on_record() {
    let folder = folder();
    let serving = serve(&folder, &[]);
    let (client, url) = (client(), &serving.url);
    let body = vec![b'x'; 9 << 20];
    let sent = client.post(format!("{url}/projects/archive")).body(body).send().await;
    // The server may close before all of it left.
    assert!(sent.map_or(true, |answer| answer.status() == 413));
    let records = format!("{url}/.steadfast/records?after=0");
    let mut told = Value::Null;
    for _ in 0..100 {
        // A connection of its own: that of the body is broken off.
        told = send(&self::client(), "GET", &records, None).await.1;
        if !told["records"].as_array().unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(told["records"][0]["path"], "/projects/archive", "{told}");
    assert_eq!(told["records"][0]["status"], 413);
    assert_eq!(told["records"][0]["body"]["value"], "(more than 8 MB, or broken off)");
}

#[tokio::test]
async fn faults_strike_on_demand_and_records_outlive_a_reset() {
    let folder = folder();
    let serving = serve(&folder, &["--hang", "50"]);
    let (client, url) = (client(), &serving.url);
    let faults = format!("{url}/.steadfast/faults");
    let archive = format!("{url}/projects/archive");
    let arm = async |fault: Value| send(&client, "POST", &faults, Some(fault)).await;
    let post = async || client.post(&archive).body("{}").send().await;

    arm(json!({"fixture": "projects-archive", "fault": "hang", "times": 1})).await;
    assert!(post().await.is_err(), "no answer was to come");
    assert_eq!(post().await.unwrap().status(), 202);
    arm(json!({"fixture": "projects-archive", "fault": "error-with-effect", "times": 1})).await;
    assert_eq!(post().await.unwrap().status(), 500);
    for fault in ["cut-after-headers", "truncated"] {
        arm(json!({"fixture": "projects-archive", "fault": fault, "times": 1})).await;
        let answer = post().await.unwrap();
        assert_eq!(answer.status(), 202, "{fault}");
        assert!(answer.bytes().await.is_err(), "{fault} gave a whole body");
    }
    arm(json!({"fixture": "projects-archive", "fault": "content-type", "times": 1})).await;
    assert_eq!(post().await.unwrap().headers()["content-type"], "text/html");
    let endless =
        json!({"fixture": "projects-list", "fault": "endless-cursor", "at": "/next_cursor"});
    assert_eq!(arm(endless).await.0, 200);
    for page in ["page-2", "page-3"] {
        let (_, list) = send(&client, "GET", &format!("{url}/projects?state=inactive"), None).await;
        assert_eq!(list["next_cursor"], page);
    }
    let (status, why) = arm(json!({"fixture": "projects-lst", "fault": "hang"})).await;
    assert_eq!(status, 400);
    assert!(why["error"].as_str().unwrap().contains("there are: projects-archive, projects-list"));

    let (_, after) = send(&client, "POST", &format!("{url}/.steadfast/reset"), None).await;
    assert_eq!(after, json!({"after": 8}));
    let (_, list) = send(&client, "GET", &format!("{url}/projects?state=inactive"), None).await;
    assert_eq!(list["next_cursor"], Value::Null);
    let (_, told) = send(&client, "GET", &format!("{url}/.steadfast/records"), None).await;
    assert_eq!(told["records"].as_array().unwrap().len(), 9);
    assert_eq!(told["records"][0]["fault"], "hang");
    assert_eq!(told["records"][0]["status"], Value::Null);
}

#[tokio::test]
async fn the_control_api_is_for_programs_on_this_machine() {
    let folder = folder();
    let serving = serve(&folder, &[]);
    let (client, url) = (client(), &serving.url);
    let (status, document) =
        send(&client, "GET", &format!("{url}/.steadfast/openapi.json"), None).await;
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    folder.file("control.json", document.to_string());
    folder.run(&["diff", "control.json", "control.json"]).code(0);
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let request = client.post(format!("{url}/.steadfast/reset")).header(name, value);
        assert_eq!(request.send().await.unwrap().status(), 403, "{name}");
    }
    let (status, why) = send(&client, "GET", &format!("{url}/.steadfast/recrods"), None).await;
    assert_eq!(status, 404);
    assert!(why["error"].as_str().unwrap().contains("records"));
    let (status, _) = send(&client, "DELETE", &format!("{url}/.steadfast/records"), None).await;
    assert_eq!(status, 405, "records are never taken away");
}

#[test]
fn what_is_wrong_with_fixtures_comes_all_at_once() {
    let folder = folder();
    let bad = "\
fixture: 1
nmae: projects
version: 0
request: {method: GET, path: projects, query: {limit: null}, body: {a: {$eny: true}}}
response: {status: 999, headers: {x: [1]}}
";
    folder.file("bad/projects-v1.yaml", bad);
    folder.file("bad/other-v3.yaml", LIST_1);
    let told = folder.run(&["serve", "bad", "--check"]).code(2);
    for part in [
        "bad/projects-v1.yaml:2:1: `nmae` is not known here.",
        "Did you mean `name`?",
        "`name` is missing.",
        "Versions are counted from 1.",
        "A path begins with a slash.",
        "There is no null on the way here",
        "`$eny` is no word of a pattern.",
        "This is no status of an answer.",
        "bad/projects-v1.yaml:5:35: A list stands where text belongs.",
        "The file is called `other-v3` and holds `projects-list-v1`.",
    ] {
        assert!(told.err.contains(part), "no {part:?} in\n{}", told.err);
    }
    folder.file("twice/a.yaml", LIST_1).file("twice/b.yaml", LIST_1);
    folder
        .run(&["serve", "twice", "--check"])
        .code(2)
        .complains("stands twice; first in twice/a.yaml");
    folder.run(&["serve", "nothing"]).code(2).complains("There is no such file or folder");
    folder
        .run(&["serve", "fixtures", "--check", "--use", "projects-list-v7"])
        .code(2)
        .complains("projects-list-v2");
    let kept = folder.run(&["serve", "fixtures", "--check", "--use", "projects-list-v1"]).code(0);
    kept.says("served  projects-list-v1  GET /projects").says("kept    projects-list-v2");
}

#[tokio::test]
async fn a_map_is_drafted_from_what_was_recorded() {
    let folder = folder();
    let serving = serve(&folder, &["--records", "requests.jsonl", "--use", "projects-list-v1"]);
    let (client, url) = (client(), &serving.url);
    client.get(format!("{url}/projects?state=inactive&limit=100")).send().await.unwrap();
    let archive = client.post(format!("{url}/projects/archive"));
    archive.body("{\"project_ids\":[\"p17\"],\"dry_run\":false}").send().await.unwrap();
    let draft =
        &["map", "draft", "requests.jsonl", "--fixtures", "fixtures", "-o", "decisions.yaml"];
    folder.run(draft).code(0);
    let map = folder.read("decisions.yaml");
    for line in [
        "  GET /projects:",
        "body.items[].id: {feeds: target, absent: stop}  # turned up in body.project_ids[] of POST /projects/archive",
        "query.limit: scope  # was sent; it came from no answer",
    ] {
        assert!(map.contains(line), "no {line:?} in\n{map}");
    }
    folder.run(draft).code(2).complains("The file is there already");
    folder.file("bad.jsonl", "{\"n\":1}\nnot json\n");
    folder
        .run(&["map", "draft", "bad.jsonl"])
        .code(2)
        .complains("bad.jsonl:2:")
        .complains("This is no record");
}

#[test]
fn an_old_fixture_is_kept_until_its_declared_end() {
    let folder = folder();
    let at = |until: &str| LIST_1.replace("version: 1", &format!("version: 1{until}"));
    let check = |until: &str| {
        folder.file("fixtures/projects-list-v1.yaml", at(until));
        folder.run(&["serve", "fixtures", "--check"])
    };
    check("\nuntil: 2999-12-31").code(0);
    check("\nuntil: 2020-12-31")
        .code(1)
        .complains("projects-list-v1 was kept until 2020-12-31, and that is over");
    check("").code(1).complains("has a newer version and does not say how long it is kept");
    check("\nuntil: next summer").code(2).complains("`next summer` is no day");
}
