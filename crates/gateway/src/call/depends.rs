//! What calls rely on of the answers of others, as a person declared it: an answer that lost a value stops them.
//!
//! A member that an answer lacks is absent where the answer says that it was written by the contract that holds now (a
//! revision marker), and unknown in every other case: then what relies on it must not improvise.

use super::{Call, Plan};
use crate::limits;
use crate::session::{Session, lock};
use contract::{Depends, Revised};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use store::RequestId;

/// The members by which an answer says which contract it was written by.
const MARKERS: &[&str] = &["schema_revision", "result_version"];

/// What is known of the values that others rely on: by the tool that answers, and the member.
#[derive(Default)]
pub(crate) struct Relied(BTreeMap<(String, String), Known>);

/// One such value.
#[derive(Default)]
struct Known {
    /// The last answer lacked it.
    lost: bool,
    /// Digests of those that came, the oldest first, and the request that each came with at last.
    came: VecDeque<(String, RequestId)>,
}

impl Session {
    /// Takes down what an answer of a tool holds of the values that others rely on.
    pub(super) fn relied_on(&self, call: &Call, plan: &Plan, result: &Map<String, Value>) {
        let answered = plan.sent_as(call);
        let structured = result.get("structuredContent");
        let marked = plan.live.first().is_some_and(|live| is_current(live, result));
        for depends in &self.settings().depends {
            if depends.on != call.tool && depends.on != answered {
                continue;
            }
            let value = structured.and_then(|answer| answer.pointer(&depends.pointer()));
            let key = (depends.on.clone(), depends.member.clone());
            let mut relied = lock(self.relied());
            let known = relied.0.entry(key).or_default();
            match value.filter(|value| !value.is_null()) {
                Some(value) => {
                    known.lost = false;
                    let digest = contract::digest::of_value(value);
                    // One value that comes again and again takes one place.
                    known.came.retain(|(came, _)| *came != digest);
                    if known.came.len() >= limits::RELIED {
                        known.came.pop_front();
                    }
                    known.came.push_back((digest, plan.request));
                }
                None => known.lost = !marked,
            }
        }
    }

    /// What a call relies on and the last answer lacked. A value that an earlier answer gave is no such thing.
    pub(super) fn missing_for(&self, call: &Call) -> Option<Depends> {
        let relied = lock(self.relied());
        let stops = |depends: &&Depends| {
            let key = (depends.on.clone(), depends.member.clone());
            let Some(known) = relied.0.get(&key).filter(|known| known.lost) else { return false };
            let Some(value) = call.arguments.get(&depends.argument) else { return false };
            let digest = contract::digest::of_value(value);
            !known.came.iter().any(|(came, _)| *came == digest)
        };
        let mut declared = self.settings().depends.iter().filter(|d| d.tool == call.tool);
        declared.find(stops).cloned()
    }

    /// The requests whose answers a call relies on, as far as a person declared what comes from where.
    pub(super) fn relies_on(&self, call: &Call) -> Vec<RequestId> {
        let mut requests = BTreeSet::new();
        self.proven_by(call, &mut requests);
        let relied = lock(self.relied());
        for depends in self.settings().depends.iter().filter(|d| d.tool == call.tool) {
            let key = (depends.on.clone(), depends.member.clone());
            let (Some(known), Some(value)) =
                (relied.0.get(&key), call.arguments.get(&depends.argument))
            else {
                continue;
            };
            let digest = contract::digest::of_value(value);
            requests
                .extend(known.came.iter().filter(|(came, _)| *came == digest).map(|(_, id)| *id));
        }
        // The last ones, where a call takes values from more than one record can name.
        let over = requests.len().saturating_sub(store::limits::LISTED);
        requests.into_iter().skip(over).collect()
    }
}

/// True where the answer says that it was written by the contract that is live: its marker is the one that the
/// definition states.
fn is_current(live: &Revised, result: &Map<String, Value>) -> bool {
    let raw = &live.tool().raw;
    MARKERS.iter().any(|marker| {
        let stated = raw
            .pointer(&format!("/outputSchema/properties/{marker}/const"))
            .or_else(|| raw.pointer(&format!("/_meta/{marker}")));
        let said = result
            .get("structuredContent")
            .and_then(|answer| answer.get(marker))
            .or_else(|| result.get("_meta").and_then(|meta| meta.get(marker)));
        stated.is_some() && stated == said
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::Tool;
    use serde_json::json;

    #[test]
    fn only_the_marker_that_the_definition_states_is_current() {
        let raw = json!({"name": "t", "inputSchema": {}, "outputSchema": {"properties": {"schema_revision": {"const": "3"}}}});
        let live = Revised::new(Tool { name: "t".into(), raw, ordinal: None });
        let current = |result: Value| is_current(&live, result.as_object().unwrap());
        assert!(current(json!({"structuredContent": {"schema_revision": "3"}})));
        assert!(current(json!({"structuredContent": {}, "_meta": {"schema_revision": "3"}})));
        for unknown in [
            json!({"structuredContent": {"schema_revision": "2"}}),
            json!({"structuredContent": {"result_version": "3"}}),
            json!({"structuredContent": {}}),
            json!({}),
        ] {
            assert!(!current(unknown.clone()), "{unknown}");
        }
    }
}
