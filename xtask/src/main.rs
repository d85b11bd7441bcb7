//! Automation of this repository: `cargo xtask ci | tidy | new-rule | bless | docs | picture`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod bless;
mod ci;
mod docs;
mod new_rule;
mod picture;
mod repo;
mod tidy;

use std::process::ExitCode;

/// One subcommand: its name, what it takes, what it does, and the function.
struct Command {
    name: &'static str,
    takes: &'static str,
    does: &'static str,
    run: fn(&[String]) -> repo::Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        takes: "",
        does: "everything that decides whether a change may land",
        run: ci::run,
    },
    Command { name: "tidy", takes: "", does: "the house rules alone", run: tidy::run },
    Command {
        name: "new-rule",
        takes: "NAME --area input|output|tool|authority|http|comparison",
        does: "make all parts of a rule under the next free code",
        run: new_rule::run,
    },
    Command {
        name: "bless",
        takes: "",
        does: "write the expected files anew; look at the difference before you commit it",
        run: bless::run,
    },
    Command {
        name: "docs",
        takes: "",
        does: "write the rules' index, the list of codes and the table of embedded pages anew",
        run: docs::run,
    },
    Command {
        name: "picture",
        takes: "",
        does: "draw the README's picture from what the binary prints",
        run: picture::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        return usage();
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return usage();
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentences) => {
            for sentence in &sentences.0 {
                eprintln!("{sentence}");
            }
            eprintln!("cargo xtask {name}: {}", plural(sentences.0.len(), "complaint"));
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("cargo xtask COMMAND");
    for command in COMMANDS {
        eprintln!("  {:<9} {}\n            {}", command.name, command.takes, command.does);
    }
    ExitCode::from(2)
}

/// `1 complaint`, `2 complaints`.
fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
