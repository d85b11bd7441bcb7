//! SF2xx: what the caller receives. The reader ignores members it does not know, and acts on those it does.

use super::finding::{Context, Judgement, finding, shown, shown_list};
use super::{Rule, wording};
use crate::change::Change;
use crate::edit::{Edit, What};
use crate::lexicon::{Role, is_identifier};
use crate::prose::{self, SignalKind};
use crate::relation::Local;
use crate::verdict::{Authority, Class, Compat, Meaning};
use serde_json::Value;

rules! {
    Output;
    SF201 "output-field-removed" Proof "A field of the answer is gone: what depends on it must stop, not improvise it."
    SF202 "output-field-unpromised" Witness "A field that was always in the answer may be missing now."
    SF203 "output-field-renamed" Declared "A field of the answer has another name: what reads the old name finds nothing."
    SF204 "output-kind-changed" Witness "A field of the answer holds another kind of value."
    SF205 "output-values-added" Witness "A field of the answer can hold values that no plan knows."
    SF206 "output-field-added" Proof "A new field in the answer; readers that do not know it go on."
    SF207 "output-narrowed" Proof "The answer promises more than before."
    SF208 "output-format-changed" Declared "A field of the answer is written in another format."
    SF209 "output-meaning-moved" Declared "The text of the answer changed in a number, a unit, a duty or what it holds."
    SF210 "output-schema-added" Proof "The answer is described now."
    SF211 "output-schema-removed" Proof "The answer is no longer described: nothing in it is promised."
    SF212 "output-combination-changed" Witness "A rule over several fields of the answer changed."
    SF213 "output-bound-loosened" Witness "A field of the answer can hold values beyond its old bounds."
    SF214 "output-reworded" Declared "The text of the answer was reworded."
    SF215 "output-closing-changed" Proof "Whether the answer may hold undeclared fields changed; readers ignore those."
}

/// Judges one edit of an output schema.
pub fn judge(edit: &Edit, local: &Local, context: &Context<'_>) -> Vec<Change> {
    let field = edit.field.as_str();
    let name = if field.is_empty() { "the answer" } else { field };
    let identifies = is_identifier(field);
    let find = |rule: &'static Rule, judgement: Judgement, sentence: String| {
        finding(rule, edit, context, judgement, sentence)
    };
    // What a reader acts on is gone or another thing: the plan cannot be met.
    let broken = Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed);
    let look = Judgement::LOOK.compat(Compat::Breaking);
    let narrowed = |sentence: String| find(&SF207, Judgement::ADDITIVE, sentence);
    match &edit.what {
        What::FieldRemoved { required, .. } => {
            let judgement = if *required || identifies { broken } else { look };
            vec![find(
                &SF201,
                judgement.class(Class::Removal),
                format!("`{name}` is gone from the answer: what depends on it must stop"),
            )]
        }
        What::FieldRenamed { from, to, .. } => vec![find(
            &SF203,
            broken,
            format!(
                "`{from}` is gone from the answer and `{to}` is new: what reads `{from}` finds nothing"
            ),
        )],
        What::FieldAdded { .. } => vec![find(
            &SF206,
            Judgement::ADDITIVE,
            format!("the answer also holds `{name}`; readers that do not know it go on"),
        )],
        What::BecameRequired { .. } => {
            vec![narrowed(format!("`{name}` is always in the answer now"))]
        }
        What::BecameOptional => vec![find(
            &SF202,
            if identifies { broken } else { look },
            format!("`{name}` may be missing from the answer now: absent is not empty"),
        )],
        What::KindChanged { dropped, added, .. } => {
            if local.gains_nothing() || added.is_empty() && !local.gained.is_unknown() {
                return vec![narrowed(format!("`{name}` holds fewer kinds of values"))];
            }
            let kinds = added.iter().copied().collect::<Vec<_>>().join(" or ");
            let only_null = added.len() == 1 && added.contains("null");
            let judgement =
                if only_null && !identifies && dropped.is_empty() { look } else { broken };
            let mut change =
                find(&SF204, judgement, format!("`{name}` can be {kinds} in the answer now"));
            change.witness = local.gained_witness();
            vec![change]
        }
        What::ValuesChanged { added, lifted, .. } => {
            if added.is_empty() && !lifted || local.gains_nothing() {
                return vec![narrowed(format!("`{name}` holds fewer values"))];
            }
            let what =
                if *lifted { "any value of its kind".to_string() } else { shown_list(added) };
            let role = context.lexicon.role_of(field, None);
            let fixed = edit.before.as_ref().and_then(Value::as_array).filter(|v| v.len() == 1);
            // An answer that names the same place each time says where each call acts, and a grant was given for that.
            let (judgement, sentence) = match fixed {
                Some(was) if matches!(role, Role::Target | Role::Authority) => (
                    look.authority(Authority::Wider),
                    format!(
                        "`{name}` was {} in every answer and can be {what} now: calls act elsewhere, or as someone else",
                        shown_list(was)
                    ),
                ),
                _ => (
                    look,
                    format!(
                        "`{name}` can be {what} in the answer now: no plan knows what to do then"
                    ),
                ),
            };
            let mut change = find(&SF205, judgement, sentence);
            change.witness = local.gained_witness();
            vec![change]
        }
        What::BoundChanged { keyword, tighter } => {
            if *tighter || local.gains_nothing() {
                return vec![narrowed(format!("`{name}`: {keyword} is tighter in the answer"))];
            }
            let mut change = find(
                &SF213,
                look,
                format!(
                    "`{name}`: {keyword} went from {} to {}: values beyond the old bound can come",
                    edit.before.as_ref().map_or("none".into(), shown),
                    edit.after.as_ref().map_or("none".into(), shown)
                ),
            );
            change.witness = local.gained_witness();
            vec![change]
        }
        What::Uncompared => vec![super::comparison::uncompared(edit, context)],
        What::ValueTextsMoved { .. } => super::values::texts_moved(edit, (&SF209, &SF214), context),
        What::FormatChanged { .. } => match (&edit.before, &edit.after) {
            (Some(before), Some(after)) => vec![find(
                &SF208,
                look,
                format!("`{name}` is written as {} now, not as {}", shown(after), shown(before)),
            )],
            _ => vec![find(
                &SF208,
                Judgement::WORDING,
                format!(
                    "`{name}`: a format is stated now, or no longer; that alone changes no value"
                ),
            )],
        },
        What::PatternChanged => vec![set_change(edit, local, context, "the pattern")],
        What::VariantsChanged { .. } => vec![set_change(edit, local, context, "the alternatives")],
        What::Combinator { keyword } => {
            vec![set_change(edit, local, context, &format!("`{keyword}`"))]
        }
        What::ItemsStated => {
            vec![narrowed(format!("`{name}`: what the list holds is described now"))]
        }
        What::Closed | What::Opened | What::MapClosed => vec![find(
            &SF215,
            Judgement::NOTATION,
            "whether undeclared fields may come changed; readers ignore those".to_string(),
        )],
        What::DefaultChanged | What::MarkChanged { .. } => vec![find(
            &SF214,
            Judgement::WORDING,
            format!("`{name}`: an annotation of the answer changed"),
        )],
        What::TextChanged { signals } => {
            // What an answer holds has no default, and how it is spelt its values tell.
            let signals: Vec<prose::Signal> = signals
                .iter()
                .filter(|signal| {
                    use SignalKind::{ChoiceRecased, DefaultDropped, RefusalAppeared};
                    !matches!(signal.kind, ChoiceRecased | DefaultDropped | RefusalAppeared)
                })
                .cloned()
                .collect();
            wording::text_findings(&signals, &|kind, judgement, what| {
                let rule = match kind {
                    None | Some(SignalKind::DutyTightened | SignalKind::LimitRaised) => &SF214,
                    Some(_) => &SF209,
                };
                finding(rule, edit, context, judgement, format!("`{name}`: {what}"))
            })
        }
        What::Blanked => vec![find(
            &SF211,
            look,
            "the answer is no longer described: nothing in it is promised".to_string(),
        )],
    }
}

