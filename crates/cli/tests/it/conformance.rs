//! The official conformance suite: no verdict on a server is worse through the gateway than directly.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn no_verdict_of_the_official_suite_is_worse_through_the_gateway() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let installed = target.join("peers/conformance");
    if !installed.join("node_modules").is_dir() {
        println!("skipped: the conformance suite is not installed; peers/install.sh does that");
        return;
    }
    // Its own limits come before that of the test, so that it says which part took so long.
    let output = Command::new("node")
        .arg(root.join("peers/conformance/run.mjs"))
        .args(["--timeout", "60", "--installed"])
        .arg(&installed)
        .arg(env!("CARGO_BIN_EXE_steadfast"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}\n{error}");
}
