//! The real binary, end to end. One module a subject.

mod snapshot;
