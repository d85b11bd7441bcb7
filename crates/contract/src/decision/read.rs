//! Reading a decision map: every problem at once, each with its place.

use super::{Aspect, Consequence, DecisionMap, Flow, Reading, Surface, steps};
use crate::document::Problem;
use crate::verdict::Decision;
use schema::reference::escape;
use serde_json::{Map, Value};

/// The version of the file that is written and read here.
const VERSION: u64 = 1;

/// Lines of a map that are read: a map is a page that a person keeps, not a dump.
const LINES: usize = 20_000;

impl DecisionMap {
    /// Reads a map from its YAML (or JSON) text; `name` is the file, for the places of problems.
    ///
    /// # Errors
    /// All problems at once, with line and column: text that is no YAML, duplicate and unknown members, unknown
    /// decisions and consequences, lines that name no place.
    pub fn parse(name: &str, text: &str) -> Result<DecisionMap, Vec<Problem>> {
        let located = crate::text::read_located(name, text.as_bytes())?;
        DecisionMap::read("", &located.value).map_err(|problems| {
            let located = |problem: Problem| {
                let pointer = problem.place.strip_prefix('#').unwrap_or_default();
                Problem { place: located.place(pointer), ..problem }
            };
            problems.into_iter().map(located).collect()
        })
    }

    /// Reads a map from a value.
    ///
    /// # Errors
    /// As [`DecisionMap::parse`]; without the text, places are pointers: `name#/pointer`.
    pub fn read(name: &str, value: &Value) -> Result<DecisionMap, Vec<Problem>> {
        let mut reader = Reader { name, problems: Vec::new(), lines: 0 };
        let map = reader.map(value);
        if reader.problems.is_empty() { Ok(map) } else { Err(reader.problems) }
    }
}

struct Reader<'a> {
    name: &'a str,
    problems: Vec<Problem>,
    lines: usize,
}

