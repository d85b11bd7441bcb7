//! A client and a scripted server with the real program between them. The recorder is the judge.

use lab::Recorder;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long an answer may take before the test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The eras of the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

/// Both, for tests that hold in both.
pub const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// What runs during one test.
pub struct Live {
    pub recorder: Arc<Recorder>,
    pub folder: TempDir,
    era: Era,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// Messages that answered nothing that was asked, as they came.
    pub aside: Vec<String>,
}

/// The tool of most scripts: listed as given, it posts its arguments and answers with an id.
pub fn phase(tools: Value) -> Value {
    let names: Vec<String> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    let deeds: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({"path": format!("/{name}"), "answer": {"id": "x-1"}})))
        .collect();
    json!({"tools": tools, "deeds": deeds})
}

/// A tool with these properties, of which some are required.
pub fn tool(name: &str, properties: Value, required: Value) -> Value {
    json!({
        "name": name,
        "description": "Does one thing.",
        "inputSchema": {"type": "object", "properties": properties, "required": required}
    })
}

impl Live {
    /// Starts everything, greets the server, and lists its tools.
    pub async fn listed(era: Era, script: Value) -> Live {
        let mut live = Live::start(era, script, &[]).await;
        live.greet().await;
        live.list().await;
        live
    }

    /// Starts everything.
    pub async fn start(era: Era, script: Value, flags: &[&str]) -> Live {
        Live::start_in(tempfile::tempdir().unwrap(), era, script, flags).await
    }

    /// Starts everything in a folder whose store may hold something already.
    pub async fn start_in(folder: TempDir, era: Era, script: Value, flags: &[&str]) -> Live {
        std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
        let recorder = Recorder::start().await.unwrap();
        let own = env!("CARGO_BIN_EXE_steadfast");
        let script = folder.path().join("script.json").display().to_string();
        let target = ["--", own, "demo", "--script", &script, "--recorder", &recorder.url()];
        Live::wrapped(era, folder, recorder, flags, &target).await
    }

    /// Starts `wrap` before a server at an address.
    pub async fn before(era: Era, address: &str) -> Live {
        let recorder = Recorder::start().await.unwrap();
        Live::wrapped(era, tempfile::tempdir().unwrap(), recorder, &[], &[address]).await
    }

    /// Starts `wrap` before any server.
    pub async fn wrapped(
        era: Era,
        folder: TempDir,
        recorder: Recorder,
        flags: &[&str],
        target: &[&str],
    ) -> Live {
        let stderr = Live::stderr_in(&folder);
        Live::set_up(era, folder, recorder, flags, target, &[], stderr)
    }

    /// Starts `wrap` of which nobody reads what it says on standard error.
    pub async fn unheard(era: Era, folder: TempDir, recorder: Recorder, target: &[&str]) -> Live {
        Live::set_up(era, folder, recorder, &[], target, &[], Stdio::piped())
    }

    /// Starts `wrap` with a library before its own.
    pub fn preloaded(library: &str, folder: TempDir, recorder: Recorder, target: &[&str]) -> Live {
        let variables = [("LD_PRELOAD", library)];
        let stderr = Live::stderr_in(&folder);
        Live::set_up(Era::Legacy, folder, recorder, &[], target, &variables, stderr)
    }

    fn stderr_in(folder: &TempDir) -> Stdio {
        std::fs::File::create(folder.path().join("stderr")).unwrap().into()
    }

    /// Starts `wrap` where these variables are set.
    pub async fn wrapped_where(
        environment: &[(&str, &str)],
        era: Era,
        folder: TempDir,
        recorder: Recorder,
        flags: &[&str],
        target: &[&str],
    ) -> Live {
        let stderr = Live::stderr_in(&folder);
        Live::set_up(era, folder, recorder, flags, target, environment, stderr)
    }

    fn set_up(
        era: Era,
        folder: TempDir,
        recorder: Recorder,
        flags: &[&str],
        target: &[&str],
        variables: &[(&str, &str)],
        stderr: Stdio,
    ) -> Live {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
        command
            .envs(variables.iter().copied())
            .args(["wrap", "--name", "scripted", "--store"])
            .arg(folder.path().join("state.db"))
            .args(flags)
            .args(target)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stdin = child.stdin.take();
        let recorder = Arc::new(recorder);
        Live { recorder, folder, era, child, stdin, lines, next: 1, aside: Vec::new() }
    }

