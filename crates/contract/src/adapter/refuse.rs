//! What no adapter may do, whatever can be proved about it.
//!
//! A proof says that the new tool takes the call. It does not say that the call still does what its caller meant,
//! and some arguments are there for just that: guards hold a call back until the caller sets them, targets and
//! authorities say what is acted on and by whom. An adapter carries such values over; it never makes them up.

use super::origin;
use super::path::{Part, Path};
use super::prove::{Refutation, Verdict};
use super::{Action, Adapter, Constant, Step, Wrapper, apply};
use crate::document::Tool;
use crate::edit::is_zero;
use crate::lexicon::{GuardKind, Lexicon, Role, guard_kind, handles, singular, words};
use crate::rules::finding::shown;
use crate::text::quoted;
use crate::view::View;
use serde_json::Value;

const LEXICON: &str =
    "If the word misleads here, list it under neutral in the [lexicon] of steadfast.toml.";
const CALLER_DECIDES: &str =
    "Leave this step out: such calls have to be refused, so that the caller decides.";

/// All that stands in the way of the adapter as it is declared.
pub(super) fn refusals(
    adapter: &Adapter,
    old: &Tool,
    new: &Tool,
    lexicon: &Lexicon,
) -> Vec<Refutation> {
    let schema = |tool: &'_ Tool| tool.raw.get("inputSchema").cloned().unwrap_or_default();
    let judge = Judge { adapter, old: schema(old), new: schema(new), lexicon };
    let mut found = Vec::new();
    for (index, step) in adapter.steps.iter().enumerate() {
        found.extend(match &step.action {
            Action::Move { from, to } => judge.carried(step, from, to),
            Action::Wrap { at, into: Wrapper::Object(key) } => {
                let mut to = at.clone();
                to.0.push(Part::Member(key.clone()));
                judge.carried(step, at, &to)
            }
            Action::Unwrap { at, from: Wrapper::Object(key) } => {
                let mut inside = at.clone();
                inside.0.push(Part::Member(key.clone()));
                judge.carried(step, &inside, at)
            }
            Action::Wrap { into: Wrapper::Array, .. }
            | Action::Unwrap { from: Wrapper::Array, .. } => None,
            Action::Map { at, values } => judge.mapped(index, at, values),
            Action::Constant(constant) => judge.constant(index, constant),
            Action::Default { at, value } => judge.default(index, at, value),
            Action::Drop { at, only_if } => judge.dropped(index, at, only_if.as_ref()),
        });
    }
    found.extend(judge.merged());
    found
}

/// A step that works on what no call of the old contract holds: the adapter is for another revision, or misspelt.
pub(super) fn idle(adapter: &Adapter, old: &Tool) -> Option<Refutation> {
    let schema = old.raw.get("inputSchema")?;
    adapter.steps.iter().enumerate().find_map(|(index, step)| {
        let at = match &step.action {
            Action::Move { from: at, .. }
            | Action::Wrap { at, .. }
            | Action::Unwrap { at, .. }
            | Action::Map { at, .. }
            | Action::Default { at, .. }
            | Action::Drop { at, .. } => at,
            Action::Constant(_) => return None,
        };
        let earlier = &adapter.steps[..index];
        let before = origin::before(earlier, at)?;
        let made = earlier.iter().any(|step| writes(&step.action, at));
        if made || origin::declares(schema, &before) {
            return None;
        }
        Some(Refutation {
            place: step.place.clone(),
            ..adapter.no(
                Verdict::NotForThis,
                format!("The old {} has no argument at {before}.", quoted(&adapter.tool)),
                "Correct the place, or check the adapter against the contract that it was written for.",
            )
        })
    })
}

