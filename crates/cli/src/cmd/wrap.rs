//! `steadfast wrap`: one server, guarded, on a pipe.

mod keys;

use crate::args::Command;
use crate::bindings::{self, Rules};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::pipes;
use crate::running;
use crate::server::{self, ServerArgs};
use crate::state::{self, StoreArgs, wait};
use crate::teller::Teller;
use contract::Depends;
use contract::adapter::Adapters;
use contract::admission::{OnWider, Policy};
use contract::depends::FromResults;
use contract::lexicon::Lexicon;
use contract::policy;
use contract::shape::Shapes;
use gateway::adapt::Declared;
use gateway::beside::Beside;
use gateway::{Believed, Bound, Hub, Server, Settings};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Sqlite, Store};
use tokio::task::JoinHandle;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct WrapArgs {
    /// The address of an MCP server
    #[arg(value_name = "URL", required_unless_present_any = ["command", "bindings"])]
    target: Option<String>,
    /// The command that starts the MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    command: Vec<String>,
    /// Serve the bound actions of this file, alone or beside the command
    #[arg(long, value_name = "FILE", conflicts_with = "target")]
    bindings: Option<PathBuf>,
    /// Block nothing: only tell what would have been refused or held
    #[arg(long)]
    observe: bool,
    /// The name that this server is known by in records; without it, its command or address
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A tool that only reads, whatever it claims (repeatable)
    #[arg(long, value_name = "TOOL")]
    read: Vec<String>,
    /// What a call relies on of another's answer, as in add_comment:issue_id=create_issue:issue.id (repeatable)
    #[arg(long, value_name = "TOOL:ARGUMENT=TOOL:MEMBER")]
    depends: Vec<String>,
    /// An argument whose value must have come in a structured answer of this session, as in add_comment:issue_id (repeatable)
    #[arg(long, value_name = "TOOL:ARGUMENT[=TOOL:MEMBER]")]
    from_results: Vec<String>,
    /// What happens about an answer without a schema that is not what each one before it was
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Answers::Report)]
    shapes: Answers,
    #[command(flatten)]
    keys: keys::KeyArgs,
    /// What happens to a call that would reach further than was granted [default: hold-effects where an approver is enrolled, else new-decision]
    #[arg(long, value_enum, value_name = "WHAT")]
    on_wider: Option<Wider>,
    /// Hold every call that may have an effect until a person approves it
    #[arg(long)]
    hold_effects: bool,
    /// Carry old calls over by the adapters in this file
    #[arg(long, value_name = "FILE")]
    adapters: Option<String>,
    /// What an adapter may rest on, as NAME=VALUE: an account, an owner, a host (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    fact: Vec<String>,
    #[command(flatten)]
    store: StoreArgs,
    /// Say nothing on standard error
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// What happens to a call that would reach further than was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Wider {
    /// It is refused until the client has looked at the new contract
    NewDecision,
    /// It waits for a person who approves this very call
    Hold,
    /// It waits for a person where it may have an effect; one that only reads needs a new decision
    HoldEffects,
    /// It is refused
    Refuse,
}

/// What happens about an answer that is not what each one before it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answers {
    /// Nothing
    Off,
    /// It is told
    Report,
    /// It is told, and the client is told that what depends on it must stop
    Enforce,
}

