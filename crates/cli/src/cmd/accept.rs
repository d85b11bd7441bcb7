//! `steadfast accept`: a person takes what a server lists now for granted.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::output::{Shell, printable};
use crate::running;
use crate::state::{StoreArgs, block_on, failure, now, who};
use contract::Diff;
use gateway::accept::{difference, grant, is_open};
use gateway::status::{Filter, Remembered, RememberedTool, remembered};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, IsTerminal};
use store::{Access, Sqlite, StoreError};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Accept {
    /// The server, or one tool of it
    #[arg(value_name = "SERVER[/TOOL]")]
    target: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for Accept {
    const NAME: &'static str = "accept";
    const ABOUT: &'static str = "Accept what a server lists now as the granted contract";
    const EXAMPLES: &'static str = "\
Shows what changed against what was granted, and asks. From then on, calls are measured by the
new contract; a gateway that runs sees it at its next call. Exactly what was shown is granted:
where the server moves on meanwhile, that is not. A tool that is named counts as holding still from
then on, where its definition went back and forth.

Exit codes: 0 accepted, or nothing to accept · 1 not accepted · 2 wrong use

Examples:
  steadfast accept github
  steadfast accept github/create_issue
  steadfast accept github --yes --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let path = self.store.path()?;
        let store = self.store.open(Access::Command)?;
        let failed = |error: StoreError| failure(&path, &error);
        let (filter, all) = block_on(self.known(&store))?;
        if filter.tool.is_some() && all.iter().all(|known| known.tools.is_empty()) {
            return Err(Failure::one(
                printable(&self.target),
                "The server never listed a tool of this name.",
                "See which it lists: steadfast status SERVER.",
            ));
        }
        let (mut accepted, mut refused) = (Vec::new(), false);
        for known in &all {
            // A tool that is named is accepted though it is granted already: that says too that it holds still.
            let named = filter.tool.is_some();
            let moved: Vec<&RememberedTool> = known
                .tools
                .iter()
                .filter(|tool| is_open(tool) || (named && tool.advertised.is_some()))
                .collect();
            for tool in known.tools.iter().filter(|tool| tool.advertised.is_none()) {
                shell.note(&format!(
                    "note: {} is no longer listed, so there is nothing of it to accept",
                    printable(&tool.tool)
                ));
            }
            if moved.is_empty() {
                continue;
            }
            let diff = block_on(difference(&store, &known.server, &moved)).map_err(failed)?;
            let diff = diff.map_err(|tool| {
                Failure::one(
                    printable(&format!("{}/{tool}", known.server)),
                    "The definition that is listed, or the one that was granted, is not on record, so it cannot be shown.",
                    "Let a session list the tools again. Nothing was accepted.",
                )
            })?;
            if self.asked(shell, known, &moved, &diff)? {
                block_on(grant(&store, known, &moved, &who(), now())).map_err(failed)?;
                if self.format == Plain::Text {
                    let names: Vec<String> =
                        moved.iter().map(|tool| printable(&tool.tool)).collect();
                    shell.print(&format!("accepted: {}\n", names.join(", ")))?;
                }
                accepted.extend(self.result(known, &moved, &diff));
            } else {
                shell.note("nothing was accepted");
                refused = true;
            }
        }
        let server = all.first().map(|known| known.server.clone()).unwrap_or_default();
        shell.print(&match self.format {
            Plain::Json => format!("{:#}\n", json!({"server": server, "accepted": accepted})),
            Plain::Text if accepted.is_empty() && !refused => {
                "everything that is listed is granted already\n".to_owned()
            }
            Plain::Text => String::new(),
        })?;
        Ok(if refused { Exit::Findings } else { Exit::Fine })
    }
}

impl Accept {
    /// What is meant, and what is known of it.
    async fn known(&self, store: &Sqlite) -> Result<(Filter, Vec<Remembered>), Failure> {
        let path = self.store.path()?;
        let failed = |error: StoreError| failure(&path, &error);
        let all = remembered(store, &Filter::default()).await.map_err(failed)?;
        let names: BTreeSet<String> = all.iter().map(|one| one.server.clone()).collect();
        let filter = running::named(&self.target, &names)?;
        let found = remembered(store, &filter).await.map_err(failed)?;
        if found.is_empty() {
            return Err(Failure::one(
                printable(&self.target),
                "No server of this name is known.",
                "",
            ));
        }
        Ok((filter, found))
    }

    /// Shows what moved in one scope, and whether it is accepted.
    fn asked(
        &self,
        shell: &Shell,
        known: &Remembered,
        moved: &[&RememberedTool],
        diff: &Diff,
    ) -> Result<bool, Failure> {
        let shown = report::render(
            diff,
            report::Format::Text,
            &report::RenderOptions {
                colour: shell.colour && self.format == Plain::Text,
                width: shell.width,
                all: true,
                old_name: "granted".to_owned(),
                new_name: format!("{}, as listed now", printable(&known.server)),
                ..report::RenderOptions::default()
            },
        );
        if self.format == Plain::Text {
            shell.print(&shown)?;
        }
        if !self.yes && !self.agreed(shell, &shown, moved.len())? {
            return Ok(false);
        }
        Ok(true)
    }

    /// Asks the person at the terminal.
    fn agreed(&self, shell: &Shell, shown: &str, tools: usize) -> Result<bool, Failure> {
        if !(std::io::stdin().is_terminal() && shell.interactive) {
            return Err(Failure::one(
                printable(&self.target),
                "Nobody can be asked here: this is no terminal.",
                "Run it at a terminal, or pass --yes where the change was reviewed elsewhere.",
            ));
        }
        if self.format == Plain::Json {
            shell.note(shown);
        }
        let what = if tools == 1 { "this tool" } else { "these tools" };
        crate::output::complain(&format!("Grant {what} as listed now? [y/N] "));
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        Ok(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// The documented form: docs/status.md.
    fn result(&self, known: &Remembered, moved: &[&RememberedTool], diff: &Diff) -> Vec<Value> {
        let verdict = |tool: &str| {
            diff.entries.iter().find(|entry| entry.subject.name() == tool).map(|e| e.verdict)
        };
        moved
            .iter()
            .map(|tool| {
                json!({
                    "tool": tool.tool,
                    "scope": known.scope,
                    "from": tool.granted.as_ref().map(|granted| &granted.revision.digest),
                    "to": tool.advertised.as_ref().map(|advertised| &advertised.digest),
                    "verdict": verdict(&tool.tool),
                })
            })
            .collect()
    }
}
