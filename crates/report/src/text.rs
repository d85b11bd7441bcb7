//! For people at a terminal: the verdict first, then the gravest, in ten seconds.

use crate::escape::{clip, one_line};
use crate::fold::{Burst, Detail, Item, Shown, fold, titles};
use crate::level::standing;
use crate::limits::{CHANGES_SHOWN, KEYWORD_CHARS, WIDTH_MAX, WIDTH_MIN};
use crate::review::{Question, ReviewAnswer, ReviewEntry, ReviewRecord};
use crate::{RenderOptions, Report, words};
use anstyle::{AnsiColor, Style};
use contract::{Change, Entry, Verdict, Witness};
use unicode_width::UnicodeWidthStr;

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
/// Codes and values.
pub(crate) const WORD: Style = AnsiColor::Cyan.on_default();

/// Column of the sentences: `  SF101  `.
const INDENT: usize = 9;

fn colour_of(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Refuse => AnsiColor::Red,
        Verdict::NewApproval => AnsiColor::Magenta,
        Verdict::Undecided => AnsiColor::Yellow,
        Verdict::Adapt => AnsiColor::Blue,
        Verdict::NewName => AnsiColor::Cyan,
        Verdict::Safe => AnsiColor::Green,
    };
    colour.on_default().bold()
}

pub(crate) fn render(report: &Report) -> String {
    let mut page = Page::new(report.options);
    head(&mut page, report);
    body(&mut page, report);
    if let Some(review) = report.review {
        self::review(&mut page, review);
    }
    foot(&mut page, report);
    page.finish()
}

fn head(page: &mut Page, report: &Report) {
    let diff = report.diff;
    let word = words::verdict(diff.verdict).to_uppercase();
    let styled = format!("{}  ", page.paint(colour_of(diff.verdict), &word));
    page.hanging(&styled, word.len() + 2, words::headline(diff));
    let old = words::name_of(&report.options.old_name);
    let new = words::name_of(&report.options.new_name);
    let column = old.width().max(new.width());
    for (label, name, count) in [("old", old, diff.counts.old), ("new", new, diff.counts.new)] {
        let count = words::subjects(diff.kind, count);
        if 7 + column + 2 + count.width() > page.width {
            page.hanging(&format!("  {label}  "), 7, &format!("{name} ({count})"));
            continue;
        }
        let pad = " ".repeat(column - name.width());
        let count = page.paint(DIM, &count);
        page.line(&format!("  {label}  {name}{pad}  {count}"));
    }
}

fn body(page: &mut Page, report: &Report) {
    let folded = fold(report, Detail::page(report.options.all));
    for item in &folded.items {
        page.blank();
        match item {
            Item::Burst(burst) => self::burst(page, burst),
            Item::Subject(shown) => subject(page, shown, report.options.all),
        }
    }
    let mut rest = Vec::new();
    if folded.more > 0 {
        rest.push(format!("{} more that are not safe", folded.more));
    }
    if folded.more_safe > 0 {
        rest.push(format!("{} more that are safe", folded.more_safe));
    }
    if folded.heirs > 0 {
        rest.push(format!("{} new names told with the old ones", folded.heirs));
    }
    if !folded.cosmetic.is_empty() {
        rest.push(format!(
            "{} with new wording or notation only ({})",
            folded.cosmetic.len(),
            names(titles(&folded.cosmetic))
        ));
    }
    if !rest.is_empty() {
        page.blank();
        page.hanging("  ", 2, &format!("and {} (--all shows each)", rest.join(", ")));
    }
}

/// Names on one line, and how many more there are.
fn names((mut shown, more): (Vec<String>, usize)) -> String {
    if more > 0 {
        shown.push(format!("… {more} more"));
    }
    shown.join(", ")
}

fn burst(page: &mut Page, burst: &Burst) {
    title(page, burst.change.verdict, &burst.title());
    finding(page, burst.change, &words::line(&burst.sentence));
    page.note(&names(burst.titles()));
}

