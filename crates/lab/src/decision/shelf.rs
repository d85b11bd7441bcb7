//! Which fixture answers a request, and what goes wrong with it: a pure machine from request to reply.

use super::exchange::Exchange;
use super::fixture::{self, Answer, Fixture, Payload};
use super::pattern;
use super::record::{Entry, Seen};
use crate::limits;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The request is recorded and has its effect; no answer comes.
    Hang,
    /// The answer ends after its headers.
    CutAfterHeaders,
    /// The request has its effect; the answer is 500.
    ErrorWithEffect,
    /// Half of the body comes, and the connection ends.
    Truncated,
    /// The answer is a page of HTML with the same status.
    ContentType,
    /// There is always a next page.
    EndlessCursor,
}

/// The words for faults, for files and the control API.
pub const FAULTS: &[(&str, Fault)] = &[
    ("hang", Fault::Hang),
    ("cut-after-headers", Fault::CutAfterHeaders),
    ("error-with-effect", Fault::ErrorWithEffect),
    ("truncated", Fault::Truncated),
    ("content-type", Fault::ContentType),
    ("endless-cursor", Fault::EndlessCursor),
];

impl Fault {
    /// Its word.
    pub fn word(self) -> &'static str {
        FAULTS.iter().find(|(_, fault)| *fault == self).map_or("", |(word, _)| word)
    }
}

/// A fault that waits for its requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Armed {
    /// The name of the fixture that it is about, in any version; every one where none is named.
    #[serde(default)]
    pub fixture: Option<String>,
    /// What goes wrong.
    pub fault: Fault,
    /// For how many requests; for all where it is absent.
    #[serde(default)]
    pub times: Option<u64>,
    /// Where the cursor stands in the body, for [`Fault::EndlessCursor`]: a JSON Pointer.
    #[serde(default)]
    pub at: Option<String>,
}

/// How a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// In full.
    Whole(Sent),
    /// The headers, and then the end of the connection.
    Headers(Sent),
    /// Half of the body, and then the end of the connection.
    Half(Sent),
    /// Not at all.
    Silence,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The status.
    pub status: u16,
    /// Headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

/// A set of fixtures that are served, and where the serving stands.
#[derive(Debug, Clone)]
pub struct Shelf {
    fixtures: Vec<Fixture>,
    versions: BTreeMap<String, u64>,
    /// The versions that hold after a reset.
    first: BTreeMap<String, u64>,
    /// The state; [`Shelf::START`] at first.
    state: String,
    faults: Vec<Armed>,
    cursor: u64,
    /// Where an agent hands in its plan: taken with 204, whatever the fixtures say.
    inbox: Option<(String, String)>,
    /// What stands in for its model, and the turn that comes next.
    exchange: Option<Exchange>,
    turn: usize,
    served: BTreeMap<String, usize>,
}

impl Shelf {
    /// The state before anything was asked.
    pub const START: &'static str = "start";

    /// Serves fixtures. Of each name the highest version holds, but for the names in `versions`.
    pub fn new(fixtures: Vec<Fixture>, versions: BTreeMap<String, u64>) -> Shelf {
        let mut first = BTreeMap::new();
        for fixture in &fixtures {
            let version = first.entry(fixture.name.clone()).or_insert(fixture.version);
            *version = fixture.version.max(*version);
        }
        first.extend(versions);
        Shelf {
            fixtures,
            versions: first.clone(),
            first,
            state: Shelf::START.to_owned(),
            faults: Vec::new(),
            cursor: 0,
            inbox: None,
            exchange: None,
            turn: 0,
            served: BTreeMap::new(),
        }
    }

    /// Takes a plan at this method and path.
    pub fn with_inbox(mut self, method: &str, path: &str) -> Shelf {
        self.inbox = Some((method.to_owned(), path.to_owned()));
        self
    }

    /// Replays an exchange in place of the agent's model.
    pub fn with_exchange(mut self, exchange: Option<Exchange>) -> Shelf {
        self.exchange = exchange;
        self
    }

    /// The fixtures, those that are not served now among them.
    pub fn fixtures(&self) -> &[Fixture] {
        &self.fixtures
    }

    /// Whether this version of its name holds now.
    pub fn holds(&self, fixture: &Fixture) -> bool {
        self.versions.get(&fixture.name) == Some(&fixture.version)
    }

