//! Every bound of the engine, each with its reason. All are counts: no clock is read, so the same
//! question always gets the same answer. Reaching one gives [`Answer::Unknown`](crate::Answer), never a wrong proof.

/// Budgets of one [`relate`](crate::relate) call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Counted steps for each of the two directions. One step is about one literal expanded, one
    /// clause looked at or one automaton edge followed, 0.2 to 2 µs in an optimised build, so
    /// the default stays under a second.
    pub steps: u64,
    /// How deep a value may nest while a witness is sought. Real contracts nest under 20; the
    /// search recurses on the call stack, so this is also what keeps the stack bounded.
    pub value_depth: usize,
    /// Witnesses looked for beyond which further break sites are left to a second look.
    pub witnesses: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 400_000, value_depth: 48, witnesses: 8 }
    }
}

/// Frames of search (case splits and nested values together) on the call stack at once. A frame
/// of an unoptimised build is below 4 KiB, so this stays within a 2 MiB test thread.
pub(crate) const FRAMES: usize = 220;

/// Conditions that are open at once from which on it is settled first which alternative a value is of.
pub(crate) const WIDE: usize = 12;

/// How deep a schema may nest within itself before it is refused. The reader uses no call stack,
/// but the independent validator that replays witnesses does.
pub const SCHEMA_DEPTH: usize = 200;

/// Levels of JSON in a document that is read as one schema: two for each level of schemas, and then
/// those of a value in it. Copying and dropping a document recurse.
pub const DOCUMENT_DEPTH: usize = 2 * SCHEMA_DEPTH + VALUE_DEPTH;

/// Schema objects read for one schema. The largest real contract seen has a few thousand.
pub const SCHEMA_NODES: usize = 50_000;

/// Problems collected from one schema before reading stops: nobody reads more.
pub const PROBLEMS: usize = 50;

/// How deep a value in `enum`, `const` or an instance may nest: equality and judging recurse.
pub const VALUE_DEPTH: usize = 200;

/// Decimal exponent beyond which a number is not compared exactly: `1e-300` is still exact, and
/// a lattice of such steps stays at a thousand digits.
pub(crate) const EXPONENT: i64 = 1_000;

/// Digits beyond which a number is not compared exactly, for the same reason.
pub(crate) const DIGITS: usize = 2_000;

/// Points of a number lattice tried one by one before the period argument is used.
pub(crate) const LATTICE_POINTS: u64 = 4_096;

/// Characters of a regular expression. Longer ones are generated word lists.
pub(crate) const PATTERN_CHARS: usize = 20_000;

/// How deep groups of a regular expression may nest: its parser recurses.
pub(crate) const PATTERN_DEPTH: usize = 100;

/// Positions of one pattern's automaton after counted repeats are written out.
pub(crate) const PATTERN_POSITIONS: usize = 12_000;

/// Different character sets in one pattern: dividing the code points costs their number squared.
pub(crate) const PATTERN_SETS: usize = 1_000;

/// States visited when several patterns are searched together for a common string.
pub(crate) const STRING_STATES: usize = 20_000;

/// Length in characters beyond which a string is not written out as a witness.
pub(crate) const WITNESS_CHARS: u64 = 4_096;

/// Items or members beyond which an array or object is not written out as a witness.
pub(crate) const WITNESS_ITEMS: u64 = 256;

/// Distinct values looked for per position when items must be unique.
pub(crate) const UNIQUE_ITEMS: usize = 40;

/// Name patterns told apart at one object: every combination of matching and not is a region.
pub(crate) const NAME_PATTERNS: usize = 6;

/// Ways in which the in-place branches below one `unevaluated*` may hold.
pub(crate) const UNEVALUATED_CASES: usize = 128;

/// Replays spent on making one witness smaller.
pub(crate) const SHRINK_TRIES: usize = 300;

/// Characters of a text that are taken out one by one for a smaller witness: each costs a replay.
pub(crate) const STEPPED_CHARS: usize = 32;

/// Steps of the engine's own judge for one value.
pub(crate) const JUDGE_STEPS: u64 = 200_000;

/// Rejections listed for one value: enough to tell its break sites apart.
pub(crate) const REJECTIONS: usize = 64;

/// How deep in-place branches may nest below one `unevaluated*`: they are walked recursively.
pub(crate) const UNEVALUATED_DEPTH: usize = 64;

/// Longest chain of in-place steps (`$ref` to `$ref`, `allOf` in `allOf`): judges recurse along it.
pub const CHAIN: usize = 200;

/// How deep schemas may reach into each other for the independent validator, which recurses while it
/// compiles: about 4 KiB a level, so this stays within a 2 MiB thread.
pub const REPLAY_DEPTH: usize = 250;

/// Values of an `enum` from which on they are looked up by key in place of one by one.
pub(crate) const LOOKED_UP: usize = 16;

/// Ranges of characters in all regular expressions of a schema, repeats written out, beyond which the
/// independent validator is not asked: it would need seconds to find them too large. `\p{L}` has about 660.
pub const REPLAY_RANGES: usize = 60_000;

/// Nodes judged within each other: members times chains of references. Judges recurse along both, up to
/// 4 KiB a node in an unoptimised build, and real values stay below 100.
pub const JUDGE_DEPTH: usize = 400;

/// In-place steps at one level of a value that every real schema stays below.
pub const USUAL_CHAIN: usize = 8;
