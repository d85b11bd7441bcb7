//! The whole walk: every neighbouring pair of every history through `diff`, with times and memory.
//!
//! `cargo run --release -p steadfast-contract --example corpus_walk -- [FOLDER]`
//!
//! FOLDER holds the servers, or `mcp/` with the servers; default: `../shared/corpus` where it is present,
//! else `fixtures/mcp`. One thread. The time of a changed tool pair is that of `diff` on two one-tool lists.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report on the terminal is its purpose"
)]

#[path = "support/histories.rs"]
mod histories;

use contract::{Compat, Contract, Options, Tool, ToolList, Verdict, diff};
use histories::Result;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Everything counted on the way.
#[derive(Default)]
struct Tally {
    pairs: usize,
    entries: usize,
    same_name_changed: usize,
    verdicts: BTreeMap<String, usize>,
    classes: BTreeMap<String, usize>,
    rules: BTreeMap<&'static str, usize>,
    undecided: Vec<String>,
    per_tool: Vec<(Duration, String)>,
    reading: Duration,
    lists: Duration,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("corpus_walk: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let start = Instant::now();
    let repository = histories::repository();
    let folder = match std::env::args().nth(1) {
        Some(path) => PathBuf::from(path),
        None if repository.join("../shared/corpus").is_dir() => repository.join("../shared/corpus"),
        None => repository.join("fixtures"),
    };
    let servers = if folder.join("mcp").is_dir() { folder.join("mcp") } else { folder };
    let mut tally = Tally::default();
    for history in histories::histories(&servers)? {
        for pair in history.snapshots.windows(2) {
            let label = format!("{} {}>{}", history.server, pair[0].0, pair[1].0);
            let begin = Instant::now();
            let old = histories::read_tools(&pair[0].1, BTreeMap::new())?;
            let new = histories::read_tools(&pair[1].1, BTreeMap::new())?;
            tally.reading += begin.elapsed();
            whole_list(&mut tally, &label, &old, &new)?;
            tool_by_tool(&mut tally, &label, &old, &new)?;
        }
    }
    report(&mut tally, start.elapsed());
    Ok(())
}

fn whole_list(tally: &mut Tally, label: &str, old: &Contract, new: &Contract) -> Result<()> {
    let begin = Instant::now();
    let compared =
        diff(old, new, &Options::default()).map_err(|problems| format!("{label}: {problems:?}"))?;
    tally.lists += begin.elapsed();
    tally.pairs += 1;
    for entry in &compared.entries {
        tally.entries += 1;
        *tally.verdicts.entry(word(&entry.verdict)).or_default() += 1;
        *tally.classes.entry(word(&entry.class)).or_default() += 1;
        for change in &entry.changes {
            *tally.rules.entry(change.rule).or_default() += 1;
        }
        if entry.verdict == Verdict::Undecided || entry.axes.compat == Compat::Undecided {
            let why = entry
                .changes
                .iter()
                .find(|change| {
                    change.verdict == Verdict::Undecided || change.axes.compat == Compat::Undecided
                })
                .map(|change| format!("{} {}", change.rule, change.sentence))
                .unwrap_or_default();
            tally.undecided.push(format!("{label} {}: {why}", entry.subject.name()));
        }
    }
    Ok(())
}

fn tool_by_tool(tally: &mut Tally, label: &str, old: &Contract, new: &Contract) -> Result<()> {
    let (Contract::Tools(old), Contract::Tools(new)) = (old, new) else {
        return Ok(());
    };
    let by_name: BTreeMap<&str, &Tool> =
        new.tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    for before in &old.tools {
        let Some(after) = by_name.get(before.name.as_str()) else {
            continue;
        };
        // As text: an edit that only reorders keys is a change somebody has to judge, too.
        let (was, is) = (before.raw.to_string(), after.raw.to_string());
        if was == is {
            continue;
        }
        tally.same_name_changed += 1;
        let (one, other) = (alone(before), alone(after));
        let begin = Instant::now();
        diff(&one, &other, &Options::default())
            .map_err(|problems| format!("{label}: {problems:?}"))?;
        tally.per_tool.push((begin.elapsed(), format!("{label} {}", before.name)));
    }
    Ok(())
}

fn alone(tool: &Tool) -> Contract {
    Contract::Tools(ToolList { tools: vec![tool.clone()], ..ToolList::default() })
}

fn report(tally: &mut Tally, total: Duration) {
    println!("pairs                     {}", tally.pairs);
    println!("entries                   {}", tally.entries);
    println!("changed, same name        {}", tally.same_name_changed);
    for (verdict, count) in &tally.verdicts {
        println!("verdict {verdict:<17} {count}");
    }
    for (class, count) in &tally.classes {
        println!("class   {class:<17} {count}");
    }
    for (rule, count) in &tally.rules {
        println!("rule    {rule:<17} {count}");
    }
    let share = if tally.entries == 0 {
        0.0
    } else {
        100.0 * tally.undecided.len() as f64 / tally.entries as f64
    };
    println!("undecided                 {} ({share:.2} %)", tally.undecided.len());
    for line in &tally.undecided {
        println!("  {line}");
    }
    tally.per_tool.sort();
    println!(
        "time per changed tool     median {}, p99 {}, max {}",
        at(tally, 50),
        at(tally, 99),
        at(tally, 100)
    );
    for (time, name) in tally.per_tool.iter().rev().take(5) {
        println!("  {time:>10.1?}  {name}");
    }
    println!(
        "all pairs, cold           {:.2?} (reading {:.2?}, diff {:.2?})",
        tally.reading + tally.lists,
        tally.reading,
        tally.lists
    );
    println!("with the tool-by-tool run {total:.2?}");
    match peak_memory() {
        Some(kilobytes) => {
            println!("peak memory               {:.1} MB", kilobytes as f64 / 1024.0)
        }
        None => println!("peak memory               not known on this system"),
    }
}

fn at(tally: &Tally, percentile: usize) -> String {
    if tally.per_tool.is_empty() {
        return "-".to_owned();
    }
    let index = (tally.per_tool.len() * percentile / 100).min(tally.per_tool.len() - 1);
    format!("{:.2?}", tally.per_tool[index].0)
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        other => format!("{other:?}"),
    }
}
