//! Every neighbouring pair of every history as a drift under a live connection.
//!
//! `cargo run --release -p steadfast-gateway --example replay -- [FOLDER]`
//!
//! A client lists the tools of the older snapshot; the server then serves the newer one and says so; the client looks away and makes
//! the calls that it had planned. A recorder behind the server says what really arrived. After a refusal the client
//! tries once more, with nothing to go by but the refusal's text.
//!
//! FOLDER holds the servers, or `mcp/` with the servers; default: `../shared/corpus` where it is present, else
//! `fixtures`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report on the terminal is its purpose"
)]

#[path = "support/client.rs"]
mod client;
#[path = "../../contract/examples/support/histories.rs"]
mod histories;
#[path = "support/sample.rs"]
mod sample;
#[path = "support/tally.rs"]
mod tally;

use client::{Client, Said};
use contract::{Fit, Revised, Tool};
use lab::{Deed, Phase, Recorder, Script};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use tally::Tally;

/// Whatever stops a run.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(run()),
        Err(why) => Err(why.to_string().into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(sentence) => {
            eprintln!("replay: {sentence}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<bool> {
    let mut words = std::env::args().skip(1);
    let first = words.next();
    if first.as_deref() == Some("--serve") {
        let (Some(script), Some(recorder)) = (words.next(), words.next()) else {
            return Err("--serve SCRIPT RECORDER".into());
        };
        let script = Script::read(&std::fs::read_to_string(script)?)?;
        lab::serve(script, &recorder, tokio::io::stdin(), tokio::io::stdout()).await?;
        return Ok(true);
    }
    let repository = histories::repository();
    let folder = match first {
        Some(path) => PathBuf::from(path),
        None if repository.join("../shared/corpus").is_dir() => repository.join("../shared/corpus"),
        None => repository.join("fixtures"),
    };
    let servers = if folder.join("mcp").is_dir() { folder.join("mcp") } else { folder };
    let labels = tally::labels(&repository.join("fixtures/mcp/labels.jsonl"))?;
    let mut tally = Tally::default();
    let start = Instant::now();
    for history in histories::histories(&servers)? {
        for pair in history.snapshots.windows(2) {
            let label = format!("{} {}>{}", history.server, pair[0].0, pair[1].0);
            replay(&mut tally, &label, &pair[0].1, &pair[1].1, &labels).await?;
        }
    }
    Ok(tally.report(start.elapsed()))
}

/// The tools of a snapshot as they were listed; later ones of one name are dropped, as a call could not reach them.
fn tools(path: &Path) -> Result<Vec<Value>> {
    let snapshot: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let listed = snapshot.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut seen: Vec<String> = Vec::new();
    Ok(listed
        .into_iter()
        .filter(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let new = !name.is_empty() && !seen.contains(&name);
            seen.push(name);
            new
        })
        .collect())
}

fn phase(tools: &[Value]) -> Phase {
    let deeds = tools
        .iter()
        .filter_map(|tool| {
            let name = tool.get("name")?.as_str()?.to_owned();
            let answer = tool
                .get("outputSchema")
                .map_or(Value::Null, |schema| sample::value(schema, schema, 0, true));
            Some((name, Deed { path: Some("/call".into()), answer, ..Deed::default() }))
        })
        .collect();
    Phase { tools: tools.to_vec(), deeds, ..Phase::default() }
}

async fn replay(
    tally: &mut Tally,
    label: &str,
    old: &Path,
    new: &Path,
    labels: &[tally::Label],
) -> Result<()> {
    let (old, new) = (tools(old)?, tools(new)?);
    if old.is_empty() || new.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let script =
        Script { phases: vec![phase(&old), phase(&new)], announces: true, ..Script::default() };
    let path = folder.path().join("script.json");
    std::fs::write(&path, serde_json::to_string(&script)?)?;
    let recorder = Recorder::start().await?;
    let mut client = Client::start(folder.path(), &path, &recorder.url()).await?;
    client.greet().await?;
    tally.pairs += 1;
    let after: BTreeMap<String, Revised> = new.iter().filter_map(revised).collect();
    recorder.switch(1);
    let switched = Instant::now();
    let moves = old.len() != new.len()
        || old.iter().filter_map(revised).any(|(name, before)| {
            matches!(
                tally::pair(&before, after.get(&name)),
                tally::Moved::More | tally::Moved::Gone
            )
        });
    if moves {
        client.told().await?;
        tally.told.push(switched.elapsed());
    }
    let mut first_refusal = None;
    for tool in &old {
        let Some((name, before)) = revised(tool) else { continue };
        let pair = tally::pair(&before, after.get(&name));
        let labelled = labels.iter().find(|known| known.is(label, &name));
        let schema = tool.get("inputSchema").cloned().unwrap_or_default();
        let (mut stopped, mut stopped_fitting) = (false, false);
        for full in [false, true] {
            let mut arguments = sample::value(&schema, &schema, 0, full);
            if !arguments.is_object() {
                arguments = Value::Object(Map::new());
            }
            if before.takes(&arguments) != Fit::Fits {
                tally.unplanned += 1;
                continue;
            }
            let (said, arrived) = client.call(&recorder, &name, &arguments).await?;
            if first_refusal.is_none() && matches!(said, Said::Refused { .. }) {
                first_refusal = Some(switched.elapsed());
            }
            let fits = after.get(&name).is_some_and(|now| now.takes(&arguments) == Fit::Fits);
            stopped |= matches!(said, Said::Refused { .. });
            stopped_fitting |= fits && matches!(said, Said::Refused { .. });
            tally.planned(label, &name, &pair, &said, fits);
            tally.arrived(label, &name, &arrived, after.get(&name));
            let Said::Refused { text, repairable: true, .. } = &said else { continue };
            let (again, arrived) = match client::repaired(text, &arguments) {
                Some(repaired) => client.call(&recorder, &name, &repaired).await?,
                None => (said.clone(), Vec::new()),
            };
            tally.repaired(label, &name, text, &again);
            tally.arrived(label, &name, &arrived, after.get(&name));
        }
        if let Some(known) = labelled {
            tally.labelled(label, &name, known, stopped, stopped_fitting);
        }
    }
    tally.first_refusals.extend(first_refusal);
    client.leave().await;
    Ok(())
}

fn revised(raw: &Value) -> Option<(String, Revised)> {
    let name = raw.get("name")?.as_str()?.to_owned();
    let tool = Tool { name: name.clone(), raw: raw.clone(), ordinal: None };
    Some((name, Revised::new(tool)))
}
