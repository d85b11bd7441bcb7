//! A call that waits for a person. The approval is bound to exactly this action, is good once, and is void when
//! anything moves.

use super::card::{Action, card};
use super::exact::{self, Exact};
use super::send::{holds_on, say_moved};
use super::{Call, Plan, Turn};
use crate::session::{Outgoing, Session};
use crate::upstream::Epoch;
use crate::{event, limits, refusal};
use contract::admission::{Adapted, Code, Refusal};
use mcp::message::{self, Message};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::{
    Approval, ApprovalId, ApprovalQuery, ApprovalState, Counted, Decision, NewApproval, Redeemed,
    StoreError, Verdict,
};
use tokio::time::{Instant, sleep};

/// What the person said so far.
enum Word {
    Approved,
    Pending,
    Denied,
    /// It covers nothing any more.
    Over,
    /// The client no longer wants an answer.
    Withdrawn,
}

/// Waits for the word of a person about a held call. Gives the turn to send it, the connection over which what the person
/// decided about was found to hold, and the digest of exactly what may leave where its server foretold that; `None` where the
/// client was answered.
///
/// The first such call asks, and is on record as held before. The same call made again finds what was asked, and
/// redeems it: it is on record as admitted under that approval.
pub(super) async fn word(
    session: &Arc<Session>,
    call: &Call,
    plan: &Plan,
    mut record: Decision,
    why: &Refusal,
    adapted: Option<&Adapted>,
    turn: Turn,
) -> Option<(Turn, Epoch, Option<String>)> {
    let (tool, arguments) = super::form(call, adapted);
    let Some(message) = call.rewritten(tool, arguments) else {
        return broken(session, call, turn, "the call cannot be written in its new form").await;
    };
    // What would not leave anyway is nothing to ask about.
    let exact = match exact::of(session, call, plan, plan.epoch, &message).await {
        Ok(exact) => exact,
        Err(told) => {
            record.verdict = Verdict::Refused { code: refusal::ACTION_NOT_SENT.to_owned() };
            if let Err(why) = session.decided(&record).await {
                return broken(session, call, turn, &why).await;
            }
            drop(turn);
            session.reply(&call.id, message::response(&call.id, &told)).await;
            return None;
        }
    };
    let digest = action_digest(session, call, plan, adapted, exact.as_ref());
    let known = match open(session, adapted.map_or(&call.tool, |a| &a.tool), &digest).await {
        Ok(known) => known,
        Err(error) => return broken(session, call, turn, &error.to_string()).await,
    };
    let again = known.is_some();
    let (id, expires) = match known {
        Some(known) => (known.id, known.expires),
        None => {
            match ask(session, call, plan, &record, why, adapted, (&digest, exact.as_ref())).await {
                Ok(asked) => asked,
                Err(error) => return broken(session, call, turn, &error.to_string()).await,
            }
        }
    };
    let (word, mut turn) = match wait(session, call, id, expires, turn).await {
        Ok(waited) => waited,
        Err(error) => {
            return broken(session, call, Turn::new().0, &error.to_string()).await;
        }
    };
    let mut code = match word {
        Word::Approved | Word::Over => "APPROVAL_VOID",
        Word::Pending => "APPROVAL_PENDING",
        Word::Denied => "APPROVAL_DENIED",
        Word::Withdrawn => "WITHDRAWN",
    };
    if matches!(word, Word::Approved) {
        match still_holds(session, call, plan, &message, exact.as_ref()).await {
            Holds::Yes(epoch) => {
                let redeemed = session.store().redeem(id, digest, event::now()).await;
                match redeemed {
                    Ok(Redeemed::Once) => {
                        (record.verdict, record.approval) = (Verdict::Admitted, Some(id));
                        // The request that asked is on record as held, and goes on under its own approval.
                        let recorded = if again { session.decided(&record).await } else { Ok(()) };
                        let turn = turn.take().unwrap_or_else(|| Turn::new().0);
                        return match recorded {
                            Ok(()) => Some((turn, epoch, exact.map(|exact| exact.digest))),
                            Err(why) => broken(session, call, turn, &why).await,
                        };
                    }
                    Ok(Redeemed::Not(_)) => {}
                    Err(error) => {
                        return broken(session, call, Turn::new().0, &error.to_string()).await;
                    }
                }
            }
            // In both cases the approval is not used up. What moved makes it void by itself.
            Holds::Moved => code = Code::StaleToolSchema.name(),
            Holds::Unknown => code = Code::ContractUnverified.name(),
            Holds::Other => {
                let why = "what would leave is not what was approved".to_owned();
                session.voided(id, why).await;
            }
        }
    }
    drop(turn);
    if again {
        if code != "APPROVAL_PENDING" {
            record.verdict = Verdict::Refused { code: code.to_owned() };
        }
        if let Err(why) = session.decided(&record).await {
            return broken(session, call, Turn::new().0, &why).await;
        }
    }
    if code == Code::StaleToolSchema.name() {
        say_moved(session, call, plan).await;
    } else {
        let result = refusal::held(&call.tool, code, &id.to_string(), expires, plan.era);
        session.reply(&call.id, message::response(&call.id, &result)).await;
    }
    None
}

