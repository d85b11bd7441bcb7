//! What a verification finds, and what it says that it cannot find.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::journal::{FaultKind, Report, Trust, export, verify_folder, verify_store};
use store::{Access, Decision, NewOutcome, OutcomeState, RequestId, Sqlite, Store, Verdict};

use crate::sample::{NOON, attempt, decision, grant, open, options, outcome, run, session};

/// A folder with a store of a few records, and its export.
struct Journal {
    folder: tempfile::TempDir,
    requests: Vec<RequestId>,
    key: String,
    checkpoint: String,
}

impl Journal {
    /// `calls` calls, the last of which is refused; signed after the first call too.
    fn new(calls: usize) -> Journal {
        Journal::with(calls, false)
    }

    fn with(calls: usize, granted: bool) -> Journal {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        let mut requests = Vec::new();
        let exported = run(async {
            let session = store.open_session(session()).await.unwrap();
            if granted {
                store.grant(grant()).await.unwrap();
            }
            for n in 0..calls {
                let mut new = decision(&store, session);
                requests.push(new.request);
                if n + 1 == calls {
                    new.verdict = Verdict::Refused { code: "STALE_TOOL_SCHEMA".into() };
                    store.decide(new).await.unwrap();
                    continue;
                }
                let request = new.request;
                store.decide(new).await.unwrap();
                let id = store.intend(attempt(request)).await.unwrap();
                let answer = Some("answer canary".to_owned());
                let done = NewOutcome { answer, ..outcome(id, OutcomeState::Done) };
                store.outcome(done).await.unwrap();
                if n == 0 {
                    store.checkpoint().await.unwrap();
                }
            }
            export(&store, &folder.path().join("export")).await.unwrap()
        });
        assert_eq!(exported.records, exported.signed);
        Journal { requests, key: exported.key, checkpoint: exported.checkpoint, folder }
    }

    fn export(&self) -> PathBuf {
        self.folder.path().join("export")
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("steadfast.db")
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.export().join(name)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn write(&self, name: &str, lines: &[String]) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.export().join(name), text).unwrap();
    }

    /// Changes the records, and the hashes with them as a careful forger would.
    fn forge(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut records = self.lines("records.jsonl");
        change(&mut records);
        let hashes: Vec<String> = records
            .iter()
            .map(|record| {
                let hash = store::journal::leaf_hash(record.as_bytes());
                hash.iter().map(|byte| format!("{byte:02x}")).collect()
            })
            .collect();
        self.write("records.jsonl", &records);
        self.write("hashes.txt", &hashes);
    }

    fn verify(&self) -> Report {
        verify_folder(&self.export(), &Trust::default()).unwrap()
    }

    fn verify_pinned(&self) -> Report {
        let trust =
            Trust { key: Some(self.key.clone()), checkpoint: Some(self.checkpoint.clone()) };
        verify_folder(&self.export(), &trust).unwrap()
    }

    fn verify_rows(&self) -> Report {
        let store = Sqlite::open(self.database(), options(Access::Read)).unwrap();
        run(verify_store(&store, &Trust::default(), |_| {})).unwrap()
    }
}

fn found(report: &Report, kind: FaultKind, place: &str) -> bool {
    report.faults.iter().any(|fault| fault.kind == kind && fault.place == place)
}

#[test]
fn a_journal_that_nobody_touched_is_sound() {
    let journal = Journal::new(3);
    let report = journal.verify();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!((report.records, report.signed), (9, 9));
    assert_eq!(report.kinds["decision"], 3);
    assert_eq!(report.open_attempts, 0);
    assert!(report.cannot_show.iter().any(|said| said.contains("another key")));
    assert!(report.cannot_show.iter().any(|said| said.contains("put back as a whole")));
    let report = journal.verify_pinned();
    assert_eq!((report.anchored, report.pinned), (Some(9), true));
    assert!(report.is_sound() && report.cannot_show.is_empty(), "{:?}", report.cannot_show);
}

