//! `steadfast journal`: what was recorded, and whether anyone touched it.

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::limits;
use crate::output::{Shell, printable};
use crate::progress;
use crate::state::{StoreArgs, block_on, failure, now, shown_time, wait, who};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use store::journal::{Leaf, Payload, Report, Trust, export, verify_folder, verify_store};
use store::{Access, RequestId, Store, StoreError};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Journal {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print records, the last ones unless told otherwise
    Show(ShowArgs),
    /// Check that no record was altered, taken out, put in or moved
    Verify(VerifyArgs),
    /// Write the journal into a folder that anyone can verify
    Export(ExportArgs),
    /// Erase the arguments, answers and cards of one request; every proof stays valid
    Erase(EraseArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// From this record on
    #[arg(long, value_name = "N", conflicts_with = "request")]
    from: Option<u64>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = limits::LISTED)]
    limit: u32,
    /// The records about one request
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Show what is sealed too: arguments, answers, cards
    #[arg(long, requires = "request")]
    reveal: bool,
    #[command(flatten)]
    store: StoreArgs,
    /// How the records are written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// A folder that `journal export` wrote; without one, the store is verified in its place
    #[arg(value_name = "FOLDER", conflicts_with = "path")]
    folder: Option<PathBuf>,
    /// The public key as you noted it elsewhere: the key itself, or a file with it
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// A checkpoint that you kept elsewhere
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// The folder; it must be empty or not there yet
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

#[derive(Debug, clap::Args)]
struct EraseArgs {
    /// The request
    #[arg(value_name = "REQUEST")]
    request: String,
    /// Who erases [default: the user of this terminal]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    store: StoreArgs,
}

impl Command for Journal {
    const NAME: &'static str = "journal";
    const ABOUT: &'static str = "Show, verify and export the journal of the gateway";
    const EXAMPLES: &'static str = "\
Keep two things where nobody who can write to the store can reach them: key.pub and checkpoint of an export. With them
verify shows what it cannot show alone: that the journal was not put back or written anew as a whole.

Examples:
  steadfast journal show --limit 20
  steadfast journal show --request 019ad465-4d00-7003-816a-f38f59d2ddeb --reveal
  steadfast journal verify
  steadfast journal export /backup/journal-2026-11
  steadfast journal verify /backup/journal-2026-11 --key key.pub --checkpoint checkpoint";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        match self.action {
            Action::Show(arguments) => show(&arguments, shell),
            Action::Verify(arguments) => verify(&arguments, shell),
            Action::Export(arguments) => write(&arguments, shell),
            Action::Erase(arguments) => erase(&arguments, shell),
        }
    }
}

fn request_id(text: &str) -> Result<RequestId, Failure> {
    text.parse().map_err(|error: StoreError| {
        Failure::one("journal", error.to_string(), "steadfast activity lists requests.")
    })
}

fn show(arguments: &ShowArgs, shell: &Shell) -> Result<Exit, Failure> {
    let store = arguments.store.open(Access::Read)?;
    let limit = arguments.limit.max(1);
    let mut revealed = Vec::new();
    let leaves = match &arguments.request {
        Some(request) => {
            let request = request_id(request)?;
            if arguments.reveal {
                revealed = wait(store.payloads(request))?;
            }
            wait(store.leaves_of(request))?
        }
        None => {
            let last = wait(store.records())?.saturating_sub(u64::from(limit));
            wait(store.leaves(arguments.from.unwrap_or(last), limit))?
        }
    };
    shell.print(&match arguments.format {
        Plain::Text if leaves.is_empty() => "no such record\n".to_owned(),
        Plain::Text => leaves.iter().map(|leaf| lines(leaf, &revealed)).collect(),
        Plain::Json => {
            let records: Vec<Value> = leaves.iter().map(|leaf| object(leaf, &revealed)).collect();
            format!("{:#}\n", json!({ "records": records }))
        }
    })?;
    Ok(Exit::Fine)
}

fn read(leaf: &Leaf) -> Value {
    serde_json::from_str(&leaf.envelope).unwrap_or(Value::Null)
}

fn lines(leaf: &Leaf, revealed: &[Payload]) -> String {
    let envelope = read(leaf);
    let at = envelope["at"].as_u64().map(shown_time).unwrap_or_default();
    let kind = envelope["kind"].as_str().unwrap_or("unreadable");
    let rest: Vec<String> = envelope
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !["at", "kind", "seq", "sealed"].contains(&name.as_str()))
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            other => format!("{name}={other}"),
        })
        .collect();
    let mut text =
        format!("{}  {at}  {}  {}\n", leaf.seq, printable(kind), printable(&rest.join("  ")));
    for payload in revealed.iter().filter(|payload| payload.seq == leaf.seq) {
        text.push_str(&format!("  {}: {}\n", payload.part, printable(&payload.text)));
    }
    text
}

fn object(leaf: &Leaf, revealed: &[Payload]) -> Value {
    let hash: String = leaf.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut value = json!({ "hash": hash, "record": read(leaf) });
    let mine = revealed.iter().filter(|payload| payload.seq == leaf.seq);
    let parts: serde_json::Map<String, Value> =
        mine.map(|payload| (payload.part.to_string(), payload.text.clone().into())).collect();
    if !parts.is_empty() {
        value["revealed"] = Value::Object(parts);
    }
    value
}

