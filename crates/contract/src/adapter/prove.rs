//! Proved or refuted, before anything is loaded.

use super::apply::{self, function};
use super::preimage::{Library, Rewriter, Stuck};
use super::{Adapter, From, Step, limits, picture, refuse};
use crate::change::Change;
use crate::digest;
use crate::document::Tool;
use crate::engine;
use crate::lexicon::Lexicon;
use crate::rules::finding::shown;
use crate::text::quoted;
use schema::{Answer, OpenObjects, Question, ReadOptions, Schema, evaluate, relate};
use serde_json::Value;

/// What was proved about an adapter and a pair of contracts.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The adapter.
    pub adapter: String,
    /// The old tool, and the digest of its revision.
    pub from: (String, String),
    /// The new tool, and the digest of its revision.
    pub to: (String, String),
    /// What is known about the answers of the new tool.
    pub results: Results,
    /// What a person should know all the same: values that are sent, arguments that are left out.
    pub notes: Vec<String>,
    /// The old tool as its calls look now: what a converted call was planned under.
    pub pictured: Tool,
    /// What moved beside the adapter: a converted call is valid, and by these it may mean something else or reach
    /// further. Which of them bear on one call is asked as for every change.
    pub remaining: Vec<Change>,
}

/// Whether an answer of the new tool is what a caller of the old one expects.
#[derive(Debug, Clone, PartialEq)]
pub enum Results {
    /// The old tool promised no structured answer.
    NotPromised,
    /// Proved: every answer of the new tool, restored where the adapter says how, fits the old output schema.
    Fits,
    /// Not proved, and the adapter says nothing about answers: each one has to be checked as it comes.
    Unproved(String),
}

/// Why an adapter does not load.
#[derive(Debug, Clone, PartialEq)]
pub struct Refutation {
    /// What kind of no it is.
    pub verdict: Verdict,
    /// Where in the file: `adapters.toml:14:3`.
    pub place: String,
    /// What is wrong, in a sentence.
    pub sentence: String,
    /// What to do about it.
    pub help: String,
    /// A call, or an answer, that shows it.
    pub counterexample: Option<Counterexample>,
}

/// The kinds of no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is for another tool or another revision.
    NotForThis,
    /// Neither proved nor refuted.
    Undecided,
    /// A call or an answer shows that it is wrong.
    Refuted,
    /// It does what no adapter may do.
    Refused,
}

/// What a counterexample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Arguments that the old tool takes.
    Call,
    /// A structured answer that the new tool may give.
    Answer,
}

/// A value that the adapter does not take to where it should.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// A call or an answer.
    pub about: About,
    /// What the caller, or the server, sends.
    pub value: Value,
    /// What the adapter makes of it; `None` where a step has no answer for it.
    pub becomes: Option<Value>,
    /// JSON Pointer into what it became: where the other side objects.
    pub instance_pointer: String,
    /// JSON Pointer into the schema: what objects.
    pub rejected_by: String,
    /// The keyword that objects.
    pub keyword: String,
    /// Why, in words.
    pub message: String,
}

/// What was found about one direction.
enum Found {
    Proved,
    Counter(Vec<Counterexample>),
    Undecided(String),
}

impl Adapter {
    /// Proves that every call of the old tool becomes a call that the new tool takes, or says why not.
    ///
    /// A call is what a caller that keeps to the old schema sends: no member that it does not declare.
    ///
    /// # Errors
    /// Everything that stands in the way: another tool or revision, what no adapter may do, counterexamples, and
    /// what could not be decided. An adapter with any of these must not be used for this pair.
    pub fn check(
        &self,
        old: &Tool,
        new: &Tool,
        lexicon: &Lexicon,
    ) -> Result<Proof, Vec<Refutation>> {
        if let Some(other) = self.for_another(old, new) {
            return Err(vec![other]);
        }
        if let Some(idle) = refuse::idle(self, old) {
            return Err(vec![idle]);
        }
        let mut refutations = refuse::refusals(self, old, new, lexicon);
        let missing = |tool: &Tool| {
            self.no(
                Verdict::Undecided,
                format!("{} has no inputSchema.", quoted(&tool.name)),
                "Every tool of the protocol has one: repair the list.",
            )
        };
        match (old.raw.get("inputSchema"), new.raw.get("inputSchema")) {
            (Some(before), Some(after)) => {
                refutations.extend(refuse::unread(self, &self.steps, after, "The new contract"));
                let before = engine::sent(before);
                match relation(About::Call, &before, after, &self.steps) {
                    Found::Proved => {}
                    Found::Counter(examples) => {
                        refutations.extend(examples.into_iter().map(|found| self.input(found)));
                    }
                    Found::Undecided(why) => refutations.push(self.no(
                        Verdict::Undecided,
                        format!("It could not be proved, and no call was found that refutes it: {why}."),
                        "What is not proved does not load. Write the adapter or the schema more simply, or let old calls be refused.",
                    )),
                }
            }
            (None, _) => refutations.push(missing(old)),
            (_, None) => refutations.push(missing(new)),
        }
        let results = match self.check_results(old, new) {
            Ok(results) => results,
            Err(found) => {
                refutations.extend(found);
                Results::NotPromised
            }
        };
        if !refutations.is_empty() {
            return Err(refutations);
        }
        let pictured = picture::pictured(self, old, new, results == Results::Fits);
        Ok(Proof {
            remaining: picture::remaining(&pictured, new, lexicon),
            pictured,
            adapter: self.id.clone(),
            from: (old.name.clone(), digest::of_tool(&old.raw)),
            to: (new.name.clone(), digest::of_tool(&new.raw)),
            results,
            notes: refuse::notes(self),
        })
    }

