//! What happened, for people who watch: one line on stderr, one JSON line for `tail`.

use crate::limits;
use serde::Serialize;
use tokio::sync::broadcast;

/// Something that a person may want to know as it happens.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Milliseconds since 1970.
    pub at: u64,
    /// `refused`, `held`, `adapted`, `would-refuse`, `would-adapt`, `changed`, `fault`, `ended`, `in-doubt`, `late-answer`,
    /// `answered-again`, `broken-answer`, `answer-of-old`, `unmeasured-answer`, `key-replaced`, `sent-again`, `shape-moved`, `cut`, `adapter-out`.
    pub kind: &'static str,
    /// The server.
    pub server: String,
    /// The tool, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The code of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// What happened, in a sentence.
    pub sentence: String,
}

impl Event {
    /// A client did not read what it was sent, and its stream was cut.
    pub fn slow(server: &str) -> Event {
        Event {
            at: now(),
            kind: "cut",
            server: server.to_owned(),
            tool: None,
            code: None,
            sentence: format!(
                "a client of {server} does not read its stream, which was cut; what was done is on record"
            ),
        }
    }
}

/// Where events go.
#[derive(Debug, Clone)]
pub struct Events(broadcast::Sender<Event>);

impl Default for Events {
    fn default() -> Events {
        Events(broadcast::Sender::new(limits::EVENTS))
    }
}

impl Events {
    /// Tells everyone who listens.
    pub fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }

    /// Listens from now on.
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}
