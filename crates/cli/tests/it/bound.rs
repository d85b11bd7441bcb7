//! Bound actions in `wrap` and `gateway`: what came of a call outside is on record as it was seen on the connection, and a
//! binding that was edited is another contract.

use crate::actions::{PASSPHRASE as VAULT, unlocked};
use crate::approvals::{OWN, PASSPHRASE, enrolled, typed, waiting};
use crate::front::Gateway;
use crate::live::{Era, Live, code, text};
use lab::Recorder;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A server that takes down each request, and answers as its path says.
pub struct Judge {
    pub port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Judge {
    pub fn start() -> Judge {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let _ = answered(stream, &kept);
            }
        });
        Judge { port, seen }
    }

    /// The requests as they came over the wire.
    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answered(mut stream: TcpStream, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    let request = loop {
        let count = stream.read(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            body.len() >= length.map_or(0, |length| length.parse().unwrap())
        });
        if whole || count == 0 {
            break text;
        }
    };
    if request.is_empty() {
        return Ok(());
    }
    let path = request.split(' ').nth(1).unwrap().to_owned();
    seen.lock().unwrap().push(request);
    let (status, body) = match path.as_str() {
        // It was done, and nobody hears of it.
        "/silent" => {
            std::thread::sleep(std::time::Duration::from_millis(200));
            return Ok(());
        }
        "/no" => ("403 Forbidden", ""),
        _ => ("201 Created", "{\"id\":\"x-1\"}"),
    };
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}", body.len());
    write!(stream, "{head}\r\n\r\n{body}")
}

/// A binding of one argument, to a path of the same name.
pub fn binding(name: &str, port: u16, more: &str) -> String {
    format!(
        r#"[bindings.{name}]
description = "Does it."
origin = "http://127.0.0.1:{port}"
method = "POST"
path = "/{name}"
body = '{{"project": "{{project}}"}}'
networks = ["127.0.0.0/8"]
effect = "write"
{more}
[bindings.{name}.arguments.project]
type = "string"
"#
    )
}

/// `wrap` with these bindings, alone or beside a command.
async fn wrapped(
    folder: tempfile::TempDir,
    bindings: &str,
    flags: &[&str],
    beside: &[&str],
) -> Live {
    let file = folder.path().join("actions.toml");
    std::fs::write(&file, bindings).unwrap();
    let mut all = vec!["--bindings", file.to_str().unwrap()];
    all.extend(flags);
    let recorder = Recorder::start().await.unwrap();
    let mut live = Live::wrapped(Era::Legacy, folder, recorder, &all, beside).await;
    live.greet().await;
    live
}

/// What `activity` says of each call, the newest first: the tool, and its outcomes.
async fn outcomes(live: &Live) -> Vec<(String, Vec<String>)> {
    let (code, out, err) = live.person(&["activity", "--format", "json"]).await;
    assert_eq!(code, 0, "{err}");
    let all: Value = serde_json::from_str(&out).unwrap();
    let words = |attempt: &Value| {
        let outcomes = attempt["outcomes"].as_array().unwrap().clone();
        outcomes.into_iter().map(|one| one["state"].as_str().unwrap().to_owned())
    };
    let requests = all["requests"].as_array().unwrap().iter().map(|one| {
        let attempts = one["attempts"].as_array().unwrap();
        (one["tool"].as_str().unwrap().to_owned(), attempts.iter().flat_map(words).collect())
    });
    requests.collect()
}

fn refusal(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["steadfast/refusal"]
}

