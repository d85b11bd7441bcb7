//! One regular expression as a machine: positions joined by edges, run as sets of positions.
//!
//! Conditions (`^`, `$`, `\b`) stay on the edges and are looked at when the neighbouring characters
//! are known, so one construction serves them all. A run is deterministic, so a complement is
//! just the opposite answer at the end.

use crate::limits;
use crate::pattern::{CharSet, Tree};

/// Index of a position.
type Position = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    Start,
    End,
    Boundary(bool),
}

#[derive(Debug, Clone)]
enum Step {
    Char {
        set: u32,
        to: Position,
    },
    Fork(Vec<Position>),
    If(Condition, Position),
    /// Accepts whatever follows.
    Accept,
}

/// A compiled pattern that searches: it accepts a text with a match anywhere in it.
#[derive(Debug)]
pub(crate) struct Automaton {
    steps: Vec<Step>,
    start: Position,
    sets: Vec<CharSet>,
    /// First code point of each stretch of characters that no set tells apart, and its class.
    cuts: Vec<(u32, u16)>,
    /// For each set and class, whether the class lies in the set.
    member: Vec<Vec<bool>>,
    word_class: Vec<bool>,
    sees_words: bool,
}

/// Where a run stands: positions before conditions were looked at, and what came before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct State {
    at: Vec<Position>,
    begun: bool,
    after_word: bool,
}

impl State {
    /// No text that follows will be accepted.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.at.is_empty()
    }
}

impl Automaton {
    /// Compiles a tree. The error says why it is too large.
    pub(crate) fn build(tree: &Tree) -> Result<Automaton, String> {
        let mut build = Build { steps: vec![Step::Accept], sets: Vec::new(), calls: 0 };
        let any = build.set(&CharSet(vec![(0, 0x10_FFFF)]));
        let body = build.tree(tree, 0)?;
        let start = if starts_anchored(tree) {
            body
        } else {
            let fork = build.push(Step::Fork(Vec::new()))?;
            let skip = build.push(Step::Char { set: any, to: fork })?;
            build.steps[fork as usize] = Step::Fork(vec![body, skip]);
            fork
        };
        let sees_words =
            build.steps.iter().any(|step| matches!(step, Step::If(Condition::Boundary(_), _)));
        let mut tellers = build.sets.clone();
        if sees_words {
            tellers.push(CharSet::word());
        }
        let (cuts, classes) = partition(&tellers);
        let mut member = vec![vec![false; classes.len()]; tellers.len()];
        for (class, signature) in classes.iter().enumerate() {
            for &set in signature {
                member[set as usize][class] = true;
            }
        }
        let word_class = if sees_words {
            member.pop().expect("the word set was added last")
        } else {
            vec![false; classes.len()]
        };
        Ok(Automaton {
            steps: build.steps,
            start,
            sets: build.sets,
            cuts,
            member,
            word_class,
            sees_words,
        })
    }

