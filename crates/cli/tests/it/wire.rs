//! What lies below the ledger: what leaves twice, what left and seems not to have, and servers that take nothing.

use crate::front::{Gateway, Stream};
use crate::live::{ERAS, Era, Live, code, phase, ran, text, tool};
use crate::web::Web;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use store::{Access, Options, SessionQuery, Sqlite, Store};
use tokio::time::timeout;

fn deploy() -> Value {
    tool("deploy", json!({"project": {"type": "string"}}), json!([]))
}

/// A line of the shell that starts the scripted server behind something that stops reading when it is told to.
fn deaf(folder: &Path, recorder: &lab::Recorder) -> String {
    let script = folder.join("script.json");
    std::fs::write(&script, json!({"phases": [phase(json!([deploy()]))]}).to_string()).unwrap();
    let (own, folder) = (env!("CARGO_BIN_EXE_steadfast"), folder.display());
    format!(
        "echo $$ > {folder}/group; {{ sed -u '/\"lab.stop\"/q5' || sleep 1000; }} | {own} demo --script {} --recorder {}",
        script.display(),
        recorder.url()
    )
}

/// A notification that stops it, and one that is larger than a pipe.
fn stop_and_more() -> [Value; 2] {
    let more = json!({"x": "y".repeat(300_000)});
    [
        json!({"jsonrpc": "2.0", "method": "lab/stop"}),
        json!({"jsonrpc": "2.0", "method": "lab/more", "params": more}),
    ]
}

/// Waits until nobody is left of the server's process group.
async fn group_ends(folder: &Path) {
    let group = std::fs::read_to_string(folder.join("group")).unwrap().trim().to_owned();
    for _ in 0..500 {
        let there = std::process::Command::new("kill")
            .args(["-0", "--", &format!("-{group}")])
            .stderr(std::process::Stdio::null())
            .status();
        if !there.unwrap().success() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server is still there");
}

#[tokio::test]
async fn a_redirect_of_a_call_is_not_followed() {
    for era in ERAS {
        let web = Web::start(&[json!([deploy()])]).await;
        let mut live = Live::before(era, &web.address).await;
        live.greet().await;
        live.list().await;
        for (n, status) in [302, 303, 307, 308].into_iter().enumerate() {
            *web.state.status.lock().unwrap() = Some(status);
            let answer = live.call("deploy", json!({"project": status.to_string()})).await;
            assert_eq!(code(&answer), "OUTCOME_UNKNOWN", "{status}: {answer}");
            assert!(text(&answer).contains("redirected"), "{answer}");
            assert_eq!(web.came("tools/call"), n + 1, "{status}");
        }
        *web.state.status.lock().unwrap() = None;
        assert!(ran(&live.call("deploy", json!({})).await));
        live.leave().await;
        let (_, out, _) = live.person(&["activity", "--in-doubt"]).await;
        assert_eq!(out.matches("attempt ").count(), 4, "{out}");
    }
}

#[tokio::test]
async fn a_server_that_takes_nothing_does_not_keep_its_client_from_leaving() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = lab::Recorder::start().await.unwrap();
    let line = deaf(folder.path(), &recorder);
    let target = ["--", "sh", "-c", &line];
    let mut live = Live::wrapped(Era::Legacy, folder, recorder, &[], &target).await;
    live.greet().await;
    live.list().await;
    for message in stop_and_more() {
        live.send(&message.to_string()).await;
    }
    // What waits behind it is not taken either.
    live.begin("prompts/list", json!({})).await;
    let left = Instant::now();
    live.leave().await;
    assert!(left.elapsed() < Duration::from_secs(20), "{:?}", left.elapsed());
    group_ends(live.folder.path()).await;
}

