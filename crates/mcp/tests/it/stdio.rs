//! Servers as child processes.

use std::time::{Duration, Instant};

use mcp::{Era, ErrorKind};

use crate::support::*;

const ALL: [&str; 3] = ["read_note", "write_note", "list_notes"];

/// The snapshot of the scripted server with these switches.
fn check(switches: &str, era: Era, pages: usize) -> mcp::Snapshot {
    let snapshot = fetched(&scripted(switches), &options());
    assert_eq!(names(&snapshot), ALL, "{switches}");
    assert_eq!(snapshot.revision.era, era, "{switches}");
    assert_eq!(snapshot.pages.len(), pages, "{switches}");
    assert_eq!(snapshot.instructions.as_deref(), Some("Read before you write."), "{switches}");
    let info = snapshot.server_info.as_ref().map(|raw| raw.get());
    assert_eq!(info, Some("{\"name\":\"scripted\",\"version\":\"1\"}"), "{switches}");
    snapshot
}

#[test]
fn both_eras_and_all_pages() {
    check("--era legacy", Era::Legacy, 1);
    check("--era modern", Era::Modern, 1);
    check("--era dual", Era::Modern, 1);
    check("--era legacy --pages 3", Era::Legacy, 3);
    check("--era modern --pages 2", Era::Modern, 2);
    check("--era legacy --pages 2 --empty-cursor", Era::Legacy, 2);
    check("--era dual --pages 3 --empty-cursor", Era::Modern, 3);
}

#[test]
fn an_era_can_be_asked_for() {
    let legacy = mcp::FetchOptions { era: Some(Era::Legacy), ..options() };
    let modern = mcp::FetchOptions { era: Some(Era::Modern), ..options() };
    assert_eq!(fetched(&scripted("--era dual"), &legacy).revision.date, "2025-11-25");
    assert_eq!(fetched(&scripted("--era dual"), &modern).revision.date, "2026-07-28");
    refused(
        &scripted("--era modern"),
        &legacy,
        ErrorKind::Answer,
        &["`initialize`", "-32601", "2026-07-28"],
    );
    refused(
        &scripted("--era legacy"),
        &modern,
        ErrorKind::Answer,
        &["`server/discover`", "-32601"],
    );
}

#[test]
fn tools_are_kept_byte_for_byte() {
    let snapshot = check("--era legacy", Era::Legacy, 1);
    let raw = snapshot.tools[0].raw.get();
    assert!(
        raw.contains(r#""maximum":1e3"#) && raw.contains(r#""x-vendor":{"b":1.0,"a":[]}"#),
        "{raw}"
    );
    assert!(snapshot.tools[1].raw.get().contains(r"Writes \u00e9 one note."));
    let json = snapshot.to_json();
    assert!(json.contains("\"maximum\": 1e3") && json.contains("\"b\": 1.0"), "{json}");
    let back: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(back["steadfast_snapshot"], 1);
    assert_eq!(back["era"], "legacy");
    assert_eq!(back["source"]["command"][0], SCRIPTED);
    assert_eq!(back["tools"].as_array().unwrap().len(), 3);
}

#[test]
fn the_same_server_gives_the_same_bytes() {
    let target = scripted("--era dual --pages 2 --chatty-properly");
    assert_eq!(fetched(&target, &options()).to_json(), fetched(&target, &options()).to_json());
}

#[test]
fn revisions_are_negotiated() {
    let older = fetched(&scripted("--answers-version 2024-11-05"), &options());
    assert_eq!(older.revision.date, "2024-11-05");
    let unknown = ["2031-01-01", "This program speaks"];
    refused(&scripted("--answers-version 2031-01-01"), &options(), ErrorKind::Version, &unknown);
    refused(
        &scripted("--era modern --speaks 2031-01-01"),
        &options(),
        ErrorKind::Version,
        &unknown,
    );
    refused(
        &scripted("--answers-version 2026-07-28"),
        &options(),
        ErrorKind::Version,
        &["2026-07-28"],
    );
    // A dual server that has given up the modern revision we know still speaks legacy.
    let dual = fetched(&scripted("--era dual --speaks 2025-11-25"), &options());
    assert_eq!(dual.revision.date, "2025-11-25");
}

#[test]
fn the_probe_harms_nobody() {
    let (_folder, log) = log_file();
    let switches = format!("--die-on server/discover --log {}", log.display());
    check(&switches, Era::Legacy, 1);
    let said = std::fs::read_to_string(&log).unwrap();
    assert_eq!(said.matches("start\n").count(), 2, "it is started once more: {said}");
    let second = said.rsplit("start\n").next().unwrap();
    assert!(
        second.starts_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\""),
        "{second}"
    );
    check("--refuse-after-probe", Era::Legacy, 1);
    // Deaf to what it does not know.
    let deaf = fetched(&scripted("--hang-on server/discover"), &impatient());
    assert_eq!(deaf.revision.era, Era::Legacy);
}

