//! `steadfast serve`: the contract server alone, for tests in any language and for a person.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::running;
use contract::Problem;
use lab::decision::{Fixture, Server, Setup, Shelf, load};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Files and folders with fixtures
    #[arg(required = true)]
    paths: Vec<String>,
    /// Serve this version of a fixture, as `projects-list-v1`; else the highest one
    #[arg(long = "use", value_name = "FIXTURE")]
    versions: Vec<String>,
    /// Also speak MCP at /mcp: list the tools of this file, and answer a call of NAME as POST /tools/NAME
    #[arg(long, value_name = "FILE")]
    tools: Option<String>,
    /// Listen on this port of the loopback address; else on a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Append each request to this file, a line of JSON each
    #[arg(long, value_name = "FILE")]
    records: Option<String>,
    /// Show this header of requests in the records; others are fingerprints
    #[arg(long, value_name = "NAME")]
    header: Vec<String>,
    /// Write the address to this file once requests are answered
    #[arg(long, value_name = "FILE")]
    address_file: Option<String>,
    /// Hold a request that hangs for so many milliseconds before its connection is cut
    #[arg(long, value_name = "MS")]
    hang: Option<u64>,
    /// Read the fixtures, say what they are, and end
    #[arg(long)]
    check: bool,
}

impl Command for ServeArgs {
    const NAME: &'static str = "serve";
    const ABOUT: &'static str =
        "Serve versioned fixtures in place of an API, and record what is asked";
    const EXAMPLES: &'static str = "\
The first line on standard output is the address. Every request is recorded before it is answered;
one that no fixture answers gets 501 with the nearest fixture and what differs. Versions, faults
and records are steered over HTTP below /.steadfast/; its OpenAPI document is
/.steadfast/openapi.json.

Examples:
  steadfast serve fixtures/
  steadfast serve fixtures/ --use projects-list-v1 --records requests.jsonl
  steadfast serve fixtures/ --check
  curl -X POST \"$URL/.steadfast/faults\" -d '{\"fixture\":\"projects-list\",\"fault\":\"hang\",\"times\":1}'";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let fixtures = load::fixtures(&self.paths)?;
        let versions = chosen(&fixtures, &self.versions)?;
        let ends = lab::decision::fixture::ends(&fixtures, &output::today().to_string());
        for sentence in &ends {
            shell.note(&format!("note: {}", output::printable(sentence)));
        }
        let shelf = Shelf::new(fixtures, versions);
        if self.check {
            for fixture in shelf.fixtures() {
                let holds = if shelf.holds(fixture) { "served" } else { "kept" };
                shell.print(&format!("{holds:<7} {}  {}\n", fixture.id(), fixture.operation()))?;
            }
            return Ok(if ends.is_empty() { Exit::Fine } else { Exit::Findings });
        }
        let runtime = running::runtime()?;
        let exit = runtime.block_on(self.serve(shell, shelf));
        runtime.shutdown_background();
        exit
    }
}

impl ServeArgs {
    async fn serve(&self, shell: &Shell, shelf: Shelf) -> Result<Exit, Failure> {
        let file = self.records.as_deref().map(appended).transpose()?;
        let setup = Setup {
            port: self.port,
            control: true,
            file,
            chosen: self.header.iter().map(|name| name.to_ascii_lowercase()).collect(),
            hang: self.hang.map_or(lab::limits::HANG, Duration::from_millis),
            through: None,
            tools: match &self.tools {
                None => Vec::new(),
                Some(path) => lab::decision::tools::list(path)?,
            },
        };
        let server = Server::start(shelf, setup).await.map_err(|why| {
            Failure::one(
                format!("127.0.0.1:{}", self.port),
                format!("The port cannot be listened on: {why}."),
                "Leave out --port for a free one.",
            )
        })?;
        shell.print(&format!("{}\n", server.url()))?;
        shell.note(&format!("control API: {}/.steadfast/openapi.json", server.url()));
        if let Some(path) = &self.address_file {
            files::write(Path::new(path), &format!("{}\n", server.url()))?;
        }
        let ended = ended().await;
        let entries = server.entries();
        let unmatched: Vec<_> = entries.iter().filter(|entry| entry.status == Some(501)).collect();
        shell.note(&format!(
            "{} requests, {} that no fixture answers",
            entries.len(),
            unmatched.len()
        ));
        if let Some(why) = server.broken() {
            return Err(Failure::one(self.records.clone().unwrap_or_default(), why, ""));
        }
        ended
            .map_err(|why| Failure::one("serve", format!("Signals cannot be heard: {why}."), ""))?;
        Ok(Exit::Fine)
    }
}

/// Waits for the word to end, from a person or from a test that started this.
async fn ended() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut term = signal(SignalKind::terminate())?;
    tokio::select! {
        heard = tokio::signal::ctrl_c() => heard,
        _ = term.recv() => Ok(()),
    }
}

fn appended(path: &str) -> Result<std::fs::File, Failure> {
    std::fs::OpenOptions::new().create(true).append(true).open(path).map_err(|why| {
        Failure::one(
            path,
            format!("The file of records cannot be opened: {why}."),
            "Check that its folder exists and may be written to.",
        )
    })
}

/// Reads `projects-list-v1` as a name and a version.
fn chosen(fixtures: &[Fixture], ids: &[String]) -> Result<BTreeMap<String, u64>, Failure> {
    let mut versions = BTreeMap::new();
    let mut problems = Vec::new();
    for id in ids {
        if let Some(fixture) = fixtures.iter().find(|fixture| fixture.id() == *id) {
            versions.insert(fixture.name.clone(), fixture.version);
            continue;
        }
        let known: Vec<String> = fixtures.iter().map(Fixture::id).collect();
        problems.push(Problem {
            place: format!("--use {id}"),
            sentence: "There is no such fixture.".to_owned(),
            help: format!("There are: {}.", known.join(", ")),
        });
    }
    if problems.is_empty() { Ok(versions) } else { Err(problems.into()) }
}
