//! SF1xx: what the caller sends.

use super::finding::{Context, Judgement, finding, shown, shown_list};
use super::{Evidence, Rule, authority};
use crate::change::Change;
use crate::edit::{Conversion, Edit, What, is_zero};
use crate::lexicon::{GuardKind, Role, guard_kind, words};
use crate::prose::{self, SignalKind};
use crate::relation::Local;
use crate::verdict::{Authority, Class, Compat, Meaning, Verdict};
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
    let role = context.lexicon.role(field);
    let never_guess = context.lexicon.never_guess(field);
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
        What::FieldAdded { required: false, default, text } => {
            vec![added_optional(edit, default.as_ref(), text, context)]
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
            kind_changed(edit, dropped, added, *conversion, local, context)
        }
        What::ValuesChanged { .. } => values_changed(edit, local, context),
        What::BoundChanged { keyword, tighter } => {
            vec![bound_changed(edit, keyword, *tighter, local, context)]
        }
        What::PatternChanged => vec![set_change(edit, local, context, &SF142, "the pattern")],
        What::Combinator { keyword } => {
            vec![set_change(edit, local, context, &SF144, &format!("`{keyword}`"))]
        }
        What::VariantsChanged { .. } => {
            vec![set_change(edit, local, context, &SF144, "the alternatives")]
        }
        What::FormatChanged => vec![format_changed(edit, context)],
        What::Closed => {
            if local.lost.is_unknown() {
                vec![set_change(edit, local, context, &SF144, "which undeclared members are taken")]
            } else {
                vec![find(
                    &SF146,
                    Judgement::NOTATION.compat(Compat::Compatible),
                    "undeclared arguments are refused now; every declared one is judged by itself"
                        .to_string(),
                )]
            }
        }
        What::Opened => vec![find(
            &SF147,
            Judgement::NOTATION.compat(Compat::Compatible),
            "undeclared arguments are taken now".to_string(),
        )],
        What::DefaultChanged => vec![default_changed(edit, context)],
        What::TextChanged { .. } => text_changed(edit, context),
        What::MarkChanged { mark } => vec![mark_changed(edit, mark, context)],
        What::Blanked => vec![find(
            &SF180,
            Judgement::BREAKING.meaning(Meaning::Unknown).authority(Authority::Unknown),
            "the input schema says nothing any more: no argument is declared, none is checked"
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
    context: &Context<'_>,
) -> Change {
    let field = edit.field.as_str();
    let acts = default.is_some_and(|value| !is_zero(value));
    let lower = text.to_lowercase();
    match guard_kind(field) {
        Some(GuardKind::Confirm) => {
            return finding(
                &SF121,
                edit,
                context,
                Judgement::LOOK.authority(Authority::Narrower),
                format!(
                    "`{field}` asks for a person's yes; the schema calls it optional, and filling it in would defeat it"
                ),
            );
        }
        Some(GuardKind::Reveal) => {
            return finding(
                &SF121,
                edit,
                context,
                Judgement::LOOK,
                format!(
                    "`{field}` shows what is masked without it: old calls may get a mask, and nobody may switch it on for them"
                ),
            );
        }
        Some(GuardKind::DryRun) if acts => {
            return finding(
                &SF121,
                edit,
                context,
                Judgement::LOOK.authority(Authority::Narrower),
                format!("`{field}` is on when left out: old calls now do nothing for real"),
            );
        }
        _ => {}
    }
    let demanded = (lower.contains("must be true") || lower.contains("must be set to true"))
        && edit.after.as_ref().is_some_and(|s| s.get("type").is_some_and(|t| t == "boolean"));
    if demanded {
        return finding(
            &SF121,
            edit,
            context,
            Judgement::LOOK.authority(Authority::Narrower),
            format!("`{field}` is optional in the schema and demanded by its text"),
        );
    }
    let role = context.lexicon.role(field);
    if role == Role::Effect && default == Some(&Value::Bool(true)) {
        return finding(
            &SF122,
            edit,
            context,
            Judgement::LOOK.authority(Authority::Wider),
            format!("`{field}` is on when left out: old calls now do more than they did"),
        );
    }
    let whole = ["complete ", "entire ", "full ", "whole "];
    let promised = whole.iter().find(|word| {
        context.old_text.to_lowercase().contains(**word)
            && !context.new_text.to_lowercase().contains(**word)
    });
    if let (Role::Paging, true, Some(word)) = (role, acts, promised) {
        return finding(
            &SF123,
            edit,
            context,
            Judgement::LOOK,
            format!(
                "`{field}` cuts the answer to {} when left out; the text no longer says \"{}\"",
                default.map_or("its default".into(), shown),
                word.trim()
            ),
        );
    }
    if let Some(change) = authority::optional_added(edit, role, default, text, context) {
        return change;
    }
    finding(
        &SF120,
        edit,
        context,
        Judgement::ADDITIVE,
        format!("`{field}` can be sent now; old calls leave it out and go on as before"),
    )
}

/// The integers that every JSON reader keeps exact: RFC 8259 section 6.
const INTEROPERABLE: i64 = 9_007_199_254_740_991;

fn bound_changed(
    edit: &Edit,
    keyword: &str,
    tighter: bool,
    local: &Local,
    context: &Context<'_>,
) -> Change {
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    let text = |value: &Option<Value>| value.as_ref().map_or("none".to_string(), shown);
    let moved = format!("{keyword} went from {} to {}", text(&edit.before), text(&edit.after));
    if !tighter || local.loses_nothing() {
        return finding(
            &SF141,
            edit,
            context,
            if tighter { Judgement::NOTATION } else { Judgement::ADDITIVE },
            format!("`{name}`: {moved}; every value that fitted still fits"),
        );
    }
    let bound = edit.after.as_ref().and_then(Value::as_i64);
    if bound.is_some_and(|bound| bound.abs() == INTEROPERABLE) {
        return finding(
            &SF145,
            edit,
            context,
            Judgement::NOTATION.compat(Compat::Compatible),
            format!(
                "`{name}`: {moved}, where JSON readers stop being exact; no usual value is lost"
            ),
        );
    }
    // Zero often means "no limit" or "now"; where the old text gives it a meaning it is a value.
    let zero_has_meaning = edit_text_before(edit, context)
        .split(|c: char| !c.is_ascii_digit())
        .any(|number| number == "0");
    let floor = matches!(keyword, "minLength" | "minItems" | "minProperties") && bound == Some(1)
        || keyword == "minimum" && matches!(bound, Some(0 | 1)) && !zero_has_meaning;
    if floor && edit.before.is_none() {
        let mut change = finding(
            &SF145,
            edit,
            context,
            Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower),
            format!("`{name}`: {moved}; only an empty or non-positive value is refused"),
        );
        change.witness = local.lost_witness();
        return change;
    }
    let mut change = finding(
        &SF140,
        edit,
        context,
        Judgement::BREAKING,
        format!("`{name}`: {moved}; values that fitted are refused"),
    );
    change.witness = local.lost_witness();
    change
}