    /// A refutation at the adapter as a whole.
    pub(super) fn no(&self, verdict: Verdict, sentence: String, help: &str) -> Refutation {
        Refutation {
            verdict,
            place: self.place.clone(),
            sentence,
            help: help.to_owned(),
            counterexample: None,
        }
    }

    fn for_another(&self, old: &Tool, new: &Tool) -> Option<Refutation> {
        let (sentence, help) = if old.name != self.tool || new.name != self.target() {
            (
                format!(
                    "It converts calls of {} into calls of {}, and these are {} and {}.",
                    quoted(&self.tool),
                    quoted(self.target()),
                    quoted(&old.name),
                    quoted(&new.name)
                ),
                "Check it against the tools that it names.",
            )
        } else {
            match &self.from {
                From::Any => return None,
                From::Digests(digests) => {
                    let found = digest::of_tool(&old.raw);
                    if digests.contains(&found) {
                        return None;
                    }
                    (
                        format!(
                            "It is for another revision of {}; this one is {found}.",
                            quoted(&self.tool)
                        ),
                        "Check it against the contract that it was written for, or add this digest to `from`.",
                    )
                }
                From::Ordinals(ordinals) => match old.ordinal {
                    Some(found) if ordinals.contains(&found) => return None,
                    Some(found) => (
                        format!(
                            "It is for another revision of {}; this is revision {found}.",
                            quoted(&self.tool)
                        ),
                        "Check it against the lock that it was written for, or add this number to `from_ordinal`.",
                    ),
                    None => (
                        format!(
                            "It is for revision {} of {}, and this contract does not count revisions.",
                            ordinals.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
                            quoted(&self.tool)
                        ),
                        "Compare with a lock, which counts them, or name the revision by its digest in `from`.",
                    ),
                },
            }
        };
        Some(self.no(Verdict::NotForThis, sentence, help))
    }

    fn input(&self, found: Counterexample) -> Refutation {
        let sentence = match &found.becomes {
            None => format!(
                "This call is valid under the old contract and cannot be converted: {}.",
                found.message
            ),
            Some(_) => format!(
                "This call is valid under the old contract, and what it becomes is rejected by the new one{}: {}.",
                at(&found.instance_pointer),
                found.message.trim_end_matches('.')
            ),
        };
        let help = match (found.becomes.is_some(), found.keyword.as_str()) {
            (false, _) => {
                "Leave the place alone where the caller can fill it, or take what is there out of the way by a step before."
            }
            (true, "required") => {
                "The new tool asks for something that old calls do not hold: move it from where they hold it, or give it as a constant where it always was that value."
            }
            (true, "enum" | "const") => "Map the old values to new ones.",
            (true, "additionalProperties") => {
                "The new tool does not know this argument: rename it, or drop it where that changes nothing."
            }
            (true, "type") => {
                "The new tool takes another kind of value here: wrap it where that helps."
            }
            (true, _) => {
                "The new tool takes less than the old one: such calls have to be refused, so this adapter cannot load."
            }
        };
        Refutation { counterexample: Some(found), ..self.no(Verdict::Refuted, sentence, help) }
    }

    fn check_results(&self, old: &Tool, new: &Tool) -> Result<Results, Vec<Refutation>> {
        let schemas = (old.raw.get("outputSchema"), new.raw.get("outputSchema"));
        let found = match schemas {
            (None, _) if self.results.is_empty() => return Ok(Results::NotPromised),
            (None, _) => {
                return Err(vec![self.no(
                    Verdict::Refused,
                    "The old tool promised no structured answer, so there is nothing to restore.".to_owned(),
                    "Remove the [[adapter.result]] steps.",
                )]);
            }
            (Some(_), None) => {
                Found::Undecided("the new tool does not say what it answers".to_owned())
            }
            (Some(before), Some(after)) => {
                let unread = refuse::unread(self, &self.results, before, "The old answer");
                if !unread.is_empty() {
                    return Err(unread);
                }
                relation(About::Answer, after, &engine::opened(before), &self.results)
            }
        };
        let example = |found: &Counterexample| match &found.becomes {
            None => format!("{}, for example in {}", found.message, shown(&found.value)),
            Some(_) => format!(
                "{}{}, for example in {}",
                found.message,
                at(&found.instance_pointer),
                shown(&found.value)
            ),
        };
        match found {
            Found::Proved => Ok(Results::Fits),
            Found::Undecided(why) if self.results.is_empty() => Ok(Results::Unproved(why)),
            Found::Counter(examples) if self.results.is_empty() => Ok(Results::Unproved(
                examples.first().map(example).unwrap_or_default(),
            )),
            Found::Undecided(why) => Err(vec![self.no(
                Verdict::Undecided,
                format!("It could not be proved that restored answers are as they were promised: {why}."),
                "What is not proved does not load.",
            )]),
            Found::Counter(examples) => Err(examples
                .into_iter()
                .map(|found| Refutation {
                    sentence: format!(
                        "The new tool may answer this, and what is restored is not what the old one promised: {}.",
                        found.message.trim_end_matches('.')
                    ),
                    counterexample: Some(found),
                    ..self.no(
                        Verdict::Refuted,
                        String::new(),
                        "Restore what is missing from where the new tool puts it, or let old calls be refused.",
                    )
                })
                .collect()),
        }
    }
}

