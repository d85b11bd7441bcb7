//! Reading a contract: every problem at once, each with its line.

use super::{Agent, Case, Contract, Contradiction, Pages, Plan, Source, Who, same_operation};
use crate::decision::fixture::{self, Pattern, words_at};
use crate::decision::place::{Place, spelled};
use crate::decision::shelf::{Armed, FAULTS, Fault};
use crate::limits;
use crate::read::{Document, Node, Reader};
use contract::Problem;
use contract::decision::Consequence;
use serde_json::Value;
use std::collections::BTreeMap;

/// The keys of the file.
const KEYS: &[&str] = &[
    "contract", "name", "does", "agent", "fixtures", "use", "decision-map", "plan", "actions",
    "reads", "tools", "model", "objects", "done", "options", "aliases", "pages", "contradictions",
    "tokens", "cases", "mutants",
];

impl Contract {
    /// Reads one from a document.
    ///
    /// # Errors
    /// All problems at once, each with its line.
    pub fn read(document: &Document) -> Result<Contract, Vec<Problem>> {
        let mut reader = Reader::new(document);
        let root = document.root();
        reader.keys(&root, KEYS);
        fixture::version_one(&mut reader, &root, "contract");
        let name = reader.required_text(&root, "name").unwrap_or_default().to_owned();
        let does =
            root.get("does").and_then(|node| reader.word(&node, &[("act", true), ("read", false)]));
        let acts = does.unwrap_or(true);
        let agent = agent(&mut reader, &root);
        if root.get("fixtures").is_none() {
            reader.missing(&root, "fixtures");
        }
        let fixtures = reader.texts(&root, "fixtures");
        let versions = reader.texts(&root, "use");
        let map = reader.text(&root, "decision-map").map(str::to_owned);
        let plan = plan(&mut reader, &root);
        let actions = by_operation(&mut reader, &root, "actions", |reader, node| {
            let texts: Vec<Node<'_>> =
                if node.value.is_array() { node.items() } else { vec![node.clone()] };
            texts.iter().filter_map(|node| Place::read(reader, node)).collect()
        });
        let reads = operations(&mut reader, &root, "reads");
        let tools = reader.text(&root, "tools").map(str::to_owned);
        let model = reader.text(&root, "model").map(str::to_owned);
        let objects = objects(&mut reader, &root);
        let done = reader.text(&root, "done").unwrap_or("acted on").to_owned();
        let options = options(&mut reader, &root, acts);
        let aliases = by_operation(&mut reader, &root, "aliases", |reader, node| {
            let members = node.members().into_iter();
            members
                .filter_map(|(place, name)| {
                    let place = Place::named(reader, &name, place)?;
                    let place = place.within(reader, &name, &["body"])?;
                    Some((place, reader.as_text(&name)?.to_owned()))
                })
                .collect()
        });
        let pages = pages(&mut reader, &root);
        let contradictions = contradictions(&mut reader, &root);
        let tokens = by_operation(&mut reader, &root, "tokens", Place::read);
        let tokens = tokens.into_iter().filter_map(|(on, place)| Some((on, place?))).collect();
        let cases = cases(&mut reader, &root, &plan);
        without_choice(&mut reader, &root, &options, &cases);
        let first = cases.first().map(|case| case.name.clone()).unwrap_or_default();
        let mutants = mutants(&mut reader, &root, &cases, first, map.is_some());
        let place = reader.place(&root.get("mutants").unwrap_or_else(|| root.clone()));
        reader.finish(Contract {
            name,
            acts,
            agent,
            fixtures,
            versions,
            map,
            plan,
            actions,
            reads,
            tools,
            model,
            objects,
            done,
            options,
            aliases,
            pages: pages.into_iter().filter_map(|(on, pages)| Some((on, pages?))).collect(),
            contradictions,
            tokens,
            cases,
            mutants,
            place,
        })
    }
}

/// A method and a path, as `POST /projects/archive`.
pub(crate) fn operation<'d>(
    reader: &mut Reader<'d>,
    node: &Node<'d>,
    text: &str,
) -> Option<(String, String)> {
    let parts =
        text.split_once(' ').map(|(method, path)| (method.to_ascii_uppercase(), path.trim()));
    let Some((method, path)) = parts.filter(|(_, path)| path.starts_with('/')) else {
        reader.problem(
            node,
            format!("`{text}` is no operation."),
            "Write the method and the path: `POST /projects/archive`.",
        );
        return None;
    };
    Some((method, path.to_owned()))
}

