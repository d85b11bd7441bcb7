//! The file of bindings: which request a tool stands for. Every problem comes at once, with its place.

use crate::guard::Network;
use crate::limits;
use crate::origin::Origin;
use mcp::Problem;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What a call does, by the word of whoever wrote the binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes something that can be changed back.
    Write,
    /// It changes something for good.
    Irreversible,
}

/// What kind of value an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Flag,
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// What kind of value it takes.
    pub kind: Type,
    /// What it means.
    pub description: Option<String>,
    /// It must be given.
    pub required: bool,
    /// The only texts that it takes; any where there are none.
    pub values: Vec<String>,
}

/// A part of a request that is fixed, or is an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// As written.
    Fixed(String),
    /// The value of this argument.
    Argument(String),
}

/// One binding.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The name of the tool.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// Where it goes.
    pub origin: Origin,
    /// The method.
    pub method: String,
    /// The path as it was written.
    pub path: String,
    /// Its segments, after the first slash.
    pub segments: Vec<Part>,
    /// The query.
    pub query: Vec<(String, Part)>,
    /// Headers, all fixed.
    pub headers: BTreeMap<String, String>,
    /// The body, as JSON in which a text `{name}` stands for an argument.
    pub body: Option<Value>,
    /// The label of its credential.
    pub credential: Option<String>,
    /// Blocks of addresses that are not public and may be connected to.
    pub networks: Vec<Network>,
    /// What a call does.
    pub effect: Effect,
    /// The same request may be sent again and changes nothing more.
    pub repeats: bool,
    /// The arguments.
    pub arguments: BTreeMap<String, Argument>,
    /// Stands for everything above: another binding has another one.
    pub revision: String,
    /// Stands for what a call does and where, whatever is said about it.
    pub deed: String,
}

impl Binding {
    /// What the request is, in one line: method, origin and path as they were written.
    pub fn destination(&self) -> String {
        format!("{} {}{}", self.method, self.origin, self.path)
    }
}

