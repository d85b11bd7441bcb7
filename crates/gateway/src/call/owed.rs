//! Answers of effects that nobody took: the client whose stream broke makes the same request again, and is answered with
//! what came of the first. Nothing is done twice.
//!
//! Only the same request counts: the id, the tool, the arguments, and the revision that it ran under, in the same session and
//! within [`limits::OWED_FOR`]. A request with another id is another request: two payments may both be wanted.

use super::{Call, Plan, Turn};
use crate::session::{Session, lock};
use crate::{event, limits};
use mcp::Era;
use mcp::message::Id;
use std::collections::VecDeque;
use std::sync::Arc;
use store::RequestId;
use tokio::time::Instant;

/// Answers of one session that were handed to no connection yet, the oldest first.
#[derive(Default)]
pub(crate) struct Owed(VecDeque<Debt>);

struct Debt {
    id: Id,
    tool: String,
    /// The digest of all arguments.
    arguments: String,
    /// The digest of the revision that it ran under.
    live: Option<String>,
    request: RequestId,
    text: Arc<str>,
    since: Instant,
}

/// Hands the answer of an effect over, and records that it was. Until somebody takes it, it is owed.
pub(super) async fn hand_over(session: &Session, call: &Call, plan: &Plan, text: String) {
    let ours = plan.era == Era::Legacy && text.len() <= limits::OWED_BYTES;
    if ours {
        let debt = Debt {
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: call.digest_without(&[]),
            live: plan.ground.live.clone(),
            request: plan.request,
            text: Arc::from(text.as_str()),
            since: Instant::now(),
        };
        let mut owed = lock(session.owed());
        owed.0.push_back(debt);
        let mut bytes: usize = owed.0.iter().map(|debt| debt.text.len()).sum();
        while owed.0.len() > limits::OWED || bytes > limits::OWED_BYTES {
            let Some(oldest) = owed.0.pop_front() else { break };
            bytes -= oldest.text.len();
        }
    }
    let handed = session.hand_over(&call.id, text).await;
    if handed {
        paid(session, call, plan.request).await;
    }
}

/// Answers a call whose answer is owed already; gives the turn back where it is a call like any other.
pub(super) async fn answered(session: &Session, call: &Call, turn: Turn) -> Option<Turn> {
    let found = {
        let mut owed = lock(session.owed());
        owed.0.retain(|debt| debt.since.elapsed() < limits::OWED_FOR);
        // Nothing is owed, as a rule.
        if owed.0.is_empty() {
            return Some(turn);
        }
        let arguments = call.digest_without(&[]);
        let same = |debt: &&Debt| {
            debt.id == call.id && debt.tool == call.tool && debt.arguments == arguments
        };
        owed.0.iter().find(same).map(|debt| (debt.request, debt.live.clone(), debt.text.clone()))
    };
    let Some((request, ran_under, text)) = found else { return Some(turn) };
    // After a change the answer may not be what the client would be told today.
    let live = session.runs(&call.tool);
    if !live.iter().any(|live| Some(live.digest()) == ran_under.as_deref()) {
        return Some(turn);
    }
    drop(turn);
    let what =
        format!("a call of {} came again: it is answered as before, and not made twice", call.tool);
    session.tell("answered-again", Some(&call.tool), None, &what);
    if session.hand_over(&call.id, text.to_string()).await {
        paid(session, call, request).await;
    }
    None
}

async fn paid(session: &Session, call: &Call, request: RequestId) {
    lock(session.owed()).0.retain(|debt| debt.request != request);
    if let Err(why) = session.store().delivered(request, event::now()).await {
        let what = format!("that an answer was delivered could not be recorded: {why}");
        session.tell("fault", Some(&call.tool), None, &what);
    }
}