fn operations<'d>(reader: &mut Reader<'d>, root: &Node<'d>, key: &str) -> Vec<String> {
    let texts = reader.texts(root, key);
    let Some(node) = root.get(key) else { return Vec::new() };
    let found = texts.iter().filter_map(|text| operation(reader, &node, text));
    found.map(|(method, path)| format!("{method} {path}")).collect()
}

/// A mapping from operations to something.
fn by_operation<'d, T>(
    reader: &mut Reader<'d>,
    root: &Node<'d>,
    key: &str,
    read: impl Fn(&mut Reader<'d>, &Node<'d>) -> T,
) -> BTreeMap<String, T> {
    let Some(node) = root.get(key) else { return BTreeMap::new() };
    if !node.value.is_object() {
        reader.expected(&node, "a mapping from operations, as `POST /projects/archive`,");
    }
    let mut found = BTreeMap::new();
    for (name, member) in node.members() {
        if let Some((method, path)) = operation(reader, &member, name) {
            let value = read(reader, &member);
            found.insert(format!("{method} {path}"), value);
        }
    }
    found
}

fn agent<'d>(reader: &mut Reader<'d>, root: &Node<'d>) -> Agent {
    let Some(node) = root.get("agent") else {
        reader.missing(root, "agent");
        return Agent::default();
    };
    reader.keys(&node, &["command", "folder", "instruction", "env", "pass-env", "seconds", "hang"]);
    let command = reader.texts(&node, "command");
    if command.is_empty() {
        reader.missing(&node, "command");
    } else if node.get("command").is_some_and(|command| command.value.is_string()) {
        let at = node.get("command").unwrap_or_else(|| node.clone());
        if command[0].contains(' ') {
            reader.problem(
                &at,
                "No shell reads this, so the spaces do not part it.",
                "Write a list: [python3, agent.py].",
            );
        }
    }
    let mut env = BTreeMap::new();
    for (name, member) in node.get("env").iter().flat_map(Node::members) {
        if let Some(text) = scalar(reader, &member) {
            env.insert(name.to_owned(), text);
        }
    }
    let seconds = reader.count(&node, "seconds").unwrap_or(limits::AGENT_SECONDS);
    if seconds == 0 || seconds > limits::AGENT_SECONDS_MOST {
        let at = node.get("seconds").unwrap_or_else(|| node.clone());
        let help = format!("Write 1 to {}.", limits::AGENT_SECONDS_MOST);
        reader.problem(&at, "An agent cannot be given this much time.", help);
    }
    Agent {
        command,
        folder: reader.text(&node, "folder").unwrap_or(".").to_owned(),
        instruction: reader.text(&node, "instruction").unwrap_or_default().to_owned(),
        env,
        pass: reader.texts(&node, "pass-env"),
        seconds: seconds as u64,
        hang: reader.count(&node, "hang").map_or(limits::AGENT_HANG, |ms| ms as u64),
    }
}

/// Text, or what is written like it.
fn scalar<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<String> {
    match node.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => {
            reader.expected(node, "text");
            None
        }
    }
}

fn plan<'d>(reader: &mut Reader<'d>, root: &Node<'d>) -> Plan {
    let none = Plan { source: Source::Requests, targets: None, asks: None, notes: None };
    let Some(node) = root.get("plan") else { return none };
    reader.keys(&node, &["from", "targets", "asks", "notes"]);
    let at = node.get("from").unwrap_or_else(|| node.clone());
    let source = match at.value {
        Value::String(word) if word == "stdout" => Source::Stdout,
        Value::String(word) if word == "requests" => Source::Requests,
        Value::Object(_) => {
            reader.keys(&at, &["file", "request"]);
            let file = reader.text(&at, "file").map(|name| Source::File(name.to_owned()));
            let request = reader.text(&at, "request");
            let request = request.and_then(|text| operation(reader, &at, text));
            let request = request.map(|(method, path)| Source::Request(method, path));
            file.or(request).unwrap_or(Source::Requests)
        }
        _ => {
            reader.problem(
                &at,
                "This does not say where the plan is.",
                "Write `from: stdout`, `from: requests`, `from: {file: plan.json}` or `from: {request: POST /plan}`.",
            );
            Source::Requests
        }
    };
    if let Source::File(name) = &source
        && (name.starts_with('/') || name.split('/').any(|step| step == ".."))
    {
        reader.problem(
            &at,
            "The file of a plan lies in the folder of the run.",
            "Write its name there, and hand the folder to the agent as {run}.",
        );
    }
    let mut of = |key: &str| node.get(key).and_then(|node| Place::read_in_plan(reader, &node));
    Plan { source, targets: of("targets"), asks: of("asks"), notes: of("notes") }
}

