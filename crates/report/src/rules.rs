//! The rule table, for `steadfast rules`.

use crate::text::{Page, WORD};
use crate::{Format, RenderOptions, escape};
use contract::rules::Rule;
use serde::Serialize;

/// Renders the rule table. `json` is a `{"rules": […]}` document, `markdown` a table, any other
/// format a text table: rules are no findings, so there is nothing to annotate.
pub fn render_rules(rules: &[&Rule], format: Format, options: &RenderOptions) -> String {
    match format {
        Format::Json => json(rules),
        Format::Markdown => markdown(rules, options),
        Format::Text | Format::Github | Format::Sarif | Format::Junit => text(rules, options),
    }
}

fn json(rules: &[&Rule]) -> String {
    #[derive(Serialize)]
    struct Table<'a> {
        rules: &'a [&'a Rule],
    }
    escape::json(&Table { rules })
}

fn text(rules: &[&Rule], options: &RenderOptions) -> String {
    let mut page = Page::new(options);
    let names = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0).min(36);
    for rule in rules {
        let head = format!("{:<6} {:<names$}  ", rule.code, rule.name);
        let styled =
            format!("{} {:<names$}  ", page.paint(WORD, &format!("{:<6}", rule.code)), rule.name);
        page.hanging(&styled, head.chars().count(), rule.summary);
    }
    page.blank();
    page.line(&format!(
        "{}. steadfast explain CODE prints the page of one.",
        crate::words::plural(rules.len(), "rule")
    ));
    page.finish()
}

fn markdown(rules: &[&Rule], options: &RenderOptions) -> String {
    let mut out = String::from("| rule | name | what it reports |\n| --- | --- | --- |\n");
    for rule in rules {
        let code = match &options.pages {
            Some(base) => format!("[{0}]({base}{0}.md)", rule.code),
            None => rule.code.to_owned(),
        };
        out.push_str(&format!(
            "| {code} | `{}` | {} |\n",
            rule.name,
            rule.summary.replace('|', "\\|")
        ));
    }
    out
}
