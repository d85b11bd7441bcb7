//! Which nodes say the same: one number for each set of structurally equal nodes, over both schemas.
//! Annotations do not count. Nodes that reach a cycle keep to themselves; coinduction handles them.

use crate::node::{Arena, Members, Node, NodeId, Part};
use crate::value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A node on a cycle of `edges`, if there is one. Uses no call stack.
pub(crate) fn find_cycle(edges: &[Vec<NodeId>]) -> Option<NodeId> {
    let mut waiting: Vec<usize> = edges.iter().map(Vec::len).collect();
    let order = settle(edges, &mut waiting);
    (order.len() < edges.len()).then(|| {
        let mut at =
            waiting.iter().position(|&n| n > 0).expect("an unsettled node waits for another");
        // Walk along unsettled edges; after as many steps as nodes the walk stands on a cycle.
        for _ in 0..edges.len() {
            at = edges[at]
                .iter()
                .map(|&next| next as usize)
                .find(|&next| waiting[next] > 0)
                .expect("an unsettled node has an unsettled successor");
        }
        NodeId::try_from(at).expect("the number of nodes is bounded")
    })
}

/// Steps of the longest path along `edges`, which have no cycle, and the node it begins at.
pub(crate) fn longest_path(edges: &[Vec<NodeId>]) -> (usize, NodeId) {
    let mut waiting: Vec<usize> = edges.iter().map(Vec::len).collect();
    let mut below = vec![0usize; edges.len()];
    let mut longest = (0, 0);
    for at in settle(edges, &mut waiting) {
        below[at] = edges[at].iter().map(|&next| below[next as usize] + 1).max().unwrap_or(0);
        if below[at] > longest.0 {
            longest = (below[at], NodeId::try_from(at).expect("the number of nodes is bounded"));
        }
    }
    longest
}

/// How deep a walk from `root` nests that visits every node once, in either order of the edges:
/// what a reader that recurses would need.
pub(crate) fn walk_depth(edges: &[Vec<NodeId>], root: NodeId) -> usize {
    let walk = |backwards: bool| {
        let mut seen = vec![false; edges.len()];
        let mut path: Vec<(usize, usize)> = vec![(root as usize, 0)];
        let mut deepest = 1;
        seen[root as usize] = true;
        while let Some((at, next)) = path.last_mut() {
            let targets = &edges[*at];
            let Some(&to) =
                (if backwards { targets.iter().rev().nth(*next) } else { targets.get(*next) })
            else {
                path.pop();
                continue;
            };
            *next += 1;
            if !std::mem::replace(&mut seen[to as usize], true) {
                path.push((to as usize, 0));
                deepest = deepest.max(path.len());
            }
        }
        deepest
    };
    walk(false).max(walk(true))
}

/// Every edge of an arena, in place and inner ones.
fn all_edges(arena: &Arena) -> Vec<Vec<NodeId>> {
    arena
        .nodes
        .iter()
        .map(|node| {
            node.parts
                .iter()
                .flat_map(|part| part.in_place().into_iter().chain(part.inner()))
                .collect()
        })
        .collect()
}

/// Nodes in an order in which successors come first, leaving out those that reach a cycle.
fn settle(edges: &[Vec<NodeId>], waiting: &mut [usize]) -> Vec<usize> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        for &to in targets {
            before[to as usize].push(from);
        }
    }
    let mut order: Vec<usize> = (0..edges.len()).filter(|&at| waiting[at] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        for &from in &before[order[next]] {
            waiting[from] -= 1;
            if waiting[from] == 0 {
                order.push(from);
            }
        }
        next += 1;
    }
    order
}

/// Gives every node that reaches no cycle its class.
pub(crate) fn assign(arena: &mut Arena) {
    let mut edges = all_edges(arena);
    arena.walk_depth = walk_depth(&edges, arena.root);
    for (at, node) in arena.nodes.iter().enumerate() {
        if node.parts.iter().any(|part| matches!(part, Part::Opaque { .. })) {
            // What is not understood is equal to nothing: an edge to itself keeps it unsettled.
            edges[at].push(NodeId::try_from(at).expect("the number of nodes is bounded"));
        }
    }
    let mut waiting: Vec<usize> = edges.iter().map(Vec::len).collect();
    // What a branch has looked at matters only where something asks for the rest.
    let names_count = arena
        .nodes
        .iter()
        .flat_map(|node| &node.parts)
        .any(|part| matches!(part, Part::UnevaluatedMembers(_) | Part::UnevaluatedItems(_)));
    let (always, _) = class_of(arena, &Node { parts: Vec::new(), ..arena.nodes[0].clone() }, None);
    for at in settle(&edges, &mut waiting) {
        let always = (!names_count).then_some(always);
        let (class, forwards) = class_of(arena, &arena.nodes[at], always);
        arena.nodes[at].class = Some(class);
        arena.nodes[at].forwards = forwards;
    }
}

struct Both(DefaultHasher, DefaultHasher);

impl Both {
    fn new() -> Both {
        let mut second = DefaultHasher::new();
        0x9e37_79b9_7f4a_7c15_u64.hash(&mut second);
        Both(DefaultHasher::new(), second)
    }

