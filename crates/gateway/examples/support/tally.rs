//! What is counted, and by what it is judged.

use crate::Result;
use crate::client::Said;
use boon::{Compiler, Schemas};
use contract::diff::Options;
use contract::{Class, Fit, Revised};
use lab::Record;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A labelled change.
#[derive(Debug, serde::Deserialize)]
pub struct Label {
    id: String,
    server: String,
    from: String,
    tool: String,
    accept: Vec<String>,
}

impl Label {
    /// True for the label of this pair and tool.
    pub fn is(&self, pair: &str, tool: &str) -> bool {
        self.tool == tool && pair.starts_with(&format!("{} {}>", self.server, self.from))
    }

    fn only(&self, words: &[&str]) -> bool {
        self.accept.iter().all(|word| words.contains(&word.as_str()))
    }
}

/// Reads the labels.
pub fn labels(path: &Path) -> Result<Vec<Label>> {
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| serde_json::from_str(line).map_err(Into::into)).collect()
}

/// How a tool moved, by the comparison of its definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moved {
    No,
    NotationOrWording,
    More,
    Gone,
}

/// How a tool moved.
pub fn pair(old: &Revised, new: Option<&Revised>) -> Moved {
    let Some(new) = new else { return Moved::Gone };
    match contract::tools::pair(old.tool(), new.tool(), &Options::default()) {
        None => Moved::No,
        Some(entry) if entry.class == Class::Cosmetic => Moved::NotationOrWording,
        Some(_) => Moved::More,
    }
}

/// Everything counted on the way.
#[derive(Default)]
pub struct Tally {
    pub pairs: usize,
    /// Calls that could not be planned: no usual value of the old schema was found.
    pub unplanned: usize,
    calls: BTreeMap<Moved, [usize; 4]>,
    codes: BTreeMap<String, usize>,
    effects: usize,
    wrong: Vec<String>,
    twice: Vec<String>,
    repairable: usize,
    repaired: usize,
    unrepaired: Vec<String>,
    labelled_stops: (usize, usize),
    labelled_goes: (usize, usize),
    labels_wrong: Vec<String>,
    false_stops: Vec<String>,
    pub first_refusals: Vec<Duration>,
    /// From the change to the moment the client was told.
    pub told: Vec<Duration>,
}

impl Tally {
    /// A planned call was answered.
    pub fn planned(
        &mut self,
        pair: &str,
        tool: &str,
        moved: &Moved,
        said: &Said,
        still_fits: bool,
    ) {
        let counts = self.calls.entry(*moved).or_default();
        match said {
            Said::Ran => counts[0] += 1,
            Said::Broken => counts[1] += 1,
            Said::Refused { code, text, .. } => {
                counts[2] += 1;
                *self.codes.entry(code.clone()).or_default() += 1;
                if still_fits && matches!(moved, Moved::No | Moved::NotationOrWording) {
                    self.false_stops.push(format!("{pair} {tool}: {}", text.replace('\n', " ")));
                }
            }
            Said::Error(code) => {
                counts[3] += 1;
                *self.codes.entry(format!("error {code}")).or_default() += 1;
            }
        }
    }

    /// What arrived for one call: at most one request, and one that the new definition takes, by another judge.
    pub fn arrived(&mut self, pair: &str, tool: &str, records: &[Record], now: Option<&Revised>) {
        self.effects += records.len();
        if records.len() > 1 {
            self.twice.push(format!("{pair} {tool}: {} requests for one call", records.len()));
        }
        for record in records {
            let Ok(arguments) = serde_json::from_str::<Value>(&record.body) else { continue };
            let why = match now {
                None => Some("the tool is gone".to_owned()),
                Some(now) => refuted(now, &arguments),
            };
            if let Some(why) = why {
                self.wrong.push(format!("{pair} {tool}: {why}: {}", record.body));
            }
        }
    }

    /// A refused call was made again by the text of the refusal.
    pub fn repaired(&mut self, pair: &str, tool: &str, text: &str, again: &Said) {
        self.repairable += 1;
        if matches!(again, Said::Ran | Said::Broken) {
            self.repaired += 1;
        } else {
            self.unrepaired
                .push(format!("{pair} {tool}: {again:?} after {}", text.replace('\n', " ")));
        }
    }

