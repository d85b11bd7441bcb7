//! `steadfast snapshot`: what a server promises now, as a file.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::server::{self, ServerArgs};
use mcp::Snapshot;
use serde_json::json;
use std::path::Path;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct SnapshotArgs {
    /// The address of an MCP server
    #[arg(value_name = "URL", required_unless_present = "command")]
    target: Option<String>,
    /// A command that starts an MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    command: Vec<String>,
    /// The file to write; without it the snapshot goes to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// How the summary of a written file is told
    #[arg(long, value_enum, default_value_t = Summary::Text)]
    format: Summary,
    #[command(flatten)]
    server: ServerArgs,
}

/// The formats of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Summary {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
}

impl Command for SnapshotArgs {
    const NAME: &'static str = "snapshot";
    const ABOUT: &'static str = "Fetch the contract of an MCP server";
    const EXAMPLES: &'static str = "\
Reads all pages of tools/list until two readings agree, with the instructions and what the
server says of itself, over stdio or Streamable HTTP, in whichever era of the protocol it
speaks. Tools are kept as they were sent. Nothing is written where anything fails.

Tokens come from the environment or a file, never from the command line: STEADFAST_BEARER is
sent as a bearer token to an address, and is withheld from a command.

Examples:
  steadfast snapshot -o before.json -- npx -y @modelcontextprotocol/server-memory
  steadfast snapshot -o before.json https://example.com/mcp
  steadfast snapshot https://example.com/mcp --header-from-env X-Api-Key=MY_KEY > before.json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let snapshot = match &self.target {
            None => self.server.ask_command(shell, &self.command)?,
            Some(address) if server::is_address(address) => {
                self.server.ask_address(shell, address)?
            }
            Some(other) => {
                return Err(Failure::one(
                    output::printable(other),
                    "This is not the address of a server.",
                    "Give an address that starts with https:// or http://, or the command that starts the server after --.",
                ));
            }
        };
        let text = output::hidden_spelled_out(&snapshot.to_json());
        let Some(path) = &self.output else {
            shell.print(&text)?;
            return Ok(Exit::Fine);
        };
        files::write(Path::new(path), &text)?;
        shell.print(&match self.format {
            Summary::Text => in_words(path, &snapshot),
            Summary::Json => in_json(path, &snapshot),
        })?;
        Ok(Exit::Fine)
    }
}

fn in_words(path: &str, snapshot: &Snapshot) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "{path} written: {} on {}, protocol {} ({} era)\n",
        count(snapshot.tools.len(), "tool"),
        count(snapshot.pages.len(), "page"),
        snapshot.revision.date,
        snapshot.revision.era,
    )
}

fn in_json(path: &str, snapshot: &Snapshot) -> String {
    let value = json!({
        "file": path,
        "tools": snapshot.tools.len(),
        "pages": snapshot.pages.len(),
        "protocolVersion": snapshot.revision.date,
        "era": snapshot.revision.era.name(),
        "notes": snapshot.notes,
    });
    format!("{value:#}\n")
}
