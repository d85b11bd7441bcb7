//! `steadfast test` on drift scenarios: the ready ones, those that must fail, and files that cannot be.

use crate::run::Folder;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A folder with the ready scenarios.
fn ready() -> Folder {
    let folder = Folder::new();
    folder.run(&["test", "--init", "drift"]).code(0).says("13 files written");
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
    eprintln!("the ready scenarios in {:.1} s", begun.elapsed().as_secs_f64());
    assert_eq!(result["verdict"], "passed");
    let suites = result["suites"].as_array().unwrap();
    assert_eq!(suites.len(), 13);
    for suite in suites {
        for case in suite["cases"].as_array().unwrap() {
            assert_eq!(case["verdict"], "passed", "{case}");
            let count = |name: &str| case[name].as_u64().unwrap();
            assert!(count("steps") >= 5 && count("checks") >= 3, "{case}");
        }
    }
    let over_http = |suite: &&Value| suite["cases"].as_array().unwrap().len() == 2;
    assert_eq!(suites.iter().filter(over_http).count(), 11);
    let again = folder.run(&["test", "--init", "drift"]).code(2);
    assert_eq!(again.err.matches("is there already").count(), 13, "{}", again.err);
    folder.run(&["test", "--init", "somewhere"]).code(2).complains("called: drift");
}

#[test]
fn the_same_inputs_give_the_same_report() {
    let folder = ready();
    let report = |jobs: &str| {
        folder.run(&["test", "drift", "--format", "junit", "--jobs", jobs]).code(0).out
    };
    assert_eq!(report("1"), report("4"));
    // What failed is told with evidence, and that is the same too.
    changed(
        &folder,
        "required-authority",
        &[("\ntransports: [stdio, http]\nsteps:", "\ntarget: server\nsteps:")],
    );
    let failed = || folder.run(&["test", "changed.yaml", "--format", "json"]).code(1).out;
    assert_eq!(failed(), failed());
}

#[test]
fn a_server_that_goes_on_as_if_nothing_had_changed_fails() {
    let folder = ready();
    changed(
        &folder,
        "required-authority",
        &[("\ntransports: [stdio, http]\nsteps:", "\ntarget: server\nsteps:")],
    );
    folder
        .run(&["test", "changed.yaml"])
        .code(1)
        .says("failed      required-authority  deploy_preview must not reach the world, and POST /deployments left")
        .says("was carried out as if nothing had changed")
        .says("again     steadfast test changed.yaml --only required-authority");
    let only = folder.run(&["test", "changed.yaml", "drift", "--only", "optional-added"]).code(0);
    assert!(only.out.contains("2 passed"), "{}", only.out);
    folder.run(&["test", "drift", "--only", "optional-added/http"]).code(0).says("\n1 passed");
    folder
        .run(&["test", "drift", "--only", "optional-added/htpp"])
        .code(1)
        .says("not-run     optional-added/htpp  there is no case of this name");
    folder
        .run(&["test", "drift", "--only", "optional-aded"])
        .code(2)
        .complains("Did you mean `optional-added`?");
}

