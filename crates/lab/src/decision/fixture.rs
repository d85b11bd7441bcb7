//! Versioned fixtures: what an API is asked, and what it answers.
//!
//! ```yaml
//! fixture: 1
//! name: projects-list
//! version: 1
//! request:
//!   method: GET
//!   path: /projects
//!   query: {state: inactive}
//! response:
//!   status: 200
//!   body:
//!     items:
//!       - {why: of an owner that may be archived, id: p17, state: inactive, owner: team-a}
//! ```

use super::pattern::{self, Whole};
use super::record::{Content, Seen};
use crate::limits;
use crate::read::{Document, Node, Reader};
use contract::Problem;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One answer to one kind of request, in one version.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    /// Its name, the same in every version.
    pub name: String,
    /// Its version, from 1.
    pub version: u64,
    /// The last day on which an old version is kept, as `2027-06-30`.
    pub until: Option<String>,
    /// Older fixtures that are to be kept, by their ids, with the last day of each: so that one that is deleted before
    /// is missed.
    pub keeps: BTreeMap<String, String>,
    /// Its operationId, where a decision map names it by that.
    pub operation_id: Option<String>,
    /// The file that it was read from.
    pub file: String,
    /// What must be asked for it.
    pub request: Pattern,
    /// What it answers.
    pub response: Answer,
    /// The state that the server must be in for it to be served.
    pub when: Option<String>,
    /// The state that the server is in afterwards.
    pub then: Option<String>,
    /// Why each object of a list stands there, by the JSON Pointer into the body.
    pub why: BTreeMap<String, String>,
}

/// What must be asked: what is named must be so, what is not named does not matter.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The method, in capitals.
    pub method: String,
    /// The path; a step in braces stands for any one step.
    pub path: String,
    /// Parameters of the query, by name.
    pub query: Map<String, Value>,
    /// Headers, by their names in small letters.
    pub headers: Map<String, Value>,
    /// The body.
    pub body: Option<Value>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Payload,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// None.
    Empty,
    /// A JSON value, without what says why its objects are there.
    Json(Value),
    /// Exactly these bytes.
    Text(String),
}

impl Payload {
    /// The bytes that are served.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Payload::Empty => Vec::new(),
            Payload::Json(value) => value.to_string().into_bytes(),
            Payload::Text(text) => text.clone().into_bytes(),
        }
    }

    /// The type that is said of it where no header says another.
    pub fn content_type(&self) -> Option<&'static str> {
        match self {
            Payload::Empty => None,
            Payload::Json(_) => Some("application/json"),
            Payload::Text(_) => Some("text/plain; charset=utf-8"),
        }
    }
}

/// A day as `2027-06-30`, so that days are in the order of their texts.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let of = |part: &str, letters: usize, most: u16| {
        let digits = part.len() == letters && part.bytes().all(|c| c.is_ascii_digit());
        digits && part.parse().is_ok_and(|n| (1..=most).contains(&n))
    };
    matches!(parts.as_slice(), [year, month, day] if of(year, 4, 9999) && of(month, 2, 12) && of(day, 2, 31))
}

