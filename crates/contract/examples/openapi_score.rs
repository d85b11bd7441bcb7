//! Scores OpenAPI comparison: the labelled mutations, the same operators on other documents, and
//! real pairs.
//!
//! `cargo run -p steadfast-contract --example openapi_score [-- ID…]`: an ID shows the findings
//! of that mutation.
#![allow(clippy::print_stdout, reason = "a report on the terminal is its purpose")]

#[path = "support/documents.rs"]
mod documents;
#[path = "support/mutators.rs"]
mod mutators;

use contract::decision::DecisionMap;
use contract::{Class, Decision, Diff, Options, Verdict, diff};
use mutators::{Map, Random};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

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

/// The real pairs beside the repository: what is found, to be read by a person.
fn pairs(corpus: &Path) {
    let mut folders: Vec<_> = std::fs::read_dir(corpus.join("openapi"))
        .expect("the corpus has a folder of pairs")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        let side = |name: &str| {
            let json = folder.join(format!("{name}.json"));
            let path = if json.exists() { json } else { folder.join(format!("{name}.yaml")) };
            documents::document(name, documents::value(&path))
        };
        let name = folder.file_name().expect("it has a name").to_string_lossy().into_owned();
        match diff(&side("old"), &side("new"), &Options::default()) {
            Err(problems) => println!("{name}: {problems:#?}"),
            Ok(found) => {
                println!("\n{name}: {:?}", found.verdict);
                for entry in &found.entries {
                    println!(
                        "  {} {:?} {:?}",
                        entry.subject.name(),
                        entry.verdict,
                        entry.axes.authority
                    );
                    for change in entry
                        .changes
                        .iter()
                        .filter(|c| c.class > Class::Cosmetic || c.verdict != Verdict::Safe)
                    {
                        let decisions: BTreeSet<Decision> =
                            change.decisions.iter().copied().collect();
                        println!(
                            "    {} {:?} [{}] {}",
                            change.rule,
                            change.verdict,
                            letters(&decisions),
                            change.sentence
                        );
                    }
                }
            }
        }
    }
}

/// Mutants of one kind that are tried in one document.
const TRIES: usize = 4;

/// The same kinds of change, seeded, in the documents beside the repository.
fn operators(corpus: &Path, show: &[String]) {
    let mut folders: Vec<_> = std::fs::read_dir(corpus.join("openapi"))
        .expect("the corpus has a folder of pairs")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    let maps: Vec<Map> = folders
        .iter()
        .map(|folder| {
            let json = folder.join("old.json");
            documents::value(&if json.exists() { json } else { folder.join("old.yaml") })
        })
        .filter(|root| root.get("openapi").is_some())
        .map(Map::of)
        .collect();
    let (mut flagged, mut review, mut alarms, mut safe) = (0, 0, 0, 0);
    println!("\n{:<48} {:<7} right of", "kind of change", "label");
    for operator in mutators::all() {
        let (mut right, mut of) = (0, 0);
        let mut random = Random(41);
        for map in &maps {
            let mut mutants = (operator.apply)(map, &mut random);
            for _ in 0..TRIES {
                if mutants.is_empty() {
                    break;
                }
                let at = (random.next() % mutants.len() as u64) as usize;
                let mut mutant = mutants.swap_remove(at);
                let old = mutators::old_side(map, &mut mutant);
                let place = documents::difference(&old, &mutant);
                let (old, new) =
                    (documents::document("old", old), documents::document("new", mutant));
                let found =
                    diff(&old, &new, &Options::default()).expect("both documents are sound");
                of += 1;
                let stopped = found.verdict != Verdict::Safe;
                if stopped == operator.review {
                    right += 1;
                } else if show.iter().any(|name| operator.name.contains(name.as_str())) {
                    println!("  {:?} {} {place}", found.verdict, map.root["info"]["title"]);
                    for change in found.entries.iter().flat_map(|entry| &entry.changes) {
                        println!(
                            "    {} {:?} {} {} {:?} {:?}",
                            change.rule,
                            change.verdict,
                            change.path,
                            change.sentence,
                            change.before,
                            change.after
                        );
                    }
                }
            }
        }
        if operator.review {
            flagged += right;
            review += of;
        } else {
            alarms += of - right;
            safe += of;
        }
        let wrong = if right == of { "" } else { "  <--" };
        println!(
            "{:<48} {:<7} {right:>3} {of:>3}{wrong}",
            operator.name,
            if operator.review { "review" } else { "safe" }
        );
    }
    println!("\nflagged {flagged} of {review}, false alarms {alarms} of {safe}");
}

fn main() {
    mutations();
    let show: Vec<String> = std::env::args().skip(1).collect();
    if let Some(corpus) = documents::corpus() {
        operators(&corpus, &show);
    }
    match documents::corpus() {
        Some(corpus) => pairs(&corpus),
        None => println!("no corpus beside the repository: real pairs are left out"),
    }
}
