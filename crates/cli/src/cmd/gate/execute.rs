//! The executed part of a gate: old calls against the server that was built, and the answers that they give.

use crate::cmd::test;
use crate::exit::Failure;
use crate::files;
use crate::output::Shell;
use crate::running;
use crate::server;
use clap::Args;
use contract::document::{Bundle, Tool, ToolList};
use contract::openapi::Request;
use contract::{Authority, Compat, Contract, Diff, Entry, Meaning, Subject};
use lab::drift::drill::api::{self, Api, At};
use lab::drift::drill::check::{self, Built, Changed, Check, Checked, Tried};
use lab::drift::drill::{Outcome, Surroundings, Trouble};
use lab::drift::keep::{self, Kept};
use lab::read::Document;
use lab::report::{Standing, Suite};
use mcp::{FetchOptions, Headers, Target};
use report::{Question, ReviewAnswer, ReviewEntry, ReviewRecord};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The arguments.
#[derive(Debug, Args)]
#[command(next_help_heading = "Executed checks")]
pub struct ExecuteArgs {
    /// Send the server what old sessions would send, for each tool that changed
    #[arg(long)]
    execute: bool,
    /// The HTTP API that was built: its address, or the command that starts it on {port}, split at spaces
    #[arg(long, value_name = "ADDRESS|COMMAND", requires = "execute")]
    api: Option<String>,
    /// Call this tool, or operation (`POST /projects`), although it may have effects (repeatable)
    #[arg(long, value_name = "TOOL", requires = "execute")]
    allow_effects: Vec<String>,
    /// Send the server to a recorder by this environment variable, so that effects are seen
    #[arg(long, value_name = "NAME", requires = "execute")]
    recorder: Option<String>,
    /// The server that is replaced: its command (for an API also its address), split at spaces: what it does with old calls must be kept
    #[arg(long, value_name = "COMMAND", requires = "execute")]
    old_server: Option<String>,
    /// Write each executed check as a test into this folder, beside the old and the new list
    #[arg(long, value_name = "FOLDER", requires = "execute")]
    keep: Option<String>,
    /// Also run the tests of this file or folder (repeatable)
    #[arg(long, value_name = "PATH")]
    tests: Vec<String>,
}

/// Tools by name.
type Tools<'c> = BTreeMap<&'c str, &'c Tool>;

impl ExecuteArgs {
    /// Executes what is asked for and fills the answers in. `target` is the server, where the gate was given one.
    pub fn fill_in(
        &self,
        shell: &Shell,
        (target, headers): (Option<(Target, FetchOptions)>, Headers),
        contracts: [&Contract; 2],
        diff: &Diff,
        record: &mut ReviewRecord,
    ) -> Result<Standing, Failure> {
        let mut standing = Standing::Clear;
        if self.execute {
            let checked = match contracts {
                [Contract::Tools(old), Contract::Tools(new)] => {
                    self.tools(shell, target, [old, new], diff, record)?
                }
                [Contract::Openapi(old), Contract::Openapi(new)] => {
                    self.operations(shell, headers, [old, new], diff)?
                }
                _ => {
                    return Err(Failure::one(
                        "--execute",
                        "A schema alone is not served, so nothing can be sent.",
                        "Lock the tools of a server, or the document of an API.",
                    ));
                }
            };
            for entry in &mut record.entries {
                let changed = diff.entries.iter().find(|other| other.subject == entry.subject);
                let Some(changed) = changed else { continue };
                standing = graver(standing, answer(entry, changed, &checked));
            }
        }
        if !self.tests.is_empty() {
            standing = graver(standing, self.run_tests(shell, record)?);
        }
        Ok(standing)
    }

