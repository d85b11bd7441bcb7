//! One cut pair of schemas judged: edits, the engine's answer, the rules of the direction, and
//! what an API adds to them.

use super::cut::{self, Pair};
use super::draft::{Finish, REACH, UNSURE, change};
use super::operation::risky;
use super::resolve::{Document, Place};
use super::{tags, text};
use crate::change::{Change, Side, Subject, Witness};
use crate::decision::guess::{self, Spot};
use crate::decision::{Flow, steps};
use crate::edit::{Edit, What, walk};
use crate::engine::{self, Direction};
use crate::lexicon::{Lexicon, Role};
use crate::node::Source;
use crate::prose::SignalKind;
use crate::relation::Local;
use crate::rules::authority::SF403;
use crate::rules::comparison;
use crate::rules::finding::{Context, Judgement, claims_loss, shown, shown_list};
use crate::rules::http::{SF512, SF519, SF529, SF540};
use crate::rules::input::SF122;
use crate::rules::{input, output};
use crate::verdict::{Authority, Class, Decision, Verdict};
use schema::reference::unescape;
use serde_json::Value;

/// One edit of a pair, judged; decisions are given to it where it is reached.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub change: Change,
    /// The steps from the pair's root to the value.
    pub steps: Vec<String>,
    /// What stands there, for guesses.
    pub schema: Option<Value>,
    /// Decisions that the edit itself suggests, whatever its place.
    pub hints: Vec<Decision>,
    /// The decisions come from what a text speaks about, not from its place.
    pub by_text: Option<String>,
    /// The value did not exist before: no map can have named it.
    pub novel: bool,
    /// It bears on calls that do not send the value at all.
    pub omitted: bool,
    /// The field's other name, where it was renamed.
    pub alias: Option<String>,
}

/// Judges what a pair says itself. `name` is the field by which it is reached first; `always`
/// says that the value at its root is in every old message.
pub(crate) fn judge(
    pair: &Pair,
    own: &(Value, Value),
    (name, always): (&str, bool),
    documents: (Document<'_>, Document<'_>),
    lexicon: &Lexicon,
) -> Vec<Judged> {
    let (old, new) = own;
    let (Some(before), Some(after)) = (Source::single(old).at(""), Source::single(new).at(""))
    else {
        return Vec::new();
    };
    let subject = Subject::Schema(pair.new.to_string());
    let (old_text, new_text) = (prose_of(old), prose_of(new));
    let context = Context {
        subject: &subject,
        lexicon,
        old_text: &old_text,
        new_text: &new_text,
        prefix: "",
    };
    let direction = match pair.flow {
        Flow::Request => Direction::Input,
        Flow::Response => Direction::Output,
    };
    let engine = engine::Pair::new(old, new, direction);
    let mut found = Vec::new();
    let mut alternatives = Vec::new();
    let mut unreadable = false;
    let mut unwritten = false;
    for mut edit in walk(&before, &after) {
        let inner = edit.field.clone();
        if inner.is_empty() || inner.starts_with('[') {
            edit.field = format!("{name}{inner}");
            edit.was_sent &= always;
        }
        if let (What::TextChanged { signals }, Flow::Request) = (&mut edit.what, pair.flow) {
            // "If it is omitted" speaks of what is not sent, not of an answer that holds less.
            signals.retain(|signal| {
                signal.kind != SignalKind::AnswerReduced || !signal.word.starts_with("omit")
            });
        }
        if matches!(&edit.what, What::Combinator { keyword } if keyword == "discriminator") {
            let explained = alternatives.contains(&edit.at);
            for (change, property) in tags::judge(pair, &edit, documents, explained) {
                found.push(Judged {
                    change,
                    steps: [steps(&inner), vec![property]].concat(),
                    schema: None,
                    hints: Vec::new(),
                    by_text: None,
                    novel: false,
                    omitted: false,
                    alias: None,
                });
            }
            continue;
        }
        let local = match engine::concerns_sets(&edit) {
            true => engine.local(&edit, &old_text),
            false => Ok(Local::not_asked()),
        };
        let mut changes = match (&local, pair.flow) {
            (Ok(local), Flow::Request) => input::judge(&edit, local, &context),
            (Ok(local), Flow::Response) => output::judge(&edit, local, &context),
            // Once for all places of the schema.
            (Err(_), _) if unreadable => continue,
            (Err(why), _) => {
                unreadable = true;
                vec![comparison::unreadable(why, &context)]
            }
        };
        if changes.iter().any(claims_loss) && engine.cancels_out(&edit) {
            continue;
        }
        if changes.iter().any(claims_loss) && hangs_on_stand_in(&edit, &changes, own) {
            unwritten = true;
            continue;
        }
        engine.show(&edit, &mut changes);
        for change in &mut changes {
            retell(change, pair, documents, old);
        }
        widen(pair.flow, &edit, &mut changes);
        if matches!(edit.what, What::VariantsChanged { .. })
            && changes.iter().any(|change| change.verdict > Verdict::Safe)
        {
            alternatives.push(edit.at.clone());
        }
        let place = place_of(pair, documents, &edit);
        let schema = schema_at(old, new, &edit);
        let hints = hints(pair.flow, &edit, lexicon);
        for mut change in changes {
            change.path = place.to_string();
            found.push(Judged {
                hints: hints.clone(),
                by_text: match &edit.what {
                    What::TextChanged { .. } => Some(format!(
                        "{} {}",
                        edit.before.as_ref().and_then(Value::as_str).unwrap_or(""),
                        edit.after.as_ref().and_then(Value::as_str).unwrap_or("")
                    )),
                    _ => None,
                },
                steps: steps(&inner),
                schema: schema.clone(),
                novel: matches!(edit.what, What::FieldAdded { .. }),
                omitted: matches!(
                    edit.what,
                    What::DefaultChanged | What::BecameRequired { .. } | What::FieldAdded { .. }
                ),
                alias: match &edit.what {
                    What::FieldRenamed { to, .. } => Some(to.clone()),
                    _ => None,
                },
                change,
            });
        }
    }
    let lone = |change: Change| Judged {
        change: Change { path: pair.new.to_string(), ..change },
        steps: Vec::new(),
        schema: Some(new.clone()),
        hints: Vec::new(),
        by_text: None,
        novel: false,
        omitted: false,
        alias: None,
    };
    if unwritten {
        found.push(lone(comparison::undecided(&beyond(), &context)));
    }
    let mut explained: Vec<Change> = found.iter().map(|judged| judged.change.clone()).collect();
    let unexplained = engine.explain(&mut explained, &context);
    for (judged, change) in found.iter_mut().zip(explained) {
        // A value that stands for a declaration compared elsewhere is none of the document's.
        judged.change.witness = change.witness.filter(|witness| !holds_mark(&witness.value, old));
    }
    for mut change in unexplained {
        if change.witness.as_ref().is_some_and(is_of_stand_in) {
            change = comparison::undecided(&beyond(), &context);
        }
        retell(&mut change, pair, documents, old);
        found.push(lone(change));
    }
    found
}

