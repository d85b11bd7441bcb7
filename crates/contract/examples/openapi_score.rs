//! Scores OpenAPI comparison: the labelled mutations, the same operators on other documents, and
//! real pairs.
//!
//! `cargo run -p steadfast-contract --example openapi_score [-- ID…]`: an ID shows the findings
//! of that mutation.
#![allow(clippy::print_stdout, reason = "a report on the terminal is its purpose")]

#[path = "support/documents.rs"]
mod documents;

use contract::decision::DecisionMap;
use contract::{Decision, Diff, Options, Verdict, diff};
use serde_json::Value;
use std::collections::BTreeSet;

fn decisions(diff: &Diff) -> BTreeSet<Decision> {
    diff.entries
        .iter()
        .flat_map(|entry| entry.changes.iter())
        .filter(|change| change.verdict == diff.verdict)
        .flat_map(|change| change.decisions.iter().copied())
        .collect()
}

fn wanted(case: &Value) -> BTreeSet<Decision> {
    case["classes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|class| match class.as_str()? {
            "T" => Some(Decision::Target),
            "E" => Some(Decision::Eligibility),
            "S" => Some(Decision::Scope),
            "C" => Some(Decision::Completion),
            "H" => Some(Decision::Ask),
            _ => None,
        })
        .collect()
}

fn letters(set: &BTreeSet<Decision>) -> String {
    let text: Vec<&str> = set
        .iter()
        .map(|decision| match decision {
            Decision::Target => "T",
            Decision::Eligibility => "E",
            Decision::Scope => "S",
            Decision::Completion => "C",
            Decision::Ask => "H",
        })
        .collect();
    text.join("")
}

/// The labelled mutations: what is flagged, and the decision named with and without a map.
fn mutations() {
    let cases = documents::value(&documents::root().join("fixtures/schema/hard-cases.json"));
    let map =
        std::fs::read_to_string(documents::root().join("fixtures/openapi/projects.decisions.yaml"))
            .expect("the map is part of the repository");
    let map = DecisionMap::parse("projects.decisions.yaml", &map).expect("the map is sound");
    let base = &cases["openapi_base"];
    let (mut review, mut flagged, mut safe, mut alarms) = (0, 0, 0, 0);
    let mut classes = [[0usize; 3]; 2];
    println!(
        "{:<56} {:<7} {:<13} {:<5} {:<6} {:<6} rules",
        "mutation", "label", "verdict", "want", "map", "guess"
    );
    for case in cases["openapi_mutations"].as_array().expect("a list") {
        let new = documents::patched(base, &case["patch"]);
        let name = format!("{:>2} {}", case["id"], case["name"].as_str().expect("a name"));
        let mut verdicts = Vec::new();
        let mut found = Vec::new();
        let mut rules = BTreeSet::new();
        for decisions_map in [Some(map.clone()), None] {
            let options = Options { decisions: decisions_map, ..Options::default() };
            let old = documents::document("old", base.clone());
            let new = documents::document("new", new.clone());
            let result = diff(&old, &new, &options).expect("both documents are sound");
            verdicts.push(result.verdict);
            found.push(decisions(&result));
            rules.extend(
                result
                    .entries
                    .iter()
                    .flat_map(|entry| entry.changes.iter().map(|change| change.rule)),
            );
            let id = case["id"].to_string();
            if std::env::args().skip(1).any(|wanted| wanted == id) {
                for entry in &result.entries {
                    println!("  {:?} {:?}", entry.subject, entry.verdict);
                    for change in &entry.changes {
                        println!(
                            "    {} {:?} {} {} {:?}",
                            change.rule,
                            change.verdict,
                            change.path,
                            change.sentence,
                            change.decisions
                        );
                    }
                }
            }
        }
        let is_review = case["label"] == "review";
        for (at, verdict) in verdicts.iter().enumerate() {
            let stopped = *verdict != Verdict::Safe;
            if at == 0 {
                if is_review {
                    review += 1;
                    flagged += usize::from(stopped);
                } else {
                    safe += 1;
                    alarms += usize::from(stopped);
                }
            }
        }
        let want = wanted(case);
        if !want.is_empty() {
            for (at, found) in found.iter().enumerate() {
                classes[at][2] += 1;
                classes[at][0] += usize::from(*found == want);
                classes[at][1] += usize::from(!found.is_disjoint(&want));
            }
        }
        let agree = if verdicts[0] == verdicts[1] { "" } else { " (map and guess differ)" };
        let wrong = (verdicts[0] != Verdict::Safe) != is_review;
        println!(
            "{name:<56} {:<7} {:<13} {:<5} {:<6} {:<6} {}{agree}{}",
            case["label"].as_str().unwrap_or(""),
            format!("{:?}", verdicts[0]),
            letters(&want),
            letters(&found[0]),
            letters(&found[1]),
            rules.into_iter().collect::<Vec<_>>().join(" "),
            if wrong { "  <-- WRONG" } else { "" },
        );
    }
    println!("\nflagged {flagged} of {review}, false alarms {alarms} of {safe}");
    for (name, row) in ["with the map", "guessed"].iter().zip(classes) {
        println!(
            "decision {name}: exactly {} of {}, one in common {} of {}",
            row[0], row[2], row[1], row[2]
        );
    }
}

fn main() {
    mutations();
}
