//! From JSON to nodes: what each keyword of each dialect says, and every problem of the text at once.
//!
//! Places are read from a work list, so depth costs no call stack. Only what the root reaches is
//! read: an unused definition can neither change the meaning nor break the reading.

use crate::keywords::Fill;
use crate::limits;
use crate::node::{Arena, Items, Members, Node, NodeId, Part, PatternId, Place, Types};
use crate::pattern::Pattern;
use crate::reference::escape;
use crate::resolve::Documents;
use crate::{Dialect, ReadOptions};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Something wrong with a schema: where, and what, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{sentence}", if pointer.is_empty() { String::new() } else { format!("{pointer}: ") })]
pub struct SchemaProblem {
    /// JSON Pointer into the document, with `file#` before it in a file other than the root.
    pub pointer: String,
    /// What is wrong and what to do.
    pub sentence: String,
}

/// The rules by which a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Draft {
    Draft04,
    Draft06,
    Draft07,
    Draft201909,
    Draft202012,
    OpenApi30,
}

impl Draft {
    fn of_dialect(dialect: Dialect) -> Draft {
        match dialect {
            Dialect::Draft202012 => Draft::Draft202012,
            Dialect::Draft07 => Draft::Draft07,
            Dialect::OpenApi30 => Draft::OpenApi30,
        }
    }

    pub(crate) fn of_uri(uri: &str) -> Option<Draft> {
        let bare = uri.trim_end_matches('#').trim_end_matches('/');
        let bare = bare.strip_prefix("https://").or(bare.strip_prefix("http://"))?;
        Some(match bare {
            "json-schema.org/draft-04/schema" => Draft::Draft04,
            "json-schema.org/draft-06/schema" => Draft::Draft06,
            "json-schema.org/draft-07/schema" => Draft::Draft07,
            "json-schema.org/draft/2019-09/schema" => Draft::Draft201909,
            "json-schema.org/draft/2020-12/schema" | "spec.openapis.org/oas/3.1/dialect/base" => {
                Draft::Draft202012
            }
            _ => return None,
        })
    }

    /// Up to draft-07 everything beside a `$ref` is ignored.
    pub(crate) fn ref_hides_siblings(self) -> bool {
        matches!(self, Draft::Draft04 | Draft::Draft06 | Draft::Draft07 | Draft::OpenApi30)
    }

    pub(crate) fn boolean_bounds(self) -> bool {
        matches!(self, Draft::Draft04 | Draft::OpenApi30)
    }

    pub(crate) fn modern(self) -> bool {
        matches!(self, Draft::Draft201909 | Draft::Draft202012)
    }
}

const ONE_SCHEMA: [&str; 13] = [
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "contentSchema",
    "extends",
];
const SCHEMA_LISTS: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const SCHEMA_MAPS: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Every place below a schema object where another schema stands, reachable or not.
pub(crate) fn children(members: &Map<String, Value>) -> Vec<(String, &Value)> {
    let mut out = Vec::new();
    for (name, member) in members {
        let name = name.as_str();
        match member {
            Value::Object(map) if SCHEMA_MAPS.contains(&name) => {
                out.extend(
                    map.iter().map(|(key, child)| (format!("/{name}/{}", escape(key)), child)),
                );
            }
            Value::Object(_) if ONE_SCHEMA.contains(&name) => {
                out.push((format!("/{name}"), member))
            }
            Value::Array(list) if SCHEMA_LISTS.contains(&name) => {
                out.extend(
                    list.iter().enumerate().map(|(at, child)| (format!("/{name}/{at}"), child)),
                );
            }
            _ => {}
        }
    }
    out
}

type Scope = BTreeMap<String, Place>;

/// The work list of one reading.
pub(crate) struct Reader<'a> {
    pub(crate) documents: &'a Documents,
    pub(crate) draft: Draft,
    nodes: Vec<Node>,
    known: HashMap<(Place, usize), NodeId>,
    queue: Vec<(NodeId, usize)>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) patterns: Vec<Arc<Pattern>>,
    pub(crate) pattern_ids: HashMap<String, PatternId>,
    problems: Vec<SchemaProblem>,
}

