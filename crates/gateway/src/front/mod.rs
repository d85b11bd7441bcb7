//! The gateway on a socket: many servers for many clients over Streamable HTTP, in both eras of the protocol.
//!
//! Each server has an endpoint, `/mcp/NAME`; `/mcp/NAME@DIGEST` is for clients that declare which list they planned
//! with. A legacy client has a session with a connection of its own to the server; the modern clients of one principal
//! share one. Whoever comes is first held against what the operator let in ([`guard`]).

mod answer;
mod endpoint;
mod fan;
pub mod guard;
mod health;
mod joined;
mod legacy;
mod modern;
mod queue;
mod room;
mod serve;
mod streams;
pub mod token;

pub use serve::serve;

use crate::session::{Hub, Settings};
use crate::upstream::Server;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use fan::Fan;
use legacy::Legacy;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use token::Tokens;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The principal of whoever needs no token. No token can be made for it.
pub const ANONYMOUS: &str = "anonymous";

/// How the front is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names that it is known by, besides those of this machine where it listens on one of those.
    pub hosts: Vec<String>,
    /// Pages that may ask, besides those of this machine where it listens there.
    pub origins: Vec<String>,
    /// No token is needed.
    pub anonymous: bool,
    /// How long a session is kept of which nothing is heard.
    pub idle: Duration,
}

/// One server that is guarded.
pub struct Served {
    /// Its name, in paths and records.
    pub name: String,
    /// How it is reached.
    pub server: Server,
    /// What the operator decided about it.
    pub settings: Settings,
    /// What its sessions share.
    pub hub: Arc<Hub>,
}

/// The gateway on a socket.
pub struct Front {
    config: Config,
    guard: guard::Guard,
    servers: BTreeMap<String, Served>,
    tokens: watch::Receiver<Tokens>,
    /// Legacy sessions by the id that the client holds.
    sessions: Mutex<BTreeMap<String, Arc<Legacy>>>,
    /// What the modern clients of one principal share.
    fans: tokio::sync::Mutex<BTreeMap<(endpoint::Endpoint, String), Arc<Fan>>>,
    /// Bytes that all legacy sessions keep to be read again.
    replay: Arc<AtomicUsize>,
    room: room::Room,
    ready: tokio::sync::Mutex<health::Known>,
    closing: AtomicBool,
    /// Sessions that are being ended.
    ending: Mutex<JoinSet<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Front {
    /// A front that does not listen yet. The tokens may change while it runs.
    pub fn new(
        config: Config,
        servers: Vec<Served>,
        tokens: watch::Receiver<Tokens>,
    ) -> Arc<Front> {
        let guard = guard::Guard::new(config.listen, &config.hosts, &config.origins);
        Arc::new(Front {
            config,
            guard,
            servers: servers.into_iter().map(|served| (served.name.clone(), served)).collect(),
            tokens,
            sessions: Mutex::default(),
            fans: tokio::sync::Mutex::default(),
            replay: Arc::default(),
            room: room::Room::default(),
            ready: tokio::sync::Mutex::default(),
            closing: AtomicBool::new(false),
            ending: Mutex::default(),
        })
    }
}

impl Front {
    /// The server that an endpoint names.
    fn served(&self, endpoint: &endpoint::Endpoint) -> Result<&Served, Box<Response>> {
        self.servers.get(&endpoint.server).ok_or_else(|| {
            answer::refused(StatusCode::NOT_FOUND, "There is no such server here.").into()
        })
    }
}

/// A header that may stand once. `Err` where it stands twice or is no text: then nobody knows which one counts.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(|value| Some(value.trim())).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}
