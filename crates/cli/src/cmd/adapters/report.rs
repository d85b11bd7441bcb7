//! `steadfast adapters report`: what still leans on old revisions, and which adapters can go.

use crate::args::Plain;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::limits;
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, block_on, failure, shown_time};
use contract::adapter::Adapters;
use gateway::leaning::{self, DAY, Leaning, Retire, Why};
use serde_json::{Map, Value, json};
use store::Access;

#[derive(Debug, clap::Args)]
pub struct Report {
    /// The adapters that are in force, so that it is known which tools they carry
    #[arg(long, value_name = "FILE")]
    adapters: Option<String>,
    /// Days without use after which an adapter may be retired
    #[arg(long, value_name = "DAYS", default_value_t = limits::QUIET_DAYS)]
    quiet_days: u64,
    #[command(flatten)]
    store: StoreArgs,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Report {
    pub fn run(&self, shell: &Shell) -> Result<Exit, Failure> {
        let declared = match &self.adapters {
            Some(path) => {
                let text = files::read(path)?;
                Some(Adapters::read(path, &String::from_utf8_lossy(&text))?)
            }
            None => None,
        };
        let path = self.store.path()?;
        let store = self.store.open(Access::Read)?;
        let told = leaning::report(&store, declared.as_ref(), self.quiet_days);
        let (leaning, retire) = block_on(told).map_err(|error| failure(&path, &error))?;
        shell.print(&match self.format {
            Plain::Text => words(&leaning, &retire),
            Plain::Json => in_json(&leaning, &retire),
        })?;
        Ok(Exit::Fine)
    }
}

fn in_words(why: &[Why]) -> Vec<String> {
    why.iter().map(|one| one.in_words(shown_time)).collect()
}

fn words(leaning: &[Leaning], retire: &[Retire]) -> String {
    let mut text = String::new();
    if leaning.is_empty() {
        text.push_str("no call leaned on an old revision\n");
    }
    for one in leaning {
        let ordinal = one.ordinal.map_or(String::new(), |ordinal| format!("#{ordinal} "));
        let digits: String = one.digest.trim_start_matches("sha256:").chars().take(12).collect();
        let current = if one.current { ", the current one" } else { "" };
        let open = match one.open {
            0 => "no open session holds it".to_owned(),
            1 => "1 open session holds it".to_owned(),
            open => format!("{open} open sessions hold it"),
        };
        text.push_str(&format!(
            "{} of {}, revision {ordinal}{}{current}: weight {:.1}, {open}\n",
            printable(&one.tool),
            printable(&one.server),
            printable(&digits),
            one.weight()
        ));
        for (what, counter) in &one.counts {
            text.push_str(&format!(
                "  {:<10}  {} ({} with an effect), oldest session {:.1} days, last {}\n",
                what.as_str(),
                counter.times,
                counter.effects,
                counter.oldest_session as f64 / DAY as f64,
                shown_time(counter.last_at)
            ));
        }
    }
    if !retire.is_empty() {
        text.push_str("\ncan this adapter be retired?\n");
    }
    for one in retire {
        let uses = match &one.used {
            None => "never used; steadfast adapters check tells whether it holds".to_owned(),
            Some(used) if used.times == 1 => format!("used once, {}", shown_time(used.last_at)),
            Some(used) => format!("used {} times, last {}", used.times, shown_time(used.last_at)),
        };
        let answer = match (one.unknown, one.why.as_slice()) {
            (true, _) => "unknown: --adapters FILE says which tool it carries".to_owned(),
            (false, []) => "yes".to_owned(),
            (false, why) => format!("no: {}", in_words(why).join(", and ")),
        };
        text.push_str(&format!("  {}  {answer}  ({uses})\n", printable(&one.id)));
    }
    text
}

/// The documented form: docs/adapters.md.
fn in_json(leaning: &[Leaning], retire: &[Retire]) -> String {
    let revisions: Vec<Value> = leaning
        .iter()
        .map(|one| {
            let counts: Map<String, Value> = one
                .counts
                .iter()
                .map(|(what, counter)| {
                    let counted = json!({
                        "times": counter.times,
                        "effects": counter.effects,
                        "session_age_ms": counter.session_age,
                        "oldest_session_ms": counter.oldest_session,
                        "last_at": shown_time(counter.last_at),
                    });
                    (what.as_str().to_owned(), counted)
                })
                .collect();
            json!({
                "server": one.server,
                "tool": one.tool,
                "revision": {"digest": one.digest, "ordinal": one.ordinal},
                "current": one.current,
                "open_sessions": one.open,
                "weight": one.weight(),
                "counts": counts,
            })
        })
        .collect();
    let adapters: Vec<Value> = retire
        .iter()
        .map(|one| {
            json!({
                "id": one.id,
                "tool": one.tools.as_ref().map(|tools| &tools.0),
                "to": one.tools.as_ref().map(|tools| &tools.1),
                "ends": one.tools.as_ref().map(|tools| &tools.2),
                "uses": one.used.as_ref().map_or(0, |used| used.times),
                "last_used_at": one.used.as_ref().map(|used| shown_time(used.last_at)),
                "retire": if one.unknown { "unknown" } else if one.why.is_empty() { "yes" } else { "no" },
                "why": in_words(&one.why),
            })
        })
        .collect();
    format!("{:#}\n", json!({"revisions": revisions, "adapters": adapters}))
}
