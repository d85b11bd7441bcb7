//! What no adapter may do, whatever can be proved; what a call-time answer depends on; what survives a conversion.

use crate::adapters::adapter;
use contract::adapter::{
    Adapter, Adapters, Anew, Context, Grade, Outcome, Pin, Proof, Refutation, Results, Verdict,
    pin_default,
};
use contract::lexicon::Lexicon;
use contract::policy::Day;
use contract::{Tool, ToolList};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn tool(name: &str, input: Value) -> Tool {
    let raw = json!({"name": name, "description": "Does it.", "inputSchema": input});
    Tool { name: name.to_owned(), raw, ordinal: None }
}

/// Arguments of strings; a name with `!` is required.
fn strings(names: &str) -> Value {
    let mut properties = json!({});
    let mut required = Vec::new();
    for name in names.split_whitespace() {
        let bare = name.trim_end_matches('!');
        properties[bare] = json!({"type": "string"});
        if name.ends_with('!') {
            required.push(bare);
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn check(old: Value, new: Value, steps: &str) -> Result<Proof, Vec<Refutation>> {
    let adapter = adapter("t", "t", &format!("step = [{steps}]"));
    adapter.check(&tool("t", old), &tool("t", new), &Lexicon::default())
}

/// The sentence of the one refusal.
fn refused(old: Value, new: Value, steps: &str) -> String {
    match check(old, new, steps) {
        Ok(_) => panic!("proved: {steps}"),
        Err(why) => {
            let refused: Vec<&Refutation> =
                why.iter().filter(|no| no.verdict == Verdict::Refused).collect();
            assert_eq!(refused.len(), 1, "{steps}: {why:#?}");
            assert!(
                !refused[0].help.is_empty() && refused[0].place.starts_with("a.toml:"),
                "{why:?}"
            );
            format!("{} {}", refused[0].sentence, refused[0].help)
        }
    }
}

#[test]
fn a_guard_is_never_filled_in() {
    for (old, new, steps) in [
        (
            "a",
            "a confirm!",
            r#"{ constant = { at = "/confirm", value = "yes", historical = true, reason = "r", while = { account = "x" } } }"#,
        ),
        ("a", "a force!", r#"{ constant = { at = "/force", value = "yes" } }"#),
        ("a", "a options", r#"{ constant = { at = "/options", value = { dry_run = "no" } } }"#),
        ("note!", "confirm!", r#"{ rename = { from = "/note", to = "/confirm" } }"#),
    ] {
        let told = refused(strings(old), strings(new), steps);
        assert!(told.contains("fill in") && told.contains("holds a call back"), "{told}");
    }
    let told = refused(
        strings("note!"),
        json!({"type": "object", "properties": {"note": strings("confirm")}}),
        r#"{ wrap = { at = "/note", into = "object", key = "confirm" } }"#,
    );
    assert!(told.contains("would fill in /note/confirm"), "{told}");
    let told = refused(
        json!({"type": "object", "properties": {"a": {}, "force": {"type": "boolean", "default": false}}}),
        strings("a force"),
        r#"{ default = { at = "/force", value = false } }"#,
    );
    assert!(told.contains("not for an adapter to say"), "{told}");
    let told = refused(
        strings("confirm"),
        json!({"type": "object", "properties": {"confirm": {"enum": ["true"]}}}),
        r#"{ map = { at = "/confirm", values = { yes = "true" } } }"#,
    );
    assert!(told.contains("an answer that the caller did not give"), "{told}");
}

#[test]
fn a_guard_stays_a_guard() {
    let told = refused(
        strings("confirm!"),
        strings("note!"),
        r#"{ rename = { from = "/confirm", to = "/note" } }"#,
    );
    assert!(told.contains("holds a call back"), "{told}");
    let told = refused(
        strings("dry_run!"),
        strings("confirm!"),
        r#"{ rename = { from = "/dry_run", to = "/confirm" } }"#,
    );
    assert!(told.contains("fill in"), "{told}");
    check(
        strings("confirm!"),
        strings("confirmed!"),
        r#"{ rename = { from = "/confirm", to = "/confirmed" } }"#,
    )
    .unwrap();
    for only in ["", r#", only_if = "no""#] {
        let step = format!(r#"{{ drop = {{ at = "/dry_run", reason = "gone"{only} }} }}"#);
        let told = refused(strings("a dry_run"), strings("a"), &step);
        assert!(told.contains("would be left out"), "{told}");
    }
}

#[test]
fn a_target_is_never_invented() {
    let constant =
        |more: &str| format!(r#"{{ constant = {{ at = "/region", value = "eu-west-1"{more} }} }}"#);
    let (old, new) = (|| strings("a"), || strings("a region!"));
    for (more, missing) in [
        ("", "historical = true"),
        (r#", historical = true, while = { account = "acme" }"#, "a reason"),
        (r#", historical = true, reason = "the only one""#, "the condition"),
        (r#", reason = "the only one", while = { account = "acme" }"#, "historical = true"),
    ] {
        let told = refused(old(), new(), &constant(more));
        assert!(told.contains(missing), "{more}: {told}");
    }
    let declared = r#", historical = true, reason = "the only one", while = { account = "acme" }"#;
    let proof = check(old(), new(), &constant(declared)).unwrap();
    assert_eq!(
        proof.notes,
        ["sends \"eu-west-1\" at /region while account is \"acme\" (the only one)"]
    );
    let told = refused(
        old(),
        strings("a x"),
        r#"{ constant = { at = "/x", value = { project = "p" } } }"#,
    );
    assert!(told.contains("/x/project"), "{told}");
}

#[test]
fn what_was_told_apart_stays_apart() {
    let listed = |values: Value| json!({"type": "object", "properties": {"region": {"enum": values}}, "required": ["region"]});
    let map = |pairs: &str| format!(r#"{{ map = {{ at = "/region", values = {{ {pairs} }} }} }}"#);
    let told =
        refused(listed(json!(["a", "b"])), listed(json!(["x"])), &map(r#"a = "x", b = "x""#));
    assert!(told.contains("both"), "{told}");
    // What is not mapped stays, and may meet a mapped value.
    let told = refused(listed(json!(["a", "x"])), listed(json!(["x"])), &map(r#"a = "x""#));
    assert!(told.contains("\"x\" and \"a\""), "{told}");
    let told = refused(strings("region!"), strings("region!"), &map(r#"a = "x""#));
    assert!(told.contains("would become"), "{told}");
    check(listed(json!(["a", "b"])), listed(json!(["x", "y"])), &map(r#"a = "x", b = "y""#))
        .unwrap();
    check(listed(json!(["a", "b"])), listed(json!(["b", "a"])), &map(r#"a = "b", b = "a""#))
        .unwrap();
    // Where nothing is selected, values may be joined.
    let plain = |values: Value| json!({"type": "object", "properties": {"mood": {"enum": values}}});
    let step = r#"{ map = { at = "/mood", values = { a = "x", b = "x" } } }"#;
    check(plain(json!(["a", "b"])), plain(json!(["x"])), step).unwrap();
}

#[test]
fn what_a_call_says_is_not_left_out_in_silence() {
    for (field, part) in
        [("region", "what is acted on"), ("account_id", "who acts"), ("command", "what is run")]
    {
        let step = format!(r#"{{ drop = {{ at = "/{field}", reason = "gone" }} }}"#);
        let told = refused(strings(&format!("a {field}")), strings("a"), &step);
        assert!(told.contains(part), "{told}");
    }
    let nested = json!({"type": "object", "properties": {"options": {"type": "object", "properties": {"project": {"type": "string"}}}}});
    let told = refused(nested, strings("a"), r#"{ drop = { at = "/options", reason = "gone" } }"#);
    assert!(told.contains("project inside /options"), "{told}");
    let told = refused(strings("a mood"), strings("a"), r#"{ drop = { at = "/mood" } }"#);
    assert!(told.contains("without a reason"), "{told}");
    let told = refused(
        strings("a recursive"),
        strings("a"),
        r#"{ drop = { at = "/recursive", reason = "gone" } }"#,
    );
    assert!(told.contains("only_if"), "{told}");
    check(strings("a mood"), strings("a"), r#"{ drop = { at = "/mood", reason = "never read" } }"#)
        .unwrap();
    let flag = json!({"type": "object", "properties": {"recursive": {"enum": [false]}}});
    let closed = json!({"type": "object", "properties": {}, "additionalProperties": false});
    check(flag, closed, r#"{ drop = { at = "/recursive", only_if = false } }"#).unwrap();
}

#[test]
fn nothing_is_overwritten() {
    let told =
        check(strings("a b"), strings("a b"), r#"{ constant = { at = "/b", value = "x" } }"#)
            .unwrap_err();
    assert_eq!(told[0].verdict, Verdict::Refuted);
    assert!(told[0].sentence.contains("nothing is overwritten"), "{}", told[0].sentence);
    assert_eq!(told[0].counterexample.as_ref().unwrap().value, json!({"b": ""}));
    let told = check(strings("a b"), strings("b"), r#"{ rename = { from = "/a", to = "/b" } }"#)
        .unwrap_err();
    assert!(told[0].sentence.contains("cannot be converted"), "{}", told[0].sentence);
    let told = refused(
        strings("a b"),
        strings("a b"),
        r#"{ drop = { at = "/b", reason = "r" } }, { constant = { at = "/b", value = "x" } }"#,
    );
    assert!(told.contains("overwrites"), "{told}");
}

#[test]
fn nothing_is_put_where_nobody_reads_it() {
    let told =
        refused(strings("a"), strings("limit"), r#"{ rename = { from = "/a", to = "/limt" } }"#);
    assert!(told.contains("declares nothing at /limt"), "{told}");
    let told = refused(strings("a"), strings("a"), r#"{ constant = { at = "/b", value = 1 } }"#);
    assert!(told.contains("declares nothing at /b"), "{told}");
    // What goes on from there is looked for where it ends.
    let on = r#"{ rename = { from = "/a", to = "/x" } }, { rename = { from = "/x", to = "/b" } }"#;
    check(strings("a"), strings("b"), on).unwrap();
    let gone = r#"{ rename = { from = "/a", to = "/x" } }, { drop = { at = "/x", reason = "never read" } }"#;
    check(strings("a"), strings("b"), gone).unwrap();
}

#[test]
fn an_effect_is_not_switched_on() {
    let new = json!({"type": "object", "properties": {"a": {"type": "string"}, "recursive": {"type": "boolean"}}, "required": ["recursive"]});
    let send = |more: &str| format!("{{ constant = {{ at = \"/recursive\", value = {more} }} }}");
    let told = refused(strings("a"), new.clone(), &send("true"));
    assert!(told.contains("widens what the call does"), "{told}");
    let flag = |kind: &str| json!({"type": "object", "properties": {"recursive": {"type": kind}}});
    let map = |more: &str| {
        format!(
            r#"{{ map = {{ at = "/recursive", values = [{{ from = "no", to = true }}]{more} }} }}"#
        )
    };
    let told = refused(flag("string"), flag("boolean"), &map(""));
    assert!(told.contains("switch /recursive on"), "{told}");
    check(strings("a"), new.clone(), &send("false")).unwrap();
    check(strings("a"), new, &send("true, historical = true, reason = \"it always was\"")).unwrap();
}

const TODAY: Day = Day { year: 2026, month: 12, day: 1 };

fn context(conditions: &BTreeMap<String, String>) -> Context<'_> {
    Context {
        today: TODAY,
        server_version: Some("1.4.0"),
        session_started_before_change: true,
        conditions,
        evidence: Grade::Session,
    }
}

fn declared(end: &str, steps: &str) -> Adapter {
    let text = format!("[[adapter]]\nid = \"a\"\ntool = \"t\"\n{end}\nstep = [{steps}]\n");
    Adapters::read("a.toml", &text).unwrap().adapters.remove(0)
}

#[test]
fn an_adapter_ends() {
    let none = BTreeMap::new();
    let call = json!({"a": 1});
    let rename = r#"{ rename = { from = "/a", to = "/b" } }"#;
    let outcome = |end: &str, context: &Context<'_>| declared(end, rename).apply(&call, context);
    let now = context(&none);
    assert!(matches!(outcome("until = 2026-12-01", &now), Outcome::Applied(_)));
    assert!(matches!(outcome("until = \"2026-12-01\"", &now), Outcome::Applied(_)));
    assert!(matches!(outcome("until = 2026-11-30", &now), Outcome::Ended(_)));
    assert!(matches!(outcome("until_version = \"1.5\"", &now), Outcome::Applied(_)));
    assert!(matches!(outcome("until_version = \"1.4\"", &now), Outcome::Ended(_)));
    let odd = Context { server_version: Some("nightly"), ..now.clone() };
    assert!(matches!(outcome("until_version = \"1.5\"", &odd), Outcome::Suspended(_)));
    let silent = Context { server_version: None, ..now.clone() };
    assert!(matches!(outcome("until_version = \"1.5\"", &silent), Outcome::Suspended(_)));
    assert!(matches!(outcome("until = \"old-sessions-end\"", &now), Outcome::Applied(_)));
    let fresh = Context { session_started_before_change: false, ..now.clone() };
    assert!(matches!(outcome("until = \"old-sessions-end\"", &fresh), Outcome::Ended(_)));
    // The first end that is reached counts.
    let both = "until = 2026-11-30\nuntil_version = \"1.5\"";
    assert!(matches!(outcome(both, &now), Outcome::Ended(_)));
}

#[test]
fn a_historical_value_holds_while_its_condition_does() {
    let adapter = declared(
        "until = 2027-03-01",
        r#"{ constant = { at = "/region", value = "eu", historical = true, reason = "r", while = { account = "acme" } } }"#,
    );
    let known = |account: &str| BTreeMap::from([("account".to_owned(), account.to_owned())]);
    let call = json!({"a": 1});
    match adapter.apply(&call, &context(&known("acme"))) {
        Outcome::Applied(applied) => {
            assert_eq!(applied.arguments, json!({"a": 1, "region": "eu"}));
            assert_eq!(applied.sent, ["/region"]);
        }
        other => panic!("{other:?}"),
    }
    for (conditions, part) in
        [(known("globex"), "it is \"globex\" now"), (BTreeMap::new(), "cannot be checked")]
    {
        match adapter.apply(&call, &context(&conditions)) {
            Outcome::Suspended(why) => assert!(why.contains(part), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    let acme = known("acme");
    for evidence in [Grade::Principal, Grade::Shape, Grade::None] {
        let weak = Context { evidence, ..context(&acme) };
        assert!(matches!(adapter.apply(&call, &weak), Outcome::Suspended(_)), "{evidence:?}");
    }
    let taken = json!({"region": "us"});
    assert!(matches!(adapter.apply(&taken, &context(&acme)), Outcome::NotForThis(_)));
}

#[test]
fn what_no_step_touches_stays_as_it_was() {
    let adapter = declared(
        "until = 2027-03-01",
        r#"{ rename = { from = "/limit", to = "/size" } }, { move = { from = "/deep/x", to = "/flat" } }, { default = { at = "/kind", value = "k" } }"#,
    );
    let call: Value = serde_json::from_str(
        r#"{"z":1.50,"limit":12345678901234567890123,"deep":{"y":100.0,"x":[1.0]},"a":-0.0}"#,
    )
    .unwrap();
    let none = BTreeMap::new();
    match adapter.apply(&call, &Context { evidence: Grade::Declared, ..context(&none) }) {
        Outcome::Applied(applied) => assert_eq!(
            applied.arguments.to_string(),
            r#"{"z":1.50,"size":12345678901234567890123,"deep":{"y":100.0},"a":-0.0,"flat":[1.0],"kind":"k"}"#
        ),
        other => panic!("{other:?}"),
    }
    // A default that the caller gave itself is not sent, so weak evidence is enough.
    let none_sent = json!({"kind": "own"});
    let weak = Context { evidence: Grade::None, ..context(&none) };
    assert!(
        matches!(adapter.apply(&none_sent, &weak), Outcome::Applied(found) if found.sent.is_empty())
    );
}

#[test]
fn answers_are_restored_with_a_proof_of_their_own() {
    let with_output = |output: Value| {
        let mut tool = tool("t", strings("a"));
        tool.raw["outputSchema"] = output;
        tool
    };
    let old = with_output(
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false}),
    );
    let new = with_output(
        json!({"type": "object", "properties": {"issue": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}, "required": ["issue"]}),
    );
    let restoring = adapter(
        "t",
        "t",
        "step = []\nresult = [{ move = { from = \"/issue/id\", to = \"/id\" } }]",
    );
    let lexicon = Lexicon::default();
    assert_eq!(restoring.check(&old, &new, &lexicon).unwrap().results, Results::Fits);
    let answer = json!({"issue": {"id": "7", "title": "x"}});
    assert_eq!(restoring.restore(&answer).unwrap(), json!({"issue": {"title": "x"}, "id": "7"}));

    let optional = with_output(
        json!({"type": "object", "properties": {"issue": {"type": "object", "properties": {"id": {"type": "string"}}}}}),
    );
    let why = restoring.check(&old, &optional, &lexicon).unwrap_err();
    assert!(why[0].sentence.contains("The new tool may answer this"), "{why:?}");
    let plain = adapter("t", "t", "step = [{ map = { at = \"/a\", values = { x = \"x\" } } }]");
    assert!(matches!(plain.check(&old, &new, &lexicon).unwrap().results, Results::Unproved(_)));
    assert!(restoring.check(&tool("t", strings("a")), &new, &lexicon).is_err());
}

#[test]
fn what_moved_beside_an_adapter_is_told() {
    let schema = |default: &str, name: &str| {
        json!({"type": "object", "properties": {
            name: {"type": "string", "description": "What to look for."},
            "sort": {"type": "string", "default": default, "description": "The order."}}})
    };
    let adapter = adapter("t", "t", "step = [{ rename = { from = \"/q\", to = \"/query\" } }]");
    let check = |default: &str| {
        let (old, new) = (tool("t", schema("new", "q")), tool("t", schema(default, "query")));
        adapter.check(&old, &new, &Lexicon::default()).unwrap()
    };
    assert_eq!(check("new").remaining, []);
    let moved = check("old").remaining;
    assert_eq!(moved.iter().map(|change| change.rule).collect::<Vec<_>>(), ["SF150"]);
}

#[test]
fn adapters_lead_over_several_revisions() {
    let file = Adapters::read(
        "a.toml",
        r#"
[[adapter]]
id = "one"
tool = "t"
until = 2027-03-01
step = [{ rename = { from = "/a", to = "/b" } }]
[[adapter]]
id = "two"
tool = "t"
until = 2027-03-01
step = [{ wrap = { at = "/b", into = "array" } }]
"#,
    )
    .unwrap();
    let list = json!({"type": "object", "properties": {"b": {"type": "array", "items": {"type": "string"}}, "new": {"type": "string"}}, "required": ["b"]});
    let revisions = [
        tool("t", strings("a!")),
        tool("t", strings("b!")),
        tool("t", strings("b! new")),
        tool("t", list),
    ];
    let tools: Vec<&Tool> = revisions.iter().collect();
    let lexicon = Lexicon::default();
    let chain = file.chain(None, &tools, &Anew(&lexicon)).unwrap();
    assert_eq!(chain.ids(), ["one", "two"]);
    let none = BTreeMap::new();
    match chain.apply(&json!({"a": "x"}), &context(&none)) {
        Outcome::Applied(applied) => assert_eq!(applied.arguments, json!({"b": ["x"]})),
        other => panic!("{other:?}"),
    }
    let gap = [tools[0], tools[3]];
    let why = file.chain(None, &gap, &Anew(&lexicon)).unwrap_err();
    assert!(why.iter().any(|no| no.verdict == Verdict::Refuted), "{why:?}");
    let unlike = tool("t", strings("c!"));
    let why = file.chain(None, &[tools[0], tools[1], &unlike], &Anew(&lexicon)).unwrap_err();
    assert!(why[0].sentence.contains("required property"), "{why:?}");
}

#[test]
fn a_step_that_finds_nothing_is_for_another_revision() {
    let rename = |from: &str| format!(r#"{{ rename = {{ from = "{from}", to = "/z" }} }}"#);
    let why = check(strings("a"), strings("a z"), &rename("/limt")).unwrap_err();
    assert_eq!(why[0].verdict, Verdict::NotForThis);
    assert!(why[0].sentence.contains("no argument at /limt"), "{why:?}");
    let nested = |inner: Value| json!({"type": "object", "properties": {"o": inner}});
    let deep = r#"{ drop = { at = "/o/x", reason = "never read" } }"#;
    let object = json!({"type": "object"});
    check(nested(object.clone()), nested(object), deep).unwrap();
    let closed = json!({"type": "object", "properties": {"k": {}}});
    assert_eq!(
        check(nested(closed.clone()), nested(closed), deep).unwrap_err()[0].verdict,
        Verdict::NotForThis
    );
}

#[test]
fn two_adapters_for_one_revision_are_an_error() {
    let one = "[[adapter]]\nid = \"ID\"\ntool = \"t\"\nuntil = 2027-03-01\nstep = [{ rename = { from = \"/a\", to = \"/b\" } }]\n";
    let text = one.replace("ID", "one") + &one.replace("ID", "two");
    let file = Adapters::read("a.toml", &text).unwrap();
    let (old, new) = (tool("t", strings("a!")), tool("t", strings("b!")));
    let lexicon = Lexicon::default();
    let why = file.choose(None, &old, &new, &Anew(&lexicon)).unwrap_err();
    assert!(why[0].sentence.contains("both convert"), "{why:?}");
    let list = |tool: &Tool| ToolList { tools: vec![tool.clone()], ..ToolList::default() };
    let checked = file.check(None, &list(&old), &list(&new), &lexicon);
    assert_eq!(
        checked.iter().map(|one| one.verdict()).collect::<Vec<_>>(),
        [None, Some(Verdict::Refused)]
    );
    // The same with a revision each: the file itself is wrong.
    let digest = contract::digest::of_tool(&old.raw);
    let pinned = text.replace("until", &format!("from = \"{digest}\"\nuntil"));
    assert!(
        Adapters::read("a.toml", &pinned).unwrap_err()[0].sentence.contains("the same revision")
    );
}

#[test]
fn planned_defaults_are_kept_where_nothing_is_chosen() {
    let field = |name: &str, default: Value, values: Value| json!({"type": "object", "properties": {name: {"enum": values, "default": default, "description": "What it is."}}});
    let all = || json!(["a", "b", true, false, 5, 10]);
    let pin = |name: &str, old: Value, new: Value, values: Value, call: Value| {
        let (old, new) = (tool("t", field(name, old, all())), tool("t", field(name, new, values)));
        pin_default(&old, &new, &call, &Lexicon::default())
    };
    let empty = || json!({});
    match pin("max_results", json!(10), json!(5), all(), empty()) {
        Pin::Pinned(found) => {
            assert_eq!(found.arguments, json!({"max_results": 10}));
            assert_eq!(found.pinned, [("/max_results".to_owned(), json!(10))]);
        }
        Pin::No(why) => panic!("{why}"),
    }
    let untouched = |pin: Pin| matches!(pin, Pin::Pinned(found) if found.pinned.is_empty());
    assert!(untouched(pin("max_results", json!(10), json!(10.0), all(), empty())));
    assert!(untouched(pin("max_results", json!(10), json!(5), all(), json!({"max_results": 1}))));
    assert!(untouched(pin("verbose", json!(false), json!(null), all(), empty())));
    for (name, old, new, values, part) in [
        ("region", json!("a"), json!("b"), all(), "selects what is acted on"),
        ("profile", json!("a"), json!("b"), all(), "selects what is acted on"),
        ("dry_run", json!(true), json!(false), all(), "only the caller"),
        ("recursive", json!(true), json!(false), all(), "widens"),
        ("sort", json!("a"), json!("b"), json!(["b"]), "does not take"),
    ] {
        match pin(name, old, new, values, empty()) {
            Pin::No(why) => assert!(why.contains(part), "{name}: {why}"),
            Pin::Pinned(found) => panic!("{name}: {found:?}"),
        }
    }
}
