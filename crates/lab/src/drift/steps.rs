//! The steps of a scenario: a table of verbs.

use super::scenario::{Answer, Arrives, Call, Deed, Expected, Request, Shown};
use crate::read::{Node, Reader};
use serde_json::{Map, Value};

/// One verb: the word that a step begins with.
struct Verb {
    word: &'static str,
    /// What else may stand beside it.
    keys: &'static [&'static str],
    /// It can stand alone, without a value.
    alone: bool,
    read: for<'d> fn(&mut Reader<'d>, &Node<'d>) -> Option<Deed>,
}

/// What may be expected of a call.
const EXPECTED: &[&str] = &["answer", "code", "names", "holds", "lacks", "arrives", "downstream"];

static VERBS: &[Verb] = &[
    Verb { word: "list", keys: &["shows"], alone: true, read: list },
    Verb { word: "refresh", keys: &["shows"], alone: true, read: list },
    Verb { word: "reconnect", keys: &[], alone: true, read: |_, _| Some(Deed::Reconnect) },
    Verb { word: "plan", keys: &["tool", "arguments"], alone: false, read: plan },
    Verb { word: "switch", keys: &[], alone: true, read: |_, _| Some(Deed::Switch) },
    Verb { word: "notify", keys: &[], alone: true, read: |_, _| Some(Deed::Notify) },
    Verb { word: "told", keys: &[], alone: true, read: |_, _| Some(Deed::Told) },
    Verb { word: "fail-refresh", keys: &[], alone: true, read: |_, _| Some(Deed::FailRefresh) },
    Verb { word: "mend-refresh", keys: &[], alone: true, read: |_, _| Some(Deed::MendRefresh) },
    Verb { word: "crash", keys: &[], alone: true, read: |_, _| Some(Deed::Crash) },
    Verb { word: "client-lists", keys: &[], alone: true, read: |_, _| Some(Deed::ClientLists) },
    Verb {
        word: "client-calls",
        keys: &["arguments", "downstream"],
        alone: false,
        read: client_calls,
    },
    Verb { word: "client-ends", keys: &["exit", "events"], alone: true, read: client_ends },
    Verb { word: "call", keys: EXPECTED, alone: false, read: call },
    Verb { word: "start", keys: &[], alone: false, read: start },
    Verb { word: "arrived", keys: &[], alone: false, read: arrived },
    Verb { word: "finish", keys: EXPECTED, alone: false, read: finish },
];

/// Reads one step: a word, or a mapping whose first key is the word.
pub fn deed<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let word = match (node.value.as_str(), node.value.as_object()) {
        (Some(word), _) => word,
        (None, Some(members)) => members.keys().next().map_or("", String::as_str),
        (None, None) => "",
    };
    let Some(verb) = VERBS.iter().find(|verb| verb.word == word) else {
        let words: Vec<&str> = VERBS.iter().map(|verb| verb.word).collect();
        let help = match crate::read::nearest(word, &words) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("A step begins with one of: {}.", words.join(", ")),
        };
        let shown = report::escape::clip(&report::escape::visible(word), 60);
        reader.problem(node, format!("`{shown}` is no step."), help);
        return None;
    };
    if node.value.is_object() {
        let mut keys = vec![verb.word];
        keys.extend(verb.keys);
        reader.keys(node, &keys);
    } else if !verb.alone {
        reader.problem(node, format!("`{word}` of what?"), format!("Write `{word}: NAME`."));
        return None;
    }
    (verb.read)(reader, node)
}

fn list<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let Some(shows) = node.get("shows") else { return Some(Deed::List(None)) };
    if shows.value.is_array() {
        return Some(Deed::List(Some(Shown::Names(reader.texts(node, "shows")))));
    }
    let words = [("before", 0), ("after", 1), ("an-error", 2)];
    let shown = match reader.word(&shows, &words)? {
        0 => Shown::Before,
        1 => Shown::After,
        _ => Shown::Fails,
    };
    Some(Deed::List(Some(shown)))
}

fn plan<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let name = reader.required_text(node, "plan");
    let tool = reader.required_text(node, "tool");
    let arguments =
        node.get("arguments").map_or_else(|| Value::Object(Map::new()), |at| at.value.clone());
    if !arguments.is_object()
        && let Some(at) = node.get("arguments")
    {
        reader.expected(&at, "`ARGUMENT: value`");
    }
    let call = Call { tool: tool?.to_owned(), arguments };
    Some(Deed::Plan { name: name?.to_owned(), call })
}

