//! The store from outside: what every implementation must do, and what SQLite does under crashes, full disks and crowds.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

mod conformance;
mod sample;
mod sqlite;
