//! `discriminator`: the field whose value says which alternative a message is, and what each tag
//! stands for. No set of values shows it: a tag that points to another schema validates as before.

use super::cut::Pair;
use super::draft::{Finish, READER, UNSURE, change};
use super::limits;
use super::lower;
use super::resolve::{Document, Node, Place, Version};
use super::schemas::{locate, place_of};
use crate::change::Change;
use crate::decision::Flow;
use crate::edit::Edit;
use crate::rules::finding::{Judgement, shown};
use crate::rules::http::SF561;
use crate::verdict::{Class, Compat};
use schema::reference::unescape;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What stands at `place`, in one spelling: `{"propertyName": …, "mapping": {tag: place}}`.
///
/// A schema that the mapping names under no tag has the one that its own field allows, else its
/// name; so a mapping that only writes out what holds anyway is the same text.
pub(crate) fn canonical(
    document: Document<'_>,
    place: &Place,
    members: &Map<String, Value>,
) -> Option<Value> {
    let stated = members.get("discriminator")?;
    let property = stated.as_str().or_else(|| stated.get("propertyName")?.as_str())?;
    let mut mapping: BTreeMap<String, String> = BTreeMap::new();
    let mut mapped: BTreeSet<String> = BTreeSet::new();
    for (tag, target) in stated.get("mapping").and_then(Value::as_object).into_iter().flatten() {
        let Some(target) = target.as_str() else {
            continue;
        };
        let target = match named(document, place, target) {
            Some(node) => lower::key(&node.place),
            // A tag that leads nowhere is compared as it is written.
            None => target.to_owned(),
        };
        mapped.insert(target.clone());
        mapping.insert(tag.clone(), target);
    }
    for (name, node) in alternatives(document, place, members) {
        let target = lower::key(&node.place);
        if mapped.contains(&target) {
            continue;
        }
        match own_tag(document, &node, property, place, 0) {
            Some(Some(tag)) => mapping.entry(tag).or_insert(target),
            Some(None) => mapping.entry(name).or_insert(target),
            None => continue,
        };
    }
    Some(json!({"propertyName": property, "mapping": mapping}))
}

/// The schema that a mapping names: the name of a declaration, or a reference.
fn named<'a>(document: Document<'a>, from: &Place, target: &str) -> Option<Node<'a>> {
    let declared = declarations(document).child(target);
    let node = match document.get(&declared) {
        Some(node) => node,
        None => document.get(&document.target(from, target).ok()?)?,
    };
    document.follow(node).ok()
}

fn declarations(document: Document<'_>) -> Place {
    match document.version {
        Version::Swagger2 => Place::default().child("definitions"),
        Version::V30 | Version::V31 => Place::default().child("components").child("schemas"),
    }
}

/// The schemas among which the tag chooses, by the names under which they are referred to: what
/// `oneOf` and `anyOf` list, else what builds upon the schema by `allOf`.
fn alternatives<'a>(
    document: Document<'a>,
    place: &Place,
    members: &Map<String, Value>,
) -> Vec<(String, Node<'a>)> {
    let mut found = Vec::new();
    let mut listed = false;
    for keyword in ["oneOf", "anyOf"] {
        for option in members.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            listed = true;
            let target = option.get("$ref").and_then(Value::as_str);
            let Some(target) = target.and_then(|r| document.target(place, r).ok()) else {
                continue;
            };
            let name = unescape(target.pointer.rsplit('/').next().unwrap_or_default());
            let node = document.get(&target).and_then(|node| document.follow(node).ok());
            found.extend(node.map(|node| (name, node)));
        }
    }
    if !listed && let Some(all) = document.get(&declarations(document)) {
        let builds_upon = |node: &Node<'_>| {
            node.get("allOf").into_iter().flat_map(|parts| parts.items()).any(|part| {
                part.text("$ref")
                    .and_then(|reference| document.target(&part.place, reference).ok())
                    .is_some_and(|target| target == *place)
            })
        };
        found.extend(
            all.members()
                .filter(|(_, node)| builds_upon(node))
                .map(|(name, node)| (name.clone(), node)),
        );
    }
    found
}

/// The tag that a schema's own field allows: `Some(None)` where the field allows any, `None` where
/// it allows several, so that no single tag is the schema's.
fn own_tag(
    document: Document<'_>,
    node: &Node<'_>,
    property: &str,
    base: &Place,
    depth: usize,
) -> Option<Option<String>> {
    let field = node.get("properties").and_then(|named| named.get(property));
    if let Some(field) = field.and_then(|field| document.follow(field).ok()) {
        if let Some(tag) = field.text("const") {
            return Some(Some(tag.to_owned()));
        }
        if let Some(Value::Array(values)) = field.value.get("enum") {
            return match values.as_slice() {
                [Value::String(tag)] => Some(Some(tag.clone())),
                _ => None,
            };
        }
    }
    if depth < limits::REF_CHAIN {
        for part in node.get("allOf").into_iter().flat_map(|parts| parts.items()) {
            let Ok(part) = document.follow(part) else {
                continue;
            };
            if part.place == *base {
                continue;
            }
            match own_tag(document, &part, property, base, depth + 1) {
                Some(None) => {}
                told => return told,
            }
        }
    }
    Some(None)
}

/// True where each alternative tells its tag by its own field, with or without a discriminator.
fn told_by_fields(document: Document<'_>, holder: &Place, property: &str) -> bool {
    let Some(node) = document.get(holder) else {
        return false;
    };
    let Some(members) = node.value.as_object() else {
        return false;
    };
    let all = alternatives(document, holder, members);
    let told =
        |node: &Node<'_>| matches!(own_tag(document, node, property, holder, 0), Some(Some(_)));
    !all.is_empty() && all.iter().all(|(_, node)| told(node))
}

