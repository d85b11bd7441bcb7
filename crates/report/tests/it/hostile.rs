//! Thousands of strings that nobody thought of, through every format.

use crate::github::commands;
use crate::markdown::assert_plain;
use crate::sample::{self, assert_inert, options, render};
use contract::Diff;
use report::{Format, RenderOptions};
use serde_json::Value;

/// What means something to a terminal, a runner, Markdown, HTML, XML, SARIF or a forge.
const PIECES: &[&str] = &[
    "a", "b1", " ", " ", "`", "``", "```", "|", "\\", "<", ">", "&", "&lt;", "&#96;", "\"", "'",
    "\n", "\r\n", "\t", "\u{1b}[2J", "\u{9b}", "\u{0}", "\u{7f}", "\u{202e}", "\u{2066}",
    "\u{200b}", "\u{feff}", "\u{2028}", "\u{e0041}", "\u{fe0f}", "\u{301}\u{301}", "::",
    "::error::", ":", "##[", "##vso[", "#", "#1", "]", "[x](y)", "![x](y)", "[^1]", "{0}", "{",
    "}", "%0A", "%", ",", "=", "@me", "a@b.c", "www.x.y", "http://x.y", "<!--", "-->", "</code>",
    "<br>", "<script>", "</details>", "]]>", "<![CDATA[", "$x$", "$$", "*", "**", "_", "__", "~~",
    "!", "(", ")", "-", "1.", "\u{3000}", "\u{a0}::", "é", "漢", "😀", "\u{10ffff}",
];

/// A small generator with a fixed seed: the same strings on every machine.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).expect("small")).expect("small")
    }

    fn text(&mut self) -> String {
        let length = 1 + self.below(9);
        (0..length).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

/// Diffs that carry eight strings each, suppressed changes and open ones in turn.
fn diffs(seed: u64, count: usize) -> impl Iterator<Item = (Vec<String>, Diff)> {
    let mut seeded = Seeded(seed);
    (0..count).map(move |_| {
        let texts: Vec<String> = (0..8).map(|_| seeded.text()).collect();
        let mut diff = sample::carrying(texts.iter().map(String::as_str));
        for entry in &mut diff.entries {
            entry.changes[0].suppressed = None;
        }
        (texts, diff)
    })
}

#[test]
fn text_stays_lines() {
    for (texts, diff) in diffs(0x5eed, 150) {
        for width in [40, 53, 88] {
            let options = RenderOptions {
                width,
                old_name: texts[0].clone(),
                new_name: texts[1].clone(),
                ..options()
            };
            let out = render(&diff, Format::Text, &options);
            assert_inert(&out);
            for line in out.lines() {
                assert!(!line.trim_start().starts_with("::"), "a runner command: {line:?}");
            }
        }
    }
}

#[test]
fn json_keeps_every_string() {
    for (texts, diff) in diffs(0xca11, 150) {
        let out = render(&diff, Format::Json, &options());
        assert_inert(&out);
        let value: Value = serde_json::from_str(&out).expect("JSON");
        for (at, text) in texts.iter().enumerate() {
            assert_eq!(value["tools"][at]["tool"], **text);
            assert_eq!(value["tools"][at]["changes"][0]["witness"]["value"][text][0], **text);
        }
    }
}

#[test]
fn annotations_stay_commands_of_ours() {
    for (texts, diff) in diffs(0xac7, 150) {
        let options = RenderOptions { file: Some(texts[2].clone()), ..options() };
        let out = render(&diff, Format::Github, &options);
        assert_inert(&out);
        let commands = commands(&out);
        assert!((1..=8).contains(&commands.len()), "{out}");
        for (level, properties, _) in commands {
            assert_eq!(level, "error");
            let keys: Vec<&str> = properties.iter().map(|(key, _)| key.as_str()).collect();
            assert_eq!(keys, ["file", "title"]);
        }
    }
}

#[test]
fn markdown_and_junit_show_the_same_names() {
    for (_, diff) in diffs(0xf00d, 300) {
        let page = render(&diff, Format::Markdown, &options());
        assert_inert(&page);
        let rows = assert_plain(&page);
        let xml = render(&diff, Format::Junit, &options());
        let report = quick_junit::Report::deserialize_from_str(&xml).expect("JUnit XML");
        let cases = &report.test_suites[0].test_cases;
        assert_eq!(cases.len(), diff.entries.len());
        // A burst of equal strings is one row: then there is no row to compare with each case.
        if rows.len() != cases.len() {
            continue;
        }
        for (row, case) in rows.iter().zip(cases) {
            assert_eq!(row.len(), 3, "{row:?}");
            let name = case.name.as_str().trim();
            assert!(row[1].trim_start().starts_with(name), "{:?} is shown as {:?}", name, row[1]);
        }
    }
}

#[test]
fn sarif_messages_hold_no_links() {
    for (_, diff) in diffs(0x5a61f, 100) {
        let out = render(&diff, Format::Sarif, &options());
        assert_inert(&out);
        let value: Value = serde_json::from_str(&out).expect("JSON");
        for result in value["runs"][0]["results"].as_array().expect("results") {
            let text = result["message"]["text"].as_str().expect("a text");
            assert!(!text.contains("](") && !text.contains("{0}"), "{text}");
        }
    }
}
