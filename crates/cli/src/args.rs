//! What was typed: a table of commands, and the flags that several of them share.

use crate::cmd;
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use clap::{ArgMatches, Args, ValueEnum};
use std::ffi::OsString;

/// A command: its arguments are a clap struct, and its work is one function.
pub trait Command: Args {
    /// What is typed.
    const NAME: &'static str;
    /// One line for the list of commands.
    const ABOUT: &'static str;
    /// Examples and notes, shown below the help.
    const EXAMPLES: &'static str;

    /// Does the work.
    fn run(self, shell: &Shell) -> Result<Exit, Failure>;
}

/// One row of the table.
struct Row {
    name: &'static str,
    about: &'static str,
    examples: &'static str,
    arguments: fn(clap::Command) -> clap::Command,
    run: fn(&ArgMatches, &Shell) -> Result<Exit, Failure>,
}

const fn row<C: Command>() -> Row {
    Row {
        name: C::NAME,
        about: C::ABOUT,
        examples: C::EXAMPLES,
        arguments: C::augment_args,
        run: |matches, shell| match C::from_arg_matches(matches) {
            Ok(command) => command.run(shell),
            Err(error) => Ok(shell.usage(&error)),
        },
    }
}

/// Every command, in the order of the help.
static COMMANDS: &[Row] = &[
    row::<cmd::demo::DemoArgs>(),
    row::<cmd::diff::Diff>(),
    row::<cmd::snapshot::SnapshotArgs>(),
    row::<cmd::lock::LockArgs>(),
    row::<cmd::gate::Gate>(),
    row::<cmd::drill::DrillArgs>(),
    row::<cmd::test::TestArgs>(),
    row::<cmd::serve::ServeArgs>(),
    row::<cmd::map::MapArgs>(),
    row::<cmd::adapters::AdaptersArgs>(),
    row::<cmd::sessions::Sessions>(),
    row::<cmd::activity::ActivityArgs>(),
    row::<cmd::journal::Journal>(),
    row::<cmd::wrap::WrapArgs>(),
    row::<cmd::setup::Setup>(),
    row::<cmd::status::StatusArgs>(),
    row::<cmd::tail::TailArgs>(),
    row::<cmd::accept::Accept>(),
    row::<cmd::gateway::GatewayArgs>(),
    row::<cmd::token::TokenArgs>(),
    row::<cmd::vault::VaultArgs>(),
    row::<cmd::policy::PolicyArgs>(),
    row::<cmd::actions::ActionsArgs>(),
    row::<cmd::approver::ApproverArgs>(),
    row::<cmd::approve::Approve>(),
    row::<cmd::approve::Deny>(),
    row::<cmd::console::ConsoleArgs>(),
    row::<cmd::explain::Explain>(),
    row::<cmd::rules::Rules>(),
    row::<cmd::completions::Completions>(),
    row::<cmd::man::Man>(),
];

/// A command that was chosen, with what was typed for it.
pub struct Chosen {
    matches: ArgMatches,
}

impl Chosen {
    /// Runs it.
    pub fn run(&self, shell: &Shell) -> Result<Exit, Failure> {
        let (name, matches) = self.matches.subcommand().expect("the parser demands a command");
        let row = COMMANDS
            .iter()
            .find(|row| row.name == name)
            .expect("the parser knows the commands of the table only");
        (row.run)(matches, shell)
    }
}

/// Reads the command line.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Chosen, clap::Error> {
    let matches = definition().try_get_matches_from(words)?;
    Ok(Chosen { matches })
}

/// The whole command line, for parsing, completions and the man page.
pub fn definition() -> clap::Command {
    let mut whole = clap::Command::new("steadfast")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Keeps an AI agent's action true to the contract it was planned against.")
        .long_about(
            "Keeps an AI agent's action true to the contract it was planned against.\n\n\
             Compares two versions of an MCP server's tools, an HTTP API or a JSON Schema, and tells for every\n\
             change whether a call planned before it still means the same. Put before a server, it holds live\n\
             sessions to what they were planned under.",
        )
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100);
    for row in COMMANDS {
        let command = (row.arguments)(clap::Command::new(row.name));
        whole = whole.subcommand(command.about(row.about).after_help(row.examples));
    }
    whole
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine · 1 findings at the threshold · 2 wrong use or bad input · 3 only undecided · 70 a bug of steadfast

Start with:  steadfast demo";

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// The documented, stable JSON.
    Json,
    /// A comment on a pull request.
    Markdown,
    /// Annotations of a GitHub workflow.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
}

/// How a list or a summary is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Plain {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
}

/// The verdicts that can be a threshold, in the order of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Threshold {
    /// Any change that a call can tell.
    NewName,
    /// A stale call would have to be converted.
    Adapt,
    /// Something could not be decided.
    Undecided,
    /// A person would have to look again.
    NewApproval,
    /// A stale call would have to be refused.
    Refuse,
}

impl From<Threshold> for contract::Verdict {
    fn from(threshold: Threshold) -> contract::Verdict {
        match threshold {
            Threshold::NewName => contract::Verdict::NewName,
            Threshold::Adapt => contract::Verdict::Adapt,
            Threshold::Undecided => contract::Verdict::Undecided,
            Threshold::NewApproval => contract::Verdict::NewApproval,
            Threshold::Refuse => contract::Verdict::Refuse,
        }
    }
}

/// Flags of every command that prints findings.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Show every change of every tool: fold and leave out nothing
    #[arg(long)]
    pub all: bool,
}

impl From<Format> for report::Format {
    fn from(format: Format) -> report::Format {
        match format {
            Format::Text => report::Format::Text,
            Format::Json => report::Format::Json,
            Format::Markdown => report::Format::Markdown,
            Format::Github => report::Format::Github,
            Format::Sarif => report::Format::Sarif,
            Format::Junit => report::Format::Junit,
        }
    }
}
