//! What holds now: for each session and tool what the server advertises, what the client was shown, what a call would
//! run under, and what was granted. Four answers to four questions; none stands for another.

use crate::catalogue::Catalogue;
use crate::heavy::heavy;
use crate::session::{Hub, Session, Tally};
use crate::upstream::Health;
use crate::{event, limits};
use contract::admission::{Code, Compare, InForce, OnWider};
use contract::{Authority, Change, Class, Compat, Meaning, Revised};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use store::{Grant, List, SessionQuery, Store, StoreError};
use tokio::time::Instant;

/// Which sessions and tools are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// This server alone.
    pub server: Option<String>,
    /// This tool alone.
    pub tool: Option<String>,
}

impl Filter {
    fn takes_server(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|wanted| wanted == server)
    }

    fn takes_tool(&self, tool: &str) -> bool {
        self.tool.as_deref().is_none_or(|wanted| wanted == tool)
    }
}

/// One running gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its open sessions, the oldest first.
    pub sessions: Vec<SessionStatus>,
    /// How many more sessions there are.
    pub more_sessions: usize,
    /// Its adapters.
    pub adapters: Vec<AdapterStatus>,
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStatus {
    /// Its id.
    pub session: String,
    /// The server.
    pub server: String,
    /// Who is authorised.
    pub principal: String,
    /// The era of the protocol.
    pub era: String,
    /// What its lists and grants belong to: the era, and a name for the credentials at the server.
    #[serde(default)]
    pub scope: String,
    /// It only watches.
    pub observe: bool,
    /// How the server does.
    pub upstream: Health,
    /// Its tools, by name.
    pub tools: Vec<ToolStatus>,
    /// How many more tools there are.
    pub more_tools: usize,
}

/// A revision of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionStatus {
    /// The digest.
    pub digest: String,
    /// Its number within its server and tool, where it is on record.
    pub ordinal: Option<u64>,
}

/// One tool in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStatus {
    /// Its name.
    pub tool: String,
    /// What the server lists now: nothing where it is gone, more than one where the name is listed twice or while a
    /// rolling deploy alternates.
    pub advertised: Vec<RevisionStatus>,
    /// The definition alternates between revisions.
    pub alternates: bool,
    /// What the client was shown.
    pub snapshot: Option<SnapshotStatus>,
    /// What a call would run under now.
    pub execution: Execution,
    /// What was accepted.
    pub granted: Option<GrantedStatus>,
    /// What became of its calls.
    pub calls: Tally,
}

/// What a client was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotStatus {
    /// What it was last shown; `None` where the last list lacked the tool.
    pub last: Option<RevisionStatus>,
    /// Every revision that a call may still have been planned under.
    pub candidates: Vec<RevisionStatus>,
    /// How well that is known.
    pub grade: String,
    /// When the last list was shown.
    pub shown_at: u64,
    /// The server's definition moved in notation or wording, and the client still gets the one it was shown.
    pub held_back: bool,
}

/// What a call would run under. A call that what moved does not bear on goes through all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// `forward`, `adapt`, `hold` or `refuse`.
    pub decision: String,
    /// The digests of what would run the call.
    pub runs_under: Vec<String>,
    /// The code of the refusal or hold.
    pub code: Option<String>,
    /// The adapters that would carry it.
    pub by: Vec<String>,
    /// The arguments over which it would be stopped; empty where it is about the whole tool.
    pub over: Vec<String>,
    /// The rules that say so.
    pub rules: Vec<String>,
}

/// What was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedStatus {
    /// The revision.
    pub revision: RevisionStatus,
    /// How: `first-seen`, `lock`, `accepted` or `approved`.
    pub how: String,
    /// By whom.
    pub by: String,
    /// When.
    pub at: u64,
    /// Since when the grant covers nothing else under this name: a list lacked the tool.
    pub gone_at: Option<u64>,
}

