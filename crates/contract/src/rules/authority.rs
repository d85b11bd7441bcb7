//! SF4xx: what a standing grant covers. The call itself goes on; the grant must not grow unseen.

use super::finding::{Context, Judgement, finding, shown, shown_list};
use crate::change::Change;
use crate::edit::{Edit, is_zero};
use crate::lexicon::{Role, words};
use crate::verdict::{Authority, Class};
use crate::view::Kinds;
use serde_json::Value;

rules! {
    Authority;
    SF401 "selecting-input-added" Proof "A new optional argument selects the target or who acts: a standing grant would cover more."
    SF402 "free-form-input-added" Proof "A new optional argument holds text that is run or fetched: a standing grant would cover more."
    SF403 "effect-input-added" Proof "A new optional argument widens or changes the deed."
    SF404 "reach-values-added" Proof "A selecting argument takes more values than before."
    SF405 "one-became-many" Proof "A selecting argument takes a list or a selector in place of one."
    SF406 "selection-became-optional" Proof "A selecting argument can be left out: what is then acted on is the server's choice."
    SF407 "input-disclosed-in-header" Proof "An argument's value is copied into an HTTP header that intermediaries see."
}

/// Words of an argument that chooses the deed.
const DEED: &[&str] =
    &["method", "action", "operation", "op", "mode", "verb", "command", "type", "kind"];

/// Those of them that name the deed itself; `type` and `kind` may name a shape.
const DEED_ITSELF: &[&str] = &["method", "action", "operation", "op", "mode", "verb", "command"];

/// True where the last name of the field holds one of the words.
fn named(field: &str, list: &[&str]) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field);
    words(name).iter().any(|word| list.contains(&word.as_str()))
}

/// A new optional argument that a grant should keep absent.
pub fn optional_added(
    edit: &Edit,
    role: Role,
    default: Option<&Value>,
    text: &str,
    context: &Context<'_>,
) -> Option<Change> {
    let field = edit.field.as_str();
    let saves = text.to_lowercase();
    let writes = [
        "save to", "saved to", "saves to", "save the", "saves the", "write to", "written to",
        "to disk",
    ]
    .iter()
    .any(|phrase| saves.contains(phrase));
    let (rule, what, authority) = match role {
        Role::Target | Role::Authority => {
            (&SF401, "selects the target or who acts", Authority::Wider)
        }
        Role::FreeForm => (&SF402, "holds text that is run or fetched", Authority::Wider),
        _ if writes => (&SF403, "writes to a place", Authority::Wider),
        Role::Effect if default.is_none_or(is_zero) => {
            (&SF403, "can widen or change the deed", Authority::Unknown)
        }
        Role::Effect => (&SF403, "can widen or change the deed", Authority::Wider),
        Role::Guard => (&SF403, "can switch a check off or on", Authority::Unknown),
        _ => return None,
    };
    Some(finding(
        rule,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(authority),
        format!("`{field}` {what}: old calls leave it out, a standing grant should keep it absent"),
    ))
}

