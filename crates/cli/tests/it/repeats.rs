//! A stale call that is made again: nothing but a look at the new list, or the word that the refusal was read, makes it
//! another one.

use crate::live::{ERAS, Live, code, phase, tool};
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
