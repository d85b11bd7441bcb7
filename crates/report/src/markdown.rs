//! A pull-request comment: the verdict, one table of what matters, the rest folded.

use crate::escape::one_line;
use crate::fold::{Burst, Detail, Folded, Item, Shown, fold, titles};
use crate::level::standing;
use crate::limits::{CHANGES_SHOWN, KEYWORD_CHARS, MARKDOWN_BYTES, VALUE_CHARS};
use crate::review::{Question, ReviewEntry, ReviewRecord};
use crate::text::asked;
use crate::{Report, escape, words};
use contract::{Change, Verdict, Witness};

/// First line of the comment: a later run finds its own comment by it and replaces it.
const MARKER: &str = "<!-- steadfast diff -->\n";
/// Kept free for what closes a cut comment.
const RESERVE: usize = 512;

pub(crate) fn render(report: &Report) -> String {
    let mut comment = Comment { out: String::from(MARKER), left_out: 0 };
    head(&mut comment, report);
    let mut folded = fold(report, Detail::page(report.options.all));
    let safe = folded
        .items
        .iter()
        .position(|item| item.verdict() == Verdict::Safe)
        .unwrap_or(folded.items.len());
    let safe = folded.items.split_off(safe);
    table(&mut comment, report, &folded.items);
    if folded.more > 0 {
        comment.push(&format!("\nand {} more that are not safe.\n", folded.more));
    }
    if let Some(review) = report.review {
        self::review(&mut comment, review);
    }
    rest(&mut comment, report, &safe, &folded);
    if let Some(rule) = words::first_rule(report.diff) {
        comment.push(&format!(
            "\nWhy it matters and what to do: {}\n",
            code(&format!("steadfast explain {rule}"))
        ));
    }
    comment.finish()
}

fn head(comment: &mut Comment, report: &Report) {
    let diff = report.diff;
    comment.push(&format!(
        "### steadfast: {}\n\n**{}.**\n\n{} → {} · {} → {}\n\n{}\n",
        words::verdict(diff.verdict),
        words::capital(words::headline(diff)),
        code(&words::name_of(&report.options.old_name)),
        code(&words::name_of(&report.options.new_name)),
        words::subjects(diff.kind, diff.counts.old),
        words::subjects(diff.kind, diff.counts.new),
        words::summary(diff)
    ));
}

fn table(comment: &mut Comment, report: &Report, items: &[Item]) {
    if items.is_empty() {
        return;
    }
    comment.push("\n| verdict | where | what changed |\n| --- | --- | --- |\n");
    for item in items {
        let row = match item {
            Item::Burst(burst) => burst_row(report, burst),
            Item::Subject(shown) => subject_row(report, shown),
        };
        comment.push(&row);
    }
}

fn burst_row(report: &Report, burst: &Burst) -> String {
    let mut lines = vec![finding(report, burst.change, &words::line(&burst.sentence))];
    if let Some(witness) = &burst.change.witness {
        lines.push(self::witness(witness));
    }
    format!(
        "| {} | {}: {} | {} |\n",
        words::verdict(burst.change.verdict),
        burst.title(),
        names(burst.titles()),
        lines.join("<br>")
    )
}

fn subject_row(report: &Report, shown: &Shown) -> String {
    let entry = shown.entry;
    let mut lines = Vec::new();
    if let Some(reasons) = words::heir_reasons(entry) {
        lines.push(prose(&reasons));
    }
    if let Some(note) = words::entry_note(entry) {
        lines.push(format!("*{note}*"));
    }
    let limit = if report.options.all { usize::MAX } else { CHANGES_SHOWN };
    for told in shown.changes.iter().take(limit) {
        let change = told.change;
        lines.push(finding(report, change, &words::sentence(change)));
        if let Some(witness) = &change.witness {
            lines.push(self::witness(witness));
        }
        if !told.likewise.is_empty() {
            let fields: Vec<String> =
                told.likewise.iter().map(|field| code(&words::name_of(field))).collect();
            lines.push(format!("likewise {}", fields.join(", ")));
        }
        if let Some(reached) = words::decisions(change) {
            lines.push(reached);
        }
        if let Some(reason) = &change.suppressed {
            lines.push(format!("suppressed: {}", prose(&words::line(reason))));
        }
    }
    let rest = shown.rest(limit);
    if !rest.is_empty() {
        lines.push(format!("and {rest}"));
    }
    format!(
        "| {} | {} | {} |\n",
        words::verdict(standing(entry)),
        code(&words::title(entry)),
        lines.join("<br>")
    )
}

fn finding(report: &Report, change: &Change, sentence: &str) -> String {
    let rule = match &report.options.pages {
        Some(base) => format!("[{0}]({base}{0}.md)", change.rule),
        None => change.rule.to_owned(),
    };
    format!("{rule} {}", prose(sentence))
}

fn witness(witness: &Witness) -> String {
    let (accepts, rejects) = words::sides(witness.accepted_by);
    let keyword = escape::clip(&witness.keyword, KEYWORD_CHARS);
    let keyword = if keyword.is_empty() {
        String::new()
    } else {
        format!(" ({})", code(&words::name_of(&keyword)))
    };
    format!(
        "e.g. {}: {accepts} accepts, {rejects} rejects{keyword}",
        code(&one_line(&witness.value, VALUE_CHARS))
    )
}

