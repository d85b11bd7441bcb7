//! What each keyword of one schema object says, in each dialect.

use crate::limits;
use crate::node::{Items, Members, NodeId, Part, PatternId, Place, Types};
use crate::number::{self, Rat};
use crate::pattern::Pattern;
use crate::read::{Draft, Reader};
use crate::reference::escape;
use crate::value;
use num_traits::{Signed, Zero};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One schema object while its keywords are read.
pub(crate) struct Fill<'r, 'a> {
    pub(crate) reader: &'r mut Reader<'a>,
    pub(crate) place: &'r Place,
    pub(crate) scope: usize,
    pub(crate) members: &'r Map<String, Value>,
    pub(crate) parts: Vec<Part>,
}

impl Fill<'_, '_> {
    pub(crate) fn all(&mut self) {
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
            &format!("/{}", escape(keyword)),
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
                .map(|name| (name.clone(), self.child(&format!("/{keyword}/{}", escape(name)))))
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
            self.parts.push(Part::choice(keyword, values, nodes));
        }
    }

    fn required(&mut self) {
        if let Some(value) = self.members.get("required")
            && let Some(names) = self.names("required", value)
            && !names.is_empty()
        {
            self.parts.push(Part::Required(names));
        }
        let draft = self.reader.draft;
        if draft.modern() {
            self.requires("dependentRequired");
        }
        if draft != Draft::OpenApi30 {
            // Deprecated since 2019-09, and still asserted by validators and by the official optional tests.
            self.requires("dependencies");
        }
    }

    /// `dependencies` may hold schemas as well.
    fn requires(&mut self, keyword: &'static str) {
        let Some(value) = self.members.get(keyword) else { return };
        let Value::Object(map) = value else {
            self.wrong(keyword, "is an object whose values are lists of property names");
            return;
        };
        let mut names = Vec::new();
        for (name, value) in map {
            if keyword == "dependencies" && !value.is_array() {
                let node = self.child(&format!("/dependencies/{}", escape(name)));
                self.parts.push(Part::When { name: name.clone(), node });
            } else if let Some(asked) = self.names(keyword, value) {
                names.push((name.clone(), asked));
            }
        }
        if !names.is_empty() {
            self.parts.push(Part::Requires { keyword, names });
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
                    self.pattern(&text, &format!("/patternProperties/{}", escape(&text)))
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
            let marks = draft == Draft::Draft202012;
            self.parts.push(Part::Contains { node, min, max, marks });
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
                    self.reader.problem(self.place, &format!("/{keyword}"), why.to_string());
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
