//! `steadfast tail`: what happens in running gateways, as it happens.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, shown_time};
use crate::{limits, running};
use gateway::control;
use serde_json::Value;
use tokio::sync::mpsc;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct TailArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// How each event is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for TailArgs {
    const NAME: &'static str = "tail";
    const ABOUT: &'static str = "Follow what running gateways refuse, hold, adapt and find changed";
    const EXAMPLES: &'static str = "\
Follows every gateway that works on the store, also those that start later, until it is interrupted.

Examples:
  steadfast tail
  steadfast tail --format json | jq 'select(.kind == \"refused\")'";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let folder = running::folder(&self.store)?;
        running::runtime()?.block_on(async {
            let (sender, mut events) = mpsc::channel(limits::TAILED);
            let follower = tokio::spawn(control::follow(folder, sender));
            let stop = mcp::interrupted();
            tokio::pin!(stop);
            loop {
                let event = tokio::select! {
                    event = events.recv() => event,
                    () = &mut stop => None,
                };
                let Some(event) = event else { break };
                shell.print(&match self.format {
                    Plain::Json => event + "\n",
                    Plain::Text => line(&event),
                })?;
            }
            follower.abort();
            Ok(Exit::Fine)
        })
    }
}

/// One event for people.
fn line(event: &str) -> String {
    let Ok(event) = serde_json::from_str::<Value>(event) else { return printable(event) + "\n" };
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(printable);
    let at = event.get("at").and_then(Value::as_u64).map(shown_time).unwrap_or_default();
    let code = text("code").map_or(String::new(), |code| format!(" [{code}]"));
    format!(
        "{at}  {}  {}{code}  {}\n",
        text("server").unwrap_or_else(|| "-".to_owned()),
        text("kind").unwrap_or_default(),
        text("sentence").unwrap_or_default()
    )
}
