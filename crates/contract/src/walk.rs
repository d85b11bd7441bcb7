//! The walk: two schemas in step, one edit for each thing that moved.

mod compare;
mod explained;
pub(crate) mod likeness;
mod step;
mod variants;

use crate::digest::canonical;
use crate::edit::{Edit, What};
use crate::prose::{self, SignalKind};
use crate::rename;
use crate::view::{Kinds, Node, Rest, View, same_value};
use compare::{
    conversion, described, holds_reference, inner_members, is_tighter, kinds_value, recased,
    same_default, says_something,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use step::Step;

/// How deep members and items are walked. Deeper schemas are still compared by the engine.
pub const MAX_DEPTH: usize = 40;
/// How many edits one pair of schemas may report; beyond it the pair is a rewrite, not an edit.
pub const MAX_EDITS: usize = 2_000;
/// How many pairs of places are walked: schemas that refer to each other in circles can have the product of both sides.
pub const MAX_PAIRS: usize = 20_000;

/// Walks two schemas once and returns what moved, in document order.
pub fn walk(old: &Node<'_>, new: &Node<'_>) -> Vec<Edit> {
    let mut walker = Walker { edits: Vec::new(), seen: HashSet::new(), is_cut: false };
    walker.pair(old, new, Step::root());
    walker.edits
}

struct Walker {
    edits: Vec<Edit>,
    /// Pairs of declarations already walked: recursion ends here, and shared ones report once.
    seen: HashSet<(String, String)>,
    is_cut: bool,
}

/// The declaration behind a chain of `$ref`s.
fn declaration<'a>(node: &Node<'a>) -> Node<'a> {
    let mut node = node.clone();
    for _ in 0..MAX_DEPTH {
        let bare = node.value.as_object().is_some_and(|schema| {
            schema.keys().all(|key| key == "$ref" || key == "description" || key == "title")
        });
        match node.follow() {
            Some(target) if bare => node = target,
            _ => break,
        }
    }
    node
}

/// Members that hold the text of another one now, by [`prose::exchanged`].
fn texts_held<'a>(was: &'a View, is: &'a View) -> BTreeMap<&'a str, &'a str> {
    let text = |node: &'a Node<'_>| node.value.get("description").and_then(Value::as_str);
    let kept = was
        .members
        .iter()
        .map(|(name, node)| (name.as_str(), text(node), is.member(name).and_then(text)));
    let come = is.members.iter().filter(|(name, _)| was.member(name).is_none());
    let told: Vec<_> =
        kept.chain(come.map(|(name, node)| (name.as_str(), None, text(node)))).collect();
    // Nothing moved, nothing to look for: most objects end here.
    let moved = |(_, before, after): &&prose::Told<'_>| {
        before.is_some() && after.is_some() && before != after
    };
    if told.iter().any(|one| moved(&one)) { prose::exchanged(&told) } else { BTreeMap::new() }
}

impl Walker {
    fn push(
        &mut self,
        what: What,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        values: (Option<Value>, Option<Value>),
        step: &Step,
    ) {
        if self.edits.len() >= MAX_EDITS {
            self.cut(nodes, step);
            return;
        }
        self.record(what, nodes, values, step);
    }

    /// Says once that what follows is not walked.
    fn cut(&mut self, nodes: (Option<&Node<'_>>, Option<&Node<'_>>), step: &Step) {
        if !std::mem::replace(&mut self.is_cut, true) {
            self.record(What::Uncompared, nodes, (None, None), step);
        }
    }

    fn record(
        &mut self,
        what: What,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        values: (Option<Value>, Option<Value>),
        step: &Step,
    ) {
        let place = nodes.1.or(nodes.0).map(Node::place).unwrap_or_default();
        self.edits.push(Edit {
            what,
            place,
            at: (nodes.0.map(|n| n.pointer.clone()), nodes.1.map(|n| n.pointer.clone())),
            field: step.field.clone(),
            before: values.0,
            after: values.1,
            was_required: step.was,
            is_required: step.is,
            was_sent: step.sent,
            unions: step.unions.clone(),
            old_text: described(nodes.0),
            new_text: described(nodes.1),
        });
    }

