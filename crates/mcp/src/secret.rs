//! Headers that carry secrets. Their values have no `Debug`, are cut out of every quoted text, and are never shown.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::limits;

/// The environment variable with the bearer token; it is withheld from every server that is started.
pub const BEARER_VARIABLE: &str = "STEADFAST_BEARER";

/// Headers sent to one origin with each request.
#[derive(Clone, Default)]
pub struct Headers {
    map: HeaderMap,
    /// What to cut out of quoted texts: each value, and a token without its scheme.
    hidden: Vec<String>,
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Headers({} hidden)", self.map.len())
    }
}

/// Headers that belong to the protocol or to the connection.
const OURS: &[&str] = &[
    "accept", "content-type", "content-length", "connection", "host", "last-event-id", "te",
    "trailer", "transfer-encoding", "upgrade",
];

impl Headers {
    /// Adds `Authorization: Bearer TOKEN`. The error is a sentence that does not quote the token.
    pub fn bearer(&mut self, token: &str) -> Result<(), String> {
        let token = token.trim();
        if token.is_empty() {
            return Err("The bearer token is empty.".into());
        }
        self.add("authorization", &format!("Bearer {token}"))
    }

    /// Adds one header. The error is a sentence that does not quote the value.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let parsed = HeaderName::from_bytes(name.trim().as_bytes())
            .map_err(|_| format!("`{}` is not a header name.", crate::error::quote(name)))?;
        if OURS.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-") {
            return Err(format!(
                "The header `{parsed}` is set by the protocol and cannot be given."
            ));
        }
        if self.map.contains_key(&parsed) {
            return Err(format!("The header `{parsed}` is given twice."));
        }
        let mut header = HeaderValue::from_str(value).map_err(|_| {
            format!(
                "The value for the header `{parsed}` has a character that a header cannot carry."
            )
        })?;
        header.set_sensitive(true);
        self.map.insert(parsed, header);
        let token = value.split_once(' ').map_or(value, |(_, token)| token.trim());
        self.hidden
            .extend([value.to_owned(), token.to_owned()].into_iter().filter(|s| s.len() >= 4));
        Ok(())
    }

    /// Adds the headers of a file: one `Name: value` a line, blank lines and lines that start with `#` skipped.
    /// Gives every wrong line, with its number, without quoting a value.
    pub fn add_file(&mut self, text: &str) -> Result<(), Vec<String>> {
        if text.len() > limits::HEADERS_FILE_BYTES {
            return Err(vec![format!(
                "The file has more than {} KiB.",
                limits::HEADERS_FILE_BYTES >> 10
            )]);
        }
        let mut wrong = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let added = match line.split_once(':') {
                Some((name, value)) => self.add(name, value),
                None => Err("There is no `:` between a name and a value.".into()),
            };
            if let Err(why) = added {
                wrong.push(format!("line {}: {why}", n + 1));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// None were given.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Names and values, in the order of names; `None` where there are none.
    pub(crate) fn as_text(&self) -> Option<String> {
        let mut lines: Vec<String> = self
            .map
            .iter()
            .map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())))
            .collect();
        lines.sort();
        (!lines.is_empty()).then(|| lines.concat())
    }

    /// The headers themselves, marked as secret: for whoever sends them, and for nothing else.
    pub fn map(&self) -> &HeaderMap {
        &self.map
    }

    /// A text that a server wrote, without the values.
    pub fn cut_out(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.hidden {
            out = out.replace(secret.as_str(), "[hidden]");
        }
        out
    }
}

/// A word of a command line as it may be shown and stored: passwords inside addresses and the values of options
/// whose name says that they are secret are replaced.
pub fn shown_command(words: &[String]) -> Vec<String> {
    let mut hide_next = false;
    words
        .iter()
        .map(|word| {
            if std::mem::take(&mut hide_next) && !word.starts_with('-') {
                return "[hidden]".to_owned();
            }
            hide_next = word.starts_with('-') && !word.contains('=') && is_secret_name(word);
            shown_word(word)
        })
        .collect()
}

