//! One object that became tagged alternatives, judged by the calls that callers make.

use contract::document::{Bundle, read};
use contract::{Change, Options, Verdict, diff};
use serde_json::{Value, json};

fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let side = |schema: &Value| {
        let root =
            json!([{"name": "rows", "description": "Works on rows.", "inputSchema": schema}]);
        let bundle = Bundle { name: "list".into(), root, ..Bundle::default() };
        read(bundle).expect("a list").contract
    };
    let found = diff(&side(old), &side(new), &Options::default()).expect("two lists");
    found.entries.into_iter().flat_map(|entry| entry.changes).collect()
}

fn verdict(old: &Value, new: &Value) -> Verdict {
    let changes = changes(old, new);
    changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::Safe)
}

/// One form; the texts of `name` and `id` tie them to a tag, or not.
fn one(name: &str, id: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["create", "delete"]},
            "name": {"type": "string", "description": name},
            "id": {"type": "string", "description": id},
            "note": {"type": "string", "description": "Kept beside the row."}
        },
        "required": ["action"]
    })
}

fn alternative(action: &str, member: &str, kind: &str, required: bool) -> Value {
    let mut form = json!({
        "type": "object",
        "properties": {
            "action": {"const": action},
            member: {"type": kind},
            "note": {"type": "string"}
        },
        "required": ["action"],
        "additionalProperties": false
    });
    if required {
        form["required"] = json!(["action", member]);
    }
    form
}

fn several(required: bool) -> Value {
    json!({"type": "object", "oneOf": [
        alternative("create", "name", "string", required),
        alternative("delete", "id", "string", required),
    ]})
}

#[test]
fn a_mix_that_the_old_text_spoke_against_is_sent_by_nobody() {
    let tied = one("The name, for create.", "Which row (delete only).");
    assert_eq!(verdict(&tied, &several(false)), Verdict::Safe);
    let found = changes(&tied, &several(false));
    let split = found.iter().find(|change| change.rule == "SF144").expect("the split is told");
    assert!(split.witness.is_some(), "the mix that is refused is shown");
    let demanded = one("Required for create.", "Required for delete: which row.");
    assert_eq!(verdict(&demanded, &several(true)), Verdict::Safe);
}

#[test]
fn what_no_text_ties_is_sent_with_every_tag() {
    let untied = one("The name.", "Which row.");
    assert_eq!(verdict(&untied, &several(false)), Verdict::Refuse);
    // One of the two is tied: the other may still come with each tag.
    let half = one("The name, for create.", "Which row.");
    assert_eq!(verdict(&half, &several(false)), Verdict::Refuse);
    // The same word as any other ties nothing.
    let word = one("What to create.", "What to delete.");
    assert_eq!(verdict(&word, &several(false)), Verdict::Refuse);
}

#[test]
fn a_usual_call_that_is_lost_still_breaks() {
    let tied = one("The name, for create.", "Which row (delete only).");
    // A member that could be left out must be sent.
    assert_eq!(verdict(&tied, &several(true)), Verdict::Refuse);
    // A member takes other values.
    let other = json!({"type": "object", "oneOf": [
        alternative("create", "name", "integer", false),
        alternative("delete", "id", "string", false),
    ]});
    assert_eq!(verdict(&tied, &other), Verdict::Refuse);
    // A tag is gone.
    let less = json!({"type": "object", "oneOf": [
        alternative("create", "name", "string", false),
        alternative("update", "id", "string", false),
    ]});
    assert_eq!(verdict(&tied, &less), Verdict::Refuse);
}

#[test]
fn a_member_that_no_alternative_has_is_gone() {
    let tied = one("The name, for create.", "Which row (delete only).");
    let mut open = several(false);
    for form in open["oneOf"].as_array_mut().expect("alternatives") {
        form["properties"].as_object_mut().expect("members").remove("note");
        form.as_object_mut().expect("a form").remove("additionalProperties");
    }
    let found = changes(&tied, &open);
    assert!(found.iter().any(|change| change.rule == "SF110"), "{found:#?}");
}

#[test]
fn a_default_that_moved_in_an_alternative_is_told() {
    let mut tied = one("The name, for create.", "Which row (delete only).");
    tied["properties"]["note"]["default"] = json!("none");
    let mut moved = several(false);
    moved["oneOf"][1]["properties"]["note"]["default"] = json!("all");
    let found = changes(&tied, &moved);
    assert!(found.iter().any(|change| matches!(change.rule, "SF150" | "SF152")), "{found:#?}");
}
