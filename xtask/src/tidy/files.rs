//! A source file fits in a head: at most 600 lines; tables that grow by rows are exempt by name.

use crate::repo::{self, Complaints, Result};

/// The limit, and why: what one person reads in a quarter of an hour.
const MOST_LINES: usize = 600;

/// Tables: files that are rows and nothing else.
const TABLES: &[&str] = &["crates/cli/src/pages.rs"];

pub(super) fn check() -> Result<()> {
    let mut complaints = Complaints::default();
    for path in repo::files()? {
        let is_text = [".rs", ".md", ".toml", ".sh"].iter().any(|ending| path.ends_with(ending));
        if is_text && !path.starts_with("fixtures/mcp/") {
            complaints.0.extend(complain(&path, &repo::read(&path)?));
        }
    }
    complaints.verdict()
}

fn complain(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let lines = text.lines().count();
    if path.ends_with(".rs") && lines > MOST_LINES && !TABLES.contains(&path) {
        found.push(format!(
            "{path}: {lines} lines, at most {MOST_LINES}; split it by what it is about"
        ));
    }
    if text.contains('\r') {
        found
            .push(format!("{path}: carriage returns; this repository ends lines with a line feed"));
    }
    if !text.is_empty() && !text.ends_with('\n') {
        found.push(format!("{path}: the last line has no end"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_found_and_tables_are_not() {
        let long = "x\n".repeat(MOST_LINES + 1);
        assert_eq!(complain("crates/a/src/b.rs", &long).len(), 1);
        assert!(complain(TABLES[0], &long).is_empty());
        assert!(complain("crates/a/src/b.rs", &"x\n".repeat(MOST_LINES)).is_empty());
    }

    #[test]
    fn endings_are_found() {
        assert_eq!(complain("a.md", "one\r\ntwo").len(), 2);
    }
}
