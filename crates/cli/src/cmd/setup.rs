//! `steadfast setup`: puts `wrap` before the servers of a client's configuration, and takes it out again.

mod clients;
mod json;
mod toml;

use crate::args::{Command, Plain};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::output::{Shell, printable};
use clients::{Client, Kind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Setup {
    /// The client
    #[arg(long, value_enum, value_name = "NAME")]
    client: Client,
    /// This server alone
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// This file in place of those where the client keeps its configuration
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Take it out again
    #[arg(long)]
    undo: bool,
    /// Change nothing; show what would be done
    #[arg(long)]
    dry_run: bool,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Plain::Text)]
    format: Plain,
}

impl Command for Setup {
    const NAME: &'static str = "setup";
    const ABOUT: &'static str = "Guard the servers in the configuration of an MCP client";
    const EXAMPLES: &'static str = "\
Puts `steadfast wrap --` before the command of each server that the client starts. Everything
else in the file stays as it is, comments too. A copy of the file is left beside it. Doing it
twice changes nothing; --undo takes it out again.

Exit codes: 0 done, or nothing to do · 2 no configuration, or one that cannot be read

Examples:
  steadfast setup --client claude-desktop --dry-run
  steadfast setup --client claude-code --server github
  steadfast setup --client vscode --file .vscode/mcp.json
  steadfast setup --client cursor --undo";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let own = own()?;
        let mut done = Vec::new();
        let mut problems = Vec::new();
        // Every file is read before the first is written.
        for path in self.files()? {
            match Planned::of(&path, &self, &own) {
                Ok(planned) => done.push(planned),
                Err(failure) => problems.extend(failure.problems),
            }
        }
        if !problems.is_empty() {
            return Err(problems.into());
        }
        if let Some(name) = &self.server
            && !done.iter().any(|planned| planned.servers.iter().any(|one| one.name == *name))
        {
            return Err(Failure::one(
                printable(name),
                "No server of this name is configured.",
                "See which are: leave --server out and pass --dry-run.",
            ));
        }
        if !self.dry_run {
            for planned in &mut done {
                planned.write()?;
            }
        }
        shell.print(&match self.format {
            Plain::Text => done.iter().map(|planned| planned.words(self.dry_run)).collect(),
            Plain::Json => {
                let files: Vec<Value> = done.iter().map(Planned::object).collect();
                let client = self.client.name();
                let whole = json!({"client": client, "dry_run": self.dry_run, "files": files});
                format!("{whole:#}\n")
            }
        })?;
        if !self.dry_run && done.iter().any(|planned| planned.after.is_some()) {
            shell.note("note: the client reads its configuration when it starts: start it again");
        }
        Ok(Exit::Fine)
    }
}

/// What is done with one server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Deed {
    /// Wrapped; the command before it.
    Wrapped,
    /// Taken out again.
    Unwrapped,
    /// It is as it should be.
    Nothing,
    /// It cannot be, for this reason.
    Left(&'static str),
}

/// One server of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Server {
    name: String,
    deed: Deed,
    /// The command before, with its arguments, as it may be shown.
    command: String,
    /// It has no list of arguments.
    bare: bool,
}

impl Server {
    fn left(name: &str, why: &'static str) -> Server {
        Server { name: name.to_owned(), deed: Deed::Left(why), command: String::new(), bare: false }
    }
}

/// A file with its servers, edited.
#[derive(Debug)]
struct Edited {
    text: String,
    servers: Vec<Server>,
}

/// What the copies from before earlier runs tell of a server, by its name and its command as it may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// It was not wrapped yet, and had arguments.
    Plain,
    /// It was not wrapped yet, and had no list of arguments.
    Bare,
    /// It was wrapped already: not by this command.
    Wrapped,
}

/// What is known of servers from before.
type Known = BTreeMap<(String, String), Before>;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    /// The command of this program.
    own: &'a str,
    /// One server alone.
    only: Option<&'a str>,
    undo: bool,
    /// What the copies tell of servers.
    known: &'a Known,
}

/// Takes over what a copy tells. That a server was once not wrapped goes before all else.
fn learn(known: &mut Known, copy: &Edited) {
    for server in &copy.servers {
        let before = match server.deed {
            Deed::Wrapped if server.bare => Before::Bare,
            Deed::Wrapped => Before::Plain,
            Deed::Nothing => Before::Wrapped,
            Deed::Unwrapped | Deed::Left(_) => continue,
        };
        let entry = known.entry((server.name.clone(), server.command.clone())).or_insert(before);
        if before != Before::Wrapped {
            *entry = before;
        }
    }
}

