//! The compiled form of a schema: an arena of nodes, each a conjunction of parts.
//!
//! A node is true of a value when all its parts are. Every reference is an edge to another node, dynamic
//! ones included (the reader makes one node per place *and* dynamic scope), so nothing is left to resolve.

use crate::limits;
use crate::number::Rat;
use crate::pattern::Pattern;
use crate::value;
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Index of a node in its arena.
pub(crate) type NodeId = u32;
/// Index of a pattern in its arena.
pub(crate) type PatternId = u32;

/// The six kinds of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] =
        [Kind::Null, Kind::Boolean, Kind::Number, Kind::String, Kind::Array, Kind::Object];

    pub(crate) fn of(value: &Value) -> Kind {
        match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::String(_) => Kind::String,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
}

/// How a set of types treats one kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admits {
    All,
    Integers,
    None,
}

/// A set of JSON Schema types as bits: the six kinds, and integer apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Types(pub(crate) u8);

impl Types {
    const INTEGER: u8 = 1 << 6;
    /// Objects and nothing else.
    pub(crate) const OBJECT: u8 = 1 << 5;

    pub(crate) fn add(&mut self, name: &str) -> bool {
        self.0 |= match name {
            "null" => 1,
            "boolean" => 1 << 1,
            "number" => 1 << 2 | Self::INTEGER,
            "string" => 1 << 3,
            "array" => 1 << 4,
            "object" => 1 << 5,
            "integer" => Self::INTEGER,
            _ => return false,
        };
        true
    }

    pub(crate) fn admits(self, kind: Kind) -> Admits {
        if self.0 & (1 << kind as u8) != 0 {
            Admits::All
        } else if kind == Kind::Number && self.0 & Self::INTEGER != 0 {
            Admits::Integers
        } else {
            Admits::None
        }
    }
}

/// `properties`, `patternProperties` and what is left over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    pub(crate) named: IndexMap<String, NodeId>,
    pub(crate) patterns: Vec<(PatternId, NodeId)>,
    /// `additionalProperties`.
    pub(crate) rest: Option<NodeId>,
}

/// `prefixItems` and what is left over, in the words of 2020-12.
#[derive(Debug, Clone, Default)]
pub(crate) struct Items {
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) rest: Option<NodeId>,
}

/// One assertion or applicator of a node.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// The schema `false`, or an empty `enum`.
    Never,
    Types(Types),
    /// `enum`, or `const` as a list of one. Compound values also have a node that accepts just them.
    Choice {
        keyword: &'static str,
        values: Arc<[Value]>,
        nodes: Vec<Option<NodeId>>,
        /// Keys of the values, where there are many.
        keys: Option<Arc<BTreeSet<String>>>,
    },
    AtLeast {
        at: Rat,
        open: bool,
    },
    AtMost {
        at: Rat,
        open: bool,
    },
    MultipleOf(Rat),
    MinLength(u64),
    MaxLength(u64),
    Pattern(PatternId),
    MinItems(u64),
    MaxItems(u64),
    Unique,
    Items(Items),
    Contains {
        node: NodeId,
        min: u64,
        max: Option<u64>,
        /// True where `unevaluatedItems` leaves out what it finds, as from 2020-12 on.
        marks: bool,
    },
    MinMembers(u64),
    MaxMembers(u64),
    Required(Vec<String>),
    /// `dependentRequired`, or `dependencies` with lists: name, and the names it asks for.
    Requires {
        keyword: &'static str,
        names: Vec<(String, Vec<String>)>,
    },
    Members(Members),
    Names(NodeId),
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    One(Vec<NodeId>),
    Not(NodeId),
    If {
        test: NodeId,
        then: Option<NodeId>,
        other: Option<NodeId>,
    },
    /// `dependentSchemas`: one part each.
    When {
        name: String,
        node: NodeId,
    },
    Ref {
        keyword: &'static str,
        node: NodeId,
    },
    UnevaluatedMembers(NodeId),
    UnevaluatedItems(NodeId),
    /// Something the engine does not reason about: keyword and reason.
    Opaque {
        keyword: &'static str,
        why: String,
    },
}

/// A place in a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which of the documents.
    pub(crate) file: u32,
    /// JSON Pointer into it.
    pub(crate) pointer: String,
}

