//! `steadfast actions`: bound requests as an MCP server, with credentials that the agent never holds.

use crate::args::Command;
use crate::bindings;
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::state::StoreArgs;
use std::path::PathBuf;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct ActionsArgs {
    /// The file of bindings; a steadfast.toml does
    #[arg(long, value_name = "FILE", default_value = "actions.toml")]
    bindings: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

impl Command for ActionsArgs {
    const NAME: &'static str = "actions";
    const ABOUT: &'static str =
        "Be the MCP server of bound actions, with credentials from the vault";
    const EXAMPLES: &'static str = "\
Each [bindings.NAME] of the file is a tool whose call is one HTTP request to the place named
there. wrap and gateway start this by themselves, so that its calls are checked, asked about
and recorded: by itself it asks nobody. The vault has to be open: steadfast vault unlock.

Examples:
  steadfast wrap --bindings actions.toml
  steadfast actions --bindings actions.toml";

    fn run(self, _: &Shell) -> Result<Exit, Failure> {
        vault::keeper::no_core();
        let vault = vault::path(&self.store.path()?);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
                Failure::one("actions", format!("This machine gave no resources: {why}."), "")
            })?;
        let outcome = runtime.block_on(bindings::serve(&self.bindings, &vault));
        runtime.shutdown_background();
        outcome?;
        Ok(Exit::Fine)
    }
}
