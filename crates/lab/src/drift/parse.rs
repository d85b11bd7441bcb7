//! From a file to a scenario: every problem at once.

use super::scenario::{
    ClientEvents, Deed, Hook, Real, Scenario, Server, Signal, Step, Target, Transport, UnderTest,
};
use super::{check, steps};
use crate::limits;
use crate::read::{Document, Node, Reader};
use crate::script::{self, Fault, Phase};
use contract::Problem;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the form.
const VERSION: u64 = 1;

/// Reads a file that a scenario names, by its path from the scenario's folder.
pub type Open<'a> = &'a dyn Fn(&Path) -> std::io::Result<Vec<u8>>;

/// Reads one scenario. `path` is the scenario's own, for its name and for the files beside it.
///
/// # Errors
/// All problems at once: unknown keys, values of another kind, steps that cannot be, expectations that can never be met.
pub fn scenario(
    path: &Path,
    document: &Document,
    open: Open<'_>,
) -> Result<Scenario, Vec<Problem>> {
    let mut reader = Reader::new(document);
    let root = document.root();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = File { reader: &mut reader, folder, open };
    let read = file.scenario(&root, path);
    let Some(scenario) = read else { return reader.finish(()).and(Err(Vec::new())) };
    check::sound(&scenario, &root, &mut reader);
    reader.finish(scenario)
}

struct File<'r, 'd, 'a> {
    reader: &'r mut Reader<'d>,
    folder: &'a Path,
    open: Open<'a>,
}

impl<'d> File<'_, 'd, '_> {
    fn scenario(&mut self, root: &Node<'d>, path: &Path) -> Option<Scenario> {
        let known = [
            "drift", "name", "story", "target", "transports", "client", "gateway", "server",
            "before", "after", "recorder", "patience", "steps",
        ];
        if !self.reader.keys(root, &known) {
            return None;
        }
        let version = root.get("drift");
        if version.as_ref().and_then(|node| node.value.as_u64()) != Some(VERSION) {
            let at = version.unwrap_or_else(|| root.clone());
            self.reader.problem(
                &at,
                "This version of the form is not known here.",
                "Write `drift: 1`, or use a newer steadfast.",
            );
        }
        let own = || {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            stem.unwrap_or_default()
        };
        let name = self.reader.text(root, "name").map_or_else(own, str::to_owned);
        let story = self.reader.text(root, "story").unwrap_or_default().trim().to_owned();
        let (adapters, facts) = self.gateway(root);
        let target = root.get("target").map(|node| self.reader.word(&node, TARGETS));
        let client = root.get("client").and_then(|node| self.client(&node));
        let transports = self.transports(root);
        let server = self.server(root);
        let steps = self.steps(root);
        let patience = self.patience(root);
        Some(Scenario {
            name,
            story,
            server: server?,
            target: target.unwrap_or(Some(Target::Gateway))?,
            transports,
            client,
            folder: self.folder.to_owned(),
            adapters,
            facts,
            steps,
            patience,
        })
    }

    fn transports(&mut self, root: &Node<'d>) -> Vec<Transport> {
        let Some(node) = root.get("transports") else { return vec![Transport::Stdio] };
        let words = [Transport::Stdio, Transport::Http].map(|known| (known.word(), known));
        let mut found: Vec<Transport> = Vec::new();
        for item in node.items() {
            match self.reader.word(&item, &words) {
                Some(transport) if found.contains(&transport) => {
                    self.reader.problem(&item, "It stands here twice.", "Name each once.");
                }
                Some(transport) => found.push(transport),
                None => {}
            }
        }
        if node.items().is_empty() {
            self.reader.expected(&node, "a list of stdio, http, or both,");
        }
        found
    }

    fn client(&mut self, node: &Node<'d>) -> Option<UnderTest> {
        self.reader.keys(node, &["command", "events", "guarded"]);
        let guarded = self.reader.flag(node, "guarded");
        let command = self.command(node);
        let events = node.get("events").and_then(|at| self.events(&at));
        Some(UnderTest { command: command?, events, guarded })
    }