    /// First code point of each stretch of equally treated characters.
    pub(crate) fn cuts(&self) -> impl Iterator<Item = u32> + '_ {
        self.cuts.iter().map(|&(from, _)| from)
    }

    /// The class of a character: this automaton treats all characters of a class alike.
    pub(crate) fn class(&self, c: u32) -> u16 {
        let at = self.cuts.partition_point(|&(from, _)| from <= c);
        self.cuts[at - 1].1
    }

    pub(crate) fn start(&self) -> State {
        State { at: vec![self.start], begun: false, after_word: false }
    }

    /// All texts that follow will be accepted.
    pub(crate) fn is_certain(&self, state: &State) -> bool {
        state.at.first() == Some(&0)
    }

    pub(crate) fn step(&self, state: &State, class: u16) -> State {
        let word = self.word_class[class as usize];
        let mut next = Vec::new();
        let mut accepted = false;
        self.close(state, Some(word), |step| match step {
            Step::Char { set, to } if self.member[*set as usize][class as usize] => next.push(*to),
            Step::Accept => accepted = true,
            _ => {}
        });
        if accepted || next.contains(&0) {
            next = vec![0];
        }
        next.sort_unstable();
        next.dedup();
        State { at: next, begun: true, after_word: self.sees_words && word }
    }

    pub(crate) fn accepts(&self, state: &State) -> bool {
        let mut accepted = false;
        self.close(state, None, |step| accepted |= matches!(step, Step::Accept));
        accepted
    }

    /// Visits every step reachable without a character. `next` is whether a word character
    /// follows, or `None` at the end of the text.
    fn close(&self, state: &State, next: Option<bool>, mut visit: impl FnMut(&Step)) {
        let mut seen = vec![false; self.steps.len()];
        let mut open = state.at.clone();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            let step = &self.steps[at as usize];
            match step {
                Step::Fork(to) => open.extend(to),
                Step::If(condition, to) => {
                    let holds = match condition {
                        Condition::Start => !state.begun,
                        Condition::End => next.is_none(),
                        Condition::Boundary(wanted) => {
                            (state.after_word != next.unwrap_or(false)) == *wanted
                        }
                    };
                    if holds {
                        open.push(*to);
                    }
                }
                Step::Char { .. } | Step::Accept => visit(step),
            }
        }
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut state = self.start();
        for c in text.chars() {
            if self.is_certain(&state) || state.is_hopeless() {
                break;
            }
            state = self.step(&state, self.class(c as u32));
        }
        self.accepts(&state)
    }

    /// Ranges of characters over all positions: what another engine has to write out.
    pub(crate) fn weight(&self) -> usize {
        let ranges = |step: &Step| match step {
            Step::Char { set, .. } => self.sets[*set as usize].0.len(),
            Step::Fork(_) | Step::If(..) | Step::Accept => 0,
        };
        self.steps.iter().map(ranges).sum()
    }

    /// Positions, as a measure of what one step costs.
    pub(crate) fn size(&self) -> usize {
        self.steps.len() + self.sets.len()
    }
}

/// True where every match begins at the start of the text, so nothing need be skipped before it.
fn starts_anchored(tree: &Tree) -> bool {
    match tree {
        Tree::Start => true,
        Tree::Sequence(items) => items
            .iter()
            .find(|item| !matches!(item, Tree::Boundary(_)))
            .is_some_and(starts_anchored),
        Tree::Either(items) => items.iter().all(starts_anchored),
        Tree::Repeat { what, min, .. } => *min > 0 && starts_anchored(what),
        Tree::Chars(_) | Tree::End | Tree::Boundary(_) | Tree::Ahead { .. } => false,
    }
}

/// Splits the code points into stretches that no set tells apart, and the stretches into classes:
/// (first code point, class) in order, and for each class the sets it lies in.
pub(crate) fn partition(sets: &[CharSet]) -> (Vec<(u32, u16)>, Vec<Vec<u32>>) {
    let mut starts: Vec<u32> = vec![0];
    for set in sets {
        for &(from, to) in &set.0 {
            starts.push(from);
            starts.push(to.saturating_add(1));
        }
    }
    starts.retain(|&start| start <= 0x10_FFFF);
    starts.sort_unstable();
    starts.dedup();
    let mut classes: Vec<Vec<u32>> = Vec::new();
    let mut known: std::collections::BTreeMap<Vec<u32>, u16> = std::collections::BTreeMap::new();
    let mut cuts = Vec::with_capacity(starts.len());
    for start in starts {
        let signature: Vec<u32> =
            (0u32..).zip(sets).filter(|(_, set)| set.contains(start)).map(|(at, _)| at).collect();
        let class = *known.entry(signature.clone()).or_insert_with(|| {
            classes.push(signature);
            u16::try_from(classes.len() - 1).unwrap_or(u16::MAX)
        });
        cuts.push((start, class));
    }
    (cuts, classes)
}

struct Build {
    steps: Vec<Step>,
    sets: Vec<CharSet>,
    /// Trees written out, empty ones included: `(){1000000}` pushes nothing and must end too.
    calls: usize,
}

impl Build {
    fn push(&mut self, step: Step) -> Result<Position, String> {
        if self.steps.len() >= limits::PATTERN_POSITIONS {
            return Err(format!(
                "the regular expression needs more than {} positions",
                limits::PATTERN_POSITIONS
            ));
        }
        self.steps.push(step);
        Ok(Position::try_from(self.steps.len() - 1).expect("the number of positions is bounded"))
    }

