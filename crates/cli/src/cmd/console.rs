//! `steadfast console`: what the commands tell and do, as pages for one person at this machine.

use crate::args::Command;
use crate::cmd::approve::{chosen, unchosen};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::limits;
use crate::output::Shell;
use crate::running;
use crate::state::{StoreArgs, failure};
use crate::terminal::Terminal;
use console::{Approver, Config, Console, serve};
use contract::adapter::Adapters;
use std::io::{BufRead, IsTerminal};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use store::approver::{ApproverKey, Unchosen};
use store::{Access, Sqlite};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct ConsoleArgs {
    /// Where it listens: an address of this machine alone; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The approver, where the keys of several are on this machine
    #[arg(long = "as", value_name = "NAME", conflicts_with = "read_only")]
    name: Option<String>,
    /// Ask for no passphrase, and decide about nothing
    #[arg(long)]
    read_only: bool,
    /// The folder below which exports of the journal are written
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    exports: PathBuf,
    /// The adapters that are in force, so that it is known which tools they carry
    #[arg(long, value_name = "FILE")]
    adapters: Option<String>,
    /// Days without use after which an adapter may be retired
    #[arg(long, value_name = "DAYS", default_value_t = limits::QUIET_DAYS)]
    quiet_days: u64,
    #[command(flatten)]
    store: StoreArgs,
}

impl Command for ConsoleArgs {
    const NAME: &'static str = "console";
    const ABOUT: &'static str =
        "Show approvals, sessions, activity, drift and journal as a web page";
    const EXAMPLES: &'static str = "\
Serves this machine alone. The link that is printed opens it once, in one tab; Enter prints another.
To decide there, the passphrase of your key is asked for here, at the terminal; the key stays open
until the console ends. Without a key, or with --read-only, it shows everything and decides nothing.

Examples:
  steadfast console
  steadfast console --read-only
  steadfast console --as ada --listen 127.0.0.1:7430 --exports /backup";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        if !self.listen.ip().is_loopback() {
            return Err(Failure::one(
                self.listen.to_string(),
                "The console serves this machine alone, and this is no address of it.",
                "Name one such as 127.0.0.1:7430; from afar, forward a port over SSH.",
            ));
        }
        let adapters = match &self.adapters {
            Some(path) => {
                let text = files::read(path)?;
                Some(Adapters::read(path, &String::from_utf8_lossy(&text))?)
            }
            None => None,
        };
        let store = self.store.open(Access::Read)?;
        let approver = self.approver(&store)?;
        if let Err(why) = &approver {
            shell.note(&format!("read only: {why}"));
        }
        let sockets = running::folder(&self.store)?;
        running::runtime()?.block_on(async {
            let listener = tokio::net::TcpListener::bind(self.listen).await.map_err(|why| {
                Failure::one(
                    self.listen.to_string(),
                    format!("The console cannot listen there: {why}."),
                    "Name another address: --listen 127.0.0.1:0 takes any port that is free.",
                )
            })?;
            let console = Console::new(Config {
                store,
                path: self.store.path()?,
                sockets,
                listen: listener.local_addr().unwrap_or(self.listen),
                approver,
                exports: self.exports.clone(),
                adapters,
                quiet_days: self.quiet_days,
            });
            print_link(shell, &console)?;
            if std::io::stdin().is_terminal() {
                more_links(Arc::clone(&console));
            }
            serve(console, listener, mcp::interrupted()).await;
            Ok(Exit::Fine)
        })
    }
}

impl ConsoleArgs {
    /// Who decides, or why nobody does.
    fn approver(&self, store: &Sqlite) -> Result<Result<Approver, String>, Failure> {
        if self.read_only {
            return Ok(Err("It was started with --read-only.".to_owned()));
        }
        let name = match chosen(store, &self.store, self.name.as_deref())? {
            Ok(name) => name,
            Err(Unchosen::None) => {
                return Ok(Err("The key of no approver is on this machine; steadfast approver enrol NAME makes one.".to_owned()));
            }
            Err(why) => return Err(unchosen(why, self.name.as_deref())),
        };
        let mut terminal = match Terminal::open() {
            Ok(terminal) => terminal,
            Err(_) if self.name.is_none() => {
                return Ok(Err("It was started without a terminal, and a passphrase is taken from nothing else.".to_owned()));
            }
            Err(why) => return Err(why),
        };
        let prompt = format!("Passphrase of {name} to decide in the console (none: read only): ");
        let passphrase = terminal.passphrase(&prompt)?;
        if passphrase.is_empty() {
            return Ok(Err("No passphrase was given when it was started.".to_owned()));
        }
        let path = self.store.path()?;
        let key = ApproverKey::open(&path, &name, &passphrase).map_err(|e| failure(&path, &e))?;
        Ok(Ok(Approver { name, key }))
    }
}

fn print_link(shell: &Shell, console: &Console) -> Result<(), Failure> {
    let link = console.link().map_err(|why| {
        Failure::one("console", format!("No link could be made: {why}."), "Try again.")
    })?;
    shell.print(&format!("{link}\n"))
}

/// Prints another link whenever the person at the terminal presses Enter. It waits for a key and nothing else, so it ends
/// with the process.
fn more_links(console: Arc<Console>) {
    std::thread::spawn(move || {
        let shell = Shell::from_environment();
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || print_link(&shell, &console).is_err() {
                return;
            }
        }
    });
}
