//! `steadfast gateway`, live: many clients over HTTP, in both eras, and everything that must not come in.

use crate::front::{Gateway, LEGACY, MODERN, Stream};
use crate::live::{ERAS, Era, code, phase, ran, tool};
use crate::run::Folder;
use crate::web::Web;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn slug() -> Value {
    json!({"project": {"type": "string", "description": "Slug of the project"}})
}

fn deploy() -> Value {
    phase(json!([tool("deploy", slug(), json!(["project"]))]))
}

fn region_required() -> Value {
    let mut properties = slug();
    properties["region"] = json!({"type": "string", "enum": ["eu", "us"]});
    phase(json!([tool("deploy", properties, json!(["project", "region"]))]))
}

#[tokio::test]
async fn two_clients_with_different_snapshots_are_each_held_to_their_own() {
    for era in ERAS {
        let gateway = Gateway::start(json!({"phases": [deploy(), region_required()]})).await;
        let mut old = gateway.client(era).await;
        old.list().await;
        assert!(ran(&old.call("deploy", json!({"project": "one"})).await));
        gateway.recorder.switch(1);
        if era == Era::Legacy {
            // A session of its own: what it is shown is not what the other one planned with.
            let mut new = gateway.client(era).await;
            new.list().await;
            let full = json!({"project": "two", "region": "eu"});
            assert!(ran(&new.call("deploy", full).await));
        }
        let stale = old.call("deploy", json!({"project": "three"})).await;
        assert_eq!(code(&stale), "STALE_TOOL_SCHEMA");
        let reached = gateway.reached();
        assert!(reached.iter().all(|body| body["project"] != "three"), "{reached:?}");
        gateway.stop();
        gateway.ended().await;
    }
}

