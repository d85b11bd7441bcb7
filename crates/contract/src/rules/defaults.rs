//! The rules about defaults: part of the contract, whether stated in the schema or in prose.

use super::finding::{Context, Judgement, finding, shown};
use super::input::{SF150, SF151, SF152};
use crate::change::Change;
use crate::edit::{Edit, is_zero};
use crate::lexicon::Role;
use crate::prose;
use crate::verdict::{Authority, Class, Meaning};
use serde_json::Value;

/// A stated default moved, appeared or went.
pub(super) fn default_changed(edit: &Edit, context: &Context<'_>) -> Change {
    let name = edit.field.as_str();
    let role = context.lexicon.role(name);
    let never_guess = context.lexicon.never_guess(name);
    let null = Value::Null;
    if edit.was_sent {
        return finding(
            &SF151,
            edit,
            context,
            Judgement::WORDING,
            format!("`{name}`: the stated default changed, and old calls always send a value"),
        );
    }
    let (before, after) = (edit.before.as_ref(), edit.after.as_ref());
    let stated = |value: Option<&Value>| value.is_some_and(|v| *v != null);
    match (stated(before), stated(after)) {
        (true, true) => {
            let (old, new) = (before.unwrap_or(&null), after.unwrap_or(&null));
            let reaches_more = role == Role::Effect && old == &Value::Bool(true);
            if never_guess || reaches_more || text_moved(edit) {
                finding(
                    &SF150,
                    edit,
                    context,
                    Judgement::LOOK.authority(Authority::Unknown),
                    format!(
                        "leaving `{name}` out meant {} and means {} now; a person decides which was wanted",
                        shown(old),
                        shown(new)
                    ),
                )
            } else {
                finding(
                    &SF150,
                    edit,
                    context,
                    Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Changed),
                    format!(
                        "leaving `{name}` out meant {} and means {} now; the planned default can be written in",
                        shown(old),
                        shown(new)
                    ),
                )
            }
        }
        (false, true) => default_stated(edit, after.unwrap_or(&null), role, context),
        _ => {
            let old = before.unwrap_or(&null);
            let told = context
                .new_text
                .to_lowercase()
                .contains(&format!("default {}", shown(old).trim_matches('"').to_lowercase()));
            if is_zero(old) || told {
                finding(
                    &SF152,
                    edit,
                    context,
                    Judgement::WORDING,
                    format!("`{name}`: the default {} is no longer written out", shown(old)),
                )
            } else if never_guess {
                finding(
                    &SF152,
                    edit,
                    context,
                    Judgement::LOOK.authority(Authority::Wider),
                    format!(
                        "leaving `{name}` out meant {}; now the server chooses, and `{name}` selects the target, the authority or a guard",
                        shown(old)
                    ),
                )
            } else {
                finding(
                    &SF152,
                    edit,
                    context,
                    Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Unknown),
                    format!(
                        "leaving `{name}` out meant {}; now the server chooses; the planned default can be written in",
                        shown(old)
                    ),
                )
            }
        }
    }
}

fn default_stated(edit: &Edit, new: &Value, role: Role, context: &Context<'_>) -> Change {
    let name = edit.field.as_str();
    let plain = shown(new).trim_matches('"').to_lowercase();
    let old_text = context.old_text.to_lowercase();
    let told_before = old_text.contains("default") && old_text.contains(&plain);
    let own = edit.old_text.to_lowercase();
    let contradicted = own.contains("default") && !told(new, &own);
    if contradicted && !is_zero(new) {
        return finding(
            &SF151,
            edit,
            context,
            Judgement::LOOK.authority(Authority::Unknown),
            format!(
                "leaving `{name}` out means {} now; its text told of another default before",
                shown(new)
            ),
        );
    }
    if is_zero(new) || told_before {
        return finding(
            &SF151,
            edit,
            context,
            Judgement::WORDING,
            format!("`{name}`: the default {} is written out now", shown(new)),
        );
    }
    if *new == Value::Bool(true) {
        return finding(
            &SF151,
            edit,
            context,
            Judgement::LOOK,
            format!(
                "leaving `{name}` out means true now; what it meant before is stated nowhere, and left-out flags are false by custom"
            ),
        );
    }
    if role == Role::Guard || role == Role::Authority {
        return finding(
            &SF151,
            edit,
            context,
            Judgement::LOOK.authority(Authority::Unknown),
            format!(
                "leaving `{name}` out means {} now; what it meant before is stated nowhere",
                shown(new)
            ),
        );
    }
    if edit.before == Some(Value::Null) {
        // Nothing is a value too where a schema says so: `null` stood there as what leaving it out means.
        return finding(
            &SF150,
            edit,
            context,
            Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Changed),
            format!(
                "leaving `{name}` out meant null and means {} now; the planned default can be written in",
                shown(new)
            ),
        );
    }
    finding(
        &SF151,
        edit,
        context,
        Judgement::WORDING.meaning(Meaning::Unknown),
        format!("`{name}`: the default {} is stated now", shown(new)),
    )
}

/// The field's own text says something else now, beyond rewording.
fn text_moved(edit: &Edit) -> bool {
    let (old, new) = (&edit.old_text, &edit.new_text);
    !old.is_empty() && !new.is_empty() && prose::similarity(old, new) < SAME_SUBJECT
}

/// Below this share of common words two texts about one argument describe two things.
const SAME_SUBJECT: f64 = 0.4;

/// True where the text names the value, or each item of it.
fn told(value: &Value, text: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| told(item, text)),
        Value::String(word) => text.contains(&word.to_lowercase()),
        other => text.contains(&other.to_string()),
    }
}
