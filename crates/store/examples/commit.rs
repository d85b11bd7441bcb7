//! How many intents a second, and how long each waits for the disk: one writer and 64, beside a bare append and flush;
//! how many whole calls that only read, of three records each; and how fast a journal is verified.
//!
//! `cargo run --release -p steadfast-store --example commit [FOLDER]`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a product")]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use store::journal::{Trust, export, verify_folder, verify_store};
use store::{
    Access, Decision, Era, Grade, NewAttempt, NewOutcome, NewSession, Options, OutcomeState,
    Planned, RequestId, SessionId, Sqlite, Store, Verdict,
};

const NOW: u64 = 1_764_500_000_000;

/// How many intents each row measures.
const COUNT: usize = 2_000;

/// How many whole calls.
const CALLS: usize = 20_000;

fn main() {
    let folder = match std::env::args().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    println!("{:<34} {:>10} {:>9} {:>9} {:>9}", "", "a second", "p50", "p99", "flushes");
    append(folder.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(calls(folder.path()));
    for (name, effect, writers) in [
        ("intents of effects, 1 writer", true, 1),
        ("intents of effects, 64 writers", true, 64),
        ("intents of reads, 1 writer", false, 1),
        ("intents of reads, 64 writers", false, 64),
    ] {
        let path = folder.path().join(format!("{effect}-{writers}.db"));
        let store = Arc::new(Sqlite::open(path, Options::new(Access::Gateway, NOW)).unwrap());
        runtime.block_on(intents(name, &store, effect, writers));
        if effect && writers > 1 {
            runtime.block_on(verified(&store, folder.path()));
        }
    }
}

/// What any journal pays: an append of a record's size and a flush.
fn append(folder: &Path) {
    let mut file = File::create(folder.join("append")).unwrap();
    let begun = Instant::now();
    let mut waits: Vec<Duration> = (0..COUNT)
        .map(|_| {
            let begun = Instant::now();
            file.write_all(&[b'x'; 400]).unwrap();
            file.sync_data().unwrap();
            begun.elapsed()
        })
        .collect();
    row("append and flush, 1 writer", &mut waits, begun.elapsed(), COUNT as u64);
}

/// Calls that only read: nobody waits for their records, and many share a transaction.
async fn calls(folder: &Path) {
    let store = Sqlite::open(folder.join("calls.db"), Options::new(Access::Gateway, NOW)).unwrap();
    let session = store.open_session(session()).await.unwrap();
    let begun = Instant::now();
    let mut ends = Vec::new();
    for _ in 0..CALLS {
        let request = store.ids().request(NOW).unwrap();
        let attempt = store.ids().attempt(NOW).unwrap();
        let new = NewAttempt {
            request,
            target: "https://api.example.com/v1/things".into(),
            idempotency_key: None,
            again: None,
            at: NOW,
        };
        let decision = decision(request, session, false);
        ends.push(store.leave(decision, attempt, new).await.unwrap());
        let answer = Some(r#"{"structuredContent":{"id":"n-1","text":"A note"}}"#.into());
        let state = OutcomeState::Done;
        let outcome = NewOutcome { attempt, state, answer, late: false, at: NOW };
        ends.push(store.outcome_of_read(outcome).await.unwrap());
    }
    for end in ends {
        end.await.unwrap();
    }
    let rate = CALLS as f64 / begun.elapsed().as_secs_f64();
    println!("{:<34} {rate:>10.0}", "whole calls that read");
}

fn session() -> NewSession {
    NewSession {
        server: "s".into(),
        principal: "p".into(),
        era: Era::Legacy,
        client_info: None,
        at: NOW,
    }
}

async fn intents(name: &str, store: &Arc<Sqlite>, effect: bool, writers: usize) {
    let session = store.open_session(session()).await.unwrap();
    let mut requests = Vec::new();
    for _ in 0..COUNT {
        requests.push(decide(&**store, session, effect).await);
    }
    // The disk is to flush what is measured, not what was prepared.
    store.checkpoint().await.unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let before = store.flushes();
    let begun = Instant::now();
    let tasks: Vec<_> = requests
        .chunks(COUNT.div_ceil(writers))
        .map(|chunk| {
            let (store, chunk) = (Arc::clone(store), chunk.to_vec());
            tokio::spawn(async move {
                let mut waits = Vec::new();
                for request in chunk {
                    let begun = Instant::now();
                    let target = "https://api.example.com/v1/things".into();
                    let new =
                        NewAttempt { request, target, idempotency_key: None, again: None, at: NOW };
                    store.intend(new).await.unwrap();
                    waits.push(begun.elapsed());
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.unwrap());
    }
    let whole = begun.elapsed();
    row(name, &mut waits, whole, store.flushes() - before);
}

async fn decide(store: &dyn Store, session: SessionId, effect: bool) -> RequestId {
    let request = store.ids().request(NOW).unwrap();
    store.decide(decision(request, session, effect)).await.unwrap();
    request
}

fn decision(request: RequestId, session: SessionId, effect: bool) -> Decision {
    Decision {
        request,
        session,
        principal: "p".into(),
        server: "s".into(),
        server_version: None,
        tool: "create_issue".into(),
        planned: Planned {
            digest: Some("sha256:00".into()),
            ordinal: Some(1),
            grade: Grade::Session,
        },
        current: Some("sha256:00".into()),
        granted: Some("sha256:00".into()),
        adapter: None,
        rules: Vec::new(),
        raw_arguments: r#"{"title":"A title","body":"A body of some length, as issues have."}"#
            .into(),
        normalised_arguments: None,
        argument_digest: "sha256:00".into(),
        effect,
        verdict: Verdict::Admitted,
        approval: None,
        relied_on: Vec::new(),
        at: NOW,
    }
}

/// How long a journal takes to be verified, in its place and as a folder.
async fn verified(store: &Sqlite, folder: &Path) {
    let begun = Instant::now();
    let report = verify_store(store, &Trust::default(), |_| {}).await.unwrap();
    assert!(report.is_sound());
    told("verified in the store", report.records, begun);
    let begun = Instant::now();
    export(store, &folder.join("export")).await.unwrap();
    told("exported", report.records, begun);
    let begun = Instant::now();
    assert!(verify_folder(&folder.join("export"), &Trust::default()).unwrap().is_sound());
    told("verified as a folder", report.records, begun);
}

fn told(name: &str, records: u64, begun: Instant) {
    println!(
        "{name:<34} {:>10.0} records a second",
        records as f64 / begun.elapsed().as_secs_f64()
    );
}

fn row(name: &str, waits: &mut [Duration], whole: Duration, flushes: u64) {
    waits.sort();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<34} {:>10.0} {:>6.2} ms {:>6.2} ms {flushes:>9}",
        waits.len() as f64 / whole.as_secs_f64(),
        at(0.5),
        at(0.99),
    );
}
