//! What can go wrong, first in the words of the wire, then in sentences for a person.

use std::fmt;
use std::time::Duration;

use crate::limits;
use crate::message::RpcError;

/// Why one exchange gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The command could not be started.
    Spawn(String),
    /// The process ended, or closed its stdout, before it answered. Its status where known.
    Ended(Option<String>),
    /// No answer in this time.
    Silent(Duration),
    /// One message above the limit.
    TooLong(usize),
    /// More messages that are not the answer than anyone sends.
    Flood(usize),
    /// The server answered with a JSON-RPC error; the HTTP status where it was no success.
    Rpc(RpcError, Option<u16>),
    /// No connection could be opened: nothing was sent.
    NoConnection(String),
    /// A connection that broke.
    Unreachable(String),
    /// An HTTP status in place of an answer.
    Status {
        /// The status.
        code: u16,
        /// The start of the body.
        body: String,
        /// `WWW-Authenticate`, where sent.
        authenticate: Option<String>,
    },
    /// A status in place of an answer, by a server that no longer knew the session, which was opened again.
    SessionLost(u16),
    /// The server sends its clients elsewhere, and that was not followed.
    Redirect(String),
    /// A body or event that is no message: what it is, and its start.
    Garbled(String, String),
    /// The stream ended before the answer.
    Cut,
    /// A program asked us to stop.
    Interrupted,
}

impl Failure {
    /// The message did not leave this machine.
    pub fn sent_nothing(&self) -> bool {
        matches!(self, Failure::Spawn(_) | Failure::NoConnection(_))
    }
}

/// A phrase, to stand inside a sentence.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Spawn(why) => write!(f, "the command could not be started: {why}"),
            Failure::Ended(Some(status)) => write!(f, "the server ended ({status})"),
            Failure::Ended(None) => f.write_str("the server closed its stdout"),
            Failure::Silent(after) => write!(f, "no answer came within {}", duration(*after)),
            Failure::TooLong(limit) => write!(f, "a message has more than {} MiB", limit >> 20),
            Failure::Flood(n) => write!(f, "{n} other messages came in its place"),
            Failure::Rpc(error, _) => write!(f, "it was answered with error {}", error.code),
            Failure::NoConnection(why) | Failure::Unreachable(why) => {
                write!(f, "the server could not be reached: {why}")
            }
            Failure::Status { code, .. } => write!(f, "it was answered with HTTP {code}"),
            Failure::SessionLost(code) => write!(
                f,
                "it was answered with HTTP {code}, and the session, which the server no longer knew, was opened again"
            ),
            Failure::Redirect(to) => write!(f, "it was redirected to {}", quote(to)),
            Failure::Garbled(what, _) => write!(f, "what came is no message: {what}"),
            Failure::Cut => f.write_str("the connection ended before the answer"),
            Failure::Interrupted => f.write_str("it was stopped"),
        }
    }
}

/// What a fetch failed for, for callers that decide by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request itself is wrong: a bad address, a bad header, nothing to run.
    Usage,
    /// The server could not be started or reached.
    Unreachable,
    /// The server wants credentials, or other ones.
    Unauthorized,
    /// The process ended in the middle.
    Died,
    /// No answer in time.
    Silent,
    /// It answered with an error, or with something that is no MCP.
    Answer,
    /// It speaks no revision that this program speaks.
    Version,
    /// It gave a list that cannot be taken as a contract.
    List,
    /// The list did not hold still.
    Moving,
    /// Stopped from outside.
    Interrupted,
}

/// One thing that is wrong: where, what, and the way forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The server, and where known the page and the JSON pointer in it.
    pub place: String,
    /// What is wrong, in a sentence.
    pub sentence: String,
    /// What to do about it.
    pub help: String,
}

/// Why there is no snapshot. Holds no header value, token or environment value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// What it failed for.
    pub kind: ErrorKind,
    /// Everything found wrong, at least one.
    pub problems: Vec<Problem>,
    /// What the server itself said: the last lines of its stderr, stray lines of its stdout.
    pub said: Vec<String>,
}

impl FetchError {
    /// An error of one problem.
    pub fn new(
        kind: ErrorKind,
        place: &str,
        sentence: impl Into<String>,
        help: impl Into<String>,
    ) -> FetchError {
        let problem =
            Problem { place: place.to_owned(), sentence: sentence.into(), help: help.into() };
        FetchError { kind, problems: vec![problem], said: Vec::new() }
    }

    /// Says a failure of `method` in a sentence.
    pub fn of(failure: Failure, place: &str, method: &str) -> FetchError {
        let (kind, sentence, help) = words(failure, method);
        FetchError::new(kind, place, sentence, help)
    }

