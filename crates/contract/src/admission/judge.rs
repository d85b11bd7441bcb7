//! The decision, from the top to the bottom.

use super::bearing::on_call;
use super::faults::{faults, misfit};
use super::refused::{also, crowded, invalid, plain, removed};
use super::{
    Action, Adapt, Code, Compare, Decision, Facts, Fault, Grade, Ground, OnWider, Refusal, Retry,
    With,
};
use crate::change::Change;
use crate::lexicon::Lexicon;
use crate::policy::{self, Say};
use crate::retry::{Effect, Facts as RetryFacts, Reach, Repair, may_retry};
use crate::revised::{Fit, Revised};
use crate::verdict::{Authority, Meaning};
use serde_json::Value;
use std::sync::Arc;

/// Findings about an argument that is sent and that nobody reads any more. No validation shows it: an open schema takes
/// the argument all the same.
const UNREAD: &[&str] = &["SF110", "SF111", "SF112", "SF170"];

/// Decides what happens to a call.
pub fn decide(facts: &Facts<'_>, compare: &dyn Compare, adapt: &dyn Adapt) -> Decision {
    if facts.live.is_empty() && facts.verified {
        return Decision::Refuse(removed(facts), ground(facts, facts.candidates.first(), None));
    }
    // What cannot be read is not gone.
    if !facts.verified && (facts.live.is_empty() || !facts.reads()) {
        let refusal = Refusal {
            required_action: Action::AskPerson,
            ..plain(facts, Code::ContractUnverified)
        };
        return Decision::Refuse(refusal, ground(facts, facts.candidates.first(), None));
    }
    if facts.crowded && !facts.reads() && !facts.live.iter().any(|live| knows(facts, live)) {
        return Decision::Refuse(crowded(facts), ground(facts, None, facts.live.first()));
    }
    let judge = Judge { facts, compare, adapt };
    let each = facts.live.iter().map(|live| judge.under(live)).collect();
    let decision = match agreed(facts, each) {
        // Which of the two is meant is the reason, whatever else they say.
        Decision::Refuse(refusal, ground)
            if facts.twice && refusal.code != Code::InvalidArguments =>
        {
            Decision::Refuse(
                Refusal {
                    current_revision: refusal.current_revision,
                    required_action: Action::AskPerson,
                    retry: Retry::No,
                    ..plain(facts, Code::ToolAmbiguous)
                },
                ground,
            )
        }
        decision => decision,
    };
    let decision = by_rules(facts, decision);
    if !facts.policy.hold_effects || facts.reads() {
        return decision;
    }
    let (adapted, ground) = match decision {
        Decision::Forward(ground) => (None, ground),
        Decision::Adapt(adapted, ground) => (Some(adapted), ground),
        Decision::Hold(..) | Decision::Refuse(..) => return decision,
    };
    Decision::Hold(by_operator(facts, Code::ApprovalRequired, &ground), adapted, ground)
}

/// What a rule of the operator says about a call that its contract lets run, or run once a person approved it.
fn by_rules(facts: &Facts<'_>, decision: Decision) -> Decision {
    let Some(calls) = facts.calls else { return decision };
    let destroys = facts.live.iter().any(|live| live.hints().destructive);
    let effect = match (facts.reads(), destroys) {
        (true, _) => policy::Effect::Read,
        (false, false) => policy::Effect::Write,
        (false, true) => policy::Effect::Irreversible,
    };
    let says = |tool: &str| {
        let (server, principal, free_form) = (facts.server, facts.principal, facts.free_form);
        calls.says(&policy::Asked { server, tool, principal, effect, free_form }).0
    };
    let (held, adapted, ground) = match decision {
        Decision::Forward(ground) => (None, None, ground),
        Decision::Adapt(adapted, ground) => (None, Some(adapted), ground),
        Decision::Hold(refusal, adapted, ground) => (Some(refusal), adapted, ground),
        Decision::Refuse(..) => return decision,
    };
    // The tool that was called and the one that would run: the stricter word counts.
    let called = says(facts.name);
    let runs = adapted.as_ref().map_or(called, |adapted| says(&adapted.tool));
    let denied = called == Say::Deny || runs == Say::Deny;
    let asks = called == Say::Ask || runs == Say::Ask;
    match (held, adapted) {
        _ if denied => Decision::Refuse(by_operator(facts, Code::PolicyDenied, &ground), ground),
        (Some(held), adapted) => Decision::Hold(held, adapted, ground),
        (None, adapted) if asks => {
            Decision::Hold(by_operator(facts, Code::ApprovalRequired, &ground), adapted, ground)
        }
        (None, Some(adapted)) => Decision::Adapt(adapted, ground),
        (None, None) => Decision::Forward(ground),
    }
}