/// Steps that put a value where the other side declares nothing: an open schema takes it, and nobody reads it.
pub(super) fn unread(
    adapter: &Adapter,
    steps: &[Step],
    reads: &Value,
    whose: &str,
) -> Vec<Refutation> {
    let mut found = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let put = match &step.action {
            Action::Move { to, .. } => to.clone(),
            Action::Wrap { at, into: Wrapper::Object(key) } => {
                let mut inside = at.clone();
                inside.0.push(Part::Member(key.clone()));
                inside
            }
            Action::Constant(Constant { at, .. }) | Action::Default { at, .. } => at.clone(),
            _ => continue,
        };
        let Some(last) = origin::after(&steps[index + 1..], &put) else { continue };
        if !origin::declares(reads, &last) {
            found.push(Refutation {
                place: step.place.clone(),
                ..adapter.no(
                    Verdict::Refused,
                    format!(
                        "{whose} declares nothing at {last}, so what is put there would be ignored."
                    ),
                    "Correct the place; names are compared letter by letter.",
                )
            });
        }
    }
    found
}

/// What a person should know about an adapter that is proved.
pub(super) fn notes(adapter: &Adapter) -> Vec<String> {
    let mut notes = Vec::new();
    for step in &adapter.steps {
        let why = step.reason.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        match &step.action {
            Action::Constant(constant) => {
                let held: Vec<String> = constant
                    .conditions
                    .iter()
                    .map(|(what, value)| format!("{what} is {}", quoted(value)))
                    .collect();
                let held = if held.is_empty() {
                    String::new()
                } else {
                    format!(" while {}", held.join(" and "))
                };
                notes.push(format!(
                    "sends {} at {}{held}{why}",
                    shown(&constant.value),
                    constant.at
                ));
            }
            Action::Default { at, value } => {
                notes.push(format!(
                    "sends the old default {} at {at} where it is left out{why}",
                    shown(value)
                ));
            }
            Action::Drop { at, only_if: None } => {
                notes.push(format!("leaves {at} out, whatever its value{why}"));
            }
            _ => {}
        }
    }
    notes
}

struct Judge<'a> {
    adapter: &'a Adapter,
    old: Value,
    new: Value,
    lexicon: &'a Lexicon,
}

/// Says who acts, what is acted on, or what is run.
fn selects(role: Role) -> bool {
    matches!(role, Role::Target | Role::Authority | Role::FreeForm)
}

fn in_words(role: Role) -> &'static str {
    match role {
        Role::Authority => "says who acts or what they may",
        Role::FreeForm => "says what is run or fetched",
        Role::Guard => "holds a call back until the caller sets it",
        Role::Effect => "widens what the call does",
        _ => "says what is acted on",
    }
}

