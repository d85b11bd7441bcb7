//! One pair of operations: everything about it but the schemas, which become [`Site`]s.

use super::access;
use super::draft::{Finish, NEW_NAME, REACH, UNSURE, change};
use super::read::{Media, Operation, Parameter, ParameterKey};
use super::resolve::{Node, Place};
use super::text;
use super::whole;
use crate::change::Change;
use crate::decision::Flow;
use crate::decision::guess::{self, Spot};
use crate::lexicon::words;
use crate::rules::finding::Judgement;
use crate::rules::http::*;
use crate::verdict::Decision::{self, Completion, Target};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Two schemas of one place of an operation, to be compared with the others of their kind.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub flow: Flow,
    /// The status of the answer, where it is one.
    pub status: Option<String>,
    /// Where the value stands: `query`, `limit` or `body`.
    pub steps: Vec<String>,
    pub old: Place,
    pub new: Place,
    /// The value is in every old message: a parameter or body that had to be sent.
    pub always: bool,
}

impl Site {
    /// An answer that reports an error.
    pub fn error(&self) -> bool {
        self.status.as_deref().is_some_and(is_error)
    }
}

pub(super) fn is_error(status: &str) -> bool {
    status.starts_with(['4', '5']) || status == "default"
}

/// The words of an operation's path and name, without the names of its parameters.
pub(crate) fn about(operation: &Operation<'_>) -> Vec<String> {
    let mut found: Vec<String> =
        operation.path.split('/').filter(|part| !part.starts_with('{')).flat_map(words).collect();
    found.extend(operation.id.into_iter().flat_map(words));
    found
}

/// Compares two operations.
pub(crate) struct Comparison<'o, 'a> {
    pub old: &'o Operation<'a>,
    pub new: &'o Operation<'a>,
    /// The server sends the request (a callback or webhook): both directions are turned round.
    pub reversed: bool,
    pub changes: Vec<Change>,
    pub sites: Vec<Site>,
}

impl<'o, 'a> Comparison<'o, 'a> {
    pub fn new(old: &'o Operation<'a>, new: &'o Operation<'a>, reversed: bool) -> Self {
        Comparison { old, new, reversed, changes: Vec::new(), sites: Vec::new() }
    }

    /// Everything but the schemas; those are left in `sites`.
    pub fn run(&mut self) {
        self.name();
        self.purpose();
        self.parameters();
        self.body();
        self.responses();
        if !self.reversed {
            access::security(self.old, self.new, &mut self.changes);
            access::servers(self.old, self.new, &mut self.changes);
        }
        self.callbacks();
    }

    pub(super) fn sent(&self) -> Flow {
        if self.reversed { Flow::Response } else { Flow::Request }
    }

    pub(super) fn answered(&self) -> Flow {
        if self.reversed { Flow::Request } else { Flow::Response }
    }

    pub(super) fn guess(
        &self,
        flow: Flow,
        path: &[&str],
        schema: Option<&Value>,
        error: bool,
    ) -> Vec<Decision> {
        let path: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        guess::decisions(&Spot {
            flow,
            path: &path,
            schema,
            reads: self.old.reads(),
            error,
            about: &about(self.old),
        })
    }

    fn name(&mut self) {
        let (old, new) = (self.old, self.new);
        if old.id != new.id
            && let Some(was) = old.id
        {
            let place = new.node.place.child("operationId");
            let (rule, sentence) = match new.id {
                Some(is) => (
                    &SF503,
                    format!(
                        "the operation `{was}` is called `{is}` now; method and path stay: a client or tool made from the document knows it under the old name only"
                    ),
                ),
                None => (
                    &SF503,
                    format!(
                        "the operation lost its name `{was}`; method and path stay: a client or tool made from the document calls it otherwise"
                    ),
                ),
            };
            self.changes.push(
                change(rule, NEW_NAME, &place, sentence)
                    .values(old.node.value.get("operationId"), new.node.value.get("operationId"))
                    .guess(&[Target]),
            );
        }
        if new.deprecated && !old.deprecated {
            let place = new.node.place.child("deprecated");
            let sentence =
                "the operation is marked deprecated: it still works, plan its replacement";
            self.changes.push(
                change(&SF545, Judgement::WORDING, &place, sentence.to_owned())
                    .values(None, Some(&Value::Bool(true))),
            );
        }
    }

