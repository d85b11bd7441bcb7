//! Single changes to real schemas: how many pairs stay undecided, and how small and how minimal the witnesses are.
//!
//! `cargo run --release -p steadfast-schema --example mutations -- [FOLDER]…` takes folders of tool lists (`*.tools.json`, in folders
//! of their own) or of function-calling schemas (lines of JSON with a `function`); default: the two that are at hand.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    reason = "a measuring tool for people"
)]

#[path = "../tests/it/attack.rs"]
mod attack;
#[path = "../tests/it/generate.rs"]
mod generate;
#[path = "../tests/it/grammar.rs"]
mod grammar;
#[path = "../tests/it/minimal.rs"]
mod minimal;
#[path = "../tests/it/suites.rs"]
mod suites;

use generate::Dice;
use schema::{Answer, OpenObjects, Question, relate};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders = [root.join("../shared/corpus/mcp"), root.join("fixtures/mcp")].into();
        folders.retain(|folder| folder.is_dir());
        folders.truncate(1);
        folders.extend(suites::folder("bfcl-eval-2026.3.23"));
    }
    let mut wrong = 0;
    for folder in folders {
        let schemas = schemas(&folder);
        println!("{}: {} different schemas", folder.display(), schemas.len());
        wrong += measure(&schemas);
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The different schemas below a folder, in a fixed order.
fn schemas(folder: &Path) -> Vec<Value> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut out = Vec::new();
    let mut add = |schema: Value| {
        if schema.is_object() && known.insert(schema.to_string()) {
            out.push(schema);
        }
    };
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        if file.to_string_lossy().ends_with(".tools.json") {
            let list: Value = serde_json::from_str(&text).unwrap();
            for tool in list.get("tools").unwrap_or(&list).as_array().into_iter().flatten() {
                add(tool["inputSchema"].clone());
                add(tool["outputSchema"].clone());
            }
            continue;
        }
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            let functions = match line.get("function") {
                Some(Value::Array(list)) => list.clone(),
                Some(one) => vec![one.clone()],
                // A file of function documents has one a line.
                None => vec![line],
            };
            for function in functions {
                if let Some(parameters) = function.get("parameters") {
                    add(in_words_of_json(parameters));
                }
            }
        }
    }
    out
}

