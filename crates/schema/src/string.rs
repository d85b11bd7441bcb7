//! One string: a length, patterns that must and must not match, and single excluded values.
//!
//! The patterns run side by side, breadth first, so the string found is the shortest, and of plain
//! characters where it can be.

use crate::automaton::{Automaton, State, partition};
use crate::limits;
use crate::number::Found;
use crate::pattern::{CharSet, Pattern};
use crate::steps::Steps;
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of one string.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) patterns: Vec<(Arc<Pattern>, bool)>,
    pub(crate) not: Vec<String>,
}

impl Facts {
    pub(crate) fn at_least(&mut self, length: u64) {
        self.min = self.min.max(length);
    }

    pub(crate) fn at_most(&mut self, length: u64) {
        self.max = Some(self.max.map_or(length, |own| own.min(length)));
    }

    pub(crate) fn matches(&mut self, pattern: Arc<Pattern>, sign: bool) {
        if !self.patterns.iter().any(|(own, s)| *s == sign && own.text() == pattern.text()) {
            self.patterns.push((pattern, sign));
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
            || self.patterns.iter().any(|(pattern, sign)| {
                self.patterns
                    .iter()
                    .any(|(other, opposite)| opposite != sign && other.text() == pattern.text())
            })
    }

    /// Does a text fit? What is not reasoned about counts as no.
    pub(crate) fn allows(&self, text: &str) -> bool {
        let length = text.chars().count() as u64;
        length >= self.min
            && self.max.is_none_or(|max| length <= max)
            && self.patterns.iter().all(|(pattern, sign)| pattern.matches(text) == Some(*sign))
            && !self.not.iter().any(|not| not == text)
    }

    /// The shortest string that fits.
    pub(crate) fn solve(&self, steps: &mut Steps) -> Found<String> {
        if self.is_dead() {
            return Found::None;
        }
        if let Some(why) =
            self.patterns.iter().find_map(|(pattern, _)| pattern.unsupported.as_ref())
        {
            return Found::Unknown(why.clone());
        }
        if self.patterns.is_empty() {
            if self.min > limits::WITNESS_CHARS {
                // Longer strings than can be excluded one by one exist; one is only too long to show.
                return Found::Unknown(format!(
                    "a string of {} characters is too long to be written out",
                    self.min
                ));
            }
            let length = usize::try_from(self.min).expect("bounded above");
            let plain = "x".repeat(length);
            if !self.not.contains(&plain) {
                return Found::Value(plain);
            }
        }
        Search::new(self).run(steps)
    }
}

/// A transition of one machine, worked out when first needed.
struct Machine<'a> {
    automaton: &'a Automaton,
    states: Vec<State>,
    ids: HashMap<State, u32>,
    next: HashMap<(u32, u16), u32>,
}

impl<'a> Machine<'a> {
    fn new(automaton: &'a Automaton) -> Machine<'a> {
        let start = automaton.start();
        Machine {
            automaton,
            ids: HashMap::from([(start.clone(), 0)]),
            states: vec![start],
            next: HashMap::new(),
        }
    }

    fn step(&mut self, from: u32, c: u32, steps: &mut Steps) -> u32 {
        let class = self.automaton.class(c);
        if let Some(&to) = self.next.get(&(from, class)) {
            return to;
        }
        steps.take(1 + self.automaton.size() as u64 / 16);
        let state = self.automaton.step(&self.states[from as usize], class);
        let to = match self.ids.get(&state) {
            Some(&id) => id,
            None => {
                let id = u32::try_from(self.states.len())
                    .expect("the number of states is bounded by the steps");
                self.ids.insert(state.clone(), id);
                self.states.push(state);
                id
            }
        };
        self.next.insert((from, class), to);
        to
    }
}

/// Where the whole search stands after some characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Spot {
    states: Box<[u32]>,
    /// Characters so far, not counted beyond the least length.
    length: u64,
    /// Node in the tree of excluded strings, while the text is still a beginning of one.
    excluded: Option<u32>,
}

struct Search<'a> {
    facts: &'a Facts,
    machines: Vec<Machine<'a>>,
    /// For each pattern: its machines, and whether each must accept.
    groups: Vec<(Vec<(usize, bool)>, bool)>,
    /// One character for each way of being treated.
    alphabet: Vec<char>,
    tree: Vec<(HashMap<char, u32>, bool)>,
}

