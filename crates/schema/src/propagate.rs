//! Before a branch is split: everything that follows without a choice.

use crate::branch::{Branch, Fact, Theory, glance};
use crate::judge::Truth;
use crate::node::Part;
use crate::search::Search;
use crate::world::Lit;
use std::sync::Arc;

impl Search<'_> {
    /// Expands and simplifies until nothing moves. False where the branch contradicts itself.
    pub(crate) fn propagate(&mut self, branch: &mut Branch) -> bool {
        loop {
            while let Some(fact) = branch.todo.pop() {
                let alive = match fact {
                    Fact::Lit(lit) => self.expand(branch, lit),
                    other => branch.add(other),
                };
                if !alive {
                    return false;
                }
            }
            if self.simplify(branch, false) {
                if branch
                    .todo
                    .iter()
                    .any(|fact| matches!(fact, Fact::Lit(Lit::Yes(id)) if self.world.is_false(*id)))
                {
                    return false;
                }
                continue;
            }
            if branch.clauses.iter().any(|clause| clause.is_empty()) {
                return false;
            }
            if branch.choice.is_some() {
                return true; // the values will be tried one by one
            }
            if !self.present_members_exist(branch) {
                return false;
            }
            if !self.simplify(branch, true) {
                return !branch.clauses.iter().any(|clause| clause.is_empty());
            }
            if branch.clauses.iter().any(|clause| clause.is_empty()) {
                return false;
            }
        }
    }

    /// Drops alternatives that cannot hold and clauses that already do; a last alternative
    /// becomes fact. `deep` also asks whether members and items can exist. True where something moved.
    fn simplify(&mut self, branch: &mut Branch, deep: bool) -> bool {
        let mut moved = false;
        let mut at = 0;
        while at < branch.clauses.len() {
            let clause = branch.clauses[at].clone();
            let mut left = Vec::with_capacity(clause.len());
            let mut holds = false;
            for alternative in clause.iter() {
                let mut truth = Truth::True;
                for fact in alternative {
                    let mut own = glance(branch, fact);
                    if own == Truth::Unknown && self.contradicts(branch, fact) {
                        own = Truth::False;
                    }
                    if deep && own == Truth::Unknown {
                        own = self.look(branch, fact);
                    }
                    truth = truth.and(own);
                    if truth == Truth::False {
                        break;
                    }
                }
                match truth {
                    Truth::True => {
                        holds = true;
                        break;
                    }
                    Truth::Unknown => left.push(alternative),
                    Truth::False => {}
                }
            }
            self.steps.take(1 + clause.len() as u64 / 16);
            if holds {
                branch.clauses.swap_remove(at);
                moved = true;
            } else if left.len() == 1 {
                branch.todo.extend(left[0].iter().rev().cloned());
                branch.clauses.swap_remove(at);
                moved = true;
            } else if left.len() < clause.len() {
                let left: Vec<Vec<Fact>> = left.into_iter().cloned().collect();
                let dead = left.is_empty();
                branch.clauses[at] = Arc::new(left);
                if dead {
                    return false;
                }
                at += 1;
            } else {
                at += 1;
            }
            if moved && deep {
                return true; // what was learnt is cheaper than looking further
            }
        }
        moved
    }

    /// True where a member that is asked for is said by the same name to be the opposite, or is not declared by who
    /// writes it: as much as can be told without asking what it can be.
    fn contradicts(&self, branch: &Branch, fact: &Fact) -> bool {
        let (Theory::Object(facts), Fact::Present(name, lit)) = (&branch.theory, fact) else {
            return false;
        };
        let undeclared = |writer: &u32| {
            let declared = &self.writers.get(*writer).declared;
            declared.as_ref().is_some_and(|seen| seen.covers(name) == Some(false))
        };
        let opposite = lit.and_then(Lit::opposite);
        let said = |opposite: Lit| {
            facts.present.get(name).is_some_and(|lits| lits.contains(&opposite))
                || facts.rules.iter().any(|&(id, part)| match &self.world.node(id).parts[part] {
                    Part::Members(members) => members
                        .named
                        .get(&**name)
                        .is_some_and(|&node| Lit::Yes(self.world.beside(id, node)) == opposite),
                    _ => false,
                })
        };
        opposite.is_some_and(said) || facts.writers.iter().any(undeclared)
    }

    /// Asks of one member or item whether it can exist, and whether it must be as the fact says.
    fn look(&mut self, branch: &Branch, fact: &Fact) -> Truth {
        let (mut lits, lit, there) = match (&branch.theory, fact) {
            (Theory::Object(facts), Fact::Present(name, Some(lit))) => {
                let Ok(Some(lits)) = self.member_lits(facts, name) else {
                    return Truth::Unknown;
                };
                (lits, *lit, facts.present.contains_key(name))
            }
            (Theory::Object(facts), Fact::Present(name, None)) => {
                return match self.member_lits(facts, name) {
                    Ok(Some(lits)) if self.inhabit(lits.clone()).is_empty() => Truth::False,
                    Ok(None) => Truth::False,
                    _ => Truth::Unknown,
                };
            }
            (Theory::Array(facts), Fact::ItemAt(at, lit)) => {
                (self.item_lits(facts, *at), *lit, facts.min > *at as u64)
            }
            _ => return Truth::Unknown,
        };
        lits.push(lit);
        if self.inhabit(lits.clone()).is_empty() {
            return Truth::False;
        }
        if there {
            lits.pop();
            let Some(opposite) = lit.opposite() else { return Truth::Unknown };
            lits.push(opposite);
            if self.inhabit(lits).is_empty() {
                return Truth::True;
            }
        }
        Truth::Unknown
    }

    /// False where a member that must be there cannot exist.
    fn present_members_exist(&mut self, branch: &Branch) -> bool {
        let Theory::Object(facts) = &branch.theory else {
            return true;
        };
        for name in facts.present.keys() {
            match self.member_lits(facts, name) {
                Ok(Some(lits)) if self.inhabit(lits.clone()).is_empty() => return false,
                Ok(None) => return false,
                _ => {}
            }
        }
        true
    }
}
