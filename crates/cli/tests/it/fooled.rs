//! Files of tests that would pass and show nothing: each kind is refused, or its result is no pass.

use crate::run::Folder;
use std::process::Command;
use std::time::{Duration, Instant};

/// A scenario on a made-up server with one thing replaced in it.
fn scenario(folder: &Folder, edits: &[(&str, &str)]) {
    if !folder.path("drift").exists() {
        folder.run(&["test", "--init", "drift"]).code(0);
    }
    let mut text = folder.read("drift/required-authority.yaml");
    for (from, to) in edits {
        assert!(text.contains(from), "{from:?} in\n{text}");
        text = text.replace(from, to);
    }
    folder.file("changed.yaml", text);
}

fn python() -> bool {
    let python = Command::new("python3").arg("--version").output();
    python.is_ok_and(|output| output.status.success())
}

#[test]
fn a_plan_that_nobody_could_have_made_is_no_old_plan() {
    for (from, to, said, help) in [
        (
            "tool: deploy_preview\n    arguments: {project: shop}\n  - switch",
            "tool: deploy_previw\n    arguments: {project: shop}\n  - switch",
            "No tool `deploy_previw` is listed that this could be planned by.",
            "Did you mean `deploy_preview`?",
        ),
        (
            "arguments: {project: shop}\n  - switch",
            "arguments: {projekt: shop}\n  - switch",
            "The arguments are no call of deploy_preview as it is listed",
            "An old plan was right when it was made",
        ),
        (
            "  - call: old call              # the call that was prepared goes out all the same\n    answer: refused\n    code: STALE_TOOL_SCHEMA\n    names: environment\n    arrives: nothing\n    downstream: nothing\n",
            "",
            "No call that was planned before the switch is made after it",
            "Put `plan:` before `switch`",
        ),
        (
            "names: environment",
            "names: ''",
            "An empty text is in every text, so this shows nothing.",
            "Write what must be there",
        ),
    ] {
        let folder = Folder::new();
        scenario(&folder, &[(from, to)]);
        folder.run(&["test", "changed.yaml"]).code(2).complains(said).complains(help);
    }
}

#[test]
fn a_server_that_stays_as_it_is_is_no_drift() {
    let folder = Folder::new();
    folder.file(
        "same.yaml",
        "drift: 1\nbefore: {tools: [{name: t}], does: {t: {request: POST /t}}}\nafter: {}\nsteps:\n  - plan: old\n    tool: t\n  - switch\n  - call: old\n    answer: done\n    downstream: POST /t\n",
    );
    folder
        .run(&["test", "same.yaml"])
        .code(2)
        .complains("The server lists and does the same before and after the switch");
}

#[test]
fn a_test_of_a_folder_is_not_passed_over_for_how_it_begins() {
    let folder = Folder::new();
    scenario(&folder, &[("drift: 1\nname: required-authority", "name: late\ndrift: 1")]);
    folder.file("drift/late.yaml", folder.read("changed.yaml"));
    folder
        .run(&["test", "drift/"])
        .code(2)
        .complains("Begin it with one of: `drift: 1`, `contract: 1`");
    folder.file("drift/late.yaml", "{drift: 1, steps: [lst]}\n");
    folder.run(&["test", "drift/"]).code(2).complains("Did you mean `list`?");
    // What is no test is left alone.
    folder.file("drift/late.yaml", "services: {contract: {image: x}}\n");
    folder.run(&["test", "drift/", "--only", "optional-added/stdio"]).code(0);
}

#[test]
fn a_client_that_ends_at_once_fails_at_once() {
    let folder = Folder::new();
    folder.run(&["test", "--init", "clients"]).code(0).says("8 files written");
    let begun = Instant::now();
    let outcome = folder.run(&["test", "clients/", "--only", "optional-added"]);
    outcome.code(1).says("the client does not look at the list");
    // Nobody waits thirty seconds for what has ended.
    assert!(begun.elapsed() < Duration::from_secs(25));
}

#[test]
fn silence_of_a_recorder_that_no_program_looks_at_is_undecided() {
    if !python() {
        return;
    }
    let folder = Folder::new();
    folder.file("server.py", include_str!("gate_server.py"));
    let file = |variable: &str| {
        format!(
            "drift: 1\nname: deaf\ntarget: server\nbefore: {{command: [python3, server.py, old]}}\nafter: {{command: [python3, server.py, refuse]}}\nrecorder: {variable}\nsteps:\n  - list\n  - plan: old\n    tool: deploy\n    arguments: {{project: shop}}\n  - switch\n  - call: old\n    answer: refused\n    downstream: nothing\n"
        )
    };
    folder.file("deaf.yaml", file("ANOTHER"));
    folder
        .run(&["test", "deaf.yaml"])
        .code(3)
        .says("it is not known whether the programs look at ANOTHER");
    // A name that the server does not list is no plan, whatever it answers.
    folder.file("deaf.yaml", file("API").replace("tool: deploy", "tool: deplyo"));
    folder
        .run(&["test", "deaf.yaml"])
        .code(1)
        .says("deplyo is not in the list that the client was shown");
}

