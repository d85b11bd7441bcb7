//! Reads a contract with everything that it names, and holds the parts against each other.

use super::contract::{Case, Contract, Who, of_operation, same_operation};
use super::exchange::Exchange;
use super::fixture::{self, Fixture};
use super::place::Place;
use super::tools;
use crate::limits;
use crate::plan::{Planned, Setting};
use crate::read::{Document, nearest};
use contract::Problem;
use contract::decision::{Consequence, DecisionMap};
use contract::text::Notation;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A contract with its fixtures and its map.
#[derive(Debug)]
pub struct Bench {
    /// The contract.
    pub contract: Contract,
    /// The path of its file.
    pub file: String,
    /// The folder of its file.
    pub folder: PathBuf,
    /// Every fixture, in every version.
    pub fixtures: Vec<Fixture>,
    /// The map.
    pub map: Option<DecisionMap>,
    /// The tools that are listed to an agent that speaks MCP.
    pub tools: Vec<Value>,
    /// Exchanges with the model, by the names under which the contract has them.
    pub exchanges: BTreeMap<String, Exchange>,
}

/// Reads the tests of a file: one that runs all cases of the contract, then its mutants.
///
/// # Errors
/// Everything that is wrong with the file and with what it names, each with its place.
pub fn load(path: &Path, document: &Document) -> Result<Vec<Planned>, Vec<Problem>> {
    let bench = Arc::new(Bench::read(path, document)?);
    let (name, place) = (bench.contract.name.clone(), bench.contract.place.clone());
    let run = Box::new(move |setting: Arc<Setting>| -> crate::plan::Work {
        Box::pin(async move { super::run::all(&bench, &setting).await })
    });
    Ok(vec![Planned { name, place, run }])
}

/// A contract that runs as it is: name and text of each file, with the agent that it is about.
pub fn ready() -> Vec<(String, String)> {
    const FILES: &[(&str, &str)] = &[
        (
            "cleanup.yaml",
            include_str!("../../../../examples/agents/contracts/cleanup-careful.yaml"),
        ),
        ("cleanup.py", include_str!("../../../../examples/agents/cleanup_careful.py")),
        ("decisions.yaml", include_str!("../../../../examples/agents/decisions.yaml")),
        (
            "projects-list-v1.yaml",
            include_str!("../../../../examples/agents/fixtures/projects-list-v1.yaml"),
        ),
        (
            "projects-archive-v1.yaml",
            include_str!("../../../../examples/agents/fixtures/projects-archive-v1.yaml"),
        ),
    ];
    // All lie in one folder here.
    let beside = |text: &str| {
        text.replace("../fixtures/", "")
            .replace("../decisions.yaml", "decisions.yaml")
            .replace("cleanup_careful.py", "cleanup.py")
            .replace("folder: ..", "folder: .")
            .replace("name: careful cleanup", "name: cleanup")
    };
    FILES.iter().map(|(name, text)| ((*name).to_owned(), beside(text))).collect()
}