/// The refusal of a call that is fine by its contract.
fn by_operator(facts: &Facts<'_>, code: Code, ground: &Ground) -> Refusal {
    Refusal {
        planned_revision: ground.planned.clone(),
        current_revision: ground.live.clone(),
        required_action: Action::AskPerson,
        retry: Retry::No,
        ..plain(facts, code)
    }
}

struct Judge<'a> {
    facts: &'a Facts<'a>,
    compare: &'a dyn Compare,
    adapt: &'a dyn Adapt,
}

impl Judge<'_> {
    /// The decision if `live` were what runs the call.
    fn under(&self, live: &Arc<Revised>) -> Decision {
        let facts = self.facts;
        let planned = match self.planned(live) {
            Ok(planned) => planned,
            Err(refusal) => return Decision::Refuse(*refusal, ground(facts, None, Some(live))),
        };
        let each: Vec<Decision> =
            planned.iter().map(|(planned, grade)| self.one(planned, *grade, live)).collect();
        let decision = agreed(facts, each);
        let ground = match &decision {
            Decision::Forward(ground) | Decision::Adapt(_, ground) => ground.clone(),
            // What is held waits for the same person; the card tells of the first reason.
            Decision::Hold(..) | Decision::Refuse(..) => return decision,
        };
        let sent = match &decision {
            Decision::Adapt(adapted, _) => &adapted.arguments,
            _ => facts.arguments,
        };
        let wider = self.reach(live, sent);
        if wider.is_empty() { decision } else { self.beyond_grant(&wider, live, ground, decision) }
    }

    /// Which revisions the call is judged by, and how well that is known.
    fn planned(&self, live: &Arc<Revised>) -> Result<Vec<(Arc<Revised>, Grade)>, Box<Refusal>> {
        let facts = self.facts;
        let arguments = facts.arguments;
        let renamed = live.name() != facts.name;
        let same = |candidate: &Arc<Revised>| candidate.digest() == live.digest();
        if !facts.candidates.is_empty() && facts.candidates.iter().all(same) {
            // What the client saw is what runs: the server judges its own arguments. But those that fit only what the
            // client saw before that are an old plan, whatever was fetched since.
            let fits = |revised: &Arc<Revised>| matches!(revised.takes(arguments), Fit::Fits);
            let others = || facts.earlier.iter().filter(|one| !same(one));
            let judged = facts.acknowledged.is_none() && others().next().is_some();
            if judged && matches!(live.takes(arguments), Fit::Rejected(_)) {
                let old: Vec<&Arc<Revised>> = others().filter(|one| fits(one)).collect();
                if !old.is_empty() {
                    return Ok(with_grade(old, Grade::Shape));
                }
            }
            return Ok(vec![(Arc::clone(live), facts.grade)]);
        }
        if knows(facts, live) && !renamed {
            // It knows what moved. That is no leave to send what is no call at all.
            return match live.takes(arguments) {
                Fit::Rejected(_) => Err(Box::new(invalid(facts, live))),
                Fit::Fits | Fit::Unknown(_) => Ok(vec![(Arc::clone(live), facts.grade)]),
            };
        }
        let written: Vec<&Arc<Revised>> =
            facts.candidates.iter().filter(|c| c.could_write(arguments)).collect();
        if !written.is_empty() {
            return Ok(with_grade(written, facts.grade));
        }
        let untold = self.untold(live);
        if !renamed && live.could_write(arguments) {
            // Only the live revision could have produced it: a call repaired by its refusal, or one of an old plan with a
            // slip that happens to fit. Where what it says may mean something else by now, that makes the difference.
            if untold.is_empty() && live.takes(arguments) == Fit::Fits {
                return Ok(vec![(Arc::clone(live), Grade::Shape)]);
            }
            let old: Vec<&Arc<Revised>> = match untold.is_empty() {
                true => facts.candidates.iter().collect(),
                false => untold.iter().map(|(planned, _)| planned).collect(),
            };
            if !old.is_empty() {
                return Ok(with_grade(old, facts.grade));
            }
        }
        let valid: Vec<&Arc<Revised>> = facts
            .candidates
            .iter()
            .filter(|c| !matches!(c.takes(arguments), Fit::Rejected(_)))
            .collect();
        if !valid.is_empty() {
            return Ok(with_grade(valid, facts.grade));
        }
        let moved: Vec<&Change> = untold.iter().flat_map(|(_, moved)| moved).collect();
        Err(Box::new(also(invalid(facts, live), faults(&moved, live))))
    }

    /// For each candidate that differs in it: what moved in meaning, or may have, in places where this call says what
    /// someone could have written who never saw the live revision.
    fn untold(&self, live: &Arc<Revised>) -> Vec<(Arc<Revised>, Vec<Change>)> {
        let facts = self.facts;
        let mut untold = Vec::new();
        for planned in facts.candidates.iter().filter(|one| one.digest() != live.digest()) {
            let Some(entry) = self.compare.compare(planned, live) else { continue };
            let moved: Vec<Change> = on_call(&entry, facts.arguments)
                .filter(|change| stirs(change))
                .filter(|change| match change.axes.meaning {
                    Meaning::Same => false,
                    Meaning::Unknown => !facts.reads(),
                    Meaning::Changed => true,
                })
                .filter(|change| said_of_old(planned, change, facts.arguments))
                .cloned()
                .collect();
            if !moved.is_empty() {
                untold.push((Arc::clone(planned), moved));
            }
        }
        untold
    }

    /// The decision for one planned and one live revision.
    fn one(&self, planned: &Arc<Revised>, grade: Grade, live: &Arc<Revised>) -> Decision {
        let facts = self.facts;
        let mut ground =
            Ground { grade: Some(grade.name()), ..ground(facts, Some(planned), Some(live)) };
        if planned.digest() == live.digest() {
            return Decision::Forward(ground);
        }
        let Some(entry) = self.compare.compare(planned, live) else {
            return Decision::Forward(ground);
        };
        let moved: Vec<&Change> = on_call(&entry, facts.arguments).filter(|c| stirs(c)).collect();
        let fit = live.takes(facts.arguments);
        ground.rules = codes(&moved);
        let sure = moved
            .iter()
            .all(|change| change.axes.meaning == Meaning::Same && !UNREAD.contains(&change.rule));
        // A call never follows a new name by itself.
        let renamed = planned.name() != live.name();
        if sure && fit == Fit::Fits && !renamed {
            return Decision::Forward(ground);
        }
        let with = With {
            server: facts.server,
            server_version: facts.server_version,
            grade,
            effect: ground.effect,
            pin_effects: facts.policy.pin_effects,
            history: facts.history,
        };
        // What nobody could have written under a contract is not carried over from it.
        let of_plan = !matches!(planned.takes(facts.arguments), Fit::Rejected(_));
        let adapted = match of_plan {
            true => self.adapt.adapt(planned, live, facts.arguments, with),
            false => Ok(None),
        };
        let ended = match adapted {
            Ok(Some(adapted)) => return Decision::Adapt(adapted, ground),
            Ok(None) => None,
            Err(why) => Some(why),
        };
        if renamed {
            let mut removed = removed(facts);
            removed.changed.extend(ended.map(Fault::of_adapter));
            return Decision::Refuse(removed, ground);
        }
        let known = moved.iter().all(|change| {
            change.axes.meaning != Meaning::Changed && !UNREAD.contains(&change.rule)
        });
        if known && fit == Fit::Fits {
            // Nothing says that the call means something else; nothing proves that it does not.
            if !ground.effect {
                return Decision::Forward(ground);
            }
            let stale = self.stale(Code::ContractUndecided, planned, live, &moved, ended);
            return if facts.policy.holds_doubt(true) {
                let stale = Refusal { required_action: Action::AskPerson, ..stale };
                Decision::Hold(stale, None, ground)
            } else {
                Decision::Refuse(stale, ground)
            };
        }
        let code = if matches!(fit, Fit::Unknown(_)) && known {
            Code::ContractUndecided
        } else {
            Code::StaleToolSchema
        };
        Decision::Refuse(self.stale(code, planned, live, &moved, ended), ground)
    }

    /// Changes by which this call reaches further than was granted, or may. A name that came back is measured by what was
    /// granted of it before it went, and one that never was granted anything by what the client saw: a client that
    /// looks again moves the last of these alone.
    fn reach(&self, live: &Arc<Revised>, sent: &Value) -> Vec<Change> {
        let facts = self.facts;
        let measures: Vec<&Arc<Revised>> = match facts.granted.or(facts.lapsed) {
            Some(granted) => vec![granted],
            None => facts.candidates.iter().collect(),
        };
        let mut wider: Vec<Change> = Vec::new();
        for measure in measures.into_iter().filter(|m| m.digest() != live.digest()) {
            let Some(entry) = self.compare.compare(measure, live) else { continue };
            wider.extend(
                on_call(&entry, sent)
                    .filter(|change| !of_old_reach(measure, change, sent))
                    .filter(|change| match change.axes.authority {
                        Authority::Wider => true,
                        // What nobody can tell is not safe, where something may come of it.
                        Authority::Unknown => !facts.reads(),
                        Authority::Same | Authority::Narrower => false,
                    })
                    .cloned(),
            );
        }
        wider
    }

    /// The call is fine but for its reach.
    fn beyond_grant(
        &self,
        wider: &[Change],
        live: &Arc<Revised>,
        mut ground: Ground,
        allowed: Decision,
    ) -> Decision {
        let facts = self.facts;
        let wider: Vec<&Change> = wider.iter().collect();
        ground.rules.extend(codes(&wider));
        let looked = knows(facts, live)
            || (!facts.candidates.is_empty()
                && facts.candidates.iter().all(|c| c.digest() == live.digest()));
        let surely = wider.iter().any(|change| change.axes.authority == Authority::Wider);
        let code = if surely { Code::AuthorityWidened } else { Code::ContractUndecided };
        let refusal = Refusal {
            changed: faults(&wider, live),
            planned_revision: facts.granted.or(facts.lapsed).map(|g| g.digest().to_owned()),
            current_revision: Some(live.digest().to_owned()),
            required_action: Action::RefreshTools,
            retry: Retry::NewDecision,
            ..plain(facts, code)
        };
        if facts.policy.holds_doubt(ground.effect) {
            let refusal =
                Refusal { required_action: Action::AskPerson, retry: Retry::No, ..refusal };
            let adapted = match allowed {
                Decision::Adapt(adapted, _) => Some(adapted),
                _ => None,
            };
            return Decision::Hold(refusal, adapted, ground);
        }
        match facts.policy.on_wider {
            OnWider::NewDecision | OnWider::HoldEffects | OnWider::Hold if looked => {
                with_ground(allowed, ground)
            }
            OnWider::NewDecision | OnWider::HoldEffects | OnWider::Hold => {
                Decision::Refuse(refusal, ground)
            }
            OnWider::Refuse => Decision::Refuse(
                Refusal { required_action: Action::AskPerson, retry: Retry::No, ..refusal },
                ground,
            ),
        }
    }

    /// The refusal of a call that was planned under another contract.
    fn stale(
        &self,
        code: Code,
        planned: &Arc<Revised>,
        live: &Arc<Revised>,
        moved: &[&Change],
        ended: Option<String>,
    ) -> Refusal {
        let facts = self.facts;
        let (mut missing, rejection) = misfit(live, facts.arguments);
        let mut obsolete = Vec::new();
        let mut rest = Vec::new();
        for change in moved {
            match (change.rule, &change.field) {
                ("SF110" | "SF111" | "SF112", Some(field)) => obsolete.push(field.clone()),
                ("SF101" | "SF102" | "SF103", Some(field)) => {
                    if !missing.iter().any(|(name, _)| name == field) {
                        let schema = change.after.clone().unwrap_or(Value::Null);
                        missing.push((field.clone(), schema));
                    }
                }
                _ => rest.push(*change),
            }
        }
        let mut changed = faults(&rest, live);
        changed.extend(ended.map(Fault::of_adapter));
        let meaning_moved = rest.iter().any(|change| change.axes.meaning != Meaning::Same);
        let explained = !(missing.is_empty() && obsolete.is_empty() && changed.is_empty());
        let required_action =
            if meaning_moved { Action::RefreshTools } else { Action::FixArguments };
        let ready = ready(live, facts.arguments, moved);
        let (retry, _) = may_retry(&RetryFacts {
            names_the_cause: explained,
            repair: repair(ready.as_ref(), moved),
            reach: reach(moved),
            effect: Effect::None,
        });
        Refusal {
            ready,
            missing,
            obsolete,
            changed,
            rejection: rejection.filter(|_| !explained),
            planned_revision: Some(planned.digest().to_owned()),
            current_revision: Some(live.digest().to_owned()),
            required_action,
            retry,
            ..plain(facts, code)
        }
    }
}

