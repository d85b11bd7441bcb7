//! A TOML document as located values: every wrong or unknown member is a problem with a place.

use crate::document::Problem;
use crate::limits;
use crate::text::quoted;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads one file and gathers its problems.
pub(crate) struct Reader<'a> {
    name: &'a str,
    text: &'a str,
    problems: Vec<(usize, Problem)>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str) -> Reader<'a> {
        Reader { name, text, problems: Vec::new() }
    }

    /// Parses the text; what cannot be parsed is reported and the rest is read.
    pub(crate) fn parse(&mut self) -> Spanned<DeTable<'a>> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        for error in errors {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            self.problem(
                error.span().unwrap_or(0..0),
                format!("This is not TOML: {}.", message.trim_end_matches('.')),
                "Repair it here.",
            );
        }
        table
    }

    /// All problems, in the order of the file.
    pub(crate) fn finish(mut self) -> Result<(), Vec<Problem>> {
        if self.problems.is_empty() {
            return Ok(());
        }
        self.problems.sort_by_key(|(at, _)| *at);
        self.problems.truncate(limits::PROBLEMS);
        Err(self.problems.into_iter().map(|(_, problem)| problem).collect())
    }

    pub(crate) fn problem(&mut self, span: Range<usize>, sentence: String, help: &str) {
        let place = self.place(&span);
        self.problems.push((span.start, Problem { place, sentence, help: help.to_owned() }));
    }

    pub(crate) fn place(&self, span: &Range<usize>) -> String {
        crate::text::place(self.name, self.text, span.start)
    }

    /// Reports the members of a table that are not known.
    pub(crate) fn only(&mut self, table: &DeTable<'_>, what: &str, known: &[&str]) {
        for key in table.keys() {
            if !known.contains(&key.get_ref().as_ref()) {
                let near = nearest(key.get_ref(), known)
                    .map(|word| format!(" Did you mean {word}?"))
                    .unwrap_or_default();
                self.problem(
                    key.span(),
                    format!("{} is not known in {what}.{near}", quoted(key.get_ref())),
                    &format!("Known are: {}.", known.join(", ")),
                );
            }
        }
    }

    /// A member that is a table.
    pub(crate) fn table<'t, 'd>(
        &mut self,
        parent: &'t DeTable<'d>,
        key: &str,
    ) -> Option<&'t DeTable<'d>> {
        let value = parent.get(key)?;
        let found = value.get_ref().as_table();
        if found.is_none() {
            self.wrong(value, key, &format!("a table: [{key}]"));
        }
        found
    }

    /// A member that is an array of tables.
    pub(crate) fn tables<'t, 'd>(
        &mut self,
        parent: &'t DeTable<'d>,
        key: &str,
    ) -> Vec<(Range<usize>, &'t DeTable<'d>)> {
        let Some(value) = parent.get(key) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(value, key, &format!("a list of tables: [[{key}]]"));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_table() {
                Some(table) => tables.push((item.span(), table)),
                None => self.wrong(item, key, "a list of tables only"),
            }
        }
        tables
    }

    /// A member that is text, and not blank.
    pub(crate) fn text(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
    ) -> Option<(Range<usize>, String)> {
        let value = table.get(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.trim().is_empty() => Some((value.span(), text.trim().to_owned())),
            Some(_) => {
                self.problem(
                    value.span(),
                    format!("{key} is blank."),
                    "Write what is meant, or leave it out.",
                );
                None
            }
            None => {
                self.wrong(value, key, "text in quotes");
                None
            }
        }
    }

    /// A member that must be there and be text.
    pub(crate) fn needed(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        of: &Range<usize>,
        why: &str,
    ) -> Option<(Range<usize>, String)> {
        if table.get(key).is_none() {
            self.problem(of.clone(), format!("{key} is missing here."), why);
        }
        self.text(table, key)
    }

    /// A member that is one of a few words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let (span, text) = self.text(table, key)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let near = nearest(&text, &known)
                .map(|word| format!(" Did you mean {word}?"))
                .unwrap_or_default();
            self.problem(
                span,
                format!("{} is no value of {key}.{near}", quoted(&text)),
                &format!("Known are: {}.", known.join(", ")),
            );
        }
        found.map(|(_, value)| *value)
    }

    /// A member that is true or false.
    pub(crate) fn flag(&mut self, table: &DeTable<'_>, key: &str) -> Option<(Range<usize>, bool)> {
        let value = table.get(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong(value, key, "true or false");
        }
        flag.map(|flag| (value.span(), flag))
    }

    /// A member that is a time: a number with s, m or h in quotes.
    pub(crate) fn duration(&mut self, table: &DeTable<'_>, key: &str) -> Option<Duration> {
        let (span, text) = self.text(table, key)?;
        let read = || {
            let unit = text.chars().last()?;
            let factor = match unit {
                's' => 1,
                'm' => 60,
                'h' => 60 * 60,
                _ => return None,
            };
            let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            let seconds = number.checked_mul(factor)?;
            (seconds <= limits::LONGEST).then(|| Duration::from_secs(seconds))
        };
        let found = read();
        if found.is_none() {
            self.problem(
                span,
                format!("{} is no time here.", quoted(&text)),
                "Write a whole number of seconds, minutes or hours, such as \"30s\", \"10m\" or \"24h\"; a week at most.",
            );
        }
        found
    }

    /// A member that is a list of texts.
    pub(crate) fn words(&mut self, table: &DeTable<'_>, key: &str) -> Vec<String> {
        self.located_words(table, key).into_iter().map(|(_, word)| word).collect()
    }

    /// The same, each with its place.
    pub(crate) fn located_words(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
    ) -> Vec<(Range<usize>, String)> {
        let Some(value) = table.get(key) else {
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(value, key, "a list of texts: [\"one\", \"two\"]");
            return Vec::new();
        };
        let mut words = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(word) => words.push((item.span(), word.to_owned())),
                None => self.wrong(item, key, "a list of texts only"),
            }
        }
        words
    }

    pub(crate) fn wrong(&mut self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        self.problem(
            value.span(),
            format!("{key} is {} here.", value.get_ref().type_str()),
            &format!("It must be {wanted}."),
        );
    }
}

/// The known word that differs least, where it differs little.
fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters must be put in, taken out or exchanged.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in two.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[two.len()]
}