impl Bench {
    /// Reads a contract with what it names.
    ///
    /// # Errors
    /// As [`load`].
    pub fn read(path: &Path, document: &Document) -> Result<Bench, Vec<Problem>> {
        let contract = Contract::read(document)?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let mut problems = Vec::new();
        let beside = |name: &String| folder.join(name).to_string_lossy().into_owned();
        let paths: Vec<String> = contract.fixtures.iter().map(beside).collect();
        let fixtures = fixtures(&paths).unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        });
        let map = contract.map.as_ref().and_then(|name| {
            let name = beside(name);
            let text = match std::fs::read_to_string(&name) {
                Ok(text) => text,
                Err(why) => {
                    problems.push(problem(
                        &name,
                        format!("The decision map cannot be read: {why}."),
                        "",
                    ));
                    return None;
                }
            };
            DecisionMap::parse(&name, &text).map_err(|found| problems.extend(found)).ok()
        });
        let tools = contract.tools.as_ref().map(|name| tools::list(&beside(name)));
        let tools = tools.transpose().map_err(|found| problems.extend(found)).ok().flatten();
        let mut exchanges = BTreeMap::new();
        for name in contract
            .model
            .iter()
            .chain(contract.cases.iter().filter_map(|case| case.model.as_ref()))
        {
            match exchange(&beside(name)) {
                Ok(exchange) => {
                    exchanges.insert(name.clone(), exchange);
                }
                Err(found) => problems.extend(found),
            }
        }
        let (file, tools) = (document.name().to_owned(), tools.unwrap_or_default());
        let bench = Bench { contract, file, folder, fixtures, map, tools, exchanges };
        if problems.is_empty() {
            bench.hold(&mut problems);
        }
        if problems.is_empty() { Ok(bench) } else { Err(problems) }
    }

    /// What stands in for the model in a case.
    pub fn exchange(&self, case: &Case) -> Option<&Exchange> {
        self.exchanges.get(case.model.as_ref().or(self.contract.model.as_ref())?)
    }

    /// The versions that hold in a case.
    pub fn versions(&self, case: &Case) -> BTreeMap<String, u64> {
        let ids = self.contract.versions.iter().chain(&case.versions);
        let fixtures = ids.filter_map(|id| self.fixtures.iter().find(|f| f.id() == *id));
        fixtures.map(|fixture| (fixture.name.clone(), fixture.version)).collect()
    }

    /// Holds the contract against its fixtures and its map.
    fn hold(&self, problems: &mut Vec<Problem>) {
        let contract = &self.contract;
        if !self.tools.is_empty() {
            for fixture in tools::unreachable(&self.tools, &self.fixtures) {
                let operation = fixture.operation();
                problems.push(problem(
                    &fixture.file,
                    format!("{operation} answers calls of a tool that is not listed, so nobody calls it."),
                    "Correct the name, or add the tool to the list of the contract.",
                ));
            }
        }
        for (place, ids) in std::iter::once((&contract.place, &contract.versions))
            .chain(contract.cases.iter().map(|case| (&case.place, &case.versions)))
        {
            for id in ids.iter().filter(|id| !self.fixtures.iter().any(|f| f.id() == **id)) {
                let known: Vec<String> = self.fixtures.iter().map(Fixture::id).collect();
                let words: Vec<&str> = known.iter().map(String::as_str).collect();
                let help = match nearest(id, &words) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("There are: {}.", known.join(", ")),
                };
                problems.push(problem(place, format!("There is no fixture `{id}`."), &help));
            }
        }
        for case in &contract.cases {
            for armed in &case.faults {
                let known = |name: &String| self.fixtures.iter().any(|f| f.name == *name);
                if let Some(name) = armed.fixture.as_ref().filter(|name| !known(name)) {
                    problems.push(problem(
                        &case.place,
                        format!("The fault is about `{name}`, and there is no such fixture."),
                        "Name it without its version.",
                    ));
                }
            }
            for request in &case.requests {
                let operation = format!("{} {}", request.method, request.path);
                self.answered(&operation, &case.place, problems);
            }
        }
        let named = contract.actions.keys().chain(contract.options.keys());
        let named = named.chain(contract.pages.keys()).chain(contract.tokens.keys());
        let named = named.chain(contract.aliases.keys());
        let named: BTreeSet<&String> =
            named.chain(contract.contradictions.iter().map(|c| &c.on)).collect();
        for operation in named {
            self.answered(operation, &contract.place, problems);
        }
        if let Some(map) = &self.map {
            self.hold_map(map, problems);
        }
    }

    /// What no fixture answers can never be as it is expected.
    fn answered(&self, operation: &str, place: &str, problems: &mut Vec<Problem>) {
        let fits = |f: &Fixture| {
            same_operation(&f.operation(), operation) || same_operation(operation, &f.operation())
        };
        if !self.fixtures.iter().any(fits) {
            problems.push(problem(
                place,
                format!("No fixture answers {operation}, so nothing about it could ever hold."),
                "Add a fixture for it, or correct the operation.",
            ));
        }
    }

    fn hold_map(&self, map: &DecisionMap, problems: &mut Vec<Problem>) {
        let contract = &self.contract;
        let asks = map
            .operations
            .values()
            .flat_map(|surface| &surface.response)
            .any(|reading| [reading.absent, reading.unknown].contains(&Some(Consequence::Ask)));
        if asks && contract.plan.asks.is_none() {
            problems.push(problem(
                &contract.place,
                "The decision map has values about which a person is asked, and nothing says where the plan asks.".to_owned(),
                "Add `asks:` to `plan:`, with the place of the questions.",
            ));
        }
        if !contract.acts {
            if contract.plan.notes.is_none() {
                problems.push(problem(
                    &contract.place,
                    "An agent that reads notes what it does not know, and nothing says where."
                        .to_owned(),
                    "Add `notes:` to `plan:`, with the place of what is noted.",
                ));
            }
            return;
        }
        for fixture in &self.fixtures {
            let operation = fixture.operation();
            let surface = map.operation(fixture.operation_id.as_deref(), &operation);
            let Some(surface) = surface.or_else(|| of_operation(&map.operations, &operation))
            else {
                continue;
            };
            for reading in &surface.request {
                let place = reading.path.join(".").replace(".[]", "[]");
                let head = reading.path.first().map_or("", String::as_str);
                // What stands in the path is always sent, and so is what names the objects.
                let objects = of_operation(&contract.actions, &operation);
                let objects = objects.into_iter().flatten();
                let named = |at: &Place| at.steps.starts_with(&reading.path);
                if !["query", "body", "header"].contains(&head) || objects.into_iter().any(named) {
                    continue;
                }
                let options = of_operation(&contract.options, &operation);
                let declared = options
                    .into_iter()
                    .flatten()
                    .any(|(at, _, _): &(Place, Who, String)| at.steps == reading.path);
                if !declared {
                    let sentence = format!(
                        "{place} of {operation} reaches a decision, and nothing says who decides about it."
                    );
                    let told = problem(
                        &contract.place,
                        sentence,
                        &format!(
                            "Add under `options:`, `{operation}:`, a line `{place}: always_send`, or require_choice."
                        ),
                    );
                    if !problems.contains(&told) {
                        problems.push(told);
                    }
                }
            }
        }
    }
}

