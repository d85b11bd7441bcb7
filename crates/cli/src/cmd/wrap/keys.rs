//! The flags that say by what a server knows a request that is made again.

use crate::exit::Failure;
use crate::output;
use contract::Problem;
use contract::keys::{In, Key, Lists};

/// The flags.
#[derive(Debug, clap::Args)]
pub struct KeyArgs {
    /// An argument that takes the key by which the server knows a repetition, as in pay:idempotency_key (repeatable)
    #[arg(long = "key", value_name = "TOOL:ARGUMENT")]
    arguments: Vec<String>,
    /// A header that takes it, before a server at an address, as in pay:Idempotency-Key (repeatable)
    #[arg(long = "key-header", value_name = "TOOL:HEADER")]
    headers: Vec<String>,
    /// A tool whose callers' own keys are replaced; without this such calls are refused (repeatable)
    #[arg(long = "key-replaces", value_name = "TOOL")]
    replaces: Vec<String>,
    /// A tool that the server carries out once however often it comes with one key: a call in doubt is sent once more (repeatable)
    #[arg(long = "key-repeats", value_name = "TOOL")]
    repeats: Vec<String>,
}

impl KeyArgs {
    /// The keys; `web` says that the server has an address.
    pub fn read(&self, web: bool) -> Result<Vec<Key>, Failure> {
        let lists = Lists {
            arguments: &self.arguments,
            headers: &self.headers,
            replaces: &self.replaces,
            repeats: &self.repeats,
        };
        Key::all(lists, web).map_err(|wrong| {
            let problems: Vec<Problem> = wrong
                .into_iter()
                .map(|wrong| {
                    let (flag, help) = match wrong.list {
                        In::Arguments => ("--key", "Write TOOL:ARGUMENT, as in pay:idempotency_key."),
                        In::Headers => ("--key-header", "Write TOOL:HEADER, as in pay:Idempotency-Key, before a server at an address."),
                        In::Replaces => ("--key-replaces", "Name a tool that has its key in an argument: --key TOOL:ARGUMENT."),
                        In::Repeats => ("--key-repeats", "Name a tool that has a key: --key TOOL:ARGUMENT."),
                    };
                    Problem {
                        place: flag.to_owned(),
                        sentence: format!("`{}` {}.", output::printable(&wrong.word), wrong.why),
                        help: help.to_owned(),
                    }
                })
                .collect();
            problems.into()
        })
    }
}
