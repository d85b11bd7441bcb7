//! Runs an agent: one process in a group of its own, with a time limit, and nothing of this environment that it was
//! not given.

use super::outcome::{Capture, End};
use crate::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// How an agent is started, with everything filled in.
#[derive(Debug, Clone)]
pub struct Start {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder in which it works.
    pub folder: PathBuf,
    /// Its environment, beside the few that every program is given.
    pub env: BTreeMap<String, String>,
    /// What is written to its standard input.
    pub input: String,
    /// When it is ended.
    pub limit: Duration,
}

/// Variables that an agent needs to start at all. No other is handed on: a secret of this environment is none of its.
const KEPT: &[&str] = &["PATH", "LANG", "LC_ALL", "USER", "SYSTEMROOT"];

/// Variables that lead to the folder of the run: what is written there is looked at, and no true credential lies there.
const OWN: &[&str] = &["HOME", "TMPDIR"];

/// The processes of an agent. They end when this is dropped.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // Fails only where nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// Runs an agent to its end, or to its limit. What it wrote, how it ended; its files are read from `run`.
pub async fn run(start: &Start, run: &Path) -> Capture {
    let mut capture = Capture::default();
    let Some((program, arguments)) = start.command.split_first() else {
        capture.end = End::NotStarted("no command is given".to_owned());
        return capture;
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&start.folder).env_clear();
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for name in OWN {
        command.env(name, run);
    }
    command.envs(&start.env).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(why) => {
            capture.end = End::NotStarted(format!("`{program}`: {why}"));
            return capture;
        }
    };
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let group = Group(pid);
    let stdin = child.stdin.take();
    let out = tokio::spawn(text(child.stdout.take()));
    let err = tokio::spawn(text(child.stderr.take()));
    let input = start.input.clone();
    let fed = tokio::spawn(async move {
        if let Some(mut stdin) = stdin {
            // Who does not read its instruction may close the pipe early.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    });
    capture.end = match timeout(start.limit, child.wait()).await {
        Ok(Ok(status)) => status.code().map_or(End::Signal, End::Code),
        Ok(Err(why)) => End::NotStarted(format!("`{program}`: {why}")),
        Err(_) => End::TimedOut(start.limit.as_secs()),
    };
    // What it started and left behind holds its pipes: it ends first.
    drop(group);
    fed.abort();
    capture.stdout = heard(out).await;
    capture.stderr = heard(err).await;
    capture.files = files(run);
    capture
}

async fn heard(task: tokio::task::JoinHandle<String>) -> String {
    match timeout(limits::LAST_WORDS, task).await {
        Ok(Ok(text)) => text,
        _ => String::new(),
    }
}

/// Everything from a pipe, up to a bound; the rest is read and let go, so that the writer is not held.
async fn text(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut kept = Vec::new();
    let mut chunk = vec![0; 16 << 10];
    while let Ok(n @ 1..) = pipe.read(&mut chunk).await {
        let room = limits::AGENT_OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..n.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The files that were left in the folder of a run, by their paths in it.
fn files(root: &Path) -> Vec<(String, String)> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_symlink() || found.len() >= limits::AGENT_FILES {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if path.metadata().is_ok_and(|data| data.len() <= limits::AGENT_OUTPUT as u64)
                && let (Ok(name), Ok(bytes)) = (path.strip_prefix(root), std::fs::read(&path))
            {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                found.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}
