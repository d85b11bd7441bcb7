//! Carries a scenario out: the recorder, the server, what stands between, and the old client that steadfast plays.

mod under_test;

use super::client::Client;
use super::judge::{self, Miss, Seen};
use super::peer::{Peer, Silence};
use super::scenario::{
    Call, Deed, Expected, Hook, Real, Scenario, Server, Shown, Step, Target, Transport,
};
use crate::limits;
use crate::plan::Setting;
use crate::recorder::Recorder;
use crate::report::{Case, Evidence, Verdict};
use crate::script::{Phase, Script};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The error of a list that cannot be read.
const LIST_FAILS: i64 = -32603;

/// Runs one scenario.
pub async fn run(
    scenario: &Scenario,
    transport: Transport,
    place: &str,
    setting: &Setting,
) -> Case {
    let mut case = Case {
        name: scenario.name.clone(),
        place: place.to_owned(),
        found: Verdict::Passed,
        sentence: String::new(),
        evidence: Vec::new(),
        steps: 0,
        checks: 0,
    };
    let mut stage = match Stage::set(scenario, transport, setting).await {
        Ok(stage) => stage,
        Err(why) => {
            case.found = Verdict::NotRun;
            case.sentence = format!("the scenario could not be set up: {why}");
            return case;
        }
    };
    let ended = stage.play().await;
    case.steps = stage.steps;
    case.checks = stage.checks;
    let calls = stage.recorder.calls().len();
    let requests = stage.recorder.records().len();
    match ended {
        Ok(()) => {
            let reached = counted(calls, "call") + where_to(scenario);
            let world = match scenario.sees_effects() {
                true => {
                    format!(" and {} reached the world, as they must", counted(requests, "request"))
                }
                false => ", as they must; effects not observed".to_owned(),
            };
            case.sentence = format!("{}: {reached}{world}", first_sentence(&scenario.story));
            if let (Server::Real(Real { recorder: Some(name), .. }), 0) =
                (&scenario.server, requests)
            {
                // Whoever does not look at the variable reaches nothing either.
                case.found = Verdict::Undecided;
                case.sentence = format!(
                    "nothing ever reached the recorder, so it is not known whether the programs look at {name}: add a call that reaches the world"
                );
            }
            if scenario.client.as_ref().is_some_and(|client| client.events.is_none()) {
                case.sentence.push_str("; wire only");
            }
            case.evidence =
                vec![Evidence::new("messages", shown_messages(&stage.messages, usize::MAX))];
        }
        Err(stop) => {
            case.place = stop.place;
            case.found = stop.verdict;
            case.sentence = stop.misses[0].sentence.clone();
            for miss in &stop.misses {
                if miss.sentence != case.sentence {
                    case.evidence.push(Evidence::new("also", &*miss.sentence));
                }
                case.evidence.push(Evidence::new("expected", &*miss.expected));
                case.evidence.push(Evidence::new("seen", &*miss.seen));
            }
            let messages = shown_messages(&stage.messages, limits::MESSAGES_SHOWN);
            case.evidence.push(Evidence::new("messages", messages));
        }
    }
    if let Some(client) = &stage.client {
        let lists = counted(stage.recorder.lists(), "list");
        case.evidence.push(Evidence::new(
            "wire",
            format!("{lists} and {}{}", counted(calls, "call"), where_to(scenario)),
        ));
        case.evidence.push(Evidence::new("client", client.said()));
    }
    case
}

/// Where calls and lists are counted.
fn where_to(scenario: &Scenario) -> &'static str {
    if scenario.is_guarded() { " left the client" } else { " reached the server" }
}

/// Where a scenario stopped, and why.
struct Stop {
    place: String,
    verdict: Verdict,
    /// At least one, the gravest first.
    misses: Vec<Miss>,
}