#[tokio::test]
async fn what_was_seen_on_the_connection_is_what_goes_on_record() {
    let judge = Judge::start();
    let nobody = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port() };
    let mut bindings = String::new();
    for name in ["plain", "no", "silent"] {
        bindings.push_str(&binding(name, judge.port, ""));
    }
    bindings.push_str(&binding("nobody", nobody, ""));
    bindings.push_str(&binding("locked", judge.port, "credential = \"shop\""));
    let mut live = wrapped(tempfile::tempdir().unwrap(), &bindings, &[], &[]).await;
    assert_eq!(live.list().await.len(), 5);
    let arguments = json!({"project": "shop"});

    let done = live.call("plain", arguments.clone()).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    let no = live.call("no", arguments.clone()).await;
    assert_eq!(no["result"]["structuredContent"]["status"], 403, "{no}");

    // It left and nobody answered: that is in doubt, and not an answer with an error.
    let silent = live.call("silent", arguments.clone()).await;
    assert_eq!(code(&silent), "OUTCOME_UNKNOWN");
    assert!(text(&silent).starts_with("IN DOUBT, DO NOT REPEAT."), "{}", text(&silent));
    assert_eq!(refusal(&silent)["retry"], "no");
    assert_eq!(silent["result"]["structuredContent"]["outcome"], "in_doubt", "{silent}");

    // Nothing left: the very same call may be made again, where nothing has to be decided.
    let nobody = live.call("nobody", arguments.clone()).await;
    assert_eq!(code(&nobody), "ACTION_NOT_SENT");
    assert!(text(&nobody).starts_with("NOT EXECUTED"), "{}", text(&nobody));
    assert_eq!(
        (&refusal(&nobody)["reason"], &refusal(&nobody)["retry"]),
        (&json!("unreachable"), &json!("auto_allowed"))
    );
    assert_eq!(refusal(&nobody)["side_effect_started"], false);
    let locked = live.call("locked", arguments.clone()).await;
    assert_eq!(
        (&refusal(&locked)["reason"], &refusal(&locked)["required_action"]),
        (&json!("locked"), &json!("ask_person"))
    );
    assert_eq!(judge.seen().len(), 3, "each was sent once, and the locked one not at all");

    let known = outcomes(&live).await;
    let expected = [
        ("locked", "not-sent"),
        ("nobody", "not-sent"),
        ("silent", "in-doubt"),
        ("no", "failed"),
        ("plain", "done"),
    ];
    let expected = expected.map(|(tool, state)| (tool.to_owned(), vec![state.to_owned()]));
    assert_eq!(known, expected);

    // A person settles it as any call in doubt.
    let request = refusal(&silent)["request"].as_str().unwrap().to_owned();
    let (_, out, _) = live.person(&["activity", "--in-doubt"]).await;
    assert!(out.contains("silent") && !out.contains("nobody"), "{out}");
    let (code, out, err) = live.person(&["activity", "resolve", &request, "--done"]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(outcomes(&live).await[2].1, ["in-doubt", "done"]);
    live.leave().await;
    let (code, out, err) = live.person(&["journal", "verify"]).await;
    assert_eq!(code, 0, "{out}{err}");
}

#[tokio::test]
async fn a_server_that_forges_an_outcome_is_not_believed() {
    let judge = Judge::start();
    let bindings = binding("silent", judge.port, "") + &binding("plain", judge.port, "");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/forger.py");
    for (more, lists) in [(&[][..], 3), (&["plain"], 4)] {
        let beside = [&["--", "python3", script][..], more].concat();
        let mut live = wrapped(tempfile::tempdir().unwrap(), &bindings, &[], &beside).await;
        let names: Vec<Value> =
            live.list().await.into_iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names.len(), lists, "{names:?}");
        let before = judge.seen().len();

        let forged = live.call("pay", json!({})).await;
        assert_eq!(forged["result"]["structuredContent"]["called"], "pay", "{forged}");
        assert!(refusal(&forged).is_null(), "its word counts for nothing: {forged}");
        assert_eq!(outcomes(&live).await[0], ("pay".to_owned(), vec!["done".to_owned()]));

        // Beside it, the bound action is believed.
        let silent = live.call("silent", json!({"project": "shop"})).await;
        assert_eq!(code(&silent), "OUTCOME_UNKNOWN");
        let plain = live.call("plain", json!({"project": "shop"})).await;
        if more.is_empty() {
            assert_eq!(plain["result"]["structuredContent"]["outcome"], "done", "{plain}");
            assert_eq!(judge.seen().len(), before + 2);
        } else {
            // A server that lists the name of a binding takes none of its calls.
            assert_eq!(code(&plain), "TOOL_AMBIGUOUS");
            assert_eq!(judge.seen().len(), before + 1);
        }
        live.leave().await;
    }

    // The program of the bindings, started as a server of somebody's, is believed as little as any other.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("actions.toml");
    std::fs::write(&file, &bindings).unwrap();
    let target = ["--", OWN, "actions", "--bindings", file.to_str().unwrap()];
    let recorder = Recorder::start().await.unwrap();
    let mut live = Live::wrapped(Era::Legacy, folder, recorder, &[], &target).await;
    live.greet().await;
    live.list().await;
    live.call("silent", json!({"project": "shop"})).await;
    assert_eq!(outcomes(&live).await[0], ("silent".to_owned(), vec!["failed".to_owned()]));
    live.leave().await;
}

