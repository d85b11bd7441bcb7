//! The labelled run: every label's verdict against what `diff` says, as fixtures/mcp/README.md defines it.
//!
//! `cargo run --release -p steadfast-contract --example labels_score -- [--aliases] [--row ID]... [FOLDER]`
//!
//! FOLDER holds `labels.jsonl` and the servers, or `mcp/` with the servers; default: `fixtures/mcp`.
//! `--aliases` passes on the renames that a server's own project declares (`aliases.json`).
//! `--row` prints everything found for that row. The exit code is 1 where a row cannot be read.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report on the terminal is its purpose"
)]

#[path = "support/histories.rs"]
mod histories;

use contract::{Axes, Change, Contract, Diff, Options, Verdict, diff};
use histories::{History, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// One labelled change; the prose members are for people and are not read here.
#[derive(Deserialize)]
struct Label {
    id: String,
    server: String,
    from: String,
    to: String,
    tool: String,
    kind: String,
    accept: Vec<Verdict>,
    authority: contract::Authority,
    meaning: contract::Meaning,
    #[serde(default)]
    debatable: bool,
}

/// What the tool under test said about one row.
struct Said {
    verdict: Verdict,
    axes: Axes,
    changes: Vec<Change>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Right,
    Miss,
    FalseAlarm,
    Other,
    Undecided,
}

impl Outcome {
    fn of(accept: &[Verdict], said: Verdict) -> Outcome {
        if accept.contains(&said) {
            Outcome::Right
        } else if said == Verdict::Undecided {
            Outcome::Undecided
        } else if said == Verdict::Safe {
            Outcome::Miss
        } else if accept == [Verdict::Safe] {
            Outcome::FalseAlarm
        } else {
            Outcome::Other
        }
    }

    fn word(self) -> &'static str {
        match self {
            Outcome::Right => "right",
            Outcome::Miss => "MISS",
            Outcome::FalseAlarm => "FALSE ALARM",
            Outcome::Other => "other",
            Outcome::Undecided => "undecided",
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("labels_score: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut folder = histories::repository().join("fixtures/mcp");
    let mut with_aliases = false;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--aliases" => with_aliases = true,
            "--row" => wanted.push(arguments.next().ok_or("--row needs an id, e.g. --row SL01")?),
            flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            path => folder = PathBuf::from(path),
        }
    }
    let servers = if folder.join("mcp").is_dir() { folder.join("mcp") } else { folder.clone() };
    let labels = read_labels(&folder.join("labels.jsonl"))?;
    let histories: BTreeMap<String, History> = histories::histories(&servers)?
        .into_iter()
        .map(|history| (history.server.clone(), history))
        .collect();

    let mut rows = Vec::new();
    let mut cache: BTreeMap<(String, String, String), Diff> = BTreeMap::new();
    for label in labels {
        let key = (label.server.clone(), label.from.clone(), label.to.clone());
        if !cache.contains_key(&key) {
            let compared = compare(&histories, &label, with_aliases)?;
            cache.insert(key.clone(), compared);
        }
        let said = answer(&cache[&key], &label.tool);
        rows.push((label, said));
    }
    for (label, said) in &rows {
        let outcome = Outcome::of(&label.accept, said.verdict);
        let asked = wanted.contains(&label.id);
        if outcome != Outcome::Right || asked {
            show(label, said, outcome, asked);
        }
    }
    println!();
    summary("all rows", &rows.iter().collect::<Vec<_>>());
    summary(
        "without debatable rows",
        &rows.iter().filter(|(label, _)| !label.debatable).collect::<Vec<_>>(),
    );
    axes_wrong(&rows);
    Ok(())
}

fn read_labels(path: &std::path::Path) -> Result<Vec<Label>> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line)
                .map_err(|error| format!("{}:{}: {error}", path.display(), index + 1))
        })
        .collect()
}

fn compare(
    histories: &BTreeMap<String, History>,
    label: &Label,
    with_aliases: bool,
) -> Result<Diff> {
    let history = histories
        .get(&label.server)
        .ok_or_else(|| format!("{}: no snapshots of {}", label.id, label.server))?;
    let at = history
        .snapshots
        .windows(2)
        .find(|pair| pair[0].0 == label.from && pair[1].0 == label.to)
        .ok_or_else(|| {
            format!("{}: {} and {} are no neighbours", label.id, label.from, label.to)
        })?;
    let aliases = match (with_aliases, at[1].1.parent()) {
        (true, Some(parent)) => histories::read_aliases(parent)?,
        _ => BTreeMap::new(),
    };
    let old = histories::read_tools(&at[0].1, BTreeMap::new())?;
    let new = histories::read_tools(&at[1].1, aliases)?;
    check_named(&old, &new, label)?;
    diff(&old, &new, &Options::default()).map_err(|problems| {
        let sentences: Vec<_> =
            problems.iter().map(|p| format!("{}: {}", p.place, p.sentence)).collect();
        format!("{}: {}", label.id, sentences.join("; "))
    })
}

