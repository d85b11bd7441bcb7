//! Any JSON: told apart or refused with places; what is read can be compared with itself and locked.
#![no_main]

use contract::document::{Bundle, read};
use contract::lock::{Accept, Lock};
use contract::text::{self, Notation};
use contract::{Options, diff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(root) = text::read_as("input", bytes, Notation::Json) else {
        return;
    };
    let Ok(reading) = read(Bundle { name: "input".to_owned(), root, ..Bundle::default() }) else {
        return;
    };
    if let Ok(found) = diff(&reading.contract, &reading.contract, &Options::default()) {
        assert!(found.entries.is_empty(), "a contract differs from itself: {found:?}");
    }
    let lock = Lock::accept(&reading.contract, None, None, &Accept::Everything)
        .expect("whatever was read can be locked");
    let text = lock.to_text();
    let value = text::read_as("lock", text.as_bytes(), Notation::Json).expect("a lock is JSON");
    let back = Lock::read("lock", &value).expect("a lock reads back");
    assert_eq!(back.to_text(), text);
});