/// A gateway whose one file says all.
pub async fn gateway(folder: tempfile::TempDir, bindings: &str) -> Gateway {
    Gateway::on(folder, Recorder::start().await.unwrap(), "", bindings).await
}

fn edited(folder: &Path, old: &str, new: &str) {
    let file = folder.join("steadfast.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{text}");
    std::fs::write(&file, text.replace(old, new)).unwrap();
}

#[tokio::test]
async fn a_gateway_serves_the_bindings_of_its_file_and_an_edited_one_is_another_contract() {
    let (judge, other) = (Judge::start(), Judge::start());
    let gateway = gateway(enrolled().await, &binding("plain", judge.port, "")).await;
    let mut client = gateway.client_at(Era::Legacy, "/mcp/actions", None).await;
    assert_eq!(client.list().await[0]["name"], "plain");
    let arguments = json!({"project": "shop"});
    let done = client.call("plain", arguments.clone()).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");

    // A word about it is no other contract: the planned call goes on.
    edited(gateway.folder.path(), "Does it.", "Does it at once.");
    let done = client.call("plain", arguments.clone()).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    assert_eq!(judge.seen().len(), 2);

    // What is sent, and where, is: the old plan is refused before anything leaves.
    for (old, new) in [
        ("\"project\": \"{project}\"", "\"project\": \"{project}\", \"force\": true"),
        (&*format!(":{}", judge.port), &*format!(":{}", other.port)),
    ] {
        edited(gateway.folder.path(), old, new);
        let stale = client.call("plain", arguments.clone()).await;
        assert_eq!(code(&stale), "STALE_TOOL_SCHEMA", "{new}");
        client.list().await;
        // Who looked again still has no grant for the other request: a person decides.
        let call = client.message("tools/call", json!({"name": "plain", "arguments": arguments}));
        let sent = client.send(&call).send();
        let approve = async {
            let one = held(&gateway).await;
            assert_eq!(one["card"]["reason"], "AUTHORITY_WIDENED", "{one}");
            let id = one["id"].as_str().unwrap();
            let (code, shown) = typed(&gateway.store(), &["approve", id], &[PASSPHRASE]).await;
            assert_eq!(code, 0, "{shown}");
        };
        let (response, ()) = tokio::join!(sent, approve);
        let mut stream = crate::front::Stream::new(response.unwrap());
        let done = stream.next().await.unwrap();
        assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    }
    assert_eq!((judge.seen().len(), other.seen().len()), (3, 1));
    assert!(judge.seen()[2].contains("\"force\":true"));

    // A file that cannot be read serves nothing, and takes nothing away.
    edited(gateway.folder.path(), "method = \"POST\"", "method = \"POST");
    let blind = client.call("plain", arguments.clone()).await;
    assert_eq!(code(&blind), "CONTRACT_UNVERIFIED");
    assert_eq!(other.seen().len(), 1);
    gateway.stop();
    gateway.ended().await;
}

