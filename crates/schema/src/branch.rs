//! One branch of a search: what is known of the value so far, and what is still to be split.

use crate::judge::Truth;
use crate::node::Kind;
use crate::number::{self, Rat};
use crate::pattern::Pattern;
use crate::search::GaveUp;
use crate::string;
use crate::world::{Id, Lit, Seen};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One thing known of the value of a branch.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    Lit(Lit),
    AtLeast(Rat, bool),
    AtMost(Rat, bool),
    NotMultiple(Rat),
    NotNumber(Rat),
    MinLength(u64),
    MaxLength(u64),
    Match(Arc<Pattern>, bool),
    NotText(String),
    MinItems(u64),
    MaxItems(u64),
    Twins,
    ItemAt(usize, Lit),
    /// Some item at or after an index.
    SomeItem(usize, Lit),
    Contains {
        node: Id,
        min: u64,
        max: Option<u64>,
    },
    /// Items at or after an index.
    ItemsFrom(usize, Lit),
    MinMembers(u64),
    MaxMembers(u64),
    Present(Arc<str>, Option<Lit>),
    Absent(Arc<str>),
    SomeMember(SomeMember),
    /// Every member that is not looked at.
    RestOf(Arc<Seen>, Id),
    Opaque(Arc<GaveUp>),
}

/// Some member, by a condition on its name and one on its value.
#[derive(Debug, Clone)]
pub(crate) struct SomeMember {
    /// The name is not looked at by these.
    pub(crate) outside: Option<Arc<Seen>>,
    pub(crate) matching: Option<Arc<Pattern>>,
    pub(crate) name: Option<Lit>,
    pub(crate) child: Option<Lit>,
}

/// Alternatives, each a conjunction of facts.
pub(crate) type Clause = Arc<Vec<Vec<Fact>>>;

/// What is known of an array.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArrayFacts {
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) unique: bool,
    pub(crate) twins: bool,
    /// `items` groups: node and part.
    pub(crate) rules: Vec<(Id, usize)>,
    pub(crate) from: Vec<(usize, Lit)>,
    pub(crate) at: BTreeMap<usize, Vec<Lit>>,
    pub(crate) some: Vec<(usize, Lit)>,
    pub(crate) contains: Vec<(Id, u64, Option<u64>)>,
    pub(crate) writers: Vec<u32>,
}

/// What is known of an object.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObjectFacts {
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    /// `properties` groups: node and part.
    pub(crate) rules: Vec<(Id, usize)>,
    pub(crate) rest_of: Vec<(Arc<Seen>, Id)>,
    pub(crate) names: Vec<Lit>,
    pub(crate) present: BTreeMap<Arc<str>, Vec<Lit>>,
    pub(crate) absent: BTreeSet<Arc<str>>,
    /// `dependentRequired` groups: node and part.
    pub(crate) requires: Vec<(Id, usize)>,
    pub(crate) some: Vec<SomeMember>,
    pub(crate) writers: Vec<u32>,
}

/// What is known of the value, by its kind.
#[derive(Debug, Clone)]
pub(crate) enum Theory {
    Number(number::Facts),
    String(string::Facts),
    Array(ArrayFacts),
    Object(ObjectFacts),
}

/// A conjunction of facts, clauses still to be split, and literals still to be expanded.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) kind: Kind,
    /// The set of literals this is about.
    pub(crate) origin: Arc<[Lit]>,
    /// True where the string is a member's name under conditions that `origin` does not state.
    pub(crate) is_name: bool,
    pub(crate) done: BTreeSet<Lit>,
    pub(crate) todo: Vec<Fact>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) theory: Theory,
    /// An `enum` or `const` that holds: node and part.
    pub(crate) choice: Option<(Id, usize)>,
    pub(crate) opaque: Option<Arc<GaveUp>>,
}

impl Branch {
    pub(crate) fn new(kind: Kind, origin: Arc<[Lit]>) -> Branch {
        Branch {
            kind,
            origin,
            is_name: false,
            done: BTreeSet::new(),
            todo: Vec::new(),
            clauses: Vec::new(),
            theory: match kind {
                Kind::Number => Theory::Number(number::Facts::default()),
                Kind::Array => Theory::Array(ArrayFacts::default()),
                Kind::Object => Theory::Object(ObjectFacts::default()),
                // Null and booleans are tried value by value and never come here.
                Kind::String | Kind::Null | Kind::Boolean => {
                    Theory::String(string::Facts::default())
                }
            },
            choice: None,
            opaque: None,
        }
    }

    pub(crate) fn string_mut(&mut self) -> &mut string::Facts {
        match &mut self.theory {
            Theory::String(facts) => facts,
            _ => unreachable!("names are strings"),
        }
    }