/// Why nothing is said of what hangs on a declaration that only its name stands for.
fn beyond() -> schema::Why {
    schema::Why {
        reason: format!(
            "it hangs on more than {} declarations that the other side reaches otherwise",
            super::limits::DEFINITIONS
        ),
        pointer: String::new(),
        keyword: None,
        spent: 0,
    }
}

/// True where the edit, or what shows it, is about a name that stands for a declaration.
fn hangs_on_stand_in(edit: &Edit, changes: &[Change], (old, new): &(Value, Value)) -> bool {
    let stands = |root: &Value, at: &Option<String>| {
        at.as_ref().is_some_and(|pointer| cut::stands_in(root, pointer))
    };
    stands(old, &edit.at.0)
        || stands(new, &edit.at.1)
        || [&edit.before, &edit.after].into_iter().flatten().any(cut::holds_stand_in)
        || changes.iter().filter_map(|change| change.witness.as_ref()).any(is_of_stand_in)
}

/// True where a name that stands for a declaration is what shows a loss, or what refuses a value of the document: the
/// two sides reach the declaration by different ways, and nothing is known.
fn is_of_stand_in(witness: &Witness) -> bool {
    let by = witness.rejected_by.strip_prefix("/$defs/").and_then(|by| by.strip_suffix("/const"));
    let refused_by_one = by.is_some_and(|by| by.bytes().all(|byte| byte.is_ascii_digit()))
        && !witness
            .value
            .pointer(&witness.instance_pointer)
            .and_then(Value::as_str)
            .is_some_and(|text| text.contains('#'));
    refused_by_one || cut::holds_stand_in(&witness.value)
}

/// Says in words what only a name stands for, and where in the documents a value is refused.
fn retell(change: &mut Change, pair: &Pair, documents: (Document<'_>, Document<'_>), own: &Value) {
    if let Some(witness) = &mut change.witness
        && witness.rejected_by.starts_with("/$defs/at")
    {
        let place = match witness.accepted_by {
            Side::Old => locate(documents.1, &pair.new, &witness.rejected_by),
            Side::New => locate(documents.0, &pair.old, &witness.rejected_by),
        };
        let place = place.to_string();
        change.sentence = change.sentence.replace(&witness.rejected_by, &place);
        witness.rejected_by = place;
    }
    change.sentence = cut::spelled(&change.sentence);
    let Some(witness) = change.witness.take_if(|witness| holds_mark(&witness.value, own)) else {
        return;
    };
    let name = shown(&witness.value);
    change.sentence = change.sentence.replace(&name, "what another declaration describes");
}

