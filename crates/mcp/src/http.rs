//! A server behind Streamable HTTP: one POST a message, the answer as JSON or as an event stream, in both eras.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode, Url};

use crate::error::{Failure, quote};
use crate::framing::Events;
use crate::limits;
use crate::message::Message;
use crate::secret::{Headers, shown_address};
use crate::version::Revision;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// What the headers begin with that mirror arguments.
const PARAM: &str = "mcp-param-";
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// What must not leave twice.
pub(crate) const CALL: &str = "tools/call";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// A server's address and what goes with each request to it. Cheap to keep and to clone; holds no open request.
#[derive(Clone)]
pub struct Server {
    client: reqwest::Client,
    url: Url,
    headers: Headers,
    session: Option<HeaderValue>,
    revision: Option<Revision>,
    /// Bytes that one message of it may have.
    most: usize,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.place())
    }
}

/// Where a request goes, as it is mirrored into headers under modern revisions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Routing<'a> {
    /// The method of the message.
    pub method: &'a str,
    /// `params.name` or `params.uri`, for the methods that are routed by it.
    pub name: Option<&'a str>,
    /// Arguments that the tool's schema mirrors into headers: the name after `Mcp-Param-`, and the value.
    pub params: &'a [(String, String)],
    /// Headers of other names.
    pub headers: &'a [(String, String)],
}

/// How a POST was answered.
pub enum Answer {
    /// Messages in a JSON body, with the status: errors come with one that is no success.
    Messages(Vec<Message>, StatusCode),
    /// An event stream.
    Stream(Box<EventStream>),
    /// Accepted, without a body.
    Accepted,
}

