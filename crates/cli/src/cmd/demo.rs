//! `steadfast demo`: the six drift events, live, on an embedded server.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::Shell;
use anstyle::{AnsiColor, Style};
use lab::events::{self, Event};
use lab::{Record, Recorder, Script};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

/// How long one answer may take before the demonstration has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Show the messages of each event too
    #[arg(long)]
    messages: bool,
    /// Be the server of an event, on a pipe
    #[arg(long, hide = true, requires = "recorder")]
    serve: Option<String>,
    /// Be a server that follows the script in this file, on a pipe
    #[arg(long, hide = true, requires = "recorder", conflicts_with = "serve")]
    script: Option<String>,
    /// Be the switch between the real programs that this file names, on a pipe
    #[arg(long, hide = true, requires = "recorder", conflicts_with_all = ["serve", "script"])]
    relay: Option<String>,
    /// Be that server over HTTP
    #[arg(long, hide = true, requires = "script")]
    web: bool,
    /// Where the recorder of that server listens
    #[arg(long, hide = true)]
    recorder: Option<String>,
}

impl Command for DemoArgs {
    const NAME: &'static str = "demo";
    const ABOUT: &'static str = "See the six drift events, live: no set-up, no network";
    const EXAMPLES: &'static str = "\
Starts a server and steadfast in front of it, six times. A client lists the tools, the server
changes under the live connection, and the client makes the call it had planned before. A
recorder behind the server says what really reached it.

Examples:
  steadfast demo
  steadfast demo --messages";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
                Failure::one("demo", format!("This machine gave no resources: {why}."), "")
            })?;
        let exit = runtime.block_on(async {
            match (&self.serve, &self.script, &self.relay, &self.recorder) {
                (Some(event), _, _, Some(recorder)) => serve(named(event)?, recorder).await,
                (_, Some(path), _, Some(recorder)) if self.web => {
                    serve_web(from_file(path)?, recorder).await
                }
                (_, Some(path), _, Some(recorder)) => serve(from_file(path)?, recorder).await,
                (_, _, Some(path), Some(recorder)) => relay(path, recorder).await,
                _ => show(shell, self.messages).await,
            }
        });
        runtime.shutdown_background();
        exit
    }
}

fn named(name: &str) -> Result<Script, Failure> {
    let event = events::all().into_iter().find(|event| event.name == name);
    event
        .map(|event| event.script)
        .ok_or_else(|| Failure::one("--serve", "There is no such event.", "Leave it out."))
}

fn from_file(path: &str) -> Result<Script, Failure> {
    let text = files::read(path)?;
    Script::read(&String::from_utf8_lossy(&text))
        .map_err(|why| Failure::one(path, format!("The file is no script: {why}."), ""))
}

async fn serve(script: Script, recorder: &str) -> Result<Exit, Failure> {
    lab::serve(script, recorder, tokio::io::stdin(), tokio::io::stdout()).await.map_err(|why| {
        Failure::one(recorder, format!("The recorder cannot be reached: {why}."), "")
    })?;
    Ok(Exit::Fine)
}

async fn serve_web(script: Script, recorder: &str) -> Result<Exit, Failure> {
    let served = lab::serve_web(script, recorder).await;
    served.map_err(|why| Failure::one(recorder, format!("The server cannot be: {why}."), ""))?;
    Ok(Exit::Fine)
}

async fn relay(path: &str, recorder: &str) -> Result<Exit, Failure> {
    let text = files::read(path)?;
    let real = serde_json::from_slice(&text)
        .map_err(|why| Failure::one(path, format!("The file names no programs: {why}."), ""))?;
    lab::drift::relay(real, recorder, tokio::io::stdin(), tokio::io::stdout())
        .await
        .map_err(|why| Failure::one("the server under test", format!("{why}."), ""))?;
    Ok(Exit::Fine)
}

/// What came of one event.
struct Outcome {
    answer: Value,
    records: Vec<Record>,
    messages: Vec<String>,
}

async fn show(shell: &Shell, messages: bool) -> Result<Exit, Failure> {
    let folder = tempfile::tempdir().map_err(|why| {
        Failure::one("demo", format!("No folder can be made: {why}."), "Check the disk.")
    })?;
    let started = std::time::Instant::now();
    let events = events::all();
    let style = |colour: AnsiColor| {
        if shell.colour {
            (
                Style::new().bold().fg_color(Some(colour.into())).render().to_string(),
                anstyle::Reset.render().to_string(),
            )
        } else {
            Default::default()
        }
    };
    shell.print(&format!(
        "A client planned {}({}) under the old definition. Then the server changed.\n\n",
        events[0].tool, events[0].arguments,
    ))?;
    let mut right = true;
    for (number, event) in events.iter().enumerate() {
        let outcome = drift(event, folder.path()).await?;
        let (said, colour) = said(&outcome.answer);
        let (bold, plain) = style(colour);
        let reached = match outcome.records.as_slice() {
            [] => "nothing".to_owned(),
            records => {
                let each = records.iter().map(|r| format!("{} {} {}", r.method, r.path, r.body));
                each.collect::<Vec<_>>().join("; ")
            }
        };
        right &= as_expected(number, &outcome);
        let mut text = format!(
            "{}  {}\n   must     {}\n   answered {bold}{said}{plain}\n   reached  {reached}\n\n",
            number + 1,
            event.change,
            event.expected,
        );
        if messages {
            text.push_str(
                &outcome.messages.iter().map(|m| format!("     {m}\n")).collect::<String>(),
            );
            text.push('\n');
        }
        shell.print(&text)?;
    }
    shell.print(&format!(
        "{} in {:.1} s. \"reached\" is what an append-only recorder behind the server saw.\n\n\
         Next:  steadfast diff --example            what changed between two real releases of a server\n       \
         steadfast wrap -- COMMAND           guard a server of yours: put it before the command\n       \
         steadfast lock && steadfast gate    hold a server to the contract you accepted\n",
        if right { "All six as they must be" } else { "NOT as it must be" },
        started.elapsed().as_secs_f64(),
    ))?;
    Ok(if right { Exit::Fine } else { Exit::Findings })
}

