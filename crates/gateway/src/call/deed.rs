//! What a server of bound actions tells of a call: whether it left, and whether it was done. Only the word of a server that
//! the gateway itself started for that counts; from any other it is data as everything else.

use super::{Call, Plan};
use crate::refusal;
use crate::session::Session;
use contract::admission::{Action, Retry};
use contract::retry::{Effect, Facts, Reach, Repair, may_retry};
use mcp::deed::{Deed, Unsent};
use serde_json::{Map, Value};
use store::OutcomeState;

/// What goes on record of a result and is told in its place, where the word of its server counts and the call was not
/// simply done.
pub(super) fn told(
    session: &Session,
    call: &Call,
    plan: &Plan,
    result: &Map<String, Value>,
) -> Option<(Option<String>, OutcomeState)> {
    if !session.settings().believed.counts(plan.sent_as(call)) {
        return None;
    }
    let effect = plan.ground.effect;
    let (text, data, state) = match result.get("_meta").and_then(Deed::read) {
        Some(Deed::Done) => return None,
        Some(Deed::Failed) => return Some((None, OutcomeState::Failed)),
        Some(Deed::NotSent(why)) => {
            let (action, retry) = way_forward(why);
            let (text, data) = refusal::action_not_sent(&call.tool, why.word(), action, retry);
            (text, data, OutcomeState::NotSent)
        }
        // What says nothing of what it did may have done it.
        Some(Deed::InDoubt) | None => {
            let why = "what it asked for outside was not answered, or by an error that says nothing of what was done before";
            let request = plan.request.to_string();
            let (text, data) = refusal::doubt(&call.tool, why, effect, &request);
            (text, data, OutcomeState::InDoubt)
        }
    };
    let told = (!session.settings().observe).then(|| refusal::ahead(result, &text, &data));
    Some((told, state))
}

/// What is told of a call of which nothing would leave, before anybody is asked about it.
pub(super) fn not_sent(call: &Call, plan: &Plan, why: Unsent, note: &str) -> String {
    let (action, retry) = way_forward(why);
    let (text, data) = refusal::action_not_sent(&call.tool, why.word(), action, retry);
    refusal::result(&format!("{text} {note}"), &data, false, plan.era)
}

/// What a caller may do about a call of which nothing left, by the conditions under which any call may be made again.
fn way_forward(why: Unsent) -> (Action, Retry) {
    let facts =
        |repair, reach| Facts { names_the_cause: true, repair, reach, effect: Effect::None };
    let (action, facts) = match why {
        // The very same call: nothing is to be repaired.
        Unsent::Busy | Unsent::Unreachable => {
            (Action::RefreshTools, facts(Repair::Unambiguous, Reach::Same))
        }
        Unsent::Moved => (Action::RefreshTools, facts(Repair::Unambiguous, Reach::Unknown)),
        Unsent::Arguments => (Action::FixArguments, facts(Repair::None, Reach::Same)),
        Unsent::Approval => (Action::AskPerson, facts(Repair::Unambiguous, Reach::Unknown)),
        Unsent::Binding | Unsent::Place | Unsent::Locked | Unsent::Credential => {
            (Action::AskPerson, facts(Repair::None, Reach::Same))
        }
    };
    (action, may_retry(&facts).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_no_decision_may_be_made_again_unasked() {
        for (why, action, retry) in [
            (Unsent::Busy, Action::RefreshTools, Retry::AutoAllowed),
            (Unsent::Unreachable, Action::RefreshTools, Retry::AutoAllowed),
            (Unsent::Moved, Action::RefreshTools, Retry::NewDecision),
            (Unsent::Arguments, Action::FixArguments, Retry::NewDecision),
            (Unsent::Approval, Action::AskPerson, Retry::NewDecision),
            (Unsent::Locked, Action::AskPerson, Retry::NewDecision),
            (Unsent::Place, Action::AskPerson, Retry::NewDecision),
        ] {
            assert_eq!(way_forward(why), (action, retry), "{}", why.word());
        }
    }
}
