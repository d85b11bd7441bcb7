//! Recording through to a real model: prompts go on to the address that a person named, and what came back becomes an
//! exchange that is replayed from then on.
//!
//! The credential of the model is put in here, so that the agent never holds it; it is on no record.

use super::exchange::{Exchange, Turn, texts};
use super::leak::{Forms, Leak};
use super::outcome::Capture;
use super::record::{Content, Seen, is_secret};
use crate::limits;
use axum::body::Bytes;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A real model, and how it is asked.
pub struct Upstream {
    client: reqwest::Client,
    /// The address before the path of the operation, without a slash at its end.
    base: String,
    /// Headers in place of those of the agent: name and value.
    headers: Vec<(String, String)>,
    /// What the values look like that only the model may see.
    secrets: Vec<Forms>,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("base", &self.base).finish_non_exhaustive()
    }
}

/// One answer of the model.
struct Answered {
    prompt: Vec<String>,
    answer: Value,
}

/// The recording of one run.
#[derive(Clone)]
pub struct Recording {
    upstream: Arc<Upstream>,
    exchange: Exchange,
    turns: Arc<Mutex<(Vec<Answered>, Vec<String>)>>,
}

impl Upstream {
    /// A model at `base`, asked with these headers in place of the agent's own of the same names.
    ///
    /// # Errors
    /// Where the address is none, or this machine gives no resources.
    pub fn new(base: &str, headers: Vec<(String, String)>) -> Result<Upstream, String> {
        let address =
            reqwest::Url::parse(base).map_err(|why| format!("it is no address: {why}"))?;
        let here = matches!(address.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
        match address.scheme() {
            "https" => {}
            "http" if here => {}
            _ => {
                return Err("a credential goes there: it must be https, or this machine".to_owned());
            }
        }
        mcp::http::cryptography();
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(limits::MODEL)
            .build()
            .map_err(|why| why.to_string())?;
        let bare = |value: &str| value.rsplit(' ').next().unwrap_or(value).to_owned();
        let secrets = headers.iter().map(|(_, value)| bare(value));
        let secrets = secrets.filter(|bare| bare.len() >= SECRET).map(|bare| Forms::of(&bare));
        let secrets = secrets.collect();
        Ok(Upstream { client, base: base.trim_end_matches('/').to_owned(), headers, secrets })
    }

    /// Whether a text holds what only the model may see.
    fn is_told_in(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| secret.form_in(text).is_some())
    }
}

/// Letters from which on a header's value is taken for a credential.
const SECRET: usize = 8;

/// Headers that belong to one connection, or that are put in anew.
const OWN: &[&str] = &[
    "host", "connection", "content-length", "transfer-encoding", "accept-encoding", "te", "upgrade",
];

impl Recording {
    /// Records what is asked at the operation of `exchange`.
    pub fn of(upstream: Arc<Upstream>, exchange: Exchange) -> Recording {
        Recording { upstream, exchange, turns: Arc::default() }
    }

    /// Whether a request is for the model.
    pub fn is_for(&self, seen: &Seen) -> bool {
        self.exchange.is_for(seen)
    }

    /// Sends a prompt on, and gives status and body of the answer.
    pub async fn ask(
        &self,
        seen: &Seen,
        target: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> (u16, Value) {
        match self.asked(seen, target, headers, body).await {
            Ok(answer) => {
                let mut prompt = Vec::new();
                if let Some(value) = seen.body.value() {
                    texts(&value, &mut prompt);
                }
                self.lock().0.push(Answered { prompt, answer: answer.clone() });
                (200, answer)
            }
            Err((status, why)) => {
                self.lock().1.push(why.clone());
                (status, json!({"error": why}))
            }
        }
    }

    async fn asked(
        &self,
        seen: &Seen,
        target: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Value, (u16, String)> {
        let upstream = &self.upstream;
        if matches!(seen.body, Content::Empty) {
            return Err((400, "The prompt is empty.".to_owned()));
        }
        let method = reqwest::Method::from_bytes(seen.method.as_bytes())
            .map_err(|_| (400, "This method is none.".to_owned()))?;
        let mut request = upstream.client.request(method, format!("{}{target}", upstream.base));
        for (name, value) in headers {
            let replaced =
                upstream.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name.as_str()));
            // A credential of the agent is the planted one: it is no business of the model.
            if !replaced && !is_secret(name.as_str()) && !OWN.contains(&name.as_str()) {
                request = request.header(name.as_str(), value.as_bytes());
            }
        }
        for (name, value) in &upstream.headers {
            request = request.header(name, value);
        }
        let failed = |why: reqwest::Error| {
            (502, format!("The model cannot be asked: {}.", why.without_url()))
        };
        let mut response = request.body(body).send().await.map_err(failed)?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > limits::BODY {
                return Err((
                    502,
                    format!("The model answered more than {} MB.", limits::BODY >> 20),
                ));
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if upstream.is_told_in(&text) {
            return Err((
                502,
                "The answer of the model holds the credential; it was not passed on.".to_owned(),
            ));
        }
        let value = serde_json::from_slice::<Value>(&bytes);
        match (status, value) {
            (200, Ok(value)) => Ok(value),
            (200, Err(_)) => Err((
                502,
                "The model did not answer whole JSON: let the agent ask without streaming."
                    .to_owned(),
            )),
            (status, _) => {
                let shown = report::escape::clip(&report::escape::visible(&text), 200);
                Err((status, format!("The model answered {status}: {shown}")))
            }
        }
    }

    /// Every place of what was captured in which a credential of the model surfaced.
    pub fn leaks(&self, capture: &Capture) -> Vec<Leak> {
        self.upstream.secrets.iter().flat_map(|secret| secret.leaks(capture)).collect()
    }

    /// A text without the credentials of the model.
    pub fn hidden(&self, text: &str) -> String {
        let secrets = self.upstream.secrets.iter();
        secrets.fold(text.to_owned(), |text, secret| secret.hidden(&text))
    }

    /// What went wrong, the first first.
    pub fn failures(&self) -> Vec<String> {
        self.lock().1.clone()
    }

    /// The exchange as it is replayed from now on. `own` are texts that differ from run to run.
    ///
    /// # Errors
    /// Where it could not be replayed, or holds what may not be written down.
    pub fn finish(&self, own: &[String]) -> Result<Exchange, String> {
        let state = self.lock();
        if let Some(why) = state.1.first() {
            return Err(why.clone());
        }
        if state.0.is_empty() {
            return Err("The agent asked no model.".to_owned());
        }
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut turns = Vec::new();
        for answered in &state.0 {
            // A conversation repeats itself: a turn is known by what is new in it.
            let new = answered.prompt.iter().filter(|text| known.insert(text));
            let telling = |text: &&String| {
                (text.contains(char::is_whitespace) || text.len() >= TELLING)
                    && !own.iter().any(|own| text.contains(own.as_str()))
            };
            let holds = new.filter(telling).map(|text| text.chars().take(HELD).collect()).collect();
            turns.push(Turn { holds, answer: answered.answer.clone() });
        }
        let exchange = Exchange { turns, ..self.exchange.clone() };
        if self.upstream.is_told_in(&exchange.to_text()) {
            return Err("What was recorded holds the credential of the model.".to_owned());
        }
        Ok(exchange)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (Vec<Answered>, Vec<String>)> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Letters from which on one word tells prompts apart; shorter ones are roles and names.
const TELLING: usize = 20;

/// Letters of a text that a turn is held to: the head of a long document tells it apart.
const HELD: usize = 4_000;