/// What an API demands beyond the rules of a direction: there, a grant names operations.
fn widen(flow: Flow, edit: &Edit, changes: &mut Vec<Change>) {
    let name = edit.field.rsplit('.').next().unwrap_or("").trim_end_matches("[]");
    let place = Place::default();
    let draft = |rule, judgement, sentence: String| {
        change(rule, judgement, &place, sentence)
            .field(&edit.field)
            .values(edit.before.as_ref(), edit.after.as_ref())
    };
    let all_safe = |changes: &[Change]| changes.iter().all(|c| c.verdict == Verdict::Safe);
    match (&edit.what, flow) {
        (What::FieldAdded { required: false, default, .. }, Flow::Request)
            if risky(name, default.as_ref()) =>
        {
            let when = match default {
                Some(value) if !crate::edit::is_zero(value) => {
                    format!("means {} where it is left out", shown(value))
                }
                _ => "can take something that cannot be given back".to_owned(),
            };
            *changes = vec![draft(
                &SF512,
                REACH,
                format!(
                    "`{name}` is new and {when}: a person looks before the operation is used again"
                ),
            )];
        }
        // What a new flag does by its default an API did before, until it says otherwise.
        (What::FieldAdded { required: false, .. }, Flow::Request)
            if changes.iter().any(|change| change.rule == SF122.code) =>
        {
            *changes = vec![draft(
                &SF403,
                Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
                format!(
                    "`{name}` can be set now and bears on the deed: old calls leave it out, a standing grant should say which value it covers"
                ),
            )];
        }
        (
            What::ValuesChanged { added, introduced: false, lifted: false, recased, .. },
            Flow::Request,
        ) => {
            let new: Vec<Value> = added
                .iter()
                .filter(|value| !recased.iter().any(|(_, is)| is == *value))
                .cloned()
                .collect();
            if !new.is_empty() {
                changes.retain(|change| change.verdict != Verdict::Safe);
                changes.push(draft(
                    &SF519,
                    REACH,
                    format!(
                        "`{name}` also takes {} now: old calls go on, but whoever was granted the operation may do more",
                        shown_list(&new)
                    ),
                ));
            }
        }
        (What::DefaultChanged, Flow::Request)
            if edit.before.as_ref().is_some_and(|value| !value.is_null())
                && edit.after.as_ref().is_none_or(Value::is_null) =>
        {
            // A server whose default is no longer written down has not promised to keep it.
            for change in changes.iter_mut().filter(|c| c.verdict == Verdict::Safe) {
                let before = edit.before.as_ref().map_or_else(String::new, shown);
                let mut firm = draft(
                    &crate::rules::input::SF152,
                    UNSURE,
                    format!(
                        "leaving `{name}` out meant {before}; that is no longer written down, and the server chooses"
                    ),
                );
                std::mem::swap(change, &mut firm);
            }
        }
        (What::FieldAdded { required: true, .. }, Flow::Response) if guess::asks(name) => {
            *changes = vec![draft(
                &SF529,
                Judgement::LOOK,
                format!(
                    "every answer says `{name}` now: whoever does not read it goes on where a person should be asked"
                ),
            )];
        }
        (What::TextChanged { .. }, _) if all_safe(changes) => {
            let (before, after) = (
                edit.before.as_ref().and_then(Value::as_str).unwrap_or(""),
                edit.after.as_ref().and_then(Value::as_str).unwrap_or(""),
            );
            let path = steps(&edit.field);
            let spot = Spot {
                flow,
                path: &path,
                schema: None,
                reads: flow == Flow::Response,
                error: false,
                about: &[],
            };
            if let Some(moved) = text::api_moved(before, after, &spot) {
                *changes = vec![draft(
                    &SF540,
                    UNSURE,
                    format!("`{name}`: the text says something else: {}", moved.what),
                )];
            }
        }
        _ => {}
    }
}

/// True where a value holds one of the marks that stand for other declarations.
fn holds_mark(value: &Value, cut: &Value) -> bool {
    match value {
        Value::String(text) => cut
            .get("$defs")
            .and_then(Value::as_object)
            .is_some_and(|marks| marks.values().any(|mark| mark["const"] == text.as_str())),
        Value::Array(items) => items.iter().any(|item| holds_mark(item, cut)),
        Value::Object(members) => members.values().any(|member| holds_mark(member, cut)),
        _ => false,
    }
}

