//! The gateway as a process, and clients that speak HTTP to it by hand.

use crate::live::{Era, resident};
use lab::Recorder;
use mcp::framing::Events;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use store::{Access, ActivityQuery, Options, Sqlite, Store};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long an answer may take before the test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The revision of the modern era.
pub const MODERN: &str = "2026-07-28";
/// The newest revision of the legacy era.
pub const LEGACY: &str = "2025-11-25";

/// A gateway, and what it runs on.
pub struct Gateway {
    pub recorder: Recorder,
    pub folder: TempDir,
    pub address: String,
    pub http: reqwest::Client,
    child: Child,
    said: tokio::task::JoinHandle<String>,
}

impl Gateway {
    /// One server, `lab`, that follows a script.
    pub async fn start(script: Value) -> Gateway {
        Gateway::with(script, "", "").await
    }

    /// The same with more under `[gateway]` and under `[server.lab]`.
    pub async fn with(script: Value, gateway: &str, server: &str) -> Gateway {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
        let recorder = Recorder::start().await.unwrap();
        let own = env!("CARGO_BIN_EXE_steadfast");
        let script = folder.path().join("script.json");
        let command =
            json!([own, "demo", "--script", script, "--recorder", recorder.url()]).to_string();
        let server = format!("[server.lab]\ncommand = {command}\n{server}\n");
        Gateway::on(folder, recorder, gateway, &server).await
    }

    /// A gateway for any servers.
    pub async fn on(folder: TempDir, recorder: Recorder, gateway: &str, servers: &str) -> Gateway {
        mcp::http::cryptography();
        let listen = if gateway.contains("listen") { "" } else { "listen = \"127.0.0.1:0\"\n" };
        let config = format!("[gateway]\n{listen}{gateway}\n\n{servers}");
        std::fs::write(folder.path().join("steadfast.toml"), config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_steadfast"))
            .current_dir(folder.path())
            .args(["gateway", "--store", "state.db"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut start = String::new();
        let address = loop {
            let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
            let line = line.unwrap_or_else(|| panic!("it ended: {start}"));
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
            start.push_str(&line);
        };
        let said = tokio::spawn(async move {
            let mut said = String::new();
            while let Ok(Some(line)) = lines.next_line().await {
                said.push_str(&line);
                said.push('\n');
            }
            said
        });
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Gateway { recorder, folder, address, http, child, said }
    }

    /// A request to a path.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("http://{}{path}", self.address))
            .header("accept", "application/json, text/event-stream")
    }

    /// A POST of one message to the server.
    pub fn post(&self, message: &Value) -> RequestBuilder {
        self.request(Method::POST, "/mcp/lab")
            .header("content-type", "application/json")
            .body(message.to_string())
    }

    /// A client of the server.
    pub async fn client(&self, era: Era) -> Client<'_> {
        self.client_at(era, "/mcp/lab", None).await
    }

    /// A client at an endpoint, with a token.
    pub async fn client_at(&self, era: Era, path: &str, token: Option<&str>) -> Client<'_> {
        let mut client = Client {
            gateway: self,
            era,
            path: path.to_owned(),
            token: token.map(str::to_owned),
            session: None,
            next: 1,
            aside: Vec::new(),
        };
        client.greet().await;
        client
    }

    /// The bodies that reached the recorder.
    pub fn reached(&self) -> Vec<Value> {
        self.recorder.records().iter().map(|r| serde_json::from_str(&r.body).unwrap()).collect()
    }

    /// The file with durable state.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    fn opened(&self) -> Sqlite {
        Sqlite::open(self.store(), Options::new(Access::Read, 0)).unwrap()
    }

    /// The digests of the lists on record, the current one first.
    pub async fn lists(&self) -> Vec<String> {
        let lists = self.opened().lists("lab".into(), None, 10).await.unwrap();
        lists.into_iter().map(|list| list.digest).collect()
    }

    /// What came of each attempt on record, once the gateway has ended.
    pub async fn activity_after_end(mut self) -> Vec<&'static str> {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap();
        assert!(status.success(), "{status}");
        let activity = self.opened().activity(ActivityQuery::default()).await.unwrap();
        let attempts = activity.iter().flat_map(|activity| &activity.attempts);
        attempts.map(|attempt| attempt.outcomes.last().unwrap().state.as_str()).collect()
    }

    /// Runs a command beside it; gives what it printed.
    pub async fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_steadfast"))
            .current_dir(self.folder.path())
            .args(arguments)
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Memory in use, in KiB, where the system tells it.
    pub fn resident(&self) -> Option<u64> {
        resident(self.child.id()?)
    }

    /// Asks it to end.
    pub fn stop(&self) {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        let status = std::process::Command::new("kill").arg(id.to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Waits until it has ended; gives what it said.
    pub async fn ended(mut self) -> String {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap();
        let said = timeout(PATIENCE, &mut self.said).await.unwrap().unwrap();
        assert!(status.success(), "{status}: {said}");
        said
    }
}

/// A client, by hand.
pub struct Client<'g> {
    gateway: &'g Gateway,
    era: Era,
    path: String,
    token: Option<String>,
    pub session: Option<String>,
    next: u64,
    /// Messages that came beside answers.
    pub aside: Vec<Value>,
}