/// An adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterStatus {
    /// Its id.
    pub id: String,
    /// The tool whose calls it carries.
    pub tool: String,
    /// The tool that it carries them to.
    pub to: String,
    /// When it ends, in words.
    pub ends: String,
    /// Why it does not carry calls to a revision that it was tried for: it was refuted.
    #[serde(default)]
    pub refuted: Option<String>,
    /// How often it was used.
    pub uses: u64,
    /// When it was last used.
    pub last_used_at: Option<u64>,
}

/// A server as the store remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The server.
    pub server: String,
    /// What these lists and grants belong to: an era, and a name for the credentials at the server; empty for what was
    /// recorded before that was told apart.
    pub scope: String,
    /// When its list was last seen to move or come back.
    pub last_seen_at: Option<u64>,
    /// Its tools, by name.
    pub tools: Vec<RememberedTool>,
}

/// A tool as the store remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedTool {
    /// Its name.
    pub tool: String,
    /// What the server listed last; `None` where it no longer did.
    pub advertised: Option<RevisionStatus>,
    /// What was accepted.
    pub granted: Option<GrantedStatus>,
}

/// What the store knows of one server.
struct OnRecord {
    ordinals: HashMap<(String, String), u64>,
    granted: BTreeMap<String, GrantedStatus>,
}

impl OnRecord {
    async fn read(store: &dyn Store, server: &str, scope: &str) -> Result<OnRecord, StoreError> {
        let revisions = store.revisions(server.to_owned()).await?;
        let ordinals = revisions.into_iter().map(|r| ((r.tool, r.digest), r.ordinal)).collect();
        let mut known = OnRecord { ordinals, granted: BTreeMap::new() };
        let grants = store.grants(server.to_owned()).await?;
        let holds = |grant: &Grant| Grant::in_scope(&grants, scope, &grant.tool) == Some(grant);
        for grant in grants.iter().filter(|grant| holds(grant)).cloned() {
            let granted = GrantedStatus {
                revision: known.revision(&grant.tool, &grant.digest),
                how: grant.how.as_str().to_owned(),
                by: grant.by,
                at: grant.at,
                gone_at: grant.gone_at,
            };
            known.granted.insert(grant.tool, granted);
        }
        Ok(known)
    }

    fn revision(&self, tool: &str, digest: &str) -> RevisionStatus {
        let ordinal = self.ordinals.get(&(tool.to_owned(), digest.to_owned())).copied();
        RevisionStatus { digest: digest.to_owned(), ordinal }
    }

    fn revisions(&self, tool: &str, revisions: &[Arc<Revised>]) -> Vec<RevisionStatus> {
        revisions.iter().map(|revised| self.revision(tool, revised.digest())).collect()
    }
}

/// What was granted of tools, by name.
type Measures = HashMap<String, Arc<Revised>>;

/// Why it cannot be said what holds.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The comparisons came to no end.
    #[error("{0}")]
    Unfinished(String),
}

/// What holds in this process.
///
/// # Errors
/// Where the store cannot be read.
pub async fn of(hubs: &[Arc<Hub>], filter: &Filter) -> Result<Status, StatusError> {
    let mut on_record: BTreeMap<(String, String), Arc<OnRecord>> = BTreeMap::new();
    let (mut sessions, mut more_sessions) = (Vec::new(), 0);
    for session in hubs.iter().flat_map(|hub| hub.sessions()) {
        let server = session.upstream().name();
        if !filter.takes_server(server) {
            continue;
        }
        if sessions.len() >= limits::STATUS_SESSIONS {
            more_sessions += 1;
            continue;
        }
        // Where that cannot be read, it is shown as it was.
        let _ = session.heed_accepted().await;
        let key = (server.to_owned(), session.scope());
        if !on_record.contains_key(&key) {
            let known = OnRecord::read(session.store(), server, &key.1).await?;
            on_record.insert(key.clone(), Arc::new(known));
        }
        if let Some(known) = on_record.get(&key).cloned() {
            let measures = measures(&session, &known, filter).await;
            let filter = filter.clone();
            let told = heavy(move || session_status(&session, &known, &measures, &filter)).await;
            sessions.push(told.map_err(StatusError::Unfinished)?);
        }
    }
    let mut adapters = Vec::new();
    let asked = |adapter: &InForce| {
        filter.tool.as_ref().is_none_or(|tool| *tool == adapter.tool || *tool == adapter.to)
    };
    for hub in hubs {
        let declared: Vec<InForce> = hub.adapters.declared().into_iter().filter(asked).collect();
        if declared.is_empty() {
            continue;
        }
        let uses = hub.store.adapters().await?;
        adapters.extend(declared.into_iter().map(|adapter| {
            let used = uses.iter().find(|used| used.adapter == adapter.id);
            AdapterStatus {
                id: adapter.id,
                tool: adapter.tool,
                to: adapter.to,
                ends: adapter.ends,
                refuted: adapter.refuted,
                uses: used.map_or(0, |used| used.times),
                last_used_at: used.map(|used| used.last_at),
            }
        }));
    }
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(Status { pid: std::process::id(), version, sessions, more_sessions, adapters })
}

