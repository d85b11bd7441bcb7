//! Both schemas side by side, and the literals the search is made of.

use crate::node::{Arena, Members, Node, NodeId, Part};
use crate::pattern::Pattern;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A node of either schema: those of the first come first. Equal nodes share one number.
pub(crate) type Id = u32;

/// One thing asked of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lit {
    /// The node accepts it.
    Yes(Id),
    /// The node rejects it.
    No(Id),
    /// Its members are declared by these nodes (an interned set), here and below.
    Writer(u32),
    /// It is not this value (interned).
    NotValue(u32),
    /// One of these nodes (an interned set) accepts it.
    Any(u32),
    /// All of these nodes (an interned set) reject it.
    Neither(u32),
}

impl Lit {
    /// What holds of a value just where this does not, where that can be said.
    pub(crate) fn opposite(self) -> Option<Lit> {
        Some(match self {
            Lit::Yes(id) => Lit::No(id),
            Lit::No(id) => Lit::Yes(id),
            Lit::Any(set) => Lit::Neither(set),
            Lit::Neither(set) => Lit::Any(set),
            Lit::Writer(_) | Lit::NotValue(_) => return None,
        })
    }

    /// The one node that it is about, where there is one.
    pub(crate) fn node(self) -> Option<Id> {
        match self {
            Lit::Yes(id) | Lit::No(id) => Some(id),
            Lit::Writer(_) | Lit::NotValue(_) | Lit::Any(_) | Lit::Neither(_) => None,
        }
    }
}

/// Names and patterns that some branches have looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) names: BTreeSet<String>,
    pub(crate) patterns: Vec<Arc<Pattern>>,
    pub(crate) all: bool,
    /// Items before this index, and whether all of them.
    pub(crate) items: usize,
    pub(crate) all_items: bool,
    /// Every item that one of these accepts (`contains`).
    pub(crate) found: BTreeSet<Id>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: &Seen) {
        self.names.extend(other.names.iter().cloned());
        self.patterns.extend(other.patterns.iter().cloned());
        self.all |= other.all;
        self.items = self.items.max(other.items);
        self.all_items |= other.all_items;
        self.found.extend(&other.found);
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.names.is_empty()
            && self.patterns.is_empty()
            && !self.all
            && self.items == 0
            && !self.all_items
            && self.found.is_empty()
    }

    /// Does it look at a member of this name? `None` where a pattern is not reasoned about.
    pub(crate) fn covers(&self, name: &str) -> Option<bool> {
        if self.all || self.names.contains(name) {
            return Some(true);
        }
        for pattern in &self.patterns {
            if pattern.matches(name)? {
                return Some(true);
            }
        }
        Some(false)
    }
}

/// The two schemas of a question.
pub(crate) struct World<'a> {
    arenas: [&'a Arena; 2],
    split: Id,
    same: Vec<Id>,
}