    /// `output`, or a mapping with `file` or `command`.
    fn events(&mut self, node: &Node<'d>) -> Option<ClientEvents> {
        if node.value.is_string() {
            return self.reader.word(node, &[("output", ())]).map(|()| ClientEvents::Output);
        }
        self.reader.keys(node, &["file", "command"]);
        match (self.reader.text(node, "file"), node.get("command")) {
            (Some(path), None) => Some(ClientEvents::File(path.to_owned())),
            (None, Some(_)) => self.command(node).map(ClientEvents::Command),
            _ => {
                let help = "Write `output`, `file: PATH` or `command: [PROGRAM, …]`.";
                self.reader.problem(node, "This says not where events are read from.", help);
                None
            }
        }
    }

    fn patience(&mut self, root: &Node<'d>) -> u64 {
        let Some(seconds) = self.reader.count(root, "patience") else { return limits::PATIENCE };
        let seconds = seconds as u64;
        let fits = (1..=limits::PATIENCE_MOST).contains(&seconds);
        if let (false, Some(node)) = (fits, root.get("patience")) {
            let most = limits::PATIENCE_MOST;
            self.reader.problem(&node, format!("A step may take 1 to {most} seconds."), "");
        }
        seconds
    }

    fn gateway(&mut self, root: &Node<'d>) -> (Option<String>, BTreeMap<String, String>) {
        let Some(node) = root.get("gateway") else { return Default::default() };
        self.reader.keys(&node, &["adapters", "facts"]);
        let adapters = self.reader.text(&node, "adapters").map(str::to_owned);
        let mut facts = BTreeMap::new();
        for (name, fact) in node.get("facts").map(|facts| facts.members()).unwrap_or_default() {
            if let Some(text) = self.reader.as_text(&fact) {
                facts.insert(name.to_owned(), text.to_owned());
            }
        }
        (adapters, facts)
    }

    fn server(&mut self, root: &Node<'d>) -> Option<Server> {
        if let Some(node) = root.get("server") {
            for key in ["before", "after"] {
                if let Some(other) = root.get(key) {
                    self.reader.problem(
                        &other,
                        format!("`{key}` stands beside `server`."),
                        "Either one server with a switch, or one before and one after.",
                    );
                }
            }
            return self.switched(root, &node);
        }
        let (Some(before), Some(after)) = (root.get("before"), root.get("after")) else {
            self.reader.problem(
                root,
                "The server before and after the change is missing.",
                "Add `before:` and `after:`, each with `tools:` and `does:`, or with `command:`.",
            );
            return None;
        };
        if before.get("command").is_some() || after.get("command").is_some() {
            for node in [&before, &after] {
                self.reader.keys(node, &["command", "tools"]);
            }
            let lists = [&before, &after].map(|node| node.get("tools"));
            let lists = lists.map(|at| at.and_then(|at| self.tools(&at)));
            // An old list without a program is shown by a made-up server.
            let only_listed = before.get("command").is_none() && before.get("tools").is_some();
            let first = if only_listed { Some(Vec::new()) } else { self.command(&before) };
            let after = self.command(&after);
            let recorder = self.reader.text(root, "recorder").map(str::to_owned);
            let switch = Hook::Command(after?);
            return Some(Server::Real(Real { before: first?, switch, recorder, lists }));
        }
        if let Some(node) = root.get("recorder") {
            self.reader.problem(
                &node,
                "A made-up server needs no variable for the recorder.",
                "Leave it out: its `does` always reach the recorder.",
            );
        }
        let before = self.phase(&before, None);
        let after = self.phase(&after, before.as_ref());
        Some(Server::Made { before: before?, after: after? })
    }

