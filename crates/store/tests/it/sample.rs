//! Things to record.

use std::path::Path;

use store::{
    Access, Decision, Era, Grade, GrantHow, Ids, NewAttempt, NewGrant, NewOutcome, NewSession,
    Options, OutcomeState, Planned, RequestId, SessionId, Sqlite, Store, StoreError, Verdict,
};

/// A day in November.
pub const NOON: u64 = 1_764_500_000_000;

/// Runs one test's tasks on several threads.
pub fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(task)
}

/// A gateway's store in this folder, with the same ids each time.
pub fn open(folder: &Path) -> Result<Sqlite, StoreError> {
    Sqlite::open(folder.join("steadfast.db"), options(Access::Gateway))
}

pub fn options(access: Access) -> Options {
    Options { ids: Ids::seeded(1), ..Options::new(access, NOON) }
}

pub fn session() -> NewSession {
    NewSession {
        server: "github".into(),
        principal: "uid:1000".into(),
        era: Era::Legacy,
        client_info: Some(r#"{"name":"client","version":"1"}"#.into()),
        at: NOON,
    }
}

/// An admitted call with an effect.
pub fn decision(store: &dyn Store, session: SessionId) -> Decision {
    Decision {
        request: store.ids().request(NOON).unwrap(),
        session,
        principal: "uid:1000".into(),
        server: "github".into(),
        server_version: Some("2.4.0".into()),
        tool: "create_issue".into(),
        planned: Planned {
            digest: Some("sha256:aa".into()),
            ordinal: Some(1),
            grade: Grade::Session,
        },
        current: Some("sha256:bb".into()),
        granted: Some("sha256:aa".into()),
        adapter: Some("add-region".into()),
        rules: vec!["SF101".into()],
        raw_arguments: r#"{"title":"raw canary"}"#.into(),
        normalised_arguments: Some(r#"{"title":"normalised canary","region":"eu"}"#.into()),
        argument_digest: "sha256:digest-canary".into(),
        effect: true,
        verdict: Verdict::Admitted,
        approval: None,
        relied_on: Vec::new(),
        at: NOON,
    }
}

pub fn attempt(request: RequestId) -> NewAttempt {
    NewAttempt {
        request,
        target: "https://api.example.com/repos/{owner}/{repo}/issues".into(),
        idempotency_key: Some(request.to_string()),
        again: None,
        at: NOON,
    }
}

pub fn outcome(attempt: store::AttemptId, state: OutcomeState) -> NewOutcome {
    NewOutcome { attempt, state, answer: None, late: false, at: NOON }
}

pub fn grant() -> NewGrant {
    NewGrant {
        server: "github".into(),
        scope: "legacy/none".into(),
        tool: "create_issue".into(),
        digest: "sha256:aa".into(),
        how: GrantHow::Accepted,
        by: "me".into(),
        at: NOON,
    }
}
