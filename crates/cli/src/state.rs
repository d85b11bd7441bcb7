//! The store of the gateway, as commands open it.

use crate::args::Plain;
use crate::exit::Failure;
use crate::output::Shell;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use store::{Access, Answer, Millis, Options, Sqlite, StoreError};

/// Prints what was found, a line or more each, or as a JSON object with one member that lists them.
pub fn print_list<T>(
    shell: &Shell,
    format: Plain,
    (member, none): (&str, &str),
    found: &[T],
    lines: fn(&T) -> String,
    object: fn(&T) -> Value,
) -> Result<(), Failure> {
    shell.print(&match format {
        Plain::Text if found.is_empty() => format!("{none}\n"),
        Plain::Text => found.iter().map(lines).collect(),
        Plain::Json => {
            let objects: Vec<Value> = found.iter().map(object).collect();
            format!("{:#}\n", json!({ member: objects }))
        }
    })
}

/// The file in the folder of the state.
const FILE: &str = "steadfast.db";

/// Where the store is.
#[derive(Debug, Clone, clap::Args)]
pub struct StoreArgs {
    /// The store: a file, or a folder with steadfast.db [default: in $XDG_STATE_HOME/steadfast or ~/.local/state/steadfast]
    #[arg(long = "store", value_name = "PATH", global = true)]
    path: Option<PathBuf>,
}

impl StoreArgs {
    /// The file.
    pub fn path(&self) -> Result<PathBuf, Failure> {
        match &self.path {
            Some(path) if path.is_dir() => Ok(path.join(FILE)),
            Some(path) => Ok(path.clone()),
            None => state_folder().map(|folder| folder.join(FILE)).ok_or_else(|| {
                Failure::one(
                    "store",
                    "Neither XDG_STATE_HOME nor HOME is set to an absolute path.",
                    "Name the store: --store PATH.",
                )
            }),
        }
    }

    /// Opens it.
    pub fn open(&self, access: Access) -> Result<Sqlite, Failure> {
        let path = self.path()?;
        Sqlite::open(&path, Options::new(access, now())).map_err(|error| failure(&path, &error))
    }
}

impl StoreArgs {
    /// Makes the folder that it is in, where there is none.
    pub fn make_folder(&self) -> Result<(), Failure> {
        let path = self.path()?;
        let Some(folder) = path.parent() else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|why| {
            Failure::one(
                folder.display().to_string(),
                format!("The folder for durable state cannot be made: {why}."),
                "Make it, or name another file with --store.",
            )
        })
    }

    /// Opens it beside a gateway, or makes it where none ever ran.
    pub fn open_or_make(&self) -> Result<Sqlite, Failure> {
        let path = self.path()?;
        match Sqlite::open(&path, Options::new(Access::Command, now())) {
            Err(StoreError::Missing { .. }) => self.open_for_gateway(),
            other => other.map_err(|error| failure(&path, &error)),
        }
    }

    /// Opens it for one of several gateways, and makes it where there is none.
    pub fn open_for_gateway(&self) -> Result<Sqlite, Failure> {
        self.make_folder()?;
        self.open(Access::Shared)
    }
}

/// The folder of the state, by the rules of the XDG base directories.
fn state_folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("steadfast"))
}

/// Waits for an answer of the store.
pub fn wait<T>(answer: Answer<'_, T>) -> Result<T, Failure> {
    block_on(answer).map_err(|error| failure(Path::new("store"), &error))
}

/// Runs a task of the store here.
pub fn block_on<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing of the system")
        .block_on(task)
}

/// A sentence of the store as a failure: it brings its place and its way forward along.
pub fn failure(path: &Path, error: &StoreError) -> Failure {
    let sentence = error.to_string();
    let place = path.display().to_string();
    match sentence.strip_prefix(&format!("{place}: ")) {
        Some(rest) => Failure::one(place, rest, ""),
        None => Failure::one("store", sentence, ""),
    }
}

/// The time of now.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// A time for people and programs, in UTC.
pub fn shown_time(at: Millis) -> String {
    i64::try_from(at)
        .ok()
        .and_then(|at| jiff::Timestamp::from_millisecond(at).ok())
        .map_or_else(|| at.to_string(), |at| format!("{at:.3}"))
}

/// Who is at this terminal, as far as the environment says. It is a note for the record, not a proof.
pub fn who() -> String {
    std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "unnamed".into())
}
