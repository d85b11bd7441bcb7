//! The process ends at every step that touches the disk; what was promised is there afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::journal::{Trust, verify_store};
use store::{
    Access, ActivityQuery, Ids, NewOutcome, Options, OutcomeState, SessionEnd, SessionQuery,
    Sqlite, Store, Verdict,
};

use crate::child;
use crate::sample::{NOON, attempt, decision, grant, open, options, outcome, run, session};

/// What a gateway does, with a line on standard output for each promise that it was given.
async fn work(store: &dyn Store) {
    let session = store.open_session(session()).await.unwrap();
    println!("\nsession {session}");
    store.grant(grant()).await.unwrap();
    println!("\ngrant");
    for n in 0..2 {
        let new = decision(store, session);
        let request = new.request;
        store.decide(new).await.unwrap();
        println!("\ndecided {request}");
        let id = store.intend(attempt(request)).await.unwrap();
        println!("\nintended {id}");
        let answer = Some("x".repeat(20_000));
        store.outcome(NewOutcome { answer, ..outcome(id, OutcomeState::Done) }).await.unwrap();
        println!("\ndone {id}");
        if n == 0 {
            store.erase(request, "me".into(), NOON).await.unwrap();
            println!("\nerased {request}");
        }
    }
    store.checkpoint().await.unwrap();
}

#[test]
#[ignore = "is run by the test below, as a process of its own"]
fn gateway() {
    let Some((folder, stop)) = child::told() else { return };
    let stop: usize = stop.parse().unwrap();
    let steps = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&steps);
    let probe = move |_| {
        if seen.fetch_add(1, Ordering::SeqCst) + 1 == stop {
            std::process::abort();
        }
        Ok(())
    };
    let options = Options {
        access: Access::Gateway,
        at: NOON,
        ids: Ids::by_chance(),
        probe: Some(Arc::new(probe)),
    };
    let store = Sqlite::open(folder.join("steadfast.db"), options).unwrap();
    run(work(&store));
    drop(store);
    println!("\nsteps {}", steps.load(Ordering::SeqCst));
}

fn lines<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
}

#[test]
fn a_crash_at_any_step_keeps_every_promise() {
    let whole = tempfile::tempdir().unwrap();
    let output = child::run("crash::gateway", whole.path(), "0", "");
    let text = String::from_utf8(output.stdout).unwrap();
    let steps: usize = lines(&text, "steps")[0].parse().unwrap();
    assert!(steps > 40, "{text}");
    let mut in_doubt = 0;
    for stop in 1..=steps {
        let folder = tempfile::tempdir().unwrap();
        let output = child::run("crash::gateway", folder.path(), &stop.to_string(), "");
        let text = String::from_utf8(output.stdout).unwrap();
        // The flusher may reach a step less where commits share a flush.
        assert!(!output.status.success() || lines(&text, "steps").len() == 1, "{stop}");
        let store = open(folder.path()).unwrap_or_else(|error| panic!("step {stop}: {error}"));
        in_doubt += run(check(&store, &text, stop));
    }
    assert!(in_doubt > 2, "crashes between intent and outcome: {in_doubt}");
}

