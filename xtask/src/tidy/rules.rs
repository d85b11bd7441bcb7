//! Every rule has its row, page, hit and near miss; derived files are fresh; codes are never lost.

use crate::docs;
use crate::new_rule::{HEADINGS, UNWRITTEN};
use crate::repo::{self, Complaints, Result};
use contract::rules::{self, Status};

pub(super) fn check() -> Result<()> {
    let mut complaints = Complaints::default();
    let table = rules::all();
    for rule in &table {
        let page = format!("docs/rules/{}.md", rule.code);
        match repo::read(&page) {
            Ok(text) => complaints.0.extend(page_complaints(&page, rule.code, rule.name, &text)),
            Err(missing) => complaints.0.extend(missing.0),
        }
        if rule.status == Status::Removed {
            continue;
        }
        for which in ["hit", "near"] {
            for side in ["old", "new"] {
                let stem = format!("fixtures/rules/{}/{which}/{side}", rule.code);
                let there = ["json", "yaml"]
                    .iter()
                    .any(|ending| repo::root().join(format!("{stem}.{ending}")).exists());
                complaints.check(there, || format!("{stem}.json (or .yaml) is missing"));
            }
        }
        complaints.check(!rule.summary.contains("TODO") && !rule.summary.is_empty(), || {
            format!("{}: the summary is not written", rule.code)
        });
    }
    let codes = repo::read(docs::CODES).unwrap_or_default();
    let stale = "is not what `cargo xtask docs` writes; run it";
    complaints.check(repo::read(docs::INDEX).unwrap_or_default() == docs::index(&table), || {
        format!("{} {stale}", docs::INDEX)
    });
    complaints.check(codes == docs::codes(&codes, &table), || format!("{} {stale}", docs::CODES));
    complaints
        .check(repo::read(docs::EMBEDDED).unwrap_or_default() == docs::embedded(&table), || {
            format!("{} {stale}", docs::EMBEDDED)
        });
    let living: Vec<&str> = table.iter().map(|rule| rule.code).collect();
    complaints.0.extend(lost_codes(
        &codes,
        &living,
        "has no row any more: a removed rule keeps its row and page",
    ));
    let now: Vec<&str> = codes.lines().filter_map(|line| line.split(' ').next()).collect();
    for release in releases()? {
        // A release from before the list has none.
        if let Ok(then) = repo::output("git", &["show", &format!("{release}:{}", docs::CODES)]) {
            complaints.0.extend(lost_codes(
                &then,
                &now,
                &format!("was released in {release} and is gone"),
            ));
        }
    }
    complaints.verdict()
}

/// The releases that this clone knows: a code is given out for good by the first one that has it.
fn releases() -> Result<Vec<String>> {
    let tags = repo::output("git", &["tag", "--list", "v*"])?;
    Ok(tags.lines().map(str::to_owned).collect())
}

fn lost_codes(list: &str, known: &[&str], what: &str) -> Vec<String> {
    list.lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|code| !code.is_empty() && !known.contains(code))
        .map(|code| format!("{}: {code} {what}", docs::CODES))
        .collect()
}

fn page_complaints(path: &str, code: &str, name: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let title = format!("# {code} {name}");
    if text.lines().next() != Some(title.as_str()) {
        found.push(format!("{path}: the first line is not `{title}`"));
    }
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    if headings != HEADINGS {
        found.push(format!("{path}: the headings are not {}", HEADINGS.join(" · ")));
    }
    if text.contains(UNWRITTEN) {
        found.push(format!("{path}: not finished"));
    }
    for section in text.split("\n## ").skip(1) {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        if body.trim().is_empty() {
            found.push(format!("{path}: nothing below `{heading}`"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_with_all_its_parts_passes_and_each_lack_is_found() {
        let whole: String = HEADINGS.iter().fold("# SF101 a-name\n".to_owned(), |text, heading| {
            text + &format!("\n## {heading}\n\nWords.\n")
        });
        assert_eq!(page_complaints("p", "SF101", "a-name", &whole), Vec::<String>::new());
        assert_eq!(page_complaints("p", "SF101", "other-name", &whole).len(), 1);
        assert_eq!(
            page_complaints("p", "SF101", "a-name", &whole.replace("## Witness\n\nWords.\n", ""))
                .len(),
            1
        );
        let empty = whole.replacen("Words.", "", 1);
        assert_eq!(page_complaints("p", "SF101", "a-name", &empty).len(), 1);
        let unfinished = whole.replacen("Words.", UNWRITTEN, 1);
        assert_eq!(page_complaints("p", "SF101", "a-name", &unfinished).len(), 1);
    }

    #[test]
    fn a_lost_code_is_found() {
        assert_eq!(lost_codes("SF101 a\nSF102 b\n", &["SF101"], "is gone").len(), 1);
        assert!(lost_codes("SF101 a\n", &["SF101", "SF102"], "is gone").is_empty());
    }
}