#[test]
fn every_flipped_bit_is_found_and_named() {
    let journal = Journal::new(2);
    let mut record_of = Vec::new();
    for (n, line) in journal.lines("records.jsonl").iter().enumerate() {
        record_of.extend(std::iter::repeat_n(n, line.len() + 1));
    }
    for name in ["records.jsonl", "hashes.txt", "checkpoint", "checkpoints.jsonl", "key.pub"] {
        let path = journal.export().join(name);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            // A bit that makes another letter, and in a record the one of its case too.
            let bits: &[u8] = if name == "records.jsonl" { &[0, 5] } else { &[0] };
            for bit in bits {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                fs::write(&path, &bytes).unwrap();
                let report = journal.verify();
                assert!(!report.is_sound(), "{name}, byte {at}, bit {bit}");
                if name == "records.jsonl" {
                    let place = format!("record {}", record_of[at]);
                    assert!(
                        report.faults.iter().any(|fault| fault.place == place),
                        "byte {at}, bit {bit}: {:?}",
                        report.faults
                    );
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(journal.verify().is_sound());
}

#[test]
fn a_cut_is_found_at_every_place() {
    let journal = Journal::new(2);
    let whole = fs::read(journal.export().join("records.jsonl")).unwrap();
    for length in 0..whole.len() {
        fs::write(journal.export().join("records.jsonl"), &whole[..length]).unwrap();
        let report = journal.verify();
        assert!(report.faults.iter().any(|fault| fault.kind == FaultKind::Cut), "{length}");
    }
}

#[test]
fn forgeries_are_told_apart() {
    let journal = Journal::new(3);
    let untouched = journal.lines("records.jsonl");
    let check = |name: &str, change: &dyn Fn(&mut Vec<String>), kind, place: &str| {
        journal.write("records.jsonl", &untouched);
        journal.forge(change);
        let report = journal.verify();
        assert!(found(&report, kind, place), "{name}: {:?}", report.faults);
    };
    check("swap", &|lines| lines.swap(5, 6), FaultKind::OutOfOrder, "record 5");
    check("take out", &|lines| drop(lines.remove(5)), FaultKind::Missing, "record 5");
    check(
        "take out several",
        &|lines| drop(lines.drain(3..6)),
        FaultKind::Missing,
        "records 3 to 5",
    );
    check("copy", &|lines| lines.insert(5, lines[5].clone()), FaultKind::Repeated, "record 5");
    check(
        "move",
        &|lines| {
            let line = lines.remove(2);
            lines.insert(6, line);
        },
        FaultKind::OutOfOrder,
        "record 2",
    );
    check("cut", &|lines| lines.truncate(7), FaultKind::Cut, "the end");
    check("begin late", &|lines| drop(lines.remove(0)), FaultKind::Missing, "record 0");
    // The numbers and the hashes fit: what was signed does not.
    let edit = |lines: &mut Vec<String>| lines[5] = lines[5].replace("github", "gitlab");
    check("edit", &edit, FaultKind::NotAsSigned, "records 5 to 8");
    let drop_call = |lines: &mut Vec<String>| {
        lines.drain(5..8);
        lines[5] = lines[5].replace("\"seq\":8", "\"seq\":5");
    };
    check("drop a call and renumber", &drop_call, FaultKind::Cut, "the end");
    let no_decision = |lines: &mut Vec<String>| lines[2] = lines[2].replace("decision", "shown");
    check("hide a decision", &no_decision, FaultKind::Incomplete, "record 3");
    let add = |lines: &mut Vec<String>| lines.push(r#"{"at":1,"kind":"shown","seq":9}"#.into());
    journal.write("records.jsonl", &untouched);
    journal.forge(add);
    // A number beyond all numbers is a gap, and no crash.
    journal.write("records.jsonl", &untouched);
    journal
        .forge(|lines| lines.push(r#"{"at":1,"kind":"shown","seq":18446744073709551615}"#.into()));
    assert!(!journal.verify().is_sound());
    journal.write("records.jsonl", &untouched);
    journal.forge(add);
    // Anyone can write it: no key is needed for what nothing was signed over, and an export ends with a checkpoint.
    for report in [journal.verify(), journal.verify_pinned()] {
        assert_eq!((report.records, report.signed), (10, 9));
        assert!(found(&report, FaultKind::Unsigned, "record 9"), "{:?}", report.faults);
    }
    let report = journal.verify();
    assert!(report.cannot_show.iter().any(|said| said.contains("last 1 records")));
}

#[test]
fn a_rollback_of_everything_is_found_by_an_anchor_alone() {
    let journal = Journal::new(3);
    journal.forge(|lines| lines.truncate(5));
    let mut checkpoints = journal.lines("checkpoints.jsonl");
    // At the beginning, after the first call, and at the end.
    assert_eq!(checkpoints.len(), 3);
    checkpoints.pop();
    journal.write("checkpoints.jsonl", &checkpoints);
    let latest: String = serde_json::from_str(checkpoints.last().unwrap()).unwrap();
    fs::write(journal.export().join("checkpoint"), &latest).unwrap();
    let report = journal.verify();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert!(report.cannot_show.iter().any(|said| said.contains("put back as a whole")));
    let report = journal.verify_pinned();
    assert!(found(&report, FaultKind::Cut, "the checkpoint given"), "{:?}", report.faults);
}

#[test]
fn an_older_checkpoint_is_continued_or_not() {
    let journal = Journal::new(3);
    let older: String = serde_json::from_str(&journal.lines("checkpoints.jsonl")[1]).unwrap();
    let trust = Trust { key: Some(journal.key.clone()), checkpoint: Some(older) };
    let report = verify_folder(&journal.export(), &trust).unwrap();
    assert!(report.is_sound());
    assert_eq!(report.anchored, Some(5));
    assert!(report.cannot_show[0].contains("from 5 on"), "{:?}", report.cannot_show);
    // Another journal with the same key and name does not continue it.
    let text = trust.checkpoint.unwrap().replace("\n5\n", "\n6\n");
    let trust = Trust { checkpoint: Some(text), ..Trust { key: trust.key, checkpoint: None } };
    let report = verify_folder(&journal.export(), &trust).unwrap();
    assert!(found(&report, FaultKind::Checkpoint, "the checkpoint given"), "{:?}", report.faults);
}

#[test]
fn a_journal_signed_anew_is_found_by_its_key() {
    let (one, two) = (Journal::new(2), Journal::new(2));
    let trust = Trust { key: Some(one.key.clone()), checkpoint: None };
    let report = verify_folder(&two.export(), &trust).unwrap();
    assert!(found(&report, FaultKind::Key, "the key beside the records"));
    assert!(report.faults.iter().any(|fault| fault.kind == FaultKind::Checkpoint));
    let trust = Trust { key: None, checkpoint: Some(one.checkpoint) };
    let report = verify_folder(&two.export(), &trust).unwrap();
    assert!(found(&report, FaultKind::Checkpoint, "the checkpoint given"));
    let trust = Trust { key: Some("nonsense".into()), checkpoint: None };
    let report = verify_folder(&two.export(), &trust).unwrap();
    assert!(found(&report, FaultKind::Key, "the key given"));
}

#[test]
fn an_export_leaves_other_files_alone() {
    let journal = Journal::new(1);
    let store = Sqlite::open(journal.database(), options(Access::Read)).unwrap();
    let error = run(export(&store, &journal.export())).unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    let error = verify_folder(Path::new("/nowhere"), &Trust::default()).unwrap_err();
    assert!(error.to_string().contains("is missing"), "{error}");
}

#[test]
fn a_store_is_verified_in_its_place() {
    let journal = Journal::new(3);
    let report = journal.verify_rows();
    assert!(report.is_sound(), "{:?}", report.faults);
    // Three calls with raw, converted and digest, and two answers.
    assert_eq!(report.payloads, 11);
}

#[test]
fn a_row_that_contradicts_its_record_is_found() {
    let (kind, payload) = (FaultKind::Row, FaultKind::Payload);
    for (change, expected) in [
        ("UPDATE request SET tool = 'delete_repo'", kind),
        ("UPDATE request SET effect = 0", kind),
        ("UPDATE request SET verdict = 'admitted', code = NULL WHERE verdict = 'refused'", kind),
        ("UPDATE request SET verdict = 'nonsense'", kind),
        ("UPDATE request SET session = '00000000-0000-7000-8000-000000000000'", kind),
        ("UPDATE request SET principal = 'root'", kind),
        ("UPDATE request SET at = at + 1", kind),
        ("UPDATE request SET current = 'sha256:cc'", kind),
        ("UPDATE request SET argument_digest = 'sha256:cc'", kind),
        ("UPDATE request SET argument_digest = NULL", kind),
        ("UPDATE request SET approval = '00000000-0000-7000-8000-000000000000'", kind),
        ("UPDATE request SET delivered = NOT delivered", kind),
        ("DELETE FROM request WHERE verdict = 'refused'", kind),
        ("UPDATE attempt SET target = 'elsewhere'", kind),
        ("UPDATE attempt SET key = NULL", kind),
        ("DELETE FROM attempt", kind),
        ("UPDATE attempt SET state = 'failed'", kind),
        ("UPDATE attempt SET state = NULL", kind),
        ("UPDATE outcome SET state = 'failed'", kind),
        ("UPDATE outcome SET by = 'person eve'", kind),
        ("DELETE FROM outcome", kind),
        ("INSERT INTO granted VALUES ('github', '', 't', 'd', 'accepted', 'eve', 1, NULL)", kind),
        ("UPDATE granted SET scope = 'other'", kind),
        ("UPDATE granted SET digest = 'other'", kind),
        ("UPDATE granted SET gone_at = 1", kind),
        ("INSERT INTO approver VALUES ('eve', 'AAAA', 1)", kind),
        ("UPDATE payload SET sealed = zeroblob(80) WHERE part = 'answer'", payload),
        ("DELETE FROM payload WHERE part = 'raw-arguments'", payload),
        ("UPDATE payload SET seq = seq + 100 WHERE part = 'answer'", payload),
        (
            "UPDATE leaf SET envelope = replace(envelope, 'github', 'gitlab') WHERE seq = 5",
            FaultKind::Altered,
        ),
        ("UPDATE leaf SET hash = zeroblob(32) WHERE seq = 2", FaultKind::Altered),
        ("DELETE FROM leaf WHERE seq = 4", FaultKind::Missing),
        ("DELETE FROM leaf WHERE seq = 8", FaultKind::Cut),
        ("DELETE FROM checkpoint", FaultKind::Unsigned),
        (
            "UPDATE checkpoint SET note = replace(note, 'steadfast', 'Steadfast') WHERE size = 5",
            FaultKind::Checkpoint,
        ),
    ] {
        let journal = Journal::with(3, change.contains("granted"));
        let conn = rusqlite::Connection::open(journal.database()).unwrap();
        assert!(conn.execute(change, []).unwrap() > 0, "{change}");
        drop(conn);
        let report = journal.verify_rows();
        assert!(report.faults.iter().any(|f| f.kind == expected), "{change}: {:?}", report.faults);
    }
}

#[test]
fn what_was_erased_leaves_every_proof_valid() {
    let journal = Journal::new(3);
    let store = open(journal.folder.path()).unwrap();
    run(store.erase(journal.requests[0], "me".into(), NOON)).unwrap();
    drop(store);
    let report = journal.verify_rows();
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!(report.payloads, 7);
    // The bytes are gone from the files, not only the row.
    let store = Sqlite::open(journal.database(), options(Access::Read)).unwrap();
    let again = journal.folder.path().join("again");
    run(export(&store, &again)).unwrap();
    let trust = Trust { key: Some(journal.key), checkpoint: Some(journal.checkpoint) };
    let report = verify_folder(&again, &trust).unwrap();
    assert!(report.is_sound(), "{:?}", report.faults);
}

#[test]
fn secrets_are_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let new = Decision { raw_arguments: "raw canary".into(), ..decision(&store, session) };
        let request = new.request;
        store.decide(new).await.unwrap();
        let id = store.intend(attempt(request)).await.unwrap();
        let answer = Some("answer canary".to_owned());
        store.outcome(NewOutcome { answer, ..outcome(id, OutcomeState::Done) }).await.unwrap();
        export(&store, &folder.path().join("export")).await.unwrap();
    });
    let mut files = 0;
    for place in [folder.path().to_owned(), folder.path().join("export")] {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let bytes = fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                for canary in ["raw canary", "answer canary", "normalised canary"] {
                    assert!(!text.contains(canary), "{canary} in {path:?}");
                }
                files += 1;
            }
        }
    }
    assert!(files >= 10, "{files}");
}

#[test]
fn a_store_at_work_is_verified_without_alarm() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(open(folder.path()).unwrap());
    run(async {
        let session = store.open_session(session()).await.unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let (at_work, made) = (Arc::clone(&store), Arc::clone(&calls));
        let work = tokio::spawn(async move {
            while made.fetch_add(1, Ordering::SeqCst) < 30 {
                let new = decision(&*at_work, session);
                let request = new.request;
                at_work.decide(new).await.unwrap();
                at_work.grant(grant()).await.unwrap();
                let id = at_work.intend(attempt(request)).await.unwrap();
                at_work.outcome(outcome(id, OutcomeState::Done)).await.unwrap();
            }
        });
        let path = folder.path().join("steadfast.db");
        let reader = Sqlite::open(path, options(Access::Read)).unwrap();
        let mut looks = 0;
        while calls.load(Ordering::SeqCst) < 30 || looks == 0 {
            let report = verify_store(&reader, &Trust::default(), |_| {}).await.unwrap();
            assert!(report.is_sound(), "{:?}", report.faults);
            looks += 1;
        }
        work.await.unwrap();
    });
}

