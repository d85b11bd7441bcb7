//! `cargo xtask ci`: everything that decides whether a change may land, in one go.

use crate::repo::{self, Complaints, Result};
use crate::tidy;
use std::process::Command;
use std::time::Instant;

/// One cargo run: its name, its arguments, the variables it needs.
struct Step {
    name: &'static str,
    arguments: Vec<&'static str>,
    environment: &'static [(&'static str, &'static str)],
}

/// Runs every step, also after one has failed: one run shows all there is to mend.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(stray) = arguments.first() {
        return Complaints::one(format!("cargo xtask ci takes no arguments, not {stray}"));
    }
    let mut complaints = Complaints::default();
    let begin = Instant::now();
    for step in steps() {
        complaints.absorb(run_step(&step));
    }
    println!("== house rules");
    complaints.absorb(tidy::run(&[]));
    println!("== {} s", begin.elapsed().as_secs());
    complaints.verdict()
}

/// Warnings are denied by arguments, not by RUSTFLAGS, so that no step throws away what another has compiled.
fn steps() -> Vec<Step> {
    let tests = if has_nextest() {
        let profile = if std::env::var_os("CI").is_some() { "ci" } else { "default" };
        vec!["nextest", "run", "--workspace", "--locked", "--profile", profile]
    } else {
        vec!["test", "--workspace", "--locked", "--lib", "--bins", "--tests", "--examples"]
    };
    vec![
        Step { name: "formatting", arguments: vec!["fmt", "--all", "--check"], environment: &[] },
        Step {
            name: "clippy",
            arguments: vec![
                "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings",
            ],
            environment: &[],
        },
        Step { name: "tests", arguments: tests, environment: &[] },
        Step {
            name: "doc tests",
            arguments: vec!["test", "--workspace", "--doc", "--locked"],
            environment: &[],
        },
        Step {
            name: "documentation",
            arguments: vec!["doc", "--workspace", "--no-deps", "--locked"],
            environment: &[("RUSTDOCFLAGS", "-D warnings")],
        },
    ]
}

fn has_nextest() -> bool {
    Command::new(repo::cargo())
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|done| done.status.success())
}

fn run_step(step: &Step) -> Result<()> {
    println!("== {}: cargo {}", step.name, step.arguments.join(" "));
    let begin = Instant::now();
    let done = Command::new(repo::cargo())
        .args(&step.arguments)
        .envs(step.environment.iter().copied())
        .current_dir(repo::root())
        .status();
    println!("== {}: {} s", step.name, begin.elapsed().as_secs());
    match done {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Complaints::one(format!("{} failed: {status}", step.name)),
        Err(error) => Complaints::one(format!("{} did not start: {error}", step.name)),
    }
}
