//! From JSON to nodes: what each keyword of each dialect says, and every problem of the text at once.
//!
//! Places are read from a work list, so depth costs no call stack. Only what the root reaches is
//! read: an unused definition can neither change the meaning nor break the reading.

use crate::limits;
use crate::node::{Arena, Items, Members, Node, NodeId, Part, PatternId, Place, Types};
use crate::number::{self, Rat};
use crate::pattern::Pattern;
use crate::resolve::Documents;
use crate::value;
use crate::{Dialect, ReadOptions};
use num_traits::{Signed, Zero};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Something wrong with a schema: where, and what, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {sentence}")]
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

    fn of_uri(uri: &str) -> Option<Draft> {
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

    fn boolean_bounds(self) -> bool {
        matches!(self, Draft::Draft04 | Draft::OpenApi30)
    }

    fn modern(self) -> bool {
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
                    map.iter()
                        .map(|(key, child)| (format!("/{name}/{}", value::escape(key)), child)),
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

struct Reader<'a> {
    documents: &'a Documents,
    draft: Draft,
    nodes: Vec<Node>,
    known: HashMap<(Place, usize), NodeId>,
    queue: Vec<(NodeId, usize)>,
    scopes: Vec<Scope>,
    patterns: Vec<Arc<Pattern>>,
    pattern_ids: HashMap<String, PatternId>,
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
    if let Some(uri) = root.get("$schema") {
        draft = uri.as_str().and_then(Draft::of_uri).ok_or_else(|| {
            problem(format!(
                "the dialect {uri} is not supported; supported are draft-04, draft-06, draft-07, 2019-09 and 2020-12"
            ))
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
    if reader.problems.is_empty() {
        reader.refuse_standing_cycles();
    }
    if !reader.problems.is_empty() {
        reader.problems.sort_by(|a, b| a.pointer.cmp(&b.pointer));
        return Err(reader.problems);
    }
    let mut arena = Arena { nodes: reader.nodes, patterns: reader.patterns, root };
    crate::class::assign(&mut arena);
    Ok((arena, draft))
}

impl<'a> Reader<'a> {
    fn problem(&mut self, place: &Place, below: &str, sentence: String) {
        let place = Place { file: place.file, pointer: format!("{}{below}", place.pointer) };
        self.problems.push(SchemaProblem { pointer: self.documents.show(&place), sentence });
    }

    /// The dynamic scope after stepping into the resource that `place` belongs to.
    fn enter(&mut self, scope: usize, place: &Place) -> usize {
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

    fn node(&mut self, place: Place, scope: usize) -> NodeId {
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
    fn value_node(&mut self, value: &Value, place: &Place) -> NodeId {
        let exact = |values: Vec<Value>| Part::Choice {
            keyword: "const",
            nodes: vec![None; values.len()],
            values: values.into(),
        };
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
            scalar => vec![exact(vec![scalar.clone()])],
        };
        self.push(place.clone(), parts)
    }

    /// A schema that asks itself about the same value has no meaning: refuse it, with the way round.
    fn refuse_standing_cycles(&mut self) {
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
        }
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

/// One schema object while its keywords are read.
struct Fill<'r, 'a> {
    reader: &'r mut Reader<'a>,
    place: &'r Place,
    scope: usize,
    members: &'r Map<String, Value>,
    parts: Vec<Part>,
}

impl Fill<'_, '_> {
    fn all(&mut self) {
        let draft = self.reader.draft;
        if draft.ref_hides_siblings() && self.members.contains_key("$ref") {
            self.reference();
            return;
        }
        self.types();
        self.choices();
        self.required();
        self.numbers();
        self.strings();
        self.object_counts();
        self.object();
        self.array();
        self.in_place();
        if draft.modern() {
            self.reference();
            self.unevaluated();
        }
    }

    fn wrong(&mut self, keyword: &str, sentence: &str) {
        self.reader.problem(
            self.place,
            &format!("/{}", value::escape(keyword)),
            format!("`{keyword}` {sentence}"),
        );
    }

    fn child(&mut self, below: &str) -> NodeId {
        let place =
            Place { file: self.place.file, pointer: format!("{}{below}", self.place.pointer) };
        let scope = if self.reader.documents.at(&place).and_then(|v| v.get("$id")).is_some() {
            self.reader.enter(self.scope, &place)
        } else {
            self.scope
        };
        self.reader.node(place, scope)
    }

    fn one(&mut self, keyword: &str) -> Option<NodeId> {
        self.members.get(keyword)?;
        Some(self.child(&format!("/{keyword}")))
    }

    fn list(&mut self, keyword: &str) -> Option<Vec<NodeId>> {
        match self.members.get(keyword)? {
            Value::Array(list) if !list.is_empty() => {
                Some((0..list.len()).map(|at| self.child(&format!("/{keyword}/{at}"))).collect())
            }
            _ => {
                self.wrong(keyword, "is a list of at least one schema");
                None
            }
        }
    }

    fn map(&mut self, keyword: &str) -> Vec<(String, NodeId)> {
        match self.members.get(keyword) {
            None => Vec::new(),
            Some(Value::Object(map)) => map
                .keys()
                .map(|name| {
                    (name.clone(), self.child(&format!("/{keyword}/{}", value::escape(name))))
                })
                .collect(),
            Some(_) => {
                self.wrong(keyword, "is an object whose values are schemas");
                Vec::new()
            }
        }
    }

    fn count(&mut self, keyword: &str) -> Option<u64> {
        let count = number::count(self.members.get(keyword)?);
        if count.is_none() {
            self.wrong(keyword, "is a whole number, 0 or more");
        }
        count
    }

    fn rational(&mut self, keyword: &'static str) -> Option<Rat> {
        match self.members.get(keyword)? {
            Value::Number(number) => {
                let exact = number::read(number);
                if exact.is_none() {
                    self.parts.push(Part::Opaque {
                        keyword,
                        why: "the number is too large to be compared exactly".into(),
                    });
                }
                exact
            }
            _ => {
                self.wrong(keyword, "is a number");
                None
            }
        }
    }

    fn names(&mut self, keyword: &str, value: &Value) -> Option<Vec<String>> {
        let names: Option<Vec<String>> = value
            .as_array()
            .and_then(|list| list.iter().map(|name| name.as_str().map(String::from)).collect());
        if names.is_none() {
            self.wrong(keyword, "is a list of property names");
        }
        names
    }

    fn types(&mut self) {
        let Some(value) = self.members.get("type") else { return };
        let mut types = Types::default();
        let good = match value {
            Value::String(name) => types.add(name),
            Value::Array(names) if !names.is_empty() => {
                names.iter().all(|name| name.as_str().is_some_and(|name| types.add(name)))
            }
            _ => false,
        };
        if !good {
            self.wrong("type", "names no type of JSON Schema (null, boolean, integer, number, string, array, object, or a list of them)");
            return;
        }
        if self.reader.draft == Draft::OpenApi30
            && self.members.get("nullable") == Some(&Value::Bool(true))
        {
            types.add("null");
        }
        self.parts.push(Part::Types(types));
    }

    fn choices(&mut self) {
        for keyword in ["const", "enum"] {
            let Some(value) = self.members.get(keyword) else { continue };
            if keyword == "const" && self.reader.draft.boolean_bounds() {
                continue;
            }
            let values: Vec<Value> = match (keyword, value) {
                ("const", value) => vec![value.clone()],
                (_, Value::Array(values)) => values.clone(),
                _ => {
                    self.wrong(keyword, "is a list of values");
                    continue;
                }
            };
            if values.iter().any(|value| value::deeper_than(value, limits::VALUE_DEPTH)) {
                self.wrong(
                    keyword,
                    &format!("holds a value nested deeper than {} levels", limits::VALUE_DEPTH),
                );
                continue;
            }
            if values.is_empty() {
                self.parts.push(Part::Never);
                continue;
            }
            let nodes = values
                .iter()
                .map(|value| {
                    let compound = value.is_array() || value.is_object();
                    compound.then(|| self.reader.value_node(value, self.place))
                })
                .collect();
            self.parts.push(Part::Choice { keyword, values: values.into(), nodes });
        }
    }

    fn required(&mut self) {
        if let Some(value) = self.members.get("required")
            && let Some(names) = self.names("required", value)
            && !names.is_empty()
        {
            self.parts.push(Part::Required(names));
        }
        let modern = self.reader.draft.modern();
        let keyword = if modern { "dependentRequired" } else { "dependencies" };
        let Some(value) = self.members.get(keyword) else { return };
        if self.reader.draft == Draft::OpenApi30 {
            return;
        }
        let Value::Object(map) = value else {
            self.wrong(keyword, "is an object whose values are lists of property names");
            return;
        };
        let mut requires = Vec::new();
        for (name, value) in map {
            if !modern && !value.is_array() {
                let node = self.child(&format!("/dependencies/{}", value::escape(name)));
                self.parts.push(Part::When { name: name.clone(), node });
            } else if let Some(names) = self.names(keyword, value) {
                requires.push((name.clone(), names));
            }
        }
        if !requires.is_empty() {
            self.parts.push(Part::Requires(requires));
        }
    }

    fn numbers(&mut self) {
        for (keyword, exclusive, low) in
            [("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false)]
        {
            let boolean = self.reader.draft.boolean_bounds();
            let bound =
                |at, open| if low { Part::AtLeast { at, open } } else { Part::AtMost { at, open } };
            if let Some(at) = self.rational(keyword) {
                let open = boolean && self.members.get(exclusive) == Some(&Value::Bool(true));
                self.parts.push(bound(at, open));
            }
            if !boolean && let Some(at) = self.rational(exclusive) {
                self.parts.push(bound(at, true));
            }
        }
        if let Some(step) = self.rational("multipleOf") {
            if step.is_zero() || step.is_negative() {
                self.wrong("multipleOf", "is a number above 0");
            } else {
                self.parts.push(Part::MultipleOf(step));
            }
        }
    }

    fn strings(&mut self) {
        if let Some(least) = self.count("minLength").filter(|&least| least > 0) {
            self.parts.push(Part::MinLength(least));
        }
        if let Some(most) = self.count("maxLength").filter(|&most| most < u64::MAX) {
            self.parts.push(Part::MaxLength(most));
        }
        match self.members.get("pattern") {
            None => {}
            Some(Value::String(text)) => {
                if let Some(id) = self.pattern(text, "/pattern") {
                    self.parts.push(Part::Pattern(id));
                }
            }
            Some(_) => self.wrong("pattern", "is a regular expression, as text"),
        }
    }

    fn pattern(&mut self, text: &str, below: &str) -> Option<PatternId> {
        if let Some(&id) = self.reader.pattern_ids.get(text) {
            return Some(id);
        }
        match Pattern::read(text) {
            Ok(pattern) => {
                let id = PatternId::try_from(self.reader.patterns.len())
                    .expect("the number of nodes is bounded");
                self.reader.patterns.push(Arc::new(pattern));
                self.reader.pattern_ids.insert(text.to_string(), id);
                Some(id)
            }
            Err(why) => {
                self.reader.problem(
                    self.place,
                    below,
                    format!("the regular expression `{text}` cannot be read: {why}"),
                );
                None
            }
        }
    }

    fn object_counts(&mut self) {
        if let Some(least) = self.count("minProperties").filter(|&least| least > 0) {
            self.parts.push(Part::MinMembers(least));
        }
        if let Some(most) = self.count("maxProperties").filter(|&most| most < u64::MAX) {
            self.parts.push(Part::MaxMembers(most));
        }
    }

    fn object(&mut self) {
        let draft = self.reader.draft;
        let named = self.map("properties").into_iter().collect();
        let mut patterns = Vec::new();
        if draft != Draft::OpenApi30 {
            for (text, node) in self.map("patternProperties") {
                if let Some(id) =
                    self.pattern(&text, &format!("/patternProperties/{}", value::escape(&text)))
                {
                    patterns.push((id, node));
                }
            }
        }
        let rest = self.one("additionalProperties");
        let members = Members { named, patterns, rest };
        if !members.named.is_empty() || !members.patterns.is_empty() || rest.is_some() {
            self.parts.push(Part::Members(members));
        }
        if draft > Draft::Draft04
            && draft != Draft::OpenApi30
            && let Some(node) = self.one("propertyNames")
        {
            self.parts.push(Part::Names(node));
        }
        if draft.modern() {
            for (name, node) in self.map("dependentSchemas") {
                self.parts.push(Part::When { name, node });
            }
        }
    }

    fn array(&mut self) {
        let draft = self.reader.draft;
        if let Some(least) = self.count("minItems").filter(|&least| least > 0) {
            self.parts.push(Part::MinItems(least));
        }
        if let Some(most) = self.count("maxItems").filter(|&most| most < u64::MAX) {
            self.parts.push(Part::MaxItems(most));
        }
        let items = match (draft, self.members.get("items")) {
            (Draft::Draft202012, Some(Value::Array(_))) => {
                self.wrong(
                    "items",
                    "is one schema in 2020-12; a list of schemas is called `prefixItems` there",
                );
                return;
            }
            (Draft::Draft202012, _) => Items {
                prefix: if self.members.contains_key("prefixItems") {
                    self.list("prefixItems").unwrap_or_default()
                } else {
                    Vec::new()
                },
                rest: self.one("items"),
            },
            (_, Some(Value::Array(list))) => Items {
                prefix: (0..list.len()).map(|at| self.child(&format!("/items/{at}"))).collect(),
                rest: self.one("additionalItems"),
            },
            _ => Items { prefix: Vec::new(), rest: self.one("items") },
        };
        if !items.prefix.is_empty() || items.rest.is_some() {
            self.parts.push(Part::Items(items));
        }
        if draft > Draft::Draft04
            && draft != Draft::OpenApi30
            && self.members.contains_key("contains")
        {
            let node = self.child("/contains");
            let (mut min, mut max) = (1, None);
            if draft.modern() {
                min = self.count("minContains").unwrap_or(1);
                max = self.count("maxContains");
            }
            self.parts.push(Part::Contains { node, min, max });
        }
        match self.members.get("uniqueItems") {
            Some(Value::Bool(true)) => self.parts.push(Part::Unique),
            None | Some(Value::Bool(false)) => {}
            Some(_) => self.wrong("uniqueItems", "is true or false"),
        }
    }

    fn in_place(&mut self) {
        let draft = self.reader.draft;
        if let Some(nodes) = self.list("allOf") {
            self.parts.push(Part::All(nodes));
        }
        if let Some(nodes) = self.list("anyOf") {
            self.parts.push(Part::Any(nodes));
        }
        if let Some(nodes) = self.list("oneOf") {
            self.parts.push(Part::One(nodes));
        }
        if let Some(node) = self.one("not") {
            self.parts.push(Part::Not(node));
        }
        if draft >= Draft::Draft07 && draft != Draft::OpenApi30 && self.members.contains_key("if") {
            let test = self.child("/if");
            let (then, other) = (self.one("then"), self.one("else"));
            if then.is_some() || other.is_some() || draft.modern() {
                self.parts.push(Part::If { test, then, other });
            }
        }
    }

    fn reference(&mut self) {
        let draft = self.reader.draft;
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(value) = self.members.get(keyword) else { continue };
            let applies = match keyword {
                "$ref" => true,
                "$dynamicRef" => draft == Draft::Draft202012,
                _ => draft == Draft::Draft201909,
            };
            if !applies {
                continue;
            }
            let Some(text) = value.as_str() else {
                self.wrong(keyword, "is a reference, as text");
                continue;
            };
            if keyword == "$recursiveRef" {
                self.parts.push(Part::Opaque {
                    keyword: "$recursiveRef",
                    why: "recursive references of 2019-09 are not reasoned about".into(),
                });
                continue;
            }
            let mut place = match self.reader.documents.resolve(self.place, text, draft) {
                Ok(place) => place,
                Err(why) => {
                    self.reader.problem(self.place, &format!("/{keyword}"), why);
                    continue;
                }
            };
            if keyword == "$dynamicRef" {
                let anchor = text.rsplit('#').next().unwrap_or_default();
                let declared = self
                    .reader
                    .documents
                    .at(&place)
                    .and_then(|target| target.get("$dynamicAnchor"))
                    .and_then(Value::as_str);
                if declared == Some(anchor) {
                    // The outermost resource entered on the way here decides.
                    if let Some(outer) = self.reader.scopes[self.scope].get(anchor) {
                        place = outer.clone();
                    }
                }
            }
            let scope = self.reader.enter(self.scope, &place);
            let node = self.reader.node(place, scope);
            let keyword = if keyword == "$ref" { "$ref" } else { "$dynamicRef" };
            self.parts.push(Part::Ref { keyword, node });
        }
    }

    fn unevaluated(&mut self) {
        if let Some(node) = self.one("unevaluatedItems") {
            self.parts.push(Part::UnevaluatedItems(node));
        }
        if let Some(node) = self.one("unevaluatedProperties") {
            self.parts.push(Part::UnevaluatedMembers(node));
        }
    }
}