#[test]
fn a_slow_start_does_not_change_the_era() {
    let slow = mcp::FetchOptions { probe_timeout: Duration::from_millis(100), ..options() };
    assert_eq!(fetched(&scripted("--era dual --slow-start 700"), &slow).revision.era, Era::Modern);
    assert_eq!(
        fetched(&scripted("--era modern --slow-start 700"), &slow).revision.era,
        Era::Modern
    );
    assert_eq!(
        fetched(&scripted("--era legacy --slow-start 700"), &slow).revision.era,
        Era::Legacy
    );
}

#[test]
fn requests_of_the_server_are_answered() {
    check("--asks-back", Era::Legacy, 1);
    check("--chatty-properly", Era::Legacy, 1);
}

#[test]
fn stray_output_is_tolerated_and_told() {
    let snapshot = check("--chatty", Era::Legacy, 1);
    assert!(snapshot.notes.len() > 1, "{:?}", snapshot.notes);
    assert!(
        snapshot.notes[0].contains("on stdout") && snapshot.notes[0].contains("Listening on stdio")
    );
    assert!(snapshot.notes.last().unwrap().contains("more such lines"), "{:?}", snapshot.notes);
    refused(
        &scripted("--chatty --die-on tools/list"),
        &options(),
        ErrorKind::Died,
        &["Listening on stdio", "exit code 9"],
    );
    check("--flood-stderr", Era::Legacy, 1);
}

#[test]
fn a_server_that_cannot_serve_is_an_error_in_a_sentence() {
    let missing = mcp::Target::Command(vec!["/no/such/program".into()]);
    refused(
        &missing,
        &options(),
        ErrorKind::Unreachable,
        &["could not be started", "/no/such/program", "no such program"],
    );
    refused(
        &mcp::Target::Command(Vec::new()),
        &options(),
        ErrorKind::Usage,
        &["No command was given"],
    );
    refused(
        &scripted("--die-at-start"),
        &options(),
        ErrorKind::Died,
        &["exit code 3", "DATA_DIR is not set", "`initialize`"],
    );
    refused(
        &scripted("--die-on tools/list"),
        &options(),
        ErrorKind::Died,
        &["exit code 9", "`tools/list`", "backend went away"],
    );
    refused(
        &scripted("--close-on tools/list"),
        &options(),
        ErrorKind::Died,
        &["closed its stdout"],
    );
    refused(
        &scripted("--hang-on tools/list"),
        &impatient(),
        ErrorKind::Silent,
        &["`tools/list`", "3 s", "--timeout"],
    );
    refused(&scripted("--hang-on initialize"), &impatient(), ErrorKind::Silent, &["`initialize`"]);
    refused(&scripted("--big-line-on tools/list"), &options(), ErrorKind::Answer, &["8 MiB"]);
    refused(&scripted("--endless-line-on tools/list"), &options(), ErrorKind::Answer, &["8 MiB"]);
    refused(
        &scripted("--fail-on tools/list"),
        &options(),
        ErrorKind::Answer,
        &["-32603", "the backend is down", "not an empty list"],
    );
    refused(
        &shell("echo hello; cat >/dev/null"),
        &impatient(),
        ErrorKind::Silent,
        &["on stdout", "hello"],
    );
}

