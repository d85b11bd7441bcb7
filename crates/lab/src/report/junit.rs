//! Results as JUnit XML: one suite a file, one case a test.

use super::{Look, Suite, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use report::escape::visible;

/// What failed is a failure; what could not be told or run is an error: it neither passed nor failed.
pub(super) fn render(suites: &[Suite], look: &Look) -> String {
    let mut out = Report::new("steadfast test");
    for suite in suites {
        let mut told = TestSuite::new(visible(&suite.name));
        for case in &suite.cases {
            let status = match case.verdict() {
                Verdict::Passed => TestCaseStatus::success(),
                other => {
                    let kind = match other {
                        Verdict::Undecided | Verdict::NotRun => NonSuccessKind::Error,
                        _ => NonSuccessKind::Failure,
                    };
                    let mut status = TestCaseStatus::non_success(kind);
                    status.set_type(other.word());
                    status.set_message(visible(case.told()));
                    let mut lines = vec![visible(&case.place)];
                    for seen in &case.evidence {
                        let title = visible(&seen.title);
                        lines.extend(
                            seen.text.lines().map(|line| format!("{title}: {}", visible(line))),
                        );
                    }
                    lines.extend(look.command(suite, case).map(|command| visible(&command)));
                    status.set_description(lines.join("\n"));
                    status
                }
            };
            let mut told_case = TestCase::new(visible(&case.name), status);
            told_case.set_classname(visible(&suite.name));
            // The forges link a case to this file.
            told_case.extra.insert("file".into(), visible(&suite.name).into());
            told.add_test_case(told_case);
        }
        out.add_test_suite(told);
    }
    let mut xml = out.to_string().expect("the report is text and its sink is memory");
    if !xml.ends_with('\n') {
        xml.push('\n');
    }
    xml
}
