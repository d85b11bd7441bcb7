//! Rules about calls: which run, which wait for a person, and which never run.

use crate::approvals::{OWN, enrolled};
use crate::bound::{Judge, binding, gateway, held};
use crate::live::{Era, code};
use serde_json::{Value, json};
use tempfile::TempDir;

fn checked(folder: &TempDir, text: &str) -> (i32, String) {
    std::fs::write(folder.path().join("steadfast.toml"), text).unwrap();
    let done = std::process::Command::new(OWN)
        .args(["gateway", "--check", "--store", "state.db"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

fn rule(members: &str) -> String {
    format!("[[policy.calls]]\n{members}\n")
}

#[tokio::test]
async fn the_first_rule_decides_and_what_none_fits_is_denied() {
    let judge = Judge::start();
    let text = rule("server = \"actions\"\ntools = [\"plain\"]\nsay = \"allow\"")
        + &rule("tools = [\"other\"]\nprincipals = [\"anonymous\"]\nsay = \"ask\"")
        + &binding("plain", judge.port, "")
        + &binding("other", judge.port, "")
        + &binding("third", judge.port, "");
    let gateway = gateway(enrolled().await, &text).await;
    let mut client = gateway.client_at(Era::Legacy, "/mcp/actions", None).await;
    client.list().await;
    let arguments = json!({"project": "shop"});
    let done = client.call("plain", arguments.clone()).await;
    assert_eq!(done["result"]["structuredContent"]["outcome"], "done", "{done}");
    let denied = client.call("third", arguments.clone()).await;
    assert_eq!(code(&denied), "POLICY_DENIED");
    assert_eq!(denied["result"]["_meta"]["steadfast/refusal"]["retry"], "no");
    let asked = client.message("tools/call", json!({"name": "other", "arguments": arguments}));
    let deny = async {
        let one = held(&gateway).await;
        assert_eq!(
            (&one["tool"], &one["card"]["reason"]),
            (&json!("other"), &json!("APPROVAL_REQUIRED"))
        );
        gateway.run(&["deny", one["id"].as_str().unwrap(), "--store", "state.db"]).await;
    };
    let (response, ()) = tokio::join!(client.send(&asked).send(), deny);
    let mut stream = crate::front::Stream::new(response.unwrap());
    assert_eq!(code(&stream.next().await.unwrap()), "APPROVAL_DENIED");
    assert_eq!(judge.seen().len(), 1);

    // The same rules, held against what was recorded.
    let check = ["policy", "check", "--store", "state.db", "--config", "steadfast.toml"];
    let json = gateway.run(&[&check[..], &["--format", "json"]].concat()).await;
    let said: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&said["allow"], &said["ask"], &said["deny"]),
        (&json!(1), &json!(1), &json!(1)),
        "{said}"
    );
    let shown = gateway.run(&check).await;
    assert!(
        shown.starts_with(
            "3 calls in 24 h: 1 would have run, 1 waited for a person, 1 been denied\n"
        ),
        "{shown}"
    );
    assert!(shown.contains("third  write: deny by no rule"), "{shown}");
    assert!(shown.contains("ask by steadfast.toml:"), "{shown}");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn an_empty_policy_lets_nothing_run_and_what_cannot_be_undone_asks_without_one() {
    let judge = Judge::start();
    let arguments = json!({"project": "shop"});
    let empty = format!("[policy]\ncalls = []\n{}", binding("plain", judge.port, ""));
    let none = gateway(tempfile::tempdir().unwrap(), &empty).await;
    let mut client = none.client_at(Era::Legacy, "/mcp/actions", None).await;
    client.list().await;
    let denied = client.call("plain", arguments.clone()).await;
    assert_eq!(code(&denied), "POLICY_DENIED");
    none.stop();
    none.ended().await;

    let grave = binding("plain", judge.port, "").replace("\"write\"", "\"irreversible\"");
    let (code_, told) = checked(&tempfile::tempdir().unwrap(), &grave);
    assert_eq!(code_, 2);
    assert!(told.contains("[bindings.plain]") && told.contains("nobody is enrolled"), "{told}");
    let asking = gateway(enrolled().await, &grave).await;
    let mut client = asking.client_at(Era::Legacy, "/mcp/actions", None).await;
    client.list().await;
    let call = client.message("tools/call", json!({"name": "plain", "arguments": arguments}));
    let deny = async {
        let one = held(&asking).await;
        assert_eq!(
            (&one["card"]["mode"], &one["card"]["reversible"]),
            (&json!("may destroy"), &json!("no"))
        );
        asking.run(&["deny", one["id"].as_str().unwrap(), "--store", "state.db"]).await;
    };
    let (response, ()) = tokio::join!(client.send(&call).send(), deny);
    let mut stream = crate::front::Stream::new(response.unwrap());
    assert_eq!(code(&stream.next().await.unwrap()), "APPROVAL_DENIED");
    assert!(judge.seen().is_empty());
    asking.stop();
    asking.ended().await;
}

#[tokio::test]
async fn rules_that_do_not_hold_together_keep_the_gateway_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let bound = binding("plain", 9, "");
    let allow = rule("say = \"allow\"");
    for (text, sentence) in [
        (rule("say = \"ask\""), "nobody is enrolled"),
        (allow.clone() + &rule("server = \"actions\"\nsay = \"deny\""), "can never decide"),
        (rule("server = \"elsewhere\"\nsay = \"deny\"") + &allow, "there is no such server"),
        (rule("tool = \"plain\"\nsay = \"deny\""), "is not known in [[policy.calls]]"),
        (rule("tools = [\"plain\"]\nsay = \"permit\""), "permit"),
        ("[[policy.calls]\nsay = \"allow\"\n".to_owned(), "This is not TOML"),
    ] {
        let (code, told) = checked(&folder, &(text.clone() + &bound));
        assert_eq!(code, 2, "{text}: {told}");
        assert!(told.contains(sentence), "{text}: {told}");
    }
    let (code, told) = checked(&folder, &(allow + &bound));
    assert_eq!(code, 0, "{told}");
}
