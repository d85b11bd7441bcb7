//! Where the place of a step was before the steps above it, and what the old contract says about it.

use super::path::{Part, Path};
use super::{Action, Step, Wrapper, limits};
use crate::view::{Node, Rest, Source, View};
use schema::{ReadOptions, Schema, evaluate};
use serde_json::Value;
use std::sync::Arc;

/// The place in the old arguments that the steps take to `path`; `None` where a step put the value there.
pub(super) fn before(steps: &[Step], path: &Path) -> Option<Path> {
    let mut path = path.clone();
    for step in steps.iter().rev() {
        match &step.action {
            Action::Move { from, to } if to.holds(&path) => path = path.rebased(to, from),
            Action::Wrap { at, into }
                if at.holds(&path) && path.0.get(at.0.len()) == Some(&part_of(into)) =>
            {
                path.0.remove(at.0.len());
            }
            Action::Unwrap { at, from } if at.holds(&path) => {
                path.0.insert(at.0.len(), part_of(from));
            }
            Action::Constant(constant) if constant.at.holds(&path) => return None,
            _ => {}
        }
    }
    Some(path)
}

/// The place to which the steps take what lies at `path`; `None` where a step leaves it out.
pub(super) fn after(steps: &[Step], path: &Path) -> Option<Path> {
    let mut path = path.clone();
    for step in steps {
        match &step.action {
            Action::Move { from, to } if from.holds(&path) => path = path.rebased(from, to),
            Action::Wrap { at, into } if at.holds(&path) => {
                path.0.insert(at.0.len(), part_of(into));
            }
            Action::Unwrap { at, from }
                if at.holds(&path) && path.0.get(at.0.len()) == Some(&part_of(from)) =>
            {
                path.0.remove(at.0.len());
            }
            Action::Drop { at, .. } if at.holds(&path) => return None,
            _ => {}
        }
    }
    Some(path)
}

/// What a wrapper adds to a path.
fn part_of(wrapper: &Wrapper) -> Part {
    match wrapper {
        Wrapper::Object(key) => Part::Member(key.clone()),
        Wrapper::Array => Part::Each,
    }
}

/// The schemas that stand at a place of a document, branches included.
pub(super) fn places<'a>(document: &'a Value, path: &Path) -> Vec<Node<'a>> {
    let root = Node {
        source: Source::single(document),
        file: "",
        pointer: String::new(),
        value: document,
    };
    let mut here = vec![root];
    for part in &path.0 {
        let mut below = Vec::new();
        for node in branches(here) {
            let view = View::of(&node);
            match part {
                Part::Member(name) => {
                    below.extend(view.members.into_iter().filter(|(n, _)| n == name).map(|m| m.1));
                }
                Part::Each => below.extend(view.items.into_iter().chain(view.prefix)),
            }
        }
        below.truncate(BRANCHES);
        here = below;
    }
    here
}

/// Whether a call may hold something at a place, as far as the contract declares members.
pub(super) fn declares(document: &Value, path: &Path) -> bool {
    let mut above = Path(Vec::new());
    for part in &path.0 {
        let here = branches(places(document, &above));
        above.0.push(part.clone());
        if places(document, &above).is_empty() {
            // A map without declared members takes any.
            return here.iter().any(|node| {
                let view = View::of(node);
                matches!(view.rest, Rest::Schema(_))
                    || !view.patterns.is_empty()
                    || view.members.is_empty() && view.is_open() && above.0.len() > 1
            });
        }
    }
    true
}

/// Alternatives looked at for one place. A union of more is no contract that a person reads.
const BRANCHES: usize = 256;

/// The schemas and their alternatives, which `View` keeps apart.
fn branches(nodes: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let mut open = nodes;
    let mut all = Vec::new();
    while let Some(node) = open.pop() {
        if all.len() >= BRANCHES {
            break;
        }
        open.extend(View::of(&node).variants);
        all.push(node);
    }
    all
}

/// The names of all members that are declared inside a place.
pub(super) fn declared_inside(document: &Value, path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Vec<(Node<'_>, usize)> =
        places(document, path).into_iter().map(|node| (node, 0)).collect();
    while let Some((node, depth)) = open.pop() {
        if names.len() >= BRANCHES || depth > limits::PATH {
            continue;
        }
        let view = View::of(&node);
        open.extend(view.variants.into_iter().map(|node| (node, depth + 1)));
        open.extend(view.items.into_iter().chain(view.prefix).map(|node| (node, depth + 1)));
        for (name, node) in view.members {
            names.push(name);
            open.push((node, depth + 1));
        }
    }
    names
}

/// Whether the old contract takes a value at a place. What it does not say, it takes.
pub(super) fn takes(document: &Value, path: &Path, value: &Value) -> bool {
    let places = places(document, path);
    let document = Arc::new(document.clone());
    places.is_empty()
        || places.iter().any(|node| {
            match Schema::read_at(Arc::clone(&document), &node.pointer, &ReadOptions::default()) {
                Ok(schema) => match evaluate(&schema, value) {
                    Ok(()) => true,
                    Err(rejection) => rejection.keyword == "undecided",
                },
                Err(_) => true,
            }
        })
}

/// The names of the arguments themselves.
pub(super) fn members(document: &Value) -> Vec<String> {
    let root = Node {
        source: Source::single(document),
        file: "",
        pointer: String::new(),
        value: document,
    };
    let mut names = Vec::new();
    for node in branches(vec![root]) {
        for (name, _) in View::of(&node).members {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}
