//! Adapters where a call meets them: as admission asks, and as a file is read.

use contract::Tool;
use contract::adapter::{Adapters, Anew, AtCall, Context, Grade};
use contract::admission::{Adapt, Adapted, With};
use contract::lexicon::Lexicon;
use contract::policy::Day;
use contract::revised::Revised;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn revision(properties: Value, required: Value) -> Arc<Revised> {
    let raw = json!({"name": "t", "description": "Looks things up.",
        "inputSchema": {"type": "object", "properties": properties, "required": required}});
    Arc::new(Revised::new(Tool { name: "t".to_owned(), raw, ordinal: None }))
}

struct Asked {
    until: &'static str,
    history: Vec<Arc<Revised>>,
    effect: bool,
    pin_effects: bool,
}

const PLAIN: Asked =
    Asked { until: "2027-03-01", history: Vec::new(), effect: false, pin_effects: false };

impl Asked {
    fn adapt(
        &self,
        old: &Arc<Revised>,
        new: &Arc<Revised>,
        call: Value,
    ) -> Result<Option<Adapted>, String> {
        let text = r#"
[[adapter]]
id = "query"
tool = "t"
until = "UNTIL"
step = [{ rename = { from = "/q", to = "/query" } }]
[[adapter]]
id = "size"
tool = "t"
until = "UNTIL"
step = [{ rename = { from = "/limit", to = "/page_size" } }]
"#;
        let adapters = Adapters::read("a.toml", &text.replace("UNTIL", self.until)).unwrap();
        let (lexicon, none) = (Lexicon::default(), BTreeMap::new());
        let context = Context {
            today: Day { year: 2026, month: 12, day: 1 },
            server_version: None,
            session_started_before_change: true,
            conditions: &none,
            evidence: Grade::None,
        };
        let at_call = AtCall {
            adapters: &adapters,
            server: Some("s"),
            lexicon: &lexicon,
            proofs: &Anew(&lexicon),
            context: &context,
            history: &self.history,
        };
        let with = With {
            history: &[],
            server: "s",
            server_version: None,
            grade: Grade::Session,
            effect: self.effect,
            pin_effects: self.pin_effects,
        };
        at_call.adapt(old, new, &call, with)
    }
}

fn text() -> Value {
    json!({"type": "string", "description": "What to look for."})
}

fn sort(default: &str) -> Value {
    json!({"enum": ["new", "old"], "default": default, "description": "The order."})
}

#[test]
fn a_call_is_converted_by_the_adapter_that_is_proved() {
    let old = revision(json!({"q": text()}), json!(["q"]));
    let new = revision(json!({"query": text()}), json!(["query"]));
    let adapted = PLAIN.adapt(&old, &new, json!({"q": "x"})).unwrap().unwrap();
    assert_eq!((adapted.arguments, adapted.by), (json!({"query": "x"}), vec!["query".to_owned()]));
    // The other way round nothing is declared.
    assert_eq!(PLAIN.adapt(&new, &old, json!({"query": "x"})), Ok(None));
    let over = Asked { until: "2026-11-30", ..PLAIN };
    let why = over.adapt(&old, &new, json!({"q": "x"})).unwrap_err();
    assert!(why.contains("has ended"), "{why}");
    let taken = PLAIN.adapt(&old, &new, json!({"q": "x", "query": "y"})).unwrap_err();
    assert!(taken.contains("no answer for this call"), "{taken}");
}

#[test]
fn a_meaning_that_moved_beside_the_adapter_stops_calls_that_it_bears_on() {
    let old = revision(json!({"q": text(), "sort": sort("new")}), json!(["q"]));
    let new = revision(json!({"query": text(), "sort": sort("old")}), json!(["query"]));
    let why = PLAIN.adapt(&old, &new, json!({"q": "x"})).unwrap_err();
    assert!(why.contains("\"sort\" may mean something else now (SF150)"), "{why}");
    let said = PLAIN.adapt(&old, &new, json!({"q": "x", "sort": "new"})).unwrap();
    assert_eq!(said.unwrap().arguments, json!({"query": "x", "sort": "new"}));
}

#[test]
fn a_planned_default_is_kept_and_counted() {
    let old = revision(json!({"x": text(), "sort": sort("new")}), json!(["x"]));
    let new = revision(json!({"x": text(), "sort": sort("old")}), json!(["x"]));
    let pinned = PLAIN.adapt(&old, &new, json!({"x": "a"})).unwrap().unwrap();
    assert_eq!(pinned.arguments, json!({"x": "a", "sort": "new"}));
    assert_eq!(pinned.by, ["default:/sort"]);
    let effect = Asked { effect: true, ..PLAIN };
    assert_eq!(effect.adapt(&old, &new, json!({"x": "a"})), Ok(None));
    let opted = Asked { effect: true, pin_effects: true, ..PLAIN };
    assert!(opted.adapt(&old, &new, json!({"x": "a"})).unwrap().is_some());
}

