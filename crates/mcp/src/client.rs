//! One connection to a server: asks, and takes the answer out of everything else that the server sends.

use std::time::Duration;

use tokio::time::timeout;

use crate::error::{Failure, quote};
use crate::message::{self, Id, Kind, Message};
use crate::version::{Era, METHOD_NOT_FOUND, Revision};
use crate::{http, limits, stdio};

/// A connection, whatever carries it and whichever era it speaks.
pub struct Client {
    link: Link,
    /// Under which each request is sent; legacy until a handshake says more.
    revision: Revision,
    next_id: u64,
    side: Side,
}

/// What carries the messages.
pub enum Link {
    /// A child process.
    Stdio(stdio::Server),
    /// A Streamable HTTP endpoint.
    Http(http::Server),
}

/// What a server sent besides answers.
#[derive(Debug, Default)]
pub struct Side {
    /// `notifications/tools/list_changed` so far.
    pub list_changed: u64,
    /// The first lines on stdout that are no messages, each with the reason.
    pub stray: Vec<(String, String)>,
    /// How many there were.
    pub stray_lines: u64,
}

impl Client {
    /// A client over a link on which nothing has been said yet.
    pub fn new(link: Link) -> Client {
        Client { link, revision: Revision::newest(Era::Legacy), next_id: 0, side: Side::default() }
    }

    /// The revision spoken.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What the server sent besides answers.
    pub fn side(&self) -> &Side {
        &self.side
    }

    /// Speaks this revision from here on.
    pub fn speak(&mut self, revision: Revision) {
        self.revision = revision;
        if let Link::Http(server) = &mut self.link {
            server.speak(revision);
        }
    }

    /// The link.
    pub fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn fresh_id(&mut self) -> Id {
        self.next_id += 1;
        Id::from(self.next_id)
    }

    /// Sends a request and waits for its result, in raw JSON. `params` is an object in raw JSON.
    pub async fn ask(
        &mut self,
        method: &str,
        params: &str,
        wait: Duration,
    ) -> Result<Message, Failure> {
        self.ask_named(method, None, params, wait).await
    }

    /// The same for a request about something that has a name, which modern endpoints want to see beside the body.
    pub async fn ask_named(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: &str,
        wait: Duration,
    ) -> Result<Message, Failure> {
        let id = self.fresh_id();
        let text = message::request(&id, method, Some(params));
        let side = &mut self.side;
        let era = self.revision.era;
        let answer = match &mut self.link {
            Link::Stdio(server) => {
                let answered = async {
                    server.send(&text).await;
                    answer_on_pipe(server, &[&id], side, era).await
                };
                timeout(wait, answered).await.map_err(|_| Failure::Silent(wait))??
            }
            Link::Http(server) => {
                let routing = http::Routing { method, name, ..http::Routing::default() };
                let answered = answer_on_http(server, &id, &text, routing, side, era);
                timeout(wait, answered).await.map_err(|_| Failure::Silent(wait))??
            }
        };
        self.judged(answer)
    }

    fn judged(&self, (answer, status): (Message, Option<u16>)) -> Result<Message, Failure> {
        match answer.error() {
            None => Ok(answer),
            Some(error) => {
                let mut error = error.clone();
                if let Link::Http(server) = &self.link {
                    error.message = server.cut_out(&error.message);
                }
                Err(Failure::Rpc(error, status))
            }
        }
    }

    /// Over a pipe: sends `method` and waits for its answer or for a good late answer to an earlier request,
    /// whichever comes first. True: the earlier one.
    pub async fn ask_or_late(
        &mut self,
        method: &str,
        params: &str,
        wait: Duration,
    ) -> Result<(Message, bool), Failure> {
        let late = Id::from(self.next_id);
        let id = self.fresh_id();
        let text = message::request(&id, method, Some(params));
        let (side, era) = (&mut self.side, self.revision.era);
        let Link::Stdio(server) = &mut self.link else {
            return Err(Failure::Silent(wait));
        };
        let answered = async {
            server.send(&text).await;
            loop {
                let (answer, _) = answer_on_pipe(server, &[&id, &late], side, era).await?;
                let is_late = *answer.kind() == Kind::Response { id: Some(late.clone()) };
                if !is_late || answer.error().is_none() {
                    return Ok((answer, is_late));
                }
            }
        };
        let (answer, is_late) =
            timeout(wait, answered).await.map_err(|_| Failure::Silent(wait))??;
        Ok((self.judged((answer, None))?, is_late))
    }

    /// Sends a notification. An HTTP server that refuses it is not an error: the next request shows what holds.
    pub async fn tell(&mut self, method: &str, wait: Duration) -> Result<(), Failure> {
        let text = message::notification(method, None);
        match &mut self.link {
            Link::Stdio(server) => {
                timeout(wait, server.send(&text)).await.map_err(|_| Failure::Silent(wait))
            }
            Link::Http(server) => {
                let posted =
                    server.post(&text, http::Routing { method, ..http::Routing::default() });
                match timeout(wait, posted).await {
                    Ok(Ok(_) | Err(Failure::Status { .. } | Failure::Garbled(..))) => Ok(()),
                    Ok(Err(failure)) => Err(failure),
                    Err(_) => Err(Failure::Silent(wait)),
                }
            }
        }
    }

