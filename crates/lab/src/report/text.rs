//! Results for people: what did not pass with its evidence, then one line of counts.

use super::{Case, Look, Suite, Verdict, counted};
use report::escape::visible;

pub(super) fn render(suites: &[Suite], look: &Look) -> String {
    let mut out = String::new();
    for suite in suites {
        out.push_str(&visible(&suite.name));
        out.push('\n');
        for case in &suite.cases {
            line(&mut out, case, look);
            if !case.verdict().passes() || look.all {
                evidence(&mut out, case);
            }
            if !case.verdict().passes()
                && let Some(command) = look.command(suite, case)
            {
                out.push_str(&format!("      again     {}\n", visible(&command)));
            }
        }
        out.push('\n');
    }
    out.push_str(&counted(suites));
    out.push('\n');
    out
}

fn line(out: &mut String, case: &Case, look: &Look) {
    let (colour, plain) = match (look.colour, case.verdict()) {
        (false, _) => ("", ""),
        (true, Verdict::Passed) => ("\u{1b}[32m", "\u{1b}[0m"),
        (true, Verdict::Undecided) => ("\u{1b}[33m", "\u{1b}[0m"),
        (true, _) => ("\u{1b}[1;31m", "\u{1b}[0m"),
    };
    let word = case.verdict().word();
    out.push_str(&format!(
        "  {colour}{word:<11}{plain} {}  {}\n",
        visible(&case.name),
        visible(case.told())
    ));
    if !case.verdict().passes() {
        out.push_str(&format!("      at        {}\n", visible(&case.place)));
    }
}

fn evidence(out: &mut String, case: &Case) {
    for seen in &case.evidence {
        let mut title = visible(&seen.title);
        for line in seen.text.lines() {
            out.push_str(&format!("      {title:<9} {}\n", visible(line)));
            title = String::new();
        }
    }
}
