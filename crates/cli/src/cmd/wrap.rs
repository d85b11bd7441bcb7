//! `steadfast wrap`: one server, guarded, on a pipe.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::running;
use crate::server::{self, ServerArgs};
use crate::state::{self, StoreArgs};
use contract::adapter::Adapters;
use contract::lexicon::Lexicon;
use gateway::adapt::Declared;
use gateway::control::Control;
use gateway::{Hub, Server, Settings};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct WrapArgs {
    /// The address of an MCP server
    #[arg(value_name = "URL", required_unless_present = "command")]
    target: Option<String>,
    /// The command that starts the MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "target")]
    command: Vec<String>,
    /// Block nothing: only tell what would have been refused or held
    #[arg(long)]
    observe: bool,
    /// The name that this server is known by in records; without it, its command or address
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A tool that only reads, whatever it claims (repeatable)
    #[arg(long, value_name = "TOOL")]
    read: Vec<String>,
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
  steadfast wrap https://example.com/mcp";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let (server, shown) = match &self.target {
            Some(address) if server::is_address(address) => {
                (Server::Web(Box::new(self.server.web(address)?)), mcp::shown_address(address))
            }
            Some(other) => {
                return Err(Failure::one(
                    output::printable(other),
                    "This is not the address of a server.",
                    "Give an address that starts with https:// or http://, or the command that starts the server after --.",
                ));
            }
            None => {
                let shown = mcp::shown_command(&self.command).join(" ");
                (Server::Command(self.command.clone()), shown)
            }
        };
        let store = Arc::new(self.store.open_for_gateway()?);
        let mut hub = Hub::new(store, contract::Options::default());
        hub.adapters = Box::new(self.declared()?);
        let hub = Arc::new(hub);
        let wrapped = gateway::wrap::Wrapped {
            name: self.name.clone().unwrap_or(shown),
            server,
            principal: state::who(),
            settings: Settings {
                observe: self.observe,
                reads: self.read.iter().cloned().collect(),
                ..Settings::default()
            },
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|why| {
                Failure::one("wrap", format!("This machine gave no resources: {why}."), "")
            })?;
        let quiet = self.quiet;
        let folder = running::folder(&self.store)?;
        let outcome = runtime.block_on(async {
            // A gateway that cannot be asked how it does still does what it must.
            let control = Control::open(&folder, &hub);
            if let (Err(why), false) = (&control, quiet) {
                output::complain(&format!(
                    "steadfast: status and tail cannot see this session ({}: {why})\n",
                    folder.display()
                ));
            }
            let mut events = hub.events.listen();
            let teller = tokio::spawn(async move {
                while let Ok(event) = events.recv().await {
                    if !quiet {
                        let code = event.code.map_or(String::new(), |code| format!(" [{code}]"));
                        output::complain(&format!(
                            "steadfast: {}{code}\n",
                            output::printable(&event.sentence)
                        ));
                    }
                }
            });
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let stop = mcp::interrupted();
            let outcome = gateway::wrap::wrap(hub, wrapped, input, output, stop).await;
            // What was told last is still on its way.
            tokio::task::yield_now().await;
            teller.abort();
            drop(control);
            outcome
        });
        // A read of standard input cannot be called off.
        runtime.shutdown_background();
        let _ = shell;
        outcome.map_err(|error| state::failure(Path::new("store"), &error))?;
        Ok(Exit::Fine)
    }
}

impl WrapArgs {
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
