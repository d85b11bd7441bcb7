//! Tests of the crate through its public face. One binary; a module per subject.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

mod adapter_calls;
mod adapter_docs;
mod adapter_random;
mod adapter_rules;
mod adapters;
mod addresses;
mod alternatives;
mod circles;
mod claims;
mod contrasts;
mod damage;
mod declared;
mod dialects;
mod documents;
mod dressed;
mod explained;
mod kinds;
mod locks;
mod openapi;
mod openapi_operations;
mod openapi_tags;
mod pairs;
mod policies;
mod rules;
mod shown;
mod splits;
mod text;
