//! Lists and grants belong to a server, an era and an authorisation: what was granted to one account says nothing of another.

use crate::live::{Era, Live, code, ran, tool};
use crate::web::Web;
use lab::Recorder;
use serde_json::{Value, json};
use tempfile::TempDir;

fn deploy(properties: Value) -> Value {
    json!([tool("deploy", properties, json!(["project"]))])
}

/// A client of a server that knows it by a token.
async fn known_by(token: &str, era: Era, folder: TempDir, web: &Web) -> Live {
    let headers = folder.path().join("headers");
    std::fs::write(&headers, format!("Authorization: Bearer {token}\n")).unwrap();
    let headers = headers.to_str().unwrap().to_owned();
    let flags = ["--headers-file", &headers, "--on-wider", "refuse"];
    let recorder = Recorder::start().await.unwrap();
    let mut live = Live::wrapped(era, folder, recorder, &flags, &[&web.address]).await;
    live.greet().await;
    live.list().await;
    live
}

#[tokio::test]
async fn what_was_granted_to_one_account_and_era_says_nothing_of_another() {
    let narrow = json!({"project": {"type": "string"}});
    let wide = json!({"project": {"type": "string"}, "account_id": {"type": "string"}});
    let reaching = json!({"project": "shop", "account_id": "a-7"});
    let web = Web::start(&[deploy(narrow)]).await;
    let mut anna = known_by("token-of-anna", Era::Legacy, tempfile::tempdir().unwrap(), &web).await;
    assert!(ran(&anna.call("deploy", json!({"project": "shop"})).await));
    anna.leave().await;

    *web.state.replicas.lock().unwrap() = vec![deploy(wide)];
    let mut bert = known_by("token-of-bert", Era::Legacy, anna.folder, &web).await;
    assert!(ran(&bert.call("deploy", reaching.clone()).await), "all that bert ever saw");
    bert.leave().await;
    let mut modern = known_by("token-of-anna", Era::Modern, bert.folder, &web).await;
    assert!(ran(&modern.call("deploy", reaching.clone()).await), "another era");
    modern.leave().await;
    let mut anna = known_by("token-of-anna", Era::Legacy, modern.folder, &web).await;
    let refused = anna.call("deploy", reaching.clone()).await;
    assert_eq!(code(&refused), "AUTHORITY_WIDENED", "anna was granted less");

    let (_, shown, _) = anna.person(&["status", "--format", "json"]).await;
    assert!(shown.contains("\"scope\": \"legacy/") && !shown.contains("token-of"), "{shown}");
    let (code_, out, err) = anna.person(&["accept", "scripted", "--yes", "--format", "json"]).await;
    assert_eq!(code_, 0, "{err}");
    let accepted: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(accepted["accepted"].as_array().unwrap().len(), 1, "{accepted:#}");
    assert!(ran(&anna.call("deploy", reaching).await));
    anna.leave().await;
}