impl Command for WrapArgs {
    const NAME: &'static str = "wrap";
    const ABOUT: &'static str = "Guard one MCP server: put it before the server's command";
    const EXAMPLES: &'static str = "\
Speaks to the client on standard input and output, and to the server behind it. Everything
passes as it is. A call that was planned under a definition that no longer holds is carried
over where that is proved safe, and else refused before it reaches the server, with what
moved and what to do. A line on standard error tells of each.

In a client's configuration, put it before the command that is there:
  \"command\": \"steadfast\", \"args\": [\"wrap\", \"--\", \"npx\", \"-y\", \"some-server\"]

Examples:
  steadfast wrap -- npx -y @modelcontextprotocol/server-memory
  steadfast wrap --observe -- uvx mcp-server-git
  steadfast wrap --bindings actions.toml -- npx -y some-server
  steadfast wrap --key pay:idempotency_key --key-repeats pay -- some-server
  steadfast wrap https://example.com/mcp";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let (server, shown, believed) = self.reached()?;
        let name = self.name.clone().unwrap_or(shown);
        let rules = self.rules()?;
        let store = Arc::new(self.store.open_for_gateway()?);
        let policy = self.policy(&store, &name, &rules)?;
        let mut hub = Hub::new(store, contract::Options::default());
        hub.adapters = Box::new(self.declared()?.telling(&name, &hub.events));
        let hub = Arc::new(hub);
        let wrapped = gateway::wrap::Wrapped {
            name,
            server,
            principal: state::who(),
            settings: Settings {
                observe: self.observe,
                policy,
                reads: self.read.iter().cloned().collect(),
                patience: self.server.wait()?,
                depends: self.depends()?,
                from_results: self.proven()?,
                shapes: match self.shapes {
                    Answers::Off => Shapes::Off,
                    Answers::Report => Shapes::Report,
                    Answers::Enforce => Shapes::Enforce,
                },
                keys: self.keys.read(self.target.is_some())?,
                believed,
                calls: rules.written,
                calls_bound: rules.own.map(|(calls, _)| calls),
                ..Settings::default()
            },
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
                Failure::one("wrap", format!("This machine gave no resources: {why}."), "")
            })?;
        let quiet = self.quiet;
        let teller = Arc::new(Teller::start()?);
        let outcome = runtime.block_on(async {
            let control = running::opened(&self.store, vec![Arc::clone(&hub)], &hub.events, quiet)?;
            let (said, events) = (Arc::clone(&teller), hub.events.listen());
            let telling =
                (!quiet).then(|| tokio::spawn(async move { said.tell(events, false).await }));
            let (input, output) = (pipes::input(), pipes::output());
            let stop = mcp::interrupted();
            let outcome = gateway::wrap::wrap(hub, wrapped, input, output, stop).await;
            // What was told last is still on its way.
            tokio::task::yield_now().await;
            telling.iter().for_each(JoinHandle::abort);
            drop(control);
            outcome.map_err(|error| state::failure(Path::new("store"), &error))
        });
        // A read of standard input cannot be called off.
        runtime.shutdown_background();
        teller.end();
        pipes::give_back();
        let _ = shell;
        outcome?;
        Ok(Exit::Fine)
    }
}

impl WrapArgs {
    /// What is guarded, the name that it is shown by, and whose word counts about what became of a call.
    fn reached(&self) -> Result<(Server, String, Believed), Failure> {
        if let Some(address) = &self.target {
            if server::is_address(address) {
                let server = Server::Web(Box::new(self.server.web(address)?));
                return Ok((server, mcp::shown_address(address), Believed::Nobody));
            }
            return Err(Failure::one(
                output::printable(address),
                "This is not the address of a server.",
                "Give an address that starts with https:// or http://, or the command that starts the server after --.",
            ));
        }
        let actions = match &self.bindings {
            Some(file) => {
                let problems = bindings::problems(file);
                if !problems.is_empty() {
                    return Err(problems.into());
                }
                Some(bindings::command(file, &self.store)?)
            }
            None => None,
        };
        if let (Some(actions), []) = (&actions, &self.command[..]) {
            let server = Server::Command(actions.clone());
            return Ok((server, policy::ACTIONS.to_owned(), Believed::Server));
        }
        let program = self.command.first().map_or("", String::as_str);
        if !mcp::stdio::is_program(program) {
            return Err(Failure::one(
                output::printable(program),
                "There is no such program to start.",
                "Check that it is installed and on PATH, and that it is written as one word after --.",
            ));
        }
        let shown = mcp::shown_command(&self.command).join(" ");
        let command = self.command.clone();
        Ok(match actions {
            Some(actions) => {
                let bound = Bound::default();
                let believed = Believed::Tools(bound.clone());
                let beside = Beside { server: command, actions, bound };
                (Server::Here(Arc::new(beside)), shown, believed)
            }
            None => (Server::Command(command), shown, Believed::Nobody),
        })
    }

