//! `steadfast adapters`: conversions of old calls, proved or refuted before anything is loaded.

mod report;

use crate::args::Command;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::load;
use crate::output::{Shell, hidden_spelled_out, printable};
use crate::progress;
use crate::settings::SettingsArgs;
use contract::adapter::{
    About, Adapters, Checked, Counterexample, Proof, Refutation, Results, Verdict,
};
use contract::document::{Contract, Reading};
use contract::{Change, Meaning};
use serde_json::{Value, json};

/// The arguments.
#[derive(Debug, clap::Args)]
pub struct AdaptersArgs {
    #[command(subcommand)]
    what: What,
}

/// What is done with them.
#[derive(Debug, clap::Subcommand)]
enum What {
    /// Prove that every old call becomes a call that the new tools take, or show one that does not
    Check(Check),
    /// Show what still leans on old revisions, and which adapters can be retired
    Report(report::Report),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The adapters
    #[arg(value_name = "FILE")]
    file: String,
    /// The tools that calls were planned against
    #[arg(value_name = "OLD")]
    old: String,
    /// The tools that are there now
    #[arg(value_name = "NEW")]
    new: String,
    /// Leave out adapters for other servers than this one
    #[arg(long, value_name = "KEY")]
    server: Option<String>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// How the result is written
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
}

/// The formats of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For people at a terminal
    Text,
    /// For programs
    Json,
}

impl Command for AdaptersArgs {
    const NAME: &'static str = "adapters";
    const ABOUT: &'static str =
        "Prove or refute adapters for old calls, and see which can be retired";
    const EXAMPLES: &'static str = "\
An adapter is declared in TOML: which tool, which steps, until when. It loads only where every call that
the old schema takes becomes one that the new schema takes; otherwise a call is shown that does not.
Exit codes: 0 all that are for these tools are proved · 1 one is refuted, or none is for them ·
2 a file cannot be read · 3 one could not be decided, and none is refuted.

Examples:
  steadfast adapters check adapters.toml before.json after.json
  steadfast adapters check adapters.toml steadfast.lock after.json --server deploy
  steadfast adapters check adapters.toml before.json after.json --format json
  steadfast adapters report --adapters adapters.toml";

    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        match self.what {
            What::Check(check) => check.run(shell),
            What::Report(report) => report.run(shell),
        }
    }
}

