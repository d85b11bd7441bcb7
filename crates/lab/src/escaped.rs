//! Processes that left their group, and would outlive what they were started for: known by their environment, which
//! whatever they start inherits.

use crate::limits;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::Read;

/// Ends every process whose environment holds this text, which no other run has; the names of their programs. Where the
/// system does not show environments, none is found.
pub fn end(mark: &str) -> Vec<String> {
    let mut ended = Vec::new();
    // What it starts meanwhile is found in another round.
    for _ in 0..limits::ROUNDS {
        let found = marked(mark);
        if found.is_empty() {
            break;
        }
        for (pid, name) in found {
            // Fails only where it has ended meanwhile, which is what is wanted.
            let _ = kill_process(pid, Signal::KILL);
            ended.push(name);
        }
    }
    ended.sort();
    ended.dedup();
    ended
}

/// Processes with the mark that still run.
fn marked(mark: &str) -> Vec<(Pid, String)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in entries.take(limits::PROCESSES).flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == own {
            continue;
        }
        let Some(pid) = name.parse().ok().and_then(Pid::from_raw) else { continue };
        let mut environment = Vec::new();
        let read = File::open(entry.path().join("environ"))
            .and_then(|file| file.take(limits::ENVIRONMENT).read_to_end(&mut environment));
        let holds = || environment.windows(mark.len()).any(|part| part == mark.as_bytes());
        // One that has ended and waits to be noticed has no environment any more.
        if read.is_ok() && environment.len() >= mark.len() && holds() {
            let called = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push((pid, called.trim().to_owned()));
        }
    }
    found
}
