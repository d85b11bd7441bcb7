//! Runs a contract: each case with an agent and a server of its own, then every mutant of one case.

use super::agent::{self, Start};
use super::contract::{Case, Source};
use super::expect::{self, Held};
use super::fixture::{self, Fixture};
use super::judge::{self, Facts, Judged, Score};
use super::leak::{Canary, Leak};
use super::load::Bench;
use super::mutant::{self, Ground, Mutant};
use super::outcome::{Capture, End, Outcome};
use super::score;
use super::server::{Server, Setup};
use super::shelf::{Armed, Shelf};
use super::through::{Recording, Upstream};
use super::why;
use crate::plan::Setting;
use crate::report::{Case as Told, Evidence, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// One run of the agent, as it is judged.
struct Ran {
    capture: Capture,
    outcome: Outcome,
    leaks: Vec<Leak>,
    canary: Canary,
    /// What differs from run to run, and how it is written in reports: the server, the folder.
    own: Vec<(String, &'static str)>,
    /// What was asked of a real model, where that is recorded.
    recording: Option<Recording>,
}

impl Ran {
    /// A text as it stands in a report: without the credential, and the same in every run.
    fn told(&self, text: &str) -> String {
        let mut text = self.canary.forms().hidden(text);
        if let Some(recording) = &self.recording {
            text = recording.hidden(&text);
        }
        for (own, word) in &self.own {
            text = text.replace(own.as_str(), word);
        }
        text
    }

    /// The same for a sentence with what shows it.
    fn shown(&self, evidence: Vec<Evidence>) -> Vec<Evidence> {
        evidence.into_iter().map(|seen| Evidence::new(seen.title, self.told(&seen.text))).collect()
    }
}

/// Runs everything that is asked for, in the order of the file.
pub async fn all(bench: &Arc<Bench>, setting: &Setting) -> Vec<Told> {
    let name = &bench.contract.name;
    let only = setting.only.as_deref().and_then(|only| only.strip_prefix(&format!("{name}/")));
    let is_case = |only: &str| bench.contract.cases.iter().any(|case| case.name == only);
    let wants_fixtures = only == Some("fixtures");
    // What is being recorded was not replayed yet: nothing is changed of it.
    let wants_mutants =
        setting.model.is_none() && only.is_none_or(|only| !is_case(only) && !wants_fixtures);
    let mut told = Vec::new();
    let mut served: BTreeSet<String> = BTreeSet::new();
    let mut recorded: BTreeSet<PathBuf> = BTreeSet::new();
    let (mut base, mut first) = (None, None);
    for case in &bench.contract.cases {
        let changed = bench.contract.mutants.as_ref() == Some(&case.name);
        let asked = only.is_none_or(|only| only == case.name);
        if !(asked || changed && wants_mutants || wants_fixtures) {
            continue;
        }
        let ran = run(bench, case, &[], &[], "", setting.model.as_ref()).await;
        served.extend(ran.capture.entries.iter().filter_map(|entry| entry.fixture.clone()));
        let mut held = expect::hold(&bench.contract, case, &ran.outcome);
        turns(bench, case, &ran, &mut recorded, &mut held);
        struck(case, &ran, &mut held);
        if asked {
            told.push(told_case(bench, case, &ran, &held));
        }
        if first.is_none() {
            first = Some(ran.outcome.clone());
        }
        if changed {
            let sound = held.wrong.is_empty() && leaked(&ran).is_none();
            base = Some((case, ran, sound));
        }
    }
    if only.is_none() || wants_fixtures {
        told.push(told_fixtures(bench, &served, first.as_ref(), &setting.today));
    }
    if let Some((case, ran, sound)) = base
        && wants_mutants
    {
        told.extend(mutants(bench, case, ran, sound, only, setting.jobs).await);
    }
    told
}

/// Runs the agent once: against the fixtures of a case, those of a mutant in their place.
async fn run(
    bench: &Bench,
    case: &Case,
    changed: &[Fixture],
    faults: &[Armed],
    mutant: &str,
    model: Option<&Arc<Upstream>>,
) -> Ran {
    let canary = Canary::of(&[&bench.contract.name, &case.name, mutant]);
    let mut own = Vec::new();
    let exchange = bench.exchange(case).cloned();
    let recording =
        model.zip(exchange).map(|(model, exchange)| Recording::of(model.clone(), exchange));
    let through = recording.clone();
    let caught = capture(bench, case, changed, faults, &canary, &mut own, through).await;
    let capture =
        caught.unwrap_or_else(|why| Capture { end: End::NotStarted(why), ..Capture::default() });
    let outcome = Outcome::of(&bench.contract, &capture);
    let mut leaks = canary.forms().leaks(&capture);
    // While a real model is asked, its credential must not surface either.
    leaks.extend(recording.iter().flat_map(|recording| recording.leaks(&capture)));
    Ran { capture, outcome, leaks, canary, own, recording }
}

async fn capture(
    bench: &Bench,
    case: &Case,
    changed: &[Fixture],
    faults: &[Armed],
    canary: &Canary,
    own: &mut Vec<(String, &'static str)>,
    through: Option<Recording>,
) -> Result<Capture, String> {
    let contract = &bench.contract;
    let mut shelf = Shelf::new(replaced(&bench.fixtures, changed), bench.versions(case))
        .with_exchange(bench.exchange(case).cloned());
    if let Source::Request(method, path) = &contract.plan.source {
        shelf = shelf.with_inbox(method, path);
    }
    for armed in case.faults.iter().chain(faults) {
        shelf.arm(armed.clone())?;
    }
    let setup = Setup {
        chosen: chosen(bench),
        hang: Duration::from_millis(contract.agent.hang),
        through,
        tools: bench.tools.clone(),
        ..Setup::default()
    };
    let no_port = |why: std::io::Error| format!("no loopback port can be had: {why}");
    let server = Server::start(shelf, setup).await.map_err(no_port)?;
    let folder = tempfile::tempdir().map_err(|why| format!("no folder can be made: {why}"))?;
    let (url, path) = (server.url(), folder.path().to_string_lossy().into_owned());
    let start = start(bench, case, &url, &path, canary);
    let address = url.trim_start_matches("http://").to_owned();
    let port = address.rsplit(':').next().unwrap_or_default().to_owned();
    own.extend([(url, "{server}"), (address, "{server}"), (path, "{run}")]);
    own.push((format!("port {port}"), "port {port}"));
    own.push((format!("port={port}"), "port={port}"));
    let mut capture = agent::run(&start, folder.path()).await;
    capture.entries = server.entries();
    Ok(capture)
}

/// The fixtures, with those of a mutant in the place of those with the same id.
fn replaced(fixtures: &[Fixture], changed: &[Fixture]) -> Vec<Fixture> {
    let same =
        |one: &Fixture, other: &Fixture| one.name == other.name && one.version == other.version;
    let mut all: Vec<Fixture> = fixtures
        .iter()
        .map(|fixture| changed.iter().find(|new| same(new, fixture)).unwrap_or(fixture).clone())
        .collect();
    all.extend(changed.iter().filter(|new| !fixtures.iter().any(|old| same(old, new))).cloned());
    all
}

/// Headers that a fixture, a case or the contract looks at.
fn chosen(bench: &Bench) -> BTreeSet<String> {
    let contract = &bench.contract;
    let fixtures = bench.fixtures.iter().flat_map(|fixture| fixture.request.headers.keys());
    let cases = contract.cases.iter().flat_map(|case| &case.requests);
    let cases = cases.flat_map(|request| request.headers.keys());
    let options = contract.options.values().flatten().map(|(place, ..)| place);
    let places = options.chain(contract.tokens.values());
    let places = places.filter(|place| place.steps.first().is_some_and(|head| head == "header"));
    let places = places.filter_map(|place| place.steps.get(1));
    fixtures.chain(cases).chain(places).cloned().collect()
}

fn start(bench: &Bench, case: &Case, server: &str, run: &str, canary: &Canary) -> Start {
    let agent = &bench.contract.agent;
    let instruction = case.instruction.as_ref().unwrap_or(&agent.instruction);
    let fill = |text: &str| {
        text.replace("{server}", server)
            .replace("{run}", run)
            .replace("{canary}", canary.value())
            .replace("{instruction}", instruction)
    };
    let folder = bench.folder.join(&agent.folder);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let mut command: Vec<String> = agent.command.iter().map(|word| fill(word)).collect();
    if let Some(program) = command.first_mut()
        && program.contains('/')
        && !program.starts_with('/')
    {
        *program = folder.join(&*program).to_string_lossy().into_owned();
    }
    let mut env = BTreeMap::from([("STEADFAST_CANARY".to_owned(), canary.value().to_owned())]);
    for name in &agent.pass {
        if let Ok(value) = std::env::var(name) {
            env.insert(name.clone(), value);
        }
    }
    env.extend(agent.env.iter().map(|(name, value)| (name.clone(), fill(value))));
    for (name, value) in &case.env {
        match value {
            Some(value) => env.insert(name.clone(), fill(value)),
            None => env.remove(name),
        };
    }
    let mut words = agent.command.iter().chain(agent.env.values());
    let given = words.any(|word| word.contains("{instruction}"));
    let input = if given { String::new() } else { instruction.clone() };
    let plan = match &bench.contract.plan.source {
        Source::File(name) => Some(name.clone()),
        _ => None,
    };
    Start { command, folder, env, input, limit: Duration::from_secs(agent.seconds), plan }
}

impl Bench {
    /// Writes down what was asked of a real model, to be replayed from now on.
    fn keep(
        &self,
        case: &Case,
        recording: &Recording,
        ran: &Ran,
        recorded: &mut BTreeSet<PathBuf>,
    ) -> Result<(), String> {
        // A prompt with the planted credential is told as a leak, and is not written down.
        if leaked(ran).is_some() {
            return Err("the exchange with the model was not written down".to_owned());
        }
        let mut own: Vec<String> = ran.own.iter().map(|(own, _)| own.clone()).collect();
        own.push(ran.canary.value().to_owned());
        let exchange = recording.finish(&own)?;
        let name = case.model.as_ref().or(self.contract.model.as_ref());
        let path = self.folder.join(name.map_or("", String::as_str));
        if !recorded.insert(path.clone()) {
            let path = path.display();
            return Err(format!(
                "{path} holds the exchange of another case: name one for each with `model:`"
            ));
        }
        std::fs::write(&path, exchange.to_text())
            .map_err(|why| format!("{} cannot be written: {why}", path.display()))
    }
}

/// Holds that the whole exchange with the model took place.
fn turns(bench: &Bench, case: &Case, ran: &Ran, recorded: &mut BTreeSet<PathBuf>, held: &mut Held) {
    let Some(exchange) = bench.exchange(case) else { return };
    if let Some(recording) = &ran.recording {
        held.checks += 1;
        if let Err(why) = bench.keep(case, recording, ran, recorded) {
            held.wrong.push(why.trim_end_matches('.').to_owned());
        }
        return;
    }
    if exchange.turns.is_empty() {
        held.wrong.push(
            "the exchange with the model is empty: record it with --record-model URL".to_owned(),
        );
    }
    let prompts = ran.capture.entries.iter().filter(|entry| entry.is_prompt());
    let (well, ill): (Vec<_>, Vec<_>) = prompts.partition(|entry| entry.status == Some(200));
    held.checks += 1;
    if let Some(why) = ill.first().and_then(|entry| entry.answer["error"].as_str()) {
        held.wrong.push(why.trim_end_matches('.').to_owned());
    } else if well.len() < exchange.turns.len() {
        let all = exchange.turns.len();
        held.wrong.push(format!("the exchange has {all} turns, and {} were asked for", well.len()));
    }
}

/// Holds that every fault of a case struck: one that nothing met shows nothing.
fn struck(case: &Case, ran: &Ran, held: &mut Held) {
    for armed in &case.faults {
        held.checks += 1;
        let about = |id: &str| {
            armed
                .fixture
                .as_ref()
                .is_none_or(|name| id.rsplit_once("-v").is_some_and(|(known, _)| known == name))
        };
        let met = ran.capture.entries.iter().any(|entry| {
            entry.fault.as_deref() == Some(armed.fault.word())
                && entry.fixture.as_deref().is_some_and(about)
        });
        if !met {
            let of = armed.fixture.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
            held.wrong.push(format!("the fault {}{of} never struck", armed.fault.word()));
        }
    }
}

fn told_case(bench: &Bench, case: &Case, ran: &Ran, held: &Held) -> Told {
    let wrong: Vec<String> = leaked(ran).into_iter().chain(held.wrong.clone()).collect();
    let not_run = matches!(ran.outcome.end, End::NotStarted(_));
    let found = match wrong.as_slice() {
        _ if not_run => Verdict::NotRun,
        [] => Verdict::Passed,
        _ => Verdict::Failed,
    };
    let sentence = match wrong.first() {
        _ if not_run => format!("the agent {}", ran.outcome.end.told()),
        Some(first) => first.clone(),
        None => {
            let acted = ran.outcome.acted(0).len();
            let requests = ran.outcome.requests.len();
            let sent = expect::requests_of(requests);
            format!("{sent} as expected, {} {}", bench.contract.counted(acted), bench.contract.done)
        }
    };
    let mut evidence: Vec<Evidence> =
        wrong.iter().skip(1).map(|wrong| Evidence::new("also", wrong)).collect();
    evidence.extend(seen(ran));
    Told {
        name: format!("{}/{}", bench.contract.name, case.name),
        place: case.place.clone(),
        found,
        sentence: ran.told(&sentence),
        evidence: ran.shown(evidence),
        steps: usize::from(!not_run),
        checks: held.checks + 1,
    }
}

/// Where the credential surfaced; or that it may have, where not everything was searched.
fn leaked(ran: &Ran) -> Option<String> {
    let leaks = &ran.leaks;
    let Some(first) = leaks.first() else {
        let missed = &ran.capture.unsearched;
        return (!missed.is_empty())
            .then(|| format!("not all could be searched: {}", missed.join(", ")));
    };
    let more = match leaks.len() - 1 {
        0 => String::new(),
        1 => "; and in one more place".to_owned(),
        n => format!("; and in {n} more places"),
    };
    Some(format!("the credential surfaced in {}, {}{more}", first.place, first.form))
}

/// What shows what an agent did.
fn seen(ran: &Ran) -> Vec<Evidence> {
    /// Lines and letters of what an agent wrote that are shown: its last words say why it ended.
    const LINES: usize = 6;
    let mut seen = vec![Evidence::new("sent", ran.outcome.lines())];
    let unmatched = ran.capture.entries.iter().filter(|entry| entry.status == Some(501));
    for entry in unmatched {
        if let Some(why) = entry.answer["error"].as_str() {
            seen.push(Evidence::new("501", why));
        }
    }
    if let Some(plan) = &ran.outcome.plan {
        seen.push(Evidence::new("plan", super::pattern::short(plan)));
    }
    let lines: Vec<&str> = ran.capture.stderr.trim_end().lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if !last.is_empty() {
        seen.push(Evidence::new("stderr", last.join("\n")));
    }
    if ran.outcome.end != End::Code(0) {
        seen.push(Evidence::new("end", format!("the agent {}", ran.outcome.end.told())));
    }
    seen
}

/// What is said of the fixtures themselves: each was served, each object says why it is there and shows something.
fn told_fixtures(
    bench: &Bench,
    served: &BTreeSet<String>,
    base: Option<&Outcome>,
    today: &str,
) -> Told {
    let mut held: BTreeSet<String> = BTreeSet::new();
    for case in &bench.contract.cases {
        let shelf = Shelf::new(bench.fixtures.clone(), bench.versions(case));
        held.extend(bench.fixtures.iter().filter(|f| shelf.holds(f)).map(Fixture::id));
    }
    let unserved: Vec<String> = held.iter().filter(|id| !served.contains(*id)).cloned().collect();
    let holding = bench.fixtures.iter().filter(|fixture| held.contains(&fixture.id()));
    let mut wrong = fixture::ends(&bench.fixtures, today);
    wrong.extend(why::wrong(&bench.contract, bench.map.as_ref(), holding, base));
    let found = match (unserved.is_empty(), wrong.is_empty()) {
        (true, true) => Verdict::Passed,
        (false, true) => Verdict::NotReached,
        _ => Verdict::Failed,
    };
    let mut all: Vec<String> =
        unserved.iter().map(|id| format!("{id} was never served, so it shows nothing")).collect();
    all.splice(0..0, wrong);
    let sentence = match all.first() {
        Some(first) => first.clone(),
        None if held.len() == 1 => "the fixture was served, each object for a reason".to_owned(),
        None => format!("{} fixtures, each served, each object for a reason", held.len()),
    };
    Told {
        name: format!("{}/fixtures", bench.contract.name),
        place: bench.contract.place.clone(),
        found,
        sentence,
        evidence: all.into_iter().skip(1).map(|one| Evidence::new("also", one)).collect(),
        steps: held.len().max(1),
        checks: held.len().max(1),
    }
}

/// Runs the mutants of a case, so many at once; the results are in the order in which they were made.
async fn mutants(
    bench: &Arc<Bench>,
    case: &Case,
    base: Ran,
    sound: bool,
    only: Option<&str>,
    jobs: usize,
) -> Vec<Told> {
    let name = |part: &str| format!("{}/{part}", bench.contract.name);
    let Some(map) = &bench.map else { return Vec::new() };
    let not_run = |part: &str, sentence: String| {
        vec![Told {
            name: name(part),
            place: bench.contract.place.clone(),
            found: Verdict::NotRun,
            sentence,
            evidence: Vec::new(),
            steps: 0,
            checks: 0,
        }]
    };
    if !sound {
        let why = format!("`{}` fails as it is, so its changes would show nothing", case.name);
        return not_run("mutants", why);
    }
    // Where nothing is acted on anyway, every change seems to stop the agent.
    if bench.contract.acts && base.outcome.acted(0).is_empty() {
        let why =
            format!("`{}` acts on nothing; name one that acts: `mutants: {{of: CASE}}`", case.name);
        return not_run("mutants", why);
    }
    let (mut made, mut not_made) = {
        let mut met: Vec<&Fixture> = Vec::new();
        for id in base.capture.entries.iter().filter_map(|entry| entry.fixture.as_ref()) {
            let fixture = bench.fixtures.iter().find(|fixture| fixture.id() == *id);
            if let Some(fixture) = fixture.filter(|fixture| !met.contains(fixture)) {
                met.push(fixture);
            }
        }
        let ground = Ground {
            contract: &bench.contract,
            map,
            fixtures: met,
            known: &bench.fixtures,
            case: &case.name,
            base: &base.outcome,
        };
        mutant::make(&ground)
    };
    if let Some(only) = only.filter(|only| *only != "mutants") {
        made.retain(|mutant| mutant.name == only);
        not_made.retain(|lost| lost.name == only);
        if made.is_empty() && not_made.is_empty() {
            return not_run(only, "there is no case and no mutant of this name".to_owned());
        }
    }
    let (base, case, made) = (Arc::new(base), Arc::new(case.clone()), Arc::new(made));
    let gate = Arc::new(Semaphore::new(jobs.max(1)));
    let mut running = JoinSet::new();
    for index in 0..made.len() {
        let (bench, base, case) = (Arc::clone(bench), Arc::clone(&base), Arc::clone(&case));
        let (made, gate) = (Arc::clone(&made), Arc::clone(&gate));
        running.spawn(async move {
            // The gate is never closed: a place in it always comes.
            let _place = gate.acquire_owned().await;
            (index, one(&bench, &case, &base, &made[index]).await)
        });
    }
    let mut judged = BTreeMap::new();
    while let Some(done) = running.join_next().await {
        if let Ok((index, one)) = done {
            judged.insert(index, one);
        }
    }
    score::told_mutants(
        bench,
        &made,
        &judged,
        &not_made,
        only.is_some_and(|only| only != "mutants"),
    )
}

/// Runs and judges one mutant.
async fn one(bench: &Bench, case: &Case, base: &Ran, mutant: &Mutant) -> (Judged, Vec<Evidence>) {
    let ran = run(bench, case, &mutant.changed, &mutant.faults, &mutant.name, None).await;
    let facts = Facts {
        contract: &bench.contract,
        case,
        base: &base.outcome,
        base_entries: &base.capture.entries,
        run: &ran.outcome,
        entries: &ran.capture.entries,
    };
    let mut judged = judge::judge(mutant, &facts);
    if let Some(leaked) = leaked(&ran) {
        judged.score = Score::Survived;
        judged.sentence = format!("{}: {leaked}", mutant.what);
    }
    let mut evidence = vec![Evidence::new("due", mutant.due.told())];
    let met =
        ran.capture.entries.iter().find(|entry| entry.fixture.as_ref() == Some(&mutant.fixture));
    if let Some(entry) = met {
        let status = entry.status.map_or("no status".to_owned(), |status| status.to_string());
        let answer = super::pattern::short(&entry.answer);
        evidence.push(Evidence::new("answered", format!("{status} {answer}")));
    }
    evidence.extend(seen(&ran));
    judged.sentence = ran.told(&judged.sentence);
    (judged, ran.shown(evidence))
}
