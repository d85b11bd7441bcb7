//! `steadfast man`: the manual page.

use crate::args::{Command, definition};
use crate::exit::{Exit, Failure};
use crate::output::Shell;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The command whose page is wanted; the program's own page without it
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl Command for Man {
    const NAME: &'static str = "man";
    const ABOUT: &'static str = "Print a manual page, in roff";
    const EXAMPLES: &'static str = "\
Examples:
  steadfast man | man -l -
  steadfast man diff > steadfast-diff.1";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let mut whole = definition();
        // Gives every command its full name, `steadfast-diff`.
        whole.build();
        let page = match &self.command {
            None => clap_mangen::Man::new(whole),
            Some(name) => match whole.find_subcommand(name) {
                Some(command) => clap_mangen::Man::new(command.clone()),
                None => {
                    return Err(Failure::one(
                        "man",
                        format!("There is no command {name:?}."),
                        "steadfast --help lists the commands.",
                    ));
                }
            },
        };
        let mut bytes = Vec::new();
        page.render(&mut bytes).expect("writing into memory does not fail");
        shell.print(&String::from_utf8_lossy(&bytes))?;
        Ok(Exit::Fine)
    }
}
