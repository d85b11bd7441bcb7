//! Bounds of the OpenAPI reader and comparer, each with its reason.

/// `$ref` steps followed from one place: real documents chain two or three, a circle never ends.
pub const REF_CHAIN: usize = 32;

/// Nesting of schemas that is walked: the deepest public document nests about thirty.
pub const SCHEMA_DEPTH: usize = 200;

/// How far a `$ref` with no counterpart on the other side is written out, so that an added
/// member can be judged by what it holds without unrolling a recursive type.
pub const UNFOLD_DEPTH: usize = 3;

/// Definitions written out for one side of one pair, beyond those levels: what hangs on one member that is new or
/// gone has a dozen, and some documents hang together as a whole. Deeper ones stand as names; where such a name bears
/// on a finding, that is undecided.
pub const DEFINITIONS: usize = 128;

/// Ways in which one operation reaches one declaration that are kept for the decision map:
/// recursive types have endlessly many, the shortest few name the field.
pub const ROUTES: usize = 4;

/// Operations named in a sentence before "and N more": a sentence must fit a terminal line.
pub const NAMED: usize = 3;

/// Problems reported for one document: enough to repair it, few enough to read.
pub const PROBLEMS: usize = 50;

/// Removed operations compared with added ones when an heir is guessed. The work is their
/// product; beyond this the two documents are different APIs and a guess helps nobody.
pub const HEIR_PAIRS: usize = 250_000;
