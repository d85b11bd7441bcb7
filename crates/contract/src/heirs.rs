//! What became of a tool that is gone: declared heirs first, then likely ones, each with reasons.

use crate::change::Heir;
use crate::document::{Tool, ToolList};
use crate::lexicon::{singular, words};
use crate::limits;
use crate::prose::named;
use crate::rename::{Likeness, tool_likeness};
use crate::view::{Node, Source, View};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// From this score on a like tool is named as a suspected heir.
const SUSPECT: f64 = 0.45;
/// From this score on, with the same words in the name, it is the same contract renamed.
const RENAMED: f64 = 0.6;
/// From this score on a tool is named as the nearest one of the list.
const NEAR: f64 = 0.25;

/// Finds an heir for each tool that is gone.
pub fn find<'a>(
    gone: &[&'a Tool],
    come: &[&'a Tool],
    new: &'a ToolList,
    declared: &BTreeMap<String, String>,
) -> BTreeMap<String, (Heir, &'a Tool, bool)> {
    let mut heirs: BTreeMap<String, (Heir, &'a Tool, bool)> = BTreeMap::new();
    for old in gone {
        let name = declared.get(&old.name).or_else(|| new.aliases.get(&old.name));
        if let Some(heir) = name.and_then(|name| new.tools.iter().find(|tool| tool.name == *name)) {
            let entry = Heir {
                name: heir.name.clone(),
                confidence: 1.0,
                reasons: vec!["declared".to_string()],
                declared: true,
            };
            heirs.insert(old.name.clone(), (entry, heir, true));
        }
    }
    if gone.len().saturating_mul(come.len()) > limits::HEIR_PAIRS {
        return heirs;
    }
    let fillers = fillers(gone, come);
    let (mine, theirs): (Vec<_>, Vec<_>) = (
        gone.iter().map(|tool| members(tool)).collect(),
        come.iter().map(|tool| members(tool)).collect(),
    );
    let mut candidates: Vec<(f64, usize, usize, Likeness)> = Vec::new();
    for (o, old) in gone.iter().enumerate() {
        if heirs.contains_key(&old.name) {
            continue;
        }
        for (n, new) in come.iter().enumerate() {
            let likeness = likeness((old, &mine[o]), (new, &theirs[n]), &fillers);
            if likeness.score >= SUSPECT {
                candidates.push((likeness.score, o, n, likeness));
            }
        }
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken = vec![false; come.len()];
    for (score, o, n, likeness) in candidates {
        if taken[n] || heirs.contains_key(&gone[o].name) {
            continue;
        }
        taken[n] = true;
        let same_contract = likeness.certain && score >= RENAMED;
        let heir = Heir {
            name: come[n].name.clone(),
            confidence: score,
            reasons: likeness.reasons,
            declared: false,
        };
        heirs.insert(gone[o].name.clone(), (heir, come[n], same_contract));
    }
    heirs
}

/// The tool of the new list that is most like one that is gone and has no heir, with the reasons:
/// where to look first, and no more than that.
///
/// `gone` tools are looked for in all: where that are too many pairs, none is named.
pub fn nearest<'a>(old: &Tool, gone: usize, new: &'a ToolList) -> Option<(&'a Tool, Vec<String>)> {
    if gone.saturating_mul(new.tools.len()) > limits::HEIR_PAIRS {
        return None;
    }
    let all: Vec<&Tool> = new.tools.iter().collect();
    let fillers = fillers(&[old], &all);
    let mine = members(old);
    let mut best: Option<(f64, &Tool, Vec<String>)> = None;
    for tool in &new.tools {
        let likeness = likeness((old, &mine), (tool, &members(tool)), &fillers);
        let named = likeness.reasons.iter().any(|reason| reason != "the same arguments")
            // Another deed is no place to look.
            && named::deeds_apart(&old.name, &tool.name).is_none();
        let better = best.as_ref().is_none_or(|(score, _, _)| likeness.score > *score);
        if named && likeness.score >= NEAR && better {
            best = Some((likeness.score, tool, likeness.reasons));
        }
    }
    best.map(|(_, tool, reasons)| (tool, reasons))
}

fn text(tool: &Tool) -> &str {
    tool.raw.get("description").and_then(Value::as_str).unwrap_or("")
}

/// The names of a tool's arguments.
fn members(tool: &Tool) -> Vec<String> {
    let null = Value::Null;
    let schema = tool.raw.get("inputSchema").unwrap_or(&null);
    let node =
        Node { source: Source::single(schema), file: "", pointer: String::new(), value: schema };
    View::of(&node).members.into_iter().map(|(name, _)| name).collect()
}

fn likeness(
    (old, mine): (&Tool, &[String]),
    (new, theirs): (&Tool, &[String]),
    fillers: &[String],
) -> Likeness {
    tool_likeness((&old.name, mine, text(old)), (&new.name, theirs, text(new)), fillers)
}

/// Words that say nothing about which tool is meant: verbs of every tool, and the words that most
/// of the tools that went have and the tools that came have not (a prefix that was dropped), or
/// the other way round.
fn fillers(gone: &[&Tool], come: &[&Tool]) -> Vec<String> {
    let mut fillers: Vec<String> =
        ["get", "the", "tool", "mcp"].iter().map(|word| (*word).to_string()).collect();
    if gone.len() < 2 || come.len() < 2 {
        return fillers;
    }
    let (was, is) = (spread(gone), spread(come));
    let share = |counts: &BTreeMap<String, usize>, word: &String, tools: usize| -> f64 {
        counts.get(word).copied().unwrap_or(0) as f64 / tools as f64
    };
    let all: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    for word in all {
        let (before, after) = (share(&was, word, gone.len()), share(&is, word, come.len()));
        let swapped = before >= 0.9 && after <= 0.1 || after >= 0.9 && before <= 0.1;
        let everywhere = before >= 0.9 && after >= 0.9;
        if swapped || everywhere {
            fillers.push(word.clone());
        }
    }
    fillers
}

/// In how many of the names each word stands.
fn spread(tools: &[&Tool]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for tool in tools {
        let parts: BTreeSet<String> =
            words(&tool.name).iter().map(|part| singular(part).to_string()).collect();
        for part in parts {
            *counts.entry(part).or_insert(0) += 1;
        }
    }
    counts
}

/// Words in a name that warn.
const WARNINGS: &[&str] = &[
    "unsafe", "dangerous", "danger", "admin", "root", "force", "raw", "any", "all", "privileged",
    "destructive", "insecure", "unrestricted", "public", "production", "prod", "live", "permanent",
    "permanently", "hard", "override", "bypass", "unchecked", "unmasked", "plaintext", "sudo",
];

/// Words in a name that make the deed smaller.
const ASSURANCES: &[&str] = &[
    "safe", "masked", "redacted", "sandboxed", "sandbox", "readonly", "preview", "draft", "dry",
    "dryrun", "simulated", "simulate", "restricted", "limited", "private", "staging", "test",
    "validate", "estimate", "checked", "encrypted", "anonymized",
];

/// True where the new name warns of something that the old one did not, or no longer says what made the deed smaller.
pub fn warns(old: &str, new: &str) -> bool {
    let (before, after) = (words(old), words(new));
    let only = |one: &[String], other: &[String], list: &[&str]| {
        one.iter().any(|word| list.contains(&word.as_str()) && !other.contains(word))
    };
    let reads_only = |words: &[String]| words.windows(2).any(|pair| pair == ["read", "only"]);
    only(&after, &before, WARNINGS)
        || only(&before, &after, ASSURANCES)
        || reads_only(&before) && !reads_only(&after)
}

/// True where the heir asks which of several deeds is meant: a required argument with a list of
/// values, or one named like a deed, that the old tool did not have.
pub fn is_merged(old: &Tool, new: &Tool) -> bool {
    let null = Value::Null;
    let schema = new.raw.get("inputSchema").unwrap_or(&null);
    let before = old.raw.get("inputSchema").unwrap_or(&null);
    let known = before.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).any(|name| {
        let is_new = known.is_none_or(|members| !members.contains_key(name));
        is_new && matches!(name, "method" | "action" | "operation" | "op" | "mode" | "command")
    })
}