    /// The text of the operation: what it does and which objects it answers.
    fn purpose(&mut self) {
        const KEYS: [&str; 2] = ["summary", "description"];
        let (old, new) = (&self.old.node, &self.new.node);
        if KEYS.iter().all(|key| old.text(key).is_some() == new.text(key).is_some()) {
            for key in KEYS {
                self.text(old, new, key, &["body"], Flow::Response, None);
            }
            return;
        }
        // What moves from the one to the other is said as before.
        let all = |node: &Node<'_>| -> String {
            KEYS.iter().filter_map(|key| node.text(key)).collect::<Vec<_>>().join("\n")
        };
        let about = about(self.old);
        let path = ["body".to_owned()];
        let spot = Spot {
            flow: Flow::Response,
            path: &path,
            schema: None,
            reads: self.old.reads(),
            error: false,
            about: &about,
        };
        let drafted = text::worded((&all(old), &all(new)), &spot, &new.place.child("description"));
        self.changes.extend(drafted);
    }

    pub(super) fn text(
        &mut self,
        old: &Node<'_>,
        new: &Node<'_>,
        key: &str,
        path: &[&str],
        flow: Flow,
        status: Option<&str>,
    ) {
        // A text that is not there says as much as an empty one.
        let (was, is) = (old.text(key).unwrap_or(""), new.text(key).unwrap_or(""));
        let steps: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        let about = about(self.old);
        let spot = Spot {
            flow,
            path: &steps,
            schema: None,
            reads: self.old.reads(),
            error: status.is_some_and(is_error),
            about: &about,
        };
        let drafted = text::worded((was, is), &spot, &new.place.child(key));
        let values = (old.value.get(key), new.value.get(key));
        self.changes.extend(drafted.map(|change| change.values(values.0, values.1)));
    }

    fn parameters(&mut self) {
        let (old, new) = (self.old, self.new);
        let held = whole::texts_held(old, new);
        for (key, was) in &old.parameters {
            match new.parameters.get(key) {
                Some(is) => self.parameter(key, (was, is), held.get(key).copied()),
                None => self.parameter_removed(key, was),
            }
        }
        for (key, is) in &new.parameters {
            if !old.parameters.contains_key(key) {
                self.parameter_added(key, is);
            }
        }
    }

    fn parameter(
        &mut self,
        key: &ParameterKey,
        (was, is): (&Parameter<'a>, &Parameter<'a>),
        sibling: Option<&str>,
    ) {
        let field = format!("{}.{}", key.location, was.name);
        let path = [key.location.as_str(), was.name];
        let flow = self.sent();
        let schema = was.schema.as_ref().map(|node| node.value);
        let decisions = self.guess(flow, &path, schema, false);
        if key.location == "path" && was.name != is.name {
            self.changes.push(
                change(
                    &SF505,
                    Judgement::WORDING,
                    &is.node.place,
                    format!(
                        "the path parameter `{}` is called `{}` now; the path it stands in is the same",
                        was.name, is.name
                    ),
                )
                .field(&field)
                .values(Some(&json!(was.name)), Some(&json!(is.name))),
            );
        }
        if was.required != is.required {
            let (rule, judgement, sentence) = if is.required {
                (
                    &SF509,
                    Judgement::BREAKING,
                    format!(
                        "the {} `{}` is required now: a call that leaves it out is turned away",
                        spoken(key),
                        was.name
                    ),
                )
            } else {
                (
                    &SF510,
                    Judgement::ADDITIVE,
                    format!("the {} `{}` may be left out now", spoken(key), was.name),
                )
            };
            self.changes.push(
                change(rule, judgement, &is.node.place, sentence)
                    .field(&field)
                    .values(Some(&json!(was.required)), Some(&json!(is.required)))
                    .guess(&decisions),
            );
        }
        if was.wire != is.wire && wire_matters(was, is) {
            self.changes.push(
                change(
                    &SF511,
                    Judgement::LOOK,
                    &is.node.place,
                    format!(
                        "the {} `{}` is spelled otherwise on the wire: {} became {}: the same value arrives as another one",
                        spoken(key), was.name, was.wire, is.wire
                    ),
                )
                .field(&field)
                .values(Some(&json!(was.wire)), Some(&json!(is.wire)))
                .guess(&decisions),
            );
        }
        match sibling {
            Some(sibling) => self.changes.push(whole::text_of_sibling(was, is, (&field, sibling))),
            None => self.text(&was.node, &is.node, "description", &path, flow, None),
        }
        self.deprecation(&was.node, &is.node, &field);
        self.pair(flow, None, &path, was.schema.as_ref(), is.schema.as_ref(), &is.node.place);
    }

    fn deprecation(&mut self, was: &Node<'_>, is: &Node<'_>, field: &str) {
        let flag = |node: &Node<'_>| node.flag("deprecated").unwrap_or(false);
        if flag(is) && !flag(was) {
            self.changes.push(
                change(
                    &SF545,
                    Judgement::WORDING,
                    &is.place.child("deprecated"),
                    format!("`{field}` is marked deprecated: it still works, plan its replacement"),
                )
                .field(field),
            );
        }
    }

    fn parameter_removed(&mut self, key: &ParameterKey, was: &Parameter<'_>) {
        let field = format!("{}.{}", key.location, was.name);
        let path = [key.location.as_str(), was.name];
        let schema = was.schema.as_ref().map(|node| node.value);
        let decisions = self.guess(self.sent(), &path, schema, false);
        self.changes.push(
            change(
                &SF506,
                Judgement::BREAKING,
                &was.node.place,
                format!(
                    "the {} `{}` is gone: a call that sends it is turned away, or it is taken without being heard",
                    spoken(key), was.name
                ),
            )
            .field(&field)
            .values(Some(was.node.value), None)
            .guess(&decisions),
        );
    }

    fn parameter_added(&mut self, key: &ParameterKey, is: &Parameter<'_>) {
        let field = format!("{}.{}", key.location, is.name);
        let path = [key.location.as_str(), is.name];
        let schema = is.schema.as_ref().map(|node| node.value);
        let mut decisions = self.guess(self.sent(), &path, schema, false);
        let default = schema.and_then(|schema| schema.get("default"));
        let (rule, judgement, sentence) = if is.required {
            (
                &SF507,
                Judgement::BREAKING,
                format!(
                    "the {} `{}` is new and required: every earlier call is turned away",
                    spoken(key),
                    is.name
                ),
            )
        } else if risky(is.name, default) {
            decisions = with_ask(decisions);
            (
                &SF512,
                REACH,
                format!(
                    "the {} `{}` is new and {}: look at it before the operation is used again",
                    spoken(key),
                    is.name,
                    risk(default)
                ),
            )
        } else {
            (
                &SF508,
                Judgement::ADDITIVE,
                format!("the {} `{}` is new and may be left out", spoken(key), is.name),
            )
        };
        self.changes.push(
            change(rule, judgement, &is.node.place, sentence)
                .field(&field)
                .values(None, Some(is.node.value))
                .guess(&decisions),
        );
    }

    fn body(&mut self) {
        let flow = self.sent();
        let decisions = self.guess(flow, &["content-type"], None, false);
        match (&self.old.body, &self.new.body) {
            (None, None) => {}
            (Some(was), None) => self.changes.push(
                change(
                    &SF513,
                    Judgement::BREAKING,
                    &was.node.place,
                    "the operation takes no body any more: what a call sends is turned away or not heard".to_owned(),
                )
                .guess(&[Decision::Scope]),
            ),
            (None, Some(is)) => {
                let (rule, judgement, sentence) = if is.required {
                    (&SF514, Judgement::BREAKING, "the operation asks for a body now: every earlier call is turned away")
                } else {
                    (&SF515, Judgement::ADDITIVE, "the operation takes a body now, which may be left out")
                };
                self.changes.push(
                    change(rule, judgement, &is.node.place, sentence.to_owned())
                        .guess(&[Decision::Scope]),
                );
            }
            (Some(was), Some(is)) => {
                if is.required && !was.required {
                    self.changes.push(
                        change(
                            &SF514,
                            Judgement::BREAKING,
                            &is.node.place.child("required"),
                            "the body is required now: a call without one is turned away".to_owned(),
                        )
                        .guess(&[Decision::Scope]),
                    );
                }
                self.text(&was.node, &is.node, "description", &["body"], flow, None);
                for (name, media) in &was.media {
                    match find(&is.media, name) {
                        Some(twin) => self.media(flow, None, media, twin),
                        None => {
                            let others: Vec<String> = is.media.keys().cloned().collect();
                            self.changes.push(
                                change(
                                    &SF516,
                                    Judgement::BREAKING,
                                    &media.node.place,
                                    format!(
                                        "a body sent as {name} is turned away now; {} is taken",
                                        if others.is_empty() { "nothing else".to_owned() } else { others.join(", ") }
                                    ),
                                )
                                .values(Some(&json!(name)), None)
                                .guess(&decisions),
                            );
                            if let ([twin], 1) = (is.media.values().collect::<Vec<_>>().as_slice(), was.media.len()) {
                                self.media(flow, None, media, twin);
                            }
                        }
                    }
                }
                for name in is.media.keys().filter(|name| find(&was.media, name).is_none()) {
                    self.changes.push(
                        change(
                            &SF517,
                            Judgement::ADDITIVE,
                            &is.media[name].node.place,
                            format!("a body may be sent as {name} too"),
                        )
                        .values(None, Some(&json!(name)))
                        .guess(&decisions),
                    );
                }
            }
        }
    }

    pub(super) fn media(
        &mut self,
        flow: Flow,
        status: Option<&str>,
        was: &Media<'a>,
        is: &Media<'a>,
    ) {
        let (before, after) = (was.node.value.get("encoding"), is.node.value.get("encoding"));
        if before != after {
            self.changes.push(
                change(
                    &SF511,
                    Judgement::LOOK,
                    &is.node.place.child("encoding"),
                    "parts of the body are encoded otherwise: the same values arrive differently"
                        .to_owned(),
                )
                .values(before, after)
                .guess(&[Completion]),
            );
        }
        self.pair(flow, status, &["body"], was.schema.as_ref(), is.schema.as_ref(), &is.node.place);
    }

    pub(super) fn pair(
        &mut self,
        flow: Flow,
        status: Option<&str>,
        path: &[&str],
        was: Option<&Node<'a>>,
        is: Option<&Node<'a>>,
        place: &Place,
    ) {
        let always = match (path, &self.old.body) {
            (["body"], Some(body)) => body.required,
            ([location, name], _) => self
                .old
                .parameters
                .values()
                .any(|one| one.required && one.name == *name && *location != "header"),
            _ => false,
        };
        let steps: Vec<String> = path.iter().map(|step| (*step).to_owned()).collect();
        match (was, is) {
            (Some(was), Some(is)) => self.sites.push(Site {
                flow,
                status: status.map(str::to_owned),
                steps,
                old: was.place.clone(),
                new: is.place.clone(),
                always,
            }),
            (None, None) => {}
            (before, after) => {
                // Nothing said means anything goes. Saying it narrows, no longer saying it widens;
                // which of both hurts depends on the direction.
                let stated = after.is_some();
                let hurts = stated == (flow == Flow::Request);
                let error = status.is_some_and(is_error);
                let decisions = self.guess(flow, path, None, error);
                let (judgement, sentence) = match (hurts, stated) {
                    (true, true) => (
                        Judgement::UNDECIDED,
                        "what is sent here is described for the first time: whether earlier calls fit cannot be told",
                    ),
                    (true, false) => (
                        UNSURE,
                        "what is answered here is no longer described: a reader can rely on nothing",
                    ),
                    (false, true) => {
                        (Judgement::ADDITIVE, "what is answered here is described now")
                    }
                    (false, false) => (
                        Judgement::ADDITIVE,
                        "what is sent here is no longer described; anything is taken",
                    ),
                };
                self.changes.push(
                    change(&SF518, judgement, place, sentence.to_owned())
                        .values(before.map(|node| node.value), after.map(|node| node.value))
                        .guess(&decisions),
                );
            }
        }
    }
}

