//! `steadfast.toml`: what a project says about its contract.

use super::calls;
use super::live::{self, Gateway, Server};
use super::read::Reader;
use super::{Day, Level, Policy, Suppression};
use crate::document::Problem;
use crate::lexicon::Lexicon;
use crate::rules;
use crate::text::quoted;
use crate::verdict::Verdict;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Everything that `steadfast.toml` can say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// Levels, thresholds and suppressions.
    pub policy: Policy,
    /// Words of this project.
    pub lexicon: Lexicon,
    /// Declared renames of tools: old name to new name.
    pub renames: BTreeMap<String, String>,
    /// Path of the decision map, from the folder of the file.
    pub decision_map: Option<String>,
    /// What a review record cannot find out by itself.
    pub reviews: Vec<ReviewNote>,
    /// Where a gateway listens, and whom it lets in.
    pub gateway: Gateway,
    /// The servers that it guards.
    pub servers: Vec<Server>,
}

/// What people know about a change: how long both live, and what shows the new behaviour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewNote {
    /// A tool or operation, by name; `*` is every one.
    pub subject: String,
    /// How long old and new live side by side, in words.
    pub window: Option<String>,
    /// The fixture or scenario that shows the new behaviour.
    pub fixture: Option<String>,
}

impl Settings {
    /// Reads the text of a `steadfast.toml`; `name` is only quoted in problems.
    ///
    /// # Errors
    /// All problems at once, each at `name:line:column`: no TOML, unknown members and words,
    /// rules that do not exist, a rule switched off or a finding suppressed without a reason,
    /// dates that are no dates, and two suppressions of one finding.
    ///
    /// ```
    /// use contract::policy::Settings;
    /// let settings = Settings::read("steadfast.toml", "[policy]\nfail-on = \"refuse\"").unwrap();
    /// assert_eq!(settings.policy.fail_on, Some(contract::Verdict::Refuse));
    /// let problems = Settings::read("steadfast.toml", "[policy]\nfail_on = \"refuse\"").unwrap_err();
    /// assert_eq!(problems[0].place, "steadfast.toml:2:1");
    /// ```
    pub fn read(name: &str, text: &str) -> Result<Settings, Vec<Problem>> {
        let (settings, problems) = Settings::read_what_can_be(name, text);
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// The same, with what could be read beside the problems: so that the files and variables that the text names can be
    /// looked at in the same round. Where there are problems, nothing may be run by these settings.
    pub fn read_what_can_be(name: &str, text: &str) -> (Settings, Vec<Problem>) {
        let mut reader = Reader::new(name, text);
        let whole = reader.parse();
        let table = whole.get_ref();
        reader.only(table, "this file", MEMBERS);
        let mut settings = Settings::default();
        if let Some(policy) = reader.table(table, "policy") {
            read_policy(&mut reader, policy, &mut settings.policy);
        }
        if let Some(levels) = reader.table(table, "rules") {
            settings.policy.levels = read_levels(&mut reader, levels);
        }
        settings.policy.suppressions = read_suppressions(&mut reader, table);
        if let Some(lexicon) = reader.table(table, "lexicon") {
            reader.only(lexicon, "[lexicon]", &["authority", "guard", "neutral"]);
            settings.lexicon = Lexicon {
                authority: reader.words(lexicon, "authority"),
                guard: reader.words(lexicon, "guard"),
                neutral: reader.words(lexicon, "neutral"),
            };
        }
        if let Some(renames) = reader.table(table, "renames") {
            for old in renames.keys() {
                if let Some((span, new)) = reader.text(renames, old.get_ref()) {
                    if *old.get_ref() == new {
                        reader.problem(
                            span,
                            "A tool is renamed to itself here.".to_owned(),
                            "Write old = \"new\".",
                        );
                    } else {
                        settings.renames.insert(old.get_ref().to_string(), new);
                    }
                }
            }
        }
        if let Some(gateway) = reader.table(table, "gateway") {
            settings.gateway = live::read_gateway(&mut reader, gateway);
        }
        let none = DeTable::new();
        let servers = reader.table(table, "server").unwrap_or(&none);
        let bindings = table.get("bindings").map(toml::Spanned::span);
        settings.servers = live::read_servers(&mut reader, servers, bindings);
        settings.decision_map = reader.text(table, "decision-map").map(|(_, path)| path);
        for (span, note) in reader.tables(table, "review") {
            reader.only(note, "[[review]]", &["subject", "window", "fixture"]);
            let subject = reader.needed(
                note,
                "subject",
                &span,
                "Name the tool or operation, or \"*\" for every one.",
            );
            let window = reader.text(note, "window").map(|(_, text)| text);
            let fixture = reader.text(note, "fixture").map(|(_, text)| text);
            if let Some((_, subject)) = subject {
                settings.reviews.push(ReviewNote { subject, window, fixture });
            }
        }
        (settings, reader.finish().err().unwrap_or_default())
    }
}

/// The members of the file. What stands under `bindings` is read by whoever serves it.
pub const MEMBERS: &[&str] = &[
    "policy", "rules", "lexicon", "renames", "decision-map", "suppress", "review", "gateway",
    "server", "bindings",
];

fn read_policy(reader: &mut Reader<'_>, table: &DeTable<'_>, policy: &mut Policy) {
    reader.only(table, "[policy]", &["fail-on", "undecided", "wider-authority", "calls"]);
    let levels = [
        ("never", None),
        ("new-name", Some(Verdict::NewName)),
        ("adapt", Some(Verdict::Adapt)),
        ("new-approval", Some(Verdict::NewApproval)),
        ("refuse", Some(Verdict::Refuse)),
    ];
    if let Some(level) = reader.word(table, "fail-on", &levels) {
        policy.fail_on = level;
    }
    let fails = [("fail", true), ("warn", false)];
    if let Some(choice) = reader.word(table, "undecided", &fails) {
        policy.undecided_fails = choice;
    }
    if let Some(choice) = reader.word(table, "wider-authority", &fails) {
        policy.wider_fails = choice;
    }
    policy.calls = calls::read(reader, table);
}

fn read_levels(reader: &mut Reader<'_>, table: &DeTable<'_>) -> BTreeMap<String, Level> {
    let known = rules::all();
    let mut levels = BTreeMap::new();
    for (key, value) in table.iter() {
        let code = key.get_ref().as_ref();
        if !known.iter().any(|rule| rule.code == code) {
            reader.problem(
                key.span(),
                format!("There is no rule {}.", quoted(code)),
                "steadfast rules lists all rules; write the code, such as SF101.",
            );
            continue;
        }
        let (word, reason) = match value.get_ref() {
            DeValue::String(word) => (Some((value.span(), word.to_string())), None),
            DeValue::Table(inner) => {
                reader.only(inner, "the level of a rule", &["level", "reason"]);
                let word =
                    reader.needed(inner, "level", &value.span(), "Write { level = \"warn\" }.");
                (word, reader.text(inner, "reason").map(|(_, text)| text))
            }
            _ => {
                reader.wrong(
                    value,
                    code,
                    "\"note\", \"warn\" or \"fail\", or { level = \"off\", reason = \"…\" }",
                );
                continue;
            }
        };
        let Some((span, word)) = word else { continue };
        let level = match (word.as_str(), reason) {
            ("off", Some(reason)) => Level::Off(reason),
            ("off", None) => {
                reader.problem(
                    span,
                    format!("{code} is switched off without a reason."),
                    "Write { level = \"off\", reason = \"…\" }: whoever reads this later has to know why.",
                );
                continue;
            }
            ("note", _) => Level::Note,
            ("warn", _) => Level::Warn,
            ("fail", _) => Level::Fail,
            _ => {
                reader.problem(
                    span,
                    format!("{} is no level.", quoted(&word)),
                    "Known are: off, note, warn, fail.",
                );
                continue;
            }
        };
        levels.insert(code.to_owned(), level);
    }
    levels
}

fn read_suppressions(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<Suppression> {
    let mut suppressions: Vec<Suppression> = Vec::new();
    for (span, item) in reader.tables(table, "suppress") {
        reader.only(item, "[[suppress]]", &["finding", "reason", "until"]);
        let finding = reader.needed(
            item,
            "finding",
            &span,
            "Copy the fingerprint of the finding; every report shows it.",
        );
        let reason =
            reader.needed(item, "reason", &span, "Whoever reads this later has to know why.");
        let until = read_day(reader, item, &span);
        let (Some((at, finding)), Some((_, reason)), Some(until)) = (finding, reason, until) else {
            continue;
        };
        if let Some(first) = suppressions.iter().find(|known| known.finding == finding) {
            let sentence = format!(
                "The finding {} is suppressed twice; first at {}.",
                quoted(&finding),
                first.place
            );
            reader.problem(at, sentence, "Keep one of the two.");
            continue;
        }
        let place = reader.place(&at);
        suppressions.push(Suppression { finding, reason, until, place });
    }
    suppressions
}

fn read_day(reader: &mut Reader<'_>, item: &DeTable<'_>, span: &Range<usize>) -> Option<Day> {
    const HOW: &str = "Write a date without quotes: until = 2027-01-31.";
    let Some(value) = item.get("until") else {
        reader.problem(
            span.clone(),
            "until is missing here.".to_owned(),
            "A suppression has an end. Write a date: until = 2027-01-31.",
        );
        return None;
    };
    let day = value
        .get_ref()
        .as_datetime()
        .filter(|found| found.time.is_none())
        .and_then(|found| found.date)
        .and_then(|date| {
            Some(Day {
                year: i16::try_from(date.year).ok()?,
                month: i8::try_from(date.month).ok()?,
                day: i8::try_from(date.day).ok()?,
            })
        });
    if day.is_none() {
        reader.problem(value.span(), "until is no date here.".to_owned(), HOW);
    }
    day
}