    /// How often a fixture was served.
    pub fn served(&self, fixture: &Fixture) -> usize {
        self.served.get(&fixture.id()).copied().unwrap_or(0)
    }

    /// Lets another version of a name hold.
    ///
    /// # Errors
    /// Where there is none, in a sentence.
    pub fn choose(&mut self, name: &str, version: u64) -> Result<(), String> {
        let known: Vec<u64> =
            self.fixtures.iter().filter(|f| f.name == name).map(|f| f.version).collect();
        if known.contains(&version) {
            self.versions.insert(name.to_owned(), version);
            return Ok(());
        }
        if known.is_empty() {
            let names: Vec<&str> = self.versions.keys().map(String::as_str).collect();
            return Err(format!("There is no fixture `{name}`; there are: {}.", names.join(", ")));
        }
        let known: Vec<String> = known.iter().map(u64::to_string).collect();
        Err(format!("`{name}` has no version {version}; it has: {}.", known.join(", ")))
    }

    /// Arms a fault.
    ///
    /// # Errors
    /// Where it names no fixture, or says too little or too much.
    pub fn arm(&mut self, armed: Armed) -> Result<(), String> {
        if let Some(name) = &armed.fixture
            && !self.versions.contains_key(name)
        {
            let names: Vec<&str> = self.versions.keys().map(String::as_str).collect();
            return Err(format!("There is no fixture `{name}`; there are: {}.", names.join(", ")));
        }
        if self.faults.len() >= limits::FAULTS {
            return Err(format!("There are {} faults already.", limits::FAULTS));
        }
        if armed.times == Some(0) {
            return Err(
                "A fault strikes once or more: leave `times` out for every request.".to_owned()
            );
        }
        if armed.fault == Fault::EndlessCursor && armed.at.is_none() {
            return Err("Say where the cursor stands: \"at\": \"/next_cursor\".".to_owned());
        }
        self.faults.push(armed);
        Ok(())
    }

    /// The faults that wait.
    pub fn faults(&self) -> &[Armed] {
        &self.faults
    }

    /// Takes all faults back.
    pub fn disarm(&mut self) {
        self.faults.clear();
    }

    /// Begins again: the first versions, the first state, no faults, the first cursor. What was recorded stays.
    pub fn reset(&mut self) {
        self.versions = self.first.clone();
        self.state = Shelf::START.to_owned();
        self.faults.clear();
        self.cursor = 0;
    }

    /// Answers a request, and says what is to be recorded of it.
    pub fn answer(&mut self, n: usize, seen: Seen) -> (Entry, Reply) {
        if let Some((method, path)) = &self.inbox
            && seen.method == *method
            && seen.path == *path
        {
            let sent = Sent { status: 204, headers: BTreeMap::new(), body: Vec::new() };
            return (entry(n, seen, None, Some(204), None, Value::Null), Reply::Whole(sent));
        }
        if let Some(exchange) = self.exchange.as_ref().filter(|exchange| exchange.is_for(&seen)) {
            return turn(exchange, &mut self.turn, n, seen);
        }
        let held = self.fixtures.iter().filter(|fixture| self.holds(fixture));
        let fixture = match fixture::choose(held, &self.state, &seen) {
            Ok(fixture) => fixture.clone(),
            Err(nearest) => {
                let answer = json!({"error": unmatched(&seen, nearest)});
                let sent = Sent {
                    status: 501,
                    headers: json_header(),
                    body: answer.to_string().into_bytes(),
                };
                return (entry(n, seen, None, Some(501), None, answer), Reply::Whole(sent));
            }
        };
        *self.served.entry(fixture.id()).or_default() += 1;
        let fault = self.strike(&fixture.name);
        if let Some(then) = &fixture.then {
            self.state.clone_from(then);
        }
        let (sent, shown, struck) = self.sent(&fixture.response, fault.as_ref());
        // What changed nothing is not on record as a fault.
        let kind = fault.as_ref().filter(|_| struck).map(|armed| armed.fault);
        let reply = match kind {
            Some(Fault::Hang) => Reply::Silence,
            Some(Fault::CutAfterHeaders) => Reply::Headers(sent.clone()),
            Some(Fault::Truncated) => Reply::Half(sent.clone()),
            _ => Reply::Whole(sent.clone()),
        };
        let status = (reply != Reply::Silence).then_some(sent.status);
        let shown = if reply == Reply::Silence { Value::Null } else { shown };
        let fault = kind.map(|fault| fault.word().to_owned());
        (entry(n, seen, Some(fixture.id()), status, fault, shown), reply)
    }