/// One word: `NAME=value`, `--name=value`, `--env=NAME=value`, `Name: value`, an address, or anything else.
fn shown_word(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    loop {
        let equals = rest.find('=').map(|at| (at, "="));
        let colon = rest.find(": ").map(|at| (at, ": "));
        let sign = equals.into_iter().chain(colon).min();
        if rest.find("://").is_some_and(|address| sign.is_none_or(|(at, _)| address < at)) {
            return out + &shown_address(rest);
        }
        let Some((at, sign)) = sign else { return out + rest };
        let name = &rest[..at];
        out.push_str(name);
        out.push_str(sign);
        if is_secret_name(name) {
            return out + "[hidden]";
        }
        rest = &rest[at + sign.len()..];
    }
}

/// An address as it may be shown and stored: without user and password, without the values of its query.
pub fn shown_address(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (before, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest.split('#').next().unwrap_or(rest), None),
    };
    let (authority, path) = match before.split_once('/') {
        Some((authority, path)) => (authority, Some(path)),
        None => (before, None),
    };
    let mut out = format!("{scheme}://");
    match authority.rsplit_once('@') {
        Some((_, host)) => out.push_str(&format!("[hidden]@{host}")),
        None => out.push_str(authority),
    }
    if let Some(path) = path {
        out.push('/');
        out.push_str(path);
    }
    if let Some(query) = query {
        let shown: Vec<String> = query
            .split('#')
            .next()
            .unwrap_or_default()
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((name, _)) => format!("{name}=[hidden]"),
                None => "[hidden]".to_owned(),
            })
            .collect();
        out.push_str(&format!("?{}", shown.join("&")));
    }
    out
}

/// An option or variable whose name says that its value is secret, by the parts of the name.
fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    parts.any(|part| {
        [
            "token", "secret", "password", "passwd", "passphrase", "credential", "apikey",
            "bearer", "authorization",
        ]
        .iter()
        .any(|word| part.contains(word))
            || ["key", "auth", "pat", "pwd", "header", "cookie", "dsn"].contains(&part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_shown() {
        let mut headers = Headers::default();
        headers.bearer("tok-123456").unwrap();
        headers.add_file("# comment\n\nX-Api-Key: key-98765\n").unwrap();
        assert_eq!(format!("{headers:?}"), "Headers(2 hidden)");
        assert!(!format!("{:?}", headers.map()).contains("123456"));
        assert_eq!(headers.cut_out("bad tok-123456 or key-98765"), "bad [hidden] or [hidden]");
        let wrong = headers
            .add_file("no colon here\nX-Api-Key: secret-again\nMcp-Method: x\nX-Bad: a\u{1}b")
            .unwrap_err();
        assert_eq!(wrong.len(), 4, "{wrong:?}");
        assert!(
            wrong.iter().all(|w| !w.contains("secret-again") && !w.contains("no colon here")),
            "{wrong:?}"
        );
    }

    #[test]
    fn command_lines_and_addresses_lose_their_secrets() {
        fn check(command: &str, expected: &str) {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(shown_command(&words).join(" "), expected);
        }
        check("npx -y server /tmp --verbose", "npx -y server /tmp --verbose");
        check("srv --api-key abc --port 1", "srv --api-key [hidden] --port 1");
        check("srv --token=abc --keyboard=de", "srv --token=[hidden] --keyboard=de");
        check("env API_TOKEN=x srv", "env API_TOKEN=[hidden] srv");
        check("srv --read-only --token --fast", "srv --read-only --token --fast");
        check("srv postgres://me:pw@host:1/db", "srv postgres://[hidden]@host:1/db");
        check("srv --url=https://h/p?a=1&b=2#c", "srv --url=https://h/p?a=[hidden]&b=[hidden]");
        check("srv https://h/p@v?key", "srv https://h/p@v?[hidden]");
        check(
            "docker run -e API_KEY=x --env=API_TOKEN=y img",
            "docker run -e API_KEY=[hidden] --env=API_TOKEN=[hidden] img",
        );
        check("srv https://me:pw@h/token?x=1", "srv https://[hidden]@h/token?x=[hidden]");
        let header = ["remote".to_owned(), "-H".to_owned(), "Authorization: Bearer abc".to_owned()];
        assert_eq!(shown_command(&header).join(" "), "remote -H Authorization: [hidden]");
    }
}
