//! `steadfast lock`: writes down the contract that is accepted.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{self, Shell};
use crate::target::TargetArgs;
use contract::lock::{Accept, Lock};
use contract::text;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct LockArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// The lock file
    #[arg(short, long, value_name = "FILE", default_value = "steadfast.lock")]
    output: String,
    /// Accept this tool alone, and leave all others as they are locked (repeatable)
    #[arg(long, value_name = "TOOL")]
    accept: Vec<String>,
    /// Write nothing; exit with 1 where the lock is not what would be written
    #[arg(long)]
    check: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Summary::Text)]
    format: Summary,
}

/// The formats of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Summary {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
}

impl Command for LockArgs {
    const NAME: &'static str = "lock";
    const ABOUT: &'static str = "Write the accepted contract into steadfast.lock";
    const EXAMPLES: &'static str = "\
The lock is made for code review: what a project accepts is what its lock says. Every tool has a
revision number, which only grows. steadfast gate compares the lock with what is there now.

Examples:
  steadfast lock tools.json
  steadfast lock openapi.yaml -o api.lock
  steadfast lock -- npx -y @modelcontextprotocol/server-memory
  steadfast lock tools.json --accept create_issue
  steadfast lock tools.json --check";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let Some(found) = self.target.read(shell)? else {
            return Err(Failure::one(
                "lock",
                "Nothing is named that could be locked.",
                "Name a file, a folder, an address, or a command after --.",
            ));
        };
        let mut faults = found.reading.faults();
        faults.extend(contract::diff::check(&found.reading.contract));
        if !faults.is_empty() {
            return Err(faults.into());
        }
        let earlier = read_lock(&self.output)?;
        let accept = if self.accept.is_empty() {
            Accept::Everything
        } else {
            Accept::Tools(self.accept.iter().cloned().collect())
        };
        let before = earlier.as_ref().map(|(lock, _)| lock);
        let source = match (self.check, before) {
            // Where the same contract was read from is no difference.
            (true, Some(before)) => before.source.clone(),
            _ => Some(found.source),
        };
        let lock = Lock::accept(&found.reading.contract, source, before, &accept)?;
        let text = output::hidden_spelled_out(&lock.to_text());
        let same = earlier.as_ref().is_some_and(|(_, bytes)| *bytes == text.as_bytes());
        if !self.check && !same {
            files::write(Path::new(&self.output), &text)?;
        }
        let moves = Moves::between(before, &lock);
        shell.print(&match self.format {
            Summary::Text => moves.in_words(&self.output, self.check, same),
            Summary::Json => moves.in_json(&self.output, !self.check && !same),
        })?;
        Ok(if self.check && !same { Exit::Findings } else { Exit::Fine })
    }
}

/// Reads a lock and its bytes; `None` where there is no such file.
pub fn read_lock(path: &str) -> Result<Option<(Lock, Vec<u8>)>, Failure> {
    if !Path::new(path).exists() {
        return Ok(None);
    }
    let bytes = files::read(path)?;
    // A lock is JSON whatever it is called.
    let value = text::read_as(path, &bytes, text::Notation::Json)?;
    Ok(Some((Lock::read(path, &value)?, bytes)))
}

/// What a lock accepts that the earlier one did not.
struct Moves {
    total: usize,
    added: Vec<String>,
    changed: BTreeMap<String, u64>,
    gone: Vec<String>,
    first: bool,
}

impl Moves {
    fn between(before: Option<&Lock>, after: &Lock) -> Moves {
        let empty = BTreeMap::new();
        let old = before.map_or(empty, Lock::ordinals);
        let new = after.ordinals();
        Moves {
            total: new.len(),
            added: new.keys().filter(|name| !old.contains_key(*name)).cloned().collect(),
            changed: new
                .iter()
                .filter(|(name, ordinal)| old.get(*name).is_some_and(|was| was != *ordinal))
                .map(|(name, ordinal)| (name.clone(), *ordinal))
                .collect(),
            gone: old.keys().filter(|name| !new.contains_key(*name)).cloned().collect(),
            first: before.is_none(),
        }
    }

    fn in_words(&self, file: &str, check: bool, same: bool) -> String {
        let mut text = match (check, same, self.first) {
            (_, true, _) => format!("{file} is up to date: {}\n", self.count()),
            (true, false, true) => {
                format!("{file} does not exist yet: {} would be locked\n", self.count())
            }
            (true, false, false) => format!("{file} is behind; nothing was written\n"),
            (false, false, true) => format!("{file} written: {} locked\n", self.count()),
            (false, false, false) => format!("{file} written: {}\n", self.count()),
        };
        if self.first {
            return text;
        }
        let changed: Vec<String> = self
            .changed
            .iter()
            .map(|(name, ordinal)| format!("{} (revision {ordinal})", visible(name)))
            .collect();
        let added: Vec<String> = self.added.iter().map(|name| visible(name)).collect();
        let gone: Vec<String> = self.gone.iter().map(|name| visible(name)).collect();
        for (word, names) in [("changed", changed), ("added", added), ("gone", gone)] {
            if !names.is_empty() {
                text.push_str(&format!("  {word}: {}\n", listed(&names)));
            }
        }
        text
    }

    fn count(&self) -> String {
        match self.total {
            1 => "1 entry".to_owned(),
            total => format!("{total} entries"),
        }
    }

    fn in_json(&self, file: &str, written: bool) -> String {
        let changed: Vec<_> = self
            .changed
            .iter()
            .map(|(name, ordinal)| json!({"name": name, "revision": ordinal}))
            .collect();
        let value = json!({
            "file": file,
            "written": written,
            "entries": self.total,
            "added": self.added,
            "changed": changed,
            "gone": self.gone,
        });
        format!("{value:#}\n")
    }
}

/// The first names of a list, and how many more there are.
fn listed(names: &[String]) -> String {
    /// More than these are not read on a line; the lock itself shows all.
    const SHOWN: usize = 12;
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

/// A name from a server, harmless on a terminal.
fn visible(name: &str) -> String {
    crate::output::printable(name)
}
