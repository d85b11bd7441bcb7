//! `steadfast test`: runs the tests of files and folders, whatever their kind.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::limits;
use crate::output::{self, Shell};
use clap::ValueEnum;
use contract::Problem;
use indicatif::{ProgressBar, ProgressStyle};
use lab::decision::through::Upstream;
use lab::plan::{Planned, Setting};
use lab::read::{self, Document};
use lab::report::{self, Case, Look, Standing, Suite};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct TestArgs {
    /// Files of tests, or folders with them
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    /// How the results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Run only the test of this name (or TEST/CASE for one case of it)
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Ask the real model at this address, and write each exchange with it down to be replayed
    #[arg(long, value_name = "URL", conflicts_with = "init")]
    record_model: Option<String>,
    /// Send the model the header NAME with the value of the environment variable VAR (repeatable); agents never see it
    #[arg(long, value_name = "NAME=VAR", requires = "record_model")]
    model_header: Vec<String>,
    /// How many tests run at once [default: one a processor]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Write ready tests into the folder PATH, which is named like their kind
    #[arg(long, conflicts_with_all = ["only", "jobs", "format"])]
    init: bool,
    /// Show what passing tests saw, too
    #[arg(long)]
    all: bool,
}

/// How the results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
    /// JUnit XML, for test reports
    Junit,
    /// For a comment on a change
    Markdown,
}

impl From<Format> for report::Format {
    fn from(format: Format) -> report::Format {
        match format {
            Format::Text => report::Format::Text,
            Format::Json => report::Format::Json,
            Format::Junit => report::Format::Junit,
            Format::Markdown => report::Format::Markdown,
        }
    }
}

/// The tests of one file, or everything that is wrong with it.
type Loaded = Result<Vec<Planned>, Vec<Problem>>;

/// One kind of tests.
struct Kind {
    /// The first key of its files; the value is the version of the form.
    key: &'static str,
    /// The folder that `--init` writes for it, by name.
    folder: &'static str,
    /// Reads one file. The path is for what it names beside itself.
    load: fn(&Path, &Document) -> Loaded,
    /// Ready files: name and text.
    ready: fn() -> Vec<(String, String)>,
}

/// Every kind.
static KINDS: &[Kind] = &[
    Kind { key: "drift", folder: "drift", load: lab::drift::load, ready: lab::drift::ready },
    Kind {
        key: "drift",
        folder: "clients",
        load: lab::drift::load,
        ready: lab::drift::ready_for_clients,
    },
    Kind {
        key: "contract",
        folder: "contracts",
        load: lab::decision::load::load,
        ready: lab::decision::load::ready,
    },
];

impl Command for TestArgs {
    const NAME: &'static str = "test";
    const ABOUT: &'static str = "Run drift tests and decision contracts";
    const EXAMPLES: &'static str = "\
A file that begins with `drift: 1` runs an old plan against a changed server; one that begins with
`contract: 1` runs an agent against its API, and against every way in which that API can change.
Folders are searched for such files; others in them are left alone. The result says for each test what
came of it, and for one that did not pass what shows it and how to run just that one again.

Exit codes: 0 all passed · 1 at least one did not, or there was none · 2 a file cannot be read ·
3 nothing failed, but something could not be told

Examples:
  steadfast test --init drift/         write thirteen ready scenarios of drift
  steadfast test --init clients/       write eight for a client of your own, which CLIENT starts
  steadfast test drift/
  steadfast test drift/ --only required-authority
  steadfast test drift/ --format junit > results.xml
  steadfast test --init contracts/     write a decision contract with its fixtures and an agent
  steadfast test contracts/ --only 'cleanup/two of four projects'";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        if self.init {
            return self.write_ready(shell);
        }
        let mut loaded = load_all(found(&self.paths)?)?;
        if let Some(only) = &self.only {
            choose(&mut loaded, only)?;
        }
        if loaded.is_empty() {
            return Err(Failure::one(
                self.paths.join(" "),
                "There is no test here.",
                "A file of tests begins with `drift: 1` or `contract: 1`. Write ready ones: steadfast test --init drift/",
            ));
        }
        let model = self.model()?;
        let suites = carry_out(shell, loaded, self.only.clone(), self.jobs, model)?;
        let look = Look {
            colour: shell.colour,
            again: "steadfast test {file} --only {name}".to_owned(),
            all: self.all,
        };
        shell.print(&report::render(&suites, self.format.into(), &look))?;
        Ok(match report::standing(&suites) {
            Standing::Clear => Exit::Fine,
            Standing::Undecided => Exit::Undecided,
            Standing::Failed => Exit::Findings,
        })
    }
}