/// What is running during a scenario.
struct Stage<'s> {
    scenario: &'s Scenario,
    recorder: Recorder,
    /// What the client starts to reach the server.
    command: Vec<String>,
    /// The store, the script: gone with this value.
    _folder: TempDir,
    /// The server over HTTP, which outlives connections; on a pipe it is started by whoever speaks to it.
    _web: Option<mcp::stdio::Server>,
    peer: Option<Peer>,
    /// The client under test.
    client: Option<Client>,
    /// Lists that steps have looked at.
    lists: usize,
    /// The names that the client was shown last; none before it looked.
    shown: Option<Vec<String>>,
    plans: BTreeMap<String, Call>,
    /// Requests under way, by the name of their plan.
    open: BTreeMap<String, u64>,
    /// How often the client had been told of a change when it last waited for that.
    told: usize,
    switched: bool,
    failing: bool,
    /// How much of the record was held against a step.
    records: usize,
    calls: usize,
    messages: Vec<String>,
    steps: usize,
    checks: usize,
}

impl<'s> Stage<'s> {
    async fn set(
        scenario: &'s Scenario,
        transport: Transport,
        setting: &Setting,
    ) -> Result<Stage<'s>, String> {
        let folder = tempfile::tempdir().map_err(|why| format!("no folder can be made: {why}"))?;
        let recorder =
            Recorder::start().await.map_err(|why| format!("no loopback port can be had: {why}"))?;
        let mut server = server(scenario, setting, &recorder, folder.path())?;
        let mut web = None;
        if transport == Transport::Http {
            server.push("--web".to_owned());
            web = Some(mcp::stdio::Server::start(&server).map_err(|why| why.to_string())?);
            let wait = Duration::from_secs(scenario.patience);
            let address = recorder.address(wait).await;
            server = vec![address.ok_or("the server over HTTP does not start")?];
        }
        let command = match scenario.target {
            Target::Server => server,
            Target::Client if !scenario.is_guarded() => server,
            Target::Client => {
                let gateway = gateway(scenario, setting, folder.path(), server)?;
                tap(gateway, setting, &recorder, folder.path())?
            }
            Target::Gateway => gateway(scenario, setting, folder.path(), server)?,
        };
        Ok(Stage {
            scenario,
            recorder,
            command,
            _folder: folder,
            _web: web,
            peer: None,
            client: None,
            lists: 0,
            shown: None,
            plans: BTreeMap::new(),
            open: BTreeMap::new(),
            told: 0,
            switched: false,
            failing: false,
            records: 0,
            calls: 0,
            messages: Vec::new(),
            steps: 0,
            checks: 0,
        })
    }

    /// Plays all steps, then looks whether anything came late.
    async fn play(&mut self) -> Result<(), Stop> {
        let first = self.scenario.steps.first().map_or("", |step| step.place.as_str());
        match &self.scenario.client {
            None => self.connect(first).await?,
            Some(under_test) => {
                self.arm();
                let client = Client::start(under_test, &self.command, &self.scenario.folder);
                self.client = Some(client.map_err(|why| broken(first, &why))?);
            }
        }
        for step in &self.scenario.steps {
            self.step(step).await?;
            self.steps += 1;
        }
        self.leave().await;
        if let Some(client) = &mut self.client {
            client.end();
        }
        let (records, calls) = (self.recorder.records(), self.recorder.calls());
        self.checks += usize::from(self.scenario.sees_effects());
        let uncalled = self.client.is_some().then(|| &calls[self.calls.min(calls.len())..]);
        let late = judge::left_over(&records[self.records.min(records.len())..]);
        match late.or(judge::uncalled_for(uncalled.unwrap_or_default())) {
            None => Ok(()),
            Some(miss) => {
                let place = self.scenario.steps.last().map_or(first, |step| &step.place);
                Err(failed(place, vec![miss]))
            }
        }
    }

    async fn step(&mut self, step: &'s Step) -> Result<(), Stop> {
        let place = step.place.as_str();
        let wait = self.patience();
        match &step.deed {
            Deed::Reconnect => {
                self.leave().await;
                self.connect(place).await?;
            }
            Deed::List(shown) => self.list(shown.as_ref(), place).await?,
            Deed::Plan { name, call } => {
                if let Some(shown) = self.shown.as_ref().filter(|shown| !shown.contains(&call.tool))
                {
                    let sentence = format!(
                        "{} is not in the list that the client was shown, so nobody plans it",
                        call.tool
                    );
                    let miss =
                        Miss { sentence, expected: call.tool.clone(), seen: shown.join(", ") };
                    return Err(failed(place, vec![miss]));
                }
                self.plans.insert(name.clone(), call.clone());
            }
            Deed::Switch => {
                self.switched = true;
                self.set_phase();
                if matches!(self.scenario.server, Server::Real(_)) {
                    let switched = self.recorder.switched(wait).await;
                    switched.map_err(|why| broken(place, &format!("the switch failed: {why}")))?;
                }
            }
            Deed::FailRefresh => {
                self.failing = true;
                self.set_phase();
            }
            Deed::MendRefresh => {
                self.failing = false;
                self.set_phase();
            }
            Deed::Notify => self.recorder.ring(),
            Deed::Told => {
                let before = self.told;
                let told = self.peer(place)?.told(before, wait).await;
                self.checks += 1;
                self.told = told.map_err(|why| {
                    failed(
                        place,
                        vec![Miss {
                            sentence: "the client was never told that the list changed".to_owned(),
                            expected: "notifications/tools/list_changed".to_owned(),
                            seen: in_words(&why).to_owned(),
                        }],
                    )
                })?;
            }
            Deed::Crash => {
                if !self.recorder.crash().await {
                    return Err(broken(place, "the server does not end when it is told to"));
                }
            }
            Deed::Start(name) => {
                let params = self.call_params(name);
                let id = self.peer(place)?.begin("tools/call", &params).await;
                self.open.insert(name.clone(), id);
            }
            Deed::ClientLists | Deed::ClientCalls(..) | Deed::ClientEnds { .. } => {
                self.client_step(&step.deed, place).await?;
            }
            Deed::Arrived(_) => {
                let arrived = match &self.scenario.server {
                    Server::Made { .. } => self.recorder.arrived(self.calls, wait).await,
                    // Only what it does in the world shows that a program is about the call.
                    Server::Real(_) => self.recorder.recorded(self.records, wait).await,
                };
                if !arrived {
                    return Err(failed(
                        place,
                        vec![Miss {
                            sentence: "the call never reached the server".to_owned(),
                            expected: "a call under way".to_owned(),
                            seen: "nothing in time".to_owned(),
                        }],
                    ));
                }
            }
            Deed::Finish(name, expected) => {
                let id = self.open.remove(name).unwrap_or_default();
                let answer = self.peer(place)?.answer(id, wait).await;
                self.judge(name, expected, answer, place)?;
            }
            Deed::Call(name, expected) => {
                let params = self.call_params(name);
                let answer = self.peer(place)?.ask("tools/call", &params, wait).await;
                self.judge(name, expected, answer, place)?;
            }
        }
        self.keep_messages();
        Ok(())
    }

    fn patience(&self) -> Duration {
        Duration::from_secs(self.scenario.patience)
    }

    fn peer(&mut self, place: &str) -> Result<&mut Peer, Stop> {
        self.peer.as_mut().ok_or_else(|| broken(place, "the client is not connected"))
    }

    async fn connect(&mut self, place: &str) -> Result<(), Stop> {
        let wait = self.patience();
        let mut peer = Peer::start(&self.command).map_err(|why| broken(place, &why))?;
        let greeted = peer.greet(wait).await;
        self.told = 0;
        self.peer = Some(peer);
        greeted.map_err(|why| broken(place, &format!("the other side cannot be spoken to: {why}")))
    }

    async fn leave(&mut self) {
        if let Some(peer) = self.peer.take() {
            let messages = peer.leave().await;
            self.messages.extend(messages);
        }
    }

    /// Takes over what was said, as evidence.
    fn keep_messages(&mut self) {
        if let Some(peer) = &mut self.peer {
            self.messages.append(&mut peer.messages);
        }
    }

    async fn list(&mut self, wanted: Option<&Shown>, place: &str) -> Result<(), Stop> {
        let wait = self.patience();
        let got = self.peer(place)?.list(wait).await;
        let got = got.map_err(|why| {
            failed(
                place,
                vec![Miss {
                    sentence: "the list of tools was never answered".to_owned(),
                    expected: "a list".to_owned(),
                    seen: in_words(&why).to_owned(),
                }],
            )
        })?;
        self.keep_messages();
        if let Ok(tools) = &got {
            let names = tools.iter().filter_map(|tool| tool["name"].as_str());
            self.shown = Some(names.map(str::to_owned).collect());
        }
        let Some(wanted) = wanted else {
            return match got {
                Ok(_) => Ok(()),
                Err(error) => Err(broken(place, &format!("the list cannot be read: {error}"))),
            };
        };
        self.checks += 1;
        match judge::shown(wanted, &got, self.scenario.server.lists()) {
            None => Ok(()),
            Some(miss) => Err(failed(place, vec![miss])),
        }
    }

    fn call_params(&self, name: &str) -> Value {
        let empty = Call { tool: String::new(), arguments: Value::Null };
        let call = self.plans.get(name).unwrap_or(&empty);
        json!({"name": call.tool, "arguments": call.arguments})
    }

    fn judge(
        &mut self,
        name: &str,
        expected: &Expected,
        answer: Result<Value, Silence>,
        place: &str,
    ) -> Result<(), Stop> {
        self.keep_messages();
        let (records, calls) = (self.recorder.records(), self.recorder.calls());
        let seen = Seen {
            answer,
            arrived: calls[self.calls.min(calls.len())..].to_vec(),
            reached: records[self.records.min(records.len())..].to_vec(),
        };
        (self.records, self.calls) = (records.len(), calls.len());
        self.checks += judge::count(expected);
        let Some(call) = self.plans.get(name) else {
            return Err(broken(place, "the call was not planned"));
        };
        let misses = judge::call(call, expected, &seen);
        if misses.is_empty() { Ok(()) } else { Err(failed(place, misses)) }
    }

    /// Phases are: before, after, and both again with a list that cannot be read.
    fn set_phase(&self) {
        let failing = if self.failing { 2 } else { 0 };
        self.recorder.switch(usize::from(self.switched) + failing);
    }
}