/// Compares a store that was opened again with what the dead process was promised.
async fn check(store: &Sqlite, text: &str, stop: usize) -> usize {
    let report = verify_store(store, &Trust::default(), |_| {}).await.unwrap();
    assert!(report.is_sound(), "step {stop}: {:?}", report.faults);
    assert_eq!(report.open_attempts, 0, "step {stop}");
    let sessions = store.sessions(SessionQuery::default()).await.unwrap();
    for id in lines(text, "session") {
        let known = sessions.iter().find(|session| session.id.to_string() == id).unwrap();
        let ended = known.ended.unwrap();
        assert_eq!(ended.1, SessionEnd::Restart, "step {stop}");
    }
    let grants = store.grants("github".into()).await.unwrap();
    assert!(text.lines().all(|line| line != "grant") || grants.len() == 1, "step {stop}");
    let activity = store.activity(ActivityQuery::default()).await.unwrap();
    for id in lines(text, "decided") {
        let known = activity.iter().find(|known| known.request.to_string() == id).unwrap();
        assert_eq!(known.verdict, Verdict::Admitted, "step {stop}");
    }
    let attempts: Vec<_> = activity.iter().flat_map(|known| &known.attempts).collect();
    let done = lines(text, "done");
    for id in lines(text, "intended") {
        assert!(attempts.iter().any(|known| known.id.to_string() == id), "step {stop}: {id}");
    }
    let mut in_doubt = 0;
    for known in attempts {
        let last = known.outcomes.last().unwrap();
        if done.contains(&known.id.to_string().as_str()) {
            assert_eq!(last.state, OutcomeState::Done, "step {stop}");
        } else if last.state == OutcomeState::InDoubt {
            assert_eq!(last.by, "restart");
            in_doubt += 1;
        }
    }
    for id in lines(text, "erased") {
        assert!(store.payloads(id.parse().unwrap()).await.unwrap().is_empty(), "step {stop}");
    }
    in_doubt
}

#[test]
fn a_restart_says_that_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let (effect, read) = run(async {
        let session = store.open_session(session()).await.unwrap();
        let mut ids = Vec::new();
        for effect in [true, false] {
            let new = store::Decision { effect, ..decision(&store, session) };
            let request = new.request;
            store.decide(new).await.unwrap();
            ids.push(store.intend(attempt(request)).await.unwrap());
        }
        (ids[0], ids[1])
    });
    drop(store);
    // A command beside nobody finds the gateway gone, and settles the same.
    let store = Sqlite::open(folder.path().join("steadfast.db"), options(Access::Command)).unwrap();
    let found = run(store.activity(ActivityQuery { in_doubt: true, ..ActivityQuery::default() }));
    let attempts: Vec<_> = found.unwrap().into_iter().flat_map(|known| known.attempts).collect();
    assert_eq!(attempts.len(), 2);
    for known in attempts {
        assert!([effect, read].contains(&known.id));
        assert_eq!(known.outcomes[0].by, "restart");
    }
}

/// Opens a session for each line of standard input, and ends without a word when it is told to.
#[test]
#[ignore = "is run by the test below, as a process of its own"]
fn gateway_that_is_told() {
    let Some((folder, _)) = child::told() else { return };
    let options = Options::new(Access::Shared, NOON);
    let store = Sqlite::open(folder.join("steadfast.db"), options).unwrap();
    for line in std::io::stdin().lines() {
        if line.unwrap() == "die" {
            std::process::abort();
        }
        run(store.open_session(session())).unwrap();
        println!("\nopened");
    }
}

#[test]
fn a_process_that_comes_and_goes_takes_nothing_along() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let mut gateway = child::command("crash::gateway_that_is_told", folder.path(), "", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut tell = gateway.stdin.take().unwrap();
    let mut hear = BufReader::new(gateway.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        writeln!(tell, "open").unwrap();
        hear.find(|line| line.as_ref().unwrap() == "opened").unwrap().unwrap();
        // Were the gateway's locks lost, this would take its write-ahead log away as the last one that leaves.
        let command = Sqlite::open(&path, Options::new(Access::Command, NOON)).unwrap();
        run(command.checkpoint()).unwrap();
        drop(command);
        assert!(folder.path().join("steadfast.db-wal").exists());
    }
    writeln!(tell, "die").unwrap();
    assert!(!gateway.wait().unwrap().success());
    let store = open(folder.path()).unwrap();
    let sessions = run(store.sessions(SessionQuery::default())).unwrap();
    assert_eq!(sessions.len(), 3);
    assert!(sessions.iter().all(|known| known.ended == Some((NOON, SessionEnd::Restart))));
}
