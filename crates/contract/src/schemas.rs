//! Two JSON Schemas: the relation itself, and the rules that explain it.

use crate::change::{Change, Counts, Diff, Entry, Kind, Revision, Side, Subject};
use crate::diff::Options;
use crate::document::{Bundle, Problem};
use crate::edit::{Union, walk};
use crate::engine::{concerns_sets, is_same_set};
use crate::relation::{Local, reported};
use crate::rules::finding::{Context, canonical, claims_loss};
use crate::rules::{comparison, input, tool};
use crate::tools::join;
use crate::verdict::{Compat, Verdict};
use crate::view::Source;
use schema::{Answer, Documents, OpenObjects, Question, ReadOptions, Relation, Schema, relate};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compares two schemas as what a caller sends: `lost` breaks. The relation is strict: any member
/// that a schema does not forbid may be sent.
///
/// # Errors
/// Where one of the two cannot be read as a schema: all problems at once.
pub fn diff(old: &Bundle, new: &Bundle, options: &Options) -> Result<Diff, Vec<Problem>> {
    let (old_documents, new_documents) = (documents(old), documents(new));
    let mut problems = Vec::new();
    let mut read =
        |bundle: &Bundle, documents: &Arc<Documents>, pointer: &str| match Schema::read_in(
            documents,
            "",
            pointer,
            &ReadOptions::default(),
        ) {
            Ok(schema) => Some(schema),
            Err(found) => {
                problems.extend(found.into_iter().map(|problem| Problem {
                    place: format!("{}#{}", bundle.name, problem.pointer),
                    sentence: problem.sentence,
                    help: "correct the schema; nothing was compared".to_string(),
                }));
                None
            }
        };
    let (was, is) = (read(old, &old_documents, ""), read(new, &new_documents, ""));
    let (Some(was), Some(is)) = (was, is) else { return Err(problems) };
    let counts = |unchanged| Counts { old: 1, new: 1, unchanged };
    let (from, to) = (revision(old), revision(new));
    if from == to {
        return Ok(Diff {
            kind: Kind::Schema,
            verdict: Verdict::Safe,
            entries: Vec::new(),
            counts: counts(1),
            flaws: Vec::new(),
        });
    }
    // The strict relation is reported. The verdict asks the question that matters to a caller:
    // members that its own schema declares (an optional member added to an open schema is no loss).
    let relation = relate(&was, &is, &Question::default());
    let declared = Question { open_objects: OpenObjects::DeclaredWriters, ..Question::default() };
    let of_callers = relate(&was, &is, &declared);
    let subject = Subject::Schema(new.name.clone());
    let context = Context {
        subject: &subject,
        lexicon: &options.lexicon,
        old_text: "",
        new_text: "",
        prefix: "",
    };
    let mut changes = Vec::new();
    if let (Some(before), Some(after)) = (Source::bundle(old).at(""), Source::bundle(new).at("")) {
        for edit in walk(&before, &after) {
            let asked = concerns_sets(&edit).then(|| {
                let (Some(a), Some(b)) = (&edit.at.0, &edit.at.1) else { return None };
                let options = ReadOptions::default();
                let was = Schema::read_in(&old_documents, "", a, &options);
                let is = Schema::read_in(&new_documents, "", b, &options);
                Some(match (was, is) {
                    (Ok(was), Ok(is)) => Local::of(&relate(&was, &is, &declared)),
                    (Err(why), _) | (_, Err(why)) => {
                        let why = why.first().map(ToString::to_string);
                        Local::unknown(why.unwrap_or_else(|| "it cannot be read there".to_owned()))
                    }
                })
            });
            let local = asked.flatten().unwrap_or_else(Local::not_asked);
            let found = input::judge(&edit, &local, &context);
            let cancels_out = |union: &Arc<Union>| {
                let options = ReadOptions::default();
                let was = Schema::read_in(&old_documents, "", &union.at.0, &options);
                let is = Schema::read_in(&new_documents, "", &union.at.1, &options);
                edit.is_of_one_alternative(union)
                    && matches!((was, is), (Ok(was), Ok(is)) if is_same_set(&was, &is))
            };
            if !(found.iter().any(claims_loss) && edit.unions.iter().any(cancels_out)) {
                changes.extend(found);
            }
        }
    }
    settle(&mut changes, &of_callers, &relation, &context);
    debug_assert!(
        changes.iter().any(|change| change.axes.compat > Compat::Wording)
            || !matches!(
                (&relation.lost, &relation.gained),
                (Answer::Some(_), _) | (_, Answer::Some(_))
            ),
        "values that fit on one side only are never notation: {changes:#?}"
    );
    let mut entry: Entry = join(subject.clone(), Some(from), Some(to), changes);
    entry.relation = Some(relation);
    let verdict = entry.verdict;
    Ok(Diff {
        kind: Kind::Schema,
        verdict,
        entries: vec![entry],
        counts: counts(0),
        flaws: Vec::new(),
    })
}

/// The relation has the last word: a loss that no rule explains is still reported.
fn settle(
    changes: &mut Vec<Change>,
    relation: &Relation,
    strict: &Relation,
    context: &Context<'_>,
) {
    let settled = changes.iter().any(|change| change.axes.compat > Compat::Compatible);
    match &relation.lost {
        Answer::Some(witnesses) => {
            let Some(first) = witnesses.first() else { return };
            let witness = reported(first, Side::Old);
            match changes.iter_mut().find(|change| change.axes.compat > Compat::Compatible) {
                Some(change) if change.witness.is_none() => change.witness = Some(witness),
                Some(_) => {}
                None => changes.push(comparison::unexplained(
                    &witness,
                    crate::engine::Direction::Input,
                    context,
                )),
            }
        }
        Answer::Unknown(why) if !settled => changes.push(comparison::undecided(why, context)),
        _ => {}
    }
    let notation = changes.iter().all(|change| change.axes.compat <= Compat::Wording);
    let first = |answer: &Answer, side| match answer {
        Answer::Some(witnesses) => witnesses.first().map(|witness| reported(witness, side)),
        Answer::Nothing | Answer::Unknown(_) => None,
    };
    if notation && let Some(lost) = first(&strict.lost, Side::Old) {
        changes.push(comparison::unexplained_strictly(&lost, context));
    } else if notation && let Some(gained) = first(&strict.gained, Side::New) {
        changes.push(comparison::widened(&gained, "fits now and did not before", context));
    }
    if changes.is_empty() {
        changes.push(tool::restated(context));
    }
}

fn documents(bundle: &Bundle) -> Arc<Documents> {
    let files: BTreeMap<String, Arc<Value>> =
        bundle.files.iter().map(|(name, value)| (name.clone(), Arc::new(value.clone()))).collect();
    Arc::new(Documents::with_files(Arc::new(bundle.root.clone()), files))
}

fn revision(bundle: &Bundle) -> Revision {
    let mut hash = Sha256::new();
    hash.update(canonical(&bundle.root).as_bytes());
    for (name, value) in &bundle.files {
        hash.update(name.as_bytes());
        hash.update(canonical(value).as_bytes());
    }
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Revision { digest: format!("sha256:{hex}"), ordinal: None }
}
