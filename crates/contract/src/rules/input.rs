//! SF1xx: what the caller sends.

use super::finding::{Context, Judgement, finding, shown};
use super::{Evidence, Rule, authority, comparison, defaults, values, wording};
use crate::change::Change;
use crate::edit::{Edit, What, is_zero};
use crate::lexicon::{GuardKind, Role, guard_kind};
use crate::prose::{self, SignalKind};
use crate::relation::Local;
use crate::verdict::{Authority, Class, Compat, Meaning};
use serde_json::Value;

rules! {
    Input;
    SF101 "required-input-added" Witness "A new required argument: calls planned before lack it and are refused."
    SF102 "required-input-added-with-default" Witness "A new required argument with a stated default that can be written in."
    SF103 "input-became-required" Witness "An argument that could be left out must be sent now."
    SF104 "defaulted-input-listed-as-required" Proof "An argument with a default is listed as required: the schema generator's spelling, not a new duty."
    SF105 "input-became-optional" Proof "An argument that had to be sent can be left out now."
    SF110 "input-removed" Proof "An argument is gone: a planned value is refused, or silently ignored where the schema is open."
    SF111 "input-renamed" Proof "An argument has another name for the same value; a key map carries old calls over."
    SF112 "input-rename-suspected" Declared "An argument is gone and a like one is new; that they mean the same is only a guess."
    SF120 "optional-input-added" Proof "A new argument that old calls leave out."
    SF121 "guard-input-added" Declared "A new argument that guards the deed: calls without it may be refused or do less, and nobody may fill it in."
    SF122 "active-default-added" Declared "A new argument acts when it is left out: old calls now do more than they did."
    SF123 "answer-cut-by-default" Declared "A new argument cuts the answer when it is left out: old calls now see less."
    SF130 "input-kind-narrowed" Witness "Values of a kind that was taken before are refused."
    SF131 "input-kind-widened" Proof "Values of another kind are taken besides."
    SF132 "input-values-dropped" Witness "Listed values are no longer taken."
    SF133 "input-values-recased" Witness "Listed values are spelt in another case; a value map carries old calls over."
    SF134 "input-values-listed" Witness "Values that were free text before must come from a list now."
    SF135 "input-values-added" Proof "Listed values were added, or the list was lifted."
    SF140 "input-bound-tightened" Witness "A bound moved inwards: values that fitted before are refused."
    SF141 "input-bound-loosened" Proof "A bound moved outwards."
    SF142 "input-pattern-changed" Witness "The pattern of a text argument changed."
    SF143 "input-format-changed" Declared "The stated format of an argument changed."
    SF144 "input-combination-changed" Witness "A rule over several arguments or alternatives changed."
    SF145 "degenerate-values-refused" Witness "Empty, non-positive or inexact values are refused now; no usual call sends them."
    SF146 "input-object-closed" Proof "Undeclared arguments are refused now; declared ones are all still there."
    SF147 "input-object-opened" Proof "Undeclared arguments are taken now."
    SF136 "input-items-stated" Witness "What a list holds is described for the first time; usual lists fit."
    SF148 "input-map-closed" Witness "A free map takes no members any more: everything that was sent in it is refused."
    SF150 "input-default-changed" Declared "A stated default moved: calls that leave the argument out mean something else."
    SF151 "input-default-stated" Declared "A default is stated that was not stated before."
    SF152 "input-default-withdrawn" Declared "A stated default is gone: what leaving the argument out means is open."
    SF160 "input-meaning-moved" Declared "The text of an argument changed in a duty, a number, a unit, a default, an effect or a choice."
    SF161 "input-reworded" Declared "The text of an argument was reworded."
    SF162 "input-duty-tightened" Declared "The text of an argument asks for more than before; a server that means it refuses by itself."
    SF170 "input-read-only" Declared "An argument is marked read-only: what is sent is not obeyed."
    SF172 "input-deprecated" Declared "An argument is marked deprecated or no longer so."
    SF180 "input-schema-blanked" Proof "The input schema says nothing any more: a fault of the server or of its libraries until proven otherwise."
}

