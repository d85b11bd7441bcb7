//! The file of a decision contract: an agent, the fixtures that it meets, and what it must send and propose.

use super::fixture::{self, Pattern};
use super::place::Place;
use super::shelf::Armed;
use contract::decision::Consequence;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) mod read;

/// A decision contract.
#[derive(Debug, Clone)]
pub struct Contract {
    /// What it is about.
    pub name: String,
    /// Whether the agent acts, or only reads.
    pub acts: bool,
    /// The agent.
    pub agent: Agent,
    /// Files and folders with fixtures, from the folder of this file.
    pub fixtures: Vec<String>,
    /// Versions of fixtures that hold; of other names the highest.
    pub versions: Vec<String>,
    /// The file of the decision map.
    pub map: Option<String>,
    /// Where the plan is.
    pub plan: Plan,
    /// Operations that act, and where each names its objects.
    pub actions: BTreeMap<String, Vec<Place>>,
    /// Operations that only read although their method does not say so.
    pub reads: Vec<String>,
    /// The file with the tools that an agent finds which speaks MCP.
    pub tools: Option<String>,
    /// The file of an exchange that is replayed in place of the agent's model.
    pub model: Option<String>,
    /// One object and several of them, in words.
    pub objects: (String, String),
    /// What is done with them, in a word: `archived`.
    pub done: String,
    /// Who decides about an option: by operation and place.
    pub options: BTreeMap<String, Vec<(Place, Who, String)>>,
    /// Other names of fields that hold during a migration: by operation, the place and the other name.
    pub aliases: BTreeMap<String, Vec<(Place, String)>>,
    /// Lists that come in pages, by operation.
    pub pages: BTreeMap<String, Pages>,
    /// Answers that contradict themselves.
    pub contradictions: Vec<Contradiction>,
    /// Where an action carries its idempotency token, by operation.
    pub tokens: BTreeMap<String, Place>,
    /// The cases, in the order of the file.
    pub cases: Vec<Case>,
    /// Whether failure fixtures are made, and of which case.
    pub mutants: Option<String>,
    /// The place of `mutants` or of the file.
    pub place: String,
}

/// How the agent is started.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// The program and its arguments. `{server}`, `{canary}`, `{run}` and `{instruction}` are filled in.
    pub command: Vec<String>,
    /// The folder in which it works, from the folder of this file.
    pub folder: String,
    /// What it is asked to do.
    pub instruction: String,
    /// Variables of its environment, filled in like the command.
    pub env: BTreeMap<String, String>,
    /// Variables that are handed on as they are; all others are withheld.
    pub pass: Vec<String>,
    /// Seconds after which it is ended.
    pub seconds: u64,
    /// Milliseconds for which a request that hangs is held.
    pub hang: u64,
}

/// Where the plan is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard output: all of it, or its last line that is JSON.
    Stdout,
    /// A file in the folder of the run.
    File(String),
    /// The body of a request.
    Request(String, String),
    /// There is none: what was sent is what was proposed.
    Requests,
}

impl Source {
    /// In words.
    pub fn told(&self) -> String {
        match self {
            Source::Stdout => "its standard output".to_owned(),
            Source::File(name) => format!("the file {name} in the folder of the run"),
            Source::Request(method, path) => format!("{method} {path}"),
            Source::Requests => "what it sent".to_owned(),
        }
    }
}

/// The plan, and what is where in it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where it is read from.
    pub source: Source,
    /// The objects that it would act on.
    pub targets: Option<Place>,
    /// True or not empty where a person is asked.
    pub asks: Option<Place>,
    /// True or not empty where something is noted.
    pub notes: Option<Place>,
}

/// Who decides about an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The agent: it always sends the value.
    AlwaysSend,
    /// A person: without the choice nothing is sent.
    RequireChoice,
    /// Nobody here. Only for an agent that reads.
    Server,
}

/// A list that comes in pages.
#[derive(Debug, Clone)]
pub struct Pages {
    /// The objects.
    pub items: Place,
    /// The cursor in the answer.
    pub cursor: Place,
    /// Where the cursor is sent.
    pub sent: Place,
    /// How many objects may be looked at.
    pub most: usize,
    /// Whether a second page may be asked for at all.
    pub follow: bool,
}

/// Values that cannot hold together.
#[derive(Debug, Clone)]
pub struct Contradiction {
    /// The operation.
    pub on: String,
    /// The values, by place.
    pub set: Vec<(Place, Value)>,
    /// What the agent must do.
    pub then: Consequence,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub place: String,
    /// Another instruction.
    pub instruction: Option<String>,
    /// Other variables; none takes one away.
    pub env: BTreeMap<String, Option<String>>,
    /// Other versions of fixtures.
    pub versions: Vec<String>,
    /// Another exchange with the model.
    pub model: Option<String>,
    /// What goes wrong.
    pub faults: Vec<Armed>,
    /// What must be sent, exactly and in this order.
    pub requests: Vec<Pattern>,
    /// The plan, whole.
    pub proposes: Option<Value>,
    /// The objects that are acted on, in any order.
    pub acts_on: Option<Vec<Value>>,
    /// Whether a person must be asked.
    pub asks: Option<bool>,
}

impl Contract {
    /// Whether an operation acts: its method says so, or the file does.
    pub fn is_action(&self, operation: &str) -> bool {
        let listed = |names: &[String]| names.iter().any(|name| same_operation(name, operation));
        if listed(&self.reads) {
            return false;
        }
        let safe = ["GET ", "HEAD ", "OPTIONS "].iter().any(|method| operation.starts_with(method));
        !safe || self.actions.keys().any(|name| same_operation(name, operation))
    }

    /// Several objects in words: `2 projects`.
    pub fn counted(&self, n: usize) -> String {
        let (one, many) = &self.objects;
        format!("{n} {}", if n == 1 { one } else { many })
    }

    /// What would have been done to so many objects: `2 projects would have been archived`.
    pub fn would(&self, n: usize) -> String {
        format!("{} would have been {}", self.counted(n), self.done)
    }
}

/// Whether `GET /projects/p1` is of the operation `GET /projects/{id}`.
pub fn same_operation(name: &str, operation: &str) -> bool {
    match (name.split_once(' '), operation.split_once(' ')) {
        (Some((method, path)), Some((other, found))) => {
            method == other && fixture::same_path(path, found)
        }
        _ => false,
    }
}

/// What is said of an operation, by its name.
pub fn of_operation<'m, T>(map: &'m BTreeMap<String, T>, operation: &str) -> Option<&'m T> {
    map.iter().find(|(name, _)| same_operation(name, operation)).map(|(_, value)| value)
}
