//! Finds a credential in an answer: exactly the value that was sent, in its usual spellings.
//!
//! An answer is scanned whole before any of it is passed on, so a value that came in several chunks is found as one.
//! What still holds the value in a spelling that cannot be cut out exactly is withheld. A target that wants to hand the
//! value back in a form of its own can: nothing that scans answers can prevent that, and the target was trusted with it.

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

/// What stands in place of a credential.
pub const MARK: &str = "[credential]";

/// Looks for one credential. Holds it, and has no `Debug`.
pub struct Redactor {
    finder: AhoCorasick,
    raw: Vec<Zeroizing<Vec<u8>>>,
}

/// What may be passed on of an answer.
pub enum Redacted {
    /// The text, and how often the credential was cut out of it.
    Text(String, usize),
    /// Nothing; why.
    Withheld(&'static str),
}

impl Redactor {
    /// Looks for these values: the secret, and what was sent where that is spelled otherwise. `None` where they are too
    /// large to be looked for.
    pub fn new(values: &[&[u8]]) -> Option<Redactor> {
        let mut patterns: Vec<Zeroizing<Vec<u8>>> = Vec::new();
        for value in values {
            patterns.extend(spellings(value));
        }
        patterns.retain(|pattern| pattern.len() >= vault::limits::SECRET_LEAST);
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns.iter().map(|pattern| pattern.as_slice()))
            .ok()?;
        let raw = values.iter().map(|value| Zeroizing::new(value.to_vec())).collect();
        Some(Redactor { finder, raw })
    }

    /// Cuts the credential out of an answer.
    pub fn clean(&self, bytes: &[u8]) -> Redacted {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Redacted::Withheld("it is not text in UTF-8");
        };
        if text.contains('\0') {
            return Redacted::Withheld("it is not plain text");
        }
        let (mut out, mut last, mut count) = (String::with_capacity(text.len()), 0, 0);
        for found in self.finder.find_iter(text) {
            // Patterns are ASCII: they begin and end between characters.
            out.push_str(&text[last..found.start()]);
            out.push_str(MARK);
            last = found.end();
            count += 1;
        }
        out.push_str(&text[last..]);
        // Up to two layers, as when a form is quoted in a form.
        let mut form = Zeroizing::new(out.as_bytes().to_vec());
        for _ in 0..2 {
            form = Zeroizing::new(decoded(&form));
            if self.finder.is_match(form.as_slice()) || self.raw.iter().any(|raw| holds(&form, raw))
            {
                return Redacted::Withheld(
                    "it holds the credential in a spelling that cannot be cut out exactly",
                );
            }
        }
        Redacted::Text(out, count)
    }
}

fn holds(bytes: &[u8], raw: &[u8]) -> bool {
    bytes.windows(raw.len()).any(|window| window == raw)
}

/// A value in its usual spellings, all in ASCII.
fn spellings(value: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let mut all = vec![value.to_vec(), value.iter().rev().copied().collect()];
    let escaped = |safe: fn(u8) -> bool, write: fn(u8) -> String| -> Vec<u8> {
        value
            .iter()
            .flat_map(|byte| if safe(*byte) { vec![*byte] } else { write(*byte).into_bytes() })
            .collect()
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    all.push(escaped(plain, |b| format!("%{b:02X}")));
    all.push(escaped(plain, |b| format!("%{b:02x}")));
    all.push(escaped(plain, |b| if b == b' ' { "+".to_owned() } else { format!("%{b:02X}") }));
    all.push(escaped(plain, |b| format!("%25{b:02X}")));
    all.push(escaped(|b| b != b'"' && b != b'\\', |b| format!("\\{}", char::from(b))));
    all.push(escaped(|b| b != b'"' && b != b'\\' && b != b'/', |b| format!("\\{}", char::from(b))));
    all.push(escaped(
        |b| !b"&<>\"'".contains(&b),
        |b| {
            match b {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            }
            .to_owned()
        },
    ));
    all.push(value.iter().flat_map(|b| format!("{b:02x}").into_bytes()).collect());
    all.push(value.iter().flat_map(|b| format!("{b:02X}").into_bytes()).collect());
    for offset in 0..3_usize {
        let mut shifted = Zeroizing::new(vec![0; offset]);
        shifted.extend_from_slice(value);
        // Only letters that depend on the value alone.
        let (start, end) = ([0, 2, 3][offset], shifted.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&*shifted), URL_SAFE_NO_PAD.encode(&*shifted)] {
            all.push(text.as_bytes()[start..end].to_vec());
        }
    }
    all.sort();
    all.dedup();
    all.into_iter().map(Zeroizing::new).collect()
}

