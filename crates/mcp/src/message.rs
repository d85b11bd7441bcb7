//! One JSON-RPC message: its text as it came, and where its parts lie in it.
//!
//! Nothing is decoded further than the envelope, so that what passes through stays byte for byte what it was.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use crate::json::{self, Token};
use crate::{limits, number};

/// A message and its envelope. Never empty of both `method` and an outcome. A clone is the same text: cheap to keep, and
/// small where it waits in a queue, of which each session has several.
#[derive(Clone)]
pub struct Message(Arc<Read>);

/// What was read of a message.
struct Read {
    text: Box<str>,
    kind: Kind,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<RpcError>,
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Wants an answer.
    Request {
        /// The id to answer with.
        id: Id,
        /// The method.
        method: String,
    },
    /// Wants none.
    Notification {
        /// The method.
        method: String,
    },
    /// Answers a request. The id is absent when the peer could not read the one it answers.
    Response {
        /// The id of the request.
        id: Option<Id>,
    },
}

/// A JSON-RPC id. `1` and `"1"` are two ids; `1`, `1.0` and `10e-1` are one: a peer that reads numbers answers with any.
#[derive(Debug, Clone)]
pub enum Id {
    /// As it was spelled.
    Number(String),
    /// Decoded.
    Text(String),
}

impl Id {
    /// What two spellings of one id have in common, and whether it is a text.
    fn key(&self) -> (bool, Cow<'_, str>) {
        match self {
            Id::Number(n) => (false, number::plain(n)),
            Id::Text(t) => (true, Cow::Borrowed(t)),
        }
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Id) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Id) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(n) => f.write_str(n),
            Id::Text(t) => f.write_str(&serde_json::Value::from(t.as_str()).to_string()),
        }
    }
}

impl Id {
    /// Reads an id from raw JSON. `None` where it is neither a number nor a string.
    pub fn read(raw: &str) -> Option<Id> {
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str(raw).ok().map(Id::Text),
            b'-' | b'0'..=b'9' => Some(Id::Number(raw.to_owned())),
            _ => None,
        }
    }
}

impl From<u64> for Id {
    fn from(n: u64) -> Id {
        Id::Number(n.to_string())
    }
}

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// `code`; 0 when it is no integer of 64 bits.
    pub code: i64,
    /// `message`, as the server wrote it.
    pub message: String,
    /// `data`, raw.
    pub data: Option<Box<str>>,
}

impl RpcError {
    /// The revisions that a modern server offers in an unsupported-version error.
    pub fn supported(&self) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Data {
            supported: Vec<String>,
        }
        self.data
            .as_deref()
            .and_then(|d| serde_json::from_str::<Data>(d).ok())
            .map_or(Vec::new(), |d| d.supported)
    }
}

/// Why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAMessage {
    /// The bytes are no UTF-8.
    #[error("it is not UTF-8 (byte {0})")]
    Encoding(usize),
    /// The text is no JSON.
    #[error("it is not JSON ({0})")]
    Syntax(String),
    /// JSON, but no JSON-RPC 2.0 message.
    #[error("it is JSON but not a JSON-RPC 2.0 message: {0}")]
    Envelope(&'static str),
    /// Longer than is taken in, in bytes.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// More messages in one batch than anyone needs.
    #[error("it is a batch of more than {0} messages")]
    Batch(usize),
}

#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(default, borrow, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// `null` is a value that was sent, not an absence.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(d: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&'a RawValue>::deserialize(d).map(Some)
}

