//! A call in doubt that is sent once more with the same key: only where a person declared that the server carries a
//! request out once however often it comes with one key, and only while what the call was decided about still holds.

use super::books::Books;
use super::send::holds_on;
use super::{Call, Plan};
use crate::session::Session;
use crate::upstream::Fate;
use mcp::json;
use mcp::message::{Id, Message};
use std::sync::Arc;
use store::OutcomeState;
use tokio::time::Instant;

/// What became of a call in doubt, with the record of the attempt that counts.
pub(super) enum Again {
    /// It was not sent again.
    Not(Books, String),
    /// It was, and this came of it.
    Sent(Books, Fate),
}

/// Sends a call once more that left and was not answered.
pub(super) async fn send(
    session: &Arc<Session>,
    call: &Arc<Call>,
    plan: &Arc<Plan>,
    message: &Message,
    mut books: Books,
    why: String,
) -> Again {
    let Some(key) = plan.key.as_ref().filter(|key| key.repeats && plan.ground.effect) else {
        return Again::Not(books, why);
    };
    if session.withdrawn(&call.id) {
        return Again::Not(books, why);
    }
    // The server may be another one by now: what holds is read again before anything leaves.
    let now = session.standing(&call.tool, Instant::now()).await;
    let holds = now.verified.is_ok() && holds_on(session, plan, &now.live);
    if !holds || session.withdrawn(&call.id) {
        return Again::Not(books, why);
    }
    // Every request has an id of its own, this one too.
    let own = Id::Text(format!("steadfast-again-{}", uuid::Uuid::new_v4().simple()));
    let text = json::replace(message.text(), &[(&["id"], &own.to_string())]);
    let Ok(again) = Message::parse(&text) else { return Again::Not(books, why) };
    let first = books.attempt().await;
    books.settle(OutcomeState::InDoubt, None).await;
    let books = match Books::open(session, plan, None, Some(first)).await {
        Ok(books) => books,
        Err(failed) => {
            session.tell("fault", Some(&call.tool), None, &failed);
            return Again::Not(Books::settled(session, first), why);
        }
    };
    let what = format!("a call of {} was not answered ({why}): sent again with its key", call.tool);
    session.tell("sent-again", Some(&call.tool), None, &what);
    let asked = session.upstream().ask_in(now.epoch, &again, key.headers()).await;
    let fate = match asked {
        Ok(fate) => fate.await.unwrap_or_else(|_| Fate::Lost("the gateway is ending".to_owned())),
        Err(failed) => Fate::NotSent(failed.to_string()),
    };
    match fate {
        Fate::Answered(answer) => {
            // To the client it answers what the client asked.
            let text = json::replace(answer.text(), &[(&["id"], &call.id.to_string())]);
            match Message::parse(&text) {
                Ok(answer) => Again::Sent(books, Fate::Answered(answer)),
                Err(_) => Again::Sent(books, Fate::Lost("its answer cannot be read".to_owned())),
            }
        }
        // The second may not have left; the first did, and is what is in doubt.
        Fate::NotSent(_) => {
            books.settle(OutcomeState::NotSent, None).await;
            Again::Not(Books::settled(session, first), why)
        }
        lost @ Fate::Lost(_) => Again::Sent(books, lost),
    }
}