/// By what the reach of calls is measured, where that is not what is live. What cannot be read is no measure here: calls
/// of it are stopped for that.
async fn measures(session: &Session, known: &OnRecord, filter: &Filter) -> Measures {
    let mut measures = Measures::new();
    for (tool, granted) in known.granted.iter().filter(|(tool, _)| filter.takes_tool(tool)) {
        let live = session.runs(tool);
        let Some(first) = live.first() else { continue };
        if live.iter().any(|live| live.digest() != granted.revision.digest)
            && let Ok(granted) = session.granted(tool, first.digest()).await
        {
            measures.extend(granted.stands.or(granted.lapsed).map(|one| (tool.clone(), one)));
        }
    }
    measures
}

fn session_status(
    session: &Arc<Session>,
    known: &OnRecord,
    measures: &Measures,
    filter: &Filter,
) -> SessionStatus {
    let current = session.upstream().catalogue();
    let last = session.view().last().map(|last| Arc::clone(&last.catalogue));
    let mut names: BTreeSet<String> = known.granted.keys().cloned().collect();
    for list in current.iter().chain(&last) {
        names.extend(list.tools().map(|(name, _)| name.clone()));
    }
    names.retain(|name| filter.takes_tool(name));
    let more_tools = names.len().saturating_sub(limits::STATUS_TOOLS);
    let held_back = current.map(|current| session.held_back(current));
    let tools = names
        .iter()
        .take(limits::STATUS_TOOLS)
        .map(|name| tool_status(session, known, measures, name, held_back.as_deref()))
        .collect();
    SessionStatus {
        session: session.id().to_string(),
        server: session.upstream().name().to_owned(),
        principal: session.principal().to_owned(),
        era: match session.era() {
            mcp::Era::Legacy => "legacy",
            mcp::Era::Modern => "modern",
        }
        .to_owned(),
        scope: session.scope(),
        observe: session.settings().observe,
        upstream: session.upstream().health(),
        tools,
        more_tools,
    }
}

fn tool_status(
    session: &Session,
    known: &OnRecord,
    measures: &Measures,
    tool: &str,
    served: Option<&Catalogue>,
) -> ToolStatus {
    let live = session.upstream().live(tool);
    let digest = live.first().map_or("", |live| live.digest());
    let now = Instant::now();
    let (candidates, grade) = session.view().planned(tool, digest, None, now);
    let snapshot = session.view().last().cloned().map(|last| {
        let shown = last.catalogue.tool(tool).first();
        // What would be served now is what the server listed, unless it is held back.
        let same = |list: &Catalogue| {
            list.tool(tool).first().map(|r| r.digest()) == live.first().map(|r| r.digest())
        };
        SnapshotStatus {
            last: shown.map(|revised| known.revision(tool, revised.digest())),
            candidates: known.revisions(tool, &candidates),
            grade: grade.name().to_owned(),
            shown_at: event::now().saturating_sub(
                u64::try_from(now.duration_since(last.at).as_millis()).unwrap_or(u64::MAX),
            ),
            held_back: served.is_some_and(|served| !same(served)),
        }
    });
    ToolStatus {
        tool: tool.to_owned(),
        advertised: known.revisions(tool, &live),
        alternates: session.upstream().alternates(tool),
        snapshot,
        execution: execution(session, known, measures.get(tool), tool, &candidates),
        granted: known.granted.get(tool).cloned(),
        calls: session.tallied(tool),
    }
}

