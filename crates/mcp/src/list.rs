//! Reading a server's tools: all pages, until two readings agree.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::Client;
use crate::error::{ErrorKind, Failure, FetchError, Problem, quote};
use crate::fetch::{FetchOptions, Step};
use crate::json::{self, Flaw, FlawKind};
use crate::limits;
use crate::open::{self, Greeting};
use crate::version::{Era, INVALID_PARAMS, METHOD_NOT_FOUND};

const LIST: &str = "tools/list";

/// Problems of one list that are told at once.
const PROBLEMS: usize = 20;

/// All pages of one reading.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// Each page's `result`, raw.
    pub pages: Vec<Box<RawValue>>,
    /// The tools of all pages in order, raw.
    pub tools: Vec<Listed>,
}

/// A tool as it was listed.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its definition, byte for byte.
    pub raw: Box<RawValue>,
}

/// A list that held still.
#[derive(Debug, Clone, Default)]
pub struct Settled {
    /// The last reading.
    pub reading: Reading,
    /// What a reader of the list should know, in sentences.
    pub notes: Vec<String>,
}

/// Why one reading came to nothing.
pub enum Broken {
    /// For good.
    Error(FetchError),
    /// The list may have changed between two pages: another reading may do.
    Moved(FetchError),
    /// The server has dropped the session.
    SessionLost(FetchError),
}

#[derive(serde::Deserialize)]
struct Page<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    tools: Option<&'a RawValue>,
    #[serde(default, rename = "nextCursor")]
    next: Option<Value>,
    #[serde(default, rename = "resultType")]
    kind: Option<Value>,
}

fn present<'de: 'a, 'a, D: Deserializer<'de>>(d: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(d).map(Some)
}

/// Reads the list again and again until two readings in a row agree; only then is it a contract and not a moment.
pub async fn settle(
    client: &mut Client,
    greeting: &Greeting,
    options: &FetchOptions,
    place: &str,
) -> Result<Settled, Broken> {
    let mut before: Option<(Reading, u64)> = None;
    let mut moved = None;
    for walk in 1..=limits::WALKS {
        let told = client.side().list_changed;
        let reading = match read(client, greeting, options, place, walk).await {
            Ok(reading) => reading,
            Err(Broken::Moved(error)) => {
                (before, moved) = (None, Some(error));
                tokio::time::sleep(options.settle).await;
                continue;
            }
            Err(broken) => return Err(broken),
        };
        if let Some((earlier, told_earlier)) = &before {
            // An announced change asks for one more look, unless it is announced at every look.
            let quiet = client.side().list_changed == *told_earlier || walk == limits::WALKS;
            if let Some(same) = agree(earlier, &reading).filter(|_| quiet) {
                return Ok(settled(reading, same));
            }
            if agree(earlier, &reading).is_none() {
                moved = Some(moving(place, earlier, &reading));
            }
        }
        before = Some((reading, told));
        tokio::time::sleep(options.settle).await;
    }
    let error = moved.unwrap_or_else(|| {
        FetchError::new(ErrorKind::Moving, place, "The list of tools never held still.", MOVING)
    });
    Err(Broken::Error(error))
}

const MOVING: &str =
    "Try again when the server has settled; a list that depends on the moment is no contract.";

/// How two readings agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Same {
    /// To the byte.
    Bytes,
    /// The same tools in the same order; members inside them in another.
    Values,
    /// The same tools in another order.
    Set,
}

fn agree(a: &Reading, b: &Reading) -> Option<Same> {
    if a.tools.len() != b.tools.len() {
        return None;
    }
    let pairs = || a.tools.iter().zip(&b.tools);
    if pairs().all(|(x, y)| x.raw.get() == y.raw.get()) {
        return Some(Same::Bytes);
    }
    let equal = |x: &Listed, y: &Listed| x.raw.get() == y.raw.get() || value(x) == value(y);
    if pairs().all(|(x, y)| x.name == y.name && equal(x, y)) {
        return Some(Same::Values);
    }
    let others: BTreeMap<&str, &Listed> = b.tools.iter().map(|t| (t.name.as_str(), t)).collect();
    a.tools
        .iter()
        .all(|t| others.get(t.name.as_str()).is_some_and(|o| equal(t, o)))
        .then_some(Same::Set)
}

