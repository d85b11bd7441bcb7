//! The formats, over diffs made by hand: every verdict and class, bursts, hostile strings.

mod json;
mod rules;
mod sample;
mod text;
