//! The real binary, end to end. One module a subject.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

mod adapters;
mod agents;
mod approvals;
mod bad_input;
mod control;
mod decision;
mod decision_map;
mod diff;
mod drift;
mod drill;
mod faults;
mod front;
mod gate;
mod gateway;
mod later;
mod live;
mod once;
mod program;
mod repeats;
mod retire;
mod rough;
mod run;
mod scopes;
mod serve;
mod settings;
mod setup;
mod snapshot;
mod soak;
mod state;
mod texts;
mod walks;
mod web;
mod wrap;
mod wrap_web;