fn verify(arguments: &VerifyArgs, shell: &Shell) -> Result<Exit, Failure> {
    let trust = Trust {
        key: arguments.key.as_deref().map(key).transpose()?,
        checkpoint: arguments.checkpoint.as_deref().map(text_of).transpose()?,
    };
    let (what, done) = match &arguments.folder {
        Some(folder) => {
            let what = folder.display().to_string();
            let work = || verify_folder(folder, &trust);
            (
                what.clone(),
                progress::while_running(shell, format!("verifying {what}"), usize::MAX, work),
            )
        }
        None => {
            let path = arguments.store.path()?;
            let store = arguments.store.open(Access::Read)?;
            let what = path.display().to_string();
            let work = || block_on(verify_store(&store, &trust, |_| {}));
            (
                what.clone(),
                progress::while_running(shell, format!("verifying {what}"), usize::MAX, work),
            )
        }
    };
    let report = done.map_err(|error| failure(Path::new(&what), &error))?;
    shell.print(&match arguments.format {
        Plain::Text => in_words(&what, &report, arguments.folder.is_none()),
        Plain::Json => format!("{:#}\n", in_json(&report)),
    })?;
    Ok(if report.is_sound() { Exit::Fine } else { Exit::Findings })
}

/// The key itself, or the content of a file.
fn key(text: &str) -> Result<String, Failure> {
    if text.contains('+') && !Path::new(text).exists() {
        return Ok(text.to_owned());
    }
    text_of(text)
}

fn text_of(path: &str) -> Result<String, Failure> {
    String::from_utf8(crate::files::read(path)?).map_err(|_| {
        Failure::one(path, "The file holds no text.", "An export holds key.pub and checkpoint.")
    })
}

fn in_words(what: &str, report: &Report, store: bool) -> String {
    let records = report.records;
    let mut text = if report.is_sound() {
        format!("sound: {what}\n")
    } else {
        let count = report.faults.len() as u64 + report.more_faults;
        let faults = if count == 1 { "1 fault".to_owned() } else { format!("{count} faults") };
        format!("NOT SOUND: {what}: {faults}\n")
    };
    for fault in &report.faults {
        text.push_str(&format!(
            "  {} {}: {}\n",
            fault.kind,
            printable(&fault.place),
            fault.sentence
        ));
    }
    if report.more_faults > 0 {
        text.push_str(&format!("  and {} more\n", report.more_faults));
    }
    text.push_str(&format!(
        "  journal {}: {records} records, {} covered by checkpoints\n",
        printable(&report.journal),
        report.signed
    ));
    if let Some(size) = report.anchored {
        text.push_str(&format!("  the checkpoint given fits, and covers {size} of them\n"));
    }
    if store {
        text.push_str(&format!(
            "  compared with the rows of the store and {} sealed parts\n",
            report.payloads
        ));
    }
    if report.open_attempts > 0 {
        text.push_str(&format!("  attempts without an outcome: {}\n", report.open_attempts));
    }
    if !report.cannot_show.is_empty() {
        text.push_str("not shown:\n");
    }
    for said in &report.cannot_show {
        text.push_str(&format!("  {said}\n"));
    }
    text
}

fn in_json(report: &Report) -> Value {
    let faults: Vec<Value> = report
        .faults
        .iter()
        .map(|fault| {
            json!({ "kind": fault.kind.as_str(), "place": fault.place, "sentence": fault.sentence })
        })
        .collect();
    json!({
        "sound": report.is_sound(),
        "journal": report.journal,
        "records": report.records,
        "signed": report.signed,
        "anchored": report.anchored,
        "key_given": report.pinned,
        "kinds": report.kinds,
        "open_attempts": report.open_attempts,
        "sealed_parts_compared": report.payloads,
        "faults": faults,
        "more_faults": report.more_faults,
        "cannot_show": report.cannot_show,
    })
}

fn write(arguments: &ExportArgs, shell: &Shell) -> Result<Exit, Failure> {
    let store = arguments.store.open(Access::Command)?;
    let exported = block_on(export(&store, &arguments.folder))
        .map_err(|error| failure(&arguments.folder, &error))?;
    shell.print(&match arguments.format {
        Plain::Text => format!(
            "{} written: {} records, {} covered by the checkpoint\nkeep key.pub and checkpoint where nobody who can write to the store can reach them\n",
            arguments.folder.display(),
            exported.records,
            exported.signed
        ),
        Plain::Json => {
            let value = json!({
                "folder": arguments.folder.display().to_string(),
                "records": exported.records,
                "signed": exported.signed,
                "key": exported.key,
                "checkpoint": exported.checkpoint,
            });
            format!("{value:#}\n")
        }
    })?;
    Ok(Exit::Fine)
}

fn erase(arguments: &EraseArgs, shell: &Shell) -> Result<Exit, Failure> {
    let request = request_id(&arguments.request)?;
    let store = arguments.store.open(Access::Command)?;
    let by = arguments.by.clone().unwrap_or_else(who);
    let parts = wait(store.erase(request, by, now()))?;
    shell.print(&match parts {
        1 => "1 sealed part erased\n".to_owned(),
        parts => format!("{parts} sealed parts erased\n"),
    })?;
    Ok(Exit::Fine)
}
