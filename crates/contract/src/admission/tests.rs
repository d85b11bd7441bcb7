//! Each row of the admission table, on the calls that meet it.

use super::*;
use crate::diff::Options;
use crate::document::Tool;
use serde_json::json;

mod repaired;

struct Pairs;

impl Compare for Pairs {
    fn compare(&self, old: &Arc<Revised>, new: &Arc<Revised>) -> Option<Arc<Entry>> {
        crate::tools::pair(old.tool(), new.tool(), &Options::default()).map(Arc::new)
    }
}

fn revised(raw: Value) -> Arc<Revised> {
    let name = raw["name"].as_str().expect("a name").to_owned();
    Arc::new(Revised::new(Tool { name, raw, ordinal: None }))
}

fn base() -> Value {
    json!({
        "name": "deploy",
        "description": "Deploys a preview of the project.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "project": {"type": "string", "description": "Slug of the project"},
                "wait": {"type": "integer", "default": 10, "description": "Seconds to wait"},
                "tier": {"type": "string", "enum": ["small", "large"]}
            },
            "required": ["project"]
        },
        "outputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "url": {"type": "string"}},
            "required": ["id", "url"]
        }
    })
}

fn changed(edit: impl Fn(&mut Value)) -> Arc<Revised> {
    let mut raw = base();
    edit(&mut raw);
    revised(raw)
}

/// Decides a call planned under the base, granted the base.
fn stale(live: &Arc<Revised>, arguments: Value) -> Decision {
    let old = revised(base());
    let candidates = [Arc::clone(&old)];
    with(&candidates, std::slice::from_ref(live), Some(&old), &arguments, |_| {})
}

fn with<'a>(
    candidates: &'a [Arc<Revised>],
    live: &'a [Arc<Revised>],
    granted: Option<&'a Arc<Revised>>,
    arguments: &'a Value,
    edit: impl Fn(&mut Facts<'a>),
) -> Decision {
    let mut facts = base_facts(candidates, live, granted, arguments);
    edit(&mut facts);
    decide(&facts, &Pairs, &Plain)
}

fn base_facts<'a>(
    candidates: &'a [Arc<Revised>],
    live: &'a [Arc<Revised>],
    granted: Option<&'a Arc<Revised>>,
    arguments: &'a Value,
) -> Facts<'a> {
    Facts {
        twice: false,
        earlier: &[],
        history: &[],
        server: "scripted",
        server_version: None,
        name: "deploy",
        arguments,
        candidates,
        grade: Grade::Session,
        live,
        granted,
        lapsed: None,
        crowded: false,
        verified: true,
        acknowledged: None,
        heir: None,
        configured_read: false,
        policy: Policy::default(),
        calls: None,
        principal: "ada",
        free_form: false,
    }
}

