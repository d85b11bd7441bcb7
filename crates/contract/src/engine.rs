//! The way to the schema engine: which question is asked about which pair of places.
//!
//! Arguments are asked as *declared writers* send them: a caller sends the members that its schema
//! declares, so an optional member added to an open object is no loss. A required member with a
//! default counts as optional: leaving it out has a stated meaning. Answers are asked as *readers
//! that ignore unknown members* take them: the old side is opened first.

use crate::change::{Change, Side, Witness};
use crate::edit::{Edit, What};
use crate::limits;
use crate::relation::{Local, reported};
use crate::rules::comparison;
use crate::rules::finding::{Context, canonical};
use crate::split;
use crate::verdict::Compat;
use crate::view::{Node, Source, View};
use schema::{Answer, OpenObjects, Question, ReadOptions, Relation, Schema, relate};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::sync::Arc;

/// Which way a schema is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// What the caller sends: a loss breaks.
    Input,
    /// What the caller receives: a gain breaks.
    Output,
}

/// True where the edit is about sets of values, so that the engine can judge it.
pub fn concerns_sets(edit: &Edit) -> bool {
    matches!(
        edit.what,
        What::KindChanged { .. }
            | What::ValuesChanged { .. }
            | What::BoundChanged { .. }
            | What::PatternChanged
            | What::MapClosed
            | What::ItemsStated
            | What::Closed
            | What::VariantsChanged { .. }
            | What::Combinator { .. }
    )
}

/// Keywords whose value is a map from names to schemas.
const MAPS: &[&str] =
    &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Applies `edit` to every schema of a document, keeping every place where it is.
pub(crate) fn every_schema(value: &Value, edit: &dyn Fn(&mut Map<String, Value>)) -> Value {
    match value {
        Value::Object(members) => {
            let mut copy = Map::new();
            for (name, member) in members {
                let inner = match (MAPS.contains(&name.as_str()), member) {
                    (true, Value::Object(named)) => Value::Object(
                        named.iter().map(|(n, v)| (n.clone(), every_schema(v, edit))).collect(),
                    ),
                    _ if matches!(name.as_str(), "enum" | "const" | "default" | "examples") => {
                        member.clone()
                    }
                    _ => every_schema(member, edit),
                };
                copy.insert(name.clone(), inner);
            }
            edit(&mut copy);
            Value::Object(copy)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| every_schema(item, edit)).collect())
        }
        other => other.clone(),
    }
}

/// The schema in which a required member with a default may be left out.
pub fn lenient(schema: &Value) -> Value {
    every_schema(schema, &|members| {
        let Some(Value::Object(properties)) = members.get("properties") else { return };
        let defaulted: Vec<String> = properties
            .iter()
            .filter(|(_, member)| member.get("default").is_some())
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| !defaulted.iter().any(|d| name.as_str() == Some(d)));
        }
    })
}

/// The schema of a whole call: arguments are always an object, and where it declares none, callers
/// send none. (Deeper down, an object without declared members is a free map.)
pub(crate) fn sent(schema: &Value) -> Value {
    let mut sent = schema.clone();
    let declares_nothing = View::of(&Node {
        source: Source::single(schema),
        file: "",
        pointer: String::new(),
        value: schema,
    });
    let Value::Object(members) = &mut sent else { return sent };
    if !members.contains_key("$ref") {
        members.entry("type").or_insert_with(|| Value::from("object"));
    }
    let free = declares_nothing.members.is_empty()
        && declares_nothing.patterns.is_empty()
        && declares_nothing.variants.is_empty()
        && declares_nothing.is_open()
        && members.get("type").is_some_and(|kind| kind == "object");
    if free {
        members.insert("additionalProperties".to_string(), Value::Bool(false));
    }
    sent
}

/// The schema in which undeclared members may come.
pub fn opened(schema: &Value) -> Value {
    every_schema(schema, &|members| {
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if members.get(keyword) == Some(&Value::Bool(false)) {
                members.shift_remove(keyword);
            }
        }
    })
}

/// Members that say nothing about which values fit.
const ANNOTATIONS: &[&str] = &[
    "title", "description", "default", "examples", "example", "$comment", "deprecated", "readOnly",
    "writeOnly", "$schema", "format", "x-mcp-header",
];

