//! The engine against known answers, laws, another validator, and hostile input.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test says what it expects, and what it skips"
)]

mod alternatives;
mod attack;
mod generate;
mod grammar;
mod hard;
mod hostile;
mod laws;
mod minimal;
mod patterns;
mod published;
mod reading;
mod soundness;
mod suites;
mod unevaluated;
mod witnesses;
mod writers;
