//! `steadfast gateway`: many servers, guarded, for many clients over HTTP.

use crate::args::Command;
use crate::bindings::{self, Rules};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::running;
use crate::server;
use crate::settings::{Found, SettingsArgs};
use crate::state::{self, StoreArgs};
use crate::teller::Teller;
use crate::tokens;
use contract::Problem;
use contract::adapter::Adapters;
use contract::admission::{OnWider, Policy};
use contract::policy::{self, Reach};
use gateway::adapt::Declared;
use gateway::front::token::Tokens;
use gateway::front::{self, Config, Front, Served};
use gateway::{Believed, Hub, Server, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Access, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;

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
Reads [gateway], [server.NAME] and [bindings.NAME] of steadfast.toml. Clients reach a server at
/mcp/NAME, or at /mcp/NAME@DIGEST where they declare which list they planned with; what is bound
at /mcp/actions. Listens on this machine
alone unless it is told otherwise; from other machines a token is needed: steadfast token.

Example of steadfast.toml:
  [server.memory]
  command = [\"npx\", \"-y\", \"@modelcontextprotocol/server-memory\"]

Examples:
  steadfast gateway
  steadfast gateway --config steadfast.toml --check";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let (found, problems) = self.settings.read_what_can_be()?;
        let approvers = match self.approvers() {
            // One of an older form is carried over when it is opened to be written, and asked then.
            Err(_) if !self.check => Ok(true),
            asked => asked,
        };
        let plan = Plan::read(&found, problems, approvers, &self.store)?;
        if self.check {
            tokens::read(&tokens::path(&self.store.path()?))?;
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
    fn read(
        found: &Found,
        mut problems: Vec<Problem>,
        approvers: Result<bool, Failure>,
        store: &StoreArgs,
    ) -> Result<Plan, Failure> {
        let file = found.file.clone().unwrap_or_else(|| "steadfast.toml".to_owned());
        let settings = &found.settings;
        if settings.servers.is_empty() && problems.is_empty() {
            return Err(Failure::one(
                file,
                "No server is named that is to be guarded, and nothing is bound.",
                "Write [server.NAME] with command = [\"…\"] or url = \"https://…/mcp\"; --config names the file.",
            ));
        }
        let folder = Path::new(&file).parent().map(Path::to_owned).unwrap_or_default();
        let mut servers = Vec::new();
        for named in &settings.servers {
            let reached = reached(named, Path::new(&file), store);
            let declared = declared(named, &folder, &found.options);
            match (reached, declared) {
                (Ok(Some(server)), Ok(declared)) => {
                    let rules = rules_of(named, settings, Path::new(&file));
                    servers.push((named.clone(), server, policy_of(named, rules), declared));
                }
                (reached, declared) => {
                    problems.extend(reached.err().into_iter().flatten());
                    problems.extend(declared.err().into_iter().flatten());
                }
            }
        }
        match approvers {
            Ok(anyone) => {
                let all = settings.servers.iter();
                problems.extend(all.flat_map(|named| {
                    let rules = rules_of(named, settings, Path::new(&file));
                    held_for_nobody(named, &rules, anyone)
                }));
                problems.extend(strangers(settings));
            }
            Err(failure) => problems.extend(failure.problems),
        }
        if !problems.is_empty() {
            problems.sort_by_key(|problem| line(&file, &problem.place));
            // What holds for several servers is told once.
            problems.dedup();
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

/// Line and column of a place in a file, to put problems in its order; what lies in other files comes last.
fn line(file: &str, place: &str) -> (u64, u64) {
    let found = place.strip_prefix(file).and_then(|rest| {
        let (line, column) = rest.strip_prefix(':')?.split_once(':')?;
        Some((line.parse().ok()?, column.parse().ok()?))
    });
    found.unwrap_or((u64::MAX, u64::MAX))
}

fn rules_of(named: &policy::Server, settings: &policy::Settings, file: &Path) -> Rules {
    let bound = (named.reach == Some(Reach::Bindings)).then_some(file);
    Rules::of(settings.policy.calls.as_ref(), bound)
}

/// Rules for servers that are not there: they can never decide.
fn strangers(settings: &policy::Settings) -> Vec<Problem> {
    let rules = settings.policy.calls.iter().flat_map(|calls| calls.rules());
    let known = |name: &String| settings.servers.iter().any(|server| server.name == *name);
    rules
        .filter(|rule| rule.servers.iter().any(|name| !known(name)))
        .map(|rule| Problem {
            place: rule.place.clone(),
            sentence: "This rule can never decide: there is no such server here.".to_owned(),
            help: "Name a [server.NAME] of this file, or actions for what is bound.".to_owned(),
        })
        .collect()
}

/// Calls that would wait for an approver where none is enrolled.
fn held_for_nobody(named: &policy::Server, rules: &Rules, anyone: bool) -> Vec<Problem> {
    let mut problems: Vec<Problem> = held_by_settings(named, anyone).into_iter().collect();
    let asks = rules.asks(&named.name).filter(|_| !anyone && !named.observe);
    problems.extend(asks.map(|place| Problem {
        place,
        sentence: "By this, calls wait for a person, and nobody is enrolled who could approve them."
            .to_owned(),
        help: "Enrol an approver first: steadfast approver enrol NAME. Or write say = \"deny\" in [[policy.calls]].".to_owned(),
    }));
    problems
}

/// The same, by the settings of the server.
fn held_by_settings(named: &policy::Server, anyone: bool) -> Option<Problem> {
    let settings = policy_of(named, Rules::default());
    let member = if named.hold_effects { "hold-effects" } else { "on-wider" };
    (settings.policy.holds() && !anyone && !settings.observe).then(|| Problem {
        place: named.place_of(member).to_owned(),
        sentence: "Calls are to be held for a person here, and nobody is enrolled who could approve them.".to_owned(),
        help: "Enrol an approver first: steadfast approver enrol NAME. Or hold nothing: on-wider = \"new-decision\".".to_owned(),
    })
}

/// How a server is reached; `None` where that is a problem which was told already. `Err` is every problem.
fn reached(
    named: &policy::Server,
    file: &Path,
    store: &StoreArgs,
) -> Result<Option<Server>, Vec<Problem>> {
    let problem = |member: &str, sentence: String, help: &str| Problem {
        place: named.place_of(member).to_owned(),
        sentence,
        help: help.to_owned(),
    };
    let mut headers = mcp::Headers::default();
    let mut wrong: Vec<Problem> = Vec::new();
    // A command is sent no headers: that they stand there is a problem of the file.
    if matches!(named.reach, Some(Reach::Url(_)) | None) {
        wrong.extend(
            named
                .headers_from_env
                .iter()
                .filter_map(|pair| server::from_environment(&mut headers, pair).err())
                .map(|(sentence, help)| problem("headers-from-env", sentence, help)),
        );
    }
    let server = match &named.reach {
        None => {
            if named.name == policy::ACTIONS {
                // What is bound is looked at all the same.
                wrong.extend(bindings::problems(file));
            }
            None
        }
        Some(Reach::Command(words)) => Some(Server::Command(words.clone())),
        Some(Reach::Bindings) => {
            wrong.extend(bindings::problems(file));
            match bindings::command(file, store) {
                Ok(words) => Some(Server::Command(words)),
                Err(failure) => {
                    wrong.extend(failure.problems);
                    None
                }
            }
        }
        Some(Reach::Url(url)) => match mcp::http::Server::new(url, headers, false, false) {
            Ok(server) => Some(Server::Web(Box::new(server))),
            Err(why) => {
                let help =
                    "Give the address of the MCP endpoint, https where a token goes with it.";
                wrong.push(problem("url", why, help));
                None
            }
        },
    };
    if wrong.is_empty() { Ok(server) } else { Err(wrong) }
}

/// The adapters of a server, and what they may rest on. `Err` is every problem.
fn declared(
    named: &policy::Server,
    folder: &Path,
    options: &contract::Options,
) -> Result<Declared, Vec<Problem>> {
    let adapters = match &named.adapters {
        Some(named_there) => {
            // A path in a file is taken from the folder of that file.
            let path = folder.join(named_there).display().to_string();
            let text = files::read(&path).map_err(|failure| {
                let told = |problem: Problem| Problem {
                    place: named.place_of("adapters").to_owned(),
                    sentence: format!("`{}`: {}", output::printable(&path), problem.sentence),
                    help: "Check the path; it is taken from the folder of this file.".to_owned(),
                };
                failure.problems.into_iter().map(told).collect::<Vec<Problem>>()
            })?;
            let text = String::from_utf8(text).map_err(|_| {
                vec![Problem {
                    place: path.clone(),
                    sentence: "The file is not UTF-8.".to_owned(),
                    help: "Save it as UTF-8.".to_owned(),
                }]
            })?;
            Adapters::read(&path, &text)?
        }
        None => Adapters::default(),
    };
    let lexicon = options.lexicon.clone();
    Ok(Declared::new(adapters, named.facts.clone(), lexicon, Box::new(output::today)))
}

fn policy_of(named: &policy::Server, rules: Rules) -> Settings {
    let Rules { written, own } = rules;
    Settings {
        calls: written,
        calls_bound: own.map(|(calls, _)| calls),
        observe: named.observe,
        policy: Policy {
            on_wider: named.on_wider.unwrap_or(OnWider::NewDecision),
            pin_effects: named.pin_effects,
            hold_effects: named.hold_effects,
        },
        reads: named.reads.iter().cloned().collect(),
        long: named.long.iter().cloned().collect(),
        finish: named.finish.iter().cloned().collect(),
        depends: named.depends.clone(),
        from_results: named.from_results.clone(),
        shapes: named.shapes.unwrap_or_default(),
        keys: named.keys.clone(),
        effect_age: named.effect_age,
        believed: match named.reach {
            // The gateway starts it, and it is this very program.
            Some(Reach::Bindings) => Believed::Server,
            _ => Believed::Nobody,
        },
        patience: None,
    }
}

impl GatewayArgs {
    /// Whether anyone is enrolled who may approve. A store that is not there yet has nobody, and is not made for the answer.
    fn approvers(&self) -> Result<bool, Failure> {
        if !self.store.path()?.exists() {
            return Ok(false);
        }
        let store = self.store.open(Access::Read)?;
        Ok(!state::wait(store.approvers())?.is_empty())
    }

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
            // Asked again: it may have been taken away since the settings were read.
            let rules = Rules { written: settings.calls.clone(), own: None };
            problems.extend(held_for_nobody(named, &rules, !approvers.is_empty()));
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
        let teller = Arc::new(Teller::start()?);
        let own = Arc::clone(&store);
        let hub = Arc::new(Hub::new(store, plan.options.clone()));
        let events = hub.events.clone();
        let servers: Vec<Served> = plan
            .servers
            .into_iter()
            .map(|(named, server, settings, declared)| {
                let declared = declared.telling(&named.name, &events);
                let hub = hub.beside(Box::new(declared));
                Served { name: named.name, server, settings, hub: Arc::new(hub) }
            })
            .collect();
        for served in &servers {
            let line = format!("steadfast: {} at http://{bound}/mcp/{}", served.name, served.name);
            if !self.quiet {
                teller.say(&output::printable(&line));
            }
        }
        let hubs = servers.iter().map(|served| Arc::clone(&served.hub)).collect();
        let control = running::opened(&self.store, hubs, &events, self.quiet)?;
        let (said, heard) = (Arc::clone(&teller), events.listen());
        let telling =
            (!self.quiet).then(|| tokio::spawn(async move { said.tell(heard, true).await }));
        let (sender, receiver) = watch::channel(known);
        let follower = tokio::spawn(follow(token_file, sender, Arc::clone(&teller)));
        let config = Config { listen: bound, ..plan.config };
        let front = Front::new(config, servers, receiver);
        front::serve(front, listener, mcp::interrupted()).await;
        follower.abort();
        drop(control);
        // Sessions that end slowly may hold the store beyond the end: what is on record is signed before.
        if let Err(why) = own.checkpoint().await {
            let line = format!("steadfast: the journal could not be signed at the end: {why}");
            teller.say(&output::printable(&line));
        }
        // What was told last is still on its way.
        tokio::task::yield_now().await;
        telling.iter().for_each(JoinHandle::abort);
        teller.end();
        Ok(Exit::Fine)
    }
}

/// Takes over tokens that were made or taken back while the gateway runs.
async fn follow(path: PathBuf, known: watch::Sender<Tokens>, teller: Arc<Teller>) {
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
                let line = format!("steadfast: {}: {}", problem.place, problem.sentence);
                teller.say(&output::printable(&line));
            }
            Tokens::default()
        });
        known.send_replace(read);
    }
}