impl<'a> Search<'a> {
    fn new(facts: &'a Facts) -> Search<'a> {
        let mut machines = Vec::new();
        let mut groups = Vec::new();
        for (pattern, sign) in &facts.patterns {
            let mut group = Vec::new();
            for (automaton, accepts) in &pattern.automata {
                group.push((machines.len(), *accepts));
                machines.push(Machine::new(automaton));
            }
            groups.push((group, *sign));
        }
        let mut tree: Vec<(HashMap<char, u32>, bool)> = vec![(HashMap::new(), false)];
        for text in &facts.not {
            let mut at = 0usize;
            for c in text.chars() {
                let fresh = u32::try_from(tree.len())
                    .expect("excluded strings come from schemas in memory");
                let next = *tree[at].0.entry(c).or_insert(fresh);
                if next == fresh {
                    tree.push((HashMap::new(), false));
                }
                at = next as usize;
            }
            tree[at].1 = true;
        }
        let excluded: Vec<char> = facts.not.iter().flat_map(|text| text.chars()).collect();
        let alphabet = alphabet(&machines, &excluded);
        Search { facts, machines, groups, alphabet, tree }
    }

    fn run(mut self, steps: &mut Steps) -> Found<String> {
        let start = Spot {
            states: vec![0; self.machines.len()].into(),
            length: 0,
            excluded: (!self.facts.not.is_empty()).then_some(0),
        };
        let mut spots: Vec<(Spot, usize, char)> = vec![(start.clone(), 0, ' ')];
        let mut known = HashMap::from([(start, ())]);
        let mut depth_ends = 1; // spots before this index have `depth` characters or fewer
        let mut depth = 0u64;
        let mut at = 0;
        while at < spots.len() {
            if at == depth_ends {
                depth += 1;
                depth_ends = spots.len();
            }
            let spot = spots[at].0.clone();
            if self.accepts(&spot) {
                return Found::Value(spell(&spots, at));
            }
            if self.facts.max.is_some_and(|max| depth >= max) {
                at += 1;
                continue;
            }
            for place in 0..self.alphabet.len() {
                if !steps.take(1) {
                    return Found::Unknown("the budget for regular expressions is spent".into());
                }
                let c = self.alphabet[place];
                let next = self.step(&spot, c, steps);
                if self.is_hopeless(&next) || known.contains_key(&next) {
                    continue;
                }
                known.insert(next.clone(), ());
                spots.push((next, at, c));
            }
            if spots.len() > limits::STRING_STATES {
                return Found::Unknown(format!(
                    "the regular expressions and lengths together need more than {} states",
                    limits::STRING_STATES
                ));
            }
            at += 1;
        }
        Found::None
    }

    fn step(&mut self, spot: &Spot, c: char, steps: &mut Steps) -> Spot {
        let states = self
            .machines
            .iter_mut()
            .zip(&spot.states)
            .map(|(machine, &state)| machine.step(state, c as u32, steps))
            .collect();
        let excluded = spot.excluded.and_then(|node| self.tree[node as usize].0.get(&c).copied());
        Spot { states, length: (spot.length + 1).min(self.facts.min), excluded }
    }

    fn accepts(&self, spot: &Spot) -> bool {
        spot.length >= self.facts.min
            && !spot.excluded.is_some_and(|node| self.tree[node as usize].1)
            && self.groups.iter().all(|(group, sign)| {
                let all = group.iter().all(|&(at, accepts)| {
                    let machine = &self.machines[at];
                    machine.automaton.accepts(&machine.states[spot.states[at] as usize]) == accepts
                });
                all == *sign
            })
    }

    /// True where no continuation can fit any more.
    fn is_hopeless(&self, spot: &Spot) -> bool {
        self.groups.iter().any(|(group, sign)| {
            let verdicts = group.iter().map(|&(at, accepts)| {
                let machine = &self.machines[at];
                let state = &machine.states[spot.states[at] as usize];
                if state.is_hopeless() {
                    Some(!accepts)
                } else if machine.automaton.is_certain(state) {
                    Some(accepts)
                } else {
                    None
                }
            });
            if *sign {
                verdicts.into_iter().any(|verdict| verdict == Some(false))
            } else {
                verdicts.into_iter().all(|verdict| verdict == Some(true))
            }
        })
    }
}

fn spell(spots: &[(Spot, usize, char)], mut at: usize) -> String {
    let mut out = Vec::new();
    while at != 0 {
        out.push(spots[at].2);
        at = spots[at].1;
    }
    out.iter().rev().collect()
}

/// Characters in the order in which a witness prefers them.
const PLAIN: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./:@ !#$%&'()*+,;<=>?[]^`{|}~\"\\";

/// One character for each way in which the machines and the excluded strings treat characters.
fn alphabet(machines: &[Machine], excluded: &[char]) -> Vec<char> {
    let mut singles: Vec<char> = excluded.to_vec();
    singles.sort_unstable();
    singles.dedup();
    let singles: Vec<CharSet> =
        singles.into_iter().map(|c| CharSet(vec![(c as u32, c as u32)])).collect();
    let mut starts: Vec<u32> = partition(&singles).0.into_iter().map(|(from, _)| from).collect();
    for machine in machines {
        starts.extend(machine.automaton.cuts());
    }
    starts.sort_unstable();
    starts.dedup();
    let signature = |c: u32| -> (Vec<u16>, Option<u32>) {
        (
            machines.iter().map(|machine| machine.automaton.class(c)).collect(),
            singles.iter().any(|single| single.contains(c)).then_some(c),
        )
    };
    // The best character of each signature; plain ones are tried first, in their order.
    let mut best: HashMap<(Vec<u16>, Option<u32>), usize> = HashMap::new();
    let mut out: Vec<char> = Vec::new();
    let mut offer = |c: char| {
        best.entry(signature(c as u32)).or_insert_with(|| {
            out.push(c);
            out.len()
        });
    };
    PLAIN.chars().for_each(&mut offer);
    for (at, &from) in starts.iter().enumerate() {
        let end = starts.get(at + 1).map_or(0x11_0000, |&next| next);
        // The first visible character of the stretch, or its first at all.
        let visible = [from, from.max(0xA1), from.max(0xE000)];
        if let Some(c) = visible
            .into_iter()
            .filter(|&c| c < end)
            .filter_map(char::from_u32)
            .find(|c| !c.is_control())
        {
            offer(c);
        } else if let Some(c) =
            [from, from.max(0xE000)].into_iter().filter(|&c| c < end).find_map(char::from_u32)
        {
            offer(c);
        }
    }
    out
}
