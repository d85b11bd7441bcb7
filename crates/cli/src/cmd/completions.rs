//! `steadfast completions`: what a shell needs to complete the command line.

use crate::args::{Command, definition};
use crate::exit::{Exit, Failure};
use crate::output::Shell;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell to write for
    #[arg(value_enum, value_name = "SHELL")]
    kind: clap_complete::Shell,
}

impl Command for Completions {
    const NAME: &'static str = "completions";
    const ABOUT: &'static str = "Print the completions for a shell";
    const EXAMPLES: &'static str = "\
Examples:
  steadfast completions bash > ~/.local/share/bash-completion/completions/steadfast
  steadfast completions fish > ~/.config/fish/completions/steadfast.fish";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.kind, &mut definition(), "steadfast", &mut bytes);
        shell.print(&String::from_utf8_lossy(&bytes))?;
        Ok(Exit::Fine)
    }
}
