//! Words that matter: fields that select authority or target, and fields that guard.

/// Words that a project adds to the built-in lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lexicon {
    /// Fields that select a target or an authority.
    pub authority: Vec<String>,
    /// Fields that guard: confirmations, dry runs, version guards.
    pub guard: Vec<String>,
    /// Fields that look like one of these and are not.
    pub neutral: Vec<String>,
}
