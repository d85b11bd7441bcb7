//! Bytes into messages: lines of a pipe, events of a stream. No I/O, and any split of the bytes gives the same frames.

/// One line of a pipe, or the fact that it was too long to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The bytes before the line end, without a closing carriage return.
    Whole(Vec<u8>),
    /// A line above the limit: its first bytes; the rest is dropped up to the next line end.
    TooLong(Vec<u8>),
}

/// Splits bytes into lines, each at most `limit` bytes.
#[derive(Debug)]
pub struct Lines {
    limit: usize,
    held: Vec<u8>,
    /// The current line is above the limit and has been reported.
    skipping: bool,
}

/// What is kept of a line above the limit, to quote.
const HEAD: usize = 200;

impl Lines {
    /// A splitter for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Lines {
        Lines { limit, held: Vec::new(), skipping: false }
    }

    /// Takes more bytes; gives each line that they complete, in order. A line above the limit is given as soon as
    /// it is known to be, so that a peer that never ends its line is noticed.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut out = Vec::new();
        let mut pieces = bytes.split(|b| *b == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if !self.skipping {
                let room = self.limit.saturating_sub(self.held.len());
                if piece.len() > room {
                    self.held.extend_from_slice(&piece[..room.min(HEAD)]);
                    let mut head = std::mem::take(&mut self.held);
                    head.truncate(HEAD);
                    out.push(Line::TooLong(head));
                    self.skipping = true;
                } else {
                    self.held.extend_from_slice(piece);
                }
            }
            if pieces.peek().is_some() {
                // A line end follows this piece.
                if !self.skipping {
                    out.push(Line::Whole(without_return(std::mem::take(&mut self.held))));
                }
                self.skipping = false;
            }
        }
        out
    }

    /// The end of the bytes: what is left without a line end.
    pub fn end(&mut self) -> Option<Line> {
        let rest = std::mem::take(&mut self.held);
        (!self.skipping && !rest.is_empty()).then(|| Line::Whole(without_return(rest)))
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

/// One server-sent event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// `event`, `message` when absent.
    pub name: String,
    /// `data`, its lines joined by a line feed.
    pub data: Vec<u8>,
    /// The last event id of the stream so far.
    pub id: Option<String>,
}

/// A stream whose event is above the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event is longer than {0} bytes")]
pub struct EventTooLong(pub usize);

/// Splits bytes into server-sent events (the rules of the HTML standard: any of the three line ends, a byte order
/// mark at the start, comments dropped, an event without data not dispatched).
#[derive(Debug)]
pub struct Events {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    started: bool,
    data: Vec<u8>,
    has_data: bool,
    name: String,
    last_id: Option<String>,
    retry: Option<u64>,
}

impl Events {
    /// A splitter for events of at most `limit` bytes.
    pub fn new(limit: usize) -> Events {
        Events {
            limit,
            line: Vec::new(),
            after_return: false,
            started: false,
            data: Vec::new(),
            has_data: false,
            name: String::new(),
            last_id: None,
            retry: None,
        }
    }

    /// The id of the newest event, to resume from.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Milliseconds that the server asked a client to wait before it comes back.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Takes more bytes; gives each event that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, EventTooLong> {
        let mut out = Vec::new();
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.after_return && *first == b'\n' {
                self.after_return = false;
                rest = &rest[1..];
                continue;
            }
            self.after_return = false;
            let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
            let piece = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.data.len() + piece.len() > self.limit {
                return Err(EventTooLong(self.limit));
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            out.extend(self.field(&line));
        }
        Ok(out)
    }

    fn field(&mut self, line: &[u8]) -> Option<Event> {
        let line =
            if self.started { line } else { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) };
        self.started = true;
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let name = std::mem::take(&mut self.name);
            if !std::mem::take(&mut self.has_data) {
                return None;
            }
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return Some(Event { name, data, id: self.last_id.clone() });
        }
        let (field, value) = match line.iter().position(|b| *b == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => {
                self.last_id = Some(String::from_utf8_lossy(value).into_owned())
            }
            b"retry" => {
                self.retry =
                    std::str::from_utf8(value).ok().and_then(|v| v.parse().ok()).or(self.retry)
            }
            _ => {}
        }
        None
    }
}
