//! One place of a schema, read through `$ref`, `allOf` and nullable unions.
//!
//! A [`View`] is what a person sees at a place: its type, its members, its bounds, whichever way
//! the author wrote them down. It explains; the schema engine decides.

mod told;

use crate::limits;
pub use crate::node::{Node, Source};
pub use schema::reference::escape;
use serde_json::{Map, Value};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of JSON values; `integer` is apart because schemas name it.
pub type Kinds = BTreeSet<&'static str>;

/// What an object takes besides its named members.
#[derive(Debug, Clone)]
pub enum Rest<'a> {
    /// Anything, unchecked.
    Open,
    /// Nothing.
    Closed,
    /// Values of this schema.
    Schema(Node<'a>),
}

/// One place as a person reads it.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// `None` where any kind of value fits.
    pub kinds: Option<Kinds>,
    /// The listed values, where they are listed.
    pub values: Option<Vec<Value>>,
    /// What is said of single listed values, by [`schema::value_key`]: `enumNames` and its like, titles and descriptions
    /// of constants.
    pub value_texts: BTreeMap<String, (Value, String)>,
    /// Named members in document order.
    pub members: Vec<(String, Node<'a>)>,
    /// Names that must be present.
    pub required: BTreeSet<String>,
    /// Everything else an object takes.
    pub rest: Rest<'a>,
    /// True where the schema says anything about members at all.
    pub describes_object: bool,
    /// The schema of every item.
    pub items: Option<Node<'a>>,
    /// Schemas of the first items.
    pub prefix: Vec<Node<'a>>,
    /// Members by pattern.
    pub patterns: Vec<(String, Node<'a>)>,
    /// Alternatives that are not just "or null" and not just listed values.
    pub variants: Vec<Node<'a>>,
    /// Bounds by keyword; exclusive integer bounds are folded into inclusive ones.
    pub bounds: BTreeMap<&'static str, Value>,
    /// The description.
    pub description: Option<&'a str>,
    /// The stated default.
    pub default: Option<&'a Value>,
    /// Other single keywords: format, pattern, readOnly, writeOnly, deprecated, x-mcp-header.
    pub marks: BTreeMap<&'static str, &'a Value>,
    /// Keywords that only the schema engine can judge.
    pub opaque: BTreeMap<String, &'a Value>,
}

const BOUNDS: &[&str] = &[
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems",
];
const MARKS: &[&str] = &[
    "format", "pattern", "readOnly", "writeOnly", "deprecated", "x-mcp-header", "contentEncoding",
    "contentMediaType",
];
/// Keywords, of no dialect and of wide use, that explain the values of an `enum` one by one.
const VALUE_TEXTS: &[&str] = &[
    "enumNames",
    "enumDescriptions",
    "x-enumNames",
    "x-enum-names",
    "x-enum-varnames",
    "x-enum-descriptions",
    "x-enumDescriptions",
    "markdownEnumDescriptions",
];
const OPAQUE: &[&str] = &[
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
    "contains", "minContains", "maxContains", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems", "$dynamicRef", "$recursiveRef", "discriminator",
];

impl<'a> View<'a> {
    fn empty() -> Self {
        View {
            kinds: None,
            values: None,
            value_texts: BTreeMap::new(),
            members: Vec::new(),
            required: BTreeSet::new(),
            rest: Rest::Open,
            describes_object: false,
            items: None,
            prefix: Vec::new(),
            patterns: Vec::new(),
            variants: Vec::new(),
            bounds: BTreeMap::new(),
            description: None,
            default: None,
            marks: BTreeMap::new(),
            opaque: BTreeMap::new(),
        }
    }

    /// Reads the place, following `$ref` and folding `allOf` and nullable unions.
    pub fn of(node: &Node<'a>) -> View<'a> {
        let mut view = View::unfold(node, &Budget::default(), 0);
        view.settle();
        view
    }

    fn unfold(node: &Node<'a>, budget: &Budget, depth: usize) -> View<'a> {
        let mut view = View::empty();
        match node.value {
            Value::Object(schema) if depth < limits::UNFOLD_DEPTH && budget.spend() => {
                view.read(node, schema, budget, depth);
            }
            Value::Bool(false) => view.kinds = Some(Kinds::new()),
            _ => {}
        }
        view
    }

    fn read(
        &mut self,
        node: &Node<'a>,
        schema: &'a Map<String, Value>,
        budget: &Budget,
        depth: usize,
    ) {
        if let Some(target) = node.follow() {
            self.absorb(View::unfold(&target, budget, depth + 1));
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.narrow_kinds(kinds_named(&[name.as_str()])),
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                self.narrow_kinds(kinds_named(&names));
            }
            _ => {}
        }
        if schema.get("nullable") == Some(&Value::Bool(true))
            && let Some(kinds) = &mut self.kinds
        {
            kinds.insert("null");
        }
        if let Some(value) = schema.get("const") {
            self.values = Some(vec![value.clone()]);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.values = Some(values.clone());
            for keyword in VALUE_TEXTS {
                self.tell_values(schema.get(*keyword));
            }
        }
        for (keyword, slot) in [("description", 0), ("default", 1)] {
            match (schema.get(keyword), slot) {
                (Some(Value::String(text)), 0) => self.description = Some(text),
                (Some(value), 1) => self.default = Some(value),
                _ => {}
            }
        }
        for keyword in BOUNDS {
            if let Some(value) = schema.get(*keyword) {
                self.bounds.insert(keyword, value.clone());
            }
        }
        for keyword in MARKS {
            if let Some(value) = schema.get(*keyword) {
                self.marks.insert(keyword, value);
            }
        }
        for keyword in OPAQUE {
            if let Some(value) = schema.get(*keyword) {
                self.opaque.insert((*keyword).to_string(), value);
            }
        }
        self.read_object(node, schema);
        self.read_array(node, schema);
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            // One part alone dresses a reference; several make a schema of its own, which is one
            // of the alternatives that a part of it may choose among.
            let dresses = parts.len() == 1 && !schema.contains_key("properties");
            for (index, part) in parts.iter().enumerate() {
                let child = node.child(&["allOf", &index.to_string()], part);
                let mut view = View::unfold(&child, budget, depth + 1);
                if !dresses {
                    view.opaque.remove("discriminator");
                }
                self.absorb(view);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(options)) = schema.get(keyword) {
                self.read_union(node, keyword, options, (budget, depth));
            }
        }
    }

    fn read_object(&mut self, node: &Node<'a>, schema: &'a Map<String, Value>) {
        if let Some(Value::Object(members)) = schema.get("properties") {
            self.describes_object = true;
            for (name, member) in members {
                if !self.members.iter().any(|(known, _)| known == name) {
                    self.members.push((name.clone(), node.child(&["properties", name], member)));
                }
            }
        }
        if let Some(Value::Array(names)) = schema.get("required") {
            self.required.extend(names.iter().filter_map(Value::as_str).map(str::to_string));
        }
        if let Some(Value::Object(patterns)) = schema.get("patternProperties") {
            self.describes_object = true;
            for (pattern, member) in patterns {
                let child = node.child(&["patternProperties", pattern], member);
                self.patterns.push((pattern.clone(), child));
            }
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                self.describes_object = true;
                self.rest = Rest::Closed;
            }
            Some(value @ Value::Object(rest)) if !rest.is_empty() => {
                self.describes_object = true;
                self.rest = Rest::Schema(node.child(&["additionalProperties"], value));
            }
            _ => {}
        }
        if schema.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
            self.rest = Rest::Closed;
        }
    }

    fn read_array(&mut self, node: &Node<'a>, schema: &'a Map<String, Value>) {
        match schema.get("items") {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.prefix.push(node.child(&["items", &index.to_string()], item));
                }
                // What 2020-12 calls `items`; beside anything else it says nothing.
                let rest = schema.get("additionalItems");
                self.items = rest.map(|rest| node.child(&["additionalItems"], rest));
            }
            Some(value) => self.items = Some(node.child(&["items"], value)),
            None => {}
        }
        if let Some(Value::Array(items)) = schema.get("prefixItems") {
            for (index, item) in items.iter().enumerate() {
                self.prefix.push(node.child(&["prefixItems", &index.to_string()], item));
            }
        }
    }

    fn read_union(
        &mut self,
        node: &Node<'a>,
        keyword: &str,
        options: &'a [Value],
        (budget, depth): (&Budget, usize),
    ) {
        let mut nullable = false;
        let mut rest: Vec<(Node<'a>, View<'a>)> = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let child = node.child(&[keyword, &index.to_string()], option);
            let view = View::unfold(&child, budget, depth + 1);
            let is_null = view.kinds.as_ref().is_some_and(|k| k.len() == 1 && k.contains("null"))
                || view.values.as_ref().is_some_and(|v| v.len() == 1 && v[0].is_null());
            if is_null {
                nullable = true;
            } else {
                rest.push((child, view));
            }
        }
        let all_listed = !rest.is_empty()
            && rest.iter().all(|(_, view)| view.values.is_some() && view.members.is_empty());
        if rest.len() == 1 {
            let (_, mut view) = rest.remove(0);
            if nullable {
                view.admit_null();
            }
            self.absorb(view);
        } else if all_listed {
            let mut listed = Vec::new();
            for (child, view) in rest {
                let title = child.value.get("title").and_then(Value::as_str);
                let said: Vec<&str> = title.into_iter().chain(view.description).collect();
                self.value_texts.extend(view.value_texts);
                for value in view.values.unwrap_or_default() {
                    if !said.is_empty() {
                        self.tell_value(&value, &said.join(": "));
                    }
                    listed.push(value);
                }
            }
            if nullable {
                listed.push(Value::Null);
            }
            self.values = Some(listed);
        } else if rest.is_empty() && nullable {
            self.narrow_kinds(kinds_named(&["null"]));
        } else {
            // Alternatives of bare required sets restrict combinations, not kinds of values.
            let says_more = rest.iter().any(|(_, view)| {
                view.kinds.is_some() || view.describes_object || !view.variants.is_empty()
            });
            if says_more {
                self.variants.extend(rest.into_iter().map(|(child, _)| child));
                if nullable && let Some(kinds) = &mut self.kinds {
                    kinds.insert("null");
                }
            } else if let Some(value) = node.value.get(keyword) {
                self.opaque.insert(keyword.to_string(), value);
            }
        }
    }

    fn admit_null(&mut self) {
        if let Some(kinds) = &mut self.kinds {
            kinds.insert("null");
        }
        if let Some(values) = &mut self.values
            && !values.iter().any(Value::is_null)
        {
            values.push(Value::Null);
        }
    }

    fn narrow_kinds(&mut self, kinds: Kinds) {
        self.kinds = Some(match self.kinds.take() {
            None => kinds,
            Some(mine) => {
                let mut both: Kinds = mine.intersection(&kinds).copied().collect();
                if mine.contains("integer") && kinds.contains("number")
                    || mine.contains("number") && kinds.contains("integer")
                {
                    both.insert("integer");
                }
                both
            }
        });
    }

    /// Folds another schema that must also hold into this one.
    fn absorb(&mut self, other: View<'a>) {
        if let Some(kinds) = other.kinds {
            self.narrow_kinds(kinds);
        }
        if self.values.is_none() {
            self.values = other.values;
        }
        for (key, told) in other.value_texts {
            self.value_texts.entry(key).or_insert(told);
        }
        for (name, node) in other.members {
            if !self.members.iter().any(|(known, _)| *known == name) {
                self.members.push((name, node));
            }
        }
        self.required.extend(other.required);
        self.describes_object |= other.describes_object;
        if matches!(self.rest, Rest::Open) {
            self.rest = other.rest;
        }
        self.items = self.items.take().or(other.items);
        if self.prefix.is_empty() {
            self.prefix = other.prefix;
        }
        self.patterns.extend(other.patterns);
        self.variants.extend(other.variants);
        for (keyword, bound) in other.bounds {
            self.bounds.entry(keyword).or_insert(bound);
        }
        self.description = self.description.or(other.description);
        self.default = self.default.or(other.default);
        for (mark, value) in other.marks {
            self.marks.entry(mark).or_insert(value);
        }
        self.opaque.extend(other.opaque);
    }

    /// Folds notation: listed values fix the kind, integer bounds become inclusive.
    fn settle(&mut self) {
        if let Some(values) = &mut self.values {
            if let Some(kinds) = &self.kinds {
                values.retain(|value| fits(value, kinds));
            }
            self.kinds = Some(values.iter().map(kind_of).collect());
        }
        // Draft-04 says with a flag that the bound beside it is exclusive.
        for (exclusive, inclusive) in
            [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")]
        {
            if let Some(flag) = self.bounds.get(exclusive).and_then(Value::as_bool) {
                self.bounds.remove(exclusive);
                if let Some(bound) = self.bounds.remove(inclusive) {
                    self.bounds.insert(if flag { exclusive } else { inclusive }, bound);
                }
            }
        }
        let whole = self.kinds.as_ref().is_some_and(|kinds| !kinds.contains("number"));
        if whole {
            for (exclusive, inclusive, step) in
                [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
            {
                let folded = self.bounds.get(exclusive).and_then(Value::as_i64);
                if let Some(bound) = folded.and_then(|bound| bound.checked_add(step))
                    && !self.bounds.contains_key(inclusive)
                {
                    self.bounds.remove(exclusive);
                    self.bounds.insert(inclusive, Value::from(bound));
                }
            }
        }
        for (keyword, zero) in [("minLength", 0), ("minItems", 0), ("minProperties", 0)] {
            if self.bounds.get(keyword).and_then(Value::as_i64) == Some(zero) {
                self.bounds.remove(keyword);
            }
        }
        if self.bounds.get("uniqueItems") == Some(&Value::Bool(false)) {
            self.bounds.remove("uniqueItems");
        }
        for mark in ["readOnly", "writeOnly", "deprecated"] {
            if self.marks.get(mark) == Some(&&Value::Bool(false)) {
                self.marks.remove(mark);
            }
        }
    }

    /// The node of a named member.
    pub fn member(&self, name: &str) -> Option<&Node<'a>> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    /// True where an undeclared member is taken without a word.
    pub fn is_open(&self) -> bool {
        matches!(self.rest, Rest::Open)
    }

    /// The kinds of the place, its alternatives included; `None` where any kind fits.
    pub fn all_kinds(&self) -> Option<Kinds> {
        self.kinds_of_all(&mut BTreeSet::new())
    }

    /// `seen` holds the places that were looked at: one that comes back to itself adds nothing.
    fn kinds_of_all(&self, seen: &mut BTreeSet<(&'a str, String)>) -> Option<Kinds> {
        if self.variants.is_empty() {
            return self.kinds.clone();
        }
        let mut kinds = Kinds::new();
        for variant in &self.variants {
            if seen.len() >= limits::UNFOLD_STEPS {
                return None;
            }
            if seen.insert((variant.file, variant.pointer.clone())) {
                kinds.extend(View::of(variant).kinds_of_all(seen)?);
            }
        }
        if self.kinds.as_ref().is_some_and(|own| own.contains("null")) {
            kinds.insert("null");
        }
        Some(kinds)
    }
}

/// How many schemas are still read for one place.
struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Budget {
        Budget(Cell::new(limits::UNFOLD_STEPS))
    }
}

impl Budget {
    fn spend(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

fn kinds_named(names: &[&str]) -> Kinds {
    const KNOWN: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];
    let mut kinds: Kinds = KNOWN.iter().copied().filter(|known| names.contains(known)).collect();
    if kinds.contains("number") {
        kinds.remove("integer");
    }
    kinds
}

fn fits(value: &Value, kinds: &Kinds) -> bool {
    let kind = kind_of(value);
    kinds.contains(kind) || kind == "integer" && kinds.contains("number")
}

/// The kind of a value; a number without a fraction is an `integer`.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|f| f.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Equality of JSON values in which `1.0` equals `1`.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b
                || match (a.as_i64(), b.as_i64()) {
                    (Some(a), Some(b)) => a == b,
                    (None, None) | (Some(_), None) | (None, Some(_)) => {
                        // Beyond 2^53 only equal spelling is equality; f64 would round it away.
                        let (x, y) = (a.as_f64(), b.as_f64());
                        x == y && x.is_some_and(|x| x.abs() < 9_007_199_254_740_992.0)
                    }
                }
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same_value(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Bundle;
    use serde_json::json;

    fn check(a: Value, b: Value) {
        let view = |value: &Value| {
            let node =
                Node { source: Source::single(value), file: "", pointer: String::new(), value };
            let view = View::of(&node);
            (view.kinds, view.values, view.bounds)
        };
        assert_eq!(view(&a), view(&b));
    }

    #[test]
    fn spellings_of_one_thing_read_alike() {
        check(
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        );
        check(json!({"enum": ["a"]}), json!({"const": "a"}));
        check(
            json!({"type": "integer", "exclusiveMaximum": 10}),
            json!({"type": "integer", "maximum": 9}),
        );
        check(json!({"oneOf": [{"const": 1}, {"const": 2}]}), json!({"enum": [1, 2]}));
        check(json!({"allOf": [{"type": "string"}], "minLength": 0}), json!({"type": "string"}));
    }

    #[test]
    fn references_lead_through_the_bundle() {
        let bundle = Bundle {
            name: "root".into(),
            root: json!({"a": {"$ref": "parts/b.json#/x"}}),
            files: [(
                "parts/b.json".to_string(),
                json!({"x": {"$ref": "#/y"}, "y": {"type": "null"}}),
            )]
            .into(),
        };
        let node = Source::bundle(&bundle).at("/a").expect("the place is there");
        assert!(View::of(&node).kinds.expect("typed").contains("null"));
    }
}
