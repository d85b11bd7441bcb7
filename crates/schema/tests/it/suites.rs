//! Test suites of other projects as questions to the engine. `peers/schemas.sh` puts them beside the build;
//! nothing of them is part of this repository.

use crate::generate::Boon;
use crate::minimal::larger_than_needed;
use schema::{Answer, Dialect, Question, ReadOptions, Schema, evaluate, relate};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One directed question: does every value of `a` lie in `b`?
pub struct Case {
    pub id: String,
    pub a: Value,
    pub b: Value,
    /// What the suite says; `None` where it only has to be decided without contradiction.
    pub included: Option<bool>,
    /// Values that the suite says lie in `a` and not in `b`.
    pub between: Vec<Value>,
    pub dialect: Dialect,
}

/// What came out of many questions.
#[derive(Default)]
pub struct Tally {
    pub asked: usize,
    pub proved: usize,
    pub witnessed: usize,
    /// Not decided, with the reason.
    pub open: Vec<String>,
    /// Not read, with the reason.
    pub refused: Vec<String>,
    /// An answer against the label, or against another validator.
    pub wrong: Vec<String>,
    /// Rows that a reviewed exception explains.
    pub excepted: Vec<String>,
    /// Witnesses that could be smaller.
    pub large: Vec<String>,
    /// Bytes of each first witness.
    pub sizes: Vec<usize>,
}

impl Tally {
    pub fn ask(&mut self, case: &Case, exceptions: &BTreeMap<String, String>) {
        self.asked += 1;
        let options = ReadOptions { dialect: case.dialect };
        let (a, b) = match (Schema::read(&case.a, &options), Schema::read(&case.b, &options)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let why = a.err().or(b.err()).and_then(|all| all.into_iter().next());
                let why = why.map(|problem| problem.sentence).unwrap_or_default();
                self.refused.push(format!("{}: {why}", case.id));
                return;
            }
        };
        let answer = relate(&a, &b, &Question::default()).lost;
        let against = match (&answer, case.included) {
            (Answer::Nothing, Some(false)) => Some("proved, and labelled as not included".into()),
            (Answer::Some(found), Some(true)) => {
                Some(format!("{} is said to be lost, and labelled as included", found[0].value))
            }
            _ => None,
        };
        let against = against.or_else(|| contradiction(case, &a, &b, &answer));
        match &answer {
            Answer::Nothing => self.proved += 1,
            Answer::Unknown(why) => self.open.push(format!(
                "{}: {} at `{}` {:?} after {} steps",
                case.id, why.reason, why.pointer, why.keyword, why.spent
            )),
            Answer::Some(found) => {
                self.witnessed += 1;
                self.sizes.push(found[0].value.to_string().len());
                if let Some(smaller) = larger_than_needed(&case.a, &case.b, found) {
                    self.large.push(format!("{}: {smaller}", case.id));
                }
            }
        }
        match (against, exceptions.get(&case.id)) {
            (Some(why), Some(_)) => self.excepted.push(format!("{}: {why}", case.id)),
            (Some(why), None) => {
                self.wrong.push(format!("{}: {why}\n    a {}\n    b {}", case.id, case.a, case.b))
            }
            (None, Some(_)) => {
                self.wrong.push(format!("{}: listed as an exception, and is none", case.id));
            }
            (None, None) => {}
        }
    }

    pub fn show(&self, name: &str) -> String {
        let mut sizes = self.sizes.clone();
        sizes.sort_unstable();
        let p95 = sizes.get(sizes.len().saturating_sub(1) * 95 / 100).copied().unwrap_or(0);
        format!(
            "{name:<34} asked {}  proved {}  witnessed {}  open {}  refused {}  wrong {}  excepted {}  not minimal {}  witness p95 {p95} bytes",
            self.asked,
            self.proved,
            self.witnessed,
            self.open.len(),
            self.refused.len(),
            self.wrong.len(),
            self.excepted.len(),
            self.large.len(),
        )
    }
}

/// What the suite's own values, and another validator, say against an answer.
fn contradiction(case: &Case, a: &Schema, b: &Schema, answer: &Answer) -> Option<String> {
    if *answer == Answer::Nothing
        && let Some(value) = case.between.first()
    {
        return Some(format!("proved, and {value} lies between"));
    }
    let Answer::Some(found) = answer else { return None };
    for witness in found {
        if evaluate(a, &witness.value).is_err() || evaluate(b, &witness.value).is_ok() {
            return Some(format!("{} does not tell them apart", witness.value));
        }
        if case.dialect == Dialect::Draft202012
            && let (Some(yes), Some(no)) = (Boon::new(&case.a), Boon::new(&case.b))
            && (!yes.accepts(&witness.value) || no.accepts(&witness.value))
        {
            return Some(format!("{} is not one in a third validator", witness.value));
        }
    }
    None
}

