//! May this call run now? The one decision of the gateway, as a pure function.
//!
//! Four contracts bear on a call: those it may have been *planned* under (the candidates, by the evidence there is),
//! those that are *live* (one; several while a rolling deploy alternates), and the one that was *granted*. The call is
//! judged, not the tool: a change that does not bear on these very arguments stops nothing.
//!
//! | planned, live, granted | decision |
//! | --- | --- |
//! | the same, or moved in notation and wording only | [`Decision::Forward`]: the server judges its own arguments |
//! | moved, but not where this call goes | [`Decision::Forward`] |
//! | an omitted default moved and may be pinned, or an adapter holds | [`Decision::Adapt`] |
//! | no candidate could have produced the arguments, nor does the live one take them | refuse `INVALID_ARGUMENTS` |
//! | breaks, or means something else | refuse `STALE_TOOL_SCHEMA` |
//! | reaches further than granted, and this call uses it | by [`Policy`] |
//! | undecided | reads go on where only meaning or authority is unknown; everything else is refused |
//! | gone | refuse `TOOL_REMOVED` |

mod bearing;
mod faults;
mod judge;
mod refusal;
mod refused;

pub use bearing::{Bearing, bearing};
pub use judge::decide;
pub use refusal::{ADAPTER, Action, Code, Fault, Refusal, Retry, name as shown_name};

use crate::change::Entry;
use crate::policy::Calls;
use crate::revised::Revised;
use serde_json::Value;
use std::sync::Arc;

/// How well it is known which revision a call was planned under, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The client sent back a handle of the revision, or uses a pinned endpoint.
    Declared,
    /// The session was shown it.
    Session,
    /// The same authorisation was shown it.
    Principal,
    /// Only one kept revision could have produced the arguments.
    Shape,
    /// Nothing is known: every revision still in its window must agree.
    None,
}

impl Grade {
    /// The word in journals and reports.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Declared => "declared",
            Grade::Session => "session",
            Grade::Principal => "principal",
            Grade::Shape => "shape",
            Grade::None => "none",
        }
    }
}

/// What happens to a call that would use reach beyond the grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnWider {
    /// Refused until the client has looked at the new contract, or says that it has.
    NewDecision,
    /// Held for a person's approval of this very action.
    Hold,
    /// Held where the call may have an effect; as for a new decision where it only reads.
    HoldEffects,
    /// Refused.
    Refuse,
}

/// What the operator decided beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Reach beyond the grant.
    pub on_wider: OnWider,
    /// Write a planned default into calls with effects too.
    pub pin_effects: bool,
    /// Every call that may have an effect is held for a person's approval, whatever moved.
    pub hold_effects: bool,
}

impl Policy {
    /// True where some call can be held: without anyone who may approve, it would wait for nobody.
    pub fn holds(&self) -> bool {
        self.hold_effects || matches!(self.on_wider, OnWider::Hold | OnWider::HoldEffects)
    }

    /// True where reach beyond the grant, or what nobody can tell, waits for a person.
    pub fn holds_doubt(&self, effect: bool) -> bool {
        match self.on_wider {
            OnWider::Hold => true,
            OnWider::HoldEffects => effect,
            OnWider::NewDecision | OnWider::Refuse => false,
        }
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { on_wider: OnWider::NewDecision, pin_effects: false, hold_effects: false }
    }
}

/// Everything the decision rests on. Captured once; nothing is read again.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The name that people know the server by.
    pub server: &'a str,
    /// The version that the server names, where it names one.
    pub server_version: Option<&'a str>,
    /// The tool that is called.
    pub name: &'a str,
    /// The arguments, an object.
    pub arguments: &'a Value,
    /// The revisions that the call may have been planned under.
    pub candidates: &'a [Arc<Revised>],
    /// How well that is known.
    pub grade: Grade,
    /// What the client was shown of the tool at any time: where arguments fit only one of these, they were written by it.
    pub earlier: &'a [Arc<Revised>],
    /// Kept revisions of the tool in the order of time, for conversions over several of them; may be empty.
    pub history: &'a [Arc<Revised>],
    /// What runs now: one revision, or all that alternate; none where the tool is gone.
    pub live: &'a [Arc<Revised>],
    /// What was accepted; none for a name that came back, or was never granted.
    pub granted: Option<&'a Arc<Revised>>,
    /// What was accepted of a name that went and came back as something else. It grants nothing any more; what came back
    /// is measured by it all the same.
    pub lapsed: Option<&'a Arc<Revised>>,
    /// More definitions may be what the call was planned under than the candidates hold.
    pub crowded: bool,
    /// What is live was read recently enough for this call.
    pub verified: bool,
    /// The client said in this call that it knows this live revision.
    pub acknowledged: Option<&'a str>,
    /// The server lists the name more than once at the same time.
    pub twice: bool,
    /// The heir of a tool that is gone, where one is declared or reaches no further.
    pub heir: Option<&'a str>,
    /// The operator configured the tool as one that only reads.
    pub configured_read: bool,
    /// What the operator decided.
    pub policy: Policy,
    /// Rules about calls, where they hold for this one.
    pub calls: Option<&'a Calls>,
    /// Who asks.
    pub principal: &'a str,
    /// The call holds text that is run or fetched.
    pub free_form: bool,
}