    fn pair(&mut self, old: &Node<'_>, new: &Node<'_>, step: Step) {
        let (old, new) = (declaration(old), declaration(new));
        if self.is_cut || self.seen.contains(&(old.place(), new.place())) {
            return;
        }
        if step.depth > MAX_DEPTH || self.seen.len() >= MAX_PAIRS {
            if old.value != new.value || holds_reference(old.value) {
                self.cut((Some(&old), Some(&new)), &step);
            }
            return;
        }
        self.seen.insert((old.place(), new.place()));
        // Equal documents below equal references cannot differ; only a shallow test is cheap.
        if old.value == new.value && old.value.get("$ref").is_none() && !holds_reference(old.value)
        {
            return;
        }
        let (was, is) = (View::of(&old), View::of(&new));
        let both = (Some(&old), Some(&new));
        if says_something(&was) && !says_something(&is) && step.field.is_empty() {
            let values = (Some(old.value.clone()), Some(new.value.clone()));
            self.push(What::Blanked, both, values, &step);
            return;
        }
        self.text(&old, &new, &was, &is, &step);
        let replaced = self.kinds(&old, &new, &was, &is, &step);
        self.default(both, &was, &is, &step);
        self.marks(both, &was, &is, &step);
        if replaced {
            // Another kind altogether: its members and bounds are no edits of the old ones.
            return;
        }
        if was.variants.is_empty() == is.variants.is_empty() {
            self.values(both, &was, &is, &step);
            self.value_texts(both, &was, &is, &step);
            self.bounds(both, &was, &is, &step);
            self.members(&old, &new, &was, &is, &step);
            self.items(&old, &new, &was, &is, &step);
        }
        self.variants(&old, &new, &was, &is, &step);
        self.combinators(both, &was, &is, &step);
    }

    fn text(&mut self, old: &Node<'_>, new: &Node<'_>, was: &View, is: &View, step: &Step) {
        let (before, after) = (was.description.unwrap_or(""), is.description.unwrap_or(""));
        if before != after {
            let mut signals = match &step.held {
                Some(sibling) => vec![prose::text_of_sibling(before, after, sibling)],
                None => prose::compare_field(before, after),
            };
            // What the schema states itself is compared there; what is always sent has no default.
            let stated =
                was.default.or(is.default).is_some() || step.sent && !step.field.is_empty();
            let lists = |view: &View| {
                let of_items = |items: &Node<'_>| View::of(items).values.is_some();
                view.values.is_some() || view.items.as_ref().is_some_and(of_items)
            };
            let listed = lists(was) || lists(is);
            signals.retain(|signal| match signal.kind {
                SignalKind::DefaultDropped => !stated,
                SignalKind::ChoiceRecased => !listed,
                _ => true,
            });
            let values = (was.description.map(Value::from), is.description.map(Value::from));
            self.push(What::TextChanged { signals }, (Some(old), Some(new)), values, step);
        }
    }