fn refusal(decision: &Decision) -> &Refusal {
    match decision {
        Decision::Refuse(refusal, _) | Decision::Hold(refusal, ..) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

fn forwards(decision: &Decision) -> bool {
    matches!(decision, Decision::Forward(_))
}

const ENVIRONMENT: fn(&mut Value) = |raw| {
    raw["inputSchema"]["properties"]["environment"] =
        json!({"type": "string", "enum": ["staging", "production"]});
    raw["inputSchema"]["required"] = json!(["project", "environment"]);
};

#[test]
fn the_same_revision_is_forwarded_and_the_server_judges_its_arguments() {
    assert!(forwards(&stale(&revised(base()), json!({"project": 7, "unknown": true}))));
}

#[test]
fn notation_wording_and_additions_stop_nothing() {
    for live in [
        changed(|raw| raw["title"] = json!("Deploy")),
        changed(|raw| raw["description"] = json!("Deploys a preview of a project.")),
        changed(|raw| raw["inputSchema"]["properties"]["label"] = json!({"type": "string"})),
        changed(|raw| raw["outputSchema"]["properties"]["at"] = json!({"type": "string"})),
    ] {
        assert!(forwards(&stale(&live, json!({"project": "shop"}))));
    }
}

#[test]
fn a_change_elsewhere_does_not_bear_on_the_call() {
    let live = changed(|raw| raw["inputSchema"]["properties"]["tier"]["enum"] = json!(["small"]));
    assert!(forwards(&stale(&live, json!({"project": "shop"}))));
    assert!(forwards(&stale(&live, json!({"project": "shop", "tier": "small"}))));
    let refused = stale(&live, json!({"project": "shop", "tier": "large"}));
    assert_eq!(refusal(&refused).code, Code::StaleToolSchema);
}

#[test]
fn a_new_required_argument_is_named_with_its_values_and_nothing_is_invented() {
    let decision = stale(&changed(ENVIRONMENT), json!({"project": "shop"}));
    let refusal = refusal(&decision);
    assert_eq!(refusal.code, Code::StaleToolSchema);
    assert_eq!(refusal.missing[0].0, "environment");
    assert_eq!(refusal.required_action, Action::FixArguments);
    assert_eq!(refusal.ready, None);
    assert_eq!(refusal.retry, Retry::NewDecision);
    let text = refusal.text(None);
    assert!(text.starts_with("NOT EXECUTED"), "{text}");
    assert!(text.contains("one of \"staging\", \"production\""), "{text}");
}

#[test]
fn a_repaired_call_runs_because_only_the_live_revision_could_have_produced_it() {
    let live = changed(ENVIRONMENT);
    let decision = stale(&live, json!({"project": "shop", "environment": "staging"}));
    let Decision::Forward(ground) = decision else { panic!("{decision:?}") };
    assert_eq!(ground.grade, Some("shape"));
    assert_eq!(ground.planned.as_deref(), Some(live.digest()));
}

#[test]
fn a_moved_meaning_is_refused_until_the_client_has_looked() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["project"]["description"] =
            json!("Numeric id of the project");
    });
    let call = json!({"project": "7"});
    let decision = stale(&live, call.clone());
    assert_eq!(refusal(&decision).code, Code::StaleToolSchema);
    assert_eq!(refusal(&decision).required_action, Action::RefreshTools);
    assert!(!refusal(&decision).text(None).contains("Numeric"), "the server's prose is not ours");
    // The same call again changes nothing.
    assert_eq!(decision, stale(&live, call.clone()));
    let old = revised(base());
    let one = std::slice::from_ref(&live);
    assert!(forwards(&with(one, one, Some(&old), &call, |_| {})), "re-fetched");
    let candidates = [Arc::clone(&old)];
    let known = with(&candidates, one, Some(&old), &call, |facts| {
        facts.acknowledged = Some(live.digest());
    });
    assert!(forwards(&known), "acknowledged");
}

#[test]
fn a_removed_argument_is_named_even_where_the_schema_is_open() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"].as_object_mut().map(|p| p.shift_remove("tier"));
    });
    assert!(forwards(&stale(&live, json!({"project": "shop"}))));
    let decision = stale(&live, json!({"project": "shop", "tier": "small"}));
    assert_eq!(refusal(&decision).obsolete, ["tier"]);
}

#[test]
fn what_the_answer_will_show_is_left_to_the_answer() {
    let live = changed(|raw| {
        raw["outputSchema"]["properties"].as_object_mut().map(|p| p.shift_remove("id"));
        raw["outputSchema"]["required"] = json!(["url"]);
    });
    assert!(forwards(&stale(&live, json!({"project": "shop"}))));
}

#[test]
fn a_renamed_argument_is_told_though_an_open_schema_would_take_and_ignore_it() {
    let old = changed(|raw| {
        raw["inputSchema"]["properties"]["per_page"] =
            json!({"type": "number", "description": "Results per page"});
    });
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["perPage"] =
            json!({"type": "number", "description": "Results per page"});
    });
    let candidates = [Arc::clone(&old)];
    let one = std::slice::from_ref(&live);
    let call = json!({"project": "shop", "per_page": 7});
    let decision = with(&candidates, one, Some(&old), &call, |_| {});
    assert_eq!(refusal(&decision).obsolete, ["per_page"]);
    assert_eq!(refusal(&decision).ready, Some(json!({"project": "shop", "perPage": 7})));
}