fn problem(place: &str, sentence: String, help: &str) -> Problem {
    Problem { place: place.to_owned(), sentence, help: help.to_owned() }
}

/// Reads an exchange with a model.
fn exchange(path: &str) -> Result<Exchange, Vec<Problem>> {
    let bytes = std::fs::read(path).map_err(|why| {
        vec![problem(path, format!("The exchange with the model cannot be read: {why}."), "")]
    })?;
    Exchange::read(&Document::parse(path, &bytes)?)
}

/// Reads all fixtures of files and folders; other YAML files in a folder are passed over.
///
/// # Errors
/// Everything that is wrong with them, and that there is none.
pub fn fixtures(paths: &[String]) -> Result<Vec<Fixture>, Vec<Problem>> {
    let (mut fixtures, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let folder = Path::new(path).is_dir();
        let files = if folder { files(path, &mut problems) } else { vec![path.clone()] };
        for file in files {
            let bytes = match std::fs::read(&file) {
                Ok(bytes) => bytes,
                Err(why) => {
                    let sentence = match why.kind() {
                        std::io::ErrorKind::NotFound => {
                            "There is no such file or folder.".to_owned()
                        }
                        _ => format!("It cannot be read: {why}."),
                    };
                    problems.push(problem(&file, sentence, "Check the path."));
                    continue;
                }
            };
            match Document::parse(&file, &bytes) {
                Ok(document) if folder && document.first_key() != Some("fixture") => {}
                Ok(document) => match Fixture::read(&document) {
                    Ok(fixture) => fixtures.push(fixture),
                    Err(found) => problems.extend(found),
                },
                Err(found) => problems.extend(found),
            }
        }
    }
    if let Err(twice) = fixture::distinct(&fixtures) {
        problems.extend(twice);
    }
    if fixtures.len() > limits::FIXTURES {
        problems.push(problem(
            &paths.join(" "),
            format!("There are more than {} fixtures.", limits::FIXTURES),
            "Name a folder that holds those of one API.",
        ));
    }
    if problems.is_empty() && fixtures.is_empty() {
        problems.push(problem(
            &paths.join(" "),
            "There is no fixture here: no YAML file that begins with `fixture: 1`.".to_owned(),
            "docs/serve.md shows one.",
        ));
    }
    if problems.is_empty() { Ok(fixtures) } else { Err(problems) }
}

/// The YAML and JSON files of a folder and of those in it, in the order of their paths.
fn files(folder: &str, problems: &mut Vec<Problem>) -> Vec<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(why) => {
                problems.push(problem(&folder, format!("The folder cannot be read: {why}."), ""));
                continue;
            }
        };
        for entry in entries {
            let path = match entry {
                Ok(entry) => entry.path(),
                Err(why) => {
                    let sentence = format!("The folder cannot be read: {why}.");
                    problems.push(problem(&folder, sentence, ""));
                    continue;
                }
            };
            let name = path.to_string_lossy().into_owned();
            // A link could lead in a circle.
            if path.is_dir() && !path.is_symlink() {
                open.push(name);
            } else if Notation::of_name(&name).is_some() && path.is_file() {
                found.insert(name);
            }
        }
        if found.len() + open.len() > limits::FOLDER_ENTRIES {
            let sentence = format!("There are more than {} files here.", limits::FOLDER_ENTRIES);
            problems.push(problem(&folder, sentence, "Name the folder with the fixtures."));
            return Vec::new();
        }
    }
    found.into_iter().collect()
}