#[test]
fn a_clean_error_after_an_effect_fails() {
    let folder = ready();
    let edits = [
        ("\ntransports: [stdio, http]\nsteps:", "\ntarget: server\nsteps:"),
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
        ("\ntransports: [stdio, http]\nsteps:", "\ntarget: server\nsteps:"),
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

/// A server that is asked for the time, before and after an argument got another name.
const TIME: &str = "\
before:
  tools:
    - &t
      name: get_time
      inputSchema: {type: object, properties: {zone: {type: string}}, required: [zone]}
  does: {get_time: {request: GET /time, answers: {now: 1}, validates: true}}
after:
  tools:
    - <<: *t
      inputSchema: {type: object, properties: {place: {type: string}}, required: [place]}
";

/// A scenario in which `steadfast drill` is the client under test.
fn client_scenario(steps: &str) -> String {
    let own = env!("CARGO_BIN_EXE_steadfast");
    let line = format!("exec {own} drill --tool get_time -- sh -c \"$STEADFAST_SERVER\"");
    let command = serde_json::json!(["sh", "-c", line]);
    format!(
        "drift: 1\nname: c\ntarget: client\nclient: {{command: {command}, events: output}}\n{TIME}steps:\n{steps}"
    )
}

#[test]
fn a_client_under_test_is_judged_by_what_it_sends() {
    let folder = Folder::new();
    // It reads the list until two readings agree, so it knows the new contract before it calls.
    let calls = |first: &str| {
        client_scenario(&format!(
            "  - client-lists\n  - switch\n  - notify\n  - client-lists\n  - client-calls: get_time\n    arguments: {{{first}: test}}\n    downstream: GET /time\n  - client-calls: get_time\n    arguments: {{}}\n    downstream: nothing\n  - client-calls: get_time\n    downstream: nothing\n  - client-ends:\n    exit: 0\n    events: the error names `place`\n"
        ))
    };
    folder
        .file("c.yaml", calls("place"))
        .run(&["test", "c.yaml"])
        .code(0)
        .says("3 calls reached the server and 1 request reached the world");
    folder
        .file("c.yaml", calls("zone"))
        .run(&["test", "c.yaml"])
        .code(1)
        .says("get_time reached the server in another form than it must");
    // A call that no step expects is a failure, and so is a client that does not end.
    let fewer = client_scenario("  - client-lists\n  - switch\n  - client-ends\n");
    folder
        .file("c.yaml", fewer)
        .run(&["test", "c.yaml"])
        .code(1)
        .says("GET /time reached the world after the answer");
    let hangs = client_scenario("  - client-lists\n  - switch\n  - client-ends\n")
        .replace("exec", "sleep 600; exec")
        .replace("drift: 1\n", "drift: 1\npatience: 1\n");
    folder
        .file("c.yaml", hangs)
        .run(&["test", "c.yaml"])
        .code(1)
        .says("the client does not look at the list");
}

#[test]
fn steps_belong_to_their_target() {
    let folder = Folder::new();
    for (steps, said) in [
        ("  - list\n  - client-ends\n", "the client is under test, and acts by itself"),
        ("  - switch\n  - client-ends\n", "could meet either server"),
        ("  - client-lists\n  - switch\n", "Nothing is looked at of the client"),
    ] {
        folder.file("c.yaml", client_scenario(steps));
        folder.run(&["test", "c.yaml"]).code(2).complains(said);
    }
    let wire = client_scenario("  - client-lists\n  - switch\n  - client-ends:\n    events: x\n")
        .replace(", events: output", "");
    folder
        .file("c.yaml", wire)
        .run(&["test", "c.yaml"])
        .code(2)
        .complains("events of this client are not known");
    folder.file("c.yaml", format!("drift: 1\n{TIME}steps:\n  - switch\n  - client-ends\n"));
    folder.run(&["test", "c.yaml"]).code(2).complains("No client is under test here");
}

/// Real programs: made-up servers of their own, each behind a command that is told of the recorder by its environment.
fn programs(folder: &Folder, effects: bool) {
    for (name, field) in [("a", "zone"), ("b", "place")] {
        let tool = serde_json::json!({
            "name": "set_time",
            "inputSchema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]},
        });
        let deed = serde_json::json!({"path": format!("/{name}"), "answer": {"by": name}, "validates": !effects});
        let script =
            serde_json::json!({"phases": [{"tools": [tool], "deeds": {"set_time": deed}}]});
        folder.file(&format!("{name}.json"), script.to_string());
    }
}

/// A scenario with those programs behind the switch.
fn real(folder: &Folder, target: &str, steps: &str) -> String {
    let own = env!("CARGO_BIN_EXE_steadfast");
    let command = |name: &str| {
        let script = folder.path(name);
        let line = format!("exec {own} demo --script {} --recorder \"$WORLD\"", script.display());
        serde_json::json!(["sh", "-c", line])
    };
    format!(
        "drift: 1\nname: r\ntarget: {target}\nbefore: {{command: {}}}\nafter: {{command: {}}}\nrecorder: WORLD\nsteps:\n{steps}",
        command("a.json"),
        command("b.json"),
    )
}

const OLD_CALL: &str = "  - list:\n    shows: [set_time]\n  - plan: old\n    tool: set_time\n    arguments: {zone: UTC}\n  - switch\n  - notify\n  - call: old\n";

#[test]
fn real_programs_change_behind_the_connection() {
    let folder = Folder::new();
    programs(&folder, true);
    let guarded = format!(
        "{OLD_CALL}    answer: refused\n    code: STALE_TOOL_SCHEMA\n    downstream: nothing\n  - told\n  - refresh\n  - plan: new\n    tool: set_time\n    arguments: {{place: UTC}}\n  - call: new\n    answer: done\n    holds: {{by: b}}\n    downstream: POST /b\n"
    );
    folder.file("r.yaml", real(&folder, "gateway", &guarded)).run(&["test", "r.yaml"]).code(0);
    let bare = format!("{OLD_CALL}    answer: refused\n    downstream: nothing\n");
    folder
        .file("r.yaml", real(&folder, "server", &bare))
        .run(&["test", "r.yaml"])
        .code(1)
        .says("set_time must not reach the world, and POST /b left");
    programs(&folder, false);
    // Nothing reached the world, and nothing shows that it could have.
    folder.run(&["test", "r.yaml"]).code(3).says("nothing ever reached the recorder");
    let crash = format!(
        "{OLD_CALL}    answer: refused\n    downstream: nothing\n  - crash\n  - reconnect\n  - list:\n    shows: [set_time]\n  - plan: new\n    tool: set_time\n    arguments: {{place: UTC}}\n  - call: new\n    answer: done\n    downstream: POST /b\n"
    );
    folder.file("r.yaml", real(&folder, "server", &crash)).run(&["test", "r.yaml"]).code(0);
}

#[test]
fn what_was_under_way_at_the_switch_is_answered_by_whoever_was_asked() {
    let folder = Folder::new();
    programs(&folder, true);
    let script =
        folder.read("a.json").replace("\"answer\"", "\"fault\":\"waits-for-switch\",\"answer\"");
    folder.file("a.json", script);
    let steps = "  - list\n  - plan: old\n    tool: set_time\n    arguments: {zone: UTC}\n  - start: old\n  - arrived: old\n  - switch\n  - finish: old\n    answer: done\n    holds: {by: a}\n    downstream: POST /a\n  - refresh\n  - call: old\n    answer: done\n    holds: {by: b}\n    downstream: POST /b\n";
    folder.file("r.yaml", real(&folder, "server", steps)).run(&["test", "r.yaml"]).code(0);
}

#[test]
fn two_releases_of_real_servers_are_switched_behind_the_gateway() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let installed = target.join("peers/drift/node_modules");
    if !installed.is_dir() {
        println!(
            "skipped: two releases of real servers are not installed; peers/install.sh does that"
        );
        return;
    }
    let folder = Folder::new();
    for name in ["context7", "everything", "memory"] {
        let path = root.join(format!("peers/drift/{name}.yaml"));
        let text = std::fs::read_to_string(path).unwrap();
        let place = installed.display().to_string();
        folder
            .file(&format!("{name}.yaml"), text.replace("target/peers/drift/node_modules", &place));
    }
    folder.run(&["test", "."]).code(0).says("3 passed").says("effects not observed");
}

#[test]
fn clients_on_real_sdks_are_told_and_one_that_is_not_fails() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let peers = target.join("peers");
    let sdk = peers.join("node/node_modules/@modelcontextprotocol/sdk");
    if !sdk.is_dir() {
        println!("skipped: the client SDKs are not installed; peers/install.sh does that");
        return;
    }
    let folder = Folder::new();
    let text = std::fs::read_to_string(root.join("peers/clients/meaning-moved.yaml")).unwrap();
    let client = std::fs::read_to_string(root.join("peers/clients/typescript.mjs")).unwrap();
    let deaf = client.replace("() => tell(true)", "() => {}").replace("5000", "50");
    assert_ne!(client, deaf);
    folder.file("told.mjs", client).file("deaf.mjs", deaf).file("moved.yaml", text);
    let run = |client: &str| {
        let output = crate::run::command(&folder.path("."))
            .args(["test", "moved.yaml"])
            .env("CLIENT", format!("node {client}"))
            .env("PEERS", &peers)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, told) = run("told.mjs");
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = run("deaf.mjs");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("no word of a change"), "{told}");
}

