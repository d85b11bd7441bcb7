//! Looks for a planted credential in everything that was captured: as it is, and in the forms that it travels in.

use super::outcome::Capture;
use super::record::{decoded, sealed_text};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// What a credential looks like in the forms that it travels in. No `Debug`: a credential may have power.
#[derive(Clone)]
pub struct Forms {
    /// What is looked for as it stands, and in what form it would be.
    needles: Vec<(String, &'static str)>,
    /// The same in hexadecimal digits, in small letters.
    hex: String,
}

impl Forms {
    /// The forms of a value.
    pub fn of(value: &str) -> Forms {
        let mut needles = vec![(value.to_owned(), "as it is")];
        // In base64 a text looks in three ways, by where it begins; the first and last signs depend on its neighbours.
        for shift in 0..3usize {
            let padded = [vec![0; shift], value.as_bytes().to_vec()].concat();
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let whole = engine.encode(&padded);
                let from = [0, 2, 3][shift];
                let inner = whole.get(from..whole.len().saturating_sub(2)).unwrap_or_default();
                if inner.len() >= TELLING && needles.iter().all(|(known, _)| known != inner) {
                    needles.push((inner.to_owned(), "as base64"));
                }
            }
        }
        let reversed: String = value.chars().rev().collect();
        if reversed != value {
            needles.push((reversed, "reversed"));
        }
        let hex = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        Forms { needles, hex }
    }

    /// In what form it is in a text, where it is.
    pub fn form_in(&self, text: &str) -> Option<&'static str> {
        let within = |text: &str| {
            let found = self.needles.iter().find(|(needle, _)| text.contains(needle.as_str()));
            found.map(|(_, form)| *form)
        };
        if let Some(form) = within(text) {
            return Some(form);
        }
        if text.contains('%') && within(&decoded(text, false)).is_some() {
            return Some("URL-encoded");
        }
        if text.contains('\\') && within(&unescaped(text)).is_some() {
            return Some("escaped as in JSON");
        }
        // Digits may be parted, as `6b 65 79` or `6b:65:79`.
        let digits = |text: &str| -> String {
            text.chars().filter(|c| !" :-\n".contains(*c)).map(|c| c.to_ascii_lowercase()).collect()
        };
        digits(text).contains(&self.hex).then_some("in hexadecimal digits")
    }

    /// A text without it, for reports: they are no place for it either.
    pub fn hidden(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (needle, _) in &self.needles {
            text = text.replace(needle.as_str(), "[the credential]");
        }
        if self.form_in(&text).is_none() {
            return text;
        }
        // In a form that has no one spelling: the whole line goes.
        let line = |line| match self.form_in(line) {
            Some(_) => "[a line with the credential]",
            None => line,
        };
        let lines = text.lines().map(line).collect::<Vec<_>>().join("\n");
        // Where it goes over the end of a line, all of it goes.
        match self.form_in(&lines) {
            Some(_) => "[a text with the credential]".to_owned(),
            None => lines,
        }
    }

    /// Every place of what was captured in which it surfaced. Headers that carry secrets are recorded as fingerprints
    /// and are where it belongs.
    pub fn leaks(&self, capture: &Capture) -> Vec<Leak> {
        let value = self.needles.first().map_or("", |(value, _)| value.as_str());
        let mut leaks = Vec::new();
        let mut look = |place: String, text: &str| {
            if let Some(form) = self.form_in(text) {
                leaks.push(Leak { place, form });
            }
        };
        look("standard output".into(), &capture.stdout);
        look("standard error".into(), &capture.stderr);
        for (name, text) in &capture.files {
            look(format!("the file {name}"), text);
            look(format!("the name of the file {name}"), name);
        }
        for entry in &capture.entries {
            let (n, seen) = (entry.n, &entry.seen);
            look(format!("the path of request {n}"), &seen.path);
            let sealed = sealed_text(value);
            for (name, shown) in &seen.query {
                // A value that is not shown is known by its fingerprint.
                let shown = if *shown == sealed { value } else { shown };
                look(format!("the parameter {name} of request {n}"), shown);
            }
            look(format!("the body of request {n}"), &seen.raw);
            for (name, value) in &seen.headers {
                look(format!("the header {name} of request {n}"), value);
            }
            if let Some(body) = seen.body.value() {
                let what = if entry.is_prompt() { "the prompt in" } else { "the body of" };
                look(format!("{what} request {n}"), &body.to_string());
            }
            look(format!("the answer to request {n}"), &entry.answer.to_string());
        }
        leaks
    }
}

/// Signs of base64 from which on they tell one text from others.
const TELLING: usize = 8;

/// A credential without any power, planted in one run.
#[derive(Clone)]
pub struct Canary {
    value: String,
    forms: Forms,
}

/// A place where a credential surfaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leak {
    /// Where: "standard error", "the body of request 2".
    pub place: String,
    /// In what form: "as it is", "as base64".
    pub form: &'static str,
}

impl Canary {
    /// One for a run, made from words that name it: the same run has the same.
    pub fn of(words: &[&str]) -> Canary {
        let digest = Sha256::digest(words.join("\u{0}").as_bytes());
        let hex: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        // Signs that each form of writing spells in its own way.
        let value = format!("canary/{hex}+/==");
        Canary { forms: Forms::of(&value), value }
    }

    /// The credential.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What it looks like.
    pub fn forms(&self) -> &Forms {
        &self.forms
    }
}

/// A text without the backslashes of JSON.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest.strip_prefix('u').and_then(|digits| digits.get(..4));
        let code =
            code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        match (code, rest.chars().next()) {
            (Some(character), _) => {
                out.push(character);
                rest = &rest[5..];
            }
            (None, Some(character)) => {
                out.push(character);
                rest = &rest[character.len_utf8()..];
            }
            (None, None) => {}
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_in_every_form_and_nowhere_else() {
        let canary = Canary::of(&["a", "b"]);
        let value = canary.value().to_owned();
        let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let codes: String = value.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        let parted = value.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
        for (text, form) in [
            (format!("token {value}."), "as it is"),
            (format!("?t={percent}"), "URL-encoded"),
            (value.replace('/', "%2F").replace('+', "%2B").replace('=', "%3D"), "URL-encoded"),
            (value.replace('/', "\\/"), "escaped as in JSON"),
            (codes, "escaped as in JSON"),
            (value.chars().rev().collect(), "reversed"),
            (hex.clone(), "in hexadecimal digits"),
            (hex.to_uppercase(), "in hexadecimal digits"),
            (parted, "in hexadecimal digits"),
        ] {
            assert_eq!(canary.forms().form_in(&text), Some(form), "{text}");
            let hidden = canary.forms().hidden(&format!("before\n{text}\nafter"));
            assert_eq!(canary.forms().form_in(&hidden), None, "{hidden}");
            assert!(hidden.starts_with("before\n") && hidden.ends_with("\nafter"));
        }
        for before in ["", "x", "xy", "xyz", "user:"] {
            for after in ["", "!", "!!"] {
                let text = format!("{before}{value}{after}");
                let told = canary.forms().form_in(&STANDARD_NO_PAD.encode(&text));
                assert_eq!(told, Some("as base64"), "{before} {after}");
                let told = canary.forms().form_in(&URL_SAFE_NO_PAD.encode(&text));
                assert_eq!(told, Some("as base64"), "{before} {after}");
            }
        }
        assert_eq!(canary.forms().form_in(Canary::of(&["a", "c"]).value()), None);
        assert_eq!(canary.forms().form_in("canary/ 100% \\u12"), None);
    }
}
