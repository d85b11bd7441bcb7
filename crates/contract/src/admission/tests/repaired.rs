//! Which calls count as repaired by a refusal, and which as an old plan with a slip in it.

use super::*;

/// `project` means something else now, and `wait` may be a text.
const MOVED_AND_LOOSER: fn(&mut Value) = |raw| {
    let properties = &mut raw["inputSchema"]["properties"];
    properties["project"]["description"] = json!("Numeric id of the project");
    properties["wait"]["type"] = json!(["integer", "string"]);
};

#[test]
fn a_slip_that_only_the_live_revision_takes_makes_no_old_plan_a_repaired_call() {
    let live = changed(MOVED_AND_LOOSER);
    for call in [json!({"project": "7", "wait": 5}), json!({"project": "7", "wait": "5"})] {
        let decision = stale(&live, call.clone());
        assert_eq!(refusal(&decision).code, Code::StaleToolSchema, "{call}");
        assert_eq!(refusal(&decision).required_action, Action::RefreshTools);
        let told = |fault: &Fault| fault.field.as_deref() == Some("project");
        assert!(refusal(&decision).changed.iter().any(told), "{decision:?}");
    }
    // An argument whose value only the new definition takes was written by it.
    let live = changed(|raw| {
        ENVIRONMENT(raw);
        raw["inputSchema"]["properties"]["project"] =
            json!({"type": "integer", "description": "Numeric id of the project"});
    });
    assert!(forwards(&stale(&live, json!({"project": 7, "environment": "staging"}))));
}

#[test]
fn arguments_that_nobody_planned_are_told_what_moved_where_they_go() {
    let live = changed(|raw| {
        MOVED_AND_LOOSER(raw);
        ENVIRONMENT(raw);
    });
    let decision = stale(&live, json!({"project": "7", "tier": "huge"}));
    let refusal = refusal(&decision);
    assert_eq!(refusal.code, Code::InvalidArguments);
    assert_eq!(refusal.changed[0].field.as_deref(), Some("project"), "{refusal:?}");
    assert_eq!(refusal.required_action, Action::RefreshTools);
    // With all that it names added, it is still a plan of the old contract.
    let added = json!({"project": "7", "tier": "small", "environment": "staging"});
    assert!(!forwards(&stale(&live, added)));
}

#[test]
fn what_cannot_be_read_is_not_what_a_call_was_repaired_by() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["wait"] = json!({"$ref": "https://example.com/wait.json"});
    });
    let decision = stale(&live, json!({"project": "shop", "wait": "5"}));
    assert_eq!(refusal(&decision).code, Code::ContractUndecided, "{decision:?}");
}
