//! Full disks, failing flushes, crowds, and files that are not ours.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::journal::{Trust, verify_store};
use store::{
    Access, ActivityQuery, Decision, NewOutcome, Options, OutcomeState, Resolution, SessionQuery,
    Sqlite, Step, Store, StoreError, limits,
};

use crate::child;
use crate::sample::{NOON, attempt, decision, open, options, outcome, run, session};

/// Opens a store whose steps of one kind fail once it is told so.
fn failing(folder: &std::path::Path, at: Step) -> (Sqlite, Arc<AtomicBool>) {
    let fail = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&fail);
    let probe = move |step| {
        if step == at && told.load(Ordering::SeqCst) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    };
    let options = Options { probe: Some(Arc::new(probe)), ..options(Access::Gateway) };
    (Sqlite::open(folder.join("steadfast.db"), options).unwrap(), fail)
}

#[test]
fn a_full_disk_refuses_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    let (store, full) = failing(folder.path(), Step::Commit);
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let new = decision(&store, session);
        let request = new.request;
        store.decide(new).await.unwrap();
        let before = store.leaves(0, 0).await.unwrap();
        full.store(true, Ordering::SeqCst);
        let error = store.intend(attempt(request)).await.unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        let said = error.to_string();
        assert!(
            said.contains("steadfast.db: The disk is full") && said.contains("nothing may be sent"),
            "{said}"
        );
        assert_eq!(store.leaves(0, 0).await.unwrap(), before);
        full.store(false, Ordering::SeqCst);
        store.intend(attempt(request)).await.unwrap();
        let report = verify_store(&store, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
    });
}

#[test]
fn after_a_failed_flush_nothing_is_promised() {
    let folder = tempfile::tempdir().unwrap();
    let (store, broken) = failing(folder.path(), Step::Flush);
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let (one, two) = (decision(&store, session), decision(&store, session));
        let (first, second) = (one.request, two.request);
        store.decide(one).await.unwrap();
        store.decide(two).await.unwrap();
        broken.store(true, Ordering::SeqCst);
        let error = store.intend(attempt(first)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unflushed { .. }), "{error}");
        // A disk that says yes again proves nothing about what was lost.
        broken.store(false, Ordering::SeqCst);
        let error = store.intend(attempt(second)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unflushed { .. }), "{error}");
        assert!(store.activity(ActivityQuery::default()).await.is_ok());
    });
    drop(store);
    let store = open(folder.path()).unwrap();
    let query = ActivityQuery { in_doubt: true, ..ActivityQuery::default() };
    // It was never sent, but that is not known: the record says so.
    assert_eq!(run(store.activity(query)).unwrap().len(), 1);
}

#[test]
#[ignore = "is run by the test below, as a process of its own"]
fn gateway_on_a_small_disk() {
    let Some((folder, _)) = child::told() else { return };
    let store = open(&folder).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        println!();
        for _ in 0..10_000 {
            let raw_arguments = "x".repeat(2_000);
            let new = Decision { raw_arguments, ..decision(&store, session) };
            let request = new.request;
            let end = match store.decide(new).await {
                Ok(()) => store.intend(attempt(request)).await,
                Err(error) => Err(error),
            };
            match end {
                Ok(id) => println!("intended {id}"),
                Err(error) => {
                    println!("refused {error}");
                    return;
                }
            }
        }
    });
}

#[test]
fn a_file_that_may_not_grow_refuses_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let limit = "trap '' XFSZ; ulimit -f 3000;";
    let output = child::run("disk::gateway_on_a_small_disk", folder.path(), "", limit);
    let text = String::from_utf8(output.stdout).unwrap();
    let refused = text.lines().find_map(|line| line.strip_prefix("refused "));
    let refused = refused.unwrap_or_else(|| panic!("{text}"));
    assert!(refused.contains("steadfast.db: "), "{refused}");
    let intended: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("intended ")).collect();
    assert!(intended.len() > 5, "{text}");
    let store = open(folder.path()).unwrap();
    run(async {
        let report = verify_store(&store, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        let known = store.activity(ActivityQuery::default()).await.unwrap();
        let known: Vec<String> = known
            .iter()
            .flat_map(|known| known.attempts.iter().map(|attempt| attempt.id.to_string()))
            .collect();
        assert!(intended.iter().all(|id| known.iter().any(|known| known == id)));
    });
}

