//! Asking a running server for its contract: how long to wait, which headers to send, what to show meanwhile.

use crate::exit::Failure;
use crate::files;
use crate::output::{self, Shell};
use clap::{Args, ValueEnum};
use contract::Problem;
use indicatif::{ProgressBar, ProgressStyle};
use mcp::{BEARER_VARIABLE, FetchError, FetchOptions, Headers, Snapshot, Step, Target};
use std::sync::Arc;
use std::time::Duration;

/// The environment variable that stands in for `--timeout`.
const TIMEOUT_VARIABLE: &str = "STEADFAST_TIMEOUT";

/// The longest wait that can be asked for, in seconds: an hour of silence is a fault, not a server.
const LONGEST_WAIT: f64 = 3600.0;

/// Flags of every command that asks a server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Asking a server")]
pub struct ServerArgs {
    /// How long the greeting and each page of the list may take (60 where neither this nor STEADFAST_TIMEOUT says); calls have no limit
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<String>,
    /// Speak this era of the protocol; auto finds out which the server speaks
    #[arg(long, value_enum, default_value_t = EraArg::Auto)]
    era: EraArg,
    /// Send the header NAME with the value of the environment variable VAR (repeatable)
    #[arg(long, value_name = "NAME=VAR")]
    header_from_env: Vec<String>,
    /// Send the headers in this file, one `Name: value` a line
    #[arg(long, value_name = "FILE")]
    headers_file: Option<String>,
    /// Use the proxy that HTTPS_PROXY or HTTP_PROXY names
    #[arg(long)]
    proxy_from_env: bool,
    /// Send headers to another machine although the address is http
    #[arg(long)]
    plain_http: bool,
}

/// The eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EraArg {
    /// Find out
    Auto,
    /// No handshake: 2026-07-28 and later
    Modern,
    /// With a handshake: 2025-11-25 and earlier
    Legacy,
}

