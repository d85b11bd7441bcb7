//! The 42 hard pairs: each decided as labelled, with the expected witness or a smaller one.

use crate::minimal::larger_than_needed;
use schema::{Answer, Question, ReadOptions, Schema, relate};
use serde_json::Value;

fn pairs() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/schema/hard-cases.json");
    let text = std::fs::read_to_string(path).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["schema_pairs"].as_array().unwrap().clone()
}

#[test]
fn every_hard_pair_is_decided_as_labelled() {
    let mut wrong = Vec::new();
    for pair in pairs() {
        let read = |side: &str| Schema::read(&pair[side], &ReadOptions::default()).unwrap();
        let (a, b) = (read("a"), read("b"));
        let relation = relate(&a, &b, &Question::default());
        let name = format!("{} {}", pair["id"], pair["name"]);
        match (pair["subset"].as_bool().unwrap(), &relation.lost) {
            (true, Answer::Nothing) => {}
            (false, Answer::Some(witnesses)) => {
                let (found, known) = (&witnesses[0].value, &pair["witness"]);
                if found.to_string().len() > known.to_string().len() {
                    wrong.push(format!("{name}: {found} where {known} would do"));
                }
                if let Some(smaller) = larger_than_needed(&pair["a"], &pair["b"], witnesses) {
                    wrong.push(format!("{name}: {smaller}"));
                }
            }
            (_, answer) => wrong.push(format!("{name}: {answer:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of 42:\n{}", wrong.len(), wrong.join("\n"));
}
