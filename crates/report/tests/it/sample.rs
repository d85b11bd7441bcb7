//! Hand-made diffs, and a rule table that does not move when rules are added.

use contract::rules::{Area, Evidence, Rule, Status};
use contract::{
    Authority, Axes, Change, Class, Compat, Counts, Decision, Diff, Entry, Heir, Kind, Meaning,
    Revision, Side, Subject, Verdict, Witness,
};
use report::{Format, Question, RenderOptions, ReviewAnswer, ReviewEntry, ReviewRecord};
use serde_json::{Value, json};

/// Codes that the real table will never have.
const RULES: [(&str, &str, &str); 5] = [
    ("SF001", "sample-required", "A field became required: a call without it is rejected."),
    ("SF002", "sample-default", "A default moved: a call that leaves it out means something else."),
    ("SF003", "sample-reach", "A new field selects the target."),
    ("SF004", "sample-wording", "The description was reworded."),
    ("SF010", "sample-renamed", "A tool has another name for the same contract."),
];

pub fn rules() -> Vec<Rule> {
    RULES
        .iter()
        .map(|(code, name, summary)| Rule {
            code,
            name,
            area: Area::Input,
            summary,
            evidence: Evidence::Witness,
            since: "0.1.0",
            status: Status::Stable,
        })
        .collect()
}

pub fn options() -> RenderOptions {
    RenderOptions {
        width: 88,
        old_name: "server 1.4.0".into(),
        new_name: "server 1.5.0".into(),
        file: Some("steadfast.lock".into()),
        ..RenderOptions::default()
    }
}

pub fn render(diff: &Diff, format: Format, options: &RenderOptions) -> String {
    let rules = rules();
    let rules: Vec<&Rule> = rules.iter().collect();
    report::render_with(diff, None, format, options, &rules)
}

pub fn render_reviewed(diff: &Diff, review: &ReviewRecord, format: Format) -> String {
    let rules = rules();
    let rules: Vec<&Rule> = rules.iter().collect();
    report::render_with(diff, Some(review), format, &options(), &rules)
}

fn revision(seed: u8) -> Option<Revision> {
    Some(Revision {
        digest: format!("sha256:{}", format!("{seed:02x}").repeat(32)),
        ordinal: (seed > 9).then_some(u64::from(seed)),
    })
}

pub fn change(rule: &'static str, class: Class, verdict: Verdict, sentence: &str) -> Change {
    Change {
        rule,
        path: "/inputSchema/properties/region".into(),
        field: Some("region".into()),
        before: None,
        after: Some(json!({"type": "string"})),
        sentence: sentence.into(),
        class,
        verdict,
        axes: axes(verdict),
        witness: None,
        decisions: Vec::new(),
        decisions_guessed: false,
        fingerprint: format!("{rule}-{:08x}", sentence.len() * 2_654_435),
        suppressed: None,
        when: contract::When::Sent,
    }
}

fn axes(verdict: Verdict) -> Axes {
    match verdict {
        Verdict::Refuse => Axes { compat: Compat::Breaking, ..Axes::SAME },
        Verdict::NewApproval => {
            Axes { compat: Compat::Compatible, authority: Authority::Wider, meaning: Meaning::Same }
        }
        Verdict::Undecided => Axes {
            compat: Compat::Undecided,
            authority: Authority::Unknown,
            meaning: Meaning::Unknown,
        },
        Verdict::Adapt => Axes { compat: Compat::Adaptable, ..Axes::SAME },
        Verdict::NewName | Verdict::Safe => Axes { compat: Compat::Compatible, ..Axes::SAME },
    }
}

pub fn entry(name: &str, changes: Vec<Change>) -> Entry {
    let gravest = changes.iter().map(|change| change.verdict).max();
    Entry {
        subject: Subject::Tool(name.into()),
        from: revision(1),
        to: revision(12),
        class: changes.iter().map(|change| change.class).max().expect("a change"),
        verdict: gravest.expect("a change"),
        axes: changes.iter().fold(Axes::SAME, |all, change| all.join(change.axes)),
        changes,
        renamed_to: None,
        was: None,
        relation: None,
    }
}

pub fn diff(entries: Vec<Entry>) -> Diff {
    let unchanged = 4;
    let count = entries.len() + unchanged;
    Diff {
        kind: Kind::Tools,
        verdict: entries.iter().map(|entry| entry.verdict).max().unwrap_or(Verdict::Safe),
        counts: Counts { old: count, new: count, unchanged },
        flaws: Vec::new(),
        entries,
    }
}

pub fn witness(value: Value, keyword: &str) -> Option<Witness> {
    Some(Witness {
        value,
        accepted_by: Side::Old,
        keyword: keyword.into(),
        instance_pointer: String::new(),
        rejected_by: format!("/inputSchema/{keyword}"),
    })
}

