//! How loud a finding is where a service knows three levels.

use crate::words::axes_note;
use contract::{Change, Entry, Verdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Notice,
    Warning,
    Error,
}

impl Level {
    /// A refusal is an error, and so is whatever reaches the threshold; what a person must look at is a warning.
    pub(crate) fn of(verdict: Verdict, fail_on: Option<Verdict>) -> Level {
        if fails(verdict, fail_on) {
            return Level::Error;
        }
        match verdict {
            Verdict::Refuse | Verdict::NewApproval | Verdict::Undecided => Level::Warning,
            Verdict::Adapt | Verdict::NewName | Verdict::Safe => Level::Notice,
        }
    }
}

/// True where a service should show the change at all: an old call or an old grant is touched.
/// A safe change that leaves grant and meaning alone is an alarm about nothing.
pub(crate) fn is_finding(change: &Change) -> bool {
    change.verdict != Verdict::Safe || axes_note(change.axes).is_some()
}

/// The verdict of an entry without the changes that the policy accepted.
pub(crate) fn standing(entry: &Entry) -> Verdict {
    if entry.changes.iter().all(|change| change.suppressed.is_none()) {
        return entry.verdict;
    }
    let left = entry
        .changes
        .iter()
        .filter(|change| change.suppressed.is_none())
        .map(|change| change.verdict)
        .max();
    left.unwrap_or(Verdict::Safe).min(entry.verdict)
}

/// True where an entry counts as failed: at the threshold, or at `refuse` where none is set.
pub(crate) fn fails(verdict: Verdict, fail_on: Option<Verdict>) -> bool {
    verdict >= fail_on.unwrap_or(Verdict::Refuse)
}