fn hints(flow: Flow, edit: &Edit, lexicon: &Lexicon) -> Vec<Decision> {
    let destroys = |value: &Value| value.as_str().is_some_and(guess::destroys);
    match (&edit.what, flow) {
        (What::ValuesChanged { added, .. }, Flow::Request) if added.iter().any(destroys) => {
            vec![Decision::Ask]
        }
        (What::DefaultChanged, Flow::Request) if edit.after.as_ref().is_some_and(destroys) => {
            vec![Decision::Ask]
        }
        (What::Closed | What::Opened, Flow::Response) => vec![Decision::Target],
        // A walk in steps that are too long ends in a refusal.
        (What::BoundChanged { keyword: "maximum", tighter: true }, Flow::Request)
            if lexicon.role(&edit.field) == Role::Paging =>
        {
            vec![Decision::Completion]
        }
        _ => Vec::new(),
    }
}

fn schema_at(old: &Value, new: &Value, edit: &Edit) -> Option<Value> {
    let at = |root: &Value, pointer: &Option<String>| -> Option<Value> {
        let mut value = root.pointer(pointer.as_deref()?)?;
        for _ in 0..4 {
            let Some(Value::String(reference)) = value.get("$ref") else {
                break;
            };
            value = root.pointer(reference.strip_prefix('#')?)?;
        }
        Some(value.clone())
    };
    at(new, &edit.at.1).or_else(|| at(old, &edit.at.0))
}

/// Everything a schema says in prose, each text behind the name of its field.
fn prose_of(schema: &Value) -> String {
    let mut text = String::new();
    collect(schema, "", &mut text, 0);
    text
}

fn collect(value: &Value, field: &str, text: &mut String, depth: usize) {
    if depth > super::limits::SCHEMA_DEPTH {
        return;
    }
    match value {
        Value::Object(members) => {
            if let Some(Value::String(said)) = members.get("description") {
                text.push_str(&format!("\u{0}{field}\u{0} {said} \n"));
            }
            for (name, member) in members {
                if let ("properties", Value::Object(named)) = (name.as_str(), member) {
                    for (name, schema) in named {
                        let inner =
                            if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                        collect(schema, &inner, text, depth + 1);
                    }
                } else if name == "items" {
                    collect(member, &format!("{field}[]"), text, depth + 1);
                } else if matches!(name.as_str(), "allOf" | "anyOf" | "oneOf") {
                    collect(member, field, text, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, field, text, depth + 1);
            }
        }
        _ => {}
    }
}

/// Where an edit stands in the documents as they were written: on the new side where it is there.
pub(super) fn place_of(pair: &Pair, documents: (Document<'_>, Document<'_>), edit: &Edit) -> Place {
    match (&edit.at.0, &edit.at.1) {
        (_, Some(pointer)) => locate(documents.1, &pair.new, pointer),
        (Some(pointer), None) => locate(documents.0, &pair.old, pointer),
        (None, None) => pair.new.clone(),
    }
}

/// Follows a pointer of a cut schema through the document it was cut from.
pub(super) fn locate(document: Document<'_>, base: &Place, pointer: &str) -> Place {
    let mut place = base.clone();
    let mut tokens: Vec<String> = pointer.split('/').skip(1).map(unescape).collect();
    if let [keyword, name, ..] = tokens.as_slice()
        && keyword == "$defs"
        && let Some(defined) = cut::defined(name)
    {
        place = defined;
        tokens.drain(..2);
    }
    tokens.reverse();
    let mut hops = 0;
    while let Some(token) = tokens.pop() {
        while let Some(node) = document.get(&place) {
            let has = match node.value {
                Value::Array(items) => token.parse::<usize>().is_ok_and(|at| at < items.len()),
                other => other.get(&token).is_some(),
            };
            if has {
                break;
            }
            // `anyOf/0` around a nullable schema is ours, not the document's.
            let ours =
                token == "anyOf" && node.flag("nullable").or(node.flag("x-nullable")) == Some(true);
            if ours {
                tokens.pop();
                break;
            }
            let dressed = match node.value.get("allOf").and_then(Value::as_array) {
                Some(parts) if parts.len() == 1 => Some(place.child("allOf").child("0")),
                _ => None,
            };
            let target = node
                .text("$ref")
                .and_then(|reference| document.target(&place, reference).ok())
                .or(dressed);
            match target {
                Some(target) if hops < super::limits::REF_CHAIN => {
                    hops += 1;
                    place = target;
                }
                _ => break,
            }
        }
        let there = document.get(&place).is_some_and(|node| match node.value {
            Value::Array(items) => token.parse::<usize>().is_ok_and(|at| at < items.len()),
            other => other.get(&token).is_some(),
        });
        if there {
            place = place.child(&token);
        }
    }
    place
}
