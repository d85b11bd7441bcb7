//! `cargo xtask docs`: what is derived from the rule table and its pages.

use crate::repo::{self, Complaints, Result};
use contract::rules::{self, Area, Rule, Status};
use std::fmt::Write as _;

/// The index of the rule pages.
pub const INDEX: &str = "docs/rules/README.md";
/// Every code that was ever given out, with its name.
pub const CODES: &str = "docs/rules/CODES";
/// The pages as the binary embeds them.
pub const EMBEDDED: &str = "crates/cli/src/pages.rs";

/// Writes the three derived files.
pub fn run(arguments: &[String]) -> Result<()> {
    if let Some(stray) = arguments.first() {
        return Complaints::one(format!("cargo xtask docs takes no arguments, not {stray}"));
    }
    let table = rules::all();
    repo::write(INDEX, &index(&table))?;
    let before = repo::read(CODES).unwrap_or_default();
    repo::write(CODES, &codes(&before, &table))?;
    repo::write(EMBEDDED, &embedded(&table))
}

/// The index: one table an area.
pub fn index(table: &[&Rule]) -> String {
    let mut text = String::from(
        "# Rules\n\nOne page a rule. `steadfast explain SFnnn` prints the same page. Codes are never reused.\n\
         *Rests on*: a **witness** is a replayed value, a **proof** is set algebra or plain structure, and **declared**\n\
         means that the server's own words or hints say so.\n",
    );
    for (area, title) in AREAS {
        let rows: Vec<_> = table.iter().filter(|rule| rule.area == *area).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = write!(
            text,
            "\n## {title}\n\n| code | name | what it says | rests on |\n| --- | --- | --- | --- |\n"
        );
        for rule in rows {
            let life = match rule.status {
                Status::Stable => "",
                Status::Preview => " (preview)",
                Status::Deprecated => " (deprecated)",
                Status::Removed => " (removed)",
            };
            let _ = writeln!(
                text,
                "| [{code}]({code}.md) | `{}`{life} | {} | {} |",
                rule.name,
                rule.summary,
                format!("{:?}", rule.evidence).to_lowercase(),
                code = rule.code,
            );
        }
    }
    text.push_str("\n<!-- written by `cargo xtask docs` -->\n");
    text
}

const AREAS: &[(Area, &str)] = &[
    (Area::Input, "Input: what the caller sends"),
    (Area::Output, "Output: what the caller receives"),
    (Area::Tool, "The tool as a whole"),
    (Area::Authority, "Authority: what a grant covers"),
    (Area::Http, "Operations of an HTTP API"),
    (Area::Comparison, "The comparison itself"),
];

/// The list of codes: what stood there stays, new codes join, sorted.
pub fn codes(before: &str, table: &[&Rule]) -> String {
    let mut lines: Vec<String> = before
        .lines()
        .filter(|line| !table.iter().any(|rule| line.split(' ').next() == Some(rule.code)))
        .map(str::to_owned)
        .collect();
    lines.extend(table.iter().map(|rule| format!("{} {}", rule.code, rule.name)));
    lines.sort();
    lines.join("\n") + "\n"
}

/// The pages as a table of the binary.
pub fn embedded(table: &[&Rule]) -> String {
    let mut text = String::from(
        "//! The rule pages, embedded. Written by `cargo xtask docs`; do not edit.\n\n\
         /// Code and page, by code.\n#[rustfmt::skip]\npub static PAGES: &[(&str, &str)] = &[\n",
    );
    // A rule without a page is a complaint of tidy, not a reason for the binary not to build.
    let has_page =
        |rule: &&&Rule| repo::root().join(format!("docs/rules/{}.md", rule.code)).exists();
    for rule in table.iter().filter(has_page) {
        let _ = writeln!(
            text,
            "    (\"{0}\", include_str!(\"../../../docs/rules/{0}.md\")),",
            rule.code
        );
    }
    text.push_str("];\n");
    text
}