#[test]
fn a_call_goes_over_kept_revisions() {
    let first = revision(json!({"q": text(), "limit": {"type": "integer"}}), json!(["q"]));
    let second = revision(json!({"query": text(), "limit": {"type": "integer"}}), json!(["query"]));
    let third =
        revision(json!({"query": text(), "page_size": {"type": "integer"}}), json!(["query"]));
    let history = vec![Arc::clone(&first), second, Arc::clone(&third)];
    let call = || json!({"q": "x", "limit": 5});
    let over = Asked { history, ..PLAIN };
    let adapted = over.adapt(&first, &third, call()).unwrap().unwrap();
    assert_eq!(adapted.arguments, json!({"query": "x", "page_size": 5}));
    assert_eq!(adapted.by, ["query", "size"]);
    // Neither of the two alone is enough, and the way between is not known.
    assert!(PLAIN.adapt(&first, &third, call()).is_err());
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_where_they_are() {
    let text = r#"other = 1
[[adapter]]
id = "a"
tool = "t"
until = 2027-13-01
step = [{ rename = { from = "q", to = "/b" } }]
[[adapter]]
id = "b"
tool = "t"
until_version = "next"
from = "sha256:short"
step = [
  { rename = { from = "/o/a", to = "/p/a" } },
  { move = { from = "/a", to = "/a/b" } },
  { move = { from = "/l/*/a", to = "/a" } },
  { wrap = { at = "/a", into = "object" } },
  { map = { at = "/a", values = {} } },
  { constant = { at = "/a/*", value = 1 } },
  { constant = { at = "/a" } },
  { drop = { at = "/a", onlyif = 1 } },
  { rename = { from = "/a", to = "/b" }, drop = { at = "/c" } },
  { merge = {} },
  { constant = { at = "/d", value = 2027-01-01 } },
]
result = [{ drop = { at = "/a" } }]
[[adapter]]
id = "c"
tool = "t"
until = 2027-03-01
[[adapter]]
tool = "t"
until = true
to_tool = "u"
"#;
    let problems = Adapters::read("a.toml", text).unwrap_err();
    let told: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.place, problem.sentence)).collect();
    for expected in [
        "a.toml:1:1 \"other\" is not known in this file.",
        "a.toml:5:9 until is no end here.",
        "a.toml:6:29 \"q\" is no place in the arguments: it does not begin with /.",
        "a.toml:10:17 \"next\" is no version that can be compared.",
        "a.toml:11:8 from is no digest here.",
        "a.toml:13:3 These are members of two different objects.",
        "a.toml:14:3 One of the two places lies inside the other.",
        "a.toml:15:3 A value would move into a list or out of it.",
        "a.toml:16:3 What stands around the value is not clear.",
        "a.toml:17:3 There are no pairs.",
        "a.toml:18:3 The place is every item of a list, and a member is wanted.",
        "a.toml:19:3 value is missing here.",
        "a.toml:20:25 \"onlyif\" is not known in drop. Did you mean only_if?",
        "a.toml:21:3 A step does one thing, and this one names 2.",
        "a.toml:22:5 \"merge\" is not known in [[adapter.step]].",
        "a.toml:23:37 This is no value that JSON can hold.",
        "a.toml:25:13 \"drop\" is not known in [[adapter.result]].",
        "a.toml:26:1 This adapter changes nothing.",
        "a.toml:30:1 id is missing here.",
        "a.toml:32:9 until is no end here.",
    ] {
        assert!(told.iter().any(|line| line == expected), "no {expected:?} in\n{told:#?}");
    }
    let blank =
        Adapters::read("a.toml", "[[adapter]]\nid = \"a\"\ntool = \"t\"\nto_tool = \"u\"\n");
    assert_eq!(blank.unwrap_err()[0].sentence, "This adapter has no end.");
    assert!(Adapters::read("a.toml", "").unwrap().adapters.is_empty());
}

#[test]
fn each_part_of_a_way_is_judged_by_the_call_as_it_is_there() {
    let with =
        |name: &str, sort: Value| revision(json!({name: text(), "sort": sort}), json!([name]));
    let first = with("q", sort("new"));
    let second = with("query", sort("old"));
    // The moved default lies in the middle; the last revision states it as the second does.
    let third = revision(
        json!({"query": text(), "sort": sort("old"), "page_size": {"type": "integer"}}),
        json!(["query"]),
    );
    let history = vec![Arc::clone(&first), second, Arc::clone(&third)];
    let over = Asked { history, ..PLAIN };
    assert!(over.adapt(&first, &third, json!({"q": "x"})).unwrap_err().contains("\"sort\""));
    assert!(over.adapt(&first, &third, json!({"q": "x", "sort": "old"})).is_ok());
}