fn start<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    reader.required_text(node, "start").map(|name| Deed::Start(name.to_owned()))
}

fn arrived<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    reader.required_text(node, "arrived").map(|name| Deed::Arrived(name.to_owned()))
}

fn client_calls<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let tool = reader.required_text(node, "client-calls")?.to_owned();
    let arguments = node.get("arguments").map(|at| at.value.clone());
    let expected = Expected {
        arrives: arguments.clone().map(Arrives::Arguments),
        downstream: node.get("downstream").and_then(|at| downstream(reader, &at)),
        ..Expected::default()
    };
    let call = Call { tool, arguments: arguments.unwrap_or_default() };
    Some(Deed::ClientCalls(call, Box::new(expected)))
}

fn client_ends<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let exit = reader.count(node, "exit").and_then(|code| i32::try_from(code).ok());
    Some(Deed::ClientEnds { exit, events: telling(reader, node, "events") })
}

fn call<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let name = reader.required_text(node, "call").map(str::to_owned);
    let expected = expected(reader, node);
    Some(Deed::Call(name?, Box::new(expected)))
}

fn finish<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Deed> {
    let name = reader.required_text(node, "finish").map(str::to_owned);
    let expected = expected(reader, node);
    Some(Deed::Finish(name?, Box::new(expected)))
}

const ANSWERS: [Answer; 6] = [
    Answer::Done,
    Answer::Refused,
    Answer::Stopped,
    Answer::InDoubt,
    Answer::ProtocolError,
    Answer::Lost,
];

fn expected<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Expected {
    let answers = ANSWERS.map(|answer| (answer.word(), answer));
    let answer = node.get("answer").and_then(|at| reader.word(&at, &answers));
    let holds = match node.get("holds") {
        None => Map::new(),
        Some(at) => at.value.as_object().cloned().unwrap_or_else(|| {
            reader.expected(&at, "`MEMBER: value`");
            Map::new()
        }),
    };
    Expected {
        answer,
        code: reader.text(node, "code").map(str::to_owned),
        names: telling(reader, node, "names"),
        holds,
        lacks: reader.texts(node, "lacks"),
        arrives: node.get("arrives").and_then(|at| arrives(reader, &at)),
        downstream: node.get("downstream").and_then(|at| downstream(reader, &at)),
    }
}

/// Texts that are looked for; an empty one would be found anywhere.
fn telling<'d>(reader: &mut Reader<'d>, node: &Node<'d>, key: &str) -> Vec<String> {
    let texts = reader.texts(node, key);
    if texts.iter().any(|text| text.trim().is_empty())
        && let Some(at) = node.get(key)
    {
        let help = "Write what must be there, or leave it out.";
        reader.problem(&at, "An empty text is in every text, so this shows nothing.", help);
    }
    texts
}

fn arrives<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Arrives> {
    if node.value.is_object() {
        return Some(Arrives::Arguments(node.value.clone()));
    }
    reader.word(node, &[("nothing", ())]).map(|()| Arrives::Nothing)
}

/// `nothing`, one request, or a list of them.
fn downstream<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Vec<Request>> {
    if node.value.as_str() == Some("nothing") {
        return Some(Vec::new());
    }
    if node.value.is_array() {
        let items = node.items();
        return Some(items.iter().filter_map(|item| request(reader, item)).collect());
    }
    request(reader, node).map(|request| vec![request])
}

/// `METHOD /path`, or a mapping with `request`, `body` and `authority`.
fn request<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Request> {
    let (line, body, authority) = if node.value.is_object() {
        reader.keys(node, &["request", "body", "authority"]);
        let line = reader.required_text(node, "request")?;
        let body = node.get("body").map(|at| at.value.clone());
        (line, body, reader.texts(node, "authority"))
    } else {
        (reader.as_text(node)?, None, Vec::new())
    };
    match line.split_once(' ') {
        Some((method, path)) if path.starts_with('/') => Some(Request {
            method: method.to_owned(),
            path: path.to_owned(),
            body,
            authority: authority.iter().map(|name| name.to_ascii_lowercase()).collect(),
        }),
        _ => {
            reader.problem(node, "This is no request.", "Write `METHOD /path`, or `nothing`.");
            None
        }
    }
}
