//! The rule table: what a change is called, why it matters, what to do.
//!
//! Semantics decide, rules explain. Codes are append-only: a removed rule keeps its row and page.
//! SF1xx input · SF2xx output · SF3xx tool · SF4xx authority · SF5xx HTTP API · SF9xx the comparison itself.

use serde::Serialize;

/// What a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// What the caller sends.
    Input,
    /// What the caller receives.
    Output,
    /// The tool as a whole.
    Tool,
    /// What a grant covers.
    Authority,
    /// Operations of an HTTP API.
    Http,
    /// The comparison itself.
    Comparison,
}

/// What a finding of the rule rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// A replayed value.
    Witness,
    /// Set algebra or plain structure.
    Proof,
    /// Prose or hints: no set can prove it.
    Declared,
}

/// Life cycle of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// May change its verdict in a minor version.
    Preview,
    /// Verdict changes are announced in the changelog.
    Stable,
    /// Still reported; a page says what replaces it.
    Deprecated,
    /// Never reported; the row and page stay.
    Removed,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// `SF` and three digits.
    pub code: &'static str,
    /// Kebab-case, reads as what happened: `required-input-added`.
    pub name: &'static str,
    /// What it looks at.
    pub area: Area,
    /// One sentence in operational language, without the particulars.
    pub summary: &'static str,
    /// What a finding rests on.
    pub evidence: Evidence,
    /// First version that had it.
    pub since: &'static str,
    /// Life cycle.
    pub status: Status,
}

/// Declares the rows of one area: a static for each code, and the table `RULES` of all of them.
macro_rules! rules {
    ($area:ident; $($code:ident $name:literal $evidence:ident $summary:literal)*) => {
        $(pub(crate) static $code: $crate::rules::Rule = $crate::rules::Rule {
            code: stringify!($code),
            name: $name,
            area: $crate::rules::Area::$area,
            summary: $summary,
            evidence: $crate::rules::Evidence::$evidence,
            since: "0.1.0",
            status: $crate::rules::Status::Stable,
        };)*
        /// The rows.
        pub static RULES: &[&$crate::rules::Rule] = &[$(&$code),*];
    };
}

/// The rule of a code.
pub fn by_code(code: &str) -> Option<&'static Rule> {
    all().into_iter().find(|rule| rule.code == code)
}

/// Every rule, by code.
pub fn all() -> Vec<&'static Rule> {
    let mut rules: Vec<&'static Rule> =
        TABLES.iter().flat_map(|table| table.iter().copied()).collect();
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// One table per area; a new area adds a line here.
static TABLES: &[&[&Rule]] =
    &[input::RULES, output::RULES, tool::RULES, authority::RULES, http::RULES, comparison::RULES];

pub mod authority;
pub mod comparison;
mod defaults;
pub mod finding;
pub mod http;
pub mod input;
pub mod output;
pub mod tool;
mod values;
pub mod wording;
