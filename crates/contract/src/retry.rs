//! May a stale call be refreshed and sent again without asking anyone?
//!
//! Only where nothing is left to decide. Four conditions must hold together, and what is not known does not hold.

use crate::admission::Retry;

/// What is known about a call that failed because its contract moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// The answer names a stale revision or a missing field, and not just "invalid".
    pub names_the_cause: bool,
    /// What the new contract offers for what is missing.
    pub repair: Repair,
    /// Target and authority of the call before and after.
    pub reach: Reach,
    /// What the first attempt did.
    pub effect: Effect,
}

/// How a call can be brought into the new form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// One conversion or one default, and it fills no target, authority or guard.
    Unambiguous,
    /// Several would do.
    Ambiguous,
    /// The only one would choose a target, an authority or a guard for the caller.
    Sensitive,
    /// There is none.
    None,
}

/// Whether the new call acts on the same thing with the same authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It does.
    Same,
    /// It does not.
    Other,
    /// That cannot be told.
    Unknown,
}

/// What the first attempt did outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it was not sent, or it was rejected before anything ran.
    None,
    /// It had an effect.
    Done,
    /// It was sent, and what it did is not known.
    InDoubt,
}

/// One of the four conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// The server names a stale revision or a missing field.
    CauseNamed,
    /// The new definition gives one conversion or default that chooses nothing for the caller.
    UnambiguousRepair,
    /// Target and authority stay the same.
    SameReach,
    /// The first attempt had no effect.
    NoEffect,
}

impl Condition {
    /// The condition that is broken, in words.
    pub fn broken(self) -> &'static str {
        match self {
            Condition::CauseNamed => "the answer names no stale revision and no missing field",
            Condition::UnambiguousRepair => {
                "the new contract does not give one value that chooses nothing for the caller"
            }
            Condition::SameReach => {
                "the call would act on something else, or with another authority"
            }
            Condition::NoEffect => "the first attempt had an effect, or may have had one",
        }
    }
}

/// Whether the call may be sent again, and which conditions stand against it.
///
/// With all four it may be. Where the first attempt had or may have had an effect, sending it again is no way out:
/// somebody finds out first what happened. Otherwise a model or a person decides anew.
///
/// ```
/// use contract::admission::Retry;
/// use contract::retry::{Condition, Effect, Facts, Reach, Repair, may_retry};
/// let facts = Facts {
///     names_the_cause: true,
///     repair: Repair::Unambiguous,
///     reach: Reach::Same,
///     effect: Effect::None,
/// };
/// assert_eq!(may_retry(&facts), (Retry::AutoAllowed, vec![]));
/// let facts = Facts { reach: Reach::Unknown, ..facts };
/// assert_eq!(may_retry(&facts), (Retry::NewDecision, vec![Condition::SameReach]));
/// ```
pub fn may_retry(facts: &Facts) -> (Retry, Vec<Condition>) {
    let holds = [
        (Condition::CauseNamed, facts.names_the_cause),
        (Condition::UnambiguousRepair, facts.repair == Repair::Unambiguous),
        (Condition::SameReach, facts.reach == Reach::Same),
        (Condition::NoEffect, facts.effect == Effect::None),
    ];
    let broken: Vec<Condition> =
        holds.iter().filter(|(_, holds)| !holds).map(|(condition, _)| *condition).collect();
    let retry = if broken.is_empty() {
        Retry::AutoAllowed
    } else if broken.contains(&Condition::NoEffect) {
        Retry::No
    } else {
        Retry::NewDecision
    };
    (retry, broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Facts = Facts {
        names_the_cause: true,
        repair: Repair::Unambiguous,
        reach: Reach::Same,
        effect: Effect::None,
    };

    #[test]
    fn each_condition_alone_stops_it() {
        assert_eq!(may_retry(&ALL), (Retry::AutoAllowed, vec![]));
        for (facts, retry, broken) in [
            (Facts { names_the_cause: false, ..ALL }, Retry::NewDecision, Condition::CauseNamed),
            (
                Facts { repair: Repair::Ambiguous, ..ALL },
                Retry::NewDecision,
                Condition::UnambiguousRepair,
            ),
            (
                Facts { repair: Repair::Sensitive, ..ALL },
                Retry::NewDecision,
                Condition::UnambiguousRepair,
            ),
            (
                Facts { repair: Repair::None, ..ALL },
                Retry::NewDecision,
                Condition::UnambiguousRepair,
            ),
            (Facts { reach: Reach::Other, ..ALL }, Retry::NewDecision, Condition::SameReach),
            (Facts { reach: Reach::Unknown, ..ALL }, Retry::NewDecision, Condition::SameReach),
            (Facts { effect: Effect::Done, ..ALL }, Retry::No, Condition::NoEffect),
            (Facts { effect: Effect::InDoubt, ..ALL }, Retry::No, Condition::NoEffect),
        ] {
            assert_eq!(may_retry(&facts), (retry, vec![broken]), "{facts:?}");
        }
    }

    #[test]
    fn an_effect_outweighs_everything_else() {
        for bits in 0..8_u8 {
            let facts = Facts {
                names_the_cause: bits & 1 == 0,
                repair: if bits & 2 == 0 { Repair::Unambiguous } else { Repair::None },
                reach: if bits & 4 == 0 { Reach::Same } else { Reach::Other },
                effect: Effect::InDoubt,
            };
            assert_eq!(may_retry(&facts).0, Retry::No, "{facts:?}");
        }
    }
}
