//! The page about adapters and its fixtures: every example is run.

use crate::adapters::adapter;
use crate::pairs::repository;
use contract::adapter::{Adapters, Checked, Context, Grade, Outcome, Results, Verdict};
use contract::document::{Bundle, read};
use contract::lexicon::Lexicon;
use contract::policy::Day;
use contract::{Contract, ToolList};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/adapters.md")).unwrap()
}

/// The cells of the rows below a heading, without their backticks.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let section = page.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
    section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            line.trim_matches('|')
                .split(" | ")
                .map(|cell| cell.trim().trim_matches('`').to_owned())
                .collect()
        })
        .collect()
}

#[test]
fn every_step_on_the_page_does_what_it_says() {
    let none = BTreeMap::new();
    let context = Context {
        today: Day { year: 2026, month: 12, day: 1 },
        server_version: None,
        session_started_before_change: true,
        conditions: &none,
        evidence: Grade::Declared,
    };
    let rows = rows(&page(), "\n## Steps\n");
    let mut kinds = BTreeSet::new();
    for row in &rows {
        let [step, call, becomes] = &row[..] else { panic!("{row:?}") };
        let call: Value = serde_json::from_str(call).unwrap_or_else(|e| panic!("{call}: {e}"));
        let adapter = adapter("t", "t", &format!("step = [{{ {step} }}]"));
        kinds.insert(adapter.steps()[0].action.word());
        match adapter.apply(&call, &context) {
            Outcome::Applied(applied) => {
                assert_eq!(&applied.arguments.to_string(), becomes, "{step}")
            }
            other => panic!("{step}: {other:?}"),
        }
    }
    let all = ["constant", "default", "drop", "map", "move", "rename", "unwrap", "wrap"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_first_example_is_read() {
    let page = page();
    let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let read = Adapters::read("docs/adapters.md", text).unwrap();
    assert_eq!((read.adapters[0].steps().len(), read.adapters[0].results().len()), (1, 1));
}

fn list(path: &std::path::Path) -> ToolList {
    let root = contract::text::read("list.json", &std::fs::read(path).unwrap()).unwrap();
    match read(Bundle { name: "list".to_owned(), root, ..Bundle::default() }).unwrap().contract {
        Contract::Tools(list) => list,
        _ => panic!("{} is no list of tools", path.display()),
    }
}

fn word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "proved",
        Some(Verdict::NotForThis) => "not-for-this",
        Some(Verdict::Undecided) => "undecided",
        Some(Verdict::Refuted) => "refuted",
        Some(Verdict::Refused) => "refused",
    }
}

/// Everything that was found, one part a line.
fn report(checked: &Checked<'_>) -> String {
    let mut text = String::new();
    match &checked.outcome {
        Ok(proof) => {
            for note in &proof.notes {
                writeln!(text, "{note}").unwrap();
            }
            if proof.results == Results::Fits {
                writeln!(text, "every answer fits").unwrap();
            }
        }
        Err(why) => {
            for no in why {
                writeln!(text, "{} {}\n{}", no.place, no.sentence, no.help).unwrap();
                if let Some(example) = &no.counterexample {
                    writeln!(text, "{}\n{}", example.value, example.rejected_by).unwrap();
                    writeln!(text, "{}", example.becomes.clone().unwrap_or_default()).unwrap();
                }
            }
        }
    }
    text
}

#[test]
fn every_case_is_decided_as_it_says() {
    let folder = repository().join("fixtures/adapters");
    let mut cases = 0;
    let mut never = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let case = entry.unwrap().path();
        if !case.is_dir() {
            continue;
        }
        cases += 1;
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(case.join("adapter.toml")).unwrap();
        let adapters = Adapters::read("adapter.toml", &text).unwrap();
        let (old, new) = (list(&case.join("old.json")), list(&case.join("new.json")));
        let checked = adapters.check(None, &old, &new, &Lexicon::default());
        let expected = std::fs::read_to_string(case.join("expected.txt")).unwrap();
        let mut parts = expected.lines();
        let (outcome, told) = (word(checked[0].verdict()), report(&checked[0]));
        assert_eq!(Some(outcome), parts.next(), "{name}\n{told}");
        for part in parts {
            assert!(told.contains(part), "{name}: no {part:?} in\n{told}");
        }
        if matches!(outcome, "refused" | "refuted") {
            never.insert(name);
        }
    }
    assert!(cases >= 15, "{cases}");
    for row in rows(&page(), "\n## What never loads\n") {
        assert!(never.contains(&row[1]), "{row:?} is no case that never loads: {never:?}");
    }
}
