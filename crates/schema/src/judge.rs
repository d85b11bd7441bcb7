//! The engine's own reading of "this value is valid": quick, bounded and three-valued.
//!
//! Candidates are checked here while a witness is sought. What is reported is judged once more by
//! an independent validator, see `evaluate`.

use crate::limits;
use crate::node::{Admits, Arena, Kind, Members, NodeId, Part};
use crate::number;
use crate::value::equal;
use serde_json::Value;
use std::collections::BTreeSet;

/// Yes, no, or not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    pub(crate) fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }

    pub(crate) fn not(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

/// Members or items that some branch has looked at.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) names: BTreeSet<String>,
    all_names: bool,
    items: usize,
    single_items: BTreeSet<usize>,
    all_items: bool,
}

impl Seen {
    pub(crate) fn has_item(&self, at: usize) -> bool {
        self.all_items || at < self.items || self.single_items.contains(&at)
    }
}

/// Judges values against one arena within a budget of steps.
pub(crate) struct Judge<'a> {
    pub(crate) arena: &'a Arena,
    left: u64,
    /// Nodes being judged within each other, on the call stack.
    pub(crate) depth: usize,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(arena: &'a Arena) -> Judge<'a> {
        Judge { arena, left: limits::JUDGE_STEPS, depth: 0 }
    }

    pub(crate) fn spent(&self) -> u64 {
        limits::JUDGE_STEPS - self.left
    }

    /// Does `node` accept `value`?
    pub(crate) fn holds(&mut self, node: NodeId, value: &Value) -> Truth {
        if self.depth >= limits::JUDGE_DEPTH {
            return Truth::Unknown;
        }
        self.depth += 1;
        let arena = self.arena;
        let mut truth = Truth::True;
        for part in &arena.nodes[node as usize].parts {
            truth = truth.and(self.part(node, part, value));
            if truth == Truth::False {
                break;
            }
        }
        self.depth -= 1;
        truth
    }

    fn all<'n>(&mut self, nodes: impl IntoIterator<Item = &'n NodeId>, value: &Value) -> Truth {
        let mut truth = Truth::True;
        for &node in nodes {
            truth = truth.and(self.holds(node, value));
            if truth == Truth::False {
                break;
            }
        }
        truth
    }

    /// (branches that hold, branches not decided)
    pub(crate) fn tally(&mut self, nodes: &[NodeId], value: &Value) -> (usize, usize) {
        let mut tally = (0, 0);
        for &node in nodes {
            match self.holds(node, value) {
                Truth::True => tally.0 += 1,
                Truth::Unknown => tally.1 += 1,
                Truth::False => {}
            }
        }
        tally
    }

    pub(crate) fn part(&mut self, node: NodeId, part: &Part, value: &Value) -> Truth {
        if self.left == 0 {
            return Truth::Unknown;
        }
        self.left -= 1;
        match part {
            Part::Never => Truth::False,
            Part::Types(types) => match types.admits(Kind::of(value)) {
                Admits::All => Truth::True,
                Admits::None => Truth::False,
                Admits::Integers => match value {
                    Value::Number(n) => {
                        number::read(n).map_or(Truth::Unknown, |n| n.is_integer().into())
                    }
                    _ => Truth::False,
                },
            },
            Part::Choice { keys: Some(keys), .. } => {
                keys.contains(&crate::value::key(value)).into()
            }
            Part::Choice { values, .. } => values.iter().any(|choice| equal(choice, value)).into(),
            Part::All(nodes) => self.all(nodes, value),
            Part::Any(nodes) => match self.tally(nodes, value) {
                (0, 0) => Truth::False,
                (0, _) => Truth::Unknown,
                _ => Truth::True,
            },
            Part::One(nodes) => match self.tally(nodes, value) {
                (0, 0) => Truth::False,
                (1, 0) => Truth::True,
                (yes, _) if yes > 1 => Truth::False,
                _ => Truth::Unknown,
            },
            Part::Not(inner) => self.holds(*inner, value).not(),
            Part::Ref { node, .. } => self.holds(*node, value),
            Part::If { test, then, other } => match self.holds(*test, value) {
                Truth::True => self.all(then, value),
                Truth::False => self.all(other, value),
                Truth::Unknown => {
                    if then.is_none() && other.is_none() {
                        Truth::True
                    } else {
                        Truth::Unknown
                    }
                }
            },
            Part::Opaque { .. } => Truth::Unknown,
            _ => match value {
                Value::Number(n) => Self::number(part, n),
                Value::String(text) => self.string(part, text),
                Value::Array(items) => self.array(node, part, items, value),
                Value::Object(members) => self.object(node, part, members, value),
                Value::Null | Value::Bool(_) => Truth::True,
            },
        }
    }

    fn number(part: &Part, n: &serde_json::Number) -> Truth {
        let Some(n) = number::read(n) else {
            let asks =
                matches!(part, Part::AtLeast { .. } | Part::AtMost { .. } | Part::MultipleOf(_));
            return if asks { Truth::Unknown } else { Truth::True };
        };
        match part {
            Part::AtLeast { at, open } => (n > *at || (!open && n == *at)).into(),
            Part::AtMost { at, open } => (n < *at || (!open && n == *at)).into(),
            Part::MultipleOf(step) => number::is_multiple(&n, step).into(),
            _ => Truth::True,
        }
    }

    fn string(&mut self, part: &Part, text: &str) -> Truth {
        match part {
            Part::MinLength(least) => (text.chars().count() as u64 >= *least).into(),
            Part::MaxLength(most) => (text.chars().count() as u64 <= *most).into(),
            Part::Pattern(id) => self.matches(*id, text),
            _ => Truth::True,
        }
    }

    pub(crate) fn matches(&mut self, pattern: u32, text: &str) -> Truth {
        self.left = self.left.saturating_sub(text.len() as u64 / 8);
        self.arena.patterns[pattern as usize].matches(text).map_or(Truth::Unknown, Truth::from)
    }

    fn array(&mut self, node: NodeId, part: &Part, items: &[Value], value: &Value) -> Truth {
        let length = items.len() as u64;
        match part {
            Part::MinItems(least) => (length >= *least).into(),
            Part::MaxItems(most) => (length <= *most).into(),
            Part::Unique => {
                let mut keys: Vec<String> = items.iter().map(crate::value::key).collect();
                keys.sort();
                keys.windows(2).all(|pair| pair[0] != pair[1]).into()
            }
            Part::Items(rule) => {
                let mut truth = Truth::True;
                for (at, item) in items.iter().enumerate() {
                    if let Some(&node) = rule.prefix.get(at).or(rule.rest.as_ref()) {
                        truth = truth.and(self.holds(node, item));
                    }
                    if truth == Truth::False {
                        break;
                    }
                }
                truth
            }
            Part::Contains { node, min, max, .. } => {
                let (mut yes, mut open) = (0u64, 0u64);
                for item in items {
                    match self.holds(*node, item) {
                        Truth::True => yes += 1,
                        Truth::Unknown => open += 1,
                        Truth::False => {}
                    }
                }
                let enough = at_least(yes, open, *min);
                let not_too_many =
                    max.map_or(Truth::True, |max| at_least(yes, open, max.saturating_add(1)).not());
                enough.and(not_too_many)
            }
            Part::UnevaluatedItems(inner) => {
                let Some(seen) = self.seen(node, value) else {
                    return Truth::Unknown;
                };
                let mut truth = Truth::True;
                for (at, item) in items.iter().enumerate() {
                    if !seen.has_item(at) {
                        truth = truth.and(self.holds(*inner, item));
                    }
                }
                truth
            }
            _ => Truth::True,
        }
    }

    fn object(
        &mut self,
        node: NodeId,
        part: &Part,
        members: &serde_json::Map<String, Value>,
        value: &Value,
    ) -> Truth {
        let count = members.len() as u64;
        match part {
            Part::MinMembers(least) => (count >= *least).into(),
            Part::MaxMembers(most) => (count <= *most).into(),
            Part::Required(names) => names.iter().all(|name| members.contains_key(name)).into(),
            Part::Requires { names: requires, .. } => requires
                .iter()
                .all(|(name, names)| {
                    !members.contains_key(name)
                        || names.iter().all(|name| members.contains_key(name))
                })
                .into(),
            Part::When { name, node } => {
                if members.contains_key(name) {
                    self.holds(*node, value)
                } else {
                    Truth::True
                }
            }
            Part::Names(inner) => {
                let mut truth = Truth::True;
                for name in members.keys() {
                    truth = truth.and(self.holds(*inner, &Value::String(name.clone())));
                }
                truth
            }
            Part::Members(rule) => {
                let mut truth = Truth::True;
                for (name, member) in members {
                    truth = truth.and(self.member(rule, name, member));
                    if truth == Truth::False {
                        break;
                    }
                }
                truth
            }
            Part::UnevaluatedMembers(inner) => {
                let Some(seen) = self.seen(node, value) else {
                    return Truth::Unknown;
                };
                let mut truth = Truth::True;
                for (name, member) in members {
                    if !seen.all_names && !seen.names.contains(name) {
                        truth = truth.and(self.holds(*inner, member));
                    }
                }
                truth
            }
            _ => Truth::True,
        }
    }

    pub(crate) fn member(&mut self, rule: &Members, name: &str, member: &Value) -> Truth {
        let mut truth = Truth::True;
        let mut covered = false;
        if let Some(&node) = rule.named.get(name) {
            covered = true;
            truth = truth.and(self.holds(node, member));
        }
        let mut maybe = false;
        for &(pattern, node) in &rule.patterns {
            match self.matches(pattern, name) {
                Truth::True => {
                    covered = true;
                    truth = truth.and(self.holds(node, member));
                }
                Truth::Unknown => {
                    maybe = true;
                    if self.holds(node, member) != Truth::True {
                        truth = truth.and(Truth::Unknown);
                    }
                }
                Truth::False => {}
            }
        }
        if !covered && let Some(rest) = rule.rest {
            let rest = self.holds(rest, member);
            truth = truth.and(if maybe && rest == Truth::False { Truth::Unknown } else { rest });
        }
        truth
    }

    /// What the parts of a node that holds have looked at, its own `unevaluated*` left out.
    pub(crate) fn seen(&mut self, node: NodeId, value: &Value) -> Option<Seen> {
        let mut seen = Seen::default();
        self.add_seen(node, value, true, &mut seen)?;
        Some(seen)
    }

    fn add_seen(
        &mut self,
        node: NodeId,
        value: &Value,
        outer: bool,
        seen: &mut Seen,
    ) -> Option<()> {
        let arena = self.arena;
        for part in &arena.nodes[node as usize].parts {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            match part {
                Part::Members(rule) => {
                    seen.all_names |= rule.rest.is_some();
                    for name in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
                        let mut known = rule.named.contains_key(name);
                        for &(pattern, _) in &rule.patterns {
                            match self.matches(pattern, name) {
                                Truth::True => known = true,
                                Truth::Unknown => return None,
                                Truth::False => {}
                            }
                        }
                        if known {
                            seen.names.insert(name.clone());
                        }
                    }
                }
                Part::Items(rule) => {
                    seen.items = seen.items.max(rule.prefix.len());
                    seen.all_items |= rule.rest.is_some();
                }
                Part::Contains { node, marks: true, .. } => {
                    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                        match self.holds(*node, item) {
                            Truth::True => {
                                seen.single_items.insert(at);
                            }
                            Truth::Unknown => return None,
                            Truth::False => {}
                        }
                    }
                }
                Part::UnevaluatedMembers(_) if !outer => seen.all_names = true,
                Part::UnevaluatedItems(_) if !outer => seen.all_items = true,
                Part::All(nodes) | Part::Any(nodes) | Part::One(nodes) => {
                    for &node in nodes {
                        self.add_seen_if(node, value, seen)?;
                    }
                }
                Part::Ref { node, .. } => self.add_seen_if(*node, value, seen)?,
                Part::When { name, node } if value.get(name).is_some() => {
                    self.add_seen_if(*node, value, seen)?
                }
                Part::If { test, then, other } => {
                    let branch = match self.holds(*test, value) {
                        Truth::True => {
                            self.add_seen(*test, value, false, seen)?;
                            then
                        }
                        Truth::False => other,
                        Truth::Unknown => return None,
                    };
                    if let Some(node) = branch {
                        self.add_seen_if(*node, value, seen)?;
                    }
                }
                Part::Opaque { .. } => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn add_seen_if(&mut self, node: NodeId, value: &Value, seen: &mut Seen) -> Option<()> {
        match self.holds(node, value) {
            Truth::True => self.add_seen(node, value, false, seen),
            Truth::False => Some(()),
            Truth::Unknown => None,
        }
    }
}

fn at_least(yes: u64, open: u64, least: u64) -> Truth {
    if yes >= least {
        Truth::True
    } else if yes + open >= least {
        Truth::Unknown
    } else {
        Truth::False
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truth_is_decided_only_where_both_are() {
        assert_eq!(Truth::Unknown.and(Truth::False), Truth::False);
        assert_eq!(Truth::Unknown.and(Truth::True), Truth::Unknown);
    }
}
