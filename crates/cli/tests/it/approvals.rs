//! A person decides about one exact call: `approver`, `approve`, `deny`, and the calls that wait.

use crate::live::{Era, Live, code, phase, ran, text, tool};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

pub const PASSPHRASE: &str = "correct horse";
pub const OWN: &str = env!("CARGO_BIN_EXE_steadfast");

/// Runs a command in a terminal of its own; at each prompt, the next answer is typed. Gives its exit code and all that
/// the terminal showed.
pub async fn typed(store: &Path, arguments: &[&str], answers: &[&str]) -> (i32, String) {
    let (mut pty, pts) = pty_process::open().unwrap();
    let command = pty_process::Command::new(OWN).args(arguments).arg("--store").arg(store);
    let mut child = command.spawn(pts).unwrap();
    let mut shown = String::new();
    let mut answers = answers.iter();
    let talk = async {
        let mut buffer = [0; 4096];
        // The terminal ends with an error when nobody holds its other side any more.
        while let Ok(count) = pty.read(&mut buffer).await {
            if count == 0 {
                break;
            }
            shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
            if shown.ends_with(": ") || shown.ends_with("[y/N] ") {
                let answer =
                    answers.next().unwrap_or_else(|| panic!("one prompt too many: {shown}"));
                pty.write_all(format!("{answer}\r").as_bytes()).await.unwrap();
            }
        }
    };
    timeout(Duration::from_secs(60), talk).await.expect("it ends");
    let status = child.wait().await.unwrap();
    (status.code().unwrap(), shown)
}

/// A folder in whose store ada may approve.
pub async fn enrolled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("state.db");
    let (code, shown) =
        typed(&store, &["approver", "enrol", "ada"], &[PASSPHRASE, PASSPHRASE]).await;
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains(PASSPHRASE), "what is typed is not shown: {shown}");
    folder
}

fn deploy(properties: Value) -> Value {
    let mut look = tool("look", json!({}), json!([]));
    look["annotations"] = json!({"readOnlyHint": true});
    phase(json!([tool("deploy", properties, json!(["project"])), look]))
}

pub fn before() -> Value {
    deploy(json!({"project": {"type": "string"}, "note": {"type": "string"}}))
}

pub fn wider() -> Value {
    deploy(
        json!({"project": {"type": "string"}, "note": {"type": "string"}, "account_id": {"type": "string"}}),
    )
}

pub async fn holding(script: Value) -> Live {
    let mut live = Live::start_in(enrolled().await, Era::Legacy, script, &["--hold-effects"]).await;
    live.greet().await;
    live.list().await;
    live
}

/// Waits until something waits for a person.
pub async fn waiting(live: &Live) -> Value {
    for _ in 0..100 {
        let (code, out, err) = live.person(&["approve", "--format", "json"]).await;
        assert_eq!(code, 0, "{err}");
        let waiting: Value = serde_json::from_str(&out).unwrap();
        if let Some(one) = waiting["waiting"].as_array().unwrap().last() {
            return one.clone();
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nothing waits: {}", live.said());
}

fn id(waiting: &Value) -> String {
    waiting["id"].as_str().unwrap().to_owned()
}

async fn approve(live: &Live, id: &str) {
    let (code, shown) = typed(&live.store(), &["approve", id], &[PASSPHRASE]).await;
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("covers this call once"), "{shown}");
}

/// What a person approved is still what is there, though its server was started again meanwhile.
#[tokio::test]
async fn an_approval_outlives_a_restart_of_the_server_where_what_it_is_about_does() {
    let mut script = before();
    script["tools"].as_array_mut().unwrap().push(tool("crash", json!({}), json!([])));
    script["deeds"]["crash"] = json!({"fault": "ends-after"});
    let flags = ["--hold-effects", "--read", "crash"];
    let script = json!({"phases": [script]});
    let mut live = Live::start_in(enrolled().await, Era::Legacy, script, &flags).await;
    live.greet().await;
    live.list().await;
    let held = json!({"name": "deploy", "arguments": {"project": "shop"}});
    let held = live.begin("tools/call", held).await;
    let id = id(&waiting(&live).await);
    live.call("crash", json!({})).await;
    approve(&live, &id).await;
    let answer = live.answer(&json!(held)).await;
    assert!(ran(&answer), "{answer}");
    live.leave().await;
}

/// No person is asked about a call that relies on what an answer lacked.
#[tokio::test]
async fn what_relies_on_a_lost_value_is_stopped_before_a_person_is_asked() {
    let script = json!({"phases": [before()]});
    let flags = ["--hold-effects", "--depends", "deploy:note=look:key"];
    let mut live = Live::start_in(enrolled().await, Era::Legacy, script, &flags).await;
    live.greet().await;
    live.list().await;
    assert!(ran(&live.call("look", json!({})).await));
    let stopped = live.call("deploy", json!({"project": "shop", "note": "n-1"})).await;
    assert_eq!(code(&stopped), "DEPENDENCY_MISSING", "{stopped}");
    let (code, out, _) = live.person(&["approve", "--format", "json"]).await;
    assert_eq!(code, 0);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["waiting"], json!([]));
    live.leave().await;
}