/// Judges one edit of an input schema.
pub fn judge(edit: &Edit, local: &Local, context: &Context<'_>) -> Vec<Change> {
    let find = |rule: &'static Rule, judgement: Judgement, sentence: String| {
        super::finding::with_witness(
            finding(rule, edit, context, judgement, sentence),
            if judgement_breaks(rule) { local.lost_witness() } else { None },
        )
    };
    let field = edit.field.as_str();
    let name = if field.is_empty() { "the arguments" } else { field };
    let role = context.lexicon.role_of(field, edit.kind());
    let never_guess = role.is_guarded();
    match &edit.what {
        What::FieldAdded { required: true, default: None, .. } => vec![find(
            &SF101,
            if never_guess {
                Judgement::BREAKING.meaning(Meaning::Changed).authority(Authority::Unknown)
            } else {
                Judgement::BREAKING.meaning(Meaning::Changed)
            },
            format!("`{name}` must be sent now: a call planned before lacks it and is refused"),
        )],
        What::FieldAdded { required: true, default: Some(default), .. } => {
            if never_guess {
                vec![find(
                    &SF101,
                    Judgement::BREAKING.meaning(Meaning::Changed).authority(Authority::Unknown),
                    format!(
                        "`{name}` must be sent now and chooses the target, the authority or a guard: its default {} is not ours to write in",
                        shown(default)
                    ),
                )]
            } else {
                vec![find(
                    &SF102,
                    Judgement::ADAPTABLE,
                    format!(
                        "`{name}` must be sent now; its stated default {} can be written in",
                        shown(default)
                    ),
                )]
            }
        }
        What::FieldAdded { required: false, default, text, inner } => {
            vec![added_optional(edit, default.as_ref(), text, inner, context)]
        }
        What::FieldRemoved { ignored, .. } => {
            let effect = if *ignored {
                "the schema is open, so a planned value is silently ignored"
            } else {
                "a call that sends it is refused"
            };
            vec![find(
                &SF110,
                Judgement::BREAKING.meaning(Meaning::Changed).authority(if role == Role::Guard {
                    Authority::Wider
                } else {
                    Authority::Same
                }),
                format!("`{name}` is gone: {effect}"),
            )]
        }
        What::FieldRenamed { from, to, likeness, ignored } => {
            let lost = if *ignored { "ignored" } else { "refused" };
            if likeness.certain {
                vec![find(
                    &SF111,
                    Judgement::ADAPTABLE,
                    format!(
                        "`{from}` is `{to}` now ({}); under the old name it is {lost}",
                        likeness.reasons.join(", ")
                    ),
                )]
            } else {
                vec![find(
                    &SF112,
                    Judgement::BREAKING.meaning(Meaning::Changed),
                    format!(
                        "`{from}` is gone and `{to}` is new ({}): a guess, not a map; under the old name it is {lost}",
                        likeness.reasons.join(", ")
                    ),
                )]
            }
        }
        What::BecameRequired { default: Some(default), default_kept: true } => vec![find(
            &SF104,
            Judgement::NOTATION,
            format!(
                "`{name}` is listed as required; its default {} stays, so leaving it out means the same",
                shown(default)
            ),
        )],
        What::BecameRequired { default: Some(default), .. } if !never_guess => vec![find(
            &SF103,
            Judgement::ADAPTABLE.meaning(Meaning::Unknown),
            format!(
                "`{name}` must be sent now; its stated default {} can be written in",
                shown(default)
            ),
        )],
        What::BecameRequired { .. } => vec![find(
            &SF103,
            Judgement::BREAKING.meaning(Meaning::Unknown),
            format!("`{name}` must be sent now: a call that leaves it out is refused"),
        )],
        What::BecameOptional => vec![if never_guess {
            authority::became_optional(edit, context)
        } else {
            find(&SF105, Judgement::ADDITIVE, format!("`{name}` can be left out now"))
        }],
        What::KindChanged { dropped, added, conversion } => {
            values::kind_changed(edit, dropped, added, *conversion, local, context)
        }
        What::ValuesChanged { .. } => values::values_changed(edit, local, context),
        What::BoundChanged { keyword, tighter } => {
            vec![values::bound_changed(edit, keyword, *tighter, local, context)]
        }
        What::PatternChanged => {
            let stated = values::pattern_stated(edit, local, context);
            if local.loses_nothing() && !local.same_set() {
                let what = match &edit.after {
                    None => "the pattern is gone",
                    Some(_) => "the pattern lets more pass",
                };
                if let Some(change) = authority::confinement_lifted(edit, what, context) {
                    return vec![change];
                }
            }
            if edit.after.is_none() && local.loses_nothing() && !local.same_set() {
                let sentence = format!("`{name}`: the pattern is gone, every old value still fits");
                return vec![finding(&SF142, edit, context, Judgement::ADDITIVE, sentence)];
            }
            let whole = || values::set_change(edit, local, context, &SF142, "the pattern");
            vec![stated.unwrap_or_else(whole)]
        }
        What::Combinator { keyword } => {
            if local.loses_nothing() && !local.same_set() && !edit.field.is_empty() {
                let what = format!("`{keyword}` lets more pass");
                if let Some(change) = authority::confinement_lifted(edit, &what, context) {
                    return vec![change];
                }
            }
            vec![values::set_change(edit, local, context, &SF144, &format!("`{keyword}`"))]
        }
        What::VariantsChanged { tags, .. } => {
            let mut found =
                vec![values::set_change(edit, local, context, &SF144, "the alternatives")];
            found.extend(authority::alternatives_added(edit, tags, context));
            found
        }
        What::FormatChanged { keyword } => vec![values::format_changed(edit, keyword, context)],
        What::ValueTextsMoved { .. } => values::texts_moved(edit, (&SF160, &SF161), context),
        What::Closed => {
            if local.lost.is_unknown() {
                vec![values::set_change(
                    edit,
                    local,
                    context,
                    &SF144,
                    "which undeclared members are taken",
                )]
            } else {
                vec![find(
                    &SF146,
                    Judgement::NOTATION.compat(Compat::Compatible),
                    "undeclared arguments are refused now; every declared one is judged by itself"
                        .to_string(),
                )]
            }
        }
        What::MapClosed => vec![find(
            &SF148,
            Judgement::BREAKING.meaning(Meaning::Changed),
            format!("`{name}` takes no members any more: what was sent in it is refused"),
        )],
        What::ItemsStated => vec![find(
            &SF136,
            Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower),
            format!(
                "`{name}`: what the list holds is described for the first time; usual lists fit"
            ),
        )],
        What::Opened => vec![find(
            &SF147,
            Judgement::NOTATION.compat(Compat::Compatible),
            "undeclared arguments are taken now".to_string(),
        )],
        What::DefaultChanged => vec![defaults::default_changed(edit, context)],
        What::TextChanged { .. } => text_changed(edit, context),
        What::Uncompared => vec![comparison::uncompared(edit, context)],
        What::MarkChanged { mark } => vec![mark_changed(edit, mark, context)],
        What::Blanked => vec![find(
            &SF180,
            Judgement::BREAKING.meaning(Meaning::Unknown).authority(Authority::Unknown),
            match edit.after.as_ref().filter(|after| after.is_object()) {
                Some(_) => "the input schema says nothing any more: no argument is declared",
                None => "there is no input schema any more: what may be sent is not told",
            }
            .to_string(),
        )],
    }
}