    /// What the server said outside the protocol, for an error text: stray lines of its stdout, and its stderr.
    pub async fn said(&mut self) -> Vec<String> {
        let mut out = self.stray_lines();
        if let Link::Stdio(server) = &mut self.link {
            out.extend(server.last_words().await);
        }
        out
    }

    /// The lines on stdout that are no messages, each in a sentence; the first few, and how many more.
    pub fn stray_lines(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for (line, why) in &self.side.stray {
            out.push(format!("on stdout, where only messages belong: {line} ({why})"));
        }
        let more = self.side.stray_lines - self.side.stray.len() as u64;
        if more > 0 {
            out.push(format!("on stdout: {more} more such lines"));
        }
        out
    }

    /// Ends the connection: the child with its process group, or the legacy session.
    pub async fn close(self) {
        match self.link {
            Link::Stdio(server) => server.close().await,
            Link::Http(server) => server.close().await,
        }
    }
}

impl Side {
    /// Takes a message that is not the answer. Gives the reply that it needs, if any.
    fn take(&mut self, message: &Message, era: Era) -> Option<String> {
        match message.kind() {
            Kind::Notification { method } => {
                if method == "notifications/tools/list_changed" {
                    self.list_changed += 1;
                }
                None
            }
            // Modern servers must not ask anything.
            Kind::Request { .. } if era == Era::Modern => None,
            Kind::Request { id, method } if method == "ping" => Some(message::response(id, "{}")),
            Kind::Request { id, method } => {
                let why = format!("this client declared no capability for {}", quote(method));
                Some(message::failure(id, METHOD_NOT_FOUND, &why))
            }
            // An answer to something that is no longer waited for.
            Kind::Response { .. } => None,
        }
    }

    fn stray(&mut self, line: String, why: String) {
        self.stray_lines += 1;
        if self.stray.len() < limits::STRAY_LINES {
            self.stray.push((line, why));
        }
    }
}

/// The message that answers one of these ids.
async fn answer_on_pipe(
    server: &mut stdio::Server,
    ids: &[&Id],
    side: &mut Side,
    era: Era,
) -> Result<(Message, Option<u16>), Failure> {
    for _ in 0..limits::SIDE_MESSAGES {
        match server.next().await {
            None => return Err(Failure::Ended(server.status().await)),
            Some(stdio::Incoming::TooLong) => return Err(Failure::TooLong(limits::MESSAGE_BYTES)),
            Some(stdio::Incoming::Stray(line, why)) => side.stray(line, why),
            // A fetch waits for a better answer as long as for any.
            Some(stdio::Incoming::Garbled(..)) => {}
            Some(stdio::Incoming::Message(message)) => {
                if answers(&message, ids) {
                    return Ok((message, None));
                }
                if let Some(reply) = side.take(&message, era) {
                    server.send(&reply).await;
                }
            }
        }
    }
    Err(Failure::Flood(limits::SIDE_MESSAGES))
}

/// An error without an id answers the request that could not be read, which is the only one under way.
fn answers(message: &Message, ids: &[&Id]) -> bool {
    match message.kind() {
        Kind::Response { id: Some(id) } => ids.contains(&id),
        Kind::Response { id: None } => message.error().is_some(),
        Kind::Request { .. } | Kind::Notification { .. } => false,
    }
}

async fn answer_on_http(
    server: &mut http::Server,
    id: &Id,
    text: &str,
    routing: http::Routing<'_>,
    side: &mut Side,
    era: Era,
) -> Result<(Message, Option<u16>), Failure> {
    let mut stream = match server.post(text, routing).await? {
        http::Answer::Accepted => {
            return Err(Failure::Garbled("it is empty".into(), String::new()));
        }
        http::Answer::Messages(messages, status) => {
            let status = (!status.is_success()).then_some(status.as_u16());
            return match messages.into_iter().find(|m| answers(m, &[id])) {
                Some(message) => Ok((message, status)),
                None => Err(Failure::Garbled("it answers another request".into(), String::new())),
            };
        }
        http::Answer::Stream(stream) => *stream,
    };
    let mut resumes_left = limits::RESUMES;
    for _ in 0..limits::SIDE_MESSAGES {
        let Some(event) = stream.next().await? else {
            // Only legacy streams can be taken up again, and only after an event that had an id.
            let resumption = stream.resumption().filter(|_| era == Era::Legacy && resumes_left > 0);
            let Some((last, pause)) = resumption else { return Err(Failure::Cut) };
            resumes_left -= 1;
            tokio::time::sleep(pause).await;
            stream = server.resume(&last).await?;
            continue;
        };
        if event.data.is_empty() || event.name != "message" {
            continue;
        }
        let messages = Message::parse_all(&event.data).map_err(|why| {
            Failure::Garbled(why.to_string(), server.cut_out(&String::from_utf8_lossy(&event.data)))
        })?;
        for message in messages {
            if answers(&message, &[id]) {
                return Ok((message, None));
            }
            if let Some(reply) = side.take(&message, era) {
                let _ = server.post(&reply, http::Routing::default()).await;
            }
        }
    }
    Err(Failure::Flood(limits::SIDE_MESSAGES))
}