/// What the client was answered, in short.
fn said(answer: &Value) -> (String, AnsiColor) {
    let text =
        answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or("no answer");
    if answer.pointer("/result/isError") == Some(&Value::Bool(true)) {
        let code =
            answer.pointer("/result/_meta/steadfast~1refusal/error_code").and_then(Value::as_str);
        let lines: Vec<&str> = text.lines().take(2).collect();
        let colour = if text.starts_with("EXECUTED") { AnsiColor::Yellow } else { AnsiColor::Red };
        (format!("{}  {}", code.unwrap_or("error"), lines.join(" ")), colour)
    } else {
        (text.to_owned(), AnsiColor::Green)
    }
}

/// Whether the event went as it must.
fn as_expected(number: usize, outcome: &Outcome) -> bool {
    let error = outcome.answer.pointer("/result/isError") == Some(&Value::Bool(true));
    let body = |index: usize| -> Value {
        let record = outcome.records.get(index);
        record.and_then(|record| serde_json::from_str(&record.body).ok()).unwrap_or_default()
    };
    match number {
        0 | 4 => !error && outcome.records.len() == 1 && body(0)["label"] == "preview",
        1 => !error && outcome.records.len() == 1 && body(0)["region"] == "eu-west-1",
        2 | 3 => error && outcome.records.is_empty(),
        _ => error && outcome.records.len() == 1,
    }
}

/// Runs one event: list, switch, the old call.
async fn drift(event: &Event, folder: &Path) -> Result<Outcome, Failure> {
    let failed = |what: &str| {
        Failure::one(
            format!("demo {}", event.name),
            format!("{what}."),
            "This is a fault of steadfast; please report it.",
        )
    };
    let recorder = Recorder::start()
        .await
        .map_err(|why| failed(&format!("no loopback port can be had: {why}")))?;
    let own = std::env::current_exe()
        .map_err(|why| failed(&format!("the program does not find itself: {why}")))?;
    let mut command = tokio::process::Command::new(&own);
    command.arg("wrap").arg("--quiet").arg("--name").arg(&event.name);
    command.arg("--store").arg(folder.join(format!("{}.db", event.name)));
    if let Some(adapter) = &event.adapter {
        let path = folder.join(format!("{}.toml", event.name));
        std::fs::write(&path, adapter)
            .map_err(|why| failed(&format!("the adapter cannot be written: {why}")))?;
        command.arg("--adapters").arg(path).arg("--fact").arg("account=acme");
    }
    command
        .arg("--")
        .arg(&own)
        .args(["demo", "--serve", &event.name, "--recorder"])
        .arg(recorder.url());
    let mut client = Client::start(command)
        .map_err(|why| failed(&format!("steadfast wrap does not start: {why}")))?;
    let story = async {
        client.ask("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "demo", "version": "1"}})).await?;
        client.tell("notifications/initialized").await?;
        client.ask("tools/list", json!({})).await?;
        recorder.switch(1);
        client.ask("tools/call", json!({"name": event.tool, "arguments": event.arguments})).await
    };
    let answer = match tokio::time::timeout(PATIENCE, story).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(why)) => return Err(failed(&why)),
        Err(_) => return Err(failed("no answer came")),
    };
    let messages = client.leave().await;
    Ok(Outcome { answer, records: recorder.records(), messages })
}

/// A client on a pipe, as plain as can be.
struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    messages: Vec<String>,
}

impl Client {
    fn start(mut command: tokio::process::Command) -> std::io::Result<Client> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("no pipes"));
        };
        Ok(Client {
            child,
            stdin,
            lines: BufReader::new(stdout).lines(),
            next: 1,
            messages: Vec::new(),
        })
    }

    async fn send(&mut self, text: String) -> Result<(), String> {
        self.messages.push(format!("-> {text}"));
        self.stdin.write_all(format!("{text}\n").as_bytes()).await.map_err(|why| why.to_string())
    }

    async fn tell(&mut self, method: &str) -> Result<(), String> {
        self.send(json!({"jsonrpc": "2.0", "method": method}).to_string()).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.next;
        self.next += 1;
        self.send(
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
        .await?;
        while let Some(line) = self.lines.next_line().await.map_err(|why| why.to_string())? {
            self.messages.push(format!("<- {line}"));
            let message: Value = serde_json::from_str(&line).map_err(|why| why.to_string())?;
            if message.get("id").is_some_and(|found| *found == json!(id)) {
                return Ok(message);
            }
        }
        Err("the connection ended".to_owned())
    }

    async fn leave(mut self) -> Vec<String> {
        drop(self.stdin);
        let _ = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        self.messages
    }
}
