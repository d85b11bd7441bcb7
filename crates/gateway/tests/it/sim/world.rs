//! What all parts of a run share: the truth, what is under way, and what was found wrong.

use super::plan::{Drift, Fault};
use super::truth::{self, Contract};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// A list as the server gave it: the contracts by their tools, and when it was read off.
pub type Snapshot = BTreeMap<&'static str, Arc<Contract>>;

/// A call as its client meant it.
#[derive(Clone)]
pub struct Meant {
    pub planned: Arc<Contract>,
    pub arguments: Map<String, Value>,
    /// When it was written, in the order of all that happened.
    pub at: u64,
}

/// What a run came to, counted: a run in which nothing happens finds nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub done: u32,
    pub refused: u32,
    pub in_doubt: u32,
    pub held: u32,
    pub approved: u32,
    pub crashes: u32,
    pub drifts: u32,
    pub broken: u32,
}

#[derive(Default)]
pub struct World {
    pub order: u64,
    tools: Snapshot,
    gone: BTreeMap<&'static str, Arc<Contract>>,
    past: BTreeMap<&'static str, Vec<Arc<Contract>>>,
    pub empty: bool,
    next_number: u32,
    /// Every contract that ever was, by its definition and by its digest.
    by_text: BTreeMap<String, Arc<Contract>>,
    by_digest: BTreeMap<String, Arc<Contract>>,
    pub fault: Option<Fault>,
    pub list_fault: Option<Option<u64>>,
    /// Calls by their notes.
    pub meant: BTreeMap<String, Meant>,
    /// How often each call reached the server.
    pub received: BTreeMap<String, u32>,
    /// Calls whose admission is on record.
    pub admitted: BTreeSet<String>,
    /// Calls that a person approved.
    pub approved: BTreeSet<String>,
    /// Reach beyond the first contracts waits for a person.
    pub holds: bool,
    pub counts: Counts,
    pub wrong: Vec<String>,
    pub trace: Vec<String>,
}

/// The world, for whoever shares it.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub fn new(holds: bool) -> Shared {
        let mut world = World { holds, next_number: 1, ..World::default() };
        for contract in truth::first() {
            world.put(contract);
        }
        Shared(Arc::new(Mutex::new(world)))
    }

    pub fn look(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

impl World {
    /// The next place in the order of what happens.
    pub fn tick(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    pub fn note(&mut self, what: String) {
        let place = self.tick();
        self.trace.push(format!("{place:5}  {what}"));
    }

    pub fn wrong(&mut self, what: String) {
        self.note(format!("WRONG: {what}"));
        self.wrong.push(what);
    }

    fn put(&mut self, contract: Contract) {
        let (listed, tool) = (contract.listed(), contract.tool);
        let contract = Arc::new(contract);
        let own = contract::Tool { name: tool.to_owned(), raw: listed.clone(), ordinal: None };
        let digest = contract::Revised::new(own).digest().to_owned();
        self.by_text.insert(listed.to_string(), Arc::clone(&contract));
        self.by_digest.insert(digest, Arc::clone(&contract));
        if let Some(before) = self.tools.insert(tool, contract) {
            self.past.entry(tool).or_default().push(before);
        }
    }

    /// The contract with this definition.
    pub fn known(&self, definition: &Value) -> Option<Arc<Contract>> {
        self.by_text.get(&definition.to_string()).cloned()
    }

    /// The contract with this digest.
    pub fn digested(&self, digest: &str) -> Option<Arc<Contract>> {
        self.by_digest.get(digest).cloned()
    }

    /// What holds now.
    pub fn snapshot(&self) -> Snapshot {
        if self.empty { Snapshot::new() } else { self.tools.clone() }
    }

    /// Moves the contract of a tool.
    pub fn drift(&mut self, tool: &'static str, how: Drift) {
        self.counts.drifts += 1;
        self.note(format!("{tool} drifts: {how:?}"));
        self.empty = how == Drift::Empty && !self.empty;
        match how {
            Drift::Empty => {}
            Drift::Gone => {
                if let Some(contract) = self.tools.remove(tool) {
                    self.gone.insert(tool, contract);
                }
            }
            Drift::Back => {
                if let Some(contract) = self.gone.remove(tool) {
                    self.put(Contract::clone(&contract));
                }
            }
            Drift::Earlier => {
                let before = self.past.get(tool).and_then(|past| past.last()).cloned();
                if let Some(before) = before.filter(|_| self.tools.contains_key(tool)) {
                    self.put(Contract::clone(&before));
                }
            }
            _ => {
                self.next_number += 1;
                let number = self.next_number;
                // One that is gone moves all the same, and comes back as another one.
                if let Some(contract) = self.tools.get(tool) {
                    let moved = contract.moved(how, number);
                    if moved != **contract {
                        self.put(moved);
                    }
                } else if let Some(contract) = self.gone.get(tool) {
                    let moved = Arc::new(contract.moved(how, number));
                    self.gone.insert(tool, moved);
                }
            }
        }
    }

    /// A call reached the server. `settled` is the list that the gateway last read twice over this connection, and when
    /// it was read off.
    pub fn receive(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
        settled: Option<&(Snapshot, u64)>,
    ) -> String {
        let note = arguments.get("note").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.note(format!("the server receives {name} {}", json!(arguments)));
        let times = self.received.entry(note.clone()).or_default();
        *times += 1;
        let times = *times;
        let only_reads = self.meant.get(&note).is_some_and(|meant| meant.planned.reads);
        // What only reads may be asked for again.
        if times > 1 && !only_reads {
            self.wrong(format!("{note} was sent twice"));
        }
        if !self.admitted.contains(&note) {
            self.wrong(format!("{note} left with no admission on record"));
        }
        let Some(meant) = self.meant.get(&note).cloned() else {
            self.wrong(format!("nobody meant {note}"));
            return note;
        };
        let Some((list, read)) = settled else {
            self.wrong(format!("{note} left before the list was read"));
            return note;
        };
        let Some(live) = list.get(name) else {
            self.wrong(format!("{note} was sent to {name}, which was not listed"));
            return note;
        };
        // Of what only reads, the last list may be a moment old.
        if live.reads && meant.planned.reads {
            return note;
        }
        if *read < meant.at {
            self.wrong(format!("{note} left by a list of before it was made"));
        }
        let (wanted, done) = (meant.planned.intent(&meant.arguments), live.intent(arguments));
        if wanted != done {
            self.wrong(format!("{note} was meant as {wanted:?} and is carried out as {done:?}"));
        }
        if meant.planned.reads && !live.reads {
            self.wrong(format!("{note} was planned as what reads, and has an effect"));
        }
        let further = live.is_wide(arguments) || name == "find";
        if self.holds && further && !self.approved.contains(&note) {
            self.wrong(format!("{note} reaches beyond what was granted, and nobody approved it"));
        }
        note
    }
}