/// Whether what a person decided about is still there.
enum Holds {
    /// Over this connection.
    Yes(Epoch),
    Moved,
    /// It could not be read, and the call may have an effect.
    Unknown,
    /// Something else would leave: the credential is another version, the vault is locked, the binding moved.
    Other,
}

/// Time went by while a person decided: what holds is looked at again before the approval is used up.
async fn still_holds(
    session: &Arc<Session>,
    call: &Call,
    plan: &Plan,
    message: &Message,
    exact: Option<&Exact>,
) -> Holds {
    let now = session.standing(&call.tool, Instant::now()).await;
    if !holds_on(session, plan, &now.live) {
        return Holds::Moved;
    }
    if now.verified.is_err() && plan.ground.effect {
        return Holds::Unknown;
    }
    let Some(exact) = exact else { return Holds::Yes(now.epoch) };
    match exact::of(session, call, plan, now.epoch, message).await {
        Ok(Some(then)) if then.digest == exact.digest => Holds::Yes(now.epoch),
        _ => Holds::Other,
    }
}

async fn broken<T>(session: &Session, call: &Call, turn: Turn, why: &str) -> Option<T> {
    session.broken(call, turn, why).await;
    None
}

/// The digest of exactly what would be done: any other server, tool, revision, argument, other parameter or principal is another action, and
/// of a bound action any other byte that would leave, and any other version of its credential.
fn action_digest(
    session: &Session,
    call: &Call,
    plan: &Plan,
    adapted: Option<&Adapted>,
    exact: Option<&Exact>,
) -> String {
    let (tool, arguments) = super::form(call, adapted);
    let live: Vec<&str> = plan.live.iter().map(|live| live.digest()).collect();
    let mut action = json!({
        "server": session.upstream().name(),
        "tool": tool,
        "revisions": live,
        "arguments": arguments,
        "task": call.as_task(),
        "beside": beside(call),
        "principal": session.principal(),
    });
    if let Some(exact) = exact {
        action["exact"] = exact.digest.as_str().into();
    }
    contract::digest::of_value(&action)
}

/// What the parameters of a call hold beside its tool and its arguments: a server may do something else by it. How it is
/// told of progress, and traced, is another matter, and differs from one attempt to the next.
fn beside(call: &Call) -> Value {
    const OF_THE_ATTEMPT: &[&str] = &["progressToken", "traceparent", "tracestate", "baggage"];
    let params = call.message.params().and_then(|params| serde_json::from_str(params).ok());
    let mut params: Map<String, Value> = params.unwrap_or_default();
    params.retain(|name, _| !matches!(name.as_str(), "name" | "arguments" | "task"));
    if let Some(Value::Object(meta)) = params.get_mut("_meta") {
        meta.retain(|name, _| !OF_THE_ATTEMPT.contains(&name.as_str()));
    }
    params.retain(|name, value| name != "_meta" || *value != json!({}));
    Value::Object(params)
}

/// The approval that was asked for this action and is still open.
async fn open(session: &Session, tool: &str, digest: &str) -> Result<Option<Approval>, StoreError> {
    let query = ApprovalQuery {
        server: session.upstream().name().to_owned(),
        tool: tool.to_owned(),
        states: vec![ApprovalState::Pending, ApprovalState::Approved],
        limit: limits::OPEN_APPROVALS,
    };
    let now = event::now();
    let found = session.store().approvals(query).await?;
    Ok(found.into_iter().find(|known| known.action_digest == digest && known.expires > now))
}

