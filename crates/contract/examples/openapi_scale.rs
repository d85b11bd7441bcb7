//! Compares two large OpenAPI documents and tells how long it took and how much it says.
//!
//! `cargo run --release -p steadfast-contract --example openapi_scale -- OLD NEW`
#![allow(clippy::print_stdout, reason = "a report on the terminal is its purpose")]

use contract::{Bundle, Contract, Options, Subject, Verdict, diff};
use std::collections::BTreeMap;
use std::time::Instant;

fn main() {
    let sides: Vec<Contract> = std::env::args()
        .skip(1)
        .map(|name| {
            let bytes = std::fs::read(&name).expect("the file can be read");
            let root = contract::text::read(&name, &bytes).expect("the file is sound");
            Contract::Openapi(Bundle { name, root, ..Bundle::default() })
        })
        .collect();
    let [old, new] = sides.as_slice() else {
        println!("two files are needed: OLD NEW");
        return;
    };
    let start = Instant::now();
    let found = diff(old, new, &Options::default()).expect("both documents are sound");
    println!("compared in {:?}: {:?}, {:?}", start.elapsed(), found.verdict, found.counts);
    let shared = found.entries.iter().filter(|e| matches!(e.subject, Subject::Schema(_))).count();
    println!("{} entries, {shared} of them shared declarations", found.entries.len());
    let mut rules: BTreeMap<(&str, Verdict), usize> = BTreeMap::new();
    for change in found.entries.iter().flat_map(|entry| &entry.changes) {
        *rules.entry((change.rule, change.verdict)).or_default() += 1;
    }
    for ((rule, verdict), count) in rules {
        println!("{rule} {verdict:?} {count}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", peak.unwrap_or("peak memory is not known here"));
}