/// Equal whatever the order of members; numbers by their spelling.
fn value(tool: &Listed) -> Value {
    serde_json::from_str(tool.raw.get())
        .expect("its syntax and depth were checked when the page was read")
}

fn settled(mut reading: Reading, same: Same) -> Settled {
    let mut notes = Vec::new();
    match same {
        Same::Bytes => {}
        Same::Values => notes.push(
            "The server writes the members of its tools in another order at each reading; two snapshots of it differ \
             in their bytes."
                .to_owned(),
        ),
        Same::Set => {
            reading.tools.sort_by(|a, b| a.name.cmp(&b.name));
            notes.push(
                "The server lists its tools in another order at each reading; the snapshot sorts them by name.".to_owned(),
            );
        }
    }
    Settled { reading, notes }
}

fn moving(place: &str, a: &Reading, b: &Reading) -> FetchError {
    let names = |r: &Reading| r.tools.iter().map(|t| t.name.clone()).collect::<BTreeSet<_>>();
    let (before, after) = (names(a), names(b));
    let list = |names: Vec<&String>| {
        let more =
            if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
        let first =
            names.iter().take(3).map(|n| format!("`{}`", quote(n))).collect::<Vec<_>>().join(", ");
        first + &more
    };
    let gone: Vec<_> = before.difference(&after).collect();
    let new: Vec<_> = after.difference(&before).collect();
    let what = match (gone.is_empty(), new.is_empty()) {
        (true, true) => {
            let others: BTreeMap<&str, &Listed> =
                b.tools.iter().map(|t| (t.name.as_str(), t)).collect();
            let changed: Vec<&String> = a
                .tools
                .iter()
                .filter(|t| others.get(t.name.as_str()).is_some_and(|o| o.raw.get() != t.raw.get()))
                .map(|t| &t.name)
                .collect();
            format!("{} changed", list(changed))
        }
        (true, false) => format!("{} came", list(new)),
        (false, true) => format!("{} went", list(gone)),
        (false, false) => format!("{} went and {} came", list(gone), list(new)),
    };
    FetchError::new(
        ErrorKind::Moving,
        place,
        format!(
            "The list of tools did not hold still in {} readings; between the last two, {what}.",
            limits::WALKS
        ),
        MOVING,
    )
}