/// Percent escapes, `\u` and `\x` escapes, and numbered entities as the letters that they stand for.
fn decoded(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let hex = |from: usize, count: usize| {
            let digits = bytes.get(from..from + count)?;
            u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let found = match (byte, bytes.get(at + 1)) {
            (b'%', Some(_)) => hex(at + 1, 2).map(|code| (code, 3)),
            (b'\\', Some(b'u')) => hex(at + 2, 4).map(|code| (code, 6)),
            (b'\\', Some(b'x')) => hex(at + 2, 2).map(|code| (code, 4)),
            (b'\\', Some(b'/' | b'"' | b'\\')) => Some((u32::from(bytes[at + 1]), 2)),
            (b'&', Some(b'#')) => entity(&bytes[at..]),
            _ => None,
        };
        match found.and_then(|(code, length)| Some((u8::try_from(code).ok()?, length))) {
            Some((letter, length)) => {
                out.push(letter);
                at += length;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

fn entity(bytes: &[u8]) -> Option<(u32, usize)> {
    let end = bytes.iter().take(12).position(|byte| *byte == b';')?;
    let digits = std::str::from_utf8(&bytes[2..end]).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((code, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cleaned(secret: &str, text: &str) -> Option<(String, usize)> {
        match Redactor::new(&[secret.as_bytes()]).unwrap().clean(text.as_bytes()) {
            Redacted::Text(text, count) => Some((text, count)),
            Redacted::Withheld(_) => None,
        }
    }

    #[test]
    fn every_usual_spelling_is_cut_out_exactly() {
        let secret = "canary/\"+=&1234";
        for spelling in spellings(secret.as_bytes()) {
            let text = format!("before {} after", std::str::from_utf8(&spelling).unwrap());
            assert_eq!(cleaned(secret, &text), Some((format!("before {MARK} after"), 1)), "{text}");
        }
        let text = "{\"rate\": 12345678901234567890, \"note\": \"canary is a bird\"}";
        assert_eq!(cleaned(secret, text), Some((text.to_owned(), 0)), "other text stays as it is");
    }

    #[test]
    fn a_spelling_that_cannot_be_cut_out_withholds_the_whole() {
        let secret = "canary-secret-1";
        for text in [
            "\\u0063anary-secret-1", "%63anary-secret-1", "%2563anary-secret-1",
            "&#99;anary-secret-1", "&#x63;anary-secret-1", "c\\x61nary-secret-1",
        ] {
            assert_eq!(cleaned(secret, text), None, "{text}");
        }
        let wide: Vec<u8> = secret.bytes().flat_map(|byte| [byte, 0]).collect();
        assert!(matches!(
            Redactor::new(&[secret.as_bytes()]).unwrap().clean(&wide),
            Redacted::Withheld(_)
        ));
    }

    proptest! {
        #[test]
        fn base64_at_any_place_is_found(secret in "[ -~]{12,40}", before in "[a-z]{0,9}", after in "[a-z]{0,9}") {
            let whole = format!("{before}{secret}{after}");
            let text = STANDARD_NO_PAD.encode(&whole);
            let (out, count) = cleaned(&secret, &text).unwrap();
            prop_assert!(count >= 1, "{out}");
        }

        #[test]
        fn no_answer_lets_the_value_through(secret in "[!-~]{8,20}", before in ".{0,20}", after in ".{0,20}") {
            if let Some((out, _)) = cleaned(&secret, &format!("{before}{secret}{after}")) {
                prop_assert!(!out.contains(&secret));
            }
        }
    }
}