/// How the call can be brought into the new form, as a client may do by itself.
fn repair(ready: Option<&Value>, moved: &[&Change]) -> Repair {
    let lexicon = Lexicon::default();
    let chooses =
        |change: &&&Change| change.field.as_deref().is_some_and(|field| lexicon.never_guess(field));
    match ready {
        None => Repair::None,
        Some(_) if moved.iter().any(|change| chooses(&change)) => Repair::Sensitive,
        Some(_) => Repair::Unambiguous,
    }
}

/// Whether the call in its new form acts on the same thing with the same authority.
fn reach(moved: &[&Change]) -> Reach {
    match moved.iter().map(|change| change.axes.authority).max() {
        None | Some(Authority::Same | Authority::Narrower) => Reach::Same,
        Some(Authority::Unknown) => Reach::Unknown,
        Some(Authority::Wider) => Reach::Other,
    }
}

/// The same decision over other ground.
fn with_ground(decision: Decision, ground: Ground) -> Decision {
    match decision {
        Decision::Adapt(adapted, _) => Decision::Adapt(adapted, ground),
        _ => Decision::Forward(ground),
    }
}

fn with_grade(revisions: Vec<&Arc<Revised>>, grade: Grade) -> Vec<(Arc<Revised>, Grade)> {
    revisions.into_iter().map(|revision| (Arc::clone(revision), grade)).collect()
}

