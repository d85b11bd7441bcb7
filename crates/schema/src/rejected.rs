//! The ways in which a node can reject a value of one kind, as a clause.

use crate::branch::{Fact, SomeMember};
use crate::node::{Admits, Kind, NodeId, Part};
use crate::number;
use crate::reference::escape;
use crate::search::{GaveUp, Search};
use crate::world::{Id, Lit};
use num_traits::One;
use serde_json::Value;
use std::sync::Arc;

impl Search<'_> {
    /// The ways in which a node rejects a value of this kind; `None` where it always does.
    pub(crate) fn rejected(&mut self, kind: Kind, id: Id) -> Option<Vec<Vec<Fact>>> {
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
            Part::Choice { values, nodes, keyword, .. } => {
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
                for &(one, two) in self.together(id, nodes).iter() {
                    clause.push(vec![yes(nodes[one]), yes(nodes[two])]);
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
                    search.is_shown(id, || crate::reject::items_keyword(items, at, tuple).1)
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
            Part::Contains { node, min, max, .. } => {
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
                            let found = case.seen.found.iter().copied();
                            let taken = self.any(found.chain([world.beside(id, *rest)]));
                            let lit = taken.opposite().expect("nodes have an opposite");
                            case.facts.push(Fact::SomeItem(case.seen.items, lit));
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
            Part::Requires { names: requires, .. } => {
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
                        && !self.is_shown(id, || format!("properties/{}", escape(name)))
                    {
                        clause.push(vec![Fact::Present(name.as_str().into(), Some(no(node)))]);
                    }
                }
                for &(pattern, node) in &members.patterns {
                    let pattern = world.pattern(id, pattern);
                    if !world.is_true(world.beside(id, node))
                        && !self.is_shown(id, || {
                            format!("patternProperties/{}", escape(pattern.text()))
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
}
