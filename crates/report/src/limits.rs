//! Every bound of the crate, with its reason.

/// Narrowest text layout. Below this the rule code leaves no room for a sentence.
pub const WIDTH_MIN: usize = 40;
/// Widest text layout: lines longer than this are hard to read, however wide the screen is.
pub const WIDTH_MAX: usize = 120;
/// Used where the caller knows no width (a pipe, a file).
pub const WIDTH_DEFAULT: usize = 100;

/// From this many subjects on, the same change is told once: three lines that say the same hide a fourth.
pub const BURST_MIN: usize = 3;
/// Names listed under a folded burst or count, so that it stays within two or three lines.
pub const NAMES_SHOWN: usize = 8;
/// Changes shown under one subject; the gravest come first and decide the verdict.
pub const CHANGES_SHOWN: usize = 6;
/// Subjects shown in full; a list longer than this is not read but searched, and `all` shows it whole.
pub const SUBJECTS_SHOWN: usize = 40;
/// Safe changes shown one a line; above this they are a count.
pub const SAFE_SHOWN: usize = 10;

/// Characters of one sentence in a line-based format. Rules write far shorter ones; a name inside may be hostile.
pub const SENTENCE_CHARS: usize = 600;
/// Characters of a name in a line-based format. Names in practice stay under 64.
pub const NAME_CHARS: usize = 128;
/// Characters of a keyword; the longest real one is `unevaluatedProperties`.
pub const KEYWORD_CHARS: usize = 24;
/// Characters of a value shown on one line where no width is given (Markdown, annotations).
pub const VALUE_CHARS: usize = 160;
/// Zero-width characters (combining marks) accepted in a row; more would draw over neighbouring lines.
pub const MARKS_IN_A_ROW: usize = 3;

/// A GitHub comment holds at most 65,536 characters. Counted here in bytes, which are never fewer.
pub const MARKDOWN_BYTES: usize = 65_536;
/// GitHub shows at most ten annotations of each level for a step; more are dropped without a word.
pub const ANNOTATIONS_PER_LEVEL: usize = 10;
/// GitHub cuts annotation titles here.
pub const ANNOTATION_TITLE_CHARS: usize = 255;
/// GitHub refuses a SARIF run with more results than this.
pub const SARIF_RESULTS: usize = 25_000;
/// Longest document searched for the lines of findings: far above real lists, below what would be noticed.
pub const SOURCE_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting followed while searching lines. Deeper places get the line of their ancestor.
pub const SOURCE_DEPTH: usize = 128;