/// A new optional argument that holds nothing of the kind by its own name, but by a member in it.
pub fn inner_added(
    edit: &Edit,
    inner: &[(String, Option<&'static str>)],
    context: &Context<'_>,
) -> Option<Change> {
    let role = |(name, kind): &(String, Option<&'static str>)| context.lexicon.role_of(name, *kind);
    let first = |wanted: &[Role]| inner.iter().find(|member| wanted.contains(&role(member)));
    let (rule, member, what) = if let Some(member) = first(&[Role::FreeForm]) {
        (&SF402, member, "holds text that is run or fetched")
    } else if let Some(member) = first(&[Role::Target, Role::Authority]) {
        (&SF401, member, "selects the target or who acts")
    } else {
        let chooses = inner.iter().find(|(name, _)| named(name, DEED_ITSELF));
        (&SF403, chooses?, "chooses the deed")
    };
    Some(finding(
        rule,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
        format!(
            "`{}` is new, and `{}` in it {what}: old calls leave it out, a standing grant should keep it absent",
            edit.field, member.0
        ),
    ))
}

/// New alternatives of a form that are told by the deed they do.
pub fn alternatives_added(
    edit: &Edit,
    tags: &[(String, Value)],
    context: &Context<'_>,
) -> Vec<Change> {
    let name = |tag: &str| match edit.field.as_str() {
        "" => tag.to_string(),
        around => format!("{around}.{tag}"),
    };
    tags.iter()
        .filter(|(tag, _)| named(tag, DEED_ITSELF))
        .filter_map(|(tag, value)| {
            let one = Edit { field: name(tag), after: Some(value.clone()), ..edit.clone() };
            values_added(&one, std::slice::from_ref(value), false, context)
        })
        .collect()
}

/// A selecting argument that need not be sent any more.
pub fn became_optional(edit: &Edit, context: &Context<'_>) -> Change {
    let what = match context.lexicon.role(&edit.field) {
        Role::Guard => "whether the guard holds",
        _ => "what is acted on",
    };
    finding(
        &SF406,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
        format!(
            "`{}` can be left out now, and {what} is then the server's choice; old calls send it",
            edit.field
        ),
    )
}

/// A selecting argument that takes lists or selectors besides.
pub fn kinds_widened(edit: &Edit, added: &Kinds, context: &Context<'_>) -> Option<Change> {
    let many = added.contains("array") || added.contains("object");
    if !many || !context.lexicon.never_guess(&edit.field) {
        return None;
    }
    Some(finding(
        &SF405,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
        format!("`{}` takes many in place of one now; old calls name one", edit.field),
    ))
}

/// A selecting argument, or one that chooses the deed, that takes more values.
pub fn values_added(
    edit: &Edit,
    added: &[Value],
    lifted: bool,
    context: &Context<'_>,
) -> Option<Change> {
    if !(named(&edit.field, DEED) || context.lexicon.never_guess(&edit.field)) {
        return None;
    }
    let what = if lifted {
        "any value of its kind".to_string()
    } else {
        match added {
            [only] => shown(only),
            many => shown_list(many),
        }
    };
    Some(finding(
        &SF404,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
        format!(
            "`{}` also takes {what}: old calls are untouched, a standing grant is not",
            edit.field
        ),
    ))
}

/// Words of an argument that says how much is spent, moved or given.
const AMOUNTS: &[&str] =
    &["amount", "price", "budget", "quantity", "payment", "refund", "discount", "credit", "spend"];

/// A bound that confined how many, or how much, a call reaches at once.
pub fn bound_lifted(
    edit: &Edit,
    keyword: &str,
    moved: &str,
    context: &Context<'_>,
) -> Option<Change> {
    let many = keyword == "maxItems" && context.lexicon.never_guess(&edit.field);
    let much = matches!(keyword, "maximum" | "exclusiveMaximum") && named(&edit.field, AMOUNTS);
    (many || much).then(|| lifted(edit, moved, context))
}

/// A rule that confined a selecting argument, lifted so that more values fit.
pub fn confinement_lifted(edit: &Edit, what: &str, context: &Context<'_>) -> Option<Change> {
    context.lexicon.never_guess(&edit.field).then(|| lifted(edit, what, context))
}

fn lifted(edit: &Edit, what: &str, context: &Context<'_>) -> Change {
    let sentence = format!(
        "`{}`: {what}; it reaches further: old calls are untouched, a standing grant is not",
        edit.field
    );
    let judgement = Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider);
    finding(&SF404, edit, context, judgement, sentence)
}

/// The value travels in a header from now on.
pub fn disclosed(edit: &Edit, context: &Context<'_>) -> Change {
    finding(
        &SF407,
        edit,
        context,
        Judgement::ADDITIVE.class(Class::Authority).authority(Authority::Wider),
        format!(
            "the value of `{}` is copied into an HTTP header that intermediaries see",
            edit.field
        ),
    )
}