    /// One process that is made another server by a hook.
    fn switched(&mut self, root: &Node<'d>, node: &Node<'d>) -> Option<Server> {
        self.reader.keys(node, &["command", "switch", "lists"]);
        let lists = node.get("lists");
        if let Some(lists) = &lists {
            self.reader.keys(lists, &["before", "after"]);
        }
        let lists =
            ["before", "after"].map(|key| lists.as_ref()?.get(key).and_then(|at| self.tools(&at)));
        let command = self.command(node);
        let recorder = self.reader.text(root, "recorder").map(str::to_owned);
        let Some(switch) = node.get("switch") else {
            self.reader.missing(node, "switch");
            return None;
        };
        self.reader.keys(&switch, &["run", "request", "file", "signal"]);
        let hook = match switch.members().as_slice() {
            [("run", at)] => {
                let words: Option<Vec<String>> =
                    at.items().iter().map(|i| self.reader.as_text(i).map(str::to_owned)).collect();
                words.filter(|words| !words.is_empty()).map(Hook::Run)
            }
            [("request", at)] => {
                let text = self.reader.as_text(at)?;
                let (method, address) = text.split_once(' ').unwrap_or(("POST", text));
                Some(Hook::Request(method.to_owned(), address.trim().to_owned()))
            }
            [("file", at)] => self.reader.as_text(at).map(|text| Hook::File(text.to_owned())),
            [("signal", at)] => self.reader.word(at, SIGNALS).map(Hook::Signal),
            _ => None,
        };
        if hook.is_none() {
            self.reader.problem(
                &switch,
                "This says no way to switch the server.",
                "Write one of: run: [PROGRAM, …] · request: POST URL · file: PATH · signal: USR1.",
            );
        }
        Some(Server::Real(Real { before: command?, switch: hook?, recorder, lists }))
    }

    fn command(&mut self, node: &Node<'d>) -> Option<Vec<String>> {
        let Some(command) = node.get("command") else {
            self.reader.missing(node, "command");
            return None;
        };
        let words: Vec<&str> =
            command.items().iter().filter_map(|item| self.reader.as_text(item)).collect();
        if words.is_empty() {
            self.reader.expected(&command, "a list of words, the program first,");
            return None;
        }
        Some(words.into_iter().map(str::to_owned).collect())
    }

    /// A made-up server. What `after` leaves out stays as it was.
    fn phase(&mut self, node: &Node<'d>, before: Option<&Phase>) -> Option<Phase> {
        if !self.reader.keys(node, &["tools", "does", "list"]) {
            return None;
        }
        let tools = match (node.get("tools"), before) {
            (Some(at), _) => self.tools(&at)?,
            (None, Some(before)) => before.tools.clone(),
            (None, None) => {
                self.reader.missing(node, "tools");
                return None;
            }
        };
        let mut deeds = before.map(|phase| phase.deeds.clone()).unwrap_or_default();
        if let Some(does) = node.get("does") {
            if !does.value.is_object() {
                self.reader.expected(&does, "`TOOL:` with what it does");
            }
            for (tool, at) in does.members() {
                if !tools.iter().any(|t| t.get("name").and_then(Value::as_str) == Some(tool)) {
                    let help = "Say what tools of this list do.";
                    self.reader.problem(&at, format!("No tool `{tool}` is listed here."), help);
                }
                if let Some(deed) = self.deed(&at) {
                    deeds.insert(tool.to_owned(), deed);
                }
            }
        }
        let list_waits = match node.get("list") {
            Some(at) => self.reader.word(&at, &[("waits-for-notice", true)]).unwrap_or(false),
            None => false,
        };
        Some(Phase { tools, deeds, list_waits, ..Phase::default() })
    }

    /// The tools of a list: written out, or in a file.
    fn tools(&mut self, node: &Node<'d>) -> Option<Vec<Value>> {
        let (value, from) = match node.value.as_str() {
            None => (node.value.clone(), "here".to_owned()),
            Some(path) => (self.beside(node, path)?, format!("in {path}")),
        };
        let list = [&value["tools"], &value["result"]["tools"], &value];
        let Some(tools) = list.into_iter().find_map(Value::as_array) else {
            let help = "Give the tools as a list, or a file with a `tools/list` result.";
            self.reader.problem(node, format!("There is no list of tools {from}."), help);
            return None;
        };
        for (at, tool) in tools.iter().enumerate() {
            if tool.get("name").and_then(Value::as_str).is_none() {
                let number = at + 1;
                self.reader.problem(node, format!("Tool {number} {from} has no name."), "");
            }
        }
        Some(tools.clone())
    }

