//! Alternatives: which of them are one on both sides, which came, which went, and one form that
//! became several.

use super::compare::{likest, tags};
use super::{Step, Walker, likeness};
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
        let inside = step.within(old, new);
        let mut left: Vec<usize> = (0..was.variants.len().max(1)).collect();
        let mut right: Vec<usize> = (0..is.variants.len().max(1)).collect();
        if !was.variants.is_empty() && !is.variants.is_empty() {
            let mut pairs = likeness::pairs(&was.variants, &is.variants);
            pairs.sort_unstable();
            left.retain(|at| !pairs.iter().any(|(l, _)| l == at));
            right.retain(|at| !pairs.iter().any(|(_, r)| r == at));
            for (l, r) in pairs {
                self.pair(&was.variants[l], &is.variants[r], inside.clone());
            }
        } else {
            // One side has one form; walk it against its like on the other side.
            let one_form = |node: &Node<'_>, view: &View, many: &View| -> Option<usize> {
                let same = |twin: &Node<'_>| twin.value == node.value;
                view.variants.is_empty().then(|| many.variants.iter().position(same)).flatten()
            };
            if let Some(twin) = one_form(old, was, is) {
                left.clear();
                right.retain(|&x| x != twin);
            }
            if let Some(twin) = one_form(new, is, was) {
                right.clear();
                left.retain(|&x| x != twin);
            }
            let (one, many) = if was.variants.is_empty() { (was, is) } else { (is, was) };
            // Several forms of the same kind are one union: only the engine can judge it.
            let alike =
                many.variants.iter().filter(|node| View::of(node).kinds == one.kinds).count();
            if let Some(twin) = likest(one, &many.variants).filter(|_| alike == 1) {
                if was.variants.is_empty() {
                    left.clear();
                    right.retain(|&x| x != twin);
                    self.inner_pair(old, &is.variants[twin], &inside);
                } else {
                    right.clear();
                    left.retain(|&x| x != twin);
                    self.inner_pair(&was.variants[twin], new, &inside);
                }
            } else if was.variants.is_empty() && was.describes_object {
                self.split(was, is, &inside);
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
