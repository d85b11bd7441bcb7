//! Attacks on answers: drawn values and other engines judge what was proved, other validators replay what was shown.
//! Used by the tests and by the long hunt (`examples/hunt.rs`).

use crate::generate::{Boon, Dice, Near, mentioned};
use crate::grammar::{document, neighbour, values};
use schema::{Answer, OpenObjects, Question, ReadOptions, Relation, Schema, relate};
use serde_json::Value;

/// A schema, or nothing where the engine refuses the document.
pub fn read(document: &Value) -> Option<Schema> {
    // A random document may come back to itself without a step; that is refused when it is read.
    Schema::read(document, &ReadOptions::default()).ok()
}

/// Whether an answer is decided, or what speaks against it.
pub fn attack(
    from: &Value,
    to: &Value,
    answer: &Answer,
    dice: &mut Dice,
    open_objects: OpenObjects,
) -> Result<bool, String> {
    let (Some(yes), Some(no)) = (Boon::new(from), Boon::new(to)) else {
        return Err(format!("the other validator cannot read {from} or {to}"));
    };
    match answer {
        Answer::Unknown(_) => return Ok(false),
        Answer::Some(witnesses) => {
            for witness in witnesses {
                if !yes.accepts(&witness.value) || no.accepts(&witness.value) {
                    return Err(format!("{} does not tell\n{from} from\n{to}", witness.value));
                }
            }
        }
        Answer::Nothing => {
            let strays = open_objects == OpenObjects::AsWritten;
            let mut pool = if strays { values() } else { Vec::new() };
            mentioned(from, &mut pool);
            if strays {
                mentioned(to, &mut pool);
            }
            let near = Near { root: from, strays, pool: pool.clone() };
            let drawn = (0..60).map(|_| near.draw(from, dice, 0)).collect::<Vec<_>>();
            for value in drawn.iter().chain(if strays { &pool } else { &[][..] }) {
                if yes.accepts(value) && !no.accepts(value) {
                    return Err(format!(
                        "{value} refutes that nothing of\n{from} is lost in\n{to}"
                    ));
                }
            }
        }
    }
    Ok(true)
}

/// The pair of documents of a seed, and the dice for what follows.
pub fn pair(seed: u64) -> (Value, Value, Dice) {
    let mut dice = Dice::new(seed + 1);
    let old = document(&mut dice);
    let new = if dice.one_in(4) { document(&mut dice) } else { neighbour(&old, &mut dice) };
    (old, new, dice)
}

/// What came of one pair.
#[derive(Default)]
pub struct Found {
    pub decided: usize,
    pub asked: usize,
    pub wrong: Vec<String>,
    /// Reasons of what is not decided.
    pub open: Vec<String>,
    /// Another engine decided against a proof, or for what a replayed value refutes.
    pub other_engine: usize,
    pub other_engine_wrong: usize,
}

/// Relates a pair both ways and attacks both answers; `algebra` also asks another engine for its opinion.
pub fn judge(old: &Value, new: &Value, dice: &mut Dice, algebra: bool) -> Found {
    let mut found = Found::default();
    let (Some(a), Some(b)) = (read(old), read(new)) else { return found };
    let Relation { lost, gained } = relate(&a, &b, &Question::default());
    for (from, to, answer) in [(old, new, &lost), (new, old, &gained)] {
        found.asked += 1;
        match attack(from, to, answer, dice, OpenObjects::AsWritten) {
            Ok(yes) => found.decided += usize::from(yes),
            Err(why) => found.wrong.push(why),
        }
        if let Answer::Unknown(why) = answer {
            found.open.push(why.reason.clone());
        }
        if algebra && let Some(included) = algebra_says(from, to) {
            found.other_engine += 1;
            match (answer, included) {
                (Answer::Nothing, false) => found.wrong.push(format!(
                    "the other engine says that something of\n{from} is lost in\n{to}"
                )),
                // The value was replayed by three validators: the other engine is wrong.
                (Answer::Some(_), true) => found.other_engine_wrong += 1,
                _ => {}
            }
        }
    }
    found
}

/// The set algebra of the `jsonschema` crate: does `to` hold every value of `from`, in its opinion?
fn algebra_says(from: &Value, to: &Value) -> Option<bool> {
    use jsonschema::canonical::Containment;
    let read = |schema: &Value| jsonschema::canonicalize(schema).ok();
    match read(to)?.covers(&read(from)?).ok()? {
        Containment::Yes => Some(true),
        Containment::No => Some(false),
        Containment::Unknown => None,
    }
}

/// The smallest pair found by taking parts out while it still goes wrong.
pub fn shrink(mut old: Value, mut new: Value, seed: u64, algebra: bool) -> (Value, Value, String) {
    let fails = |old: &Value, new: &Value| {
        let mut dice = pair(seed).2;
        judge(old, new, &mut dice, algebra).wrong.into_iter().next()
    };
    let mut why = fails(&old, &new).unwrap_or_default();
    let mut tries = 0;
    'again: loop {
        for first in [true, false] {
            for less in parts_out(if first { &old } else { &new }) {
                tries += 1;
                if tries > 4_000 {
                    return (old, new, why);
                }
                let (one, two) = if first { (&less, &new) } else { (&old, &less) };
                if let Some(own) = fails(one, two) {
                    why = own;
                    *(if first { &mut old } else { &mut new }) = less;
                    continue 'again;
                }
            }
        }
        return (old, new, why);
    }
}

/// The document without one member or item, for each of them, outer ones first.
fn parts_out(document: &Value) -> Vec<Value> {
    let mut places = vec![String::new()];
    let mut out = Vec::new();
    let mut at = 0;
    while at < places.len() {
        let here = places[at].clone();
        at += 1;
        let keys: Vec<String> = match document.pointer(&here) {
            Some(Value::Object(members)) => members.keys().cloned().collect(),
            Some(Value::Array(items)) => (0..items.len()).map(|at| at.to_string()).collect(),
            _ => continue,
        };
        for key in keys {
            let mut less = document.clone();
            match less.pointer_mut(&here) {
                Some(Value::Object(members)) => drop(members.shift_remove(&key)),
                Some(Value::Array(items)) => drop(items.remove(key.parse().unwrap())),
                _ => {}
            }
            out.push(less);
            places.push(format!("{here}/{}", key.replace('~', "~0").replace('/', "~1")));
        }
    }
    out
}