/// What a call would run under, as far as that can be said without its arguments.
fn execution(
    session: &Session,
    known: &OnRecord,
    measure: Option<&Arc<Revised>>,
    tool: &str,
    candidates: &[Arc<Revised>],
) -> Execution {
    let plain = |decision: &str, code: Code| Execution {
        decision: decision.to_owned(),
        code: Some(code.name().to_owned()),
        ..Execution::default()
    };
    let live = session.runs(tool);
    if live.is_empty() {
        return plain("refuse", Code::ToolRemoved);
    }
    let granted = known.granted.get(tool).map(|granted| granted.revision.digest.as_str());
    let reads = session.settings().is_read(tool)
        || live.iter().all(|l| l.hints().read_only && Some(l.digest()) == granted);
    if session.upstream().fault().is_some() && !reads {
        return plain("refuse", Code::ContractUnverified);
    }
    let runs_under: Vec<String> = live.iter().map(|live| live.digest().to_owned()).collect();
    let mut gravest = Execution { decision: "forward".to_owned(), ..Execution::default() };
    for planned in candidates {
        for live in &live {
            let found = between(session, planned, live);
            let weight = |e: &Execution| match e.decision.as_str() {
                "forward" => 0,
                "adapt" => 1,
                "hold" => 2,
                _ => 3,
            };
            if weight(&found) > weight(&gravest) {
                gravest = found;
            }
        }
    }
    let goes = |e: &Execution| matches!(e.decision.as_str(), "forward" | "adapt");
    if goes(&gravest)
        && let Some(beyond) =
            measure.and_then(|m| beyond_grant(session, m, &live, candidates, reads))
    {
        gravest = beyond;
    }
    if goes(&gravest) && session.settings().policy.hold_effects && !reads {
        gravest = Execution { by: gravest.by, ..plain("hold", Code::ApprovalRequired) };
    }
    Execution { runs_under, ..gravest }
}

/// What becomes of a call that uses the reach by which the live revisions go beyond what was granted.
fn beyond_grant(
    session: &Session,
    granted: &Arc<Revised>,
    live: &[Arc<Revised>],
    candidates: &[Arc<Revised>],
    reads: bool,
) -> Option<Execution> {
    let policy = session.settings().policy;
    let entries = live.iter().filter_map(|live| session.comparisons().compare(granted, live));
    let changes: Vec<Change> = entries
        .flat_map(|entry| entry.changes.clone())
        .filter(|change| match change.axes.authority {
            Authority::Wider => true,
            Authority::Unknown => !reads,
            Authority::Same | Authority::Narrower => false,
        })
        .collect();
    let looked = !candidates.is_empty()
        && live.iter().all(|live| candidates.iter().all(|one| one.digest() == live.digest()));
    let decision = match policy.on_wider {
        _ if changes.is_empty() => return None,
        _ if policy.holds_doubt(!reads) => "hold",
        OnWider::Refuse => "refuse",
        _ if looked => return None,
        _ => "refuse",
    };
    let surely = changes.iter().any(|change| change.axes.authority == Authority::Wider);
    let code = if surely { Code::AuthorityWidened } else { Code::ContractUndecided };
    let over: BTreeSet<String> = changes.iter().filter_map(|change| change.field.clone()).collect();
    let rules: BTreeSet<String> = changes.iter().map(|change| change.rule.to_owned()).collect();
    Some(Execution {
        decision: decision.to_owned(),
        code: Some(code.name().to_owned()),
        over: over.into_iter().collect(),
        rules: rules.into_iter().collect(),
        ..Execution::default()
    })
}

