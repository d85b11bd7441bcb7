//! Tests of the crate through its public face. One binary; a module per subject.

mod openapi;
mod pairs;
mod rules;