impl Message {
    /// Reads one message from text. Surrounding white space is dropped, all else is kept.
    pub fn parse(text: &str) -> Result<Message, NotAMessage> {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        if !text.starts_with('{') {
            let value: Result<&RawValue, _> = serde_json::from_str(text);
            return Err(match value {
                Ok(_) => NotAMessage::Envelope("not an object"),
                Err(e) => NotAMessage::Syntax(e.to_string()),
            });
        }
        let envelope: Envelope<'_> =
            serde_json::from_str(text).map_err(|e| NotAMessage::Syntax(e.to_string()))?;
        if envelope.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return Err(NotAMessage::Envelope("`jsonrpc` is not \"2.0\""));
        }
        let id = match envelope.id.map(RawValue::get) {
            None | Some("null") => None,
            Some(raw) if raw.starts_with('"') => Some(Id::Text(
                serde_json::from_str(raw)
                    .map_err(|_| NotAMessage::Envelope("`id` holds half a character"))?,
            )),
            Some(raw) if raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
                Some(Id::Number(raw.to_owned()))
            }
            Some(_) => return Err(NotAMessage::Envelope("`id` is neither a number nor a string")),
        };
        let method = match envelope.method {
            None => None,
            Some(raw) => Some(
                serde_json::from_str::<String>(raw.get())
                    .map_err(|_| NotAMessage::Envelope("`method` is not a string"))?,
            ),
        };
        // Some servers write the member that they do not mean as `null`.
        let wrong = envelope.error.filter(|e| e.get() != "null");
        let right = envelope.result.filter(|r| wrong.is_none() || r.get() != "null");
        let kind = match (method, id) {
            (Some(method), Some(id)) => Kind::Request { id, method },
            (Some(method), None) => Kind::Notification { method },
            (None, id) => match (right, wrong) {
                (Some(_), Some(_)) => {
                    return Err(NotAMessage::Envelope("it has both `result` and `error`"));
                }
                (None, None) => {
                    return Err(NotAMessage::Envelope("it has no `method`, `result` or `error`"));
                }
                _ => Kind::Response { id },
            },
        };
        Ok(Message(Arc::new(Read {
            params: envelope.params.map(|p| place(text, p.get())),
            result: right.map(|r| place(text, r.get())),
            error: wrong.map(|e| error_object(e.get())),
            kind,
            text: text.into(),
        })))
    }

    /// Reads one message, or all of a batch, from bytes.
    pub fn parse_all(bytes: &[u8]) -> Result<Vec<Message>, NotAMessage> {
        let text =
            std::str::from_utf8(bytes).map_err(|e| NotAMessage::Encoding(e.valid_up_to()))?;
        let text = text.trim_start_matches('\u{feff}').trim_matches([' ', '\t', '\r', '\n']);
        if !text.starts_with('[') {
            return Ok(vec![Message::parse(text)?]);
        }
        let items: Vec<&RawValue> =
            serde_json::from_str(text).map_err(|e| NotAMessage::Syntax(e.to_string()))?;
        if items.len() > limits::BATCH {
            return Err(NotAMessage::Batch(limits::BATCH));
        }
        if items.is_empty() {
            return Err(NotAMessage::Envelope("an empty batch"));
        }
        items.iter().map(|m| Message::parse(m.get())).collect()
    }

    /// The message as it came.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// What it is.
    pub fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// It names a method, and `null` as its id.
    pub fn has_null_id(&self) -> bool {
        matches!(self.0.kind, Kind::Notification { .. })
            && json::find(&self.0.text, &["id"]).is_some()
    }

    /// Raw `params`.
    pub fn params(&self) -> Option<&str> {
        self.0.params.clone().map(|r| &self.0.text[r])
    }

    /// Raw `result` of a response.
    pub fn result(&self) -> Option<&str> {
        self.0.result.clone().map(|r| &self.0.text[r])
    }

    /// The error of a response.
    pub fn error(&self) -> Option<&RpcError> {
        self.0.error.as_ref()
    }

    /// The outcome of a response.
    pub fn outcome(&self) -> Result<&str, RpcError> {
        match (&self.0.error, self.result()) {
            (None, Some(result)) => Ok(result),
            (Some(error), _) => Err(error.clone()),
            (None, None) => Err(RpcError { code: 0, message: "not a response".into(), data: None }),
        }
    }
}

