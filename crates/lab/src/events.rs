//! The six drift events: one tool, its old definition, its new one, and a call that was planned under the old.

use crate::script::{Deed, Phase, Script};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its name: a word for the command line.
    pub name: &'static str,
    /// What happens to the tool, in words.
    pub change: &'static str,
    /// What must come of the old call, in words.
    pub expected: &'static str,
    /// The server before and after.
    pub script: Script,
    /// An adapter that a person declared for it, in TOML.
    pub adapter: Option<&'static str>,
}

/// The tool of all events.
pub const TOOL: &str = "deploy_preview";

/// The arguments of the old call.
pub fn old_call() -> Value {
    json!({"project": "shop"})
}

/// The six events, in the order in which they are told.
pub fn all() -> Vec<Event> {
    vec![
        Event {
            name: "optional-added",
            change: "an optional `label` is added",
            expected: "runs once, with the old default",
            script: script(|tool, _| {
                set(tool, "/inputSchema/properties", "label", json!({"type": "string"}));
            }),
            adapter: None,
        },
        Event {
            name: "required-with-history",
            change: "`region` becomes required; it always was eu-west-1",
            expected: "runs once, with the historical region written in",
            script: script(|tool, _| {
                set(
                    tool,
                    "/inputSchema/properties",
                    "region",
                    json!({"type": "string", "enum": ["eu-west-1", "us-east-1"]}),
                );
                tool["inputSchema"]["required"] = json!(["project", "region"]);
            }),
            adapter: Some(REGION),
        },
        Event {
            name: "required-authority",
            change: "`environment` becomes required",
            expected: "refused with what is missing; nothing is sent",
            script: script(|tool, _| {
                set(
                    tool,
                    "/inputSchema/properties",
                    "environment",
                    json!({"type": "string", "enum": ["staging", "production"]}),
                );
                tool["inputSchema"]["required"] = json!(["project", "environment"]);
            }),
            adapter: None,
        },
        Event {
            name: "meaning-moved",
            change: "`project` means the numeric id, no longer the slug",
            expected: "refused although it still validates; nothing is sent",
            script: script(|tool, _| {
                tool["inputSchema"]["properties"]["project"]["description"] =
                    json!("Numeric id of the project");
            }),
            adapter: None,
        },
        Event {
            name: "output-added",
            change: "the answer also holds `created_at`",
            expected: "runs once; old and new fields come back",
            script: script(|tool, deed| {
                set(tool, "/outputSchema/properties", "created_at", json!({"type": "string"}));
                deed.answer["created_at"] = json!("2026-11-30T10:00:00Z");
            }),
            adapter: None,
        },
        Event {
            name: "output-identifier-removed",
            change: "`deployment_id` is gone from the answer",
            expected: "runs once; the answer stops what depends on it",
            script: script(|tool, deed| {
                if let Some(properties) = tool["outputSchema"]["properties"].as_object_mut() {
                    properties.shift_remove("deployment_id");
                }
                tool["outputSchema"]["required"] = json!(["url"]);
                if let Some(answer) = deed.answer.as_object_mut() {
                    answer.shift_remove("deployment_id");
                }
            }),
            adapter: None,
        },
    ]
}

const REGION: &str = r#"[[adapter]]
id = "deploy-preview-region"
tool = "deploy_preview"
until = "old-sessions-end"
[[adapter.step]]
constant = { at = "/region", value = "eu-west-1", historical = true, reason = "the only region there was", while = { account = "acme" } }
"#;

fn set(tool: &mut Value, place: &str, name: &str, value: Value) {
    if let Some(Value::Object(members)) = tool.pointer_mut(place) {
        members.insert(name.to_owned(), value);
    }
}

/// The old server, and the new one as edited.
fn script(edit: impl Fn(&mut Value, &mut Deed)) -> Script {
    let mut defaults = Map::new();
    defaults.insert("label".to_owned(), json!("preview"));
    let deed = Deed {
        path: Some("/deployments".to_owned()),
        defaults,
        answer: json!({"deployment_id": "d-1", "url": "https://d-1.example"}),
        ..Deed::default()
    };
    let tool = json!({
        "name": TOOL,
        "description": "Deploys a preview of the project.",
        "inputSchema": {
            "type": "object",
            "properties": {"project": {"type": "string", "description": "Slug of the project"}},
            "required": ["project"]
        },
        "outputSchema": {
            "type": "object",
            "properties": {"deployment_id": {"type": "string"}, "url": {"type": "string"}},
            "required": ["deployment_id", "url"]
        }
    });
    let phase = |tool: &Value, deed: &Deed| Phase {
        tools: vec![tool.clone()],
        deeds: BTreeMap::from([(TOOL.to_owned(), deed.clone())]),
        ..Phase::default()
    };
    let old = phase(&tool, &deed);
    let (mut tool, mut deed) = (tool, deed);
    edit(&mut tool, &mut deed);
    Script { phases: vec![old, phase(&tool, &deed)], announces: true, ..Script::default() }
}