/// One schema object or boolean.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) parts: Vec<Part>,
    /// `default` and `examples`: values that make a witness look like a real one.
    pub(crate) hints: Vec<Value>,
    /// Same number, same set of values. `None` for nodes that reach a cycle.
    pub(crate) class: Option<u128>,
    /// True where it only points on to another node, whose class it then has.
    pub(crate) forwards: bool,
    /// True where `items` was written as a list, as drafts before 2020-12 do.
    pub(crate) tuple_items: bool,
}

/// Everything one schema consists of.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) nodes: Vec<Node>,
    pub(crate) patterns: Vec<Arc<Pattern>>,
    pub(crate) root: NodeId,
    /// How deep a reader that recurses from node to node would nest.
    pub(crate) walk_depth: usize,
    /// Steps of the longest chain of nodes that judge the same value.
    pub(crate) chain: usize,
}

impl Part {
    /// A list of values; compound ones come with the node that accepts just them.
    pub(crate) fn choice(
        keyword: &'static str,
        values: Vec<Value>,
        nodes: Vec<Option<NodeId>>,
    ) -> Part {
        let keys = (values.len() > limits::LOOKED_UP)
            .then(|| Arc::new(values.iter().map(value::key).collect()));
        Part::Choice { keyword, values: values.into(), nodes, keys }
    }

    /// The keyword this part was written as.
    pub(crate) fn keyword(&self) -> &'static str {
        match self {
            Part::Never => "false",
            Part::Types(_) => "type",
            Part::Choice { keyword, .. }
            | Part::Opaque { keyword, .. }
            | Part::Requires { keyword, .. }
            | Part::Ref { keyword, .. } => keyword,
            Part::AtLeast { open: false, .. } => "minimum",
            Part::AtLeast { open: true, .. } => "exclusiveMinimum",
            Part::AtMost { open: false, .. } => "maximum",
            Part::AtMost { open: true, .. } => "exclusiveMaximum",
            Part::MultipleOf(_) => "multipleOf",
            Part::MinLength(_) => "minLength",
            Part::MaxLength(_) => "maxLength",
            Part::Pattern(_) => "pattern",
            Part::MinItems(_) => "minItems",
            Part::MaxItems(_) => "maxItems",
            Part::Unique => "uniqueItems",
            Part::Items(_) => "items",
            Part::Contains { .. } => "contains",
            Part::MinMembers(_) => "minProperties",
            Part::MaxMembers(_) => "maxProperties",
            Part::Required(_) => "required",
            Part::Members(_) => "properties",
            Part::Names(_) => "propertyNames",
            Part::All(_) => "allOf",
            Part::Any(_) => "anyOf",
            Part::One(_) => "oneOf",
            Part::Not(_) => "not",
            Part::If { .. } => "if",
            Part::When { .. } => "dependentSchemas",
            Part::UnevaluatedMembers(_) => "unevaluatedProperties",
            Part::UnevaluatedItems(_) => "unevaluatedItems",
        }
    }

    /// Nodes that judge the same value as this part's node.
    pub(crate) fn in_place(&self) -> Vec<NodeId> {
        match self {
            Part::All(nodes) | Part::Any(nodes) | Part::One(nodes) => nodes.clone(),
            Part::Not(node) | Part::Ref { node, .. } | Part::When { node, .. } => vec![*node],
            Part::If { test, then, other } => {
                [Some(*test), *then, *other].into_iter().flatten().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Nodes that judge a member, an item or a member's name.
    pub(crate) fn inner(&self) -> Vec<NodeId> {
        match self {
            Part::Choice { nodes, .. } => nodes.iter().flatten().copied().collect(),
            Part::Items(items) => items.prefix.iter().copied().chain(items.rest).collect(),
            Part::Contains { node, .. }
            | Part::Names(node)
            | Part::UnevaluatedMembers(node)
            | Part::UnevaluatedItems(node) => vec![*node],
            Part::Members(members) => members
                .named
                .values()
                .copied()
                .chain(members.patterns.iter().map(|(_, node)| *node))
                .chain(members.rest)
                .collect(),
            _ => Vec::new(),
        }
    }
}
