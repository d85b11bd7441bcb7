//! How the program ends: exit codes, failures, and what a bug says.

use contract::Problem;
use contract::policy::Standing;
use std::process::ExitCode;

/// The exit codes, the same for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing stands in the way.
    Fine,
    /// There are findings at the threshold.
    Findings,
    /// Wrong use, or input that cannot be read.
    Wrong,
    /// Nothing is refuted, but something could not be decided.
    Undecided,
    /// An error of this program.
    Bug,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Findings => 1,
            Exit::Wrong => 2,
            Exit::Undecided => 3,
            Exit::Bug => 70,
        })
    }
}

impl From<Standing> for Exit {
    fn from(standing: Standing) -> Exit {
        match standing {
            Standing::Clear => Exit::Fine,
            Standing::Undecided => Exit::Undecided,
            Standing::Findings => Exit::Findings,
        }
    }
}

/// Why a command could not do its work: all problems that are known.
#[derive(Debug)]
pub struct Failure {
    /// In the order in which they are to be read.
    pub problems: Vec<Problem>,
}

impl Failure {
    /// A failure with one problem.
    pub fn one(
        place: impl Into<String>,
        sentence: impl Into<String>,
        help: impl Into<String>,
    ) -> Failure {
        Failure {
            problems: vec![Problem {
                place: place.into(),
                sentence: sentence.into(),
                help: help.into(),
            }],
        }
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        Failure { problems }
    }
}

/// Makes a panic say what it is: an error of this program, not of its input.
pub fn report_bugs() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|at| format!("{}:{}", at.file(), at.line()))
            .unwrap_or_else(|| "an unknown place".to_owned());
        let message = info.payload_as_str().unwrap_or("no message");
        crate::output::complain(&format!(
            "bug: steadfast {} stopped at {place}: {message}\n  Your input did not cause this and nothing was written. Please report this line, with the command if you can share it.\n",
            env!("CARGO_PKG_VERSION")
        ));
    }));
}