impl Check {
    fn run(self, shell: &Shell) -> Result<Exit, Failure> {
        let adapters = read(&self.file);
        let pair = load::pair(&self.old, &self.new);
        let (adapters, (old, new)) = match (adapters, pair) {
            (Ok(adapters), Ok(pair)) => (adapters, pair),
            (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => return Err(failure),
            (Err(mut first), Err(second)) => {
                first.problems.extend(second.problems);
                return Err(first);
            }
        };
        let settings = self.settings.read_or_default()?.settings;
        let (Contract::Tools(before), Contract::Tools(after)) = (&old.contract, &new.contract)
        else {
            return Err(no_tools(&old, &new));
        };
        let problems: Vec<_> = [old.problems.as_slice(), new.problems.as_slice()].concat();
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let size = adapters.adapters.len();
        let checked =
            progress::while_running(shell, format!("checking {size} adapters"), size, || {
                adapters.check(self.server.as_deref(), before, after, &settings.lexicon)
            });
        let exit = exit(&checked);
        shell.print(&match self.format {
            Form::Text => in_words(&checked),
            Form::Json => in_json(&checked, exit),
        })?;
        if checked.iter().all(|one| one.verdict() == Some(Verdict::NotForThis)) {
            shell.note("note: no adapter of this file is for these tools, so nothing was proved");
        }
        Ok(exit)
    }
}

fn read(path: &str) -> Result<Adapters, Failure> {
    let bytes = files::read(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::one(path, "The file is not UTF-8.", "Save it as UTF-8."))?;
    Ok(Adapters::read(path, text)?)
}

fn no_tools(old: &Reading, new: &Reading) -> Failure {
    let wrong = [old, new].into_iter().filter(|one| !matches!(one.contract, Contract::Tools(_)));
    let problems: Vec<_> = wrong
        .flat_map(|reading| {
            Failure::one(
                reading.contract.name(),
                format!(
                    "Adapters convert calls of MCP tools, and this is {}.",
                    reading.form.in_words()
                ),
                "Name a snapshot, a tools/list result, a folder of tools or a lock.",
            )
            .problems
        })
        .collect();
    problems.into()
}

fn exit(checked: &[Checked<'_>]) -> Exit {
    let any =
        |wanted: &[Option<Verdict>]| checked.iter().any(|one| wanted.contains(&one.verdict()));
    if any(&[Some(Verdict::Refuted), Some(Verdict::Refused)]) {
        Exit::Findings
    } else if any(&[Some(Verdict::Undecided)]) {
        Exit::Undecided
    } else if any(&[None]) {
        Exit::Fine
    } else {
        // A check that looked at nothing must not pass for a proof.
        Exit::Findings
    }
}

fn word(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        None => "proved",
        Some(Verdict::NotForThis) => "not-for-this",
        Some(Verdict::Undecided) => "undecided",
        Some(Verdict::Refuted) => "refuted",
        Some(Verdict::Refused) => "refused",
    }
}

fn in_words(checked: &[Checked<'_>]) -> String {
    let mut text = String::new();
    for one in checked {
        let adapter = one.adapter;
        let tools = if adapter.target() == adapter.tool {
            adapter.tool.clone()
        } else {
            format!("{} → {}", adapter.tool, adapter.target())
        };
        text.push_str(&format!("{:<13} {}  {tools}\n", word(one.verdict()), adapter.id));
        match &one.outcome {
            Ok(proof) => proved(proof, &adapter.end.to_string(), &mut text),
            Err(why) => why.iter().for_each(|no| refuted(no, &mut text)),
        }
        text.push('\n');
    }
    let counted: Vec<String> = ["proved", "refused", "refuted", "undecided", "not-for-this"]
        .into_iter()
        .filter_map(|what| {
            let count = checked.iter().filter(|one| word(one.verdict()) == what).count();
            (count > 0).then(|| format!("{count} {}", what.replace('-', " ")))
        })
        .collect();
    let total = match checked.len() {
        1 => "1 adapter".to_owned(),
        total => format!("{total} adapters"),
    };
    if counted.is_empty() {
        text.push_str("0 adapters\n");
    } else {
        text.push_str(&format!("{total}: {}\n", counted.join(", ")));
    }
    text.lines().map(|line| printable(line) + "\n").collect()
}

fn proved(proof: &Proof, end: &str, text: &mut String) {
    text.push_str("  every call that the old schema takes becomes one that the new schema takes\n");
    match &proof.results {
        Results::NotPromised => {}
        Results::Fits => text.push_str("  every answer fits what was promised\n"),
        Results::Unproved(why) => text.push_str(&format!(
            "  answers may differ from what was promised, so each one has to be checked: {why}\n"
        )),
    }
    for note in &proof.notes {
        text.push_str(&format!("  it {note}\n"));
    }
    // What only widens a grant by a field that old calls leave out is for the gate, not for the adapter.
    let meant = |change: &&Change| change.axes.meaning != Meaning::Same || change.field.is_none();
    for change in proof.remaining.iter().filter(meant) {
        text.push_str(&format!(
            "  beside it {}: a call that this bears on is refused all the same ({})\n",
            change.sentence, change.rule
        ));
    }
    text.push_str(&format!("  it ends {end}\n"));
}

fn refuted(no: &Refutation, text: &mut String) {
    text.push_str(&format!("  {}: {}\n", no.place, no.sentence));
    if let Some(example) = &no.counterexample {
        let (what, whose) = match example.about {
            About::Call => ("call", "new"),
            About::Answer => ("answer", "old"),
        };
        text.push_str(&format!("    {what:<9} {}\n", example.value));
        if let Some(becomes) = &example.becomes {
            text.push_str(&format!("    becomes   {becomes}\n"));
            text.push_str(&format!(
                "    rejected  {} by {} of the {whose} schema\n",
                match example.instance_pointer.as_str() {
                    "" => "as a whole",
                    pointer => pointer,
                },
                example.rejected_by
            ));
        }
    }
    if !no.help.is_empty() {
        text.push_str(&format!("    {}\n", no.help));
    }
}

fn in_json(checked: &[Checked<'_>], exit: Exit) -> String {
    let adapters: Vec<Value> = checked.iter().map(one_in_json).collect();
    let outcome = match exit {
        Exit::Fine => "proved",
        Exit::Undecided => "undecided",
        _ => "refuted",
    };
    hidden_spelled_out(&format!("{:#}\n", json!({"outcome": outcome, "adapters": adapters})))
}

fn one_in_json(one: &Checked<'_>) -> Value {
    let adapter = one.adapter;
    let mut value = json!({
        "id": adapter.id,
        "place": adapter.place,
        "tool": adapter.tool,
        "to_tool": adapter.target(),
        "outcome": word(one.verdict()),
        "ends": adapter.end.to_string(),
    });
    match &one.outcome {
        Ok(proof) => {
            value["from"] = json!({"digest": proof.from.1});
            value["to"] = json!({"digest": proof.to.1});
            value["results"] = match &proof.results {
                Results::NotPromised => json!({"answer": "not-promised"}),
                Results::Fits => json!({"answer": "fits"}),
                Results::Unproved(why) => json!({"answer": "unproved", "why": why}),
            };
            value["notes"] = json!(proof.notes);
            value["remaining"] = proof
                .remaining
                .iter()
                .map(|change| {
                    json!({
                        "rule": change.rule, "field": change.field, "path": change.path,
                        "sentence": change.sentence,
                        "meaning": change.axes.meaning, "authority": change.axes.authority,
                    })
                })
                .collect();
        }
        Err(why) => {
            value["refutations"] = why
                .iter()
                .map(|no| {
                    json!({
                        "verdict": word(Some(no.verdict)), "place": no.place,
                        "sentence": no.sentence, "help": no.help,
                        "counterexample": no.counterexample.as_ref().map(example),
                    })
                })
                .collect();
        }
    }
    value
}

fn example(example: &Counterexample) -> Value {
    json!({
        "about": match example.about {
            About::Call => "call",
            About::Answer => "answer",
        },
        "value": example.value,
        "becomes": example.becomes,
        "instance_pointer": example.instance_pointer,
        "rejected_by": example.rejected_by,
        "keyword": example.keyword,
        "message": example.message,
    })
}
