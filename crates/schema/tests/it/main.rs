//! The engine against known answers, laws, another validator, and hostile input.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

mod alternatives;
mod generate;
mod grammar;
mod hard;
mod hostile;
mod patterns;
mod reading;
mod soundness;
mod witnesses;
mod writers;
