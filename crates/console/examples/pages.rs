//! How long each page takes with a store of so many records.
//!
//! `cargo run --release -p steadfast-console --example pages [RECORDS] [STORE]`, a million unless told otherwise. With
//! STORE, that file is kept, and used again where it has as many records.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, not a product")]

use console::{Config, Console, serve};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{
    Access, Decision, Era, Grade, NewApproval, NewAttempt, NewList, NewOutcome, NewRevision,
    NewSession, Options, OutcomeState, Planned, SessionId, Sqlite, Store, Verdict,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const NOW: u64 = 1_764_500_000_000;

/// Calls of one session: a busy day of one agent.
const CALLS: u64 = 500;

/// Calls that are recorded at once.
const WRITERS: u64 = 64;

/// How often each page is asked for.
const TIMES: usize = 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let wanted: u64 = arguments.next().map_or(1_000_000, |n| n.parse().unwrap());
    let kept = arguments.next().map(PathBuf::from);
    let folder = tempfile::tempdir().unwrap();
    let path = kept.unwrap_or_else(|| folder.path().join("state.db"));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(async {
        let begun = Instant::now();
        fill(&path, wanted).await;
        println!("{wanted} records at hand after {:.0} s", begun.elapsed().as_secs_f64());
        measure(&path).await;
    });
}

