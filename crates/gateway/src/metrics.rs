//! What is counted while the gateway runs, for machines that watch. No argument of a call is ever among it.

use crate::limits;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use store::{OutcomeState, Verdict};

/// Counts since the gateway began.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// By server, verdict and code.
    decisions: BTreeMap<[String; 3], u64>,
    /// By server.
    adapted: BTreeMap<[String; 1], u64>,
    /// By server.
    shapes: BTreeMap<[String; 1], u64>,
    /// By server and outcome.
    outcomes: BTreeMap<[String; 2], u64>,
}

/// Counts one more. The keys are names of servers and words of this program: there are few.
fn more<const N: usize>(counts: &mut BTreeMap<[String; N], u64>, key: [&str; N]) {
    if counts.len() < limits::METRIC_LINES {
        *counts.entry(key.map(str::to_owned)).or_default() += 1;
    }
}

impl Metrics {
    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call was decided.
    pub fn decided(&self, server: &str, verdict: &Verdict) {
        let code = match verdict {
            Verdict::Refused { code } => code.as_str(),
            Verdict::Admitted | Verdict::Held => "",
        };
        more(&mut self.lock().decisions, [server, verdict.as_str(), code]);
    }

    /// A call was adapted.
    pub fn adapted(&self, server: &str) {
        more(&mut self.lock().adapted, [server]);
    }

    /// An answer was not what each one before it was.
    pub fn shape_moved(&self, server: &str) {
        more(&mut self.lock().shapes, [server]);
    }

    /// An attempt came to an end.
    pub fn outcome(&self, server: &str, state: OutcomeState) {
        more(&mut self.lock().outcomes, [server, state.as_str()]);
    }

    /// The counts as text.
    pub fn write(&self, page: &mut Page) {
        let counts = self.lock();
        page.counter("steadfast_decisions_total", "Calls decided, by verdict and code.");
        for ([server, verdict, code], n) in &counts.decisions {
            page.line(&[("server", server), ("verdict", verdict), ("code", code)], *n);
        }
        page.counter(
            "steadfast_adapted_total",
            "Calls carried over by an adapter or a pinned default.",
        );
        for ([server], n) in &counts.adapted {
            page.line(&[("server", server)], *n);
        }
        page.counter(
            "steadfast_shapes_moved_total",
            "Answers without a schema that were not what each one before them was.",
        );
        for ([server], n) in &counts.shapes {
            page.line(&[("server", server)], *n);
        }
        page.counter("steadfast_outcomes_total", "Attempts, by what came of them.");
        for ([server, state], n) in &counts.outcomes {
            page.line(&[("server", server), ("outcome", state)], *n);
        }
    }
}

/// A page of metrics in the text format of Prometheus.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    name: &'static str,
    lines: usize,
    left_out: u64,
}

impl Page {
    /// Begins a metric that only grows.
    pub fn counter(&mut self, name: &'static str, help: &str) {
        self.metric(name, help, "counter");
    }

    /// Begins a metric that goes up and down.
    pub fn gauge(&mut self, name: &'static str, help: &str) {
        self.metric(name, help, "gauge");
    }

    fn metric(&mut self, name: &'static str, help: &str, kind: &str) {
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        (self.name, self.lines) = (name, 0);
    }

    /// One line of the metric begun last.
    pub fn line(&mut self, labels: &[(&str, &str)], value: u64) {
        if self.lines >= limits::METRIC_LINES {
            self.left_out += 1;
            return;
        }
        self.lines += 1;
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label(value))).collect();
        let _ = writeln!(self.text, "{}{{{}}} {value}", self.name, labels.join(","));
    }

    /// The whole page.
    pub fn finish(mut self) -> String {
        let left_out = self.left_out;
        self.gauge("steadfast_lines_left_out", "Lines that this page had no room for.");
        let _ = writeln!(self.text, "steadfast_lines_left_out {left_out}");
        self.text
    }
}

/// The value of a label: bounded, on one line, and unable to end it.
fn label(value: &str) -> String {
    let mut out = String::new();
    for character in value.chars().take(limits::LABEL) {
        match character {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_end_their_line_and_pages_have_an_end() {
        let mut page = Page::default();
        page.counter("steadfast_x_total", "X.");
        page.line(&[("tool", "a\"} 1\nb\\")], 7);
        for _ in 0..limits::METRIC_LINES + 4 {
            page.line(&[("tool", &"x".repeat(limits::LABEL * 2))], 1);
        }
        let text = page.finish();
        assert!(text.contains("steadfast_x_total{tool=\"a\\\"} 1\\nb\\\\\"} 7\n"), "{text}");
        assert!(text.ends_with("steadfast_lines_left_out 5\n"), "{}", &text[text.len() - 80..]);
        assert!(text.lines().all(|line| line.len() < limits::LABEL * 2));
    }
}