    /// What the operator decided. Nothing may wait for a person where there is none.
    fn policy(&self, store: &Sqlite, name: &str, rules: &Rules) -> Result<Policy, Failure> {
        let anyone = !wait(store.approvers())?.is_empty();
        if let Some(place) = rules.asks(name).filter(|_| !anyone && !self.observe) {
            return Err(Failure::one(
                place,
                "Calls would wait for an approver by this, and none is enrolled: they would wait for nobody.",
                "Enrol one at a terminal: steadfast approver enrol NAME. Or write say = \"deny\".",
            ));
        }
        let on_wider = match self.on_wider {
            Some(Wider::NewDecision) => OnWider::NewDecision,
            Some(Wider::Hold) => OnWider::Hold,
            Some(Wider::Refuse) => OnWider::Refuse,
            Some(Wider::HoldEffects) => OnWider::HoldEffects,
            None if anyone => OnWider::HoldEffects,
            None => OnWider::NewDecision,
        };
        let policy = Policy { on_wider, hold_effects: self.hold_effects, ..Policy::default() };
        if policy.holds() && !anyone && !self.observe {
            let flag = if self.hold_effects { "--hold-effects" } else { "--on-wider" };
            return Err(Failure::one(
                flag,
                "Calls would wait for an approver, and none is enrolled: they would wait for nobody.",
                "Enrol one at a terminal: steadfast approver enrol NAME. Or leave the flag out.",
            ));
        }
        Ok(policy)
    }

    /// The rules about calls: those that stand in the file of the bindings, or what holds for bindings where none do.
    fn rules(&self) -> Result<Rules, Failure> {
        let Some(file) = &self.bindings else { return Ok(Rules::default()) };
        let shown = file.display().to_string();
        let text = String::from_utf8(files::read(&shown)?).map_err(|_| {
            Failure::one(shown.as_str(), "The file is not UTF-8.", "Save it as UTF-8.")
        })?;
        let settings = policy::Settings::read(&shown, &text)?;
        Ok(Rules::of(settings.policy.calls.as_ref(), Some(file)))
    }

    /// What calls rely on of the answers of others.
    fn depends(&self) -> Result<Vec<Depends>, Failure> {
        let read = |text: &String| {
            Depends::read(text).ok_or_else(|| {
                Failure::one(
                    "--depends",
                    format!("`{}` is no dependency.", output::printable(text)),
                    "Write TOOL:ARGUMENT=TOOL:MEMBER, as in add_comment:issue_id=create_issue:issue.id.",
                )
            })
        };
        self.depends.iter().map(read).collect()
    }

    /// The arguments that must come from answers.
    fn proven(&self) -> Result<Vec<FromResults>, Failure> {
        let read = |text: &String| {
            FromResults::read(text).ok_or_else(|| {
                Failure::one(
                    "--from-results",
                    format!("`{}` names no argument.", output::printable(text)),
                    "Write TOOL:ARGUMENT, or TOOL:ARGUMENT=TOOL:MEMBER, as in add_comment:issue_id=create_issue:issue.id.",
                )
            })
        };
        self.from_results.iter().map(read).collect()
    }

    /// The adapters that are declared, and what they may rest on.
    fn declared(&self) -> Result<Declared, Failure> {
        let mut facts = BTreeMap::new();
        for fact in &self.fact {
            let Some((name, value)) = fact.split_once('=').filter(|(name, _)| !name.is_empty())
            else {
                return Err(Failure::one(
                    "--fact",
                    format!("`{}` is not NAME=VALUE.", output::printable(fact)),
                    "Name what is known, as in --fact account=acme.",
                ));
            };
            facts.insert(name.to_owned(), value.to_owned());
        }
        let adapters = match &self.adapters {
            Some(path) => {
                let text = files::read(path)?;
                Adapters::read(path, &String::from_utf8_lossy(&text))?
            }
            None => Adapters::default(),
        };
        Ok(Declared::new(adapters, facts, Lexicon::default(), Box::new(output::today)))
    }
}
