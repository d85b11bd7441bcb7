//! SF9xx: findings about the comparison itself.

use super::Rule;

/// The rows.
pub static RULES: &[&Rule] = &[];
