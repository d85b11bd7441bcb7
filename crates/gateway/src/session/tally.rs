//! What became of the calls of a session, kept by tool for people who ask.

use super::{Session, lock};
use crate::{event, limits};
use contract::admission::Ground;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What became of the calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The last call that was decided.
    pub last: Option<LastCall>,
    /// While observing: how many calls would have been stopped, by the code of the refusal.
    pub would: BTreeMap<String, u64>,
    /// What answers that no schema describes had each time and then no longer, in words.
    #[serde(default)]
    pub moved: BTreeSet<String>,
}

/// A call as it was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastCall {
    /// When.
    pub at: u64,
    /// `forward`, `adapt`, `hold` or `refuse`.
    pub decision: String,
    /// The code of a refusal or a hold.
    pub code: Option<String>,
    /// Digest of the revision that it was planned under, where known.
    pub planned: Option<String>,
    /// Digest of the revision that it ran or would have run under: its execution contract.
    pub ran_under: Option<String>,
    /// The adapters that carried it.
    pub by: Vec<String>,
}

impl Session {
    /// Takes down what was decided about a call.
    pub(crate) fn tally(
        &self,
        tool: &str,
        decision: &str,
        code: Option<&str>,
        ground: &Ground,
        by: &[String],
    ) {
        let mut tallies = lock(&self.tallies);
        if tallies.len() >= limits::TALLIES && !tallies.contains_key(tool) {
            return;
        }
        let tally = tallies.entry(tool.to_owned()).or_default();
        if let Some(code) = code.filter(|_| self.settings.observe) {
            *tally.would.entry(code.to_owned()).or_default() += 1;
        }
        tally.last = Some(LastCall {
            at: event::now(),
            decision: decision.to_owned(),
            code: code.map(str::to_owned),
            planned: ground.planned.clone(),
            ran_under: ground.live.clone(),
            by: by.to_vec(),
        });
    }

    /// Takes down that an answer is not what each one before it was.
    pub(crate) fn shape_moved(&self, tool: &str, words: &[String]) {
        self.hub.metrics.shape_moved(self.upstream.name());
        let mut tallies = lock(&self.tallies);
        if tallies.len() >= limits::TALLIES && !tallies.contains_key(tool) {
            return;
        }
        let moved = &mut tallies.entry(tool.to_owned()).or_default().moved;
        for word in words.iter().filter(|_| moved.len() < limits::SHAPE_MOVED).collect::<Vec<_>>() {
            moved.insert(word.clone());
        }
    }

    /// What became of the calls of a tool.
    pub fn tallied(&self, tool: &str) -> Tally {
        lock(&self.tallies).get(tool).cloned().unwrap_or_default()
    }
}