    /// The first fault that is about this fixture, used up by one.
    fn strike(&mut self, name: &str) -> Option<Armed> {
        let about = |armed: &Armed| armed.fixture.as_deref().is_none_or(|wanted| wanted == name);
        let at = self.faults.iter().position(about)?;
        let armed = self.faults[at].clone();
        match &mut self.faults[at].times {
            Some(1) => {
                self.faults.remove(at);
            }
            Some(left) => *left = left.saturating_sub(1),
            None => {}
        }
        Some(armed)
    }

    /// The answer of a fixture under a fault, how it is shown in the record, and whether the fault found its place.
    fn sent(&mut self, answer: &Answer, armed: Option<&Armed>) -> (Sent, Value, bool) {
        let (mut answer, mut struck) = (answer.clone(), true);
        match armed.map(|armed| armed.fault) {
            Some(Fault::ErrorWithEffect) => {
                answer.status = 500;
                answer.headers.clear();
                answer.body = Payload::Json(json!({"error": "internal error"}));
            }
            Some(Fault::ContentType) => {
                answer.headers.remove("content-type");
                answer.headers.insert("content-type".to_owned(), "text/html".to_owned());
                answer.body = Payload::Text(HTML.to_owned());
            }
            Some(Fault::EndlessCursor) => {
                self.cursor += 1;
                let at = armed.and_then(|armed| armed.at.as_deref()).unwrap_or_default();
                let next = json!(format!("page-{}", self.cursor + 1));
                struck = match &mut answer.body {
                    Payload::Json(body) => put(body, at, next),
                    Payload::Empty | Payload::Text(_) => false,
                };
            }
            _ => {}
        }
        let mut headers = answer.headers.clone();
        if let Some(kind) = answer.body.content_type()
            && !headers.contains_key("content-type")
        {
            headers.insert("content-type".to_owned(), kind.to_owned());
        }
        let shown = match &answer.body {
            Payload::Empty => Value::Null,
            Payload::Json(value) => value.clone(),
            Payload::Text(text) => Value::String(text.clone()),
        };
        (Sent { status: answer.status, headers, body: answer.body.bytes() }, shown, struck)
    }
}

/// What stands where JSON was: the page of a proxy.
pub const HTML: &str =
    "<!doctype html><title>Please sign in</title><p>Your session has ended.</p>\n";

/// Puts a value at a JSON Pointer whose last step may be new. False where nothing holds that place.
#[must_use]
pub fn put(body: &mut Value, pointer: &str, value: Value) -> bool {
    let Some((holder, name)) = pointer.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    match body.pointer_mut(holder) {
        Some(Value::Object(members)) => {
            members.insert(name, value);
            true
        }
        _ => false,
    }
}

fn json_header() -> BTreeMap<String, String> {
    BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())])
}

/// Answers a prompt with the next turn of an exchange. A prompt without an answer is on record as one too.
fn turn(exchange: &Exchange, next: &mut usize, n: usize, seen: Seen) -> (Entry, Reply) {
    let found = exchange.answer(*next, &seen);
    let name = format!("{}{}", Entry::TURN, *next + 1);
    let (status, answer) = match found {
        Ok(answer) => {
            *next += 1;
            (200, answer.clone())
        }
        Err(why) => (501, json!({"error": why})),
    };
    let sent = Sent { status, headers: json_header(), body: answer.to_string().into_bytes() };
    (entry(n, seen, Some(name), Some(status), None, answer), Reply::Whole(sent))
}

fn entry(
    n: usize,
    seen: Seen,
    fixture: Option<String>,
    status: Option<u16>,
    fault: Option<String>,
    answer: Value,
) -> Entry {
    Entry { n, seen, fixture, status, fault, answer }
}

