//! Servers behind Streamable HTTP.

use mcp::{Era, ErrorKind, Headers};

use crate::support::*;

const ALL: [&str; 3] = ["read_note", "write_note", "list_notes"];

fn check(switches: &str, era: Era) -> mcp::Snapshot {
    let web = Web::start(switches);
    let snapshot = fetched(&web.target(), &options());
    assert_eq!(names(&snapshot), ALL, "{switches}");
    assert_eq!(snapshot.revision.era, era, "{switches}");
    assert_eq!(snapshot.instructions.as_deref(), Some("Read before you write."), "{switches}");
    snapshot
}

fn refuse(switches: &str, kind: ErrorKind, parts: &[&str]) {
    refused(&Web::start(switches).target(), &impatient(), kind, parts);
}

#[test]
fn both_eras_in_json_and_event_streams() {
    check("--era legacy", Era::Legacy);
    check("--era legacy --session", Era::Legacy);
    check("--era legacy --session --sse --pages 3", Era::Legacy);
    check("--era modern", Era::Modern);
    check("--era modern --sse --pages 2 --empty-cursor", Era::Modern);
    check("--era dual --session", Era::Modern);
    check("--era legacy --sse --resume --session", Era::Legacy);
    check("--era legacy --session --lose-session 404", Era::Legacy);
    check("--era legacy --session --lose-session 400", Era::Legacy);
    check("--era legacy --drift announced", Era::Legacy);
}

#[test]
fn requests_on_a_legacy_stream_are_answered_in_posts_of_their_own() {
    let (_folder, log) = log_file();
    check(
        &format!(
            "--era legacy --sse --session --asks-back --chatty-properly --log {}",
            log.display()
        ),
        Era::Legacy,
    );
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains(r#"{"jsonrpc":"2.0","id":"s-1","result":{}}"#), "{said}");
    assert!(said.contains(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601"#), "{said}");
}

#[test]
fn headers_say_what_the_era_wants() {
    let (_folder, log) = log_file();
    check(&format!("--era modern --log {}", log.display()), Era::Modern);
    let said = std::fs::read_to_string(&log).unwrap();
    for line in said.lines().skip(1) {
        assert!(line.contains("mcp-protocol-version: 2026-07-28"), "{line}");
        assert!(
            line.contains("mcp-method: server/discover") || line.contains("mcp-method: tools/list"),
            "{line}"
        );
        assert!(line.contains("accept: application/json, text/event-stream"), "{line}");
        assert!(!line.contains("mcp-session-id"), "{line}");
    }

    let (_folder, log) = log_file();
    check(&format!("--era legacy --session --log {}", log.display()), Era::Legacy);
    let said = std::fs::read_to_string(&log).unwrap();
    let initialize = said.lines().find(|l| l.contains("\"method\":\"initialize\"")).unwrap();
    assert!(
        !initialize.contains("mcp-protocol-version") && !initialize.contains("mcp-method"),
        "{initialize}"
    );
    for line in
        said.lines().filter(|l| l.contains("tools/list") || l.contains("notifications/initialized"))
    {
        assert!(line.contains("mcp-protocol-version: 2025-11-25"), "{line}");
        assert!(line.contains("mcp-session-id: session-4711"), "{line}");
        assert!(!line.contains("mcp-method"), "{line}");
    }
    let last = said.lines().last().unwrap();
    assert!(last.starts_with("DELETE ") && last.contains("mcp-session-id: session-4711"), "{last}");
}

#[test]
fn servers_that_cannot_serve_are_errors_in_a_sentence() {
    refuse("--status 404", ErrorKind::Answer, &["HTTP 404", "/mcp"]);
    refuse("--status 500", ErrorKind::Answer, &["HTTP 500"]);
    refuse("--html", ErrorKind::Answer, &["no MCP message", "Welcome"]);
    refuse("--era legacy --fail-on tools/list", ErrorKind::Answer, &["-32603", "backend is down"]);
    refuse("--era legacy --hang-on tools/list", ErrorKind::Silent, &["`tools/list`", "3 s"]);
    refuse("--era modern --sse --cut", ErrorKind::Answer, &["connection ended before"]);
    refuse("--era legacy --sse --cut", ErrorKind::Answer, &["connection ended before"]);
    refuse("--era legacy --big-line-on tools/list", ErrorKind::Answer, &["8 MiB"]);
    refuse("--era legacy --sse --big-line-on tools/list", ErrorKind::Answer, &["8 MiB"]);
    refuse("--era legacy --duplicate-keys", ErrorKind::List, &["`type` twice"]);
    refuse(
        "--era legacy --die-on tools/list",
        ErrorKind::Unreachable,
        &["could not be reached", "not an empty list"],
    );
    refuse("--old-transport", ErrorKind::Version, &["HTTP+SSE", "2024-11-05"]);
    refuse("--era modern --speaks 2031-01-01", ErrorKind::Version, &["2031-01-01"]);
}

#[test]
fn a_server_that_is_not_there_is_no_empty_list() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let target = mcp::Target::Url {
        url: format!("http://127.0.0.1:{port}/mcp"),
        headers: Headers::default(),
    };
    refused(
        &target,
        &impatient(),
        ErrorKind::Unreachable,
        &["could not be reached", "refused", "not an empty list"],
    );
    let target = mcp::Target::Url {
        url: "http://me:pass-word@127.0.0.1/mcp".into(),
        headers: Headers::default(),
    };
    let error = refused(&target, &impatient(), ErrorKind::Usage, &["user or a password"]);
    assert!(!error.to_string().contains("pass-word"), "{error}");
}

#[test]
fn redirects_stay_in_the_origin() {
    check("--era legacy --session --redirect slash", Era::Legacy);
    check("--era modern --redirect slash", Era::Modern);
    let away = Web::start("--redirect away");
    let error = refused(
        &away.target(),
        &impatient(),
        ErrorKind::Answer,
        &["elsewhere.example", "not followed"],
    );
    assert!(!error.to_string().contains("k-999999"), "{error}");
    refuse("--redirect round", ErrorKind::Answer, &["not followed"]);
    refuse("--redirect found", ErrorKind::Answer, &["/login"]);
}

#[test]
fn secrets_are_sent_and_never_told() {
    let bearer = |token: &str| {
        let mut headers = Headers::default();
        headers.bearer(token).unwrap();
        headers
    };
    let (_folder, log) = log_file();
    let web =
        Web::start(&format!("--era legacy --session --bearer tok-123456 --log {}", log.display()));
    let snapshot = fetched(&web.target_with(bearer("tok-123456")), &options());
    assert!(!snapshot.to_json().contains("tok-123456"));
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.lines().skip(1).all(|l| l.contains("authorization: Bearer tok-123456")), "{said}");

    refused(
        &web.target(),
        &options(),
        ErrorKind::Unauthorized,
        &["HTTP 401", "invalid_token", "STEADFAST_BEARER"],
    );
    let error = refused(
        &web.target_with(bearer("tok-wrong-one")),
        &options(),
        ErrorKind::Unauthorized,
        &["[hidden]"],
    );
    assert!(!format!("{error} {error:?}").contains("tok-wrong"), "{error}");
}
