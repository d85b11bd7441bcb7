//! The smallest drift test, against any server and without configuration: one tool, one changed required argument, the
//! old call. A control call under the contract that holds comes first, so that an error of the old one means something.

pub mod api;
pub mod check;
mod judge;
mod plan;
mod sample;

pub use judge::{Ground, Outcome};
pub use plan::{Nothing, Wish};
pub use sample::Surroundings;

use self::api::{Api, By};
use crate::recorder::Recorder;
use crate::report::{Case, Evidence, Verdict};
use contract::document::Tool;
use judge::{Effects, Reply};
use mcp::{FetchError, FetchOptions, Live, Target};
use plan::Trial;
use serde_json::Value;
use std::time::Duration;

/// What is asked for.
pub struct Drill {
    /// The server.
    pub target: Target,
    /// How it is asked.
    pub options: FetchOptions,
    /// A contract that was kept from before; empty where there is none.
    pub old: Vec<Tool>,
    /// Which tool, and what is allowed.
    pub wish: Wish,
    /// The environment variable by which the server is sent to the recorder; without one, effects are not observed.
    pub recorder: Option<String>,
}

/// Why there is no result.
#[derive(Debug)]
pub enum Trouble {
    /// The server cannot be reached or its list not be read.
    Server(FetchError),
    /// There is nothing that could be tried.
    Nothing(Nothing),
    /// This machine gave no port.
    Machine(String),
    /// An HTTP API cannot be started or asked; why.
    Api(String),
}

/// A request that reached the recorder: method, path and body.
pub type Effect = (String, String, String);

/// What was found out with one trial.
struct Found {
    trial: Trial,
    control: Reply,
    old: Reply,
    effects: Option<Effects>,
    outcome: Outcome,
}

/// Carries the drill out. `place` names the server in the result.
///
/// # Errors
/// Where the server cannot be asked, or nothing can be tried.
pub async fn drill(drill: &Drill, place: &str) -> Result<Case, Trouble> {
    let variable = drill.recorder.as_deref();
    let mut session = Session::open(&drill.target, &drill.options, variable).await?;
    let trials = plan::trials(&session.tools, &drill.old, &drill.wish).map_err(Trouble::Nothing)?;
    let found = session.first_telling(trials).await;
    let calls = session.calls;
    let late = session.leave().await;
    Ok(case(found, late, calls, drill, place))
}

/// The target, with the variable that sends it to the recorder.
fn sent_to(target: &Target, variable: Option<&str>, recorder: Option<&Recorder>) -> Target {
    match (target, variable, recorder) {
        (Target::Command(words), Some(name), Some(recorder)) => {
            let mut command = vec!["env".to_owned(), format!("{name}={}", recorder.url())];
            command.extend(words.iter().cloned());
            Target::Command(command)
        }
        (target, ..) => target.clone(),
    }
}

/// What a session speaks with.
enum Line {
    /// A server that speaks MCP.
    Mcp(Box<Live>),
    /// An HTTP API.
    Http(Box<api::Running>),
}

struct Session {
    line: Line,
    wait: Duration,
    recorder: Option<Recorder>,
    calls: usize,
    tools: Vec<Tool>,
}

impl Session {
    /// Connects and reads the list. `variable` sends a command to a recorder of its own.
    async fn open(
        target: &Target,
        options: &FetchOptions,
        variable: Option<&str>,
    ) -> Result<Session, Trouble> {
        let recorder = recorder(variable).await?;
        let target = sent_to(target, variable, recorder.as_ref());
        let mut live = Live::open(&target, options).await.map_err(Trouble::Server)?;
        let listed = live.tools().await.map_err(Trouble::Server)?;
        let tool = |tool: mcp::Listed| Tool {
            name: tool.name,
            raw: serde_json::from_str(tool.raw.get()).unwrap_or_default(),
            ordinal: None,
        };
        let tools = listed.into_iter().map(tool).collect();
        let wait = options.request_timeout;
        Ok(Session { line: Line::Mcp(Box::new(live)), wait, recorder, calls: 0, tools })
    }