fn objects<'d>(reader: &mut Reader<'d>, root: &Node<'d>) -> (String, String) {
    match reader.texts(root, "objects").as_slice() {
        [] => ("object".to_owned(), "objects".to_owned()),
        [one] => (one.clone(), format!("{one}s")),
        [one, many, ..] => (one.clone(), many.clone()),
    }
}

fn options<'d>(
    reader: &mut Reader<'d>,
    root: &Node<'d>,
    acts: bool,
) -> BTreeMap<String, Vec<(Place, Who, String)>> {
    const WORDS: &[(&str, Who)] = &[
        ("always_send", Who::AlwaysSend),
        ("require_choice", Who::RequireChoice),
        ("let_the_server_decide", Who::Server),
    ];
    by_operation(reader, root, "options", |reader, node| {
        let mut found = Vec::new();
        for (place, word) in node.members() {
            let read = Place::named(reader, &word, place);
            let who = reader.word(&word, WORDS);
            if who == Some(Who::Server) && acts {
                reader.problem(
                    &word,
                    format!("The server would decide about {place}, and this agent acts."),
                    "Write always_send where the safe value is known, require_choice where a person chooses.",
                );
            }
            if let (Some(place), Some(who)) = (read, who) {
                found.push((place, who, reader.place(&word)));
            }
        }
        found
    })
}

fn pages<'d>(reader: &mut Reader<'d>, root: &Node<'d>) -> BTreeMap<String, Option<Pages>> {
    by_operation(reader, root, "pages", |reader, node| {
        reader.keys(node, &["items", "cursor", "sent-as", "most-objects", "second-page"]);
        let mut place = |key: &str, heads: &[&str]| match node.get(key) {
            Some(at) => Place::read(reader, &at)?.within(reader, &at, heads),
            None => {
                reader.missing(node, key);
                None
            }
        };
        let (items, cursor) = (place("items", &["body"]), place("cursor", &["body"]));
        let sent = place("sent-as", &["query", "body"]);
        let most = reader.count(node, "most-objects");
        if most.is_none() {
            reader.missing(node, "most-objects");
        }
        let follow = match node.get("second-page") {
            Some(at) => reader.word(&at, &[("never", false), ("within-most-objects", true)]),
            None => {
                reader.problem(
                    node,
                    "Nothing says whether a second page may be asked for.",
                    "Write `second-page: never`, or within-most-objects.",
                );
                None
            }
        };
        Some(Pages { items: items?, cursor: cursor?, sent: sent?, most: most?, follow: follow? })
    })
}

const CONSEQUENCES: &[(&str, Consequence)] = &[
    ("stop", Consequence::Stop),
    ("skip", Consequence::Skip),
    ("ask", Consequence::Ask),
    ("note", Consequence::Note),
];

fn contradictions<'d>(reader: &mut Reader<'d>, root: &Node<'d>) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for node in root.get("contradictions").iter().flat_map(Node::items) {
        reader.keys(&node, &["on", "set", "then"]);
        let on = reader.required_text(&node, "on").and_then(|text| operation(reader, &node, text));
        let mut set = Vec::new();
        for (place, member) in node.get("set").iter().flat_map(Node::members) {
            let place = Place::named(reader, &member, place);
            let place = place.and_then(|place| place.within(reader, &member, &["body"]));
            set.extend(place.map(|place| (place, member.value.clone())));
        }
        if node.get("set").is_none_or(|set| set.members().is_empty()) {
            reader.missing(&node, "set");
        }
        let then = node.get("then").and_then(|node| reader.word(&node, CONSEQUENCES));
        if let Some((method, path)) = on {
            let then = then.unwrap_or(Consequence::Stop);
            found.push(Contradiction { on: format!("{method} {path}"), set, then });
        }
    }
    found
}