    /// Reports kinds that differ; true where no kind is left of the old ones.
    fn kinds(
        &mut self,
        old: &Node<'_>,
        new: &Node<'_>,
        was: &View,
        is: &View,
        step: &Step,
    ) -> bool {
        let (Some(before), Some(after)) = (was.all_kinds(), is.all_kinds()) else {
            let (before, after) = (was.all_kinds(), is.all_kinds());
            if before.is_some() != after.is_some() && says_something(was) && says_something(is) {
                let (dropped, added) = match (&before, &after) {
                    (None, Some(_)) => (Kinds::from(["other"]), Kinds::new()),
                    _ => (Kinds::new(), Kinds::from(["other"])),
                };
                // A schema that lists object keywords without `type` means objects to everyone.
                if !(was.describes_object && is.describes_object) {
                    let what = What::KindChanged { dropped, added, conversion: None };
                    let values = (kinds_value(before.as_ref()), kinds_value(after.as_ref()));
                    self.push(what, (Some(old), Some(new)), values, step);
                }
            }
            return false;
        };
        // Listed values that changed tell more than the kinds they happen to have.
        if was.values.is_some() && is.values.is_some() {
            return false;
        }
        let number = |kinds: &Kinds| kinds.contains("number");
        let dropped: Kinds = before
            .iter()
            .filter(|k| !(after.contains(**k) || **k == "integer" && number(&after)))
            .copied()
            .collect();
        let added: Kinds = after
            .iter()
            .filter(|k| !(before.contains(**k) || **k == "integer" && number(&before)))
            .copied()
            .collect();
        // number → integer loses the fractions, integer → number gains them.
        let (mut dropped, mut added) = (dropped, added);
        if number(&before) && after.contains("integer") && !number(&after) {
            dropped = Kinds::from(["number"]);
            added.remove("integer");
        }
        if number(&after) && before.contains("integer") && !number(&before) {
            added.insert("number");
        }
        if is.values.is_some() && dropped.is_empty() || was.values.is_some() && added.is_empty() {
            return false;
        }
        if dropped.is_empty() && added.is_empty() {
            return false;
        }
        let conversion = conversion(&step.field, was, is, &dropped, &added);
        let values = (kinds_value(Some(&before)), kinds_value(Some(&after)));
        let replaced = dropped.len() == before.len() && !added.is_empty();
        self.push(
            What::KindChanged { dropped, added, conversion },
            (Some(old), Some(new)),
            values,
            step,
        );
        replaced
    }

    fn values(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        if was.values.is_none() && is.values.is_none() {
            return;
        }
        let empty = Vec::new();
        let (before, after) =
            (was.values.as_ref().unwrap_or(&empty), is.values.as_ref().unwrap_or(&empty));
        // By spelling: lists of thousands must not be compared pair by pair.
        let without = |a: &[Value], b: &[Value]| -> Vec<Value> {
            let known: HashSet<String> = b.iter().map(canonical).collect();
            a.iter().filter(|value| !known.contains(&canonical(value))).cloned().collect()
        };
        let (dropped, added) = (without(before, after), without(after, before));
        if dropped.is_empty() && added.is_empty() {
            return;
        }
        let introduced = was.values.is_none();
        let lifted = is.values.is_none();
        let recased = if introduced || lifted { Vec::new() } else { recased(&dropped, &added) };
        self.push(
            What::ValuesChanged { dropped, added, introduced, lifted, recased },
            nodes,
            (was.values.clone().map(Value::Array), is.values.clone().map(Value::Array)),
            step,
        );
    }

    fn bounds(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        let keywords: BTreeSet<&'static str> =
            was.bounds.keys().chain(is.bounds.keys()).copied().collect();
        for keyword in keywords {
            let (before, after) = (was.bounds.get(keyword), is.bounds.get(keyword));
            let same = match (before, after) {
                (Some(a), Some(b)) => same_value(a, b),
                (None, None) => true,
                _ => false,
            };
            if !same {
                let tighter = is_tighter(keyword, before, after);
                let values = (before.cloned(), after.cloned());
                self.push(What::BoundChanged { keyword, tighter }, nodes, values, step);
            }
        }
    }

    fn default(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        let same = match (was.default, is.default) {
            (Some(a), Some(b)) => same_default(a, b),
            (None, None) => true,
            // An omitted optional value and a null default say the same.
            (Some(only), None) | (None, Some(only)) => only.is_null(),
        };
        if !same {
            let values = (was.default.cloned(), is.default.cloned());
            self.push(What::DefaultChanged, nodes, values, step);
        }
    }

    fn marks(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        let marks: BTreeSet<&'static str> =
            was.marks.keys().chain(is.marks.keys()).copied().collect();
        for mark in marks {
            let (before, after) = (was.marks.get(mark), is.marks.get(mark));
            if before != after {
                let what = match mark {
                    "format" | "contentEncoding" | "contentMediaType" => {
                        What::FormatChanged { keyword: mark }
                    }
                    "pattern" => What::PatternChanged,
                    _ => What::MarkChanged { mark },
                };
                let copy = |v: Option<&&Value>| v.map(|v| (*v).clone());
                self.push(what, nodes, (copy(before), copy(after)), step);
            }
        }
    }

