//! The commands, one file each.

pub mod accept;
pub mod activity;
pub mod adapters;
pub mod approve;
pub mod approver;
pub mod completions;
pub mod demo;
pub mod diff;
pub mod drill;
pub mod explain;
pub mod gate;
pub mod gateway;
pub mod journal;
pub mod lock;
pub mod man;
pub mod map;
pub mod rules;
pub mod serve;
pub mod sessions;
pub mod setup;
pub mod snapshot;
pub mod status;
pub mod tail;
pub mod test;
pub mod token;
pub mod wrap;
