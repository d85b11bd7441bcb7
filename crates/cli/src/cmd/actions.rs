//! `steadfast actions`: bound requests as an MCP server, with credentials that the agent never holds.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::state::StoreArgs;
use std::path::PathBuf;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct ActionsArgs {
    /// The file of bindings
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
there. It is put behind a gateway like any other server, so that its calls are checked, asked
about and recorded. The vault has to be open: steadfast vault unlock.

Examples:
  steadfast wrap --name actions -- steadfast actions --bindings actions.toml";

    fn run(self, _: &Shell) -> Result<Exit, Failure> {
        vault::keeper::no_core();
        let vault = vault::path(&self.store.path()?);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
                Failure::one("actions", format!("This machine gave no resources: {why}."), "")
            })?;
        let served = action::serve(&self.bindings, &vault, tokio::io::stdin(), tokio::io::stdout());
        let outcome = runtime.block_on(served);
        runtime.shutdown_background();
        outcome.map_err(|problems| Failure {
            problems: problems
                .into_iter()
                .map(|one| contract::Problem {
                    place: one.place,
                    sentence: one.sentence,
                    help: one.help,
                })
                .collect(),
        })?;
        Ok(Exit::Fine)
    }
}