    /// Old calls of the tools of a server.
    fn tools(
        &self,
        shell: &Shell,
        target: Option<(Target, FetchOptions)>,
        [old, new]: [&ToolList; 2],
        diff: &Diff,
        record: &mut ReviewRecord,
    ) -> Result<Checked, Failure> {
        let Some((target, options)) = target else {
            return Err(Failure::one(
                "--execute",
                "There is no server that could be called.",
                "Give the command that starts it: steadfast gate --execute -- COMMAND.",
            ));
        };
        if self.api.is_some() {
            return Err(Failure::one(
                "--api",
                "The lock is of an MCP server, which is no HTTP API.",
                "Leave it out, or name the lock of the API.",
            ));
        }
        let (old, new) = (named(&old.tools), named(&new.tools));
        self.known(|name| old.contains_key(name), "tool")?;
        let changed: Vec<Changed<'_>> = changed(diff)
            .filter_map(|entry| match &entry.subject {
                Subject::Tool(name) => Some(Changed { old: old.get(name.as_str())?, entry }),
                _ => None,
            })
            .collect();
        let before = self.old_words()?.map(Target::Command);
        let check = Check {
            before: before.map(|before| Built::Server(before, options.clone())),
            surroundings: Surroundings::of_command(&target),
            target: Built::Server(target.clone(), options),
            allowed: self.allow_effects.iter().cloned().collect(),
            recorder: self.recorder.clone(),
        };
        let checked = carried_out(shell, &check, &changed, target.to_string())?;
        if let Some(folder) = &self.keep {
            self.write(folder, &target, [&old, &new], &checked, record)?;
        }
        Ok(checked)
    }

