//! Servers and clients that write what others would not: what each costs is kept to where it lies.

use crate::front::Gateway;
use crate::live::{ERAS, Era, Live, code, phase, ran, tool};
use crate::web::Web;
use serde_json::{Value, json};
use std::time::Duration;

fn look() -> Value {
    let mut look = tool("look", json!({"project": {"type": "string"}}), json!([]));
    look["annotations"] = json!({"readOnlyHint": true});
    look
}

fn deploy(required: Value) -> Value {
    let properties = json!({"project": {"type": "string"}, "region": {"type": "string"}});
    tool("deploy", properties, required)
}

/// Starts everything with a filter before and behind the scripted server, which see and change each line.
async fn filtered(era: Era, script: Value, flags: &[&str], before: &str, behind: &str) -> Live {
    let folder = tempfile::tempdir().unwrap();
    let recorder = lab::Recorder::start().await.unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, script.to_string()).unwrap();
    let own = env!("CARGO_BIN_EXE_steadfast");
    let line = format!(
        "{before} | {own} demo --script {} --recorder {} | {behind}",
        path.display(),
        recorder.url()
    )
    .replace("FOLDER", &folder.path().display().to_string());
    let mut live = Live::wrapped(era, folder, recorder, flags, &["--", "sh", "-c", &line]).await;
    live.greet().await;
    live.list().await;
    live
}

/// Waits for the answer whose id is this number, however it is spelled.
async fn answered(live: &mut Live, id: f64) -> Value {
    loop {
        let message: Value = serde_json::from_str(&live.line().await).unwrap();
        if message.get("method").is_none() && message["id"].as_f64() == Some(id) {
            return message;
        }
    }
}

#[tokio::test]
async fn ids_that_are_one_number_are_one_id() {
    let behind =
        "sed -u 's/\"id\":7\\.0/\"id\":7/; s/\"id\":1e2/\"id\":100/; s/\"id\":-0/\"id\":0/'";
    let script = json!({"phases": [phase(json!([deploy(json!([])), look()]))]});
    let mut live = filtered(Era::Legacy, script, &[], "cat", behind).await;
    for (id, number) in [("7.0", 7.0), ("1e2", 100.0), ("-0", 0.0)] {
        live.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}")).await;
        assert!(answered(&mut live, number).await.get("result").is_some());
        for name in ["deploy", "look"] {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\",\"arguments\":{{\"project\":\"p\"}}}}}}"
            );
            live.send(&call).await;
            assert!(ran(&answered(&mut live, number).await));
        }
    }
    live.leave().await;
}

