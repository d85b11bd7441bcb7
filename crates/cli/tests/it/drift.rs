//! `steadfast test` on drift scenarios: the ready ones, those that must fail, and files that cannot be.

use crate::run::Folder;
use std::time::Instant;

/// A folder with the ready scenarios.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.run(&["test", "--init", "drift"]).code(0).says("12 files written");
    folder
}

/// A ready scenario with something replaced in it, each of which must be there.
fn changed(folder: &Folder, name: &str, edits: &[(&str, &str)]) {
    let mut text = folder.read(&format!("drift/{name}.yaml"));
    for (from, to) in edits {
        assert!(text.contains(from), "{from:?} in\n{text}");
        text = text.replace(from, to);
    }
    folder.file("changed.yaml", text);
}

#[test]
fn the_ready_scenarios_pass_and_are_never_written_over() {
    let folder = ready();
    let begun = Instant::now();
    let result = folder.run(&["test", "drift/", "--format", "json"]).code(0).json();
    eprintln!("twelve scenarios in {:.1} s", begun.elapsed().as_secs_f64());
    assert_eq!(result["verdict"], "passed");
    let suites = result["suites"].as_array().unwrap();
    assert_eq!(suites.len(), 12);
    for suite in suites {
        let case = &suite["cases"][0];
        assert_eq!(case["verdict"], "passed", "{case}");
        assert!(
            case["steps"].as_u64().unwrap() >= 5 && case["checks"].as_u64().unwrap() >= 3,
            "{case}"
        );
    }
    let again = folder.run(&["test", "--init", "drift"]).code(2);
    assert_eq!(again.err.matches("is there already").count(), 12, "{}", again.err);
    folder.run(&["test", "--init", "somewhere"]).code(2).complains("called: drift");
}

#[test]
fn the_same_inputs_give_the_same_report() {
    let folder = ready();
    let report = |jobs: &str| {
        folder.run(&["test", "drift", "--format", "junit", "--jobs", jobs]).code(0).out
    };
    assert_eq!(report("1"), report("4"));
}

#[test]
fn a_server_that_goes_on_as_if_nothing_had_changed_fails() {
    let folder = ready();
    changed(&folder, "required-authority", &[("\nsteps:", "\ntarget: server\nsteps:")]);
    folder
        .run(&["test", "changed.yaml"])
        .code(1)
        .says("failed      required-authority  deploy_preview must not reach the world, and POST /deployments left")
        .says("was carried out as if nothing had changed")
        .says("again     steadfast test changed.yaml --only required-authority");
    let only = folder.run(&["test", "changed.yaml", "drift", "--only", "optional-added"]).code(0);
    assert!(only.out.contains("1 passed"), "{}", only.out);
    folder
        .run(&["test", "drift", "--only", "optional-aded"])
        .code(2)
        .complains("Did you mean `optional-added`?");
}

#[test]
fn a_clean_error_after_an_effect_fails() {
    let folder = ready();
    let edits = [
        ("\nsteps:", "\ntarget: server\nsteps:"),
        ("      fills-in", "      fault: fails-after\n      fills-in"),
    ];
    changed(&folder, "required-authority", &edits);
    folder
        .run(&["test", "changed.yaml"])
        .code(1)
        .says("a clean error was answered to deploy_preview, but POST /deployments had begun");
}

#[test]
fn a_server_that_validates_keeps_old_calls_away_by_itself() {
    let folder = ready();
    let edits = [
        ("\nsteps:", "\ntarget: server\nsteps:"),
        ("      fills-in", "      validates: true\n      fills-in"),
        ("    code: STALE_TOOL_SCHEMA\n", ""),
        ("    arrives: nothing\n", ""),
    ];
    changed(&folder, "required-authority", &edits);
    folder.run(&["test", "changed.yaml"]).code(0).says("1 passed");
}