impl<'a> World<'a> {
    pub(crate) fn new(first: &'a Arena, second: &'a Arena) -> World<'a> {
        let split = Id::try_from(first.nodes.len()).expect("the number of nodes is bounded");
        let mut known: HashMap<u128, Id> = HashMap::new();
        let all = || (0..).zip(first.nodes.iter().chain(&second.nodes));
        // A node that only points on cannot stand for the node it points to.
        for (own, node) in all().filter(|(_, node)| !node.forwards) {
            if let Some(class) = node.class {
                known.entry(class).or_insert(own);
            }
        }
        let same = all()
            .map(|(own, node)| {
                node.class.and_then(|class| known.get(&class).copied()).unwrap_or(own)
            })
            .collect();
        World { arenas: [first, second], split, same }
    }

    fn side(&self, id: Id) -> (usize, NodeId) {
        if id < self.split { (0, id) } else { (1, id - self.split) }
    }

    pub(crate) fn arena(&self, id: Id) -> (&'a Arena, NodeId) {
        let (side, node) = self.side(id);
        (self.arenas[side], node)
    }

    pub(crate) fn node(&self, id: Id) -> &'a Node {
        let (arena, node) = self.arena(id);
        &arena.nodes[node as usize]
    }

    /// The node that stands for `node` of the same schema as `near`.
    pub(crate) fn beside(&self, near: Id, node: NodeId) -> Id {
        let (side, _) = self.side(near);
        self.of(side, node)
    }

    /// The node that stands for a node of the first or second schema.
    pub(crate) fn of(&self, side: usize, node: NodeId) -> Id {
        self.same[(node + if side == 0 { 0 } else { self.split }) as usize]
    }

    /// The same without merging equal nodes: what a writer declares is more than the values.
    pub(crate) fn exact(&self, side: usize, node: NodeId) -> Id {
        node + if side == 0 { 0 } else { self.split }
    }

    pub(crate) fn exact_beside(&self, near: Id, node: NodeId) -> Id {
        let (side, _) = self.side(near);
        self.exact(side, node)
    }

    pub(crate) fn pattern(&self, near: Id, pattern: u32) -> &'a Arc<Pattern> {
        let (side, _) = self.side(near);
        &self.arenas[side].patterns[pattern as usize]
    }

    pub(crate) fn is_true(&self, id: Id) -> bool {
        self.node(id).parts.is_empty()
    }

    pub(crate) fn is_false(&self, id: Id) -> bool {
        matches!(self.node(id).parts.as_slice(), [Part::Never, ..])
    }

    /// What one `properties` group looks at by name.
    pub(crate) fn seen_by(&self, near: Id, members: &Members) -> Seen {
        Seen {
            names: members.named.keys().cloned().collect(),
            patterns: members
                .patterns
                .iter()
                .map(|&(pattern, _)| self.pattern(near, pattern).clone())
                .collect(),
            ..Seen::default()
        }
    }
}

/// What a writer that follows some schemas may put at one place of a value.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The nodes that apply here, in-place branches included, held or not.
    pub(crate) nodes: Vec<Id>,
    /// Declared names and patterns; `None` where any name may be sent.
    pub(crate) declared: Option<Seen>,
}

/// All writers met so far. The nodes at a place decide the writer.
#[derive(Default)]
pub(crate) struct Writers {
    all: Vec<Arc<Writer>>,
    known: BTreeMap<Vec<Id>, u32>,
}

impl Writers {
    pub(crate) fn get(&self, writer: u32) -> Arc<Writer> {
        self.all[writer as usize].clone()
    }

    /// The writer for a place to which these nodes apply, or `None` where it is free to write anything.
    pub(crate) fn at(&mut self, world: &World, roots: Vec<Id>) -> Option<u32> {
        let mut nodes = BTreeSet::new();
        let mut open = roots;
        while let Some(id) = open.pop() {
            if !nodes.insert(id) {
                continue;
            }
            for part in &world.node(id).parts {
                if !matches!(part, Part::Not(_)) {
                    open.extend(
                        part.in_place().into_iter().map(|node| world.exact_beside(id, node)),
                    );
                }
            }
        }
        let nodes: Vec<Id> =
            nodes.into_iter().filter(|&id| has_inside(&world.node(id).parts)).collect();
        if nodes.is_empty() {
            return None;
        }
        if let Some(&known) = self.known.get(&nodes) {
            return Some(known);
        }
        let mut seen = Seen::default();
        for &id in &nodes {
            for part in &world.node(id).parts {
                match part {
                    Part::Members(members) => {
                        seen.add(&world.seen_by(id, members));
                        seen.all |= members.rest.is_some_and(|rest| is_real(world, id, rest));
                    }
                    Part::UnevaluatedMembers(rest) => seen.all |= is_real(world, id, *rest),
                    _ => {}
                }
            }
        }
        let free = seen.all || (seen.names.is_empty() && seen.patterns.is_empty());
        // A name that must be there, or that asks for others, is one that is sent.
        for &id in &nodes {
            for part in &world.node(id).parts {
                match part {
                    Part::Required(names) => seen.names.extend(names.iter().cloned()),
                    Part::Requires { names: requires, .. } => {
                        let each = requires.iter().flat_map(|(name, others)| {
                            std::iter::once(name).chain(others).cloned()
                        });
                        seen.names.extend(each);
                    }
                    Part::When { name, .. } => {
                        seen.names.insert(name.clone());
                    }
                    _ => {}
                }
            }
        }
        let writer = u32::try_from(self.all.len()).expect("writers are bounded by the steps");
        self.all.push(Arc::new(Writer { nodes: nodes.clone(), declared: (!free).then_some(seen) }));
        self.known.insert(nodes, writer);
        Some(writer)
    }

