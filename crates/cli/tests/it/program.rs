//! The program itself: help, rules, pages, completions, wrong use.

use crate::run::Folder;

const COMMANDS: &[&str] = &[
    "diff", "snapshot", "lock", "gate", "drill", "test", "serve", "map", "adapters", "sessions",
    "activity", "journal", "setup", "status", "tail", "accept", "approver", "approve", "deny",
    "explain", "rules", "completions", "man",
];

#[test]
fn help_names_every_command_and_shows_examples() {
    let folder = Folder::new();
    let help = folder.run(&["--help"]).code(0).says("Exit codes").says("steadfast demo");
    for name in COMMANDS {
        assert!(help.out.contains(&format!("  {name} ")), "{name} in\n{}", help.out);
        folder.run(&[name, "--help"]).code(0).says("Examples:").says(&format!("steadfast {name}"));
    }
    folder.run(&["--version"]).code(0).says(env!("CARGO_PKG_VERSION"));
}

#[test]
fn wrong_use_ends_with_two() {
    let folder = Folder::new();
    folder.run(&[]).code(2).complains("Usage");
    folder.run(&["dif"]).code(2).complains("diff");
    folder.run(&["diff", "one.json"]).code(2).complains("NEW");
    folder.run(&["diff", "a", "b", "--format", "xml"]).code(2).complains("possible values");
    folder.run(&["lock"]).code(2).complains("Nothing is named that could be locked");
    folder.run(&["explain", "SF000"]).code(2).complains("There is no rule");
}

#[test]
fn rules_and_pages_belong_together() {
    let folder = Folder::new();
    let table = folder.run(&["rules", "--format", "json"]).code(0).json();
    let rules = table["rules"].as_array().expect("a list of rules");
    assert!(rules.len() > 50, "{}", rules.len());
    for rule in rules {
        let code = rule["code"].as_str().expect("a code");
        let name = rule["name"].as_str().expect("a name");
        folder.run(&["explain", code]).code(0).says(code).says(name);
    }
    folder.run(&["explain", "tool-removed"]).code(0).says("SF301");
    folder.run(&["explain", "sf301"]).code(0).says("tool-removed");
}

#[test]
fn completions_and_manual_are_printed() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        folder.run(&["completions", shell]).code(0).says("steadfast");
    }
    folder.run(&["man"]).code(0).says(".TH steadfast");
    folder.run(&["man", "gate"]).code(0).says(".TH steadfast-gate");
    folder.run(&["man", "nothing"]).code(2).complains("There is no command");
}