/// Whether a target on the command line is the address of a server.
pub fn is_address(target: &str) -> bool {
    let scheme = target.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

impl ServerArgs {
    /// Starts the command, asks it for its contract, and ends it.
    pub fn ask_command(&self, shell: &Shell, command: &[String]) -> Result<Snapshot, Failure> {
        self.ask(shell, &Target::Command(command.to_vec()))
    }

    /// Asks the server at an address for its contract.
    pub fn ask_address(&self, shell: &Shell, address: &str) -> Result<Snapshot, Failure> {
        self.ask(shell, &self.target(address)?)
    }

    /// The server at an address, with the headers that it is sent.
    pub fn target(&self, address: &str) -> Result<Target, Failure> {
        Ok(Target::Url { url: address.to_owned(), headers: self.headers()? })
    }

    /// The server at an address, to be spoken to at length.
    pub fn web(&self, address: &str) -> Result<mcp::http::Server, Failure> {
        let headers = self.headers()?;
        mcp::http::Server::new(address, headers, self.proxy_from_env, self.plain_http).map_err(
            |why| {
                Failure::one(
                    mcp::shown_address(address),
                    why,
                    "Give the address of the MCP endpoint, https where a token goes with it.",
                )
            },
        )
    }

    fn ask(&self, shell: &Shell, target: &Target) -> Result<Snapshot, Failure> {
        let bar = shell.interactive.then(|| progress(&target.to_string()));
        let options = self.options(bar.clone())?;
        let outcome = mcp::fetch(target, &options);
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        let snapshot = outcome.map_err(|error| failure(shell, error))?;
        for note in &snapshot.notes {
            shell.note(&format!("note: {}", output::printable(note)));
        }
        Ok(snapshot)
    }

    /// How a server is asked.
    pub fn options(&self, bar: Option<ProgressBar>) -> Result<FetchOptions, Failure> {
        let mut options = FetchOptions {
            era: match self.era {
                EraArg::Auto => None,
                EraArg::Modern => Some(mcp::Era::Modern),
                EraArg::Legacy => Some(mcp::Era::Legacy),
            },
            proxy_from_env: self.proxy_from_env,
            plain_http: self.plain_http,
            ..FetchOptions::default()
        };
        if let Some(wait) = self.wait()? {
            options.request_timeout = wait;
            options.probe_timeout = options.probe_timeout.min(wait);
            options.total_timeout = options.total_timeout.max(wait.saturating_mul(10));
        }
        if let Some(bar) = bar {
            options.progress = Arc::new(move |step| bar.set_message(in_words(step)));
        }
        Ok(options)
    }

    pub fn wait(&self) -> Result<Option<Duration>, Failure> {
        let (place, text) = match (&self.timeout, std::env::var(TIMEOUT_VARIABLE)) {
            (Some(text), _) => ("--timeout", text.clone()),
            (None, Ok(text)) if !text.is_empty() => (TIMEOUT_VARIABLE, text),
            (None, _) => return Ok(None),
        };
        match text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= LONGEST_WAIT => {
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            _ => Err(Failure::one(
                place,
                format!("`{}` is not a time to wait.", output::printable(&text)),
                format!("Give seconds, more than 0 and at most {LONGEST_WAIT}."),
            )),
        }
    }

    /// The headers that were given, or everything that is wrong with them.
    pub fn headers(&self) -> Result<Headers, Failure> {
        let mut headers = Headers::default();
        let mut problems = Vec::new();
        let mut problem = |place: &str, sentence: String, help: &str| {
            problems.push(Problem { place: place.to_owned(), sentence, help: help.to_owned() });
        };
        if let Some(path) = &self.headers_file {
            let bytes = files::read(path)?;
            match std::str::from_utf8(&bytes) {
                Err(_) => problem(
                    path,
                    "The file is not UTF-8.".to_owned(),
                    "Write one `Name: value` a line.",
                ),
                Ok(text) => {
                    for why in headers.add_file(text).err().unwrap_or_default() {
                        problem(path, why, "Write one `Name: value` a line.");
                    }
                }
            }
        }
        for pair in &self.header_from_env {
            if let Err((sentence, help)) = from_environment(&mut headers, pair) {
                problem("--header-from-env", sentence, help);
            }
        }
        if let Ok(token) = std::env::var(BEARER_VARIABLE)
            && let Err(why) = headers.bearer(&token)
        {
            problem(BEARER_VARIABLE, why, "Set it to the token alone, or unset it.");
        }
        if problems.is_empty() { Ok(headers) } else { Err(problems.into()) }
    }
}

/// Adds a header whose value is in a variable of the environment, from `NAME=VAR`. `Err` is a sentence and a way
/// forward.
pub fn from_environment(headers: &mut Headers, pair: &str) -> Result<(), (String, &'static str)> {
    let Some((name, variable)) = pair.split_once('=') else {
        return Err((
            format!("`{}` is not NAME=VAR.", output::printable(pair)),
            "Name the header and the environment variable that holds its value; values are never typed here.",
        ));
    };
    let value = std::env::var(variable).map_err(|_| {
        (
            format!("The environment has no variable `{}`.", output::printable(variable)),
            "Set it, or name another one.",
        )
    })?;
    headers.add(name, &value).map_err(|why| (why, "Give each header once."))
}

/// The problems of a fetch, after what the server itself said.
pub fn failure(shell: &Shell, error: FetchError) -> Failure {
    if !error.said.is_empty() {
        let lines: Vec<String> =
            error.said.iter().map(|line| format!("  | {}", output::printable(line))).collect();
        shell.note(&format!("The server said:\n{}", lines.join("\n")));
    }
    let problems = error.problems.into_iter();
    Failure {
        problems: problems
            .map(|p| Problem { place: p.place, sentence: p.sentence, help: p.help })
            .collect(),
    }
}

fn progress(target: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}")
        .expect("the template names members that exist");
    let shown: String = output::printable(target).chars().take(50).collect();
    let bar = ProgressBar::new_spinner().with_style(style).with_prefix(shown);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn in_words(step: Step) -> String {
    match step {
        Step::Connecting => "connecting".to_owned(),
        Step::Probing => "asking who is there".to_owned(),
        Step::Page { reading, page, tools } => {
            format!("reading {reading}, page {page}, {tools} tools")
        }
        Step::Leaving => "leaving".to_owned(),
    }
}