fn cases<'d>(reader: &mut Reader<'d>, root: &Node<'d>, plan: &Plan) -> Vec<Case> {
    let items = root.get("cases").map(|node| node.items()).unwrap_or_default();
    if items.is_empty() {
        reader.problem(root, "The contract has no case.", "Add `cases:` with a list of them.");
    }
    let silent = |node: &Node<'_>| {
        node.get("requests").is_some_and(|sent| match sent.value {
            Value::Array(items) => items.is_empty(),
            other => other == "nothing",
        })
    };
    if !items.is_empty() && items.iter().all(silent) {
        let at = root.get("cases").unwrap_or_else(|| root.clone());
        reader.problem(
            &at,
            "No case expects a request, so an agent that does nothing would pass them all.",
            "Add a case in which the agent asks the API.",
        );
    }
    let mut cases: Vec<Case> = Vec::new();
    for node in items {
        let case = case(reader, &node, plan);
        if ["fixtures", "mutants"].contains(&case.name.as_str()) {
            let sentence = format!("`{}` is what a part of every report is called.", case.name);
            reader.problem(&node, sentence, "Give the case another name.");
        }
        if cases.iter().any(|known| known.name == case.name) {
            reader.problem(&node, "Another case has this name.", "Give each its own.");
        }
        cases.push(case);
    }
    cases
}

fn case<'d>(reader: &mut Reader<'d>, node: &Node<'d>, plan: &Plan) -> Case {
    let known = [
        "name", "model", "instruction", "env", "use", "faults", "requests", "proposes", "acts-on",
        "asks",
    ];
    reader.keys(node, &known);
    let mut env = BTreeMap::new();
    // A variable that is written and empty is taken away.
    for (name, member) in node.get("env").iter().flat_map(Node::members) {
        let value =
            if member.value.is_null() { Some(None) } else { scalar(reader, &member).map(Some) };
        if let Some(value) = value {
            env.insert(name.to_owned(), value);
        }
    }
    let mut faults = Vec::new();
    for fault in node.get("faults").iter().flat_map(Node::items) {
        reader.keys(&fault, &["fixture", "fault", "times", "at"]);
        let word = fault.get("fault").and_then(|node| reader.word(&node, FAULTS));
        if fault.get("fault").is_none() {
            reader.missing(&fault, "fault");
        }
        if fault.get("times").is_some_and(|times| times.value.as_u64() == Some(0)) {
            let at = fault.get("times").unwrap_or_else(|| fault.clone());
            reader.problem(
                &at,
                "A fault strikes once or more.",
                "Leave `times` out for every request.",
            );
        }
        if word == Some(Fault::EndlessCursor) && fault.get("at").is_none() {
            reader.missing(&fault, "at");
        }
        let armed = |fault_word| Armed {
            fixture: reader.text(&fault, "fixture").map(str::to_owned),
            fault: fault_word,
            times: reader.count(&fault, "times").map(|times| times as u64),
            at: reader.text(&fault, "at").map(str::to_owned),
        };
        faults.extend(word.map(armed));
    }
    let requests = match node.get("requests") {
        None => {
            reader.problem(
                node,
                "The case does not say what must be sent.",
                "Add `requests:` with all of them in order, or `requests: nothing`.",
            );
            Vec::new()
        }
        Some(at) if at.value == "nothing" => Vec::new(),
        Some(at) if at.value.is_array() => {
            at.items().iter().filter_map(|item| request(reader, item)).collect()
        }
        Some(at) => {
            reader.expected(&at, "a list of requests, or the word nothing,");
            Vec::new()
        }
    };
    let proposes = node.value.get("proposes").cloned();
    if let (Some(value), Some(at)) = (&proposes, node.get("proposes")) {
        words_at(reader, &at, value);
        if plan.source == Source::Requests {
            reader.problem(
                &at,
                "There is no plan that could be compared with this.",
                "Say where the plan is, as `plan: {from: stdout}`, or write `acts-on:`.",
            );
        }
    }
    let acts_on = node.get("acts-on").map(|at| {
        if !at.value.is_array() {
            reader.expected(&at, "a list of objects");
        }
        at.items().iter().map(|item| spelled(item.value.clone())).collect::<Vec<_>>()
    });
    if proposes.is_none() && acts_on.is_none() {
        reader.problem(
            node,
            "The case does not say what the agent proposes: it is the half of a test.",
            "Add `proposes:` with the plan, or `acts-on:` with the objects; `acts-on: []` for none.",
        );
    }
    let asks = node.get("asks").map(|_| reader.flag(node, "asks"));
    if asks.is_some() && plan.asks.is_none() {
        let at = node.get("asks").unwrap_or_else(|| node.clone());
        reader.problem(
            &at,
            "Nothing says where the plan asks a person, so this could never hold.",
            "Add `asks:` to `plan:`, with the place of the questions.",
        );
    }
    Case {
        name: reader.required_text(node, "name").unwrap_or_default().to_owned(),
        place: reader.place(node),
        instruction: reader.text(node, "instruction").map(str::to_owned),
        env,
        versions: reader.texts(node, "use"),
        model: reader.text(node, "model").map(str::to_owned),
        faults,
        requests,
        proposes,
        acts_on,
        asks,
    }
}

