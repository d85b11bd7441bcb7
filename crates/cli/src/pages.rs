//! The rule pages, embedded. Written by `cargo xtask docs`; do not edit.

/// Code and page, by code.
#[rustfmt::skip]
pub static PAGES: &[(&str, &str)] = &[
];
