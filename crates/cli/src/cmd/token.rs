//! `steadfast token`: who may use the gateway.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::state::StoreArgs;
use crate::tokens;
use clap::Subcommand;
use gateway::front::{ANONYMOUS, token};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct TokenArgs {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a token for a principal; it is shown once
    Add {
        /// Who will use it: a person, a host of agents
        name: String,
    },
    /// Show who has a token
    List,
    /// Take the token of a principal back; a gateway that runs notices at once
    Remove {
        /// Whose
        name: String,
    },
}

impl Command for TokenArgs {
    const NAME: &'static str = "token";
    const ABOUT: &'static str = "Make, list and take back the bearer tokens of the gateway";
    const EXAMPLES: &'static str = "\
A token stands for one principal: sessions, records and approvals name it. Only its hash is
kept, beside the store.

Examples:
  steadfast token add ci
  steadfast token list
  steadfast token remove ci";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let path = tokens::path(&self.store.path()?);
        let mut known = tokens::read(&path)?;
        match self.what {
            What::Add { name } => {
                if !token::is_name(&name) || name == ANONYMOUS {
                    return Err(Failure::one(
                        "NAME",
                        format!(
                            "`{}` cannot be the name of a principal.",
                            crate::output::printable(&name)
                        ),
                        "Use letters, digits and _ . -, at most 64 of them; `anonymous` is whoever has no token.",
                    ));
                }
                let made = token::Token::new().map_err(|why| {
                    Failure::one("token", format!("No token could be made: {why}."), "")
                })?;
                if !known.add(&name, &made) {
                    return Err(Failure::one(
                        path.display().to_string(),
                        format!("{name} has a token already, or there are too many."),
                        "Take it back first: steadfast token remove NAME.",
                    ));
                }
                self.store.make_folder()?;
                tokens::write(&path, &known)?;
                shell.note(&format!(
                    "The token of {name}. It is shown this once; send it as Authorization: Bearer …"
                ));
                shell.print(&format!("{}\n", made.reveal()))?;
            }
            What::List => {
                let lines: String = known.names().iter().map(|name| format!("{name}\n")).collect();
                shell.print(&lines)?;
            }
            What::Remove { name } => {
                if !known.remove(&name) {
                    return Err(Failure::one(
                        path.display().to_string(),
                        format!("`{}` has no token.", crate::output::printable(&name)),
                        "steadfast token list shows who has one.",
                    ));
                }
                tokens::write(&path, &known)?;
            }
        }
        Ok(Exit::Fine)
    }
}