/// The schema without what only people read; equal results take equal values.
fn bare(schema: &Value) -> String {
    canonical(&every_schema(schema, &|members| {
        let unused: Vec<String> =
            members.keys().filter(|name| ANNOTATIONS.contains(&name.as_str())).cloned().collect();
        for name in unused {
            members.shift_remove(&name);
        }
    }))
}

/// What asking once costs besides the schemas that are read, in schemas.
const ASKING: usize = 20;

fn question() -> Question {
    Question { open_objects: OpenObjects::DeclaredWriters, ..Question::default() }
}

/// A pair of documents ready to be asked about.
pub struct Pair {
    old: Arc<Value>,
    new: Arc<Value>,
    direction: Direction,
    same_values: bool,
    /// Schemas read for single places so far.
    asked: Cell<usize>,
}

impl Pair {
    /// Prepares the schemas of a whole call, or of its answer.
    pub fn of_call(old: &Value, new: &Value, direction: Direction) -> Pair {
        match direction {
            Direction::Input => Pair::new(&sent(old), new, direction),
            Direction::Output => Pair::new(old, new, direction),
        }
    }

    /// Prepares the two sides for the direction.
    pub fn new(old: &Value, new: &Value, direction: Direction) -> Pair {
        let (old, new) = match direction {
            Direction::Input => (old.clone(), lenient(new)),
            Direction::Output => (opened(old), new.clone()),
        };
        let dialect = |schema: &Value| schema.get("$schema").cloned();
        let same_values = dialect(&old) == dialect(&new) && bare(&old) == bare(&new);
        Pair { old: Arc::new(old), new: Arc::new(new), direction, same_values, asked: Cell::new(0) }
    }

    fn relate(&self, old: &str, new: &str) -> Result<Relation, Vec<schema::SchemaProblem>> {
        let read = |document: &Arc<Value>, pointer: &str| {
            Schema::read_at(Arc::clone(document), pointer, &ReadOptions::default())
        };
        let (old, new) = (read(&self.old, old)?, read(&self.new, new)?);
        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
        Ok(relate(&old, &new, &question()))
    }

    /// The engine's answer about the two places of an edit. Where one object became tagged
    /// alternatives, also about the calls that the old texts speak of.
    ///
    /// # Errors
    /// Where a schema cannot be read there: then no rule has anything to explain.
    pub fn local(&self, edit: &Edit, old_text: &str) -> Result<Local, String> {
        let (Some(old), Some(new)) = (&edit.at.0, &edit.at.1) else {
            return Ok(Local::not_asked());
        };
        if self.asked.get() > limits::ASKED_SCHEMAS {
            return Ok(Local::unknown(format!(
                "more than {} schemas were read to explain single changes of this one",
                limits::ASKED_SCHEMAS
            )));
        }
        let mut local = match self.relate(old, new) {
            Ok(relation) => Local::of(&relation),
            Err(problems) => return Err(first(&problems)),
        };
        let split = matches!(edit.what, What::VariantsChanged { .. })
            && self.direction == Direction::Input
            && !local.loses_nothing();
        let places = (Source::single(&self.old).at(old), Source::single(&self.new).at(new));
        if let (true, (Some(before), Some(after))) = (split, places)
            && let Some(usual) = split::usual(&before, &after, old_text)
        {
            let read = Schema::read(&usual, &ReadOptions::default());
            let new = Schema::read_at(Arc::clone(&self.new), new, &ReadOptions::default());
            if let (Ok(usual), Ok(new)) = (read, new) {
                local.usual = Some(Local::of(&relate(&usual, &new, &question())).lost);
            }
        }
        Ok(local)
    }

    /// Where keywords of one side hold what they must not, and do not so on the other: nothing is said there.
    pub fn senseless(&self) -> Vec<String> {
        let problems = |document: &Arc<Value>| {
            Schema::read_at(Arc::clone(document), "", &ReadOptions::default())
                .err()
                .unwrap_or_default()
        };
        let (old, new) = (problems(&self.old), problems(&self.new));
        let only = |one: &[schema::SchemaProblem], two: &[schema::SchemaProblem]| {
            let alone = one.iter().filter(|problem| !two.contains(problem));
            alone.map(|problem| problem.pointer.clone()).collect::<Vec<_>>()
        };
        [only(&old, &new), only(&new, &old)].concat()
    }

