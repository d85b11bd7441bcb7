//! Lists and grants belong to a server, an era and an authorisation. What is first seen under new ones is granted no more
//! than what was granted under others: a client that chooses its era, or a token that is another one, moves nothing.

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
async fn what_another_account_or_era_sees_first_is_granted_no_more_than_was() {
    let narrow = json!({"project": {"type": "string"}});
    let wide = json!({"project": {"type": "string"}, "account_id": {"type": "string"}});
    let within = json!({"project": "shop"});
    let reaching = json!({"project": "shop", "account_id": "a-7"});
    let web = Web::start(&[deploy(narrow.clone())]).await;
    let mut anna = known_by("token-of-anna", Era::Legacy, tempfile::tempdir().unwrap(), &web).await;
    assert!(ran(&anna.call("deploy", within.clone()).await));
    anna.leave().await;

    *web.state.replicas.lock().unwrap() = vec![deploy(wide)];
    let mut folder = anna.folder;
    for (token, era) in [
        ("token-of-bert", Era::Legacy),
        ("token-of-anna", Era::Modern),
        ("token-of-bert", Era::Modern),
        ("token-of-anna", Era::Legacy),
    ] {
        let mut live = known_by(token, era, folder, &web).await;
        let refused = live.call("deploy", reaching.clone()).await;
        assert_eq!(code(&refused), "AUTHORITY_WIDENED", "only the narrower was granted");
        assert!(ran(&live.call("deploy", within.clone()).await));
        live.leave().await;
        folder = live.folder;
    }
    let mut anna = known_by("token-of-anna", Era::Legacy, folder, &web).await;
    let (_, shown, _) = anna.person(&["status", "--format", "json"]).await;
    assert!(shown.contains("\"scope\": \"legacy/") && !shown.contains("token-of"), "{shown}");
    let (code_, out, err) = anna.person(&["accept", "scripted", "--yes", "--format", "json"]).await;
    assert_eq!(code_, 0, "{err}");
    let accepted: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(accepted["accepted"].as_array().unwrap().len(), 4, "in each scope: {accepted:#}");
    assert!(ran(&anna.call("deploy", reaching.clone()).await));
    anna.leave().await;
    // What a person accepted holds for the next token too, and so does less.
    let mut cleo = known_by("token-of-cleo", Era::Legacy, anna.folder, &web).await;
    assert!(ran(&cleo.call("deploy", reaching).await));
    cleo.leave().await;
    *web.state.replicas.lock().unwrap() = vec![deploy(narrow)];
    let mut dora = known_by("token-of-dora", Era::Modern, cleo.folder, &web).await;
    assert!(ran(&dora.call("deploy", within).await));
    dora.leave().await;
}