#[test]
fn recased_values_give_a_ready_call() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["tier"]["enum"] = json!(["SMALL", "LARGE"]);
    });
    let decision = stale(&live, json!({"project": "shop", "tier": "small"}));
    assert_eq!(refusal(&decision).ready, Some(json!({"project": "shop", "tier": "SMALL"})));
    assert_eq!(refusal(&decision).retry, Retry::AutoAllowed);
}

#[test]
fn a_moved_default_concerns_only_calls_that_leave_it_out() {
    let live = changed(|raw| raw["inputSchema"]["properties"]["wait"]["default"] = json!(60));
    assert!(forwards(&stale(&live, json!({"project": "shop", "wait": 10}))));
    let decision = stale(&live, json!({"project": "shop"}));
    assert_eq!(refusal(&decision).ready, Some(json!({"project": "shop", "wait": 10})));
}

#[test]
fn arguments_that_no_revision_takes_are_told_so() {
    let live = changed(|raw| raw["inputSchema"]["properties"]["label"] = json!({"type": "string"}));
    let decision = stale(&live, json!({"wait": "long"}));
    assert_eq!(refusal(&decision).code, Code::InvalidArguments);
    assert_eq!(refusal(&decision).missing[0].0, "project");
}

#[test]
fn reach_beyond_the_grant_is_a_new_decision_a_hold_or_a_refusal() {
    let live =
        changed(|raw| raw["annotations"] = json!({"readOnlyHint": false, "destructiveHint": true}));
    let mut raw = base();
    raw["annotations"] = json!({"readOnlyHint": true});
    let old = revised(raw);
    let call = json!({"project": "shop"});
    let one = std::slice::from_ref(&live);
    let candidates = [Arc::clone(&old)];
    let first = with(&candidates, one, Some(&old), &call, |_| {});
    assert!(
        matches!(refusal(&first).code, Code::AuthorityWidened | Code::StaleToolSchema),
        "{first:?}"
    );
    // Having looked is enough for a new decision, and never for a hold.
    assert!(forwards(&with(one, one, Some(&old), &call, |_| {})));
    let held = with(one, one, Some(&old), &call, |facts| facts.policy.on_wider = OnWider::Hold);
    assert!(matches!(held, Decision::Hold(..)), "{held:?}");
    let held =
        with(one, one, Some(&old), &call, |facts| facts.policy.on_wider = OnWider::HoldEffects);
    assert!(matches!(held, Decision::Hold(..)), "it may have an effect: {held:?}");
    let read = with(one, one, Some(&old), &call, |facts| {
        facts.policy.on_wider = OnWider::HoldEffects;
        facts.configured_read = true;
    });
    assert!(forwards(&read), "{read:?}");
    let refused =
        with(one, one, Some(&old), &call, |facts| facts.policy.on_wider = OnWider::Refuse);
    assert_eq!(refusal(&refused).retry, Retry::No);
}

/// Going away and coming back is no way to more reach: what came back is measured by what was granted before it went.
#[test]
fn a_value_that_was_taken_before_reaches_no_further() {
    let kind = |values: Value| {
        changed(move |raw| {
            raw["inputSchema"]["properties"]["mode"] = json!({"type": "string", "enum": values});
        })
    };
    let (old, live) = (kind(json!(["get", "update"])), kind(json!(["get", "update", "delete"])));
    let one = [Arc::clone(&live)];
    let judge = |mode: &str, candidate: &Arc<Revised>| {
        let call = json!({"project": "shop", "mode": mode});
        let candidates = [Arc::clone(candidate)];
        with(&candidates, &one, Some(&old), &call, |facts| {
            facts.policy.on_wider = OnWider::HoldEffects;
        })
    };
    assert!(forwards(&judge("update", &old)));
    assert!(matches!(judge("delete", &live), Decision::Hold(..)));
}