fn judgement_breaks(rule: &Rule) -> bool {
    rule.evidence == Evidence::Witness
}

fn added_optional(
    edit: &Edit,
    default: Option<&Value>,
    text: &str,
    inner: &[(String, Option<&'static str>)],
    context: &Context<'_>,
) -> Change {
    let role = context.lexicon.role_said(&edit.field, edit.kind(), text);
    // A default that only the text states is one.
    let told = default.is_none().then(|| told_default(text)).flatten();
    let default = default.or(told.as_ref());
    if let Some((rule, judgement, sentence)) = on_by_itself(edit, default, text, role, context) {
        return finding(rule, edit, context, judgement, sentence);
    }
    if let Some(change) = authority::optional_added(edit, role, default, text, context) {
        return change;
    }
    if let Some(change) = authority::inner_added(edit, inner, context) {
        return change;
    }
    let sentence =
        format!("`{}` can be sent now; old calls leave it out and go on as before", edit.field);
    finding(&SF120, edit, context, Judgement::ADDITIVE, sentence)
}

/// The default that a text states, as a value.
fn told_default(text: &str) -> Option<Value> {
    let sentences = prose::sentences(text);
    let literal = sentences.iter().find_map(|sentence| prose::stated_default(sentence))?;
    Some(match literal.as_str() {
        "on" | "true" => Value::Bool(true),
        "off" | "false" => Value::Bool(false),
        "null" | "none" => Value::Null,
        other => other.parse::<i64>().map_or_else(|_| Value::from(other), Value::from),
    })
}

/// What an optional argument does to calls that leave it out: it guards, widens or cuts by itself.
fn on_by_itself(
    edit: &Edit,
    default: Option<&Value>,
    text: &str,
    role: Role,
    context: &Context<'_>,
) -> Option<(&'static Rule, Judgement, String)> {
    let field = edit.field.as_str();
    let acts = default.is_some_and(|value| !is_zero(value));
    let lower = text.to_lowercase();
    let narrower = Judgement::LOOK.authority(Authority::Narrower);
    match guard_kind(field) {
        Some(GuardKind::Confirm) => {
            let sentence = format!(
                "`{field}` asks for a person's yes; the schema calls it optional, and filling it in would defeat it"
            );
            return Some((&SF121, narrower, sentence));
        }
        Some(GuardKind::Reveal) => {
            let sentence = format!(
                "`{field}` shows what is masked without it: old calls may get a mask, and nobody may switch it on for them"
            );
            return Some((&SF121, Judgement::LOOK, sentence));
        }
        Some(GuardKind::DryRun) if acts => {
            let sentence =
                format!("`{field}` is on when left out: old calls now do nothing for real");
            return Some((&SF121, narrower, sentence));
        }
        _ => {}
    }
    let demanded = (lower.contains("must be true") || lower.contains("must be set to true"))
        && edit.after.as_ref().is_some_and(|s| s.get("type").is_some_and(|t| t == "boolean"));
    if demanded {
        let sentence = format!("`{field}` is optional in the schema and demanded by its text");
        return Some((&SF121, narrower, sentence));
    }
    if role == Role::Effect && default == Some(&Value::Bool(true)) {
        let sentence =
            format!("`{field}` is on when left out: old calls now do more than they did");
        return Some((&SF122, Judgement::LOOK.authority(Authority::Wider), sentence));
    }
    let whole = ["complete ", "entire ", "full ", "whole "];
    let promised = whole.iter().find(|word| {
        context.old_text.to_lowercase().contains(**word)
            && !context.new_text.to_lowercase().contains(**word)
    });
    if let (Role::Paging, true, Some(word)) = (role, acts, promised) {
        let sentence = format!(
            "`{field}` cuts the answer to {} when left out; the text no longer says \"{}\"",
            default.map_or("its default".into(), shown),
            word.trim()
        );
        return Some((&SF123, Judgement::LOOK, sentence));
    }
    // A new filter that is on, or a new cap, cuts what old calls saw whole.
    const FILTERS: &[&str] =
        &["exclude", "only", "hide", "filter", "compact", "truncate", "dedupe", "status", "state"];
    const CAPS: &[&str] = &["limit", "max", "sample", "results", "per", "size"];
    let named = |list: &[&str]| {
        let name = field.rsplit('.').next().unwrap_or("");
        crate::lexicon::words(name).iter().any(|word| list.contains(&word.as_str()))
    };
    let filters =
        named(FILTERS) && default.is_some_and(|v| *v == Value::Bool(true) || v.is_string());
    let caps = role == Role::Paging && named(CAPS) && default.is_some_and(Value::is_number);
    if acts && !field.contains('.') && (filters || caps) {
        let sentence = format!(
            "`{field}` cuts the answer to {} when left out: old calls may see less",
            default.map_or("its default".into(), shown)
        );
        return Some((&SF123, Judgement::LOOK, sentence));
    }
    None
}

fn text_changed(edit: &Edit, context: &Context<'_>) -> Vec<Change> {
    let What::TextChanged { signals } = &edit.what else { return Vec::new() };
    let signals: Vec<prose::Signal> = signals
        .iter()
        .filter(|signal| !wording::told_elsewhere(signal, context.new_text))
        .cloned()
        .collect();
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    wording::text_findings(&signals, &|kind, judgement, sentence| {
        let rule = match kind {
            None => &SF161,
            Some(SignalKind::DutyTightened | SignalKind::LimitRaised) => &SF162,
            Some(_) => &SF160,
        };
        finding(rule, edit, context, judgement, format!("`{name}`: {sentence}"))
    })
}

fn mark_changed(edit: &Edit, mark: &str, context: &Context<'_>) -> Change {
    let name = edit.field.as_str();
    let set = edit.after.as_ref().is_some_and(|v| *v != Value::Bool(false));
    match mark {
        "readOnly" if set => finding(
            &SF170,
            edit,
            context,
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("`{name}` is read-only now: a planned value is refused or ignored"),
        ),
        "x-mcp-header" if set => authority::disclosed(edit, context),
        _ => finding(
            &SF172,
            edit,
            context,
            Judgement::WORDING,
            format!("`{name}`: `{mark}` changed; calls go on as before"),
        ),
    }
}
