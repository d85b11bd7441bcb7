//! From literals to facts and clauses: what a node that accepts, or one that rejects, says about a value of one kind.

use crate::branch::{Branch, Fact, SomeMember, Theory, glance};
use crate::judge::Truth;
use crate::limits;
use crate::node::{Admits, Kind, NodeId, Part};
use crate::number;
use crate::search::{GaveUp, Search};
use crate::world::{Id, Lit, Seen};
use num_traits::One;
use serde_json::Value;
use std::sync::Arc;

/// One way in which the in-place branches of a node can hold, and what they then look at.
#[derive(Clone, Default)]
struct Case {
    facts: Vec<Fact>,
    seen: Seen,
}

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
            self.steps.take(1);
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
            let opposite = match lit {
                Lit::Yes(id) => Lit::No(id),
                Lit::No(id) => Lit::Yes(id),
                Lit::Writer(_) | Lit::NotValue(_) => return Truth::Unknown,
            };
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

    fn expand(&mut self, branch: &mut Branch, lit: Lit) -> bool {
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
                let alternative = |chosen: usize| {
                    let mut facts = vec![yes(nodes[chosen])];
                    facts.extend(
                        nodes
                            .iter()
                            .enumerate()
                            .filter(|&(other, _)| other != chosen)
                            .map(|(_, &node)| no(node)),
                    );
                    facts
                };
                branch.clauses.push(Arc::new((0..nodes.len()).map(alternative).collect()));
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
                    Part::Contains { node, min, max } => {
                        let node = world.beside(id, *node);
                        return branch.add(Fact::Contains { node, min: *min, max: *max });
                    }
                    Part::UnevaluatedItems(rest) => match self.cases(id, false) {
                        Ok(cases) => {
                            let rest = world.beside(id, *rest);
                            let clause = cases.into_iter().map(|mut case| {
                                if !case.seen.all_items {
                                    case.facts.push(Fact::ItemsFrom(case.seen.items, rest));
                                }
                                case.facts
                            });
                            branch.clauses.push(Arc::new(clause.collect()));
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
                    Part::Requires(_) => facts.requires.push((id, at)),
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

    /// The ways in which a node rejects a value of this kind; `None` where it always does.
    fn rejected(&mut self, kind: Kind, id: Id) -> Option<Vec<Vec<Fact>>> {
        let world = self.world;
        let mut clause = Vec::new();
        for (at, part) in world.node(id).parts.iter().enumerate() {
            if !self.shown.is_empty() && self.shown.contains(&(id, part.keyword().to_string())) {
                continue;
            }
            if self.rejected_part(kind, id, at, part, &mut clause) {
                return None;
            }
        }
        Some(clause)
    }

    fn is_shown(&self, id: Id, below: impl FnOnce() -> String) -> bool {
        !self.shown.is_empty() && self.shown.contains(&(id, below()))
    }

    fn rejected_part(
        &mut self,
        kind: Kind,
        id: Id,
        at: usize,
        part: &Part,
        clause: &mut Vec<Vec<Fact>>,
    ) -> bool {
        let world = self.world;
        let yes = |node: NodeId| Fact::Lit(Lit::Yes(world.beside(id, node)));
        let no = |node: NodeId| Fact::Lit(Lit::No(world.beside(id, node)));
        match part {
            Part::Never => return true,
            Part::Types(types) => match types.admits(kind) {
                Admits::None => return true,
                Admits::All => {}
                Admits::Integers => clause.push(vec![Fact::NotMultiple(number::Rat::one())]),
            },
            Part::Choice { values, nodes, keyword } => {
                let mut facts = Vec::new();
                for (value, node) in values.iter().zip(nodes) {
                    if Kind::of(value) != kind {
                        continue;
                    }
                    facts.push(match (value, node) {
                        (Value::Number(n), _) => match number::read(n) {
                            Some(n) => Fact::NotNumber(n),
                            None => Fact::Opaque(Arc::new(GaveUp {
                                reason: "a number is too large to be compared exactly".into(),
                                at: Some((id, keyword)),
                            })),
                        },
                        (Value::String(text), _) => Fact::NotText(text.clone()),
                        (_, Some(node)) => no(*node),
                        // Null and booleans are tried value by value and never come here.
                        (_, None) => continue,
                    });
                }
                if facts.is_empty() {
                    return true;
                }
                clause.push(facts);
            }
            Part::All(nodes) => clause.extend(nodes.iter().map(|&node| vec![no(node)])),
            Part::Any(nodes) => clause.push(nodes.iter().map(|&node| no(node)).collect()),
            Part::One(nodes) => {
                clause.push(nodes.iter().map(|&node| no(node)).collect());
                for (first, &one) in nodes.iter().enumerate() {
                    for &two in &nodes[first + 1..] {
                        clause.push(vec![yes(one), yes(two)]);
                    }
                }
            }
            Part::Not(node) => clause.push(vec![yes(*node)]),
            Part::Ref { node, .. } => clause.push(vec![no(*node)]),
            Part::If { test, then, other } => {
                clause.extend(then.map(|then| vec![yes(*test), no(then)]));
                clause.extend(other.map(|other| vec![no(*test), no(other)]));
            }
            Part::Opaque { keyword, why } => {
                clause.push(vec![Fact::Opaque(Arc::new(GaveUp {
                    reason: why.clone(),
                    at: Some((id, keyword)),
                }))]);
            }
            _ => match kind {
                Kind::Number => match part {
                    Part::AtLeast { at, open } => {
                        clause.push(vec![Fact::AtMost(at.clone(), !open)])
                    }
                    Part::AtMost { at, open } => {
                        clause.push(vec![Fact::AtLeast(at.clone(), !open)])
                    }
                    Part::MultipleOf(step) => clause.push(vec![Fact::NotMultiple(step.clone())]),
                    _ => {}
                },
                Kind::String => match part {
                    Part::MinLength(least) => clause.push(vec![Fact::MaxLength(least - 1)]),
                    Part::MaxLength(most) => clause.push(vec![Fact::MinLength(most + 1)]),
                    Part::Pattern(pattern) => {
                        clause.push(vec![Fact::Match(world.pattern(id, *pattern).clone(), false)])
                    }
                    _ => {}
                },
                Kind::Array => self.rejected_array(id, part, clause),
                Kind::Object => self.rejected_object(id, at, part, clause),
                Kind::Null | Kind::Boolean => {}
            },
        }
        false
    }

    fn rejected_array(&mut self, id: Id, part: &Part, clause: &mut Vec<Vec<Fact>>) {
        let world = self.world;
        let no = |node: NodeId| Lit::No(world.beside(id, node));
        match part {
            Part::MinItems(least) => clause.push(vec![Fact::MaxItems(least - 1)]),
            Part::MaxItems(most) => clause.push(vec![Fact::MinItems(most + 1)]),
            Part::Unique => clause.push(vec![Fact::Twins]),
            Part::Items(items) => {
                let tuple = world.node(id).tuple_items;
                let shown = |search: &Self, at| {
                    search.is_shown(id, || crate::judge::items_keyword(items, at, tuple).1)
                };
                for (at, &node) in items.prefix.iter().enumerate() {
                    if !world.is_true(world.beside(id, node)) && !shown(self, at) {
                        clause.push(vec![Fact::ItemAt(at, no(node))]);
                    }
                }
                if let Some(rest) = items.rest
                    && !world.is_true(world.beside(id, rest))
                    && !shown(self, items.prefix.len())
                {
                    clause.push(vec![Fact::SomeItem(items.prefix.len(), no(rest))]);
                }
            }
            Part::Contains { node, min, max } => {
                let node = world.beside(id, *node);
                if *min > 0 {
                    clause.push(vec![Fact::Contains { node, min: 0, max: Some(min - 1) }]);
                }
                if let Some(max) = max.filter(|&max| max < u64::MAX) {
                    clause.push(vec![Fact::Contains { node, min: max + 1, max: None }]);
                }
            }
            Part::UnevaluatedItems(rest) => match self.cases(id, false) {
                Ok(cases) => {
                    for mut case in cases {
                        if !case.seen.all_items {
                            case.facts.push(Fact::SomeItem(case.seen.items, no(*rest)));
                            clause.push(case.facts);
                        }
                    }
                }
                Err(why) => clause.push(vec![Fact::Opaque(Arc::new(why))]),
            },
            _ => {}
        }
    }

    fn rejected_object(&mut self, id: Id, at: usize, part: &Part, clause: &mut Vec<Vec<Fact>>) {
        let world = self.world;
        let no = |node: NodeId| Lit::No(world.beside(id, node));
        match part {
            Part::MinMembers(least) => clause.push(vec![Fact::MaxMembers(least - 1)]),
            Part::MaxMembers(most) => clause.push(vec![Fact::MinMembers(most + 1)]),
            Part::Required(names) => {
                clause.extend(names.iter().map(|name| vec![Fact::Absent(name.as_str().into())]));
            }
            Part::Requires(requires) => {
                for (name, others) in requires {
                    for other in others {
                        clause.push(vec![
                            Fact::Present(name.as_str().into(), None),
                            Fact::Absent(other.as_str().into()),
                        ]);
                    }
                }
            }
            Part::Names(node) => clause.push(vec![Fact::SomeMember(SomeMember {
                outside: None,
                matching: None,
                name: Some(no(*node)),
                child: None,
            })]),
            Part::When { name, node } => {
                clause.push(vec![Fact::Present(name.as_str().into(), None), Fact::Lit(no(*node))]);
            }
            Part::Members(members) => {
                for (name, &node) in &members.named {
                    if !world.is_true(world.beside(id, node))
                        && !self
                            .is_shown(id, || format!("properties/{}", crate::value::escape(name)))
                    {
                        clause.push(vec![Fact::Present(name.as_str().into(), Some(no(node)))]);
                    }
                }
                for &(pattern, node) in &members.patterns {
                    let pattern = world.pattern(id, pattern);
                    if !world.is_true(world.beside(id, node))
                        && !self.is_shown(id, || {
                            format!("patternProperties/{}", crate::value::escape(pattern.text()))
                        })
                    {
                        clause.push(vec![Fact::SomeMember(SomeMember {
                            outside: None,
                            matching: Some(pattern.clone()),
                            name: None,
                            child: Some(no(node)),
                        })]);
                    }
                }
                if let Some(rest) = members.rest
                    && !world.is_true(world.beside(id, rest))
                    && !self.is_shown(id, || "additionalProperties".to_string())
                {
                    let seen = self
                        .seen_cache
                        .entry((id, at))
                        .or_insert_with(|| Arc::new(world.seen_by(id, members)));
                    clause.push(vec![Fact::SomeMember(SomeMember {
                        outside: Some(seen.clone()),
                        matching: None,
                        name: None,
                        child: Some(no(rest)),
                    })]);
                }
            }
            Part::UnevaluatedMembers(rest) => match self.cases(id, true) {
                Ok(cases) => {
                    for mut case in cases {
                        if !case.seen.all {
                            case.facts.push(Fact::SomeMember(SomeMember {
                                outside: Some(Arc::new(case.seen)),
                                matching: None,
                                name: None,
                                child: Some(no(*rest)),
                            }));
                            clause.push(case.facts);
                        }
                    }
                }
                Err(why) => clause.push(vec![Fact::Opaque(Arc::new(why))]),
            },
            _ => {}
        }
    }

    /// Every way in which the in-place branches of a node can hold, with what they then look at.
    fn cases(&mut self, id: Id, members: bool) -> Result<Vec<Case>, GaveUp> {
        self.cases_below(id, members, true, 0)
    }

    fn cases_below(
        &mut self,
        id: Id,
        members: bool,
        outer: bool,
        depth: usize,
    ) -> Result<Vec<Case>, GaveUp> {
        let world = self.world;
        let keyword = if members { "unevaluatedProperties" } else { "unevaluatedItems" };
        let give_up = |reason: &str| GaveUp { reason: reason.into(), at: Some((id, keyword)) };
        if depth > limits::UNEVALUATED_DEPTH {
            return Err(give_up("the branches below an `unevaluated*` keyword nest too deep"));
        }
        let mut cases = vec![Case::default()];
        for part in &world.node(id).parts {
            self.steps.take(1);
            let lit = |node: NodeId, sign: bool| {
                let node = world.beside(id, node);
                Fact::Lit(if sign { Lit::Yes(node) } else { Lit::No(node) })
            };
            // Each option is one way for this part to hold.
            let mut options: Vec<Case> = Vec::new();
            match part {
                Part::Members(group) if members => {
                    let mut seen = world.seen_by(id, group);
                    seen.all = group.rest.is_some();
                    options.push(Case { facts: Vec::new(), seen });
                }
                Part::Items(group) if !members => options.push(Case {
                    facts: Vec::new(),
                    seen: Seen {
                        items: group.prefix.len(),
                        all_items: group.rest.is_some(),
                        ..Seen::default()
                    },
                }),
                Part::Contains { .. } if !members => {
                    return Err(give_up(
                        "`contains` beside `unevaluatedItems` is not reasoned about",
                    ));
                }
                Part::UnevaluatedMembers(_) if members && !outer => {
                    options.push(Case {
                        facts: Vec::new(),
                        seen: Seen { all: true, ..Seen::default() },
                    });
                }
                Part::UnevaluatedItems(_) if !members && !outer => {
                    options.push(Case {
                        facts: Vec::new(),
                        seen: Seen { all_items: true, ..Seen::default() },
                    });
                }
                Part::Ref { node, .. } => {
                    options =
                        self.cases_below(world.beside(id, *node), members, false, depth + 1)?
                }
                Part::All(nodes) => {
                    options.push(Case::default());
                    for &node in nodes {
                        let inner =
                            self.cases_below(world.beside(id, node), members, false, depth + 1)?;
                        options = product(&options, &inner)
                            .ok_or_else(|| give_up("too many branches below it can hold"))?;
                    }
                }
                Part::Any(nodes) | Part::One(nodes) => {
                    options.push(Case::default());
                    for &node in nodes {
                        let inner =
                            self.cases_below(world.beside(id, node), members, false, depth + 1)?;
                        if matches!(inner.as_slice(), [only] if only.facts.is_empty() && only.seen.is_blank())
                        {
                            continue; // whether it holds makes no difference here
                        }
                        let mut both: Vec<Case> = inner
                            .into_iter()
                            .map(|mut case| {
                                case.facts.push(lit(node, true));
                                case
                            })
                            .collect();
                        both.push(Case { facts: vec![lit(node, false)], seen: Seen::default() });
                        options = product(&options, &both)
                            .ok_or_else(|| give_up("too many branches below it can hold"))?;
                    }
                }
                Part::If { test, then, other } => {
                    for (sign, branch) in [(true, then), (false, other)] {
                        let mut inner = match branch {
                            Some(node) => self.cases_below(
                                world.beside(id, *node),
                                members,
                                false,
                                depth + 1,
                            )?,
                            None => vec![Case::default()],
                        };
                        if sign {
                            let tested = self.cases_below(
                                world.beside(id, *test),
                                members,
                                false,
                                depth + 1,
                            )?;
                            inner = product(&inner, &tested)
                                .ok_or_else(|| give_up("too many branches below it can hold"))?;
                        }
                        for mut case in inner {
                            case.facts.push(lit(*test, sign));
                            options.push(case);
                        }
                    }
                }
                Part::When { name, node } if members => {
                    let name: Arc<str> = name.as_str().into();
                    options.push(Case {
                        facts: vec![Fact::Absent(name.clone())],
                        seen: Seen::default(),
                    });
                    for mut case in
                        self.cases_below(world.beside(id, *node), members, false, depth + 1)?
                    {
                        case.facts.push(Fact::Present(name.clone(), None));
                        options.push(case);
                    }
                }
                Part::Opaque { keyword, .. } => {
                    return Err(give_up(&format!("what `{keyword}` looks at is not known")));
                }
                _ => continue,
            }
            cases = product(&cases, &options)
                .ok_or_else(|| give_up("too many branches below it can hold"))?;
        }
        Ok(cases)
    }
}

fn product(left: &[Case], right: &[Case]) -> Option<Vec<Case>> {
    if left.len() * right.len() > limits::UNEVALUATED_CASES {
        return None;
    }
    let mut out = Vec::with_capacity(left.len() * right.len());
    for one in left {
        for two in right {
            let mut both = one.clone();
            both.facts.extend(two.facts.iter().cloned());
            both.seen.add(&two.seen);
            out.push(both);
        }
    }
    Some(out)
}
