//! Any JSON, as a schema of each dialect: reading ends with a schema or with problems that have a place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schema::{Dialect, ReadOptions, Schema};

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    for dialect in [Dialect::Draft202012, Dialect::Draft07, Dialect::OpenApi30] {
        if let Err(problems) = Schema::read(&document, &ReadOptions { dialect }) {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(problem.pointer.is_empty() || problem.pointer.starts_with('/'), "{problem}");
            }
        }
    }
});