/// Runs all tests of files and folders: their results, in the order of the files. None where there is no test.
pub fn run_all(shell: &Shell, paths: &[String]) -> Result<Vec<Suite>, Failure> {
    let loaded = load_all(found(paths)?)?;
    if loaded.is_empty() {
        return Ok(Vec::new());
    }
    carry_out(shell, loaded, None, None, None)
}

/// The tests of all files, or everything that is wrong with any.
fn load_all(paths: Vec<String>) -> Result<Vec<(String, Vec<Planned>)>, Failure> {
    let (mut loaded, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        match load(&path) {
            Ok(tests) => loaded.push((path, tests)),
            Err(failure) => problems.extend(failure.problems),
        }
    }
    if problems.is_empty() { Ok(loaded) } else { Err(problems.into()) }
}

/// Runs the tests, some at a time; the results are in the order of the files.
fn carry_out(
    shell: &Shell,
    loaded: Vec<(String, Vec<Planned>)>,
    only: Option<String>,
    jobs: Option<usize>,
    model: Option<Arc<Upstream>>,
) -> Result<Vec<Suite>, Failure> {
    let program = std::env::current_exe().map_err(|why| {
        Failure::one("steadfast", format!("The program does not find itself: {why}."), "")
    })?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = jobs.unwrap_or(processors).clamp(1, limits::JOBS);
    let count: usize = loaded.iter().map(|(_, tests)| tests.len()).sum();
    // Tests that run at once share what may run at once.
    let each = (jobs / count.clamp(1, jobs)).max(1);
    let setting =
        Arc::new(Setting { program, only, model, today: output::today().to_string(), jobs: each });
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|why| {
            Failure::one("test", format!("This machine gave no resources: {why}."), "")
        })?;
    let bar = shell.interactive.then(|| bar(count));
    let all = async {
        let gate = Arc::new(Semaphore::new(jobs));
        let mut running = Vec::new();
        for (path, tests) in loaded {
            let mut cases = Vec::new();
            for test in tests {
                let (gate, setting, bar) = (Arc::clone(&gate), Arc::clone(&setting), bar.clone());
                let (name, place) = (test.name.clone(), test.place.clone());
                let work = tokio::spawn(async move {
                    // The gate is never closed: a place in it always comes.
                    let _place = gate.acquire_owned().await;
                    let cases = (test.run)(setting).await;
                    if let Some(bar) = bar {
                        bar.inc(1);
                    }
                    cases
                });
                cases.push((name, place, work));
            }
            running.push((path, cases));
        }
        let mut suites = Vec::new();
        for (path, work) in running {
            let mut cases = Vec::new();
            for (name, place, work) in work {
                match work.await {
                    Ok(done) => cases.extend(done),
                    Err(why) => cases.push(broken(name, place, &why.to_string())),
                }
            }
            suites.push(Suite { name: path, cases });
        }
        suites
    };
    let suites = runtime.block_on(async {
        tokio::select! {
            suites = all => Some(suites),
            () = mcp::interrupted() => None,
        }
    });
    // What was started is ended where its test is dropped, so the tests are waited for.
    runtime.shutdown_timeout(limits::BROKEN_OFF);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    suites.ok_or_else(|| {
        let sentence = "The tests were broken off; what they had started was ended.";
        Failure::one("test", sentence, "There is no result.")
    })
}

