//! The engine on the test suites of other projects. `peers/schemas.sh` puts them in place first.
//!
//! `cargo run --release -p steadfast-schema --example suites -- [--all]`; `--all` shows each row that is open or refused.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    reason = "a measuring tool for people"
)]

#[path = "../tests/it/generate.rs"]
mod generate;
#[path = "../tests/it/minimal.rs"]
mod minimal;
#[path = "../tests/it/suites.rs"]
mod suites;

use std::process::ExitCode;
use suites::{Case, Tally, exceptions, folder};

fn main() -> ExitCode {
    let all = std::env::args().any(|word| word == "--all");
    let mut wrong = 0;
    let mut show = |name: &str, tally: &Tally| {
        println!("{}", tally.show(name));
        tally.wrong.iter().for_each(|line| println!("  wrong: {line}"));
        if all {
            tally.excepted.iter().for_each(|line| println!("  excepted: {line}"));
            tally.open.iter().for_each(|line| println!("  open: {line}"));
            tally.refused.iter().for_each(|line| println!("  refused: {line}"));
            tally.large.iter().for_each(|line| println!("  not minimal: {line}"));
        }
        wrong += tally.wrong.len();
    };
    if let Some(folder) = folder("jsoncompat-0.5.0") {
        show("jsoncompat", &ask("jsoncompat", &suites::jsoncompat(&folder)));
    }
    if let Some(folder) = folder("jsonschema-0.60.2") {
        show("canonical suite", &ask("canonical", &suites::canonical(&folder, true)));
        show(
            "canonical suite, older drafts",
            &ask("canonical", &suites::canonical(&folder, false)),
        );
    }
    if let Some(folder) = folder("jsonschema-4.25.1") {
        for draft in ["draft2020-12", "draft7"] {
            let groups = suites::official(&folder, draft, true);
            let tally = suites::official_relations(&groups, groups.len());
            show(&format!("official suite {draft}"), &tally);
        }
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn ask(suite: &str, cases: &[Case]) -> Tally {
    let exceptions = exceptions(suite);
    let mut tally = Tally::default();
    for case in cases {
        tally.ask(case, &exceptions);
    }
    tally
}