/// Chooses the cryptography of TLS for this process, once. A client of the HTTP library cannot be built before.
pub fn cryptography() {
    // Fails only where it is chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Server {
    /// A server at this address. Opens no connection yet.
    ///
    /// The error is a sentence: the address is not an http(s) URL, holds a user or password, or would carry
    /// headers in the clear to another machine without leave.
    pub fn new(
        address: &str,
        headers: Headers,
        proxy_from_env: bool,
        plain: bool,
    ) -> Result<Server, String> {
        let url = Url::parse(address)
            .map_err(|e| format!("`{}` is not an address: {e}.", shown_address(address)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is neither http nor https.", shown_address(address)));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("The address holds a user or a password, which everyone who lists processes can read.".into());
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let near = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
        if url.scheme() == "http" && !headers.is_empty() && !near && !plain {
            return Err(
                "Headers would travel unencrypted to another machine, since the address is http."
                    .into(),
            );
        }
        // Only fails when a provider is already in place, which serves as well.
        cryptography();
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limits::CONNECT)
            .user_agent(concat!("steadfast/", env!("CARGO_PKG_VERSION")));
        if !proxy_from_env {
            builder = builder.no_proxy();
        }
        let client =
            builder.build().map_err(|e| format!("TLS could not be set up: {}.", causes(&e)))?;
        let most = limits::MESSAGE_BYTES;
        Ok(Server { client, url, headers, session: None, revision: None, most })
    }

    /// The same, for a server whose messages are passed on: longer ones are taken.
    pub(crate) fn relayed(self) -> Server {
        Server { most: limits::RELAYED_BYTES, ..self }
    }

    /// The address as it may be shown.
    pub fn place(&self) -> String {
        shown_address(self.url.as_str())
    }

    /// Where it takes connections.
    pub fn socket(&self) -> (&str, u16) {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        (host, self.url.port_or_known_default().unwrap_or_default())
    }

    /// By what the server knows who asks, as one text that must not be shown; `None` where no header says it.
    pub fn credentials(&self) -> Option<String> {
        self.headers.as_text()
    }

    /// Names the revision in the headers from here on.
    pub fn speak(&mut self, revision: Revision) {
        self.revision = Some(revision);
    }

    /// A legacy session is open.
    pub fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// Both speak in the same legacy session, or in none.
    pub(crate) fn shares_session(&self, other: &Server) -> bool {
        self.session == other.session
    }

    /// A text of the server without the secrets that it may have echoed.
    pub fn cut_out(&self, text: &str) -> String {
        self.headers.cut_out(text)
    }

    /// The start of a body, to quote. The secrets are cut out of more than is quoted, so that none is half there.
    fn start_of(&self, body: &[u8]) -> String {
        quote(&self.cut_out(&String::from_utf8_lossy(&body[..body.len().min(64 << 10)])))
    }

    /// Sends one message. Redirects are followed only inside the origin and only where they keep the method; that of a call
    /// is not: it is the word of a server, or of something before it, that may have carried the call out.
    pub async fn post(&mut self, message: &str, routing: Routing<'_>) -> Result<Answer, Failure> {
        for _ in 0..=limits::REDIRECTS {
            let mut request = self
                .client
                .post(self.url.clone())
                .headers(self.headers.map().clone())
                .header(CONTENT_TYPE, JSON)
                .header(ACCEPT, "application/json, text/event-stream");
            if let Some(revision) = self.revision.filter(|r| r.version_header) {
                request = request.header(VERSION, revision.date);
                if revision.era == crate::version::Era::Modern {
                    request = request.header(METHOD, header_text(routing.method));
                    if let Some(name) = routing.name {
                        request = request.header(NAME, header_text(name));
                    }
                    for (name, value) in routing.params {
                        let name = format!("{PARAM}{name}").to_ascii_lowercase();
                        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                            request = request.header(name, header_text(value));
                        }
                    }
                }
            }
            for (name, value) in routing.headers {
                if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                    request = request.header(name, header_text(value));
                }
            }
            if let Some(session) = &self.session {
                request = request.header(SESSION, session.clone());
            }
            let response = request.body(message.to_owned()).send().await.map_err(unreachable)?;
            match self.redirected(&response)? {
                None => return self.answer(response).await,
                Some(next) if routing.method == CALL => {
                    return Err(Failure::Redirect(shown_address(next.as_str())));
                }
                Some(next) => self.url = next,
            }
        }
        Err(Failure::Redirect(self.place()))
    }

    fn redirected(&self, response: &Response) -> Result<Option<Url>, Failure> {
        if !response.status().is_redirection() {
            return Ok(None);
        }
        let target = response.headers().get(LOCATION).and_then(|l| l.to_str().ok());
        let next = target.and_then(|t| self.url.join(t).ok());
        match next {
            Some(next)
                if next.origin() == self.url.origin()
                    && matches!(response.status().as_u16(), 307 | 308) =>
            {
                Ok(Some(next))
            }
            Some(next) => Err(Failure::Redirect(shown_address(next.as_str()))),
            None => Err(Failure::Redirect("no address".into())),
        }
    }

    async fn answer(&mut self, response: Response) -> Result<Answer, Failure> {
        let status = response.status();
        if status.is_success()
            && let Some(session) = response.headers().get(SESSION)
        {
            // A copy: the header itself keeps everything alive that was read of the connection with it.
            if let Ok(mut session) = HeaderValue::from_bytes(session.as_bytes()) {
                session.set_sensitive(true);
                self.session.get_or_insert(session);
            }
        }
        let kind = content_type(&response);
        if status.is_success() && kind == EVENTS {
            return Ok(Answer::Stream(Box::new(EventStream::new(response, self.most))));
        }
        let authenticate = response
            .headers()
            .get(WWW_AUTHENTICATE)
            .and_then(|v| v.to_str().ok())
            .map(str::to_owned);
        let body = body(response, self.most).await?;
        if status.is_success() && body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Answer::Accepted);
        }
        match Message::parse_all(&body) {
            // Credentials come first: a 401 with a JSON-RPC error in its body is still a 401.
            Ok(messages) if !matches!(status.as_u16(), 401 | 403) => {
                Ok(Answer::Messages(messages, status))
            }
            Ok(_) | Err(_) if !status.is_success() => {
                // A page for people is no help in an error text.
                let body = if kind.contains("html") { String::new() } else { self.start_of(&body) };
                Err(Failure::Status {
                    code: status.as_u16(),
                    body,
                    authenticate: authenticate.map(|a| self.cut_out(&a)),
                })
            }
            Ok(messages) => Ok(Answer::Messages(messages, status)),
            Err(why) => Err(Failure::Garbled(why.to_string(), self.start_of(&body))),
        }
    }

    /// Takes over what an answer to a clone of this server settled: the session, and where a redirect led.
    pub(crate) fn settle(&mut self, other: &Server) {
        if self.session.is_none() {
            self.session.clone_from(&other.session);
        }
        self.url.clone_from(&other.url);
    }

    /// Opens the stream on which a legacy server says what nobody asked for. `None` where it offers none.
    pub async fn listen(&self) -> Result<Option<EventStream>, Failure> {
        let response = self.get().send().await.map_err(unreachable)?;
        let offered = response.status().is_success() && content_type(&response) == EVENTS;
        Ok(offered.then(|| EventStream::new(response, self.most)))
    }

    /// Takes up a legacy stream again where it broke.
    pub async fn resume(&mut self, last_event: &str) -> Result<EventStream, Failure> {
        let last_event = HeaderValue::from_str(last_event).map_err(|_| Failure::Cut)?;
        let response =
            self.get().header(LAST_EVENT, last_event).send().await.map_err(unreachable)?;
        if response.status().is_success() && content_type(&response) == EVENTS {
            return Ok(EventStream::new(response, self.most));
        }
        Err(Failure::Cut)
    }

    /// Whether the address speaks the transport of 2024-11-05: a GET opens a stream whose first event says where
    /// to post.
    pub async fn speaks_old_transport(&self, wait: Duration) -> bool {
        let probe = async {
            let response = self.get().send().await.ok()?;
            if !response.status().is_success() || content_type(&response) != EVENTS {
                return None;
            }
            EventStream::new(response, self.most)
                .next()
                .await
                .ok()?
                .map(|event| event.name == "endpoint")
        };
        tokio::time::timeout(wait, probe).await.ok().flatten().unwrap_or(false)
    }

    fn get(&self) -> reqwest::RequestBuilder {
        let mut request = self
            .client
            .get(self.url.clone())
            .headers(self.headers.map().clone())
            .header(ACCEPT, EVENTS);
        if let Some(revision) = self.revision.filter(|r| r.version_header) {
            request = request.header(VERSION, revision.date);
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session.clone());
        }
        request
    }

    /// Ends a legacy session. A server may refuse that, and nothing depends on it.
    pub async fn close(mut self) {
        if let Some(session) = self.session.take() {
            let mut request = self
                .client
                .delete(self.url.clone())
                .headers(self.headers.map().clone())
                .header(SESSION, session);
            if let Some(revision) = self.revision.filter(|r| r.version_header) {
                request = request.header(VERSION, revision.date);
            }
            let _ = tokio::time::timeout(limits::LEAVE, request.send()).await;
        }
    }

    /// Forgets a session that the server has dropped.
    pub fn forget_session(&mut self) {
        self.session = None;
        self.revision = None;
    }
}