/// Reads everything that the schema at `place` reaches.
pub(crate) fn read(
    documents: &Documents,
    place: Place,
    options: &ReadOptions,
) -> Result<(Arena, Draft), Vec<SchemaProblem>> {
    let problem =
        |sentence: String| vec![SchemaProblem { pointer: documents.show(&place), sentence }];
    let Some(root) = documents.at(&place) else {
        return Err(problem("there is nothing at this place of the document".into()));
    };
    let mut draft = Draft::of_dialect(options.dialect);
    if let Some((pointer, uri)) = dialect(documents, &place, root) {
        draft = uri.as_str().and_then(Draft::of_uri).ok_or_else(|| {
            let at = Place { file: place.file, pointer: format!("{pointer}/$schema") };
            let what = if uri.is_string() { "is not supported" } else { "is no text" };
            vec![SchemaProblem {
                pointer: documents.show(&at),
                sentence: format!(
                    "the dialect {uri} {what}; supported are draft-04, draft-06, draft-07, 2019-09 and 2020-12"
                ),
            }]
        })?;
    }
    let mut reader = Reader {
        documents,
        draft,
        nodes: Vec::new(),
        known: HashMap::new(),
        queue: Vec::new(),
        scopes: vec![Scope::new()],
        patterns: Vec::new(),
        pattern_ids: HashMap::new(),
        problems: Vec::new(),
    };
    let scope = reader.enter(0, &place);
    let root = reader.node(place, scope);
    while let Some((id, scope)) = reader.queue.pop() {
        if reader.problems.len() >= limits::PROBLEMS {
            break;
        }
        if reader.nodes.len() > limits::SCHEMA_NODES {
            let place = reader.nodes[id as usize].place.clone();
            reader.problem(
                &place,
                "",
                format!("the schema reaches more than {} schema objects", limits::SCHEMA_NODES),
            );
            break;
        }
        reader.fill(id, scope);
    }
    let chain = if reader.problems.is_empty() { reader.refuse_standing_cycles() } else { 0 };
    if !reader.problems.is_empty() {
        reader.problems.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        return Err(reader.problems);
    }
    let mut arena =
        Arena { nodes: reader.nodes, patterns: reader.patterns, root, walk_depth: 0, chain };
    crate::class::assign(&mut arena);
    Ok((arena, draft))
}

/// What a place says of its dialect, or what it stands in, and where: a part is read by the rules of the whole.
fn dialect<'d>(
    documents: &'d Documents,
    place: &Place,
    root: &'d Value,
) -> Option<(String, &'d Value)> {
    if let Some(uri) = root.get("$schema") {
        return Some((place.pointer.clone(), uri));
    }
    let mut pointer = place.pointer.as_str();
    while let Some(at) = pointer.rfind('/') {
        pointer = &pointer[..at];
        let around = Place { file: place.file, pointer: pointer.to_owned() };
        let uri = documents.at(&around).and_then(|value| value.get("$schema"));
        // An argument may have that name; what is said around it of a dialect that is not known is told there.
        if let Some(uri) = uri.filter(|uri| uri.as_str().and_then(Draft::of_uri).is_some()) {
            return Some((pointer.to_owned(), uri));
        }
    }
    None
}

impl<'a> Reader<'a> {
    pub(crate) fn problem(&mut self, place: &Place, below: &str, sentence: String) {
        let place = Place { file: place.file, pointer: format!("{}{below}", place.pointer) };
        self.problems.push(SchemaProblem { pointer: self.documents.show(&place), sentence });
    }

    /// The dynamic scope after stepping into the resource that `place` belongs to.
    pub(crate) fn enter(&mut self, scope: usize, place: &Place) -> usize {
        if self.draft != Draft::Draft202012 {
            return scope;
        }
        let resource = self.documents.resource(place, self.draft);
        let anchors = self.documents.dynamic_anchors(place.file, &resource, self.draft);
        if anchors.iter().all(|(name, _)| self.scopes[scope].contains_key(name)) {
            return scope;
        }
        let mut wider = self.scopes[scope].clone();
        for (name, pointer) in anchors {
            wider.entry(name).or_insert(Place { file: place.file, pointer });
        }
        match self.scopes.iter().position(|known| *known == wider) {
            Some(known) => known,
            None => {
                self.scopes.push(wider);
                self.scopes.len() - 1
            }
        }
    }

    pub(crate) fn node(&mut self, place: Place, scope: usize) -> NodeId {
        if let Some(&id) = self.known.get(&(place.clone(), scope)) {
            return id;
        }
        let id = self.push(place.clone(), Vec::new());
        self.known.insert((place, scope), id);
        self.queue.push((id, scope));
        id
    }

