//! The line of a place in a JSON file, so that a finding points at what a reviewer sees.

use crate::RenderOptions;
use crate::limits::{SOURCE_BYTES, SOURCE_DEPTH};
use contract::Subject;
use std::collections::BTreeMap;

/// The places of the file that a report points into. Empty where the file or its text is not known.
#[derive(Default)]
pub(crate) struct Places {
    /// The last one is the root.
    nodes: Vec<Node>,
    /// Where the definition of each tool stands.
    tools: BTreeMap<String, usize>,
}

struct Node {
    line: usize,
    shape: Shape,
}

/// Children are indices into the list of nodes.
enum Shape {
    Object(Vec<(String, usize)>),
    Array(Vec<usize>),
    Text(String),
    Other,
}

impl Places {
    /// Reads the text that the caller gave. One that is not JSON, or is larger than the limit, has no places.
    pub(crate) fn of(options: &RenderOptions) -> Places {
        match (&options.file, &options.source) {
            (Some(_), Some(source)) if source.len() <= SOURCE_BYTES => {
                read(source).unwrap_or_default()
            }
            _ => Places::default(),
        }
    }

    /// The line of a place: the place itself, or its nearest ancestor that the file has.
    pub(crate) fn line(&self, subject: &Subject, path: &str) -> Option<usize> {
        let start = match subject {
            Subject::Tool(name) => *self.tools.get(name)?,
            Subject::Operation(_) | Subject::Schema(_) => self.nodes.len().checked_sub(1)?,
            Subject::Whole(_) => return None,
        };
        let mut at = start;
        for token in path.split('/').skip(1) {
            let key = token.replace("~1", "/").replace("~0", "~");
            match self.member(at, &key) {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(self.nodes[at].line)
    }

    fn member(&self, at: usize, key: &str) -> Option<usize> {
        match &self.nodes[at].shape {
            Shape::Object(members) => {
                members.iter().find(|(name, _)| name == key).map(|(_, node)| *node)
            }
            Shape::Array(items) => items.get(key.parse::<usize>().ok()?).copied(),
            Shape::Text(_) | Shape::Other => None,
        }
    }

    /// The shallowest object of each name wins: an example inside a schema may look like a tool.
    fn find_tools(&mut self) {
        let mut found = BTreeMap::new();
        let mut level: Vec<usize> = self.nodes.len().checked_sub(1).into_iter().collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for at in level {
                if let Some((name, definition)) = self.as_tool(at) {
                    found.entry(name).or_insert(definition);
                }
                match &self.nodes[at].shape {
                    Shape::Object(members) => next.extend(members.iter().map(|(_, node)| *node)),
                    Shape::Array(items) => next.extend(items),
                    Shape::Text(_) | Shape::Other => {}
                }
            }
            level = next;
        }
        self.tools = found;
    }

    /// An object with a text `name` and an `inputSchema`, or one that wraps such a definition beside
    /// its own name, as a lock does.
    fn as_tool(&self, at: usize) -> Option<(String, usize)> {
        let Shape::Text(name) = &self.nodes[self.member(at, "name")?].shape else {
            return None;
        };
        let Shape::Object(members) = &self.nodes[at].shape else {
            return None;
        };
        let mut candidates = std::iter::once(at).chain(members.iter().map(|(_, node)| *node));
        let definition = candidates.find(|node| self.member(*node, "inputSchema").is_some())?;
        Some((name.clone(), definition))
    }
}

fn read(source: &str) -> Option<Places> {
    let mut scanner = Scanner { bytes: source.as_bytes(), at: 0, line: 1, nodes: Vec::new() };
    scanner.value(0)?;
    let mut places = Places { nodes: scanner.nodes, tools: BTreeMap::new() };
    places.find_tools();
    Some(places)
}

/// Reads the shape of a JSON text with the lines of its places. The line of a member is that of its key.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    nodes: Vec<Node>,
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        if self.peek()? != wanted {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// One more item, or the end of the list.
    fn more(&mut self, first: bool, end: u8) -> Option<bool> {
        if self.peek()? == end {
            self.at += 1;
            return Some(false);
        }
        if !first {
            self.eat(b',')?;
        }
        Some(true)
    }

    fn value(&mut self, depth: usize) -> Option<usize> {
        let byte = self.peek()?;
        let line = self.line;
        let shape = match byte {
            b'{' | b'[' if depth == SOURCE_DEPTH => {
                self.skip()?;
                Shape::Other
            }
            b'{' => self.object(depth)?,
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.more(items.is_empty(), b']')? {
                    items.push(self.value(depth + 1)?);
                }
                Shape::Array(items)
            }
            b'"' => Shape::Text(self.text()?),
            _ => {
                self.word()?;
                Shape::Other
            }
        };
        self.nodes.push(Node { line, shape });
        Some(self.nodes.len() - 1)
    }

    fn object(&mut self, depth: usize) -> Option<Shape> {
        self.at += 1;
        let mut members = Vec::new();
        while self.more(members.is_empty(), b'}')? {
            self.peek()?;
            let line = self.line;
            let key = self.text()?;
            self.eat(b':')?;
            let node = self.value(depth + 1)?;
            self.nodes[node].line = line;
            members.push((key, node));
        }
        Some(Shape::Object(members))
    }

    /// A number, `true`, `false` or `null`. What it says does not matter here, only where it ends.
    fn word(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(byte) = self.bytes.get(self.at)
            && (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn text(&mut self) -> Option<String> {
        self.eat(b'"')?;
        let start = self.at - 1;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        serde_json::from_slice(&self.bytes[start..self.at]).ok()
    }

    /// Passes over a value that is nested too deep to be told apart.
    fn skip(&mut self) -> Option<()> {
        let mut open = 0usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.text()?;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Some(());
            }
        }
    }
}