/// The command that starts the server.
fn server(
    scenario: &Scenario,
    setting: &Setting,
    recorder: &Recorder,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let (flag, text) = match &scenario.server {
        Server::Made { before, after } => {
            // What passes between a client and the gateway is told by the tap between them.
            ("--script", script(before, after, scenario.is_guarded()))
        }
        Server::Real(real) => {
            let mut real = real.clone();
            if let ([], Some(tools)) = (real.before.as_slice(), &real.lists[0]) {
                real.before = lister(tools, setting, recorder, folder)?;
            }
            ("--relay", serde_json::to_string(&real).map_err(|why| why.to_string())?)
        }
    };
    let path = folder.join("server.json");
    std::fs::write(&path, text)
        .map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
    let mut command = own(setting);
    command.extend(["demo".to_owned(), flag.to_owned(), path.display().to_string()]);
    command.extend(["--recorder".to_owned(), recorder.url()]);
    Ok(command)
}

/// The command of a server that lists these tools and does nothing: an old contract, before real programs.
fn lister(
    tools: &[Value],
    setting: &Setting,
    recorder: &Recorder,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let phase = Phase { tools: tools.to_vec(), ..Phase::default() };
    let path = folder.join("before.json");
    // What passes is told by the relay before it.
    std::fs::write(&path, script(&phase, &phase, true))
        .map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
    let mut command = own(setting);
    command.extend(["demo", "--script"].map(str::to_owned));
    command.extend([path.display().to_string(), "--recorder".to_owned(), recorder.url()]);
    Ok(command)
}

