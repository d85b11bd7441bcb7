//! Which alternatives of two unions are one: those that say the same, then those that share most of what they say.
//!
//! Alternatives have no names, and their order means nothing. What a pair is decides what is told of it: two that do not
//! belong together differ in everything.

use super::compare::tags;
use super::declaration;
use crate::engine::bare;
use crate::limits;
use crate::view::{Kinds, Node, View};
use schema::value_key;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// One alternative, as far as another one is compared with it.
struct Form {
    kinds: Option<Kinds>,
    tags: Vec<(String, Value)>,
    /// What it says, each with its weight.
    said: BTreeMap<String, u32>,
}

/// Values of one list that are looked at: more of them make no difference to which list it is.
const VALUES: usize = 64;
/// Levels of items: lists of lists of lists are told apart by nothing else.
const LEVELS: usize = 3;

impl Form {
    fn of(node: &Node<'_>) -> Form {
        let view = View::of(node);
        let mut said = BTreeMap::new();
        if let Some(title) = node.value.get("title").and_then(Value::as_str) {
            said.insert(format!("title {title}"), 3);
        }
        speak(&view, "", 0, &mut said);
        Form { kinds: view.all_kinds(), tags: tags(node), said }
    }

    /// True where a constant tells the two apart.
    fn contradicts(&self, other: &Form) -> bool {
        self.tags.iter().any(|(name, value)| {
            other.tags.iter().any(|(known, own)| name == known && value != own)
        })
    }

    /// How much of what either says both say, in thousandths; nothing where they share nothing.
    fn likeness(&self, other: &Form) -> u32 {
        let weight = |said: &BTreeMap<String, u32>| said.values().sum::<u32>();
        let shared: u32 = self
            .said
            .iter()
            .filter(|(what, _)| other.said.contains_key(*what))
            .map(|(_, weight)| weight)
            .sum();
        let all = weight(&self.said) + weight(&other.said) - shared;
        (shared * 1_000).checked_div(all).unwrap_or(0)
    }
}

fn speak(view: &View<'_>, around: &str, level: usize, said: &mut BTreeMap<String, u32>) {
    for (name, node) in &view.members {
        let member = View::of(node);
        said.insert(format!("{around}member {name}"), 4);
        for kind in member.all_kinds().into_iter().flatten() {
            said.insert(format!("{around}member {name} is {kind}"), 1);
        }
        for value in member.values.iter().flatten().take(VALUES) {
            said.insert(format!("{around}member {name} = {}", value_key(value)), 1);
        }
    }
    for name in &view.required {
        said.insert(format!("{around}required {name}"), 2);
    }
    for value in view.values.iter().flatten().take(VALUES) {
        said.insert(format!("{around}value {}", value_key(value)), 2);
    }
    for (keyword, bound) in &view.bounds {
        said.insert(format!("{around}{keyword} {bound}"), 1);
    }
    for mark in ["format", "pattern"] {
        if let Some(value) = view.marks.get(mark) {
            said.insert(format!("{around}{mark} {value}"), 2);
        }
    }
    for items in view.items.iter().filter(|_| level < LEVELS) {
        let inner = View::of(items);
        let around = format!("{around}[] ");
        for kind in inner.all_kinds().into_iter().flatten() {
            said.insert(format!("{around}is {kind}"), 2);
        }
        speak(&inner, &around, level + 1, said);
    }
}

/// The pairs, by their numbers on both sides; each alternative stands in one at most.
pub(crate) fn pairs(old: &[Node<'_>], new: &[Node<'_>]) -> Vec<(usize, usize)> {
    let mut open =
        Open { left: (0..old.len()).collect(), right: (0..new.len()).collect(), found: Vec::new() };
    open.by_key(&|at| Some(old[at].value.to_string()), &|at| Some(new[at].value.to_string()));
    // Texts, titles and defaults do not say which alternative it is.
    open.by_key(&|at| Some(bare(declaration(&old[at]).value)), &|at| {
        Some(bare(declaration(&new[at]).value))
    });
    let forms = |nodes: &[Node<'_>], open: &[usize]| -> HashMap<usize, Form> {
        open.iter().map(|&at| (at, Form::of(&nodes[at]))).collect()
    };
    let (before, after) = (forms(old, &open.left), forms(new, &open.right));
    // The only ones of their kind on both sides.
    let alone = |forms: &HashMap<usize, Form>, open: &[usize], at: usize| {
        open.iter().filter(|other| forms[other].kinds == forms[&at].kinds).count() == 1
    };
    let only: Vec<(usize, usize)> = if open.left.len() * open.right.len() > limits::VARIANT_PAIRS {
        Vec::new()
    } else {
        let left = open.left.iter().filter(|&&l| alone(&before, &open.left, l));
        left.filter_map(|&l| {
            let twin = open.right.iter().find(|&&r| after[&r].kinds == before[&l].kinds)?;
            alone(&after, &open.right, *twin).then_some((l, *twin))
        })
        .collect()
    };
    open.take(only);
    let tagged = |form: &Form| (!form.tags.is_empty()).then(|| format!("{:?}", form.tags));
    open.by_key(&|at| tagged(&before[&at]), &|at| tagged(&after[&at]));
    if open.left.len() * open.right.len() > limits::VARIANT_PAIRS {
        let whole = |form: &Form| Some(format!("{:?} {:?}", form.kinds, form.said.keys()));
        open.by_key(&|at| whole(&before[&at]), &|at| whole(&after[&at]));
    } else {
        let mut likely = Vec::new();
        for (&l, &r) in open.left.iter().flat_map(|l| open.right.iter().map(move |r| (l, r))) {
            let (one, other) = (&before[&l], &after[&r]);
            if one.kinds == other.kinds && !one.contradicts(other) {
                let likeness = one.likeness(other);
                if likeness > 0 {
                    likely.push((std::cmp::Reverse(likeness), l.abs_diff(r), l, r));
                }
            }
        }
        likely.sort_unstable();
        open.take(likely.into_iter().map(|(_, _, l, r)| (l, r)).collect());
    }
    open.found
}

/// What is not yet paired, in the order of the documents.
struct Open {
    left: Vec<usize>,
    right: Vec<usize>,
    found: Vec<(usize, usize)>,
}

impl Open {
    /// Pairs those with one key, in order.
    fn by_key(
        &mut self,
        left: &dyn Fn(usize) -> Option<String>,
        right: &dyn Fn(usize) -> Option<String>,
    ) {
        let mut known: HashMap<String, Vec<usize>> = HashMap::new();
        for &at in self.right.iter().rev() {
            if let Some(key) = right(at) {
                known.entry(key).or_default().push(at);
            }
        }
        let pairs =
            self.left.iter().filter_map(|&at| Some((at, known.get_mut(&left(at)?)?.pop()?)));
        let pairs = pairs.collect();
        self.take(pairs);
    }

    /// Takes the pairs of which neither part is taken, the first ones first.
    fn take(&mut self, pairs: Vec<(usize, usize)>) {
        for (l, r) in pairs {
            if let (Ok(one), Ok(other)) =
                (self.left.binary_search(&l), self.right.binary_search(&r))
            {
                self.left.remove(one);
                self.right.remove(other);
                self.found.push((l, r));
            }
        }
    }
}