#[tokio::test]
async fn a_session_that_cannot_end_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = lab::Recorder::start().await.unwrap();
    let line = deaf(folder.path(), &recorder);
    let servers = format!(
        "[server.lab]\ncommand = {}\n[server.also]\ncommand = {}\n",
        json!(["sh", "-c", &line]),
        json!(["sh", "-c", &line.replace("/group", "/other")]),
    );
    let gateway = Gateway::on(folder, recorder, "idle = \"1s\"", &servers).await;
    let mut stuck = gateway.client(Era::Legacy).await;
    stuck.list().await;
    let more = stop_and_more().map(|message| stuck.send(&message));
    for message in more {
        // The gateway holds the second back, as the server does.
        let _ = timeout(Duration::from_millis(500), message.send()).await;
    }
    // The stuck one expires within two seconds and needs some more to end; another one expires meanwhile.
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    let _quiet = gateway.client_at(Era::Legacy, "/mcp/also", None).await;
    let store = Sqlite::open(gateway.store(), Options::new(Access::Read, 0)).unwrap();
    let open = async |server: &str| {
        let query =
            SessionQuery { server: Some(server.into()), open: true, ..SessionQuery::default() };
        store.sessions(query).await.unwrap().len()
    };
    let mut ended = Vec::new();
    for _ in 0..1_500 {
        for server in ["also", "lab"] {
            if !ended.contains(&server) && open(server).await == 0 {
                ended.push(server);
            }
        }
        if ended.len() == 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(ended, ["also", "lab"]);
    group_ends(gateway.folder.path()).await;
    // One whose client leaves is answered, and the gateway ends.
    let mut stuck = gateway.client(Era::Legacy).await;
    stuck.list().await;
    for message in stop_and_more().map(|message| stuck.send(&message)) {
        let _ = timeout(Duration::from_millis(500), message.send()).await;
    }
    let session = stuck.session.clone().unwrap();
    let leave = gateway.request(reqwest::Method::DELETE, "/mcp/lab");
    let leave = leave.header("mcp-session-id", session).send();
    let left = timeout(Duration::from_secs(20), leave).await.expect("an answer").unwrap();
    assert_eq!(left.status(), 204);
    gateway.stop();
    gateway.ended().await;
}

/// A server in the shell. When there is a file `last`, it answers one more list, takes nothing more, and ends.
const FRAIL: &str = r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n' "$id";;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"deploy","inputSchema":{"type":"object"}}]}}\n' "$id"
      if [ -e FOLDER/last ]; then rm FOLDER/last; sleep 1; exit 1; fi;;
  esac
done"#;

#[tokio::test]
async fn a_message_that_left_whole_but_for_its_line_feed_may_have_been_read() {
    // A pipe holds 64 KiB: all of the message and no line feed, and one byte less of the message.
    for (size, unknown) in [(65_536, true), (65_537, false)] {
        let folder = tempfile::tempdir().unwrap();
        let recorder = lab::Recorder::start().await.unwrap();
        let line = FRAIL.replace("FOLDER", &folder.path().display().to_string());
        let target = ["--", "sh", "-c", &line];
        let mut live = Live::wrapped(Era::Legacy, folder, recorder, &[], &target).await;
        live.greet().await;
        live.list().await;
        std::fs::write(live.folder.path().join("last"), "").unwrap();
        let call = |more: usize| {
            json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "deploy", "arguments": {"x": "y".repeat(more)}}}).to_string()
        };
        live.send(&call(size - call(0).len())).await;
        let answer = live.answer(&json!(77)).await;
        if unknown {
            assert_eq!(code(&answer), "OUTCOME_UNKNOWN", "{answer}");
        } else {
            assert!(text(&answer).contains("Nothing was sent"), "{answer}");
        }
        live.leave().await;
    }
}