fn kind_changed(
    edit: &Edit,
    dropped: &crate::view::Kinds,
    added: &crate::view::Kinds,
    conversion: Option<Conversion>,
    local: &Local,
    context: &Context<'_>,
) -> Vec<Change> {
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    let list = |kinds: &crate::view::Kinds| kinds.iter().copied().collect::<Vec<_>>().join(" or ");
    let mut changes = Vec::new();
    if dropped.is_empty() || local.loses_nothing() {
        if let Some(change) = authority::kinds_widened(edit, added, context) {
            return vec![change];
        }
        changes.push(finding(
            &SF131,
            edit,
            context,
            if local.same_set() { Judgement::NOTATION } else { Judgement::ADDITIVE },
            if added.is_empty() {
                format!("`{name}`: the kinds are written differently, every old value still fits")
            } else {
                format!("`{name}` also takes {}", list(added))
            },
        ));
        return changes;
    }
    let fractions = dropped.len() == 1 && dropped.contains("number") && added.is_empty();
    if fractions && is_counted(edit) {
        let sentence = format!("`{name}` takes whole numbers only; nobody sends a fraction of one");
        let judgement = Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower);
        let mut change = finding(&SF145, edit, context, judgement, sentence);
        change.witness = local.lost_witness();
        return vec![change];
    }
    let sentence = match conversion {
        Some(Conversion::Wrap) => format!("`{name}` takes a list now; a single value is wrapped"),
        Some(Conversion::Unwrap) => {
            format!("`{name}` takes the bare value now; the one member is taken out")
        }
        Some(Conversion::Reparse) => {
            format!(
                "`{name}` takes {} in place of {}; the value is reparsed",
                list(added),
                list(dropped)
            )
        }
        Some(Conversion::DropNull) => {
            format!("`{name}` no longer takes an explicit null; it is left out")
        }
        None if added.is_empty() => format!("`{name}` no longer takes {}", list(dropped)),
        None => format!("`{name}` takes {} in place of {}", list(added), list(dropped)),
    };
    // Leaving null out is only the same where the argument may be left out at all.
    let convertible = match conversion {
        Some(Conversion::DropNull) => !edit.is_required,
        Some(_) => true,
        None => false,
    };
    let judgement = if convertible { Judgement::ADAPTABLE } else { Judgement::BREAKING };
    let judgement = if convertible || added.is_empty() {
        judgement
    } else {
        judgement.meaning(Meaning::Changed)
    };
    let mut change = finding(&SF130, edit, context, judgement, sentence);
    change.witness = local.lost_witness();
    if conversion == Some(Conversion::Wrap) && context.lexicon.never_guess(&edit.field) {
        change.axes.authority = Authority::Wider;
    }
    changes.push(change);
    changes
}