#[tokio::test]
async fn a_list_that_cannot_be_served_is_not_announced() {
    let fails = {
        let mut fails = phase(json!([deploy(json!([]))]));
        fails["list_fails"] = json!(-32603);
        fails
    };
    for bad in [fails, phase(json!([]))] {
        let good = [phase(json!([deploy(json!([]))])), phase(json!([deploy(json!(["region"]))]))];
        let script = json!({"phases": [good[0], bad, good[1]], "announces": true});
        let mut live = Live::listed(Era::Legacy, script).await;
        live.recorder.switch(1);
        for _ in 0..1_000 {
            if live.said().contains("could not be read") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(live.said().contains("could not be read"), "{}", live.said());
        for _ in 0..10 {
            live.ask("ping", json!({})).await;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let told = live.aside.iter().filter(|line| line.contains("list_changed")).count();
        assert_eq!(told, 0, "{:?}", live.aside);
        live.recorder.switch(2);
        live.notified("notifications/tools/list_changed").await;
        assert_eq!(live.list().await[0]["inputSchema"]["required"], json!(["region"]));
        live.leave().await;
    }
}

#[tokio::test]
async fn what_only_reads_goes_on_while_the_list_is_not_answered() {
    let mut hangs = phase(json!([look(), deploy(json!([]))]));
    hangs["list_takes"] = json!(600_000);
    let script = json!({"phases": [phase(json!([look(), deploy(json!([]))])), hangs]});
    let mut live = Live::start(Era::Legacy, script, &["--timeout", "600"]).await;
    live.greet().await;
    live.list().await;
    assert!(ran(&live.call("look", json!({})).await));
    live.recorder.switch(1);
    // A list that was read within the last second is not read again.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    for _ in 0..3 {
        assert!(ran(&live.call("look", json!({})).await));
    }
    assert!(live.said().contains("has not been answered"), "{}", live.said());
    // What may have an effect waits: nobody knows what holds.
    live.begin("tools/call", json!({"name": "deploy", "arguments": {}})).await;
    live.ask("ping", json!({})).await;
    assert!(live.recorder.records().iter().all(|record| record.path == "/look"));
}

/// Calls that no gateway can judge, as a client may write them.
fn unreadable() -> Vec<String> {
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(130), "]".repeat(130));
    let arguments = [r#"{"a":1,"a":2}"#, &deep, r#"{"a":"\ud83d"}"#, "[]", "7"];
    arguments
        .iter()
        .map(|arguments| format!(r#""params":{{"name":"deploy","arguments":{arguments}}}"#))
        .chain([r#""params":{"arguments":{}}"#.to_owned(), r#""params":[]"#.to_owned()])
        .chain([r#""params":{"name":"hidden","arguments":{"n":1e2}}"#.to_owned()])
        .collect()
}

#[tokio::test]
async fn who_only_watches_stands_in_nobodys_way() {
    let script = json!({"phases": [phase(json!([deploy(json!([]))]))]});
    let before = "tee FOLDER/heard";
    let mut live = filtered(Era::Legacy, script, &["--observe"], before, "cat").await;
    for (at, params) in unreadable().iter().enumerate() {
        let text =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":\"c{at}\",\"method\":\"tools/call\",{params}}}");
        live.send(&text).await;
        let heard = live.folder.path().join("heard");
        for _ in 0..1_000 {
            if std::fs::read_to_string(&heard).unwrap().contains(&text) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let heard = std::fs::read_to_string(&heard).unwrap();
        assert!(heard.lines().any(|line| line == text), "{text} did not arrive as it was written");
    }
    let would = live.said().lines().filter(|line| line.contains("would have refused")).count();
    assert_eq!(would, unreadable().len(), "{}", live.said());
    let (_, told, _) = live.person(&["status", "--format", "json"]).await;
    let would = told.matches("INVALID_ARGUMENTS").count();
    assert!(would > 0, "{told}");
}

/// Definitions that cannot be read, with the names by which they are called all the same.
fn flawed() -> Vec<(String, Option<&'static str>)> {
    vec![
        (r#"{"description":"x"}"#.to_owned(), None),
        (r#"{"name":"","inputSchema":{}}"#.to_owned(), None),
        (r#"{"name":7}"#.to_owned(), None),
        (r#""x""#.to_owned(), None),
        (r#"{"name":"n","inputSchema":{"type":"object","type":"string"}}"#.to_owned(), Some("n")),
    ]
}

#[tokio::test]
async fn a_tool_that_cannot_be_read_costs_no_other_tool() {
    for era in ERAS {
        for (definition, name) in flawed() {
            let placeholder = json!({"name": "placeholder"});
            let phases = [json!([]), json!(["region"])]
                .map(|required| phase(json!([deploy(required), placeholder])));
            let script = json!({"phases": phases});
            let behind = format!("sed -u 's/{{\"name\":\"placeholder\"}}/{definition}/'");
            let mut live = filtered(era, script, &[], "cat", &behind).await;
            assert!(ran(&live.call("deploy", json!({"project": "p"})).await), "{definition}");
            for _ in 0..1_000 {
                if live.said().contains("a tool cannot be read") {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let said = live.said();
            assert!(said.contains("a tool cannot be read"), "{definition}: {said}");
            if let Some(name) = name {
                let answer = live.call(name, json!({})).await;
                assert_eq!(code(&answer), "CONTRACT_UNVERIFIED", "{definition}");
            }
            live.recorder.switch(1);
            let stale = live.call("deploy", json!({"project": "p"})).await;
            assert_eq!(code(&stale), "STALE_TOOL_SCHEMA", "{definition}");
            assert_eq!(live.reached().len(), 1);
        }
    }
}

#[tokio::test]
async fn headers_that_no_definition_marks_go_on() {
    let web = Web::start(&[json!([deploy(json!([])), look()])]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\n", web.address);
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Modern).await;
    client.list().await;
    for name in ["deploy", "look"] {
        let call = client.message("tools/call", json!({"name": name, "arguments": {}}));
        let sent = client
            .send(&call)
            .header("mcp-param-unknown", "x 1")
            .header("mcp-param-coded", "=?base64?Z3LDtsOfZQ==?=");
        assert!(sent.send().await.unwrap().status().is_success());
        let log = web.state.log.lock().unwrap().clone();
        let (headers, _) = log.iter().rfind(|(_, m)| m["method"] == "tools/call").unwrap();
        assert_eq!(headers["mcp-param-unknown"], "x 1");
        assert_eq!(headers["mcp-param-coded"], "=?base64?Z3LDtsOfZQ==?=");
    }
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn a_header_for_an_argument_that_is_not_there_is_refused_and_one_that_an_adapter_drops_is_not_passed_on()
 {
    let properties = |mood: bool| {
        let mut properties = json!({"project": {"type": "string"}});
        if mood {
            properties["mood"] = json!({"type": "string", "x-mcp-header": "Mood"});
        }
        json!([tool("deploy", properties, json!(["project"]))])
    };
    let web = Web::start(&[properties(true)]).await;
    let folder = tempfile::tempdir().unwrap();
    let adapters = "[[adapter]]\nid = \"no-mood\"\ntool = \"deploy\"\nuntil = 2099-01-01\nstep = [{ drop = { at = \"/mood\", reason = \"it never had an effect\" } }]\n";
    std::fs::write(folder.path().join("adapters.toml"), adapters).unwrap();
    let servers = format!(
        "[server.lab]\nurl = \"{}\"\nadapters = \"adapters.toml\"\neffect-age = \"0s\"\n",
        web.address
    );
    let recorder = lab::Recorder::start().await.unwrap();
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    let mut client = gateway.client(Era::Modern).await;
    client.list().await;
    let mut call = |arguments: Value| {
        let call = client.message("tools/call", json!({"name": "deploy", "arguments": arguments}));
        client.send(&call).header("mcp-param-mood", "calm")
    };
    let without = call(json!({"project": "shop"})).send().await.unwrap();
    assert_eq!(without.status().as_u16(), 400);
    assert!(without.text().await.unwrap().contains("-32020"));
    assert!(web.done().is_empty());
    let calm = json!({"project": "shop", "mood": "calm"});
    let last = || {
        let log = web.state.log.lock().unwrap().clone();
        log.iter().rfind(|(_, m)| m["method"] == "tools/call").unwrap().0.clone()
    };
    assert!(call(calm.clone()).send().await.unwrap().status().is_success());
    assert_eq!(last()["mcp-param-mood"], "calm");
    // The argument is gone, and with it what stood for it on the way.
    *web.state.replicas.lock().unwrap() = vec![properties(false)];
    assert!(call(calm.clone()).send().await.unwrap().status().is_success());
    assert_eq!(web.done(), [calm, json!({"project": "shop"})]);
    assert!(last().get("mcp-param-mood").is_none());
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn an_adapter_that_is_refuted_is_told() {
    let with = |name: &str, argument: &str, most: Value| {
        let mut argument = json!({argument: {"type": "integer"}});
        let of = argument.as_object_mut().unwrap().values_mut().next().unwrap();
        if !most.is_null() {
            of["maximum"] = most;
        }
        phase(json!([tool(name, argument, json!([]))]))
    };
    for to in ["find", "search"] {
        let folder = tempfile::tempdir().unwrap();
        let adapters = format!(
            "[[adapter]]\nid = \"paged\"\ntool = \"find\"\nto_tool = \"{to}\"\nuntil = \"old-sessions-end\"\nstep = [{{ rename = {{ from = \"/limit\", to = \"/page\" }} }}]\n"
        );
        let file = folder.path().join("adapters.toml");
        std::fs::write(&file, adapters).unwrap();
        let script =
            json!({"phases": [with("find", "limit", Value::Null), with(to, "page", json!(5))]});
        let flags = ["--adapters", &file.display().to_string()];
        let mut live = Live::start_in(folder, Era::Legacy, script, &flags).await;
        live.greet().await;
        live.list().await;
        live.recorder.switch(1);
        let answer = live.call("find", json!({"limit": 3})).await;
        let changed = &answer["result"]["_meta"]["steadfast/refusal"]["changed"];
        assert!(changed.to_string().contains("adapter"), "{answer}");
        assert!(
            live.said().contains("for what is listed now and carries no call of `find`"),
            "{}",
            live.said()
        );
        let (_, told, _) = live.person(&["status"]).await;
        assert!(told.contains("refuted, and carries no such call"), "{told}");
        live.leave().await;
    }
}

#[tokio::test]
async fn what_no_step_touched_keeps_its_spelling() {
    let with = |name: &str| {
        let mut argument = json!({"q": {"type": "string"}});
        argument[name] = json!({"type": "number"});
        phase(json!([tool("find", argument, json!([]))]))
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("adapters.toml");
    let adapters = "[[adapter]]\nid = \"paged\"\ntool = \"find\"\nuntil = \"old-sessions-end\"\nstep = [{ rename = { from = \"/limit\", to = \"/max_results\" } }]\n";
    std::fs::write(&file, adapters).unwrap();
    let script = json!({"phases": [with("limit"), with("max_results")]});
    let flags = ["--adapters", &file.display().to_string()];
    let mut live = filtered(Era::Legacy, script, &flags, "tee FOLDER/heard", "cat").await;
    live.recorder.switch(1);
    let call = r#"{"jsonrpc":"2.0", "id":70 ,"method":"tools/call","odd":1e2,"params":{"name":"find","_meta":{"\u00e9":1E2},"arguments":{"limit":1e2,"q":"\u00e9\/"},"more":1.0}}"#;
    live.send(call).await;
    let answer = live.answer(&json!(70)).await;
    assert!(ran(&answer), "{answer}");
    let heard = std::fs::read_to_string(live.folder.path().join("heard")).unwrap();
    let expected =
        call.replace(r#"{"limit":1e2,"q":"\u00e9\/"}"#, r#"{"max_results":1e2,"q":"\u00e9\/"}"#);
    assert!(heard.lines().any(|line| line == expected), "{heard}");
    live.leave().await;
}

#[tokio::test]
async fn a_pinned_list_is_served_as_it_was_written() {
    let tools = |names: &[&str]| {
        phase(Value::from_iter(names.iter().map(|n| tool(n, json!({}), json!([])))))
    };
    let script = json!({"phases": [tools(&["zeta", "alpha"]), tools(&["alpha"])]});
    let (folder, recorder) = (tempfile::tempdir().unwrap(), lab::Recorder::start().await.unwrap());
    let path = folder.path().join("script.json");
    std::fs::write(&path, script.to_string()).unwrap();
    let line = format!(
        "{} demo --script {} --recorder {} | sed -u 's/\"tools\":\\[/\"etag\":\"E\",\"tools\":[/'",
        env!("CARGO_BIN_EXE_steadfast"),
        path.display(),
        recorder.url()
    );
    let servers = format!("[server.lab]\ncommand = {}\n", json!(["sh", "-c", line]));
    let gateway = Gateway::on(folder, recorder, "", &servers).await;
    for era in ERAS {
        gateway.recorder.switch(0);
        let mut plain = gateway.client(era).await;
        let whole = plain.ask("tools/list", json!({})).await["result"].clone();
        assert_eq!(whole["etag"], "E");
        let digest = gateway.lists().await[0].clone();
        let path = format!("/mcp/lab@{}", &digest["sha256:".len()..][..12]);
        let mut pinned = gateway.client_at(era, &path, None).await;
        for phase in [0, 1] {
            gateway.recorder.switch(phase);
            let again = pinned.ask("tools/list", json!({})).await["result"].clone();
            assert_eq!(again.to_string(), whole.to_string());
        }
        let gone = pinned.call("zeta", json!({})).await;
        assert_eq!(code(&gone), "TOOL_REMOVED");
        let refusal = &gone["result"]["_meta"]["steadfast/refusal"];
        assert_eq!(refusal["required_action"], "ask_person", "the list that is pinned stays");
        gateway.recorder.switch(0);
    }
    gateway.stop();
    gateway.ended().await;
}

#[tokio::test]
async fn what_is_no_request_is_told_as_what_it_is() {
    let mut live =
        Live::listed(Era::Legacy, json!({"phases": [phase(json!([deploy(json!([]))]))]})).await;
    let call = r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"deploy"}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    for (text, expected) in [
        (call.to_owned(), -32600),
        (format!("[{ping}]"), -32600),
        (r#"{"foo":1}"#.to_owned(), -32600),
        ("7".to_owned(), -32600),
        ("{".to_owned(), -32700),
    ] {
        live.send(&text).await;
        let told: Value = serde_json::from_str(&live.line().await).unwrap();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (&Value::Null, &json!(expected)),
            "{text}"
        );
    }
    assert!(live.reached().is_empty());
    // Where a command has commands of its own, its flags stand before or after their names.
    assert_eq!(live.person(&["token", "list"]).await.0, 0);
    live.leave().await;
}

#[tokio::test]
async fn a_name_that_is_listed_twice_does_not_go_back_and_forth() {
    let twice = phase(json!([deploy(json!([])), deploy(json!(["region"]))]));
    let mut live = Live::listed(Era::Legacy, json!({"phases": [twice]})).await;
    for _ in 0..3 {
        live.list().await;
        let answer = live.call("deploy", json!({"project": "p"})).await;
        assert_eq!(code(&answer), "TOOL_AMBIGUOUS");
        assert!(!crate::live::text(&answer).contains("back and forth"), "{answer}");
    }
    live.leave().await;
}

#[tokio::test]
async fn a_modern_client_of_a_server_without_subscriptions_is_told_all_the_same() {
    let script = json!({"phases": [phase(json!([deploy(json!([]))])), phase(json!([deploy(json!(["region"]))]))]});
    let before = "sed -u 's/subscriptions.listen/nobody.knows/'";
    let mut live = filtered(Era::Modern, script, &[], before, "cat").await;
    let asked = json!({"notifications": {"toolsListChanged": true}});
    let id = live.begin("subscriptions/listen", asked).await;
    let about =
        |told: &Value| told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    let told = live.notified("notifications/subscriptions/acknowledged").await;
    assert_eq!(
        (about(&told), &told["params"]["notifications"]),
        (json!(id), &json!({"toolsListChanged": true}))
    );
    live.recorder.switch(1);
    live.call("deploy", json!({"project": "p"})).await;
    let told = live.notified("notifications/tools/list_changed").await;
    assert_eq!(about(&told), json!(id));
    // What the gateway knows nothing of stays the word of the server.
    let other = json!({"notifications": {"promptsListChanged": true}});
    let answer = live.ask("subscriptions/listen", other).await;
    assert_eq!(answer["error"]["code"], -32601);
    live.leave().await;
    let web = Web::start(&[json!([deploy(json!([]))])]).await;
    let mut live = Live::before(Era::Modern, &web.address).await;
    let found = live.ask("server/discover", json!({})).await;
    assert_eq!(found["result"]["capabilities"]["tools"]["listChanged"], true);
    live.leave().await;
}

#[tokio::test]
async fn instructions_that_change_behind_a_session_are_told_and_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = lab::Recorder::start().await.unwrap();
    let (script, told) = (folder.path().join("script.json"), folder.path().join("told"));
    let phases = json!({"phases": [phase(json!([deploy(json!([]))]))]});
    std::fs::write(&script, phases.to_string()).unwrap();
    std::fs::write(&told, "Ask a person before you deploy.").unwrap();
    let line = format!(
        "{} demo --script {} --recorder {} | sed -u \"s/\\\"protocolVersion\\\":/\\\"instructions\\\":\\\"$(cat {})\\\",&/\"",
        env!("CARGO_BIN_EXE_steadfast"),
        script.display(),
        recorder.url(),
        told.display()
    );
    let mut live =
        Live::wrapped(Era::Legacy, folder, recorder, &[], &["--", "sh", "-c", &line]).await;
    live.greet().await;
    live.list().await;
    assert!(ran(&live.call("deploy", json!({"project": "p"})).await));
    assert!(!live.said().contains("instructs"), "{}", live.said());
    std::fs::write(&told, "Deploy everything at once.").unwrap();
    live.recorder.crash().await;
    for _ in 0..1_000 {
        // What is asked while the server ends may be an error.
        let _ = live.ask("tools/list", json!({})).await;
        if live.said().contains("instructs") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(live.said().contains("otherwise than this one was told"), "{}", live.said());
    let (_, status, _) = live.person(&["status"]).await;
    assert!(status.contains("instructs its clients otherwise"), "{status}");
    let (_, journal, _) = live.person(&["journal", "show", "--format", "json"]).await;
    assert!(journal.matches("(instructions)").count() >= 2, "{journal}");
    live.leave().await;
}

#[tokio::test]
async fn a_greeting_of_the_other_era_in_a_request_of_the_new_one_changes_nothing_for_others() {
    let web = Web::start(&[json!([deploy(json!([]))])]).await;
    let servers = format!("[server.lab]\nurl = \"{}\"\neffect-age = \"0s\"\n", web.address);
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::on(folder, lab::Recorder::start().await.unwrap(), "", &servers).await;
    let mut one = gateway.client(Era::Modern).await;
    one.list().await;
    // The client names a version of the new era in it: no server of that era knows the method.
    one.ask("initialize", json!({})).await;
    let mut other = gateway.client(Era::Modern).await;
    other.list().await;
    assert!(ran(&other.call("deploy", json!({"project": "p"})).await));
    let log = web.state.log.lock().unwrap().clone();
    let (headers, call) = log.iter().rfind(|(_, m)| m["method"] == "tools/call").unwrap();
    assert_eq!(headers["mcp-name"], "deploy");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(call["params"]["name"], "deploy");
    gateway.stop();
    gateway.ended().await;
}

/// No two readings agree, so the client gets what the server says itself: that is what it plans with.
#[tokio::test]
async fn a_list_that_passed_before_any_had_settled_is_what_the_client_knows() {
    let archive = |project: &str| {
        let project = json!({"project": {"type": "string", "description": project}});
        let mut other = look();
        other["description"] = json!("Look NONCE");
        phase(json!([tool("archive", project, json!(["project"])), other]))
    };
    let behind = "{ n=0; while IFS= read -r line; do [ -e FOLDER/still ] || n=$((n+1)); printf '%s\\n' \"$line\" | sed \"s/NONCE/$n/\"; done; }";
    for era in ERAS {
        let phases = [archive("The slug of the project."), archive("The numeric id of it.")];
        let mut live = filtered(era, json!({ "phases": phases }), &[], "cat", behind).await;
        assert!(live.said().contains("did not hold still"), "{}", live.said());
        live.recorder.switch(1);
        std::fs::write(live.folder.path().join("still"), "").unwrap();
        let stale = live.call("archive", json!({"project": "7"})).await;
        assert_eq!(code(&stale), "STALE_TOOL_SCHEMA", "{stale}");
        assert!(live.reached().is_empty(), "nothing was sent");
        // It is told of the list that settled, and goes on once it has looked.
        if era == Era::Legacy {
            live.notified("notifications/tools/list_changed").await;
        }
        live.list().await;
        assert!(ran(&live.call("archive", json!({"project": "7"})).await));
        live.leave().await;
    }
}
