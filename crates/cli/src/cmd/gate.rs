//! `steadfast gate`: the accepted contract against what is there now.

mod execute;

use self::execute::ExecuteArgs;
use crate::args::{Command, ReportArgs};
use crate::cmd::diff::compare;
use crate::cmd::lock::read_lock;
use crate::exit::{Exit, Failure};
use crate::load;
use crate::output::{self, Shell};
use crate::review;
use crate::settings::SettingsArgs;
use crate::target::TargetArgs;
use contract::document::{Form, Reading};
use contract::lock::Lock;
use contract::policy::Standing;

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct Gate {
    #[command(flatten)]
    target: TargetArgs,
    /// The accepted contract
    #[arg(long, value_name = "FILE", default_value = "steadfast.lock")]
    lock: String,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    execute: ExecuteArgs,
    #[command(flatten)]
    report: ReportArgs,
}

impl Command for Gate {
    const NAME: &'static str = "gate";
    const ABOUT: &'static str = "Compare the accepted contract with what is there now";
    const EXAMPLES: &'static str = "\
Compares steadfast.lock with a server, a document or a folder, applies the policy and the suppressions
of steadfast.toml, and prints the findings with the review record of the release. Without a policy
everything but `safe` stands in the way. Without TARGET the file that was locked is read again.

With --execute, what old sessions would send is sent to the server, for each tool that changed, and the
questions of the release are answered by what it did: only tools that read are called, unless
--allow-effects names one. --keep writes each check down as a test, beside the old and the new list.

Examples:
  steadfast gate tools.json
  steadfast gate -- npx -y @modelcontextprotocol/server-memory
  steadfast gate openapi.yaml --lock api.lock --decision-map decisions.yaml
  steadfast gate tools.json --format github
  steadfast gate --execute --keep drift/archive -- node server.js
  steadfast gate --execute --allow-effects deploy --recorder API_URL -- python server.py
  steadfast gate openapi.yaml --lock api.lock --tests contracts/";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let found = self.settings.read_or_default()?;
        let Some((lock, bytes)) = read_lock(&self.lock)? else {
            return Err(Failure::one(
                &self.lock,
                "There is no lock yet.",
                "Write one from what is accepted now: steadfast lock TARGET.",
            ));
        };
        let old = Reading::sound(lock.contract.clone(), Form::Lock);
        let new = match self.target.read(shell)? {
            Some(found) => found.reading,
            None => locked_source(&self.lock, &lock)?,
        };
        if !new.problems.is_empty() {
            return Err(new.faults().into());
        }
        let mut diff = compare(shell, &old, &new, &found.options)?;
        let standing = found.settings.apply(
            &mut diff,
            &old.contract,
            &new.contract,
            found.options.decisions.as_ref(),
            output::today(),
        );
        let mut record = review::record(&diff, &found.settings.reviews);
        let executed = self.execute.fill_in(
            shell,
            (self.target.server()?, self.target.headers()?),
            [&old.contract, &new.contract],
            &diff,
            &mut record,
        )?;
        let options = report::RenderOptions {
            colour: shell.colour,
            width: shell.width,
            all: self.report.all,
            fail_on: found.settings.policy.fail_on,
            old_name: self.lock.clone(),
            new_name: new.contract.name().to_owned(),
            file: Some(self.lock.clone()),
            source: String::from_utf8(bytes).ok(),
            ..report::RenderOptions::default()
        };
        let text = report::render_reviewed(&diff, &record, self.report.format.into(), &options);
        shell.print(&text)?;
        // What a gate lets through becomes the contract: a schema that says nothing is none.
        if !new.flaws.is_empty() {
            shell.list(&new.flaws);
            shell.note("note: what could be read is compared above; the input is not in order");
            return Ok(Exit::Wrong);
        }
        Ok(standing.max(in_policy(executed)).into())
    }
}

/// What was executed, as it counts beside what was compared: it stands in the way, and clears nothing away.
fn in_policy(executed: lab::report::Standing) -> Standing {
    match executed {
        lab::report::Standing::Clear => Standing::Clear,
        lab::report::Standing::Undecided => Standing::Undecided,
        lab::report::Standing::Failed => Standing::Findings,
    }
}

/// What the lock was made from, where reading that again runs nothing and asks nobody.
fn locked_source(path: &str, lock: &Lock) -> Result<Reading, Failure> {
    let source = lock.source.as_ref();
    let text =
        |key: &str| source.and_then(|source| source.get(key)).and_then(|value| value.as_str());
    if let Some(file) = text("file").filter(|file| *file != "-") {
        return load::contract(file);
    }
    let made_from = match source {
        Some(source) if source.get("command").is_some() || source.get("url").is_some() => {
            format!("It was made from {source}")
        }
        _ => "It does not say what it was made from".to_owned(),
    };
    Err(Failure::one(
        path,
        format!("{made_from}, which is not started or asked on the word of a file."),
        "Name it: steadfast gate TARGET, or steadfast gate -- COMMAND.",
    ))
}
