//! What a scripted server lists and does, phase by phase.

use crate::limits;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A script.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What holds, one after the other.
    pub phases: Vec<Phase>,
    /// Tell clients when the phase changes.
    #[serde(default)]
    pub announces: bool,
    /// Say that clients are told of changes, although only the recorder says when ([`crate::Recorder::ring`]).
    #[serde(default)]
    pub tells: bool,
    /// Lists and calls are not told to the recorder: whoever stands before the server does that.
    #[serde(default)]
    pub unheard: bool,
    /// Tools per page; all on one page where it is absent.
    #[serde(default)]
    pub page: Option<usize>,
    /// For how long modern clients are told to keep a list, and to share it with everyone; milliseconds.
    #[serde(default)]
    pub ttl: Option<u64>,
}

/// What holds during one phase.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The definitions that are listed.
    pub tools: Vec<Value>,
    /// What each tool does; one that has no deed answers with nothing.
    #[serde(default)]
    pub deeds: BTreeMap<String, Deed>,
    /// The list cannot be read: the error code.
    #[serde(default)]
    pub list_fails: Option<i64>,
    /// A list is answered only once clients have been told of a change ([`crate::Recorder::ring`]).
    #[serde(default)]
    pub list_waits: bool,
    /// The list takes so long, in milliseconds.
    #[serde(default)]
    pub list_takes: u64,
}

/// What a tool does.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deed {
    /// The path that the recorder sees. A deed without one reaches nothing.
    #[serde(default)]
    pub path: Option<String>,
    /// The method of that request; POST where it is absent.
    #[serde(default)]
    pub method: Option<String>,
    /// Arguments that the listed schema does not take are refused before anything is done.
    #[serde(default)]
    pub validates: bool,
    /// Arguments that are written in where they are left out.
    #[serde(default)]
    pub defaults: Map<String, Value>,
    /// The structured answer.
    #[serde(default)]
    pub answer: Value,
    /// It runs as a task.
    #[serde(default)]
    pub task: bool,
    /// What goes wrong.
    #[serde(default)]
    pub fault: Option<Fault>,
}

/// What goes wrong with a deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It is done, and no answer comes.
    SilentAfter,
    /// It is done, and the server ends.
    EndsAfter,
    /// It is not done: the answer is an error.
    Fails,
    /// It is done, and the answer is an error all the same.
    FailsAfter,
    /// It is done and answered twice.
    AnswersTwice,
    /// It is done, and answered after whoever asked has given up.
    AnswersLate,
    /// It is done, and what comes back with its id is no message.
    Garbles,
    /// It is done, and the answer breaks off in the middle.
    BreaksOff,
    /// It is done, and the answer waits until another phase holds.
    WaitsForSwitch,
}

impl Deed {
    /// The method of the request that it makes.
    pub fn method(&self) -> &str {
        self.method.as_deref().unwrap_or("POST")
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Where it is none, in a sentence with the place.
    pub fn read(text: &str) -> Result<Script, String> {
        let script: Script = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if script.phases.is_empty() || script.phases.len() > limits::PHASES {
            return Err(format!("a script has 1 to {} phases", limits::PHASES));
        }
        Ok(script)
    }

    /// The phase with this number; the last one holds for good.
    pub fn phase(&self, number: usize) -> &Phase {
        &self.phases[number.min(self.phases.len() - 1)]
    }
}