    /// Starts an API, and takes its operations for tools.
    async fn open_api(api: &Api, variable: Option<&str>) -> Result<Session, Trouble> {
        let recorder = recorder(variable).await?;
        let sent_to = variable.zip(recorder.as_ref().map(Recorder::url));
        let running = api::Running::open(api, sent_to).await?;
        let tools = api.requests[1].values().map(|request| request.tool.clone()).collect();
        let line = Line::Http(Box::new(running));
        Ok(Session { line, wait: api.wait, recorder, calls: 0, tools })
    }

    /// Whether it declares that it tells of changes of its list.
    fn announces(&self) -> bool {
        matches!(&self.line, Line::Mcp(live) if live.announces_changes())
    }

    /// Tries until one trial tells something. One whose control call works is worth more than one whose does not.
    async fn first_telling(&mut self, trials: Vec<Trial>) -> Found {
        let mut doubtful: Vec<(Trial, Reply, Vec<Effect>)> = Vec::new();
        let mut last = None;
        for trial in trials {
            let before = self.reached().len();
            let control = self.call(&trial.tool, &trial.control, By::New).await;
            let made = self.reached().split_off(before);
            if !matches!(control, Reply::Done(_)) {
                let ended = matches!(control, Reply::Nothing(_));
                // Another way to fill the same tool in tells no more.
                if !doubtful.iter().any(|(other, ..)| other.tool == trial.tool) {
                    doubtful.push((trial, control, made));
                }
                if ended {
                    break;
                }
                continue;
            }
            let found = self.tried(trial, control, &made).await;
            if !matches!(found.outcome, Outcome::Open(_)) {
                return found;
            }
            last.get_or_insert(found);
        }
        for (trial, control, made) in doubtful {
            if last.is_some() && matches!(control, Reply::Nothing(_)) {
                continue;
            }
            let found = self.tried(trial, control, &made).await;
            if !matches!(found.outcome, Outcome::Open(_)) {
                return found;
            }
            last.get_or_insert(found);
        }
        last.expect("a plan has at least one trial, and each was tried")
    }

    /// Makes the old call; where its argument could also have had another name, that call too. The graver outcome counts.
    async fn tried(&mut self, trial: Trial, control: Reply, made: &[Effect]) -> Found {
        let first = self.old_call(trial, control, made).await;
        if !matches!(first.outcome, Outcome::Refused { .. }) {
            return first;
        }
        let now = self.tools.iter().find(|tool| tool.name == first.trial.tool);
        let Some(next) = now.and_then(|now| plan::renamed(&first.trial, now)) else { return first };
        let second = self.old_call(next, first.control.clone(), made).await;
        if matches!(second.outcome, Outcome::Else(_)) { second } else { first }
    }

    async fn old_call(&mut self, trial: Trial, control: Reply, made: &[Effect]) -> Found {
        let before = self.reached().len();
        let old = self.call(&trial.tool, &trial.old, By::Old).await;
        let effects = self.recorder.as_ref().map(|_| {
            let during = self.reached().split_off(before);
            Effects { during_old: during.len(), same: during == made }
        });
        let outcome = judge::judge(&trial, &control, &old, effects);
        Found { trial, control, old, effects, outcome }
    }

    /// What reached the recorder so far.
    fn reached(&self) -> Vec<Effect> {
        let records = self.recorder.as_ref().map(Recorder::records).unwrap_or_default();
        records.into_iter().map(|record| (record.method, record.path, record.body)).collect()
    }

