//! The commands, one file each.

pub mod completions;
pub mod diff;
pub mod explain;
pub mod man;
pub mod rules;
