//! Clients and servers on the official SDKs, with the real program between them, while the contract moves: told of it by a
//! server on the TypeScript SDK, and by nobody with FastMCP. `peers/install.sh` installs them.
#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{sleep, timeout};

/// How long an answer may take before the test has failed: an interpreter starts within it.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sdk {
    Python,
    TypeScript,
    /// A client over a pipe, which is built with the tests.
    Rust,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Pipe,
    Http,
}

fn peers() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("peers")
}

/// The command of a program on an SDK; `None`, with a line that says so, where that is not installed.
fn program(sdk: Sdk, name: &str) -> Option<Vec<String>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/live").join(name);
    let (own, peers) = (own.display().to_string(), peers());
    let (needs, words) = match sdk {
        Sdk::Python => {
            let python = peers.join("python/bin/python");
            (python.clone(), vec![python.display().to_string(), format!("{own}.py")])
        }
        Sdk::TypeScript => {
            let sdk = peers.join("node/node_modules/@modelcontextprotocol/sdk");
            (sdk, vec!["node".into(), format!("{own}.mjs"), peers.display().to_string()])
        }
        Sdk::Rust => {
            let client = rust_client();
            assert!(
                client.exists(),
                "{} is built with the tests of the workspace",
                client.display()
            );
            return Some(vec![client.display().to_string()]);
        }
    };
    if !needs.exists() {
        println!("skipped: {} is not there; peers/install.sh installs it", needs.display());
        return None;
    }
    Some(words)
}

/// The client on the Rust SDK, an example of the lab.
pub fn rust_client() -> PathBuf {
    let own = Path::new(env!("CARGO_BIN_EXE_steadfast"));
    own.with_file_name("examples").join("rmcp_client")
}

/// A client that does what it is told, a line each.
struct Driven {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Driven {
    async fn hears(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("an answer in time");
        serde_json::from_str(&line.unwrap().expect("the client goes on")).unwrap()
    }

    async fn does(&mut self, order: Value) -> Value {
        self.stdin.write_all(format!("{order}\n").as_bytes()).await.unwrap();
        self.hears().await
    }

    async fn deploys(&mut self, arguments: Value) -> Value {
        self.does(json!({"do": "call", "tool": "deploy", "arguments": arguments})).await
    }
}

/// What the server did, once it has done this.
async fn until(folder: &TempDir, line: &str) -> Vec<String> {
    let read = async {
        loop {
            let text = std::fs::read_to_string(folder.path().join("effects")).unwrap();
            let did: Vec<String> = text.lines().map(str::to_owned).collect();
            if did.iter().any(|did| did.starts_with(line)) {
                return did;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, read).await.unwrap_or_else(|_| panic!("the server never {line}"))
}

/// A gateway over HTTP before a server, and its address.
async fn gateway(folder: &TempDir, server: &[String]) -> (Child, String) {
    let config = format!(
        "[gateway]\nlisten = \"127.0.0.1:0\"\n\n[server.lab]\ncommand = {}\n",
        json!(server)
    );
    std::fs::write(folder.path().join("steadfast.toml"), config).unwrap();
    let mut child = command(folder, &[env!("CARGO_BIN_EXE_steadfast").to_owned()])
        .args(["gateway", "--store", "state.db"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = loop {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().expect("a line");
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split('/').next().unwrap().to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, format!("http://{address}/mcp/lab"))
}

fn command(folder: &TempDir, words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .current_dir(folder.path())
        .env("SWITCH", folder.path().join("switch"))
        .env("EFFECTS", folder.path().join("effects"))
        .kill_on_drop(true);
    command
}

async fn drifts(client: Sdk, server: Sdk, over: Over) {
    let (Some(mut words), Some(server_words)) =
        (program(client, "client"), program(server, "server"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("effects"), "").unwrap();
    let mut own = vec![env!("CARGO_BIN_EXE_steadfast").to_owned(), "wrap".into(), "--store".into()];
    own.extend([folder.path().join("state.db").display().to_string(), "--".into()]);
    own.extend(server_words.clone());
    let front = match over {
        Over::Pipe => None,
        Over::Http => {
            let (child, url) = gateway(&folder, &server_words).await;
            words.push(url);
            Some(child)
        }
    };
    let mut child = command(&folder, &words)
        .env("SERVER", json!(own).to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut driven = Driven { child, stdin, lines };
    assert_eq!(driven.hears().await, json!({"ready": true}));

    let listed = json!({"tools": ["deploy", "wait"]});
    assert_eq!(driven.does(json!({"do": "list"})).await, listed);
    assert_eq!(driven.deploys(json!({"project": "shop"})).await["text"], "deployed");
    std::fs::write(folder.path().join("switch"), "").unwrap();
    until(&folder, "switched").await;
    let told = json!({"told": true});
    if server == Sdk::TypeScript {
        assert_eq!(driven.does(json!({"do": "told"})).await, told);
    }
    let stale = driven.deploys(json!({"project": "shop"})).await;
    assert_eq!(stale["failed"], true, "{stale}");
    assert!(stale["text"].as_str().unwrap().starts_with("NOT EXECUTED"), "{stale}");
    // Also where the server told nobody.
    assert_eq!(driven.does(json!({"do": "told"})).await, told);
    assert_eq!(driven.does(json!({"do": "list"})).await, listed);
    let new = driven.deploys(json!({"project": "shop", "region": "eu"})).await;
    assert_eq!((&new["failed"], &new["text"]), (&json!(false), &json!("deployed")), "{new}");
    // Progress comes through, and so does that the client gave up.
    let given_up = driven.does(json!({"do": "give-up", "tool": "wait"})).await;
    let steps: Vec<f64> =
        given_up["progress"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!(steps, [1.0, 2.0, 3.0]);
    let did = until(&folder, "cancelled").await;
    let deployed: Vec<&String> = did.iter().filter(|did| did.starts_with("deploy")).collect();
    assert!(deployed.len() == 2 && deployed[1].contains("eu"), "{did:?}");

    let Driven { mut child, stdin, .. } = driven;
    drop(stdin);
    assert!(timeout(PATIENCE, child.wait()).await.expect("it ends").unwrap().success());
    if let Some(mut front) = front {
        front.kill().await.unwrap();
    }
}

#[tokio::test]
async fn a_python_client_on_a_pipe() {
    drifts(Sdk::Python, Sdk::TypeScript, Over::Pipe).await;
    drifts(Sdk::Python, Sdk::Python, Over::Pipe).await;
}

#[tokio::test]
async fn a_python_client_over_http() {
    drifts(Sdk::Python, Sdk::TypeScript, Over::Http).await;
    drifts(Sdk::Python, Sdk::Python, Over::Http).await;
}

#[tokio::test]
async fn a_rust_client_on_a_pipe() {
    drifts(Sdk::Rust, Sdk::TypeScript, Over::Pipe).await;
    drifts(Sdk::Rust, Sdk::Python, Over::Pipe).await;
}

#[tokio::test]
async fn a_typescript_client_on_a_pipe() {
    drifts(Sdk::TypeScript, Sdk::TypeScript, Over::Pipe).await;
    drifts(Sdk::TypeScript, Sdk::Python, Over::Pipe).await;
}

#[tokio::test]
async fn a_typescript_client_over_http() {
    drifts(Sdk::TypeScript, Sdk::TypeScript, Over::Http).await;
    drifts(Sdk::TypeScript, Sdk::Python, Over::Http).await;
}
