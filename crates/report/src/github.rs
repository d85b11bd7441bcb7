//! Annotations of a GitHub workflow: commands on standard output that the runner turns into remarks.

use crate::escape::{clip, one_line, visible};
use crate::fold::{Detail, Item, fold};
use crate::level::{Level, is_finding};
use crate::limits::{ANNOTATION_TITLE_CHARS, ANNOTATIONS_PER_LEVEL, NAMES_SHOWN, VALUE_CHARS};
use crate::locate::Places;
use crate::{RenderOptions, Report, text, words};
use contract::{Change, Subject};

struct Annotation {
    level: Level,
    line: Option<usize>,
    /// Whom it is about: a name, or a number of subjects.
    whom: String,
    title: String,
    message: String,
}

/// One command for each finding, the caps of the service kept; then the review record and a summary
/// as plain lines of the log.
pub(crate) fn render(report: &Report) -> String {
    let annotations = annotations(report);
    let mut out = String::new();
    for level in [Level::Error, Level::Warning, Level::Notice] {
        let mine: Vec<&Annotation> = annotations.iter().filter(|a| a.level == level).collect();
        // The last place goes to the sum of the rest, so that nothing is dropped without a word.
        let shown =
            if mine.len() > ANNOTATIONS_PER_LEVEL { ANNOTATIONS_PER_LEVEL - 1 } else { mine.len() };
        for annotation in &mine[..shown] {
            command(&mut out, report.options, annotation);
        }
        if mine.len() > shown {
            command(&mut out, report.options, &sum_of(level, &mine[shown..]));
        }
    }
    if let Some(review) = report.review {
        out.push_str("::group::Review record\n");
        let mut page = text::Page::new(&RenderOptions { colour: false, ..report.options.clone() });
        text::review(&mut page, review);
        out.push_str(&page.finish());
        out.push_str("::endgroup::\n");
    }
    out.push_str(&format!(
        "steadfast: {}: {}. {}\n",
        words::verdict(report.diff.verdict),
        words::headline(report.diff),
        words::summary(report.diff)
    ));
    out
}

fn annotations(report: &Report) -> Vec<Annotation> {
    let places = Places::of(report.options);
    let detail = if report.options.all { Detail::All } else { Detail::Folded };
    let mut out = Vec::new();
    let mut add = |change: &Change, whom: String, sentence: &str, subject: &Subject| {
        if change.suppressed.is_some() || !is_finding(change) {
            return;
        }
        let line = places.line(subject, &change.path);
        out.push(annotation(report, change, whom, sentence, line));
    };
    for item in fold(report, detail).items {
        match item {
            Item::Burst(burst) => {
                let sentence = words::line(&burst.sentence);
                add(burst.change, burst.title(), &sentence, &burst.entries[0].subject);
            }
            Item::Subject(shown) => {
                for told in shown.changes {
                    let mut sentence = words::sentence(told.change);
                    if !told.likewise.is_empty() {
                        let fields: Vec<String> =
                            told.likewise.iter().map(|field| words::name_of(field)).collect();
                        sentence.push_str(&format!("\nlikewise {}", fields.join(", ")));
                    }
                    let subject = &shown.entry.subject;
                    add(told.change, words::title(shown.entry), &sentence, subject);
                }
            }
        }
    }
    out
}

fn annotation(
    report: &Report,
    change: &Change,
    whom: String,
    sentence: &str,
    line: Option<usize>,
) -> Annotation {
    let mut message = sentence.to_owned();
    if let Some(witness) = &change.witness {
        let (accepts, rejects) = words::sides(witness.accepted_by);
        message.push_str(&format!(
            "\ne.g. {}: {accepts} accepts, {rejects} rejects",
            one_line(&witness.value, VALUE_CHARS)
        ));
    }
    message.push_str(&format!("\nsteadfast explain {}", change.rule));
    let name = report.rule(change.rule).map_or("", |rule| rule.name);
    let rule = format!("{} {name}", change.rule);
    let title = format!("{}: {whom} ({})", words::verdict(change.verdict), rule.trim_end());
    Annotation {
        level: Level::of(change.verdict, report.options.fail_on),
        line,
        whom,
        title,
        message,
    }
}

fn sum_of(level: Level, rest: &[&Annotation]) -> Annotation {
    let mut names: Vec<&str> = rest.iter().map(|a| a.whom.as_str()).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMES_SHOWN);
    let mut list = names[..names.len() - more].join(", ");
    if more > 0 {
        list.push_str(&format!(", … {more} more"));
    }
    Annotation {
        level,
        line: None,
        whom: String::new(),
        title: format!("{} of the same level", words::plural(rest.len(), "more finding")),
        message: format!("{list}\nsteadfast diff prints all of them"),
    }
}

fn command(out: &mut String, options: &RenderOptions, annotation: &Annotation) {
    let level = match annotation.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Notice => "notice",
    };
    let mut properties = Vec::new();
    if let Some(file) = &options.file {
        properties.push(format!("file={}", property(&visible(file))));
        if let Some(line) = annotation.line {
            properties.push(format!("line={line}"));
        }
    }
    let title = clip(&annotation.title, ANNOTATION_TITLE_CHARS);
    properties.push(format!("title={}", property(&title)));
    out.push_str(&format!("::{level} {}::{}\n", properties.join(","), data(&annotation.message)));
}

/// The message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