fn digest(binding: &Binding) -> String {
    let digest = Sha256::digest(format!("steadfast binding v1\n{binding:?}"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    problems: Vec<(usize, Problem)>,
}

/// Reads the bindings of a file; `name` is only quoted. Members of the file under the names of `beside` are read by
/// others; any further one is a problem.
///
/// # Errors
/// Every problem, in the order of the file.
pub fn read(name: &str, text: &str, beside: &[&str]) -> Result<Vec<Binding>, Vec<Problem>> {
    let mut reader = Reader { name, text, problems: Vec::new() };
    let (whole, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let sentence = format!("This is not TOML: {}.", error.message().trim_end_matches('.'));
        reader.problem(error.span().unwrap_or(0..0), sentence, "Repair it here.");
    }
    let mut bindings = Vec::new();
    let known: Vec<&str> = std::iter::once("bindings").chain(beside.iter().copied()).collect();
    reader.only(whole.get_ref(), "this file", &known);
    for (key, value) in reader.tables(whole.get_ref(), "bindings") {
        if bindings.len() == limits::BINDINGS {
            let sentence = format!("A file has at most {} bindings.", limits::BINDINGS);
            reader.problem(key.span(), sentence, "Serve the others from another file.");
            break;
        }
        bindings.extend(reader.binding(key, value));
    }
    if reader.problems.is_empty() {
        return Ok(bindings);
    }
    reader.problems.sort_by_key(|(at, _)| *at);
    reader.problems.truncate(limits::PROBLEMS);
    Err(reader.problems.into_iter().map(|(_, problem)| problem).collect())
}

type Key<'t, 'd> = &'t Spanned<std::borrow::Cow<'d, str>>;

impl Reader<'_> {
    fn problem(&mut self, span: Range<usize>, sentence: impl Into<String>, help: &str) {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let place = format!("{}:{line}:{column}", self.name);
        let problem = Problem { place, sentence: sentence.into(), help: help.to_owned() };
        self.problems.push((span.start, problem));
    }

    fn only(&mut self, table: &DeTable<'_>, what: &str, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let help = format!("Known are: {}.", known.join(", "));
            self.problem(key.span(), format!("`{}` is not known in {what}.", key.get_ref()), &help);
        }
    }

    fn tables<'t, 'd>(
        &mut self,
        parent: &'t DeTable<'d>,
        key: &str,
    ) -> Vec<(Key<'t, 'd>, &'t DeTable<'d>)> {
        let mut found = Vec::new();
        let Some(value) = parent.get(key) else { return found };
        let Some(table) = value.get_ref().as_table() else {
            self.problem(value.span(), format!("{key} must be a table."), "Write a table.");
            return found;
        };
        for (key, value) in table.iter() {
            match value.get_ref().as_table() {
                Some(table) => found.push((key, table)),
                None => self.problem(
                    value.span(),
                    format!("`{}` must be a table.", key.get_ref()),
                    "Write a table.",
                ),
            }
        }
        found
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<(Range<usize>, String)> {
        let value = table.get(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some((value.span(), text.to_owned())),
            _ => {
                self.problem(value.span(), format!("{key} must be text."), "Write it in quotes.");
                None
            }
        }
    }

    fn needed(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        of: &Range<usize>,
    ) -> Option<(Range<usize>, String)> {
        if table.get(key).is_none() {
            self.problem(
                of.clone(),
                format!("{key} is missing here."),
                "Write it under this binding.",
            );
        }
        self.text(table, key)
    }

    fn word<T: Copy>(&mut self, table: &DeTable<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let (span, text) = self.text(table, key)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = format!("Known are: {}.", known.join(", "));
            self.problem(span, format!("`{text}` is no value of {key}."), &help);
        }
        found
    }

    fn flag(&mut self, table: &DeTable<'_>, key: &str) -> Option<bool> {
        let value = table.get(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.problem(
                value.span(),
                format!("{key} must be true or false."),
                "Write it without quotes.",
            );
        }
        flag
    }

    fn words(&mut self, table: &DeTable<'_>, key: &str) -> Vec<(Range<usize>, String)> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let items = value.get_ref().as_array().map(|items| {
            items
                .iter()
                .map(|item| Some((item.span(), item.get_ref().as_str()?.to_owned())))
                .collect::<Option<Vec<_>>>()
        });
        items.flatten().unwrap_or_else(|| {
            self.problem(
                value.span(),
                format!("{key} must be a list of texts."),
                "Write [\"one\"].",
            );
            Vec::new()
        })
    }

    fn binding(&mut self, key: Key<'_, '_>, table: &DeTable<'_>) -> Option<Binding> {
        let name = key.get_ref().to_string();
        let span = key.span();
        self.only(
            table,
            "a binding",
            &[
                "description", "origin", "method", "path", "query", "headers", "body",
                "credential", "networks", "effect", "repeat", "arguments",
            ],
        );
        if name.len() > 64 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        {
            self.problem(
                span.clone(),
                "This cannot be the name of a tool.",
                "Letters, digits, _ and -, at most 64.",
            );
        }
        let arguments = self.arguments(table);
        let description = self.needed(table, "description", &span).map(|(_, text)| text);
        let origin = self.needed(table, "origin", &span).and_then(|(at, text)| {
            Origin::read(&text)
                .map_err(|why| self.problem(at, why, "Write it as \"https://api.example.com\"."))
                .ok()
        });
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map(|word| (word, word));
        if table.get("method").is_none() {
            self.problem(
                span.clone(),
                "method is missing here.",
                "Write method = \"GET\" or another.",
            );
        }
        let method = self.word(table, "method", &methods);
        let effects = [
            ("read", Effect::Read),
            ("write", Effect::Write),
            ("irreversible", Effect::Irreversible),
        ];
        if table.get("effect").is_none() {
            self.problem(
                span.clone(),
                "effect is missing here.",
                "Write effect = \"read\", \"write\" or \"irreversible\".",
            );
        }
        let effect = self.word(table, "effect", &effects);
        let repeats =
            self.word(table, "repeat", &[("safe", true), ("never", false)]).unwrap_or(false);
        let mut used = BTreeSet::new();
        let path = self.needed(table, "path", &span);
        let segments =
            path.as_ref().and_then(|(at, path)| self.path(at, path, &arguments, &mut used));
        let mut query = Vec::new();
        for (name, at, text) in self.pairs(table, "query") {
            query.push((name, self.part(&at, &text, &arguments, &mut used)));
        }
        let mut headers = BTreeMap::new();
        for (name, at, text) in self.pairs(table, "headers") {
            let lower = name.to_ascii_lowercase();
            let ours = [
                "host", "authorization", "cookie", "connection", "content-length",
                "transfer-encoding", "te", "trailer", "upgrade", "expect", "accept-encoding",
                "content-type", "keep-alive",
            ];
            let token = lower.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
            if ours.contains(&lower.as_str()) || lower.starts_with("proxy-") || !token {
                self.problem(
                    at,
                    format!("The header {lower} cannot be written here."),
                    "A credential comes from the vault; the rest belongs to the connection.",
                );
            } else if !text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
                self.problem(
                    at,
                    format!("The header {lower} holds a character that a header cannot carry."),
                    "Write visible ASCII.",
                );
            } else {
                headers.insert(lower, text);
            }
        }
        let body = self
            .text(table, "body")
            .and_then(|(at, text)| self.body(at, &text, &arguments, &mut used));
        let mut networks = Vec::new();
        for (at, text) in self.words(table, "networks") {
            match Network::read(&text) {
                Some(network) => networks.push(network),
                None => self.problem(
                    at,
                    format!("`{text}` is no block of addresses."),
                    "Write \"10.0.0.0/8\", with nothing beside the prefix.",
                ),
            }
        }
        for unused in arguments.keys().filter(|name| !used.contains(*name)) {
            self.problem(
                span.clone(),
                format!("The argument {unused} goes nowhere."),
                "Write {NAME} in path, query or body, or leave it out.",
            );
        }
        let credential = self.text(table, "credential").map(|(_, text)| text);
        let mut binding = Binding {
            name,
            description: description?,
            origin: origin?,
            method: method?.to_owned(),
            path: path?.1,
            segments: segments?,
            query,
            headers,
            body,
            credential,
            networks,
            effect: effect?,
            repeats,
            arguments,
            revision: String::new(),
            deed: String::new(),
        };
        // Every member is in it, in one order: what a person would see differ gives another revision.
        let revision = digest(&binding);
        let mut bare = binding.clone();
        bare.description.clear();
        bare.arguments.values_mut().for_each(|argument| argument.description = None);
        (binding.deed, binding.revision) = (digest(&bare), revision);
        Some(binding)
    }

    fn arguments(&mut self, table: &DeTable<'_>) -> BTreeMap<String, Argument> {
        let mut arguments = BTreeMap::new();
        for (key, table) in self.tables(table, "arguments") {
            self.only(table, "an argument", &["type", "description", "required", "values"]);
            let kinds = [
                ("string", Type::Text),
                ("integer", Type::Integer),
                ("number", Type::Number),
                ("boolean", Type::Flag),
            ];
            if table.get("type").is_none() {
                self.problem(
                    key.span(),
                    "type is missing here.",
                    "Write type = \"string\", \"integer\", \"number\" or \"boolean\".",
                );
            }
            let kind = self.word(table, "type", &kinds);
            let description = self.text(table, "description").map(|(_, text)| text);
            let required = self.flag(table, "required").unwrap_or(true);
            let values: Vec<String> =
                self.words(table, "values").into_iter().map(|(_, word)| word).collect();
            if !values.is_empty() && kind.is_some_and(|kind| kind != Type::Text) {
                self.problem(
                    key.span(),
                    "Only a string has values.",
                    "Leave values out, or write type = \"string\".",
                );
            }
            if arguments.len() == limits::ARGUMENTS {
                self.problem(
                    key.span(),
                    "These are too many arguments.",
                    "A model cannot fill in so many.",
                );
                break;
            }
            let Some(kind) = kind else { continue };
            arguments.insert(
                key.get_ref().to_string(),
                Argument { kind, description, required, values },
            );
        }
        arguments
    }

    fn pairs(&mut self, table: &DeTable<'_>, key: &str) -> Vec<(String, Range<usize>, String)> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let Some(inner) = value.get_ref().as_table() else {
            self.problem(
                value.span(),
                format!("{key} must be a table of texts."),
                "Write { name = \"value\" }.",
            );
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (name, value) in inner.iter() {
            match value.get_ref() {
                DeValue::String(text) => {
                    pairs.push((name.get_ref().to_string(), value.span(), text.to_string()))
                }
                _ => self.problem(
                    value.span(),
                    format!("`{}` must be text.", name.get_ref()),
                    "Write it in quotes.",
                ),
            }
        }
        pairs
    }

    /// A text that is an argument as a whole, or fixed.
    fn part(
        &mut self,
        at: &Range<usize>,
        text: &str,
        arguments: &BTreeMap<String, Argument>,
        used: &mut BTreeSet<String>,
    ) -> Part {
        let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        match inner {
            Some(name) if arguments.contains_key(name) => {
                used.insert(name.to_owned());
                Part::Argument(name.to_owned())
            }
            Some(name) => {
                self.problem(
                    at.clone(),
                    format!("There is no argument `{name}`."),
                    "Declare it: [bindings.NAME.arguments.ARGUMENT].",
                );
                Part::Fixed(String::new())
            }
            None => {
                if text.contains(['{', '}']) {
                    self.problem(
                        at.clone(),
                        "An argument stands alone, not inside a longer text.",
                        "Write \"{name}\" alone: so it cannot reach beyond its place.",
                    );
                }
                Part::Fixed(text.to_owned())
            }
        }
    }

    fn path(
        &mut self,
        at: &Range<usize>,
        path: &str,
        arguments: &BTreeMap<String, Argument>,
        used: &mut BTreeSet<String>,
    ) -> Option<Vec<Part>> {
        let Some(rest) = path.strip_prefix('/') else {
            self.problem(
                at.clone(),
                "A path begins with a slash.",
                "Write \"/projects/{project}\".",
            );
            return None;
        };
        let mut segments = Vec::new();
        for segment in rest.split('/') {
            let part = self.part(at, segment, arguments, used);
            match &part {
                Part::Fixed(text) => {
                    let plain =
                        |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%{}".contains(&b);
                    if text == "." || text == ".." || !text.bytes().all(plain) {
                        self.problem(at.clone(), "The path has a part that could lead elsewhere, or a letter that a path does not have.", "Write what is sent: letters, digits and - . _ ~, the rest as %XX.");
                    }
                }
                Part::Argument(name) => {
                    if arguments.get(name).is_some_and(|argument| !argument.required) {
                        self.problem(
                            at.clone(),
                            format!("{name} stands in the path and may be left out."),
                            "Write required = true.",
                        );
                    }
                }
            }
            segments.push(part);
        }
        Some(segments)
    }

    fn body(
        &mut self,
        at: Range<usize>,
        text: &str,
        arguments: &BTreeMap<String, Argument>,
        used: &mut BTreeSet<String>,
    ) -> Option<Value> {
        if !mcp::json::flaws(text, 64, 1).is_empty() {
            self.problem(
                at,
                "The body names a member twice, or is nested too deep.",
                "Write each member once.",
            );
            return None;
        }
        let body: Value = match serde_json::from_str(text) {
            Ok(body) => body,
            Err(why) => {
                self.problem(
                    at,
                    format!("The body is no JSON: {why}."),
                    "Write JSON in which \"{name}\" stands for an argument.",
                );
                return None;
            }
        };
        let mut left = vec![&body];
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => {
                    self.part(&at, text, arguments, used);
                }
                Value::Array(items) => left.extend(items),
                Value::Object(members) => left.extend(members.values()),
                _ => {}
            }
        }
        Some(body)
    }
}
