//! Clients and servers that keep to the letter of JSON-RPC and no more, an end by force, and a disk that stalls.

use crate::live::{Era, Live, phase, ran, tool};
use lab::Recorder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

fn deploy() -> Value {
    tool("deploy", json!({"project": {"type": "string"}}), json!(["project"]))
}

/// `wrap` before the unruly server; `None` where there is no Python.
async fn unruly() -> Option<Live> {
    if !std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|done| done.status.success())
    {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/unruly_server.py");
    let (server, deeds) =
        (server.display().to_string(), folder.path().join("deeds").display().to_string());
    let target = ["--", "python3", &server, &deeds];
    let mut live =
        Live::wrapped(Era::Legacy, folder, Recorder::start().await.unwrap(), &[], &target).await;
    live.greet().await;
    live.list().await;
    Some(live)
}

/// What the unruly server did, line by line.
fn deeds(live: &Live) -> Vec<String> {
    let text = std::fs::read_to_string(live.folder.path().join("deeds")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn call(id: &str, name: &str, line: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{{\"line\":\"{line}\"}}}}}}"
    )
}

#[tokio::test]
async fn answers_in_another_order_twice_or_to_nobody_reach_who_asked_and_nobody_else() {
    let Some(mut live) = unruly().await else { return };
    live.send(&call("101", "write", "first")).await;
    live.send(&call("102", "write", "twice")).await;
    let second = live.answer(&json!(102)).await;
    assert_eq!(second["result"]["structuredContent"]["id"], "twice", "{second}");
    let first = live.answer(&json!(101)).await;
    assert_eq!(first["result"]["structuredContent"]["id"], "first", "{first}");
    live.ask("ping", json!({})).await;
    assert!(
        live.aside.iter().all(|line| !line.contains("stray") && !line.contains("changed")),
        "{:?}",
        live.aside
    );
    assert_eq!(deeds(&live), ["first", "twice"]);
    live.leave().await;
    let (_, doubt, _) = live.person(&["activity", "--in-doubt"]).await;
    assert!(!doubt.contains("attempt "), "{doubt}");
    assert_eq!(live.person(&["journal", "verify"]).await.0, 0);
}

#[tokio::test]
async fn ids_of_every_type_come_back_as_they_were_written() {
    let Some(mut live) = unruly().await else { return };
    let ids = [
        "0", "-1", "\"\"", "\"1\"", "1", "\"a \\\" b\"", "\"\u{e9}\"", "\"\\u0000\"",
        "9007199254740993", "18446744073709551616", "1.5", "\"null\"", "\"2026-07-28\"",
    ];
    // All on their way at once: two that look alike are two.
    let mut asked = BTreeMap::new();
    for (n, id) in ids.iter().enumerate() {
        live.send(&call(id, "write", &format!("line {n}"))).await;
        asked.insert(format!("line {n}"), *id);
    }
    while !asked.is_empty() {
        let line = live.line().await;
        let answer: Value = serde_json::from_str(&line).unwrap();
        let Some(said) = answer["result"]["structuredContent"]["id"].as_str() else {
            panic!("no answer: {line}");
        };
        let id = asked.remove(said).unwrap_or_else(|| panic!("answered twice: {line}"));
        assert_eq!(answer["id"], serde_json::from_str::<Value>(id).unwrap(), "{line}");
    }
    let mut done = deeds(&live);
    done.sort();
    done.dedup();
    assert_eq!(done.len(), ids.len(), "each once: {done:?}");
    // What is no id is no request: it is said, nothing is sent, and the session goes on.
    for id in ["null", "true", "[]", "{}", "[1]"] {
        live.send(&call(id, "write", "never")).await;
        let answer: Value = serde_json::from_str(&live.line().await).unwrap();
        assert_eq!(answer["error"]["code"], -32600, "{id}: {answer}");
    }
    // A call without an id is a notification, which nobody could be told the outcome of.
    live.send("{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"write\",\"arguments\":{\"line\":\"never\"}}}").await;
    live.ask("ping", json!({})).await;
    assert_eq!(deeds(&live).len(), ids.len(), "{:?}", deeds(&live));
    live.leave().await;
}

#[tokio::test]
async fn a_kind_of_result_that_is_not_known_in_this_era_changes_nothing() {
    let Some(mut live) = unruly().await else { return };
    for kind in ["complete", "input_required", "task", "never heard of"] {
        let line = format!("type:{kind}");
        let answer = live.call("write", json!({"line": line})).await;
        assert_eq!(answer["result"]["structuredContent"]["id"], line.as_str(), "{answer}");
        assert_eq!(answer["result"]["resultType"], kind);
    }
    live.leave().await;
    // Each was carried out, and none waits for more: the older era has no results of several kinds.
    let (_, doubt, _) = live.person(&["activity", "--in-doubt"]).await;
    assert!(!doubt.contains("attempt "), "{doubt}");
}

#[tokio::test]
async fn what_was_written_ahead_is_answered_each_once_whatever_the_order() {
    let Some(mut live) = unruly().await else { return };
    let lines: Vec<String> = (0..600)
        .map(|n| {
            call(&format!("\"a{n}\""), if n % 3 == 0 { "write" } else { "read" }, &format!("l{n}"))
        })
        .collect();
    live.send(&lines.join("\n")).await;
    live.close_input();
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..600 {
        let answer: Value = serde_json::from_str(&live.line().await).unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
        assert!(answered.insert(answer["id"].as_str().unwrap().to_owned()), "{answer}");
    }
    live.leave().await;
    assert_eq!(deeds(&live).len(), 200);
}

#[tokio::test]
async fn after_an_end_by_force_status_activity_and_the_journal_say_what_was() {
    let mut silent = phase(json!([deploy()]));
    silent["deeds"]["deploy"]["fault"] = json!("silent-after");
    let mut live =
        Live::listed(Era::Legacy, json!({"phases": [phase(json!([deploy()])), silent]})).await;
    assert!(ran(&live.call("deploy", json!({"project": "done"})).await));
    live.recorder.switch(1);
    live.begin("tools/call", json!({"name": "deploy", "arguments": {"project": "open"}})).await;
    while live.reached().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    live.kill().await;
    let (status, out, errors) = live.person(&["status"]).await;
    assert_eq!(status, 0, "{out}{errors}");
    let (status, out, errors) = live.person(&["journal", "verify"]).await;
    assert_eq!(status, 0, "{out}{errors}");
    let (status, out, _) = live.person(&["activity", "--in-doubt"]).await;
    assert_eq!((status, out.matches("attempt ").count()), (0, 1), "{out}");
    let (_, out, _) = live.person(&["sessions"]).await;
    assert!(!out.contains(" open"), "its session is over: {out}");
    // The next gateway on this store goes on, and a person settles what the last one left.
    let folder = std::mem::replace(&mut live.folder, tempfile::tempdir().unwrap());
    let script = json!({"phases": [phase(json!([deploy()]))]});
    let mut next = Live::start_in(folder, Era::Legacy, script, &[]).await;
    next.greet().await;
    next.list().await;
    assert!(ran(&next.call("deploy", json!({"project": "other"})).await));
    next.leave().await;
    let (_, out, _) = next.person(&["activity", "--in-doubt", "--format", "json"]).await;
    let doubt: Value = serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}"));
    assert!(out.contains("in-doubt"), "{doubt}");
    assert_eq!(next.person(&["journal", "verify"]).await.0, 0);
}

/// A library that lets no flush end while there is no file `go` in the folder, for the program that is started with it;
/// `None` where nothing compiles C.
fn stalling_disk(folder: &Path) -> Option<String> {
    let source = format!(
        "#include <unistd.h>\n#include <sys/syscall.h>\n\
         static void wait_for_it(void) {{ while (access(\"{}\", F_OK)) usleep(1000); }}\n\
         int fdatasync(int f) {{ wait_for_it(); return syscall(SYS_fdatasync, f); }}\n\
         int fsync(int f) {{ wait_for_it(); return syscall(SYS_fsync, f); }}\n",
        folder.join("go").display()
    );
    std::fs::write(folder.join("stall.c"), source).unwrap();
    let library = folder.join("stall.so").display().to_string();
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o", &library])
        .arg(folder.join("stall.c"))
        .status();
    built.is_ok_and(|status| status.success()).then_some(library)
}

#[tokio::test]
async fn a_disk_that_stalls_holds_effects_back_and_no_reads() {
    let folder = tempfile::tempdir().unwrap();
    if !cfg!(target_os = "linux") {
        return;
    }
    let Some(library) = stalling_disk(folder.path()) else { return };
    let go = folder.path().join("go");
    std::fs::write(&go, "").unwrap();
    let mut look = tool("look", json!({}), json!([]));
    look["annotations"] = json!({"readOnlyHint": true});
    let script = json!({"phases": [phase(json!([deploy(), look]))]});
    std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
    let recorder = Recorder::start().await.unwrap();
    let own = env!("CARGO_BIN_EXE_steadfast");
    let path = folder.path().join("script.json").display().to_string();
    let target = ["--", own, "demo", "--script", &path, "--recorder", &recorder.url()];
    let mut live = Live::preloaded(&library, folder, recorder, &target);
    live.greet().await;
    live.list().await;
    std::fs::remove_file(&go).unwrap();
    assert!(ran(&live.call("look", json!({})).await));
    let mut deploys = Vec::new();
    for n in 0..3 {
        let call = json!({"name": "deploy", "arguments": {"project": format!("p{n}")}});
        deploys.push(live.begin("tools/call", call).await);
    }
    // Nothing of them leaves while their records are on the way to the disk; all else goes on.
    for _ in 0..20 {
        live.ask("ping", json!({})).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(live.reached().len(), 1);
    }
    std::fs::write(&go, "").unwrap();
    for id in deploys {
        assert!(ran(&live.answer(&json!(id)).await));
    }
    assert_eq!(live.reached().len(), 4);
    live.leave().await;
    assert_eq!(live.person(&["journal", "verify"]).await.0, 0);
}