/// Asks for an approval: the call is on record as held, and so is what the person is shown.
async fn ask(
    session: &Session,
    call: &Call,
    plan: &Plan,
    record: &Decision,
    why: &Refusal,
    adapted: Option<&Adapted>,
    (digest, exact): (&str, Option<&Exact>),
) -> Result<(ApprovalId, u64), StoreError> {
    let (tool, arguments) = super::form(call, adapted);
    let server = session.upstream().name();
    let query = ApprovalQuery {
        server: server.to_owned(),
        tool: tool.to_owned(),
        states: vec![ApprovalState::Redeemed],
        limit: 1,
    };
    let last = session.store().approvals(query).await?.into_iter().next();
    let last = last.and_then(|last| serde_json::from_str::<Value>(&last.card?).ok());
    let destroys = plan.live.iter().any(|l| !l.hints().read_only && l.hints().destructive);
    let revision = plan.ground.live.clone().unwrap_or_default();
    let says = plan.live.first().and_then(|live| live.tool().raw["description"].as_str());
    let eligible = eligible(session, &call.tool);
    let action = Action {
        server,
        called: &call.tool,
        tool,
        arguments,
        principal: session.principal(),
        revision: &revision,
        mode: match (plan.ground.effect, destroys) {
            (false, _) => "reads",
            (true, false) => "writes",
            (true, true) => "may destroy",
        },
        by: &plan.by,
        refusal: why,
        says,
        eligible: &eligible,
        sends: exact.map(|exact| &exact.shown),
    };
    let card = card(&action, &session.comparisons().options().lexicon, last.as_ref());
    let now = event::now();
    let id = session.store().ids().approval(now)?;
    let expires = now + u64::try_from(limits::APPROVAL.as_millis()).unwrap_or(u64::MAX);
    session.store().decide(record.clone()).await?;
    let asked = NewApproval {
        id,
        request: plan.request,
        principal: session.principal().to_owned(),
        session: session.id(),
        server: server.to_owned(),
        tool: tool.to_owned(),
        revision,
        action_digest: digest.to_owned(),
        card: card.to_string(),
        expires,
        at: now,
    };
    session.store().ask(asked).await?;
    session.tell(
        "held",
        Some(&call.tool),
        Some(why.code.name()),
        &format!("holds a call of {} for a person: steadfast approve {id}", call.tool),
    );
    session.count(&call.tool, Counted::Person, &plan.ground).await;
    Ok((id, expires))
}

/// Which arguments of a tool had to come in an answer of this session, as a person declared it. A call in which they did
/// not is stopped before anybody is asked.
fn eligible(session: &Session, tool: &str) -> Vec<(String, String, Option<String>)> {
    let declared = session.settings().from_results.iter().filter(|one| one.tool == tool);
    let from = declared.map(|one| match &one.from {
        Some((on, member)) => (one.argument.clone(), on.clone(), Some(member.clone())),
        None => (one.argument.clone(), "an answer".to_owned(), None),
    });
    from.collect()
}

/// Waits for the word, for a while. The turn is kept where the word is there already, and others go first where not.
async fn wait(
    session: &Session,
    call: &Call,
    id: ApprovalId,
    expires: u64,
    turn: Turn,
) -> Result<(Word, Option<Turn>), StoreError> {
    let mut turn = Some(turn);
    let (begun, mut told) = (Instant::now(), None::<Instant>);
    let progress = progress_token(call);
    loop {
        let state = session.store().approval(id).await?.map(|approval| approval.state);
        let word = match state {
            Some(ApprovalState::Approved) => Word::Approved,
            Some(ApprovalState::Denied) => Word::Denied,
            Some(ApprovalState::Redeemed | ApprovalState::Void) | None => Word::Over,
            Some(ApprovalState::Pending) if expires <= event::now() => Word::Over,
            Some(ApprovalState::Pending) if session.withdrawn(&call.id) => Word::Withdrawn,
            Some(ApprovalState::Pending) if begun.elapsed() >= limits::HOLD => Word::Pending,
            Some(ApprovalState::Pending) => {
                drop(turn.take());
                let due = told.is_none_or(|told| told.elapsed() >= limits::HOLD_PROGRESS);
                if let Some(token) = progress.as_ref().filter(|_| due) {
                    let params = json!({
                        "progressToken": token,
                        "progress": begun.elapsed().as_secs() + 1,
                        "message": format!("waits for a person: approval {id}"),
                    });
                    let text =
                        message::notification("notifications/progress", Some(&params.to_string()));
                    session.say(Outgoing::beside(Some(call.id.clone()), text)).await;
                    told = Some(Instant::now());
                }
                sleep(limits::HOLD_LOOK).await;
                continue;
            }
        };
        return Ok((word, turn));
    }
}

/// The token by which the client wants to hear of progress.
fn progress_token(call: &Call) -> Option<Value> {
    let params: Map<String, Value> = serde_json::from_str(call.message.params()?).ok()?;
    let token = params.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_number()).then(|| token.clone())
}