impl Client<'_> {
    async fn greet(&mut self) {
        match self.era {
            Era::Legacy => {
                let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
                let message = self.message("initialize", params);
                let response = self.send(&message).send().await.unwrap();
                assert_eq!(response.status(), StatusCode::OK);
                let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
                self.session = Some(session);
                let greeted: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
                assert_eq!(greeted["result"]["capabilities"]["tools"]["listChanged"], true);
                let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                let response = self.send(&done).send().await.unwrap();
                assert_eq!(response.status(), StatusCode::ACCEPTED);
            }
            Era::Modern => {
                let found = self.ask("server/discover", json!({})).await;
                assert!(found["result"]["supportedVersions"].is_array(), "{found}");
            }
        }
    }

    /// A request with the next id.
    pub fn message(&mut self, method: &str, mut params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    /// A POST of a message, with the headers that its era asks for.
    pub fn send(&self, message: &Value) -> RequestBuilder {
        let mut request = self
            .gateway
            .request(Method::POST, &self.path)
            .header("content-type", "application/json");
        match self.era {
            Era::Legacy => {
                if let Some(session) = &self.session {
                    request = request
                        .header("mcp-session-id", session)
                        .header("mcp-protocol-version", LEGACY);
                }
            }
            Era::Modern => {
                let method = message["method"].as_str().unwrap();
                request =
                    request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
                let params = &message["params"];
                if let Some(name) = params["name"].as_str().or(params["taskId"].as_str()) {
                    request = request.header("mcp-name", name);
                }
            }
        }
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        request.body(message.to_string())
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = self.message(method, params);
        let response = self.send(&message).send().await.unwrap();
        let mut stream = Stream::new(response);
        loop {
            let said = stream.next().await.expect("an answer");
            if said.get("id") == Some(&message["id"]) && said.get("method").is_none() {
                return said;
            }
            self.aside.push(said);
        }
    }

    pub async fn list(&mut self) -> Vec<Value> {
        let page = self.ask("tools/list", json!({})).await;
        page["result"]["tools"].as_array().unwrap_or_else(|| panic!("{page}")).clone()
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Opens the stream of what was not asked for, or takes one up after an event.
    pub async fn listen(&self, after: Option<&str>) -> Response {
        let mut request = self
            .gateway
            .request(Method::GET, &self.path)
            .header("mcp-session-id", self.session.as_ref().unwrap());
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        request.send().await.unwrap()
    }
}

/// What a response says, as one message or as a stream of them.
pub struct Stream {
    response: Response,
    events: Option<Events>,
    ready: VecDeque<Value>,
    /// The id of the last event.
    pub last: Option<String>,
}

impl Stream {
    pub fn new(response: Response) -> Stream {
        let kind = response.headers().get("content-type").map(|k| k.to_str().unwrap().to_owned());
        let events = kind.is_some_and(|kind| kind == "text/event-stream");
        let events = events.then(|| Events::new(1 << 24));
        Stream { response, events, ready: VecDeque::new(), last: None }
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        timeout(PATIENCE, self.read()).await.expect("a message in time")
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            if let Some(said) = self.ready.pop_front() {
                return Some(said);
            }
            let bytes = self.response.chunk().await.ok().flatten();
            match (&mut self.events, bytes) {
                (None, Some(bytes)) => {
                    let mut whole = bytes.to_vec();
                    while let Some(more) = self.response.chunk().await.unwrap() {
                        whole.extend_from_slice(&more);
                    }
                    return Some(serde_json::from_slice(&whole).unwrap());
                }
                (Some(events), Some(bytes)) => {
                    for event in events.push(&bytes).unwrap() {
                        if !event.data.is_empty() {
                            self.ready.push_back(serde_json::from_slice(&event.data).unwrap());
                        }
                    }
                    self.last = events.last_id().map(str::to_owned);
                }
                (_, None) => return None,
            }
        }
    }
}
