//! Which schema of a list on one side is which on the other.

use super::{Cutter, Stack, reference};
use crate::node::{Node, Source};
use crate::walk::likeness;
use serde_json::Value;

fn nodes<'v>(list: &'v [Value], open: &[usize]) -> Vec<Node<'v>> {
    open.iter().filter_map(|&at| Source::single(&list[at]).at("")).collect()
}

impl Cutter<'_, '_> {
    pub(super) fn list(
        &mut self,
        a: &[Value],
        b: &[Value],
        stack: &Stack,
        all_of: bool,
    ) -> (Value, Value) {
        let partners = self.partners(a, b, all_of);
        let mut old_out: Vec<Option<Value>> = vec![None; a.len()];
        let mut new_out: Vec<Option<Value>> = vec![None; b.len()];
        for (at, partner) in partners.iter().enumerate() {
            if let Some(other) = partner {
                let (before, after) = self.both(&a[at], &b[*other], stack, all_of);
                old_out[at] = Some(before);
                new_out[*other] = Some(after);
            }
        }
        let mut finish = |out: Vec<Option<Value>>, list: &[Value], is_old: bool| {
            out.into_iter()
                .zip(list)
                .map(|(done, raw)| done.unwrap_or_else(|| self.alone(raw, is_old, 0)))
                .collect()
        };
        (Value::Array(finish(old_out, a, true)), Value::Array(finish(new_out, b, false)))
    }

    /// Which branch of the new list is the old branch: the same reference, the same text, a
    /// reference to the same text under another name. Of parts of one whole, those of one kind are one; of
    /// alternatives, those that are most alike.
    fn partners(&mut self, a: &[Value], b: &[Value], all_of: bool) -> Vec<Option<usize>> {
        let mut partners: Vec<Option<usize>> = vec![None; a.len()];
        let mut taken = vec![false; b.len()];
        for pass in 0..4 {
            for (at, old) in a.iter().enumerate() {
                if partners[at].is_some() {
                    continue;
                }
                let found = b.iter().enumerate().position(|(other, new)| {
                    !taken[other]
                        && match (pass, reference(old), reference(new)) {
                            (0, Some(a), Some(b)) => a == b,
                            (1, _, _) => old == new,
                            (2, Some(a), Some(b)) => {
                                self.old.schema(&a, self.flow) == self.new.schema(&b, self.flow)
                            }
                            (2, None, None) => {
                                old.get("title").is_some() && old.get("title") == new.get("title")
                            }
                            (3, None, None) if all_of => old.get("type") == new.get("type"),
                            _ => false,
                        }
                });
                if let Some(other) = found {
                    partners[at] = Some(other);
                    taken[other] = true;
                }
            }
        }
        if let ([one], [other], true) = (a, b, all_of)
            && reference(one).is_some()
            && reference(other).is_some()
        {
            return vec![Some(0)];
        }
        if !all_of {
            let open = |list: &[Value], taken: &dyn Fn(usize) -> bool| -> Vec<usize> {
                let free = |at: &usize| !taken(*at) && reference(&list[*at]).is_none();
                (0..list.len()).filter(free).collect()
            };
            let left = open(a, &|at| partners[at].is_some());
            let right = open(b, &|at| taken[at]);
            for (l, r) in likeness::pairs(&nodes(a, &left), &nodes(b, &right)) {
                partners[left[l]] = Some(right[r]);
            }
        }
        partners
    }
}