    /// A file by its path from the scenario's folder.
    fn beside(&mut self, node: &Node<'d>, path: &str) -> Option<Value> {
        let full = self.folder.join(path);
        let read = (self.open)(&full).map_err(|why| {
            vec![Problem {
                place: String::new(),
                sentence: format!("{} cannot be read: {why}.", full.display()),
                help: "Paths are taken from the folder of the scenario.".to_owned(),
            }]
        });
        let name = full.display().to_string();
        match read.and_then(|bytes| contract::text::read(&name, &bytes)) {
            Ok(value) => Some(value),
            Err(problems) => {
                for problem in problems {
                    let at =
                        if problem.place.is_empty() { String::new() } else { problem.place + ": " };
                    self.reader.problem(node, format!("{at}{}", problem.sentence), problem.help);
                }
                None
            }
        }
    }

    fn deed(&mut self, node: &Node<'d>) -> Option<script::Deed> {
        if !self.reader.keys(node, &["request", "fills-in", "answers", "validates", "fault"]) {
            return None;
        }
        let request = self.reader.text(node, "request");
        let (method, path) = match request {
            None => (None, None),
            Some(text) => match (text.split_once(' '), node.get("request")) {
                (Some((method, path)), _) if path.starts_with('/') => {
                    (Some(method.to_owned()), Some(path.to_owned()))
                }
                (_, Some(at)) => {
                    self.reader.problem(&at, "This is no request.", "Write METHOD /path.");
                    (None, None)
                }
                (_, None) => (None, None),
            },
        };
        let defaults = match node.get("fills-in") {
            None => Map::new(),
            Some(at) => at.value.as_object().cloned().unwrap_or_else(|| {
                self.reader.expected(&at, "`ARGUMENT: value`");
                Map::new()
            }),
        };
        let answer = node.get("answers").map(|at| at.value.clone()).unwrap_or_default();
        let fault = node.get("fault").and_then(|at| self.reader.word(&at, FAULTS));
        let validates = self.reader.flag(node, "validates");
        Some(script::Deed {
            path,
            method,
            validates,
            defaults,
            answer,
            fault,
            ..Default::default()
        })
    }

    fn steps(&mut self, root: &Node<'d>) -> Vec<Step> {
        let Some(node) = root.get("steps") else {
            self.reader.missing(root, "steps");
            return Vec::new();
        };
        if !node.value.is_array() {
            self.reader.expected(&node, "a list of steps");
        }
        let items = node.items();
        if items.len() > limits::STEPS {
            let sentence = format!("A scenario has at most {} steps.", limits::STEPS);
            self.reader.problem(&node, sentence, "Make two of it.");
        }
        let mut read = Vec::new();
        for item in items {
            let place = self.reader.place(&item);
            if let Some(deed) = steps::deed(self.reader, &item) {
                read.push(Step { place, deed });
            } else {
                read.push(Step { place, deed: Deed::Told });
            }
        }
        read
    }
}

const TARGETS: &[(&str, Target)] =
    &[("gateway", Target::Gateway), ("server", Target::Server), ("client", Target::Client)];

const SIGNALS: &[(&str, Signal)] =
    &[("HUP", Signal::Hup), ("USR1", Signal::Usr1), ("USR2", Signal::Usr2)];

const FAULTS: &[(&str, Fault)] = &[
    ("silent-after", Fault::SilentAfter),
    ("ends-after", Fault::EndsAfter),
    ("fails", Fault::Fails),
    ("fails-after", Fault::FailsAfter),
    ("answers-twice", Fault::AnswersTwice),
    ("waits-for-switch", Fault::WaitsForSwitch),
];
