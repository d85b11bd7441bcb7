//! The binary `steadfast`.
fn main() {}