/// Judges a discriminator that differs. `explained` says that alternatives came or went at the
/// same place and a finding of theirs already stops: then a tag that came or went with them is
/// none of its own. With each change comes the field that it bears on.
pub(crate) fn judge(
    pair: &Pair,
    edit: &Edit,
    documents: (Document<'_>, Document<'_>),
    explained: bool,
) -> Vec<(Change, String)> {
    let (flow, place) = (pair.flow, place_of(pair, documents, edit));
    let property = |value: &Option<Value>| {
        value.as_ref().and_then(|v| v.get("propertyName")?.as_str().map(str::to_owned))
    };
    let (was, is) = (property(&edit.before), property(&edit.after));
    let draft = |property: &str, judgement, (before, after): (Value, Value), sentence| {
        let field = match edit.field.as_str() {
            "" => property.to_owned(),
            around => format!("{around}.{property}"),
        };
        let change = change(&SF561, judgement, &place, sentence)
            .field(&field)
            .values(Some(&before), Some(&after));
        (change, property.to_owned())
    };
    let (was, is) = match (was, is) {
        (Some(was), Some(is)) => (was, is),
        (Some(was), None) => {
            let pointer = edit.at.0.as_deref().unwrap_or_default();
            let holder = locate(documents.0, &pair.old, pointer);
            let judgement = if told_by_fields(documents.0, &holder, &was) {
                Judgement::NOTATION
            } else {
                UNSURE
            };
            let sentence =
                format!("that `{was}` says which alternative is meant is no longer written down");
            return vec![draft(&was, judgement, (json!(was), Value::Null), sentence)];
        }
        (None, Some(is)) => {
            let sentence =
                format!("`{is}` says which alternative is meant, and is named for it now");
            return vec![draft(&is, Judgement::NOTATION, (Value::Null, json!(is)), sentence)];
        }
        (None, None) => return Vec::new(),
    };
    if was != is {
        let sentence = match flow {
            Flow::Request => format!(
                "`{is}` says which alternative is meant now, not `{was}`: a call that was planned with `{was}` is refused or read as another thing"
            ),
            Flow::Response => format!(
                "`{is}` says which alternative an answer is now, not `{was}`: what decides by `{was}` takes the wrong branch or none"
            ),
        };
        let semantic = Judgement::class(READER, Class::Semantic);
        return vec![draft(&was, semantic, (json!(was), json!(is)), sentence)];
    }
    let mapping = |value: &Option<Value>| -> BTreeMap<String, String> {
        let mapping = value.as_ref().and_then(|v| v.get("mapping")?.as_object());
        let pairs = mapping.into_iter().flatten();
        pairs.filter_map(|(tag, to)| Some((tag.clone(), to.as_str()?.to_owned()))).collect()
    };
    let (before, after) = (mapping(&edit.before), mapping(&edit.after));
    let mut found = Vec::new();
    for (tag, target) in &before {
        let quoted = shown(&json!(tag));
        match after.get(tag) {
            Some(now) if same_schema(documents, target, now) => {}
            Some(now) => {
                let (from, to) = (last(target), last(now));
                let what = match flow {
                    Flow::Request => "a planned call with it validates as another thing, or not",
                    Flow::Response => "an answer with it holds other things",
                };
                found.push(draft(
                    &was,
                    READER.class(Class::Semantic),
                    (json!(target), json!(now)),
                    format!(
                        "`{was}` {quoted} stood for `{from}` and stands for `{to}` now: {what}"
                    ),
                ));
            }
            None if explained => {}
            None => {
                let (judgement, what) = match flow {
                    Flow::Request => {
                        (Judgement::BREAKING, "is taken no more: a planned call with it is refused")
                    }
                    Flow::Response => (Judgement::ADDITIVE, "comes in no answer any more"),
                };
                let sentence = format!("`{was}` {quoted} (`{}`) {what}", last(target));
                found.push(draft(&was, judgement, (json!(target), Value::Null), sentence));
            }
        }
    }
    for (tag, target) in after.iter().filter(|(tag, _)| !before.contains_key(*tag)) {
        if explained {
            break;
        }
        let (judgement, what) = match flow {
            Flow::Request => (Judgement::ADDITIVE, "can be sent now; old calls go on as before"),
            Flow::Response => (
                Judgement::LOOK.compat(Compat::Breaking),
                "can come in an answer now: no plan knows what to do then",
            ),
        };
        let sentence = format!("`{was}` {} (`{}`) {what}", shown(&json!(tag)), last(target));
        found.push(draft(&was, judgement, (Value::Null, json!(target)), sentence));
    }
    found
}

/// True where the two places are one declaration: the same place, one that was only renamed (what
/// it holds is compared where it is reached), or the same text.
fn same_schema(documents: (Document<'_>, Document<'_>), old: &str, new: &str) -> bool {
    if old == new {
        return true;
    }
    let (was, is) = (lower::place(old), lower::place(new));
    let (Some(before), Some(after)) = (documents.0.get(&was), documents.1.get(&is)) else {
        return false;
    };
    let renamed = documents.1.get(&was).is_none() && documents.0.get(&is).is_none();
    renamed || before.value == after.value
}

fn last(key: &str) -> String {
    unescape(key.rsplit('/').next().unwrap_or(key))
}
