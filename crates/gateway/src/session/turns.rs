//! What a session does on its own: calls in their order, and a look at the list from time to time.

use super::Session;
use crate::call::{Call, Turn, carry};
use crate::limits;
use mcp::message::Message;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc;

/// What leaves in the order in which it came.
pub(super) enum Queued {
    Call(Box<Call>),
    Pass(Message),
}

/// Carries calls one after the other up to where they leave, so that they leave in the order in which they came.
pub(super) async fn in_turn(session: Weak<Session>, mut queue: mpsc::Receiver<Queued>) {
    while let Some(queued) = queue.recv().await {
        let Some(session) = session.upgrade() else { return };
        match queued {
            Queued::Call(call) => {
                let (turn, ended) = Turn::new();
                tokio::spawn(carry(Arc::clone(&session), *call, turn));
                // An error is the end of the turn too.
                let _ = ended.await;
            }
            // What was withdrawn meanwhile is asked for no more.
            Queued::Pass(message) if !session.wants(&message) => {}
            Queued::Pass(message) => session.pass(&message).await,
        }
        session.queued.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Reads the list of a quiet server from time to time, and tells the client of what others found.
pub(super) async fn watch(session: Weak<Session>) {
    let Some(mut moves) = session.upgrade().map(|session| session.upstream.moves()) else { return };
    loop {
        // Chance keeps many gateways from asking one server in step.
        let Some(chance) = session.upgrade().map(|session| session.hub.chance()) else { return };
        let unsettled = |session: &Arc<Session>| !session.upstream().alternating().is_empty();
        let poll = match session.upgrade() {
            Some(session) if unsettled(&session) => limits::POLL_UNSETTLED,
            _ => limits::POLL,
        };
        let spread = poll / 3;
        let pause = poll - spread / 2 + spread * u32::from(chance) / 255;
        let due = tokio::select! {
            () = tokio::time::sleep(pause) => true,
            changed = moves.changed() => {
                if changed.is_err() { return }
                false
            }
        };
        let Some(session) = session.upgrade() else { return };
        if due && (unsettled(&session) || session.view().last().is_some()) {
            let _ = session.upstream.verified(poll / 2).await;
        }
        session.noted("the list of tools", session.put_on_record().await);
        session.notice(None).await;
        session.keep(false).await;
    }
}