    /// Old requests to the operations of an API.
    fn operations(
        &self,
        shell: &Shell,
        headers: Headers,
        [old, new]: [&Bundle; 2],
        diff: &Diff,
    ) -> Result<Checked, Failure> {
        let Some(api) = &self.api else {
            return Err(Failure::one(
                "--execute",
                "There is no API that could be asked.",
                "Give its address, or the command that starts it: --api \"python server.py {port}\".",
            ));
        };
        if self.keep.is_some() {
            return Err(Failure::one(
                "--keep",
                "A kept check is a scenario of calls of tools, and this is an API.",
                "Keep the lock and run the gate again; keep old fixtures with their contracts.",
            ));
        }
        let wanted: BTreeSet<String> = changed(diff)
            .filter_map(|entry| match &entry.subject {
                Subject::Operation(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        let requests = contract::openapi::requests(old, new, &wanted)?;
        let [old, new] = requests.map(|requests| -> BTreeMap<String, Request> {
            requests.into_iter().map(|request| (request.tool.name.clone(), request)).collect()
        });
        self.known(|name| old.contains_key(name), "changed operation")?;
        // What a call shows is told by the two requests; what it means, by the whole comparison.
        let entries: Vec<(&Request, Entry)> = changed(diff)
            .filter_map(|entry| {
                let before = old.get(entry.subject.name())?;
                let after = new.get(entry.subject.name());
                let pair = after.and_then(|after| {
                    contract::tools::pair(&before.tool, &after.tool, &contract::Options::default())
                });
                let mut request = pair.unwrap_or_else(|| without_witnesses(entry));
                request.verdict = entry.verdict;
                Some((before, request))
            })
            .collect();
        let changed: Vec<Changed<'_>> =
            entries.iter().map(|(before, entry)| Changed { old: &before.tool, entry }).collect();
        let at = |flag: &str, text: &str| self.at(flag, text);
        let wait = FetchOptions::default().request_timeout;
        let built = |at: At, requests| {
            Built::Api(Box::new(Api { at, requests, headers: headers.clone(), wait }))
        };
        let before = self.old_server.as_ref().map(|text| at("--old-server", text)).transpose()?;
        let before = before.map(|at| built(at, [old.clone(), old.clone()]));
        let check = Check {
            target: built(at("--api", api)?, [old.clone(), new]),
            before,
            surroundings: Surroundings::default(),
            allowed: self.allow_effects.iter().cloned().collect(),
            recorder: self.recorder.clone(),
        };
        carried_out(shell, &check, &changed, crate::output::printable(api))
    }

    /// Where an API is: an address, or a command with a place for the port.
    fn at(&self, flag: &str, text: &str) -> Result<At, Failure> {
        if server::is_address(text) {
            if self.recorder.is_some() {
                return Err(Failure::one(
                    "--recorder",
                    format!("What {flag} names runs already, so it cannot be sent to a recorder."),
                    "Give the command that starts it.",
                ));
            }
            return Ok(At::Url(text.to_owned()));
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if !words.iter().skip(1).any(|word| word.contains(api::PORT)) {
            return Err(Failure::one(
                flag,
                "The command does not say where the port goes.",
                format!("Write {} there: python server.py {}.", api::PORT, api::PORT),
            ));
        }
        Ok(At::Command(words))
    }

    fn known(&self, is: impl Fn(&str) -> bool, what: &str) -> Result<(), Failure> {
        let Some(name) = self.allow_effects.iter().find(|name| !is(name)) else { return Ok(()) };
        Err(Failure::one(
            "--allow-effects",
            format!("The lock has no {what} `{}`.", crate::output::printable(name)),
            format!("Old sessions know what is in the lock alone: check the name of the {what}."),
        ))
    }

    fn old_words(&self) -> Result<Option<Vec<String>>, Failure> {
        let Some(text) = &self.old_server else { return Ok(None) };
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() {
            return Err(Failure::one("--old-server", "It names no command.", "Leave it out."));
        }
        Ok(Some(words))
    }

    /// Writes what was executed as tests.
    fn write(
        &self,
        folder: &str,
        target: &Target,
        [old, new]: [&Tools<'_>; 2],
        checked: &Checked,
        record: &mut ReviewRecord,
    ) -> Result<(), Failure> {
        let Target::Command(command) = target else {
            return Err(Failure::one(
                "--keep",
                "A kept test starts the server, and this one is at an address.",
                "Give the command that starts it: steadfast gate --execute --keep FOLDER -- COMMAND.",
            ));
        };
        let here = Path::new(folder);
        std::fs::create_dir_all(here).map_err(|why| {
            Failure::one(folder, format!("The folder cannot be made: {why}."), "")
        })?;
        for entry in &mut record.entries {
            let name = entry.subject.name();
            let (Some(old), Some(Ok(tried))) = (old.get(name), checked.tools.get(name)) else {
                continue;
            };
            let digest = entry.to.as_ref().or(entry.from.as_ref()).map(|at| at.digest.to_string());
            let kept = Kept {
                name: keep::name(name, &digest.unwrap_or_default()),
                old,
                new: new.get(name).copied(),
                command,
                recorder: self.recorder.as_deref(),
                tried,
            };
            for (file, text) in keep::files(&kept) {
                let path = here.join(file);
                files::write(&path, &text)?;
                entry.kept = Some(path.display().to_string());
            }
        }
        Ok(())
    }

    /// Runs tests, and takes from them whether the server announces its change in time.
    fn run_tests(&self, shell: &Shell, record: &mut ReviewRecord) -> Result<Standing, Failure> {
        let suites = test::run_all(shell, &self.tests)?;
        let standing = lab::report::standing(&suites);
        for suite in &suites {
            told(suite, record)?;
            for case in suite.cases.iter().filter(|case| !case.verdict().passes()) {
                let word = case.verdict().word();
                let line = format!("{word}: {} ({}): {}", case.name, case.place, case.told());
                shell.note(&crate::output::printable(&line));
            }
        }
        if suites.is_empty() {
            let place = self.tests.join(" ");
            return Err(Failure::one(place, "There is no test here.", "Leave --tests out."));
        }
        Ok(standing)
    }
}

/// Carries the checks out. `place` names what is checked.
fn carried_out(
    shell: &Shell,
    check: &Check,
    changed: &[Changed<'_>],
    place: String,
) -> Result<Checked, Failure> {
    let runtime = running::runtime()?;
    let outcome = runtime.block_on(async {
        tokio::select! {
            outcome = check::check(check, changed) => Some(outcome),
            () = mcp::interrupted() => None,
        }
    });
    runtime.shutdown_background();
    match outcome {
        None => Err(Failure::one(place, "The checks were broken off.", "There is no result.")),
        Some(Ok(checked)) => Ok(checked),
        Some(Err(Trouble::Server(error))) => Err(server::failure(shell, error)),
        Some(Err(Trouble::Machine(why))) => {
            Err(Failure::one(place, format!("No loopback port can be had: {why}."), ""))
        }
        Some(Err(Trouble::Api(why))) => {
            let sentence = format!("The API cannot be asked: {}.", why.trim_end_matches('.'));
            Err(Failure::one(place, sentence, "Check the address, or start the command by hand."))
        }
        Some(Err(Trouble::Nothing(_))) => {
            Err(Failure::one(place, "There is nothing that could be tried.", ""))
        }
    }
}

/// What changed in more than notation and wording.
fn changed(diff: &Diff) -> impl Iterator<Item = &Entry> {
    diff.entries.iter().filter(|entry| entry.class > contract::Class::Cosmetic)
}

/// A comparison whose values are no calls: they are parts of requests and answers.
fn without_witnesses(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    for change in &mut entry.changes {
        change.witness = None;
    }
    entry
}

fn named(tools: &[Tool]) -> Tools<'_> {
    tools.iter().map(|tool| (tool.name.as_str(), tool)).collect()
}

/// Failed before undecided before clear.
fn graver(a: Standing, b: Standing) -> Standing {
    let rank = |standing| match standing {
        Standing::Clear => 0,
        Standing::Undecided => 1,
        Standing::Failed => 2,
    };
    if rank(a) >= rank(b) { a } else { b }
}

/// A scenario in which the server itself says that its list changed answers the fourth question of its tools.
fn told(suite: &Suite, record: &mut ReviewRecord) -> Result<(), Failure> {
    let document = Document::parse(&suite.name, &files::read(&suite.name)?)?;
    if document.first_key() != Some("drift") {
        return Ok(());
    }
    let tools = lab::drift::announced(Path::new(&suite.name), &document)?;
    for entry in &mut record.entries {
        if !tools.iter().any(|tool| tool == entry.subject.name()) {
            continue;
        }
        let failed = suite.cases.iter().find(|case| !case.verdict().passes());
        let answer = match failed {
            None => ReviewAnswer::Yes {
                checked: format!(
                    "executed: {}: the server says so, and whoever then looks is shown the new list",
                    suite.name
                ),
            },
            Some(case) => {
                ReviewAnswer::No { checked: format!("executed: {}: {}", suite.name, case.told()) }
            }
        };
        entry.answers.insert(Question::NotifiedWhenReady, answer);
    }
    Ok(())
}

/// Fills in what was executed for one subject.
fn answer(entry: &mut ReviewEntry, changed: &Entry, checked: &Checked) -> Standing {
    if !checked.announces && matches!(entry.subject, Subject::Tool(_)) {
        entry.answers.insert(
            Question::NotifiedWhenReady,
            ReviewAnswer::NotApplicable {
                why: "executed: the server does not declare tools.listChanged: it tells nobody, and an old session keeps its list"
                    .to_owned(),
            },
        );
    }
    let tried = match checked.tools.get(entry.subject.name()) {
        // What is new has no old sessions.
        None => return Standing::Clear,
        Some(Err(why)) => {
            let run = format!("the old call by hand: {why}");
            entry.answers.insert(Question::RefusedBeforeEffect, ReviewAnswer::NotChecked { run });
            return Standing::Undecided;
        }
        Some(Ok(tried)) => tried,
    };
    let name = entry.subject.name().to_owned();
    let line = |one: &Tried| {
        let arguments = report::escape::one_line(&one.arguments, 120);
        format!("{name}({arguments}) {}", one.answered)
    };
    let is_refused = |one: &&Tried| matches!(one.outcome, Outcome::Refused { .. });
    let refused: Vec<&Tried> = tried.iter().filter(is_refused).collect();
    // The gravest of what was not as it must be: it answers what the calls meant and what they did.
    let (mut standing, mut unsound) = (Standing::Clear, None);
    for one in tried {
        let (found, told) = match &one.outcome {
            Outcome::Kept(_) | Outcome::Refused { .. } => continue,
            Outcome::Else(what) => {
                let told = format!("{}: {what}", line(one));
                entry.faults.push(told.clone());
                (Standing::Failed, ReviewAnswer::No { checked: format!("executed: {told}") })
            }
            Outcome::Open(why) => {
                let why = format!("executed: {}: {why}", line(one));
                (Standing::Undecided, ReviewAnswer::Undecided { why })
            }
        };
        if unsound.is_none() || graver(standing, found) != standing {
            unsound = Some(told);
        }
        standing = graver(standing, found);
    }
    let mut set = |question, answer| {
        entry.answers.insert(question, answer);
    };
    set(Question::OldArguments, old_arguments(changed, tried, &line));
    let meaning = || same_meaning(changed, tried, &refused);
    set(Question::SameMeaning, unsound.clone().unwrap_or_else(meaning));
    let seen = checked.reached_recorder();
    let refusal = || before_effect(&refused, seen, &line);
    set(Question::RefusedBeforeEffect, unsound.unwrap_or_else(refusal));
    if let Some(answer) = repair(changed, &refused, &line) {
        set(Question::RepairWithoutAuthority, answer);
    }
    standing
}

/// How a call is told.
type Line<'l> = &'l dyn Fn(&Tried) -> String;

fn old_arguments(changed: &Entry, tried: &[Tried], line: Line<'_>) -> ReviewAnswer {
    if let Some(one) = tried.iter().find(|one| !one.done) {
        return ReviewAnswer::No { checked: format!("executed: {}", line(one)) };
    }
    // Taken by a server is each call that was made; a change that no call was about is judged by the comparison.
    let untried = changed.changes.iter().find(|change| {
        change.axes.compat >= Compat::Adaptable
            && !tried.iter().any(|one| one.rule == Some(change.rule))
    });
    match untried {
        Some(change) => ReviewAnswer::No {
            checked: format!("{} {} (no old call was made about it)", change.rule, change.sentence),
        },
        None => ReviewAnswer::Yes {
            checked: format!("executed: {}", tried.iter().map(line).collect::<Vec<_>>().join("; ")),
        },
    }
}

fn same_meaning(changed: &Entry, tried: &[Tried], refused: &[&Tried]) -> ReviewAnswer {
    if refused.len() == tried.len() {
        return ReviewAnswer::NotApplicable {
            why: "executed: old calls are refused, so they mean nothing".to_owned(),
        };
    }
    let kept = match tried.iter().all(|one| one.against_old) {
        true => "old calls did what they do at the server that is replaced",
        false => "old calls did what the control call does",
    };
    let moved = |is: Meaning| changed.changes.iter().find(|change| change.axes.meaning == is);
    match (changed.axes.meaning, moved(changed.axes.meaning)) {
        (Meaning::Same, _) => ReviewAnswer::Yes {
            checked: format!("executed: {kept}; compared: nothing says otherwise"),
        },
        (Meaning::Changed, change) => ReviewAnswer::No {
            checked: format!("{} (executed: {kept}, for the values tried)", told_of(change)),
        },
        (Meaning::Unknown, change) => ReviewAnswer::Undecided {
            why: format!("{} (executed: {kept}, for the values tried)", told_of(change)),
        },
    }
}

fn told_of(change: Option<&contract::Change>) -> String {
    match change {
        Some(change) => format!("{} {}", change.rule, change.sentence),
        None => "it follows from its changes together".to_owned(),
    }
}

fn before_effect(refused: &[&Tried], seen: bool, line: Line<'_>) -> ReviewAnswer {
    let Some(one) = refused.first() else {
        return ReviewAnswer::NotApplicable {
            why: "executed: nothing is refused: old calls go on as before".to_owned(),
        };
    };
    match (&one.reached, one.reads) {
        // Nothing that worked reached it either: it may be that the server does not look at the variable.
        (Some(_), None) if !seen => ReviewAnswer::Undecided {
            why: format!(
                "executed: {}; nothing ever reached the recorder, also of calls that worked: the server may not use its address",
                line(one)
            ),
        },
        (Some(_), _) => ReviewAnswer::Yes {
            checked: format!("executed: {}; nothing reached the recorder", line(one)),
        },
        (None, Some(why)) => ReviewAnswer::Yes {
            checked: format!("executed: {}; there is no effect, {why}", line(one)),
        },
        (None, None) => ReviewAnswer::Undecided {
            why: format!("executed: {}; effects were not observed: --recorder NAME", line(one)),
        },
    }
}

/// Whether the error of a refusal leads to the repair, and what is missing is no authority.
fn repair(changed: &Entry, refused: &[&Tried], line: Line<'_>) -> Option<ReviewAnswer> {
    let mut explained = None;
    for one in refused {
        let Outcome::Refused { repairable, why } = &one.outcome else { continue };
        let told = format!("executed: {}: {why}", line(one));
        if !repairable {
            return Some(ReviewAnswer::No { checked: told });
        }
        explained.get_or_insert(told);
    }
    let told = explained?;
    match changed.axes.authority {
        Authority::Same | Authority::Narrower => Some(ReviewAnswer::Yes {
            checked: format!("{told}; compared: nothing reaches further"),
        }),
        // What the comparison says of the authority stands.
        Authority::Wider | Authority::Unknown => None,
    }
}
