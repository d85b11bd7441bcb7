//! The checks of a release: for each tool that changed, what old sessions would send, against the built server.
//!
//! Each old call comes after a control call under the contract that holds now. Where the old server can be started,
//! it gets the same old calls first, and what it did is what must be kept.

use super::api::{Api, By};
use super::judge::{self, Effects, Outcome, Reply};
use super::plan::{self, OldCall, Trial};
use super::sample::{self, Surroundings};
use super::{Effect, Session, Trouble};
use contract::Entry;
use contract::document::Tool;
use mcp::{FetchOptions, Target};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What old calls are sent to.
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run")]
pub enum Built {
    /// A server that speaks MCP, and how it is asked.
    Server(Target, FetchOptions),
    /// An HTTP API.
    Api(Box<Api>),
}

/// What is to be checked, and what is allowed for it.
pub struct Check {
    /// What was built.
    pub target: Built,
    /// What it replaces, where that can be started.
    pub before: Option<Built>,
    /// Tools that may be called although they may have effects.
    pub allowed: BTreeSet<String>,
    /// The environment variable by which servers are sent to a recorder; without one, effects are not observed.
    pub recorder: Option<String>,
    /// Places in which the servers run.
    pub surroundings: Surroundings,
}

/// One tool that changed: as it was accepted, and what a comparison says of it.
pub struct Changed<'a> {
    /// The accepted definition.
    pub old: &'a Tool,
    /// The comparison.
    pub entry: &'a Entry,
}

/// What the built server did.
pub struct Checked {
    /// By the old name of the tool: what came of its old calls, or why none was made.
    pub tools: BTreeMap<String, Result<Vec<Tried>, String>>,
    /// Whether the server declares that it tells of changes of its list.
    pub announces: bool,
}

impl Checked {
    /// Whether anything reached the recorder at all: without that, silence shows nothing.
    pub fn reached_recorder(&self) -> bool {
        let mut tried = self.tools.values().flatten().flatten();
        tried.any(|one| {
            let control = one.control.as_ref().is_some_and(|(_, made)| !made.is_empty());
            control || one.reached.as_ref().is_some_and(|made| !made.is_empty())
        })
    }
}

/// One old call.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Its arguments.
    pub arguments: Value,
    /// The call under the contract that holds now, where the tool is still there, and what reached the recorder of it.
    pub control: Option<(Value, Vec<Effect>)>,
    /// The rule whose change it is about, where it is about one.
    pub rule: Option<&'static str>,
    /// What the server did with it.
    pub outcome: Outcome,
    /// It was held against the server that is replaced.
    pub against_old: bool,
    /// What was answered, in words.
    pub answered: String,
    /// It was carried out, whatever came of that.
    pub done: bool,
    /// It was an error of the protocol, not of the tool.
    pub protocol_error: bool,
    /// What reached the recorder during it; `None` where nobody looked.
    pub reached: Option<Vec<Effect>>,
    /// Why a call of the tool has no effect; `None` where it may have one.
    pub reads: Option<&'static str>,
}

/// Makes the old calls of all tools that changed.
///
/// # Errors
/// Where a server cannot be started or its list not be read.
pub async fn check(check: &Check, changed: &[Changed<'_>]) -> Result<Checked, Trouble> {
    let variable = check.recorder.as_deref();
    let mut now = check.target.open(variable).await?;
    let mut before = match &check.before {
        None => None,
        Some(target) => Some(target.open(variable).await?),
    };
    let announces = now.announces();
    let mut tools = BTreeMap::new();
    for one in changed {
        let tried = tool(check, one, &mut now, before.as_mut()).await;
        tools.insert(one.old.name.clone(), tried);
    }
    if let Some(before) = before {
        before.leave().await;
    }
    if now.leave().await.is_some_and(|late| late > 0) {
        let refusals = tools.values_mut().flatten().flatten();
        for tried in refusals.filter(|tried| matches!(tried.outcome, Outcome::Refused { .. })) {
            let sentence = "requests left after the last answer, and this may be theirs";
            tried.outcome = Outcome::Else(sentence.to_owned());
        }
    }
    Ok(Checked { tools, announces })
}

impl Built {
    async fn open(&self, variable: Option<&str>) -> Result<Session, Trouble> {
        match self {
            Built::Server(target, options) => Session::open(target, options, variable).await,
            Built::Api(api) => Session::open_api(api, variable).await,
        }
    }

    /// By what it is known whether a call may have effects, and that it has none.
    fn known_by(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Built::Server(..) => ("by its hints and its name", None),
            Built::Api(_) => ("by its method", Some("it only reads, by its method")),
        }
    }
}

