//! The decision map: which values of an API or a tool reach a decision of the agent (C1, C7).
//!
//! ```yaml
//! decision-map: 1
//! operations:
//!   listProjects:                     # an operationId, or `GET /projects`
//!     purpose: eligibility            # what the operation's text promises
//!     server: scope
//!     request:
//!       query.limit: scope            # path. query. header. cookie. body.
//!     response:
//!       status: completion            # the HTTP status itself; also `content-type`
//!       429 header.Retry-After: completion
//!       body.items[].id: {feeds: target, absent: stop}
//!       body.items[].status: {feeds: eligibility, unknown: skip}
//!       /next_cursor: completion      # a JSON Pointer into the body
//! tools:
//!   archive_project:
//!     input:
//!       project: target
//!     output:
//!       state: completion
//! ```
//!
//! A value that a listed operation or tool answers and no line names is declared unread.

pub(crate) mod consequence;
pub mod guess;
pub(crate) mod places;
mod read;
pub mod tool;

use crate::verdict::Decision;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which request and response values feed which decision.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DecisionMap {
    /// By operationId or `METHOD /path`.
    pub operations: BTreeMap<String, Surface>,
    /// By tool name.
    pub tools: BTreeMap<String, Surface>,
}

/// What an agent uses of one operation or tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// Decisions fed by what belongs to the whole.
    pub aspects: BTreeMap<Aspect, Vec<Decision>>,
    /// Values that are sent.
    pub request: Vec<Reading>,
    /// Values that are read.
    pub response: Vec<Reading>,
}

/// What belongs to an operation as a whole rather than to one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The name by which it is chosen.
    Name,
    /// What its text promises: which objects, which effect.
    Purpose,
    /// The base address.
    Server,
    /// The credential it asks for.
    Security,
}

/// One line of the map.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The HTTP status it is about, where the line names one.
    pub status: Option<String>,
    /// The place of the value: `body`, `items`, `[]`, `id`.
    pub path: Vec<String>,
    /// The decisions it feeds.
    pub feeds: Vec<Decision>,
    /// What the agent does where the value is missing or null.
    pub absent: Option<Consequence>,
    /// What the agent does at an enum value that it does not know.
    pub unknown: Option<Consequence>,
}

/// What an agent does where it cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consequence {
    /// Ends the action.
    Stop,
    /// Leaves out the object.
    Skip,
    /// Asks a person.
    Ask,
    /// Notes it and goes on: for agents that only read.
    Note,
}

impl Consequence {
    /// The words for a sentence: "the agent …".
    pub fn deed(self) -> &'static str {
        match self {
            Consequence::Stop => "stops",
            Consequence::Skip => "skips the object",
            Consequence::Ask => "asks a person",
            Consequence::Note => "notes it and goes on",
        }
    }
}

/// Which way a value travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flow {
    /// From the agent.
    Request,
    /// To the agent.
    Response,
}

/// What the map says about one place.
#[derive(Debug, Clone, PartialEq)]
pub enum Use<'a> {
    /// These lines name the place, something in it, or something that holds it.
    Read(Vec<&'a Reading>),
    /// The operation or tool is listed, the place is not.
    Unread,
}

impl Use<'_> {
    /// The decisions it reaches, in order, each once.
    pub fn decisions(&self) -> Vec<Decision> {
        match self {
            Use::Read(lines) => {
                let all: BTreeSet<Decision> =
                    lines.iter().flat_map(|line| line.feeds.iter().copied()).collect();
                all.into_iter().collect()
            }
            Use::Unread => Vec::new(),
        }
    }
}

impl Surface {
    /// What is declared about the value at `path`, in the answer `status` where one is meant.
    ///
    /// A line about the place itself wins; else lines about what stands in it, else lines about
    /// what holds it.
    pub fn at(&self, flow: Flow, status: Option<&str>, path: &[String]) -> Use<'_> {
        let lines = match flow {
            Flow::Request => &self.request,
            Flow::Response => &self.response,
        };
        let about = |line: &&Reading| match (&line.status, status) {
            (Some(wanted), Some(status)) => wanted.eq_ignore_ascii_case(status),
            _ => true,
        };
        let pick = |test: &dyn Fn(&Reading) -> bool| -> Vec<&Reading> {
            lines.iter().filter(about).filter(|line| test(line)).collect()
        };
        let exact = pick(&|line| line.path == path);
        if !exact.is_empty() {
            return Use::Read(exact);
        }
        let inside = pick(&|line| line.path.starts_with(path));
        if !inside.is_empty() {
            return Use::Read(inside);
        }
        let around = pick(&|line| path.starts_with(&line.path));
        if around.is_empty() { Use::Unread } else { Use::Read(around) }
    }
}

impl DecisionMap {
    /// The surface of an operation, by its id or its `METHOD /path`.
    pub fn operation(&self, id: Option<&str>, name: &str) -> Option<&Surface> {
        id.and_then(|id| self.operations.get(id)).or_else(|| self.operations.get(name))
    }

    /// The surface of a tool.
    pub fn tool(&self, name: &str) -> Option<&Surface> {
        self.tools.get(name)
    }
}

/// A dotted path or a JSON Pointer as the map's steps: `items[].id` and `/items/*/id` alike.
pub fn steps(text: &str) -> Vec<String> {
    if let Some(pointer) = text.strip_prefix('/') {
        return pointer
            .split('/')
            .map(|token| {
                let token = token.replace("~1", "/").replace("~0", "~");
                let any = token == "*" || token == "-" || token.parse::<u64>().is_ok();
                if any { "[]".to_owned() } else { token }
            })
            .collect();
    }
    let mut steps = Vec::new();
    for part in text.split('.') {
        let mut name = part;
        let mut arrays = 0;
        while let Some(rest) = name.strip_suffix("[]") {
            name = rest;
            arrays += 1;
        }
        if name == "*" {
            steps.push("[]".to_owned());
        } else if !name.is_empty() {
            steps.push(name.to_owned());
        }
        steps.extend(std::iter::repeat_n("[]".to_owned(), arrays));
    }
    steps
}
