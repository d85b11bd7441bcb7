use crate::sample::{self, assert_inert, options, render};
use contract::{Class, Counts, Diff, Entry, Kind, Subject, Verdict};
use report::{Format, RenderOptions};
use serde_json::json;

fn text(diff: &Diff, options: &RenderOptions) -> String {
    render(diff, Format::Text, options)
}

#[test]
fn every_verdict() {
    insta::assert_snapshot!(text(&sample::every_verdict(), &options()));
}

#[test]
fn every_verdict_unfolded() {
    let all = RenderOptions { all: true, ..options() };
    insta::assert_snapshot!(text(&sample::every_verdict(), &all));
}

#[test]
fn a_burst_is_one_line() {
    let out = text(&sample::burst(), &options());
    assert!(out.contains("`project_id` became required in 91 tools; a call without it"));
    assert_eq!(out.matches("project_id").count(), 1);
    insta::assert_snapshot!(out);
}

#[test]
fn all_unfolds_a_burst() {
    let all = RenderOptions { all: true, ..options() };
    let out = text(&sample::burst(), &all);
    assert_eq!(out.matches("`project_id` became required;").count(), 91);
}

#[test]
fn two_alike_are_no_burst() {
    let mut diff = sample::burst();
    diff.entries.truncate(2);
    let out = text(&diff, &options());
    assert_eq!(out.matches("`project_id` became required;").count(), 2);
}

#[test]
fn operations_that_are_gone_are_told_once() {
    let mut diff = sample::burst();
    diff.kind = Kind::Openapi;
    diff.entries.truncate(4);
    for (at, entry) in diff.entries.iter_mut().enumerate() {
        entry.subject = Subject::Operation(format!("GET /v{at}/{{id}}"));
        entry.to = None;
        entry.changes[0].path = format!("/paths/~1v{at}~1{{id}}/get");
        entry.changes[0].field = None;
        entry.changes[0].before = Some(json!({"operationId": at}));
        entry.changes[0].sentence = "gone; nothing does the same".into();
    }
    let out = text(&diff, &options());
    assert!(
        out.contains("refuse       4 operations\n  SF001  gone; nothing does the same\n"),
        "{out}"
    );
}

#[test]
fn renames_are_told_once() {
    let out = text(&sample::renames(), &options());
    assert_eq!(out.matches("add_note").count(), 1);
    assert_eq!(out.matches("is gone").count(), 1);
    insta::assert_snapshot!(out);
}

#[test]
fn all_tells_both_ends_of_a_rename() {
    let all = RenderOptions { all: true, ..options() };
    insta::assert_snapshot!(text(&sample::renames(), &all));
}

#[test]
fn an_heir_that_changed_besides_stands_alone() {
    let mut diff = sample::renames();
    let wider = sample::change("SF003", Class::Authority, Verdict::NewApproval, "`org` was added.");
    diff.entries[1] =
        Entry { was: Some("add-note".into()), ..sample::entry("add_note", vec![wider]) };
    let out = text(&diff, &options());
    assert!(out.contains("new-approval add_note (was add-note)"), "{out}");
}

#[test]
fn a_burst_never_speaks_for_another_sentence() {
    let mut diff = sample::burst();
    let open = "`project_id` became required; without it the server now asks.";
    diff.entries[0].changes[0].sentence = open.into();
    let out = text(&diff, &options());
    assert!(out.contains("in 90 tools"), "{out}");
    assert!(out.contains(open), "{out}");
}

#[test]
fn nothing_changed() {
    let diff = Diff {
        kind: Kind::Openapi,
        verdict: Verdict::Safe,
        entries: Vec::new(),
        counts: Counts { old: 1, new: 1, unchanged: 1 },
        flaws: Vec::new(),
    };
    insta::assert_snapshot!(text(&diff, &options()));
}

#[test]
fn hostile_strings_stay_strings() {
    let out = text(&sample::hostile(), &sample::hostile_options());
    assert_inert(&out);
    for line in out.lines() {
        assert!(!line.trim_start().starts_with("::"), "a runner command: {line:?}");
    }
    insta::assert_snapshot!(out);
}

#[test]
fn no_width_lets_a_command_start_a_line() {
    for width in 0..130 {
        let options = RenderOptions { width, ..sample::hostile_options() };
        let mut diff = sample::hostile();
        for entry in &mut diff.entries {
            entry.changes[0].sentence = format!("{}::error::forged", "x".repeat(width));
        }
        let out = text(&diff, &options);
        for line in out.lines() {
            assert!(!line.trim_start().starts_with("::"), "width {width}: {line:?}");
        }
    }
}

#[test]
fn lines_keep_to_the_width() {
    for width in [40, 60, 88, 120] {
        let options = RenderOptions {
            width,
            old_name: "npx -y @some/server-with-a-long-name@1.2.3 --flag".into(),
            ..options()
        };
        let long = [sample::every_verdict(), sample::burst(), sample::renames()]
            .map(|diff| text(&diff, &options))
            .concat()
            .lines()
            .map(|line| line.chars().count())
            .max();
        assert!(long <= Some(width), "{long:?} columns where {width} were given");
    }
}

#[test]
fn colour_adds_only_colour() {
    let colour = RenderOptions { colour: true, ..options() };
    let painted = text(&sample::every_verdict(), &colour);
    assert!(painted.contains("\u{1b}[1m\u{1b}[31mREFUSE\u{1b}[0m"), "{painted:?}");
    let mut plain = String::new();
    let mut rest = painted.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let end = rest[at..].find('m').expect("a colour ends in m");
        rest = &rest[at + end + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, text(&sample::every_verdict(), &options()));
}

#[test]
fn a_huge_value_is_cut_to_its_line() {
    let mut diff = sample::every_verdict();
    let mut deep = json!("end");
    for _ in 0..100 {
        deep = json!([deep, "x".repeat(5_000)]);
    }
    diff.entries[1].changes[0].witness = sample::witness(deep, "type");
    let out = text(&diff, &options());
    let line = out.lines().find(|line| line.contains("[[[[")).expect("the witness");
    assert!(line.chars().count() <= 88, "{line}");
    assert!(line.contains('…'));
}

#[test]
fn the_review_record_follows_the_findings() {
    let out = sample::render_reviewed(&sample::every_verdict(), &sample::review(), Format::Text);
    assert_inert(&out);
    insta::assert_snapshot!(out);
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "yaml\u{1b}".parse::<Format>().unwrap_err().to_string();
    assert_eq!(
        error,
        "`yaml\\u{1b}` is not a format: use text, json, markdown, github, sarif or junit"
    );
}