    async fn call(&mut self, tool: &str, arguments: &Value, by: By) -> Reply {
        self.calls += 1;
        let live = match &mut self.line {
            Line::Mcp(live) => live,
            Line::Http(api) => return api.call(tool, arguments, by).await,
        };
        let answer = live.call(tool, &arguments.to_string(), self.wait).await;
        match answer {
            Ok(message) => {
                let text = message.result().unwrap_or_default();
                let result: Value = serde_json::from_str(text).unwrap_or_default();
                if result.get("isError") == Some(&Value::Bool(true)) {
                    let blocks = result.get("content").and_then(Value::as_array);
                    let texts = blocks.into_iter().flatten().filter_map(|b| b["text"].as_str());
                    Reply::ToolError(texts.collect::<Vec<_>>().join(" "))
                } else {
                    Reply::Done(result)
                }
            }
            Err(mcp::Failure::Rpc(error, _)) => {
                let data = error.data.as_ref().map(|data| format!(" {data}")).unwrap_or_default();
                Reply::ProtocolError(error.code, format!("{}{data}", error.message))
            }
            Err(why) => Reply::Nothing(why.to_string()),
        }
    }

    /// Leaves; gives how many requests reached the recorder in all.
    async fn leave(self) -> Option<usize> {
        let Session { line, recorder, .. } = self;
        let before = recorder.as_ref().map(|recorder| recorder.records().len());
        match line {
            Line::Mcp(live) => live.close().await,
            Line::Http(api) => api.leave().await,
        }
        recorder
            .map(|recorder| recorder.records().len())
            .zip(before)
            .map(|(after, before)| after - before)
    }
}

/// A recorder, where a variable leads to one.
async fn recorder(variable: Option<&str>) -> Result<Option<Recorder>, Trouble> {
    match variable {
        None => Ok(None),
        Some(_) => {
            let recorder = Recorder::start().await;
            recorder.map(Some).map_err(|why| Trouble::Machine(why.to_string()))
        }
    }
}

/// The result as one case. `late` are requests that came after the last answer.
fn case(found: Found, late: Option<usize>, calls: usize, drill: &Drill, place: &str) -> Case {
    let Found { trial, control, old, effects, mut outcome } = found;
    if matches!(outcome, Outcome::Refused { .. }) && late.is_some_and(|late| late > 0) {
        outcome =
            Outcome::Else("it answered a clean error, and a request left after it".to_owned());
    }
    let observed = match effects {
        Some(_) => "before any effect",
        None => "effects not observed",
    };
    let (verdict, sentence) = match outcome {
        Outcome::Kept(ground) => {
            let how = match ground {
                Ground::Seen => "the old call was answered as before",
                Ground::Compared => "carried out; by the comparison it still means the same",
            };
            (Verdict::Passed, format!("kept the old safe behaviour: {how}"))
        }
        Outcome::Refused { why, .. } => (Verdict::Passed, format!("refused ({observed}); {why}")),
        Outcome::Else(what) => (Verdict::Failed, format!("did something else: {what}")),
        Outcome::Open(why) => (Verdict::Undecided, format!("it cannot be told: {why}")),
    };
    let line =
        |arguments: &Value| format!("{}({})", trial.tool, report::escape::one_line(arguments, 200));
    let seen = match (effects, drill.recorder.as_deref()) {
        (Some(Effects { during_old: n, .. }), Some(name)) => {
            format!("{n} requests reached the recorder ({name}) during the old call")
        }
        _ => "not observed; --recorder NAME sends the server to a recorder by that variable"
            .to_owned(),
    };
    Case {
        name: trial.tool.clone(),
        place: place.to_owned(),
        found: verdict,
        sentence,
        evidence: vec![
            Evidence::new("tool", format!("{}: {}", trial.tool, trial.harmless)),
            Evidence::new("drift", trial.drift.in_words()),
            Evidence::new("control", format!("{} {}", line(&trial.control), control.in_words())),
            Evidence::new("old call", format!("{} {}", line(&trial.old), old.in_words())),
            Evidence::new("effects", seen),
        ],
        steps: calls,
        checks: 1,
    }
}