/// What is wrong with the ends of fixtures on a day, a sentence each: one that is over, an old version that has none, one
/// that was deleted although a newer one says that it is kept.
pub fn ends(fixtures: &[Fixture], today: &str) -> Vec<String> {
    let newer = |old: &Fixture| {
        let mut others = fixtures.iter().filter(|other| other.name == old.name);
        others.any(|other| other.version > old.version)
    };
    let promised =
        |fixture: &Fixture| fixtures.iter().any(|other| other.keeps.contains_key(&fixture.id()));
    let told = |fixture: &Fixture| match &fixture.until {
        Some(until) if until.as_str() < today => Some(format!(
            "{} was kept until {until}, and that is over: delete it, or say how much longer it is kept",
            fixture.id()
        )),
        None if newer(fixture) => Some(format!(
            "{} has a newer version and does not say how long it is kept: add `until:`",
            fixture.id()
        )),
        Some(until) if newer(fixture) && !promised(fixture) => Some(format!(
            "no newer version says that {id} is kept, so nobody would miss it: add `keeps: {{{id}: {until}}}` to one",
            id = fixture.id()
        )),
        _ => None,
    };
    let gone = fixtures.iter().flat_map(|newer| {
        newer.keeps.iter().filter_map(move |(id, until)| {
            let kept = fixtures.iter().find(|fixture| fixture.id() == *id);
            match kept.map(|kept| kept.until.as_deref()) {
                None if until.as_str() >= today => Some(format!(
                    "{id} is kept until {until}, as {} says, and it is gone: put it back",
                    newer.id()
                )),
                Some(Some(own)) if own != until => Some(format!(
                    "{id} is kept until {own}, and {} says until {until}: say the same in both",
                    newer.id()
                )),
                _ => None,
            }
        })
    });
    fixtures.iter().filter_map(told).chain(gone).collect()
}

impl Fixture {
    /// Its name with its version: `projects-list-v1`.
    pub fn id(&self) -> String {
        format!("{}-v{}", self.name, self.version)
    }

    /// The operation as a decision map names it: `GET /projects`.
    pub fn operation(&self) -> String {
        format!("{} {}", self.request.method, self.request.path)
    }

    /// Reads one from a document.
    ///
    /// # Errors
    /// All problems at once, each with its line.
    pub fn read(document: &Document) -> Result<Fixture, Vec<Problem>> {
        let mut reader = Reader::new(document);
        let root = document.root();
        let known = [
            "fixture", "name", "version", "until", "keeps", "operation", "request", "response",
            "state",
        ];
        reader.keys(&root, &known);
        version_one(&mut reader, &root, "fixture");
        let name = reader.required_text(&root, "name").unwrap_or_default().to_owned();
        let version = match reader.count(&root, "version") {
            Some(0) => {
                reader.problem(&root, "Versions are counted from 1.", "Write `version: 1`.");
                0
            }
            Some(version) => version as u64,
            None => {
                if root.get("version").is_none() {
                    reader.missing(&root, "version");
                }
                0
            }
        };
        let until = reader.text(&root, "until").map(str::to_owned);
        let kept = root.get("keeps");
        if let Some(node) = &kept {
            let texts = node.members().iter().all(|(_, day)| day.value.is_string());
            if !node.value.is_object() || node.members().is_empty() || !texts {
                reader.expected(node, "ids of older fixtures with their last days");
            }
        }
        let mut day = |node: &Node<'_>, text: &str| {
            if !is_day(text) {
                let help = "Write the last day on which it is kept: 2027-06-30.";
                reader.problem(node, format!("`{text}` is no day."), help);
            }
        };
        let mut keeps = BTreeMap::new();
        if let (Some(node), Some(text)) = (root.get("until"), &until) {
            day(&node, text);
        }
        for (id, node) in kept.iter().flat_map(Node::members) {
            if let Some(text) = node.value.as_str() {
                day(&node, text);
                keeps.insert(id.to_owned(), text.to_owned());
            }
        }
        let operation_id = reader.text(&root, "operation").map(str::to_owned);
        let request = match root.get("request") {
            Some(node) => Pattern::read(&mut reader, &node),
            None => {
                reader.missing(&root, "request");
                Pattern::nothing()
            }
        };
        let mut why = BTreeMap::new();
        let response = match root.get("response") {
            Some(node) => answer(&mut reader, &node, &mut why),
            None => {
                reader.missing(&root, "response");
                Answer { status: 200, headers: BTreeMap::new(), body: Payload::Empty }
            }
        };
        let (mut when, mut then) = (None, None);
        if let Some(state) = root.get("state")
            && reader.keys(&state, &["when", "then"])
        {
            when = reader.text(&state, "when").map(str::to_owned);
            then = reader.text(&state, "then").map(str::to_owned);
        }
        let file = document.name().to_owned();
        let fixture = Fixture {
            name,
            version,
            until,
            keeps,
            operation_id,
            file,
            request,
            response,
            when,
            then,
            why,
        };
        named_alike(&mut reader, &root, &fixture);
        reader.finish(fixture)
    }
}