/// Names of things that come in whole numbers only.
const COUNTED: &[&str] = &[
    "id", "ids", "idx", "index", "number", "count", "limit", "page", "offset", "size", "max",
    "min", "per", "top", "skip", "first", "last", "line", "lines", "row", "column", "width",
    "height", "port", "pid", "uid", "depth", "level", "length", "bytes", "pixels", "attempts",
    "retries", "results", "items", "year", "month", "day", "days", "replicas", "seed", "position",
    "version", "num", "total", "step", "steps", "timeout", "ms", "milliseconds",
];

/// True where the argument is counted, and nothing on the old side speaks of fractions.
fn is_counted(edit: &Edit) -> bool {
    let name = edit.field.rsplit('.').next().unwrap_or("").trim_end_matches("[]");
    words(name).iter().any(|word| COUNTED.contains(&word.as_str()))
        && !["fraction", "decimal", "0.", "float"].iter().any(|word| edit.old_text.contains(word))
}

fn values_changed(edit: &Edit, local: &Local, context: &Context<'_>) -> Vec<Change> {
    let What::ValuesChanged { dropped, added, introduced, lifted, recased } = &edit.what else {
        return Vec::new();
    };
    let name = if edit.field.is_empty() { "the value" } else { edit.field.as_str() };
    let mut changes = Vec::new();
    if *lifted || dropped.is_empty() && !introduced {
        if let Some(change) = authority::values_added(edit, added, *lifted, context) {
            return vec![change];
        }
        let sentence = if *lifted {
            format!("`{name}` takes any value of its kind now")
        } else {
            format!("`{name}` also takes {}", shown_list(added))
        };
        return vec![finding(&SF135, edit, context, Judgement::ADDITIVE, sentence)];
    }
    if *introduced {
        let said = |value: &Value| {
            value.as_str().is_some_and(|word| {
                let before = edit_text_before(edit, context);
                word.len() > 1 && before.contains(&word.to_lowercase())
            })
        };
        let known = added.iter().filter(|value| said(value)).count();
        if local.loses_nothing() || known == added.len() && known >= 2 {
            return vec![finding(
                &SF134,
                edit,
                context,
                Judgement::NOTATION.compat(Compat::Compatible),
                format!("`{name}` lists {}; the text offered them before", shown_list(added)),
            )];
        }
        let mut change = finding(
            &SF134,
            edit,
            context,
            Judgement::BREAKING.authority(Authority::Narrower),
            format!("`{name}` only takes {} now", shown_list(added)),
        );
        change.witness = local.lost_witness();
        return vec![change];
    }
    if local.loses_nothing() {
        return vec![finding(
            &SF135,
            edit,
            context,
            Judgement::NOTATION,
            format!("`{name}`: the values are written differently, every old one still fits"),
        )];
    }
    let unmapped: Vec<Value> = dropped
        .iter()
        .filter(|value| !recased.iter().any(|(old, _)| old == *value))
        .cloned()
        .collect();
    if !recased.is_empty() {
        let mut change = finding(
            &SF133,
            edit,
            context,
            Judgement::ADAPTABLE,
            format!(
                "`{name}`: {} in another case",
                recased
                    .iter()
                    .take(4)
                    .map(|(old, new)| format!("{} is {} now", shown(old), shown(new)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        );
        change.witness = local.lost_witness();
        changes.push(change);
    }
    if !unmapped.is_empty() {
        let mut change = finding(
            &SF132,
            edit,
            context,
            // Values swapped for others leave the reach open; values only dropped narrow it.
            if added.is_empty() {
                Judgement::BREAKING.authority(Authority::Narrower)
            } else {
                Judgement::BREAKING
            },
            format!("`{name}` no longer takes {}", shown_list(&unmapped)),
        );
        change.witness = local.lost_witness();
        changes.push(change);
    }
    let new_ones: Vec<Value> = added
        .iter()
        .filter(|value| !recased.iter().any(|(_, new)| new == *value))
        .cloned()
        .collect();
    if !new_ones.is_empty()
        && let Some(change) = authority::values_added(edit, &new_ones, false, context)
    {
        changes.push(change);
    }
    changes
}

/// Everything the old side said about the field and the tool, in lower case.
fn edit_text_before(edit: &Edit, context: &Context<'_>) -> String {
    if edit.old_text.is_empty() {
        context.old_text.to_lowercase()
    } else {
        edit.old_text.to_lowercase()
    }
}

/// A change that only the engine can judge.
fn set_change(
    edit: &Edit,
    local: &Local,
    context: &Context<'_>,
    rule: &'static Rule,
    what: &str,
) -> Change {
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    if local.same_set() {
        let sentence = format!("`{name}`: {what} is written differently, the values are the same");
        return finding(rule, edit, context, Judgement::NOTATION, sentence);
    }
    if local.loses_nothing() {
        let sentence = format!("`{name}`: {what} changed, every old value still fits");
        return finding(rule, edit, context, Judgement::ADDITIVE, sentence);
    }
    if let Some(witness) = local.lost_witness() {
        let sentence = format!(
            "`{name}`: {what} changed; {} fitted before and is refused",
            shown(&witness.value)
        );
        let mut change = finding(rule, edit, context, Judgement::BREAKING, sentence);
        change.witness = Some(witness);
        return change;
    }
    let sentence = format!(
        "`{name}`: {what} changed, and whether every old value still fits is undecided ({})",
        local.why()
    );
    finding(rule, edit, context, Judgement::UNDECIDED, sentence)
}

/// Formats that only say how a number is stored.
const STORAGE: &[&str] =
    &["int32", "int64", "uint", "uint32", "uint64", "float", "double", "decimal"];

fn format_changed(edit: &Edit, context: &Context<'_>) -> Change {
    let name = edit.field.as_str();
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_string);
    let (before, after) = (text(&edit.before), text(&edit.after));
    let storage = |format: &Option<String>| format.as_deref().is_none_or(|f| STORAGE.contains(&f));
    match (&before, &after) {
        (Some(old), Some(new)) if !(storage(&before) && storage(&after)) => finding(
            &SF143,
            edit,
            context,
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("`{name}` is read as {new} now, not as {old}"),
        ),
        _ => finding(
            &SF143,
            edit,
            context,
            Judgement::WORDING,
            format!("`{name}`: the stated format changed; the values are the same"),
        ),
    }
}

fn default_changed(edit: &Edit, context: &Context<'_>) -> Change {
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

fn text_changed(edit: &Edit, context: &Context<'_>) -> Vec<Change> {
    let What::TextChanged { signals } = &edit.what else { return Vec::new() };
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    text_findings(signals, &|kind, judgement, sentence| {
        let rule = match kind {
            None => &SF161,
            Some(SignalKind::DutyTightened | SignalKind::LimitRaised) => &SF162,
            Some(_) => &SF160,
        };
        finding(rule, edit, context, judgement, format!("`{name}`: {sentence}"))
    })
}

/// Signals of one text, judged; shared with the rules for whole tools and operations.
pub fn text_findings(
    signals: &[prose::Signal],
    make: &dyn Fn(Option<SignalKind>, Judgement, String) -> Change,
) -> Vec<Change> {
    if signals.is_empty() {
        return vec![make(None, Judgement::WORDING, "the text was reworded".to_string())];
    }
    signals
        .iter()
        .map(|signal| {
            let (judgement, what) = judge_signal(signal);
            make(Some(signal.kind), judgement, what)
        })
        .collect()
}

fn judge_signal(signal: &prose::Signal) -> (Judgement, String) {
    let quote = |text: &str| {
        let short: String = text.chars().take(110).collect();
        if short.len() < text.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
    };
    let (before, after) = (quote(&signal.before), quote(&signal.after));
    match signal.kind {
        SignalKind::DutyRelaxed => (
            Judgement::LOOK.authority(Authority::Wider),
            if signal.after.is_empty() {
                format!("the duty {before} is gone from the text")
            } else {
                format!("a duty is softer: {before} reads {after} now")
            },
        ),
        SignalKind::DutyTightened => (
            Judgement::WORDING.authority(Authority::Narrower).meaning(Meaning::Changed),
            format!("a duty is harder: {after}"),
        ),
        SignalKind::LimitLowered => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("the stated limit is lower: {before} reads {after} now"),
        ),
        SignalKind::LimitRaised => {
            (Judgement::WORDING, format!("the stated limit is higher: {after}"))
        }
        SignalKind::DefaultMoved => (
            Judgement::ADAPTABLE.class(Class::Semantic).meaning(Meaning::Changed),
            format!("the stated default moved: {before} reads {after} now"),
        ),
        SignalKind::UnitMoved => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("another unit: {before} reads {after} now"),
        ),
        SignalKind::EffectAppeared => (
            Judgement::LOOK.authority(Authority::Unknown).meaning(Meaning::Unknown),
            format!("the text names an effect it did not name before: {after}"),
        ),
        SignalKind::AnswerReduced => (
            Judgement::LOOK.authority(Authority::Narrower),
            format!("the answer holds less: {after}"),
        ),
        SignalKind::ScopeWidened => (
            Judgement::LOOK.authority(Authority::Wider),
            format!("the reach is wider: {before} reads {after} now"),
        ),
        SignalKind::HandleMoved => (
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("names its thing by {} now: {before} reads {after} now", signal.word),
        ),
        SignalKind::ChoiceDropped => (
            Judgement::BREAKING.meaning(Meaning::Changed).authority(Authority::Narrower),
            format!("the text no longer offers `{}`: {before} reads {after} now", signal.word),
        ),
    }
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

/// The verdict of a text alone, for callers that hold no edit.
pub fn worst(changes: &[Change]) -> Verdict {
    changes.iter().map(|change| change.verdict).max().unwrap_or(Verdict::Safe)
}
