//! Answers of tools that promise nothing about them, measured by what earlier answers looked like.

use super::{Call, Plan, answer};
use crate::session::{Session, lock};
use crate::{limits, refusal};
use contract::shape::{Moved, Shape, Shapes};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use store::OutcomeState;

/// What answers looked like, by principal, scope and tool.
#[derive(Default)]
pub(crate) struct Seen {
    tools: Mutex<BTreeMap<[String; 3], Known>>,
    /// It was told that there are more tools than are known.
    told_full: AtomicBool,
}

/// What the answers of one tool looked like.
#[derive(Default)]
struct Known {
    /// The digest of the revision that they came under.
    revision: String,
    shape: Shape,
    /// Those of the revision before it, until it is accepted or enough came.
    before: Shape,
    /// What was told already.
    told: BTreeSet<String>,
}

impl Known {
    /// What moved in an answer that came under this revision.
    fn judge(&mut self, revision: &str, accepted: bool, value: &Value) -> Vec<Moved> {
        if self.revision != revision {
            let shape = std::mem::take(&mut self.shape);
            if shape.is_known() {
                self.before = shape;
            }
            self.revision = revision.to_owned();
            self.told.clear();
        }
        if accepted || self.shape.is_known() {
            self.before = Shape::default();
        }
        let mut moved = self.shape.moved(value);
        for one in self.before.moved(value) {
            if !moved.contains(&one) {
                moved.push(one);
            }
        }
        moved
    }
}

/// What moved, in words.
fn said(moved: &Moved) -> String {
    let place = if moved.place.is_empty() { "its structure" } else { &moved.place };
    let place = contract::admission::shown_name(place);
    match moved.kinds {
        None => format!("{place} is not there"),
        Some((was, is)) => format!("{place} was {was} and is {is}"),
    }
}

/// Measures an answer that no schema describes. Gives what is told in its place, where it is not delivered.
pub(super) fn judged(
    session: &Session,
    call: &Call,
    plan: &Plan,
    raw: &str,
    result: &Map<String, Value>,
) -> Option<(String, OutcomeState)> {
    let settings = session.settings();
    let ([live], false) = (&plan.live[..], settings.shapes == Shapes::Off) else { return None };
    // A text that was an object and is one no longer lacks everything.
    let value = answer::structured(result);
    let value = value.as_deref().filter(|value| value.is_object());
    let nothing = Value::Object(Map::new());
    let enforces = settings.shapes == Shapes::Enforce && !settings.observe;
    let key = [session.principal().to_owned(), session.scope(), live.name().to_owned()];
    let (moved, fresh) = {
        let mut seen = lock(&session.shapes().tools);
        if seen.len() >= limits::SHAPES && !seen.contains_key(&key) {
            drop(seen);
            if !session.shapes().told_full.swap(true, Ordering::AcqRel) {
                let what = format!(
                    "what the answers of {} tools look like is known, and that is the most: those of {} and of further tools are not measured until the gateway starts again",
                    limits::SHAPES,
                    call.tool
                );
                session.tell("fault", Some(&call.tool), None, &what);
            }
            return None;
        }
        let known = seen.entry(key).or_default();
        let moved = known.judge(live.digest(), plan.accepted, value.unwrap_or(&nothing));
        // What stops is not what is expected from now on; what is only told is, and told once.
        if let Some(value) = value.filter(|_| moved.is_empty() || !enforces) {
            known.shape.learn(value);
        }
        let words: Vec<String> = moved.iter().map(said).collect();
        let fresh = words
            .iter()
            .any(|word| known.told.len() < limits::SHAPE_MOVED && known.told.insert(word.clone()));
        (words, fresh)
    };
    if moved.is_empty() {
        return None;
    }
    let words = moved.join(", ");
    if fresh || enforces {
        let what =
            format!("an answer of {} is not what each one before it was: {words}", call.tool);
        session.tell("shape-moved", Some(&call.tool), None, &what);
        session.shape_moved(&call.tool, &moved);
    }
    enforces.then(|| {
        let told = refusal::broken_answer(&call.tool, &[], &words, raw, plan.era);
        (told, OutcomeState::Done)
    })
}
