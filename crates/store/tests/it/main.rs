//! The store from outside: what every implementation must do, and what SQLite does under crashes, full disks and crowds.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]
#![allow(clippy::print_stdout, reason = "a child tells its parent what it was promised")]

mod child;
mod conformance;
mod crash;
mod disk;
mod format;
mod journal;
mod sample;
mod sqlite;
