//! YAML 1.2 with the core schema, as far as it stands for a JSON value.

use super::{Position, depth, duplicate_key, quoted, too_deep};
use crate::document::Problem;
use crate::limits;
use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// Reads one YAML document.
pub(super) fn read(name: &str, text: &str) -> Result<Value, Vec<Problem>> {
    read_into(name, text, None).map(|(value, _)| value)
}

/// The same, with the place of each key and item by its JSON pointer.
pub(super) fn read_located(
    name: &str,
    text: &str,
) -> Result<(Value, BTreeMap<String, Position>), Vec<Problem>> {
    let (value, places) = read_into(name, text, Some(BTreeMap::new()))?;
    Ok((value, places.unwrap_or_default()))
}

type Places = Option<BTreeMap<String, Position>>;

fn read_into(name: &str, text: &str, places: Places) -> Result<(Value, Places), Vec<Problem>> {
    let options = granit_parser::options! {
        // One more than the builder takes: the scanner reads ahead and may stop first.
        flow_nesting_limit: limits::DEPTH + 1,
        block_nesting_limit: limits::DEPTH + 1,
        emit_comments: false,
    };
    let mut builder = Builder {
        name,
        stack: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        aliased: 0,
        documents: 0,
        problems: Vec::new(),
        places,
    };
    for next in Parser::new_from_str_with_options(text, options) {
        let outcome = match next {
            Ok((event, span)) => builder.event(event, place(span.start)),
            Err(error) if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) => {
                Err(too_deep(name, place(*error.marker())))
            }
            Err(error) => Err(Problem {
                place: place(*error.marker()).in_file(name),
                sentence: format!("This is not YAML: {}.", plain_sentence(&error.info())),
                help: "Repair it here; everything before this place was read.".to_owned(),
            }),
        };
        if let Err(problem) = outcome {
            builder.problems.push(problem);
            break;
        }
        if builder.problems.len() >= limits::PROBLEMS {
            break;
        }
    }
    match builder.root {
        Some(root) if builder.problems.is_empty() => Ok((root, builder.places)),
        _ if !builder.problems.is_empty() => Err(builder.problems),
        _ => Err(vec![Problem {
            place: name.to_owned(),
            sentence: "The file holds no document, only comments or markers.".to_owned(),
            help: "Give a file that holds a contract.".to_owned(),
        }]),
    }
}

/// A collection that is still open.
enum Frame {
    Sequence {
        items: Vec<Value>,
        anchor: usize,
    },
    Mapping {
        members: Map<String, Value>,
        /// Where each key was written, in the order of `members`.
        places: Vec<Position>,
        key: Option<Key>,
        /// What `<<` names, in order: an explicit member wins, then the earlier one.
        merged: Vec<Value>,
        anchor: usize,
    },
}

enum Key {
    Name(String, Position),
    Merge,
}

struct Builder<'a> {
    name: &'a str,
    stack: Vec<Frame>,
    root: Option<Value>,
    anchors: BTreeMap<usize, Value>,
    /// Values added by repeating what an anchor names.
    aliased: usize,
    documents: usize,
    problems: Vec<Problem>,
    /// Where each value stands, where that is wanted.
    places: Places,
}

