//! The formats, over diffs made by hand: every verdict and class, bursts, hostile strings.
#![allow(clippy::unwrap_used, reason = "a test stops where it stands")]

mod github;
mod hostile;
mod json;
mod junit;
mod markdown;
mod rules;
mod sample;
mod sarif;
mod text;