fn subject(page: &mut Page, shown: &Shown, all: bool) {
    let entry = shown.entry;
    title(page, standing(entry), &words::title(entry));
    notes(page, entry);
    let limit = if all { usize::MAX } else { CHANGES_SHOWN };
    for told in shown.changes.iter().take(limit) {
        finding(page, told.change, &words::sentence(told.change));
        if !told.likewise.is_empty() {
            let fields: Vec<String> =
                told.likewise.iter().map(|field| format!("`{}`", words::name_of(field))).collect();
            page.note(&format!("likewise {}", fields.join(", ")));
        }
    }
    let rest = shown.rest(limit);
    if !rest.is_empty() {
        page.note(&format!("and {rest}"));
    }
}

/// One subject, whole and without a title line of its own.
pub(crate) fn entry(page: &mut Page, entry: &Entry) {
    notes(page, entry);
    for change in &entry.changes {
        finding(page, change, &words::sentence(change));
    }
}

fn title(page: &mut Page, verdict: Verdict, name: &str) {
    let word = format!("{:<13}", words::verdict(verdict));
    let head = page.paint(colour_of(verdict), &word);
    page.hanging_in(BOLD, &head, word.len(), name);
}

fn notes(page: &mut Page, entry: &Entry) {
    if let Some(reasons) = words::heir_reasons(entry) {
        page.note(&reasons);
    }
    if let Some(note) = words::entry_note(entry) {
        page.note(note);
    }
}

fn finding(page: &mut Page, change: &Change, sentence: &str) {
    let code = page.paint(WORD, change.rule);
    let pad = " ".repeat(INDENT.saturating_sub(2 + change.rule.width()).max(1));
    page.hanging(&format!("  {code}{pad}"), INDENT, sentence);
    if let Some(witness) = &change.witness {
        self::witness(page, witness);
    }
    if let Some(reached) = words::decisions(change) {
        page.note(&reached);
    }
    if let Some(reason) = &change.suppressed {
        page.note(&format!("suppressed: {}", words::line(reason)));
    }
}

/// `e.g. {"name":"a"}  old accepts, new rejects (required)`, the value cut to fit one line.
fn witness(page: &mut Page, witness: &Witness) {
    let (accepts, rejects) = words::sides(witness.accepted_by);
    let keyword = if witness.keyword.is_empty() {
        String::new()
    } else {
        format!(" ({})", words::name_of(&clip(&witness.keyword, KEYWORD_CHARS)))
    };
    let says = format!("{accepts} accepts, {rejects} rejects{keyword}");
    let start = INDENT + "e.g. ".len();
    let value = one_line(&witness.value, page.width - start);
    let used = start + value.width() + 2 + says.width();
    let line =
        format!("{}{}{}", " ".repeat(INDENT), page.paint(DIM, "e.g. "), page.paint(WORD, &value));
    if used <= page.width {
        let line = format!("{line}  {}", page.paint(DIM, &says));
        page.line(&line);
    } else {
        page.line(&line);
        page.note(&says);
    }
}

fn foot(page: &mut Page, report: &Report) {
    page.blank();
    page.hanging("", 0, &words::summary(report.diff));
    if let Some(rule) = words::first_rule(report.diff) {
        page.hanging("", 0, &format!("Why it matters and what to do: steadfast explain {rule}"));
    }
}

/// The review record, for people.
pub(crate) fn review(page: &mut Page, record: &ReviewRecord) {
    page.blank();
    let title = page.paint(BOLD, "Review record");
    page.line(&title);
    if record.entries.is_empty() {
        page.line("  nothing to review: no subject changed");
        return;
    }
    for entry in &record.entries {
        review_entry(page, entry);
    }
}

