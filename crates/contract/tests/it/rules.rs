//! Every rule on every fixture pair, and every page's example.
//!
//! `fixtures/rules/SFnnn/hit` reports SFnnn; `fixtures/rules/SFnnn/near` looks like it and does not. What else a
//! pair reports stands in its `expected.txt`, so that an over-eager rule shows up in another rule's fixture.
//! `cargo xtask bless` writes those files anew.

use crate::pairs::{self, Pair};
use contract::Diff;
use contract::rules::{self, Rule, Status};
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

/// The pairs of a rule whose folder name begins with `which`: `hit`, `near`, `near-of-another-kind`.
fn pairs_of(code: &str, which: &str) -> Vec<PathBuf> {
    let named = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(which))
    };
    sorted(&pairs::repository().join("fixtures/rules").join(code))
        .into_iter()
        .filter(named)
        .collect()
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
    Pair::of_folder(folder).compare()
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
        for folder in pairs_of(rule.code, "hit") {
            let found = pairs::codes(&run(&folder));
            complaints.check(found.contains(&rule.code), || {
                format!("{}: {} is not reported; found {found:?}", folder.display(), rule.name)
            });
        }
    }
}

#[test]
fn near_misses_are_not_reported() {
    let mut complaints = Complaints::default();
    for rule in living() {
        for folder in pairs_of(rule.code, "near") {
            let found = pairs::codes(&run(&folder));
            complaints.check(!found.contains(&rule.code), || {
                format!("{}: {} is reported for a near miss", folder.display(), rule.name)
            });
        }
    }
}

#[test]
fn every_rule_on_every_pair() {
    let mut complaints = Complaints::default();
    let bless = blessing();
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
        for (name, found) in Pair::of_folder(&folder).with_themselves() {
            complaints.check(found.entries.is_empty(), || {
                format!("{}, {name}\n{}", folder.display(), pairs::written(&found))
            });
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
    let bless = blessing();
    for rule in living() {
        let path = pairs::repository().join("docs/rules").join(format!("{}.md", rule.code));
        let Ok(page) = fs::read_to_string(&path) else {
            // Whether each rule has its page is a house rule: `cargo xtask tidy`.
            continue;
        };
        let (Some(old), Some(new), Some(reports)) =
            (block(&page, "old"), block(&page, "new"), block(&page, "reports"))
        else {
            complaints.0.push(format!("{}: no blocks marked old, new and reports", path.display()));
            continue;
        };
        let name =
            |mark: &str, block: &Block<'_>| format!("{} {mark}.{}", rule.code, block.language);
        let settings = block(&page, "settings");
        let pair = Pair::of_texts(
            rule.code,
            (&name("old", &old), old.text),
            (&name("new", &new), new.text),
            settings.map(|block| block.text),
        );
        let found = pair.compare();
        let codes = pairs::codes(&found);
        complaints.check(codes.contains(&rule.code), || {
            format!(
                "{}: the example does not report {}; found {codes:?}",
                path.display(),
                rule.code
            )
        });
        let told = pairs::told(&found);
        if bless {
            let (before, after) = (&page[..reports.at], &page[reports.at + reports.text.len()..]);
            let blessed = format!("{before}{told}{after}");
            fs::write(&path, blessed).expect("the page can be written");
        } else {
            complaints.check(reports.text == told, || {
                format!("{}\n--- the page says\n{}--- found\n{told}", path.display(), reports.text)
            });
        }
    }
}

/// A fenced block whose info string is a language and a mark.
struct Block<'page> {
    language: &'static str,
    /// With the line end before the closing fence.
    text: &'page str,
    /// Where the text begins in the page.
    at: usize,
}

fn block<'page>(page: &'page str, mark: &str) -> Option<Block<'page>> {
    ["json", "yaml", "text", "toml"].into_iter().find_map(|language| {
        let open = format!("```{language} {mark}\n");
        let at = page.find(&open)? + open.len();
        let text = &page[at..];
        Some(Block { language, text: &text[..text.find("```")?], at })
    })
}

fn blessing() -> bool {
    std::env::var_os("STEADFAST_BLESS").is_some()
}

#[test]
fn the_page_on_configuration_is_understood() {
    let path = pairs::repository().join("docs/configuration.md");
    let page = fs::read_to_string(&path).expect("the page is part of the repository");
    let text = page.split("```").nth(1).and_then(|block| block.strip_prefix("toml\n"));
    let text = text.expect("the page shows one file");
    let settings = contract::policy::Settings::read("docs/configuration.md", text)
        .unwrap_or_else(|problems| panic!("{problems:#?}"));
    // Every table that the page explains was understood as something.
    let policy = settings.policy;
    assert_eq!((policy.levels.len(), policy.suppressions.len()), (3, 1));
    assert_eq!((settings.renames.len(), settings.reviews.len()), (1, 1));
    assert_eq!(settings.lexicon.guard, ["two_man_rule"]);
    assert_eq!((settings.servers.len(), settings.gateway.idle.is_some()), (1, true));
}

#[test]
fn the_page_on_the_decision_map_is_understood() {
    let path = pairs::repository().join("docs/decision-map.md");
    let page = fs::read_to_string(&path).expect("the page is part of the repository");
    let text = page.split("```").nth(1).and_then(|block| block.strip_prefix("yaml\n"));
    let value = contract::text::read("map.yaml", text.expect("the page shows one map").as_bytes())
        .unwrap_or_else(|problems| panic!("{problems:#?}"));
    let map = contract::decision::DecisionMap::read("map.yaml", &value)
        .unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!((map.operations.len(), map.tools.len()), (1, 1));
    assert_eq!(map.operations["listProjects"].response.len(), 6);
}