#[test]
fn a_name_that_came_back_is_granted_nothing_by_whoever_looked_at_it() {
    let live = changed(|raw| raw["annotations"] = json!({"destructiveHint": true}));
    let mut raw = base();
    raw["annotations"] = json!({"destructiveHint": false});
    let old = revised(raw);
    let one = std::slice::from_ref(&live);
    let call = json!({"project": "shop"});
    let back = |on_wider: OnWider| {
        with(one, one, None, &call, |facts| {
            facts.lapsed = Some(&old);
            facts.policy.on_wider = on_wider;
        })
    };
    assert_eq!(refusal(&back(OnWider::Refuse)).code, Code::AuthorityWidened);
    assert!(matches!(back(OnWider::Hold), Decision::Hold(..)));
    assert!(matches!(back(OnWider::HoldEffects), Decision::Hold(..)));
    assert!(forwards(&back(OnWider::NewDecision)), "it looked");
    let same = [Arc::clone(&old)];
    let unmoved = with(&same, &same, Some(&old), &call, |f| f.policy.on_wider = OnWider::Refuse);
    assert!(forwards(&unmoved), "what came back as it was keeps its grant");
}

#[test]
fn where_not_all_is_compared_that_a_call_may_come_from_an_effect_wants_a_fresh_look() {
    let old = revised(base());
    let one = std::slice::from_ref(&old);
    let call = json!({"project": "shop"});
    let crowded = |edit: fn(&mut Facts<'_>)| {
        with(one, one, Some(&old), &call, |facts| {
            facts.crowded = true;
            edit(facts);
        })
    };
    assert_eq!(refusal(&crowded(|_| {})).code, Code::ContractUndecided);
    assert!(forwards(&crowded(|facts| facts.configured_read = true)));
    let known = with(one, one, Some(&old), &call, |facts| {
        facts.crowded = true;
        facts.acknowledged = Some(old.digest());
    });
    assert!(forwards(&known));
}

#[test]
fn every_effect_can_wait_for_a_person_and_reads_do_not() {
    let old = revised(base());
    let one = std::slice::from_ref(&old);
    let call = json!({"project": "shop"});
    let held = with(one, one, Some(&old), &call, |facts| facts.policy.hold_effects = true);
    assert!(matches!(held, Decision::Hold(..)), "{held:?}");
    assert_eq!(refusal(&held).code, Code::ApprovalRequired);
    let read = with(one, one, Some(&old), &call, |facts| {
        facts.policy.hold_effects = true;
        facts.configured_read = true;
    });
    assert!(forwards(&read));
    // What cannot run at all is refused, not held.
    let gone = with(one, &[], Some(&old), &call, |facts| facts.policy.hold_effects = true);
    assert_eq!(refusal(&gone).code, Code::ToolRemoved);
}

#[test]
fn where_one_of_several_revisions_needs_a_person_all_do() {
    let open =
        changed(|raw| raw["annotations"] = json!({"readOnlyHint": false, "destructiveHint": true}));
    let mut raw = base();
    raw["annotations"] = json!({"readOnlyHint": false, "destructiveHint": false});
    let old = revised(raw);
    let live = [Arc::clone(&old), Arc::clone(&open)];
    let call = json!({"project": "shop"});
    let decision = with(&live, &live, Some(&old), &call, |f| f.policy.on_wider = OnWider::Hold);
    assert!(matches!(decision, Decision::Hold(..) | Decision::Refuse(..)), "{decision:?}");
}

#[test]
fn an_unverified_contract_lets_reads_go_on_and_stops_effects() {
    let old = revised(base());
    let one = std::slice::from_ref(&old);
    let call = json!({"project": "shop"});
    let decision = with(one, one, Some(&old), &call, |facts| facts.verified = false);
    assert_eq!(refusal(&decision).code, Code::ContractUnverified);
    let read = with(one, one, Some(&old), &call, |facts| {
        facts.verified = false;
        facts.configured_read = true;
    });
    assert!(forwards(&read));
}

