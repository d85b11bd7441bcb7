//! `steadfast map`: a first decision map from recorded traffic.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{Shell, printable};
use contract::Problem;
use lab::decision::record::Entry;
use lab::decision::{draft, load};
use std::path::Path;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct MapArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Draft a map from the requests that `serve --records` wrote: which values of answers turned up later
    Draft {
        /// The file of records, a line of JSON each
        records: String,
        /// Files and folders with the fixtures that were served, for the names of operations
        #[arg(long, value_name = "PATH")]
        fixtures: Vec<String>,
        /// Write the map to this file, which must not exist
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
    },
}

impl Command for MapArgs {
    const NAME: &'static str = "map";
    const ABOUT: &'static str = "Draft a decision map from recorded traffic";
    const EXAMPLES: &'static str = "\
Run the agent against `steadfast serve` once, then draft. What it says is a guess for a person to
correct: values of answers that turned up in later requests, values that tell the objects that were
acted on from the others, and values that were sent.

Examples:
  steadfast serve fixtures/ --records requests.jsonl
  steadfast map draft requests.jsonl --fixtures fixtures/ -o decisions.yaml";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let What::Draft { records, fixtures, output } = self.what;
        let fixtures = if fixtures.is_empty() { Vec::new() } else { load::fixtures(&fixtures)? };
        let text = draft::draft(&entries(&records)?, &fixtures);
        let Some(path) = output else {
            shell.print(
                &text.lines().map(|line| format!("{}\n", printable(line))).collect::<String>(),
            )?;
            return Ok(Exit::Fine);
        };
        if Path::new(&path).exists() {
            return Err(Failure::one(
                path,
                "The file is there already; nothing was written.",
                "A map holds the work of people. Name another file.",
            ));
        }
        files::write(Path::new(&path), &text)?;
        shell.note(&format!("wrote {path}"));
        Ok(Exit::Fine)
    }
}

fn entries(path: &str) -> Result<Vec<Entry>, Failure> {
    let bytes = files::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(entry) => entries.push(entry),
            Err(why) => problems.push(Problem {
                place: format!("{path}:{}:{}", number + 1, why.column()),
                sentence: format!("This is no record: {why}."),
                help: "Give the file that `steadfast serve --records` wrote.".to_owned(),
            }),
        }
        if problems.len() >= contract::limits::PROBLEMS {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    if entries.is_empty() {
        return Err(Failure::one(path, "The file holds no record.", "Run the agent once first."));
    }
    Ok(entries)
}
