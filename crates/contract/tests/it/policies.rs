//! Settings: what they say, what is wrong with them, and what they do to findings.

use contract::document::{Bundle, read};
use contract::policy::{Day, Settings, Standing};
use contract::{Diff, Options, Verdict, diff};
use serde_json::{Value, json};

const TODAY: Day = Day { year: 2026, month: 12, day: 1 };

fn compare(old: Value, new: Value) -> Diff {
    let contract = |root| {
        read(Bundle { name: "file".to_owned(), root, ..Bundle::default() }).unwrap().contract
    };
    diff(&contract(old), &contract(new), &Options::default()).unwrap()
}

/// A tool whose optional argument became required: one finding that breaks.
fn breaking() -> Diff {
    let tool = |required: Value| {
        json!({"tools": [{"name": "t", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": required}}]})
    };
    compare(tool(json!(["a"])), tool(json!(["a", "b"])))
}

fn settings(text: &str) -> Settings {
    Settings::read("steadfast.toml", text)
        .unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"))
}

fn suppression(finding: &str, until: &str) -> String {
    format!("[[suppress]]\nfinding = \"{finding}\"\nreason = \"known\"\nuntil = {until}\n")
}

fn codes(diff: &Diff) -> Vec<&str> {
    diff.entries.iter().flat_map(|entry| &entry.changes).map(|change| change.rule).collect()
}

#[test]
fn everything_that_can_be_said_is_read() {
    let found = settings(
        r#"
decision-map = "decisions.yaml"
[policy]
fail-on = "refuse"
undecided = "warn"
wider-authority = "fail"
[rules]
SF321 = "note"
SF103 = { level = "off", reason = "generated clients send everything" }
[lexicon]
authority = ["mesh"]
guard = ["really"]
neutral = ["owner"]
[renames]
create_issue = "issue_write"
[[suppress]]
finding = "abc"
reason = "until the clients are out"
until = 2027-01-31
[[review]]
subject = "*"
window = "two weeks"
fixture = "fixtures/x.json"
"#,
    );
    assert_eq!(found.policy.fail_on, Some(Verdict::Refuse));
    assert!(!found.policy.undecided_fails && found.policy.wider_fails);
    assert_eq!(found.policy.suppressions[0].until.to_string(), "2027-01-31");
    assert_eq!(found.lexicon.guard, ["really"]);
    assert_eq!(found.renames["create_issue"], "issue_write");
    assert_eq!(found.reviews[0].window.as_deref(), Some("two weeks"));
    assert_eq!(settings(""), Settings::default());
}

#[test]
fn all_mistakes_are_told_at_once_where_they_are() {
    let text = r#"polcy = 1
[policy]
fail-on = "refused"
undecided = true
[rules]
SF000 = "warn"
SF321 = "off"
SF301 = 3
SF302 = { level = "loud" }
[renames]
a = "a"
[[suppress]]
finding = "x"
until = "2027-01-31"
[[suppress]]
finding = ""
reason = "r"
until = 2027-01-31
[[review]]
window = "w"
"#;
    let problems = Settings::read("s.toml", text).unwrap_err();
    let told: Vec<String> =
        problems.iter().map(|problem| format!("{} {}", problem.place, problem.sentence)).collect();
    let expected = [
        "s.toml:1:1 \"polcy\" is not known in this file. Did you mean policy?",
        "s.toml:3:11 \"refused\" is no value of fail-on. Did you mean refuse?",
        "s.toml:4:13 undecided is boolean here.",
        "s.toml:6:1 There is no rule \"SF000\".",
        "s.toml:7:9 SF321 is switched off without a reason.",
        "s.toml:8:9 SF301 is integer here.",
        "s.toml:9:19 \"loud\" is no level.",
        "s.toml:11:5 A tool is renamed to itself here.",
        "s.toml:12:1 reason is missing here.",
        "s.toml:14:9 until is no date here.",
        "s.toml:16:11 finding is blank.",
        "s.toml:19:1 subject is missing here.",
    ];
    assert_eq!(told, expected);
    let broken = Settings::read("s.toml", "[policy\n").unwrap_err();
    assert!(broken[0].sentence.starts_with("This is not TOML"), "{broken:#?}");
}

#[test]
fn a_suppression_holds_until_its_day() {
    let fingerprint = breaking().entries[0].changes[0].fingerprint.clone();
    for (until, standing, verdict, own) in [
        ("2026-12-01", Standing::Clear, Verdict::Safe, None),
        ("2026-11-30", Standing::Findings, Verdict::Refuse, Some("SF901")),
    ] {
        let mut found = breaking();
        let policy = settings(&suppression(&fingerprint, until)).policy;
        assert_eq!(policy.apply(&mut found, TODAY), standing, "{until}");
        assert_eq!(found.verdict, verdict, "{until}");
        assert_eq!(codes(&found).into_iter().find(|code| code.starts_with("SF9")), own, "{until}");
    }
}

#[test]
fn a_suppression_of_nothing_is_told() {
    let mut found = breaking();
    let policy = settings(&suppression("no such finding", "2027-01-01")).policy;
    assert_eq!(policy.apply(&mut found, TODAY), Standing::Findings);
    assert!(codes(&found).contains(&"SF902"));
    assert_eq!(found.entries[0].verdict, Verdict::Refuse);
}

#[test]
fn thresholds_and_levels_decide_what_stands_in_the_way() {
    let rule = breaking().entries[0].changes[0].rule;
    let judge = |text: &str| settings(text).policy.apply(&mut breaking(), TODAY);
    assert_eq!(judge(""), Standing::Findings);
    assert_eq!(judge("[policy]\nfail-on = \"never\""), Standing::Clear);
    assert_eq!(judge(&format!("[rules]\n{rule} = \"warn\"")), Standing::Clear);
    assert_eq!(
        judge(&format!("[policy]\nfail-on = \"never\"\n[rules]\n{rule} = \"fail\"")),
        Standing::Findings
    );
    let off = format!("[rules]\n{rule} = {{ level = \"off\", reason = \"known\" }}");
    let mut found = breaking();
    assert_eq!(settings(&off).policy.apply(&mut found, TODAY), Standing::Clear);
    assert_eq!(
        found.entries[0].changes[0].suppressed.as_deref(),
        Some(&*format!("{rule} is off: known"))
    );
}

#[test]
fn undecided_is_neither_clear_nor_a_finding() {
    let mut found = breaking();
    found.entries[0].verdict = Verdict::Undecided;
    for change in &mut found.entries[0].changes {
        change.verdict = Verdict::Undecided;
    }
    assert_eq!(settings("").policy.standing(&found), Standing::Undecided);
    assert_eq!(
        settings("[policy]\nfail-on = \"refuse\"").policy.standing(&found),
        Standing::Undecided
    );
    assert_eq!(settings("[policy]\nundecided = \"warn\"").policy.standing(&found), Standing::Clear);
}
