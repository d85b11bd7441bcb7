//! What became of an operation that is gone: a hypothesis with its reasons, never acted on alone.

use super::draft::{GONE, change};
use super::limits;
use super::read::{Api, Operation};
use crate::change::{Change, Heir};
use crate::lexicon::words;
use crate::rules::http::SF502;
use std::collections::{BTreeMap, BTreeSet};

/// From this score on an heir is named.
const SUSPECT: f64 = 0.6;

/// Finds a likely heir for each operation that is gone, each heir once.
pub(crate) fn find(
    old: &Api<'_>,
    new: &Api<'_>,
    declared: &BTreeMap<String, String>,
) -> BTreeMap<String, Heir> {
    let gone: Vec<&Operation<'_>> = lone(old, new);
    let come: Vec<&Operation<'_>> = lone(new, old);
    let mut heirs = BTreeMap::new();
    for was in &gone {
        let to = declared.get(&was.name()).or_else(|| was.id.and_then(|id| declared.get(id)));
        let heir =
            to.and_then(|to| come.iter().find(|is| is.name() == *to || is.id == Some(to.as_str())));
        if let Some(is) = heir {
            heirs.insert(
                was.name(),
                Heir {
                    name: is.name(),
                    confidence: 1.0,
                    reasons: vec!["declared".to_owned()],
                    declared: true,
                },
            );
        }
    }
    if gone.len() * come.len() > limits::HEIR_PAIRS {
        return heirs;
    }
    let mut candidates = Vec::new();
    for (o, was) in gone.iter().enumerate() {
        for (n, is) in come.iter().enumerate() {
            let (score, reasons) = likeness(was, is);
            if score >= SUSPECT {
                candidates.push((score, o, n, reasons));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken: BTreeSet<String> = heirs.values().map(|heir: &Heir| heir.name.clone()).collect();
    for (score, o, n, reasons) in candidates {
        let (was, is) = (gone[o].name(), come[n].name());
        if heirs.contains_key(&was) || !taken.insert(is.clone()) {
            continue;
        }
        heirs.insert(
            was,
            Heir {
                name: is,
                confidence: (score * 100.0).round() / 100.0,
                reasons,
                declared: false,
            },
        );
    }
    heirs
}

fn lone<'o, 'a>(one: &'o Api<'a>, other: &Api<'_>) -> Vec<&'o Operation<'a>> {
    one.operations
        .iter()
        .filter(|(key, _)| !other.operations.contains_key(*key))
        .map(|(_, operation)| operation)
        .collect()
}

fn share(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 {
        return 1.0;
    }
    a.intersection(b).count() as f64 / all as f64
}

fn likeness(was: &Operation<'_>, is: &Operation<'_>) -> (f64, Vec<String>) {
    let mut score = 0.0;
    let mut reasons = Vec::new();
    if was.id.is_some() && was.id == is.id {
        score += 0.55;
        reasons.push("the same operationId".to_owned());
    }
    if was.method == is.method {
        score += 0.1;
    } else {
        reasons.push(format!("but {} became {}", was.method, is.method));
        score -= 0.2;
    }
    let parts = |operation: &Operation<'_>| -> BTreeSet<String> {
        operation.path.split('/').filter(|part| !part.starts_with('{')).flat_map(words).collect()
    };
    let paths = share(&parts(was), &parts(is));
    score += 0.25 * paths;
    if paths >= 0.5 {
        reasons.push("the paths share words".to_owned());
    }
    let names = |operation: &Operation<'_>| -> BTreeSet<String> {
        operation.parameters.values().map(|parameter| parameter.name.to_owned()).collect()
    };
    let parameters = share(&names(was), &names(is));
    score += 0.15 * parameters;
    if parameters >= 0.5 && !was.parameters.is_empty() {
        reasons.push("like parameters".to_owned());
    }
    let text = |operation: &Operation<'_>| {
        let node = &operation.node;
        node.text("summary").or(node.text("description")).unwrap_or("").to_owned()
    };
    let (before, after) = (text(was), text(is));
    if !before.is_empty() && crate::prose::same_text(&before, &after) {
        score += 0.2;
        reasons.push("the same text".to_owned());
    }
    (f64::min(score, 0.99), reasons)
}

/// The change of an operation that is gone.
pub(crate) fn removed(was: &Operation<'_>, heir: Option<&Heir>) -> Change {
    let sentence = match heir {
        Some(heir) if heir.declared => format!(
            "the operation is gone; `{}` was declared its heir: point the call there",
            heir.name
        ),
        Some(heir) => format!(
            "the operation is gone; `{}` looks like its heir ({}), which is a guess: a call must not follow it unasked",
            heir.name,
            heir.reasons.join(", ")
        ),
        None => "the operation is gone: a call fails, it never becomes a no-op".to_owned(),
    };
    change(&SF502, GONE, &was.node.place, sentence)
}