/// A file is found by its name, so it is called what it holds.
fn named_alike<'d>(reader: &mut Reader<'d>, root: &Node<'d>, fixture: &Fixture) {
    let file = fixture.file.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let ends_as_version = stem.rsplit_once("-v").is_some_and(|(_, n)| n.parse::<u64>().is_ok());
    if ends_as_version && stem != fixture.id() && !fixture.name.is_empty() && fixture.version > 0 {
        reader.problem(
            root,
            format!("The file is called `{stem}` and holds `{}`.", fixture.id()),
            "Give both the same name and version.",
        );
    }
}

/// Holds the number behind the first key.
pub(crate) fn version_one<'d>(reader: &mut Reader<'d>, root: &Node<'d>, key: &str) {
    match root.get(key) {
        None => reader.missing(root, key),
        Some(node) if node.value.as_u64() != Some(1) => {
            reader.problem(
                &node,
                format!("Version {} of this kind of file is not known.", node.value),
                format!("Write `{key}: 1`, or use a newer steadfast."),
            );
        }
        Some(_) => {}
    }
}

impl Pattern {
    fn nothing() -> Pattern {
        Pattern {
            method: String::new(),
            path: String::new(),
            query: Map::new(),
            headers: Map::new(),
            body: None,
        }
    }

    /// Reads the members of a request: method, path, and what [`Pattern::rest`] reads.
    pub(crate) fn read<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Pattern {
        let mut pattern = Pattern::nothing();
        if !reader.keys(node, &["method", "path", "query", "headers", "body"]) {
            return pattern;
        }
        pattern.method =
            reader.required_text(node, "method").unwrap_or_default().to_ascii_uppercase();
        pattern.path = reader.required_text(node, "path").unwrap_or_default().to_owned();
        if !pattern.path.is_empty() && !pattern.path.starts_with('/') {
            let at = node.get("path").unwrap_or_else(|| node.clone());
            reader.problem(&at, "A path begins with a slash.", "Write it as `/projects`.");
        }
        if let Some((_, query)) = pattern.path.split_once('?') {
            let help = format!("Put `{query}` under `query:`, a line for each name.");
            let at = node.get("path").unwrap_or_else(|| node.clone());
            reader.problem(&at, "The path holds a query.", help);
        }
        pattern.rest(reader, node);
        pattern
    }