/// Why a server is left as it is.
const REMOTE: &str = "it is reached over the network; guard it with `steadfast wrap URL`";
const ODD: &str = "its command is no text, or its arguments are no list of texts";
const NOT_ASKED: &str = "it was not asked for";
const BY_HAND: &str = "it was not this command that wrapped it; take it out by hand";

impl Wanted<'_> {
    /// What is to be done with a server with this command and these arguments. Gives how many arguments stand before
    /// the command that is wrapped.
    fn deed(&self, name: &str, command: &str, arguments: &[String]) -> (Deed, usize) {
        let wrapped = wrapped(command, arguments);
        match (wrapped, self.undo) {
            _ if self.only.is_some_and(|only| only != name) => (Deed::Left(NOT_ASKED), 0),
            (Some(_), false) | (None, true) => (Deed::Nothing, 0),
            (None, false) => (Deed::Wrapped, 0),
            (Some(before), true) if self.is_ours(name, command, arguments, before) => {
                (Deed::Unwrapped, before)
            }
            (Some(_), true) => (Deed::Left(BY_HAND), 0),
        }
    }

    /// Whether this command wrapped it: a copy knows it from before. Where no copy does, it is as this command writes it.
    fn is_ours(&self, name: &str, command: &str, arguments: &[String], before: usize) -> bool {
        let told = |words: &[String]| {
            self.known.get(&(name.to_owned(), mcp::shown_command(words).join(" ")))
        };
        let whole = [&[command.to_owned()], arguments].concat();
        match (told(&arguments[before..]), told(&whole)) {
            (Some(Before::Plain | Before::Bare), _) => true,
            (_, Some(Before::Wrapped)) => false,
            _ => before == WRAP.len() && (command.starts_with('/') || command.contains(":\\")),
        }
    }

    /// Whether an empty list of arguments that is left over was put there together with `wrap`.
    fn was_bare(&self, name: &str, inner: &str) -> bool {
        let before = self.known.get(&(name.to_owned(), inner.to_owned()));
        before.is_none_or(|before| *before == Before::Bare)
    }
}

/// What is put before a command.
const WRAP: [&str; 2] = ["wrap", "--"];

/// Where a command is this program with `wrap` and a command after `--`: how many arguments stand before that one.
fn wrapped(command: &str, arguments: &[String]) -> Option<usize> {
    let file = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let own = matches!(file, "steadfast" | "steadfast.exe");
    let first = arguments.first().is_some_and(|first| first == "wrap");
    let at = arguments.iter().position(|argument| argument == "--")?;
    (own && first && at + 1 < arguments.len()).then_some(at + 1)
}

/// A file and what is done with it.
struct Planned {
    path: PathBuf,
    before: String,
    /// Its new text, where it changes.
    after: Option<String>,
    servers: Vec<Server>,
    /// The copy that the old text is, or was, kept in.
    backup: Option<PathBuf>,
    /// The copy is what is written back, and goes.
    restored: bool,
}

