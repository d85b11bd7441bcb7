//! Runs an agent: one process in a group of its own, with a time limit, and nothing of this environment that it was
//! not given.

use super::outcome::{Capture, End};
use crate::escaped;
use crate::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::io::Read;
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
    /// The file of its plan in the folder of the run, where it writes one.
    pub plan: Option<String>,
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
    // What it started and left behind holds its pipes, and may still write: it ends first.
    drop(group);
    fed.abort();
    let mark = run.to_string_lossy().into_owned();
    match tokio::task::spawn_blocking(move || escaped::end(&mark)).await {
        Ok(ended) if ended.is_empty() => {}
        // What it would have sent or written later is not known.
        Ok(ended) => capture.unsearched.push(format!(
            "what left the agent's group and went on ({}), which was ended",
            ended.join(", ")
        )),
        Err(why) => capture.unsearched.push(format!("what it left behind ({why})")),
    }
    capture.stdout = heard(out, "standard output", &mut capture.unsearched).await;
    capture.stderr = heard(err, "standard error", &mut capture.unsearched).await;
    let (root, plan) = (run.to_path_buf(), start.plan.clone());
    // A slow disk is no reason to hold the other runs.
    match tokio::task::spawn_blocking(move || Left::in_folder(&root, plan.as_deref())).await {
        Ok(left) => {
            capture.files = left.files;
            capture.unsearched.extend(left.unsearched);
        }
        Err(why) => capture.unsearched.push(format!("the folder of the run ({why})")),
    }
    capture
}

/// What a pipe gave, and why that is not all, where it is not.
type Heard = (String, Option<&'static str>);

async fn heard(
    task: tokio::task::JoinHandle<Heard>,
    place: &str,
    unsearched: &mut Vec<String>,
) -> String {
    let (text, why) = match timeout(limits::LAST_WORDS, task).await {
        Ok(Ok(heard)) => heard,
        Ok(Err(_)) => (String::new(), Some("reading it broke off")),
        Err(_) => (String::new(), Some("what left the agent's group holds it open")),
    };
    unsearched.extend(why.map(|why| format!("{place} ({why})")));
    text
}

/// Everything from a pipe, up to a bound; the rest is read and let go, so that the writer is not held.
async fn text(pipe: Option<impl AsyncRead + Unpin>) -> Heard {
    let Some(mut pipe) = pipe else { return (String::new(), None) };
    let (mut kept, mut why) = (Vec::new(), None);
    let mut chunk = vec![0; 16 << 10];
    loop {
        match pipe.read(&mut chunk).await {
            Ok(0) => break,
            Ok(n) => {
                let room = limits::AGENT_OUTPUT.saturating_sub(kept.len());
                kept.extend_from_slice(&chunk[..n.min(room)]);
                if n > room {
                    why = Some("there is more than is kept");
                }
            }
            Err(_) => {
                why = Some("reading it broke off");
                break;
            }
        }
    }
    (String::from_utf8_lossy(&kept).into_owned(), why)
}

/// What was left in the folder of a run.
#[derive(Default)]
struct Left {
    /// Files by their paths in it, in order.
    files: Vec<(String, String)>,
    /// What was not read, and why.
    unsearched: Vec<String>,
}

impl Left {
    /// Reads regular files alone: a pipe would never end. The file of the plan comes first, whatever else is there.
    fn in_folder(root: &Path, plan: Option<&str>) -> Left {
        let mut left = Left::default();
        let plan = plan.map(|name| root.join(name));
        let within = |path: &PathBuf| {
            let (path, root) = (path.canonicalize(), root.canonicalize());
            matches!((path, root), (Ok(path), Ok(root)) if path.starts_with(&root))
        };
        let plan = plan.filter(within);
        if let Some(path) = &plan {
            left.file(root, path);
        }
        let (mut open, mut visited) = (vec![root.to_path_buf()], 0);
        while let Some(folder) = open.pop() {
            visited += 1;
            if visited > limits::AGENT_FOLDERS {
                left.unsearched.push(format!("more than {} folders", limits::AGENT_FOLDERS));
                break;
            }
            let Ok(entries) = std::fs::read_dir(&folder) else {
                left.unsearched.push(format!("{} (it cannot be read)", shown(root, &folder)));
                continue;
            };
            let entries = entries.take(limits::FOLDER_ENTRIES + 1).flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            if paths.len() > limits::FOLDER_ENTRIES {
                left.unsearched.push(format!("all of {}", shown(root, &folder)));
            }
            for path in paths {
                let Ok(data) = path.symlink_metadata() else { continue };
                if data.is_dir() {
                    open.push(path);
                } else if data.is_file() && plan.as_ref() != Some(&path) {
                    if left.files.len() >= limits::AGENT_FILES {
                        left.unsearched.push(format!("more than {} files", limits::AGENT_FILES));
                        left.files.sort();
                        return left;
                    }
                    left.file(root, &path);
                }
            }
        }
        left.files.sort();
        left
    }

    fn file(&mut self, root: &Path, path: &Path) {
        let name = shown(root, path);
        if !path.symlink_metadata().is_ok_and(|data| data.is_file()) {
            return;
        }
        let most = limits::AGENT_OUTPUT as u64;
        let mut bytes = Vec::new();
        let read =
            std::fs::File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
        match read {
            Err(why) => self.unsearched.push(format!("the file {name} ({why})")),
            Ok(_) if bytes.len() > limits::AGENT_OUTPUT => {
                self.unsearched.push(format!("the file {name} (there is more than is kept)"));
            }
            Ok(_) => self.files.push((name, String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
}

fn shown(root: &Path, path: &Path) -> String {
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    if name.is_empty() { "the folder of the run".to_owned() } else { name.into_owned() }
}