/// Function-calling schemas name the types of several languages: what they mean in JSON.
fn in_words_of_json(schema: &Value) -> Value {
    let mut out = schema.clone();
    let mut open = vec![&mut out];
    while let Some(next) = open.pop() {
        match next {
            Value::Object(members) => {
                let word = members.get("type").and_then(Value::as_str).map(str::to_lowercase);
                if let Some(word) = word {
                    let named = match word.as_str() {
                        "dict" | "object" | "hashmap" | "hashtable" => "object",
                        "float" | "double" | "number" | "bigint" => "number",
                        "int" | "integer" | "long" | "short" | "byte" => "integer",
                        "array" | "list" | "tuple" | "arraylist" | "queue" | "stack" | "set" => {
                            "array"
                        }
                        "string" | "char" => "string",
                        "boolean" | "bool" => "boolean",
                        "null" => "null",
                        _ => "",
                    };
                    if named.is_empty() {
                        members.shift_remove("type");
                    } else {
                        members.insert("type".into(), json!(named));
                    }
                }
                open.extend(members.values_mut());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    out
}

type Mutation = fn(&mut Map<String, Value>) -> bool;

/// One change of one schema object; false where it does not apply there.
const MUTATIONS: [(&str, Mutation); 7] = [
    ("nothing changed", |_| true),
    ("required added", |schema| {
        let asked: Vec<String> = names(schema.get("required"));
        let Some(Value::Object(properties)) = schema.get("properties") else { return false };
        let Some(name) = properties.keys().find(|name| !asked.contains(name)).cloned() else {
            return false;
        };
        let more: Vec<String> = asked.into_iter().chain([name]).collect();
        schema.insert("required".into(), json!(more));
        true
    }),
    ("required dropped", |schema| {
        let mut asked = names(schema.get("required"));
        let had = asked.pop().is_some();
        if had {
            schema.insert("required".into(), json!(asked));
        }
        had
    }),
    ("type swapped", |schema| {
        let other = match schema.get("type").and_then(Value::as_str) {
            Some("string") => "integer",
            Some("integer" | "number" | "boolean") => "string",
            Some("array") => "object",
            _ => return false,
        };
        schema.insert("type".into(), json!(other));
        true
    }),
    ("enum value dropped", |schema| match schema.get_mut("enum") {
        Some(Value::Array(values)) if values.len() > 1 => values.pop().is_some(),
        _ => false,
    }),
    ("pattern added", |schema| {
        let text = schema.get("type") == Some(&json!("string")) && !schema.contains_key("pattern");
        if text {
            schema.insert("pattern".into(), json!("^[a-z][a-z0-9_-]{2,}$"));
        }
        text
    }),
    ("object closed", |schema| {
        let open = schema.contains_key("properties")
            && schema.get("additionalProperties") != Some(&json!(false));
        if open {
            schema.insert("additionalProperties".into(), json!(false));
        }
        open
    }),
];

fn names(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(String::from).collect()
}

#[derive(Default)]
struct Row {
    pairs: usize,
    answers: usize,
    nothing: usize,
    some: usize,
    open: usize,
    large: usize,
    sizes: Vec<usize>,
    times: Vec<Duration>,
}

fn measure(schemas: &[Value]) -> usize {
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    let (mut unread, mut wrong, mut shown) = (0, 0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (number, old) in schemas.iter().enumerate() {
        let mut dice = Dice::new(number as u64 + 1);
        for (kind, (name, mutation)) in MUTATIONS.iter().enumerate() {
            let Some(new) = mutated(old, mutation, &mut dice) else { continue };
            let start = Instant::now();
            let (Some(a), Some(b)) = (attack::read(old), attack::read(&new)) else {
                unread += 1;
                continue;
            };
            let relation = relate(&a, &b, &Question::default());
            let took = start.elapsed();
            let row = rows.entry(kind).or_default();
            row.times.push(took);
            row.pairs += 1;
            for (from, to, answer) in [(old, &new, &relation.lost), (&new, old, &relation.gained)] {
                row.answers += 1;
                match answer {
                    Answer::Nothing => row.nothing += 1,
                    Answer::Some(found) => {
                        row.some += 1;
                        row.sizes.push(found[0].value.to_string().len());
                        if let Some(why) = minimal::larger_than_needed(from, to, found) {
                            row.large += 1;
                            shown += 1;
                            if shown <= 10 {
                                println!("  not minimal ({name}): {why}");
                            }
                        }
                    }
                    Answer::Unknown(why) => {
                        row.open += 1;
                        *reasons.entry(why.reason.clone()).or_default() += 1;
                    }
                }
                if let Err(why) =
                    attack::attack(from, to, answer, &mut dice, OpenObjects::AsWritten)
                {
                    if why.starts_with("the other validator cannot read") {
                        continue;
                    }
                    wrong += 1;
                    println!("  wrong ({name}): {why}");
                }
            }
        }
    }
    let mut total = Row::default();
    for (kind, row) in rows {
        println!("  {:<20} {}", MUTATIONS[kind].0, shown_row(&row));
        total.pairs += row.pairs;
        total.answers += row.answers;
        total.nothing += row.nothing;
        total.some += row.some;
        total.open += row.open;
        total.large += row.large;
        total.sizes.extend(row.sizes);
        total.times.extend(row.times);
    }
    println!("  {:<20} {}", "all", shown_row(&total));
    println!("  wrong {wrong}, pairs not read {unread}");
    for (reason, count) in reasons {
        println!("  open {count:>5}  {reason}");
    }
    wrong
}

fn shown_row(row: &Row) -> String {
    let mut sizes = row.sizes.clone();
    sizes.sort_unstable();
    let mut times = row.times.clone();
    times.sort_unstable();
    fn at<T: Copy + Default>(sorted: &[T], percent: usize) -> T {
        sorted.get(sorted.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default()
    }
    format!(
        "pairs {:>6}  nothing {:>6}  some {:>6}  open {:>4} ({:.2} %)  not minimal {:>4}  bytes p50 {} p95 {} max {}  ms median {:.3} p99 {:.2}",
        row.pairs,
        row.nothing,
        row.some,
        row.open,
        100.0 * row.open as f64 / row.answers.max(1) as f64,
        row.large,
        at(&sizes, 50),
        at(&sizes, 95),
        at(&sizes, 100),
        at(&times, 50).as_secs_f64() * 1e3,
        at(&times, 99).as_secs_f64() * 1e3,
    )
}

/// The document with one of its schema objects changed, at a place that the dice choose.
fn mutated(document: &Value, mutation: &Mutation, dice: &mut Dice) -> Option<Value> {
    let mut places = grammar::places(document);
    while !places.is_empty() {
        let place = places.swap_remove(dice.roll(places.len()));
        let mut out = document.clone();
        if let Some(Value::Object(schema)) = out.pointer_mut(&place)
            && mutation(schema)
        {
            return Some(out);
        }
    }
    None
}