#[tokio::test]
async fn a_passphrase_comes_from_a_terminal_and_from_nowhere_else() {
    let folder = enrolled().await;
    let store = folder.path().join("state.db");
    // Without a terminal, neither standard input nor the environment will do.
    let mut child = tokio::process::Command::new("setsid")
        .args(["--wait", OWN, "approver", "enrol", "eve", "--store"])
        .arg(&store)
        .env("STEADFAST_PASSPHRASE", PASSPHRASE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed_in = format!("{PASSPHRASE}\n{PASSPHRASE}\n");
    // It may have ended before it is written to.
    let _ = child.stdin.take().unwrap().write_all(typed_in.as_bytes()).await;
    let done = child.wait_with_output().await.unwrap();
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("/dev/tty"), "{complaint}");

    for (name, answers, why) in [
        ("bob", &["long enough one", "long enough two"][..], "differ"),
        ("bob", &["short", "short"][..], "at least 10 characters"),
        ("ada", &[][..], "enrolled under this name already"),
        ("b/ob", &[][..], "letters, digits"),
    ] {
        let (code, shown) = typed(&store, &["approver", "enrol", name], answers).await;
        assert_eq!(code, 2, "{shown}");
        assert!(shown.contains(why), "{shown}");
    }
    let (_, shown) = typed(&store, &["approver", "list"], &[]).await;
    assert!(shown.starts_with("ada  since ") && !shown.contains("bob"), "{shown}");
}

#[tokio::test]
async fn nothing_may_wait_for_a_person_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["--hold-effects"][..], &["--on-wider", "hold"]] {
        let done = tokio::process::Command::new(OWN)
            .args(["wrap", "--store"])
            .arg(folder.path().join("state.db"))
            .args(flags)
            .args(["--", "true"])
            .output()
            .await
            .unwrap();
        assert_eq!(done.status.code(), Some(2));
        let complaint = String::from_utf8_lossy(&done.stderr);
        assert!(complaint.contains("steadfast approver enrol"), "{complaint}");
    }
}