    fn push(&mut self, place: Place, parts: Vec<Part>) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).expect("the number of nodes is bounded");
        self.nodes.push(Node {
            place,
            parts,
            hints: Vec::new(),
            class: None,
            forwards: false,
            tuple_items: false,
        });
        id
    }

    fn fill(&mut self, id: NodeId, scope: usize) {
        let place = self.nodes[id as usize].place.clone();
        let documents = self.documents;
        if place.pointer.matches('/').count() > limits::SCHEMA_DEPTH {
            self.problem(
                &place,
                "",
                format!("the schema nests deeper than {} levels", limits::SCHEMA_DEPTH),
            );
            return;
        }
        match documents.at(&place) {
            Some(Value::Bool(true)) => {}
            Some(Value::Bool(false)) => self.nodes[id as usize].parts.push(Part::Never),
            Some(Value::Object(members)) => {
                let mut fill =
                    Fill { reader: self, place: &place, scope, members, parts: Vec::new() };
                fill.all();
                let parts = fill.parts;
                let hints = hints(members);
                let node = &mut self.nodes[id as usize];
                node.tuple_items = members.get("items").is_some_and(Value::is_array);
                node.parts = parts;
                node.hints = hints;
            }
            Some(Value::Null) => self.problem(
                &place,
                "",
                "the schema is blank (null); write {} for a schema that takes everything".into(),
            ),
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.problem(
                    &place,
                    "",
                    "the schema is blank text; write {} for a schema that takes everything".into(),
                );
            }
            Some(other) => {
                let kind = kind_word(other);
                self.problem(
                    &place,
                    "",
                    format!("a schema is an object or a boolean, and this is {kind}"),
                );
            }
            None => {
                self.problem(&place, "", "there is nothing at this place of the document".into())
            }
        }
    }

    /// A node that accepts just this value.
    pub(crate) fn value_node(&mut self, value: &Value, place: &Place) -> NodeId {
        let parts = match value {
            Value::Array(items) => {
                let prefix: Vec<NodeId> =
                    items.iter().map(|item| self.value_node(item, place)).collect();
                let length = items.len() as u64;
                let mut types = Types::default();
                types.add("array");
                let mut parts = vec![Part::Types(types), Part::MaxItems(length)];
                if length > 0 {
                    parts.push(Part::MinItems(length));
                    parts.push(Part::Items(Items { prefix, rest: None }));
                }
                parts
            }
            Value::Object(members) => {
                let mut types = Types::default();
                types.add("object");
                let rest = self.push(place.clone(), vec![Part::Never]);
                let named = members
                    .iter()
                    .map(|(name, member)| (name.clone(), self.value_node(member, place)))
                    .collect();
                vec![
                    Part::Types(types),
                    Part::Required(members.keys().cloned().collect()),
                    Part::Members(Members { named, patterns: Vec::new(), rest: Some(rest) }),
                ]
            }
            scalar => vec![Part::choice("const", vec![scalar.clone()], vec![None])],
        };
        self.push(place.clone(), parts)
    }

    /// A schema that asks itself about the same value has no meaning: refuse it, with the way round.
    /// Also refuses endless chains, and returns the longest.
    fn refuse_standing_cycles(&mut self) -> usize {
        let edges: Vec<Vec<NodeId>> = self
            .nodes
            .iter()
            .map(|node| node.parts.iter().flat_map(Part::in_place).collect())
            .collect();
        if let Some(id) = crate::class::find_cycle(&edges) {
            let place = self.nodes[id as usize].place.clone();
            self.problem(
                &place,
                "",
                "this schema comes back to itself without a step into the value (a `$ref` circle), so it never says anything; put the reference below `properties` or `items`".into(),
            );
            return 0;
        }
        let (length, id) = crate::class::longest_path(&edges);
        if length > limits::CHAIN {
            let place = self.nodes[id as usize].place.clone();
            self.problem(&place, "", format!("a chain of more than {} references and branches starts here without a step into the value", limits::CHAIN));
        }
        length
    }
}

fn hints(members: &Map<String, Value>) -> Vec<Value> {
    let examples = members.get("examples").and_then(Value::as_array);
    members
        .get("example")
        .into_iter()
        .chain(examples.into_iter().flatten())
        .chain(members.get("default"))
        .take(4)
        .filter(|hint| !hint.is_array() && !hint.is_object())
        .cloned()
        .collect()
}

fn kind_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