fn script(before: &Phase, after: &Phase, unheard: bool) -> String {
    let failing = |phase: &Phase| Phase { list_fails: Some(LIST_FAILS), ..phase.clone() };
    let phases = vec![before.clone(), after.clone(), failing(before), failing(after)];
    let script = Script { phases, tells: true, unheard, ..Script::default() };
    serde_json::to_string(&script).expect("a script is text and values")
}

/// The command of a relay that only tells the recorder what passes between a client and what it starts.
fn tap(
    command: Vec<String>,
    setting: &Setting,
    recorder: &Recorder,
    folder: &Path,
) -> Result<Vec<String>, String> {
    let real = Real {
        before: command,
        switch: Hook::Elsewhere,
        recorder: None,
        lists: Default::default(),
    };
    let path = folder.join("tap.json");
    let text = serde_json::to_string(&real).map_err(|why| why.to_string())?;
    std::fs::write(&path, text)
        .map_err(|why| format!("{} cannot be written: {why}", path.display()))?;
    let mut command = own(setting);
    command.extend(["demo", "--relay"].map(str::to_owned));
    command.extend([path.display().to_string(), "--recorder".to_owned(), recorder.url()]);
    Ok(command)
}

/// The command of the gateway in front of the server.
fn gateway(
    scenario: &Scenario,
    setting: &Setting,
    folder: &Path,
    server: Vec<String>,
) -> Result<Vec<String>, String> {
    let mut command = own(setting);
    command.extend(["wrap", "--quiet", "--name"].map(str::to_owned));
    command.push(scenario.name.clone());
    command.extend(["--store".to_owned(), folder.join("state.db").display().to_string()]);
    if let Some(adapters) = &scenario.adapters {
        let path = folder.join("adapters.toml");
        std::fs::write(&path, adapters)
            .map_err(|why| format!("the adapters cannot be written: {why}"))?;
        command.extend(["--adapters".to_owned(), path.display().to_string()]);
    }
    for (name, fact) in &scenario.facts {
        command.extend(["--fact".to_owned(), format!("{name}={fact}")]);
    }
    if !server.first().is_some_and(|word| word.starts_with("http://")) {
        command.push("--".to_owned());
    }
    command.extend(server);
    Ok(command)
}

