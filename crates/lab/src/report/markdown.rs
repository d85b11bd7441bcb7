//! Results for a comment on a change: one table, then what did not pass.

use super::{Look, Suite, counted};
use report::escape::visible;

pub(super) fn render(suites: &[Suite], look: &Look) -> String {
    let mut out = format!(
        "**steadfast test: {}**\n\n| verdict | test | what came of it |\n| --- | --- | --- |\n",
        counted(suites)
    );
    let cases =
        || suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case)));
    for (_, case) in cases() {
        out.push_str(&format!(
            "| {} | {} | {} |\n",
            case.verdict().word(),
            cell(&case.name),
            cell(case.told())
        ));
    }
    for (suite, case) in cases().filter(|(_, case)| !case.verdict().passes()) {
        out.push_str(&format!("\n**{}** ({})\n\n", cell(&case.name), cell(&case.place)));
        let mut lines = Vec::new();
        for seen in &case.evidence {
            let title = visible(&seen.title);
            lines.extend(seen.text.lines().map(|line| format!("{title}: {}", visible(line))));
        }
        lines.extend(
            look.command(suite, case).map(|command| format!("again: {}", visible(&command))),
        );
        out.push_str(&fenced(&lines.join("\n")));
    }
    out
}

/// Text inside a cell of a table: nothing in it is markup.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        if "\\`*_{}[]<>()#+!|~&@".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A block that nothing in it can end.
fn fenced(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}text\n{text}\n{fence}\n")
}