impl Reader<'_> {
    fn note(&mut self, place: &str, sentence: String, help: &str) {
        self.problems.push(Problem {
            place: format!("{}#{place}", self.name),
            sentence,
            help: help.to_owned(),
        });
    }

    fn object<'v>(&mut self, place: &str, value: &'v Value) -> Option<&'v Map<String, Value>> {
        let object = value.as_object();
        // An empty member in YAML is null: nothing declared, nothing wrong.
        if object.is_none() && !value.is_null() {
            self.note(
                place,
                "names and values are expected here".to_owned(),
                "Write `name: value` lines at this place.",
            );
        }
        object
    }

    fn map(&mut self, value: &Value) -> DecisionMap {
        let mut map = DecisionMap::default();
        let Some(root) = self.object("", value) else {
            return map;
        };
        if !root.contains_key("decision-map") {
            self.note(
                "",
                "the file does not say that it is a decision map".to_owned(),
                "Begin it with `decision-map: 1`.",
            );
        }
        for (key, value) in root {
            let place = format!("/{key}");
            match key.as_str() {
                "decision-map" => {
                    if value.as_u64() != Some(VERSION) {
                        self.note(
                            &place,
                            format!("decision map version {value} is not known here"),
                            "Write `decision-map: 1`, or use a newer steadfast.",
                        );
                    }
                }
                "operations" | "tools" => {
                    let tool = key == "tools";
                    for (subject, value) in self.object(&place, value).into_iter().flatten() {
                        let place = format!("{place}/{}", escape(subject));
                        let surface = self.surface(&place, value, tool);
                        if tool {
                            map.tools.insert(subject.clone(), surface);
                        } else {
                            map.operations.insert(normal_subject(subject), surface);
                        }
                    }
                }
                _ => self.unknown(&place, key, "decision-map, operations, tools"),
            }
        }
        map
    }

    fn unknown(&mut self, place: &str, key: &str, known: &str) {
        self.note(
            place,
            format!("`{key}` is not a member of a decision map here"),
            &format!("Known at this place: {known}."),
        );
    }

    fn surface(&mut self, place: &str, value: &Value, tool: bool) -> Surface {
        let mut surface = Surface::default();
        for (key, value) in self.object(place, value).into_iter().flatten() {
            let place = format!("{place}/{}", escape(key));
            let aspect = match key.as_str() {
                "name" => Some(Aspect::Name),
                "purpose" => Some(Aspect::Purpose),
                "server" if !tool => Some(Aspect::Server),
                "security" if !tool => Some(Aspect::Security),
                _ => None,
            };
            if let Some(aspect) = aspect {
                let feeds = self.feeds(&place, value);
                surface.aspects.insert(aspect, feeds);
                continue;
            }
            let flow = match (key.as_str(), tool) {
                ("request", false) | ("input", true) => Flow::Request,
                ("response", false) | ("output", true) => Flow::Response,
                _ => {
                    let known = if tool {
                        "name, purpose, input, output"
                    } else {
                        "name, purpose, server, security, request, response"
                    };
                    self.unknown(&place, key, known);
                    continue;
                }
            };
            for (line, value) in self.object(&place, value).into_iter().flatten() {
                let place = format!("{place}/{}", escape(line));
                self.lines += 1;
                if self.lines > LINES {
                    if self.lines == LINES + 1 {
                        self.note(
                            &place,
                            format!("the map has more than {LINES} lines"),
                            "Keep the lines that a decision of the agent reads.",
                        );
                    }
                    return surface;
                }
                if let Some(reading) = self.reading(&place, line, value, flow, tool) {
                    match flow {
                        Flow::Request => surface.request.push(reading),
                        Flow::Response => surface.response.push(reading),
                    }
                }
            }
        }
        surface
    }

    fn reading(
        &mut self,
        place: &str,
        line: &str,
        value: &Value,
        flow: Flow,
        tool: bool,
    ) -> Option<Reading> {
        let (status, path) = self.path(place, line, flow, tool)?;
        let mut reading = Reading { status, path, feeds: Vec::new(), absent: None, unknown: None };
        if let Value::Object(members) = value {
            for (key, value) in members {
                let place = format!("{place}/{}", escape(key));
                match key.as_str() {
                    "feeds" => reading.feeds = self.feeds(&place, value),
                    "absent" => reading.absent = self.consequence(&place, value),
                    "unknown" => reading.unknown = self.consequence(&place, value),
                    _ => self.unknown(&place, key, "feeds, absent, unknown"),
                }
            }
            if !members.contains_key("feeds") {
                self.note(
                    place,
                    format!("`{line}` does not say which decision it feeds"),
                    "Add `feeds: target`, eligibility, scope, completion or ask.",
                );
            }
        } else {
            reading.feeds = self.feeds(place, value);
        }
        Some(reading)
    }

    fn path(
        &mut self,
        place: &str,
        line: &str,
        flow: Flow,
        tool: bool,
    ) -> Option<(Option<String>, Vec<String>)> {
        let (status, text) = match line.split_once(' ') {
            Some((status, rest)) if !tool && flow == Flow::Response => {
                (Some(status.to_ascii_uppercase()), rest.trim())
            }
            _ => (None, line),
        };
        let dotted = !text.starts_with('/');
        let bare = text.replace("[]", "");
        if dotted
            && (bare.contains(['[', ']'])
                || bare.split('.').any(str::is_empty) && !text.contains("[]"))
        {
            self.note(
                place,
                format!("`{line}` cannot be read as a place"),
                "Write names with dots between them, and `[]` after the name of a list: `body.items[].id`.",
            );
            return None;
        }
        let mut path = steps(text);
        if !tool && text.starts_with('/') {
            path.insert(0, "body".to_owned());
        }
        let head = path.first().cloned().unwrap_or_default();
        let known: &[&str] = match (tool, flow) {
            (true, _) => return Some((None, path)),
            (false, Flow::Request) => {
                &["path", "query", "header", "cookie", "body", "content-type"]
            }
            (false, Flow::Response) => &["status", "content-type", "header", "body"],
        };
        if !known.contains(&head.as_str()) {
            self.note(
                place,
                format!("`{line}` does not say where the value is"),
                &format!("Begin it with one of: {}.", known.join(", ")),
            );
            return None;
        }
        // Header names have no case; the rest of the header line is one name.
        if head == "header" {
            let name = text.split_once('.').map_or("", |(_, name)| name);
            path = vec![head, name.to_ascii_lowercase()];
        }
        Some((status, path))
    }

    fn feeds(&mut self, place: &str, value: &Value) -> Vec<Decision> {
        let items: Vec<&Value> = match value {
            Value::Array(items) => items.iter().collect(),
            other => vec![other],
        };
        let mut feeds = Vec::new();
        for item in items {
            match serde_json::from_value::<Decision>(item.clone()) {
                Ok(decision) => feeds.push(decision),
                Err(_) => self.note(
                    place,
                    format!("{item} is not a decision"),
                    "A value feeds target, eligibility, scope, completion or ask.",
                ),
            }
        }
        feeds.sort_unstable();
        feeds.dedup();
        feeds
    }

    fn consequence(&mut self, place: &str, value: &Value) -> Option<Consequence> {
        let found = serde_json::from_value(value.clone()).ok();
        if found.is_none() {
            self.note(
                place,
                format!("{value} is not a consequence"),
                "Write stop, skip, ask or note.",
            );
        }
        found
    }
}

/// `get /projects` and `GET /projects` are the same operation.
fn normal_subject(subject: &str) -> String {
    match subject.split_once(' ') {
        Some((method, path)) => format!("{} {}", method.to_ascii_uppercase(), path.trim()),
        None => subject.to_owned(),
    }
}
