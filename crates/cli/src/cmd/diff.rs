//! `steadfast diff`: two contracts, every change classified.

use crate::args::{Command, ReportArgs, Threshold};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::load;
use crate::output::{self, Shell};
use crate::progress;
use crate::settings::SettingsArgs;
use contract::Options;
use contract::change::Subject;
use contract::document::{Bundle, Reading};
use contract::verdict::Verdict;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// The contract that actions were planned against: a file, a folder of tools, or - for standard input
    #[arg(value_name = "OLD", required_unless_present = "example")]
    old: Option<String>,
    /// The contract that holds now
    #[arg(value_name = "NEW", required_unless_present = "example")]
    new: Option<String>,
    /// Compare two releases of a real MCP server that are built into this program
    #[arg(long, conflicts_with_all = ["old", "new"])]
    example: bool,
    /// Exit with 1 where a verdict is this or graver, with 3 where something is only undecided
    #[arg(long, value_enum, value_name = "LEVEL")]
    fail_on: Option<Threshold>,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    report: ReportArgs,
}

impl Command for Diff {
    const NAME: &'static str = "diff";
    const ABOUT: &'static str = "Compare two contracts and classify every change";
    const EXAMPLES: &'static str = "\
Each side is a snapshot, a tools/list result, a folder with one tool a file, a lock, an OpenAPI 3.0 or
3.1 document, a Swagger 2.0 document or a JSON Schema, in JSON or YAML. Both sides are of one kind.

Examples:
  steadfast diff --example
  steadfast diff before.json after.json
  steadfast diff openapi-1.yaml openapi-2.yaml --format markdown
  steadfast diff before.json after.json --fail-on refuse
  git show v1.2:openapi.yaml | steadfast diff - openapi.yaml";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let (old, new) = match (&self.old, &self.new) {
            (Some(old), Some(new)) => load::pair(old, new)?,
            _ => example()?,
        };
        if !(old.problems.is_empty() && new.problems.is_empty()) {
            return Err([old.faults(), new.faults()].concat().into());
        }
        let found = self.settings.read_named()?;
        let mut diff = compare(shell, &old, &new, &found.options)?;
        let named = found.file.is_some() || self.fail_on.is_some();
        let mut settings = found.settings;
        if let Some(threshold) = self.fail_on {
            // What is typed goes before what is written down.
            settings.policy.fail_on = Some(threshold.into());
        }
        let standing = settings.apply(
            &mut diff,
            &old.contract,
            &new.contract,
            found.options.decisions.as_ref(),
            output::today(),
        );
        let options = report::RenderOptions {
            colour: shell.colour,
            width: shell.width,
            all: self.report.all,
            fail_on: if named { settings.policy.fail_on } else { None },
            old_name: old.contract.name().to_owned(),
            new_name: new.contract.name().to_owned(),
            source: self.new.as_deref().and_then(files::text_of),
            file: self.new.clone().filter(|path| path != "-"),
            ..report::RenderOptions::default()
        };
        shell.print(&report::render(&diff, self.report.format.into(), &options))?;
        let flaws = [old.flaws.as_slice(), &new.flaws, &diff.flaws].concat();
        if rests_on_flaws(&diff, &old, &new) {
            shell.list(&flaws);
            shell.note("note: what could be read is compared above; the input is not in order");
            return Ok(Exit::Wrong);
        }
        for flaw in flaws {
            shell.note(&format!("note: {}: {}", flaw.place, flaw.sentence));
        }
        Ok(if named { standing.into() } else { Exit::Fine })
    }
}

/// True where a finding rests on a schema that is not in order.
fn rests_on_flaws(diff: &contract::Diff, old: &Reading, new: &Reading) -> bool {
    let flawed = |name: &String| old.flawed.contains(name) || new.flawed.contains(name);
    !diff.flaws.is_empty()
        || diff.entries.iter().any(|entry| match &entry.subject {
            Subject::Tool(name) => {
                entry.verdict > Verdict::Safe
                    && (flawed(name) || entry.was.as_ref().is_some_and(flawed))
            }
            _ => false,
        })
}

/// Compares two contracts of one kind.
pub fn compare(
    shell: &Shell,
    old: &Reading,
    new: &Reading,
    options: &Options,
) -> Result<contract::Diff, Failure> {
    same_kind(old, new)?;
    let size = progress::size(&old.contract).max(progress::size(&new.contract));
    let what = format!("comparing {size} entries");
    let diff = progress::while_running(shell, what, size, || {
        contract::diff(&old.contract, &new.contract, options)
    });
    Ok(diff?)
}

/// Refuses to compare unlike things.
fn same_kind(old: &Reading, new: &Reading) -> Result<(), Failure> {
    if old.contract.kind() == new.contract.kind() {
        return Ok(());
    }
    Err(Failure::one(
        new.contract.name(),
        format!(
            "This is {}, but {} is {}.",
            new.form.in_words(),
            old.contract.name(),
            old.form.in_words()
        ),
        "Only contracts of one kind can be compared: tools with tools, OpenAPI with OpenAPI, a schema with a schema.",
    ))
}

/// Two neighbouring releases of a real server; origin and licence stand in fixtures/mcp/NOTICE.md.
fn example() -> Result<(Reading, Reading), Failure> {
    let read = |name: &str, text: &str| -> Result<Reading, Failure> {
        let root = contract::text::read(name, text.as_bytes())?;
        Ok(contract::document::read(Bundle { name: name.to_owned(), root, ..Bundle::default() })?)
    };
    Ok((
        read(
            "tavily-mcp 0.2.9",
            include_str!("../../../../fixtures/mcp/tavily-mcp/003-0.2.9.tools.json"),
        )?,
        read(
            "tavily-mcp 0.2.10",
            include_str!("../../../../fixtures/mcp/tavily-mcp/004-0.2.10.tools.json"),
        )?,
    ))
}
