//! Decision contracts: an agent against its fixtures, and against every change of them.

use crate::run::{Folder, Outcome};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// The examples; none where there is no Python to run them.
fn examples() -> Option<PathBuf> {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "no python3 here: the example agents are not run");
        return None;
    }
    Some(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents/contracts"))
}

fn test(folder: &Folder, name: &str, more: &[&str]) -> Option<Outcome> {
    let path = examples()?.join(name);
    let path = path.to_str().unwrap();
    Some(folder.run(&[&["test", path], more].concat()))
}

#[test]
fn the_careful_agents_pass_whole() {
    let folder = Folder::new();
    for name in ["cleanup-careful.yaml", "payment-careful.yaml"] {
        let Some(run) = test(&folder, name, &["--format", "json"]) else { return };
        let run = run.code(0);
        let told = run.json();
        let cases = told["suites"][0]["cases"].as_array().unwrap();
        let score =
            cases.iter().find(|case| case["name"].as_str().unwrap().ends_with("/mutants")).unwrap();
        let sentence = score["sentence"].as_str().unwrap();
        assert!(sentence.contains(" 0 survived, 0 over-strict, 0 not reached"), "{sentence}");
        assert!(score["steps"].as_u64().unwrap() > 10, "{sentence}");
    }
}

#[test]
fn the_careless_cleanup_passes_its_cases_and_is_caught_by_name() {
    let folder = Folder::new();
    let Some(run) = test(&folder, "cleanup-careless.yaml", &[]) else { return };
    let run = run.code(1);
    for part in [
        "passed      careless cleanup/two of four projects",
        "owner missing: 3 projects would have been archived (p17, p18, p19)",
        "owner missing in p19: 1 project would have been archived (p19)",
        "an error with status 200 from GET /projects: an action that names no project was sent: it may be one on all",
        "an endless cursor: ",
        "a second page over the cap: ",
        "projects-archive-v1 no answer at first",
        "the credential surfaced in standard error, as it is",
        "--only 'careless cleanup/projects-list-v1 body.items[].owner missing in all'",
    ] {
        assert!(run.out.contains(part), "no {part:?} in\n{}", run.out);
    }
    assert!(!run.out.contains("canary/"), "{}", run.out);
    let one = "careless cleanup/projects-list-v1 body.items[].owner missing in all";
    let again = test(&folder, "cleanup-careless.yaml", &["--only", one]).unwrap().code(1);
    again.says("3 projects would have been archived").does_not_say("two of four");
}

#[test]
fn a_payment_is_tried_again_with_its_token_or_not_at_all() {
    let folder = Folder::new();
    let Some(run) = test(&folder, "payment-careless.yaml", &[]) else { return };
    run.code(1)
        .says("passed      careless payment/one payment")
        .says("POST /payments was sent 2 times with another header.idempotency-key");
}

#[test]
fn two_runs_give_the_same_report() {
    let folder = Folder::new();
    let again = || test(&folder, "payment-careful.yaml", &["--format", "json"]);
    let (Some(one), Some(two)) = (again(), again()) else { return };
    assert_eq!(one.out, two.out);
    // What fails is told with what the agent wrote and sent, and that is the same too.
    let only = "careless payment/payments-create-v1 body.status missing";
    let words = ["--format", "json", "--only", only];
    let again = || test(&folder, "payment-careless.yaml", &words).unwrap().code(1);
    assert_eq!(again().out, again().out);
}

#[test]
fn a_ready_contract_is_written_and_passes() {
    let folder = Folder::new();
    folder.run(&["test", "--init", "contracts/"]).code(0).says("5 files written");
    if examples().is_none() {
        return;
    }
    folder
        .run(&["test", "contracts/", "--only", "cleanup/two of four projects"])
        .code(0)
        .says("1 passed");
}

