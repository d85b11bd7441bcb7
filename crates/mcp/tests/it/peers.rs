//! Real servers of other projects. Those that `peers/install.sh` installed are talked to over pipes and sockets and
//! their lists held against what a plain conversation, written here by hand, gets from them; the official Rust SDK
//! serves in this process.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp::{Era, FetchOptions, Headers, Snapshot, Target};
use rmcp::model::{
    ErrorData, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use crate::support::*;

/// The folder of `peers/install.sh`.
fn peers() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("peers")
}

/// A server's command; `None`, with a line that says so, where it is not installed.
fn installed(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let path = peers().join(program);
    if !path.exists() {
        println!("skipped: {program} is not installed; peers/install.sh does that");
        return None;
    }
    let mut words = vec![path.display().to_string()];
    words.extend(arguments.iter().map(|a| (*a).to_owned()));
    Some(words)
}

fn node(program: &str) -> String {
    format!("node/node_modules/.bin/{program}")
}

fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers").join(name).display().to_string()
}

/// What a plain legacy conversation gets: the `tools` of the one page, as values.
fn plain_list(command: &[String]) -> Vec<Value> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answer = |id: u64, message: &str| -> Value {
        writeln!(stdin, "{message}").unwrap();
        loop {
            let line = lines.next().expect("the server goes on").unwrap();
            match serde_json::from_str::<Value>(&line) {
                Ok(value) if value["id"] == id && value.get("method").is_none() => return value,
                _ => {}
            }
        }
    };
    answer(
        1,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"plain","version":"1"}}}"#,
    );
    let list = answer(
        2,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{}}",
    );
    drop(stdin);
    let _ = child.kill();
    let _ = child.wait();
    list["result"]["tools"].as_array().unwrap().clone()
}

fn values(snapshot: &Snapshot) -> Vec<Value> {
    snapshot.tools.iter().map(|t| serde_json::from_str(t.raw.get()).unwrap()).collect()
}

fn patient(era: Option<Era>) -> FetchOptions {
    FetchOptions { era, request_timeout: Duration::from_secs(240), ..options() }
}

/// The server is of this era when asked to choose, lists these tools in it, and the same to a plain client.
fn check(command: Option<Vec<String>>, era: Era, least: usize) {
    let Some(command) = command else { return };
    let target = Target::Command(command.clone());
    let chosen = fetched(&target, &patient(None));
    assert_eq!(chosen.revision.era, era, "{command:?}");
    assert!(chosen.tools.len() >= least, "{command:?}: {:?}", names(&chosen));
    assert!(chosen.server_info.is_some(), "{command:?}");
    assert_eq!(values(&chosen), plain_list(&command), "{command:?}");
    let back: Value = serde_json::from_str(&chosen.to_json()).unwrap();
    assert_eq!(back["tools"], Value::from(values(&chosen)), "{command:?}");
}

#[test]
fn everything() {
    check(installed(&node("mcp-server-everything"), &[]), Era::Legacy, 10);
}

#[test]
fn filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display().to_string();
    check(installed(&node("mcp-server-filesystem"), &[&folder]), Era::Legacy, 10);
}

#[test]
fn memory() {
    check(installed(&node("mcp-server-memory"), &[]), Era::Legacy, 9);
}

#[test]
fn playwright() {
    check(installed(&node("playwright-mcp"), &["--headless"]), Era::Legacy, 20);
}

#[test]
fn context7() {
    check(installed(&node("context7-mcp"), &[]), Era::Modern, 2);
}

#[test]
fn git() {
    check(installed("python/bin/mcp-server-git", &[]), Era::Modern, 12);
}

#[test]
fn time() {
    check(installed("python/bin/mcp-server-time", &[]), Era::Modern, 2);
}

#[test]
fn fastmcp() {
    check(installed("python/bin/python", &[&script("fastmcp_server.py")]), Era::Modern, 2);
}

