use crate::sample::{self, assert_inert, options, render, render_reviewed};
use contract::{Diff, Verdict};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use report::{Format, RenderOptions};

fn markdown(diff: &Diff, options: &RenderOptions) -> String {
    render(diff, Format::Markdown, options)
}

/// What GitHub reads in a comment.
fn forge() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
}

/// Reads the comment as a forge does and allows only what the report itself writes.
/// Returns the cells of each table row.
pub fn assert_plain(comment: &str) -> Vec<Vec<String>> {
    let allowed =
        ["<code>", "</code>", "<br>", "<!-- -->", "</details>", "<!-- steadfast diff -->"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut in_row = false;
    for event in Parser::new_ext(comment, forge()) {
        match event {
            Event::Start(Tag::TableRow) => {
                in_row = true;
                rows.push(Vec::new());
            }
            Event::End(TagEnd::TableRow) => in_row = false,
            Event::Start(Tag::TableCell) if in_row => {
                rows.last_mut().expect("a row").push(String::new());
            }
            Event::Text(text) if in_row => {
                let row = rows.last_mut().expect("a row");
                row.last_mut().expect("a cell").push_str(&text);
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.trim();
                assert!(
                    allowed.contains(&html) || html.starts_with("<details><summary>"),
                    "foreign HTML: {html:?}"
                );
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => {
                panic!("a link, image or block from a server in\n{comment}")
            }
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {
                panic!("a formula or note from a server in\n{comment}")
            }
            _ => {}
        }
    }
    rows
}

#[test]
fn every_verdict() {
    let out = markdown(&sample::every_verdict(), &options());
    let rows = assert_plain(&out);
    assert!(rows.iter().all(|row| row.len() == 3), "{rows:?}");
    insta::assert_snapshot!(out);
}

#[test]
fn the_first_line_finds_the_comment_again() {
    let out = markdown(&sample::burst(), &options());
    assert!(out.starts_with("<!-- steadfast diff -->\n"));
    insta::assert_snapshot!(out);
}

#[test]
fn hostile_strings_stay_text() {
    let mut diff = sample::hostile();
    for entry in &mut diff.entries {
        entry.changes[0].suppressed = None;
    }
    let out = markdown(&diff, &sample::hostile_options());
    assert_inert(&out);
    let rows = assert_plain(&out);
    assert_eq!(rows.len(), sample::ATTACKS.len());
    assert!(rows.iter().all(|row| row.len() == 3), "{rows:?}");
    // What a person reads is the attack itself, spelled out.
    let script = &rows.iter().find(|row| row[1].contains("script")).expect("a row")[2];
    assert!(script.contains("a | b <script>alert(1)</script> <!-- --> </details>"), "{script}");
    // Mentions and issue numbers are found in the text of the page, not in its source.
    assert!(!out.contains("@someone") && !out.contains(" #123") && !out.contains("&#64;someone"));
    insta::assert_snapshot!(out);
}

#[test]
fn a_link_leads_to_the_rule() {
    let pages = RenderOptions { pages: Some("https://example.com/rules/".into()), ..options() };
    let out = markdown(&sample::every_verdict(), &pages);
    assert!(out.contains("[SF001](https://example.com/rules/SF001.md) <code>region</code>"));
}

#[test]
fn a_comment_never_outgrows_the_service() {
    let long = "`x` and ".repeat(80);
    let entries = (0..600)
        .map(|at| {
            let sentence = format!("{long}{at}");
            let mut change =
                sample::change("SF001", contract::Class::Migration, Verdict::Refuse, &sentence);
            change.field = Some(format!("field_{at}"));
            sample::entry(&format!("tool_{at}"), vec![change])
        })
        .collect();
    let diff = sample::diff(entries);
    let whole = RenderOptions { all: true, ..options() };
    let out = markdown(&diff, &whole);
    assert!(out.len() <= 65_536, "{} bytes", out.len());
    assert!(out.len() > 60_000, "cut too early: {} bytes", out.len());
    let last = out.lines().last().expect("a line");
    assert!(last.starts_with("**Truncated:** "), "{last}");
    assert_plain(&out);
}

#[test]
fn a_cut_comment_closes_what_it_opened() {
    for size in [0, 100, 200, 300, 400, 500, 600, 700, 800] {
        let long = "word ".repeat(size / 6);
        let entries = (0..200)
            .map(|at| {
                let verdict = if at % 2 == 0 { Verdict::Safe } else { Verdict::Refuse };
                let sentence = format!("{long}{at}");
                let mut change =
                    sample::change("SF001", contract::Class::Additive, verdict, &sentence);
                change.field = Some(format!("field_{at}"));
                sample::entry(&format!("tool_{at}"), vec![change])
            })
            .collect();
        let whole = RenderOptions { all: true, ..options() };
        let out = markdown(&sample::diff(entries), &whole);
        assert!(out.len() <= 65_536);
        assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    }
}

#[test]
fn the_review_record_is_part_of_the_comment() {
    let out = render_reviewed(&sample::every_verdict(), &sample::review(), Format::Markdown);
    assert_plain(&out);
    insta::assert_snapshot!(out);
}

#[test]
fn headings_are_ours_alone() {
    let out = markdown(&sample::hostile(), &sample::hostile_options());
    let headings = Parser::new_ext(&out, forge())
        .filter(|event| matches!(event, Event::End(TagEnd::Heading(_))))
        .count();
    assert_eq!(headings, 1);
}
