//! `steadfast rules`: the table of rules.

use crate::args::{Command, Format};
use crate::exit::{Exit, Failure};
use crate::output::Shell;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Rules {
    /// How the table is written
    #[arg(long, value_enum, default_value_t = Table::Text)]
    format: Table,
}

/// The formats that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Table {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
}

impl Command for Rules {
    const NAME: &'static str = "rules";
    const ABOUT: &'static str = "List all rules";
    const EXAMPLES: &'static str = "\
Examples:
  steadfast rules
  steadfast rules --format json";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let format = match self.format {
            Table::Text => Format::Text,
            Table::Json => Format::Json,
        };
        let options = report::RenderOptions {
            colour: shell.colour,
            width: shell.width,
            ..report::RenderOptions::default()
        };
        let text = report::render_rules(&contract::rules::all(), format.into(), &options);
        shell.print(&text)?;
        Ok(Exit::Fine)
    }
}