fn names((shown, more): (Vec<String>, usize)) -> String {
    let mut names: Vec<String> = shown.iter().map(|name| code(name)).collect();
    if more > 0 {
        names.push(format!("… {more} more"));
    }
    names.join(", ")
}

fn rest(comment: &mut Comment, report: &Report, safe: &[Item], folded: &Folded) {
    if !safe.is_empty() {
        let title = format!("{} safe", safe.len() + folded.more_safe);
        comment.details(&title, |comment| {
            table(comment, report, safe);
            if folded.more_safe > 0 {
                comment.push(&format!("\nand {} more.\n", folded.more_safe));
            }
        });
    }
    if folded.heirs > 0 {
        comment.push(&format!("\nand {} new names told with the old ones.\n", folded.heirs));
    }
    if !folded.cosmetic.is_empty() {
        let title = format!("{} with new wording or notation only", folded.cosmetic.len());
        comment.details(&title, |comment| {
            comment.push(&format!("\n{}\n", names(titles(&folded.cosmetic))));
        });
    }
}

fn review(comment: &mut Comment, record: &ReviewRecord) {
    comment.push("\n#### Review record\n");
    if record.entries.is_empty() {
        comment.push("\nNothing to review: no subject changed.\n");
    }
    for entry in &record.entries {
        comment.push(&review_entry(entry));
    }
}

fn review_entry(entry: &ReviewEntry) -> String {
    let mut out = format!("\n**{}**\n\n", code(&words::name(&entry.subject)));
    if entry.assumptions.is_empty() {
        out.push_str("- what changes: none that is known\n");
    }
    for text in &entry.assumptions {
        out.push_str(&format!("- what changes: {}\n", prose(&words::line(text))));
    }
    let window = asked(entry.window.as_deref(), "for how long?");
    let fixture = asked(entry.fixture.as_deref(), "which fixture shows the new behaviour?");
    out.push_str(&format!(
        "- before: {}\n- both live: {}\n- shown by: {}\n\n| question | answer | how it was checked |\n| --- | --- | --- |\n",
        prose(&words::line(&entry.old_behaviour)),
        prose(&window),
        prose(&fixture)
    ));
    for question in Question::ALL {
        let answer = entry.answer(question);
        out.push_str(&format!(
            "| {} | {} | {} |\n",
            question.text(),
            answer.word(),
            prose(&words::line(&answer.basis()))
        ));
    }
    for fault in &entry.faults {
        out.push_str(&format!("\n**Fault:** {}\n", prose(&words::line(fault))));
    }
    if let Some(path) = &entry.kept {
        out.push_str(&format!("\nKept as a test in {}\n", code(&words::line(path))));
    }
    out
}

/// A sentence of ours in which words of a server may stand: code spans stay, all else is plain text.
///
/// Each part is made inert for itself, so a backtick inside a name changes the look and nothing else.
fn prose(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    // An odd number of backticks leaves the last one without a partner: it is text.
    let spans = (parts.len() - 1) / 2 * 2;
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at % 2 == 1 && at < spans {
            if !part.is_empty() {
                out.push_str(&code(part));
            }
        } else {
            if at == parts.len() - 1 && spans < at {
                out.push_str("&#96;");
            }
            out.push_str(&inert(part));
        }
    }
    out
}

/// A code span that nothing inside can end: HTML, with every mark as a character reference.
fn code(line: &str) -> String {
    format!("<code>{}</code>", inert(line))
}

/// Text without meaning to Markdown, HTML or the links that a forge adds to mentions, issues and addresses.
fn inert(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let next_is_word = characters.peek().is_some_and(|next| next.is_alphanumeric());
        match c {
            // Mentions and issue numbers are looked for after Markdown: a comment keeps the parts asunder.
            '@' | '#' => out.push_str(&format!("&#{};<!-- -->", u32::from(c))),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '!' | '|' | '&' | '~'
            | '^' | '$' => out.push_str(&format!("&#{};", u32::from(c))),
            // `www.…` and `scheme://…` become links; at the end of a clause neither can start one.
            '.' if next_is_word => out.push_str("&#46;"),
            ':' if characters.peek().is_some_and(|next| *next != ' ') => out.push_str("&#58;"),
            _ => out.push(c),
        }
    }
    out
}

/// A comment that never outgrows what the service takes.
struct Comment {
    out: String,
    left_out: usize,
}

impl Comment {
    /// Adds a block whole or not at all.
    fn push(&mut self, block: &str) {
        if self.left_out > 0 || self.out.len() + block.len() + RESERVE > MARKDOWN_BYTES {
            self.left_out += 1;
            return;
        }
        self.out.push_str(block);
    }

    /// A folded part; left out whole where not even its title fits.
    fn details(&mut self, title: &str, body: impl FnOnce(&mut Comment)) {
        self.push(&format!("\n<details><summary>{title}</summary>\n"));
        let opened = self.left_out == 0;
        body(self);
        if opened {
            // Room for this is part of the reserve.
            self.out.push_str("\n</details>\n");
        }
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            self.out.push_str(&format!(
                "\n**Truncated:** {} did not fit into a comment; `steadfast diff --format json` prints all.\n",
                words::plural(self.left_out, "more part")
            ));
        }
        self.out
    }
}
