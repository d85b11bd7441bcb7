//! What a project accepts: levels, thresholds and suppressions, applied to a comparison.
//!
//! The policy never changes what was found. It marks findings as accepted, adds findings about
//! itself, and says whether the rest stands in the way. The date of today is an argument.

mod calls;
mod config;
mod live;
pub(crate) mod read;
mod unmatched;

pub use calls::{Asked, Calls, Effect, Rule, Say, is_free_form};
pub use config::{MEMBERS, ReviewNote, Settings};
pub use live::{ACTIONS, Gateway, Reach, Server};

use crate::change::{Change, Diff, Entry, Subject, When};
use crate::rules::finding::fingerprint;
use crate::verdict::{Authority, Axes, Class, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A day of the calendar, in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day {
    /// The year.
    pub year: i16,
    /// 1 to 12.
    pub month: i8,
    /// 1 to 31.
    pub day: i8,
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// What a finding of a rule counts, whatever its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// Accepted without being looked at, for the reason given.
    Off(String),
    /// Reported, and never in the way.
    Note,
    /// Reported, and not in the way; a report shows it as a warning.
    Warn,
    /// In the way.
    Fail,
}

/// An accepted finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// The fingerprint of the finding.
    pub finding: String,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it is.
    pub until: Day,
    /// Where it stands: `steadfast.toml:12:1`.
    pub place: String,
}

/// What a project accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Verdicts from this one on stand in the way; `None`: no verdict does.
    pub fail_on: Option<Verdict>,
    /// Whether what could not be decided stands in the way.
    pub undecided_fails: bool,
    /// Whether it stands in the way that an old grant now covers more, although old calls go on.
    pub wider_fails: bool,
    /// Levels by rule.
    pub levels: BTreeMap<String, Level>,
    /// Accepted findings.
    pub suppressions: Vec<Suppression>,
    /// Which calls run, wait for a person, or never run; `None` where nobody wrote rules.
    pub calls: Option<Calls>,
}

impl Default for Policy {
    /// Everything but `safe` stands in the way, and unknown is never safe.
    fn default() -> Policy {
        Policy {
            fail_on: Some(Verdict::NewName),
            undecided_fails: true,
            wider_fails: false,
            levels: BTreeMap::new(),
            suppressions: Vec::new(),
            calls: None,
        }
    }
}

/// Whether anything stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Nothing does.
    Clear,
    /// Only what could not be decided.
    Undecided,
    /// At least one finding.
    Findings,
}

impl Policy {
    /// Marks what is accepted, adds findings about the policy itself (SF901, SF902), and judges
    /// the rest. The verdicts of entries and of the whole become those of what is not accepted.
    pub fn apply(&self, diff: &mut Diff, today: Day) -> Standing {
        self.apply_beside(diff, today, Vec::new())
    }

    /// The same beside other findings about the settings.
    fn apply_beside(&self, diff: &mut Diff, today: Day, mut own: Vec<Change>) -> Standing {
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for entry in &mut diff.entries {
            let mut accepted = false;
            for change in &mut entry.changes {
                if let Some(Level::Off(reason)) = self.levels.get(change.rule) {
                    change.suppressed = Some(format!("{} is off: {reason}", change.rule));
                }
                for suppression in &self.suppressions {
                    if suppression.finding != change.fingerprint {
                        continue;
                    }
                    used.insert(&suppression.finding);
                    if suppression.until >= today {
                        change.suppressed =
                            Some(format!("{} (until {})", suppression.reason, suppression.until));
                    } else {
                        own.push(expired(suppression, &entry.subject, change));
                    }
                }
                accepted |= change.suppressed.is_some();
            }
            if accepted {
                entry.verdict =
                    live(entry).map(|change| change.verdict).max().unwrap_or(Verdict::Safe);
            }
        }
        own.extend(
            self.suppressions
                .iter()
                .filter(|suppression| !used.contains(suppression.finding.as_str()))
                .map(unused),
        );
        if !own.is_empty() {
            diff.entries.push(about_policy(own));
        }
        diff.verdict =
            diff.entries.iter().map(|entry| entry.verdict).max().unwrap_or(Verdict::Safe);
        self.standing(diff)
    }