/// An event stream that is being read.
pub struct EventStream {
    response: Response,
    events: Events,
    ready: VecDeque<crate::framing::Event>,
    ended: bool,
}

impl EventStream {
    fn new(response: Response, most: usize) -> EventStream {
        EventStream { response, events: Events::new(most), ready: VecDeque::new(), ended: false }
    }

    /// The next event; `None` once the stream has ended, cleanly or not.
    pub async fn next(&mut self) -> Result<Option<crate::framing::Event>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => {
                    let found = self
                        .events
                        .push(&bytes)
                        .map_err(|too_long| Failure::TooLong(too_long.0))?;
                    self.ready.extend(found);
                }
                Ok(None) | Err(_) => self.ended = true,
            }
        }
    }

    /// Where to resume, and after which pause.
    pub fn resumption(&self) -> Option<(String, Duration)> {
        let pause = self
            .events
            .retry()
            .map_or(Duration::ZERO, Duration::from_millis)
            .min(limits::RETRY_PAUSE);
        self.events.last_id().filter(|id| !id.is_empty()).map(|id| (id.to_owned(), pause))
    }
}

fn content_type(response: &Response) -> String {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(unreachable)? {
        if out.len() + bytes.len() > most {
            return Err(Failure::TooLong(most));
        }
        out.extend_from_slice(&bytes);
    }
    Ok(out)
}

/// The chain of causes without the address, which may hold what is not to be shown.
fn causes(e: &reqwest::Error) -> String {
    let mut deepest: Option<&dyn Error> = e.source();
    let mut last = None;
    while let Some(cause) = deepest {
        last = Some(cause.to_string());
        deepest = cause.source();
    }
    last.unwrap_or_else(|| {
        if e.is_timeout() { "no answer".into() } else { "the request failed".into() }
    })
}

fn unreachable(e: reqwest::Error) -> Failure {
    let e = e.without_url();
    let opening = e.is_connect();
    let why = if e.is_timeout() {
        "the connection was not opened in time".to_owned()
    } else {
        causes(&e)
    };
    let why = quote(&why);
    if opening { Failure::NoConnection(why) } else { Failure::Unreachable(why) }
}

/// A header value for any text: as it is where a header can carry it unchanged, else in the base64 form of the
/// protocol (also for text that looks like that form).
fn header_text(text: &str) -> HeaderValue {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b))
        && text.trim() == text
        && !text.starts_with("=?");
    let value = if plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    };
    HeaderValue::from_str(&value).expect("printable ASCII is a header value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_travel_in_headers_unchanged_or_in_base64() {
        fn check(name: &str, expected: &str) {
            assert_eq!(header_text(name).to_str().unwrap(), expected);
        }
        check("get_weather", "get_weather");
        check("a b", "a b");
        check(" padded", "=?base64?IHBhZGRlZA==?=");
        check("größe", "=?base64?Z3LDtsOfZQ==?=");
        check("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
        check("a\r\nX: y", "=?base64?YQ0KWDogeQ==?=");
    }

    #[test]
    fn addresses_that_would_leak_are_refused() {
        fn check(address: &str, with_header: bool, fine: bool) {
            let mut headers = Headers::default();
            if with_header {
                headers.bearer("secret").unwrap();
            }
            let made = Server::new(address, headers, false, false);
            assert_eq!(made.is_ok(), fine, "{address}: {:?}", made.err());
        }
        check("https://h/mcp", true, true);
        check("http://127.0.0.1:1/mcp", true, true);
        check("http://[::1]:1/mcp", true, true);
        check("http://localhost/mcp", true, true);
        check("http://h/mcp", false, true);
        check("http://h/mcp", true, false);
        check("http://127.0.0.1.evil.example/mcp", true, false);
        check("https://me:pw@h/mcp", false, false);
        check("ftp://h/mcp", false, false);
        check("not an address", false, false);
    }
}
