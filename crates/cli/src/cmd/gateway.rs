//! `steadfast gateway`: many servers, guarded, for many clients over HTTP.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::running;
use crate::server;
use crate::settings::{Found, SettingsArgs};
use crate::state::{self, StoreArgs};
use crate::tokens;
use contract::Problem;
use contract::adapter::Adapters;
use contract::admission::{OnWider, Policy};
use contract::policy::{self, Reach};
use gateway::adapt::Declared;
use gateway::front::token::Tokens;
use gateway::front::{self, Config, Front, Served};
use gateway::{Event, Hub, Server, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::Store;
use tokio::sync::{broadcast, watch};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct GatewayArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    store: StoreArgs,
    /// Only check the configuration
    #[arg(long)]
    check: bool,
    /// Say nothing on standard error
    #[arg(short, long)]
    quiet: bool,
}

impl Command for GatewayArgs {
    const NAME: &'static str = "gateway";
    const ABOUT: &'static str = "Guard many MCP servers for many clients, over HTTP";
    const EXAMPLES: &'static str = "\
Reads [gateway] and [server.NAME] of steadfast.toml. Clients reach a server at /mcp/NAME, or
at /mcp/NAME@DIGEST where they declare which list they planned with. Listens on this machine
alone unless it is told otherwise; from other machines a token is needed: steadfast token.

Example of steadfast.toml:
  [server.memory]
  command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-memory\"]

Examples:
  steadfast gateway
  steadfast gateway --config steadfast.toml --check";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let found = self.settings.read_or_default()?;
        let plan = Plan::read(&found)?;
        if self.check {
            shell.print(&format!("{} servers, no problem.\n", plan.servers.len()))?;
            return Ok(Exit::Fine);
        }
        let store = Arc::new(self.store.open_for_gateway()?);
        let token_file = tokens::path(&self.store.path()?);
        let known = tokens::read(&token_file)?;
        let runtime =
            tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| {
                Failure::one("gateway", format!("This machine gave no resources: {why}."), "")
            })?;
        let outcome = runtime.block_on(self.serve(plan, store, token_file, known));
        runtime.shutdown_background();
        outcome
    }
}

/// What the configuration comes to.
struct Plan {
    config: Config,
    servers: Vec<(policy::Server, Server, Settings, Declared)>,
    options: contract::Options,
}

