//! Which pairs of schemas the operations reach, what each pair says itself, and by which ways an
//! operation gets there.

use super::cut::{Cut, Pair, Side, cut};
use super::limits;
use super::operation::Site;
use std::collections::{BTreeMap, BTreeSet};

/// Every pair that some site reaches, cut once.
pub(crate) struct Graph {
    pub cuts: BTreeMap<Pair, Cut>,
    /// Which pairs lead to a pair that says something itself.
    leads: BTreeSet<Pair>,
}

/// The pair that stands at a site.
pub(crate) fn root(site: &Site) -> Pair {
    Pair { old: site.old.clone(), new: site.new.clone(), flow: site.flow }
}

impl Graph {
    /// Cuts everything that the sites reach.
    pub fn of<'s, 'a>(
        sites: impl Iterator<Item = &'s Site>,
        old: &mut Side<'a>,
        new: &mut Side<'a>,
    ) -> Graph {
        let mut cuts: BTreeMap<Pair, Cut> = BTreeMap::new();
        let mut open: Vec<Pair> = sites.map(root).collect();
        while let Some(pair) = open.pop() {
            if cuts.contains_key(&pair) {
                continue;
            }
            let found = cut(old, new, &pair);
            open.extend(found.children.iter().map(|(child, _)| child.clone()));
            cuts.insert(pair, found);
        }
        let leads = leads(&cuts);
        Graph { cuts, leads }
    }

    /// The ways from a site to each pair that says something itself: steps of the value, the
    /// shortest first, at most [`limits::ROUTES`] for each pair.
    pub fn routes<'g>(&'g self, site: &'g Site) -> BTreeMap<&'g Pair, Vec<Vec<String>>> {
        let mut found: BTreeMap<&Pair, Vec<Vec<String>>> = BTreeMap::new();
        let mut visits: BTreeMap<&Pair, usize> = BTreeMap::new();
        // Each stop knows the stop before it; steps are written out only where they are asked for.
        let mut stops: Vec<Stop<'_>> = Vec::new();
        if let Some((start, _)) = self.cuts.get_key_value(&root(site))
            && self.leads.contains(start)
        {
            stops.push(Stop { pair: start, before: None, steps: &site.steps });
        }
        let mut at = 0;
        while let Some(stop) = stops.get(at) {
            let pair = stop.pair;
            let visit = visits.entry(pair).or_default();
            *visit += 1;
            let kept = *visit <= limits::ROUTES;
            if kept {
                let cut = &self.cuts[pair];
                if cut.own.is_some() {
                    found.entry(pair).or_default().push(written(&stops, at));
                }
                for (child, steps) in &cut.children {
                    if let Some(child) = self.leads.get(child)
                        && visits.get(child).copied().unwrap_or(0) < limits::ROUTES
                    {
                        stops.push(Stop { pair: child, before: Some(at), steps });
                    }
                }
            }
            at += 1;
        }
        found
    }
}

/// One stop on the way from a site.
struct Stop<'g> {
    pair: &'g Pair,
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

/// Walks the edges backwards from the pairs that say something.
fn leads(cuts: &BTreeMap<Pair, Cut>) -> BTreeSet<Pair> {
    let mut parents: BTreeMap<&Pair, Vec<&Pair>> = BTreeMap::new();
    for (pair, cut) in cuts {
        for (child, _) in &cut.children {
            parents.entry(child).or_default().push(pair);
        }
    }
    let mut found: BTreeSet<Pair> = BTreeSet::new();
    let mut open: Vec<&Pair> =
        cuts.iter().filter(|(_, cut)| cut.own.is_some()).map(|(pair, _)| pair).collect();
    while let Some(pair) = open.pop() {
        if found.insert(pair.clone()) {
            open.extend(parents.get(pair).into_iter().flatten());
        }
    }
    found
}
