//! A client on the official Rust SDK, for `peers/clients`: it lists, waits to be told of a change, and makes the call
//! that it had planned.
#![allow(clippy::print_stdout, reason = "its events are read from its output")]

use rmcp::model::CallToolRequestParams;
use rmcp::service::{NotificationContext, RoleClient, ServiceExt};
use std::error::Error;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Notify;

/// The program's part: it is told of changes.
#[derive(Clone, Default)]
struct Told(Arc<Notify>);

impl rmcp::ClientHandler for Told {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.notify_one();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = serde_json::from_str(&std::env::var("STEADFAST_SERVER_JSON")?)?;
    let (program, arguments) = words.split_first().ok_or("no server is named")?;
    let mut server = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let out = server.stdout.take().ok_or("the server has no output")?;
    let input = server.stdin.take().ok_or("the server has no input")?;
    let told = Told::default();
    let session = told.clone().serve((out, input)).await?;
    session.list_all_tools().await?;
    let heard = tokio::time::timeout(Duration::from_secs(5), told.0.notified()).await;
    println!("{}", if heard.is_ok() { "told of the change" } else { "no word of a change" });
    let arguments = serde_json::Map::from_iter([("project".to_owned(), "shop".into())]);
    let call = CallToolRequestParams::new("deploy_preview").with_arguments(arguments);
    match session.call_tool(call).await {
        Ok(answer) if answer.is_error == Some(true) => println!("error given to the caller"),
        Ok(_) => println!("answer given to the caller"),
        // What the SDK makes of the answer is what is looked at.
        Err(error) => println!("raised {error}"),
    }
    session.cancel().await?;
    Ok(())
}