    pub async fn greet(&mut self) {
        match self.era {
            Era::Legacy => {
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
                let greeted = self.ask("initialize", params).await;
                assert_eq!(greeted["result"]["capabilities"]["tools"]["listChanged"], true);
                self.send(
                    &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
                )
                .await;
            }
            Era::Modern => {
                self.ask("server/discover", json!({})).await;
            }
        }
    }

    /// Fetches the whole list; gives the tools.
    pub async fn list(&mut self) -> Vec<Value> {
        let (mut tools, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            let page = self.ask("tools/list", params).await;
            tools.extend(
                page["result"]["tools"].as_array().unwrap_or_else(|| panic!("{page}")).clone(),
            );
            match page["result"].get("nextCursor") {
                Some(next) => cursor = next.clone(),
                None => return tools,
            }
        }
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Writes one line.
    pub async fn send(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(&json!(id)).await
    }

    /// Sends a request; gives its id.
    pub async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
        .await;
        id
    }

    /// Waits for the answer with this id; what comes before it is set aside.
    pub async fn answer(&mut self, id: &Value) -> Value {
        let answers = |line: &String| {
            serde_json::from_str::<Value>(line).is_ok_and(|message| {
                message.get("id") == Some(id) && message.get("method").is_none()
            })
        };
        if let Some(index) = self.aside.iter().position(answers) {
            return serde_json::from_str(&self.aside.remove(index)).unwrap();
        }
        loop {
            let line = self.line().await;
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id") == Some(id) && message.get("method").is_none() {
                return message;
            }
            self.aside.push(line);
        }
    }

    /// The next line.
    pub async fn line(&mut self) -> String {
        timeout(PATIENCE, self.lines.next_line())
            .await
            .expect("an answer in time")
            .unwrap()
            .expect("a line")
    }

    /// Waits for a notification of this method, set aside or still to come.
    pub async fn notified(&mut self, method: &str) -> Value {
        let is = |line: &String| {
            serde_json::from_str::<Value>(line).is_ok_and(|message| message["method"] == method)
        };
        if let Some(index) = self.aside.iter().position(is) {
            return serde_json::from_str(&self.aside.remove(index)).unwrap();
        }
        loop {
            let line = self.line().await;
            if is(&line) {
                return serde_json::from_str(&line).unwrap();
            }
            self.aside.push(line);
        }
    }

    /// The bodies that reached the recorder.
    pub fn reached(&self) -> Vec<Value> {
        self.recorder.records().iter().map(|r| serde_json::from_str(&r.body).unwrap()).collect()
    }

    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Memory in use, in KiB, where the system tells it.
    pub fn resident(&self) -> Option<u64> {
        resident(self.child.id()?)
    }

    /// What the program said on stderr.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).unwrap()
    }

    /// The file with durable state.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// Runs a command of a person on the same store: its exit code, output and errors.
    pub async fn person(&self, arguments: &[&str]) -> (i32, String, String) {
        let done = Command::new(env!("CARGO_BIN_EXE_steadfast"))
            .args(arguments)
            .arg("--store")
            .arg(self.store())
            .stdin(Stdio::null())
            .output();
        let done = timeout(PATIENCE, done).await.expect("it ends").unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    }

    /// Says that nothing more will be asked.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Ends the program as a crash would.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    /// Leaves, and waits for the program to end.
    pub async fn leave(&mut self) {
        self.stdin = None;
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap();
        assert!(status.success(), "{status}: {}", self.said());
    }
}

/// Memory that a process uses, in KiB, where the system tells it.
pub fn resident(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The code of a refusal; panics where the answer is none.
pub fn code(answer: &Value) -> &str {
    answer["result"]["_meta"]["steadfast/refusal"]["error_code"]
        .as_str()
        .unwrap_or_else(|| panic!("not refused: {answer}"))
}

/// The text for the model.
pub fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// True where the call went through.
pub fn ran(answer: &Value) -> bool {
    answer["result"]["structuredContent"]["id"] == "x-1"
}

/// The token of a refusal.
pub fn token(answer: &Value) -> String {
    let text = text(answer);
    let start = text.find("\"steadfast_ack\": \"").unwrap_or_else(|| panic!("{text}")) + 18;
    text[start..].split('"').next().unwrap().to_owned()
}
