//! The console: what the commands tell and do, as pages for one person at this machine.
//!
//! Every page is drawn from the store and from what running gateways answer at their control sockets, by the functions
//! that the commands use; every act is one that a command has too. The page keeps no state: it asks for a part, shows it,
//! and asks again when the journal grew.

mod act;
mod guard;
mod html;
pub mod limits;
mod live;
mod page;
mod serve;

pub use serve::serve;

use contract::adapter::Adapters;
use guard::Guard;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use store::approver::ApproverKey;
use store::{Sqlite, Store};
use tokio::sync::watch;

/// What a console is started with.
pub struct Config {
    /// The store, opened to be read.
    pub store: Sqlite,
    /// Its file, for what is written: each act opens it as a command does.
    pub path: PathBuf,
    /// The folder with the control sockets of the gateways that work on it.
    pub sockets: PathBuf,
    /// Where the console listens, on this machine.
    pub listen: SocketAddr,
    /// Who approves; without, or where it says why not, nothing can be decided.
    pub approver: Result<Approver, String>,
    /// Below this folder exports are written.
    pub exports: PathBuf,
    /// The adapters that are in force, where they were named.
    pub adapters: Option<Adapters>,
    /// Days without use after which an adapter may be retired.
    pub quiet_days: u64,
}

/// An approver whose key was opened by its passphrase.
pub struct Approver {
    /// The name under which the key is enrolled.
    pub name: String,
    /// The key.
    pub key: ApproverKey,
}

/// A running console.
pub struct Console {
    config: Config,
    guard: Guard,
    /// How many records the journal has, and how many calls wait.
    now: watch::Sender<live::Now>,
    /// The last events of running gateways, the newest last.
    events: Mutex<VecDeque<Value>>,
    /// Pairs of revisions that were compared: server, tool, and both digests.
    compared: Mutex<BTreeMap<[String; 4], Arc<contract::Diff>>>,
    /// The last verification, and how far one that runs has come.
    verified: Mutex<act::Verification>,
    /// One act at a time.
    acts: tokio::sync::Mutex<()>,
}

impl Console {
    /// A console that serves nobody yet.
    pub fn new(config: Config) -> Arc<Console> {
        let guard = Guard::new(config.listen);
        Arc::new(Console {
            config,
            guard,
            now: watch::Sender::new(live::Now::default()),
            events: Mutex::default(),
            compared: Mutex::default(),
            verified: Mutex::default(),
            acts: tokio::sync::Mutex::new(()),
        })
    }

    /// An address that opens the console once. Whoever has it may do what the console may.
    ///
    /// # Errors
    /// Where the system gives no chance.
    pub fn link(&self) -> Result<String, String> {
        // Behind the `#` it is sent to no server and stands in no log.
        Ok(format!("http://{}/#{}", self.config.listen, self.guard.link()?))
    }

    fn store(&self) -> &dyn Store {
        &self.config.store
    }
}

fn lock<T>(place: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    place.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
