//! A seeded simulation: the real sessions, calls, readings and store between simulated clients and a simulated server that
//! knows what its contracts mean, on paused time. Everything that can happen does, in an order that follows from a seed;
//! each run is judged by what must hold whatever happened. A failure names its seed, and the fewest steps that show it.
//!
//! `STEADFAST_SEED=7 cargo test -p steadfast-gateway --test it sim` runs one seed again and prints all that happened;
//! `STEADFAST_SEEDS=10000` runs so many.
//!
//! A gateway that ends here lets go of its store in order: what a process that is killed leaves on a disk is tested with
//! the store.

mod books;
mod chance;
mod client;
mod judge;
mod plan;
mod server;
mod truth;
mod world;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use books::{Books, now};
use chance::Chance;
use client::{Client, Mind};
use contract::admission::{OnWider, Policy};
use ed25519_dalek::{Signer as _, SigningKey};
use gateway::upstream::Server;
use gateway::wrap::{Wrapped, wrap};
use gateway::{Hub, Settings};
use plan::{CLIENTS, Step, What};
use server::{Servers, Told};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::{Access, Approver, Ids, Options, Ruling, Settlement, Sqlite, Store};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use world::{Counts, Shared};

/// What a seed decides besides its steps.
#[derive(Debug, Clone, Copy)]
struct Kind {
    seed: u64,
    modern: bool,
    holds: bool,
    /// On purpose: nothing is on record before it leaves.
    forgets: bool,
}

/// How a run went.
struct Run {
    wrong: Vec<String>,
    trace: Vec<String>,
    counts: Counts,
}

/// The person who approves.
fn person() -> SigningKey {
    SigningKey::from_bytes(&[5; 32])
}

fn millis() -> u64 {
    gateway::event::now()
}

fn opened(path: &Path, kind: Kind, life: u64) -> Sqlite {
    let ids = Ids::seeded(kind.seed.wrapping_mul(1_000).wrapping_add(life));
    let options = Options { access: Access::Gateway, at: millis(), ids, probe: None };
    Sqlite::open(path, options).unwrap()
}

/// Runs steps, through as many lives of the gateway as it takes.
fn run(kind: Kind, steps: &[Step]) -> Run {
    let fast = Path::new("/dev/shm");
    let folder = if fast.is_dir() { tempfile::tempdir_in(fast) } else { tempfile::tempdir() };
    let folder = folder.unwrap();
    let path = folder.path().join("state.db");
    let world = Shared::new(kind.holds);
    let minds: Vec<Arc<Mutex<Mind>>> = (0..CLIENTS).map(|_| Arc::default()).collect();
    let mut next = 0;
    for life in 0.. {
        let store = opened(&path, kind, life);
        if life == 0 && kind.holds {
            let public_key = STANDARD.encode(person().verifying_key().as_bytes());
            let anna = Approver { name: "anna".into(), public_key, at: millis() };
            now(store.enrol(anna, "owner".into())).unwrap();
        }
        let books = Arc::new(Books::new(store, world.clone(), kind.forgets));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let ended = runtime.block_on(async {
            let living = live(kind, &world, &minds, Arc::clone(&books), steps, &mut next);
            tokio::select! {
                biased;
                () = books.over.notified() => false,
                () = living => true,
            }
        });
        drop(runtime);
        drop(books);
        if ended {
            break;
        }
        world.look().counts.crashes += 1;
        // What a model has begun to write goes on; the step that met the end is over.
    }
    judge::at_the_end(&world, &opened(&path, kind, 999));
    let world = world.look();
    Run { wrong: world.wrong.clone(), trace: world.trace.clone(), counts: world.counts }
}

/// What lives as long as one gateway.
struct Life {
    kind: Kind,
    world: Shared,
    hub: Arc<Hub>,
    books: Arc<Books>,
    servers: Servers,
    clients: Vec<Client>,
    wraps: Vec<JoinHandle<()>>,
}