/// Why a request was not answered, with what comes nearest.
fn unmatched(seen: &Seen, nearest: Option<(&Fixture, Vec<pattern::Difference>)>) -> String {
    let request = format!("{} {}", seen.method, seen.path);
    match nearest {
        None => format!("No fixture is served here, so {request} has no answer."),
        Some((fixture, differences)) => {
            let told: Vec<String> =
                differences.iter().map(|d| format!("{} {}", d.place, d.what)).collect();
            format!(
                "No fixture answers {request}. The nearest is {}: {}.",
                fixture.id(),
                told.join("; ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Document;
    use std::collections::BTreeSet;

    fn fixture(text: &str) -> Fixture {
        Fixture::read(&Document::parse("f.yaml", text.as_bytes()).unwrap()).unwrap()
    }

    fn list(version: u64) -> Fixture {
        fixture(&format!(
            "fixture: 1\nname: list\nversion: {version}\nrequest: {{method: GET, path: /p, query: {{state: off}}}}\n\
             response: {{body: {{items: [{{why: one, id: p{version}}}], next: null}}}}\n"
        ))
    }

    fn ask(shelf: &mut Shelf, path: &str) -> (Entry, Reply) {
        shelf.answer(1, Seen::read("GET", path, std::iter::empty(), b"", &BTreeSet::new()))
    }

    #[test]
    fn the_highest_version_holds_until_another_is_chosen_and_why_is_not_served() {
        let mut shelf = Shelf::new(vec![list(1), list(2)], BTreeMap::new());
        let (entry, _) = ask(&mut shelf, "/p?state=off");
        assert_eq!(entry.answer, json!({"items": [{"id": "p2"}], "next": null}));
        assert_eq!(shelf.fixtures()[0].why["/items/0"], "one");
        shelf.choose("list", 1).unwrap();
        assert_eq!(ask(&mut shelf, "/p?state=off").0.fixture.as_deref(), Some("list-v1"));
        shelf.reset();
        assert_eq!(ask(&mut shelf, "/p?state=off").0.fixture.as_deref(), Some("list-v2"));
        assert_eq!(shelf.choose("list", 3).unwrap_err(), "`list` has no version 3; it has: 1, 2.");
        assert!(shelf.choose("lst", 1).unwrap_err().contains("there are: list"));
    }

    #[test]
    fn what_no_fixture_answers_names_the_nearest_and_what_differs() {
        let mut shelf = Shelf::new(vec![list(1)], BTreeMap::new());
        let (entry, _) = ask(&mut shelf, "/p?state=on");
        assert_eq!(entry.status, Some(501));
        let said = entry.answer["error"].as_str().unwrap();
        assert_eq!(
            said,
            "No fixture answers GET /p. The nearest is list-v1: query.state is \"on\"; \"off\" was expected."
        );
    }

    #[test]
    fn faults_strike_as_often_as_they_are_armed() {
        let mut shelf = Shelf::new(vec![list(1)], BTreeMap::new());
        let armed = |fault, times, at: Option<&str>| Armed {
            fixture: Some("list".into()),
            fault,
            times,
            at: at.map(str::to_owned),
        };
        shelf.arm(armed(Fault::Hang, Some(1), None)).unwrap();
        let (entry, reply) = ask(&mut shelf, "/p?state=off");
        assert_eq!((entry.status, reply), (None, Reply::Silence));
        assert_eq!(ask(&mut shelf, "/p?state=off").0.status, Some(200));
        assert!(shelf.arm(armed(Fault::EndlessCursor, None, None)).is_err());
        shelf.arm(armed(Fault::EndlessCursor, None, Some("/next"))).unwrap();
        assert_eq!(ask(&mut shelf, "/p?state=off").0.answer["next"], "page-2");
        assert_eq!(ask(&mut shelf, "/p?state=off").0.answer["next"], "page-3");
        shelf.disarm();
        assert_eq!(ask(&mut shelf, "/p?state=off").0.answer["next"], Value::Null);
    }

    #[test]
    fn a_state_comes_after_its_request() {
        let before = fixture(
            "fixture: 1\nname: job\nversion: 1\nrequest: {method: GET, path: /job}\nresponse: {body: {done: false}}\nstate: {then: asked}\n",
        );
        let after = fixture(
            "fixture: 1\nname: job-done\nversion: 1\nrequest: {method: GET, path: /job}\nresponse: {body: {done: true}}\nstate: {when: asked}\n",
        );
        let mut shelf = Shelf::new(vec![before, after], BTreeMap::new());
        assert_eq!(ask(&mut shelf, "/job").0.answer["done"], false);
        assert_eq!(ask(&mut shelf, "/job").0.answer["done"], true);
    }
}