    /// Reads what stands beside the path: `query`, `headers` and `body`.
    pub(crate) fn rest<'d>(&mut self, reader: &mut Reader<'d>, node: &Node<'d>) {
        self.query = texts(reader, node, "query", str::to_owned);
        self.headers = texts(reader, node, "headers", str::to_ascii_lowercase);
        // `body: null` asks for the body `null`; a request without a body has no line.
        self.body = node.value.get("body").cloned();
        if let Some(body) = &self.body {
            words(reader, node, "body", body);
        }
    }

    /// How far a request is from this pattern; empty where it fits.
    pub fn differences(&self, seen: &Seen) -> Vec<pattern::Difference> {
        let mut differences = Vec::new();
        let differs = |place: &str, what: String| pattern::Difference { place: place.into(), what };
        if seen.method != self.method {
            differences.push(differs(
                "method",
                format!("is {}; {} was expected", seen.method, self.method),
            ));
        }
        if !same_path(&self.path, &seen.path) {
            differences
                .push(differs("path", format!("is {}; {} was expected", seen.path, self.path)));
        }
        self.compare_rest(seen, Whole::Part, &|_, _| None, &mut differences);
        differences
    }

    /// Compares query, headers and body with a request. Headers that are not named never count.
    pub fn compare_rest(
        &self,
        seen: &Seen,
        whole: Whole,
        earlier: &dyn Fn(usize, &str) -> Option<Value>,
        differences: &mut Vec<pattern::Difference>,
    ) {
        let query = Value::Object(seen.query_members());
        let wanted = Value::Object(self.query.clone());
        pattern::compare(&wanted, Some(&query), whole, "query", earlier, differences);
        let headers = Value::Object(seen.header_members());
        let wanted = Value::Object(self.headers.clone());
        pattern::compare(&wanted, Some(&headers), Whole::Part, "header", earlier, differences);
        let body = seen.body.value();
        match &self.body {
            Some(wanted) => {
                pattern::compare(wanted, body.as_ref(), whole, "body", earlier, differences);
            }
            None if whole == Whole::All && seen.body != Content::Empty => {
                let what = format!("was sent as {}; none was expected", seen.body.short());
                differences.push(pattern::Difference { place: "body".into(), what });
            }
            None => {}
        }
    }

    /// How much the pattern demands: of two that fit, the one that demands more is meant.
    fn demands(&self) -> usize {
        let literal = self.path.split('/').filter(|step| !step.starts_with('{')).count();
        literal + self.query.len() + self.headers.len() + 2 * usize::from(self.body.is_some())
    }
}

/// Whether a path is the one of a pattern, whose steps in braces stand for any one step.
pub fn same_path(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(w), Some(f)) if w == f || (is_variable(w) && !f.is_empty()) => {}
            _ => return false,
        }
    }
}

/// A step of a path that stands for any one step.
pub fn is_variable(step: &str) -> bool {
    step.starts_with('{') && step.ends_with('}')
}

/// A mapping of names to texts; numbers and truth values are written as they travel.
fn texts<'d>(
    reader: &mut Reader<'d>,
    node: &Node<'d>,
    key: &str,
    spell: fn(&str) -> String,
) -> Map<String, Value> {
    let Some(node) = node.get(key) else { return Map::new() };
    if !node.value.is_object() {
        reader.expected(&node, "a mapping of names to values");
    }
    let mut found = Map::new();
    for (name, member) in node.members() {
        let value = match member.value {
            Value::Number(number) => Value::String(number.to_string()),
            Value::Bool(flag) => Value::String(flag.to_string()),
            Value::Null => {
                reader.problem(
                    &member,
                    "There is no null on the way here: a name is there or it is not.",
                    "Write \"\" for an empty value, or {$absent: true} for one that is left out.",
                );
                continue;
            }
            other => other.clone(),
        };
        words_at(reader, &member, &value);
        found.insert(spell(name), value);
    }
    found
}

/// Notes words of a pattern that are none.
fn words<'d>(reader: &mut Reader<'d>, node: &Node<'d>, key: &str, value: &Value) {
    if let Some(member) = node.get(key) {
        words_at(reader, &member, value);
    }
}

pub(crate) fn words_at(reader: &mut Reader<'_>, node: &Node<'_>, value: &Value) {
    let mut problems = Vec::new();
    pattern::check(value, &node.pointer, &mut problems);
    for (pointer, sentence, help) in problems {
        let at = Node { value: node.value, pointer };
        reader.problem(&at, sentence, help);
    }
}