#[test]
fn a_list_that_is_no_contract_is_an_error_in_a_sentence() {
    fn check(switches: &str, parts: &[&str]) {
        refused(&scripted(switches), &options(), ErrorKind::List, parts);
    }
    check("--loop-cursor", &["page 2", "`p1`", "circle"]);
    check("--endless", &["500 pages"]);
    check("--duplicate-keys", &["page 1", "/tools/0/inputSchema/properties/id", "`type` twice"]);
    check("--duplicate-greeting", &["initialize", "`instructions` twice"]);
    check(
        "--duplicate-tools",
        &["/tools/3", "`read_note` is already listed on page 1 at /tools/0"],
    );
    check(
        "--nameless",
        &["/tools/3: The tool has no `name`", "/tools/4", "/tools/5: The tool is not an object"],
    );
    check("--no-list", &["no `tools`", "not an empty list"]);
    check("--null-list", &["`tools` is not an array"]);
    check("--odd-cursor", &["`nextCursor` is not a string but `7`"]);
    check("--deep 10000", &["deeper than 120 levels"]);
    check("--era modern --input-required", &["input_required"]);
    fetched(&scripted("--deep 100"), &options());
    refused(
        &scripted("--odd-instructions"),
        &options(),
        ErrorKind::Answer,
        &["`instructions` is not a string"],
    );
}

#[test]
fn only_a_list_that_holds_still_is_taken() {
    assert_eq!(names(&fetched(&scripted("--drift once"), &options())), ALL);
    assert_eq!(names(&fetched(&scripted("--drift announced"), &options())), ALL);
    assert_eq!(names(&fetched(&scripted("--drift nagging"), &options())), ALL);
    assert_eq!(names(&fetched(&scripted("--duplicate-once --pages 2"), &options())), ALL);
    let order = fetched(&scripted("--drift order"), &options());
    assert_eq!(names(&order), ["list_notes", "read_note", "write_note"]);
    assert!(order.notes[0].contains("sorts them by name"), "{:?}", order.notes);
    let members = fetched(&scripted("--drift members"), &options());
    assert!(members.notes[0].contains("another order"), "{:?}", members.notes);
    refused(
        &scripted("--drift silent"),
        &options(),
        ErrorKind::Moving,
        &["did not hold still", "`extra_4` went and `extra_5` came"],
    );
    refused(
        &scripted("--pages 2 --forgets-cursors"),
        &options(),
        ErrorKind::Answer,
        &["Invalid cursor", "page 2"],
    );
}

#[test]
fn no_tools_is_an_empty_list_only_where_none_are_declared() {
    let snapshot = fetched(&scripted("--no-tools"), &options());
    assert!(snapshot.tools.is_empty());
    assert!(snapshot.notes.iter().any(|n| n.contains("declares no tools")));
}

#[test]
fn the_bearer_token_is_withheld_from_child_processes() {
    // The variable is set for a process in between, since tests share one environment.
    let target = shell(&format!(
        "STEADFAST_BEARER=tok-1 exec {SCRIPTED} --show-env HOME --die-on tools/list"
    ));
    refused(&target, &options(), ErrorKind::Died, &["HOME=Some"]);
}

/// The process is gone (or about to be reaped), within a generous time.
fn gone(pid: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    let status = format!("/proc/{pid}/status");
    while Instant::now() < until {
        match std::fs::read_to_string(&status) {
            Err(_) => return true,
            Ok(text) if text.contains("State:\tZ") => return true,
            Ok(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    false
}

#[test]
fn no_process_is_left_behind() {
    if !std::path::Path::new("/proc/self/status").exists() {
        println!("skipped: this system has no /proc");
        return;
    }
    fn check(switches: &str) {
        let (_folder, log) = log_file();
        let switches = format!("{switches} --grandchild --log {}", log.display());
        let _ = mcp::fetch(&scripted(&switches), &impatient());
        let said = std::fs::read_to_string(&log).unwrap();
        let pids: Vec<&str> = said.lines().filter_map(|l| l.strip_prefix("grandchild ")).collect();
        assert!(!pids.is_empty(), "{said}");
        for pid in pids {
            assert!(gone(pid), "{switches}: process {pid} lives on");
        }
    }
    check("--era modern");
    check("--era legacy --ignore-eof");
    check("--era legacy --hang-on tools/list");
    check("--era legacy --die-on tools/list");
    // A server that does not care about SIGTERM either.
    let (folder, _) = log_file();
    let pid = folder.path().join("pid");
    let target =
        shell(&format!("trap '' TERM; echo $$ > {}; while :; do sleep 0.2; done", pid.display()));
    refused(&target, &impatient(), ErrorKind::Silent, &["did not answer"]);
    assert!(gone(std::fs::read_to_string(&pid).unwrap().trim()));
}

#[test]
fn a_server_that_leaves_by_itself_is_let() {
    let (_folder, log) = log_file();
    fetched(&scripted(&format!("--era modern --log {}", log.display())), &options());
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.ends_with("left by itself\n"), "{said}");
}