    fn add(&mut self, thing: impl Hash) {
        thing.hash(&mut self.0);
        thing.hash(&mut self.1);
    }

    fn finish(&self) -> u128 {
        u128::from(self.0.finish()) << 64 | u128::from(self.1.finish())
    }
}

/// Hashes a node whose successors are all settled. `always` is the class of `true`, given where
/// naming a member and accepting everything for it says nothing. Also tells whether the node
/// only points on to another one.
fn class_of(arena: &Arena, node: &Node, always: Option<u128>) -> (u128, bool) {
    let class = |id: NodeId| arena.nodes[id as usize].class.expect("successors are settled first");
    let sorted = |ids: &[NodeId]| {
        let mut all: Vec<u128> = ids.iter().map(|&id| class(id)).collect();
        all.sort_unstable();
        all
    };
    let vacuous = |part: &&Part| {
        let Some(always) = always else { return false };
        match part {
            Part::Members(members) => members
                .named
                .values()
                .chain(members.patterns.iter().map(|(_, id)| id))
                .chain(&members.rest)
                .all(|&id| class(id) == always),
            Part::Items(items) => {
                items.prefix.iter().chain(&items.rest).all(|&id| class(id) == always)
            }
            Part::Names(id) => class(*id) == always,
            Part::If { then: None, other: None, .. } => true,
            _ => false,
        }
    };
    let parts: Vec<&Part> = node.parts.iter().filter(|part| !vacuous(part)).collect();
    if let [part] = parts.as_slice() {
        match part {
            Part::Ref { node, .. } => return (class(*node), true),
            Part::All(nodes) | Part::Any(nodes) | Part::One(nodes) if nodes.len() == 1 => {
                return (class(nodes[0]), true);
            }
            _ => {}
        }
    }
    let mut all: Vec<u128> =
        parts.iter().map(|part| class_of_part(arena, part, always, &class, &sorted)).collect();
    all.sort_unstable();
    all.dedup();
    let mut hash = Both::new();
    hash.add(all);
    (hash.finish(), false)
}

fn class_of_part(
    arena: &Arena,
    part: &Part,
    always: Option<u128>,
    class: &dyn Fn(NodeId) -> u128,
    sorted: &dyn Fn(&[NodeId]) -> Vec<u128>,
) -> u128 {
    let mut hash = Both::new();
    hash.add(std::mem::discriminant(part));
    match part {
        Part::Never | Part::Unique => {}
        Part::Types(types) => hash.add(types),
        Part::Choice { values, .. } => {
            let mut keys: Vec<String> = values.iter().map(value::key).collect();
            keys.sort();
            keys.dedup();
            hash.add(keys);
        }
        Part::AtLeast { at, open } | Part::AtMost { at, open } => hash.add((at.to_string(), open)),
        Part::MultipleOf(step) => hash.add(step.to_string()),
        Part::MinLength(n)
        | Part::MaxLength(n)
        | Part::MinItems(n)
        | Part::MaxItems(n)
        | Part::MinMembers(n)
        | Part::MaxMembers(n) => hash.add(n),
        Part::Pattern(id) => hash.add(arena.patterns[*id as usize].text()),
        Part::Items(items) => {
            hash.add(items.prefix.iter().map(|&id| class(id)).collect::<Vec<_>>());
            hash.add(items.rest.map(class).or(always));
        }
        Part::Contains { node, min, max, marks } => hash.add((class(*node), min, max, marks)),
        Part::Required(names) => {
            let mut names = names.clone();
            names.sort();
            names.dedup();
            hash.add(names);
        }
        Part::Requires { names: requires, .. } => {
            let mut requires = requires.clone();
            requires.sort();
            hash.add(requires);
        }
        Part::Members(Members { named, patterns, rest }) => {
            let rest = rest.map(class).or(always);
            // Where the rest is free, a named member that accepts everything is free as well,
            // unless a pattern would then apply to it, which it does in either case.
            let free = always.is_some() && rest == always;
            let mut named: Vec<(&String, u128)> =
                named.iter().map(|(name, &id)| (name, class(id))).collect();
            named.retain(|&(_, class)| !free || Some(class) != always);
            named.sort();
            let mut patterns: Vec<(&str, u128)> = patterns
                .iter()
                .map(|&(pattern, id)| (arena.patterns[pattern as usize].text(), class(id)))
                .collect();
            patterns.retain(|&(_, class)| !free || Some(class) != always);
            patterns.sort_unstable();
            hash.add((named, patterns, rest));
        }
        Part::Names(id)
        | Part::Not(id)
        | Part::UnevaluatedMembers(id)
        | Part::UnevaluatedItems(id) => hash.add(class(*id)),
        Part::All(ids) | Part::Any(ids) | Part::One(ids) => hash.add(sorted(ids)),
        Part::If { test, then, other } => {
            hash.add((class(*test), then.map(class), other.map(class)))
        }
        Part::When { name, node } => hash.add((name, class(*node))),
        Part::Ref { node, .. } => hash.add(class(*node)),
        Part::Opaque { keyword, why } => hash.add((keyword, why)),
    }
    hash.finish()
}