#[test]
fn a_thousand_intents_share_few_flushes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(folder.path()).unwrap());
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let mut requests = Vec::new();
        for _ in 0..1_000 {
            let new = decision(&*store, session);
            requests.push(new.request);
            store.decide(new).await.unwrap();
        }
        let before = store.flushes();
        let tasks: Vec<_> = requests
            .chunks(20)
            .map(|chunk| {
                let (store, chunk) = (Arc::clone(&store), chunk.to_vec());
                tokio::spawn(async move {
                    for request in chunk {
                        store.intend(attempt(request)).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let flushes = store.flushes() - before;
        assert!((20..=250).contains(&flushes), "{flushes} flushes");
        let report = verify_store(&*store, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert_eq!((report.kinds["intent"], report.open_attempts), (1_000, 1_000));
    });
}

#[test]
fn a_record_that_nobody_waits_for_is_missed_when_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (store, full) = failing(folder.path(), Step::Commit);
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let leave = async |effect| {
            let new = Decision { effect, ..decision(&store, session) };
            let (id, attempt) = (store.ids().attempt(NOON).unwrap(), attempt(new.request));
            (id, store.leave(new, id, attempt).await)
        };
        assert!(!store.is_stuck());
        full.store(true, Ordering::SeqCst);
        // Queued, and not written: whoever asks next knows it.
        let (_, queued) = leave(false).await;
        assert!(queued.unwrap().await.is_err());
        assert!(store.is_stuck());
        // An effect is not on record either, and is told so.
        let (_, queued) = leave(true).await;
        assert!(queued.unwrap().await.is_err());
        full.store(false, Ordering::SeqCst);
        let (id, queued) = leave(false).await;
        queued.unwrap().await.unwrap();
        assert!(!store.is_stuck());
        // An outcome that is queued behind its attempt is written with it.
        let (other, queued) = leave(false).await;
        let read = async |id| store.outcome_of_read(outcome(id, OutcomeState::Done)).await.unwrap();
        let told = read(other).await;
        queued.unwrap().await.unwrap();
        told.await.unwrap();
        read(id).await.await.unwrap();
        // What can never be written is told before the caller goes on.
        let raw_arguments = "x".repeat(limits::ARGUMENTS_BYTES + 1);
        let new = Decision { raw_arguments, effect: false, ..decision(&store, session) };
        let (id, attempt) = (store.ids().attempt(NOON).unwrap(), attempt(new.request));
        assert!(matches!(store.leave(new, id, attempt).await, Err(StoreError::TooLarge { .. })));
        let report = verify_store(&store, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert_eq!((report.kinds["intent"], report.open_attempts), (2, 0));
    });
}

#[test]
fn a_write_that_fails_takes_no_other_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let mut ends = Vec::new();
        let mut twice = None;
        // All in one transaction, as a rule: they are queued before the writer looks.
        for n in 0..60 {
            let mut new = Decision { effect: false, ..decision(&store, session) };
            if n % 20 == 7 {
                // One that was decided before, one behind it that nothing is wrong with.
                new.request = *twice.get_or_insert(new.request);
            }
            let (id, attempt) = (store.ids().attempt(NOON).unwrap(), attempt(new.request));
            ends.push(store.leave(new, id, attempt).await.unwrap());
            ends.push(store.outcome_of_read(outcome(id, OutcomeState::Done)).await.unwrap());
        }
        let mut failed = Vec::new();
        for (n, end) in ends.into_iter().enumerate() {
            if end.await.is_err() {
                failed.push(n);
            }
        }
        // The call and its outcome, at the second and the third time.
        assert_eq!(failed, [54, 55, 94, 95]);
        let sessions = store.sessions(SessionQuery::default()).await.unwrap();
        assert_eq!((sessions[0].requests, sessions[0].refused), (58, 0));
        let report = verify_store(&store, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert_eq!((report.kinds["decision"], report.kinds["outcome"]), (58, 58));
        assert_eq!(report.open_attempts, 0);
    });
}

#[test]
fn effects_wait_for_the_disk_and_reads_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let mut flushes = [0, 0];
        for (effect, flushes) in [true, false].into_iter().zip(&mut flushes) {
            let mut requests = Vec::new();
            for _ in 0..20 {
                let new = Decision { effect, ..decision(&store, session) };
                requests.push(new.request);
                store.decide(new).await.unwrap();
            }
            for request in requests {
                let before = store.flushes();
                store.intend(attempt(request)).await.unwrap();
                *flushes += u64::from(store.flushes() > before);
            }
        }
        // A lazy flush of earlier writes may fall among the reads.
        assert!(flushes[0] == 20 && flushes[1] < 10, "{flushes:?}");
    });
}

#[test]
fn what_is_written_lazily_is_flushed_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(store.open_session(session())).unwrap();
    let before = store.flushes();
    std::thread::sleep(store::limits::LAZY_FLUSH * 5);
    assert_eq!(store.flushes() - before, 1);
}

