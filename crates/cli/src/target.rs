//! What a command looks at: a file, a folder, an address, or a server to be started.

use crate::exit::Failure;
use crate::load;
use clap::Args;
use contract::document::Reading;
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
}

/// A contract, and where it came from as a lock records it.
pub struct Found {
    /// What was read.
    pub reading: Reading,
    /// `{"file": …}`, `{"url": …}` or `{"command": […]}`.
    pub source: Value,
}

impl TargetArgs {
    /// Reads the contract; `None` where nothing was named.
    pub fn read(&self) -> Result<Option<Found>, Failure> {
        match (&self.target, self.command.as_slice()) {
            (Some(path), []) => {
                Ok(Some(Found { reading: load::contract(path)?, source: json!({"file": path}) }))
            }
            (None, []) => Ok(None),
            (_, command) => Err(Failure::one(
                command.join(" "),
                "A server cannot be started from here.",
                "Take a snapshot of it first and name that file.",
            )),
        }
    }
}