impl Life {
    /// A client, its pipe, and the gateway at the other end.
    async fn connect(&mut self, number: usize, mind: &Arc<Mutex<Mind>>) {
        let (hears, output) = tokio::io::duplex(1 << 16);
        let (says, input) = tokio::io::duplex(1 << 16);
        let on_wider = if self.kind.holds { OnWider::HoldEffects } else { OnWider::NewDecision };
        let policy = Policy { on_wider, ..Policy::default() };
        let servers = Servers { read: Arc::default(), ..self.servers.clone() };
        let wrapped = Wrapped {
            name: "simulated".to_owned(),
            server: Server::Here(Arc::new(servers)),
            principal: "local".to_owned(),
            settings: Settings { policy, ..Settings::default() },
        };
        let hub = Arc::clone(&self.hub);
        let world = self.world.clone();
        let gate = tokio::spawn(async move {
            let never = std::future::pending();
            if let Err(why) = wrap(hub, wrapped, input, output, never).await {
                world.look().note(format!("the gateway does not begin: {why}"));
            }
        });
        let world = self.world.clone();
        let (modern, mind) = (self.kind.modern, Arc::clone(mind));
        let client = Client::begin(number, modern, world, mind, hears, says).await;
        if self.clients.len() > number {
            self.clients[number] = client;
            self.wraps[number] = gate;
        } else {
            self.clients.push(client);
            self.wraps.push(gate);
        }
    }

    async fn person(&self, approves: bool) {
        let pending = self.books.pending(millis()).await.unwrap_or_default();
        for asked in pending {
            let ruling = if approves { Ruling::Approved } else { Ruling::Denied };
            let (id, digest) = (asked.id, &asked.action_digest);
            let text = store::approval::signed_text(id, digest, asked.expires, ruling);
            let signature = STANDARD.encode(person().sign(text.as_bytes()).to_bytes());
            let settlement = Settlement {
                id,
                ruling,
                by: "anna".into(),
                signature: Some(signature),
                at: millis(),
            };
            let note = judge::note_on(asked.card.as_deref());
            {
                let mut world = self.world.look();
                world.note(format!("a person says of {note}: {ruling}"));
                if approves {
                    // Before the word is on record: it may be used as soon as it is.
                    world.counts.approved += 1;
                    world.approved.insert(note);
                }
            }
            let _ = self.books.settle(settlement).await;
        }
    }
}

async fn live(
    kind: Kind,
    world: &Shared,
    minds: &[Arc<Mutex<Mind>>],
    books: Arc<Books>,
    steps: &[Step],
    next: &mut usize,
) {
    let store: Arc<dyn Store> = Arc::clone(&books) as _;
    let hub = Arc::new(Hub::new(store, contract::Options::default()).foreseen());
    let servers =
        Servers { world: world.clone(), told: broadcast::Sender::new(64), read: Arc::default() };
    let (clients, wraps) = (Vec::new(), Vec::new());
    let mut life = Life { kind, world: world.clone(), hub, books, servers, clients, wraps };
    for (number, mind) in minds.iter().enumerate() {
        life.connect(number, mind).await;
    }
    while let Some(step) = steps.get(*next) {
        *next += 1;
        take(&mut life, minds, &step.what).await;
        tokio::time::sleep(Duration::from_millis(step.pause)).await;
    }
    // Whatever is held is given up by now; what is never answered is lost once the server is gone.
    {
        let mut world = world.look();
        (world.fault, world.list_fault) = (None, None);
        world.note("the steps are over".to_owned());
    }
    *life.books.mishaps.lock().unwrap() = books::Mishaps::default();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let _ = life.servers.told.send(Told::End);
    tokio::time::sleep(Duration::from_secs(180)).await;
    // A client whose gateway could not begin hears nothing.
    for (client, _) in life.clients.iter().zip(&life.wraps).filter(|(_, gate)| !gate.is_finished())
    {
        for id in client.unanswered() {
            world.look().wrong(format!("request {id} is never answered"));
        }
    }
    life.clients.clear();
    for gate in life.wraps {
        let _ = gate.await;
    }
}

