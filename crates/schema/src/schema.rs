//! A schema that has been read, ready to be compared and to judge.

use crate::node::{Arena, NodeId, Place};
use crate::read::{self, Draft, SchemaProblem};
use crate::resolve::Documents;
use crate::{ReadOptions, evaluate, limits, value};
use jsonschema::Validator;
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A schema and everything it reaches. Cheap to clone; reading is the only place where problems appear.
#[derive(Clone)]
pub struct Schema {
    inner: Arc<Inner>,
}

struct Inner {
    documents: Arc<Documents>,
    place: Place,
    draft: Draft,
    arena: Arena,
    /// Built when the first value is replayed: most comparisons need none.
    validator: OnceLock<Result<Validator, String>>,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema")
            .field("pointer", &self.pointer())
            .field("dialect", &self.inner.draft)
            .field("nodes", &self.inner.arena.nodes.len())
            .finish_non_exhaustive()
    }
}

impl Schema {
    /// Reads a document that is a schema as a whole.
    ///
    /// # Errors
    /// All problems of the text, each with its place: a reference that leads nowhere or to the
    /// network, a circle of references without a step, a dialect that is not supported, a
    /// regular expression that cannot be read, a keyword with a value that means nothing, a blank schema.
    pub fn read(document: &Value, options: &ReadOptions) -> Result<Schema, Vec<SchemaProblem>> {
        if value::deeper_than(document, limits::DOCUMENT_DEPTH) {
            return Err(vec![SchemaProblem {
                pointer: String::new(),
                sentence: format!(
                    "the document nests deeper than {} levels",
                    limits::DOCUMENT_DEPTH
                ),
            }]);
        }
        Schema::read_at(Arc::new(document.clone()), "", options)
    }

    /// Reads the schema at a JSON Pointer of a larger document, such as an OpenAPI document. `#/…`
    /// references resolve in that document.
    ///
    /// # Errors
    /// As [`Schema::read`].
    pub fn read_at(
        document: Arc<Value>,
        pointer: &str,
        options: &ReadOptions,
    ) -> Result<Schema, Vec<SchemaProblem>> {
        Schema::read_in(&Arc::new(Documents::new(document)), "", pointer, options)
    }

    /// Reads the schema at a JSON Pointer of one file (`""` for the root document) of several that refer to each other.
    ///
    /// # Errors
    /// As [`Schema::read`].
    pub fn read_in(
        documents: &Arc<Documents>,
        file: &str,
        pointer: &str,
        options: &ReadOptions,
    ) -> Result<Schema, Vec<SchemaProblem>> {
        let Some(file) = documents.file(file) else {
            return Err(vec![SchemaProblem {
                pointer: format!("{file}#{pointer}"),
                sentence: "this file is not among the files that were read".into(),
            }]);
        };
        let place = Place { file, pointer: pointer.to_string() };
        let (arena, draft) = read::read(documents, place.clone(), options)?;
        Ok(Schema {
            inner: Arc::new(Inner {
                documents: documents.clone(),
                place,
                draft,
                arena,
                validator: OnceLock::new(),
            }),
        })
    }

    /// Where the schema stands in its document: a JSON Pointer, with `file#` before it outside the root document.
    pub fn pointer(&self) -> String {
        self.inner.documents.show(&self.inner.place)
    }

    /// How many schema objects were read for it: a measure of the work that a question about it takes.
    pub fn size(&self) -> usize {
        self.inner.arena.nodes.len()
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.inner.arena
    }

    /// The place of a keyword of a node.
    pub(crate) fn show(&self, node: NodeId, below: &str) -> String {
        let place = &self.inner.arena.nodes[node as usize].place;
        let slash = if below.is_empty() || below == "false" { "" } else { "/" };
        let below = if below == "false" { "" } else { below };
        self.inner
            .documents
            .show(&Place { file: place.file, pointer: format!("{}{slash}{below}", place.pointer) })
    }

    pub(crate) fn validator(&self) -> Result<&Validator, String> {
        let inner = &self.inner;
        if inner.arena.walk_depth > limits::REPLAY_DEPTH {
            return Err(format!(
                "the schema reaches deeper than {} schemas, too deep for the independent validator",
                limits::REPLAY_DEPTH
            ));
        }
        let automata = inner.arena.patterns.iter().flat_map(|pattern| &pattern.automata);
        if automata.map(|(automaton, _)| automaton.weight()).sum::<usize>() > limits::REPLAY_RANGES
        {
            return Err(
                "its regular expressions are too large for the independent validator".into()
            );
        }
        inner
            .validator
            .get_or_init(|| evaluate::build(&inner.documents, &inner.place, inner.draft))
            .as_ref()
            .map_err(Clone::clone)
    }
}