async fn fill(path: &Path, wanted: u64) {
    let store = Sqlite::open(path, Options::new(Access::Gateway, NOW)).unwrap();
    let store = Arc::new(store);
    let mut at = NOW;
    while store.records().await.unwrap() < wanted {
        at += 60_000;
        let new = NewSession {
            server: format!("server-{}", at / 60_000 % 7),
            principal: "uid:1000".into(),
            era: Era::Legacy,
            client_info: Some(r#"{"name":"client","version":"1"}"#.into()),
            at,
        };
        let server = new.server.clone();
        revisions(&store, &server, at).await;
        let session = store.open_session(new).await.unwrap();
        let tasks: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (store, server) = (Arc::clone(&store), server.clone());
                tokio::spawn(async move {
                    for _ in 0..CALLS / WRITERS {
                        call(&*store, session, &server, at).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
    let at = gateway::event::now();
    let new = NewSession {
        server: "server-1".into(),
        principal: "uid:1000".into(),
        era: Era::Legacy,
        client_info: None,
        at,
    };
    let session = store.open_session(new).await.unwrap();
    for _ in 0..20 {
        ask(&*store, session, at).await;
    }
}

/// A tool whose contract moves now and then.
async fn revisions(store: &Sqlite, server: &str, at: u64) {
    let tools: Vec<(String, String)> =
        (0..20).map(|n| (format!("tool-{n}"), format!("sha256:{n}-{}", at % 50))).collect();
    let all = tools.iter().map(|(tool, digest)| NewRevision {
        server: server.into(),
        tool: tool.clone(),
        digest: digest.clone(),
        definition: format!(
            r#"{{"name":"{tool}","description":"Does one thing, the {} time.","inputSchema":{{"type":"object","properties":{{"project":{{"type":"string","maxLength":{}}}}}}}}}"#,
            at % 50,
            10 + at % 50
        ),
        at,
    });
    store.seen_all(all.collect()).await.unwrap();
    let digest = format!("sha256:list-{}", at % 50);
    let list =
        NewList { server: server.into(), scope: "legacy".into(), digest, tools, pages: None, at };
    store.list_seen(list).await.unwrap();
}

fn decision(store: &dyn Store, session: SessionId, server: &str, at: u64) -> Decision {
    Decision {
        request: store.ids().request(at).unwrap(),
        session,
        principal: "uid:1000".into(),
        server: server.into(),
        server_version: None,
        tool: "tool-1".into(),
        planned: Planned { digest: None, ordinal: None, grade: Grade::Session },
        current: Some("sha256:aa".into()),
        granted: None,
        adapter: None,
        rules: Vec::new(),
        raw_arguments: r#"{"project":"shop"}"#.into(),
        normalised_arguments: None,
        argument_digest: "sha256:bb".into(),
        effect: false,
        verdict: Verdict::Admitted,
        approval: None,
        relied_on: Vec::new(),
        at,
    }
}

async fn call(store: &dyn Store, session: SessionId, server: &str, at: u64) {
    let decision = decision(store, session, server, at);
    let attempt = store.ids().attempt(at).unwrap();
    let new = NewAttempt {
        request: decision.request,
        target: "stdio".into(),
        idempotency_key: None,
        again: None,
        at,
    };
    store.leave(decision, attempt, new).await.unwrap().await.unwrap();
    let outcome = NewOutcome { attempt, state: OutcomeState::Done, answer: None, late: false, at };
    store.outcome_of_read(outcome).await.unwrap().await.unwrap();
}

async fn ask(store: &dyn Store, session: SessionId, at: u64) {
    let mut held = decision(store, session, "server-1", at);
    (held.verdict, held.effect) = (Verdict::Held, true);
    let request = held.request;
    store.decide(held).await.unwrap();
    let approval = NewApproval {
        id: store.ids().approval(at).unwrap(),
        request,
        principal: "uid:1000".into(),
        session,
        server: "server-1".into(),
        tool: "tool-1".into(),
        revision: "sha256:aa".into(),
        action_digest: "sha256:cc".into(),
        card: r#"{"server":"server-1","tool":"tool-1","mode":"writes","objects":1,"targets":[],"reason":"APPROVAL_REQUIRED","moved":[],"arguments":[]}"#.into(),
        expires: at + 3_600_000,
        at,
    };
    store.ask(approval).await.unwrap();
}

async fn measure(path: &Path) {
    let store = Sqlite::open(path, Options::new(Access::Read, NOW)).unwrap();
    let records = store.records().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = listener.local_addr().unwrap();
    let console = Console::new(Config {
        store,
        path: path.to_owned(),
        sockets: path.with_extension("run"),
        listen,
        approver: Err("a measurement decides nothing".into()),
        exports: PathBuf::from("."),
        adapters: None,
        quiet_days: 7,
    });
    let link = console.link().unwrap();
    let token = link.rsplit('#').next().unwrap().to_owned();
    let host = listen.to_string();
    tokio::spawn(serve(console, listener, std::future::pending()));
    let opened = ask_for(&host, "POST", "/session", &token).await;
    let session = opened.rsplit('"').nth(1).unwrap().to_owned();
    println!("{records} records; milliseconds of a page, its bytes");
    println!("{:<44} {:>8} {:>8} {:>9}", "", "median", "worst", "bytes");
    let half = records / 2;
    let activity = ask_for(&host, "GET", "/part/activity", &session).await;
    let next = after(&activity, "data-go data-next href=\"").replace("&amp;", "&");
    let of_session =
        after(&ask_for(&host, "GET", "/part/sessions", &session).await, "data-open href=\"");
    for page in [
        "/approvals".to_owned(),
        "/sessions".into(),
        "/sessions?open=yes".into(),
        "/activity".into(),
        next,
        of_session,
        "/activity?in-doubt=yes".into(),
        "/drift".into(),
        "/drift?server=server-1&skip=60".into(),
        "/adapters".into(),
        "/journal".into(),
        format!("/journal?before={half}"),
    ] {
        let path = format!("/part{page}");
        let mut took: Vec<(Duration, usize)> = Vec::new();
        for _ in 0..TIMES {
            let begun = Instant::now();
            let shown = ask_for(&host, "GET", &path, &session).await;
            took.push((begun.elapsed(), shown.len()));
        }
        took.sort();
        let ms = |at: usize| took[at].0.as_secs_f64() * 1e3;
        let name: String = page.chars().take(44).collect();
        println!("{name:<44} {:>8.1} {:>8.1} {:>9}", ms(TIMES / 2), ms(TIMES - 1), took[0].1);
    }
}

fn after(page: &str, mark: &str) -> String {
    page.split(mark)
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap_or("/activity")
        .to_owned()
}

async fn ask_for(host: &str, method: &str, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(host).await.unwrap();
    let asked = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.starts_with("HTTP/1.1 200"), "{path}: {}", &text[..text.len().min(400)]);
    text
}