/// The answer is described for the first time.
pub fn described(schema: &Value, context: &Context<'_>) -> Change {
    super::finding::bare(
        &SF210,
        context.subject,
        "/outputSchema".to_string(),
        (None, Some(schema.clone())),
        Judgement::ADDITIVE,
        "the answer is described now; the arguments are untouched".to_string(),
    )
}

/// The answer is no longer described.
pub fn undescribed(schema: &Value, context: &Context<'_>) -> Change {
    super::finding::bare(
        &SF211,
        context.subject,
        "/outputSchema".to_string(),
        (Some(schema.clone()), None),
        // A schema that named no field promised none.
        if schema.get("properties").is_none() && schema.get("$ref").is_none() {
            Judgement::NOTATION.compat(Compat::Compatible)
        } else {
            Judgement::LOOK.compat(Compat::Breaking)
        },
        "the answer is no longer described: nothing in it is promised".to_string(),
    )
}

fn set_change(edit: &Edit, local: &Local, context: &Context<'_>, what: &str) -> Change {
    let name = if edit.field.is_empty() { "the answer" } else { edit.field.as_str() };
    if local.gains_nothing() {
        return finding(
            &SF207,
            edit,
            context,
            if local.same_set() { Judgement::NOTATION } else { Judgement::ADDITIVE },
            format!("`{name}`: {what} changed; every answer that can come now could come before"),
        );
    }
    if let Some(witness) = local.gained_witness() {
        let mut change = finding(
            &SF212,
            edit,
            context,
            Judgement::LOOK.compat(Compat::Breaking),
            format!("`{name}`: {what} changed; {} can come now", shown(&witness.value)),
        );
        change.witness = Some(witness);
        return change;
    }
    finding(
        &SF212,
        edit,
        context,
        Judgement::UNDECIDED,
        format!(
            "`{name}`: {what} changed, and whether new answers can come is undecided ({})",
            local.why()
        ),
    )
}