fn at(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" at {pointer}") }
}

/// Whether every value that a writer of `writes` sends becomes, by the steps, one that `reads` takes.
fn relation(about: About, writes: &Value, reads: &Value, steps: &[Step]) -> Found {
    let old = match Schema::read(writes, &ReadOptions::default()) {
        Ok(schema) => schema,
        Err(problems) => return Found::Undecided(first(&problems)),
    };
    let new = match Schema::read(reads, &ReadOptions::default()) {
        Ok(schema) => schema,
        Err(problems) => return Found::Undecided(first(&problems)),
    };
    // The simple question first: it is the smaller one, and its proof is a proof.
    match ask(&old, reads, steps, false) {
        Ok(Answer::Nothing) => return Found::Proved,
        Ok(Answer::Some(witnesses)) => {
            let examples = replayed(about, &witnesses, &new, steps);
            if !examples.is_empty() {
                return Found::Counter(examples);
            }
        }
        Ok(Answer::Unknown(_)) => {}
        Err(Stuck(why)) => return Found::Undecided(why),
    }
    match ask(&old, reads, steps, true) {
        Ok(Answer::Nothing) => Found::Proved,
        Ok(Answer::Some(witnesses)) => match replayed(about, &witnesses, &new, steps) {
            examples if examples.is_empty() => Found::Undecided(
                "a call was found that should fail, and the validator takes what it becomes"
                    .to_owned(),
            ),
            examples => Found::Counter(examples),
        },
        Ok(Answer::Unknown(why)) => Found::Undecided(match &why.keyword {
            Some(keyword) => format!("{} (`{keyword}`)", why.reason),
            None => why.reason,
        }),
        Err(Stuck(why)) => Found::Undecided(why),
    }
}

fn ask(old: &Schema, reads: &Value, steps: &[Step], split: bool) -> Result<Answer, Stuck> {
    let library = Library::new(reads)?;
    let mut rewriter = Rewriter::new(&library, split);
    let mut schema = library.root().clone();
    for step in steps.iter().rev() {
        schema = rewriter.preimage(&function(&step.action), &schema)?;
    }
    let image = if steps.is_empty() {
        Schema::read(reads, &ReadOptions::default()).map_err(|problems| Stuck(first(&problems)))?
    } else {
        library.schema(&schema)?
    };
    let question = Question { open_objects: OpenObjects::DeclaredWriters, ..Question::default() };
    Ok(relate(old, &image, &question).lost)
}

/// The witnesses whose conversion the validator rejects, each with what rejects it.
fn replayed(
    about: About,
    witnesses: &[schema::Witness],
    new: &Schema,
    steps: &[Step],
) -> Vec<Counterexample> {
    let mut examples: Vec<Counterexample> = Vec::new();
    for witness in witnesses.iter().take(limits::COUNTEREXAMPLES) {
        let value = witness.value.clone();
        let example = match apply::run(steps, &value) {
            Err(message) => Counterexample {
                about,
                value,
                becomes: None,
                instance_pointer: String::new(),
                rejected_by: String::new(),
                keyword: String::new(),
                message,
            },
            Ok(becomes) => match evaluate(new, &becomes) {
                Err(rejection) if rejection.keyword != "undecided" => Counterexample {
                    about,
                    value,
                    becomes: Some(becomes),
                    instance_pointer: rejection.instance_pointer,
                    rejected_by: rejection.schema_pointer,
                    keyword: rejection.keyword,
                    message: rejection.message,
                },
                _ => continue,
            },
        };
        let same_site = |known: &Counterexample| {
            (&known.keyword, &known.rejected_by, &known.message)
                == (&example.keyword, &example.rejected_by, &example.message)
        };
        if !examples.iter().any(same_site) {
            examples.push(example);
        }
    }
    examples
}

fn first(problems: &[schema::SchemaProblem]) -> String {
    problems.first().map_or_else(|| "a schema cannot be read".to_owned(), ToString::to_string)
}
