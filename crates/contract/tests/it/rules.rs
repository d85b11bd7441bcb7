//! Every rule on every fixture pair, and every page's example.
//!
//! `fixtures/rules/SFnnn/hit` reports SFnnn; `fixtures/rules/SFnnn/near` looks like it and does not. What else a
//! pair reports stands in its `expected.txt`, so that an over-eager rule shows up in another rule's fixture.
//! `cargo xtask bless` writes those files anew.

use crate::pairs;
use contract::rules::{self, Rule, Status};
use contract::{Contract, Diff, Options};
use std::fs;
use std::path::{Path, PathBuf};

/// Collects complaints, so that one run shows all of them.
#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn check(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.0.push(sentence());
        }
    }
}

impl Drop for Complaints {
    fn drop(&mut self) {
        assert!(self.0.is_empty() || std::thread::panicking(), "\n{}\n", self.0.join("\n"));
    }
}

fn living() -> impl Iterator<Item = &'static Rule> {
    rules::all().into_iter().filter(|rule| rule.status != Status::Removed)
}

fn folder(code: &str, which: &str) -> PathBuf {
    pairs::repository().join("fixtures/rules").join(code).join(which)
}

/// Every pair folder below `fixtures/rules`, also of rules that no longer report.
fn every_pair() -> Vec<PathBuf> {
    let root = pairs::repository().join("fixtures/rules");
    let mut found = Vec::new();
    for code in sorted(&root) {
        found.extend(sorted(&code).into_iter().filter(|path| path.is_dir()));
    }
    found
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

fn run(folder: &Path) -> Diff {
    let place = folder.display().to_string();
    let mut found = pairs::compare(
        &place,
        &pairs::side(folder, "old"),
        &pairs::side(folder, "new"),
        &Options::default(),
    );
    if let Ok(settings) = fs::read_to_string(folder.join("steadfast.toml")) {
        pairs::accept(&settings, &mut found);
    }
    found
}

#[test]
fn codes_are_well_formed_and_unique() {
    let mut complaints = Complaints::default();
    let all = rules::all();
    for pair in all.windows(2) {
        complaints.check(pair[0].code < pair[1].code, || format!("{} stands twice", pair[0].code));
    }
    let mut names: Vec<_> = all.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        complaints.check(pair[0] != pair[1], || format!("two rules are called {}", pair[0]));
    }
    for rule in &all {
        let digits = rule.code.strip_prefix("SF").unwrap_or_default();
        complaints
            .check(digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()), || {
                format!("{}: a code is SF and three digits", rule.code)
            });
        complaints
            .check(rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), || {
                format!("{}: `{}` is not kebab-case", rule.code, rule.name)
            });
    }
}

#[test]
fn hits_are_reported() {
    let mut complaints = Complaints::default();
    for rule in living() {
        let folder = folder(rule.code, "hit");
        if folder.is_dir() {
            let found = pairs::codes(&run(&folder));
            complaints.check(found.contains(&rule.code), || {
                format!(
                    "{} ({}) is not reported for its hit; found {found:?}",
                    rule.code, rule.name
                )
            });
        }
    }
}

#[test]
fn near_misses_are_not_reported() {
    let mut complaints = Complaints::default();
    for rule in living() {
        let folder = folder(rule.code, "near");
        if folder.is_dir() {
            let found = pairs::codes(&run(&folder));
            complaints.check(!found.contains(&rule.code), || {
                format!("{} ({}) is reported for its near miss", rule.code, rule.name)
            });
        }
    }
}

#[test]
fn every_rule_on_every_pair() {
    let mut complaints = Complaints::default();
    let bless = std::env::var_os("STEADFAST_BLESS").is_some();
    for folder in every_pair() {
        let written = pairs::written(&run(&folder));
        let path = folder.join("expected.txt");
        if bless {
            fs::write(&path, &written).expect("the fixture folder can be written");
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        complaints.check(expected == written, || {
            format!("{}\n--- expected\n{expected}--- found\n{written}(cargo xtask bless, if it is meant)", path.display())
        });
    }
}

#[test]
fn a_contract_compared_with_itself_is_silent() {
    let mut complaints = Complaints::default();
    for folder in every_pair() {
        for name in ["old", "new"] {
            let side: Contract = pairs::side(&folder, name);
            let place = format!("{}/{name}", folder.display());
            let found = pairs::compare(&place, &side, &side, &Options::default());
            complaints
                .check(found.entries.is_empty(), || format!("{place}\n{}", pairs::written(&found)));
        }
    }
}

#[test]
fn the_same_pair_gives_the_same_words() {
    for folder in every_pair() {
        assert_eq!(
            format!("{:?}", run(&folder)),
            format!("{:?}", run(&folder)),
            "{}",
            folder.display()
        );
    }
}

#[test]
fn the_example_of_every_page_reports_its_rule() {
    let mut complaints = Complaints::default();
    for rule in living() {
        let path = pairs::repository().join("docs/rules").join(format!("{}.md", rule.code));
        let Ok(page) = fs::read_to_string(&path) else {
            // Whether each rule has its page is a house rule: `cargo xtask tidy`.
            continue;
        };
        let (Some(old), Some(new)) = (block(&page, "old"), block(&page, "new")) else {
            complaints.0.push(format!("{}: no pair of blocks marked old and new", path.display()));
            continue;
        };
        let old = pairs::contract(&format!("{} old", rule.code), old.1, old.0 == "yaml");
        let new = pairs::contract(&format!("{} new", rule.code), new.1, new.0 == "yaml");
        let mut found = pairs::compare(rule.code, &old, &new, &Options::default());
        if let Some((_, settings)) = block(&page, "settings") {
            pairs::accept(settings, &mut found);
        }
        let found = pairs::codes(&found);
        complaints.check(found.contains(&rule.code), || {
            format!(
                "{}: the example does not report {}; found {found:?}",
                path.display(),
                rule.code
            )
        });
    }
}

/// The fenced block whose info string is a language and `mark`: its language and its text.
fn block<'page>(page: &'page str, mark: &str) -> Option<(&'page str, &'page str)> {
    for language in ["json", "yaml", "toml"] {
        let open = format!("```{language} {mark}\n");
        if let Some(at) = page.find(&open) {
            let text = &page[at + open.len()..];
            return Some((
                if language == "yaml" { "yaml" } else { "json" },
                &text[..text.find("\n```")?],
            ));
        }
    }
    None
}
