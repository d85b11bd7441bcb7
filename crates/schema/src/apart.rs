//! Which alternatives can never hold together, as far as can be seen at once: a tag tells them apart, or the kind does.
//!
//! Of a `oneOf` that is tagged, no two alternatives hold; so nothing need be said of the others once one does. Without
//! this the work grows with the square of the alternatives, and for each of them.

use crate::node::{NodeId, Part, Types};
use crate::search::Search;
use crate::value;
use crate::world::Id;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Steps in place that are followed for one member: real tags stand at most behind a reference.
const HOPS: usize = 8;
/// Values of one member that are kept: a tag has one or a few.
const VALUES: usize = 16;

/// Alternatives that may hold together, by their numbers.
pub(crate) type Pairs = Arc<Vec<(usize, usize)>>;

/// What tells a node from others: the kinds of values it takes, and what its members must be.
#[derive(Debug, Default)]
pub(crate) struct Face {
    /// Bits of the kinds; none known is all.
    kinds: Option<u8>,
    /// Members of which only a few values are taken, and whether each must be there.
    tags: BTreeMap<String, (BTreeSet<String>, bool)>,
}

impl Face {
    fn is_object(&self) -> bool {
        self.kinds == Some(Types::OBJECT)
    }

    /// Proved: no value is taken by both.
    fn is_apart(&self, other: &Face) -> bool {
        if let (Some(one), Some(two)) = (self.kinds, other.kinds)
            && one & two == 0
        {
            return true;
        }
        (self.is_object() || other.is_object())
            && self.tags.iter().any(|(name, (values, must))| {
                other
                    .tags
                    .get(name)
                    .is_some_and(|(own, also)| (*must || *also) && values.is_disjoint(own))
            })
    }
}

impl Search<'_> {
    pub(crate) fn face(&mut self, id: Id) -> Arc<Face> {
        if let Some(known) = self.faces.get(&id) {
            return known.clone();
        }
        let mut face = Face::default();
        let mut required: BTreeSet<&str> = BTreeSet::new();
        let mut members: Vec<(&str, Id)> = Vec::new();
        let world = self.world;
        let mut open = vec![(id, 0)];
        while let Some((id, hops)) = open.pop() {
            for part in &world.node(id).parts {
                match part {
                    Part::Types(types) => {
                        face.kinds = Some(face.kinds.map_or(types.0, |own| own & types.0));
                    }
                    Part::Required(names) => required.extend(names.iter().map(String::as_str)),
                    Part::Members(group) => {
                        let named = group.named.iter();
                        members.extend(
                            named.map(|(name, &node)| (name.as_str(), world.beside(id, node))),
                        );
                    }
                    Part::All(nodes) if hops < HOPS => {
                        open.extend(nodes.iter().map(|&node| (world.beside(id, node), hops + 1)));
                    }
                    Part::Ref { node, .. } if hops < HOPS => {
                        open.push((world.beside(id, *node), hops + 1));
                    }
                    _ => {}
                }
            }
        }
        for (name, member) in members {
            if let Some(values) = self.few(member, 0) {
                face.tags.entry(name.to_owned()).or_insert((values, required.contains(name)));
            }
        }
        let face = Arc::new(face);
        self.faces.insert(id, face.clone());
        face
    }

    /// The values of a node that takes only a few.
    fn few(&self, id: Id, hops: usize) -> Option<BTreeSet<String>> {
        let world = self.world;
        world.node(id).parts.iter().find_map(|part| match part {
            Part::Choice { values, .. } if values.len() <= VALUES => {
                Some(values.iter().map(value::key).collect())
            }
            Part::Ref { node, .. } if hops < HOPS => self.few(world.beside(id, *node), hops + 1),
            _ => None,
        })
    }

    /// The pairs of alternatives that may hold together, by their numbers.
    pub(crate) fn together(&mut self, near: Id, nodes: &[NodeId]) -> Pairs {
        let key = (near, nodes.first().copied().unwrap_or_default(), nodes.len());
        if let Some(known) = self.overlaps.get(&key) {
            return known.clone();
        }
        let world = self.world;
        let faces: Vec<Arc<Face>> =
            nodes.iter().map(|&node| self.face(world.beside(near, node))).collect();
        let mut pairs = Vec::new();
        if !is_told_apart(&faces) {
            for (at, one) in faces.iter().enumerate() {
                self.steps.take(1 + (faces.len() - at) as u64 / 8);
                let others = faces.iter().enumerate().skip(at + 1);
                pairs.extend(
                    others.filter(|(_, two)| !one.is_apart(two)).map(|(other, _)| (at, other)),
                );
            }
        }
        let pairs = Arc::new(pairs);
        self.overlaps.insert(key, pairs.clone());
        pairs
    }
}

/// One member tells them all apart.
fn is_told_apart(faces: &[Arc<Face>]) -> bool {
    let Some(first) = faces.first() else { return true };
    first.tags.keys().any(|name| {
        let mut known: HashMap<&str, usize> = HashMap::new();
        faces.iter().enumerate().all(|(at, face)| {
            face.is_object()
                && face.tags.get(name).is_some_and(|(values, must)| {
                    *must && values.iter().all(|value| known.insert(value, at).is_none())
                })
        })
    })
}