impl Plan {
    /// Reads everything that the settings name. All problems come at once, and nothing was started.
    fn read(found: &Found) -> Result<Plan, Failure> {
        let file = found.file.clone().unwrap_or_else(|| "steadfast.toml".to_owned());
        let mut problems = Vec::new();
        let settings = &found.settings;
        if settings.servers.is_empty() {
            return Err(Failure::one(
                file,
                "No server is named that is to be guarded.",
                "Write [server.NAME] with command = [\"…\"] or url = \"https://…/mcp\"; --config names the file.",
            ));
        }
        let folder = Path::new(&file).parent().map(Path::to_owned).unwrap_or_default();
        let mut servers = Vec::new();
        for named in &settings.servers {
            let reached = reached(named);
            let declared = declared(named, &folder, &found.options);
            match (reached, declared) {
                (Ok(server), Ok(declared)) => {
                    servers.push((named.clone(), server, policy_of(named), declared));
                }
                (reached, declared) => {
                    problems.extend(reached.err().into_iter().flatten());
                    problems
                        .extend(declared.err().into_iter().flat_map(|failure| failure.problems));
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let gateway = &settings.gateway;
        let config = Config {
            listen: gateway.listen,
            hosts: gateway.hosts.clone(),
            origins: gateway.origins.clone(),
            anonymous: gateway.anonymous,
            idle: gateway.idle.unwrap_or(gateway::limits::IDLE),
        };
        Ok(Plan { config, servers, options: found.options.clone() })
    }
}

/// How a server is reached. `Err` is every problem.
fn reached(named: &policy::Server) -> Result<Server, Vec<Problem>> {
    let problem = |sentence: String, help: &str| Problem {
        place: named.place.clone(),
        sentence,
        help: help.to_owned(),
    };
    let url = match &named.reach {
        Reach::Command(words) => return Ok(Server::Command(words.clone())),
        Reach::Url(url) => url,
    };
    let mut headers = mcp::Headers::default();
    let wrong: Vec<Problem> = named
        .headers_from_env
        .iter()
        .filter_map(|pair| server::from_environment(&mut headers, pair).err())
        .map(|(sentence, help)| problem(sentence, help))
        .collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    mcp::http::Server::new(url, headers, false, false)
        .map(|server| Server::Web(Box::new(server)))
        .map_err(|why| {
            let help = "Give the address of the MCP endpoint, https where a token goes with it.";
            vec![problem(why, help)]
        })
}

/// The adapters of a server, and what they may rest on.
fn declared(
    named: &policy::Server,
    folder: &Path,
    options: &contract::Options,
) -> Result<Declared, Failure> {
    let adapters = match &named.adapters {
        Some(path) => {
            // A path in a file is taken from the folder of that file.
            let path = folder.join(path).display().to_string();
            let text = files::read(&path)?;
            Adapters::read(&path, &String::from_utf8_lossy(&text))?
        }
        None => Adapters::default(),
    };
    let lexicon = options.lexicon.clone();
    Ok(Declared::new(adapters, named.facts.clone(), lexicon, Box::new(output::today)))
}

fn policy_of(named: &policy::Server) -> Settings {
    Settings {
        observe: named.observe,
        policy: Policy {
            on_wider: named.on_wider.unwrap_or(OnWider::NewDecision),
            pin_effects: named.pin_effects,
            hold_effects: named.hold_effects,
        },
        reads: named.reads.iter().cloned().collect(),
        long: named.long.iter().cloned().collect(),
        depends: named.depends.clone(),
        effect_age: named.effect_age,
        patience: None,
    }
}

impl GatewayArgs {
    async fn serve(
        &self,
        mut plan: Plan,
        store: Arc<store::Sqlite>,
        token_file: PathBuf,
        known: Tokens,
    ) -> Result<Exit, Failure> {
        let approvers = store.approvers().await;
        let approvers = approvers.map_err(|error| state::failure(Path::new("store"), &error))?;
        let mut problems = Vec::new();
        for (named, _, settings, _) in &mut plan.servers {
            if named.on_wider.is_none() && !approvers.is_empty() {
                // Where a person can be asked, looking again is not enough for an effect.
                settings.policy.on_wider = OnWider::HoldEffects;
            }
            if settings.policy.holds() && approvers.is_empty() && !settings.observe {
                problems.push(Problem {
                    place: named.place.clone(),
                    sentence: "Calls are to be held for a person here, and nobody is enrolled who could approve them.".to_owned(),
                    help: "Enrol an approver first: steadfast approver enrol NAME. Or hold nothing: on-wider = \"new-decision\".".to_owned(),
                });
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let listen = plan.config.listen;
        let listener = tokio::net::TcpListener::bind(listen).await.map_err(|why| {
            Failure::one(
                listen.to_string(),
                format!("The gateway cannot listen there: {why}."),
                "Another one may run already; `listen` under [gateway] names another address.",
            )
        })?;
        let bound = listener.local_addr().unwrap_or(listen);
        let hub = Arc::new(Hub::new(store, plan.options.clone()));
        let events = hub.events.clone();
        let servers: Vec<Served> = plan
            .servers
            .into_iter()
            .map(|(named, server, settings, declared)| {
                let hub = hub.beside(Box::new(declared));
                Served { name: named.name, server, settings, hub: Arc::new(hub) }
            })
            .collect();
        for served in &servers {
            self.say(&format!("steadfast: {} at http://{bound}/mcp/{}", served.name, served.name));
        }
        let hubs = servers.iter().map(|served| Arc::clone(&served.hub)).collect();
        let control = running::opened(&self.store, hubs, &events, self.quiet)?;
        let teller = tokio::spawn(tell(events.listen(), self.quiet));
        let (sender, receiver) = watch::channel(known);
        let follower = tokio::spawn(follow(token_file, sender));
        let config = Config { listen: bound, ..plan.config };
        let front = Front::new(config, servers, receiver);
        front::serve(front, listener, mcp::interrupted()).await;
        follower.abort();
        drop(control);
        // What was told last is still on its way.
        tokio::task::yield_now().await;
        teller.abort();
        Ok(Exit::Fine)
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            output::complain(&format!("{}\n", output::printable(text)));
        }
    }
}

/// Says on standard error what happens.
async fn tell(mut events: broadcast::Receiver<Event>, quiet: bool) {
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if !quiet {
            let code = event.code.map_or(String::new(), |code| format!(" [{code}]"));
            let text = format!("steadfast: {}: {}{code}", event.server, event.sentence);
            output::complain(&format!("{}\n", output::printable(&text)));
        }
    }
}

/// Takes over tokens that were made or taken back while the gateway runs.
async fn follow(path: PathBuf, known: watch::Sender<Tokens>) {
    let mut last = tokens::written(&path);
    loop {
        tokio::time::sleep(crate::limits::TOKENS).await;
        let now = tokens::written(&path);
        if now == last {
            continue;
        }
        last = now;
        // A file that cannot be read opens nothing: what was taken back must not go on.
        let read = tokens::read(&path).unwrap_or_else(|failure| {
            for problem in failure.problems {
                output::complain(&format!("steadfast: {}: {}\n", problem.place, problem.sentence));
            }
            Tokens::default()
        });
        known.send_replace(read);
    }
}