    /// The writer of one member.
    pub(crate) fn member(&mut self, world: &World, writer: u32, name: &str) -> Option<u32> {
        let here = self.get(writer);
        let mut roots = Vec::new();
        for &id in &here.nodes {
            for part in &world.node(id).parts {
                match part {
                    Part::Members(members) => {
                        let mut covered = false;
                        if let Some(&node) = members.named.get(name) {
                            covered = true;
                            roots.push(world.exact_beside(id, node));
                        }
                        for &(pattern, node) in &members.patterns {
                            if world.pattern(id, pattern).matches(name) != Some(false) {
                                covered = true;
                                roots.push(world.exact_beside(id, node));
                            }
                        }
                        if let Some(rest) = members.rest.filter(|_| !covered) {
                            roots.push(world.exact_beside(id, rest));
                        }
                    }
                    Part::UnevaluatedMembers(node) => roots.push(world.exact_beside(id, *node)),
                    _ => {}
                }
            }
        }
        self.at(world, roots)
    }

    /// The writer of one item.
    pub(crate) fn item(&mut self, world: &World, writer: u32, at: usize) -> Option<u32> {
        let here = self.get(writer);
        let mut roots = Vec::new();
        for &id in &here.nodes {
            for part in &world.node(id).parts {
                let node = match part {
                    Part::Items(items) => items.prefix.get(at).or(items.rest.as_ref()).copied(),
                    Part::Contains { node, .. } | Part::UnevaluatedItems(node) => Some(*node),
                    _ => None,
                };
                roots.extend(node.map(|node| world.exact_beside(id, node)));
            }
        }
        self.at(world, roots)
    }

    /// Does a value hold declared members only, at every place?
    pub(crate) fn follows(
        &mut self,
        world: &World,
        writer: u32,
        value: &serde_json::Value,
    ) -> bool {
        match value {
            serde_json::Value::Array(items) => items.iter().enumerate().all(|(at, item)| {
                self.item(world, writer, at).is_none_or(|writer| self.follows(world, writer, item))
            }),
            serde_json::Value::Object(members) => members.iter().all(|(name, member)| {
                let here = self.get(writer);
                // A pattern that is not reasoned about may declare the name.
                here.declared.as_ref().is_none_or(|seen| seen.covers(name) != Some(false))
                    && self
                        .member(world, writer, name)
                        .is_none_or(|writer| self.follows(world, writer, member))
            }),
            _ => true,
        }
    }
}

fn has_inside(parts: &[Part]) -> bool {
    parts.iter().any(|part| {
        matches!(
            part,
            Part::Members(_)
                | Part::UnevaluatedMembers(_)
                | Part::Items(_)
                | Part::Contains { .. }
                | Part::UnevaluatedItems(_)
                | Part::Required(_)
                | Part::Requires { .. }
                | Part::When { .. }
        )
    })
}

/// A schema for further members that says something: then sending such members is declared.
fn is_real(world: &World, near: Id, node: NodeId) -> bool {
    let id = world.exact_beside(near, node);
    !world.is_true(id) && !world.is_false(id)
}