/// The approval that waits at a gateway.
pub async fn held(gateway: &Gateway) -> Value {
    for _ in 0..200 {
        let out = gateway.run(&["approve", "--format", "json", "--store", "state.db"]).await;
        let all: Value = serde_json::from_str(&out).unwrap();
        if let Some(one) = all["waiting"].as_array().unwrap().last() {
            return one.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing waits");
}

#[tokio::test]
async fn every_problem_of_the_bindings_is_told_before_the_gateway_starts() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        std::fs::write(folder.path().join("steadfast.toml"), text).unwrap();
        let done = std::process::Command::new(OWN)
            .args(["gateway", "--check", "--store", "state.db"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let good = binding("plain", 9, "");
    let (code, told) = check(&good);
    assert_eq!(code, 0, "{told}");
    let bad = good.replace("POST", "STEAL").replace("/plain", "plain");
    let (code, told) = check(&format!("{bad}\n[server.actions]\ncommand = [\"true\"]\n"));
    assert_eq!(code, 2);
    for sentence in
        ["`STEAL` is no value of method", "begins with a slash", "is the server of the bindings"]
    {
        assert!(told.contains(sentence), "{sentence}: {told}");
    }
    let (code, told) = check(&format!("{good}\n[server.actions]\nhold-effects = true\n"));
    assert_eq!(code, 2);
    assert!(told.contains("nobody is enrolled"), "{told}");
}

/// A vault with one credential for an origin, beside the store.
async fn vault(folder: &Path, origin: &str) {
    let (store, token) = (folder.join("state.db"), folder.join("token.txt"));
    std::fs::write(&token, "canary-1-of-the-first-kind").unwrap();
    let import = ["vault", "import", "shop", "--origin", origin, "--file", token.to_str().unwrap()];
    for (command, answers) in
        [(&["vault", "init"][..], &[VAULT, VAULT][..]), (&import, &[VAULT][..])]
    {
        let (code, shown) = typed(&store, command, answers).await;
        assert_eq!(code, 0, "{shown}");
    }
}

async fn approve(live: &Live, id: &str) {
    let (code, shown) = typed(&live.store(), &["approve", id], &[PASSPHRASE]).await;
    assert_eq!(code, 0, "{shown}");
}

/// Makes a call that nobody waits for once it is held; gives its approval.
async fn held_and_left(live: &mut Live, arguments: &Value) -> Value {
    let params = json!({"name": "plain", "arguments": arguments});
    let call = live.begin("tools/call", params).await;
    let one = waiting(live).await;
    let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    live.send(&gone.to_string()).await;
    one
}

#[tokio::test]
async fn an_approval_covers_the_bytes_that_leave_and_the_version_of_the_credential() {
    let judge = Judge::start();
    let folder = enrolled().await;
    vault(folder.path(), &format!("http://127.0.0.1:{}", judge.port)).await;
    let store = folder.path().join("state.db");
    let text = binding("plain", judge.port, "credential = \"shop\"")
        .replace("\"{project}\"", "\"{project}\", \"dry\": false");
    let mut live = wrapped(folder, &text, &["--hold-effects"], &[]).await;
    live.list().await;
    let arguments = json!({"project": "sh\u{202e}op"});

    // A locked vault sends nothing: nobody is asked.
    let locked = live.call("plain", arguments.clone()).await;
    assert_eq!((code(&locked), &refusal(&locked)["reason"]), ("ACTION_NOT_SENT", &json!("locked")));
    let open = unlocked(&store).await;

    let call = live.begin("tools/call", json!({"name": "plain", "arguments": arguments})).await;
    let one = waiting(&live).await;
    let sends = &one["card"]["sends"];
    assert_eq!((&sends["method"], &sends["target"]), (&json!("POST"), &json!("/plain")));
    assert_eq!(sends["origin"], format!("http://127.0.0.1:{}", judge.port));
    assert_eq!((&sends["credential"], &sends["credential_version"]), (&json!("shop"), &json!(1)));
    assert_eq!(sends["body"][1], json!({"field": "dry", "value": "false"}), "{sends}");
    assert_eq!(one["card"]["reversible"], "declared");
    let (_, card, _) = live.person(&["approve"]).await;
    let line = format!("  sends       POST http://127.0.0.1:{}/plain\n", judge.port);
    assert!(card.contains(&line) && card.contains("  credential  \"shop\", version 1\n"), "{card}");
    assert!(!card.contains('\u{202e}') && !card.contains("{\""), "{card}");
    approve(&live, one["id"].as_str().unwrap()).await;
    let done = live.answer(&json!(call)).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    let sent = judge.seen().pop().unwrap();
    assert!(sent.ends_with("{\"project\":\"sh\u{202e}op\",\"dry\":false}"), "{sent}");

    // Approved, and then the credential became another version: it covers nothing.
    let old = held_and_left(&mut live, &arguments).await;
    approve(&live, old["id"].as_str().unwrap()).await;
    let token = live.folder.path().join("token.txt");
    std::fs::write(&token, "canary-2-of-the-other-kind").unwrap();
    let rotate = ["vault", "rotate", "shop", "--file", token.to_str().unwrap()];
    let (code_, shown) = typed(&store, &rotate, &[VAULT]).await;
    assert_eq!(code_, 0, "{shown}");
    drop(open);
    let _open = unlocked(&store).await;
    let new = held_and_left(&mut live, &arguments).await;
    assert_ne!(new["id"], old["id"], "another approval is needed");
    assert_eq!(new["card"]["sends"]["credential_version"], 2);
    assert_eq!(judge.seen().len(), 1);

    // Approved, and then the binding became another one: the same.
    approve(&live, new["id"].as_str().unwrap()).await;
    let file = live.folder.path().join("actions.toml");
    std::fs::write(&file, text.replace("\"dry\": false", "\"dry\": true")).unwrap();
    let stale = live.call("plain", arguments.clone()).await;
    assert_eq!(code(&stale), "STALE_TOOL_SCHEMA");
    live.list().await;
    let last = held_and_left(&mut live, &arguments).await;
    assert_ne!(last["id"], new["id"], "what was given for the other request is void");
    assert_eq!(last["card"]["sends"]["body"][1], json!({"field": "dry", "value": "true"}));
    assert_eq!(judge.seen().len(), 1);
    approve(&live, last["id"].as_str().unwrap()).await;
    let done = live.call("plain", arguments).await;
    assert_eq!(done["result"]["structuredContent"]["credential_version"], 2, "{done}");
    assert_eq!(judge.seen().len(), 2);
    live.leave().await;
}

#[tokio::test]
async fn a_change_of_the_vault_is_on_record_and_makes_approvals_void() {
    let judge = Judge::start();
    let folder = enrolled().await;
    vault(folder.path(), &format!("http://127.0.0.1:{}", judge.port)).await;
    let store = folder.path().join("state.db");
    let text =
        binding("plain", judge.port, "credential = \"shop\"") + &binding("bare", judge.port, "");
    let mut live = wrapped(folder, &text, &["--hold-effects"], &[]).await;
    live.list().await;
    let arguments = json!({"project": "shop"});
    for (command, answers) in
        [(&["vault", "lock"][..], &[][..]), (&["vault", "remove", "shop"], &[VAULT])]
    {
        let _open = unlocked(&store).await;
        let one = held_and_left(&mut live, &arguments).await;
        let (code, shown) = typed(&store, command, answers).await;
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("1 approvals that waited or were given are void"), "{shown}");
        let (code, shown) = typed(&store, &["approve", one["id"].as_str().unwrap()], &[]).await;
        assert_eq!(code, 2);
        assert!(shown.contains("It is void already"), "{shown}");
        // It is closed now, whichever of the two it was.
        let locked = live.call("plain", arguments.clone()).await;
        assert_eq!(refusal(&locked)["reason"], "locked", "{locked}");
    }
    // What uses no credential is no matter of the vault.
    let call = live.begin("tools/call", json!({"name": "bare", "arguments": arguments})).await;
    let one = waiting(&live).await;
    let _open = unlocked(&store).await;
    approve(&live, one["id"].as_str().unwrap()).await;
    let done = live.answer(&json!(call)).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    assert_eq!(judge.seen().len(), 1);
    live.leave().await;

    let (code, out, err) =
        live.person(&["journal", "show", "--format", "json", "--limit", "1000"]).await;
    assert_eq!(code, 0, "{err}");
    let records: Value = serde_json::from_str(&out).unwrap();
    let records = records["records"].as_array().unwrap().iter().map(|one| &one["record"]);
    let vault: Vec<&Value> = records.filter(|record| record["kind"] == "vault").collect();
    let what: Vec<&str> = vault.iter().map(|record| record["what"].as_str().unwrap()).collect();
    assert_eq!(
        what,
        ["made", "added", "unlocked", "locked", "unlocked", "removed", "locked", "unlocked"]
    );
    assert_eq!(vault[1]["credential"], vault[5]["credential"], "one credential has one name");
    assert!(
        vault[1]["credential"].is_string()
            && vault.iter().all(|one| !one.to_string().contains("shop"))
    );
    let (code, out, err) = live.person(&["journal", "verify"]).await;
    assert_eq!(code, 0, "{out}{err}");
}
