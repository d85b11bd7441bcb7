//! What is on record after a run, held against what happened.

use super::books::now;
use super::world::{Counts, Shared};
use serde_json::Value;
use std::collections::BTreeMap;
use store::journal::{Trust, verify_store};
use store::{ActivityQuery, OutcomeState, Sqlite, Store, Verdict};

/// The note on the card that a person is shown.
pub fn note_on(card: Option<&str>) -> String {
    fn find(value: &Value) -> Option<String> {
        match value {
            Value::String(text) => {
                let mut parts = text.splitn(2, '-');
                let (client, call) = (parts.next()?, parts.next()?);
                let numbered =
                    |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                (numbered(client.strip_prefix('c')?) && numbered(call)).then(|| text.clone())
            }
            Value::Array(items) => items.iter().find_map(find),
            Value::Object(members) => members.values().find_map(find),
            _ => None,
        }
    }
    let card = card.and_then(|card| serde_json::from_str(card).ok()).unwrap_or(Value::Null);
    find(&card).unwrap_or_default()
}

/// Every request came to an end, and what is on record of it is what happened.
pub fn at_the_end(world: &Shared, store: &Sqlite) {
    let trust = Trust { key: None, checkpoint: None };
    let report = now(verify_store(store, &trust, |_| {})).unwrap();
    let mut world = world.look();
    if !report.is_sound() {
        world.wrong(format!("the journal does not verify: {:?}", report.faults));
    }
    let query = ActivityQuery { limit: 1_000, ..ActivityQuery::default() };
    let activity = now(store.activity(query)).unwrap();
    let (mut done, mut left) = (BTreeMap::<String, u32>::new(), BTreeMap::<String, u32>::new());
    for request in activity {
        let payloads = now(store.payloads(request.request)).unwrap_or_default();
        let note = payloads.iter().map(|payload| note_on(Some(&payload.text)));
        let note = note.into_iter().find(|note| !note.is_empty()).unwrap_or_default();
        let received = world.received.get(&note).copied().unwrap_or(0);
        if note.is_empty() {
            world.wrong(format!("the record of {} names no call", request.request));
        }
        if matches!(request.verdict, Verdict::Refused { .. }) && !request.attempts.is_empty() {
            world.wrong(format!("{note} was refused, and an attempt is on record"));
        }
        for attempt in &request.attempts {
            let Some(outcome) = attempt.outcomes.last() else {
                world.wrong(format!("an attempt of {note} has no end"));
                continue;
            };
            match outcome.state {
                OutcomeState::NotSent => continue,
                OutcomeState::Done | OutcomeState::Failed => {
                    *done.entry(note.clone()).or_default() += 1;
                    if received == 0 {
                        let state = outcome.state;
                        world.wrong(format!("{note} is on record as {state}, and never arrived"));
                    }
                }
                _ => {}
            }
            *left.entry(note.clone()).or_default() += 1;
        }
    }
    // What arrived is on record as what may have left.
    let unrecorded: Vec<String> = world
        .received
        .iter()
        .filter(|(note, times)| left.get(*note).copied().unwrap_or(0) < **times)
        .map(|(note, times)| format!("{note} arrived {times} times, and is not on record so often"))
        .collect();
    unrecorded.into_iter().for_each(|what| world.wrong(what));
    for (note, times) in done {
        let only_reads = world.meant.get(&note).is_some_and(|meant| meant.planned.reads);
        if times > 1 && !only_reads {
            world.wrong(format!("{note} is on record as carried out {times} times"));
        }
    }
}

impl Counts {
    pub fn add(&mut self, more: &Counts) {
        self.done += more.done;
        self.refused += more.refused;
        self.in_doubt += more.in_doubt;
        self.held += more.held;
        self.approved += more.approved;
        self.crashes += more.crashes;
        self.drifts += more.drifts;
        self.broken += more.broken;
    }

    /// Each kind of thing happened.
    pub fn all_seen(&self) {
        let Counts { done, refused, in_doubt, held, crashes, drifts, broken, .. } = *self;
        for count in [done, refused, in_doubt, held, crashes, drifts, broken] {
            assert!(count > 0, "{self:?}");
        }
    }
}
