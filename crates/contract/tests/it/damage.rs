//! Damaged documents: cut, repeated and flipped at seeded places, they are read or refused, and nothing else.
//!
//! The fuzz targets `text` and `document` look for the same without end; this is the part that every run pays for.

use contract::document::{Bundle, read};
use contract::lock::{Accept, Lock};
use contract::text::{self, Notation};
use contract::{Options, diff};

/// Enough to meet every kind of damage at every kind of place, and done in a second or two.
const ROUNDS: u64 = 3_000;

const LIST: &str = r#"{"tools":[{"name":"t","title":"T","description":"Reads \u00e9.\n","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"n":{"type":"number","maximum":1.5e3}},"required":["a"]},"annotations":{"readOnlyHint":true}},{"name":"u","inputSchema":{"type":"object"}}],"nextCursor":null}"#;

const API: &str = "openapi: 3.0.3\npaths:\n  /a/{id}:\n    get:\n      parameters: &p\n      - {name: id, in: path, required: true, schema: {type: string}}\n      responses:\n        '200': {$ref: '#/components/responses/R'}\n    put: {parameters: *p, responses: {}}\ncomponents:\n  responses:\n    R:\n      description: |\n        text\n";

/// A small generator with a fixed start: the same damage in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit.max(1)
    }
}

fn damaged(text: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        let end = (at + 1 + dice.below(12)).min(bytes.len());
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at] = b"{}[]\",:0-e\\\n &*!<~"[dice.below(18)],
            4 => bytes[at] ^= 1 << dice.below(8),
            _ => bytes.insert(at, b"{}[]\",:0-e\\\n &*!<~"[dice.below(18)]),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

fn judge(bytes: &[u8], notation: Notation) {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let root = match text::read_as("input", bytes, notation) {
        Ok(root) => root,
        Err(problems) => {
            assert!(!problems.is_empty(), "{}", shown());
            for problem in problems {
                assert!(problem.place.starts_with("input"), "{}\n{problem:?}", shown());
                assert!(problem.sentence.ends_with('.'), "{}\n{problem:?}", shown());
            }
            return;
        }
    };
    let written = root.to_string();
    let again = text::read_as("again", written.as_bytes(), Notation::Json).expect(&written);
    assert_eq!(root, again, "{}", shown());
    if notation == Notation::Json {
        assert!(
            serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
            "too lenient: {}",
            shown()
        );
    }
    let Ok(reading) = read(Bundle { name: "input".to_owned(), root, ..Bundle::default() }) else {
        return;
    };
    if let Ok(found) = diff(&reading.contract, &reading.contract, &Options::default()) {
        assert!(found.entries.is_empty(), "{} differs from itself", shown());
    }
    let lock = Lock::accept(&reading.contract, None, None, &Accept::Everything)
        .expect("whatever was read can be locked");
    let value =
        text::read_as("lock", lock.to_text().as_bytes(), Notation::Json).expect("a lock is JSON");
    let back =
        Lock::read("lock", &value).unwrap_or_else(|problems| panic!("{}\n{problems:#?}", shown()));
    assert_eq!(back.to_text(), lock.to_text(), "{}", shown());
}

#[test]
fn damage_is_read_or_refused() {
    let mut dice = Dice(0x5EAD_FA57);
    for _ in 0..ROUNDS {
        judge(&damaged(LIST, &mut dice), Notation::Json);
        judge(&damaged(API, &mut dice), Notation::Yaml);
    }
}

#[test]
fn the_undamaged_ones_are_read() {
    for (text, notation) in [(LIST, Notation::Json), (API, Notation::Yaml)] {
        text::read_as("input", text.as_bytes(), notation)
            .unwrap_or_else(|problems| panic!("{problems:#?}"));
        judge(text.as_bytes(), notation);
    }
}
