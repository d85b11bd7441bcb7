//! Located structural edits between two schemas: the only walk over schema pairs.
//!
//! The walk names what moved and where, without direction and without judgement. Each edit stands
//! at the declaration (the place a `$ref` leads to), once, whichever way it was reached.

use crate::prose::Signal;
use crate::rename::Likeness;
use crate::view::{Kinds, kind_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use crate::walk::{MAX_DEPTH, MAX_EDITS, MAX_PAIRS, walk};

/// One thing that moved at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// What moved.
    pub what: What,
    /// JSON Pointer of the declaration, on the new side where the new side still has it.
    pub place: String,
    /// JSON Pointers of the two declarations, for the engine: old, new.
    pub at: (Option<String>, Option<String>),
    /// Dotted path from the root of the schema (`filter.region`, `items[].id`); empty for the root.
    pub field: String,
    /// What stood there.
    pub before: Option<Value>,
    /// What stands there.
    pub after: Option<Value>,
    /// Was the field, and each field around it, required on the old side?
    pub was_required: bool,
    /// Is it required on the new side?
    pub is_required: bool,
    /// Was the field itself required where it stands, so that an old value always holds it?
    pub was_sent: bool,
    /// The unions it stands in, the outermost first.
    pub unions: Vec<Arc<Union>>,
    /// The descriptions beside it.
    pub old_text: String,
    /// The descriptions beside it.
    pub new_text: String,
}

/// Alternatives that stand on both sides of an edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    /// JSON Pointers of the two places, old and new.
    pub at: (String, String),
    /// The names of all members below, old and new.
    pub names: (BTreeSet<String>, BTreeSet<String>),
}

impl Edit {
    /// True where the edit only tells two alternatives of a union apart, so that it says nothing if all of them together
    /// take the same values as before. A name that is declared in none of them any more, or was in none, is told.
    pub fn is_of_one_alternative(&self, union: &Union) -> bool {
        let is_known = |names: &BTreeSet<String>| {
            let last = self.field.rsplit('.').next().unwrap_or("").trim_end_matches("[]");
            names.contains(last)
        };
        match &self.what {
            What::FieldRemoved { .. } => is_known(&union.names.1),
            What::FieldRenamed { from, .. } => union.names.1.contains(from),
            What::FieldAdded { required: false, .. } => is_known(&union.names.0),
            What::FieldAdded { .. }
            | What::BecameRequired { .. }
            | What::BecameOptional
            | What::KindChanged { .. }
            | What::ValuesChanged { .. }
            | What::BoundChanged { .. }
            | What::PatternChanged
            | What::Closed
            | What::Opened
            | What::MapClosed
            | What::ItemsStated
            | What::Combinator { .. } => true,
            _ => false,
        }
    }

    /// The one kind of value that a member takes that is new or gone, null aside.
    pub fn kind(&self) -> Option<&'static str> {
        let schema = match &self.what {
            What::FieldAdded { .. } => self.after.as_ref()?,
            What::FieldRemoved { .. } => self.before.as_ref()?,
            _ => return None,
        };
        let node = crate::node::Source::single(schema).at("")?;
        only_kind(&crate::view::View::of(&node))
    }
}

/// The one kind of value that a place takes, null aside.
pub fn only_kind(view: &crate::view::View<'_>) -> Option<&'static str> {
    let mut kinds = view.all_kinds()?.into_iter().filter(|kind| *kind != "null");
    kinds.next().filter(|_| kinds.next().is_none())
}

/// The kinds of edits.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A named member is new.
    FieldAdded {
        /// In `required`.
        required: bool,
        /// Its stated default.
        default: Option<Value>,
        /// Its description.
        text: String,
        /// The members of what it holds, each with the one kind of value that it takes.
        inner: Vec<(String, Option<&'static str>)>,
    },
    /// A named member is gone.
    FieldRemoved {
        /// It was in `required`.
        required: bool,
        /// The new side takes undeclared members without a word, so a stale value is ignored.
        ignored: bool,
    },
    /// A member is gone and a like one is new: a hypothesis.
    FieldRenamed {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
        /// How alike, and why.
        likeness: Likeness,
        /// The new side takes undeclared members without a word.
        ignored: bool,
    },
    /// An optional member is required now.
    BecameRequired {
        /// The default stated on the new side.
        default: Option<Value>,
        /// The same default was stated on the old side.
        default_kept: bool,
    },
    /// A required member is optional now.
    BecameOptional,
    /// The kinds of values differ.
    KindChanged {
        /// Kinds no longer taken.
        dropped: Kinds,
        /// Kinds taken now.
        added: Kinds,
        /// A mechanical conversion that carries the old value over, where there is one.
        conversion: Option<Conversion>,
    },
    /// The listed values differ.
    ValuesChanged {
        /// Listed before, not now.
        dropped: Vec<Value>,
        /// Listed now, not before.
        added: Vec<Value>,
        /// No list stood there before.
        introduced: bool,
        /// No list stands there now.
        lifted: bool,
        /// The dropped values differ from added ones by case and separators only.
        recased: Vec<(Value, Value)>,
    },
    /// A bound moved.
    BoundChanged {
        /// The keyword.
        keyword: &'static str,
        /// Fewer values fit.
        tighter: bool,
    },
    /// The stated default moved, appeared or went.
    DefaultChanged,
    /// The description differs in something that matters.
    TextChanged {
        /// What it moved; empty for a rewording.
        signals: Vec<Signal>,
    },
    /// What is said of single listed values differs.
    ValueTextsMoved {
        /// Values that are explained by what another one was explained by: value, before, after.
        swapped: Vec<(Value, String, String)>,
        /// Values that are explained by something else.
        retold: Vec<(Value, String, String)>,
        /// How many are explained in other words.
        reworded: usize,
    },
    /// The format, the encoding or the media type of a text differs.
    FormatChanged {
        /// The keyword.
        keyword: &'static str,
    },
    /// The pattern differs.
    PatternChanged,
    /// Undeclared members are refused now.
    Closed,
    /// Undeclared members are taken now.
    Opened,
    /// A free map, which declares no member, takes none any more.
    MapClosed,
    /// The items of a list are described for the first time.
    ItemsStated,
    /// Alternatives came or went.
    VariantsChanged {
        /// How many are gone.
        dropped: usize,
        /// How many are new.
        added: usize,
        /// The constants that tell the new ones, where the old ones were told by constants too.
        tags: Vec<(String, Value)>,
    },
    /// A keyword that only the engine can judge differs.
    Combinator {
        /// The keyword.
        keyword: String,
    },
    /// `readOnly`, `writeOnly`, `deprecated` or `x-mcp-header` came or went.
    MarkChanged {
        /// The keyword.
        mark: &'static str,
    },
    /// The schema said something before and says nothing now.
    Blanked,
    /// What stands from here on was not walked: too deep, or too much.
    Uncompared,
}

/// A mechanical conversion of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// `x` becomes `[x]`.
    Wrap,
    /// `{k: x}` becomes `x`: the object had one member.
    Unwrap,
    /// Text that is a number becomes the number, or a number its text.
    Reparse,
    /// An explicit `null` is left out.
    DropNull,
}

/// True where the value is one that an author writes for "nothing": false, 0, "", [], {}.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The kind of a value, for sentences.
pub fn kind_name(value: &Value) -> &'static str {
    kind_of(value)
}
