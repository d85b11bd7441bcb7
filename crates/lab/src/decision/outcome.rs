//! What an agent did in one run, read from what was captured: what it sent, proposed, asked and noted.

use super::contract::{Contract, Source, of_operation, same_operation};
use super::place;
use super::record::{Entry, Seen};
use serde_json::Value;

/// Everything that was captured of a run.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// Every request, in order.
    pub entries: Vec<Entry>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Files that were left in the folder of the run: name and text.
    pub files: Vec<(String, String)>,
    /// What could not be searched for a credential, and why.
    pub unsearched: Vec<String>,
    /// How the process ended.
    pub end: End,
}

/// How an agent ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    #[default]
    Signal,
    /// It was ended, with its children, after so many seconds.
    TimedOut(u64),
    /// It could not be started, for this reason.
    NotStarted(String),
}

impl End {
    /// In words, after "the agent".
    pub fn told(&self) -> String {
        match self {
            End::Code(code) => format!("ended with exit code {code}"),
            End::Signal => "was ended by a signal".to_owned(),
            End::TimedOut(seconds) => {
                format!("did not end within {seconds} s and was ended with its children")
            }
            End::NotStarted(why) => format!("could not be started: {why}"),
        }
    }
}

/// What an agent did.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What it sent to the API, without the plan and without what went to its model.
    pub requests: Vec<Seen>,
    /// The numbers of these requests on record.
    pub numbers: Vec<usize>,
    /// The plan, where there is one.
    pub plan: Option<Value>,
    /// The objects that the plan names.
    pub planned: Vec<Value>,
    /// The objects that each action that was sent names, with the number of the request.
    pub sent: Vec<(usize, Value)>,
    /// A person was asked; none where nothing says where.
    pub asked: Option<bool>,
    /// Something was noted; none where nothing says where.
    pub noted: Option<bool>,
    /// How it ended.
    pub end: End,
}

/// What stands for the objects of an action that names none.
pub const UNNAMED: &str = "no object named";

impl Outcome {
    /// Reads what was captured.
    pub fn of(contract: &Contract, capture: &Capture) -> Outcome {
        let inbox = match &contract.plan.source {
            Source::Request(method, path) => Some((method.as_str(), path.as_str())),
            _ => None,
        };
        let mut outcome = Outcome { end: capture.end.clone(), ..Outcome::default() };
        for entry in &capture.entries {
            let operation = format!("{} {}", entry.seen.method, entry.seen.path);
            let is_plan = inbox == Some((&entry.seen.method, &entry.seen.path));
            if is_plan || entry.is_prompt() {
                continue;
            }
            if contract.is_action(&operation)
                && !repeated(contract, &operation, &entry.seen, &outcome)
            {
                let objects = objects(contract, &operation, &entry.seen);
                outcome.sent.extend(objects.into_iter().map(|object| (entry.n, object)));
            }
            outcome.numbers.push(entry.n);
            outcome.requests.push(entry.seen.clone());
        }
        outcome.plan = plan(contract, capture);
        let at = |place: &Option<place::Place>| {
            let place = place.as_ref()?;
            let plan = outcome.plan.as_ref();
            Some(plan.map(|plan| place::values(plan, &place.steps)).unwrap_or_default())
        };
        outcome.asked = at(&contract.plan.asks).map(|values| values.iter().any(says_something));
        outcome.noted = at(&contract.plan.notes).map(|values| values.iter().any(says_something));
        let planned = at(&contract.plan.targets).unwrap_or_default();
        outcome.planned = planned.into_iter().map(place::spelled).collect();
        outcome
    }

    /// The objects that are acted on after request number `after`, each once: sent then, or planned and not sent by then.
    pub fn acted(&self, after: usize) -> Vec<Value> {
        let (before, sent): (Vec<_>, Vec<_>) = self.sent.iter().partition(|(n, _)| *n <= after);
        let open =
            self.planned.iter().filter(|object| !before.iter().any(|(_, done)| done == *object));
        let mut found: Vec<Value> = Vec::new();
        for object in open.chain(sent.into_iter().map(|(_, object)| object)) {
            if !found.contains(object) {
                found.push(object.clone());
            }
        }
        found
    }

    /// An object that the plan, or one action, names twice.
    pub fn twice(&self) -> Option<&Value> {
        let planned = self.planned.iter().enumerate();
        let mut planned = planned.filter(|(at, object)| self.planned[..*at].contains(object));
        let sent = self.sent.iter().enumerate();
        let mut sent = sent.filter(|(at, one)| self.sent[..*at].contains(one));
        planned
            .next()
            .map(|(_, object)| object)
            .or_else(|| sent.next().map(|(_, (_, object))| object))
    }

    /// Nothing came of it: no plan, or an end with an error.
    pub fn gave_up(&self) -> bool {
        self.end != End::Code(0)
    }

    /// The requests, one a line.
    pub fn lines(&self) -> String {
        if self.requests.is_empty() {
            return "nothing was sent".to_owned();
        }
        let lines: Vec<String> = self.requests.iter().map(Seen::line).collect();
        lines.join("\n")
    }
}

/// Whether an action is the same as an earlier one, tried again: it carries the same idempotency token.
fn repeated(contract: &Contract, operation: &str, seen: &Seen, outcome: &Outcome) -> bool {
    let Some(place) = of_operation(&contract.tokens, operation) else { return false };
    let token = |seen: &Seen| place.in_request(seen, "");
    let own = token(seen);
    let same = |earlier: &&Seen| {
        earlier.method == seen.method && earlier.path == seen.path && token(earlier) == own
    };
    !own.is_empty() && outcome.requests.iter().any(|earlier| same(&earlier))
}

/// The objects that an action names.
fn objects(contract: &Contract, operation: &str, seen: &Seen) -> Vec<Value> {
    let Some(places) = of_operation(&contract.actions, operation) else {
        return vec![Value::String(operation.to_owned())];
    };
    let pattern = contract.actions.keys().find(|name| same_operation(name, operation));
    let path = pattern.and_then(|name| name.split_once(' ')).map_or("", |(_, path)| path);
    let found = places.iter().flat_map(|place| place.in_request(seen, path));
    let found: Vec<Value> = found.map(place::spelled).collect();
    // An action without objects may well be one on all of them.
    if found.is_empty() { vec![Value::String(UNNAMED.to_owned())] } else { found }
}

fn plan(contract: &Contract, capture: &Capture) -> Option<Value> {
    match &contract.plan.source {
        Source::Requests => None,
        Source::Stdout => {
            let whole = serde_json::from_str(&capture.stdout).ok();
            whole.or_else(|| {
                capture.stdout.lines().rev().find_map(|line| {
                    let value: Value = serde_json::from_str(line.trim()).ok()?;
                    value.is_object().then_some(value)
                })
            })
        }
        Source::File(name) => {
            let file = capture.files.iter().find(|(found, _)| found == name)?;
            serde_json::from_str(&file.1).ok()
        }
        Source::Request(method, path) => {
            let mut entries = capture.entries.iter().rev();
            let entry = entries.find(|e| e.seen.method == *method && e.seen.path == *path)?;
            entry.seen.body.value()
        }
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}
