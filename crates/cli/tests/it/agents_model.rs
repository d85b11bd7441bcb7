//! A real model behind the contract server: recorded once, replayed from then on, its credential on no record.

use crate::agents::{MODEL, folder};
use crate::run::{Folder, Outcome, command};
use lab::decision::exchange::Exchange;
use lab::decision::record::fingerprint;
use lab::decision::{Server, Setup, Shelf};
use lab::read::Document;
use std::collections::BTreeMap;

/// What the stand-in for the real model answers.
const ANSWERS: &str = r#"
exchange: 1
on: POST /v1/chat/completions
turns:
  - answer: {choices: [{message: {role: assistant, tool_calls: [{path: /jobs}]}}]}
  - answer: {choices: [{message: {role: assistant, content: '{"retry": ["j1"]}'}}]}
"#;

const KEY: &str = "Bearer key-of-the-model-31415926";

struct Model {
    server: Server,
    runtime: tokio::runtime::Runtime,
}

fn model(answers: &str) -> Model {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let document = Document::parse("answers.yaml", answers.as_bytes()).unwrap();
    let exchange = Exchange::read(&document).unwrap();
    let shelf = Shelf::new(Vec::new(), BTreeMap::new()).with_exchange(Some(exchange));
    let server = runtime.block_on(Server::start(shelf, Setup::default())).unwrap();
    Model { server, runtime }
}

fn record(folder: &Folder, model: &Model) -> Outcome {
    let _inside = model.runtime.enter();
    let header = "Authorization=MODEL_KEY";
    let output = command(&folder.path("."))
        .args(["test", "c/", "--record-model", &model.server.url(), "--model-header", header])
        .env("MODEL_KEY", KEY)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn scene(more: &str) -> Option<Folder> {
    let folder = folder("pass", |contract| contract + "model: exchange.yaml\n")?;
    folder.file("c/agent.py", MODEL.replace("{more}", more));
    folder.file("c/exchange.yaml", "exchange: 1\non: POST /v1/chat/completions\nturns: []\n");
    Some(folder)
}

#[test]
fn an_exchange_is_recorded_once_and_replayed_without_the_model() {
    let Some(folder) = scene("''") else { return };
    folder.run(&["test", "c/"]).code(1).says("the exchange with the model is empty");
    let upstream = model(ANSWERS);
    record(&folder, &upstream).code(0).says("1 request as expected, 1 job tried again");
    let asked = upstream.server.entries();
    assert_eq!(asked.len(), 2);
    for entry in &asked {
        // The model got its own credential, and nothing of the agent's.
        let sealed: Vec<_> =
            entry.seen.sealed.iter().filter(|(name, _)| name == "authorization").collect();
        assert_eq!(sealed, [&("authorization".to_owned(), fingerprint(KEY.as_bytes()))]);
    }
    let recorded = folder.read("c/exchange.yaml");
    assert!(recorded.contains("Try the failed jobs again."), "{recorded}");
    assert!(!recorded.contains("31415926") && !recorded.contains("127.0.0.1"), "{recorded}");
    drop(upstream);
    folder.run(&["test", "c/"]).code(0).says("1 request as expected, 1 job tried again");
    // A changed prompt is another conversation.
    folder.file(
        "c/agent.py",
        MODEL
            .replace("{more}", "' please'")
            .replace("sys.stdin.read()", "sys.stdin.read().upper()"),
    );
    folder.run(&["test", "c/"]).code(1).says("Turn 1 was recorded for a prompt that holds");
}

#[test]
fn a_prompt_with_the_planted_credential_is_told_and_not_written_down() {
    let Some(folder) = scene("' with ' + os.environ['TOKEN']") else { return };
    let before = folder.read("c/exchange.yaml");
    record(&folder, &model(ANSWERS))
        .code(1)
        .says("the credential surfaced in the prompt in request 1");
    assert_eq!(folder.read("c/exchange.yaml"), before);
}

#[test]
fn a_model_that_fails_or_tells_its_key_leaves_no_exchange() {
    let Some(folder) = scene("''") else { return };
    let before = folder.read("c/exchange.yaml");
    let one = ANSWERS.lines().take(5).collect::<Vec<_>>().join("\n");
    record(&folder, &model(&one)).code(1).says("The model answered 501: ");
    let told = ANSWERS.replace("role: assistant, tool", "key: key-of-the-model-31415926, tool");
    record(&folder, &model(&told)).code(1).says("The answer of the model holds the credential");
    // In no form, either: base64, hexadecimal digits, backwards.
    let key = "key-of-the-model-31415926";
    let hex: String = key.bytes().map(|byte| format!("{byte:02X}")).collect();
    let reversed: String = key.chars().rev().collect();
    for form in ["eCBrZXktb2YtdGhlLW1vZGVsLTMxNDE1OTI2IHg=", &hex, &reversed] {
        let told = ANSWERS.replace("role: assistant, tool", &format!("key: '{form}', tool"));
        record(&folder, &model(&told)).code(1).says("The answer of the model holds the credential");
    }
    assert_eq!(folder.read("c/exchange.yaml"), before);
}

#[test]
fn the_credential_of_the_model_is_looked_for_in_all_that_an_agent_leaves() {
    let Some(folder) = scene("''") else { return };
    let contract = folder.read("c/contract.yaml");
    assert!(contract.contains("  env:"), "{contract}");
    folder.file("c/contract.yaml", contract.replace("  env:", "  pass-env: MODEL_KEY\n  env:"));
    let agent = folder.read("c/agent.py");
    let tells = "import os, sys\nprint(os.environ.get('MODEL_KEY', '')[::-1], file=sys.stderr)\n";
    folder.file("c/agent.py", format!("{tells}{agent}"));
    let before = folder.read("c/exchange.yaml");
    record(&folder, &model(ANSWERS))
        .code(1)
        .says("the credential surfaced in standard error, reversed")
        .does_not_say("62951413");
    assert_eq!(folder.read("c/exchange.yaml"), before);
}

#[test]
fn a_credential_goes_to_this_machine_or_over_tls_alone() {
    let Some(folder) = scene("''") else { return };
    folder
        .run(&["test", "c/", "--record-model", "http://models.example/"])
        .code(2)
        .complains("it must be https, or this machine");
    folder
        .run(&[
            "test", "c/", "--record-model", "http://127.0.0.1:9", "--model-header",
            "X=NOT_SET_AT_ALL",
        ])
        .code(2)
        .complains("names no header and no variable that is set");
}