/// Several candidates, or several live revisions: the call goes on only where all say the same.
fn agreed(facts: &Facts<'_>, each: Vec<Decision>) -> Decision {
    let goes = |decision: &Decision| !matches!(decision, Decision::Refuse(..));
    // What would be sent. A hold and what goes on at once may be the same action.
    let action = |decision: &Decision| match decision {
        Decision::Adapt(adapted, _) | Decision::Hold(_, Some(adapted), _) => {
            Some((adapted.tool.clone(), adapted.arguments.clone()))
        }
        Decision::Forward(_) | Decision::Hold(_, None, _) | Decision::Refuse(..) => None,
    };
    let differs = each
        .windows(2)
        .any(|pair| goes(&pair[0]) != goes(&pair[1]) || action(&pair[0]) != action(&pair[1]));
    // All go on alike, or all refuse: the first speaks for all. Where one waits for a person, all do.
    let held = |decision: &Decision| matches!(decision, Decision::Hold(..));
    let speaks = if differs {
        each.iter().position(|decision| !goes(decision))
    } else {
        Some(each.iter().position(held).unwrap_or(0))
    };
    speaks.and_then(|index| each.into_iter().nth(index)).unwrap_or_else(|| {
        let fault = Fault {
            rule: "revisions",
            field: None,
            what: "several revisions are possible, and they would run this call differently".into(),
        };
        let refusal = Refusal {
            changed: vec![fault],
            required_action: Action::RefreshTools,
            ..plain(facts, Code::ContractUndecided)
        };
        Decision::Refuse(refusal, ground(facts, None, None))
    })
}