fn own(setting: &Setting) -> Vec<String> {
    vec![setting.program.display().to_string()]
}

fn failed(place: &str, misses: Vec<Miss>) -> Stop {
    Stop { place: place.to_owned(), verdict: Verdict::Failed, misses }
}

/// Something that the scenario rests on did not work.
fn broken(place: &str, why: &str) -> Stop {
    let miss = Miss {
        sentence: format!("the scenario broke off: {why}"),
        expected: "a server and a client that run".to_owned(),
        seen: why.to_owned(),
    };
    Stop { place: place.to_owned(), verdict: Verdict::NotRun, misses: vec![miss] }
}

fn in_words(silence: &Silence) -> &'static str {
    match silence {
        Silence::Ended => "the connection ended",
        Silence::Late => "nothing in time",
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        0 => format!("no {noun}"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// The first sentence of a story, as the head of a line.
fn first_sentence(story: &str) -> String {
    let line = story.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").unwrap_or(line.len());
    let head = line[..end].trim_end_matches('.');
    if head.is_empty() { "as planned".to_owned() } else { head.to_owned() }
}

/// The last messages, each cut to its head.
fn shown_messages(messages: &[String], most: usize) -> String {
    let from = messages.len().saturating_sub(most);
    let cut = |message: &String| report::escape::clip(message, limits::MESSAGE_CHARS);
    messages[from..].iter().map(cut).collect::<Vec<_>>().join("\n")
}