impl TestArgs {
    /// The real model that is asked, where one is named.
    fn model(&self) -> Result<Option<Arc<Upstream>>, Failure> {
        let Some(base) = &self.record_model else { return Ok(None) };
        let (mut headers, mut problems) = (Vec::new(), Vec::new());
        for pair in &self.model_header {
            let found = pair.split_once('=').and_then(|(name, variable)| {
                Some((
                    name.to_owned(),
                    std::env::var(variable).ok().filter(|value| !value.is_empty())?,
                ))
            });
            match found {
                Some(header) => headers.push(header),
                None => problems.push(Problem {
                    place: format!("--model-header {}", output::printable(pair)),
                    sentence: "This names no header and no variable that is set.".to_owned(),
                    help: "Write NAME=VAR; values are never typed here.".to_owned(),
                }),
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let model = Upstream::new(base, headers).map_err(|why| {
            Failure::one("--record-model", format!("The model cannot be asked: {why}."), "")
        })?;
        Ok(Some(Arc::new(model)))
    }

    fn write_ready(&self, shell: &Shell) -> Result<Exit, Failure> {
        for path in &self.paths {
            let folder = Path::new(path);
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
            let Some(kind) = KINDS.iter().find(|kind| Some(kind.folder) == name.as_deref()) else {
                let known: Vec<&str> = KINDS.iter().map(|kind| kind.folder).collect();
                return Err(Failure::one(
                    path,
                    "The name of the folder does not say which tests are wanted.",
                    format!("Name a folder that is called: {}.", known.join(", ")),
                ));
            };
            std::fs::create_dir_all(folder).map_err(|why| {
                Failure::one(path, format!("The folder cannot be made: {why}."), "")
            })?;
            let ready = (kind.ready)();
            let there: Vec<Problem> = ready
                .iter()
                .filter(|(name, _)| folder.join(name).exists())
                .map(|(name, _)| Problem {
                    place: folder.join(name).display().to_string(),
                    sentence: "The file is there already; nothing was written.".to_owned(),
                    help: "Move it away, or name another folder.".to_owned(),
                })
                .collect();
            if !there.is_empty() {
                return Err(there.into());
            }
            for (name, text) in &ready {
                files::write(&folder.join(name), text)?;
            }
            shell.print(&format!(
                "{} files written. Run them:  steadfast test {path}\n",
                ready.len()
            ))?;
        }
        Ok(Exit::Fine)
    }
}

/// A test that ended by a fault of this program.
fn broken(name: String, place: String, why: &str) -> Case {
    Case {
        name,
        place,
        found: report::Verdict::NotRun,
        sentence: "a fault of steadfast broke the test off; please report it".to_owned(),
        evidence: vec![report::Evidence::new("fault", why)],
        steps: 0,
        checks: 0,
    }
}

/// Reads a file of tests.
fn load(path: &str) -> Result<Vec<Planned>, Failure> {
    let document = Document::parse(path, &files::read(path)?)?;
    let key = document.first_key().unwrap_or_default();
    match KINDS.iter().find(|kind| kind.key == key) {
        Some(kind) => Ok((kind.load)(Path::new(path), &document)?),
        None => Err(Failure::one(
            document.place(&document.root()),
            "The first line does not say of which kind these tests are.",
            format!("Begin it with one of: {}.", versions()),
        )),
    }
}

fn versions() -> String {
    let mut keys: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
    keys.dedup();
    keys.iter().map(|key| format!("`{key}: 1`")).collect::<Vec<_>>().join(", ")
}

/// The files of tests: those that are named, and those in folders that begin like one.
fn found(paths: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if Path::new(path).is_dir() {
            search(path.trim_end_matches('/'), 0, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn search(folder: &str, depth: usize, found: &mut Vec<String>) -> Result<(), Failure> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|why| files::unreadable(folder, &why))? {
        let entry = entry.map_err(|why| files::unreadable(folder, &why))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names.into_iter().filter(|name| !name.starts_with('.')) {
        let path = format!("{folder}/{name}");
        if Path::new(&path).is_dir() {
            if depth == limits::TEST_FOLDERS {
                let help = "Name the folder that holds the tests.";
                return Err(Failure::one(path, "Folders nest deeper than tests do.", help));
            }
            search(&path, depth + 1, found)?;
        } else if (name.ends_with(".yaml") || name.ends_with(".yml")) && begins_like_a_test(&path)?
        {
            found.push(path);
            if found.len() > limits::TEST_FILES {
                let sentence =
                    format!("There are more than {} files of tests.", limits::TEST_FILES);
                return Err(Failure::one(folder, sentence, "Run them folder by folder."));
            }
        }
    }
    Ok(())
}

/// Whether the first line that says something has the first key of a kind, or one that is nearly it.
fn begins_like_a_test(path: &str) -> Result<bool, Failure> {
    let bytes = files::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let says = |line: &&str| !line.is_empty() && !line.starts_with('#') && *line != "---";
    let first = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).find(says);
    let known: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
    if let Some((key, _)) = first.and_then(|line| line.split_once(':'))
        && read::nearest(key, &known).is_some()
    {
        return Ok(true);
    }
    // One whose first key is another one, or that is written on one line, would be passed over in silence.
    let Ok(document) = Document::parse(path, &bytes) else { return Ok(false) };
    let root = document.root();
    Ok(known.iter().any(|key| root.get(key).is_some_and(|version| version.value.is_number())))
}

/// Leaves only the tests that are asked for.
fn choose(loaded: &mut Vec<(String, Vec<Planned>)>, only: &str) -> Result<(), Failure> {
    let names: Vec<String> =
        loaded.iter().flat_map(|(_, tests)| tests.iter().map(|test| test.name.clone())).collect();
    for (_, tests) in loaded.iter_mut() {
        tests.retain(|test| test.is_asked_for(only));
    }
    loaded.retain(|(_, tests)| !tests.is_empty());
    if !loaded.is_empty() {
        return Ok(());
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let help = match read::nearest(only, &known) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!("There are: {}.", known.join(", ")),
    };
    Err(Failure::one("--only", format!("No test is called `{only}`."), help))
}

fn bar(count: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} tests {elapsed}")
        .expect("the template names members that exist");
    let bar = ProgressBar::new(count as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