#[test]
fn every_kind_of_expectation_can_fail_through_the_gateway() {
    let folder = ready();
    let wrong = [
        (
            "optional-added",
            "answer: done",
            "answer: refused",
            "A refusal after an effect is never right",
        ),
        (
            "optional-added",
            "arrives: {project: shop}",
            "arrives: {project: shop, label: x}",
            "in another form than it must",
        ),
        (
            "optional-added",
            "deployment_id: d-1}\n    downstream",
            "deployment_id: d-2}\n    downstream",
            "does not hold `deployment_id`",
        ),
        (
            "required-authority",
            "STALE_TOOL_SCHEMA",
            "TOOL_REMOVED",
            "the refusal has another reason",
        ),
        ("required-authority", "names: environment", "names: account", "does not name `account`"),
        (
            "required-authority",
            "    shows: after",
            "    shows: before",
            "another list than it must",
        ),
        (
            "output-identifier-removed",
            "answer: stopped",
            "answer: done",
            "was answered in another way",
        ),
    ];
    for (name, from, to, said) in wrong {
        changed(&folder, name, &[(from, to)]);
        let outcome = folder.run(&["test", "changed.yaml"]);
        assert!(outcome.code != 0, "{to}: {}", outcome.out);
        assert!(
            format!("{}{}", outcome.out, outcome.err).contains(said),
            "{said}: {}{}",
            outcome.out,
            outcome.err
        );
    }
}

#[test]
fn everything_that_is_wrong_with_a_file_comes_at_once() {
    let folder = Folder::new();
    folder.file(
        "bad.yaml",
        "drift: 1\nnmae: x\ntarget: gatway\nbefore: {tools: [{name: t}], does: {u: {reqest: POST /x, request: x}}}\nafter: {tools: nowhere.json}\nsteps:\n  - lst\n  - refresh:\n    shows: befor\n",
    );
    let outcome = folder.run(&["test", "bad.yaml"]).code(2);
    for part in [
        "bad.yaml:2:1: `nmae` is not known here.\n  Did you mean `name`?",
        "bad.yaml:3:1: \"gatway\" is not a word that is known here.\n  Did you mean `gateway`?",
        "No tool `u` is listed here",
        "Did you mean `request`?",
        "nowhere.json cannot be read",
        "bad.yaml:7:5: `lst` is no step.\n  Did you mean `list`?",
        "Did you mean `before`?",
    ] {
        assert!(outcome.err.contains(part), "no {part:?} in\n{}", outcome.err);
    }
}

#[test]
fn a_scenario_that_could_show_nothing_is_refused() {
    let folder = Folder::new();
    let servers = "before: {tools: [{name: t}], does: {t: {request: POST /t}}}\nafter: {tools: [{name: t}]}\n";
    let cases = [
        ("steps: []\n", "There are no steps"),
        ("steps: [list, switch]\n", "Nothing is called"),
        (
            "steps:\n  - plan: a\n    tool: t\n  - call: a\n    answer: done\n    downstream: nothing\n",
            "never changes",
        ),
        (
            "steps:\n  - plan: a\n    tool: t\n  - switch\n  - call: b\n    answer: done\n    downstream: nothing\n",
            "`b` was not planned",
        ),
        (
            "steps:\n  - plan: a\n    tool: t\n  - switch\n  - call: a\n    answer: done\n",
            "may reach the world",
        ),
        (
            "steps:\n  - plan: a\n    tool: t\n  - switch\n  - call: a\n    answer: done\n    downstream: GET /t\n",
            "never makes GET /t",
        ),
        (
            "steps:\n  - plan: a\n    tool: t\n  - list:\n    shows: after\n  - switch\n  - call: a\n    answer: done\n    downstream: nothing\n",
            "never be shown before",
        ),
        ("steps:\n  - plan: a\n    tool: t\n  - switch\n  - start: a\n", "never finished"),
    ];
    for (steps, said) in cases {
        folder.file("s.yaml", format!("drift: 1\n{servers}{steps}"));
        folder.run(&["test", "s.yaml"]).code(2).complains(said);
    }
    folder.run(&["test", "nothing.yaml"]).code(2).complains("no such file");
    folder
        .file("empty/other.yaml", "openapi: 3.1.0\n")
        .run(&["test", "empty"])
        .code(2)
        .complains("no test here");
    folder.run(&["test", "empty/other.yaml"]).code(2).complains("of which kind");
}