/// One subject for each verdict, and each class at least once.
pub fn every_verdict() -> Diff {
    let mut required = change(
        "SF001",
        Class::Migration,
        Verdict::Refuse,
        "`region` became required; a call without it is rejected.",
    );
    required.witness = witness(json!({"name": "preview"}), "required");
    required.decisions = vec![Decision::Target, Decision::Scope];
    required.decisions_guessed = true;
    let wording = change("SF004", Class::Cosmetic, Verdict::Safe, "The description was reworded.");

    let reach = change(
        "SF003",
        Class::Authority,
        Verdict::NewApproval,
        "`account_id` was added and selects whose data is read; a standing grant would now cover every account.",
    );
    let mut default = change(
        "SF002",
        Class::Semantic,
        Verdict::Adapt,
        "The default of `limit` moved from 20 to 100; a call that leaves it out returns more.",
    );
    default.before = Some(json!(20));
    default.after = Some(json!(100));
    default.field = Some("limit".into());
    let undecided = change(
        "SF009",
        Class::Migration,
        Verdict::Undecided,
        "Whether every old `query` is still accepted is not decided: the pattern exceeds the budget.",
    );
    let mut accepted = change(
        "SF001",
        Class::Migration,
        Verdict::Refuse,
        "`tenant` became required; a call without it is rejected.",
    );
    accepted.suppressed = Some("every client sends it since March".into());
    accepted.field = Some("tenant".into());
    let mut removed = entry(
        "old_search",
        vec![change("SF008", Class::Removal, Verdict::Refuse, "The tool is gone.")],
    );
    removed.to = None;
    removed.renamed_to = Some(Heir {
        name: "search".into(),
        confidence: 0.82,
        reasons: vec!["same fields".into(), "like description".into()],
        declared: false,
    });
    let mut named = entry(
        "list_files",
        vec![change(
            "SF007",
            Class::Migration,
            Verdict::NewName,
            "The same contract under another name.",
        )],
    );
    named.was = Some("ls".into());
    let mut whole = entry(
        "instructions",
        vec![change(
            "SF004",
            Class::Cosmetic,
            Verdict::Safe,
            "The server's instructions were reworded.",
        )],
    );
    whole.subject = Subject::Whole("instructions".into());
    diff(vec![
        entry(
            "add_note",
            vec![change(
                "SF006",
                Class::Additive,
                Verdict::Safe,
                "`tags` was added and is optional.",
            )],
        ),
        entry("deploy_preview", vec![required, wording.clone()]),
        entry("list_orders", vec![default]),
        named,
        removed,
        entry("read_account", vec![reach]),
        entry("run_query", vec![undecided]),
        entry(
            "send_invoice",
            vec![
                accepted,
                change(
                    "SF006",
                    Class::Additive,
                    Verdict::Safe,
                    "`memo` was added and is optional.",
                ),
            ],
        ),
        entry("what_time", vec![wording]),
        whole,
    ])
}

/// The same change of 91 tools, and one tool that has more.
pub fn burst() -> Diff {
    let required = || {
        let mut change = change(
            "SF001",
            Class::Migration,
            Verdict::Refuse,
            "`project_id` became required; a call without it is rejected.",
        );
        change.field = Some("project_id".into());
        change
    };
    let mut entries: Vec<Entry> =
        (0..90).map(|at| entry(&format!("tool_{at:02}"), vec![required()])).collect();
    entries.push(entry(
        "widest",
        vec![
            required(),
            change(
                "SF003",
                Class::Authority,
                Verdict::NewApproval,
                "`org` was added and selects the target.",
            ),
        ],
    ));
    for name in ["a", "b", "c"] {
        let sentence = format!("`{name}` now runs without asking; it can delete.");
        let mut change = change("SF005", Class::Authority, Verdict::NewApproval, &sentence);
        change.field = None;
        entries.push(entry(name, vec![change]));
    }
    diff(entries)
}

/// Three renames, told from both ends, and the same that happened to several fields of one tool.
pub fn renames() -> Diff {
    let whole = |rule, class, verdict, sentence: &str| {
        let mut change = change(rule, class, verdict, sentence);
        change.field = None;
        change.path = String::new();
        change
    };
    let mut entries = Vec::new();
    for (old, new) in
        [("add-note", "add_note"), ("drop-note", "drop_note"), ("list-notes", "list_notes")]
    {
        let sentence = format!("`{new}` now: the same contract under another name");
        let mut gone =
            entry(old, vec![whole("SF010", Class::Migration, Verdict::NewName, &sentence)]);
        gone.to = None;
        gone.renamed_to = Some(Heir {
            name: new.into(),
            confidence: 0.99,
            reasons: vec!["the same words".into()],
            declared: old == "list-notes",
        });
        let mut heir = entry(new, vec![whole("SF006", Class::Additive, Verdict::Safe, "new")]);
        heir.from = None;
        heir.was = Some(old.into());
        entries.extend([gone, heir]);
    }
    let removed = ["from", "to", "version"].map(|field| {
        let sentence = format!("`{field}` is gone: a call that sends it is refused");
        let mut change = change("SF011", Class::Migration, Verdict::Refuse, &sentence);
        change.field = Some(field.into());
        change
    });
    entries.push(entry("search", removed.to_vec()));
    diff(entries)
}