/// Where nothing is to be done, an agent that broke off did not decide so.
#[test]
fn an_agent_that_crashes_passes_no_case() {
    let folder = Folder::new();
    folder.run(&["test", "--init", "contracts/"]).code(0);
    let contract = folder.read("contracts/cleanup.yaml");
    for (crash, told) in [
        ("exit 3", "the agent ended with exit code 3"),
        ("kill -9 $$", "the agent was ended by a signal"),
    ] {
        let command = contract.lines().map(|line| {
            let at = line.trim_start();
            match at.starts_with("command:") {
                true => format!("  command: [sh, -c, '{crash}']"),
                false => line.to_owned(),
            }
        });
        folder.file("contracts/cleanup.yaml", command.collect::<Vec<_>>().join("\n") + "\n");
        let only = "cleanup/nobody chose the mode";
        folder.run(&["test", "contracts/", "--only", only]).code(1).says(told);
    }
}

#[test]
fn what_is_wrong_with_a_contract_comes_all_at_once() {
    let folder = Folder::new();
    folder.run(&["test", "--init", "contracts/"]).code(0);
    let contract = folder.read("contracts/cleanup.yaml");
    let bad = contract
        .replace("does: act", "does: acts")
        .replace("query.limit: always_send", "query.limit: let_the_server_decide")
        .replace("fixtures:", "fixturs:")
        .replace("second-page: never", "second-page: ever")
        .replace("requests: nothing", "requests: noting");
    folder.file("contracts/cleanup.yaml", bad);
    let told = folder.run(&["test", "contracts/"]).code(2);
    for part in [
        "\"acts\" is not a word that is known here.",
        "Did you mean `act`?",
        "The server would decide about query.limit, and this agent acts.",
        "`fixturs` is not known here.",
        "Did you mean `fixtures`?",
        "`fixtures` is missing.",
        "\"ever\" is not a word that is known here.",
        "A text stands where a list of requests, or the word nothing, belongs.",
    ] {
        assert!(told.err.contains(part), "no {part:?} in\n{}", told.err);
    }
    // What only shows once the files are held against each other.
    let bad = contract
        .replace("    query.limit: always_send\n", "")
        .replace("  asks: questions\n", "")
        .replace("    asks: true\n", "")
        .replace(
            "  POST /projects/archive: header.idempotency-key",
            "  POST /projects/archiv: header.idempotency-key",
        );
    folder.file("contracts/cleanup.yaml", bad);
    let told = folder.run(&["test", "contracts/"]).code(2);
    for part in [
        "query.limit of GET /projects reaches a decision, and nothing says who decides about it.",
        "nothing says where the plan asks",
        "No fixture answers POST /projects/archiv, so nothing about it could ever hold.",
    ] {
        assert!(told.err.contains(part), "no {part:?} in\n{}", told.err);
    }
}

#[test]
fn an_agent_in_another_language_is_under_the_same_contract() {
    let node = Command::new("node").arg("--version").output();
    let version = node.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let major =
        version.ok().and_then(|v| v.trim().trim_start_matches('v').split('.').next()?.parse().ok());
    if major.is_none_or(|major: u32| major < 18) || examples().is_none() {
        return;
    }
    let folder = Folder::new();
    let only = |agent: &str, part: &str| {
        let name = format!("{agent} cleanup with fetch/{part}");
        test(&folder, &format!("cleanup-{agent}-fetch.yaml"), &["--only", &name]).unwrap()
    };
    only("careful", "two of four projects").code(0);
    let beyond = "projects-list-v1 body.items[].id a number beyond 2^53 in all";
    only("careful", beyond).code(0);
    // It is rounded on the way: another project than the one that was read.
    only("careless", beyond).code(1).says("9007199254740992");
}

#[test]
fn an_agent_that_speaks_mcp_is_held_to_what_its_tools_answer() {
    let folder = Folder::new();
    let Some(run) = test(&folder, "issue-careful.yaml", &[]) else { return };
    run.code(0).says(" 0 survived, 0 over-strict, 0 not reached");
    let run = test(&folder, "issue-careless.yaml", &[]).unwrap().code(1);
    for part in [
        "passed      careless issue/an issue and a comment  2 requests as expected, 1 issue commented on",
        "id missing: 1 issue would have been commented on (I-482)",
        "id renamed: 1 issue would have been commented on (I-482)",
        "state of another type: 1 issue would have been commented on (I-482)",
        "an error with status 200 from POST /tools/create_issue: 1 issue would have been commented on",
    ] {
        assert!(run.out.contains(part), "no {part:?} in\n{}", run.out);
    }
}