/// The record of one subject.
pub(crate) fn review_entry(page: &mut Page, entry: &ReviewEntry) {
    page.blank();
    let name = page.paint(BOLD, &words::name(&entry.subject));
    page.line(&format!("  {name}"));
    let assumptions = if entry.assumptions.is_empty() {
        vec!["none that is known".to_owned()]
    } else {
        entry.assumptions.iter().map(|text| words::line(text)).collect()
    };
    for (at, text) in assumptions.iter().enumerate() {
        page.labelled(if at == 0 { "what changes" } else { "" }, text);
    }
    page.labelled("before", &words::line(&entry.old_behaviour));
    page.labelled("both live", &asked(entry.window.as_deref(), "for how long?"));
    page.labelled(
        "shown by",
        &asked(entry.fixture.as_deref(), "which fixture shows the new behaviour?"),
    );
    for question in Question::ALL {
        let answer = entry.answer(question);
        let word = match answer {
            ReviewAnswer::NotChecked { .. } => "?",
            ReviewAnswer::NotApplicable { .. } => "–",
            ReviewAnswer::Yes { .. } | ReviewAnswer::No { .. } | ReviewAnswer::Undecided { .. } => {
                answer.word()
            }
        };
        let pad = " ".repeat(10usize.saturating_sub(word.width()));
        page.hanging(&format!("    {word}{pad}"), 14, question.text());
        page.hanging(&" ".repeat(14), 14, &words::line(&answer.basis()));
    }
    for fault in &entry.faults {
        page.labelled("FAULT", &words::line(fault));
    }
    if let Some(path) = &entry.kept {
        page.labelled("kept in", &words::line(path));
    }
}

/// What is known, or the question that is put to the reviewer.
pub(crate) fn asked(known: Option<&str>, question: &str) -> String {
    known.map_or_else(|| format!("ASKED FOR: {question}"), words::line)
}

/// A page being written: knows the width and whether to colour.
pub(crate) struct Page {
    out: String,
    pub(crate) width: usize,
    colour: bool,
}

impl Page {
    pub(crate) fn new(options: &RenderOptions) -> Self {
        Page {
            out: String::new(),
            width: options.width.clamp(WIDTH_MIN, WIDTH_MAX),
            colour: options.colour,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        if self.colour && style != Style::new() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// A remark under a finding.
    fn note(&mut self, text: &str) {
        let pad = " ".repeat(INDENT);
        for line in wrap(text, self.width - INDENT) {
            let line = format!("{pad}{}", self.paint(DIM, &line));
            self.line(&line);
        }
    }

    /// `    label           text`, wrapped.
    fn labelled(&mut self, label: &str, text: &str) {
        self.hanging(&format!("    {label:<16}"), 20, text);
    }

    /// A head and a text that hangs beside it: `columns` is the width of the head as it is seen.
    pub(crate) fn hanging(&mut self, head: &str, columns: usize, text: &str) {
        self.hanging_in(Style::new(), head, columns, text);
    }

    /// The same, the text in a style.
    fn hanging_in(&mut self, style: Style, head: &str, columns: usize, text: &str) {
        let room = self.width.saturating_sub(columns).max(WIDTH_MIN / 2);
        let pad = " ".repeat(columns);
        for (at, line) in wrap(text, room).into_iter().enumerate() {
            let start = if at == 0 { head } else { &pad };
            let line = self.paint(style, &line);
            self.line(&format!("{start}{line}"));
        }
    }
}

/// Breaks at spaces; a word longer than the line is cut. At least one line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        let last = lines.last_mut().expect("there is always a line");
        let gap = usize::from(!last.is_empty());
        if last.width() + gap + word.width() <= width {
            if gap == 1 {
                last.push(' ');
            }
            last.push_str(word);
            continue;
        }
        if !last.is_empty() {
            lines.push(String::new());
        }
        while word.width() > width {
            let (head, tail) = word.split_at(cut(word, width));
            lines.last_mut().expect("there is always a line").push_str(head);
            lines.push(String::new());
            word = tail;
        }
        lines.last_mut().expect("there is always a line").push_str(word);
    }
    lines
}

/// Where an overlong word is cut: within the width, after at least one character, and never so that
/// a line starts with a colon, which a CI runner could take for a command.
fn cut(word: &str, width: usize) -> usize {
    let mut best = word.chars().next().map_or(0, char::len_utf8);
    for (at, _) in word.char_indices().skip(1) {
        if word[..at].width() > width {
            break;
        }
        if !word[at..].starts_with(':') {
            best = at;
        }
    }
    best
}