impl Builder<'_> {
    /// Notes where the value that begins here stands.
    fn locate(&mut self, at: Position) {
        let Some(places) = &mut self.places else { return };
        let mut pointer = String::new();
        for frame in &self.stack {
            match frame {
                Frame::Sequence { items, .. } => pointer.push_str(&format!("/{}", items.len())),
                Frame::Mapping { key: Some(Key::Name(name, _)), .. } => {
                    pointer.push('/');
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
                Frame::Mapping { .. } => return,
            }
        }
        let own = match self.stack.last() {
            Some(Frame::Mapping { key: Some(Key::Name(_, place)), .. }) => *place,
            _ => at,
        };
        places.entry(pointer).or_insert(own);
    }

    fn event(&mut self, event: Event<'_>, at: Position) -> Result<(), Problem> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.problem(
                        at,
                        "A second document begins here.".to_owned(),
                        "One file holds one contract: split the file.",
                    ));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                if self.awaits_key() {
                    return self.key(&text, style, tag.as_deref(), at);
                }
                self.locate(at);
                let value = self.scalar(&text, style, tag.as_deref(), at)?;
                self.finish(value, anchor, at)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(tag.as_deref(), "seq", at)?;
                self.locate(at);
                self.stack.push(Frame::Sequence { items: Vec::new(), anchor });
                Ok(())
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(tag.as_deref(), "map", at)?;
                self.locate(at);
                self.stack.push(Frame::Mapping {
                    members: Map::new(),
                    places: Vec::new(),
                    key: None,
                    merged: Vec::new(),
                    anchor,
                });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Alias(id) => self.alias(id, at),
            _ => Ok(()),
        }
    }

    fn awaits_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame::Mapping { key: None, .. }))
    }

    fn key(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<(), Problem> {
        let plain = style == ScalarStyle::Plain;
        if plain && tag.is_none() && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
            return Err(self.problem(
                at,
                "A key is empty here.".to_owned(),
                "JSON objects have names as keys; put it in quotes if it is meant.",
            ));
        }
        let Some(Frame::Mapping { members, places, key, .. }) = self.stack.last_mut() else {
            unreachable!("asked only where a mapping awaits a key");
        };
        if plain && text == "<<" {
            *key = Some(Key::Merge);
            return Ok(());
        }
        if members.contains_key(text) {
            let index = members.keys().position(|known| known == text).unwrap_or(0);
            let problem = duplicate_key(self.name, text, places[index], at);
            self.problems.push(problem);
        }
        *key = Some(Key::Name(text.to_owned(), at));
        Ok(())
    }

    fn open(&self, tag: Option<&Tag>, expected: &str, at: Position) -> Result<(), Problem> {
        if self.awaits_key() {
            return Err(self.problem(
                at,
                "A key is a list or a mapping here.".to_owned(),
                "JSON objects have names as keys.",
            ));
        }
        if self.stack.len() == limits::DEPTH {
            return Err(too_deep(self.name, at));
        }
        match tag {
            Some(tag) if !tag.is_yaml_core_schema_tag(expected) && !non_specific(tag) => {
                Err(self.unknown_tag(tag, at))
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self, at: Position) -> Result<(), Problem> {
        match self.stack.pop() {
            Some(Frame::Sequence { items, anchor }) => self.finish(Value::Array(items), anchor, at),
            Some(Frame::Mapping { mut members, merged, anchor, .. }) => {
                for source in merged {
                    let Value::Object(source) = source else {
                        return Err(self.problem(
                            at,
                            "A merge key (<<) names something that is not a mapping.".to_owned(),
                            "Point it to a mapping, or write the members out.",
                        ));
                    };
                    for (name, value) in source {
                        members.entry(name).or_insert(value);
                    }
                }
                self.finish(Value::Object(members), anchor, at)
            }
            None => Ok(()),
        }
    }

    fn alias(&mut self, id: usize, at: Position) -> Result<(), Problem> {
        let Some(value) = self.anchors.get(&id) else {
            return Err(self.problem(
                at,
                "An alias stands inside the very value that it names.".to_owned(),
                "Such a value has no end and no JSON form; use $ref for recursion.",
            ));
        };
        self.aliased += count(value);
        if self.aliased > limits::YAML_ALIASED_VALUES {
            return Err(self.problem(
                at,
                format!(
                    "The aliases up to here stand for more than {} values.",
                    limits::YAML_ALIASED_VALUES
                ),
                "Use $ref for what is shared; aliases are written out in full.",
            ));
        }
        if self.stack.len() + depth(value) > limits::DEPTH {
            return Err(too_deep(self.name, at));
        }
        let value = value.clone();
        if !self.awaits_key() {
            self.locate(at);
        }
        if self.awaits_key() {
            let Value::String(text) = value else {
                return Err(self.problem(
                    at,
                    "An alias is used as a key, and what it names is not text.".to_owned(),
                    "JSON objects have names as keys.",
                ));
            };
            return self.key(&text, ScalarStyle::DoubleQuoted, None, at);
        }
        self.finish(value, 0, at)
    }

    /// Puts a complete value where it belongs.
    fn finish(&mut self, value: Value, anchor: usize, at: Position) -> Result<(), Problem> {
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.stack.last_mut() {
            None => self.root = Some(value),
            Some(Frame::Sequence { items, .. }) => items.push(value),
            Some(Frame::Mapping { members, places, key, merged, .. }) => match key.take() {
                Some(Key::Name(name, place)) => {
                    if members.insert(name, value).is_none() {
                        places.push(place);
                    }
                }
                Some(Key::Merge) => match value {
                    Value::Array(items) => merged.extend(items),
                    other => merged.push(other),
                },
                None => {
                    return Err(self.problem(
                        at,
                        "A value has no key here.".to_owned(),
                        "Write `key: value`.",
                    ));
                }
            },
        }
        Ok(())
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        at: Position,
    ) -> Result<Value, Problem> {
        if let Some(tag) = tag {
            if tag.is_yaml_core_schema_tag("str") || non_specific(tag) {
                return Ok(Value::String(text.to_owned()));
            }
            let known = ["null", "bool", "int", "float"]
                .iter()
                .any(|kind| tag.is_yaml_core_schema_tag(kind));
            if !known {
                return Err(self.unknown_tag(tag, at));
            }
        } else if style != ScalarStyle::Plain {
            return Ok(Value::String(text.to_owned()));
        }
        match plain(text) {
            Plain::Value(value) => Ok(value),
            Plain::NotFinite => Err(self.problem(
                at,
                format!("{} is not a number that JSON can hold.", quoted(text)),
                "Leave it out, or put it in quotes if text is meant.",
            )),
        }
    }

    fn unknown_tag(&self, tag: &Tag, at: Position) -> Problem {
        self.problem(
            at,
            format!("The tag {} is not known here.", quoted(&tag.original())),
            "Only the tags of plain YAML are read; a tag that is ignored could change the value.",
        )
    }

    fn problem(&self, at: Position, sentence: String, help: &str) -> Problem {
        Problem { place: at.in_file(self.name), sentence, help: help.to_owned() }
    }
}

/// What a plain scalar stands for.
enum Plain {
    Value(Value),
    NotFinite,
}

/// The core schema of YAML 1.2: `yes`, `no`, `on` and `off` are text; dates are text.
fn plain(text: &str) -> Plain {
    Plain::Value(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => return Plain::NotFinite,
        _ => match number(text) {
            Some(number) => Value::Number(number),
            None => Value::String(text.to_owned()),
        },
    })
}

