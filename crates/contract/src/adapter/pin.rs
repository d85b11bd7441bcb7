//! The one adapter that nobody declares: a call that left a field out keeps the default it was planned with.

use crate::document::Tool;
use crate::edit::is_zero;
use crate::lexicon::{Lexicon, Role};
use crate::prose;
use crate::rules::finding::shown;
use crate::view::{Node, Source, View};
use schema::reference::escape;
use schema::{ReadOptions, Schema, evaluate};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Whether planned defaults can be sent in place of what was left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Pin {
    /// They can. Where nothing had to be sent, `pinned` is empty.
    Pinned(Pinned),
    /// A default moved that no one may choose for the caller. A sentence says which, and why.
    No(String),
}

/// Arguments with the defaults that the caller planned with.
#[derive(Debug, Clone, PartialEq)]
pub struct Pinned {
    /// What is sent now.
    pub arguments: Value,
    /// JSON Pointer and value of each default that was written in.
    pub pinned: Vec<(String, Value)>,
}

/// Below this share of common words two texts about one field describe two things.
const SAME_SUBJECT: f64 = 0.4;

/// How deep objects within the arguments are looked into. Real arguments nest under 10.
const DEEPEST: usize = 16;

/// Sends the planned default of every field that the call leaves out and whose stated default moved.
///
/// Only where nothing is chosen for the caller: not for fields that select a target or an authority, or that guard;
/// not where the planned default reaches further; not where the field now describes something else; and only a value
/// that the new contract still takes. Whether calls with effects may be completed at all is for the caller to decide.
pub fn pin_default(old: &Tool, new: &Tool, arguments: &Value, lexicon: &Lexicon) -> Pin {
    let none = Value::Null;
    let schema = |tool: &'_ Tool| tool.raw.get("inputSchema").cloned().unwrap_or_default();
    let (before, after) = (schema(old), schema(new));
    let mut pinner = Pinner { after: Arc::new(after.clone()), lexicon, pinned: Vec::new() };
    let mut sent = arguments.clone();
    let root =
        |value| Node { source: Source::single(value), file: "", pointer: String::new(), value };
    let Value::Object(members) = &mut sent else {
        return Pin::No(format!("arguments are an object, and these are {}", shown(&none)));
    };
    match pinner.object(&root(&before), &root(&after), members, &mut String::new(), 0) {
        Ok(()) => Pin::Pinned(Pinned { arguments: sent, pinned: pinner.pinned }),
        Err(why) => Pin::No(why),
    }
}

struct Pinner<'l> {
    after: Arc<Value>,
    lexicon: &'l Lexicon,
    pinned: Vec<(String, Value)>,
}

impl Pinner<'_> {
    fn object(
        &mut self,
        old: &Node<'_>,
        new: &Node<'_>,
        sent: &mut Map<String, Value>,
        place: &mut String,
        depth: usize,
    ) -> Result<(), String> {
        let (was, is) = (View::of(old), View::of(new));
        for (name, before) in &was.members {
            let Some((_, after)) = is.members.iter().find(|(other, _)| other == name) else {
                continue;
            };
            let length = place.len();
            place.push('/');
            place.push_str(&escape(name));
            match sent.get_mut(name) {
                Some(Value::Object(inner)) if depth < DEEPEST => {
                    self.object(before, after, inner, place, depth + 1)?;
                }
                Some(_) => {}
                None => {
                    if let Some(default) = self.planned(name, before, after, place)? {
                        sent.insert(name.clone(), default.clone());
                        self.pinned.push((place.clone(), default));
                    }
                }
            }
            place.truncate(length);
        }
        Ok(())
    }

    /// The default that has to be sent for a field that was left out.
    fn planned(
        &self,
        name: &str,
        before: &Node<'_>,
        after: &Node<'_>,
        place: &str,
    ) -> Result<Option<Value>, String> {
        let (was, is) = (View::of(before), View::of(after));
        let stated = |default: Option<&Value>| default.filter(|value| !value.is_null()).cloned();
        let (old, new) = (stated(was.default), stated(is.default));
        let Some(old) = old else {
            // What was planned with is not stated, so nothing can be sent for it.
            return Ok(None);
        };
        let moved = match &new {
            Some(new) => !super::apply::equal(&old, new),
            None => !is_zero(&old),
        };
        if !moved {
            return Ok(None);
        }
        let now = new.as_ref().map_or_else(
            || "is not stated any more".to_owned(),
            |new| format!("is {}", shown(new)),
        );
        let no = |why: &str| {
            Err(format!("leaving {place} out meant {} and now {now}: {why}", shown(&old)))
        };
        match self.lexicon.role(name) {
            Role::Target | Role::Authority | Role::FreeForm => {
                return no(
                    "the field selects what is acted on or by whom, which nobody chooses for the caller",
                );
            }
            Role::Guard => return no("the field holds calls back, and only the caller may set it"),
            Role::Effect if !is_zero(&old) => {
                return no("the planned value widens what the call does, so a person looks again");
            }
            _ => {}
        }
        let (text, reworded) = (was.description.unwrap_or(""), is.description.unwrap_or(""));
        if !text.is_empty()
            && !reworded.is_empty()
            && prose::similarity(text, reworded) < SAME_SUBJECT
        {
            return no("the field describes something else now");
        }
        let schema =
            Schema::read_at(Arc::clone(&self.after), &after.pointer, &ReadOptions::default());
        match schema.map(|schema| evaluate(&schema, &old)) {
            Ok(Ok(())) => Ok(Some(old)),
            Ok(Err(_)) => no("the new contract does not take the planned value"),
            Err(_) => no("the new schema of the field cannot be read"),
        }
    }
}