#[tokio::test]
async fn a_session_belongs_to_whoever_opened_it_and_ends_when_it_is_told_to() {
    let gateway = Gateway::start(json!({"phases": [deploy()]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let ping = json!({"jsonrpc": "2.0", "id": 90, "method": "ping"});
    let missing = gateway.post(&ping).send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::BAD_REQUEST);
    for foreign in ["", "1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let answer = gateway.post(&ping).header("mcp-session-id", foreign).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{foreign:?}");
    }
    let session = client.session.clone().unwrap();
    let bye = gateway
        .request(Method::DELETE, "/mcp/lab")
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(bye.status(), StatusCode::NO_CONTENT);
    let gone = client.send(&ping).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn forged_hosts_and_origins_and_wrong_paths_do_not_come_in() {
    let gateway = Gateway::start(json!({"phases": [deploy()]})).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example:80"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ] {
        let post = gateway.post(&ping).header(name, value);
        assert_eq!(status(post).await, StatusCode::FORBIDDEN, "{name}: {value}");
        let health = gateway.request(Method::GET, "/healthz").header(name, value);
        assert_eq!(status(health).await, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let near = gateway.request(Method::GET, "/healthz").header("origin", "http://localhost:6274");
    assert_eq!(status(near).await, StatusCode::OK);
    for path in ["/mcp/other", "/mcp/lab@abc", "/mcp/", "/"] {
        let post = gateway
            .request(Method::POST, path)
            .header("content-type", "application/json")
            .body(ping.to_string());
        assert_eq!(status(post).await, StatusCode::NOT_FOUND, "{path}");
    }
    let wrong = gateway.request(Method::POST, "/mcp/lab").body(ping.to_string());
    assert_eq!(status(wrong).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let put = gateway.request(Method::PUT, "/mcp/lab");
    assert_eq!(status(put).await, StatusCode::METHOD_NOT_ALLOWED);
    let unknown = gateway.request(Method::POST, "/mcp/lab@abcdef0123456789");
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}});
    let unknown = unknown.header("content-type", "application/json").body(greeting.to_string());
    assert_eq!(status(unknown).await, StatusCode::NOT_FOUND);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn bad_input_is_answered_and_the_gateway_stays_up() {
    let gateway = Gateway::start(json!({"phases": [deploy()]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    let raw = |body: String| {
        gateway
            .request(Method::POST, "/mcp/lab")
            .header("content-type", "application/json")
            .header("mcp-session-id", client.session.as_ref().unwrap())
            .body(body)
    };
    for bad in ["{", "[]", "17", "", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}"] {
        let response = raw(bad.to_owned()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{bad:?}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        // JSON that is no request is another matter than what is no JSON.
        let code = if ["{", ""].contains(&bad) { -32700 } else { -32600 };
        assert_eq!(answer["error"]["code"], code, "{bad:?}");
    }
    let huge = raw(format!("\"{}\"", "x".repeat(9 << 20))).send().await;
    // It is turned away by what it says of its length, perhaps before all of it was taken.
    assert!(huge.is_err() || huge.unwrap().status() == StatusCode::PAYLOAD_TOO_LARGE);
    let many = (0..200).fold(raw("{}".to_owned()), |r, n| r.header(format!("x-{n}"), "y"));
    assert_eq!(many.send().await.unwrap().status(), StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "id": 70, "method": "ping"}
    ]);
    let refused = raw(batch.to_string()).header("mcp-protocol-version", LEGACY);
    assert_eq!(refused.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    let taken = raw(batch.to_string()).header("mcp-protocol-version", "2025-03-26");
    let mut stream = Stream::new(taken.send().await.unwrap());
    let (one, two) = (stream.next().await.unwrap(), stream.next().await.unwrap());
    assert!([&one["id"], &two["id"]].contains(&&json!("a")) && stream.next().await.is_none());
    let odd = raw(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string());
    let odd = odd.header("mcp-protocol-version", "1999-01-01").send().await.unwrap();
    assert_eq!(odd.status(), StatusCode::BAD_REQUEST);
    assert!(ran(&client.call("deploy", json!({"project": "shop"})).await));
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn what_passes_is_byte_for_byte_the_same_in_both_eras() {
    let gateway = Gateway::start(json!({"phases": [deploy()]})).await;
    let odd = "{\"z\":1.0,\"a\":[1e400,-0.0],\"big\":12345678901234567890123,\"u\":\"\\u00e9\"}";
    let legacy = gateway.client(Era::Legacy).await;
    for id in ["7", "\"a \\\" \\u00e9\"", "-3", "9007199254740993"] {
        let text =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"lab/echo\",\"params\":{odd}}}");
        let response = gateway
            .http
            .post(format!("http://{}/mcp/lab", gateway.address))
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .header("mcp-session-id", legacy.session.as_ref().unwrap())
            .body(text)
            .send()
            .await
            .unwrap();
        let decoded: Value = serde_json::from_str(id).unwrap();
        let body = response.text().await.unwrap();
        assert!(body.ends_with(&format!("\"result\":{odd}}}")), "{body}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["id"], decoded);

        // The ids on the way to the server are the gateway's own; here they are again those of the client.
        let meta = format!(
            "\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"{MODERN}\",\"io.modelcontextprotocol/clientCapabilities\":{{}}}}"
        );
        let params = format!("{}, {meta}}}", odd.strip_suffix('}').unwrap());
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"lab/echo\",\"params\":{params}}}"
        );
        let response = gateway
            .request(Method::POST, "/mcp/lab")
            .header("content-type", "application/json")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "lab/echo")
            .body(text)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(
            response.text().await.unwrap(),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{params}}}")
        );
    }
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_modern_request_says_in_its_headers_what_its_body_says() {
    let mut marked = slug();
    marked["project"]["x-mcp-header"] = json!("Project");
    let tools = json!([tool("deploy", marked, json!(["project"]))]);
    let gateway = Gateway::start(json!({"phases": [phase(tools)]})).await;
    let mut client = gateway.client(Era::Modern).await;
    client.list().await;
    let good =
        client.message("tools/call", json!({"name": "deploy", "arguments": {"project": "größe"}}));
    let coded = "=?base64?Z3LDtsOfZQ==?=";
    let post = |message: &Value, headers: &[(&str, &str)]| {
        headers
            .iter()
            .fold(gateway.post(message), |request, (name, value)| request.header(*name, *value))
    };
    let (version, method, name) =
        (("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "deploy"));
    let param = ("mcp-param-project", coded);
    for (headers, what) in [
        (vec![method, name, param], "no version"),
        (vec![("mcp-protocol-version", LEGACY), method, name, param], "another version"),
        (vec![version, name, param], "no method"),
        (vec![version, ("mcp-method", "tools/list"), name, param], "another method"),
        (vec![version, method, param], "no name"),
        (vec![version, method, ("mcp-name", "other"), param], "another name"),
        (vec![version, method, name, name, param], "two names"),
        (vec![version, method, name], "no argument"),
        (vec![version, method, name, ("mcp-param-project", "other")], "another argument"),
    ] {
        let response = post(&good, &headers).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{what}");
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(answer["error"]["code"], -32020, "{what}: {answer}");
        assert_eq!(answer["id"], good["id"], "{what}");
    }
    assert!(gateway.reached().is_empty());
    let fine = [version, method, name, param, ("mcp-param-unknown", "x")];
    let response = post(&good, &fine).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(gateway.reached(), [json!({"project": "größe"})]);

    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let response = post(&bare, &[version, ("mcp-method", "tools/list")]).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32602);

    let mut newer = bare.clone();
    newer["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2030-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let headers = [("mcp-protocol-version", "2030-01-01"), ("mcp-method", "tools/list")];
    let response = post(&newer, &headers).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"], json!({"supported": [MODERN], "requested": "2030-01-01"}));

    let unknown = client.message("never/heard", json!({}));
    let response = client.send(&unknown).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    for method in [Method::GET, Method::DELETE] {
        let request = gateway.request(method, "/mcp/lab").header("mcp-protocol-version", MODERN);
        assert_eq!(request.send().await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED);
    }
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn modern_clients_share_a_server_and_never_each_others_answers() {
    let gateway =
        Gateway::start(json!({"phases": [deploy(), region_required()], "announces": true})).await;
    let mut one = gateway.client(Era::Modern).await;
    let mut two = gateway.client(Era::Modern).await;
    one.list().await;
    // Both use the ids from 1 on, at the same time.
    for n in 0..20 {
        let (a, b) = tokio::join!(
            one.ask("lab/echo", json!({"who": "one", "n": n})),
            two.ask("lab/echo", json!({"who": "two", "n": n}))
        );
        assert_eq!((&a["result"]["who"], &b["result"]["who"]), (&json!("one"), &json!("two")));
    }
    let listen =
        one.message("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut stream = Stream::new(one.send(&listen).send().await.unwrap());
    let first = stream.next().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listen["id"]);
    gateway.recorder.switch(1);
    let told = stream.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listen["id"]);
    // What one client of the principal was shown is what all of them planned with.
    let stale = two.call("deploy", json!({"project": "shop"})).await;
    assert_eq!(code(&stale), "STALE_TOOL_SCHEMA");
    drop(stream);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_modern_client_that_leaves_cancels_and_a_legacy_one_does_not() {
    use std::sync::atomic::Ordering;
    let web = Web::start(&[deploy()["tools"].clone()]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Modern).await;
    client.list().await;
    web.state.hangs.store(true, Ordering::SeqCst);
    let call = client.message(
        "tools/call",
        json!({"name": "deploy", "arguments": {"project": "shop"}, "_meta": {"progressToken": "mine"}}),
    );
    let mut stream = Stream::new(client.send(&call).send().await.unwrap());
    let progress = stream.next().await.unwrap();
    assert_eq!(progress["params"]["progressToken"], "mine", "on its own stream, by its own token");
    drop(stream);
    eventually(|| web.state.closed.load(Ordering::SeqCst)).await;
    web.state.closed.store(false, Ordering::SeqCst);

    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let call =
        client.message("tools/call", json!({"name": "deploy", "arguments": {"project": "two"}}));
    let stream = Stream::new(client.send(&call).send().await.unwrap());
    eventually(|| web.done().len() == 2).await;
    drop(stream);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(!web.state.closed.load(Ordering::SeqCst), "leaving is no cancellation in this era");
    gateway.stop();
    let activity = gateway.activity_after_end().await;
    // The first was cancelled after it left, the second was under way when the gateway ended.
    assert_eq!(activity, ["in-doubt", "in-doubt"]);
}

#[tokio::test]
async fn a_stream_that_broke_is_read_on_and_nothing_is_lost() {
    let gateway =
        Gateway::start(json!({"phases": [deploy(), region_required()], "announces": true})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let call =
        client.message("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}}));
    let mut response = client.send(&call).send().await.unwrap();
    let first = String::from_utf8(response.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    drop(response);
    eventually(|| gateway.reached().len() == 1).await;
    let mut again = Stream::new(client.listen(Some(&id)).await);
    assert!(ran(&again.next().await.unwrap()));
    assert!(again.next().await.is_none());
    for never in ["999-1", "x"] {
        assert_eq!(client.listen(Some(never)).await.status(), StatusCode::BAD_REQUEST);
    }
    // What nobody asked for comes on the stream of its own, also where that is opened late.
    gateway.recorder.switch(1);
    let mut own = Stream::new(client.listen(None).await);
    assert_eq!(own.next().await.unwrap()["method"], "notifications/tools/list_changed");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_token_opens_for_its_principal_until_it_is_taken_back() {
    let gateway = Gateway::with(json!({"phases": [deploy()]}), "anonymous = false", "").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let closed = gateway.post(&ping).send().await.unwrap();
    assert_eq!(closed.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(closed.headers()["www-authenticate"], "Bearer");
    assert_eq!(gateway.request(Method::GET, "/metrics").send().await.unwrap().status(), 401);
    let token = async |name: &str| {
        gateway.run(&["token", "--store", "state.db", "add", name]).await.trim().to_owned()
    };
    let (anna, ci) = (token("anna").await, token("ci").await);
    eventually_async(async || {
        gateway.post(&ping).bearer_auth(&ci).send().await.unwrap().status() == 400
    })
    .await;
    let kept = std::fs::read_to_string(gateway.folder.path().join("state.db.tokens")).unwrap();
    assert!(!kept.contains(&anna) && kept.contains("anna"), "{kept}");
    let mut client = gateway.client_at(Era::Legacy, "/mcp/lab", Some(&anna)).await;
    assert_eq!(client.list().await.len(), 1);
    // The session of one is nothing to another.
    let foreign = gateway
        .post(&ping)
        .bearer_auth(&ci)
        .header("mcp-session-id", client.session.as_ref().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(foreign.status(), StatusCode::NOT_FOUND);
    assert_eq!(gateway.run(&["token", "--store", "state.db", "list"]).await, "anna\nci\n");
    gateway.run(&["token", "--store", "state.db", "remove", "anna"]).await;
    eventually_async(async || client.send(&ping).send().await.unwrap().status() == 401).await;
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_pinned_endpoint_says_what_its_clients_planned_with() {
    for era in ERAS {
        let gateway = Gateway::start(json!({"phases": [deploy(), region_required()]})).await;
        gateway.client(era).await.list().await;
        let store = gateway.lists().await;
        let digest = store[0].strip_prefix("sha256:").unwrap()[..12].to_owned();
        gateway.recorder.switch(1);
        let path = format!("/mcp/lab@{digest}");
        let mut pinned = gateway.client_at(era, &path, None).await;
        // It never fetched the list, and yet it is known what it planned with.
        let stale = pinned.call("deploy", json!({"project": "shop"})).await;
        assert_eq!(code(&stale), "STALE_TOOL_SCHEMA");
        assert_eq!(pinned.list().await[0]["inputSchema"]["required"], json!(["project"]));
        let never = pinned.call("other", json!({})).await;
        assert_eq!(never["error"]["code"], -32602, "{never}");
        gateway.recorder.switch(0);
        assert!(gateway.reached().is_empty());
        gateway.stop();
        gateway.ended().await;
    }
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends() {
    let gateway = Gateway::with(json!({"phases": [deploy()]}), "idle = \"1s\"", "").await;
    let client = gateway.client(Era::Legacy).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    assert_eq!(client.send(&ping).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn machines_that_watch_are_told_what_was_done_and_never_with_what() {
    let gateway = Gateway::start(json!({"phases": [deploy(), region_required()]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    client.call("deploy", json!({"project": "secret-project"})).await;
    gateway.recorder.switch(1);
    client.call("deploy", json!({"project": "secret-project"})).await;
    let get = async |path: &str| {
        let response = gateway.request(Method::GET, path).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    };
    assert_eq!(get("/healthz").await, (StatusCode::OK, "ok\n".to_owned()));
    let (status, ready) = get("/readyz").await;
    assert_eq!((status, ready.as_str()), (StatusCode::OK, "lab: ok\nstore: ok\n"));
    let (_, metrics) = get("/metrics").await;
    for line in [
        "steadfast_decisions_total{server=\"lab\",verdict=\"admitted\",code=\"\"} 1",
        "steadfast_decisions_total{server=\"lab\",verdict=\"refused\",code=\"STALE_TOOL_SCHEMA\"} 1",
        "steadfast_outcomes_total{server=\"lab\",outcome=\"done\"} 1",
        "steadfast_sessions{server=\"lab\",era=\"legacy\"} 1",
        "steadfast_list_age_seconds{server=\"lab\"}",
        "what=\"refused\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("secret-project"));
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_makes_the_gateway_unready_and_calls_fail_clearly() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let servers = format!("[server.lab]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let ready = gateway.request(Method::GET, "/readyz").send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY}});
    let response = gateway.post(&greeting).send().await.unwrap();
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -31001, "{answer}");
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn ending_finishes_what_is_under_way_and_puts_the_rest_on_record() {
    let mut silent = deploy();
    silent["deeds"]["deploy"]["fault"] = json!("silent-after");
    let gateway = Gateway::start(json!({"phases": [silent]})).await;
    let mut client = gateway.client(Era::Legacy).await;
    client.list().await;
    let call =
        client.message("tools/call", json!({"name": "deploy", "arguments": {"project": "shop"}}));
    let mut stream = Stream::new(client.send(&call).send().await.unwrap());
    eventually(|| gateway.reached().len() == 1).await;
    gateway.stop();
    // It is told that nobody knows, before the stream ends.
    let told = stream.next().await.unwrap();
    assert_eq!(code(&told), "OUTCOME_UNKNOWN");
    assert_eq!(gateway.activity_after_end().await, ["in-doubt"]);
}

#[tokio::test]
async fn a_long_call_runs_as_a_task_or_not_at_all() {
    let gateway = Gateway::with(json!({"phases": [deploy()]}), "", "long = [\"deploy\"]").await;
    for era in ERAS {
        let mut client = gateway.client(era).await;
        client.list().await;
        assert_eq!(code(&client.call("deploy", json!({"project": "shop"})).await), "NEEDS_TASK");
    }
    assert!(gateway.reached().is_empty());
    gateway.stop();
    gateway.ended().await;
}

#[test]
fn every_mistake_in_the_configuration_is_told_at_once_and_nothing_starts() {
    let folder = Folder::new();
    let config = r#"[gateway]
listen = "0.0.0.0:0"
anonymous = true
idle = "soon"

[server."a/b"]
command = ["x"]

[server.both]
command = ["x"]
url = "http://127.0.0.1/mcp"

[server.neither]
reeds = ["look"]

[server.web]
url = "http://127.0.0.1/mcp"
on-wider = "ask"
effect-age = 30
"#;
    let outcome =
        folder.file("steadfast.toml", config).run(&["gateway", "--store", "state.db"]).code(2);
    for expected in [
        "steadfast.toml:3:13: Whoever reaches 0.0.0.0:0 could act without a token.",
        "steadfast.toml:2:10: No host is named",
        "steadfast.toml:4:8: \"soon\" is no time here.",
        "steadfast.toml:6:9: \"a/b\" cannot be the name of a server.",
        "steadfast.toml:9:9: both has a command and a url.",
        "steadfast.toml:13:9: How neither is reached is missing here.",
        "steadfast.toml:14:1: \"reeds\" is not known in [server.neither]. Did you mean reads?",
        "steadfast.toml:18:12: \"ask\" is no value of on-wider.",
        "steadfast.toml:19:14: effect-age is integer here.",
    ] {
        assert!(outcome.err.contains(expected), "{expected}\n{}", outcome.err);
    }
    assert!(!folder.names().contains("state.db"));
    let second = r#"[server.one]
url = "https://me:pw@h/mcp"
[server.two]
url = "https://h/mcp"
headers-from-env = ["Authorization=NOT_SET_ANYWHERE"]
[server.three]
command = ["x"]
adapters = "missing.toml"
"#;
    let folder = Folder::new();
    let outcome = folder.file("steadfast.toml", second).run(&["gateway", "--check"]).code(2);
    for expected in ["holds a user or a password", "NOT_SET_ANYWHERE", "missing.toml"] {
        assert!(outcome.err.contains(expected), "{expected}\n{}", outcome.err);
    }
    let folder = Folder::new();
    folder.run(&["gateway"]).code(2).complains("No server is named");
    let held = "[server.one]\ncommand = [\"x\"]\non-wider = \"hold\"\n";
    folder
        .file("steadfast.toml", held)
        .run(&["gateway", "--store", "state.db"])
        .code(2)
        .complains("nobody is enrolled");
}

async fn eventually(holds: impl Fn() -> bool) {
    eventually_async(async || holds()).await;
}

async fn eventually_async(holds: impl AsyncFn() -> bool) {
    for _ in 0..1_000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("it never came to hold");
}