#[tokio::test]
async fn a_held_call_runs_once_when_a_person_approves_it() {
    let mut live = holding(json!({"phases": [before()]})).await;
    assert!(ran(&live.call("look", json!({})).await), "a read waits for nobody");
    let call =
        live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let one = waiting(&live).await;
    assert_eq!(one["tool"], "deploy");
    assert_eq!(one["card"]["reason"], "APPROVAL_REQUIRED");
    assert_eq!(one["card"]["targets"], json!([{"field": "project", "value": "\"shop\""}]));
    assert_eq!(one["card"]["differs"], Value::Null);
    // Others are not kept waiting by it.
    assert!(ran(&live.call("look", json!({})).await));
    let reached = live.reached().len();

    let (code_, shown) = typed(&live.store(), &["approve", &id(&one)], &["wrong horse!"]).await;
    assert_eq!(code_, 2, "{shown}");
    assert!(shown.contains("does not open the key"), "{shown}");
    assert_eq!(live.reached().len(), reached);

    approve(&live, &id(&one)[..23]).await;
    assert!(ran(&live.answer(&json!(call)).await));
    assert_eq!(live.reached().last().unwrap(), &json!({"project": "shop"}));
    assert_eq!(live.reached().len(), reached + 1);
    let (code_, shown) = typed(&live.store(), &["approve", &id(&one)], &[]).await;
    assert_eq!(code_, 2);
    assert!(shown.contains("It is redeemed already"), "{shown}");

    // The same call once more is another action to approve, and the card says that nothing differs.
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let next = waiting(&live).await;
    assert_ne!(id(&next), id(&one));
    assert_eq!(next["card"]["differs"], json!([]));
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "other"}})).await;
    for _ in 0..100 {
        let other = waiting(&live).await;
        if id(&other) != id(&next) {
            assert_eq!(other["card"]["differs"][0]["before"], "\"shop\"");
            assert_eq!(other["card"]["differs"][0]["after"], "\"other\"");
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the other call does not wait");
}

#[tokio::test]
async fn a_pending_call_is_told_so_and_the_same_call_redeems_the_approval_later() {
    let mut live = holding(json!({"phases": [before()]})).await;
    let arguments = json!({"project": "shop"});
    let params =
        json!({"name": "deploy", "arguments": arguments, "_meta": {"progressToken": "p-1"}});
    let pending = live.ask("tools/call", params).await;
    assert_eq!(code(&pending), "APPROVAL_PENDING");
    assert!(text(&pending).starts_with("WAITING, NOT EXECUTED"), "{}", text(&pending));
    let data = &pending["result"]["_meta"]["steadfast/refusal"];
    assert!(data["expires"].as_u64().is_some());
    let progress = live.notified("notifications/progress").await;
    assert_eq!(progress["params"]["progressToken"], "p-1");
    assert!(live.reached().is_empty());

    let id = data["id"].as_str().unwrap().to_owned();
    approve(&live, &id).await;
    // Another call is not covered by it.
    let other = live
        .begin("tools/call", json!({"name": "deploy", "arguments": {"project": "other"}}))
        .await;
    let _ = waiting(&live).await;
    assert!(live.reached().is_empty());
    assert!(ran(&live.call("deploy", arguments).await));
    assert_eq!(live.reached(), [json!({"project": "shop"})]);
    live.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": other}}).to_string()).await;
    live.leave().await;

    use store::{Access, ActivityQuery, Options, Sqlite, Store, Verdict};
    let store = Sqlite::open(live.store(), Options::new(Access::Read, 0)).unwrap();
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    let sent: Vec<&Verdict> =
        activity.iter().filter(|one| !one.attempts.is_empty()).map(|one| &one.verdict).collect();
    assert_eq!(sent, [&Verdict::Admitted], "it left under an approval that was redeemed before");
    assert_eq!(activity.iter().filter(|one| one.verdict == Verdict::Held).count(), 2);
}

#[tokio::test]
async fn a_denied_call_is_told_so() {
    let mut live = holding(json!({"phases": [before()]})).await;
    let call =
        live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let one = waiting(&live).await;
    let (code_, out, err) = live.person(&["deny", &id(&one)]).await;
    assert_eq!(code_, 0, "{err}");
    assert!(out.starts_with("denied "), "{out}");
    let answer = live.answer(&json!(call)).await;
    assert_eq!(code(&answer), "APPROVAL_DENIED");
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn any_change_of_the_tool_makes_an_approval_void() {
    let mut live = holding(json!({"phases": [before(), wider()]})).await;
    let call =
        live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let one = waiting(&live).await;
    live.recorder.switch(1);
    live.list().await;
    let answer = live.answer(&json!(call)).await;
    assert_eq!(code(&answer), "APPROVAL_VOID");
    let (code_, shown) = typed(&live.store(), &["approve", &id(&one)], &[]).await;
    assert_eq!(code_, 2);
    assert!(shown.contains("It is void already"), "{shown}");
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn a_change_between_the_word_and_the_sending_is_seen() {
    let mut live = holding(json!({"phases": [before(), wider()]})).await;
    let call =
        live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    let one = waiting(&live).await;
    // The server moves and says nothing; the approval is given for what was.
    live.recorder.switch(1);
    approve(&live, &id(&one)).await;
    let answer = live.answer(&json!(call)).await;
    assert_eq!(code(&answer), "STALE_TOOL_SCHEMA");
    assert!(live.reached().is_empty());
    live.leave().await;
}

#[tokio::test]
async fn an_approval_is_not_used_up_where_what_holds_cannot_be_read() {
    let mut broken = before();
    broken["list_fails"] = json!(-32603);
    let mut live = holding(json!({"phases": [before(), broken]})).await;
    let arguments = json!({"project": "shop"});
    let call = live.begin("tools/call", json!({"name": "deploy", "arguments": arguments})).await;
    let one = waiting(&live).await;
    live.recorder.switch(1);
    approve(&live, &id(&one)).await;
    let answer = live.answer(&json!(call)).await;
    assert_eq!(code(&answer), "CONTRACT_UNVERIFIED");
    assert!(text(&answer).contains("is not used up"), "{}", text(&answer));
    assert!(live.reached().is_empty());
    live.recorder.switch(0);
    assert!(ran(&live.call("deploy", arguments.clone()).await), "once it can be read, it runs");
    assert_eq!(live.reached(), std::slice::from_ref(&arguments));
    live.begin("tools/call", json!({"name": "deploy", "arguments": arguments})).await;
    assert_ne!(id(&waiting(&live).await), id(&one), "and it ran once");
}

#[tokio::test]
async fn with_an_approver_reach_beyond_the_grant_waits_and_a_look_is_not_enough() {
    let script = json!({"phases": [before(), wider()]});
    let mut live = Live::start_in(enrolled().await, Era::Legacy, script, &[]).await;
    live.greet().await;
    live.list().await;
    assert!(
        ran(&live.call("deploy", json!({"project": "shop"})).await),
        "nothing moved: nothing waits"
    );
    live.recorder.switch(1);
    live.list().await;
    let wide = json!({"project": "shop", "account_id": "a-7"});
    let call = live.begin("tools/call", json!({"name": "deploy", "arguments": wide})).await;
    let one = waiting(&live).await;
    assert_eq!(one["card"]["reason"], "AUTHORITY_WIDENED");
    assert_eq!(one["card"]["moved"][0]["field"], "account_id");
    approve(&live, &id(&one)).await;
    assert!(ran(&live.answer(&json!(call)).await));
    // It covered one call, and moved no grant.
    live.begin("tools/call", json!({"name": "deploy", "arguments": wide})).await;
    assert_ne!(id(&waiting(&live).await), id(&one));
}

#[tokio::test]
async fn a_name_that_went_and_came_back_wider_waits_for_a_person_too() {
    let gone = {
        let mut look = tool("look", json!({}), json!([]));
        look["annotations"] = json!({"readOnlyHint": true});
        phase(json!([look]))
    };
    for flags in [&[][..], &["--on-wider", "hold"], &["--on-wider", "hold-effects"]] {
        let script = json!({"phases": [before(), gone, wider()]});
        let mut live = Live::start_in(enrolled().await, Era::Legacy, script, flags).await;
        live.greet().await;
        for phase in 0..3 {
            live.recorder.switch(phase);
            live.list().await;
        }
        let wide = json!({"project": "shop", "account_id": "a-7"});
        let call = live.begin("tools/call", json!({"name": "deploy", "arguments": wide})).await;
        let one = waiting(&live).await;
        assert_eq!(one["card"]["reason"], "AUTHORITY_WIDENED");
        assert!(live.reached().is_empty(), "nothing was sent");
        approve(&live, &id(&one)).await;
        assert!(ran(&live.answer(&json!(call)).await));
        live.leave().await;
    }
}

#[tokio::test]
async fn what_agents_and_servers_say_is_quoted_and_harmless() {
    let mut live = holding(json!({"phases": [before()]})).await;
    let evil = "\u{1b}[2Kapproved\r\nsteadfast: fine \u{202e}drows\u{200b}\u{e0041}";
    live.begin(
        "tools/call",
        json!({"name": "deploy", "arguments": {"project": evil, "note": "x"}}),
    )
    .await;
    waiting(&live).await;
    let (_, out, _) = live.person(&["approve"]).await;
    assert!(out.contains("target      \"project\" = \"") && out.contains("\\u{202e}"), "{out}");
    let harmless =
        |c: char| c == '\n' || !(c.is_control() || "\u{202e}\u{200b}\u{e0041}".contains(c));
    assert!(out.chars().all(harmless), "{out:?}");
    assert!(!out.lines().any(|line| line.starts_with("steadfast: fine")), "{out}");
    let (code_, shown) = typed(&live.store(), &["approve", "ffff"], &[]).await;
    assert_eq!(code_, 2);
    assert!(shown.contains("No approval of this id waits"), "{shown}");
}

#[tokio::test]
async fn a_person_at_a_terminal_is_asked_before_a_contract_is_accepted() {
    let mut live = Live::listed(Era::Legacy, json!({"phases": [before(), wider()]})).await;
    live.recorder.switch(1);
    live.call("look", json!({})).await;
    live.list().await;
    let (code_, shown) = typed(&live.store(), &["accept", "scripted"], &["n"]).await;
    assert_eq!(code_, 1, "{shown}");
    assert!(shown.contains("account_id") && shown.contains("nothing was accepted"), "{shown}");
    let (code_, shown) = typed(&live.store(), &["accept", "scripted"], &["y"]).await;
    assert_eq!(code_, 0, "{shown}");
    assert!(shown.contains("accepted: deploy"), "{shown}");
    live.leave().await;
}