async fn take(life: &mut Life, minds: &[Arc<Mutex<Mind>>], what: &What) {
    match *what {
        What::List { client, lags } => life.clients[client].list(lags).await,
        What::Call { client, tool, sets } => life.clients[client].call(tool, sets).await,
        What::Repeat { client } => life.clients[client].again(false).await,
        What::Acknowledge { client } => life.clients[client].again(true).await,
        What::Cancel { client, reuses } => life.clients[client].cancel(reuses).await,
        What::Reconnect { client } => {
            life.world.look().note(format!("client {client} leaves and comes back"));
            life.connect(client, &minds[client]).await;
        }
        What::Drift { tool, how, told } => {
            life.world.look().drift(tool, how);
            if told {
                let _ = life.servers.told.send(Told::Ring);
            }
        }
        What::Ring => {
            let _ = life.servers.told.send(Told::Ring);
        }
        What::Fault(fault) => life.world.look().fault = Some(fault),
        What::ListFault(pause) => life.world.look().list_fault = Some(pause),
        What::ServerEnds => {
            life.world.look().note("the server ends".to_owned());
            let _ = life.servers.told.send(Told::End);
        }
        What::GatewayEnds { after, before } => {
            life.books.mishaps.lock().unwrap().ends = Some((after, before));
        }
        What::SlowDisk(pause) => life.books.mishaps.lock().unwrap().pause = pause,
        What::FullDisk(times) => life.books.mishaps.lock().unwrap().failing = times,
        What::Person { approves } => life.person(approves).await,
        What::Wait => {}
    }
}

fn planned(seed: u64) -> (Kind, Vec<Step>) {
    let mut chance = Chance::from(seed);
    let (modern, holds) = (chance.percent(50), chance.percent(50));
    (Kind { seed, modern, holds, forgets: false }, plan::of(&mut chance))
}

/// The fewest steps that still go wrong, as far as leaving out one stretch after the other finds them.
fn shortest(kind: Kind, steps: &[Step]) -> (Vec<Step>, Run) {
    let mut best = steps.to_vec();
    let mut size = best.len() / 2;
    while size > 0 {
        let mut start = 0;
        while start < best.len() {
            let mut fewer = best.clone();
            fewer.drain(start..(start + size).min(fewer.len()));
            if run(kind, &fewer).wrong.is_empty() {
                start += size;
            } else {
                best = fewer;
            }
        }
        size /= 2;
    }
    let last = run(kind, &best);
    (best, last)
}

fn told(kind: Kind, steps: &[Step], whole: &Run) -> String {
    let (fewest, shown) = shortest(kind, steps);
    // What hangs on the order of threads may not show again.
    let shown = if shown.wrong.is_empty() { whole } else { &shown };
    let steps: Vec<String> = fewest.iter().map(|step| format!("  {step:?}")).collect();
    format!(
        "STEADFAST_SEED={} ({kind:?}) goes wrong: {}\n{} steps show it:\n{}\nwhat happened:\n{}\n",
        kind.seed,
        whole.wrong.join("; "),
        fewest.len(),
        steps.join("\n"),
        shown.trace.join("\n"),
    )
}

/// Runs seeds; gives what happened in all of them.
fn all(seeds: impl Iterator<Item = u64>) -> Counts {
    let mut sum = Counts::default();
    for seed in seeds {
        let (kind, steps) = planned(seed);
        let run = run(kind, &steps);
        assert!(run.wrong.is_empty(), "{}", told(kind, &steps, &run));
        sum.add(&run.counts);
    }
    sum
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn whatever_happens_in_whatever_order_what_must_hold_holds() {
    if let Some(seed) = number("STEADFAST_SEED") {
        let (kind, steps) = planned(seed);
        let run = run(kind, &steps);
        eprintln!("{kind:?}\n{}\n{:?}", run.trace.join("\n"), run.counts);
        assert!(run.wrong.is_empty(), "{}", told(kind, &steps, &run));
        return;
    }
    let seeds = number("STEADFAST_SEEDS").unwrap_or(60);
    let begin = number("STEADFAST_SEED_FROM").unwrap_or(0);
    let sum = all(begin..begin + seeds);
    eprintln!("{seeds} seeds: {sum:?}");
    // A simulation in which nothing happens would find nothing.
    if seeds >= 100 {
        sum.all_seen();
    }
}

#[test]
fn a_gateway_that_keeps_no_record_before_it_sends_is_found_out() {
    let found = (0..3).all(|seed| {
        let (kind, steps) = planned(seed);
        let wrong = run(Kind { forgets: true, ..kind }, &steps).wrong;
        wrong.iter().any(|wrong| wrong.contains("no admission on record"))
    });
    assert!(found);
}
