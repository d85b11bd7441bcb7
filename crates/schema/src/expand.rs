//! From literals to facts and clauses: what a node that accepts, or one that rejects, says about a value of one kind.

use crate::branch::{Branch, Fact, SomeMember, Theory};
use crate::node::{Admits, Kind, NodeId, Part};
use crate::number;
use crate::search::{GaveUp, Search};
use crate::world::{Id, Lit, Seen};
use num_traits::One;
use serde_json::Value;
use std::sync::Arc;

impl Search<'_> {
    pub(crate) fn expand(&mut self, branch: &mut Branch, lit: Lit) -> bool {
        if !branch.done.insert(lit) {
            return true;
        }
        if !self.steps.take(1) {
            // The caller's next step notices; until then the branch only knows less.
            return branch.add(Fact::Opaque(Arc::new(GaveUp {
                reason: "the budget of steps is spent".into(),
                at: None,
            })));
        }
        match lit {
            Lit::Yes(id) => !branch.done.contains(&Lit::No(id)) && self.accepted(branch, id),
            Lit::No(id) => {
                if branch.done.contains(&Lit::Yes(id)) {
                    return false;
                }
                let Some(clause) = self.rejected(branch.kind, id) else {
                    return true; // the kind alone makes the node reject
                };
                branch.clauses.push(Arc::new(clause));
                true
            }
            Lit::Writer(writer) => {
                match &mut branch.theory {
                    Theory::Array(facts) => facts.writers.push(writer),
                    Theory::Object(facts) => facts.writers.push(writer),
                    Theory::Number(_) | Theory::String(_) => {}
                }
                true
            }
            Lit::Any(set) => {
                let nodes = self.any[set as usize].clone();
                let clause = nodes.iter().map(|&id| vec![Fact::Lit(Lit::Yes(id))]).collect();
                branch.clauses.push(Arc::new(clause));
                true
            }
            Lit::Neither(set) => {
                let nodes = self.any[set as usize].clone();
                branch.todo.extend(nodes.iter().map(|&id| Fact::Lit(Lit::No(id))));
                true
            }
            Lit::NotValue(value) => {
                let value = self.values[value as usize].clone();
                self.differs(branch, &value)
            }
        }
    }

    /// A value of this branch is not `value`.
    fn differs(&mut self, branch: &mut Branch, value: &Value) -> bool {
        if Kind::of(value) != branch.kind {
            return true;
        }
        match value {
            Value::Number(n) => match number::read(n) {
                Some(n) => branch.add(Fact::NotNumber(n)),
                None => branch.add(Fact::Opaque(Arc::new(GaveUp {
                    reason: "a number is too large to be compared exactly".into(),
                    at: None,
                }))),
            },
            Value::String(text) => branch.add(Fact::NotText(text.clone())),
            Value::Array(items) => {
                let length = items.len() as u64;
                let mut clause = vec![vec![Fact::MinItems(length + 1)]];
                if length > 0 {
                    clause.push(vec![Fact::MaxItems(length - 1)]);
                }
                for (at, item) in items.iter().enumerate() {
                    clause.push(vec![Fact::ItemAt(at, self.not_value(item))]);
                }
                branch.clauses.push(Arc::new(clause));
                true
            }
            Value::Object(members) => {
                let names: Arc<Seen> =
                    Arc::new(Seen { names: members.keys().cloned().collect(), ..Seen::default() });
                let mut clause: Vec<Vec<Fact>> = Vec::new();
                for (name, member) in members {
                    let name: Arc<str> = name.as_str().into();
                    clause.push(vec![Fact::Absent(name.clone())]);
                    clause.push(vec![Fact::Present(name, Some(self.not_value(member)))]);
                }
                clause.push(vec![Fact::SomeMember(SomeMember {
                    outside: Some(names),
                    matching: None,
                    name: None,
                    child: None,
                })]);
                branch.clauses.push(Arc::new(clause));
                true
            }
            Value::Null | Value::Bool(_) => true,
        }
    }

    fn accepted(&mut self, branch: &mut Branch, id: Id) -> bool {
        let world = self.world;
        for (at, part) in world.node(id).parts.iter().enumerate() {
            if !self.accepted_part(branch, id, at, part) {
                return false;
            }
        }
        true
    }

    fn accepted_part(&mut self, branch: &mut Branch, id: Id, at: usize, part: &Part) -> bool {
        let world = self.world;
        let yes = |node: NodeId| Fact::Lit(Lit::Yes(world.beside(id, node)));
        let no = |node: NodeId| Fact::Lit(Lit::No(world.beside(id, node)));
        match part {
            Part::Never => return false,
            Part::Types(types) => match types.admits(branch.kind) {
                Admits::None => return false,
                Admits::All => {}
                Admits::Integers => {
                    if let Theory::Number(facts) = &mut branch.theory {
                        facts.multiple_of(&number::Rat::one());
                        return !facts.is_dead();
                    }
                }
            },
            Part::Choice { values, .. } => {
                if !values.iter().any(|value| Kind::of(value) == branch.kind) {
                    return false;
                }
                let shorter =
                    branch.choice.is_none_or(|(own, part)| match &world.node(own).parts[part] {
                        Part::Choice { values: own, .. } => values.len() < own.len(),
                        _ => false,
                    });
                if shorter {
                    branch.choice = Some((id, at));
                }
            }
            Part::All(nodes) => branch.todo.extend(nodes.iter().map(|&node| yes(node))),
            Part::Ref { node, .. } => branch.todo.push(yes(*node)),
            Part::Not(node) => branch.todo.push(no(*node)),
            Part::Any(nodes) => {
                branch.clauses.push(Arc::new(nodes.iter().map(|&node| vec![yes(node)]).collect()));
            }
            Part::One(nodes) => {
                let mut alternatives: Vec<Vec<Fact>> =
                    nodes.iter().map(|&node| vec![yes(node)]).collect();
                // Of those that are told apart by a tag, one that holds rules out the others.
                for &(one, two) in self.together(id, nodes).iter() {
                    alternatives[one].push(no(nodes[two]));
                    alternatives[two].push(no(nodes[one]));
                }
                branch.clauses.push(Arc::new(alternatives));
            }
            Part::If { test, then, other } => {
                let mut holds = vec![yes(*test)];
                holds.extend(then.map(yes));
                let mut fails = vec![no(*test)];
                fails.extend(other.map(yes));
                if then.is_some() || other.is_some() {
                    branch.clauses.push(Arc::new(vec![holds, fails]));
                }
            }
            Part::Opaque { keyword, why } => {
                return branch.add(Fact::Opaque(Arc::new(GaveUp {
                    reason: why.clone(),
                    at: Some((id, keyword)),
                })));
            }
            _ => match &mut branch.theory {
                Theory::Number(facts) => {
                    match part {
                        Part::AtLeast { at, open } => facts.at_least(at, *open),
                        Part::AtMost { at, open } => facts.at_most(at, *open),
                        Part::MultipleOf(step) => facts.multiple_of(step),
                        _ => return true,
                    }
                    return !facts.is_dead();
                }
                Theory::String(facts) => {
                    match part {
                        Part::MinLength(length) => facts.at_least(*length),
                        Part::MaxLength(length) => facts.at_most(*length),
                        Part::Pattern(pattern) => {
                            facts.matches(world.pattern(id, *pattern).clone(), true)
                        }
                        _ => return true,
                    }
                    return !facts.is_dead();
                }
                Theory::Array(facts) => match part {
                    Part::MinItems(least) => return branch.add(Fact::MinItems(*least)),
                    Part::MaxItems(most) => return branch.add(Fact::MaxItems(*most)),
                    Part::Unique => {
                        facts.unique = true;
                        return !facts.twins;
                    }
                    Part::Items(_) => facts.rules.push((id, at)),
                    Part::Contains { node, min, max, .. } => {
                        let node = world.beside(id, *node);
                        return branch.add(Fact::Contains { node, min: *min, max: *max });
                    }
                    Part::UnevaluatedItems(rest) => match self.cases(id, false) {
                        Ok(cases) => {
                            let rest = world.beside(id, *rest);
                            let mut clause = Vec::with_capacity(cases.len());
                            for mut case in cases {
                                if !case.seen.all_items {
                                    let found = case.seen.found.iter().copied();
                                    let lit = self.any(found.chain([rest]));
                                    case.facts.push(Fact::ItemsFrom(case.seen.items, lit));
                                }
                                clause.push(case.facts);
                            }
                            branch.clauses.push(Arc::new(clause));
                        }
                        Err(why) => return branch.add(Fact::Opaque(Arc::new(why))),
                    },
                    _ => {}
                },
                Theory::Object(facts) => match part {
                    Part::MinMembers(least) => return branch.add(Fact::MinMembers(*least)),
                    Part::MaxMembers(most) => return branch.add(Fact::MaxMembers(*most)),
                    Part::Required(names) => {
                        return names
                            .iter()
                            .all(|name| branch.add(Fact::Present(name.as_str().into(), None)));
                    }
                    Part::Requires { .. } => facts.requires.push((id, at)),
                    Part::Members(_) => facts.rules.push((id, at)),
                    Part::Names(node) => facts.names.push(Lit::Yes(world.beside(id, *node))),
                    Part::When { name, node } => {
                        let name: Arc<str> = name.as_str().into();
                        let there = vec![Fact::Present(name.clone(), None), yes(*node)];
                        branch.clauses.push(Arc::new(vec![vec![Fact::Absent(name)], there]));
                    }
                    Part::UnevaluatedMembers(rest) => match self.cases(id, true) {
                        Ok(cases) => {
                            let rest = world.beside(id, *rest);
                            let clause = cases.into_iter().map(|mut case| {
                                if !case.seen.all {
                                    case.facts.push(Fact::RestOf(Arc::new(case.seen), rest));
                                }
                                case.facts
                            });
                            branch.clauses.push(Arc::new(clause.collect()));
                        }
                        Err(why) => return branch.add(Fact::Opaque(Arc::new(why))),
                    },
                    _ => {}
                },
            },
        }
        true
    }
}
