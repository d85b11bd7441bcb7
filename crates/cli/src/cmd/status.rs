//! `steadfast status`: what is advertised, what a client saw, what a call runs under, what was granted.

mod text;

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::running;
use crate::state::{StoreArgs, failure, shown_time};
use gateway::status::{self, Filter, Remembered, Status};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use store::{Access, Sqlite};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// This server alone, or this tool of it
    #[arg(value_name = "SERVER[/TOOL]")]
    target: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for StatusArgs {
    const NAME: &'static str = "status";
    const ABOUT: &'static str =
        "Show what holds now: advertised, shown to the client, run, granted";
    const EXAMPLES: &'static str = "\
For each session and tool, four contracts that may differ:
  advertised  what the server lists now
  snapshot    what this client was shown, and how well that is known
  execution   what a call would run under now: forward, adapt, hold or refuse
  granted     what was accepted; steadfast accept moves it
Without a session that runs, what the store remembers is shown.

Examples:
  steadfast status
  steadfast status github/create_issue
  steadfast status --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let store = self.store.open(Access::Read)?;
        let path = self.store.path()?;
        let runtime = running::runtime()?;
        let (running, silent, remembered) = runtime.block_on(self.look(&store, &path))?;
        shell.print(&match self.format {
            Plain::Text => text::words(&running, &remembered, self.target.is_some()),
            Plain::Json => in_json(&running, &remembered),
        })?;
        for why in silent {
            shell.note(&format!(
                "note: a gateway did not answer: {}",
                crate::output::printable(&why)
            ));
        }
        Ok(Exit::Fine)
    }
}

impl StatusArgs {
    async fn look(
        &self,
        store: &Sqlite,
        path: &Path,
    ) -> Result<(Vec<Status>, Vec<String>, Vec<Remembered>), Failure> {
        let all = status::remembered(store, &Filter::default())
            .await
            .map_err(|error| failure(path, &error))?;
        let filter = match &self.target {
            Some(target) => {
                let known: BTreeSet<String> = all.iter().map(|one| one.server.clone()).collect();
                running::named(target, &known)?
            }
            None => Filter::default(),
        };
        let (running, silent) = running::ask(&self.store, &filter).await?;
        let live: BTreeSet<&str> = running
            .iter()
            .flat_map(|status| status.sessions.iter().map(|session| session.server.as_str()))
            .collect();
        let asleep = |server: &str| {
            !live.contains(server) && filter.server.as_deref().is_none_or(|wanted| wanted == server)
        };
        let mut remembered: Vec<Remembered> =
            all.into_iter().filter(|one| asleep(&one.server)).collect();
        if let Some(tool) = &filter.tool {
            remembered.iter_mut().for_each(|one| one.tools.retain(|known| known.tool == *tool));
            let unknown = remembered.iter().all(|one| one.tools.is_empty())
                && running.iter().flat_map(|s| &s.sessions).all(|s| s.tools.is_empty());
            if unknown {
                return Err(Failure::one(
                    crate::output::printable(tool),
                    "The server never listed a tool of this name.",
                    "See which it lists: steadfast status SERVER.",
                ));
            }
        }
        Ok((running, silent, remembered))
    }
}

/// The documented form: docs/status.md.
fn in_json(running: &[Status], remembered: &[Remembered]) -> String {
    let mut whole = json!({ "gateways": running, "remembered": remembered });
    readable_times(&mut whole);
    format!("{whole:#}\n")
}

/// Times leave the gateway as numbers; people and programs read them as times.
fn readable_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(readable_times),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match member.as_u64().filter(|_| name == "at" || name.ends_with("_at")) {
                    Some(at) => *member = shown_time(at).into(),
                    None => readable_times(member),
                }
            }
        }
        _ => {}
    }
}