/// The folder of `peers/schemas.sh`, or a line that says how to get it.
pub fn folder(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let path = target.join("peers/schemas").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not in place; peers/schemas.sh does that");
    None
}

/// Rows of `fixtures/schema/exceptions.tsv`: suite, case, reason.
pub fn exceptions(suite: &str) -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/schema/exceptions.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0] == suite)
        .map(|row| {
            assert!(row.len() == 3 && !row[2].is_empty(), "a row needs a reason: {row:?}");
            (row[1].to_string(), row[2].to_string())
        })
        .collect()
}

pub fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

pub fn read_json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap())
        .unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// jsoncompat's own fixtures as directed inclusions: what a writer of the new side sends lies in the old side, and
/// where even a reader breaks, the old side does not lie in the new one.
pub fn jsoncompat(folder: &Path) -> Vec<Case> {
    let mut out = Vec::new();
    let case = |id: String, a: &Value, b: &Value, included: bool, between: Vec<Value>| Case {
        id,
        a: a.clone(),
        b: b.clone(),
        included: Some(included),
        between,
        dialect: Dialect::Draft202012,
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder.join("backcompat"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in folders {
        let name = stem(&folder);
        let read = |file: &str| read_json(&folder.join(file));
        let (old, new, expect) = (read("old.json"), read("new.json"), read("expect.json"));
        let examples = folder.join("examples.json");
        let examples = if examples.exists() { read_json(&examples) } else { json!({}) };
        let writer = expect["serializer"].as_bool().unwrap();
        out.push(case(
            format!("backcompat/{name} new in old"),
            &new,
            &old,
            writer,
            list(&examples["new_only"]),
        ));
        if expect["deserializer"] == json!(false) {
            out.push(case(
                format!("backcompat/{name} old in new"),
                &old,
                &new,
                false,
                list(&examples["old_only"]),
            ));
        }
    }
    for file in json_files(&folder.join("compatibility")) {
        for (at, row) in list(&read_json(&file)).iter().enumerate() {
            let Some(expected) = row["expected"].as_array() else { continue };
            let (old, new) = (&row["old"], &row["new"]);
            let seen = |was: bool| {
                list(&row["witnesses"])
                    .into_iter()
                    .filter(|w| w["old"] == json!(was) && w["new"] == json!(!was))
                    .map(|w| w["data"].clone())
                    .collect::<Vec<_>>()
            };
            let id = format!("compatibility/{} {at}", stem(&file));
            // expected: forward writer, forward reader, reverse writer, reverse reader.
            let (forward, reverse) = (expected[0] == json!(true), expected[2] == json!(true));
            out.push(case(format!("{id} new in old"), new, old, forward, seen(false)));
            out.push(case(format!("{id} old in new"), old, new, reverse, seen(true)));
        }
    }
    out
}

const DRAFTS: [(&str, &str); 5] = [
    ("draft4", "http://json-schema.org/draft-04/schema#"),
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

fn in_draft(schema: &Value, draft: &str) -> Value {
    let uri = DRAFTS.iter().find(|(name, _)| *name == draft).map_or("", |(_, uri)| uri);
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema
        && !members.contains_key("$schema")
    {
        members.insert("$schema".into(), json!(uri));
    }
    schema
}

/// The `jsonschema` crate's canonical suite: each schema and its canonical form take the same values.
pub fn canonical(folder: &Path, newest_draft: bool) -> Vec<Case> {
    let mut out = Vec::new();
    for file in json_files(folder) {
        for group in list(&read_json(&file)) {
            let draft = group["draft"].as_str().unwrap_or("draft2020-12");
            let expected =
                group.get("expected_arbitrary_precision").or_else(|| group.get("expected"));
            let Some(expected) = expected else { continue };
            if (draft == "draft2020-12") != newest_draft {
                continue;
            }
            let own = group.get("schema").cloned().into_iter().chain(list(&group["schemas"]));
            for (at, schema) in own.enumerate() {
                let id = format!("{}/{} {at}", stem(&file), group["description"].as_str().unwrap());
                let (a, b) = (in_draft(&schema, draft), in_draft(expected, draft));
                for (way, a, b) in [("into", &a, &b), ("from", &b, &a)] {
                    out.push(Case {
                        id: format!("{id} {way}"),
                        a: a.clone(),
                        b: b.clone(),
                        included: Some(true),
                        between: Vec::new(),
                        dialect: Dialect::Draft202012,
                    });
                }
            }
        }
    }
    out
}

/// One schema of the official suite with the values it takes and does not take.
pub struct Group {
    pub id: String,
    pub schema: Value,
    pub tests: Vec<(Value, bool)>,
    pub dialect: Dialect,
}

pub fn official(folder: &Path, draft: &str, optional: bool) -> Vec<Group> {
    let dialect = if draft == "draft7" { Dialect::Draft07 } else { Dialect::Draft202012 };
    let mut files = json_files(&folder.join("tests").join(draft));
    if optional {
        files.extend(json_files(&folder.join("tests").join(draft).join("optional")));
    }
    let mut out = Vec::new();
    for file in files {
        for (at, group) in list(&read_json(&file)).iter().enumerate() {
            let tests = list(&group["tests"])
                .into_iter()
                .map(|test| (test["data"].clone(), test["valid"] == json!(true)))
                .collect();
            let description = group["description"].as_str().unwrap();
            out.push(Group {
                id: format!("{draft}/{} {at} {description}", stem(&file)),
                schema: group["schema"].clone(),
                tests,
                dialect,
            });
        }
    }
    out
}

/// The official suite as relations. Each schema lies in itself; the engine's judge gives the official verdicts; and
/// a valid value of one schema that another rejects refutes that the first lies in the second. `reach` says how many
/// schemas further on in the list each is held against.
pub fn official_relations(groups: &[Group], reach: usize) -> Tally {
    let suite = "official";
    let exceptions = exceptions(suite);
    let mut tally = Tally::default();
    let read: Vec<Option<Schema>> = groups
        .iter()
        .map(|group| match Schema::read(&group.schema, &ReadOptions { dialect: group.dialect }) {
            Ok(schema) => Some(schema),
            Err(why) => {
                let why = why.first().map(|why| why.sentence.clone()).unwrap_or_default();
                tally.refused.push(format!("{}: {why}", group.id));
                None
            }
        })
        .collect();
    for (at, (group, own)) in groups.iter().zip(&read).enumerate() {
        let Some(own) = own else { continue };
        tally.asked += 1;
        match relate(own, own, &Question::default()).lost {
            Answer::Nothing => tally.proved += 1,
            Answer::Some(found) => {
                tally.wrong.push(format!("{}: {} of itself", group.id, found[0].value));
            }
            Answer::Unknown(why) => tally.open.push(format!("{}: {}", group.id, why.reason)),
        }
        for (value, valid) in &group.tests {
            let judged = evaluate(own, value);
            let undecided = judged.as_ref().is_err_and(|why| why.keyword == "undecided");
            if judged.is_ok() != *valid && !undecided {
                let line = format!("{}: {value} is labelled {valid}", group.id);
                match exceptions.get(&group.id) {
                    Some(_) => tally.excepted.push(line),
                    None => tally.wrong.push(line),
                }
            }
        }
        let to = groups.len().min(at + 1 + reach);
        for other in (at + 1)..to {
            let Some(theirs) = &read[other] else { continue };
            held_against(&mut tally, (group, own), (&groups[other], theirs));
            held_against(&mut tally, (&groups[other], theirs), (group, own));
        }
    }
    tally
}

fn held_against(tally: &mut Tally, from: (&Group, &Schema), to: (&Group, &Schema)) {
    let rejected = from.0.tests.iter().find(|(value, _)| {
        evaluate(from.1, value).is_ok()
            && evaluate(to.1, value).is_err_and(|why| why.keyword != "undecided")
    });
    let Some((value, _)) = rejected else { return };
    tally.asked += 1;
    let id = format!("{} in {}", from.0.id, to.0.id);
    match relate(from.1, to.1, &Question::default()).lost {
        Answer::Nothing => tally.wrong.push(format!("{id}: proved, and {value} lies between")),
        Answer::Some(found) => {
            tally.witnessed += 1;
            tally.sizes.push(found[0].value.to_string().len());
            if let Some(smaller) = larger_than_needed(&from.0.schema, &to.0.schema, &found)
                && from.0.dialect == Dialect::Draft202012
            {
                tally.large.push(format!("{id}: {smaller}"));
            }
        }
        Answer::Unknown(why) => tally.open.push(format!(
            "{id}: {} at `{}` {:?} after {} steps",
            why.reason, why.pointer, why.keyword, why.spent
        )),
    }
}
