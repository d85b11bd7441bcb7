//! From a value that separates to a witness: smaller while it still separates, with both places named.

use crate::judge::{Judge, Truth};
use crate::limits;
use crate::node::{Arena, NodeId, Part};
use crate::reject::Rejected;
use serde_json::Value;

/// What makes a value separate: accepted here, rejected there, and writable where that is asked.
pub(crate) struct Separates<'a> {
    pub(crate) accepts: &'a Arena,
    pub(crate) rejects: &'a Arena,
    /// Does the value follow the writer?
    pub(crate) follows: &'a mut dyn FnMut(&Value) -> bool,
}

impl Separates<'_> {
    pub(crate) fn holds(&mut self, value: &Value) -> bool {
        Judge::new(self.accepts).holds(self.accepts.root, value) == Truth::True
            && Judge::new(self.rejects).holds(self.rejects.root, value) == Truth::False
            && (self.follows)(value)
    }

    pub(crate) fn rejections(&self, value: &Value) -> Vec<Rejected> {
        Judge::new(self.rejects).rejections(self.rejects.root, value)
    }

    /// Takes out members and items, then steps numbers towards zero and texts towards nothing, while the value still
    /// separates, at `site` where one is given. Examples and defaults of the schemas stay as they are: they look real.
    pub(crate) fn shrink(&mut self, mut value: Value, site: Option<&(NodeId, String)>) -> Value {
        let mut tries = 0;
        let mut smaller = |own: &mut Self, value: &Value| {
            tries += 1;
            (tries <= limits::SHRINK_TRIES).then(|| {
                own.holds(value)
                    && site.is_none_or(|site| {
                        own.rejections(value).iter().any(|rejected| rejected.site() == *site)
                    })
            })
        };
        let mut moved = true;
        while moved {
            moved = false;
            for pointer in removable(&value) {
                let mut less = value.clone();
                if !remove(&mut less, &pointer) {
                    continue;
                }
                match smaller(self, &less) {
                    None => return value,
                    Some(true) => {
                        value = less;
                        moved = true;
                        break;
                    }
                    Some(false) => {}
                }
            }
        }
        for pointer in std::iter::once(String::new()).chain(removable(&value)) {
            let mut moved = true;
            while moved {
                moved = false;
                let Some(plain) = value.pointer(&pointer) else { break };
                for step in steps(plain) {
                    if self.is_example(plain) {
                        break;
                    }
                    let mut less = value.clone();
                    if let Some(place) = less.pointer_mut(&pointer) {
                        *place = step;
                    }
                    match smaller(self, &less) {
                        None => return value,
                        Some(true) => {
                            value = less;
                            moved = true;
                            break;
                        }
                        Some(false) => {}
                    }
                }
            }
        }
        value
    }

    fn is_example(&self, value: &Value) -> bool {
        let nodes = self.accepts.nodes.iter().chain(&self.rejects.nodes);
        nodes.flat_map(|node| &node.hints).any(|hint| hint == value)
    }
}

/// Smaller plain values, the smallest first.
fn steps(value: &Value) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    match value {
        Value::Number(number) => {
            if let Some(n) = number.as_i64().filter(|&n| n != 0) {
                out.extend([0, n / 2, n - n.signum()].map(Value::from));
                out.dedup();
            } else if let Some(n) = number.as_f64().filter(|n| n.fract() != 0.0 && n.abs() < 1e15) {
                out.push((n.trunc() as i64).into());
            }
        }
        Value::String(text) if !text.is_empty() => {
            let all: Vec<char> = text.chars().collect();
            let of = |chars: &[char]| Value::String(chars.iter().collect());
            if all.len() > 2 {
                out.extend([of(&[]), of(&all[..all.len() / 2]), of(&all[all.len() / 2..])]);
            }
            for at in (0..all.len().min(limits::STEPPED_CHARS)).rev() {
                let mut fewer = all.clone();
                fewer.remove(at);
                out.push(of(&fewer));
            }
        }
        _ => {}
    }
    out
}

/// Pointers to every member and item, outer ones first, later items before earlier ones.
fn removable(value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let mut open = vec![(value, String::new())];
    let mut at = 0;
    while at < open.len() {
        let (value, pointer) = open[at].clone();
        at += 1;
        let children: Vec<(String, &Value)> = match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .rev()
                .map(|(at, item)| (format!("{pointer}/{at}"), item))
                .collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| {
                    (format!("{pointer}/{}", crate::reference::escape(name)), member)
                })
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        };
        for (pointer, child) in children {
            out.push(pointer.clone());
            open.push((child, pointer));
        }
    }
    out
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, last)) = pointer.rsplit_once('/') else {
        return false;
    };
    match value.pointer_mut(parent) {
        Some(Value::Array(items)) => match last.parse::<usize>() {
            Ok(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        Some(Value::Object(members)) => {
            members.shift_remove(&last.replace("~1", "/").replace("~0", "~")).is_some()
        }
        _ => false,
    }
}

/// The node of `arena` that governs the place `instance` points to, or the last one on the way there.
pub(crate) fn governs(arena: &Arena, instance: &str) -> NodeId {
    let mut here = vec![arena.root];
    for token in instance.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let mut next = Vec::new();
        for &node in &in_place(arena, &here) {
            for part in &arena.nodes[node as usize].parts {
                match part {
                    Part::Members(members) => {
                        let named = members.named.get(&token).copied();
                        let mut found: Vec<NodeId> = named.into_iter().collect();
                        found.extend(
                            members
                                .patterns
                                .iter()
                                .filter(|(pattern, _)| {
                                    arena.patterns[*pattern as usize].matches(&token) == Some(true)
                                })
                                .map(|&(_, node)| node),
                        );
                        if found.is_empty() {
                            found.extend(members.rest);
                        }
                        next.extend(found);
                    }
                    Part::Items(items) => {
                        let at: usize = token.parse().unwrap_or(usize::MAX);
                        next.extend(items.prefix.get(at).or(items.rest.as_ref()));
                    }
                    _ => {}
                }
            }
        }
        if next.is_empty() {
            break;
        }
        here = next;
    }
    // What only points on is not what governs.
    let mut node = here[0];
    while let [Part::Ref { node: next, .. }] = arena.nodes[node as usize].parts.as_slice() {
        node = *next;
    }
    node
}

fn in_place(arena: &Arena, roots: &[NodeId]) -> Vec<NodeId> {
    let mut out: Vec<NodeId> = roots.to_vec();
    let mut at = 0;
    while at < out.len() {
        for part in &arena.nodes[out[at] as usize].parts {
            for node in part.in_place() {
                if !out.contains(&node) {
                    out.push(node);
                }
            }
        }
        at += 1;
    }
    out
}