impl Judge<'_> {
    /// What a place does in a call: by its own name, or, where that says nothing, by what it is a part of.
    fn role(&self, names: &[&str]) -> Role {
        let Some((last, around)) = names.split_last() else { return Role::Plain };
        let own = self.lexicon.role(last);
        if own != Role::Plain || self.lexicon.neutral.iter().any(|word| word == last) {
            return own;
        }
        let roles = around.iter().rev().map(|name| self.lexicon.role(name));
        roles.into_iter().find(|role| selects(*role) || *role == Role::Guard).unwrap_or(own)
    }

    fn role_at(&self, path: &Path) -> Role {
        self.role(&path.names().collect::<Vec<_>>())
    }

    fn refuse(&self, step: &Step, sentence: String, help: &str) -> Option<Refutation> {
        let place = step.place.clone();
        Some(Refutation { place, ..self.adapter.no(Verdict::Refused, sentence, help) })
    }

    /// A value is carried from one place to another.
    fn carried(&self, step: &Step, from: &Path, to: &Path) -> Option<Refutation> {
        let (was, is) = (self.role_at(from), self.role_at(to));
        let same_guard = was == is && guard_at(from) == guard_at(to);
        if is == Role::Guard && !same_guard {
            let sentence = format!("{from} would fill in {to}, which {}.", in_words(is));
            return self.refuse(step, sentence, CALLER_DECIDES);
        }
        if was == Role::Guard && !same_guard {
            let sentence =
                format!("{from} {} and would become {to}, which does not.", in_words(was));
            return self.refuse(
                step,
                sentence,
                &format!("A guard stays the guard it was. {LEXICON}"),
            );
        }
        let dresses = |role: Role| matches!(role, Role::Presentation | Role::Paging);
        if !akin(from, to) && (selects(was) && dresses(is) || selects(is) && dresses(was)) {
            let (place, role) = if selects(was) { (from, was) } else { (to, is) };
            let other = if selects(was) { to } else { from };
            let sentence =
                format!("{place} {}, and {other} only shapes the answer.", in_words(role));
            return self.refuse(
                step,
                sentence,
                &format!("A value keeps what it is for. {LEXICON}"),
            );
        }
        if other_handle(from.last(), to.last()) && step.reason.is_none() {
            return self.refuse(
                step,
                format!(
                    "{from} and {to} name things by different handles, and one is not the other."
                ),
                "Where the values are the same all the same, say why: reason = \"…\".",
            );
        }
        None
    }

    /// Values are replaced by others.
    fn mapped(&self, index: usize, at: &Path, values: &[(Value, Value)]) -> Option<Refutation> {
        let step = &self.adapter.steps[index];
        let role = self.role_at(at);
        if role == Role::Guard {
            let sentence = format!(
                "{at} {}, and a mapped value is an answer that the caller did not give.",
                in_words(role)
            );
            return self.refuse(step, sentence, CALLER_DECIDES);
        }
        let switched =
            values.iter().any(|(old, new)| *new == Value::Bool(true) && *old != Value::Bool(true));
        if role == Role::Effect && switched && step.reason.is_none() {
            return self.refuse(
                step,
                format!("This would switch {at} on, which {}.", in_words(role)),
                &format!("Where the old value meant just that, say so: reason = \"…\". {LEXICON}"),
            );
        }
        if !selects(role) {
            return None;
        }
        let before = origin::before(&self.adapter.steps[..index], at);
        let twin = |position: usize, new: &Value| -> Option<Value> {
            let earlier = values[..position].iter().find(|(_, other)| apply::equal(other, new));
            if let Some((old, _)) = earlier {
                return Some(old.clone());
            }
            // A value that is not mapped stays as it is.
            let stays = !values.iter().any(|(old, _)| apply::equal(old, new));
            let sent = before.as_ref().is_some_and(|path| origin::takes(&self.old, path, new));
            (stays && sent).then(|| new.clone())
        };
        values.iter().enumerate().find_map(|(position, (old, new))| {
            let twin = twin(position, new)?;
            self.refuse(
                step,
                format!(
                    "{at} {}, and both {} and {} would become {}.",
                    in_words(role),
                    shown(&twin),
                    shown(old),
                    shown(new)
                ),
                "What was told apart stays apart: leave one of them unmapped, and let it be refused.",
            )
        })
    }

    /// A value is sent that the caller did not send.
    fn constant(&self, index: usize, constant: &Constant) -> Option<Refutation> {
        let step = &self.adapter.steps[index];
        let overwrites = self.adapter.steps[..index].iter().any(|earlier| {
            matches!(&earlier.action, Action::Drop { at, .. } if at.holds(&constant.at) || constant.at.holds(at))
        });
        if overwrites {
            return self.refuse(
                step,
                format!("{} is left out above and filled in here: that overwrites what the caller sent.", constant.at),
                "Map the values that change, and let others be refused.",
            );
        }
        let mut names: Vec<&str> = constant.at.names().collect();
        let mut filled = Vec::new();
        self.fill(&mut names, &constant.value, &mut filled);
        let of = |wanted: fn(Role) -> bool| filled.iter().find(|(_, role, _)| wanted(*role));
        if let Some((place, role, _)) = of(|role| role == Role::Guard) {
            let sentence = format!("This would fill in {place}, which {}.", in_words(*role));
            return self.refuse(step, sentence, CALLER_DECIDES);
        }
        let reasoned = constant.historical && step.reason.is_some();
        if let Some((place, role, _)) = of(selects)
            && (!reasoned || constant.conditions.is_empty())
            && !self.told_by_name(constant, *role)
        {
            let mut missing = Vec::new();
            if !constant.historical {
                missing.push("historical = true (it was the only value that there was)");
            }
            if step.reason.is_none() {
                missing.push("a reason");
            }
            if constant.conditions.is_empty() {
                missing.push(
                    "the condition under which it holds, such as while = { account = \"…\" }",
                );
            }
            return self.refuse(
                step,
                format!("This would choose {place} for the caller, which {}.", in_words(*role)),
                &format!(
                    "Only what always was the value may be sent. Missing: {}. {LEXICON}",
                    missing.join("; ")
                ),
            );
        }
        let widens = filled.iter().find(|(_, role, zero)| *role == Role::Effect && !zero);
        if let Some((place, role, _)) = widens
            && !reasoned
        {
            return self.refuse(
                step,
                format!("This would set {place}, which {}.", in_words(*role)),
                &format!(
                    "Where it always was so, say it: historical = true and a reason. {LEXICON}"
                ),
            );
        }
        None
    }

    /// The default that the old contract states is sent in place of leaving the member out.
    fn default(&self, index: usize, at: &Path, value: &Value) -> Option<Refutation> {
        let step = &self.adapter.steps[index];
        let role = self.role_at(at);
        if selects(role) || role == Role::Guard {
            return self.refuse(
                step,
                format!(
                    "{at} {}, and what leaving it out meant is not for an adapter to say.",
                    in_words(role)
                ),
                CALLER_DECIDES,
            );
        }
        let stated: Vec<Value> = origin::before(&self.adapter.steps[..index], at)
            .map(|before| origin::places(&self.old, &before))
            .unwrap_or_default()
            .iter()
            .filter_map(|node| View::of(node).default.cloned())
            .collect();
        if stated.iter().any(|default| apply::equal(default, value)) {
            return None;
        }
        let (sentence, help) = match stated.first() {
            Some(default) => (
                format!(
                    "The old contract states {} as the default of {at}, not {}.",
                    shown(default),
                    shown(value)
                ),
                format!("Write value = {}.", shown(default)),
            ),
            None => (
                format!(
                    "The old contract states no default for {at}, so what leaving it out meant is not known."
                ),
                "Let calls that leave it out be refused.".to_owned(),
            ),
        };
        self.refuse(step, sentence, &help)
    }

    /// Every place that a constant fills, with its role and whether the value there is nothing (false, 0, empty).
    fn fill<'v>(
        &self,
        names: &mut Vec<&'v str>,
        value: &'v Value,
        filled: &mut Vec<(String, Role, bool)>,
    ) {
        let place = names.iter().map(|name| format!("/{name}")).collect::<String>();
        filled.push((place, self.role(names), is_zero(value)));
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    names.push(name);
                    self.fill(names, member, filled);
                    names.pop();
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.fill(names, item, filled)),
            _ => {}
        }
    }

    /// One of several tools that became one: the old name says the value, so it always was that value.
    fn told_by_name(&self, constant: &Constant, role: Role) -> bool {
        role != Role::Authority
            && self.adapter.changes_name()
            && listed(&self.new, &constant.at).contains(&constant.value)
            && named(&self.adapter.tool, &constant.value)
    }

    /// A member is left out.
    fn dropped(&self, index: usize, at: &Path, only_if: Option<&Value>) -> Option<Refutation> {
        let step = &self.adapter.steps[index];
        let held = |role: Role| selects(role) || role == Role::Guard;
        let before = origin::before(&self.adapter.steps[..index], at);
        let mut worst = (self.role_at(at), at.to_string());
        // An emptied object holds nothing any more.
        let emptied = only_if.is_some_and(|only| is_zero(only) && !only.is_boolean());
        if !held(worst.0)
            && !emptied
            && let Some(before) = &before
        {
            let inside = origin::declared_inside(&self.old, before).into_iter();
            if let Some(name) = inside.into_iter().find(|name| held(self.lexicon.role(name))) {
                worst = (self.lexicon.role(&name), format!("{name} inside {at}"));
            }
        }
        if held(worst.0) && !(emptied && only_if.is_some_and(Value::is_object)) {
            return self.refuse(
                step,
                format!("{} {}, and would be left out.", worst.1, in_words(worst.0)),
                &format!(
                    "A call that says so must not go on without it: let it be refused. {LEXICON}"
                ),
            );
        }
        if only_if.is_some() {
            return None;
        }
        if worst.0 == Role::Effect {
            return self.refuse(
                step,
                format!("{at} changes what the call does, and would be left out whatever its value."),
                "Name the value that means the same as leaving it out: only_if = false. Other calls are refused.",
            );
        }
        if step.reason.is_none() {
            return self.refuse(
                step,
                format!("{at} would be left out whatever its value, without a reason."),
                "Name the value that means the same as leaving it out (only_if = …), or give a reason = \"…\".",
            );
        }
        None
    }

    /// Several tools became one, and the one asks which of them is meant.
    fn merged(&self) -> Vec<Refutation> {
        if !self.adapter.changes_name() {
            return Vec::new();
        }
        let mut found = Vec::new();
        let old = origin::members(&self.old);
        for name in origin::members(&self.new) {
            let at = Path(vec![Part::Member(name.clone())]);
            let values = listed(&self.new, &at);
            let said: Vec<&Value> =
                values.iter().filter(|value| named(&self.adapter.tool, value)).collect();
            if values.len() < 2 || said.is_empty() || old.contains(&name) {
                continue;
            }
            let told = said.iter().map(|value| shown(value)).collect::<Vec<_>>().join(" or ");
            let written = self.adapter.steps.iter().find(|step| writes(&step.action, &at));
            match written.map(|step| (step, &step.action)) {
                None => found.push(self.adapter.no(
                    Verdict::Refused,
                    format!(
                        "{} asks by {at} for what {} said by its name ({told}), and no step answers.",
                        quoted(self.adapter.target()),
                        quoted(&self.adapter.tool)
                    ),
                    &format!("Say which of the old tools it was: constant = {{ at = \"{at}\", value = {} }}.", said[0]),
                )),
                Some((step, Action::Constant(constant)))
                    if constant.at == at
                        && step.reason.is_none()
                        && !said.contains(&&constant.value) =>
                {
                    found.extend(self.refuse(
                        step,
                        format!(
                            "{at} would be {}, and the old name {} rather says {told}.",
                            shown(&constant.value),
                            quoted(&self.adapter.tool)
                        ),
                        "Correct the value, or say why it is right: reason = \"…\".",
                    ));
                }
                Some(_) => {}
            }
        }
        found
    }
}

