//! `steadfast snapshot` against a real process and a real socket.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

const STEADFAST: &str = env!("CARGO_BIN_EXE_steadfast");

/// The scripted server of the wire layer's tests. It lies beside the binary where the workspace was built whole;
/// where only this package was, it is built first.
pub fn scripted() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = Path::new(STEADFAST).with_file_name("scripted-mcp");
        if !path.exists() {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let built = Command::new(cargo)
                .args(["build", "-p", "steadfast-mcp", "--bin", "scripted-mcp"])
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .status()
                .unwrap();
            assert!(built.success() && path.exists(), "the scripted server could not be built");
        }
        path
    })
}

/// Runs the binary in a folder, without what the caller's environment may hold for it.
fn steadfast(folder: &Path, words: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(STEADFAST)
        .args(words)
        .current_dir(folder)
        .env_remove("STEADFAST_BEARER")
        .env_remove("STEADFAST_TIMEOUT")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A snapshot of the scripted server with these switches, with this exit code; gives what was said on stderr.
fn check(switches: &str, exit: i32, parts: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let server = scripted().display().to_string();
    let mut words = vec!["snapshot", "-o", "out.json", "--timeout", "20", "--", &server];
    words.extend(switches.split_whitespace());
    let output = steadfast(folder.path(), &words, &[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{switches}: {said}");
    for part in parts {
        assert!(said.contains(part), "{switches}: `{part}` is not in:\n{said}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), usize::from(exit == 0), "{switches}: {left:?}");
    said
}

#[test]
fn a_server_is_read_and_the_file_compared() {
    let folder = tempfile::tempdir().unwrap();
    let server = scripted().display().to_string();
    let take = |file: &str, switches: &[&str]| {
        let mut words = vec!["snapshot", "-o", file, "--", &server];
        words.extend(switches);
        let output = steadfast(folder.path(), &words, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let said = take("a.json", &["--era", "dual", "--pages", "2"]);
    assert_eq!(said, "a.json written: 3 tools on 2 pages, protocol 2026-07-28 (modern era)\n");
    take("b.json", &["--era", "legacy"]);
    let diff = steadfast(folder.path(), &["diff", "a.json", "b.json", "--fail-on", "adapt"], &[]);
    assert_eq!(diff.status.code(), Some(0), "{}{}", text(&diff.stdout), text(&diff.stderr));

    // Written over, never beside; without -o it goes to standard output.
    take("a.json", &["--era", "dual", "--pages", "2"]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let printed = steadfast(
        folder.path(),
        &["snapshot", "--", &server, "--era", "dual", "--pages", "2"],
        &[],
    );
    let file = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
    assert_eq!(text(&printed.stdout), file);
}

#[test]
fn what_cannot_be_taken_is_said_and_nothing_is_written() {
    check("", 0, &[]);
    check("--chatty", 0, &["note: ", "Listening on stdio"]);
    check("--die-at-start", 2, &["error:", "exit code 3", "DATA_DIR is not set"]);
    check("--die-on tools/list", 2, &["exit code 9", "`tools/list`", "the backend went away"]);
    check("--fail-on tools/list", 2, &["-32603", "not an empty list"]);
    check("--loop-cursor", 2, &["page 2", "circle"]);
    check("--big-line-on tools/list", 2, &["8 MiB"]);
    check("--duplicate-keys", 2, &["/tools/0/inputSchema/properties/id", "`type` twice"]);
    check("--duplicate-tools", 2, &["`read_note` is already listed"]);
    check("--deep 10000", 2, &["deeper than 120"]);
    let nameless = check("--nameless", 2, &[]);
    assert_eq!(nameless.matches("error:").count(), 3, "all at once: {nameless}");
}

#[test]
fn wrong_use_is_said_without_the_secret() {
    fn check(words: &[&str], variables: &[(&str, &str)], part: &str) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("headers"), "X-Key secret-1\n").unwrap();
        let output = steadfast(folder.path(), words, variables);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: `{part}` is not in:\n{said}");
        assert!(!said.contains("secret-1"), "{said}");
    }
    const URL: &str = "http://127.0.0.1:9/mcp";
    check(&["snapshot"], &[], "required");
    check(&["snapshot", "tools.json"], &[], "not the address of a server");
    check(&["snapshot", "https://me:secret-1@h/mcp"], &[], "user or a password");
    check(
        &["snapshot", URL, "--header-from-env", "X-Key=NO_SUCH_VARIABLE"],
        &[],
        "no variable `NO_SUCH_VARIABLE`",
    );
    check(&["snapshot", URL, "--header-from-env", "X-Key"], &[], "not NAME=VAR");
    check(&["snapshot", URL, "--headers-file", "headers"], &[], "line 1");
    check(&["snapshot", URL, "--headers-file", "missing"], &[], "no such file");
    check(
        &["snapshot", URL, "--header-from-env", "Host=KEY"],
        &[("KEY", "secret-1")],
        "set by the protocol",
    );
    check(&["snapshot", URL], &[("STEADFAST_BEARER", "secret-1\u{1}")], "STEADFAST_BEARER");
    check(&["snapshot", URL], &[("STEADFAST_TIMEOUT", "soon")], "STEADFAST_TIMEOUT");
    check(&["snapshot", URL, "--timeout", "20"], &[], "could not be reached");
    check(
        &["snapshot", "http://example.com/mcp"],
        &[("STEADFAST_BEARER", "secret-1")],
        "unencrypted",
    );
}

/// The scripted server behind HTTP, ended with this value.
struct Web(Child, String);

impl Web {
    fn start(switches: &[&str]) -> Web {
        let mut child = Command::new(scripted())
            .arg("--http")
            .args(switches)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Web(child, url.trim().to_owned())
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn tokens_come_from_the_environment_or_a_file() {
    let web = Web::start(&["--era", "modern", "--bearer", "tok-123456"]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("headers"), "# mine\nAuthorization: Bearer tok-123456\n")
        .unwrap();
    let ask = |words: &[&str], variables: &[(&str, &str)]| {
        let mut all = vec!["snapshot", web.1.as_str()];
        all.extend(words);
        let output = steadfast(folder.path(), &all, variables);
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(!said.contains("tok-"), "{said}");
        (output.status.code(), said)
    };
    assert_eq!(ask(&[], &[("STEADFAST_BEARER", "tok-123456")]).0, Some(0));
    assert_eq!(ask(&["--headers-file", "headers"], &[]).0, Some(0));
    let from_variable =
        ask(&["--header-from-env", "Authorization=MINE"], &[("MINE", "Bearer tok-123456")]);
    assert_eq!(from_variable.0, Some(0), "{}", from_variable.1);
    let (exit, said) = ask(&[], &[("STEADFAST_BEARER", "tok-other")]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("HTTP 401") && said.contains("[hidden]"), "{said}");
}

#[test]
fn an_interrupted_fetch_leaves_no_process_and_no_file() {
    if !Path::new("/proc/self/status").exists() {
        println!("skipped: this system has no /proc");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut child = Command::new(STEADFAST)
        .args(["snapshot", "-o", "out.json", "--"])
        .arg(scripted())
        .args(["--hang-on", "tools/list", "--grandchild", "--log"])
        .arg(&log)
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |done: &dyn Fn() -> bool, what: &str| {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !done() {
            assert!(std::time::Instant::now() < until, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let said = || std::fs::read_to_string(&log).unwrap_or_default();
    wait(&|| said().contains("tools/list"), "the server is never asked");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(!folder.path().join("out.json").exists());
    let log = said();
    let pid = log.lines().find_map(|line| line.strip_prefix("grandchild ")).unwrap();
    let status = format!("/proc/{pid}/status");
    let gone = || match std::fs::read_to_string(&status) {
        Err(_) => true,
        Ok(text) => text.contains("State:\tZ"),
    };
    wait(&gone, "the server's own child lives on");
}
