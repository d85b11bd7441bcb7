//! What the mutants of a contract came to: one score, and those that were not killed.

use super::judge::{Judged, Score};
use super::load::Bench;
use super::mutant::{Mutant, NotMade};
use crate::report::{Case as Told, Evidence, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The score, then each mutant that was not killed.
pub(super) fn told_mutants(
    bench: &Bench,
    made: &[Mutant],
    judged: &BTreeMap<usize, (Judged, Vec<Evidence>)>,
    not_made: &[NotMade],
    single: bool,
) -> Vec<Told> {
    let place = &bench.contract.place;
    let of = |wanted: Score| judged.values().filter(|(one, _)| one.score == wanted).count();
    let (killed, survived) = (of(Score::Killed), of(Score::Survived));
    let (strict, lost) = (of(Score::OverStrict), of(Score::NotReached) + not_made.len());
    let broken = made.len() - judged.len();
    let mut score = format!(
        "{} mutants: {killed} killed, {survived} survived, {strict} over-strict, {lost} not reached",
        made.len() + not_made.len()
    );
    if broken > 0 {
        score.push_str(&format!(", {broken} broken off by a fault of steadfast"));
    }
    let found = match (survived, strict, lost, broken) {
        (0, 0, 0, 0) => Verdict::Passed,
        (0, 0, _, 0) => Verdict::NotReached,
        (0, _, _, 0) => Verdict::OverStrict,
        _ => Verdict::Failed,
    };
    let mut told = Vec::new();
    if !single {
        told.push(Told {
            name: format!("{}/mutants", bench.contract.name),
            place: place.clone(),
            found,
            sentence: score,
            evidence: Vec::new(),
            steps: judged.len(),
            checks: judged.len(),
        });
    }
    let mut others: Vec<((Score, Reverse<usize>), Told)> = Vec::new();
    for (index, (one, evidence)) in judged {
        let found = match one.score {
            Score::Killed if single => Verdict::Passed,
            Score::Killed => continue,
            Score::Survived => Verdict::Failed,
            Score::OverStrict => Verdict::OverStrict,
            Score::NotReached => Verdict::NotReached,
        };
        others.push((
            (one.score, Reverse(one.damage)),
            Told {
                name: format!("{}/{}", bench.contract.name, made[*index].name),
                place: place.clone(),
                found,
                sentence: one.sentence.clone(),
                evidence: evidence.clone(),
                steps: 1,
                checks: 1,
            },
        ));
    }
    // The gravest first: what would have hit most.
    others.sort_by_key(|(gravity, _)| *gravity);
    told.extend(others.into_iter().map(|(_, told)| told));
    told.extend(not_made.iter().map(|lost| Told {
        name: format!("{}/{}", bench.contract.name, lost.name),
        place: place.clone(),
        found: Verdict::NotReached,
        sentence: lost.why.clone(),
        evidence: Vec::new(),
        steps: 0,
        checks: 0,
    }));
    told
}