#[test]
fn what_cannot_be_read_is_not_gone() {
    let old = revised(base());
    let decision = with(std::slice::from_ref(&old), &[], Some(&old), &json!({}), |facts| {
        facts.verified = false
    });
    assert_eq!(refusal(&decision).code, Code::ContractUnverified);
}

#[test]
fn with_nothing_known_of_the_plan_only_arguments_that_fit_go_on() {
    let live = revised(base());
    let one = std::slice::from_ref(&live);
    assert!(forwards(&with(&[], one, Some(&live), &json!({"project": "shop"}), |_| {})));
    let decision = with(&[], one, Some(&live), &json!({"slug": "shop"}), |_| {});
    assert_eq!(refusal(&decision).code, Code::InvalidArguments);
}

#[test]
fn a_new_argument_that_may_widen_the_deed_is_not_taken_for_harmless() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["force"] = json!({"type": "boolean"});
    });
    let old = revised(base());
    let one = std::slice::from_ref(&live);
    let call = json!({"project": "shop", "force": true});
    let decision =
        with(one, one, Some(&old), &call, |facts| facts.policy.on_wider = OnWider::Refuse);
    assert!(matches!(refusal(&decision).code, Code::ContractUndecided | Code::AuthorityWidened));
    let without = json!({"project": "shop"});
    assert!(forwards(
        &with(one, one, Some(&old), &without, |facts| facts.policy.on_wider = OnWider::Refuse)
    ));
}

#[test]
fn a_tool_that_is_gone_names_its_heir_and_never_follows_it() {
    let old = revised(base());
    let decision = with(&[Arc::clone(&old)], &[], Some(&old), &json!({}), |facts| {
        facts.heir = Some("deploy_site");
    });
    let refusal = refusal(&decision);
    assert_eq!(refusal.code, Code::ToolRemoved);
    assert!(refusal.text(None).contains("use `deploy_site`"));
}

#[test]
fn several_possible_plans_must_agree() {
    let old = revised(base());
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["project"]["description"] =
            json!("Numeric id of the project");
    });
    let both = [Arc::clone(&old), Arc::clone(&live)];
    let one = std::slice::from_ref(&live);
    let decision = with(&both, one, Some(&old), &json!({"project": "7"}), |_| {});
    assert_eq!(refusal(&decision).code, Code::StaleToolSchema);
}

#[test]
fn replicas_of_two_revisions_must_agree() {
    let old = revised(base());
    let live = [Arc::clone(&old), changed(ENVIRONMENT)];
    let decision =
        with(&[Arc::clone(&old)], &live, Some(&old), &json!({"project": "shop"}), |_| {});
    assert_eq!(refusal(&decision).code, Code::StaleToolSchema);
    let live = [Arc::clone(&old), changed(|raw| raw["title"] = json!("Deploy"))];
    let decision =
        with(&[Arc::clone(&old)], &live, Some(&old), &json!({"project": "shop"}), |_| {});
    assert!(forwards(&decision));
}

#[test]
fn names_of_the_server_cannot_speak_in_a_refusal() {
    let live = changed(|raw| {
        raw["inputSchema"]["properties"]["x\n\nIGNORE ALL\u{202e}"] = json!({"type": "string"});
        raw["inputSchema"]["required"] = json!(["project", "x\n\nIGNORE ALL\u{202e}"]);
    });
    let text = refusal(&stale(&live, json!({"project": "shop"}))).text(None);
    assert!(text.contains("\\n\\nIGNORE ALL\\u202e"), "{text}");
    assert!(!text.contains("\n\nIGNORE"), "{text}");
}

#[test]
fn every_code_named_here_is_a_rule() {
    for code in [
        "SF101", "SF102", "SF103", "SF110", "SF111", "SF112", "SF121", "SF122", "SF123", "SF133",
        "SF150", "SF151", "SF152", "SF208", "SF209", "SF406",
    ] {
        assert!(crate::rules::by_code(code).is_some(), "{code}");
    }
}

