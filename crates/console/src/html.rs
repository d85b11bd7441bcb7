//! HTML from data. Whatever a server, an agent or a file says goes through [`text`] or [`plain`], and is text then: it
//! opens no tag, ends no attribute, and hides nothing.

use crate::limits;
use report::escape::is_hidden;
use store::Millis;

/// Marks that may stand on one letter: some scripts need three; more cover the lines above and below.
const MARKS: usize = 4;

/// Text of anyone, for the page: markup escaped, and what would be invisible or turn the line spelled out, marked as such.
pub fn text(said: &str) -> String {
    let mut out = String::with_capacity(said.len() + 16);
    let mut marks = 0;
    for c in said.chars() {
        let mark = is_mark(c);
        marks = if mark { marks + 1 } else { 0 };
        match c {
            '\n' => out.push_str("<i class=\"hid\">\\n</i>"),
            '\r' => out.push_str("<i class=\"hid\">\\r</i>"),
            '\t' => out.push_str("<i class=\"hid\">\\t</i>"),
            c if c.is_control() || is_hidden(c) || marks > MARKS => {
                out.push_str(&format!("<i class=\"hid\">\\u{{{:x}}}</i>", u32::from(c)));
            }
            c => push(&mut out, c),
        }
    }
    out
}

/// Text of anyone, for an attribute, or for a block whose lines are kept.
pub fn plain(said: &str) -> String {
    let mut out = String::with_capacity(said.len() + 16);
    for c in said.chars() {
        match c {
            '\n' => out.push('\n'),
            c if c.is_control() || is_hidden(c) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => push(&mut out, c),
        }
    }
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c => out.push(c),
    }
}

/// Marks that combine with the letter before them, as far as they stand in blocks of their own.
fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x483..=0x489 | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f)
}

/// [`text`] of a value in a list: a long one is cut, and says so.
pub fn short(said: &str) -> String {
    let mut kept = said.chars();
    let cut: String = kept.by_ref().take(limits::SHOWN).collect();
    match kept.count() {
        0 => text(&cut),
        more => format!("{} <em>… {more} more characters</em>", text(&cut)),
    }
}

/// What an agent or a server says, in quotes that are not its own.
pub fn quoted(said: &str) -> String {
    format!("<q class=\"said\">{}</q>", short(said))
}

/// A value of a part of an address.
pub fn part(value: &str) -> String {
    let mut out = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A digest as twelve digits, whole on demand.
pub fn digest(of: &str) -> String {
    let digits: String = of.trim_start_matches("sha256:").chars().take(12).collect();
    format!("<code class=\"dig\" title=\"{}\">{}</code>", plain(of), text(&digits))
}

/// A time, for people in the zone of the browser, which writes it over.
pub fn time(at: Millis) -> String {
    let whole = iso(at);
    format!("<time datetime=\"{whole}\">{}</time>", whole.replace('T', " "))
}

/// A time for programs, in UTC.
pub fn iso(at: Millis) -> String {
    let at_ = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    at_.map_or_else(|| at.to_string(), |at| format!("{at:.3}"))
}

/// A number and its noun.
pub fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A row of a list of properties.
pub fn row(name: &str, value: &str) -> String {
    format!("<div><dt>{name}</dt><dd>{value}</dd></div>")
}

/// A page that says one thing.
pub fn message(class: &str, words: &str) -> String {
    format!("<p class=\"{class}\">{words}</p>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_text_and_hides_nothing() {
        let evil = "<script>\"'&\u{202e}drow\u{200b}\u{1b}[2K\u{e0041}\n";
        for shown in [text(evil), plain(evil), short(evil), quoted(evil)] {
            assert!(!shown.contains("<script"), "{shown}");
            assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'), "{shown:?}");
            assert!(shown.contains("\\u{202e}") && shown.contains("\\u{200b}"), "{shown}");
        }
        assert!(text(&format!("a{}", "\u{301}".repeat(40))).contains("\\u{301}"));
        assert_eq!(text("é Ω 漢字 a\u{301}"), "é Ω 漢字 a\u{301}", "scripts are left as they are");
        assert!(!plain("\" onload=\"x").contains('"'));
    }

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        let long = "x".repeat(limits::SHOWN + 7);
        assert!(short(&long).contains("7 more characters"));
        assert_eq!(part("a b/ü"), "a%20b%2F%C3%BC");
    }
}
