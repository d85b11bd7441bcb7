//! JUnit XML: one suite for the comparison, one case for each changed subject.

use crate::level::{fails, standing};
use crate::text::Page;
use crate::{RenderOptions, Report, text, words};
use contract::{Entry, Kind, Verdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

/// A case fails from the threshold on (`refuse` where none is set). What is undecided below it is an
/// error: it was neither passed nor failed. What the policy accepted is skipped, with the reason.
pub(crate) fn render(report: &Report) -> String {
    let diff = report.diff;
    let kind = match diff.kind {
        Kind::Tools => "tools",
        Kind::Openapi => "openapi",
        Kind::Schema => "schema",
    };
    let mut suite = TestSuite::new(format!("steadfast.{kind}"));
    for (key, value) in [
        ("old", words::name_of(&report.options.old_name)),
        ("new", words::name_of(&report.options.new_name)),
        ("verdict", words::verdict(diff.verdict).to_owned()),
        ("unchanged", diff.counts.unchanged.to_string()),
    ] {
        suite.add_property((key, value.as_str()));
    }
    if diff.entries.is_empty() {
        // Many readers take a suite without cases for a failure of the run.
        let mut case = TestCase::new("nothing changed", TestCaseStatus::success());
        case.set_classname(format!("steadfast.{kind}"));
        suite.add_test_case(case);
    }
    for entry in &diff.entries {
        let mut case = TestCase::new(words::name(&entry.subject), status(report, entry));
        case.set_classname(format!("steadfast.{kind}"));
        if let Some(file) = &report.options.file {
            case.extra.insert("file".into(), words::name_of(file).into());
        }
        if let Some(record) = report
            .review
            .and_then(|review| review.entries.iter().find(|r| r.subject == entry.subject))
        {
            if let Some(fault) = record.faults.first() {
                case.status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                case.status.set_message(words::line(fault));
                case.status.set_type("executed check");
            }
            let mut page = plain(report.options);
            text::review_entry(&mut page, record);
            case.set_system_out(page.finish());
        }
        suite.add_test_case(case);
    }
    let mut out = quick_junit::Report::new("steadfast");
    out.add_test_suite(suite);
    let mut xml = out.to_string().expect("the report is text and its sink is memory");
    if !xml.ends_with('\n') {
        xml.push('\n');
    }
    xml
}

fn plain(options: &RenderOptions) -> Page {
    Page::new(&RenderOptions { colour: false, ..options.clone() })
}

fn status(report: &Report, entry: &Entry) -> TestCaseStatus {
    let verdict = standing(entry);
    let failed = fails(verdict, report.options.fail_on);
    let mut status = if failed {
        TestCaseStatus::non_success(NonSuccessKind::Failure)
    } else if verdict == Verdict::Undecided {
        TestCaseStatus::non_success(NonSuccessKind::Error)
    } else if let Some(reason) = accepted(report, entry) {
        let mut status = TestCaseStatus::skipped();
        status.set_message(format!("accepted: {}", words::line(reason)));
        return status;
    } else {
        return TestCaseStatus::success();
    };
    let gravest = entry
        .changes
        .iter()
        .find(|change| change.suppressed.is_none() && change.verdict == verdict);
    if let Some(change) = gravest {
        status.set_message(words::sentence(change));
    }
    status.set_type(words::verdict(verdict));
    let mut page = plain(report.options);
    text::entry(&mut page, entry);
    status.set_description(page.finish());
    status
}

/// The reason for which a change that would have failed the case is accepted.
fn accepted<'a>(report: &Report, entry: &'a Entry) -> Option<&'a str> {
    entry
        .changes
        .iter()
        .filter(|change| fails(change.verdict, report.options.fail_on))
        .find_map(|change| change.suppressed.as_deref())
}
