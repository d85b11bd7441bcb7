//! What stops a call that its contract would let go: it would outlive the contract, relies on what is missing,
//! holds what came from nowhere, or cannot have its key.

use super::{Call, Plan, key};
use crate::refusal;
use crate::session::Session;

/// Why a call does not leave: the code, and what the client is told.
pub(super) fn stops(session: &Session, call: &Call, plan: &Plan) -> Option<(&'static str, String)> {
    let structured = !plan.shown_output;
    if session.settings().long.contains(&call.tool) && !call.may_defer(&plan.live, plan.era) {
        let told = refusal::needs_task(&call.tool, structured, plan.era);
        return Some((refusal::NEEDS_TASK, told));
    }
    if let Some(missing) = session.missing_for(call) {
        let told = refusal::dependency_missing(&missing, structured, plan.era);
        return Some((refusal::DEPENDENCY_MISSING, told));
    }
    if let Some(unproven) = session.unproven_in(call, &plan.live) {
        let told = refusal::unproven(&unproven, structured, plan.era);
        return Some((refusal::UNPROVEN_VALUE, told));
    }
    key::stops(session, call, plan)
}
