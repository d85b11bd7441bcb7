use crate::sample::{self, options, render, render_reviewed};
use contract::{Counts, Diff, Kind, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCaseStatus};
use report::{Format, RenderOptions};

fn junit(diff: &Diff, options: &RenderOptions) -> String {
    render(diff, Format::Junit, options)
}

fn parse(xml: &str) -> Report {
    Report::deserialize_from_str(xml).expect("JUnit XML")
}

/// The cases of a report by outcome.
fn outcomes(report: &Report) -> Vec<(String, &'static str)> {
    report.test_suites[0]
        .test_cases
        .iter()
        .map(|case| {
            let outcome = match &case.status {
                TestCaseStatus::Success { .. } => "passed",
                TestCaseStatus::Skipped { .. } => "skipped",
                TestCaseStatus::NonSuccess { kind, .. } => match kind {
                    NonSuccessKind::Failure => "failed",
                    NonSuccessKind::Error => "error",
                },
            };
            (case.name.to_string(), outcome)
        })
        .collect()
}

#[test]
fn every_verdict() {
    insta::assert_snapshot!(junit(&sample::every_verdict(), &options()));
}

#[test]
fn a_case_fails_at_the_threshold() {
    let report = parse(&junit(&sample::every_verdict(), &options()));
    let outcomes = outcomes(&report);
    let of = |name: &str| {
        let found = outcomes.iter().find(|(case, _)| case == name);
        found.expect("a case").1
    };
    assert_eq!(of("deploy_preview"), "failed");
    assert_eq!(of("run_query"), "error");
    assert_eq!(of("read_account"), "passed");
    assert_eq!(of("send_invoice"), "skipped");
    assert_eq!(of("add_note"), "passed");
    assert_eq!(outcomes.len(), 10);
}

#[test]
fn a_lower_threshold_fails_more() {
    let strict = RenderOptions { fail_on: Some(Verdict::NewApproval), ..options() };
    let report = parse(&junit(&sample::every_verdict(), &strict));
    assert!(outcomes(&report).contains(&("read_account".to_owned(), "failed")));
}

#[test]
fn no_change_is_a_passed_case() {
    let diff = Diff {
        kind: Kind::Tools,
        verdict: Verdict::Safe,
        entries: Vec::new(),
        counts: Counts::default(),
        flaws: Vec::new(),
    };
    let report = parse(&junit(&diff, &options()));
    assert_eq!(outcomes(&report), [("nothing changed".to_owned(), "passed")]);
}

#[test]
fn hostile_strings_stay_text() {
    let mut diff = sample::hostile();
    for entry in &mut diff.entries {
        entry.changes[0].suppressed = None;
    }
    let xml = junit(&diff, &sample::hostile_options());
    assert!(!xml.contains("<script"));
    assert!(xml.chars().all(|c| c == '\n' || !c.is_control()));
    let report = parse(&xml);
    assert_eq!(outcomes(&report).len(), sample::ATTACKS.len());
    assert!(outcomes(&report).iter().all(|(_, outcome)| *outcome == "failed"));
    insta::assert_snapshot!(xml);
}

/// XML 1.0 §2.2: what is no character of a document.
#[test]
fn what_xml_forbids_is_spelled_out() {
    let mut forbidden: Vec<char> = (0..0x20).filter_map(char::from_u32).collect();
    forbidden.extend(['\u{fffe}', '\u{ffff}']);
    let texts: Vec<String> = forbidden.iter().map(|c| format!("a{c}b")).collect();
    let xml = junit(&sample::carrying(texts.iter().map(String::as_str)), &options());
    let allowed = |c: char| c == '\n' || !forbidden.contains(&c);
    assert!(xml.chars().all(allowed), "{:?}", xml.chars().find(|c| !allowed(*c)));
    assert!(xml.contains("\\u{fffe}"), "{xml}");
    parse(&xml);
}

#[test]
fn the_review_record_is_the_output_of_its_case() {
    let xml = render_reviewed(&sample::every_verdict(), &sample::review(), Format::Junit);
    let report = parse(&xml);
    let case = report.test_suites[0]
        .test_cases
        .iter()
        .find(|case| case.name.as_str() == "deploy_preview")
        .expect("a case");
    let output = case.system_out.as_ref().expect("an output").as_str();
    assert!(output.contains("both live       until 2027-01-31"), "{output}");
}