#[test]
fn an_approval_whose_row_was_altered_is_found() {
    for change in [
        "principal = 'root'",
        "server = 'other'",
        "tool = 'other'",
        "revision = 'sha256:cc'",
        "expires = expires + 1",
        "action_digest = 'sha256:cc'",
        "state = 'approved'",
        "session = '00000000-0000-7000-8000-000000000000'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        run(crate::conformance::an_approval_is_signed_and_used_once(&store));
        drop(store);
        let path = folder.path().join("steadfast.db");
        let conn = rusqlite::Connection::open(&path).unwrap();
        let change = format!("UPDATE approval SET {change}");
        assert!(conn.execute(&change, []).unwrap() > 0, "{change}");
        drop(conn);
        let store = Sqlite::open(path, options(Access::Read)).unwrap();
        let report = run(verify_store(&store, &Trust::default(), |_| {})).unwrap();
        assert!(report.faults.iter().any(|f| f.kind == FaultKind::Row), "{change}");
    }
}

#[test]
fn an_approval_that_nobody_signed_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    run(crate::conformance::an_approval_is_signed_and_used_once(&store));
    let verify = |store: &Sqlite| run(verify_store(store, &Trust::default(), |_| {})).unwrap();
    assert!(verify(&store).is_sound());
    drop(store);
    let conn = rusqlite::Connection::open(folder.path().join("steadfast.db")).unwrap();
    let forge =
        "UPDATE leaf SET envelope = replace(envelope, '\"signature\":\"', '\"signature\":\"A')
                 WHERE kind = 'approval-settled'";
    assert_eq!(conn.execute(forge, []).unwrap(), 1);
    drop(conn);
    let path = folder.path().join("steadfast.db");
    let report = verify(&Sqlite::open(path, options(Access::Read)).unwrap());
    assert!(report.faults.iter().any(|f| f.kind == FaultKind::Approval), "{:?}", report.faults);
}
