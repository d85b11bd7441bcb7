//! Is there a value for which all of these literals hold? Proof and witness come out of one search.
//!
//! [`Search::inhabit`] takes a set of literals to a value, a proof that there is none, or the reason for giving
//! up. For each kind of value the literals are expanded into facts and clauses (see `expand`), clauses are
//! simplified and split, and what is left is solved by the theory of that kind.
//!
//! A set that is already being searched for further up counts as empty: a smallest value never
//! contains another value of its own set. A proof that leaned on this is remembered only once
//! the set it leaned on is finished.

use crate::apart::{Face, Pairs};
use crate::branch::{Branch, Clause, Fact, Theory};
use crate::cases::Case;
use crate::judge::{Judge, Truth};
use crate::limits::{self, Limits};
use crate::node::{Admits, Kind, NodeId, Part};
use crate::number::{self, Found};
use crate::steps::Steps;
use crate::value::equal;
use crate::world::{Id, Lit, Seen, World, Writers};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Why a search gave up: a sentence, and the node and keyword it was at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GaveUp {
    pub(crate) reason: String,
    pub(crate) at: Option<(Id, &'static str)>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Value(Arc<Value>),
    Empty,
    Unknown(Arc<GaveUp>),
}

impl Outcome {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Outcome::Empty)
    }

    pub(crate) fn unknown(reason: impl Into<String>) -> Outcome {
        Outcome::Unknown(Arc::new(GaveUp { reason: reason.into(), at: None }))
    }
}

/// Collects the outcomes of alternatives: the first value wins, then the first doubt.
#[derive(Default)]
pub(crate) struct Alternatives {
    doubt: Option<Arc<GaveUp>>,
}

impl Alternatives {
    /// Takes one outcome; a value is handed back at once.
    pub(crate) fn offer(&mut self, outcome: Outcome) -> Option<Outcome> {
        match outcome {
            Outcome::Value(_) => Some(outcome),
            Outcome::Empty => None,
            Outcome::Unknown(why) => {
                self.doubt.get_or_insert(why);
                None
            }
        }
    }

    pub(crate) fn finish(self) -> Outcome {
        self.doubt.map_or(Outcome::Empty, Outcome::Unknown)
    }
}

type SetId = u32;

