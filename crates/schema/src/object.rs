//! One object: named members, members by pattern, the rest, and how many there are.
//!
//! Members that must exist are placed one by one: on a name some schema mentions, or on a fresh
//! name from the region of names that fit. A region is one way for every pattern of the place to match or not.

use crate::branch::{Branch, Fact, ObjectFacts, SomeMember};
use crate::judge::Truth;
use crate::limits;
use crate::node::{Kind, Part};
use crate::pattern::Pattern;
use crate::search::{Alternatives, GaveUp, Outcome, Search};
use crate::world::Lit;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Present = BTreeMap<Arc<str>, Vec<Lit>>;

/// A name no schema mentions; tried first because a reader sees at once what it stands for.
const FRESH: [&str; 2] = ["extra", "other"];

impl Search<'_> {
    /// Literals on the member of this name; `None` where such a member is not allowed.
    /// The error says which pattern is not reasoned about.
    pub(crate) fn member_lits(
        &mut self,
        facts: &ObjectFacts,
        name: &str,
    ) -> Result<Option<Vec<Lit>>, String> {
        if facts.absent.contains(name) {
            return Ok(None);
        }
        let world = self.world;
        let mut lits = facts.present.get(name).cloned().unwrap_or_default();
        for &(id, part) in &facts.rules {
            let Part::Members(members) = &world.node(id).parts[part] else { continue };
            let mut covered = false;
            if let Some(&node) = members.named.get(name) {
                covered = true;
                lits.push(Lit::Yes(world.beside(id, node)));
            }
            for &(pattern, node) in &members.patterns {
                let pattern = world.pattern(id, pattern);
                match pattern.matches(name) {
                    Some(true) => {
                        covered = true;
                        lits.push(Lit::Yes(world.beside(id, node)));
                    }
                    Some(false) => {}
                    None => return Err(pattern.unsupported.clone().unwrap_or_default()),
                }
            }
            if let Some(rest) = members.rest.filter(|_| !covered) {
                lits.push(Lit::Yes(world.beside(id, rest)));
            }
        }
        for (seen, node) in &facts.rest_of {
            match seen.covers(name) {
                Some(true) => {}
                Some(false) => lits.push(Lit::Yes(*node)),
                None => return Err("a pattern on names is not reasoned about".into()),
            }
        }
        for &writer in &facts.writers {
            match self.writers.get(writer).declared.as_ref().map(|seen| seen.covers(name)) {
                Some(Some(false)) => return Ok(None),
                Some(None) => return Err("a pattern on names is not reasoned about".into()),
                Some(Some(true)) | None => {}
            }
            lits.extend(self.writers.member(world, writer, name).map(Lit::Writer));
        }
        if !facts.names.is_empty() {
            match self.check(&facts.names, &Value::String(name.to_string())) {
                Truth::True => {}
                Truth::False => return Ok(None),
                Truth::Unknown => return Err("a condition on names is not reasoned about".into()),
            }
        }
        lits.sort_unstable();
        lits.dedup();
        Ok(Some(lits))
    }

    /// Names that some schema mentions at this place, in the order in which they are declared.
    fn mentioned(&self, facts: &ObjectFacts) -> Vec<Arc<str>> {
        let world = self.world;
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut known: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut add = |name: &str| {
            if !known.contains(name) {
                let name: Arc<str> = name.into();
                known.insert(name.clone());
                names.push(name);
            }
        };
        for &(id, part) in &facts.rules {
            if let Part::Members(members) = &world.node(id).parts[part] {
                members.named.keys().for_each(|name| add(name));
            }
        }
        for &(id, part) in &facts.requires {
            if let Part::Requires { names: requires, .. } = &world.node(id).parts[part] {
                for (name, others) in requires {
                    add(name);
                    others.iter().for_each(|name| add(name));
                }
            }
        }
        for seen in facts
            .rest_of
            .iter()
            .map(|(seen, _)| seen)
            .chain(facts.some.iter().filter_map(|some| some.outside.as_ref()))
        {
            seen.names.iter().for_each(|name| add(name));
        }
        for &writer in &facts.writers {
            if let Some(seen) = &self.writers.get(writer).declared {
                seen.names.iter().for_each(|name| add(name));
            }
        }
        facts.present.keys().chain(&facts.absent).for_each(|name| add(name));
        names
    }

    /// Patterns on names at this place.
    fn name_patterns(&self, facts: &ObjectFacts) -> Vec<Arc<Pattern>> {
        let world = self.world;
        let mut patterns: Vec<Arc<Pattern>> = Vec::new();
        let mut add = |pattern: &Arc<Pattern>| {
            if !patterns.iter().any(|own| own.text() == pattern.text()) {
                patterns.push(pattern.clone());
            }
        };
        for &(id, part) in &facts.rules {
            if let Part::Members(members) = &world.node(id).parts[part] {
                members.patterns.iter().for_each(|&(pattern, _)| add(world.pattern(id, pattern)));
            }
        }
        for some in &facts.some {
            some.matching.iter().for_each(&mut add);
            some.outside.iter().flat_map(|seen| &seen.patterns).for_each(&mut add);
        }
        facts.rest_of.iter().flat_map(|(seen, _)| &seen.patterns).for_each(&mut add);
        for &writer in &facts.writers {
            if let Some(seen) = &self.writers.get(writer).declared {
                seen.patterns.iter().for_each(&mut add);
            }
        }
        patterns
    }

    pub(crate) fn solve_object(&mut self, branch: &Branch, facts: &ObjectFacts) -> Outcome {
        if facts.min > limits::WITNESS_ITEMS
            && facts.max.is_none_or(|max| max >= facts.min)
            && facts.some.is_empty()
        {
            // Few members may be possible at all; else the object is only too large to be written out.
            if let Some(outcome) = self.too_many_members(facts) {
                return outcome;
            }
        }
        let mut place = Place {
            facts,
            names: self.mentioned(facts),
            patterns: self.name_patterns(facts),
            fresh_placed: 0,
        };
        if place.patterns.len() > limits::NAME_PATTERNS && !facts.some.is_empty() {
            return self.object_gave_up(branch, "too many patterns on names meet at one object");
        }
        self.place(branch, &mut place, 0, facts.present.clone())
    }

    fn object_gave_up(&self, branch: &Branch, reason: &str) -> Outcome {
        let at = branch.origin.iter().find_map(|lit| lit.node()).map(|id| (id, "properties"));
        Outcome::Unknown(Arc::new(GaveUp { reason: reason.into(), at }))
    }

    /// For a large `minProperties`: where only mentioned names are allowed, they may be too few.
    fn too_many_members(&mut self, facts: &ObjectFacts) -> Option<Outcome> {
        let place = Place {
            facts,
            names: self.mentioned(facts),
            patterns: self.name_patterns(facts),
            fresh_placed: 0,
        };
        if (place.names.len() as u64) < facts.min {
            let free = SomeMember { outside: None, matching: None, name: None, child: None };
            let fresh = self.fresh(&place, &free, &facts.present);
            if fresh.options.is_empty() && fresh.doubt.is_none() {
                return Some(Outcome::Empty);
            }
        }
        Some(Outcome::unknown(format!(
            "an object of {} members is too large to be written out",
            facts.min
        )))
    }

    /// Places the demands from number `at` on, then finishes.
    fn place(
        &mut self,
        branch: &Branch,
        place: &mut Place,
        at: usize,
        present: Present,
    ) -> Outcome {
        let facts = place.facts;
        let Some(some) = facts.some.get(at) else {
            return self.finish_object(branch, place, present);
        };
        if !self.steps.take(1) {
            return self.object_gave_up(branch, "the budget of steps is spent");
        }
        let mut all = Alternatives::default();
        let known: Vec<Arc<str>> = place
            .names
            .iter()
            .chain(present.keys().filter(|name| !place.names.contains(name)))
            .cloned()
            .collect();
        for name in known {
            match self.fits(some, &name) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    all.offer(
                        self.object_gave_up(branch, "a pattern on names is not reasoned about"),
                    );
                    continue;
                }
            }
            let mut lits = match self.member_lits(facts, &name) {
                Ok(Some(lits)) => lits,
                Ok(None) => continue,
                Err(why) => {
                    all.offer(self.object_gave_up(branch, &why));
                    continue;
                }
            };
            lits.extend(present.get(&name).into_iter().flatten());
            lits.extend(some.child);
            match self.inhabit(lits) {
                Outcome::Empty => continue,
                Outcome::Unknown(why) => {
                    all.offer(Outcome::Unknown(why));
                    continue;
                }
                Outcome::Value(_) => {}
            }
            let mut present = present.clone();
            present.entry(name).or_default().extend(some.child);
            if let Some(found) = all.offer(self.place(branch, place, at + 1, present)) {
                return found;
            }
        }
        let fresh = self.fresh(place, some, &present);
        if let Some(why) = fresh.doubt {
            all.offer(self.object_gave_up(branch, &why));
        }
        for name in fresh.options {
            let mut present = present.clone();
            present.insert(name, some.child.into_iter().collect());
            place.fresh_placed += 1;
            let found = all.offer(self.place(branch, place, at + 1, present));
            place.fresh_placed -= 1;
            if let Some(found) = found {
                return found;
            }
        }
        all.finish()
    }

    /// Does a name meet the conditions on the name? `None` where a pattern is not reasoned about.
    fn fits(&mut self, some: &SomeMember, name: &str) -> Option<bool> {
        if let Some(seen) = &some.outside
            && seen.covers(name)?
        {
            return Some(false);
        }
        if let Some(pattern) = &some.matching
            && !pattern.matches(name)?
        {
            return Some(false);
        }
        match some.name.map(|lit| self.check(&[lit], &Value::String(name.to_string()))) {
            None | Some(Truth::True) => Some(true),
            Some(Truth::False) => Some(false),
            Some(Truth::Unknown) => None,
        }
    }

    /// One fresh name for each region of names whose members can meet the demand.
    fn fresh(&mut self, place: &Place, some: &SomeMember, present: &Present) -> Fresh {
        let mut fresh = Fresh::default();
        let patterns = &place.patterns;
        if patterns.len() > limits::NAME_PATTERNS {
            fresh.doubt = Some("too many patterns on names meet at one object".into());
            return fresh;
        }
        if some.outside.as_ref().is_some_and(|seen| seen.all) {
            return fresh;
        }
        let taken: Vec<Arc<str>> = place.names.iter().chain(present.keys()).cloned().collect();
        'regions: for region in 0u32..1 << patterns.len() {
            let sign = |at: usize| region & (1 << at) != 0;
            let of = |pattern: &Arc<Pattern>| {
                let at = patterns.iter().position(|own| own.text() == pattern.text());
                at.is_some_and(sign)
            };
            // Regions that the demand, or a writer, rules out by a pattern alone.
            if some.matching.as_ref().is_some_and(|pattern| !of(pattern))
                || some.outside.as_ref().is_some_and(|seen| seen.patterns.iter().any(of))
            {
                continue;
            }
            for &writer in &place.facts.writers {
                if let Some(seen) = &self.writers.get(writer).declared
                    && !seen.all
                    && !seen.patterns.iter().any(of)
                {
                    continue 'regions;
                }
            }
            let name_lits: Vec<Lit> = place.facts.names.iter().copied().chain(some.name).collect();
            let name = match self.fresh_name(patterns, region, &name_lits, &taken) {
                Outcome::Value(name) => match name.as_str() {
                    Some(name) => Arc::<str>::from(name),
                    None => continue,
                },
                Outcome::Empty => continue,
                Outcome::Unknown(why) => {
                    fresh.doubt.get_or_insert_with(|| why.reason.clone());
                    continue;
                }
            };
            let mut lits = match self.member_lits(place.facts, &name) {
                Ok(Some(lits)) => lits,
                Ok(None) => continue,
                Err(why) => {
                    fresh.doubt.get_or_insert(why);
                    continue;
                }
            };
            lits.extend(some.child);
            match self.inhabit(lits) {
                Outcome::Value(_) => fresh.options.push(name),
                Outcome::Empty => {}
                Outcome::Unknown(why) => {
                    fresh.doubt.get_or_insert_with(|| why.reason.clone());
                }
            }
        }
        fresh
    }

    fn fresh_name(
        &mut self,
        patterns: &[Arc<Pattern>],
        region: u32,
        lits: &[Lit],
        taken: &[Arc<str>],
    ) -> Outcome {
        let mut branch = Branch::new(Kind::String, lits.into());
        branch.is_name = true;
        for (at, pattern) in patterns.iter().enumerate() {
            if !branch.add(Fact::Match(pattern.clone(), region & (1 << at) != 0)) {
                return Outcome::Empty;
            }
        }
        for name in taken {
            branch.add(Fact::NotText(name.to_string()));
        }
        let facts = branch.string_mut().clone();
        for name in FRESH {
            let name_value = Value::String(name.into());
            if facts.allows(name) && self.check(lits, &name_value) == Truth::True {
                return Outcome::Value(Arc::new(name_value));
            }
        }
        branch.todo.extend(lits.iter().rev().map(|&lit| Fact::Lit(lit)));
        self.split(branch)
    }

    /// All demands are placed: complete what is asked for along with it, count, and build.
    fn finish_object(&mut self, branch: &Branch, place: &Place, mut present: Present) -> Outcome {
        if !self.complete(place.facts, &mut present) {
            return Outcome::Empty;
        }
        let max = place.facts.max.unwrap_or(u64::MAX);
        if present.len() as u64 > max {
            // Demands on fresh names might have shared one name.
            let shared = place.fresh_placed.saturating_sub(1) as u64;
            return if present.len() as u64 - shared <= max {
                self.object_gave_up(branch, "whether two members can be one was not decided")
            } else {
                Outcome::Empty
            };
        }
        self.fill_up(branch, place, present, BTreeMap::new(), 0)
    }

    /// Adds members until there are enough. Where one member asks for others, which of them are added matters, and
    /// every choice is tried: a named one from number `from` on is in or out.
    fn fill_up(
        &mut self,
        branch: &Branch,
        place: &Place,
        mut present: Present,
        mut built: BTreeMap<Arc<str>, Arc<Value>>,
        from: usize,
    ) -> Outcome {
        let facts = place.facts;
        let mut doubt = Alternatives::default();
        loop {
            for (name, own) in &present {
                if built.contains_key(name) {
                    continue;
                }
                match self.build_member(branch, facts, name, own) {
                    Outcome::Value(value) => {
                        built.insert(name.clone(), value);
                    }
                    other => return other,
                }
            }
            if present.len() as u64 >= facts.min {
                return Outcome::Value(Arc::new(Value::Object(in_order(&place.names, built))));
            }
            if !self.steps.take(1) {
                return self.object_gave_up(branch, "the budget of steps is spent");
            }
            if !facts.requires.is_empty() {
                break;
            }
            match self.one_more(branch, place, &present) {
                Outcome::Value(name) => {
                    present.insert(name.as_str().unwrap_or_default().into(), Vec::new());
                }
                other => {
                    doubt.offer(other);
                    return doubt.finish();
                }
            }
        }
        if self.frames >= limits::FRAMES {
            return self.object_gave_up(branch, "too many case splits are open at once");
        }
        let any = SomeMember { outside: None, matching: None, name: None, child: None };
        let fresh = self.fresh(place, &any, &present);
        if let Some(why) = fresh.doubt {
            doubt.offer(self.object_gave_up(branch, &why));
        }
        let named = place.names.iter().enumerate().skip(from);
        let next: Vec<(usize, Arc<str>)> = named
            .map(|(at, name)| (at + 1, name.clone()))
            .chain(fresh.options.into_iter().map(|name| (place.names.len(), name)))
            .filter(|(_, name)| !present.contains_key(name))
            .collect();
        self.frames += 1;
        for (at, name) in next {
            let mut more = present.clone();
            more.insert(name, Vec::new());
            let fits = self.complete(facts, &mut more)
                && facts.max.is_none_or(|max| more.len() as u64 <= max);
            if fits
                && let Some(found) =
                    doubt.offer(self.fill_up(branch, place, more, built.clone(), at))
            {
                self.frames -= 1;
                return found;
            }
        }
        self.frames -= 1;
        doubt.finish()
    }

    fn build_member(
        &mut self,
        branch: &Branch,
        facts: &ObjectFacts,
        name: &str,
        own: &[Lit],
    ) -> Outcome {
        match self.member_lits(facts, name) {
            Ok(Some(mut lits)) => {
                lits.extend(own);
                self.inhabit(lits)
            }
            Ok(None) => Outcome::Empty,
            Err(why) => self.object_gave_up(branch, &why),
        }
    }

    /// Adds what `dependentRequired` asks for. False where it asks for a forbidden member.
    fn complete(&self, facts: &ObjectFacts, present: &mut Present) -> bool {
        let mut moved = true;
        while moved {
            moved = false;
            for &(id, part) in &facts.requires {
                let Part::Requires { names: requires, .. } = &self.world.node(id).parts[part]
                else {
                    continue;
                };
                for (name, others) in requires {
                    if !present.contains_key(name.as_str()) {
                        continue;
                    }
                    for other in others {
                        if facts.absent.contains(other.as_str()) {
                            return false;
                        }
                        if !present.contains_key(other.as_str()) {
                            present.insert(other.as_str().into(), Vec::new());
                            moved = true;
                        }
                    }
                }
            }
        }
        true
    }

    /// The name of one more member that can be added, as a string.
    fn one_more(&mut self, branch: &Branch, place: &Place, present: &Present) -> Outcome {
        let mut all = Alternatives::default();
        for name in &place.names {
            if present.contains_key(name) {
                continue;
            }
            let outcome = match self.build_member(branch, place.facts, name, &[]) {
                Outcome::Value(_) => Outcome::Value(Arc::new(Value::String(name.to_string()))),
                other => other,
            };
            if let Some(found) = all.offer(outcome) {
                return found;
            }
        }
        let any = SomeMember { outside: None, matching: None, name: None, child: None };
        let fresh = self.fresh(place, &any, present);
        match (fresh.options.first(), fresh.doubt) {
            (Some(name), _) => Outcome::Value(Arc::new(Value::String(name.to_string()))),
            (None, Some(why)) => self.object_gave_up(branch, &why),
            (None, None) => all.finish(),
        }
    }
}

/// The members in the order in which they are declared, those that are not declared at the end.
fn in_order(names: &[Arc<str>], mut built: BTreeMap<Arc<str>, Arc<Value>>) -> Map<String, Value> {
    let mut object = Map::new();
    for name in names {
        if let Some(value) = built.remove(name) {
            object.insert(name.to_string(), (*value).clone());
        }
    }
    object.extend(built.into_iter().map(|(name, value)| (name.to_string(), (*value).clone())));
    object
}

/// One object while its demands are placed.
struct Place<'a> {
    facts: &'a ObjectFacts,
    names: Vec<Arc<str>>,
    patterns: Vec<Arc<Pattern>>,
    /// Demands that now stand on fresh names.
    fresh_placed: usize,
}

/// Fresh names that meet a demand, and why more were not found.
#[derive(Default)]
struct Fresh {
    options: Vec<Arc<str>>,
    doubt: Option<String>,
}