/// Changes that could stop a call; notation, wording and plain additions do not.
fn stirs(change: &Change) -> bool {
    change.suppressed.is_none()
        && change.verdict > crate::verdict::Verdict::Safe
        && (change.axes.meaning != Meaning::Same
            || change.axes.compat > crate::verdict::Compat::Compatible)
}

fn codes(changes: &[&Change]) -> Vec<&'static str> {
    let mut codes: Vec<&'static str> = Vec::new();
    for change in changes {
        if !codes.contains(&change.rule) {
            codes.push(change.rule);
        }
    }
    codes
}

/// The same call in the new form, where every step is mechanical and nothing is invented.
fn ready(live: &Arc<Revised>, arguments: &Value, moved: &[&Change]) -> Option<Value> {
    let mut ready = arguments.as_object()?.clone();
    for change in moved {
        let field = change.field.as_deref()?;
        if field.contains(['.', '[']) {
            return None;
        }
        match change.rule {
            "SF111" => {
                let to = change.path.rsplit('/').next()?.replace("~1", "/").replace("~0", "~");
                if to == field || ready.contains_key(&to) {
                    return None;
                }
                let value = ready.shift_remove(field)?;
                ready.insert(to, value);
            }
            "SF133" => {
                let sent = ready.get(field)?.as_str()?.to_lowercase();
                let values = live.argument(field)?.get("enum")?.as_array()?;
                let mut like = values
                    .iter()
                    .filter(|value| value.as_str().is_some_and(|v| v.to_lowercase() == sent));
                let (Some(one), None) = (like.next(), like.next()) else { return None };
                ready.insert(field.to_owned(), one.clone());
            }
            // The default that held when the call was planned says what leaving it out meant.
            "SF150" => {
                ready.insert(field.to_owned(), change.before.clone()?);
            }
            _ => return None,
        }
    }
    let ready = Value::Object(ready);
    (live.could_write(&ready) && ready != *arguments).then_some(ready)
}