/// A request: `GET /projects`, or the same as a key with what else must be so.
fn request<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Pattern> {
    let (name, rest) = match node.value {
        Value::String(text) => (text.as_str(), None),
        Value::Object(members) if members.len() == 1 => {
            node.members().pop().map(|(n, r)| (n, Some(r)))?
        }
        _ => {
            reader.expected(node, "a request, as `POST /projects/archive:` with its body below,");
            return None;
        }
    };
    let (method, path) = operation(reader, node, name)?;
    let mut pattern = Pattern {
        method,
        path,
        query: Default::default(),
        headers: Default::default(),
        body: None,
    };
    if let Some(rest) = rest.filter(|rest| !rest.value.is_null())
        && reader.keys(&rest, &["query", "headers", "body"])
    {
        pattern.rest(reader, &rest);
    }
    Some(pattern)
}

/// A choice that is a person's needs a case that shows what happens without it.
fn without_choice<'d>(
    reader: &mut Reader<'d>,
    root: &Node<'d>,
    options: &BTreeMap<String, Vec<(Place, Who, String)>>,
    cases: &[Case],
) {
    let required = options.values().flatten().any(|(_, who, _)| *who == Who::RequireChoice);
    let shown = cases.iter().any(|case| {
        let sends = |on: &String| {
            case.requests.iter().any(|r| same_operation(on, &format!("{} {}", r.method, r.path)))
        };
        let mut chosen =
            options.iter().filter(|(_, all)| all.iter().any(|(_, w, _)| *w == Who::RequireChoice));
        chosen.all(|(on, _)| !sends(on))
    });
    if required && !shown {
        let at = root.get("options").unwrap_or_else(|| root.clone());
        reader.problem(
            &at,
            "An option is a person's choice, and no case shows what happens without it.",
            "Add a case without the choice in which that operation is not sent: `requests: nothing`, `acts-on: []`.",
        );
    }
}

fn mutants<'d>(
    reader: &mut Reader<'d>,
    root: &Node<'d>,
    cases: &[Case],
    first: String,
    mapped: bool,
) -> Option<String> {
    // A replayed model cannot answer to what is changed: then they are made only where they are asked for.
    let usual = mapped && root.get("model").is_none();
    let Some(at) = root.get("mutants") else { return usual.then_some(first) };
    match at.value {
        Value::Bool(false) => return None,
        Value::Bool(true) if mapped => return Some(first),
        Value::Object(_) if mapped => {}
        Value::Bool(_) | Value::Object(_) => {
            reader.problem(
                &at,
                "Failure fixtures are made from the decision map, and there is none.",
                "Add `decision-map: decisions.yaml`.",
            );
            return None;
        }
        _ => {
            reader.expected(&at, "true, false or `{of: NAME OF A CASE}`");
            return None;
        }
    }
    reader.keys(&at, &["of"]);
    let of = reader.required_text(&at, "of").unwrap_or_default();
    if !cases.iter().any(|case| case.name == of) {
        let known: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        reader.problem(
            &at,
            format!("There is no case `{of}`."),
            format!("There are: {}.", known.join(", ")),
        );
    }
    Some(of.to_owned())
}