#[tokio::test]
async fn what_a_gateway_left_that_is_gone_is_in_doubt_for_everyone() {
    let mut silent = phase(json!([deploy()]));
    silent["deeds"]["deploy"]["fault"] = json!("silent-after");
    let script = json!({"phases": [silent]});
    let mut live = Live::listed(Era::Legacy, script.clone()).await;
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}})).await;
    while live.reached().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (_, out, _) = live.person(&["activity"]).await;
    assert!(out.contains("under way"), "{out}");
    let (_, out, _) = live.person(&["activity", "--in-doubt"]).await;
    assert!(out.contains("no such call"), "{out}");
    // Another gateway on the same store, which has nothing to do.
    let mut other = tokio::process::Command::new(env!("CARGO_BIN_EXE_steadfast"))
        .args(["wrap", "--name", "other", "--store"])
        .arg(live.store())
        .args(["--", "cat"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    while !live.person(&["sessions", "--open"]).await.1.contains("other") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    live.kill().await;
    // Whoever only reads tells so at once, and writes nothing.
    let (_, out, _) = live.person(&["activity", "--in-doubt"]).await;
    assert!(out.contains("in-doubt"), "{out}");
    let (_, out, _) = live.person(&["activity", "--format", "json"]).await;
    let read: Value = serde_json::from_str(&out).unwrap();
    let outcomes = &read["requests"][0]["attempts"][0]["outcomes"];
    assert_eq!(outcomes[0]["state"], "in-doubt", "{out}");
    let (_, out, _) = live.person(&["sessions"]).await;
    assert!(!out.contains("scripted") || !out.contains("  open  1 request"), "{out}");
    // The gateway that lives puts it on record.
    let settled = async {
        while !live.person(&["activity"]).await.1.contains("in-doubt (restart)") {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(Duration::from_secs(15), settled).await.expect("it is settled");
    let (code, out, _) = live.person(&["journal", "verify"]).await;
    assert_eq!(code, 0, "{out}");
    drop(other.stdin.take());
    timeout(Duration::from_secs(20), other.wait()).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn a_token_that_is_taken_back_hears_nothing_more() {
    let script = json!({"phases": [phase(json!([deploy()]))]});
    let gateway = Gateway::with(script, "anonymous = false", "").await;
    let token = async |name: &str| {
        gateway.run(&["token", "--store", "state.db", "add", name]).await.trim().to_owned()
    };
    let (anna, ci) = (token("anna").await, token("ci").await);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let mut modern = gateway.client_at(Era::Modern, "/mcp/lab", Some(&anna)).await;
    let mut kept = gateway.client_at(Era::Modern, "/mcp/lab", Some(&ci)).await;
    let mut streams = Vec::new();
    for client in [&mut modern, &mut kept] {
        let params = json!({"notifications": {"toolsListChanged": true}});
        let message = client.message("subscriptions/listen", params);
        let mut stream = Stream::new(client.send(&message).send().await.unwrap());
        let first = stream.next().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        streams.push(stream);
    }
    let legacy = gateway.client_at(Era::Legacy, "/mcp/lab", Some(&anna)).await;
    let session = legacy.session.clone().unwrap();
    let heard = gateway.request(reqwest::Method::GET, "/mcp/lab").bearer_auth(&anna);
    let heard = heard.header("mcp-session-id", session).send().await.unwrap();
    let mut heard = Stream::new(heard);
    gateway.run(&["token", "--store", "state.db", "remove", "anna"]).await;
    let ends = async { (streams[0].next().await, heard.next().await) };
    let ended = timeout(Duration::from_secs(3), ends).await.expect("both end");
    assert_eq!(ended, (None, None));
    let waits = timeout(Duration::from_millis(500), streams[1].next()).await;
    assert!(waits.is_err(), "that of another goes on");
    drop(streams);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_reading_that_is_given_up_leaves_no_connection_behind() {
    for era in ERAS {
        let web = Web::start(&[json!([deploy()])]).await;
        let recorder = lab::Recorder::start().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let flags = ["--timeout", "1"];
        let mut live = Live::wrapped(era, folder, recorder, &flags, &[&web.address]).await;
        live.greet().await;
        live.list().await;
        web.state.lists_hang.store(true, Ordering::SeqCst);
        live.list().await;
        let closed = async {
            while !web.state.closed.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(5), closed).await.expect("it is closed");
        live.leave().await;
    }
}

#[tokio::test]
async fn those_who_ask_at_once_share_a_reading_also_one_that_fails() {
    let mut look = tool("look", json!({}), json!([]));
    look["annotations"] = json!({"readOnlyHint": true});
    let lists = phase(json!([deploy(), look]));
    let mut hangs = lists.clone();
    hangs["list_takes"] = json!(600_000);
    let script = json!({"phases": [lists, hangs]});
    let mut live = Live::start(Era::Legacy, script, &["--timeout", "2"]).await;
    live.greet().await;
    live.list().await;
    live.recorder.switch(1);
    let asked = Instant::now();
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(live.begin("tools/list", json!({})).await);
    }
    for _ in 0..3 {
        let params = json!({"name": "deploy", "arguments": {}});
        ids.push(live.begin("tools/call", params).await);
    }
    ids.push(live.begin("tools/call", json!({"name": "look", "arguments": {}})).await);
    for id in &ids[..13] {
        let answer = live.answer(&json!(id)).await;
        assert!(answer.get("error").is_none(), "the last good list is served: {answer}");
    }
    assert!(ran(&live.answer(&json!(ids[13])).await), "what only reads goes on");
    assert!(asked.elapsed() < Duration::from_secs(7), "{:?}", asked.elapsed());
    assert_eq!(live.reached().len(), 1, "no effect left");
    live.leave().await;
}
