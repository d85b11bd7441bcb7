//! Every bound of adapters, with its reason.

/// Adapters in one file. A project that needs more keeps old contracts alive for too long.
pub const ADAPTERS: usize = 500;

/// Steps of one adapter. The longest real migration of one tool renames about twenty arguments.
pub const STEPS: usize = 64;

/// Pairs in one `map`. Real lists of values stay below a hundred.
pub const MAPPED_VALUES: usize = 1_000;

/// Members in the path of one step: arguments of real tools nest under 10, and paths are walked recursively.
pub const PATH: usize = 16;

/// Bytes of one file of adapters: a file of the most adapters that are read has under 1 MB.
pub const FILE_BYTES: usize = 4 << 20;

/// Schema objects written while the schema of an adapter's image is worked out. Nested steps divide it into
/// cases, and each case holds the schema again; the largest real tool has a few thousand schema objects.
pub(crate) const REWRITTEN: usize = 60_000;

/// References and branches followed at one place while a schema is rewritten: the walk recurses.
pub(crate) const IN_PLACE: usize = 64;

/// Counterexamples of one adapter that are listed: enough to repair it in one pass.
pub const COUNTEREXAMPLES: usize = 8;

/// Revisions that one chain of adapters may lead through.
pub const CHAIN: usize = 16;