    /// Adds a fact that is not a literal. False where it contradicts what is known.
    pub(crate) fn add(&mut self, fact: Fact) -> bool {
        match (&mut self.theory, fact) {
            (_, Fact::Opaque(why)) => {
                self.opaque.get_or_insert(why);
                true
            }
            (Theory::Number(facts), fact) => {
                match fact {
                    Fact::AtLeast(at, open) => facts.at_least(&at, open),
                    Fact::AtMost(at, open) => facts.at_most(&at, open),
                    Fact::NotMultiple(step) => facts.not_multiple_of(&step),
                    Fact::NotNumber(value) => facts.not(value),
                    _ => return true,
                }
                !facts.is_dead()
            }
            (Theory::String(facts), fact) => {
                match fact {
                    Fact::MinLength(length) => facts.at_least(length),
                    Fact::MaxLength(length) => facts.at_most(length),
                    Fact::Match(pattern, sign) => facts.matches(pattern, sign),
                    Fact::NotText(text) => facts.not.push(text),
                    _ => return true,
                }
                !facts.is_dead()
            }
            (Theory::Array(facts), fact) => facts.add(fact),
            (Theory::Object(facts), fact) => facts.add(fact),
        }
    }
}

impl ArrayFacts {
    fn add(&mut self, fact: Fact) -> bool {
        match fact {
            Fact::MinItems(least) => self.min = self.min.max(least),
            Fact::MaxItems(most) => self.max = Some(self.max.map_or(most, |own| own.min(most))),
            Fact::Twins => {
                self.twins = true;
                self.min = self.min.max(2);
            }
            Fact::ItemAt(at, lit) => {
                let lits = self.at.entry(at).or_default();
                if !lits.contains(&lit) {
                    lits.push(lit);
                }
                self.min = self.min.max(at as u64 + 1);
            }
            Fact::SomeItem(from, lit) => {
                self.some.push((from, lit));
                self.min = self.min.max(from as u64 + 1);
            }
            Fact::Contains { node, min, max } => {
                self.contains.push((node, min, max));
                self.min = self.min.max(min);
                if max.is_some_and(|max| max < min) {
                    return false;
                }
            }
            Fact::ItemsFrom(from, lit) => self.from.push((from, lit)),
            _ => return true,
        }
        self.max.is_none_or(|max| self.min <= max) && !(self.unique && self.twins)
    }
}

impl ObjectFacts {
    fn add(&mut self, fact: Fact) -> bool {
        match fact {
            Fact::MinMembers(least) => self.min = self.min.max(least),
            Fact::MaxMembers(most) => self.max = Some(self.max.map_or(most, |own| own.min(most))),
            Fact::Present(name, lit) => {
                if self.absent.contains(&name) {
                    return false;
                }
                let lits = self.present.entry(name).or_default();
                if let Some(lit) = lit
                    && !lits.contains(&lit)
                {
                    lits.push(lit);
                }
            }
            Fact::Absent(name) => {
                if self.present.contains_key(&name) {
                    return false;
                }
                self.absent.insert(name);
            }
            Fact::SomeMember(some) => self.some.push(some),
            Fact::RestOf(seen, node) => self.rest_of.push((seen, node)),
            _ => return true,
        }
        let least = self.min.max(self.present.len() as u64);
        self.max.is_none_or(|max| least <= max)
    }
}

/// Whether a fact is known to hold, known to fail, or open, as far as can be told at once.
pub(crate) fn glance(branch: &Branch, fact: &Fact) -> Truth {
    match fact {
        Fact::Lit(lit) => {
            if branch.done.contains(lit) {
                return Truth::True;
            }
            let Some(opposite) = lit.opposite() else { return Truth::Unknown };
            if branch.done.contains(&opposite) { Truth::False } else { Truth::Unknown }
        }
        Fact::Present(name, lit) => match &branch.theory {
            Theory::Object(facts) if facts.absent.contains(name) => Truth::False,
            Theory::Object(facts) => match (facts.present.get(name), lit) {
                (Some(_), None) => Truth::True,
                (Some(lits), Some(lit)) if lits.contains(lit) => Truth::True,
                _ => Truth::Unknown,
            },
            _ => Truth::Unknown,
        },
        Fact::Absent(name) => match &branch.theory {
            Theory::Object(facts) if facts.absent.contains(name) => Truth::True,
            Theory::Object(facts) if facts.present.contains_key(name) => Truth::False,
            _ => Truth::Unknown,
        },
        Fact::MinItems(least) => match &branch.theory {
            Theory::Array(facts) if facts.min >= *least => Truth::True,
            Theory::Array(facts) if facts.max.is_some_and(|max| max < *least) => Truth::False,
            _ => Truth::Unknown,
        },
        Fact::MaxItems(most) => match &branch.theory {
            Theory::Array(facts) if facts.min > *most => Truth::False,
            Theory::Array(facts) if facts.max.is_some_and(|max| max <= *most) => Truth::True,
            _ => Truth::Unknown,
        },
        Fact::Match(pattern, sign) => match &branch.theory {
            Theory::String(facts) => facts
                .patterns
                .iter()
                .find(|(own, _)| own.text() == pattern.text())
                .map_or(Truth::Unknown, |(_, own)| (own == sign).into()),
            _ => Truth::Unknown,
        },
        _ => Truth::Unknown,
    }
}