/// A label that names no tool of either list would be scored `safe` by mistake.
fn check_named(old: &Contract, new: &Contract, label: &Label) -> Result<()> {
    let named = [old, new].iter().any(|side| match side {
        Contract::Tools(list) => list.tools.iter().any(|tool| tool.name == label.tool),
        Contract::Openapi(_) | Contract::Schema(_) => false,
    });
    if named || label.tool == "*" {
        Ok(())
    } else {
        Err(format!("{}: neither list has a tool {}", label.id, label.tool))
    }
}

/// The answer for one tool; for `*` the gravest over the whole list. A tool not listed is `safe`.
fn answer(compared: &Diff, tool: &str) -> Said {
    let entries =
        compared.entries.iter().filter(|entry| tool == "*" || entry.subject.name() == tool);
    let mut said = Said { verdict: Verdict::Safe, axes: Axes::SAME, changes: Vec::new() };
    for entry in entries {
        said.verdict = said.verdict.max(entry.verdict);
        said.axes = said.axes.join(entry.axes);
        said.changes.extend(entry.changes.iter().cloned());
    }
    said
}

fn show(label: &Label, said: &Said, outcome: Outcome, whole: bool) {
    println!(
        "{:<11} {:<6} {} {}>{} {} [{}]{}",
        outcome.word(),
        label.id,
        label.server,
        label.from,
        label.to,
        label.tool,
        label.kind,
        if label.debatable { " debatable" } else { "" },
    );
    println!(
        "            said {} ({}, {}, {}); accepted: {}; labelled authority {}, meaning {}",
        word(&said.verdict),
        word(&said.axes.compat),
        word(&said.axes.authority),
        word(&said.axes.meaning),
        label.accept.iter().map(word).collect::<Vec<_>>().join(", "),
        word(&label.authority),
        word(&label.meaning),
    );
    let mut changes: Vec<&Change> = said.changes.iter().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.verdict));
    for change in changes.iter().take(if whole { usize::MAX } else { 4 }) {
        println!(
            "            {} {:<12} {}  {}",
            change.rule,
            word(&change.verdict),
            change.path,
            change.sentence
        );
    }
    if !whole && changes.len() > 4 {
        println!("            … and {} more (--row {})", changes.len() - 4, label.id);
    }
}

fn summary(title: &str, rows: &[&(Label, Said)]) {
    let count = |outcome: Outcome| {
        rows.iter()
            .filter(|(label, said)| Outcome::of(&label.accept, said.verdict) == outcome)
            .count()
    };
    let must_not_be_safe =
        rows.iter().filter(|(label, _)| !label.accept.contains(&Verdict::Safe)).count();
    let must_be_safe = rows.iter().filter(|(label, _)| label.accept == [Verdict::Safe]).count();
    let about_the_grant = rows
        .iter()
        .filter(|(label, said)| {
            Outcome::of(&label.accept, said.verdict) == Outcome::FalseAlarm
                && said.verdict == Verdict::NewApproval
                && label.authority == contract::Authority::Wider
        })
        .count();
    println!("{title}");
    println!(
        "  right        {:>3} of {:>3}  ({:.1} %)",
        count(Outcome::Right),
        rows.len(),
        percent(count(Outcome::Right), rows.len())
    );
    println!("  MISS         {:>3} of {must_not_be_safe:>3}", count(Outcome::Miss));
    println!(
        "  FALSE ALARM  {:>3} of {must_be_safe:>3}  ({about_the_grant} of them asked about the grant, not the call)",
        count(Outcome::FalseAlarm)
    );
    println!("  other        {:>3}", count(Outcome::Other));
    println!("  undecided    {:>3}", count(Outcome::Undecided));
    let authority: Vec<_> =
        rows.iter().filter(|(label, _)| label.authority != contract::Authority::Unknown).collect();
    let right =
        authority.iter().filter(|(label, said)| label.authority == said.axes.authority).count();
    println!("  authority    {right:>3} of {:>3}", authority.len());
    let meaning: Vec<_> =
        rows.iter().filter(|(label, _)| label.meaning != contract::Meaning::Unknown).collect();
    let right = meaning.iter().filter(|(label, said)| label.meaning == said.axes.meaning).count();
    println!("  meaning      {right:>3} of {:>3}", meaning.len());
}

/// The rows whose other two columns differ, so that they can be looked at one by one.
fn axes_wrong(rows: &[(Label, Said)]) {
    println!("authority or meaning differs (labelled > said)");
    for (label, said) in rows {
        let mut parts = Vec::new();
        if label.authority != contract::Authority::Unknown && label.authority != said.axes.authority
        {
            parts.push(format!(
                "authority {} > {}",
                word(&label.authority),
                word(&said.axes.authority)
            ));
        }
        if label.meaning != contract::Meaning::Unknown && label.meaning != said.axes.meaning {
            parts.push(format!("meaning {} > {}", word(&label.meaning), word(&said.axes.meaning)));
        }
        if !parts.is_empty() {
            println!("  {:<6} {:<40} {}", label.id, label.tool, parts.join(", "));
        }
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// The word that the JSON form uses.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        other => format!("{other:?}"),
    }
}
