//! The gateway as a library. One module a subject.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

mod sim;
