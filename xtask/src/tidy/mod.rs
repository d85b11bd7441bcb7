//! `cargo xtask tidy`: the house rules, as checks over the tracked files.
//!
//! Each check is a pure function from texts to complaints where that is possible, and has a test that sees it complain.

mod bans;
mod files;
mod imports;
mod licences;
mod links;
mod rules;
mod words;

use crate::repo::{Complaints, Result};

/// Looks at the repository.
type Check = fn() -> Result<()>;

/// The house rules: name and check.
const CHECKS: &[(&str, Check)] = &[
    ("file length and endings", files::check),
    ("imports between crates", imports::check),
    ("what the pure crates may touch", bans::check),
    ("licences of dependencies", licences::check),
    ("links and paths in documents", links::check),
    ("rules, pages, fixtures, codes", rules::check),
    ("words", words::check),
    ("changelog", changelog),
];

/// Runs every check and reports all complaints.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(stray) = arguments.first() {
        return Complaints::one(format!("cargo xtask tidy takes no arguments, not {stray}"));
    }
    let mut complaints = Complaints::default();
    for (name, check) in CHECKS {
        let found = check();
        println!("{} {name}", if found.is_ok() { "ok  " } else { "FAIL" });
        complaints.absorb(found);
    }
    complaints.verdict()
}

/// The changelog says something about what is not yet released, or about the version of the workspace.
fn changelog() -> Result<()> {
    let text = crate::repo::read("CHANGELOG.md")?;
    if changelog_has_entry(&text) {
        Ok(())
    } else {
        Complaints::one("CHANGELOG.md: the topmost section has no entry; say what a user notices")
    }
}

fn changelog_has_entry(text: &str) -> bool {
    let mut sections = text.split("\n## ").skip(1);
    sections.next().is_some_and(|section| section.lines().any(|line| line.starts_with("- ")))
}

#[cfg(test)]
mod tests {
    use super::changelog_has_entry;

    #[test]
    fn an_empty_topmost_section_is_found() {
        assert!(changelog_has_entry("# C\n\n## Unreleased\n\n- Something.\n\n## 0.1\n"));
        assert!(!changelog_has_entry("# C\n\n## Unreleased\n\n## 0.1\n\n- Something.\n"));
        assert!(!changelog_has_entry("# C\n"));
    }
}
