//! `steadfast drill`: the smallest drift test, against any server.

use crate::args::Command;
use crate::cmd::lock::read_lock;
use crate::cmd::test::Format;
use crate::exit::{Exit, Failure};
use crate::load;
use crate::output::{self, Shell};
use crate::running;
use crate::server::{self, ServerArgs};
use contract::Contract;
use contract::document::Tool;
use lab::drift::drill::{self, Drill, Nothing, Surroundings, Trouble, Wish};
use lab::report::{self, Look, Standing, Suite};
use mcp::Target;

/// The lock that is taken for the old contract where none is named.
const LOCK: &str = "steadfast.lock";

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct DrillArgs {
    /// The address of an MCP server
    #[arg(value_name = "URL", required_unless_present = "command")]
    target: Option<String>,
    /// The command that starts the MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    command: Vec<String>,
    /// The old contract is in this lock [default: steadfast.lock, where there is one]
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    lock: Option<String>,
    /// The old contract is in this snapshot
    #[arg(long, value_name = "SNAPSHOT")]
    old: Option<String>,
    /// Try this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Try this tool although calling it may have effects
    #[arg(long, value_name = "TOOL", conflicts_with = "tool")]
    allow_effects: Option<String>,
    /// Send the server to a recorder by this environment variable, so that effects are seen
    #[arg(long, value_name = "NAME", conflicts_with = "target")]
    recorder: Option<String>,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    server: ServerArgs,
}

impl Command for DrillArgs {
    const NAME: &'static str = "drill";
    const ABOUT: &'static str = "Try one old call against a server: the smallest drift test";
    const EXAMPLES: &'static str = "\
Lists the tools, picks one that only reads, and calls it as its contract says: the control call. Then it
calls it as a client would that still has the old contract: from steadfast.lock or a snapshot, and
without one from a contract in which one required argument differed. Says which of three the server did:
it kept the old safe behaviour, it refused before any effect (and whether a model could repair the
call by the error alone), or it did something else.

Exit codes: 0 kept or refused · 1 something else · 2 wrong use, or no tool that only reads · 3 it
cannot be told

Examples:
  steadfast drill -- uvx mcp-server-time
  steadfast drill --old before.json -- npx -y some-server
  steadfast drill --allow-effects deploy --recorder API_URL -- python server.py
  steadfast drill https://example.com/mcp";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let target = self.server_target()?;
        let place = target.to_string();
        let drill = Drill {
            options: self.server.options(None)?,
            old: self.old_tools(shell)?,
            wish: Wish {
                tool: self.tool.clone(),
                effects: self.allow_effects.clone(),
                surroundings: Surroundings::of_command(&target),
            },
            recorder: self.recorder.clone(),
            target,
        };
        let runtime = running::runtime()?;
        let outcome = runtime.block_on(async {
            tokio::select! {
                outcome = drill::drill(&drill, &place) => Some(outcome),
                () = mcp::interrupted() => None,
            }
        });
        runtime.shutdown_background();
        let case = match outcome {
            None => return Err(Failure::one(place, "It was broken off.", "")),
            Some(Ok(case)) => case,
            Some(Err(trouble)) => return Err(in_words(shell, &place, trouble)),
        };
        let suites = [Suite { name: place, cases: vec![case] }];
        let look = Look { colour: shell.colour, again: String::new(), all: true };
        shell.print(&report::render(&suites, self.format.into(), &look))?;
        Ok(match report::standing(&suites) {
            Standing::Clear => Exit::Fine,
            Standing::Undecided => Exit::Undecided,
            Standing::Failed => Exit::Findings,
        })
    }
}

impl DrillArgs {
    fn server_target(&self) -> Result<Target, Failure> {
        match &self.target {
            None => Ok(Target::Command(self.command.clone())),
            Some(address) if server::is_address(address) => self.server.target(address),
            Some(other) => Err(Failure::one(
                output::printable(other),
                "This is not the address of a server.",
                "Give an address that starts with https:// or http://, or the command that starts the server after --.",
            )),
        }
    }

    /// The tools of the old contract; none where there is none.
    fn old_tools(&self, shell: &Shell) -> Result<Vec<Tool>, Failure> {
        if let Some(path) = &self.old {
            let reading = load::contract(path)?;
            if !reading.problems.is_empty() {
                return Err(reading.faults().into());
            }
            return tools(path, reading.contract);
        }
        let path = self.lock.as_deref().unwrap_or(LOCK);
        match read_lock(path)? {
            Some((lock, _)) => {
                if self.lock.is_none() {
                    shell.note(&format!("The old contract is taken from {LOCK}."));
                }
                tools(path, lock.contract)
            }
            None if self.lock.is_some() => Err(Failure::one(
                path,
                "There is no lock yet.",
                "Leave --lock out, or write one: steadfast lock TARGET.",
            )),
            None => Ok(Vec::new()),
        }
    }
}

fn tools(path: &str, contract: Contract) -> Result<Vec<Tool>, Failure> {
    match contract {
        Contract::Tools(list) => Ok(list.tools),
        Contract::Openapi(_) | Contract::Schema(_) => Err(Failure::one(
            path,
            "This contract is not that of an MCP server.",
            "Name a snapshot or a lock of its tools.",
        )),
    }
}

fn in_words(shell: &Shell, place: &str, trouble: Trouble) -> Failure {
    let list = |names: &[String]| {
        let shown: Vec<String> = names.iter().map(|name| output::printable(name)).collect();
        shown.join(", ")
    };
    let (sentence, help) = match trouble {
        Trouble::Server(error) => return server::failure(shell, error),
        Trouble::Api(why) => (format!("It cannot be asked: {why}."), String::new()),
        Trouble::Machine(why) => (format!("No loopback port can be had: {why}."), String::new()),
        Trouble::Nothing(Nothing::NoTools) => {
            ("The server lists no tools.".to_owned(), "There is nothing to try.".to_owned())
        }
        Trouble::Nothing(Nothing::NotListed(name)) => (
            format!("The server lists no tool `{}`.", output::printable(&name)),
            "Check the name, or leave it out.".to_owned(),
        ),
        Trouble::Nothing(Nothing::OnlyEffects(names)) => (
            "No tool is known to only read, neither by its hint nor by its name; nothing was called.".to_owned(),
            format!("Allow one whose effects you can bear: --allow-effects TOOL. There are: {}.", list(&names)),
        ),
        Trouble::Nothing(Nothing::NoCall(names)) => (
            format!("No call could be made up for {}.", list(&names)),
            "Name another tool: --tool TOOL.".to_owned(),
        ),
    };
    Failure::one(place, sentence, help)
}
