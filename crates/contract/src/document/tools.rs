//! The items of a list, one by one: what makes a tool callable at all.

use super::read::{Form, Reading, kind_of};
use super::{Contract, Problem, Tool, ToolList};
use crate::limits;
use crate::text::quoted;
use schema::{ReadOptions, Schema};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the items of a `tools` array that stands at `pointer`.
pub(super) fn read(name: &str, pointer: &str, items: &[Value], form: Form) -> Reading {
    let mut reader = Reader::new(name);
    for (index, item) in items.iter().enumerate() {
        // A file that is one tool has no index.
        let at = match (pointer.is_empty(), items.len()) {
            (true, 1) => String::new(),
            _ => format!("{pointer}/{index}"),
        };
        reader.tool(name, &at, item);
    }
    reader.done(form)
}

/// Reads the files of a folder, one tool each.
pub(super) fn read_files(name: &str, files: &BTreeMap<String, Value>) -> Reading {
    let mut reader = Reader::new(name);
    for (file, value) in files {
        reader.tool(&format!("{name}/{file}"), "", value);
    }
    reader.done(Form::Folder)
}

/// What is out of order: the first of them, and how many more there are.
#[derive(Default)]
struct Faults {
    told: Vec<Problem>,
    more: usize,
}

impl Faults {
    fn report(&mut self, file: &str, pointer: &str, sentence: String, help: &str) {
        if self.told.len() < limits::PROBLEMS {
            self.told.push(Problem::at(file, pointer, sentence, help));
        } else {
            self.more += 1;
        }
    }

    fn count(&self) -> usize {
        self.told.len() + self.more
    }

    fn done(mut self, name: &str) -> Vec<Problem> {
        if self.more > 0 {
            self.told.push(Problem::at(
                name,
                "",
                format!("{} more problems of this kind were found.", self.more),
                "Repair those above first.",
            ));
        }
        self.told
    }
}

struct Reader {
    list: ToolList,
    /// Where each name was first seen.
    seen: BTreeMap<String, String>,
    /// What leaves open which tools there are.
    problems: Faults,
    /// Schemas that say nothing or cannot be read.
    flaws: Faults,
    /// Whose they are.
    flawed: BTreeSet<String>,
}

impl Reader {
    fn new(name: &str) -> Reader {
        Reader {
            list: ToolList { name: name.to_owned(), ..ToolList::default() },
            seen: BTreeMap::new(),
            problems: Faults::default(),
            flaws: Faults::default(),
            flawed: BTreeSet::new(),
        }
    }

    fn done(self, form: Form) -> Reading {
        let (problems, flaws) =
            (self.problems.done(&self.list.name), self.flaws.done(&self.list.name));
        Reading { contract: Contract::Tools(self.list), form, problems, flaws, flawed: self.flawed }
    }

    fn tool(&mut self, file: &str, pointer: &str, item: &Value) {
        let Value::Object(members) = item else {
            self.problems.report(
                file,
                pointer,
                format!("A tool is {} here, not an object.", kind_of(item)),
                "Each tool is an object with a name and an inputSchema.",
            );
            return;
        };
        let name = match members.get("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name.clone(),
            found => {
                let sentence = match found {
                    None => "A tool has no name.".to_owned(),
                    Some(Value::String(_)) => "The name of a tool is blank.".to_owned(),
                    Some(other) => format!("The name of a tool is {}, not text.", kind_of(other)),
                };
                self.problems.report(
                    file,
                    &format!("{pointer}/name"),
                    sentence,
                    "A tool without a name cannot be called and cannot be compared.",
                );
                return;
            }
        };
        if let Some(first) = self.seen.get(&name) {
            let sentence = format!("The tool {} is listed twice; first at {first}.", quoted(&name));
            self.problems.report(
                file,
                pointer,
                sentence,
                "A call by name cannot tell the two apart. Remove or rename one of them.",
            );
            return;
        }
        let place = Problem::at(file, pointer, String::new(), "").place;
        self.seen.insert(name.clone(), place);
        let flaws = self.flaws.count();
        self.schemas(file, pointer, &name, members);
        if self.flaws.count() > flaws {
            self.flawed.insert(name.clone());
        }
        self.list.tools.push(Tool { name, raw: item.clone(), ordinal: None });
    }

    fn schemas(&mut self, file: &str, pointer: &str, name: &str, members: &Map<String, Value>) {
        let shown = quoted(name);
        let input = format!("{pointer}/inputSchema");
        match members.get("inputSchema") {
            Some(Value::Object(schema)) => {
                if is_blank(schema) {
                    self.flaws.report(
                        file,
                        &input,
                        format!("The input schema of {shown} is blank: it says nothing about what a caller may send."),
                        "Look for an error in the server's schema generator; at the least write {\"type\": \"object\"}.",
                    );
                } else if let Some(found) = schema.get("type").filter(|found| !allows_object(found))
                {
                    let found = found.to_string();
                    self.flaws.report(
                        file,
                        &input,
                        format!("The input schema of {shown} has the type {found}; arguments are always an object."),
                        "Write \"type\": \"object\" and put the arguments into properties.",
                    );
                } else {
                    self.schema(file, &input, name, &Value::Object(schema.clone()));
                }
            }
            found => {
                let sentence = match found {
                    None => format!("The tool {shown} has no input schema."),
                    Some(other) => {
                        format!("The input schema of {shown} is {}, not an object.", kind_of(other))
                    }
                };
                self.flaws.report(
                    file,
                    &input,
                    sentence,
                    "What a caller may send is unknown, and unknown is not the same as anything: write at least {\"type\": \"object\"}.",
                );
            }
        }
        let output = format!("{pointer}/outputSchema");
        match members.get("outputSchema") {
            None => {}
            Some(schema @ Value::Object(_)) => self.schema(file, &output, name, schema),
            Some(found) => {
                let sentence =
                    format!("The output schema of {shown} is {}, not an object.", kind_of(found));
                self.flaws.report(
                    file,
                    &output,
                    sentence,
                    "Leave it out, or write a schema object.",
                );
            }
        }
    }

    /// What the schema engine cannot read: references, dialects, keywords that mean nothing.
    fn schema(&mut self, file: &str, pointer: &str, name: &str, schema: &Value) {
        let problems = Schema::read(schema, &ReadOptions::default()).err().unwrap_or_default();
        for problem in problems {
            self.flaws.report(
                file,
                &format!("{pointer}{}", problem.pointer),
                format!("In the schema of {}: {}.", quoted(name), problem.sentence),
                "Nothing can be proved of a schema that cannot be read: repair it where it is generated.",
            );
        }
    }
}

/// Members that annotate a schema and restrict nothing.
const ANNOTATIONS: &[&str] =
    &["$schema", "$id", "$comment", "title", "description", "examples", "default", "deprecated"];

/// Whether a schema restricts nothing at all.
pub(crate) fn is_blank(schema: &Map<String, Value>) -> bool {
    schema.keys().all(|key| ANNOTATIONS.contains(&key.as_str()))
}

/// Whether a `type` keyword lets an object through. What is no type at all is the schema reader's to tell.
fn allows_object(found: &Value) -> bool {
    match found {
        Value::String(word) => word == "object",
        Value::Array(words) => words.iter().any(|word| word == "object"),
        _ => true,
    }
}
