//! Runs a test of this binary as a process of its own, for what ends a process.

use std::path::Path;
use std::process::{Command, Output};

/// Where the child finds its folder, and what it is told.
const FOLDER: &str = "STEADFAST_TEST_FOLDER";
const TOLD: &str = "STEADFAST_TEST_TOLD";

/// Runs the test with this name here; `before` is shell that comes first.
pub fn run(test: &str, folder: &Path, told: &str, before: &str) -> Output {
    command(test, folder, told, before).output().unwrap()
}

/// The same, to be started and spoken with.
pub fn command(test: &str, folder: &Path, told: &str, before: &str) -> Command {
    let script = format!("{before} exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(TOLD, told);
    command
}

/// In the child: its folder and what it was told; `None` where the test was started by hand.
pub fn told() -> Option<(std::path::PathBuf, String)> {
    Some((std::env::var_os(FOLDER)?.into(), std::env::var(TOLD).ok()?))
}
