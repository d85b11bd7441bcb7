//! Every bound of this crate that does not belong to one rule, with its reason.

/// How deep objects and arrays may nest in a document.
///
/// The deepest real contract known to us nests 40 levels; the common JSON readers stop at the
/// 128th, so whatever is read here can be read by the tools beside it. The readers use the call
/// stack, and this many levels of it are far below the smallest default stack.
pub const DEPTH: usize = 127;

/// How deep a contract may nest.
///
/// Less than a document, so that a lock or a snapshot, which puts its own levels around it, can
/// still be read.
pub const CONTRACT_DEPTH: usize = DEPTH - 8;

/// How many bytes one document may have.
///
/// The largest public API descriptions have about 12 MB; a list of tools beyond 1 MB already
/// fills a model's context.
pub const DOCUMENT_BYTES: usize = 64 << 20;

/// How many values the aliases of one YAML document may add by repetition.
///
/// A few kilobytes of nested aliases can stand for more values than memory holds. Honest
/// documents repeat a few thousand.
pub const YAML_ALIASED_VALUES: usize = 1_000_000;

/// How many problems of one document are listed; the rest is counted.
///
/// Enough to repair a file in one pass, few enough to be read.
pub const PROBLEMS: usize = 50;

/// How many tagged alternatives one object may be split into and still be judged by usual calls.
///
/// The work grows with the product of tags, members and their texts; the widest real tool that
/// does many deeds lists about 60.
pub const SPLIT_TAGS: usize = 128;

/// How deep the members of a new argument are looked at for what they select or run.
///
/// Real arguments nest three or four levels; deeper ones are schemas of a language of their own.
pub const INNER_DEPTH: usize = 6;

/// How many members of a new argument are looked at.
///
/// A schema of a language can have thousands, and its first members show what it is.
pub const INNER_MEMBERS: usize = 200;

/// The longest name of a server that a gateway guards: it stands in paths, lists and metrics.
pub const SERVER_NAME: usize = 64;

/// The longest time that a setting may name, in seconds: what waits longer than a week is not waiting.
pub const LONGEST: u64 = 7 * 24 * 60 * 60;

/// How many pairs of a tool that is gone and one that is listed now are compared for likeness.
///
/// Every one that is gone is compared with every new one; beyond this a list is another server's.
pub const HEIR_PAIRS: usize = 40_000;

/// How many bytes two texts about one thing may have together and still be compared by sentences.
///
/// The longest description of a real tool has about 40 kB. What is longer is told as not compared.
pub const TEXT_BYTES: usize = 512 << 10;

/// How many pairs of changed sentences of two texts are weighed against each other.
///
/// 500 sentences that changed on either side; a text that changed in more is another text.
pub const TEXT_PAIRS: usize = 250_000;

/// How many defaults that one text no longer states are told.
///
/// Each is looked for in all other texts of its tool; a tool with more than these has a list of
/// settings, not arguments.
pub const TEXT_DEFAULTS: usize = 50;

/// How many pairs of alternatives of two unions are weighed against each other for likeness.
///
/// 200 on either side that changed, and no text or tag tells which is which; real unions have fewer than 100. Beyond it
/// only those are paired that say the same.
pub const VARIANT_PAIRS: usize = 40_000;

/// How deep `$ref`, `allOf` and unions are followed at one place. Real documents stay under 10.
pub const UNFOLD_DEPTH: usize = 48;

/// How many schemas are read for one place as a person sees it.
///
/// Unions of unions by reference multiply; what lies beyond is left to the schema engine, which decides anyway.
pub const UNFOLD_STEPS: usize = 2_000;

/// How many steps all questions about one pair of schemas may take together.
///
/// A step is 0.2 to 2 µs, so this stays within a second for a changed tool; the largest real pair takes a tenth of it.
/// Beyond it the answer is `undecided`, and names the budget.
pub const ASKED_STEPS: u64 = 600_000;

/// How many schemas are read to explain the single changes of one pair of schemas.
///
/// The largest real pair takes a few thousand. Beyond this a change is `undecided`, and names this as the reason; what the
/// pair as a whole lost is still asked.
pub const ASKED_SCHEMAS: usize = 30_000;

/// Answers that agree before one that does not is told: what came ten times of ten is rarely optional.
pub const SHAPE_ANSWERS: u32 = 10;

/// How deep an answer's shape is learned: real ones nest five deep.
pub const SHAPE_DEPTH: usize = 8;

/// Items of one list that are looked at: the first say what the rest is like.
pub const SHAPE_ITEMS: usize = 64;

/// Members of one shape: the largest answers seen have a third; past it, new ones are not learned.
pub const SHAPE_MEMBERS: usize = 1_024;

/// Members of one answer that are told to have moved: more than this nobody reads.
pub const SHAPE_MOVED: usize = 16;

/// Rules about calls: more than a person can keep in order.
pub const CALL_RULES: usize = 200;

/// Kinds of calls that are looked through to find that a rule can never decide. Real rules tell some hundreds apart; beyond
/// this nothing is claimed.
pub const CALL_KINDS: usize = 200_000;