/// Findings that a place takes more than before. A value that it took before reaches no further.
const MORE_VALUES: &[&str] = &["SF404", "SF405"];

/// True where a change lets a place reach further, and this call sends what that place took before.
fn of_old_reach(measure: &Revised, change: &Change, arguments: &Value) -> bool {
    let Some(field) = change.field.as_deref().filter(|_| MORE_VALUES.contains(&change.rule)) else {
        return false;
    };
    let name = field.split(['.', '[']).next().unwrap_or(field);
    let taken = |value| measure.takes_argument(name, value) == Some(Fit::Fits);
    arguments.get(name).is_some_and(taken)
}

/// True where the place of a change holds what could have been written under the old definition. An argument that it does
/// not have, or a value that it does not take there, was written by the new one.
fn said_of_old(planned: &Revised, change: &Change, arguments: &Value) -> bool {
    let Some(field) = change.field.as_deref() else { return true };
    let name = field.split(['.', '[']).next().unwrap_or(field);
    match arguments.get(name) {
        Some(value) => match planned.takes_argument(name, value) {
            Some(fit) => !matches!(fit, Fit::Rejected(_)),
            None => false,
        },
        None => true,
    }
}

/// True where the client said in this call that it knows this revision.
fn knows(facts: &Facts<'_>, live: &Revised) -> bool {
    facts.acknowledged == Some(live.digest())
}

fn ground(
    facts: &Facts<'_>,
    planned: Option<&Arc<Revised>>,
    live: Option<&Arc<Revised>>,
) -> Ground {
    Ground {
        planned: planned.map(|revision| revision.digest().to_owned()),
        live: live.map(|revision| revision.digest().to_owned()),
        grade: Some(facts.grade.name()),
        rules: Vec::new(),
        effect: !facts.reads(),
    }
}
