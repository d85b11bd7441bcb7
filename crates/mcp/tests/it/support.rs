//! Starting the scripted server, fetching from it, and judging what came.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp::{FetchError, FetchOptions, Headers, Snapshot, Target};

/// The scripted server.
pub const SCRIPTED: &str = env!("CARGO_BIN_EXE_scripted-mcp");

/// Options for a server on this machine that answers at once. Long enough for a busy machine, except where a test
/// waits for silence.
pub fn options() -> FetchOptions {
    FetchOptions { settle: Duration::from_millis(20), ..FetchOptions::default() }
}

/// Options under which silence is noticed soon.
pub fn impatient() -> FetchOptions {
    FetchOptions {
        probe_timeout: Duration::from_secs(3),
        request_timeout: Duration::from_secs(3),
        ..options()
    }
}

/// The scripted server as a target.
pub fn scripted(switches: &str) -> Target {
    let mut words = vec![SCRIPTED.to_owned()];
    words.extend(switches.split_whitespace().map(str::to_owned));
    Target::Command(words)
}

/// A shell line as a target.
pub fn shell(line: &str) -> Target {
    Target::Command(vec!["sh".into(), "-c".into(), line.into()])
}

/// A file of this test's own, and the folder that holds it.
pub fn log_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    (folder, file)
}

/// The scripted server behind HTTP, ended with this value.
pub struct Web {
    child: Child,
    pub url: String,
}

impl Web {
    pub fn start(switches: &str) -> Web {
        let mut child = Command::new(SCRIPTED)
            .arg("--http")
            .args(switches.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Web { child, url: url.trim().to_owned() }
    }

    pub fn target(&self) -> Target {
        Target::Url { url: self.url.clone(), headers: Headers::default() }
    }

    pub fn target_with(&self, headers: Headers) -> Target {
        Target::Url { url: self.url.clone(), headers }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fetches something that must succeed.
pub fn fetched(target: &Target, options: &FetchOptions) -> Snapshot {
    mcp::fetch(target, options).unwrap_or_else(|e| panic!("{target}: {e}"))
}

/// Fetches something that must fail, with every one of these in the text of the error.
pub fn refused(
    target: &Target,
    options: &FetchOptions,
    kind: mcp::ErrorKind,
    parts: &[&str],
) -> FetchError {
    let error = match mcp::fetch(target, options) {
        Ok(snapshot) => panic!("{target} was fetched: {}", snapshot.to_json()),
        Err(error) => error,
    };
    let text = error.to_string();
    assert_eq!(error.kind, kind, "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    for problem in &error.problems {
        assert!(!problem.place.is_empty() && !problem.sentence.is_empty(), "{text}");
    }
    error
}

/// The names of a snapshot's tools.
pub fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.tools.iter().map(|t| t.name.as_str()).collect()
}
