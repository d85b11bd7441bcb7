//! What is recorded of a request. Appended, never edited; secrets are fingerprints.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// One request, as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The parameters of the query, decoded, in their order.
    pub query: Vec<(String, String)>,
    /// Headers that are safe to show, by their names in small letters.
    pub headers: Vec<(String, String)>,
    /// All other headers: the name, and the first 12 hexadecimal digits of the SHA-256 of the value.
    pub sealed: Vec<(String, String)>,
    /// The body.
    pub body: Content,
    /// What the request says that it belongs to, where it says so.
    pub correlation: Option<String>,
    /// A body that is no text, as far as it can be read: it is searched for a credential, and never shown.
    #[serde(skip)]
    pub raw: String,
}

/// The body of a request. No body, the body `null` and an explicit value are three different things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "kebab-case")]
pub enum Content {
    /// None was sent.
    Empty,
    /// JSON.
    Json(Value),
    /// The fields of a form, in their order.
    Form(Vec<(String, String)>),
    /// Other text.
    Text(String),
    /// Bytes that are no text: their number and fingerprint.
    Bytes(String),
}

/// One line of the record: the request, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1.
    pub n: usize,
    /// The request.
    #[serde(flatten)]
    pub seen: Seen,
    /// The fixture that was served; none where no fixture fits.
    pub fixture: Option<String>,
    /// The status that was answered; none where the connection was cut before one.
    pub status: Option<u16>,
    /// What went wrong on purpose.
    pub fault: Option<String>,
    /// The body that was answered, as JSON where it is JSON, else as text.
    pub answer: Value,
}

impl Entry {
    /// How the turns of an exchange with a model are named, in the place of fixtures.
    pub const TURN: &'static str = "turn ";

    /// Whether this went to the agent's model.
    pub fn is_prompt(&self) -> bool {
        self.fixture.as_deref().is_some_and(|name| name.starts_with(Entry::TURN))
    }
}

/// Headers whose values may be shown.
const SAFE: &[&str] = &[
    "accept", "accept-encoding", "content-type", "content-length", "host", "user-agent", "prefer",
    "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "idempotency-key",
    "x-idempotency-key", "x-request-id", "x-correlation-id", "traceparent", "dry-run", "x-dry-run",
];

/// Whether a header of this name, in small letters, may carry a credential.
pub fn is_secret(name: &str) -> bool {
    SECRET.iter().any(|part| name.contains(part))
}

/// Parts of names of headers that hold secrets, whoever asks for them.
const SECRET: &[&str] = &[
    "auth", "cookie", "token", "secret", "password", "api-key", "apikey", "signature", "credential",
];

/// Parameters of a query that hold secrets.
const SECRET_PARAMETERS: &[&str] =
    &["access_token", "api_key", "apikey", "client_secret", "password", "secret", "signature"];

/// Headers that say what a request belongs to, the most telling first.
const CORRELATION: &[&str] = &["x-correlation-id", "x-request-id", "traceparent"];

/// The first 12 hexadecimal digits of the SHA-256 of a value.
pub fn fingerprint(value: &[u8]) -> String {
    let digest = Sha256::digest(value);
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

impl Seen {
    /// Reads a request. `chosen` are headers that are shown beside those that are safe anyway.
    pub fn read<'h>(
        method: &str,
        path_and_query: &str,
        headers: impl Iterator<Item = (&'h str, &'h [u8])>,
        body: &[u8],
        chosen: &BTreeSet<String>,
    ) -> Seen {
        let (path, query) = match path_and_query.split_once('?') {
            Some((path, query)) => (path, query),
            None => (path_and_query, ""),
        };
        let (mut shown, mut sealed) = (Vec::new(), Vec::new());
        for (name, value) in headers {
            let name = name.to_ascii_lowercase();
            let secret = is_secret(&name);
            let safe = SAFE.contains(&name.as_str()) || chosen.contains(&name);
            match std::str::from_utf8(value) {
                Ok(text) if safe && !secret => shown.push((name, text.to_owned())),
                _ => sealed.push((name, fingerprint(value))),
            }
        }
        let of =
            |wanted: &str| shown.iter().find(|(name, _)| name == wanted).map(|(_, v)| v.clone());
        let correlation = CORRELATION.iter().find_map(|name| of(name));
        let kind = of("content-type").unwrap_or_default();
        let query = pairs(query)
            .into_iter()
            .map(|(name, value)| {
                let secret = SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str());
                let value = if secret { sealed_text(&value) } else { value };
                (name, value)
            })
            .collect();
        Seen {
            method: method.to_ascii_uppercase(),
            path: decoded(path, false),
            query,
            headers: shown,
            sealed,
            body: Content::read(&kind, body),
            correlation,
            raw: match std::str::from_utf8(body) {
                Ok(_) => String::new(),
                Err(_) => String::from_utf8_lossy(body).into_owned(),
            },
        }
    }

    /// The query as members: a name that stands more than once has a list.
    pub fn query_members(&self) -> Map<String, Value> {
        members(&self.query)
    }

    /// The headers as members. A sealed one is there, with its fingerprint.
    pub fn header_members(&self) -> Map<String, Value> {
        let sealed = self.sealed.iter().map(|(name, print)| (name.clone(), sealed_print(print)));
        let all: Vec<(String, String)> = self.headers.iter().cloned().chain(sealed).collect();
        members(&all)
    }

    /// The request in one line: `GET /projects?state=inactive`, and the body where there is one.
    pub fn line(&self) -> String {
        let query: Vec<String> = self.query.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let mut line = format!("{} {}", self.method, self.path);
        if !query.is_empty() {
            line.push_str(&format!("?{}", query.join("&")));
        }
        if self.body != Content::Empty {
            line.push_str(&format!(" {}", self.body.short()));
        }
        line
    }
}

