//! Whether a line of the map names a place that a contract declares: a typing error must not make a value one that
//! nobody reads.

use super::Reading;
use crate::view::{Node, Rest, View};

/// What a schema says of a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// It declares other members there, and not this one.
    No,
    /// It leaves open what stands there.
    Unsaid,
    /// It declares the place.
    Yes,
}

/// Follows the steps of a place through a schema. Work is bounded by the number of steps and of alternatives.
pub(crate) fn declared(node: &Node<'_>, steps: &[String]) -> Known {
    let Some((step, rest)) = steps.split_first() else { return Known::Yes };
    let view = View::of(node);
    let below = |nodes: &mut dyn Iterator<Item = &Node<'_>>, steps: &[String]| {
        nodes.map(|node| declared(node, steps)).max()
    };
    let direct = match step.as_str() {
        "[]" => {
            let listed = below(&mut view.items.iter().chain(&view.prefix), rest);
            let not_a_list = view.kinds.as_ref().is_some_and(|kinds| !kinds.contains("array"));
            // What stands for any member of an object is written in the same way.
            let any_member = match &view.rest {
                Rest::Schema(node) => Some(declared(node, rest)),
                _ => below(&mut view.patterns.iter().map(|(_, node)| node), rest),
            };
            let unsaid =
                if not_a_list && view.describes_object { Known::No } else { Known::Unsaid };
            listed.max(any_member).unwrap_or(unsaid)
        }
        name => match (view.member(name), &view.rest) {
            (Some(member), _) => declared(member, rest),
            (None, Rest::Schema(node)) => declared(node, rest),
            (None, _) if !view.patterns.is_empty() => Known::Unsaid,
            (None, _) if view.describes_object && view.variants.is_empty() => Known::No,
            (None, _) if view.kinds.as_ref().is_some_and(|kinds| !kinds.contains("object")) => {
                Known::No
            }
            (None, _) if view.describes_object => Known::No,
            (None, _) => Known::Unsaid,
        },
    };
    let variants = below(&mut view.variants.iter(), steps);
    match (direct, variants) {
        // What alternatives decide, the whole leaves open.
        (Known::Unsaid, Some(of_variants)) => of_variants,
        (direct, variants) => direct.max(variants.unwrap_or(direct)),
    }
}

/// A line as it is written.
pub(crate) fn spelled(line: &Reading) -> String {
    let mut text = line.status.as_ref().map(|status| format!("{status} ")).unwrap_or_default();
    for (at, step) in line.path.iter().enumerate() {
        if step == "[]" {
            text.push_str("[]");
        } else {
            if at > 0 {
                text.push('.');
            }
            text.push_str(step);
        }
    }
    text
}
