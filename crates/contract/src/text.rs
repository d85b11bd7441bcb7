//! From bytes to values: strict JSON and YAML, with every problem located.
//!
//! Numbers keep their text, members keep their order, and nothing ambiguous is resolved
//! silently: duplicate keys, more than one document, NaN and unknown tags are problems.

mod json;
mod yaml;

use crate::document::Problem;
use crate::limits;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// JSON as of RFC 8259.
    Json,
    /// YAML 1.2, read with the core schema.
    Yaml,
}

impl Notation {
    /// The notation that a file name promises, where it promises one.
    ///
    /// ```
    /// use contract::text::Notation;
    /// assert_eq!(Notation::of_name("api/openapi.yml"), Some(Notation::Yaml));
    /// assert_eq!(Notation::of_name("create_issue.snap"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Notation> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "json" | "lock" => Some(Notation::Json),
            "yaml" | "yml" => Some(Notation::Yaml),
            _ => None,
        }
    }

    /// The notation that the content looks like: JSON where it starts like an object or array.
    fn of_content(text: &str) -> Notation {
        match text.trim_start().chars().next() {
            Some('{' | '[' | '"') => Notation::Json,
            _ => Notation::Yaml,
        }
    }
}

/// Reads one document: by the notation that `name` promises, else by what the content looks like.
///
/// `name` is only quoted in problems. A byte-order mark of UTF-8 is skipped.
///
/// # Errors
/// All problems that can be told, each at `name:line:column` (both counted from 1, columns in
/// characters): wrong encoding, wrong syntax, a file that ends too early, text after the end,
/// duplicate keys with both places, numbers that JSON cannot hold, more than one document,
/// nesting beyond [`limits::DEPTH`] and size beyond [`limits::DOCUMENT_BYTES`].
///
/// ```
/// let problems = contract::text::read("a.json", b"{\"x\": 1,\n \"x\": 2}").unwrap_err();
/// assert_eq!(problems[0].place, "a.json:2:2");
/// assert_eq!(problems[0].sentence, "The key \"x\" stands twice in one object; first at line 1, column 2.");
/// ```
pub fn read(name: &str, bytes: &[u8]) -> Result<Value, Vec<Problem>> {
    let notation = Notation::of_name(name);
    read_with(name, bytes, |text| notation.unwrap_or_else(|| Notation::of_content(text)))
}

/// Reads one document in a given notation, whatever its name and content look like.
///
/// # Errors
/// As [`read`].
pub fn read_as(name: &str, bytes: &[u8], notation: Notation) -> Result<Value, Vec<Problem>> {
    read_with(name, bytes, |_| notation)
}

/// A document of YAML (JSON is written so too), and where each of its values stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The value.
    pub value: Value,
    name: String,
    places: BTreeMap<String, Position>,
}

impl Located {
    /// The place of what a JSON pointer names, as `name:line:column`: that of its key, or of an item itself. What
    /// an alias brought in has the place of what holds the alias.
    pub fn place(&self, pointer: &str) -> String {
        let mut at = pointer;
        loop {
            if let Some(position) = self.places.get(at) {
                return position.in_file(&self.name);
            }
            match at.rfind('/') {
                Some(end) => at = &at[..end],
                None => return self.name.clone(),
            }
        }
    }
}

/// Reads one document of YAML with the places of its values: for files that people write and get told about.
///
/// # Errors
/// As [`read`].
///
/// ```
/// let read = contract::text::read_located("a.yaml", b"x:\n  - y: 1\n").unwrap();
/// assert_eq!(read.place("/x/0/y"), "a.yaml:2:5");
/// ```
pub fn read_located(name: &str, bytes: &[u8]) -> Result<Located, Vec<Problem>> {
    let text = decode(name, bytes).map_err(|problem| vec![problem])?;
    let (value, places) = yaml::read_located(name, text)?;
    Ok(Located { value, name: name.to_owned(), places })
}

fn read_with(
    name: &str,
    bytes: &[u8],
    notation: impl Fn(&str) -> Notation,
) -> Result<Value, Vec<Problem>> {
    let text = decode(name, bytes).map_err(|problem| vec![problem])?;
    if text.trim().is_empty() {
        return Err(vec![Problem {
            place: name.to_owned(),
            sentence: "The file is empty.".to_owned(),
            help: "Give a file that holds a contract; an empty file is not an empty contract."
                .to_owned(),
        }]);
    }
    match notation(text) {
        Notation::Json => json::read(name, text),
        Notation::Yaml => yaml::read(name, text),
    }
}

/// The text of a document without its byte-order mark.
fn decode<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Problem> {
    if bytes.len() > limits::DOCUMENT_BYTES {
        return Err(Problem {
            place: name.to_owned(),
            sentence: format!(
                "The file has {} MB; more than {} MB is not read.",
                bytes.len() >> 20,
                limits::DOCUMENT_BYTES >> 20
            ),
            help: "Split the contract, or leave out what is not part of it.".to_owned(),
        });
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(Problem {
            place: name.to_owned(),
            sentence: "The file is written in UTF-16.".to_owned(),
            help: "Save it as UTF-8; JSON and YAML are exchanged in nothing else.".to_owned(),
        });
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let good = std::str::from_utf8(&bytes[..error.valid_up_to()])
            .expect("the decoder vouches for this part");
        let at = Position::of(good, good.len());
        Problem {
            place: at.in_file(name),
            sentence: if error.error_len().is_none() {
                "The file ends in the middle of a character.".to_owned()
            } else {
                "A byte here is not part of any UTF-8 character.".to_owned()
            },
            help: "Save the file as UTF-8; if it was cut, fetch it again.".to_owned(),
        }
    })
}

/// A place in a text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// The place of a byte offset.
    fn of(text: &str, offset: usize) -> Position {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    fn in_file(self, name: &str) -> String {
        format!("{name}:{}:{}", self.line, self.column)
    }

    fn in_words(self) -> String {
        format!("line {}, column {}", self.line, self.column)
    }
}

/// The place of a byte offset in a file, as problems name it.
pub(crate) fn place(name: &str, text: &str, offset: usize) -> String {
    let offset =
        (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    Position::of(text, offset).in_file(name)
}

/// The problem that both notations share.
fn duplicate_key(name: &str, key: &str, first: Position, second: Position) -> Problem {
    Problem {
        place: second.in_file(name),
        sentence: format!(
            "The key {} stands twice in one object; first at {}.",
            quoted(key),
            first.in_words()
        ),
        help: "Readers disagree on which of the two counts, so neither is taken: remove one."
            .to_owned(),
    }
}

/// The problem that both notations share.
fn too_deep(name: &str, at: Position) -> Problem {
    Problem {
        place: at.in_file(name),
        sentence: format!("Objects and arrays nest deeper than {} levels here.", limits::DEPTH),
        help: "No contract needs this; look for a generator that repeats itself.".to_owned(),
    }
}

/// How deep a value nests: 0 for a scalar. What was read here is bounded by [`limits::DEPTH`].
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// A short, escaped quotation of text that came from a file.
pub(crate) fn quoted(text: &str) -> String {
    /// Enough to recognise a name, short enough for a sentence.
    const SHOWN: usize = 60;
    let cut: String = text.chars().take(SHOWN).collect();
    let escaped: String = cut.escape_debug().collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("\"{escaped}{more}\"")
}