impl Facts<'_> {
    /// True where the call can have no effect: configured so, or granted and live as read-only. Hints raise what is
    /// demanded of a call; they never lower it.
    pub fn reads(&self) -> bool {
        self.configured_read
            || (self.granted.is_some_and(|granted| granted.hints().read_only)
                && !self.live.is_empty()
                && self.live.iter().all(|live| live.hints().read_only))
    }
}

/// Compares two revisions; a gateway keeps the answers by their digests.
pub trait Compare {
    /// What changed from one to the other; `None` where nothing did.
    fn compare(&self, old: &Arc<Revised>, new: &Arc<Revised>) -> Option<Arc<Entry>>;
}

/// What an adapter must know of the call besides its arguments.
#[derive(Debug, Clone, Copy)]
pub struct With<'a> {
    /// The name that people know the server by.
    pub server: &'a str,
    /// The version that the server names, where it names one.
    pub server_version: Option<&'a str>,
    /// How well the planned revision is known.
    pub grade: Grade,
    /// True where the call can have an effect.
    pub effect: bool,
    /// Defaults may be written into calls with effects too.
    pub pin_effects: bool,
    /// Kept revisions of the tool in the order of time.
    pub history: &'a [Arc<Revised>],
}

/// Carries calls from one revision to another by declared rules.
pub trait Adapt {
    /// The arguments for `live` in place of those for `planned`, with what did it; `None` where nothing applies.
    /// `Err` is an adapter that applied once and does no longer, with the reason.
    fn adapt(
        &self,
        planned: &Arc<Revised>,
        live: &Arc<Revised>,
        arguments: &Value,
        with: With<'_>,
    ) -> Result<Option<Adapted>, String>;

    /// Where calls of a tool that is gone are carried to, by declaration.
    fn target(&self, _tool: &str) -> Option<String> {
        None
    }

    /// True where some conversion is declared for calls of a tool: then its kept revisions are asked for.
    fn converts(&self, _tool: &str) -> bool {
        false
    }

    /// The adapters that carry calls from one of these revisions to the other, whatever their arguments.
    fn carries(&self, _server: &str, _planned: &Arc<Revised>, _live: &Arc<Revised>) -> Vec<String> {
        Vec::new()
    }

    /// The adapters that are declared.
    fn declared(&self) -> Vec<InForce> {
        Vec::new()
    }

    /// The structured answer as the planned contract has it, by the adapters that carried the call.
    ///
    /// # Errors
    /// Where it cannot be restored, in a sentence.
    fn restore(&self, _by: &[String], answer: &Value) -> Result<Value, String> {
        Ok(answer.clone())
    }
}

/// A declared adapter, as people are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// Its id.
    pub id: String,
    /// The server it is for, where it is for one alone.
    pub server: Option<String>,
    /// The tool whose calls it carries.
    pub tool: String,
    /// The tool that it carries them to.
    pub to: String,
    /// When it ends, in words.
    pub ends: String,
    /// Why it does not carry calls to a revision that it was tried for: it was refuted.
    pub refuted: Option<String>,
}

/// No adapters.
#[derive(Debug, Clone, Copy)]
pub struct Plain;

impl Adapt for Plain {
    fn adapt(
        &self,
        _: &Arc<Revised>,
        _: &Arc<Revised>,
        _: &Value,
        _: With<'_>,
    ) -> Result<Option<Adapted>, String> {
        Ok(None)
    }
}

/// A call in its new form.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The tool that is called now.
    pub tool: String,
    /// The arguments as they are sent.
    pub arguments: Value,
    /// What did it: ids of adapters, or `default:/pointer` for each pinned default.
    pub by: Vec<String>,
}

/// What happens to the call.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It is sent as it came.
    Forward(Ground),
    /// It is sent in another form.
    Adapt(Adapted, Ground),
    /// A person decides about this very action; approved, it is sent in this form, or as it came.
    Hold(Refusal, Option<Adapted>, Ground),
    /// It is not sent.
    Refuse(Refusal, Ground),
}

/// What a decision rests on, for the journal and for judging the answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ground {
    /// Digest of the revision that the answer is measured by: the one planned under.
    pub planned: Option<String>,
    /// Digest of the live revision.
    pub live: Option<String>,
    /// How well the planned revision is known.
    pub grade: Option<&'static str>,
    /// The rules of the changes that bear on this call.
    pub rules: Vec<&'static str>,
    /// True where the call can have an effect.
    pub effect: bool,
}

#[cfg(test)]
mod tests;
