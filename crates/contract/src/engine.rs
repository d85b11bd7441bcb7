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
use schema::{Answer, Documents, OpenObjects, Question, ReadOptions, Relation, Schema, relate};
use serde_json::{Map, Value};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
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

/// True where the edit bounds how many members there are, declared or not.
fn counts_members(edit: &Edit) -> bool {
    matches!(
        edit.what,
        What::BoundChanged { keyword: "minProperties" | "maxProperties", tighter: true }
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
        // Names that are demanded without being declared are sent all the same.
        let mut names = BTreeSet::new();
        demanded(schema, &mut names);
        if names.is_empty() {
            members.insert("additionalProperties".to_string(), Value::Bool(false));
        } else {
            let named = names.into_iter().map(|name| (name, Value::Bool(true))).collect();
            members.insert("properties".to_string(), Value::Object(named));
        }
    }
    sent
}

/// The names that a schema demands of the object itself, through everything that is said of the same value.
fn demanded(schema: &Value, names: &mut BTreeSet<String>) {
    let texts = |list: Option<&Value>| -> Vec<String> {
        let list = list.and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    names.extend(texts(schema.get("required")));
    for keyword in ["dependentRequired", "dependencies", "dependentSchemas"] {
        for (name, asked) in schema.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            names.insert(name.clone());
            names.extend(texts(Some(asked)));
            demanded(asked, names);
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let list = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        list.for_each(|part| demanded(part, names));
    }
    for keyword in ["if", "then", "else"] {
        schema.get(keyword).into_iter().for_each(|part| demanded(part, names));
    }
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
pub(crate) fn bare(schema: &Value) -> String {
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

/// One side, of which schemas are read at many places: what it declares is looked through once.
struct Document {
    value: Arc<Value>,
    documents: Arc<Documents>,
}

impl Document {
    fn new(value: Value) -> Document {
        let value = Arc::new(value);
        Document { documents: Arc::new(Documents::new(Arc::clone(&value))), value }
    }

    fn read(&self, pointer: &str) -> Result<Schema, Vec<schema::SchemaProblem>> {
        Schema::read_in(&self.documents, "", pointer, &ReadOptions::default())
    }
}

/// A pair of documents ready to be asked about.
pub struct Pair {
    /// Both sides as they were written.
    written: (Document, Document),
    /// Unions whose two sides were asked for equality.
    equal: RefCell<HashMap<(String, String), bool>>,
    old: Document,
    new: Document,
    direction: Direction,
    same_values: bool,
    /// Schemas read for single places so far.
    asked: Cell<usize>,
    /// Steps that are left for all questions.
    steps: Cell<u64>,
}

impl Pair {
    /// Prepares the schemas of a whole call, or of its answer.
    pub fn of_call(old: &Value, new: &Value, direction: Direction) -> Pair {
        match direction {
            Direction::Input => {
                let written = (Document::new(old.clone()), Document::new(new.clone()));
                Pair { written, ..Pair::new(&sent(old), new, direction) }
            }
            Direction::Output => Pair::new(old, new, direction),
        }
    }

    /// Prepares the two sides for the direction.
    pub fn new(old: &Value, new: &Value, direction: Direction) -> Pair {
        let written = (Document::new(old.clone()), Document::new(new.clone()));
        let (old, new) = match direction {
            Direction::Input => (old.clone(), lenient(new)),
            Direction::Output => (opened(old), new.clone()),
        };
        let dialect = |schema: &Value| schema.get("$schema").cloned();
        let same_values = dialect(&old) == dialect(&new) && bare(&old) == bare(&new);
        Pair {
            written,
            equal: RefCell::default(),
            old: Document::new(old),
            new: Document::new(new),
            direction,
            same_values,
            asked: Cell::new(0),
            steps: Cell::new(limits::ASKED_STEPS),
        }
    }

    /// Values of one schema that the other does not take, within the steps that are left.
    fn without(&self, accepts: &Schema, rejects: &Schema, question: Question) -> Answer {
        let mut question = question;
        question.limits.steps = question.limits.steps.min(self.steps.get());
        let (answer, spent) = schema::without(accepts, rejects, &question);
        self.steps.set(self.steps.get() - spent.min(self.steps.get()));
        answer
    }

    fn both(&self, old: &Schema, new: &Schema, question: Question) -> Relation {
        let (lost, gained) = (self.without(old, new, question), self.without(new, old, question));
        Relation { lost, gained }
    }

    /// True where the edit stands in alternatives that together take the same values as before, proved both ways: what
    /// tells two of them apart is then no change, however they were paired.
    pub fn cancels_out(&self, edit: &Edit) -> bool {
        edit.unions.iter().filter(|union| edit.is_of_one_alternative(union)).any(|union| {
            if let Some(known) = self.equal.borrow().get(&union.at) {
                return *known;
            }
            let is_equal = self.asked.get() <= limits::ASKED_SCHEMAS
                && match (self.written.0.read(&union.at.0), self.written.1.read(&union.at.1)) {
                    (Ok(old), Ok(new)) => {
                        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
                        let relation = self.both(&old, &new, Question::default());
                        matches!(
                            (relation.lost, relation.gained),
                            (Answer::Nothing, Answer::Nothing)
                        )
                    }
                    _ => false,
                };
            self.equal.borrow_mut().insert(union.at.clone(), is_equal);
            is_equal
        })
    }

    fn relate(&self, old: &str, new: &str) -> Result<Relation, Vec<schema::SchemaProblem>> {
        let (old, new) = (self.old.read(old)?, self.new.read(new)?);
        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
        Ok(self.both(&old, &new, question()))
    }

    /// An old value, with any members at all, that is refused now.
    fn lost_as_written(&self, old: &str, new: &str) -> Option<Box<Witness>> {
        let (old, new) = (self.old.read(old).ok()?, self.new.read(new).ok()?);
        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
        match self.without(&old, &new, Question::default()) {
            Answer::Some(found) => {
                found.first().map(|first| Box::new(crate::relation::reported(first, Side::Old)))
            }
            Answer::Nothing | Answer::Unknown(_) => None,
        }
    }

    /// True where every old value is null or still fits.
    fn takes_with_null(&self, old: &str, new: &str) -> bool {
        let mut wider = Value::clone(&self.new.value);
        let Some(place) = wider.pointer_mut(new) else { return false };
        *place = serde_json::json!({"anyOf": [place.take(), {"type": "null"}]});
        let (Ok(old), Ok(new)) = (self.old.read(old), Document::new(wider).read(new)) else {
            return false;
        };
        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
        matches!(self.without(&old, &new, question()), Answer::Nothing)
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
        if local.loses_nothing() && counts_members(edit) {
            local.undeclared = self.lost_as_written(old, new);
        }
        local.only_null = local.lost_witness().is_some_and(|witness| witness.value.is_null())
            && self.takes_with_null(old, new);
        let split = matches!(edit.what, What::VariantsChanged { .. })
            && self.direction == Direction::Input
            && !local.loses_nothing();
        let places =
            (Source::single(&self.old.value).at(old), Source::single(&self.new.value).at(new));
        if let (true, (Some(before), Some(after))) = (split, places)
            && let Some(usual) = split::usual(&before, &after, old_text)
        {
            let read = Schema::read(&usual, &ReadOptions::default());
            let new = self.new.read(new);
            if let (Ok(usual), Ok(new)) = (read, new) {
                local.usual = Some(Local::of(&self.both(&usual, &new, question())).lost);
            }
        }
        Ok(local)
    }

    /// Gives the findings about an argument that is gone a call that holds it.
    pub fn show(&self, edit: &Edit, found: &mut [Change]) {
        let gone = |change: &&mut Change| GONE.contains(&change.rule) && change.witness.is_none();
        for change in found.iter_mut().filter(gone) {
            change.witness = self.holding(edit);
        }
    }

    /// An old call that holds the argument which is gone, and is refused now: for that where there is one.
    fn holding(&self, edit: &Edit) -> Option<Witness> {
        let name = match &edit.what {
            What::FieldRenamed { from, .. } => from.as_str(),
            What::FieldRemoved { .. } => edit.field.rsplit('.').next()?.trim_end_matches("[]"),
            _ => return None,
        };
        if self.direction == Direction::Output || self.asked.get() > limits::ASKED_SCHEMAS {
            return None;
        }
        let (around, last) = edit.at.0.as_ref()?.rsplit_once("/properties/")?;
        let mut old = Value::clone(&self.old.value);
        let place = old.pointer_mut(around)?.as_object_mut()?;
        if schema::reference::unescape(last) != name {
            return None;
        }
        let required = place.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        required.as_array_mut()?.push(Value::from(name));
        let (old, new) = (Document::new(old).read("").ok()?, self.new.read("").ok()?);
        self.asked.set(self.asked.get() + old.size() + new.size() + ASKING);
        let Answer::Some(found) = self.without(&old, &new, question()) else { return None };
        let parents: Vec<&str> = edit.field.split('.').collect();
        let parents = &parents[..parents.len() - 1];
        let found: Vec<Witness> = found
            .iter()
            .map(|witness| reported(witness, Side::Old))
            .filter(|witness| holds(&witness.value, name))
            .collect();
        let refused = |one: &&Witness| one.keyword != "required" && stops_at(one, parents, name);
        found.iter().find(refused).or(found.first()).cloned()
    }

    /// Where keywords of one side hold what they must not, and do not so on the other: nothing is said there.
    pub fn senseless(&self) -> Vec<String> {
        let problems = |document: &Document| document.read("").err().unwrap_or_default();
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
        let (old, new) = match (self.old.read(""), self.new.read("")) {
            (Ok(old), Ok(new)) => (old, new),
            _ if settled => return Vec::new(),
            (Err(problems), _) | (_, Err(problems)) => {
                return vec![comparison::unreadable(&first(&problems), context)];
            }
        };
        let (answer, side) = match self.direction {
            Direction::Input => (self.without(&old, &new, question()), Side::Old),
            Direction::Output => (self.without(&new, &old, question()), Side::New),
        };
        match &answer {
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

/// Proved: the two take the same values, by the letter.
pub(crate) fn is_same_set(old: &Schema, new: &Schema) -> bool {
    let relation = relate(old, new, &Question::default());
    matches!((relation.lost, relation.gained), (Answer::Nothing, Answer::Nothing))
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
        let relation = self.both(&read(old)?, &read(new)?, question());
        let (answer, side, what) = match self.direction {
            Direction::Input => (relation.gained, Side::New, "fits now and did not before"),
            Direction::Output => (relation.lost, Side::Old, "could come and no longer can"),
        };
        let Answer::Some(witnesses) = answer else { return None };
        Some(comparison::widened(&reported(witnesses.first()?, side), what, context))
    }
}

/// Rules about an argument that is gone: only a value that holds it shows them.
const GONE: &[&str] = &["SF110", "SF111", "SF112"];
/// Rules about an argument that must be sent: only a value that lacks it, refused for that, shows them.
const DEMANDED: &[&str] = &["SF101", "SF102", "SF103", "SF202"];
/// Rules about what leaving an argument out means, and about texts: no value shows them.
const UNSHOWN: &[&str] = &["SF150", "SF151", "SF152", "SF160", "SF161", "SF162", "SF209"];

/// Gives each finding without a value the first witness that stops at its field.
fn attach(changes: &mut [Change], witnesses: &[Witness]) {
    for change in changes.iter_mut() {
        if change.witness.is_some()
            || change.axes.compat < Compat::Adaptable
            || UNSHOWN.contains(&change.rule)
        {
            continue;
        }
        let Some(field) = &change.field else { continue };
        let path: Vec<&str> = field.split('.').collect();
        let Some((name, parents)) = path.split_last() else { continue };
        let name = name.trim_end_matches("[]");
        let shows = |witness: &&Witness| {
            let demand = witness.keyword == "required";
            stops_at(witness, parents, name)
                && !(GONE.contains(&change.rule) && demand)
                && (demand || !DEMANDED.contains(&change.rule))
        };
        change.witness = witnesses.iter().find(shows).cloned();
    }
}

/// True where some object of the value holds a member of this name.
fn holds(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key(name) || members.values().any(|member| holds(member, name))
        }
        Value::Array(items) => items.iter().any(|item| holds(item, name)),
        _ => false,
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
