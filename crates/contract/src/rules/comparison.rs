//! SF9xx: findings about the comparison itself.

use super::finding::{Context, Judgement, bare, finding, shown};
use crate::change::{Change, Witness};
use crate::edit::{Edit, MAX_DEPTH, MAX_EDITS, MAX_PAIRS};
use crate::engine::Direction;
use crate::verdict::{Authority, Meaning};
use serde_json::Value;

rules! {
    Comparison;
    SF900 "undecided" Proof "Whether every old call still fits could not be decided; undecided is never safe."
    SF901 "suppression-expired" Proof "An accepted finding is past its date and still there."
    SF902 "suppression-unused" Proof "An accepted finding is there no longer; what accepts it could hide another."
    SF903 "setting-names-nothing" Proof "A rename, a review note or a decision map names what neither contract has."
    SF904 "schema-unreadable" Proof "A schema cannot be read, so nothing can be promised about it."
    SF910 "loss-without-a-rule" Witness "A value is lost or gained and no other rule names the cause."
}

/// The engine could not decide.
pub fn undecided(why: &schema::Why, context: &Context<'_>) -> Change {
    let sentence = match &why.keyword {
        Some(keyword) => format!(
            "whether every old value still fits is undecided: {} (`{keyword}`, after {} steps)",
            why.reason, why.spent
        ),
        None => format!(
            "whether every old value still fits is undecided: {} (after {} steps)",
            why.reason, why.spent
        ),
    };
    let path = format!("{}{}", context.prefix, why.pointer);
    bare(&SF900, context.subject, path, (None, None), Judgement::UNDECIDED, sentence)
}

/// A part of two schemas is too deep or too large to be walked.
pub fn uncompared(edit: &Edit, context: &Context<'_>) -> Change {
    let name = if edit.field.is_empty() { "the schemas" } else { edit.field.as_str() };
    finding(
        &SF900,
        edit,
        context,
        Judgement::UNDECIDED.authority(Authority::Unknown),
        format!(
            "from `{name}` on, texts and defaults are not compared: more than {MAX_EDITS} edits, {MAX_PAIRS} pairs of places or {MAX_DEPTH} levels"
        ),
    )
}

/// A schema cannot be read.
pub fn unreadable(problem: &str, context: &Context<'_>) -> Change {
    bare(
        &SF904,
        context.subject,
        context.prefix.to_string(),
        (None, None),
        Judgement::UNDECIDED.authority(Authority::Unknown),
        format!("the schema cannot be read, so nothing is promised: {problem}"),
    )
}

/// Nothing, or something that is no schema, stood where a schema should have said what is sent.
pub fn no_schema(before: Option<&Value>, after: &Value, context: &Context<'_>) -> Change {
    let found = match before {
        None => "was not there".to_string(),
        Some(Value::Object(_)) => "was blank".to_string(),
        Some(other) => format!("was {}, which is no schema", shown(other)),
    };
    bare(
        &SF904,
        context.subject,
        context.prefix.to_string(),
        (before.cloned(), Some(after.clone())),
        Judgement::UNDECIDED.authority(Authority::Unknown),
        format!(
            "the old schema {found}: what fitted then is not told, so nothing is promised of what fits now"
        ),
    )
}

/// Callers who send what their schema declares lose nothing, and one who sends what it merely does not forbid does.
pub fn unexplained_strictly(witness: &Witness, context: &Context<'_>) -> Change {
    let mut change = bare(
        &SF910,
        context.subject,
        format!("{}{}", context.prefix, witness.instance_pointer),
        (None, Some(witness.value.clone())),
        Judgement::LOOK,
        format!(
            "{} fitted before, though no member of it need be declared, and is refused (`{}` at {})",
            shown(&witness.value),
            witness.keyword,
            witness.rejected_by
        ),
    );
    change.witness = Some(witness.clone());
    change
}

/// Values fit on one side only, in the direction that breaks nobody, and no rule says why.
pub fn widened(witness: &Witness, what: &str, context: &Context<'_>) -> Change {
    let mut change = bare(
        &SF910,
        context.subject,
        format!("{}{}", context.prefix, witness.instance_pointer),
        (None, Some(witness.value.clone())),
        Judgement::ADDITIVE,
        format!("{} {what}", shown(&witness.value)),
    );
    change.witness = Some(witness.clone());
    change
}

/// A value is lost or gained and no rule says why.
pub fn unexplained(witness: &Witness, direction: Direction, context: &Context<'_>) -> Change {
    let (judgement, what) = match direction {
        Direction::Input => (Judgement::BREAKING, "fitted before and is refused"),
        Direction::Output => {
            (Judgement::BREAKING.meaning(Meaning::Changed), "can come now and could not before")
        }
    };
    let mut change = bare(
        &SF910,
        context.subject,
        format!("{}{}", context.prefix, witness.instance_pointer),
        (None, Some(witness.value.clone())),
        judgement,
        format!(
            "{} {what} (`{}` at {})",
            shown(&witness.value),
            witness.keyword,
            witness.rejected_by
        ),
    );
    change.witness = Some(witness.clone());
    change
}
