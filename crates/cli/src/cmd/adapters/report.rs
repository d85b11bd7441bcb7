//! `steadfast adapters report`: what still leans on old revisions, and which adapters can go.

use crate::args::Plain;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::limits;
use crate::output::{Shell, printable};
use crate::state::{StoreArgs, block_on, failure, now, shown_time};
use contract::adapter::Adapters;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{Access, AdapterUse, Counted, Counter, SessionQuery, Sqlite, Store, StoreError};

/// Milliseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// What an event in a call that may have an effect counts beside one in a call that only reads.
const EFFECT: f64 = 10.0;

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

/// What is counted for one old revision.
struct Leaning {
    server: String,
    tool: String,
    digest: String,
    ordinal: Option<u64>,
    current: bool,
    /// Open sessions that were last shown it.
    open: u64,
    counts: BTreeMap<Counted, Counter>,
}

/// One adapter, and whether it can go.
struct Retire {
    id: String,
    tools: Option<(String, String, String)>,
    used: Option<AdapterUse>,
    /// Why not; nothing where it can go.
    why: Vec<String>,
    unknown: bool,
}

/// What open sessions hold, and what holds now.
#[derive(Default)]
struct Held {
    /// Server, tool and digest, with the number of open sessions that were last shown it.
    sessions: BTreeMap<(String, String, String), u64>,
    current: HashMap<(String, String), String>,
    ordinals: HashMap<(String, String, String), u64>,
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
        let failed = |error: StoreError| failure(&path, &error);
        let counters = block_on(store.counters()).map_err(failed)?;
        let uses = block_on(store.adapters()).map_err(failed)?;
        let held = block_on(held(&store, &counters)).map_err(failed)?;
        let leaning = leaning(counters, &held);
        let retire = self.retire(declared.as_ref(), uses, &held);
        shell.print(&match self.format {
            Plain::Text => words(&leaning, &retire),
            Plain::Json => in_json(&leaning, &retire),
        })?;
        Ok(Exit::Fine)
    }

    fn retire(
        &self,
        declared: Option<&Adapters>,
        uses: Vec<AdapterUse>,
        held: &Held,
    ) -> Vec<Retire> {
        let adapters = declared.map_or(&[][..], |declared| declared.adapters.as_slice());
        let mut ids: BTreeSet<&str> = adapters.iter().map(|adapter| adapter.id.as_str()).collect();
        // Defaults that were pinned end with their session; nobody declared them.
        ids.extend(uses.iter().map(|used| used.adapter.as_str()).filter(|id| !id.contains(':')));
        let since = now().saturating_sub(self.quiet_days.saturating_mul(DAY));
        ids.into_iter()
            .map(|id| {
                let adapter = adapters.iter().find(|adapter| adapter.id == id);
                let used = uses.iter().find(|used| used.adapter == id).cloned();
                let mut why = Vec::new();
                if let Some(used) = used.as_ref().filter(|used| used.last_at >= since) {
                    why.push(format!("it was used at {}", shown_time(used.last_at)));
                }
                let old = adapter.map_or(0, |adapter| {
                    let here = |server: &str| adapter.server.as_deref().is_none_or(|s| s == server);
                    held.old_sessions(&adapter.tool, here)
                });
                match old {
                    0 => {}
                    1 => why.push("an open session was last shown an old revision".to_owned()),
                    old => why.push(format!("{old} open sessions were last shown an old revision")),
                }
                Retire {
                    id: id.to_owned(),
                    tools: adapter.map(|adapter| {
                        let to = adapter.target().to_owned();
                        (adapter.tool.clone(), to, adapter.end.to_string())
                    }),
                    used,
                    unknown: adapter.is_none() && why.is_empty(),
                    why,
                }
            })
            .collect()
    }
}

impl Held {
    /// Open sessions that were last shown a revision of the tool that no longer holds.
    fn old_sessions(&self, tool: &str, server: impl Fn(&str) -> bool) -> u64 {
        let old = self.sessions.iter().filter(|((at, of, digest), _)| {
            let current = self.current.get(&(at.clone(), of.clone()));
            of == tool && server(at) && current != Some(digest)
        });
        old.map(|(_, sessions)| sessions).sum()
    }
}

/// Reads what open sessions were last shown, and what holds now.
async fn held(store: &Sqlite, counters: &[Counter]) -> Result<Held, StoreError> {
    let mut held = Held::default();
    let open = SessionQuery { open: true, ..SessionQuery::default() };
    let sessions = store.sessions(open).await?;
    let mut servers: BTreeSet<String> = counters.iter().map(|one| one.server.clone()).collect();
    servers.extend(sessions.iter().map(|session| session.server.clone()));
    for server in servers {
        // Of several scopes, the list that was seen last holds.
        if let Some(list) = store.lists(server.clone(), None, 1).await?.into_iter().next() {
            for (tool, digest) in list.tools {
                held.current.insert((server.clone(), tool), digest);
            }
        }
        for revision in store.revisions(server.clone()).await? {
            let key = (server.clone(), revision.tool, revision.digest);
            held.ordinals.insert(key, revision.ordinal);
        }
    }
    let mut lists: HashMap<(String, String), Vec<(String, String)>> = HashMap::new();
    for session in sessions {
        let Some(shown) = store.shown_to(session.id).await?.into_iter().next() else { continue };
        let key = (session.server.clone(), shown.digest.clone());
        if !lists.contains_key(&key) {
            let list = store.list(session.server.clone(), shown.digest).await?;
            lists.insert(key.clone(), list.map(|list| list.tools).unwrap_or_default());
        }
        for (tool, digest) in lists.get(&key).into_iter().flatten() {
            let key = (session.server.clone(), tool.clone(), digest.clone());
            *held.sessions.entry(key).or_default() += 1;
        }
    }
    Ok(held)
}

fn leaning(counters: Vec<Counter>, held: &Held) -> Vec<Leaning> {
    let mut found: BTreeMap<(String, String, String), BTreeMap<Counted, Counter>> = BTreeMap::new();
    for one in counters {
        let key = (one.server.clone(), one.tool.clone(), one.revision.clone());
        found.entry(key).or_default().insert(one.what, one);
    }
    let mut leaning: Vec<Leaning> = found
        .into_iter()
        .map(|(key, counts)| Leaning {
            ordinal: held.ordinals.get(&key).copied(),
            open: held.sessions.get(&key).copied().unwrap_or(0),
            current: held.current.get(&(key.0.clone(), key.1.clone())) == Some(&key.2),
            server: key.0,
            tool: key.1,
            digest: key.2,
            counts,
        })
        .collect();
    leaning.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    leaning
}

impl Leaning {
    /// How much it matters: each event counts one and the age of its session in days, and ten times that where the call
    /// may have an effect.
    fn weight(&self) -> f64 {
        self.counts.values().map(weight).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a weight is compared and shown, not counted with")]
fn weight(counter: &Counter) -> f64 {
    let times = counter.times.max(1) as f64;
    let effects = counter.effects as f64 / times;
    (times + counter.session_age as f64 / DAY as f64) * (1.0 + (EFFECT - 1.0) * effects)
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
            (false, why) => format!("no: {}", why.join(", and ")),
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
                "why": one.why,
            })
        })
        .collect();
    format!("{:#}\n", json!({"revisions": revisions, "adapters": adapters}))
}
