//! What a server may write: any split of its bytes gives the same frames, nothing panics, and a message that is read
//! keeps its bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp::framing::{Events, Line, Lines};
use mcp::json;
use mcp::message::Message;

/// Small, so that the fuzzer reaches it.
const LIMIT: usize = 64;

fn lines(parts: &[&[u8]], limit: usize) -> Vec<Line> {
    let mut splitter = Lines::new(limit);
    let mut out: Vec<Line> = parts.iter().flat_map(|part| splitter.push(part)).collect();
    out.extend(splitter.end());
    out
}

fn events(parts: &[&[u8]], limit: usize) -> Option<Vec<mcp::framing::Event>> {
    let mut splitter = Events::new(limit);
    let mut out = Vec::new();
    for part in parts {
        out.extend(splitter.push(part).ok()?);
    }
    Some(out)
}

fuzz_target!(|input: (u8, &[u8])| {
    let (cut, bytes) = input;
    let (first, second) = bytes.split_at(usize::from(cut).min(bytes.len()));
    assert_eq!(lines(&[bytes], LIMIT), lines(&[first, second], LIMIT));
    // Above the limit a split may give the events before the one that is too long; below it, both give all.
    assert_eq!(events(&[bytes], bytes.len() + 1), events(&[first, second], bytes.len() + 1));
    let _ = events(&[first, second], LIMIT);

    for line in lines(&[bytes], usize::MAX) {
        let Line::Whole(line) = line else { unreachable!("no line is above that limit") };
        let Ok(messages) = Message::parse_all(&line) else { continue };
        for message in messages {
            let again = Message::parse(message.text()).expect("what was read once reads again");
            assert_eq!(again.kind(), message.kind());
            assert_eq!(again.outcome(), message.outcome());
            if json::flaws(message.text(), 100, 20).is_empty() {
                let value: serde_json::Value = serde_json::from_str(message.text()).expect("it is JSON");
                let indented = json::indent(message.text(), 0);
                assert_eq!(serde_json::from_str::<serde_json::Value>(&indented).expect("still JSON"), value);
            }
        }
    }
});