    fn members(&mut self, old: &Node<'_>, new: &Node<'_>, was: &View, is: &View, step: &Step) {
        let objects = |view: &View| view.describes_object;
        if !objects(was) && !objects(is) && was.required == is.required {
            return;
        }
        // An object that declares no member and takes any is a free map: nothing is gone from it.
        let freed =
            !step.field.is_empty() && is.members.is_empty() && !matches!(is.rest, Rest::Closed);
        let gone: Vec<(&String, &Node<'_>)> = was
            .members
            .iter()
            .filter(|_| !freed)
            .filter(|(name, _)| is.member(name).is_none())
            .map(|(name, node)| (name, node))
            .collect();
        let come: Vec<(&String, &Node<'_>)> = is
            .members
            .iter()
            .filter(|(name, _)| was.member(name).is_none())
            .map(|(name, node)| (name, node))
            .collect();
        let ignored = is.is_open();
        let renames = rename::fields(&gone, &come, was, is);
        for (from, to, likeness) in &renames {
            let (Some(from_node), Some(to_node)) = (was.member(from), is.member(to)) else {
                continue;
            };
            let inner = Step {
                was: step.was && was.required.contains(from),
                sent: was.required.contains(from),
                is: step.is && is.required.contains(to),
                ..step.down(from)
            };
            let what = What::FieldRenamed {
                from: from.clone(),
                to: to.clone(),
                likeness: likeness.clone(),
                ignored,
            };
            let values = (Some(Value::from(from.as_str())), Some(Value::from(to.as_str())));
            self.push(what, (Some(from_node), Some(to_node)), values, &inner);
            self.pair(from_node, to_node, inner);
        }
        for (name, node) in &gone {
            if renames.iter().any(|(from, _, _)| from == *name) {
                continue;
            }
            let required = was.required.contains(*name);
            if is.required.contains(*name) {
                self.redeclared((old, new), (Some(node), None), step);
                continue;
            }
            let inner =
                Step { was: step.was && required, is: false, sent: required, ..step.down(name) };
            let what = What::FieldRemoved { required, ignored };
            self.push(what, (Some(node), None), (Some(node.value.clone()), None), &inner);
        }
        for (name, node) in &come {
            if renames.iter().any(|(_, to, _)| to == *name) {
                continue;
            }
            if was.required.contains(*name) {
                self.redeclared((old, new), (None, Some(node)), step);
                continue;
            }
            let view = View::of(node);
            let required = is.required.contains(*name);
            let inner =
                Step { was: false, is: step.is && required, sent: false, ..step.down(name) };
            let what = What::FieldAdded {
                required,
                default: view.default.cloned(),
                text: view.description.unwrap_or("").to_string(),
                inner: inner_members(node),
            };
            self.push(what, (None, Some(node)), (None, Some(node.value.clone())), &inner);
        }
        let held = texts_held(was, is);
        for (name, old_member) in &was.members {
            let Some(new_member) = is.member(name) else {
                continue;
            };
            let (before, after) = (was.required.contains(name), is.required.contains(name));
            let inner = Step {
                was: step.was && before,
                is: step.is && after,
                sent: before,
                held: held.get(name.as_str()).map(|sibling| sibling.to_string()),
                ..step.down(name)
            };
            if before != after {
                let (old_view, new_view) = (View::of(old_member), View::of(new_member));
                let default_kept = match (old_view.default, new_view.default) {
                    (Some(a), Some(b)) => same_value(a, b),
                    _ => false,
                };
                let what = if after {
                    What::BecameRequired { default: new_view.default.cloned(), default_kept }
                } else {
                    What::BecameOptional
                };
                let values = (Some(Value::Bool(before)), Some(Value::Bool(after)));
                self.push(what, (Some(old_member), Some(new_member)), values, &inner);
            }
            self.pair(old_member, new_member, inner);
        }
        self.rest(old, new, was, is, step);
    }

    /// A member that must be sent as before, and is declared on one side only: which values it takes is for the engine.
    fn redeclared(
        &mut self,
        (old, new): (&Node<'_>, &Node<'_>),
        (before, after): (Option<&Node<'_>>, Option<&Node<'_>>),
        step: &Step,
    ) {
        let copy = |node: Option<&Node<'_>>| node.map(|node| node.value.clone());
        let what = What::Combinator { keyword: "properties".into() };
        self.push(what, (Some(old), Some(new)), (copy(before), copy(after)), step);
    }

    fn rest(&mut self, old: &Node<'_>, new: &Node<'_>, was: &View, is: &View, step: &Step) {
        let nodes = (Some(old), Some(new));
        let values = (
            old.value.get("additionalProperties").cloned(),
            new.value.get("additionalProperties").cloned(),
        );
        // Names in `required` that are no declared member only matter to the engine.
        let undeclared = |view: &View| -> BTreeSet<String> {
            view.required.iter().filter(|name| view.member(name).is_none()).cloned().collect()
        };
        let demanded = !undeclared(is).is_empty();
        match (&was.rest, &is.rest) {
            (Rest::Open | Rest::Schema(_), Rest::Closed) if demanded => {
                let what = What::Combinator { keyword: "additionalProperties".into() };
                self.push(what, nodes, values, step);
            }
            (Rest::Schema(before), Rest::Schema(after)) => {
                self.pair(before, after, step.down("*"));
            }
            (Rest::Closed, Rest::Closed) | (Rest::Open, Rest::Open) => {}
            (Rest::Open | Rest::Schema(_), Rest::Closed)
                if was.members.is_empty() && is.members.is_empty() && !step.field.is_empty() =>
            {
                self.push(What::MapClosed, nodes, values, step);
            }
            (Rest::Open, _) => self.push(What::Closed, nodes, values, step),
            (_, Rest::Open) => self.push(What::Opened, nodes, values, step),
            (Rest::Closed, Rest::Schema(_)) => self.push(What::Opened, nodes, values, step),
            (Rest::Schema(_), Rest::Closed) => self.push(What::Closed, nodes, values, step),
        }
        for (pattern, before) in &was.patterns {
            if let Some((_, after)) = is.patterns.iter().find(|(known, _)| known == pattern) {
                self.pair(before, after, step.down("*"));
            }
        }
        let names =
            |view: &View| view.patterns.iter().map(|(p, _)| p.clone()).collect::<BTreeSet<_>>();
        if names(was) != names(is) {
            let what = What::Combinator { keyword: "patternProperties".into() };
            self.push(what, nodes, (None, None), step);
        }
        if undeclared(was) != undeclared(is) {
            let what = What::Combinator { keyword: "required".into() };
            self.push(what, nodes, (None, None), step);
        }
    }

    fn items(&mut self, old: &Node<'_>, new: &Node<'_>, was: &View, is: &View, step: &Step) {
        for (before, after) in was.prefix.iter().zip(&is.prefix) {
            self.pair(before, after, step.down("[]"));
        }
        match (&was.items, &is.items) {
            (Some(before), Some(after)) => self.pair(before, after, step.down("[]")),
            // What comes after a list of single items.
            (Some(_), None) | (None, Some(_))
                if !was.prefix.is_empty() && !is.prefix.is_empty() =>
            {
                let copy = |items: &Option<Node<'_>>| items.as_ref().map(|n| n.value.clone());
                let what = What::Combinator { keyword: "items".into() };
                self.push(what, (Some(old), Some(new)), (copy(&was.items), copy(&is.items)), step);
            }
            (None, Some(after))
                if was.prefix.is_empty()
                    && was.all_kinds().is_some_and(|kinds| kinds.contains("array")) =>
            {
                let values = (None, Some(after.value.clone()));
                self.push(What::ItemsStated, (Some(old), Some(new)), values, step);
            }
            _ => {}
        }
    }

    fn combinators(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        let keywords: BTreeSet<&String> = was.opaque.keys().chain(is.opaque.keys()).collect();
        for keyword in keywords {
            let (before, after) = (was.opaque.get(keyword), is.opaque.get(keyword));
            if before != after {
                let copy = |v: Option<&&Value>| v.map(|v| (*v).clone());
                let what = What::Combinator { keyword: keyword.clone() };
                self.push(what, nodes, (copy(before), copy(after)), step);
            }
        }
    }
}