/// A server of another project behind HTTP, ended with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits until something listens there.
fn listening(port: u16) {
    let until = Instant::now() + Duration::from_secs(240);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "nothing listens on port {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn served(command: &[String], variable: Option<(&str, String)>, port: u16) -> Running {
    let child = Command::new(&command[0])
        .args(&command[1..])
        .envs(variable)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = Running(child);
    listening(port);
    running
}

fn url(port: u16, path: &str) -> Target {
    Target::Url { url: format!("http://127.0.0.1:{port}{path}"), headers: Headers::default() }
}

#[test]
fn everything_over_http_is_the_same_contract() {
    let Some(pipe) = installed(&node("mcp-server-everything"), &[]) else { return };
    let port = free_port();
    let command = [pipe[0].clone(), "streamableHttp".into()];
    let _running = served(&command, Some(("PORT", port.to_string())), port);
    let over_http = fetched(&url(port, "/mcp"), &patient(None));
    assert_eq!(over_http.revision.era, Era::Legacy);
    assert_eq!(values(&over_http), plain_list(&pipe));
}

#[test]
fn fastmcp_over_http_is_the_same_contract_in_both_eras() {
    let Some(pipe) = installed("python/bin/python", &[&script("fastmcp_server.py")]) else {
        return;
    };
    let port = free_port();
    let mut command = pipe.clone();
    command.push(port.to_string());
    let _running = served(&command, None, port);
    let modern = fetched(&url(port, "/mcp"), &patient(None));
    assert_eq!(modern.revision.era, Era::Modern);
    let legacy = fetched(&url(port, "/mcp"), &patient(Some(Era::Legacy)));
    assert_eq!(legacy.revision.era, Era::Legacy);
    assert_eq!(values(&modern), values(&legacy));
    assert_eq!(values(&modern), plain_list(&pipe));
}

/// Three tools of the official Rust SDK, one a page.
#[derive(Clone)]
struct Paged;

impl rmcp::ServerHandler for Paged {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions("Page by page.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let page: usize = match request.and_then(|r| r.cursor) {
            None => 0,
            Some(cursor) => {
                cursor.parse().map_err(|_| ErrorData::invalid_params("bad cursor", None))?
            }
        };
        let schema: JsonObject = serde_json::from_str(r#"{"type":"object"}"#).unwrap();
        let tool = Tool::new(format!("tool_{page}"), "One of three.", Arc::new(schema));
        let mut result = ListToolsResult::with_all_items(vec![tool]);
        result.next_cursor = (page < 2).then(|| (page + 1).to_string());
        Ok(result)
    }
}

/// Serves the SDK's server on a free port until the tests end.
fn rust_sdk(config: StreamableHttpServerConfig) -> u16 {
    let (sender, port) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap().port()).unwrap();
            let sessions = Arc::new(LocalSessionManager::default());
            let service = StreamableHttpService::new(|| Ok(Paged), sessions, config);
            let router = axum::Router::new().nest_service("/mcp", service);
            axum::serve(listener, router).await.unwrap();
        });
    });
    port.recv().unwrap()
}

#[test]
fn the_rust_sdk_is_read_in_both_eras_page_by_page() {
    fn check(config: StreamableHttpServerConfig, wish: Option<Era>, era: Era) {
        let port = rust_sdk(config);
        let snapshot = fetched(&url(port, "/mcp"), &patient(wish));
        assert_eq!(names(&snapshot), ["tool_0", "tool_1", "tool_2"]);
        assert_eq!(snapshot.pages.len(), 3);
        assert_eq!(snapshot.revision.era, era);
        assert_eq!(snapshot.instructions.as_deref(), Some("Page by page."));
    }
    let stateless = || {
        let mut config = StreamableHttpServerConfig::default();
        config.legacy_session_mode = false;
        config.json_response = true;
        config
    };
    check(StreamableHttpServerConfig::default(), None, Era::Modern);
    check(StreamableHttpServerConfig::default(), Some(Era::Legacy), Era::Legacy);
    check(stateless(), None, Era::Modern);
    check(stateless(), Some(Era::Legacy), Era::Legacy);
}
