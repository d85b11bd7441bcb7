//! A stale call that is made again: nothing but a look at the new list, or the word that the refusal was read, makes it
//! another one.

use crate::front::Gateway;
use crate::live::{ERAS, Era, Live, code, phase, ran, token, tool};
use serde_json::{Value, json};

fn archive(project: &str) -> Value {
    let project = json!({"project": {"type": "string", "description": project}});
    phase(json!([tool("archive", project, json!(["project"]))]))
}

fn deploy(required: bool) -> Value {
    let mut properties = json!({"project": {"type": "string"}});
    let mut names = json!(["project"]);
    if required {
        properties["environment"] = json!({"enum": ["staging", "production"]});
        names = json!(["project", "environment"]);
    }
    phase(json!([tool("deploy", properties, names)]))
}

/// The client's library fetches the new list by itself; the model knows nothing of it.
#[tokio::test]
async fn the_same_stale_call_never_slips_through_on_a_later_pass() {
    for era in ERAS {
        let script = json!({"phases": [archive("The slug of the project."), archive("The numeric id of the project.")]});
        let mut live = Live::listed(era, script).await;
        live.recorder.switch(1);
        live.list().await;
        let mut codes = Vec::new();
        for _ in 0..4 {
            let answer = live.call("archive", json!({"project": "7"})).await;
            codes.push(code(&answer).to_owned());
        }
        assert_eq!(codes, ["STALE_TOOL_SCHEMA"; 4]);
        assert_eq!(live.reached().len(), 0, "nothing was sent");
        let last = live.call("archive", json!({"project": "7"})).await;
        assert_eq!(last["result"]["_meta"]["steadfast/refusal"]["required_action"], "stop");
        // Whoever looks at the list after the refusal has decided anew.
        live.list().await;
        let answer = live.call("archive", json!({"project": "7"})).await;
        assert_eq!(answer["result"]["structuredContent"]["id"], "x-1", "{answer}");
        live.leave().await;
    }
}

/// Arguments that fit only what was shown before are an old plan, whatever was fetched since.
#[tokio::test]
async fn arguments_that_only_an_earlier_definition_takes_are_an_old_plan() {
    for era in ERAS {
        let script = json!({"phases": [deploy(false), deploy(true)]});
        let mut live = Live::listed(era, script).await;
        live.recorder.switch(1);
        live.list().await;
        live.call("deploy", json!({"project": "shop"})).await;
        for _ in 0..2 {
            live.list().await;
            let answer = live.call("deploy", json!({"project": "shop"})).await;
            let refusal = &answer["result"]["_meta"]["steadfast/refusal"];
            assert_eq!(refusal["missing"], json!(["environment"]), "{answer}");
        }
        assert_eq!(live.reached().len(), 0, "nothing was sent");
        // What fits no definition that was ever shown is for the server to judge.
        live.call("deploy", json!({"project": 7, "environment": "staging"})).await;
        assert_eq!(live.reached().len(), 1);
        let answer =
            live.call("deploy", json!({"project": "shop", "environment": "staging"})).await;
        assert_eq!(answer["result"]["structuredContent"]["id"], "x-1", "{answer}");
        live.leave().await;
    }
}

/// A refusal says something of its tool, not of one call alone; and a wording that moves between changes nothing of that.
#[tokio::test]
async fn what_was_fetched_before_a_refusal_says_nothing_of_it() {
    for era in ERAS {
        let mut hints = [true, false].map(|read| {
            let mut tool = tool("look", json!({"project": {"type": "string"}}), json!([]));
            tool["annotations"] = json!({"readOnlyHint": read, "destructiveHint": !read});
            tool
        });
        let worded = {
            let mut tool = hints[1].clone();
            tool["description"] = json!("Does one thing!");
            tool
        };
        let [old, new] = &mut hints;
        let script =
            json!({"phases": [phase(json!([old])), phase(json!([new])), phase(json!([worded]))]});
        let mut live = Live::listed(era, script).await;
        live.recorder.switch(1);
        live.list().await;
        let first = live.call("look", json!({"project": "7"})).await;
        let refused = code(&first).to_owned();
        for project in ["7", "8", "7"] {
            let answer = live.call("look", json!({"project": project})).await;
            assert_eq!(code(&answer), refused, "{project}");
        }
        live.recorder.switch(2);
        assert_eq!(code(&live.call("look", json!({"project": "7"})).await), refused);
        assert_eq!(live.reached().len(), 0);
        // Its token says that it was read, for the calls after it too.
        let answer = live.call("look", json!({"project": "9"})).await;
        let said = json!({"project": "9", "steadfast_ack": token(&answer)});
        assert!(ran(&live.call("look", said).await));
        live.leave().await;
    }
}

/// Clients of one principal cannot be told apart: what one of them fetched says nothing of what another planned with.
#[tokio::test]
async fn a_list_that_another_client_fetched_releases_no_refused_call() {
    let script = json!({"phases": [archive("The slug of the project."), archive("The numeric id of the project.")]});
    let gateway = Gateway::start(script).await;
    let (mut a, mut b) = (gateway.client(Era::Modern).await, gateway.client(Era::Modern).await);
    a.list().await;
    gateway.recorder.switch(1);
    b.list().await;
    for _ in 0..3 {
        let answer = a.call("archive", json!({"project": "7"})).await;
        assert_eq!(code(&answer), "STALE_TOOL_SCHEMA");
    }
    // What one call was refused for does not speak for another one.
    b.list().await;
    assert_eq!(code(&a.call("archive", json!({"project": "8"})).await), "STALE_TOOL_SCHEMA");
    assert_eq!(gateway.reached().len(), 0);
    let answer = a.call("archive", json!({"project": "8"})).await;
    let said = json!({"project": "8", "steadfast_ack": token(&answer)});
    assert!(ran(&a.call("archive", said).await));
    gateway.stop();
    gateway.ended().await;
}
