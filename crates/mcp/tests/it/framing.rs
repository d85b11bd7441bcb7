//! Bytes into lines and events, however they are split.

use mcp::framing::{Event, Events, Line, Lines};
use proptest::prelude::*;

fn lines(parts: &[&[u8]], limit: usize) -> Vec<Line> {
    let mut splitter = Lines::new(limit);
    let mut out: Vec<Line> = parts.iter().flat_map(|p| splitter.push(p)).collect();
    out.extend(splitter.end());
    out
}

fn whole(text: &str) -> Line {
    Line::Whole(text.as_bytes().to_vec())
}

#[test]
fn lines_end_at_line_feeds() {
    assert_eq!(
        lines(&[b"a\r\nb", b"c\n\n", b"d"], 10),
        [whole("a"), whole("bc"), whole(""), whole("d")]
    );
    assert_eq!(lines(&[b""], 10), []);
    assert_eq!(lines(&[b"1234567890\n"], 10), [whole("1234567890")]);
}

#[test]
fn a_line_above_the_limit_is_told_once_and_the_next_is_read() {
    let found = lines(&[b"12345", b"678901", b"234", b"\nok\n"], 10);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(matches!(&found[0], Line::TooLong(head) if head.starts_with(b"12345")));
    assert_eq!(found[1], whole("ok"));
}

fn events(parts: &[&[u8]]) -> Vec<Event> {
    let mut splitter = Events::new(1000);
    parts.iter().flat_map(|p| splitter.push(p).unwrap()).collect()
}

fn event(name: &str, data: &str, id: Option<&str>) -> Event {
    Event { name: name.into(), data: data.as_bytes().to_vec(), id: id.map(str::to_owned) }
}

#[test]
fn events_follow_the_standard() {
    fn check(text: &str, expected: &[Event]) {
        assert_eq!(events(&[text.as_bytes()]), expected, "{text:?}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(events(&bytes), expected, "byte by byte: {text:?}");
    }
    check("data: a\n\n", &[event("message", "a", None)]);
    check(
        "data: a\r\n\r\ndata:b\r\rdata:  c\n\n",
        &[event("message", "a", None), event("message", "b", None), event("message", " c", None)],
    );
    check("\u{feff}event: endpoint\ndata: x\n\n", &[event("endpoint", "x", None)]);
    check(
        ": comment\n\nid: 7\n\nevent: lost\n\ndata: a\ndata: b\n\n",
        &[event("message", "a\nb", Some("7"))],
    );
    check("data\n\n", &[event("message", "", None)]);
    check("data: unfinished\n", &[]);
    check(
        "id: 1\ndata: a\n\nid: a\u{0}b\ndata: b\n\nid\ndata: c\n\n",
        &[
            event("message", "a", Some("1")),
            event("message", "b", Some("1")),
            event("message", "c", Some("")),
        ],
    );
    let mut splitter = Events::new(1000);
    splitter.push(b"retry: 250\nretry: soon\nid: e\n").unwrap();
    assert_eq!((splitter.retry(), splitter.last_id()), (Some(250), Some("e")));
}

#[test]
fn an_event_above_the_limit_is_an_error() {
    assert!(Events::new(10).push(b"data: 12345678901\n\n").is_err());
    let mut splitter = Events::new(10);
    splitter.push(b"data: 123\n").unwrap();
    assert!(splitter.push(b"data: 456\ndata: 789\n").is_err());
}

/// The same bytes, cut at these places.
fn cut(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = cuts.iter().map(|c| c % (bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|w| bytes[w[0]..w[1]].to_vec()).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
        cuts in proptest::collection::vec(any::<usize>(), 0..8),
    ) {
        let parts = cut(&bytes, &cuts);
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(lines(&parts, 50), lines(&[&bytes], 50));
        prop_assert_eq!(events(&parts), events(&[&bytes]));
    }
}