    /// Whether anything that is not accepted stands in the way.
    pub fn standing(&self, diff: &Diff) -> Standing {
        let mut standing = Standing::Clear;
        for entry in &diff.entries {
            // An entry can be graver than each of its changes; levels are about changes alone.
            let unlevelled = live(entry).all(|change| !self.levels.contains_key(change.rule));
            if unlevelled {
                standing = standing.max(self.of_verdict(entry.verdict));
            }
            for change in live(entry) {
                standing = standing.max(match self.levels.get(change.rule) {
                    Some(Level::Fail) => Standing::Findings,
                    Some(_) => Standing::Clear,
                    None if self.wider_fails && change.axes.authority == Authority::Wider => {
                        Standing::Findings
                    }
                    None => self.of_verdict(change.verdict),
                });
            }
        }
        standing
    }

    fn of_verdict(&self, verdict: Verdict) -> Standing {
        match verdict {
            Verdict::Safe => Standing::Clear,
            Verdict::Undecided if self.undecided_fails => Standing::Undecided,
            Verdict::Undecided => Standing::Clear,
            graver if self.fail_on.is_some_and(|threshold| graver >= threshold) => {
                Standing::Findings
            }
            _ => Standing::Clear,
        }
    }
}

/// The changes of an entry that are not accepted.
fn live(entry: &Entry) -> impl Iterator<Item = &Change> {
    entry.changes.iter().filter(|change| change.suppressed.is_none())
}

fn about_policy(changes: Vec<Change>) -> Entry {
    Entry {
        subject: own_subject(),
        from: None,
        to: None,
        class: Class::Additive,
        verdict: Verdict::Safe,
        axes: Axes::SAME,
        changes,
        renamed_to: None,
        was: None,
        relation: None,
    }
}

fn expired(suppression: &Suppression, subject: &Subject, change: &Change) -> Change {
    finding(
        "SF901",
        suppression,
        format!(
            "The suppression of {} on {} ended on {} and the finding is still there: repair it, or accept it again with a new date.",
            change.rule,
            subject.name(),
            suppression.until
        ),
    )
}

fn unused(suppression: &Suppression) -> Change {
    finding(
        "SF902",
        suppression,
        format!(
            "The suppression of {} matches no finding any more: remove it, so that it cannot hide a later one.",
            suppression.finding
        ),
    )
}

fn finding(rule: &'static str, suppression: &Suppression, sentence: String) -> Change {
    let stated = json!({
        "finding": suppression.finding,
        "reason": suppression.reason,
        "until": suppression.until.to_string(),
        "place": suppression.place,
    });
    about_settings(rule, &suppression.finding, Some(stated), sentence)
}

/// A finding about the settings: it says nothing about calls, so its verdict is `safe`.
fn about_settings(
    rule: &'static str,
    name: &str,
    stated: Option<Value>,
    sentence: String,
) -> Change {
    let mut change = Change {
        rule,
        path: String::new(),
        field: Some(name.to_owned()),
        fingerprint: String::new(),
        before: stated,
        after: None,
        sentence,
        class: Class::Additive,
        verdict: Verdict::Safe,
        axes: Axes::SAME,
        witness: None,
        decisions: Vec::new(),
        decisions_guessed: false,
        suppressed: None,
        when: When::Sent,
    };
    change.fingerprint = fingerprint(&change, &own_subject());
    change
}

/// Whether an entry is about the settings, not about a contract.
pub fn is_about_settings(subject: &Subject) -> bool {
    *subject == own_subject()
}

/// Who the findings about the settings are about.
fn own_subject() -> Subject {
    Subject::Whole("settings".to_owned())
}
