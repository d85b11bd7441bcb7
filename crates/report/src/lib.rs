//! Diffs to text, JSON, Markdown, annotations, SARIF and JUnit: pure functions from values to strings.
//!
//! ```
//! use contract::{Counts, Diff, Kind, Verdict};
//! use report::{Format, RenderOptions, render};
//!
//! let diff = Diff {
//!     kind: Kind::Tools,
//!     verdict: Verdict::Safe,
//!     entries: Vec::new(),
//!     counts: Counts { old: 3, new: 3, unchanged: 3 },
//!     flaws: Vec::new(),
//! };
//! let text = render(&diff, Format::Text, &RenderOptions::default());
//! assert!(text.starts_with("SAFE"));
//! ```
//!
//! What servers wrote (names, descriptions, values) reaches every format escaped: it cannot move a
//! cursor, forge a line, break a table or command a CI runner. Same input, same bytes.

pub mod escape;
mod fold;
mod github;
mod json;
mod junit;
mod level;
mod limits;
mod locate;
mod markdown;
mod review;
mod rules;
mod sarif;
mod text;
mod words;

pub use limits::{WIDTH_DEFAULT, WIDTH_MAX, WIDTH_MIN};
pub use review::{Question, ReviewAnswer, ReviewEntry, ReviewRecord};
pub use rules::render_rules;

use contract::rules::Rule;
use contract::{Diff, Verdict};
use std::fmt;
use std::str::FromStr;

/// How a report is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// For people at a terminal.
    #[default]
    Text,
    /// For programs: `docs/json.md`.
    Json,
    /// A pull-request comment.
    Markdown,
    /// Annotations of a GitHub workflow.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for test reports.
    Junit,
}

impl Format {
    /// Every format, in the order in which help lists them.
    pub const ALL: [Format; 6] = [
        Format::Text,
        Format::Json,
        Format::Markdown,
        Format::Github,
        Format::Sarif,
        Format::Junit,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Markdown => "markdown",
            Format::Github => "github",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not a format: use text, json, markdown, github, sarif or junit",
    escape::visible(.0)
)]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Format::ALL
            .into_iter()
            .find(|format| format.name() == word)
            .ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}

/// What the caller decides about a report.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOptions {
    /// Colour in `text`: the caller knows whether a terminal is there.
    pub colour: bool,
    /// Columns for `text`, held between [`WIDTH_MIN`] and [`WIDTH_MAX`].
    pub width: usize,
    /// Show every change of every subject: nothing folded, nothing left out.
    pub all: bool,
    /// The threshold: from this verdict on a finding is an error. Without one, `refuse` is.
    pub fail_on: Option<Verdict>,
    /// How the old side is called: a path, a URL, or a name and version.
    pub old_name: String,
    /// How the new side is called.
    pub new_name: String,
    /// The file that annotations and SARIF results point into, relative to the repository's root.
    pub file: Option<String>,
    /// The text of `file`, where it is JSON: findings then point at the line of their place.
    pub source: Option<String>,
    /// Where the rule pages are published (`…/docs/rules/`); links are left out without it.
    pub pages: Option<String>,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions {
            colour: false,
            width: WIDTH_DEFAULT,
            all: false,
            fail_on: None,
            old_name: "old".to_owned(),
            new_name: "new".to_owned(),
            file: None,
            source: None,
            pages: None,
        }
    }
}

/// Renders a diff with the built-in rule table.
pub fn render(diff: &Diff, format: Format, options: &RenderOptions) -> String {
    render_with(diff, None, format, options, &contract::rules::all())
}

/// Renders a diff and the review record that belongs to it.
pub fn render_reviewed(
    diff: &Diff,
    review: &ReviewRecord,
    format: Format,
    options: &RenderOptions,
) -> String {
    render_with(diff, Some(review), format, options, &contract::rules::all())
}

/// Renders with a given rule table. A code that is not in it is shown by its code alone.
pub fn render_with(
    diff: &Diff,
    review: Option<&ReviewRecord>,
    format: Format,
    options: &RenderOptions,
    rules: &[&Rule],
) -> String {
    let report = Report { diff, review, options, rules };
    match format {
        Format::Text => text::render(&report),
        Format::Json => json::render(&report),
        Format::Markdown => markdown::render(&report),
        Format::Github => github::render(&report),
        Format::Sarif => sarif::render(&report),
        Format::Junit => junit::render(&report),
    }
}

/// Everything a renderer reads.
pub(crate) struct Report<'a> {
    diff: &'a Diff,
    review: Option<&'a ReviewRecord>,
    options: &'a RenderOptions,
    rules: &'a [&'a Rule],
}

impl<'a> Report<'a> {
    /// The rule's name; the code itself where the table lacks it.
    fn rule_name(&self, code: &'a str) -> &'a str {
        self.rule(code).map_or(code, |rule| rule.name)
    }

    fn rule(&self, code: &str) -> Option<&'a Rule> {
        self.rules.iter().copied().find(|rule| rule.code == code)
    }
}