    fn set(&mut self, set: &CharSet) -> u32 {
        let at = self.sets.iter().position(|known| known == set).unwrap_or_else(|| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        });
        u32::try_from(at).expect("there are no more sets than characters in the text")
    }

    /// Adds `tree` so that it continues at `to`; returns where it begins.
    fn tree(&mut self, tree: &Tree, to: Position) -> Result<Position, String> {
        self.calls += 1;
        if self.calls > 4 * limits::PATTERN_POSITIONS {
            return Err("the repetitions of the regular expression multiply too far".into());
        }
        if self.sets.len() > limits::PATTERN_SETS {
            return Err(format!(
                "the regular expression tells apart more than {} sets of characters",
                limits::PATTERN_SETS
            ));
        }
        match tree {
            Tree::Chars(set) => {
                let set = self.set(set);
                self.push(Step::Char { set, to })
            }
            Tree::Sequence(items) => {
                let mut to = to;
                for item in items.iter().rev() {
                    to = self.tree(item, to)?;
                }
                Ok(to)
            }
            Tree::Either(items) => {
                let branches =
                    items.iter().map(|item| self.tree(item, to)).collect::<Result<Vec<_>, _>>()?;
                self.push(Step::Fork(branches))
            }
            Tree::Start => self.push(Step::If(Condition::Start, to)),
            Tree::End => self.push(Step::If(Condition::End, to)),
            Tree::Boundary(wanted) => self.push(Step::If(Condition::Boundary(*wanted), to)),
            Tree::Repeat { what, min, max } => {
                let mut to = to;
                match max {
                    None => {
                        let fork = self.push(Step::Fork(vec![to]))?;
                        let body = self.tree(what, fork)?;
                        self.steps[fork as usize] = Step::Fork(vec![to, body]);
                        to = fork;
                    }
                    Some(max) => {
                        let end = to;
                        for _ in *min..*max {
                            let body = self.tree(what, to)?;
                            to = self.push(Step::Fork(vec![body, end]))?;
                        }
                    }
                }
                for _ in 0..*min {
                    to = self.tree(what, to)?;
                }
                Ok(to)
            }
            Tree::Ahead { .. } => {
                Err("look-ahead is only reasoned about right after a leading ^".into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::Pattern;

    fn check(pattern: &str, hits: &[&str], misses: &[&str]) {
        let read = Pattern::read(pattern).unwrap();
        for hit in hits {
            assert_eq!(read.matches(hit), Some(true), "{pattern} on {hit:?}");
        }
        for miss in misses {
            assert_eq!(read.matches(miss), Some(false), "{pattern} on {miss:?}");
        }
    }

    #[test]
    fn patterns_search_like_ecma_262() {
        check("a", &["a", "xay"], &["", "b"]);
        check("^ab{2,3}c$", &["abbc", "abbbc"], &["abc", "abbbbc", "xabbc", "abbc\n"]);
        check("^(foo|bar)?$", &["", "foo", "bar"], &["foobar"]);
        check("(^a|b)c", &["ac", "xbc"], &["xac"]);
        check("^(?!admin)(?=.*[0-9])[a-z0-9]+$", &["user1"], &["admin1", "user"]);
        check("\\bcat\\b", &["cat", "a cat.", "cat-x"], &["concat", "cats"]);
        check("^\\S+@\\S+$", &["a@b"], &["a b@c", "@"]);
        check("^[\\w.-]+$", &["a.b-c_d"], &["é", ""]);
        check("^.{2}$", &["💩x"], &["💩", "\nx"]);
        check("^\\u{1F4A9}\\uD83D\\uDCA9$", &["💩💩"], &["💩"]);
        check("^\\p{Lu}$", &["É"], &["é"]);
        check("{", &["{"], &["x"]);
        check("^a{,2}$", &["a{,2}"], &["aa"]);
        check("[]", &[], &["", "a"]);
        check("[^]", &["a", "\n"], &[""]);
        check("", &["", "x"], &[]);
        check("^$", &[""], &["x"]);
        check("^(a*)*$", &["", "aaa"], &["b"]);
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_said() {
        for (pattern, word) in [
            ("(", "closed"),
            (")", "closes no group"),
            ("[a", "closed"),
            ("*", "repeats nothing"),
            ("a{2,1}", "below"),
            ("[z-a]", "below"),
            ("\\", "backslash"),
            ("a**", "repeated"),
            ("\\x1", "hexadecimal"),
        ] {
            let why = Pattern::read(pattern).expect_err(pattern);
            assert!(why.contains(word), "{pattern}: {why}");
        }
        for pattern in ["(a)\\1", "(?<=a)b", "a(?=b)", "(?i)a"] {
            assert_eq!(Pattern::read(pattern).unwrap().matches("a"), None, "{pattern}");
        }
    }
}
