//! The binary `steadfast`: parse, dispatch, exit code.

mod args;
mod bindings;
mod cmd;
mod exit;
mod files;
mod limits;
mod load;
mod output;
mod pages;
mod pipes;
mod progress;
mod review;
mod running;
mod server;
mod settings;
mod state;
mod target;
mod teller;
mod terminal;
mod tokens;

use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    exit::report_bugs();
    let outcome = std::panic::catch_unwind(|| {
        let shell = output::Shell::from_environment();
        match args::parse(std::env::args_os()) {
            Ok(chosen) => match chosen.run(&shell) {
                Ok(exit) => exit,
                Err(failure) => shell.fail(&failure),
            },
            Err(answer) => shell.usage(&answer),
        }
    });
    outcome.unwrap_or(Exit::Bug).into()
}
