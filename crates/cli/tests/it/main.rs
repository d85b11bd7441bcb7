//! The real binary, end to end. One module a subject.

mod bad_input;
mod diff;
mod gate;
mod program;
mod run;
mod snapshot;
