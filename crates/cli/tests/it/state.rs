//! The store from the terminal: sessions, activity, the journal.

use crate::run::Folder;
use store::{
    Access, Decision, Era, Grade, NewAttempt, NewOutcome, NewSession, Options, OutcomeState,
    Planned, RequestId, SessionId, Sqlite, Store, StoreError, Verdict,
};

const NOON: u64 = 1_764_500_000_000;

/// A store with one session and three calls: done, refused, in doubt.
struct Made {
    folder: Folder,
    session: SessionId,
    requests: Vec<RequestId>,
}

impl Made {
    fn new() -> Made {
        let folder = Folder::new();
        let store =
            Sqlite::open(folder.path("steadfast.db"), Options::new(Access::Gateway, NOON)).unwrap();
        let task = calls(&store);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (session, requests) = runtime.block_on(task).unwrap();
        drop(store);
        Made { folder, session, requests }
    }

    fn run(&self, arguments: &[&str]) -> crate::run::Outcome {
        let mut all = arguments.to_vec();
        all.extend(["--store", "."]);
        self.folder.run(&all)
    }
}

async fn calls(store: &dyn Store) -> Result<(SessionId, Vec<RequestId>), StoreError> {
    let session = store
        .open_session(NewSession {
            server: "git\u{1b}[31mhub".into(),
            principal: "uid:1000".into(),
            era: Era::Legacy,
            client_info: Some(r#"{"name":"client"}"#.into()),
            at: NOON,
        })
        .await?;
    let mut requests = Vec::new();
    let refused = Verdict::Refused { code: "STALE_TOOL_SCHEMA".into() };
    for (verdict, end) in [
        (Verdict::Admitted, Some(OutcomeState::Done)),
        (refused, None),
        (Verdict::Admitted, Some(OutcomeState::InDoubt)),
    ] {
        let request = store.ids().request(NOON)?;
        requests.push(request);
        store
            .decide(Decision {
                request,
                session,
                principal: "uid:1000".into(),
                server: "github".into(),
                server_version: None,
                tool: "create_issue".into(),
                planned: Planned { digest: None, ordinal: None, grade: Grade::None },
                current: Some("sha256:aa".into()),
                granted: None,
                adapter: None,
                rules: vec!["SF101".into()],
                raw_arguments: r#"{"title":"canary"}"#.into(),
                normalised_arguments: None,
                argument_digest: "sha256:bb".into(),
                effect: true,
                verdict,
                approval: None,
                relied_on: Vec::new(),
                at: NOON,
            })
            .await?;
        let Some(state) = end else { continue };
        let target = "https://api.example.com/issues".into();
        let new = NewAttempt { request, target, idempotency_key: None, again: None, at: NOON };
        let attempt = store.intend(new).await?;
        let new = NewOutcome { attempt, state, answer: None, late: false, at: NOON };
        store.outcome(new).await?;
    }
    Ok((session, requests))
}

#[test]
fn sessions_and_activity_name_each_other() {
    let made = Made::new();
    let session = made.session.to_string();
    // The process that made the store left without closing its session; a reader changes nothing.
    let out = made.run(&["sessions"]).code(0).says(&session).says("3 requests, 1 refused").out;
    assert!(out.contains("2025-11-30T10:53:20.000Z") && !out.contains('\u{1b}'), "{out}");
    let json = made.run(&["sessions", "--open", "--format", "json"]).code(0).json();
    assert_eq!(json["sessions"][0]["client_info"]["name"], "client");
    made.run(&["sessions", "--server", "nobody"]).code(0).says("no such session");
    let json = made.run(&["activity", "--session", &session, "--format", "json"]).code(0).json();
    let requests = json["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[1]["code"], "STALE_TOOL_SCHEMA");
    assert_eq!(requests[2]["attempts"][0]["outcomes"][0]["state"], "done");
    let out = made.run(&["activity"]).code(0).says("refused STALE_TOOL_SCHEMA").out;
    assert!(out.contains("to https://api.example.com/issues: in-doubt"), "{out}");
}

#[test]
fn doubt_is_resolved_once() {
    let made = Made::new();
    let request = made.requests[2].to_string();
    made.run(&["activity", "resolve", &request]).code(2).complains("--done");
    made.run(&["activity", "resolve", "nonsense", "--done"]).code(2).complains("is not the id");
    let done = made.requests[0].to_string();
    made.run(&["activity", "resolve", &done, "--done"]).code(2).complains("is in doubt");
    made.run(&["activity", "--in-doubt"]).code(0).says(&request);
    made.run(&["activity", "resolve", &request, "--failed", "--by", "anna"])
        .code(0)
        .says("recorded as failed");
    made.run(&["activity", "--in-doubt"]).code(0).says("no such call");
    made.run(&["activity", "--request", &request])
        .code(0)
        .says("in-doubt, then failed (person anna)");
    made.run(&["journal", "verify"]).code(0).says("sound");
}

#[test]
fn the_journal_is_shown_and_revealed() {
    let made = Made::new();
    let request = made.requests[0].to_string();
    let shown = made.run(&["journal", "show"]).code(0).says("decision").out;
    assert!(!shown.contains("canary"), "{shown}");
    let json = made.run(&["journal", "show", "--from", "2", "--limit", "1", "--format", "json"]);
    let json = json.code(0).json();
    assert_eq!(json["records"][0]["record"]["seq"], 2);
    assert_eq!(json["records"].as_array().unwrap().len(), 1);
    made.run(&["journal", "show", "--reveal"]).code(2).complains("--request");
    made.run(&["journal", "show", "--request", &request, "--reveal"]).code(0).says("canary");
    made.run(&["journal", "erase", &request, "--by", "me"]).code(0).says("2 sealed parts erased");
    let shown = made.run(&["journal", "show", "--request", &request, "--reveal"]).code(0).out;
    assert!(!shown.contains("canary") && shown.contains("erased"), "{shown}");
    made.run(&["journal", "verify"]).code(0).says("4 sealed parts");
}

#[test]
fn a_journal_is_exported_and_verified_elsewhere() {
    let made = Made::new();
    made.run(&["journal", "export", "out"]).code(0).says("out written").says("keep key.pub");
    made.run(&["journal", "export", "out"]).code(2).complains("is not empty");
    let folder = &made.folder;
    folder.run(&["journal", "verify", "out"]).code(0).says("sound: out").says("another key");
    let key = folder.read("out/key.pub");
    let anchored =
        ["journal", "verify", "out", "--key", key.trim(), "--checkpoint", "out/checkpoint"];
    let out = folder.run(&anchored).code(0).says("the checkpoint given fits").out;
    assert!(!out.contains("not shown"), "{out}");
    let json = folder.run(&["journal", "verify", "out", "--format", "json"]).code(0).json();
    assert_eq!((&json["sound"], &json["kinds"]["decision"]), (&true.into(), &3.into()));
    let records = folder.read("out/records.jsonl").replace("create_issue", "delete_repo");
    folder.file("out/records.jsonl", records);
    let report = folder.run(&["journal", "verify", "out"]);
    report.code(1).says("NOT SOUND: out").says("altered record 2");
    folder.run(&["journal", "verify", "nowhere"]).code(2).complains("is missing");
    folder.run(&["journal", "verify", "out", "--key", "a+b+c"]).code(1).says("the key given");
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = Folder::new();
    folder.run(&["sessions", "--store", "no.db"]).code(2).complains("There is no store here");
    folder.run(&["journal", "export", "out", "--store", "no.db"]).code(2).complains("no store");
    folder
        .file("text.db", "this is a text and no store of anything that is known here. ".repeat(4));
    folder.run(&["activity", "--store", "text.db"]).code(2).complains("not a store of steadfast");
    assert_eq!(folder.names().len(), 1);
}
