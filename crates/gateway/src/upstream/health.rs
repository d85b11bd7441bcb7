//! How a server does, for people who ask.

use super::{Upstream, lock};
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How a server does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// It is connected.
    pub running: bool,
    /// How often it was started or reached; more than once means that it ended in between.
    pub starts: u32,
    /// Starts in a row that did not last; of one that was just started it is not known yet.
    #[serde(default)]
    pub tries: u32,
    /// How long it takes until it may be started again, in milliseconds, where it is not running and has to wait.
    #[serde(default)]
    pub next_start_ms: Option<u64>,
    /// How long ago its list was last read whole, in milliseconds.
    pub verified_ms_ago: Option<u64>,
    /// Why the last reading of its list failed, where it did.
    pub fault: Option<String>,
    /// It instructs its clients otherwise than this session was told, in a sentence.
    #[serde(default)]
    pub instructions: Option<String>,
    /// How it last ended, where it did.
    pub last_end: Option<String>,
}

impl Upstream {
    /// How it does now.
    pub fn health(&self) -> Health {
        let millis = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let (restart, running) = (*lock(&self.restart), lock(&self.link).up.is_some());
        let wait = restart.wait(Instant::now());
        Health {
            running,
            tries: restart.tries,
            next_start_ms: (!running && !wait.is_zero()).then(|| millis(wait)),
            starts: self.starts.load(Ordering::Relaxed),
            verified_ms_ago: self.age().map(millis),
            fault: self.fault(),
            instructions: lock(&self.instructs).clone(),
            last_end: lock(&self.last_end).clone(),
        }
    }
}