#[test]
fn the_write_ahead_log_stays_short() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        for _ in 0..80 {
            let raw_arguments = "x".repeat(1 << 20);
            let new = Decision { raw_arguments, ..decision(&store, session) };
            let request = new.request;
            store.decide(new).await.unwrap();
            store.intend(attempt(request)).await.unwrap();
        }
    });
    let wal = fs::metadata(folder.path().join("steadfast.db-wal")).unwrap().len();
    assert!(wal < 32 << 20, "{wal} bytes of 80 MiB");
}

#[test]
fn what_is_erased_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let files = || -> Vec<u8> {
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        [read("steadfast.db"), read("steadfast.db-wal")].concat()
    };
    let holds = |all: &[u8], some: &[u8]| all.windows(some.len()).any(|window| window == some);
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let new = decision(&store, session);
        let request = new.request;
        store.decide(new).await.unwrap();
        let conn = rusqlite::Connection::open(folder.path().join("steadfast.db")).unwrap();
        let sealed: Vec<u8> = conn
            .query_row("SELECT sealed FROM payload WHERE part = 'raw-arguments'", [], |row| {
                row.get(0)
            })
            .unwrap();
        drop(conn);
        assert!(holds(&files(), &sealed) && holds(&files(), b"digest-canary"));
        store.erase(request, "me".into(), NOON).await.unwrap();
        assert!(!holds(&files(), &sealed));
        assert!(!holds(&files(), b"digest-canary"));
    });
}

#[test]
fn a_second_gateway_is_refused_and_commands_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let missing = Sqlite::open(&path, options(Access::Command)).err().unwrap();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    assert!(Sqlite::open(&path, options(Access::Read)).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let gateway = open(folder.path()).unwrap();
    let error = open(folder.path()).err().unwrap();
    assert!(error.to_string().contains("Another gateway works on this store"), "{error}");
    let reader = Sqlite::open(&path, options(Access::Read)).unwrap();
    run(async {
        let session = gateway.open_session(session()).await.unwrap();
        let new = decision(&gateway, session);
        let request = new.request;
        gateway.decide(new.clone()).await.unwrap();
        let id = gateway.intend(attempt(request)).await.unwrap();
        gateway.outcome(outcome(id, OutcomeState::InDoubt)).await.unwrap();
        // A command writes beside it; the gateway goes on from there.
        let command = Sqlite::open(&path, Options::new(Access::Command, NOON)).unwrap();
        command.resolve(id, Resolution::Done, "me".into(), NOON).await.unwrap();
        let late = NewOutcome { late: true, ..outcome(id, OutcomeState::Done) };
        gateway.outcome(late).await.unwrap();
        command.checkpoint().await.unwrap();
        drop(command);
        gateway.close_session(session, store::SessionEnd::Closed, NOON).await.unwrap();
        let report = verify_store(&reader, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert_eq!(report.kinds["outcome"], 3);
        let error = reader.decide(new).await.unwrap_err();
        assert_eq!(error, StoreError::ReadOnly);
    });
    drop(gateway);
    open(folder.path()).unwrap();
}

#[test]
fn gateways_that_share_settle_only_what_the_dead_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let share = || Sqlite::open(&path, Options::new(Access::Shared, NOON)).unwrap();
    let under_way = |store: &Sqlite| {
        run(async {
            let session = store.open_session(session()).await.unwrap();
            let new = decision(store, session);
            let request = new.request;
            store.decide(new).await.unwrap();
            (session, store.intend(attempt(request)).await.unwrap())
        })
    };
    let (one, two) = (share(), share());
    let error = open(folder.path()).err().unwrap();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    let ((_, dead), (session, alive)) = (under_way(&one), under_way(&two));
    drop(one);
    let three = share();
    let states = || -> Vec<_> {
        let found = run(three.activity(ActivityQuery::default())).unwrap();
        let attempts = found.into_iter().flat_map(|known| known.attempts);
        attempts.map(|a| (a.id, a.outcomes.last().map(|outcome| outcome.state))).collect()
    };
    let settled = states();
    assert!(settled.contains(&(dead, Some(OutcomeState::InDoubt))), "{settled:?}");
    assert!(settled.contains(&(alive, None)), "{settled:?}");
    let query = SessionQuery { open: true, ..SessionQuery::default() };
    let open_sessions = run(three.sessions(query)).unwrap();
    assert_eq!(open_sessions.iter().map(|s| s.id).collect::<Vec<_>>(), [session]);
    // The one that lives goes on as if nothing had happened.
    run(two.outcome(outcome(alive, OutcomeState::Done))).unwrap();
    assert!(states().contains(&(alive, Some(OutcomeState::Done))));
    drop((two, three));
    open(folder.path()).unwrap();
    let marks = fs::read_dir(folder.path()).unwrap();
    let marks =
        marks.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("writer-"));
    assert_eq!(marks.count(), 0);
}

