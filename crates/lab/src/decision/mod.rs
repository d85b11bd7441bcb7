//! Decision contracts: an agent against the API that it acts through, and against every way that API can change.
//!
//! Fixtures answer in place of the API; a recorder keeps what was really asked. Everything that judges is pure.

pub mod agent;
pub mod contract;
pub mod control;
pub mod draft;
pub mod exchange;
pub mod expect;
pub mod fixture;
pub mod judge;
pub mod leak;
pub mod load;
pub mod mutant;
pub mod outcome;
pub mod pattern;
pub mod place;
pub mod record;
pub mod run;
mod score;
pub mod server;
pub mod shelf;
pub mod through;
pub mod tools;
pub mod why;

pub use fixture::Fixture;
pub use server::{Server, Setup};
pub use shelf::Shelf;