/// What stands for a value that is not shown.
pub fn sealed_text(value: &str) -> String {
    sealed_print(&fingerprint(value.as_bytes()))
}

fn sealed_print(print: &str) -> String {
    format!("sha256:{print}")
}

impl Content {
    fn read(kind: &str, body: &[u8]) -> Content {
        if body.is_empty() {
            return Content::Empty;
        }
        let Ok(text) = std::str::from_utf8(body) else {
            return Content::Bytes(format!("{} bytes, sha256:{}", body.len(), fingerprint(body)));
        };
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind == "application/x-www-form-urlencoded"
            && serde_json::from_str::<Value>(text).is_err()
        {
            return Content::Form(pairs(text));
        }
        match serde_json::from_str(text) {
            Ok(value) => Content::Json(value),
            Err(_) => Content::Text(text.to_owned()),
        }
    }

    /// The body as a value to compare; none where there is no body.
    pub fn value(&self) -> Option<Value> {
        match self {
            Content::Empty => None,
            Content::Json(value) => Some(value.clone()),
            Content::Form(fields) => Some(Value::Object(members(fields))),
            Content::Text(text) | Content::Bytes(text) => Some(Value::String(text.clone())),
        }
    }

    /// The body in few characters.
    pub fn short(&self) -> String {
        self.value().map_or_else(String::new, |value| super::pattern::short(&value))
    }
}

fn members(pairs: &[(String, String)]) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, value) in pairs {
        let value = Value::String(value.clone());
        match found.get_mut(name) {
            None => {
                found.insert(name.clone(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    found
}

/// The fields of a query or a form.
fn pairs(text: &str) -> Vec<(String, String)> {
    let fields = text.split('&').filter(|field| !field.is_empty());
    fields
        .map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            (decoded(name, true), decoded(value, true))
        })
        .collect()
}

/// Text without its percent signs; with `plus`, a plus sign is a space.
pub fn decoded(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', _) if plus => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(path: &str, headers: &[(&str, &str)], body: &str) -> Seen {
        let headers = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        Seen::read("post", path, headers, body.as_bytes(), &BTreeSet::new())
    }

    #[test]
    fn secrets_are_fingerprints_and_the_rest_is_shown() {
        let seen = seen(
            "/a%20b?state=in+active&limit=&api_key=hush",
            &[("Authorization", "Bearer hush"), ("X-Odd", "hush"), ("Idempotency-Key", "k-1")],
            "",
        );
        assert!(!serde_json::to_string(&seen).unwrap().contains("hush"));
        assert_eq!(seen.path, "/a b");
        assert_eq!(seen.query[0], ("state".into(), "in active".into()));
        assert_eq!(seen.query[1], ("limit".into(), String::new()));
        assert_eq!(seen.headers, [("idempotency-key".to_owned(), "k-1".to_owned())]);
        assert_eq!(seen.sealed[0].1, fingerprint(b"Bearer hush"));
        assert_eq!(seen.sealed[0].1.len(), 12);
        assert_eq!(seen.body, Content::Empty);
    }

    #[test]
    fn bodies_are_told_apart() {
        let json = [("content-type", "application/json")];
        assert_eq!(seen("/", &json, "null").body, Content::Json(Value::Null));
        assert_eq!(seen("/", &json, "{").body, Content::Text("{".into()));
        let form = [("content-type", "application/x-www-form-urlencoded")];
        assert_eq!(
            seen("/", &form, "a=1&a=2&b=x%2By").body.value(),
            Some(json!({"a": ["1", "2"], "b": "x+y"}))
        );
    }
}