/// Which kind of guard a place is.
fn guard_at(path: &Path) -> Option<GuardKind> {
    path.names().rev().find_map(guard_kind)
}

/// The two names have a word in common.
fn akin(one: &Path, two: &Path) -> bool {
    let two = words(two.last());
    words(one.last()).iter().any(|word| two.iter().any(|other| singular(word) == singular(other)))
}

/// The values that a place lists.
fn listed(document: &Value, path: &Path) -> Vec<Value> {
    origin::places(document, path)
        .iter()
        .flat_map(|node| View::of(node).values.unwrap_or_default())
        .filter(Value::is_string)
        .collect()
}

/// Every word of the value stands in the name.
fn named(name: &str, value: &Value) -> bool {
    let name = words(name);
    let value = words(value.as_str().unwrap_or_default());
    !value.is_empty()
        && value.iter().all(|word| name.iter().any(|other| singular(word) == singular(other)))
}

/// The action puts a value at the place or around it.
fn writes(action: &Action, at: &Path) -> bool {
    match action {
        Action::Move { to, .. } => to.holds(at) || at.holds(to),
        Action::Constant(constant) => constant.at.holds(at) || at.holds(&constant.at),
        _ => false,
    }
}

/// Words that say one kind of handle; two names with words of different rows name things differently.
const KINDS: &[&[&str]] = &[
    &["id", "uid", "uuid", "guid", "arn", "key"],
    &["iid", "number", "num", "no"],
    &["idx", "index", "position"],
    &["name", "title", "label", "slug", "login"],
    &["url", "uri"],
    &["path"],
    &["email"],
    &["sha", "hash"],
];

/// An index is not an id: both names say a kind of handle, and not the same one.
fn other_handle(one: &str, two: &str) -> bool {
    let kinds = |name: &str| -> Vec<usize> {
        let said = handles(name);
        let known = |row: &&[&str]| said.iter().any(|word| row.contains(&singular(word)));
        KINDS.iter().enumerate().filter(|(_, row)| known(row)).map(|(index, _)| index).collect()
    };
    let (one, two) = (kinds(one), kinds(two));
    !one.is_empty() && !two.is_empty() && !one.iter().any(|kind| two.contains(kind))
}