/// The ids that a text would answer which is no message: those of objects that name no method, at most as many as a
/// batch holds. It may break off anywhere; an id that is the last thing in it may be half of one and does not count.
pub fn answered(text: &str) -> Vec<Id> {
    let depth = if text.trim_start().starts_with('[') { 2 } else { 1 };
    let (mut found, mut level) = (Vec::new(), 0_usize);
    let (mut key, mut expects_key) = (String::new(), false);
    let (mut id, mut asks) = (None::<Id>, false);
    for (token, place) in json::tokens(text) {
        let whole = place.end < text.len();
        match token {
            Token::Open(b) => {
                level += 1;
                if level == depth {
                    (id, asks, expects_key) = (None, false, b == b'{');
                }
            }
            Token::Close(_) => {
                if level == depth {
                    found.extend(id.take().filter(|_| !asks));
                }
                level = level.saturating_sub(1);
            }
            Token::Comma if level == depth => expects_key = true,
            Token::Text if level == depth && expects_key => {
                expects_key = false;
                key = serde_json::from_str(&text[place]).unwrap_or_default();
                asks |= key == "method";
            }
            Token::Text | Token::Other if level == depth && key == "id" && whole => {
                id = Id::read(&text[place]);
            }
            _ => {}
        }
        if found.len() >= limits::BATCH {
            return found;
        }
    }
    found.extend(id.filter(|_| !asks));
    found
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Message").field(&self.text()).finish()
    }
}

/// Where a part lies in the text that it was borrowed from.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// An error object is read leniently: whatever it lacks, it is still an error.
fn error_object(raw: &str) -> RpcError {
    #[derive(serde::Deserialize)]
    struct Object<'a> {
        #[serde(default)]
        code: serde_json::Value,
        #[serde(default)]
        message: serde_json::Value,
        #[serde(default, borrow, deserialize_with = "present")]
        data: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Object<'_>>(raw) {
        Ok(o) => RpcError {
            code: o.code.as_i64().unwrap_or(0),
            message: o.message.as_str().unwrap_or_default().to_owned(),
            data: o.data.map(|d| d.get().into()),
        },
        Err(_) => {
            RpcError { code: 0, message: raw.chars().take(limits::QUOTE).collect(), data: None }
        }
    }
}

/// Writes a request. `params` is an object in raw JSON.
pub fn request(id: &Id, method: &str, params: Option<&str>) -> String {
    envelope(Some(id), method, params)
}

/// Writes a notification.
pub fn notification(method: &str, params: Option<&str>) -> String {
    envelope(None, method, params)
}

fn envelope(id: Option<&Id>, method: &str, params: Option<&str>) -> String {
    let mut out = String::from("{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        out.push_str(&format!(",\"id\":{id}"));
    }
    out.push_str(&format!(",\"method\":{}", serde_json::Value::from(method)));
    if let Some(params) = params {
        out.push_str(",\"params\":");
        out.push_str(params);
    }
    out.push('}');
    out
}

/// Writes an answer with a result in raw JSON.
pub fn response(id: &Id, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// Writes an answer with an error.
pub fn failure(id: &Id, code: i64, message: &str) -> String {
    let message = serde_json::Value::from(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    )
}

/// Writes an answer with an error that carries data.
pub fn failure_with(id: &Id, code: i64, message: &str, data: &serde_json::Value) -> String {
    let message = serde_json::Value::from(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message},\"data\":{data}}}}}"
    )
}

/// Writes the answer to what is no message: text that cannot be read, or JSON that is no request.
pub fn unreadable(why: &NotAMessage) -> String {
    let (code, what) = match why {
        NotAMessage::Encoding(_) | NotAMessage::Syntax(_) | NotAMessage::TooLong(_) => {
            (-32_700, "Parse error")
        }
        NotAMessage::Envelope(_) | NotAMessage::Batch(_) => (-32_600, "Invalid Request"),
    };
    let message = serde_json::Value::from(format!("{what}: {why}"));
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    )
}

/// What is wrong with a message that names a method and `null` as its id: it wants an answer that nobody could match.
pub const NULL_ID: NotAMessage = NotAMessage::Envelope("`id` is null");

/// What is wrong with several messages at once where the revision has no batches.
pub const NO_BATCHES: NotAMessage = NotAMessage::Envelope("this revision has no batches");
