//! The key by which a server recognises a request that is made again.
//!
//! It is the request's own id: the same over the attempts of one request, and another one for each further request,
//! be it the same to the letter. A person may want to pay twice.

use super::{Call, Plan};
use crate::refusal;
use crate::session::Session;
use contract::Revised;
use contract::keys::{Key, Place};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use store::RequestId;

/// What stands for a key while a call is decided, where the tool asks for one: the decision, and whatever a person
/// approves, must not rest on a value that is new each time.
const STAND_IN: &str = "00000000-0000-0000-0000-000000000000";

/// A key that goes with a call.
#[derive(Clone)]
pub(super) struct Bound {
    /// The key.
    pub value: String,
    place: Place,
    /// A call in doubt may be sent again with it.
    pub repeats: bool,
}

impl Session {
    /// What is declared of the key of a tool. Who only watches writes none.
    fn key_of(&self, tool: &str) -> Option<&Key> {
        let declared = || self.settings().keys.iter().find(|key| key.tool == tool);
        if self.settings().observe { None } else { declared() }
    }
}

/// The arguments by which a call is decided whose key the gateway fills in; `None` where those that came will do.
pub(super) fn stand_in<'r>(
    session: &Session,
    call: &Call,
    revisions: impl Iterator<Item = &'r Arc<Revised>>,
) -> Option<Value> {
    let Place::Argument(name) = &session.key_of(&call.tool)?.place else { return None };
    if call.arguments.get(name).is_some() || !revisions.into_iter().all(|one| lists(one, name)) {
        return None;
    }
    let mut arguments = call.arguments.clone();
    arguments.as_object_mut()?.insert(name.clone(), STAND_IN.into());
    Some(arguments)
}

/// True where the definition has such an argument.
fn lists(revised: &Revised, name: &str) -> bool {
    let properties =
        revised.tool().raw.get("inputSchema").and_then(|schema| schema.get("properties"));
    properties.is_some_and(|properties| properties.get(name).is_some())
}

/// The key of a call that leaves for this tool.
pub(super) fn of(session: &Session, tool: &str, request: RequestId) -> Option<Bound> {
    let key = session.key_of(tool)?;
    Some(Bound { value: request.to_string(), place: key.place.clone(), repeats: key.repeats })
}

impl Bound {
    /// The arguments with the key, where it goes among them.
    pub(super) fn bind<'a>(&self, arguments: &'a Value) -> Cow<'a, Value> {
        let Place::Argument(name) = &self.place else { return Cow::Borrowed(arguments) };
        let mut bound = arguments.clone();
        if let Some(members) = bound.as_object_mut() {
            members.insert(name.clone(), self.value.clone().into());
        }
        Cow::Owned(bound)
    }

    /// The headers with the key, where it goes among them.
    pub(super) fn headers(&self) -> Vec<(String, String)> {
        match &self.place {
            Place::Header(name) => vec![(name.clone(), self.value.clone())],
            Place::Argument(_) => Vec::new(),
        }
    }
}

/// Why a call cannot leave with a key of the gateway's: its code, and what the client is told.
pub(super) fn stops(session: &Session, call: &Call, plan: &Plan) -> Option<(&'static str, String)> {
    let key = session.key_of(&call.tool)?;
    let Place::Argument(name) = &key.place else { return None };
    let supplied = call.arguments.get(name).is_some();
    if supplied && !key.replaces {
        let told = refusal::key_supplied(&call.tool, name, !plan.shown_output, plan.era);
        return Some((refusal::KEY_SUPPLIED, told));
    }
    let lost = !plan.live.is_empty()
        && plan.live.iter().any(|live| live.name() == call.tool && !lists(live, name));
    lost.then(|| {
        let told = refusal::key_gone(&call.tool, name, !plan.shown_output, plan.era);
        (refusal::KEY_GONE, told)
    })
}

/// Tells who watches that a value of the caller's is not what is sent.
pub(super) fn tell_replaced(session: &Session, call: &Call) {
    let Some(Key { place: Place::Argument(name), .. }) = session.key_of(&call.tool) else { return };
    if call.arguments.get(name).is_some() {
        let what = format!("replaced {name} of a call of {} by the key of the request", call.tool);
        session.tell("key-replaced", Some(&call.tool), None, &what);
    }
}