    /// Gives the findings their witnesses, and reports what the whole relation shows and no
    /// finding explains.
    pub fn explain(&self, changes: &mut [Change], context: &Context<'_>) -> Vec<Change> {
        if self.same_values {
            return Vec::new();
        }
        let settled = changes.iter().any(|change| change.axes.compat >= Compat::Undecided);
        let relation = match self.relate("", "") {
            Ok(relation) => relation,
            Err(_) if settled => return Vec::new(),
            Err(problems) => return vec![comparison::unreadable(&first(&problems), context)],
        };
        let (answer, side) = match self.direction {
            Direction::Input => (&relation.lost, Side::Old),
            Direction::Output => (&relation.gained, Side::New),
        };
        match answer {
            Answer::Nothing => Vec::new(),
            Answer::Unknown(_) if settled => Vec::new(),
            Answer::Unknown(why) => vec![comparison::undecided(why, context)],
            Answer::Some(witnesses) => {
                let witnesses: Vec<Witness> =
                    witnesses.iter().map(|witness| reported(witness, side)).collect();
                attach(changes, &witnesses);
                let explained = changes.iter().any(|change| {
                    change.axes.compat > Compat::Compatible || change.witness.is_some()
                });
                match witnesses.first() {
                    Some(first) if !explained => {
                        vec![comparison::unexplained(first, self.direction, context)]
                    }
                    _ => Vec::new(),
                }
            }
        }
    }
}

fn first(problems: &[schema::SchemaProblem]) -> String {
    problems.first().map_or_else(|| "it cannot be read".to_string(), ToString::to_string)
}

impl Pair {
    /// Where no edit was found: values that fit on one side only, in the direction that breaks nobody. Notation
    /// is only what leaves the sets as they are.
    pub fn unseen(&self, (old, new): (&Value, &Value), context: &Context<'_>) -> Option<Change> {
        if self.same_values {
            return None;
        }
        let read = |schema: &Value| Schema::read(schema, &ReadOptions::default()).ok();
        let relation = relate(&read(old)?, &read(new)?, &question());
        let (answer, side, what) = match self.direction {
            Direction::Input => (relation.gained, Side::New, "fits now and did not before"),
            Direction::Output => (relation.lost, Side::Old, "could come and no longer can"),
        };
        let Answer::Some(witnesses) = answer else { return None };
        Some(comparison::widened(&reported(witnesses.first()?, side), what, context))
    }
}

/// Gives each finding without a value the first witness that stops at its field.
fn attach(changes: &mut [Change], witnesses: &[Witness]) {
    for change in changes.iter_mut() {
        if change.witness.is_some() || change.axes.compat < Compat::Adaptable {
            continue;
        }
        let Some(field) = &change.field else { continue };
        let path: Vec<&str> = field.split('.').collect();
        let Some((name, parents)) = path.split_last() else { continue };
        let name = name.trim_end_matches("[]");
        change.witness = witnesses.iter().find(|witness| stops_at(witness, parents, name)).cloned();
    }
}

/// True where the witness is rejected at the field: the field itself, or its absence or presence
/// in the object around it.
fn stops_at(witness: &Witness, parents: &[&str], name: &str) -> bool {
    let steps: Vec<&str> = witness
        .instance_pointer
        .split('/')
        .skip(1)
        .filter(|s| s.parse::<usize>().is_err())
        .collect();
    let parents: Vec<&str> = parents.iter().map(|part| part.trim_end_matches("[]")).collect();
    let inside = steps.len() == parents.len() + 1
        && steps[..parents.len()] == parents[..]
        && steps.last() == Some(&name);
    let around = steps == parents
        && matches!(
            witness.keyword.as_str(),
            "required" | "additionalProperties" | "unevaluatedProperties" | "propertyNames"
        )
        && witness
            .value
            .pointer(&witness.instance_pointer)
            .is_some_and(|object| (witness.keyword == "required") != object.get(name).is_some());
    inside || around
}
