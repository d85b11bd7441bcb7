//! Automation of this repository: `cargo xtask ci | tidy | new-rule | bless | docs`.
fn main() {}
