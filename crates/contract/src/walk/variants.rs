//! Alternatives: which of them are one on both sides, which came, which went, and one form that
//! became several.

use super::compare::{likest, tags};
use super::{Step, Walker};
use crate::edit::What;
use crate::view::{Node, View};
use serde_json::Value;

impl Walker {
    pub(super) fn variants(
        &mut self,
        old: &Node<'_>,
        new: &Node<'_>,
        was: &View,
        is: &View,
        step: &Step,
    ) {
        if was.variants.is_empty() && is.variants.is_empty() {
            return;
        }
        let own = |node: &Node<'_>, view: &View| -> Vec<(String, Value)> {
            if view.variants.is_empty() {
                vec![(node.pointer.clone(), node.value.clone())]
            } else {
                view.variants.iter().map(|n| (n.pointer.clone(), n.value.clone())).collect()
            }
        };
        let (before, after) = (own(old, was), own(new, is));
        let mut left: Vec<usize> = (0..before.len()).collect();
        let mut right: Vec<usize> = (0..after.len()).collect();
        left.retain(|&l| {
            let twin = right.iter().position(|&r| before[l].1 == after[r].1);
            if let Some(position) = twin {
                right.remove(position);
            }
            twin.is_none()
        });
        if !was.variants.is_empty() && !is.variants.is_empty() {
            // Alternatives of one kind on both sides, or at one index with one tag, are one pair.
            let pairs: Vec<(usize, usize)> = left
                .iter()
                .filter_map(|&l| {
                    let kinds = View::of(&was.variants[l]).all_kinds();
                    let alike: Vec<usize> = right
                        .iter()
                        .copied()
                        .filter(|&r| View::of(&is.variants[r]).all_kinds() == kinds)
                        .collect();
                    let of_kind =
                        left.iter().filter(|&&o| View::of(&was.variants[o]).all_kinds() == kinds);
                    match alike.as_slice() {
                        [only] if of_kind.count() == 1 => Some((l, *only)),
                        _ => alike
                            .iter()
                            .copied()
                            .find(|&r| tags(&was.variants[l]) == tags(&is.variants[r]))
                            .map(|r| (l, r)),
                    }
                })
                .collect();
            for (l, r) in pairs {
                left.retain(|&x| x != l);
                right.retain(|&x| x != r);
                self.pair(&was.variants[l], &is.variants[r], step.clone());
            }
        } else {
            // One side has one form; walk it against its like on the other side.
            let (one, many) = if was.variants.is_empty() { (was, is) } else { (is, was) };
            // Several forms of the same kind are one union: only the engine can judge it.
            let alike =
                many.variants.iter().filter(|node| View::of(node).kinds == one.kinds).count();
            if let Some(twin) = likest(one, &many.variants).filter(|_| alike == 1) {
                if was.variants.is_empty() {
                    left.clear();
                    right.retain(|&x| x != twin);
                    self.inner_pair(old, &is.variants[twin], step);
                } else {
                    right.clear();
                    left.retain(|&x| x != twin);
                    self.inner_pair(&was.variants[twin], new, step);
                }
            } else if was.variants.is_empty() && was.describes_object {
                self.split(was, is, step);
            }
        }
        if !(left.is_empty() && right.is_empty()) {
            let chosen = match is.variants.as_slice() {
                [] => Vec::new(),
                forms => right.iter().filter_map(|&r| forms.get(r)).flat_map(tags).collect(),
            };
            let known: Vec<(String, Value)> = was.variants.iter().flat_map(tags).collect();
            let come = |tag: &(String, Value)| !known.contains(tag);
            let what = What::VariantsChanged {
                dropped: left.len(),
                added: right.len(),
                tags: if known.is_empty() {
                    Vec::new()
                } else {
                    chosen.into_iter().filter(come).collect()
                },
            };
            self.push(what, (Some(old), Some(new)), (None, None), step);
        }
    }

    /// One object that became several alternatives. Which mixes of members are still taken is for
    /// the engine; that a member is gone from all of them, or means something else where it is left
    /// out, no set of values shows.
    fn split(&mut self, was: &View, is: &View, step: &Step) {
        let views: Vec<View<'_>> = is.variants.iter().map(View::of).collect();
        let ignored = views.iter().any(View::is_open);
        for (name, node) in &was.members {
            let required = was.required.contains(name);
            let inner =
                Step { was: step.was && required, is: false, sent: required, ..step.down(name) };
            let twins: Vec<&Node<'_>> = views.iter().filter_map(|view| view.member(name)).collect();
            if twins.is_empty() && is.member(name).is_none() {
                let values = (Some(node.value.clone()), None);
                let what = What::FieldRemoved { required, ignored };
                self.push(what, (Some(node), None), values, &inner);
            }
            let known = self.edits.len();
            for twin in twins {
                // The first alternative that differs speaks for all.
                if self.edits.len() == known {
                    let (before, after) = (View::of(node), View::of(twin));
                    self.default((Some(node), Some(twin)), &before, &after, &inner);
                }
            }
        }
    }

    /// Walks members and items of two forms without reporting their texts and kinds again.
    fn inner_pair(&mut self, old: &Node<'_>, new: &Node<'_>, step: &Step) {
        let (was, is) = (View::of(old), View::of(new));
        self.values((Some(old), Some(new)), &was, &is, step);
        self.bounds((Some(old), Some(new)), &was, &is, step);
        self.members(old, new, &was, &is, step);
        self.items(old, new, &was, &is, step);
    }
}