/// One reading of all pages.
async fn read(
    client: &mut Client,
    greeting: &Greeting,
    options: &FetchOptions,
    place: &str,
    walk: usize,
) -> Result<Reading, Broken> {
    let mut reading = Reading::default();
    let mut problems = Vec::new();
    let mut names: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut cursors: BTreeMap<String, usize> = BTreeMap::new();
    let mut cursor: Option<String> = None;
    let (mut bytes, mut duplicates) = (0, false);
    let mut first: Option<String> = None;
    loop {
        let number = reading.pages.len() + 1;
        (options.progress)(Step::Page { reading: walk, page: number, tools: reading.tools.len() });
        let answer = match client
            .ask(LIST, &params(client, cursor.as_deref()), options.request_timeout)
            .await
        {
            Ok(answer) => answer,
            // A server without tools may not know the question.
            Err(Failure::Rpc(error, _))
                if error.code == METHOD_NOT_FOUND && number == 1 && !greeting.declares_tools() =>
            {
                return Ok(Reading::default());
            }
            Err(failure) => return Err(broken(client, failure, place, number)),
        };
        let raw = answer.result().unwrap_or_default();
        if cursor.as_deref() == Some("") && first.as_deref() == Some(raw) {
            // An empty cursor is one like any other, but some servers end a list with it, and begin anew when they are asked.
            break;
        }
        first.get_or_insert_with(|| raw.to_owned());
        bytes += raw.len();
        let at = format!("{place} {LIST} page {number}");
        let flaws = json::flaws(raw, limits::DEPTH, PROBLEMS);
        if !flaws.is_empty() {
            return Err(Broken::Error(flawed(&at, flaws)));
        }
        let page = match read_page(raw, &at) {
            Ok(page) => page,
            Err(problem) => {
                problems.push(problem);
                return Err(Broken::Error(list_error(problems)));
            }
        };
        for (index, tool) in page.tools.iter().enumerate() {
            let at = format!("{at} /tools/{index}");
            match tool_name(tool) {
                Err(sentence) => problems.push(Problem {
                    place: at,
                    sentence,
                    help: "A tool needs a name to be called by; that is a fault of the server."
                        .into(),
                }),
                Ok(name) => {
                    if let Some((p, i)) = names.insert(name.clone(), (number, index)) {
                        duplicates = true;
                        problems.push(Problem {
                            place: at,
                            sentence: format!(
                                "The tool `{}` is already listed on page {p} at /tools/{i}.",
                                quote(&name)
                            ),
                            help: "Names must be unique: which of the two would a call reach?"
                                .into(),
                        });
                    }
                    reading.tools.push(Listed { name, raw: tool.clone() });
                }
            }
        }
        reading.pages.push(
            RawValue::from_string(raw.to_owned()).expect("a part of a parsed message is JSON"),
        );
        let stop = if reading.tools.len() > limits::TOOLS {
            Some(format!("The list has more than {} tools.", limits::TOOLS))
        } else if bytes > limits::LIST_BYTES {
            Some(format!("The list has more than {} MiB.", limits::LIST_BYTES >> 20))
        } else if number == limits::PAGES && page.next.is_some() {
            Some(format!("The list goes on after {} pages.", limits::PAGES))
        } else {
            None
        };
        if let Some(sentence) = stop {
            problems.push(Problem {
                place: at,
                sentence,
                help: "No model could choose from that; it is a fault of the server.".into(),
            });
            return Err(Broken::Error(list_error(problems)));
        }
        let Some(next) = page.next else { break };
        if let Some(earlier) = cursors.insert(next.clone(), number) {
            problems.push(Problem {
                place: at,
                sentence: format!(
                    "The page gives the cursor `{}`, which page {earlier} gave already: the list goes round in a circle.",
                    quote(&next)
                ),
                help: "That is a fault of the server; nothing was taken from its list.".into(),
            });
            return Err(Broken::Error(list_error(problems)));
        }
        cursor = Some(next);
    }
    if problems.is_empty() {
        return Ok(reading);
    }
    // Pages are not read at one moment: a tool that moved from one to another shows up twice.
    let only_duplicates = duplicates && reading.pages.len() > 1;
    problems.truncate(PROBLEMS);
    let error = list_error(problems);
    Err(if only_duplicates { Broken::Moved(error) } else { Broken::Error(error) })
}

fn params(client: &Client, cursor: Option<&str>) -> String {
    let mut members = Vec::new();
    if let Some(cursor) = cursor {
        members.push(format!("\"cursor\":{}", Value::from(cursor)));
    }
    if client.revision().era == Era::Modern {
        members.push(format!("\"_meta\":{}", open::meta(client.revision())));
    }
    format!("{{{}}}", members.join(","))
}

fn broken(client: &mut Client, failure: Failure, place: &str, page: usize) -> Broken {
    let has_session = match client.link() {
        crate::client::Link::Http(server) => server.has_session(),
        crate::client::Link::Stdio(_) => false,
    };
    // The protocol says 404; widely used servers say 400. One new session is harmless either way.
    let lost = has_session
        && matches!(
            failure,
            Failure::Status { code: 400 | 404, .. } | Failure::Rpc(_, Some(400 | 404))
        );
    let moved =
        page > 1 && matches!(&failure, Failure::Rpc(error, _) if error.code == INVALID_PARAMS);
    let method = if page == 1 { LIST.to_owned() } else { format!("{LIST} page {page}") };
    let error = FetchError::of(failure, place, &method);
    match (lost, moved) {
        (true, _) => Broken::SessionLost(error),
        (_, true) => Broken::Moved(error),
        _ => Broken::Error(error),
    }
}

/// One page of a list, read from the raw `result` that carried it.
#[derive(Debug, Clone)]
pub struct ListPage {
    /// Its items, byte for byte.
    pub tools: Vec<Box<RawValue>>,
    /// The cursor of the page after it. Empty text is a cursor like any other.
    pub next: Option<String>,
}

impl ListPage {
    /// Reads a raw `result`. What its items hold is not looked at: see [`Listed::read`].
    ///
    /// # Errors
    /// Where it is no page of a list: every problem, at `at`.
    pub fn read(raw: &str, at: &str) -> Result<ListPage, Vec<Problem>> {
        let page = read_page(raw, at).map_err(|problem| vec![problem])?;
        let around = json::replace(raw, &[(&["tools"], "[]")]);
        let flaws = json::flaws(&around, limits::DEPTH, PROBLEMS);
        if flaws.is_empty() { Ok(page) } else { Err(flawed(at, flaws).problems) }
    }
}

