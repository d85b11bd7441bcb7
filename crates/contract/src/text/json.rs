//! Strict JSON: RFC 8259 and nothing beside it.

use super::{Position, duplicate_key, quoted, too_deep};
use crate::document::Problem;
use crate::limits;
use serde_json::{Map, Number, Value};

/// Reads one JSON text.
pub(super) fn read(name: &str, text: &str) -> Result<Value, Vec<Problem>> {
    let mut reader =
        Reader { name, text, at: 0, open: Vec::new(), duplicates: Vec::new(), more_duplicates: 0 };
    match reader.document() {
        Ok(value) if reader.duplicates.is_empty() => Ok(value),
        Ok(_) => {
            if reader.more_duplicates > 0 {
                let more = reader.more_duplicates;
                if let Some(last) = reader.duplicates.last_mut() {
                    last.help.push_str(&format!(" {more} more keys stand twice."));
                }
            }
            Err(reader.duplicates)
        }
        Err(problem) => {
            reader.duplicates.push(problem);
            Err(reader.duplicates)
        }
    }
}

struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    at: usize,
    /// Where each open object or array began, outermost first.
    open: Vec<(usize, &'static str)>,
    duplicates: Vec<Problem>,
    more_duplicates: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, Problem> {
        self.space();
        let value = self.value()?;
        self.space();
        match self.peek() {
            None => Ok(value),
            Some(found) => Err(self.problem(
                self.at,
                format!("The document is complete, but {} follows it.", shown(found)),
                "One file holds one document: remove what follows, or split the file.",
            )),
        }
    }

    fn value(&mut self) -> Result<Value, Problem> {
        match self.peek() {
            Some('{') => self.object(),
            Some('[') => self.array(),
            Some('"') => self.string("a string").map(Value::String),
            Some('-' | '0'..='9') => self.number(),
            Some('t') => self.word("true", Value::Bool(true)),
            Some('f') => self.word("false", Value::Bool(false)),
            Some('n') => self.word("null", Value::Null),
            Some('N' | 'I' | 'u') => Err(self.bare_word()),
            found => Err(self.expected("a value", found)),
        }
    }

    fn object(&mut self) -> Result<Value, Problem> {
        self.enter("an object")?;
        let mut members = Map::new();
        // Where each key was written, in the order of `members`.
        let mut places: Vec<usize> = Vec::new();
        self.space();
        if self.take('}') {
            self.open.pop();
            return Ok(Value::Object(members));
        }
        loop {
            self.space();
            let place = self.at;
            match self.peek() {
                Some('"') => {}
                Some('}') => return Err(self.trailing_comma()),
                found => return Err(self.expected("a key in double quotes", found)),
            }
            let key = self.string("a key")?;
            self.space();
            if !self.take(':') {
                let found = self.peek();
                return Err(self.expected("a colon after the key", found));
            }
            self.space();
            let value = self.value()?;
            match members.get_index_of_key(&key) {
                Some(first) => self.duplicate(&key, places[first], place),
                None => {
                    members.insert(key, value);
                    places.push(place);
                }
            }
            self.space();
            if self.take(',') {
                continue;
            }
            if self.take('}') {
                self.open.pop();
                return Ok(Value::Object(members));
            }
            let found = self.peek();
            return Err(self.expected("a comma or the end of the object", found));
        }
    }

    fn array(&mut self) -> Result<Value, Problem> {
        self.enter("an array")?;
        let mut items = Vec::new();
        self.space();
        if self.take(']') {
            self.open.pop();
            return Ok(Value::Array(items));
        }
        loop {
            self.space();
            if self.peek() == Some(']') {
                return Err(self.trailing_comma());
            }
            items.push(self.value()?);
            self.space();
            if self.take(',') {
                continue;
            }
            if self.take(']') {
                self.open.pop();
                return Ok(Value::Array(items));
            }
            let found = self.peek();
            return Err(self.expected("a comma or the end of the array", found));
        }
    }

    fn string(&mut self, what: &str) -> Result<String, Problem> {
        let start = self.at;
        self.at += 1;
        let mut read = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            read.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                None => {
                    return Err(self.ended(&format!(
                        "{what} that began at {}",
                        self.position(start).in_words()
                    )));
                }
                Some('"') => {
                    self.at += 1;
                    return Ok(read);
                }
                Some('\\') => self.escape(&mut read)?,
                Some(control) => {
                    return Err(self.problem(
                        self.at,
                        format!("{} stands unescaped in {what}.", shown(control)),
                        "Write it as an escape, such as \\n; if a quote is missing further up, close it.",
                    ));
                }
            }
        }
    }

    fn escape(&mut self, read: &mut String) -> Result<(), Problem> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(self.ended("an escape"));
        };
        self.at += letter.len_utf8();
        let simple = match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(start, read),
            _ => {
                return Err(self.problem(
                    start,
                    format!("\\{} is not an escape of JSON.", letter.escape_debug()),
                    "To write a backslash itself, double it.",
                ));
            }
        };
        read.push(simple);
        Ok(())
    }

    fn unicode_escape(&mut self, start: usize, read: &mut String) -> Result<(), Problem> {
        let first = self.four_digits(start)?;
        let code = match first {
            0xD800..=0xDBFF if self.text[self.at..].starts_with("\\u") => {
                self.at += 2;
                let second = self.four_digits(start)?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(self.lone_surrogate(start));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            other => other,
        };
        match char::from_u32(code) {
            Some(character) => {
                read.push(character);
                Ok(())
            }
            None => Err(self.lone_surrogate(start)),
        }
    }

    fn four_digits(&mut self, start: usize) -> Result<u32, Problem> {
        let rest = &self.text.as_bytes()[self.at..];
        let digits: Vec<u32> =
            rest.iter().take(4).map_while(|byte| char::from(*byte).to_digit(16)).collect();
        if digits.len() == 4 {
            self.at += 4;
            return Ok(digits.iter().fold(0, |code, digit| code * 16 + digit));
        }
        if digits.len() == rest.len() {
            self.at = self.text.len();
            return Err(self.ended("an escape"));
        }
        Err(self.problem(
            start,
            "\\u needs four hexadecimal digits.".to_owned(),
            "To write a backslash itself, double it.",
        ))
    }

    fn lone_surrogate(&self, start: usize) -> Problem {
        self.problem(
            start,
            "This escape is half of a character: a lone surrogate.".to_owned(),
            "Write both halves, or the character itself.",
        )
    }

    fn number(&mut self) -> Result<Value, Problem> {
        let start = self.at;
        self.take('-');
        let whole = self.digits();
        let leading_zero = whole > 1 && self.text.as_bytes()[self.at - whole] == b'0';
        let mut good = whole > 0 && !leading_zero;
        if self.take('.') {
            good &= self.digits() > 0;
        }
        if self.take('e') || self.take('E') {
            let _ = self.take('+') || self.take('-');
            good &= self.digits() > 0;
        }
        let glued =
            self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-' | '_'));
        if good && !glued {
            let text = self.text[start..self.at].to_owned();
            return Ok(Value::Number(Number::from_string_unchecked(text)));
        }
        if !glued && self.peek().is_none() && !leading_zero {
            return Err(self.ended("a number"));
        }
        while let Some(c) =
            self.peek().filter(|c| c.is_alphanumeric() || matches!(c, '.' | '+' | '-' | '_'))
        {
            self.at += c.len_utf8();
        }
        let written = &self.text[start..self.at];
        Err(self.problem(
            start,
            format!("{} is not a number of JSON.", quoted(written)),
            "JSON knows decimal numbers without leading zeros or a leading plus, and no NaN or Infinity.",
        ))
    }

    fn digits(&mut self) -> usize {
        let count =
            self.text.as_bytes()[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Problem> {
        let rest = &self.text[self.at..];
        let written = letters(rest);
        if written == word {
            self.at += word.len();
            return Ok(value);
        }
        if written.len() == rest.len() && word.starts_with(written) {
            self.at = self.text.len();
            return Err(self.ended(&format!("the word {word}")));
        }
        Err(self.bare_word())
    }

    fn bare_word(&self) -> Problem {
        let written = letters(&self.text[self.at..]);
        self.problem(
            self.at,
            format!("{} is not a value of JSON.", quoted(written)),
            "JSON knows true, false, null, numbers (no NaN, no Infinity), and strings in double quotes.",
        )
    }

    fn enter(&mut self, what: &'static str) -> Result<(), Problem> {
        if self.open.len() == limits::DEPTH {
            return Err(too_deep(self.name, self.position(self.at)));
        }
        self.open.push((self.at, what));
        self.at += 1;
        Ok(())
    }

    fn duplicate(&mut self, key: &str, first: usize, second: usize) {
        if self.duplicates.len() < limits::PROBLEMS {
            let problem =
                duplicate_key(self.name, key, self.position(first), self.position(second));
            self.duplicates.push(problem);
        } else {
            self.more_duplicates += 1;
        }
    }

    fn expected(&self, what: &str, found: Option<char>) -> Problem {
        match found {
            Some(found) => self.problem(
                self.at,
                format!("Expected {what}, found {}.", shown(found)),
                "Repair the JSON here; everything before this place was read.",
            ),
            None => match self.open.last() {
                Some((start, container)) => self.ended(&format!(
                    "{container} that began at {}",
                    self.position(*start).in_words()
                )),
                None => self.ended("the document"),
            },
        }
    }

    fn trailing_comma(&self) -> Problem {
        self.problem(
            self.at,
            "A comma stands before the end of this object or array.".to_owned(),
            "JSON has no trailing commas: remove it.",
        )
    }

    fn ended(&self, inside: &str) -> Problem {
        self.problem(
            self.text.trim_end().len(),
            format!("The file ends in the middle of {inside}."),
            "It was probably cut while it was written or copied: fetch it again.",
        )
    }

    fn problem(&self, at: usize, sentence: String, help: &str) -> Problem {
        Problem { place: self.position(at).in_file(self.name), sentence, help: help.to_owned() }
    }

    fn position(&self, at: usize) -> Position {
        Position::of(self.text, at)
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at +=
            rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }
}

/// The run of letters at the start of a text.
fn letters(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// A character as it is named in a sentence.
fn shown(character: char) -> String {
    match character {
        '\n' => "a line break".to_owned(),
        '\t' => "a tab".to_owned(),
        '\'' => "a single quote".to_owned(),
        '"' => "a double quote".to_owned(),
        '/' => "a slash (JSON has no comments)".to_owned(),
        '#' => "a # (JSON has no comments)".to_owned(),
        '<' => "a < (is this a web page?)".to_owned(),
        control if control.is_control() => {
            format!("the control character U+{:04X}", u32::from(control))
        }
        other => format!("\"{}\"", other.escape_debug()),
    }
}

/// `Map` has no such method; the position is needed only for a duplicate.
trait IndexOfKey {
    fn get_index_of_key(&self, key: &str) -> Option<usize>;
}

impl IndexOfKey for Map<String, Value> {
    fn get_index_of_key(&self, key: &str) -> Option<usize> {
        if !self.contains_key(key) {
            return None;
        }
        self.keys().position(|known| known == key)
    }
}
