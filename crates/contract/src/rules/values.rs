//! The rules about what an argument may hold: kinds, listed values, bounds, patterns, formats.

use super::Rule;
use super::authority;
use super::finding::{Context, Judgement, finding, shown, shown_list};
use super::input::{
    SF130, SF131, SF132, SF133, SF134, SF135, SF140, SF141, SF142, SF143, SF145, SF146,
};
use crate::change::Change;
use crate::edit::{Conversion, Edit, What};
use crate::lexicon::{is_identifier, words};
use crate::relation::{Local, Lookup};
use crate::verdict::{Authority, Class, Compat, Meaning};
use schema::{ReadOptions, Schema, value_key};
use serde_json::Value;
use std::collections::HashSet;

/// The integers that every JSON reader keeps exact: RFC 8259 section 6.
const INTEROPERABLE: i64 = 9_007_199_254_740_991;

pub(super) fn bound_changed(
    edit: &Edit,
    keyword: &str,
    tighter: bool,
    local: &Local,
    context: &Context<'_>,
) -> Change {
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    let text = |value: &Option<Value>| value.as_ref().map_or("none".to_string(), shown);
    let moved = format!("{keyword} went from {} to {}", text(&edit.before), text(&edit.after));
    if !tighter && let Some(change) = authority::bound_lifted(edit, keyword, &moved, context) {
        return change;
    }
    if let Some(witness) = &local.undeclared {
        let mut change = finding(
            &SF146,
            edit,
            context,
            Judgement::NOTATION.compat(Compat::Compatible),
            format!(
                "`{name}`: {moved}; declared arguments fit in any number, undeclared ones beside them are refused"
            ),
        );
        change.witness = Some((**witness).clone());
        return change;
    }
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
        let mut change = finding(
            &SF145,
            edit,
            context,
            Judgement::NOTATION.compat(Compat::Compatible),
            format!(
                "`{name}`: {moved}, where JSON readers stop being exact; no usual value is lost"
            ),
        );
        change.witness = local.lost_witness();
        return change;
    }
    let floor = matches!(keyword, "minLength" | "minItems" | "minProperties") && bound == Some(1)
        || keyword == "minimum" && matches!(bound, Some(0 | 1));
    if floor && edit.before.is_none() && !below_is_meant(edit, keyword, context) {
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
    if edit.before.is_none()
        && keyword == "maxLength"
        && is_identifier(&edit.field)
        && bound.is_some_and(|bound| bound >= LONGEST_USUAL_ID)
    {
        let mut change = finding(
            &SF140,
            edit,
            context,
            Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower),
            format!("`{name}`: {moved}; ids of the usual forms are shorter"),
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

/// Quantities that are below zero as often as above it.
const SIGNED: &[&str] = &[
    "temperature", "latitude", "longitude", "lat", "lon", "lng", "delta", "difference", "diff",
    "adjustment", "shift", "balance", "altitude", "elevation", "rotation", "angle", "exponent",
    "dx", "dy", "priority", "utc", "timezone", "tz", "score", "weight", "bias", "gain", "change",
    "increment", "heading", "nice",
];

/// True where an empty or non-positive value means something: the old text gives it a meaning, as zero often means "no
/// limit" or "now", or the quantity has both signs.
fn below_is_meant(edit: &Edit, keyword: &str, context: &Context<'_>) -> bool {
    let text = edit_text_before(edit, context);
    if keyword != "minimum" {
        // Only the text beside the argument speaks of what it holds.
        let own = edit.old_text.to_lowercase();
        return own.split(|c: char| !c.is_alphabetic()).any(|word| {
            matches!(word, "empty" | "blank" | "clear" | "clears" | "unset" | "unsets")
        }) || ["\"\"", "''", "[]", "{}"].iter().any(|nothing| own.contains(nothing));
    }
    let name = edit.field.rsplit('.').next().unwrap_or("").trim_end_matches("[]");
    words(name).iter().any(|word| SIGNED.contains(&word.as_str()))
        || text.contains("negative")
        || text.split(|c: char| !c.is_ascii_digit()).any(|number| number == "0")
        || text.match_indices('-').any(|(at, _)| {
            let digit = text[at + 1..].starts_with(|c: char| c.is_ascii_digit());
            // A hyphen between two signs is a range or a name.
            digit && !text[..at].ends_with(|c: char| c.is_alphanumeric())
        })
}

pub(super) fn kind_changed(
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
    // The arguments of a call are an object and nothing else: nothing wraps or unwraps them.
    let conversion = conversion.filter(|_| !edit.field.is_empty());
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

/// The longest of the usual forms of an id: a SHA-256 digest in hexadecimal digits.
const LONGEST_USUAL_ID: i64 = 64;

/// Ids as servers usually write them: counted, short, hyphenated, hexadecimal, a UUID, a digest.
const USUAL_IDS: &[&str] = &[
    "1",
    "4711",
    "ab12cd",
    "my-item",
    "my_item",
    "ABC-123",
    "5f3a9c1e7b2d4f60",
    "0b9f5c1e-6a3d-4e8f-9c2b-7d1a4e5f6a7b",
    "3f786850e387550fdab836ed7e6dc881de23001b",
];

/// A pattern that an identifier is given for the first time. Whether it refuses what callers send
/// is for the usual forms of ids, and for what the old side showed of its own.
pub(super) fn pattern_stated(edit: &Edit, local: &Local, context: &Context<'_>) -> Option<Change> {
    if edit.before.is_some() || !is_identifier(&edit.field) || local.loses_nothing() {
        return None;
    }
    let pattern = edit.after.as_ref()?.as_str()?;
    let schema = serde_json::json!({"type": "string", "pattern": pattern});
    let schema = Schema::read(&schema, &ReadOptions::default()).ok()?;
    let fits = |id: &str| schema::evaluate(&schema, &Value::from(id)).is_ok();
    let shown: Vec<&str> = edit
        .old_text
        .split(['`', '\'', '"'])
        .skip(1)
        .step_by(2)
        .filter(|word| !word.is_empty() && !word.contains(' '))
        .collect();
    let usual = USUAL_IDS.iter().filter(|id| fits(id)).count();
    if shown.iter().any(|id| !fits(id)) || usual == 0 {
        return None;
    }
    let name = edit.field.as_str();
    let (judgement, sentence) = if usual == USUAL_IDS.len() {
        (
            Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower),
            format!("`{name}`: a pattern is stated; ids of every usual form fit it"),
        )
    } else {
        (
            Judgement::UNDECIDED,
            format!(
                "`{name}`: a pattern is stated that ids of some usual forms fit and others do not; of which form these are is not told"
            ),
        )
    };
    let mut change = finding(&SF142, edit, context, judgement, sentence);
    change.witness = local.lost_witness();
    Some(change)
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

pub(super) fn values_changed(edit: &Edit, local: &Local, context: &Context<'_>) -> Vec<Change> {
    let What::ValuesChanged { dropped, added, introduced, lifted, recased } = &edit.what else {
        return Vec::new();
    };
    let name = if edit.field.is_empty() { "the value" } else { edit.field.as_str() };
    let mut changes = Vec::new();
    if !introduced && !edit.is_required && matches!(dropped.as_slice(), [Value::Null]) {
        let sentence = format!("`{name}` no longer takes an explicit null; it is left out");
        let mut change = finding(&SF130, edit, context, Judgement::ADAPTABLE, sentence);
        change.witness = local.lost_witness();
        return vec![change];
    }
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
        let before = edit_text_before(edit, context);
        let said = |value: &&Value| {
            let word = value.as_str().filter(|word| word.len() > 1 && word.len() <= before.len());
            word.is_some_and(|word| before.contains(&word.to_lowercase()))
        };
        // The first that the text did not say settles it.
        let known = added.iter().take_while(said).count();
        if local.loses_nothing() || known == added.len() && known >= 2 {
            let mut change = finding(
                &SF134,
                edit,
                context,
                Judgement::NOTATION.compat(Compat::Compatible),
                format!("`{name}` lists {}; the text offered them before", shown_list(added)),
            );
            change.witness = local.lost_witness();
            return vec![change];
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
    let keys = |side: fn(&(Value, Value)) -> &Value| -> HashSet<String> {
        recased.iter().map(|pair| value_key(side(pair))).collect()
    };
    let (mapped, known) = (keys(|pair| &pair.0), keys(|pair| &pair.1));
    let without = |values: &[Value], keys: &HashSet<String>| -> Vec<Value> {
        values.iter().filter(|value| !keys.contains(&value_key(value))).cloned().collect()
    };
    let unmapped = without(dropped, &mapped);
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
    let new_ones = without(added, &known);
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
pub(super) fn set_change(
    edit: &Edit,
    local: &Local,
    context: &Context<'_>,
    rule: &'static Rule,
    what: &str,
) -> Change {
    let name = if edit.field.is_empty() { "the arguments" } else { edit.field.as_str() };
    if local.same_set() {
        let sentence = format!("`{name}`: {what} changed in writing only, the values are the same");
        return finding(rule, edit, context, Judgement::NOTATION, sentence);
    }
    if local.loses_nothing() {
        let sentence = format!("`{name}`: {what} changed, every old value still fits");
        return finding(rule, edit, context, Judgement::ADDITIVE, sentence);
    }
    if local.only_null && !edit.is_required && !edit.field.is_empty() {
        let sentence = format!(
            "`{name}`: {what} changed; of the old values only an explicit null is refused, and it is left out"
        );
        let mut change = finding(rule, edit, context, Judgement::ADAPTABLE, sentence);
        change.witness = local.lost_witness();
        return change;
    }
    // A usual call that is lost tells more than a mix that nobody sends.
    match &local.usual {
        Some(Lookup::Nothing) => {
            let sentence = format!(
                "`{name}`: one form became several, told apart by a constant; each takes what the old text ties to it, and only other mixes are refused"
            );
            let narrower =
                Judgement::ADDITIVE.class(Class::Migration).authority(Authority::Narrower);
            let mut change = finding(rule, edit, context, narrower, sentence);
            change.witness = local.lost_witness();
            return change;
        }
        Some(Lookup::Some(witness)) => {
            let sentence = format!(
                "`{name}`: {what} changed; {} fitted before and is refused",
                shown(&witness.value)
            );
            let mut change = finding(rule, edit, context, Judgement::BREAKING, sentence);
            change.witness = Some((**witness).clone());
            return change;
        }
        _ => {}
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

pub(super) fn format_changed(edit: &Edit, keyword: &str, context: &Context<'_>) -> Change {
    let name = edit.field.as_str();
    let text = |value: &Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_string);
    let (before, after) = (text(&edit.before), text(&edit.after));
    let storage = |format: &Option<String>| format.as_deref().is_none_or(|f| STORAGE.contains(&f));
    match (&before, &after) {
        (Some(old), Some(new)) if keyword != "format" => finding(
            &SF143,
            edit,
            context,
            Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed),
            format!("`{name}`: {keyword} is {new} now, not {old}: the same text is another value"),
        ),
        // Stated for the first time, or no longer: whether the text was so all along is not told.
        _ if keyword != "format" => finding(
            &SF143,
            edit,
            context,
            Judgement::LOOK.meaning(Meaning::Unknown),
            match (&before, &after) {
                (_, Some(new)) => format!("`{name}`: {keyword} {new} is stated now"),
                (old, None) => format!(
                    "`{name}`: {keyword} {} is no longer stated",
                    old.as_deref().unwrap_or("none")
                ),
            },
        ),
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
            match (&before, &after) {
                (Some(old), Some(new)) => {
                    format!(
                        "`{name}`: the stated format is {new}, not {old}; it tells how a number is stored"
                    )
                }
                (None, Some(new)) => {
                    format!(
                        "`{name}`: the format {new} is stated now; by itself it refuses no value"
                    )
                }
                (old, None) => format!(
                    "`{name}`: the format {} is no longer stated; that alone changes no value",
                    old.as_deref().unwrap_or("none")
                ),
            },
        ),
    }
}

/// What explains a value belongs to that value: where it explains another one, a planned value means something else.
pub(super) fn texts_moved(
    edit: &Edit,
    (sure, perhaps): (&'static Rule, &'static Rule),
    context: &Context<'_>,
) -> Vec<Change> {
    let What::ValueTextsMoved { swapped, retold, reworded } = &edit.what else { return Vec::new() };
    let name = if edit.field.is_empty() { "the value" } else { edit.field.as_str() };
    let told = |moved: &[(Value, String, String)]| {
        const MOST: usize = 3;
        let one = |(value, before, after): &(Value, String, String)| {
            let text = |text: &String| shown(&Value::from(text.as_str()));
            format!("{} is {} now, not {}", shown(value), text(after), text(before))
        };
        let mut all: Vec<String> = moved.iter().take(MOST).map(one).collect();
        if moved.len() > MOST {
            all.push(format!("and {} more", moved.len() - MOST));
        }
        all.join(", ")
    };
    let mut changes = Vec::new();
    if !swapped.is_empty() {
        let judgement = Judgement::BREAKING.class(Class::Semantic).meaning(Meaning::Changed);
        let sentence = format!("`{name}`: {}: the texts belong to other values", told(swapped));
        changes.push(finding(sure, edit, context, judgement, sentence));
    }
    if !retold.is_empty() {
        let sentence = format!("`{name}`: {}", told(retold));
        changes.push(finding(sure, edit, context, Judgement::LOOK, sentence));
    }
    if changes.is_empty() && *reworded > 0 {
        let sentence = format!("`{name}`: what explains {reworded} of its values was reworded");
        changes.push(finding(perhaps, edit, context, Judgement::WORDING, sentence));
    }
    changes
}
