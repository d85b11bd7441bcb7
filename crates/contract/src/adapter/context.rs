//! What is known at the time of a call, and what an adapter answers to it.

use super::{Adapter, Constant, End};
use crate::admission::Grade;
use crate::policy::Day;
use crate::text::quoted;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is known at the time of a call. What is not known is never taken to be so.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// The day of the call.
    pub today: Day,
    /// The version that the server names, where it names one.
    pub server_version: Option<&'a str>,
    /// The session was open before the contract changed.
    pub session_started_before_change: bool,
    /// What is known about who acts and where: `account = "acme"`.
    pub conditions: &'a BTreeMap<String, String>,
    /// How well the planned revision is known.
    pub evidence: Grade,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was converted.
    Applied(Applied),
    /// The adapter's time is over. A sentence says since when.
    Ended(String),
    /// The adapter may not be used now. A sentence says what is missing.
    Suspended(String),
    /// The adapter has no answer for this call. A sentence says why.
    NotForThis(String),
}

/// A converted call.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The tool that is called now.
    pub tool: String,
    /// Its arguments. What no step touched is as it was: values, number spelling, order of members.
    pub arguments: Value,
    /// The places that the adapter filled by itself: constants, and defaults where the caller left the member out.
    pub sent: Vec<String>,
}

impl Adapter {
    /// Converts the arguments of one call.
    ///
    /// Nothing is proved here: use it with an adapter that [`Adapter::check`] proved for this pair of
    /// contracts. Where the call holds members that no schema declares, a step may find its place taken;
    /// it then answers [`Outcome::NotForThis`] and overwrites nothing.
    pub fn apply(&self, arguments: &Value, context: &Context<'_>) -> Outcome {
        match self.end.reached(context) {
            Reached::No => {}
            Reached::Yes(why) => return Outcome::Ended(why),
            Reached::Unknown(why) => return Outcome::Suspended(why),
        }
        let (converted, sent) = match self.convert(arguments) {
            Ok(converted) => converted,
            Err(why) => return Outcome::NotForThis(why),
        };
        if let Some(at) = sent.first()
            && context.evidence > Grade::Session
        {
            return Outcome::Suspended(format!(
                "it would send a value of its own at {at}, and it is not known well enough under which contract this call was planned: neither the call nor its session says so"
            ));
        }
        for constant in self.constants() {
            if let Err(why) = constant.holds(context.conditions) {
                return Outcome::Suspended(why);
            }
        }
        Outcome::Applied(Applied { tool: self.target().to_owned(), arguments: converted, sent })
    }
}

impl Constant {
    fn holds(&self, known: &BTreeMap<String, String>) -> Result<(), String> {
        for (what, wanted) in &self.conditions {
            match known.get(what) {
                Some(found) if found == wanted => {}
                Some(found) => {
                    return Err(format!(
                        "the value at {} holds while {what} is {}, and it is {} now",
                        self.at,
                        quoted(wanted),
                        quoted(found)
                    ));
                }
                None => {
                    return Err(format!(
                        "the value at {} holds while {what} is {}, and what {what} is now cannot be checked",
                        self.at,
                        quoted(wanted)
                    ));
                }
            }
        }
        Ok(())
    }
}

enum Reached {
    No,
    Yes(String),
    Unknown(String),
}

impl End {
    fn reached(&self, context: &Context<'_>) -> Reached {
        if let Some(day) = self.day
            && context.today > day
        {
            return Reached::Yes(format!("it held until {day}, and today is {}", context.today));
        }
        if self.old_sessions && !context.session_started_before_change {
            return Reached::Yes(
                "it held for sessions that were open before the contract changed, and this one began after"
                    .to_owned(),
            );
        }
        let Some(end) = &self.version else { return Reached::No };
        let Some(found) = context.server_version else {
            return Reached::Unknown(format!(
                "it ends with version {end} of the server, and the server does not say which version it is"
            ));
        };
        match (numbers(found), numbers(end)) {
            (Some(now), Some(last)) if now >= last => Reached::Yes(format!(
                "it held below version {end} of the server, and the server is at {}",
                quoted(found)
            )),
            (Some(_), Some(_)) => Reached::No,
            _ => Reached::Unknown(format!(
                "it ends with version {end} of the server, and {} cannot be compared with that",
                quoted(found)
            )),
        }
    }
}

/// The numbers of a version, trailing zeros left out. What is written after `-` or `+` does not count: a
/// candidate for a release is taken as the release, so that an adapter rather ends too early.
pub(super) fn numbers(version: &str) -> Option<Vec<u64>> {
    let bare = version.strip_prefix('v').unwrap_or(version);
    let core = bare.split(['-', '+']).next().unwrap_or_default();
    let mut numbers =
        core.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (less, more) in [("1.9", "1.10"), ("1.9.9", "2"), ("v1.2.3", "1.2.4-rc.1")] {
            assert!(numbers(less) < numbers(more), "{less} {more}");
        }
        assert_eq!(numbers("2.0.0-rc.1"), numbers("v2"));
        for text in ["", "next", "1.x", "1..2", "2026-11-30-nightly.x".trim_start_matches("2026")] {
            assert_eq!(numbers(text), None, "{text}");
        }
    }
}
