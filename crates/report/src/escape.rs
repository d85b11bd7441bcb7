//! Strings and values that servers wrote, made harmless for the place where they are shown.
//!
//! Whatever a server puts into a name or a description, it must not move a cursor, forge a line, hide
//! text, break out of a table cell or speak to the machine that reads a log. What is escaped stays
//! visible: `\u{202e}` in lines, `\u202e` in JSON, where it is the same value.

use crate::limits::MARKS_IN_A_ROW;
pub use contract::hidden::is_hidden;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::fmt::Write as _;
use std::io;
use unicode_width::UnicodeWidthChar;

/// One line of text from anything: hidden characters escaped, no word that a CI runner obeys.
///
/// A runner reads `::command::` at the start of a line and `##[command]` anywhere in one.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    let mut previous: Option<char> = None;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ':' if rest.starts_with("::") && previous.is_none_or(char::is_whitespace) => {
                escaped(&mut out, c);
            }
            '#' if is_runner_word(rest) => escaped(&mut out, c),
            _ if is_hidden(c) || marks > MARKS_IN_A_ROW => escaped(&mut out, c),
            _ => out.push(c),
        }
        previous = Some(c);
    }
    out
}

fn escaped(out: &mut String, c: char) {
    write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String cannot fail");
}

/// `##[group]`, `##vso[…]`, `##teamcity[…]`: commands of CI runners.
fn is_runner_word(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("##") else {
        return false;
    };
    rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with('[')
}

/// At most `limit` characters, `…` standing for the rest.
pub fn clip(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// A value as JSON on one line of at most `limit` characters, hidden characters escaped.
///
/// Work is bounded by `limit`, however large or deep the value is.
pub fn one_line(value: &Value, limit: usize) -> String {
    // A character may take 12 bytes (an escaped surrogate pair); what is cut away need not be written.
    let mut sink = Bounded { bytes: Vec::new(), room: (limit + 1) * 12 };
    let mut serializer = Serializer::with_formatter(&mut sink, Guarded(CompactFormatter));
    // A full sink is the only error, and means that the value goes on.
    let whole = value.serialize(&mut serializer).is_ok();
    let text = String::from_utf8_lossy(&sink.bytes).into_owned();
    let text = visible(&text);
    if whole { clip(&text, limit) } else { clip(&(text + "…"), limit) }
}

/// A document as indented JSON whose strings cannot act on a terminal or a log. Ends with a newline.
pub fn json<T: Serialize>(document: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer =
        Serializer::with_formatter(&mut bytes, Guarded(PrettyFormatter::with_indent(b"  ")));
    document
        .serialize(&mut serializer)
        .expect("a report has string keys only and its sink is memory");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.room - self.bytes.len();
        if bytes.len() > left {
            // Never half a character: a byte that continues one stays out with its head.
            let mut end = left;
            while end > 0 && bytes[end] & 0xC0 == 0x80 {
                end -= 1;
            }
            self.bytes.extend_from_slice(&bytes[..end]);
            self.room = self.bytes.len();
            return Err(io::Error::other("full"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A JSON formatter that writes hidden characters as `\uXXXX`: the same value, inert bytes.
struct Guarded<F>(F);

impl<F: Formatter> Formatter for Guarded<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut plain = 0;
        for (at, c) in fragment.char_indices() {
            if is_hidden(c) || (c == '#' && is_runner_word(&fragment[at..])) {
                writer.write_all(&fragment.as_bytes()[plain..at])?;
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    write!(writer, "\\u{unit:04x}")?;
                }
                plain = at + c.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[plain..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }
    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }
    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }
    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }
    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }
    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}
