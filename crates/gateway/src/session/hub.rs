//! What all sessions share, and what the operator decided about a server.

use super::clerk::Clerk;
use super::{Session, lock};
use crate::catalogue::Definitions;
use crate::compare::Comparisons;
use crate::event::{self, Events};
use crate::limits;
use crate::metrics::Metrics;
use contract::Depends;
use contract::admission::{Adapt, Plain, Policy};
use contract::depends::FromResults;
use contract::keys::Key;
use contract::policy::Calls;
use contract::shape::Shapes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use store::{SessionId, Store};

/// Whose word counts about what became of a call: whether it left, and whether it was done.
#[derive(Debug, Clone, Default)]
pub enum Believed {
    /// Nobody's: an answer shows that a call was answered, and nothing else.
    #[default]
    Nobody,
    /// That of the server, which the gateway started for bound actions.
    Server,
    /// That of the server for these tools, whose calls go to no other.
    Tools(Bound),
}

/// Names of tools that are bound actions. One that was added stays: its calls never go to another server.
#[derive(Debug, Clone, Default)]
pub struct Bound(Arc<Mutex<BTreeSet<String>>>);

impl Bound {
    /// Takes down names.
    pub fn add(&self, names: impl IntoIterator<Item = String>) {
        lock(&self.0).extend(names);
    }

    /// True for the name of a bound action.
    pub fn holds(&self, tool: &str) -> bool {
        lock(&self.0).contains(tool)
    }
}

impl Believed {
    /// True where the word about calls of this tool counts.
    pub fn counts(&self, tool: &str) -> bool {
        match self {
            Believed::Nobody => false,
            Believed::Server => true,
            Believed::Tools(bound) => bound.holds(tool),
        }
    }
}

/// What the operator decided beforehand.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Block nothing; only tell what would have been.
    pub observe: bool,
    /// What to do about reach and defaults.
    pub policy: Policy,
    /// Tools that only read, whatever they claim.
    pub reads: BTreeSet<String>,
    /// Tools whose calls may outlive their contract: they run as tasks, or not at all.
    pub long: BTreeSet<String>,
    /// Tools whose calls are let end where their client leaves, where leaving would cancel them.
    pub finish: BTreeSet<String>,
    /// What calls rely on of the answers of others.
    pub depends: Vec<Depends>,
    /// Arguments whose values must have come in structured answers.
    pub from_results: Vec<FromResults>,
    /// What is done about answers that no schema describes and that are not what earlier ones were.
    pub shapes: Shapes,
    /// By what the server recognises a request that is made again.
    pub keys: Vec<Key>,
    /// How old the last reading of the list may be for a call with effects.
    pub effect_age: Option<Duration>,
    /// Whose word counts about what became of a call.
    pub believed: Believed,
    /// Which calls run, wait for a person, or never run, where somebody wrote that.
    pub calls: Option<Arc<Calls>>,
    /// The same for bound actions where nobody did.
    pub calls_bound: Option<Arc<Calls>>,
    /// How long the server may take to answer a question of the gateway's own.
    pub patience: Option<Duration>,
}

impl Settings {
    /// The rules that hold for calls of a tool.
    pub fn rules(&self, tool: &str) -> Option<&Calls> {
        let bound = || self.calls_bound.as_deref().filter(|_| self.believed.counts(tool));
        self.calls.as_deref().or_else(bound)
    }

    /// True for a tool that is configured as one that only reads.
    pub fn is_read(&self, tool: &str) -> bool {
        self.reads.contains(tool)
    }
}

/// Settles what gateways left open that are gone, again and again, as whoever opens the store does.
pub(crate) async fn settle_gone(hub: Arc<Hub>) {
    loop {
        tokio::time::sleep(limits::GONE).await;
        // What cannot be written now is settled later, and shown as in doubt until then.
        let _ = hub.store.settle_gone(event::now()).await;
    }
}

fn by_chance() -> u8 {
    uuid::Uuid::new_v4().as_bytes()[0]
}

/// What all sessions share.
pub struct Hub {
    /// Definitions by digest.
    pub definitions: Arc<Definitions>,
    /// Comparisons by digests.
    pub comparisons: Comparisons,
    /// Durable state.
    pub store: Arc<dyn Store>,
    /// Adapters in force.
    pub adapters: Box<dyn Adapt + Send + Sync>,
    /// Who is told what happens.
    pub events: Events,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What answers looked like that no schema describes.
    pub(crate) shapes: crate::call::Seen,
    /// For whom tasks run.
    pub(crate) minted: crate::call::Minted,
    /// Calls that run as tasks.
    pub(crate) tasks: crate::call::Tasks,
    /// Follows records that no call waits for.
    pub(super) clerk: Clerk,
    /// Sessions that are open.
    pub(super) live: Mutex<BTreeMap<SessionId, Weak<Session>>>,
    /// Where the pauses between unasked readings come from.
    chance: fn() -> u8,
}

impl Hub {
    /// A hub without adapters.
    pub fn new(store: Arc<dyn Store>, options: contract::Options) -> Hub {
        Hub {
            definitions: Arc::default(),
            comparisons: Comparisons::new(options),
            store,
            adapters: Box::new(Plain),
            events: Events::default(),
            metrics: Arc::default(),
            shapes: crate::call::Seen::default(),
            minted: crate::call::Minted::default(),
            tasks: crate::call::Tasks::default(),
            clerk: Clerk::default(),
            live: Mutex::default(),
            chance: by_chance,
        }
    }

    /// A hub for another server of the same gateway, with adapters of its own.
    #[must_use]
    pub fn beside(&self, adapters: Box<dyn Adapt + Send + Sync>) -> Hub {
        Hub {
            definitions: Arc::clone(&self.definitions),
            comparisons: Comparisons::new(self.comparisons.options().clone()),
            store: Arc::clone(&self.store),
            adapters,
            events: self.events.clone(),
            metrics: Arc::clone(&self.metrics),
            shapes: crate::call::Seen::default(),
            minted: crate::call::Minted::default(),
            tasks: crate::call::Tasks::default(),
            clerk: Clerk::default(),
            live: Mutex::default(),
            chance: self.chance,
        }
    }

    /// The same without chance in its pauses, for a simulation that is to be run again.
    #[must_use]
    pub fn foreseen(mut self) -> Hub {
        self.chance = || u8::MAX / 2;
        self
    }

    /// What keeps many gateways from asking one server in step.
    pub(super) fn chance(&self) -> u8 {
        (self.chance)()
    }

    /// The sessions that are open, the oldest first.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        lock(&self.live).values().filter_map(Weak::upgrade).collect()
    }
}