/// Everything that a server could try to smuggle through a name, a sentence or a value.
pub const ATTACKS: &[&str] = &[
    "\u{1b}[2J\u{1b}[1;1HSAFE nothing changed",
    "line one\n::error file=x::forged",
    "::set-output name=a::b ::add-mask::x",
    "##[error]forged ##vso[task.setvariable]x",
    "\u{202e}desrever\u{2066}isolated\u{200b}\u{feff}",
    "tag\u{e0041}\u{e0042}\u{fe01}",
    "a | b <script>alert(1)</script> <!-- --> </details>",
    "`code` ``` [link](http://evil.example) ![x](http://evil.example/p.png) @someone #123",
    "x\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\r\t\u{8}\u{7f}\u{85}\u{9b}31m\u{2028}\u{2029}",
    "]]>&amp;\"'%0A::error::x {0} {1}",
];

/// One subject for each attack.
pub fn hostile() -> Diff {
    carrying(ATTACKS.iter().copied())
}

/// The text in each place where a server's text can stand.
pub fn carrying<'a>(attacks: impl Iterator<Item = &'a str>) -> Diff {
    let entries = attacks
        .map(|attack| {
            let mut change = change("SF001", Class::Migration, Verdict::Refuse, attack);
            change.field = Some(attack.into());
            change.path = format!("/inputSchema/properties/{attack}");
            change.before = Some(json!({attack: attack}));
            change.witness = witness(json!({attack: [attack]}), attack);
            change.suppressed = Some(attack.into());
            let mut entry = entry(attack, vec![change]);
            entry.was = Some(attack.into());
            entry.renamed_to = Some(Heir {
                name: attack.into(),
                confidence: 0.5,
                reasons: vec![attack.into()],
                declared: false,
            });
            entry
        })
        .collect();
    diff(entries)
}

/// The names of the sides are paths or commands, and no safer.
pub fn hostile_options() -> RenderOptions {
    RenderOptions {
        old_name: ATTACKS[0].into(),
        new_name: ATTACKS[1].into(),
        file: Some(ATTACKS[1].into()),
        ..options()
    }
}

pub fn review() -> ReviewRecord {
    let known = ReviewEntry {
        subject: Subject::Tool("deploy_preview".into()),
        from: revision(1),
        to: revision(12),
        assumptions: vec![
            "A call without `region` is accepted.".into(),
            "A preview goes to the only region.".into(),
        ],
        old_behaviour: "deploy_preview took `name` alone and chose the region itself.".into(),
        window: Some("until 2027-01-31".into()),
        fixture: Some("fixtures/deploy-region.yaml".into()),
        answers: [
            (
                Question::OldArguments,
                ReviewAnswer::No {
                    checked: "shown: {\"name\":\"preview\"} is accepted before and rejected now"
                        .into(),
                },
            ),
            (
                Question::SameMeaning,
                ReviewAnswer::NotApplicable { why: "they no longer validate".into() },
            ),
            (
                Question::RefusedBeforeEffect,
                ReviewAnswer::NotChecked { run: "`steadfast drill -- CMD`".into() },
            ),
            (
                Question::RepairWithoutAuthority,
                ReviewAnswer::Yes {
                    checked: "the missing field is named and nothing is filled in".into(),
                },
            ),
        ]
        .into(),
        faults: Vec::new(),
        kept: None,
    };
    let open = ReviewEntry {
        subject: Subject::Tool(ATTACKS[1].into()),
        from: revision(1),
        to: None,
        assumptions: Vec::new(),
        old_behaviour: ATTACKS[7].into(),
        window: None,
        fixture: None,
        answers: [(Question::OldArguments, ReviewAnswer::Undecided { why: ATTACKS[0].into() })]
            .into(),
        faults: Vec::new(),
        kept: None,
    };
    ReviewRecord { entries: vec![known, open] }
}

/// What no line of a line-based format may contain.
pub fn assert_inert(output: &str) {
    for (at, line) in output.lines().enumerate() {
        let place = format!("line {}: {line:?}", at + 1);
        assert!(!line.chars().any(char::is_control), "a control character in {place}");
        assert!(
            !line.chars().any(|c| matches!(u32::from(c),
                0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF | 0xFE01 | 0xE0000..=0xE0FFF)),
            "a hidden character in {place}"
        );
        assert!(!line.contains("##["), "a runner command in {place}");
        assert!(!line.contains("##vso["), "a runner command in {place}");
    }
}
