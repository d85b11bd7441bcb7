//! The steps of a client under test: it acts in its own time, and the recorder is watched.

use super::{Stage, Stop, broken, failed};
use crate::drift::client::{self, Client, Ended};
use crate::drift::judge::{self, Miss, Seen};
use crate::drift::scenario::Deed;
use crate::limits;
use crate::recorder::Armed;
use serde_json::Value;
use tokio::time::timeout;

/// What comes of waiting for a client; false soon after it ended, when nothing can come any more.
async fn unless_ended(client: Option<&mut Client>, seen: impl Future<Output = bool>) -> bool {
    let Some(client) = client else { return seen.await };
    let mut seen = std::pin::pin!(seen);
    tokio::select! {
        seen = &mut seen => seen,
        // What it sent last is on its way.
        () = client.gone() => timeout(limits::LAST_WORDS, seen).await.unwrap_or(false),
    }
}

impl Stage<'_> {
    /// Has the server become another one by itself, before it answers what the switch follows.
    pub(super) fn arm(&self) {
        let (mut lists, mut calls, mut last) = (0, 0, None);
        for step in &self.scenario.steps {
            match &step.deed {
                Deed::ClientLists => {
                    lists += 1;
                    last = Some(Armed::Lists(lists));
                }
                Deed::ClientCalls(..) => {
                    calls += 1;
                    last = Some(Armed::Calls(calls));
                }
                Deed::Switch => {
                    if let Some(when) = last {
                        self.recorder.arm(when, 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// What a client under test does, in its own time.
    pub(super) async fn client_step(&mut self, deed: &Deed, place: &str) -> Result<(), Stop> {
        let wait = self.patience();
        match deed {
            Deed::ClientLists => {
                self.lists += 1;
                self.checks += 1;
                let listed = self.recorder.listed(self.lists, wait);
                if unless_ended(self.client.as_mut(), listed).await {
                    return Ok(());
                }
                Err(self.client_missed("the client does not look at the list", "tools/list", place))
            }
            Deed::ClientCalls(call, expected) => {
                let settled = self.recorder.settled(self.calls + 1, wait);
                if !unless_ended(self.client.as_mut(), settled).await {
                    let sentence = format!("the client does not call {}", call.tool);
                    return Err(self.client_missed(&sentence, "tools/call", place));
                }
                let calls = self.recorder.calls();
                let records = self.recorder.records();
                let seen = Seen {
                    // What the client is answered is not what is looked at here.
                    answer: Ok(Value::Null),
                    arrived: calls[self.calls..=self.calls].to_vec(),
                    reached: records[self.records.min(records.len())..].to_vec(),
                };
                (self.records, self.calls) = (records.len(), self.calls + 1);
                self.checks += 1 + judge::count(expected);
                let misses = judge::client_call(call, expected, &seen);
                if misses.is_empty() { Ok(()) } else { Err(failed(place, misses)) }
            }
            Deed::ClientEnds { exit, events } => self.client_ends(*exit, events, place).await,
            _ => Ok(()),
        }
    }

    async fn client_ends(
        &mut self,
        exit: Option<i32>,
        events: &[String],
        place: &str,
    ) -> Result<(), Stop> {
        let wait = self.patience();
        let Some(client) = &mut self.client else {
            return Err(broken(place, "no client is under test"));
        };
        self.checks += 1 + usize::from(exit.is_some()) + events.len();
        let code = match client.ended(wait).await {
            Ended::Code(code) => code,
            Ended::Hung => {
                let sentence = format!("the client did not end within {} s", wait.as_secs());
                return Err(self.client_missed(&sentence, "an end", place));
            }
            Ended::Wrote => {
                let sentence = format!("the client {}", client::too_much());
                return Err(self.client_missed(&sentence, "an end", place));
            }
        };
        let log = client.events().await;
        let log = log
            .map_err(|why| broken(place, &format!("the client's events cannot be read: {why}")))?;
        let said = client.said();
        let misses = judge::client_end(code, exit, events, log.as_deref(), &said);
        if misses.is_empty() { Ok(()) } else { Err(failed(place, misses)) }
    }

    /// The client did not do what the step waits for.
    fn client_missed(&mut self, sentence: &str, expected: &str, place: &str) -> Stop {
        let said = self.client.as_ref().map(Client::said).unwrap_or_default();
        let seen =
            if said.trim().is_empty() { "nothing, and it wrote nothing".to_owned() } else { said };
        let wrote = self.client.as_ref().is_some_and(Client::wrote_too_much);
        let sentence =
            if wrote { format!("the client {}", client::too_much()) } else { sentence.to_owned() };
        let miss = Miss { sentence, expected: expected.to_owned(), seen };
        failed(place, vec![miss])
    }
}
