use crate::sample::{options, rules};
use contract::rules::Rule;
use report::{Format, render_rules};

fn table(format: Format) -> String {
    let rules = rules();
    let rules: Vec<&Rule> = rules.iter().collect();
    render_rules(&rules, format, &options())
}

#[test]
fn text() {
    insta::assert_snapshot!(table(Format::Text));
}

#[test]
fn json() {
    insta::assert_snapshot!(table(Format::Json));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(table(Format::Markdown));
}