async fn tool(
    check: &Check,
    changed: &Changed<'_>,
    now: &mut Session,
    mut before: Option<&mut Session>,
) -> Result<Vec<Tried>, String> {
    let old = changed.old;
    let current = now.tools.iter().find(|tool| tool.name == old.name).cloned();
    let allowed = check.allowed.contains(&old.name);
    let (known_by, harmless) = check.target.known_by();
    let reads = plan::harmless(old).filter(|_| current.as_ref().is_none_or(reads_still));
    let reads = reads.map(|why| harmless.unwrap_or(why));
    if reads.is_none() && !allowed {
        let name = crate::report::quoted(&old.name);
        return Err(format!(
            "`--allow-effects {name}` lets it be called; {known_by} it may have effects"
        ));
    }
    let control = match &current {
        None => None,
        Some(current) => Some(control(current, check, now).await?),
    };
    let shared = control.as_ref().map(|(arguments, ..)| arguments);
    let calls = plan::old_calls(old, current.as_ref(), changed.entry, shared, &check.surroundings);
    if calls.is_empty() {
        return Err(format!("no call of {} as it was could be made up", old.name));
    }
    let mut tried = Vec::new();
    for call in calls {
        let kept = match before.as_deref_mut() {
            None => None,
            Some(server) => Some(server.observed(&old.name, &call.arguments, By::Old).await),
        };
        tried.push(old_call(check, changed, now, call, control.as_ref(), kept, reads).await);
    }
    Ok(tried)
}

/// It still claims to only read, or claims nothing and is named so.
fn reads_still(tool: &Tool) -> bool {
    plan::harmless(tool).is_some()
}

/// A call, what was answered, and what reached the recorder.
type Observed = (Value, Reply, Vec<Effect>);

/// The control call: the first that was made up and that the server takes.
async fn control(tool: &Tool, check: &Check, now: &mut Session) -> Result<Observed, String> {
    let mut last = None;
    for way in 0..sample::WAYS {
        let Some(arguments) = sample::call(tool, &check.surroundings, way) else { continue };
        let (reply, made) = now.observed(&tool.name, &arguments, By::New).await;
        if matches!(reply, Reply::Done(_)) {
            return Ok((arguments, reply, made));
        }
        last = Some(reply.in_words());
    }
    Err(match last {
        Some(words) => format!(
            "no control call of {} works ({words}), so the error of an old one would mean nothing",
            tool.name
        ),
        None => format!("no call of {} as it is could be made up", tool.name),
    })
}

async fn old_call(
    check: &Check,
    changed: &Changed<'_>,
    now: &mut Session,
    call: OldCall,
    control: Option<&Observed>,
    kept: Option<(Reply, Vec<Effect>)>,
    reads: Option<&'static str>,
) -> Tried {
    let (reply, made) = now.observed(&changed.old.name, &call.arguments, By::Old).await;
    let looked = check.recorder.is_some();
    let against_old = matches!(kept, Some((Reply::Done(_), _)));
    // What the replaced server did is what must be kept; without it, what the control call did.
    let (measure, measured) = match (&kept, control) {
        (Some((reply @ Reply::Done(_), made)), _) => (reply.clone(), made.as_slice()),
        (_, Some((_, reply, made))) => (reply.clone(), made.as_slice()),
        (_, None) => (Reply::Nothing("it is gone".to_owned()), [].as_slice()),
    };
    let effects = looked.then(|| Effects { during_old: made.len(), same: made == measured });
    let trial = Trial {
        tool: changed.old.name.clone(),
        harmless: reads.unwrap_or("it was allowed"),
        reads: reads.is_some(),
        control: control.map(|(arguments, ..)| arguments.clone()).unwrap_or_default(),
        old: call.arguments.clone(),
        drift: call.drift,
    };
    let outcome = match control {
        None => judge::gone(&trial, &reply, effects),
        Some(_) if against_old => judge::against_old(&trial, &measure, &reply, effects),
        Some(_) => judge::judge(&trial, &measure, &reply, effects),
    };
    Tried {
        arguments: call.arguments,
        control: control.map(|(arguments, _, made)| (arguments.clone(), made.clone())),
        rule: call.rule,
        outcome,
        against_old,
        answered: reply.in_words(),
        done: matches!(reply, Reply::Done(_)),
        protocol_error: matches!(reply, Reply::ProtocolError(..)),
        reached: looked.then_some(made),
        reads,
    }
}

impl Session {
    /// Calls, and gives what reached the recorder meanwhile.
    async fn observed(&mut self, tool: &str, arguments: &Value, by: By) -> (Reply, Vec<Effect>) {
        let before = self.reached().len();
        let reply = self.call(tool, arguments, by).await;
        let made = self.reached().split_off(before);
        (reply, made)
    }
}