/// A number of the core schema, in the spelling of JSON.
fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u128::from_str_radix(digits, 16)
            .ok()
            .filter(|_| !digits.starts_with('+'))
            .map(exact);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u128::from_str_radix(digits, 8)
            .ok()
            .filter(|_| !digits.starts_with('+'))
            .map(exact);
    }
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let some_digits = !whole.is_empty() || fraction.is_some_and(|part| !part.is_empty());
    if !some_digits || !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    let exponent = match exponent {
        None => String::new(),
        Some(written) => {
            let unsigned = written.strip_prefix(['+', '-']).unwrap_or(written);
            if unsigned.is_empty() || !digits(unsigned) {
                return None;
            }
            format!("e{written}")
        }
    };
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        trimmed => trimmed,
    };
    let fraction = match fraction {
        None | Some("") => String::new(),
        Some(part) => format!(".{part}"),
    };
    Some(Number::from_string_unchecked(format!("{sign}{whole}{fraction}{exponent}")))
}

fn exact(value: u128) -> Number {
    Number::from_string_unchecked(value.to_string())
}

/// `!`: a scalar that is text whatever it looks like, or a collection as it is.
fn non_specific(tag: &Tag) -> bool {
    tag.original() == "!"
}

/// How many values a value holds, itself included. Its depth is bounded by [`limits::DEPTH`].
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

fn place(marker: Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

/// The parser's words without its capital and full stop.
fn plain_sentence(info: &str) -> String {
    info.trim_end_matches('.').to_owned()
}
