//! A credential does its work and is nowhere else: the vault, an action behind the gateway, and a server as the judge.

use crate::approvals::{OWN, typed};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

pub const PASSPHRASE: &str = "correct horse battery";
const CANARY: &str = "canary-9f8e7d6c5b4a-SECRET";
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that takes down each request and sends the credential back in its answer.
fn judge() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _ = answered(stream, &kept);
        }
    });
    (port, seen)
}

fn answered(mut stream: TcpStream, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
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
        // The place is looked at before the credential is asked for; not one byte was sent.
        return Ok(());
    }
    seen.lock().unwrap().push(request);
    let body = format!("{{\"you sent\":\"{CANARY}\"}}");
    let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn bindings(port: u16) -> String {
    format!(
        r#"[bindings.deploy_preview]
description = "Deploys a branch to a preview environment."
origin = "http://127.0.0.1:{port}"
method = "POST"
path = "/projects/{{project}}/deploys"
body = '{{"branch": "{{branch}}"}}'
credential = "shop"
effect = "write"
networks = ["127.0.0.0/8"]

[bindings.deploy_preview.arguments]
project = {{ type = "string", description = "The project's id." }}
branch = {{ type = "string" }}
"#
    )
}

/// Holds the vault open until the end of the test.
pub async fn unlocked(store: &Path) -> Box<dyn Send> {
    let (mut pty, pts) = pty_process::open().unwrap();
    let command = pty_process::Command::new(OWN).args(["vault", "unlock", "--store"]);
    let child = command.arg(store).kill_on_drop(true).spawn(pts).unwrap();
    let (mut shown, mut buffer) = (String::new(), [0; 4096]);
    let open = async {
        while !shown.contains("open: ") {
            let count = pty.read(&mut buffer).await.unwrap_or(0);
            assert!(count > 0, "it ended: {shown}");
            shown.push_str(&String::from_utf8_lossy(&buffer[..count]));
            if shown.ends_with(": ") {
                pty.write_all(format!("{PASSPHRASE}\r").as_bytes()).await.unwrap();
            }
        }
    };
    timeout(PATIENCE, open).await.expect("the vault opens");
    Box::new((child, pty))
}

/// Calls the tool through the gateway as a client does. Gives the answer, and all that was printed.
async fn called(folder: &Path, store: &Path, arguments: Value) -> (Value, String) {
    let mut child = tokio::process::Command::new(OWN)
        .args(["wrap", "--bindings", "actions.toml", "--store"])
        .arg(store)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = BufReader::new(output).lines();
    let (mut printed, mut last) = (String::new(), Value::Null);
    let greeting = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}
    });
    let call = json!({"name": "deploy_preview", "arguments": arguments});
    for (id, method, params) in
        [(1, "initialize", greeting), (2, "tools/list", json!({})), (3, "tools/call", call)]
    {
        let mut asked =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        asked.push('\n');
        input.write_all(asked.as_bytes()).await.unwrap();
        loop {
            let line = timeout(PATIENCE, lines.next_line()).await.expect("an answer").unwrap();
            let line = line.expect("the gateway stays");
            printed.push_str(&line);
            last = serde_json::from_str(&line).unwrap();
            if last["id"] == id {
                break;
            }
        }
        if id == 1 {
            let ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
            input.write_all(ready.as_bytes()).await.unwrap();
        }
    }
    drop(input);
    let rest = timeout(PATIENCE, child.wait_with_output()).await.expect("it ends").unwrap();
    printed.push_str(&String::from_utf8_lossy(&rest.stderr));
    (last, printed)
}

/// All files below a folder, as bytes.
fn files(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&entry.path(), found),
            kind if kind.is_file() => found.push(std::fs::read(entry.path()).unwrap()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_credential_reaches_the_bound_place_and_is_found_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("state.db");
    let (port, seen) = judge();
    let origin = format!("http://127.0.0.1:{port}");
    let token = folder.path().join("token.txt");
    std::fs::write(&token, CANARY).unwrap();
    let import =
        ["vault", "import", "shop", "--origin", &origin, "--file", token.to_str().unwrap()];
    let mut printed = String::new();
    for (command, answers) in
        [(&["vault", "init"][..], &[PASSPHRASE, PASSPHRASE][..]), (&import, &[PASSPHRASE])]
    {
        let (code, shown) = typed(&store, command, answers).await;
        assert_eq!(code, 0, "{shown}");
        printed.push_str(&shown);
    }
    std::fs::remove_file(&token).unwrap();
    std::fs::write(folder.path().join("actions.toml"), bindings(port)).unwrap();

    let arguments = json!({"project": "a/../b", "branch": "main"});
    let (closed, told) = called(folder.path(), &store, arguments.clone()).await;
    assert_eq!(closed["result"]["structuredContent"]["outcome"], "not_sent", "{closed}");
    assert!(seen.lock().unwrap().is_empty(), "nothing leaves while the vault is closed");
    printed.push_str(&told);

    let held = unlocked(&store).await;
    let (done, told) = called(folder.path(), &store, arguments).await;
    printed.push_str(&told);
    let result = &done["result"]["structuredContent"];
    assert_eq!((&result["outcome"], &result["status"]), (&json!("done"), &json!(201)), "{done}");
    assert_eq!(result["redacted"], 1, "what came back was cut out, and that is told: {done}");
    let requests = seen.lock().unwrap().clone();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].starts_with("POST /projects/a%2F..%2Fb/deploys HTTP/1.1"), "{requests:?}");
    assert!(requests[0].contains(&format!("authorization: Bearer {CANARY}")), "{requests:?}");
    assert!(requests[0].ends_with("{\"branch\":\"main\"}"), "{requests:?}");

    let export = folder.path().join("export");
    let export = export.to_str().unwrap();
    for command in [&["activity"][..], &["journal", "verify"], &["journal", "export", export]] {
        let (code, shown) = typed(&store, command, &[]).await;
        assert_eq!(code, 0, "{shown}");
        printed.push_str(&shown);
    }
    drop(held);
    assert!(printed.contains("deploy_preview"), "{printed}");
    assert!(!printed.contains(CANARY), "in what was printed: {printed}");
    let mut all = Vec::new();
    files(folder.path(), &mut all);
    assert!(all.len() > 4, "the store, its keys, the vault and the export: {}", all.len());
    let holds = |bytes: &Vec<u8>| bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    assert!(!all.iter().any(holds), "a file holds the credential");
}
