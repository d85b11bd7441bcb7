//! What came of tests: suites of cases, and their text, JSON, JUnit and Markdown. Pure: no time, no chance.
//!
//! Times are the shell's to tell, on the terminal: same results, same bytes.

mod json;
mod junit;
mod markdown;
mod text;

/// The cases of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suite {
    /// The path of the file, as it was named.
    pub name: String,
    /// In the order of the file.
    pub cases: Vec<Case>,
}

/// What came of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its name, by which `--only` finds it.
    pub name: String,
    /// Where it is written: `file:line:column`, or the file.
    pub place: String,
    /// What was found. Read it with [`Case::verdict`], which knows an empty pass.
    pub found: Verdict,
    /// What that means, in the language of operations: one sentence.
    pub sentence: String,
    /// What shows it, the most telling first.
    pub evidence: Vec<Evidence>,
    /// How many steps were carried out.
    pub steps: usize,
    /// How many expectations were held against what happened.
    pub checks: usize,
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it is: `expected`, `answered`, `reached`.
    pub title: String,
    /// As it was seen; lines are kept.
    pub text: String,
}

impl Evidence {
    /// One thing that was seen.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Evidence {
        Evidence { title: title.into(), text: text.into() }
    }
}

/// What came of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Everything was as it must be.
    Passed,
    /// It stopped on a change that nothing depends on: too careful, and a fault of its own kind.
    OverStrict,
    /// Nothing is refuted, but it could not be told.
    Undecided,
    /// What was to be tested was never reached.
    NotReached,
    /// It could not be run at all.
    NotRun,
    /// It passed without a step or without an expectation: nothing was shown.
    Empty,
    /// Something was not as it must be.
    Failed,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::OverStrict => "over-strict",
            Verdict::Undecided => "undecided",
            Verdict::NotReached => "not-reached",
            Verdict::NotRun => "not-run",
            Verdict::Empty => "empty",
            Verdict::Failed => "failed",
        }
    }

    /// Whether a release may go on with it.
    pub fn passes(self) -> bool {
        self == Verdict::Passed
    }
}

impl Case {
    /// What came of it. A pass without a step or an expectation is none.
    pub fn verdict(&self) -> Verdict {
        match self.found {
            Verdict::Passed if self.steps == 0 || self.checks == 0 => Verdict::Empty,
            found => found,
        }
    }

    /// The sentence to be read, which tells of an empty pass.
    pub fn told(&self) -> &str {
        match (self.verdict(), self.steps) {
            (Verdict::Empty, 0) => "nothing was carried out, so nothing was shown",
            (Verdict::Empty, _) => "nothing was expected, so nothing was shown",
            _ => &self.sentence,
        }
    }
}

/// What all suites together mean for the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Every case passed, and there was one.
    Clear,
    /// None is refuted, and some could not be told.
    Undecided,
    /// At least one did not pass.
    Failed,
}

/// What all suites together mean.
pub fn standing(suites: &[Suite]) -> Standing {
    let verdicts = || suites.iter().flat_map(|suite| &suite.cases).map(Case::verdict);
    if verdicts().next().is_none() {
        return Standing::Failed;
    }
    if verdicts().any(|v| !matches!(v, Verdict::Passed | Verdict::Undecided)) {
        return Standing::Failed;
    }
    if verdicts().any(|v| v == Verdict::Undecided) { Standing::Undecided } else { Standing::Clear }
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    Text,
    /// For programs.
    Json,
    /// JUnit XML, for test reports.
    Junit,
    /// For a comment on a change.
    Markdown,
}

/// What the caller decides about a report.
#[derive(Debug, Clone, Default)]
pub struct Look {
    /// Colour in text.
    pub colour: bool,
    /// The command that runs one case again, with `{name}` and `{file}` for what is its own; empty where there is none.
    pub again: String,
    /// Also show what passing cases saw.
    pub all: bool,
}

impl Look {
    /// The command that runs this case again.
    fn command(&self, suite: &Suite, case: &Case) -> Option<String> {
        if self.again.is_empty() {
            return None;
        }
        Some(
            self.again
                .replace("{file}", &quoted(&suite.name))
                .replace("{name}", &quoted(&case.name)),
        )
    }
}

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Writes the results.
pub fn render(suites: &[Suite], format: Format, look: &Look) -> String {
    match format {
        Format::Text => text::render(suites, look),
        Format::Json => json::render(suites, look),
        Format::Junit => junit::render(suites, look),
        Format::Markdown => markdown::render(suites, look),
    }
}

/// How many cases came to which verdict, in words: `11 passed, 1 failed`.
fn counted(suites: &[Suite]) -> String {
    const ORDER: [Verdict; 7] = [
        Verdict::Passed,
        Verdict::Failed,
        Verdict::OverStrict,
        Verdict::Empty,
        Verdict::NotReached,
        Verdict::NotRun,
        Verdict::Undecided,
    ];
    let count = |verdict| {
        suites.iter().flat_map(|s| &s.cases).filter(|case| case.verdict() == verdict).count()
    };
    let parts: Vec<String> = ORDER
        .iter()
        .filter(|verdict| count(**verdict) > 0)
        .map(|verdict| format!("{} {}", count(*verdict), verdict.word().replace('-', " ")))
        .collect();
    if parts.is_empty() { "no test was found".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(found: Verdict, steps: usize, checks: usize) -> Case {
        Case {
            name: "owner gone".into(),
            place: "a.yaml:3:1".into(),
            found,
            sentence: "owner missing: two projects would have been archived".into(),
            evidence: vec![Evidence::new("reached", "POST /archive {\"id\":\"p-1\"}\u{1b}[2J")],
            steps,
            checks,
        }
    }

    fn suites(cases: Vec<Case>) -> Vec<Suite> {
        vec![Suite { name: "a.yaml".into(), cases }]
    }

    #[test]
    fn a_pass_that_showed_nothing_is_a_failure() {
        assert_eq!(case(Verdict::Passed, 0, 3).verdict(), Verdict::Empty);
        assert_eq!(case(Verdict::Passed, 3, 0).verdict(), Verdict::Empty);
        assert_eq!(standing(&suites(vec![case(Verdict::Passed, 3, 0)])), Standing::Failed);
        assert_eq!(standing(&[]), Standing::Failed);
        let both = vec![case(Verdict::Passed, 1, 1), case(Verdict::Undecided, 1, 1)];
        assert_eq!(standing(&suites(both)), Standing::Undecided);
    }

    #[test]
    fn every_format_tells_the_sentence_and_how_to_run_it_again() {
        let look = Look { again: "steadfast test {file} --only {name}".into(), ..Look::default() };
        let suites = suites(vec![case(Verdict::Failed, 1, 1), case(Verdict::Passed, 1, 1)]);
        for format in [Format::Text, Format::Json, Format::Junit, Format::Markdown] {
            let out = render(&suites, format, &look);
            assert!(out.contains("owner missing: two projects"), "{out}");
            // JUnit spells quotes as entities.
            let out = out.replace("&apos;", "'");
            assert!(out.contains("steadfast test a.yaml --only 'owner gone'"), "{out}");
            assert!(!out.contains('\u{1b}'), "{out}");
        }
    }
}