/// One question's search.
pub(crate) struct Search<'a> {
    pub(crate) world: &'a World<'a>,
    pub(crate) steps: Steps,
    limits: Limits,
    sets: HashMap<Box<[Lit]>, SetId>,
    memo: Vec<Option<Outcome>>,
    active: HashMap<SetId, usize>,
    /// The outermost active set that the current proof has leaned on.
    leaned_on: usize,
    depth: usize,
    pub(crate) frames: usize,
    pub(crate) writers: Writers,
    pub(crate) values: Vec<Value>,
    value_ids: HashMap<String, u32>,
    pub(crate) any: Vec<Arc<[Id]>>,
    any_ids: BTreeMap<Arc<[Id]>, u32>,
    /// Break sites already shown: these keywords do not count as rejecting.
    pub(crate) shown: BTreeSet<(Id, String)>,
    pub(crate) seen_cache: HashMap<(Id, usize), Arc<Seen>>,
    pub(crate) faces: HashMap<Id, Arc<Face>>,
    pub(crate) overlaps: HashMap<(Id, NodeId, usize), Pairs>,
    pub(crate) known_cases: HashMap<(Id, bool), Result<Vec<Case>, GaveUp>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(world: &'a World<'a>, limits: Limits) -> Search<'a> {
        Search {
            world,
            steps: Steps::new(limits.steps),
            limits,
            sets: HashMap::new(),
            memo: Vec::new(),
            active: HashMap::new(),
            leaned_on: usize::MAX,
            depth: 0,
            frames: 0,
            writers: Writers::default(),
            values: Vec::new(),
            value_ids: HashMap::new(),
            any: Vec::new(),
            any_ids: BTreeMap::new(),
            shown: BTreeSet::new(),
            seen_cache: HashMap::new(),
            faces: HashMap::new(),
            overlaps: HashMap::new(),
            known_cases: HashMap::new(),
        }
    }

    /// Leaves one more break site out and forgets what was found with it in.
    pub(crate) fn leave_out(&mut self, site: (Id, String)) -> bool {
        self.memo.iter_mut().for_each(|memo| *memo = None);
        self.shown.insert(site)
    }

    pub(crate) fn not_value(&mut self, value: &Value) -> Lit {
        let next = u32::try_from(self.values.len()).expect("values are bounded by the steps");
        let id = *self.value_ids.entry(crate::value::key(value)).or_insert(next);
        if id == next {
            self.values.push(value.clone());
        }
        Lit::NotValue(id)
    }

    /// That one of these nodes accepts.
    pub(crate) fn any(&mut self, nodes: impl IntoIterator<Item = Id>) -> Lit {
        let nodes: BTreeSet<Id> = nodes.into_iter().collect();
        let nodes: Arc<[Id]> = nodes.into_iter().collect();
        if let [only] = *nodes {
            return Lit::Yes(only);
        }
        let next = u32::try_from(self.any.len()).expect("sets are bounded by the steps");
        let set = *self.any_ids.entry(nodes.clone()).or_insert(next);
        if set == next {
            self.any.push(nodes);
        }
        Lit::Any(set)
    }

    /// A value for which every literal holds.
    pub(crate) fn inhabit(&mut self, mut lits: Vec<Lit>) -> Outcome {
        lits.retain(|lit| match lit {
            Lit::Yes(id) => !self.world.is_true(*id),
            Lit::No(id) => !self.world.is_false(*id),
            Lit::Writer(_) | Lit::NotValue(_) | Lit::Any(_) | Lit::Neither(_) => true,
        });
        lits.sort_unstable();
        lits.dedup();
        for lit in &lits {
            let dead = match lit {
                Lit::Yes(id) => {
                    self.world.is_false(*id) || lits.binary_search(&Lit::No(*id)).is_ok()
                }
                Lit::No(id) => self.world.is_true(*id),
                Lit::Any(set) => lits.binary_search(&Lit::Neither(*set)).is_ok(),
                Lit::Writer(_) | Lit::NotValue(_) | Lit::Neither(_) => false,
            };
            if dead {
                return Outcome::Empty;
            }
        }
        let lits: Box<[Lit]> = lits.into();
        let set = match self.sets.get(&lits) {
            Some(&set) => set,
            None => {
                let set = SetId::try_from(self.memo.len()).expect("sets are bounded by the steps");
                self.sets.insert(lits.clone(), set);
                self.memo.push(None);
                set
            }
        };
        if let Some(known) = &self.memo[set as usize] {
            return known.clone();
        }
        if let Some(&depth) = self.active.get(&set) {
            self.leaned_on = self.leaned_on.min(depth);
            return Outcome::Empty;
        }
        if self.depth >= self.limits.value_depth || self.frames >= limits::FRAMES {
            return self.gave_up(&lits, "the value would nest too deep");
        }
        if !self.steps.take(1) {
            return self.gave_up(&lits, "the budget of steps is spent");
        }
        let depth = self.depth;
        let leaned_on = std::mem::replace(&mut self.leaned_on, usize::MAX);
        self.active.insert(set, depth);
        self.depth += 1;
        self.frames += 1;
        let outcome = self.by_kind(&lits);
        self.frames -= 1;
        self.depth -= 1;
        self.active.remove(&set);
        let closed = self.leaned_on >= depth;
        if closed || !outcome.is_empty() {
            self.memo[set as usize] = Some(outcome.clone());
        }
        self.leaned_on = leaned_on.min(if closed { usize::MAX } else { self.leaned_on });
        outcome
    }

    fn gave_up(&self, lits: &[Lit], reason: &str) -> Outcome {
        self.gave_up_by(lits, reason, "")
    }

    /// Names the place that has the keyword, or else the first one there is.
    fn gave_up_by(&self, lits: &[Lit], reason: &str, keyword: &str) -> Outcome {
        let nodes = || lits.iter().filter_map(|lit| lit.node());
        let parts = |id: Id| self.world.node(id).parts.iter().map(Part::keyword);
        let named = nodes().find_map(|id| Some((id, parts(id).find(|own| *own == keyword)?)));
        let at =
            named.or_else(|| nodes().next().map(|id| (id, parts(id).next().unwrap_or("true"))));
        Outcome::Unknown(Arc::new(GaveUp { reason: reason.into(), at }))
    }

    fn by_kind(&mut self, lits: &[Lit]) -> Outcome {
        let mut all = Alternatives::default();
        let shared: Arc<[Lit]> = lits.into();
        for kind in Kind::ALL {
            if self.excludes(lits, kind) {
                continue;
            }
            let outcome = match kind {
                Kind::Null => self.first_that_holds(lits, [Value::Null]),
                Kind::Boolean => self.first_that_holds(lits, [false.into(), true.into()]),
                _ => match self.hint(lits, kind) {
                    Some(value) => Outcome::Value(Arc::new(value)),
                    None => {
                        let mut branch = Branch::new(kind, shared.clone());
                        branch.todo.extend(lits.iter().rev().map(|&lit| Fact::Lit(lit)));
                        self.split(branch)
                    }
                },
            };
            if let Some(found) = all.offer(outcome) {
                return found;
            }
        }
        all.finish()
    }

    /// True where a type keyword alone rules a kind out.
    fn excludes(&self, lits: &[Lit], kind: Kind) -> bool {
        lits.iter().any(|lit| match lit {
            Lit::Yes(id) => self.world.node(*id).parts.iter().any(|part| match part {
                Part::Types(types) => types.admits(kind) == Admits::None,
                _ => false,
            }),
            Lit::No(id) => match self.world.node(*id).parts.as_slice() {
                [Part::Types(types)] => types.admits(kind) == Admits::All,
                _ => false,
            },
            Lit::Writer(_) | Lit::NotValue(_) | Lit::Any(_) | Lit::Neither(_) => false,
        })
    }

    /// A default or example of the schemas that happens to fit: nothing looks more like a real value.
    fn hint(&mut self, lits: &[Lit], kind: Kind) -> Option<Value> {
        let world = self.world;
        let hints = lits.iter().filter_map(|lit| lit.node()).flat_map(|id| &world.node(id).hints);
        let mut hints = hints.filter(|hint| Kind::of(hint) == kind);
        hints.find(|hint| self.check(lits, hint) == Truth::True).cloned()
    }

    pub(crate) fn first_that_holds(
        &mut self,
        lits: &[Lit],
        values: impl IntoIterator<Item = Value>,
    ) -> Outcome {
        let mut doubt = false;
        for value in values {
            if !self.steps.take(1) {
                return self.gave_up(lits, "the budget of steps is spent");
            }
            match self.check(lits, &value) {
                Truth::True => return Outcome::Value(Arc::new(value)),
                Truth::Unknown => doubt = true,
                Truth::False => {}
            }
        }
        if doubt { self.not_reasoned_about(lits) } else { Outcome::Empty }
    }

    fn not_reasoned_about(&self, lits: &[Lit]) -> Outcome {
        self.gave_up(lits, "a value was found, and whether it is valid could not be decided")
    }

    /// Do all literals hold of this value?
    pub(crate) fn check(&mut self, lits: &[Lit], value: &Value) -> Truth {
        let mut truth = Truth::True;
        for lit in lits {
            let own = match *lit {
                Lit::Yes(id) => self.holds(id, value),
                Lit::No(id) => self.holds(id, value).not(),
                Lit::Writer(writer) => self.writers.follows(self.world, writer, value).into(),
                Lit::NotValue(id) => (!equal(&self.values[id as usize], value)).into(),
                Lit::Any(set) => self.one_holds(set, value),
                Lit::Neither(set) => self.one_holds(set, value).not(),
            };
            truth = truth.and(own);
            if truth == Truth::False {
                break;
            }
        }
        truth
    }

    fn one_holds(&mut self, set: u32, value: &Value) -> Truth {
        let mut all = Truth::True;
        for id in self.any[set as usize].clone().iter() {
            all = all.and(self.holds(*id, value).not());
        }
        all.not()
    }

    fn holds(&mut self, id: Id, value: &Value) -> Truth {
        let (arena, node): (_, NodeId) = self.world.arena(id);
        let mut judge = Judge::new(arena);
        let truth = judge.holds(node, value);
        self.steps.take(judge.spent() / 8);
        truth
    }

    /// Solves one branch: propagate, then split on the smallest clause, then the theory.
    pub(crate) fn split(&mut self, mut branch: Branch) -> Outcome {
        if !self.steps.take(1) {
            return self.gave_up(&branch.origin, "the budget of steps is spent");
        }
        if !self.propagate(&mut branch) {
            return Outcome::Empty;
        }
        if let Some((id, part)) = branch.choice {
            let world = self.world;
            let Part::Choice { values, .. } = &world.node(id).parts[part] else {
                unreachable!("a choice refers to an `enum` or `const`");
            };
            let origin = branch.origin.clone();
            let kind = branch.kind;
            let own = values.iter().filter(move |value| Kind::of(value) == kind).cloned();
            if !branch.is_name {
                return self.first_that_holds(&origin, own);
            }
            // A name stands under conditions of its place as well, which `origin` does not state.
            let facts = branch.string_mut().clone();
            let fitting: Vec<Value> =
                own.filter(|value| value.as_str().is_some_and(|text| facts.allows(text))).collect();
            return self.first_that_holds(&origin, fitting);
        }
        // Which of many alternatives the value is of tells more than any of the ways in which it misses others.
        let chooses = |clause: &Clause| {
            clause.iter().all(|facts| matches!(facts.first(), Some(Fact::Lit(Lit::Yes(_)))))
        };
        let is_wide = branch.clauses.len() > limits::WIDE;
        let smallest = (0..branch.clauses.len()).min_by_key(|&at| {
            let clause = &branch.clauses[at];
            (is_wide && !chooses(clause), clause.len())
        });
        let Some(at) = smallest else {
            return self.solve(&branch);
        };
        if self.frames >= limits::FRAMES {
            return self.gave_up(&branch.origin, "too many case splits are open at once");
        }
        let clause = branch.clauses.swap_remove(at);
        let mut all = Alternatives::default();
        self.frames += 1;
        for alternative in clause.iter() {
            let mut own = branch.clone();
            own.todo.extend(alternative.iter().rev().cloned());
            if let Some(found) = all.offer(self.split(own)) {
                self.frames -= 1;
                return found;
            }
        }
        self.frames -= 1;
        all.finish()
    }

    fn solve(&mut self, branch: &Branch) -> Outcome {
        let outcome = match &branch.theory {
            Theory::Number(facts) => match facts.solve() {
                Found::Value(value) => match number::write(&value) {
                    Some(value) => Outcome::Value(Arc::new(value)),
                    None => self.gave_up(
                        &branch.origin,
                        "the only numbers that fit have no finite decimal form",
                    ),
                },
                Found::None => Outcome::Empty,
                Found::Unknown(why) => self.gave_up_by(&branch.origin, &why, "multipleOf"),
            },
            Theory::String(facts) => match facts.solve(&mut self.steps) {
                Found::Value(text) => Outcome::Value(Arc::new(Value::String(text))),
                Found::None => Outcome::Empty,
                Found::Unknown(why) => self.gave_up_by(&branch.origin, &why, "pattern"),
            },
            Theory::Array(facts) => self.solve_array(branch, facts),
            Theory::Object(facts) => self.solve_object(branch, facts),
        };
        match (&outcome, &branch.opaque) {
            (Outcome::Empty, _) => outcome,
            (_, Some(why)) => Outcome::Unknown(why.clone()),
            (Outcome::Value(value), None) => match self.check(&branch.origin.clone(), value) {
                Truth::True => outcome,
                _ => self.not_reasoned_about(&branch.origin),
            },
            (Outcome::Unknown(_), None) => outcome,
        }
    }
}