/// The ready contract with something replaced in one of its files.
fn contract(edits: &[(&str, &str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.run(&["test", "--init", "contracts"]).code(0);
    for (file, from, to) in edits {
        let name = format!("contracts/{file}");
        let text = folder.read(&name);
        assert!(text.contains(from), "{from:?} in\n{text}");
        folder.file(&name, text.replace(from, to));
    }
    folder
}

#[test]
fn an_agent_that_does_nothing_passes_nothing() {
    let no_asking = ("cleanup.yaml", "    acts-on: []\n    asks: true\n", "    acts-on: []\n");
    let idle = ("cleanup.yaml", "command: [python3, cleanup.py]", "command: ['true']");
    let folder = contract(&[no_asking, idle]);
    folder
        .run(&["test", "contracts", "--only", "cleanup/nobody chose the mode"])
        .code(1)
        .says("no plan was given: nothing that is JSON came from its standard output");
    // Where every case expects nothing, it would pass the whole contract.
    let folder = contract(&[]);
    let text = folder.read("contracts/cleanup.yaml");
    let (head, cases) = text.split_once("cases:\n").unwrap();
    let last = cases.find("  - name: nobody chose the mode").unwrap();
    folder.file("contracts/cleanup.yaml", format!("{head}cases:\n{}", &cases[last..]));
    folder
        .run(&["test", "contracts"])
        .code(2)
        .complains("No case expects a request, so an agent that does nothing would pass them all.");
}

#[test]
fn a_place_of_the_plan_that_is_none_is_told() {
    if !python() {
        return;
    }
    let folder = contract(&[("cleanup.yaml", "targets: archive[]", "targets: archives[]")]);
    folder
        .run(&["test", "contracts", "--only", "cleanup/a dry run"])
        .code(1)
        .says("the plan has no `archives[]`, so nothing that it proposes is known");
}

#[test]
fn a_fault_that_never_struck_shows_nothing() {
    if !python() {
        return;
    }
    let fault = "    faults: [{fixture: projects-archive, fault: hang, times: 1}]\n    requests: nothing\n    acts-on: []\n";
    let folder = contract(&[("cleanup.yaml", "    requests: nothing\n    acts-on: []\n", fault)]);
    folder
        .run(&["test", "contracts", "--only", "cleanup/nobody chose the mode"])
        .code(1)
        .says("the fault hang of projects-archive never struck");
}

#[test]
fn a_map_without_a_line_for_what_is_acted_on_is_told() {
    if !python() {
        return;
    }
    let line = "      body.items[].id: {feeds: target, absent: stop}\n";
    for (from, to) in [(line, ""), ("GET /projects:\n    request", "GET /project:\n    request")] {
        let folder = contract(&[("decisions.yaml", from, to)]);
        folder
            .run(&["test", "contracts", "--only", "cleanup/projects-list-v1 body.items[].id"])
            .code(1)
            .says("p17 is acted on, and no line of the decision map about GET /projects feeds `target` with it");
    }
}

#[test]
fn a_fixture_that_was_deleted_before_its_day_is_missed() {
    let folder = Folder::new();
    let fixture = |version: u8, more: &str| {
        format!(
            "fixture: 1\nname: list\nversion: {version}\n{more}request: {{method: GET, path: /p}}\nresponse: {{body: {{}}}}\n"
        )
    };
    let check = |old: Option<&str>, new: &str| {
        folder.file("f/list-v2.yaml", fixture(2, new));
        match old {
            Some(more) => folder.file("f/list-v1.yaml", fixture(1, more)),
            None => {
                std::fs::remove_file(folder.path("f/list-v1.yaml")).unwrap();
                &folder
            }
        };
        folder.run(&["serve", "f", "--check"])
    };
    let keeps = "keeps: {list-v1: 2999-12-31}\n";
    check(Some("until: 2999-12-31\n"), keeps).code(0);
    check(Some("until: 2999-12-31\n"), "")
        .code(1)
        .complains("no newer version says that list-v1 is kept, so nobody would miss it: add `keeps: {list-v1: 2999-12-31}` to one");
    check(Some("until: 2998-12-31\n"), keeps)
        .code(1)
        .complains("list-v1 is kept until 2998-12-31, and list-v2 says until 2999-12-31");
    check(None, keeps).code(1).complains(
        "list-v1 is kept until 2999-12-31, as list-v2 says, and it is gone: put it back",
    );
    // Once its day is over it may go.
    folder.file("f/list-v1.yaml", "");
    check(None, "keeps: {list-v1: 2020-12-31}\n").code(0);
    folder.file("f/list-v1.yaml", "");
    check(None, "keeps: {list-v1: soon}\n").code(2).complains("`soon` is no day");
}

#[test]
fn what_repeats_a_key_or_holds_two_documents_is_no_file() {
    let folder = Folder::new();
    scenario(&folder, &[("    answer: refused\n", "    answer: done\n    answer: refused\n")]);
    folder.run(&["test", "changed.yaml"]).code(2).complains("The key \"answer\" stands twice");
    scenario(&folder, &[("drift: 1\n", "drift: 1\nname: other\n---\ndrift: 1\n")]);
    folder.run(&["test", "changed.yaml"]).code(2);
    // A merge key brings in what stands there already: what is written counts, and only once.
    let bomb: String =
        (1..30).map(|n| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1)).collect();
    folder.file("changed.yaml", format!("drift: 1\na0: &a0 [x, x]\n{bomb}"));
    folder.run(&["test", "changed.yaml"]).code(2);
    let deep = format!("drift: 1\nsteps: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    folder.file("changed.yaml", deep);
    folder.run(&["test", "changed.yaml"]).code(2);
}