    /// The same with what the server said.
    #[must_use]
    pub fn having_said(mut self, said: Vec<String>) -> FetchError {
        self.said = said;
        self
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, p) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{}: {}", p.place, p.sentence)?;
            if !p.help.is_empty() {
                write!(f, "\n  help: {}", p.help)?;
            }
        }
        if !self.said.is_empty() {
            f.write_str("\n  the server said:")?;
            for line in &self.said {
                write!(f, "\n    {line}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for FetchError {}

/// `1.5 s`, `200 ms`.
pub(crate) fn duration(d: Duration) -> String {
    if d < Duration::from_secs(1) {
        format!("{} ms", d.as_millis())
    } else {
        format!("{} s", d.as_secs_f32())
    }
}

/// The start of something that a server wrote, on one line, without control characters.
pub(crate) fn quote(text: &str) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .skip_while(|c| *c == ' ')
        .take(limits::QUOTE + 1)
        .collect();
    if out.chars().count() > limits::QUOTE {
        out.pop();
        out.push('…');
    }
    out.trim_end().to_owned()
}

fn words(failure: Failure, method: &str) -> (ErrorKind, String, String) {
    match failure {
        Failure::Spawn(why) => (
            ErrorKind::Unreachable,
            format!("The command could not be started: {why}."),
            "Check that the program is installed and on PATH, and that it is written as one word after `--`.".into(),
        ),
        Failure::Ended(status) => (
            ErrorKind::Died,
            match status {
                Some(status) => format!("The server ended ({status}) before it answered `{method}`."),
                None => format!("The server closed its stdout before it answered `{method}`."),
            },
            "Run the command by itself to see what it needs: often an argument or an environment variable.".into(),
        ),
        Failure::Silent(after) => (
            ErrorKind::Silent,
            format!("The server did not answer `{method}` within {}.", duration(after)),
            "If it is slow to start, allow more with --timeout; if it waits for something, give it that first.".into(),
        ),
        Failure::TooLong(limit) => (
            ErrorKind::Answer,
            format!("The server's answer to `{method}` has more than {} MiB in one message.", limit >> 20),
            "A list of tools of that size is a fault of the server; ask it to page its list.".into(),
        ),
        Failure::Flood(n) => (
            ErrorKind::Answer,
            format!("The server sent {n} other messages in place of its answer to `{method}`."),
            "That is a fault of the server.".into(),
        ),
        Failure::Rpc(error, status) => {
            let status = status.map_or(String::new(), |s| format!(", HTTP {s}"));
            (
                ErrorKind::Answer,
                format!("The server answered `{method}` with error {}{status}: {}", error.code, quote(&error.message)),
                "Nothing was taken from it: an error is not an empty list.".into(),
            )
        }
        Failure::NoConnection(why) | Failure::Unreachable(why) => (
            ErrorKind::Unreachable,
            format!("The server could not be reached: {why}."),
            "Check the address and that the server is up. A server that cannot be reached is not an empty list."
                .into(),
        ),
        Failure::Status { code: code @ (401 | 403), body, authenticate } => {
            let said = authenticate.filter(|a| !a.is_empty()).unwrap_or(body);
            let said = if said.is_empty() { String::new() } else { format!(": {}", quote(&said)) };
            (
                ErrorKind::Unauthorized,
                format!("The server answered `{method}` with HTTP {code}{said}"),
                "Give it credentials: a token in the environment variable STEADFAST_BEARER, or --header-from-env \
                 or --headers-file."
                    .into(),
            )
        }
        Failure::Status { code, body, .. } => {
            let said = if body.is_empty() { String::new() } else { format!(": {}", quote(&body)) };
            (
                ErrorKind::Answer,
                format!("The server answered `{method}` with HTTP {code}{said}"),
                "Check that the address is the MCP endpoint itself; it often ends in /mcp.".into(),
            )
        }
        Failure::SessionLost(code) => (
            ErrorKind::Answer,
            format!("The server answered `{method}` with HTTP {code}: it no longer knew the session."),
            "Try again: the session was opened again.".into(),
        ),
        Failure::Redirect(to) => (
            ErrorKind::Answer,
            format!("The server redirects `{method}` to {}, which was not followed.", quote(&to)),
            "If that is the right server, give its address; headers are never carried to another origin.".into(),
        ),
        Failure::Garbled(what, start) => (
            ErrorKind::Answer,
            format!("The server's answer to `{method}` is no MCP message, {what}: {}", quote(&start)),
            "Check that the address is the MCP endpoint itself; it often ends in /mcp.".into(),
        ),
        Failure::Cut => (
            ErrorKind::Answer,
            format!("The connection ended before the answer to `{method}` came."),
            "Try again; if it stays, a proxy in between may be cutting event streams.".into(),
        ),
        Failure::Interrupted => (ErrorKind::Interrupted, "Stopped.".into(), String::new()),
    }
}
