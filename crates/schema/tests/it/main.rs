//! The engine against known answers, laws, another validator, and hostile input.

mod hard;
