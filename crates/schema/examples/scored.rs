//! The scored run: the hard pairs, and every changed schema of the real histories where they are at hand.
//!
//! `cargo run --release -p steadfast-schema --example scored [FOLDER]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a measuring tool for people"
)]

#[path = "../tests/it/generate.rs"]
mod generate;

use generate::{Boon, Dice, Near, mentioned};
use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, relate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    hard(&root);
    worst();
    let folder =
        std::env::args().nth(1).map_or_else(|| root.join("../shared/corpus/mcp"), PathBuf::from);
    if folder.is_dir() {
        histories(&folder);
    } else {
        println!("no histories at {}: only the hard pairs were run", folder.display());
    }
}

fn hard(root: &Path) {
    let text = std::fs::read_to_string(root.join("fixtures/schema/hard-cases.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let (mut right, mut unknown, mut wrong, mut shown, mut total) = (0, 0, 0, 0, 0);
    let mut times = Vec::new();
    for pair in all["schema_pairs"].as_array().unwrap() {
        let relation =
            relate(&read_again(&pair["a"]), &read_again(&pair["b"]), &Question::default());
        times.push(fastest(|| {
            let (a, b) = (read_again(&pair["a"]), read_again(&pair["b"]));
            std::hint::black_box(relate(&a, &b, &Question::default()));
        }));
        match (pair["subset"].as_bool().unwrap(), relation.lost) {
            (true, Answer::Nothing) => right += 1,
            (false, Answer::Some(witnesses)) => {
                right += 1;
                if witnesses[0].value.to_string().len() <= pair["witness"].to_string().len() {
                    shown += 1;
                }
            }
            (_, Answer::Unknown(_)) => unknown += 1,
            _ => wrong += 1,
        }
        total += usize::from(pair.get("witness").is_some());
    }
    println!(
        "hard pairs          right {right}  unknown {unknown}  wrong {wrong}  minimal witnesses {shown}/{total}  {}",
        spread(&mut times)
    );
}

/// Pairs made to use up every budget: how long the worst answer takes.
fn worst() {
    let union = |offset: usize| {
        let branches: Vec<Value> = (0..60)
            .map(|at| {
                json!({"properties": {
                    format!("p{}", at % 7): {"minimum": at + offset},
                    format!("q{}", at % 5): {"maxLength": at},
                    format!("r{}", at % 3): {"type": ["string", "integer"]},
                }})
            })
            .collect();
        json!({"oneOf": branches})
    };
    let either = |count: usize| {
        let all: Vec<Value> = (0..count)
            .map(|at| json!({"anyOf": [{"required": [format!("a{at}")]}, {"properties": {format!("b{at}"): {"minimum": at}}}]}))
            .collect();
        json!({"allOf": all, "maxProperties": count / 2})
    };
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let many = |least: usize| {
        json!({"type": "array", "minItems": least, "items": {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "string"}]},
        "contains": {"required": ["a"]}, "minContains": 5, "maxContains": 9, "uniqueItems": true})
    };
    let tree = |more: u64| {
        json!({"$defs": {"n": {"oneOf": [{"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": more},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/n"}, "maxProperties": more}, {"type": "integer", "maximum": more}]}}, "$ref": "#/$defs/n"})
    };
    for (name, old, new) in [
        ("unions of 60", union(0), union(1)),
        ("40 choices", either(40), either(41)),
        ("patterns", text("^(a|b)*a(a|b){18}$"), text("^(a|b)*b(a|b){17}$")),
        ("wide patterns", text("^(\\p{L}|\\d){0,2000}$"), text("^(\\w|\\p{Lu}){0,2000}$")),
        ("items that differ", many(30), many(31)),
        ("trees", tree(3), tree(4)),
        (
            "long lists",
            json!({"enum": (0..20_000).collect::<Vec<_>>()}),
            json!({"enum": (1..20_001).collect::<Vec<_>>()}),
        ),
    ] {
        let start = Instant::now();
        let (a, b) = (read_again(&old), read_again(&new));
        let read = start.elapsed();
        let relation = relate(&a, &b, &Question::default());
        let word = |answer: &Answer| match answer {
            Answer::Nothing => "nothing".to_string(),
            Answer::Some(_) => "some".to_string(),
            Answer::Unknown(why) => format!("open after {} steps ({})", why.spent, why.reason),
        };
        println!(
            "worst               {name:<20} {:>8.1} ms (of it reading {:.1})  lost: {}  gained: {}",
            start.elapsed().as_secs_f64() * 1e3,
            read.as_secs_f64() * 1e3,
            word(&relation.lost),
            word(&relation.gained)
        );
    }
}

/// (where, old, new) of every changed schema of neighbouring snapshots.
fn pairs(folder: &Path) -> Vec<(String, Value, Value)> {
    let mut out = Vec::new();
    let mut servers: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    servers.sort();
    for server in servers {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&server)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().ends_with(".tools.json"))
            .collect();
        files.sort();
        let mut before: BTreeMap<String, Value> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            let list: Value =
                serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let tools = list.get("tools").unwrap_or(&list).as_array().unwrap().clone();
            let now: BTreeMap<String, Value> = tools
                .into_iter()
                .map(|tool| (tool["name"].as_str().unwrap().to_string(), tool))
                .collect();
            for (name, tool) in now.iter().filter(|_| number > 0) {
                for side in ["inputSchema", "outputSchema"] {
                    if let (Some(old), Some(new)) =
                        (before.get(name).and_then(|old| old.get(side)), tool.get(side))
                        && old != new
                    {
                        out.push((
                            format!(
                                "{} {name} {side}",
                                file.strip_prefix(folder).unwrap().display()
                            ),
                            old.clone(),
                            new.clone(),
                        ));
                    }
                }
            }
            before = now;
        }
    }
    out
}

fn histories(folder: &Path) {
    let pairs = pairs(folder);
    println!("histories           {} changed schemas", pairs.len());
    for open_objects in [OpenObjects::AsWritten, OpenObjects::DeclaredWriters] {
        let question = Question { open_objects, ..Question::default() };
        let mut times = Vec::new();
        let (mut both, mut unread, mut nothing, mut some) = (0, 0, 0, 0);
        let (mut refuted, mut drawn, mut not_replayed) = (0, 0, 0);
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut slowest = (Duration::ZERO, String::new());
        for (number, (place, old, new)) in pairs.iter().enumerate() {
            let read = (
                Schema::read(old, &ReadOptions::default()),
                Schema::read(new, &ReadOptions::default()),
            );
            let (Ok(a), Ok(b)) = read else {
                unread += 1;
                println!("  not read: {place}: {:?}", read.0.err().or(read.1.err()));
                continue;
            };
            let relation = relate(&a, &b, &question);
            let took = fastest(|| {
                let (a, b) = (read_again(old), read_again(new));
                std::hint::black_box(relate(&a, &b, &question));
            });
            times.push(took);
            if took > slowest.0 {
                slowest = (took, place.clone());
            }
            let mut open = false;
            for (from, to, answer, name) in
                [(old, new, &relation.lost, "lost"), (new, old, &relation.gained, "gained")]
            {
                match answer {
                    Answer::Nothing => nothing += 1,
                    Answer::Some(_) => some += 1,
                    Answer::Unknown(why) => {
                        open = true;
                        *reasons.entry(why.reason.clone()).or_default() += 1;
                        println!(
                            "  open: {place} {name}: {} at {} {:?} after {}",
                            why.reason, why.pointer, why.keyword, why.spent
                        );
                    }
                }
                let (Some(yes), Some(no)) = (Boon::new(from), Boon::new(to)) else { continue };
                match answer {
                    Answer::Some(witnesses) => {
                        for witness in witnesses {
                            if !yes.accepts(&witness.value) || no.accepts(&witness.value) {
                                not_replayed += 1;
                                println!("  does not replay: {place} {name}: {}", witness.value);
                            }
                        }
                    }
                    Answer::Nothing => {
                        let strays = open_objects == OpenObjects::AsWritten;
                        let mut pool = Vec::new();
                        mentioned(from, &mut pool);
                        if strays {
                            mentioned(to, &mut pool);
                        }
                        let near = Near { root: from, strays, pool };
                        let mut dice = Dice::new(number as u64 + 1);
                        for _ in 0..40 {
                            let value = near.draw(from, &mut dice, 0);
                            drawn += 1;
                            if yes.accepts(&value) && !no.accepts(&value) {
                                refuted += 1;
                                println!("  refuted: {place} {name}: {value}");
                                break;
                            }
                        }
                    }
                    Answer::Unknown(_) => {}
                }
            }
            both += usize::from(!open);
        }
        let answers = 2 * pairs.len();
        println!(
            "{:<19} pairs decided {both}/{} ({:.1} %)  answers: nothing {nothing}, some {some}, open {}  not read {unread}",
            format!("{open_objects:?}"),
            pairs.len(),
            100.0 * both as f64 / pairs.len().max(1) as f64,
            answers - nothing - some - 2 * unread,
        );
        println!(
            "                    refuted {refuted} (of {drawn} values drawn)  witnesses not replayed by boon {not_replayed}"
        );
        println!(
            "                    read twice, both directions, best of five: {}",
            spread(&mut times)
        );
        println!("                    slowest {:?}: {}", slowest.0, slowest.1);
        for (reason, count) in reasons {
            println!("                    {count:>4} {reason}");
        }
    }
}

fn read_again(schema: &Value) -> Schema {
    Schema::read(schema, &ReadOptions::default()).unwrap()
}

/// The best of five runs: on a shared machine the others measure who else was running.
fn fastest(mut run: impl FnMut()) -> Duration {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..5).map(|_| once(&mut run)).min().unwrap_or_default()
}

fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let at = |share: f64| {
        times
            .get(((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1)))
            .copied()
            .unwrap_or_default()
    };
    format!(
        "median {:.3} ms  p99 {:.2} ms  max {:.2} ms  sum {:.2} s",
        at(0.5).as_secs_f64() * 1e3,
        at(0.99).as_secs_f64() * 1e3,
        at(1.0).as_secs_f64() * 1e3,
        times.iter().sum::<Duration>().as_secs_f64()
    )
}
