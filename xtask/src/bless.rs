//! `cargo xtask bless`: writes the expected files anew.

use crate::repo::{self, Complaints, Result};
use std::process::Command;

/// Runs the tests that compare with files, in the mode in which they write those files.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(stray) = arguments.first() {
        return Complaints::one(format!("cargo xtask bless takes no arguments, not {stray}"));
    }
    let done = Command::new(repo::cargo())
        .args(["test", "--workspace", "--quiet", "--lib", "--bins", "--tests", "--no-fail-fast"])
        .env("STEADFAST_BLESS", "1")
        .env("INSTA_UPDATE", "always")
        .env("INSTA_FORCE_PASS", "1")
        .current_dir(repo::root())
        .status();
    match done {
        Ok(status) if status.success() => {
            println!("look at `git diff` before you commit");
            Ok(())
        }
        Ok(status) => Complaints::one(format!(
            "some tests fail for another reason than an expected file: {status}"
        )),
        Err(error) => Complaints::one(format!("cargo did not start: {error}")),
    }
}
