//! `unevaluated*`: what the branches of a node have looked at depends on which of them hold, so
//! every way in which they can hold is one case. Exact up to a number of cases, then given up on.

use crate::branch::Fact;
use crate::limits;
use crate::node::{NodeId, Part};
use crate::search::{GaveUp, Search};
use crate::world::{Id, Lit, Seen};
use std::sync::Arc;

/// One way in which the in-place branches of a node can hold, and what they then look at.
#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) facts: Vec<Fact>,
    pub(crate) seen: Seen,
}

impl Search<'_> {
    /// Every way in which the in-place branches of a node can hold, with what they then look at.
    ///
    /// The branches are walked as they are written: nodes that accept the same values may look at different members.
    pub(crate) fn cases(&mut self, id: Id, members: bool) -> Result<Vec<Case>, GaveUp> {
        if let Some(known) = self.known_cases.get(&(id, members)) {
            self.steps.take(known.as_ref().map_or(1, |cases| cases.len() as u64));
            return known.clone();
        }
        let cases = self.cases_below(id, members, true, 0);
        self.known_cases.insert((id, members), cases.clone());
        cases
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
                Part::Contains { node, marks: true, .. } if !members => options.push(Case {
                    facts: Vec::new(),
                    seen: Seen { found: [world.beside(id, *node)].into(), ..Seen::default() },
                }),
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
                        self.cases_below(world.exact_beside(id, *node), members, false, depth + 1)?
                }
                Part::All(nodes) => {
                    options.push(Case::default());
                    for &node in nodes {
                        let inner = self.cases_below(
                            world.exact_beside(id, node),
                            members,
                            false,
                            depth + 1,
                        )?;
                        options = product(&options, &inner)
                            .ok_or_else(|| give_up("too many branches below it can hold"))?;
                    }
                }
                // Of `oneOf` just one branch holds, or the keyword itself rejects.
                Part::One(nodes) => {
                    let mut none = Vec::new();
                    for &node in nodes {
                        let inner = self.cases_below(
                            world.exact_beside(id, node),
                            members,
                            false,
                            depth + 1,
                        )?;
                        if is_blank(&inner) {
                            continue;
                        }
                        none.push(lit(node, false));
                        options.extend(inner.into_iter().map(|mut case| {
                            case.facts.push(lit(node, true));
                            case
                        }));
                    }
                    if none.len() < nodes.len() {
                        options.push(Case { facts: none, seen: Seen::default() });
                    }
                }
                Part::Any(nodes) => {
                    options.push(Case::default());
                    for &node in nodes {
                        let inner = self.cases_below(
                            world.exact_beside(id, node),
                            members,
                            false,
                            depth + 1,
                        )?;
                        if is_blank(&inner) {
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
                                world.exact_beside(id, *node),
                                members,
                                false,
                                depth + 1,
                            )?,
                            None => vec![Case::default()],
                        };
                        if sign {
                            let tested = self.cases_below(
                                world.exact_beside(id, *test),
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
                        self.cases_below(world.exact_beside(id, *node), members, false, depth + 1)?
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

fn is_blank(cases: &[Case]) -> bool {
    matches!(cases, [only] if only.facts.is_empty() && only.seen.is_blank())
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
