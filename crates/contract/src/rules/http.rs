//! SF5xx: operations of an HTTP API.

use super::Rule;

/// The rows.
pub static RULES: &[&Rule] = &[];
