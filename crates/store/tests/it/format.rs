//! Stores of other versions of the program.

use std::fs;

use store::journal::{Trust, verify_store};
use store::{Access, SessionQuery, Sqlite, Store};

use crate::sample::{NOON, decision, grant, open, options, run, session};

#[test]
fn a_store_of_the_first_version_is_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let opened = run(store.open_session(session())).unwrap();
    let decided = decision(&store, opened);
    let request = decided.request;
    run(store.decide(decided)).unwrap();
    let sealed = run(store.payloads(request)).unwrap();
    assert_eq!(sealed.len(), 3);
    let of_all = store::NewGrant { scope: String::new(), ..grant() };
    run(store.grant(of_all)).unwrap();
    let seen = store::NewRevision {
        server: "github".into(),
        tool: "create_issue".into(),
        digest: "sha256:aa".into(),
        definition: "{}".into(),
        at: NOON,
    };
    run(store.seen(seen)).unwrap();
    drop(store);
    let conn = rusqlite::Connection::open(folder.path().join("steadfast.db")).unwrap();
    conn.execute_batch(
        "ALTER TABLE session DROP COLUMN writer; ALTER TABLE attempt DROP COLUMN writer;
         DROP INDEX request_approval;
         CREATE TABLE g (
             server TEXT NOT NULL, tool TEXT NOT NULL, digest TEXT NOT NULL, how TEXT NOT NULL, by TEXT NOT NULL,
             at INTEGER NOT NULL, gone_at INTEGER, PRIMARY KEY (server, tool)
         ) STRICT, WITHOUT ROWID;
         INSERT INTO g SELECT server, tool, digest, how, by, at, gone_at FROM granted;
         DROP TABLE granted; ALTER TABLE g RENAME TO granted;
         DROP INDEX revision_last; ALTER TABLE revision DROP COLUMN last_at;
         CREATE TABLE p (
             seq INTEGER NOT NULL, part TEXT NOT NULL, request TEXT, sealed BLOB NOT NULL, UNIQUE (seq, part)
         ) STRICT;
         INSERT INTO p SELECT seq, part, (SELECT request FROM leaf WHERE leaf.seq = payload.seq), sealed FROM payload;
         DROP TABLE payload; ALTER TABLE p RENAME TO payload;
         CREATE INDEX payload_request ON payload (request) WHERE request IS NOT NULL;
         DROP TABLE list;
         CREATE TABLE list (
             server TEXT NOT NULL, digest TEXT NOT NULL, tools TEXT NOT NULL, pages TEXT, first_at INTEGER NOT NULL,
             last_at INTEGER NOT NULL, turns INTEGER NOT NULL, current INTEGER NOT NULL, UNIQUE (server, digest)
         ) STRICT;
         PRAGMA user_version = 1;",
    )
    .unwrap();
    let tools = r#"[["create_issue","sha256:aa"]]"#;
    conn.execute(
        "INSERT INTO list VALUES ('github', 'l', ?1, NULL, ?2, ?2 + 5, 1, 1)",
        rusqlite::params![tools, NOON],
    )
    .unwrap();
    drop(conn);
    let reader = Sqlite::open(folder.path().join("steadfast.db"), options(Access::Read)).unwrap();
    assert_eq!(run(reader.sessions(SessionQuery::default())).unwrap().len(), 1);
    assert_eq!(run(reader.grants("github".into())).unwrap()[0].scope, "");
    assert_eq!(run(reader.payloads(request)).unwrap(), sealed);
    drop(reader);
    let store = open(folder.path()).unwrap();
    let sessions = run(store.sessions(SessionQuery::default())).unwrap();
    assert_eq!(sessions[0].ended, Some((NOON, store::SessionEnd::Restart)));
    // What was accepted before holds whoever asks, until something else is accepted there.
    let granted = run(store.grants("github".into())).unwrap();
    let holds = store::Grant::in_scope(&granted, "modern/none", "create_issue").unwrap();
    assert_eq!(holds.digest, "sha256:aa");
    // A definition was last there with the last list that had it.
    for (since, kept) in [(NOON + 5, 1), (NOON + 6, 0)] {
        let found = run(store.kept("github".into(), "create_issue".into(), since, 9)).unwrap();
        assert_eq!(found.len(), kept);
    }
    // What is sealed opens as before, and is erased whole.
    assert_eq!(run(store.payloads(request)).unwrap(), sealed);
    let sound = || {
        let report = run(verify_store(&store, &Trust::default(), |_| {})).unwrap();
        assert!(report.is_sound(), "{:?}", report.faults);
    };
    sound();
    assert_eq!(run(store.erase(request, "uid:1000".into(), NOON)).unwrap(), 3);
    assert!(run(store.payloads(request)).unwrap().is_empty());
    sound();
}

#[test]
fn a_newer_store_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let path = folder.path().join("steadfast.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = fs::read(&path).unwrap();
    for access in [Access::Gateway, Access::Command, Access::Read] {
        let error = Sqlite::open(&path, options(access)).err().unwrap();
        assert!(
            error.to_string().contains("A newer steadfast made this store (format 99"),
            "{error}"
        );
    }
    assert!(fs::read(&path).unwrap() == before);
}
