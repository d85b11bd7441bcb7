//! `steadfast explain`: the page of a rule.

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::output::Shell;
use crate::pages::PAGES;
use contract::rules;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// A rule, by code or by name: SF101, required-input-added
    #[arg(value_name = "RULE")]
    rule: String,
}

impl Command for Explain {
    const NAME: &'static str = "explain";
    const ABOUT: &'static str = "Print the page of a rule";
    const EXAMPLES: &'static str = "\
Examples:
  steadfast explain SF101
  steadfast explain required-input-added

steadfast rules lists all rules.";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let wanted = self.rule.trim();
        let table = rules::all();
        let Some(rule) = table.iter().find(|rule| {
            rule.code.eq_ignore_ascii_case(wanted) || rule.name.eq_ignore_ascii_case(wanted)
        }) else {
            let near: Vec<&str> = table
                .iter()
                .filter(|rule| {
                    let word = wanted.to_ascii_lowercase();
                    word.len() > 2
                        && rule.name.split('-').any(|part| word.contains(part) && part.len() > 3)
                })
                .map(|rule| rule.code)
                .take(5)
                .collect();
            let near = if near.is_empty() {
                String::new()
            } else {
                format!(" Did you mean {}?", near.join(", "))
            };
            return Err(Failure::one(
                "explain",
                format!("There is no rule {wanted:?}.{near}"),
                "steadfast rules lists all rules.",
            ));
        };
        let page = match PAGES.iter().find(|(code, _)| *code == rule.code) {
            Some((_, page)) => (*page).to_owned(),
            None => format!("# {} {}\n\n{}\n", rule.code, rule.name, rule.summary),
        };
        shell.print(&page)?;
        Ok(Exit::Fine)
    }
}