    /// What a person says about the change, and whether any planned call of the tool was stopped.
    pub fn labelled(
        &mut self,
        pair: &str,
        tool: &str,
        label: &Label,
        stopped: bool,
        stopped_fitting: bool,
    ) {
        if label.only(&["refuse"]) {
            self.labelled_stops.1 += 1;
            if stopped {
                self.labelled_stops.0 += 1;
            } else {
                self.labels_wrong
                    .push(format!("{} {pair} {tool}: ran, and a person says refuse", label.id));
            }
        } else if label.only(&["safe"]) {
            self.labelled_goes.1 += 1;
            if stopped_fitting {
                self.labels_wrong
                    .push(format!("{} {pair} {tool}: stopped, and a person says safe", label.id));
            } else {
                self.labelled_goes.0 += 1;
            }
        }
    }

    /// Prints all of it; true where the bars are met.
    pub fn report(&mut self, took: Duration) -> bool {
        println!(
            "{} pairs replayed live in {:.1} s; {} calls could not be planned",
            self.pairs,
            took.as_secs_f64(),
            self.unplanned
        );
        println!(
            "{:<22} {:>7} {:>7} {:>7} {:>7}",
            "the tool moved", "ran", "broken", "refused", "error"
        );
        for (moved, counts) in &self.calls {
            println!(
                "{:<22} {:>7} {:>7} {:>7} {:>7}",
                format!("{moved:?}"),
                counts[0],
                counts[1],
                counts[2],
                counts[3]
            );
        }
        println!("refusals by code: {:?}", self.codes);
        let quiet: usize = [Moved::No, Moved::NotationOrWording]
            .iter()
            .filter_map(|moved| self.calls.get(moved))
            .map(|counts| counts.iter().sum::<usize>())
            .sum();
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!("wrong effects: {} of {}", self.wrong.len(), self.effects);
        println!("duplicate effects: {}", self.twice.len());
        println!(
            "stopped where at most notation or wording moved: {} of {quiet} ({:.2} %)",
            self.false_stops.len(),
            share(self.false_stops.len(), quiet)
        );
        println!(
            "repaired on the next turn by the text alone: {} of {} ({:.1} %)",
            self.repaired,
            self.repairable,
            share(self.repaired, self.repairable)
        );
        println!(
            "labelled refuse: a planned call stopped in {} of {}; labelled safe: none stopped in {} of {}",
            self.labelled_stops.0,
            self.labelled_stops.1,
            self.labelled_goes.0,
            self.labelled_goes.1
        );
        self.first_refusals.sort();
        if let (Some(middle), Some(last)) =
            (self.first_refusals.get(self.first_refusals.len() / 2), self.first_refusals.last())
        {
            println!(
                "from the change to the first refusal (calls one after the other): median {:.1} ms, longest {:.1} ms",
                middle.as_secs_f64() * 1e3,
                last.as_secs_f64() * 1e3
            );
        }
        self.told.sort();
        if let (Some(middle), Some(last)) = (self.told.get(self.told.len() / 2), self.told.last()) {
            println!(
                "from the change to the client's notification: median {:.1} ms, longest {:.1} ms",
                middle.as_secs_f64() * 1e3,
                last.as_secs_f64() * 1e3
            );
        }
        let shown = if std::env::var_os("REPLAY_ALL").is_some() { usize::MAX } else { 12 };
        for (what, list) in [
            ("wrong", &self.wrong),
            ("duplicate", &self.twice),
            ("false stop", &self.false_stops),
            ("label", &self.labels_wrong),
            ("not repaired", &self.unrepaired),
        ] {
            for line in list.iter().take(shown) {
                println!("{what}: {}", line.chars().take(600).collect::<String>());
            }
        }
        self.wrong.is_empty()
            && self.twice.is_empty()
            && share(self.false_stops.len(), quiet) <= 1.0
            && share(self.repaired, self.repairable) >= 90.0
    }
}

/// Why arguments are no call of a definition, in the opinion of another implementation; and arguments that an open
/// schema takes and nobody reads.
fn refuted(now: &Revised, arguments: &Value) -> Option<String> {
    let schema = now.tool().raw.get("inputSchema")?;
    if let (Some(declared), Value::Object(sent)) = (now.declared(), arguments)
        && let Some(unread) = sent.keys().find(|name| !declared.contains(name))
    {
        return Some(format!("{unread} is not declared"));
    }
    let schema: Value = serde_json::from_str(&schema.to_string()).ok()?;
    let mut compiler = Compiler::new();
    let mut schemas = Schemas::new();
    compiler.add_resource("mem:///tool.json", schema).ok()?;
    let index = compiler.compile("mem:///tool.json", &mut schemas).ok()?;
    let verdict = schemas.validate(arguments, index).err()?;
    // A required member with a stated default may be left out: what that means is stated.
    if now.takes(arguments) == Fit::Fits {
        return None;
    }
    Some(verdict.to_string().replace('\n', " "))
}
