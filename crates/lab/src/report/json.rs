//! Results for programs.

use super::{Look, Suite, standing};
use serde_json::{Value, json};

/// The version of the form: members are added, never renamed.
const VERSION: u64 = 1;

pub(super) fn render(suites: &[Suite], look: &Look) -> String {
    let told: Vec<Value> = suites.iter().map(|suite| of_suite(suite, look)).collect();
    let standing = match standing(suites) {
        super::Standing::Clear => "passed",
        super::Standing::Undecided => "undecided",
        super::Standing::Failed => "failed",
    };
    report::escape::json(&json!({"steadfast_test": VERSION, "verdict": standing, "suites": told}))
}

fn of_suite(suite: &Suite, look: &Look) -> Value {
    let cases: Vec<Value> = suite
        .cases
        .iter()
        .map(|case| {
            // What a passing test saw may come in another order each time: it is shown on demand alone.
            let shown = !case.verdict().passes() || look.all;
            let evidence: Vec<Value> = case
                .evidence
                .iter()
                .filter(|_| shown)
                .map(|seen| json!({"title": seen.title, "text": seen.text}))
                .collect();
            json!({
                "name": case.name,
                "place": case.place,
                "verdict": case.verdict().word(),
                "sentence": case.told(),
                "steps": case.steps,
                "checks": case.checks,
                "evidence": evidence,
                "again": look.command(suite, case),
            })
        })
        .collect();
    json!({"file": suite.name, "cases": cases})
}