#[test]
fn gateways_that_begin_at_once_make_one_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let store = Sqlite::open(path, Options::new(Access::Shared, NOON)).unwrap();
                run(store.open_session(session())).unwrap();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let store = open(folder.path()).unwrap();
    let report = run(verify_store(&store, &Trust::default(), |_| {})).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!((report.kinds["opened"], report.kinds["session-opened"]), (1, 8));
}

#[test]
fn a_bit_flipped_in_the_file_is_no_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        for _ in 0..5 {
            store.decide(decision(&store, session)).await.unwrap();
        }
    });
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut found = 0;
    for at in (0..whole.len()).step_by(977) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).unwrap();
        let verified = Sqlite::open(&path, options(Access::Read))
            .and_then(|store| run(verify_store(&store, &Trust::default(), |_| {})));
        found += usize::from(!verified.is_ok_and(|report| report.is_sound()));
    }
    // Much of the file is free space or index, where a flipped bit changes nothing that is told.
    assert!(found > 3, "{found} of {}", whole.len() / 977);
}

#[test]
fn two_writers_in_turn_keep_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Arc::new(open(folder.path()).unwrap());
    let path = folder.path().join("steadfast.db");
    let command = Arc::new(Sqlite::open(path, Options::new(Access::Command, NOON)).unwrap());
    run(async {
        let tasks: Vec<_> = [gateway.clone(), command.clone()]
            .into_iter()
            .map(|store| {
                tokio::spawn(async move {
                    for _ in 0..300 {
                        store.open_session(session()).await.unwrap();
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let report = verify_store(&*gateway, &Trust::default(), |_| {}).await.unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
        assert_eq!(report.kinds["session-opened"], 600);
    });
}

#[test]
fn other_files_are_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("steadfast.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    drop(conn);
    let theirs = fs::read(&path).unwrap();
    for bytes in [theirs, b"some text that is no database, and longer than any header is: it goes on and on and on and on".to_vec(), b"short".to_vec()] {
        fs::write(&path, &bytes).unwrap();
        let error = open(folder.path()).err().unwrap();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert!(fs::read(&path).unwrap() == bytes, "{} bytes", bytes.len());
    }
}

#[test]
fn a_damaged_store_says_so_when_it_is_opened() {
    for change in [
        "DELETE FROM leaf WHERE seq = 3",
        "UPDATE leaf SET envelope = envelope || ' ' WHERE seq = 3",
        "UPDATE checkpoint SET edge = zeroblob(32)",
        "UPDATE meta SET value = 'x' WHERE name = 'key'",
        "DELETE FROM meta",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        for _ in 0..3 {
            run(store.open_session(session())).unwrap();
        }
        drop(store);
        let path = folder.path().join("steadfast.db");
        let conn = rusqlite::Connection::open(&path).unwrap();
        assert!(conn.execute(change, []).unwrap() > 0, "{change}");
        drop(conn);
        let error = open(folder.path()).err().unwrap_or_else(|| panic!("{change}"));
        assert!(matches!(error, StoreError::Corrupted { .. }), "{change}: {error}");
        assert!(error.to_string().contains("steadfast.db: The store is damaged"), "{error}");
    }
}

#[test]
fn a_lost_or_foreign_key_stops_the_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        store.decide(decision(&store, session)).await.unwrap();
        store.decide(decision(&store, session)).await.unwrap();
    });
    drop(store);
    let key = folder.path().join("steadfast.db.signing-key");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let error = open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("signing-key: The key of this store is missing"), "{error}");
    assert!(!key.exists());
    fs::write(&key, [9; 32]).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&key, mode).unwrap();
    let error = open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("not the key that this journal was begun with"), "{error}");
    fs::write(&key, kept).unwrap();
    open(folder.path()).unwrap();
    // What is read needs neither key.
    fs::remove_file(&key).unwrap();
    fs::remove_file(folder.path().join("steadfast.db.payload-key")).unwrap();
    let reader = Sqlite::open(folder.path().join("steadfast.db"), options(Access::Read)).unwrap();
    let report = run(verify_store(&reader, &Trust::default(), |_| {})).unwrap();
    assert!(report.is_sound());
    let said = report.cannot_show.iter().filter(|said| said.contains("cannot be read"));
    assert_eq!(said.count(), 1);
}

#[test]
fn files_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("new/state");
    let _store = open(&below).unwrap();
    for entry in fs::read_dir(&below).unwrap() {
        let path = entry.unwrap().path();
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{path:?}");
    }
    assert_eq!(fs::metadata(&below).unwrap().permissions().mode() & 0o777, 0o700);
}