#[test]
fn tests_that_are_broken_off_leave_nothing_running() {
    let folder = Folder::new();
    let mark = format!("617.{}", std::process::id());
    let command = serde_json::json!(["sh", "-c", format!("touch started; sleep {mark}")]);
    let text = client_scenario("  - client-lists\n  - switch\n  - client-ends\n");
    let line = text.lines().find(|line| line.starts_with("client:")).unwrap().to_owned();
    folder.file("c.yaml", text.replace(&line, &format!("client: {{command: {command}}}")));
    let mut test = crate::run::command(&folder.path("."))
        .args(["test", "c.yaml"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path("started").exists() {
        assert!(test.try_wait().unwrap().is_none(), "it ended before it was broken off");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(test.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = test.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("broken off; what they had started was ended")
    );
    let left = std::process::Command::new("pgrep")
        .args(["-f", &format!("sleep {mark}")])
        .output()
        .unwrap();
    assert!(left.stdout.is_empty(), "{}", String::from_utf8_lossy(&left.stdout));
}

#[test]
fn a_client_under_test_is_guarded_where_that_is_asked_for() {
    let folder = Folder::new();
    // The client calls twice under its first list; the server changes in between.
    let body = r#"
send() { printf '%s\n' "$1" >&3; }
heard() { while read -r line <&4; do case "$line" in *"$1"*) break;; esac; done; echo "$line"; }
mkfifo in out; sh -c "$STEADFAST_SERVER" <in >out & exec 3>in 4<out
send '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
heard '"id":1' >/dev/null
send '{"jsonrpc":"2.0","method":"notifications/initialized"}'
send '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'; heard '"id":2' >/dev/null
send '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_time","arguments":{"zone":"UTC"}}}'; heard '"id":3'
exec 3>&-
"#;
    folder.file("client.sh", body);
    let scenario = |guarded: bool, downstream: &str, event: &str| {
        let time = TIME.replace(", validates: true", "");
        format!(
            "drift: 1\nname: g\ntarget: client\nclient: {{command: [sh, client.sh], events: output, guarded: {guarded}}}\n{time}steps:\n  - client-lists\n  - switch\n  - notify\n  - client-calls: get_time\n    arguments: {{zone: UTC}}\n    downstream: {downstream}\n  - client-ends:\n    exit: 0\n    events: {event}\n"
        )
    };
    let run = |text: String| {
        for name in ["in", "out"] {
            let path = folder.path(name);
            if path.exists() {
                std::fs::remove_file(path).unwrap();
            }
        }
        folder.file("g.yaml", text).run(&["test", "g.yaml"])
    };
    run(scenario(false, "GET /time", "now")).code(0);
    run(scenario(true, "nothing", "STALE_TOOL_SCHEMA")).code(0);
    run(scenario(true, "GET /time", "now"))
        .code(1)
        .says("get_time must reach the world, and nothing left");
}

#[test]
fn a_client_that_writes_without_end_is_ended_and_named() {
    let folder = Folder::new();
    let steps = "  - client-lists\n  - switch\n  - client-ends\n";
    let mut text = client_scenario(steps);
    let start = text.find("client: {").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    text.replace_range(start..end, "client: {command: [sh, -c, 'yes drift'], events: output}");
    let text = text.replace("drift: 1\n", "drift: 1\npatience: 5\n");
    folder
        .file("c.yaml", text)
        .run(&["test", "c.yaml"])
        .code(1)
        .says("the client wrote more than 8 MB and was ended");
}