fn answer<'d>(
    reader: &mut Reader<'d>,
    node: &Node<'d>,
    why: &mut BTreeMap<String, String>,
) -> Answer {
    reader.keys(node, &["status", "headers", "body", "text"]);
    let status = reader.count(node, "status").unwrap_or(200);
    let status = u16::try_from(status).ok().filter(|status| (200..=599).contains(status));
    if status.is_none() {
        let at = node.get("status").unwrap_or_else(|| node.clone());
        reader.problem(&at, "This is no status of an answer.", "Write one from 200 to 599.");
    }
    let mut headers = BTreeMap::new();
    for (name, member) in node.get("headers").iter().flat_map(Node::members) {
        let value = match member.value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => {
                reader.expected(&member, "text");
                continue;
            }
        };
        if value.chars().any(|c| c.is_control()) || !is_header_name(name) {
            reader.problem(&member, "A header cannot carry this.", "Write plain text on one line.");
            continue;
        }
        headers.insert(name.to_ascii_lowercase(), value);
    }
    let text = reader.text(node, "text");
    let body = match (node.value.get("body"), text) {
        (Some(_), Some(_)) => {
            reader.problem(
                node,
                "Both `body` and `text` are given.",
                "Write `body:` for JSON, or `text:` for exactly these bytes.",
            );
            Payload::Empty
        }
        (Some(body), None) => {
            let mut body = body.clone();
            take_why(&mut body, false, "", why);
            Payload::Json(body)
        }
        (None, Some(text)) => Payload::Text(text.to_owned()),
        (None, None) => Payload::Empty,
    };
    if body.bytes().len() > limits::BODY {
        let sentence = format!("The body has more than {} MB.", limits::BODY >> 20);
        reader.problem(node, sentence, "A fixture is small enough to be read by a person.");
    }
    Answer { status: status.unwrap_or(200), headers, body }
}

fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// Takes `why` out of the objects of lists: it is told to reviewers, and not served.
fn take_why(value: &mut Value, listed: bool, place: &str, why: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            if listed && let Some(Value::String(text)) = members.get("why") {
                why.insert(place.to_owned(), text.clone());
                members.shift_remove("why");
            }
            for (name, member) in members {
                take_why(member, false, &format!("{place}/{}", pattern::escape(name)), why);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                take_why(item, true, &format!("{place}/{index}"), why);
            }
        }
        _ => {}
    }
}

/// Which of the fixtures a request is for: the one that fits and demands most; the first of equals. `Err` holds the
/// nearest one with what differs.
pub fn choose<'f>(
    fixtures: impl Iterator<Item = &'f Fixture>,
    state: &str,
    seen: &Seen,
) -> Result<&'f Fixture, Option<(&'f Fixture, Vec<pattern::Difference>)>> {
    let mut best: Option<&Fixture> = None;
    let mut nearest: Option<(&Fixture, Vec<pattern::Difference>)> = None;
    for fixture in fixtures {
        let mut differences = fixture.request.differences(seen);
        if let Some(when) = fixture.when.as_deref().filter(|when| *when != state) {
            let what = format!("is `{state}`; `{when}` was expected");
            differences.push(pattern::Difference { place: "state".into(), what });
        }
        if differences.is_empty() {
            let demands = |f: &Fixture| f.request.demands() + usize::from(f.when.is_some());
            if best.is_none_or(|best| demands(best) < demands(fixture)) {
                best = Some(fixture);
            }
            continue;
        }
        // Another path is further away than another value.
        let far = |d: &[pattern::Difference]| {
            let path = d.iter().any(|d| d.place == "path");
            let method = d.iter().any(|d| d.place == "method");
            (path, method, d.len())
        };
        if nearest.as_ref().is_none_or(|(_, least)| far(&differences) < far(least)) {
            nearest = Some((fixture, differences));
        }
    }
    best.ok_or(nearest)
}

/// Holds a set of fixtures together: each version of a name stands once.
///
/// # Errors
/// Each fixture that stands twice, with both files.
pub fn distinct(fixtures: &[Fixture]) -> Result<(), Vec<Problem>> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for fixture in fixtures {
        if let Some(first) = known.insert(fixture.id(), &fixture.file) {
            problems.push(Problem {
                place: fixture.file.clone(),
                sentence: format!("`{}` stands twice; first in {first}.", fixture.id()),
                help: "Give one of them another name or version.".to_owned(),
            });
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
