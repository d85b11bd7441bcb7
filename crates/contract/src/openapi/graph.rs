//! Which pairs of schemas the operations reach, what each pair says itself, and by which ways an
//! operation gets there.

use super::cut::{Cut, Pair, Side, cut};
use super::limits;
use super::operation::Site;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
    pub fn routes(&self, site: &Site) -> BTreeMap<&Pair, Vec<Vec<String>>> {
        let mut found: BTreeMap<&Pair, Vec<Vec<String>>> = BTreeMap::new();
        let mut visits: BTreeMap<&Pair, usize> = BTreeMap::new();
        let start = root(site);
        let mut queue: VecDeque<(&Pair, Vec<String>)> = VecDeque::new();
        if let Some((start, _)) = self.cuts.get_key_value(&start)
            && self.leads.contains(start)
        {
            queue.push_back((start, site.steps.clone()));
        }
        while let Some((pair, steps)) = queue.pop_front() {
            let visit = visits.entry(pair).or_default();
            *visit += 1;
            if *visit > limits::ROUTES {
                continue;
            }
            let cut = &self.cuts[pair];
            if cut.own.is_some() {
                found.entry(pair).or_default().push(steps.clone());
            }
            for (child, more) in &cut.children {
                if let Some(child) = self.leads.get(child) {
                    let mut steps = steps.clone();
                    steps.extend(more.iter().cloned());
                    if steps.len() <= limits::SCHEMA_DEPTH {
                        queue.push_back((child, steps));
                    }
                }
            }
        }
        found
    }
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