/// Why an item of a list is no tool that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its name, where that can be read.
    pub name: Option<String>,
    /// Why, in a sentence.
    pub why: String,
}

impl Listed {
    /// Reads one item of a list.
    ///
    /// # Errors
    /// Where it has no name to be called by, or holds what readers differ about.
    pub fn read(raw: &RawValue) -> Result<Listed, Unreadable> {
        let name = tool_name(raw).map_err(|why| Unreadable { name: None, why })?;
        let flaw = json::flaws(raw.get(), limits::DEPTH, 1).into_iter().next();
        match flaw.and_then(|flaw| flawed(&quote(&name), vec![flaw]).problems.into_iter().next()) {
            None => Ok(Listed { name, raw: raw.to_owned() }),
            Some(problem) => {
                let why = format!("{}: {}", problem.place, problem.sentence);
                Err(Unreadable { name: Some(name), why })
            }
        }
    }
}

fn read_page(raw: &str, at: &str) -> Result<ListPage, Problem> {
    let wrong = |sentence: String| Problem {
        place: at.to_owned(),
        sentence,
        help: "That is a fault of the server; nothing was taken from its list.".into(),
    };
    let page: Page<'_> = serde_json::from_str(raw)
        .map_err(|_| wrong(format!("The result is not an object but `{}`.", quote(raw))))?;
    if let Some(kind) = page.kind.filter(|k| k != "complete") {
        return Err(wrong(format!(
            "The result has the type {} where a list is complete.",
            quote(&kind.to_string())
        )));
    }
    let Some(tools) = page.tools else {
        return Err(wrong(
            "The result has no `tools`. A missing list is not an empty list.".into(),
        ));
    };
    let tools: Vec<Box<RawValue>> = serde_json::from_str(tools.get())
        .map_err(|_| wrong(format!("`tools` is not an array but `{}`.", quote(tools.get()))))?;
    let next = match page.next {
        None | Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor),
        Some(other) => {
            return Err(wrong(format!(
                "`nextCursor` is not a string but `{}`.",
                quote(&other.to_string())
            )));
        }
    };
    Ok(ListPage { tools, next })
}

fn tool_name(raw: &RawValue) -> Result<String, String> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: Option<Value>,
    }
    if !raw.get().starts_with('{') {
        return Err(format!("The tool is not an object but `{}`.", quote(raw.get())));
    }
    match serde_json::from_str::<Named>(raw.get()) {
        Ok(Named { name: Some(Value::String(name)) }) if !name.trim().is_empty() => Ok(name),
        Ok(Named { name: None }) => Err("The tool has no `name`.".into()),
        Ok(Named { name: Some(other) }) => {
            Err(format!("The tool's `name` is `{}`.", quote(&other.to_string())))
        }
        Err(e) => Err(format!("The tool cannot be read: {e}.")),
    }
}

fn list_error(problems: Vec<Problem>) -> FetchError {
    FetchError { kind: ErrorKind::List, problems, said: Vec::new() }
}

/// Flaws of a raw text as an error.
pub(crate) fn flawed(at: &str, flaws: Vec<Flaw>) -> FetchError {
    let problem = |flaw: Flaw| {
        let pointer = if flaw.pointer.is_empty() { "/" } else { &flaw.pointer };
        let (sentence, help) = match &flaw.kind {
            FlawKind::DuplicateKey(key) => (
                format!("The object names the member `{}` twice.", quote(key)),
                "Readers differ in which one counts, so the contract has two meanings; that is a fault of the server.",
            ),
            FlawKind::TooDeep(depth) => (
                format!("The value is nested deeper than {depth} levels."),
                "Common readers stop there; that is a fault of the server.",
            ),
            FlawKind::HalfCharacter => (
                "A string holds one half of a surrogate pair, which is no character.".to_owned(),
                "Readers differ in what they make of it; that is a fault of the server.",
            ),
        };
        Problem { place: format!("{at} {pointer}"), sentence, help: help.into() }
    };
    list_error(flaws.into_iter().map(problem).collect())
}
