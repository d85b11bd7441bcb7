//! Links between documents lead somewhere, and the paths that they name exist.

use crate::repo::{self, Complaints, Result};
use std::path::{Component, Path, PathBuf};

/// Documents whose back-ticked paths are part of the map and must exist.
const MAPS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The folders that such a path begins with.
const FOLDERS: &[&str] = &["crates/", "docs/", "fixtures/", "xtask/", "fuzz/", "peers/", ".ci/"];

pub(super) fn check() -> Result<()> {
    let mut complaints = Complaints::default();
    for path in repo::files()? {
        if !path.ends_with(".md") || path.starts_with("fixtures/mcp/") {
            continue;
        }
        let text = without_blocks(&repo::read(&path)?);
        for target in links(&text) {
            complaints.check(resolves(&path, &target), || {
                format!("{path}: the link to {target} leads nowhere")
            });
        }
        if MAPS.contains(&path.as_str()) {
            for named in named_paths(&text) {
                complaints.check(repo::root().join(&named).exists(), || {
                    format!("{path}: `{named}` does not exist")
                });
            }
        }
    }
    complaints.verdict()
}

/// The text without its fenced blocks: an example may hold anything.
fn without_blocks(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The targets of `[text](target)` that are neither absolute nor an anchor of the same page.
fn links(text: &str) -> Vec<String> {
    text.match_indices("](")
        .filter_map(|(at, _)| text[at + 2..].split_once(')').map(|(target, _)| target.to_owned()))
        .filter(|target| {
            !target.contains("://") && !target.starts_with('#') && !target.starts_with("mailto:")
        })
        .collect()
}

fn resolves(from: &str, target: &str) -> bool {
    let file = target.split('#').next().unwrap_or_default();
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => {
                // A link must not leave the repository.
                if !path.pop() {
                    return false;
                }
            }
            other => path.push(other),
        }
    }
    repo::root().join(path).exists()
}

/// Back-ticked words that begin with a folder of ours; those with a placeholder are left out.
fn named_paths(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
        .filter(|word| {
            !word.contains(['*', '<', ' ', '{', '…'])
                && !word.contains("nnn")
                && !word.contains("NNN")
        })
        .map(|word| word.split('#').next().unwrap_or(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_and_living_links_are_told_apart() {
        assert!(resolves("docs/x.md", "../Cargo.toml"));
        assert!(!resolves("docs/x.md", "nowhere.md"));
        assert!(!resolves("docs/x.md", "../../outside.md"));
        let found = links("[a](b.md) [c](https://d) [e](#f) [g](h.md#i)");
        assert_eq!(found, ["b.md", "h.md#i"]);
    }

    #[test]
    fn paths_are_found_outside_blocks_only() {
        let text =
            without_blocks("`crates/a`\n```\n`crates/b`\n```\n`docs/rules/SFnnn.md` `crates/*`\n");
        assert_eq!(named_paths(&text), ["crates/a"]);
    }
}
