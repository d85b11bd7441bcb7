//! Clients on the official Rust SDK, over a pipe. Where `STEADFAST_SERVER_JSON` names the server, as in `peers/clients`:
//! one that lists, waits to be told of a change, and makes the call that it had planned. Where `SERVER` names it, as in
//! `peers/live`: one that does what it reads from its input, a line of JSON each, and writes what came of it.
//!
//! It is built with the tests, so that the SDK is no dependency of the product.
#![allow(clippy::print_stdout, reason = "what came of it is read from its output")]

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest,
    ProgressNotificationParam,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RoleClient, RunningService, ServiceExt,
};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// How long a change is waited for by a client that then goes on without.
const SHORT: Duration = Duration::from_secs(5);

/// How long a client waits that is driven.
const LONG: Duration = Duration::from_secs(20);

/// The program's part: it is told of changes and of progress.
#[derive(Clone, Default)]
struct Heard {
    /// That it was told once is known from then on.
    told: Arc<watch::Sender<bool>>,
    steps: Arc<Mutex<Vec<f64>>>,
    third: Arc<Notify>,
}

impl Heard {
    async fn told_within(&self, patience: Duration) -> bool {
        let mut told = self.told.subscribe();
        timeout(patience, told.wait_for(|told| *told)).await.is_ok()
    }
}

impl rmcp::ClientHandler for Heard {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.told.send_replace(true);
    }

    async fn on_progress(
        &self,
        step: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(step.progress);
        if steps.len() == 3 {
            self.third.notify_one();
        }
    }
}

type Session = RunningService<RoleClient, Heard>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let heard = Heard::default();
    match std::env::var("STEADFAST_SERVER_JSON") {
        Ok(server) => {
            let (session, _server) = connected(&server, &heard).await?;
            planned(&session, &heard).await?;
            session.cancel().await?;
        }
        Err(_) => {
            let (session, _server) = connected(&std::env::var("SERVER")?, &heard).await?;
            driven(&session, &heard).await?;
            session.cancel().await?;
        }
    }
    Ok(())
}

/// Starts the server whose command is this JSON array, and greets it.
async fn connected(server: &str, heard: &Heard) -> Result<(Session, Child), Box<dyn Error>> {
    let words: Vec<String> = serde_json::from_str(server)?;
    let (program, arguments) = words.split_first().ok_or("no server is named")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let out = child.stdout.take().ok_or("the server has no output")?;
    let input = child.stdin.take().ok_or("the server has no input")?;
    Ok((heard.clone().serve((out, input)).await?, child))
}

/// Lists, waits, and makes the old call.
async fn planned(session: &Session, heard: &Heard) -> Result<(), Box<dyn Error>> {
    session.list_all_tools().await?;
    let told = heard.told_within(SHORT).await;
    println!("{}", if told { "told of the change" } else { "no word of a change" });
    let arguments = Map::from_iter([("project".to_owned(), "shop".into())]);
    let call = CallToolRequestParams::new("deploy_preview").with_arguments(arguments);
    match session.call_tool(call).await {
        Ok(answer) if answer.is_error == Some(true) => println!("error given to the caller"),
        Ok(_) => println!("answer given to the caller"),
        // What the SDK makes of the answer is what is looked at.
        Err(error) => println!("raised {error}"),
    }
    Ok(())
}

/// Does what it is told.
async fn driven(session: &Session, heard: &Heard) -> Result<(), Box<dyn Error>> {
    println!("{}", json!({"ready": true}));
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let order: Value = serde_json::from_str(&line)?;
        println!("{}", act(session, heard, &order).await?);
    }
    Ok(())
}

async fn act(session: &Session, heard: &Heard, order: &Value) -> Result<Value, Box<dyn Error>> {
    let tool = order["tool"].as_str().unwrap_or_default().to_owned();
    match order["do"].as_str() {
        Some("list") => {
            let tools = session.list_all_tools().await?;
            let mut names: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
            names.sort();
            Ok(json!({"tools": names}))
        }
        Some("told") => Ok(json!({"told": heard.told_within(LONG).await})),
        Some("call") => {
            let arguments = order["arguments"].as_object().cloned().unwrap_or_default();
            let call = CallToolRequestParams::new(tool).with_arguments(arguments);
            Ok(match session.call_tool(call).await {
                Ok(answer) => shown(&answer)?,
                Err(error) => json!({"raised": error.to_string()}),
            })
        }
        // Begins a call, and gives it up once it has told of its progress three times.
        _ => {
            let call = CallToolRequestParams::new(tool).with_arguments(Map::new());
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
            let options = PeerRequestOptions::default();
            let under_way = session.send_cancellable_request(request, options).await?;
            timeout(LONG, heard.third.notified()).await?;
            under_way.cancel(Some("enough".to_owned())).await?;
            let steps = heard.steps.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(json!({"progress": *steps}))
        }
    }
}

fn shown(answer: &CallToolResult) -> Result<Value, Box<dyn Error>> {
    let content = serde_json::to_value(&answer.content)?;
    let blocks = content.as_array().into_iter().flatten();
    let text: String = blocks.filter_map(|block| block["text"].as_str()).collect();
    Ok(json!({"failed": answer.is_error == Some(true), "text": text}))
}