impl Planned {
    fn of(path: &Path, setup: &Setup, own: &str) -> Result<Planned, Failure> {
        let shown = path.display().to_string();
        let bytes = files::read(&shown)?;
        let before = String::from_utf8(bytes).map_err(|_| {
            Failure::one(&shown, "The file is not UTF-8.", "Save it as UTF-8. Nothing was changed.")
        })?;
        let edit = |text: &str, wanted: Wanted<'_>| match setup.client.kind() {
            Kind::Json(tables) => json::edit(&shown, text, tables, wanted),
            Kind::Toml => toml::edit(&shown, text, wanted),
        };
        let copies: Vec<(PathBuf, String)> = backups(path)
            .into_iter()
            .filter_map(|kept| Some((kept.clone(), files::text_of(&kept.display().to_string())?)))
            .collect();
        let none = Known::new();
        let all = Wanted { own, only: None, undo: false, known: &none };
        let mut known = Known::new();
        for (_, text) in copies.iter().filter(|_| setup.undo) {
            // A copy that cannot be read any more tells nothing.
            if let Ok(copy) = edit(text, all) {
                learn(&mut known, &copy);
            }
        }
        let only = setup.server.as_deref();
        let edited = edit(&before, Wanted { own, only, undo: setup.undo, known: &known })?;
        let mut after = (edited.text != before).then_some(edited.text);
        let (mut backup, mut restored) = (None, false);
        if setup.undo && after.is_some() && setup.server.is_none() {
            // Where nothing else was changed since, the file is what it was, to the byte.
            if let Some((kept, text)) = copies.into_iter().next_back()
                && edit(&text, all).is_ok_and(|edited| edited.text == before)
            {
                (after, backup, restored) = (Some(text), Some(kept), true);
            }
        } else if !setup.undo && after.is_some() {
            backup = backups(path).into_iter().find(|kept| !kept.exists());
            if backup.is_none() {
                return Err(Failure::one(
                    shown,
                    "There are too many copies of this file from earlier runs.",
                    "Move those that end with .before-steadfast elsewhere.",
                ));
            }
        }
        let path = path.to_owned();
        Ok(Planned { path, before, after, servers: edited.servers, backup, restored })
    }

    fn write(&mut self) -> Result<(), Failure> {
        let Some(after) = &self.after else { return Ok(()) };
        // A link stays a link: what it leads to is written.
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        match &self.backup {
            Some(backup) if !self.restored => files::write_private(backup, &self.before)?,
            _ => {}
        }
        files::write(&path, after)?;
        if let Some(backup) = self.backup.as_ref().filter(|_| self.restored) {
            // What is left of it would only be taken for a later state.
            let _ = std::fs::remove_file(backup);
        }
        Ok(())
    }

    fn words(&self, dry_run: bool) -> String {
        let mut text = format!("{}\n", printable(&self.path.display().to_string()));
        if self.servers.is_empty() {
            text.push_str("  no server is configured here\n");
        }
        for server in self.servers.iter().filter(|one| one.deed != Deed::Left(NOT_ASKED)) {
            let name = printable(&server.name);
            let command = printable(&server.command);
            text.push_str(&match &server.deed {
                Deed::Wrapped => format!("  {name}: steadfast wrap -- {command}\n"),
                Deed::Unwrapped => format!("  {name}: taken out; starts as before: {command}\n"),
                Deed::Nothing => format!("  {name}: is as it should be\n"),
                Deed::Left(why) => format!("  {name}: left as it is: {why}\n"),
            });
        }
        match (&self.after, &self.backup) {
            (None, _) => text.push_str("  nothing to change\n"),
            (Some(_), _) if dry_run => text.push_str("  nothing was changed: this was a dry run\n"),
            (Some(_), Some(_)) if self.restored => {
                text.push_str("  the file is what it was before\n")
            }
            (Some(_), Some(backup)) => {
                text.push_str(&format!("  the file as it was: {}\n", backup.display()));
            }
            (Some(_), None) => {}
        }
        text
    }

    /// The documented form: docs/setup.md.
    fn object(&self) -> Value {
        let servers: Vec<Value> = self
            .servers
            .iter()
            .map(|server| {
                let (deed, why) = match &server.deed {
                    Deed::Wrapped => ("wrapped", None),
                    Deed::Unwrapped => ("unwrapped", None),
                    Deed::Nothing => ("unchanged", None),
                    Deed::Left(why) => ("left", Some(*why)),
                };
                json!({"server": server.name, "deed": deed, "why": why, "command": server.command})
            })
            .collect();
        json!({
            "file": self.path.display().to_string(),
            "changed": self.after.is_some(),
            "backup": self.backup.as_ref().filter(|_| !self.restored).map(|b| b.display().to_string()),
            "servers": servers,
        })
    }
}

impl Setup {
    /// The files that are there.
    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        if let Some(file) = &self.file {
            return Ok(vec![file.clone()]);
        }
        let places = self.client.places();
        let found: Vec<PathBuf> = places.iter().filter(|path| path.is_file()).cloned().collect();
        if found.is_empty() {
            let looked: Vec<String> =
                places.iter().map(|path| path.display().to_string()).collect();
            return Err(Failure::one(
                self.client.name(),
                format!(
                    "No configuration of this client was found. Looked at: {}.",
                    looked.join(", ")
                ),
                "Name the file: --file PATH.",
            ));
        }
        Ok(found)
    }
}

/// The command by which a client starts this program: whole, since clients know no search path.
fn own() -> Result<String, Failure> {
    std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned)).ok_or_else(
        || Failure::one("setup", "Where this program lies cannot be told.", "Call it by its path."),
    )
}

/// Where copies of a file are kept, the first one first.
fn backups(path: &Path) -> Vec<PathBuf> {
    let named = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".before-steadfast");
        name.push(end);
        PathBuf::from(name)
    };
    let more = (2..=crate::limits::BACKUPS).map(|n| named(&format!(".{n}")));
    std::iter::once(named("")).chain(more).collect()
}