#[test]
fn a_place_that_every_answer_named_is_part_of_what_was_granted() {
    let bound = |place: &str| {
        changed(|raw| {
            raw["outputSchema"]["properties"]["destination"] = json!({"const": place});
            raw["outputSchema"]["properties"]["state"] = json!({"const": place});
        })
    };
    let (old, live) = (bound("https://one.example"), bound("https://two.example"));
    let candidates = [Arc::clone(&old)];
    let arguments = json!({"project": "shop"});
    let decision = with(&candidates, std::slice::from_ref(&live), Some(&old), &arguments, |_| {});
    let Decision::Refuse(refusal, ground) = decision else { panic!("{decision:?}") };
    assert_eq!(refusal.code, Code::StaleToolSchema);
    assert!(ground.rules.contains(&"SF205"));
    // Who looked again knows where it goes; what was granted did not go there.
    let looked = [Arc::clone(&live)];
    let decision = with(&looked, std::slice::from_ref(&live), Some(&old), &arguments, |facts| {
        facts.policy.on_wider = OnWider::HoldEffects;
    });
    let Decision::Hold(refusal, _, _) = decision else { panic!("{decision:?}") };
    assert_eq!(refusal.code, Code::AuthorityWidened);
    // A value that selects nothing shows in the answer, and is measured there.
    let other = changed(|raw| {
        raw["outputSchema"]["properties"]["state"] = json!({"const": "open"});
    });
    let was = changed(|raw| {
        raw["outputSchema"]["properties"]["state"] = json!({"const": "done"});
    });
    let candidates = [Arc::clone(&was)];
    let decision = with(&candidates, std::slice::from_ref(&other), Some(&was), &arguments, |_| {});
    assert!(matches!(decision, Decision::Forward(_)), "{decision:?}");
}

#[test]
fn a_rule_of_the_operator_decides_about_what_the_contract_lets_run() {
    let calls =
        |text: &str| crate::policy::Settings::read("s.toml", text).unwrap().policy.calls.unwrap();
    let live = [revised(base())];
    let arguments = json!({"project": "shop"});
    let by = |calls: &crate::policy::Calls, edit: fn(&mut Facts<'_>)| {
        let facts = |facts: &mut Facts<'_>| edit(facts);
        let old = revised(base());
        let candidates = [Arc::clone(&old)];
        let mut given =
            Facts { calls: Some(calls), ..base_facts(&candidates, &live, Some(&old), &arguments) };
        facts(&mut given);
        decide(&given, &Pairs, &Plain)
    };
    let deny = calls("[policy]\ncalls = []\n");
    assert_eq!(refusal(&by(&deny, |_| {})).code, Code::PolicyDenied);
    let ask = calls("[[policy.calls]]\ntools = [\"deploy\"]\nsay = \"ask\"\n");
    let held = by(&ask, |_| {});
    assert!(matches!(held, Decision::Hold(..)), "{held:?}");
    assert_eq!(refusal(&held).code, Code::ApprovalRequired);
    // Without hints a server does not rule out that it destroys.
    let reads = calls("[[policy.calls]]\neffects = [\"read\", \"write\"]\nsay = \"allow\"\n");
    assert_eq!(refusal(&by(&reads, |_| {})).code, Code::PolicyDenied);
    assert!(forwards(&by(&reads, |facts| facts.configured_read = true)));
    let others = calls("[[policy.calls]]\nprincipals = [\"bob\"]\nsay = \"allow\"\n");
    assert_eq!(refusal(&by(&others, |_| {})).code, Code::PolicyDenied);
    assert!(forwards(&by(&others, |facts| facts.principal = "bob")));
    // What the contract stops stays stopped, and what waits for a person waits.
    let all = calls("[[policy.calls]]\nsay = \"allow\"\n");
    assert!(matches!(by(&all, |facts| facts.policy.hold_effects = true), Decision::Hold(..)));
    assert_eq!(refusal(&by(&all, |facts| facts.verified = false)).code, Code::ContractUnverified);
}
