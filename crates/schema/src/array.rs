//! One array: items by position, the rest, how many there are, how many must be of a kind, and whether
//! they may repeat.
//!
//! Beyond the last position that any rule tells apart, positions are alike. An item there that
//! nothing asks for can be taken out, so only a few lengths need be tried.

use crate::branch::{ArrayFacts, Branch};
use crate::limits;
use crate::node::Part;
use crate::search::{Alternatives, GaveUp, Outcome, Search};
use crate::world::Lit;
use serde_json::Value;
use std::sync::Arc;

impl Search<'_> {
    /// Literals on the item at this index.
    pub(crate) fn item_lits(&mut self, facts: &ArrayFacts, at: usize) -> Vec<Lit> {
        let world = self.world;
        let mut lits = facts.at.get(&at).cloned().unwrap_or_default();
        for &(id, part) in &facts.rules {
            if let Part::Items(items) = &world.node(id).parts[part]
                && let Some(&node) = items.prefix.get(at).or(items.rest.as_ref())
            {
                lits.push(Lit::Yes(world.beside(id, node)));
            }
        }
        lits.extend(facts.from.iter().filter(|(from, _)| at >= *from).map(|&(_, lit)| lit));
        for &writer in &facts.writers {
            lits.extend(self.writers.item(world, writer, at).map(Lit::Writer));
        }
        lits.sort_unstable();
        lits.dedup();
        lits
    }

    /// Index from which on all positions are alike.
    fn alike_from(&self, facts: &ArrayFacts) -> usize {
        let world = self.world;
        let rules = facts.rules.iter().map(|&(id, part)| match &world.node(id).parts[part] {
            Part::Items(items) => items.prefix.len(),
            _ => 0,
        });
        let writers = facts
            .writers
            .iter()
            .flat_map(|&writer| self.writers.get(writer).nodes.clone())
            .flat_map(|id| {
                world.node(id).parts.iter().map(|part| match part {
                    Part::Items(items) => items.prefix.len(),
                    _ => 0,
                })
            });
        rules
            .chain(writers)
            .chain(facts.from.iter().map(|&(from, _)| from))
            .chain(facts.some.iter().map(|&(from, _)| from))
            .chain(facts.at.keys().map(|&at| at + 1))
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn solve_array(&mut self, branch: &Branch, facts: &ArrayFacts) -> Outcome {
        let alike = self.alike_from(facts);
        // The first position that cannot hold an item ends every array.
        let mut max = facts.max;
        let mut all = Alternatives::default();
        let last = (alike as u64).min(max.unwrap_or(u64::MAX)).min(limits::WITNESS_ITEMS);
        let last = usize::try_from(last).expect("bounded by the limit");
        for at in 0..=last {
            if max.is_some_and(|max| at as u64 >= max) {
                break;
            }
            let lits = self.item_lits(facts, at);
            if self.inhabit(lits).is_empty() {
                max = Some(at as u64);
                break;
            }
        }
        if max.is_some_and(|max| facts.min > max) {
            return Outcome::Empty;
        }
        if facts.min > limits::WITNESS_ITEMS {
            return self.array_gave_up(
                branch,
                &format!("an array of {} items is too large to be written out", facts.min),
            );
        }
        let asked = facts.some.len() as u64
            + facts.contains.iter().map(|&(_, min, _)| min).sum::<u64>()
            + if facts.twins { 2 } else { 0 };
        let longest = if asked == 0 { facts.min } else { facts.min.max(alike as u64 + asked) };
        let longest = longest.min(max.unwrap_or(u64::MAX));
        if longest > limits::WITNESS_ITEMS {
            all.offer(self.array_gave_up(branch, "the array would be too large to be written out"));
        }
        for length in facts.min..=longest.min(limits::WITNESS_ITEMS) {
            let length = usize::try_from(length).expect("bounded by the limit");
            let slots: Vec<Vec<Lit>> = (0..length).map(|at| self.item_lits(facts, at)).collect();
            if let Some(found) = all.offer(self.place_items(branch, facts, slots, alike, 0)) {
                return found;
            }
            if self.steps.is_spent() {
                return self.array_gave_up(branch, "the budget of steps is spent");
            }
        }
        all.finish()
    }

    fn array_gave_up(&self, branch: &Branch, reason: &str) -> Outcome {
        let at = branch.origin.iter().find_map(|lit| lit.node()).map(|id| (id, "items"));
        Outcome::Unknown(Arc::new(GaveUp { reason: reason.into(), at }))
    }

    /// Places the demands "some item from here on" from number `at` on.
    fn place_items(
        &mut self,
        branch: &Branch,
        facts: &ArrayFacts,
        slots: Vec<Vec<Lit>>,
        alike: usize,
        at: usize,
    ) -> Outcome {
        let Some(&(from, lit)) = facts.some.get(at) else {
            let counts = vec![0u64; facts.contains.len()];
            return self.count_items(branch, facts, slots, 0, counts);
        };
        if !self.steps.take(1) {
            return self.array_gave_up(branch, "the budget of steps is spent");
        }
        let mut all = Alternatives::default();
        for index in from..slots.len() {
            // Of the positions that are alike and still alike, the first will do.
            if index > alike && slots[index] == slots[index - 1] {
                continue;
            }
            let mut own = slots[index].clone();
            own.push(lit);
            match self.inhabit(own.clone()) {
                Outcome::Empty => continue,
                Outcome::Unknown(why) => {
                    all.offer(Outcome::Unknown(why));
                    continue;
                }
                Outcome::Value(_) => {}
            }
            let mut slots = slots.clone();
            slots[index] = own;
            if let Some(found) = all.offer(self.place_items(branch, facts, slots, alike, at + 1)) {
                return found;
            }
        }
        all.finish()
    }

    /// Decides position by position which `contains` conditions the item meets.
    fn count_items(
        &mut self,
        branch: &Branch,
        facts: &ArrayFacts,
        slots: Vec<Vec<Lit>>,
        at: usize,
        counts: Vec<u64>,
    ) -> Outcome {
        let left = (slots.len() - at) as u64;
        for (&(_, min, max), &count) in facts.contains.iter().zip(&counts) {
            if count + left < min || max.is_some_and(|max| count > max) {
                return Outcome::Empty;
            }
        }
        if facts.contains.is_empty() || at == slots.len() {
            return self.fill_items(branch, facts, slots);
        }
        if !self.steps.take(1) {
            return self.array_gave_up(branch, "the budget of steps is spent");
        }
        if facts.contains.len() > 4 {
            return self.array_gave_up(branch, "too many `contains` meet at one array");
        }
        let mut all = Alternatives::default();
        for choice in 0u32..1 << facts.contains.len() {
            let mut own = slots[at].clone();
            let mut counts = counts.clone();
            for (number, &(node, min, max)) in facts.contains.iter().enumerate() {
                if choice & (1 << number) != 0 {
                    own.push(Lit::Yes(node));
                    counts[number] += 1;
                } else if max.is_some() {
                    own.push(Lit::No(node));
                } else if min == 0 {
                    continue;
                }
            }
            match self.inhabit(own.clone()) {
                Outcome::Empty => continue,
                Outcome::Unknown(why) => {
                    all.offer(Outcome::Unknown(why));
                    continue;
                }
                Outcome::Value(_) => {}
            }
            let mut slots = slots.clone();
            slots[at] = own;
            if let Some(found) = all.offer(self.count_items(branch, facts, slots, at + 1, counts)) {
                return found;
            }
        }
        all.finish()
    }

    /// Every position knows what it asks for: find the items.
    fn fill_items(&mut self, branch: &Branch, facts: &ArrayFacts, slots: Vec<Vec<Lit>>) -> Outcome {
        if facts.unique {
            return self.fill_unique(branch, &slots);
        }
        if facts.twins {
            return self.fill_twins(&slots);
        }
        let mut items = Vec::with_capacity(slots.len());
        for lits in slots {
            match self.inhabit(lits) {
                Outcome::Value(item) => items.push((*item).clone()),
                other => return other,
            }
        }
        Outcome::Value(Arc::new(Value::Array(items)))
    }

    fn fill_twins(&mut self, slots: &[Vec<Lit>]) -> Outcome {
        let mut all = Alternatives::default();
        for one in 0..slots.len() {
            for two in one + 1..slots.len() {
                let mut both = slots[one].clone();
                both.extend(&slots[two]);
                let twin = match self.inhabit(both) {
                    Outcome::Value(twin) => twin,
                    other => {
                        all.offer(other);
                        continue;
                    }
                };
                let mut items = Vec::with_capacity(slots.len());
                for (at, lits) in slots.iter().enumerate() {
                    if at == one || at == two {
                        items.push((*twin).clone());
                        continue;
                    }
                    match self.inhabit(lits.clone()) {
                        Outcome::Value(item) => items.push((*item).clone()),
                        other => {
                            // This position stands empty in every pairing.
                            all.offer(other);
                            return all.finish();
                        }
                    }
                }
                return Outcome::Value(Arc::new(Value::Array(items)));
            }
        }
        all.finish()
    }

    /// Different items for all positions. With as many candidates per position as there are positions,
    /// a matching decides: a position with that many candidates can always be served last.
    fn fill_unique(&mut self, branch: &Branch, slots: &[Vec<Lit>]) -> Outcome {
        if slots.len() > limits::UNIQUE_ITEMS {
            return self.array_gave_up(branch, "too many items must differ");
        }
        let mut candidates: Vec<Vec<Arc<Value>>> = Vec::with_capacity(slots.len());
        let mut doubt = Alternatives::default();
        for (at, lits) in slots.iter().enumerate() {
            if let Some(same) = (0..at).find(|&before| slots[before] == *lits) {
                let known = candidates[same].clone();
                candidates.push(known);
                continue;
            }
            let mut lits = lits.clone();
            let mut own = Vec::new();
            while own.len() < slots.len() {
                match self.inhabit(lits.clone()) {
                    Outcome::Value(value) => {
                        let not = self.not_value(&value);
                        lits.push(not);
                        own.push(value);
                    }
                    Outcome::Empty => break,
                    Outcome::Unknown(why) => {
                        doubt.offer(Outcome::Unknown(why));
                        break;
                    }
                }
            }
            candidates.push(own);
        }
        let mut owner: Vec<(String, usize)> = Vec::new();
        for at in 0..slots.len() {
            let mut tried = Vec::new();
            if !serve(at, &candidates, &mut owner, &mut tried) {
                return doubt.finish();
            }
        }
        let mut items = vec![Value::Null; slots.len()];
        for (key, at) in &owner {
            let value = candidates[*at].iter().find(|value| crate::value::key(value) == *key);
            items[*at] = value.map(|value| (**value).clone()).unwrap_or_default();
        }
        Outcome::Value(Arc::new(Value::Array(items)))
    }
}

/// Finds a candidate for a position, moving others where that helps (augmenting paths).
fn serve(
    at: usize,
    candidates: &[Vec<Arc<Value>>],
    owner: &mut Vec<(String, usize)>,
    tried: &mut Vec<String>,
) -> bool {
    for value in &candidates[at] {
        let key = crate::value::key(value);
        if tried.contains(&key) {
            continue;
        }
        tried.push(key.clone());
        match owner.iter().position(|(own, _)| *own == key) {
            None => {
                owner.push((key, at));
                return true;
            }
            Some(found) => {
                let other = owner[found].1;
                if serve(other, candidates, owner, tried) {
                    let found = owner
                        .iter()
                        .position(|(own, _)| *own == key)
                        .expect("values are only handed on");
                    owner[found].1 = at;
                    return true;
                }
            }
        }
    }
    false
}
