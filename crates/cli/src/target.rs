//! What a command looks at: a file, a folder, an address, or a server to be started.

use crate::exit::Failure;
use crate::load;
use crate::output::Shell;
use crate::server::{self, ServerArgs};
use clap::Args;
use contract::document::{self, Bundle, Reading};
use contract::text::{self, Notation};
use mcp::{Snapshot, Source};
use serde_json::{Value, json};

/// Arguments that name a contract, wherever it is.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// A file, a folder of tools, - for standard input, or the address of an MCP server
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// A command that starts an MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    command: Vec<String>,
    #[command(flatten)]
    server: ServerArgs,
}

/// A contract, and where it came from as a lock records it.
pub struct Found {
    /// What was read.
    pub reading: Reading,
    /// `{"file": …}`, `{"url": …}` or `{"command": […]}`.
    pub source: Value,
}

impl TargetArgs {
    /// The server that was named, and how it is asked; `None` where a file was, or nothing.
    pub fn server(&self) -> Result<Option<(mcp::Target, mcp::FetchOptions)>, Failure> {
        let target = match (&self.target, self.command.as_slice()) {
            (Some(address), []) if server::is_address(address) => self.server.target(address)?,
            (_, []) => return Ok(None),
            (_, command) => mcp::Target::Command(command.to_vec()),
        };
        Ok(Some((target, self.server.options(None)?)))
    }

    /// The headers that go with each request to what is asked.
    pub fn headers(&self) -> Result<mcp::Headers, Failure> {
        self.server.headers()
    }

    /// Reads the contract; `None` where nothing was named.
    pub fn read(&self, shell: &Shell) -> Result<Option<Found>, Failure> {
        match (&self.target, self.command.as_slice()) {
            (Some(address), []) if server::is_address(address) => {
                from_server(&self.server.ask_address(shell, address)?).map(Some)
            }
            (Some(path), []) => {
                Ok(Some(Found { reading: load::contract(path)?, source: json!({ "file": path }) }))
            }
            (None, []) => Ok(None),
            (_, command) => from_server(&self.server.ask_command(shell, command)?).map(Some),
        }
    }
}

/// What a server answered, read like the file that a snapshot of it would be.
fn from_server(snapshot: &Snapshot) -> Result<Found, Failure> {
    let name = match &snapshot.source {
        Source::Command(words) => words.join(" "),
        Source::Url(address) => address.clone(),
    };
    let mut root = text::read_as(&name, snapshot.to_json().as_bytes(), Notation::Json)?;
    let source = root.get_mut("source").map(Value::take).unwrap_or_default();
    let bundle = Bundle { name, root, ..Bundle::default() };
    Ok(Found { reading: document::read(bundle)?, source })
}
