//! Any bytes: read or refused with places, never a panic, a hang or an overflow; and what is read
//! as JSON is what another reader reads.
#![no_main]

use contract::text::{self, Notation};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for notation in [Notation::Json, Notation::Yaml] {
        match text::read_as("input", bytes, notation) {
            Ok(value) => {
                let written = value.to_string();
                let again = text::read_as("again", written.as_bytes(), Notation::Json)
                    .expect("what was read can be written and read again");
                assert_eq!(value, again);
            }
            Err(problems) => {
                assert!(!problems.is_empty());
                for problem in problems {
                    assert!(problem.place.starts_with("input") && !problem.sentence.is_empty());
                }
            }
        }
    }
    // Strict: nothing is read that another strict reader refuses.
    let other = serde_json::from_slice::<serde_json::Value>(bytes);
    if text::read_as("input", bytes, Notation::Json).is_ok() && !bytes.starts_with(b"\xEF\xBB\xBF") {
        assert!(other.is_ok(), "{other:?}");
    }
});
