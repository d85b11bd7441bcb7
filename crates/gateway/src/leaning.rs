//! What still leans on old revisions, and which adapters can go.

use crate::event;
use contract::adapter::Adapters;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use store::{AdapterUse, Counted, Counter, Millis, SessionQuery, Store, StoreError};

/// Milliseconds of a day.
pub const DAY: u64 = 24 * 60 * 60 * 1_000;

/// What an event in a call that may have an effect counts beside one in a call that only reads.
const EFFECT: f64 = 10.0;

/// Why an adapter cannot go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It was used not long ago, at this time.
    Used(Millis),
    /// So many open sessions were last shown an old revision.
    Held(u64),
}

impl Why {
    /// In words; `time` writes a time.
    pub fn in_words(self, time: impl Fn(Millis) -> String) -> String {
        match self {
            Why::Used(at) => format!("it was used at {}", time(at)),
            Why::Held(1) => "an open session was last shown an old revision".to_owned(),
            Why::Held(old) => format!("{old} open sessions were last shown an old revision"),
        }
    }
}

/// What is counted for one old revision.
pub struct Leaning {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The digest of the revision.
    pub digest: String,
    /// Its number, where it is on record.
    pub ordinal: Option<u64>,
    /// It is the one that holds now.
    pub current: bool,
    /// Open sessions that were last shown it.
    pub open: u64,
    /// What was counted.
    pub counts: BTreeMap<Counted, Counter>,
}

/// One adapter, and whether it can go.
pub struct Retire {
    /// Its id.
    pub id: String,
    /// The tool that it carries, the one that it carries to, and its end in words, where it is declared.
    pub tools: Option<(String, String, String)>,
    /// How it was used.
    pub used: Option<AdapterUse>,
    /// Why not; nothing where it can go.
    pub why: Vec<Why>,
    /// It is not declared, so that it is not known which tool it carries.
    pub unknown: bool,
}

/// What open sessions hold, and what holds now.
#[derive(Default)]
struct Held {
    /// Server, tool and digest, with the number of open sessions that were last shown it.
    sessions: BTreeMap<(String, String, String), u64>,
    current: HashMap<(String, String), String>,
    ordinals: HashMap<(String, String, String), u64>,
}

/// What leans on old revisions, the heaviest first, and which adapters can go after so many days without use.
///
/// # Errors
/// Where the store cannot be read.
pub async fn report(
    store: &dyn Store,
    declared: Option<&Adapters>,
    quiet_days: u64,
) -> Result<(Vec<Leaning>, Vec<Retire>), StoreError> {
    let counters = store.counters().await?;
    let uses = store.adapters().await?;
    let held = held(store, &counters).await?;
    let leaning = leaning(counters, &held);
    Ok((leaning, retire(declared, uses, &held, quiet_days)))
}

fn retire(
    declared: Option<&Adapters>,
    uses: Vec<AdapterUse>,
    held: &Held,
    quiet_days: u64,
) -> Vec<Retire> {
    let adapters = declared.map_or(&[][..], |declared| declared.adapters.as_slice());
    let mut ids: BTreeSet<&str> = adapters.iter().map(|adapter| adapter.id.as_str()).collect();
    // Defaults that were pinned end with their session; nobody declared them.
    ids.extend(uses.iter().map(|used| used.adapter.as_str()).filter(|id| !id.contains(':')));
    let since = event::now().saturating_sub(quiet_days.saturating_mul(DAY));
    ids.into_iter()
        .map(|id| {
            let adapter = adapters.iter().find(|adapter| adapter.id == id);
            let used = uses.iter().find(|used| used.adapter == id).cloned();
            let mut why = Vec::new();
            if let Some(used) = used.as_ref().filter(|used| used.last_at >= since) {
                why.push(Why::Used(used.last_at));
            }
            let old = adapter.map_or(0, |adapter| {
                let here = |server: &str| adapter.server.as_deref().is_none_or(|s| s == server);
                held.old_sessions(&adapter.tool, here)
            });
            match old {
                0 => {}
                old => why.push(Why::Held(old)),
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
async fn held(store: &dyn Store, counters: &[Counter]) -> Result<Held, StoreError> {
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
    pub fn weight(&self) -> f64 {
        self.counts.values().map(weight).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a weight is compared and shown, not counted with")]
fn weight(counter: &Counter) -> f64 {
    let times = counter.times.max(1) as f64;
    let effects = counter.effects as f64 / times;
    (times + counter.session_age as f64 / DAY as f64) * (1.0 + (EFFECT - 1.0) * effects)
}