/// What becomes of a call from one revision to another.
fn between(session: &Session, planned: &Arc<Revised>, live: &Arc<Revised>) -> Execution {
    let plain =
        |decision: &str| Execution { decision: decision.to_owned(), ..Execution::default() };
    let entry = session.comparisons().compare(planned, live);
    let Some(entry) = entry.filter(|entry| entry.class != Class::Cosmetic) else {
        return plain("forward");
    };
    let by = session.adapters().carries(session.upstream().name(), planned, live);
    if !by.is_empty() {
        return Execution { by, ..plain("adapt") };
    }
    let stirs = |change: &&Change| {
        change.suppressed.is_none()
            && (change.axes.meaning != Meaning::Same || change.axes.compat > Compat::Compatible)
    };
    let moved: Vec<&Change> = entry.changes.iter().filter(stirs).collect();
    let wider = |change: &&Change| change.axes.authority == contract::Authority::Wider;
    let (code, changes, decision) = if moved.is_empty() {
        let wider: Vec<&Change> = entry.changes.iter().filter(wider).collect();
        if wider.is_empty() {
            return plain("forward");
        }
        let reads = session.settings().is_read(live.name()) || live.hints().read_only;
        let holds = session.settings().policy.holds_doubt(!reads);
        (Code::AuthorityWidened, wider, if holds { "hold" } else { "refuse" })
    } else {
        let sure = |change: &&Change| {
            change.axes.meaning == Meaning::Changed || change.axes.compat == Compat::Breaking
        };
        let stale = moved.iter().any(sure);
        let code = if stale { Code::StaleToolSchema } else { Code::ContractUndecided };
        (code, moved, "refuse")
    };
    let over: BTreeSet<String> = changes.iter().filter_map(|change| change.field.clone()).collect();
    let rules: BTreeSet<String> = changes.iter().map(|change| change.rule.to_owned()).collect();
    Execution {
        code: Some(code.name().to_owned()),
        over: over.into_iter().collect(),
        rules: rules.into_iter().collect(),
        ..plain(decision)
    }
}

/// What the store remembers of servers, whether or not a gateway runs.
///
/// # Errors
/// Where the store cannot be read.
pub async fn remembered(store: &dyn Store, filter: &Filter) -> Result<Vec<Remembered>, StoreError> {
    let sessions = store.sessions(SessionQuery::default()).await?;
    // Sessions come by pages: a server whose last one is behind many of others is known by its list.
    let mut servers: BTreeSet<String> = store.servers().await?.into_iter().collect();
    servers.extend(sessions.into_iter().map(|session| session.server));
    let mut found = Vec::new();
    for server in servers.into_iter().filter(|server| filter.takes_server(server)) {
        let lists = store.lists(server.clone(), None, limits::PIN_LISTS).await?;
        for (scope, list) in current(lists) {
            let known = OnRecord::read(store, &server, &scope).await?;
            found.push(in_scope(&server, scope, list.as_ref(), &known, filter));
        }
    }
    Ok(found)
}

/// The current list of each scope. What was recorded before scopes were told apart counts where nothing came after it.
fn current(lists: Vec<List>) -> BTreeMap<String, Option<List>> {
    let mut current: BTreeMap<String, Option<List>> = BTreeMap::new();
    for list in lists {
        current.entry(list.scope.clone()).or_insert(Some(list));
    }
    if current.len() > 1 {
        current.remove("");
    }
    if current.is_empty() {
        current.insert(String::new(), None);
    }
    current
}

/// What is remembered of a server in one scope.
fn in_scope(
    server: &str,
    scope: String,
    list: Option<&List>,
    known: &OnRecord,
    filter: &Filter,
) -> Remembered {
    let advertised: BTreeMap<&String, &String> = list
        .iter()
        .flat_map(|list| list.tools.iter().map(|(tool, digest)| (tool, digest)))
        .collect();
    let mut names: BTreeSet<&String> = advertised.keys().copied().collect();
    names.extend(known.granted.keys());
    let tools = names
        .into_iter()
        .filter(|name| filter.takes_tool(name))
        .map(|name| RememberedTool {
            tool: name.clone(),
            advertised: advertised.get(name).map(|digest| known.revision(name, digest)),
            granted: known.granted.get(name).cloned(),
        })
        .collect();
    let last_seen_at = list.map(|list| list.last_at);
    Remembered { server: server.to_owned(), scope, last_seen_at, tools }
}
