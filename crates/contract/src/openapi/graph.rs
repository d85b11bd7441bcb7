//! Which pairs of schemas the operations reach, what each pair says itself, and by which ways an
//! operation gets there.

use super::cut::{Pair, Side, cut};
use super::limits;
use super::operation::Site;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every pair that some site reaches, cut once.
pub(crate) struct Graph {
    ids: BTreeMap<Pair, usize>,
    nodes: Vec<Node>,
}

/// One pair: what it says itself, and where the other pairs stand in it.
struct Node {
    own: Option<(Value, Value)>,
    children: Vec<(usize, Vec<String>)>,
    /// It says something itself, or leads to one that does.
    leads: bool,
}

/// The ways from a pair to each pair that says something itself: steps of the value, the
/// shortest first, at most [`limits::ROUTES`] for each.
pub(crate) type Routes = BTreeMap<usize, Vec<Vec<String>>>;

impl Graph {
    /// Cuts everything that the sites reach.
    pub fn of<'s, 'a>(
        sites: impl Iterator<Item = &'s Site>,
        old: &mut Side<'a>,
        new: &mut Side<'a>,
    ) -> Graph {
        let mut graph = Graph { ids: BTreeMap::new(), nodes: Vec::new() };
        let mut open: Vec<Pair> = Vec::new();
        for site in sites {
            graph.id(root(site), &mut open);
        }
        while let Some(pair) = open.pop() {
            let found = cut(old, new, &pair);
            let children = found
                .children
                .into_iter()
                .map(|(child, steps)| (graph.id(child, &mut open), steps))
                .collect();
            let id = graph.ids[&pair];
            graph.nodes[id] = Node { leads: found.own.is_some(), own: found.own, children };
        }
        graph.lead();
        graph
    }

    /// The number of a pair; one that is new is still to be cut.
    fn id(&mut self, pair: Pair, open: &mut Vec<Pair>) -> usize {
        if let Some(id) = self.ids.get(&pair) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node { own: None, children: Vec::new(), leads: false });
        self.ids.insert(pair.clone(), id);
        open.push(pair);
        id
    }

    /// Walks the edges backwards from the pairs that say something.
    fn lead(&mut self) {
        let mut parents: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            for (child, _) in &node.children {
                parents[*child].push(id);
            }
        }
        let says = |(id, node): (usize, &Node)| node.leads.then_some(id);
        let mut open: Vec<usize> = self.nodes.iter().enumerate().filter_map(says).collect();
        while let Some(id) = open.pop() {
            for parent in &parents[id] {
                if !self.nodes[*parent].leads {
                    self.nodes[*parent].leads = true;
                    open.push(*parent);
                }
            }
        }
    }

    /// The pairs that say something themselves, with their numbers, in the order of their places.
    pub fn changed(&self) -> impl Iterator<Item = (usize, &Pair, &(Value, Value))> {
        self.ids
            .iter()
            .filter_map(|(pair, id)| self.nodes[*id].own.as_ref().map(|own| (*id, pair, own)))
    }

    /// The number of the pair that stands at a site.
    pub fn at(&self, site: &Site) -> usize {
        self.ids[&root(site)]
    }

    /// The ways from a pair to those that say something.
    pub fn routes(&self, from: usize) -> Routes {
        let mut found = Routes::new();
        let mut visits: BTreeMap<usize, usize> = BTreeMap::new();
        // Each stop knows the stop before it; steps are written out only where they are asked for.
        let mut stops: Vec<Stop<'_>> = Vec::new();
        if self.nodes[from].leads {
            stops.push(Stop { node: from, before: None, steps: &[] });
        }
        let mut at = 0;
        while let Some(stop) = stops.get(at) {
            let (id, node) = (stop.node, &self.nodes[stop.node]);
            if node.own.is_some() {
                found.entry(id).or_default().push(written(&stops, at));
            }
            for (child, steps) in &node.children {
                let visit = visits.entry(*child).or_default();
                if self.nodes[*child].leads && *visit < limits::ROUTES {
                    *visit += 1;
                    stops.push(Stop { node: *child, before: Some(at), steps });
                }
            }
            at += 1;
        }
        found
    }
}

/// The pair that stands at a site.
fn root(site: &Site) -> Pair {
    Pair { old: site.old.clone(), new: site.new.clone(), flow: site.flow }
}

/// One stop on the way from a pair.
struct Stop<'g> {
    node: usize,
    before: Option<usize>,
    steps: &'g [String],
}

fn written(stops: &[Stop<'_>], at: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut at = Some(at);
    while let Some(stop) = at.and_then(|at| stops.get(at)) {
        parts.push(stop.steps);
        at = stop.before;
    }
    parts.reverse();
    parts.concat()
}