/// A media type, or the range that takes it in.
pub(super) fn find<'m, 'a>(
    media: &'m BTreeMap<String, Media<'a>>,
    name: &str,
) -> Option<&'m Media<'a>> {
    let kind = name.split('/').next().unwrap_or_default();
    media.get(name).or_else(|| media.get(&format!("{kind}/*"))).or_else(|| media.get("*/*"))
}

/// Style and explode show only where a value has parts.
fn wire_matters(was: &Parameter<'_>, is: &Parameter<'_>) -> bool {
    let plain = |parameter: &Parameter<'_>| {
        let kind = parameter.schema.as_ref().and_then(|schema| schema.text("type"));
        matches!(kind, Some("string" | "integer" | "number" | "boolean"))
    };
    let spread = |wire: &str| wire.replace(", exploded", "");
    !(plain(was) && plain(is) && spread(&was.wire) == spread(&is.wire))
}

fn spoken(key: &ParameterKey) -> &'static str {
    match key.location.as_str() {
        "path" => "path parameter",
        "query" => "query parameter",
        "header" => "header",
        "cookie" => "cookie",
        _ => "form field",
    }
}

/// A new optional value that does harm, by its name or by what its absence means.
pub(crate) fn risky(name: &str, default: Option<&Value>) -> bool {
    let by_default = match default {
        Some(Value::String(text)) => guess::destroys(text),
        _ => false,
    };
    guess::destroys(name) || by_default
}

fn risk(default: Option<&Value>) -> String {
    match default {
        Some(value) if !crate::edit::is_zero(value) => format!("does {value} where it is left out"),
        _ => "can take something that cannot be given back".to_owned(),
    }
}

fn with_ask(mut decisions: Vec<Decision>) -> Vec<Decision> {
    decisions.push(Decision::Ask);
    decisions.sort_unstable();
    decisions.dedup();
    decisions
}
