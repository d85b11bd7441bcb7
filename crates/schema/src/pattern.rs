//! Regular expressions of ECMA-262 as JSON Schema uses them: read into a tree of our own.
//!
//! Code points are the characters (the `u` flag), `\d` and `\w` are ASCII, `$` is the very end.
//! Look-ahead right after a leading `^` becomes an intersection; back-references, look-behind and
//! look-ahead elsewhere are kept as "not reasoned about", which is no error.

use crate::automaton::Automaton;
use crate::limits;

/// A set of code points as sorted, disjoint, inclusive ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CharSet(pub(crate) Vec<(u32, u32)>);

const LAST: u32 = 0x10_FFFF;

impl CharSet {
    pub(crate) fn of(ranges: impl IntoIterator<Item = (u32, u32)>) -> CharSet {
        let mut all: Vec<(u32, u32)> = ranges.into_iter().collect();
        all.sort_unstable();
        let mut out: Vec<(u32, u32)> = Vec::with_capacity(all.len());
        for (from, to) in all {
            match out.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => out.push((from, to)),
            }
        }
        CharSet(out)
    }

    pub(crate) fn negate(&self) -> CharSet {
        let mut out = Vec::new();
        let mut next = 0;
        for &(from, to) in &self.0 {
            if from > next {
                out.push((next, from - 1));
            }
            next = to + 1;
        }
        if next <= LAST {
            out.push((next, LAST));
        }
        CharSet(out)
    }

    pub(crate) fn contains(&self, c: u32) -> bool {
        self.0
            .binary_search_by(|&(from, to)| {
                if to < c {
                    std::cmp::Ordering::Less
                } else if from > c {
                    std::cmp::Ordering::Greater
                } else {
                    std::cmp::Ordering::Equal
                }
            })
            .is_ok()
    }

    pub(crate) fn word() -> CharSet {
        CharSet::of([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
    }

    fn digit() -> CharSet {
        CharSet::of([(0x30, 0x39)])
    }

    fn space() -> CharSet {
        CharSet::of([
            (0x09, 0x0D),
            (0x20, 0x20),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x2028, 0x2029),
            (0x202F, 0x202F),
            (0x205F, 0x205F),
            (0x3000, 0x3000),
            (0xFEFF, 0xFEFF),
        ])
    }

    fn dot() -> CharSet {
        CharSet::of([(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)]).negate()
    }
}

/// A regular expression as a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Chars(CharSet),
    Sequence(Vec<Tree>),
    Either(Vec<Tree>),
    Repeat {
        what: Box<Tree>,
        min: u32,
        max: Option<u32>,
    },
    Start,
    End,
    /// `\b` (true) or `\B`.
    Boundary(bool),
    Ahead {
        what: Box<Tree>,
        negative: bool,
    },
}

/// A pattern: its text, and its automata where it can be reasoned about.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    /// The text matches where every automaton marked true accepts and every other one does not.
    pub(crate) automata: Vec<(Automaton, bool)>,
    /// Why it cannot be reasoned about.
    pub(crate) unsupported: Option<String>,
}

enum Fault {
    Wrong(String),
    Unsupported(String),
}

fn wrong<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Wrong(why.to_string()))
}

fn unsupported<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Unsupported(why.to_string()))
}

impl Pattern {
    /// Reads a pattern. The error says what is wrong with the text.
    pub(crate) fn read(text: &str) -> Result<Pattern, String> {
        let mut pattern =
            Pattern { text: text.to_string(), automata: Vec::new(), unsupported: None };
        if text.chars().count() > limits::PATTERN_CHARS {
            pattern.unsupported = Some(format!(
                "the regular expression is longer than {} characters",
                limits::PATTERN_CHARS
            ));
            return Ok(pattern);
        }
        let mut parser = Parser { chars: text.chars().collect(), at: 0, depth: 0 };
        let built = parser.whole().and_then(split_look_ahead).and_then(|parts| {
            parts
                .into_iter()
                .map(|(tree, sign)| {
                    Ok((Automaton::build(&tree).map_err(Fault::Unsupported)?, sign))
                })
                .collect::<Result<Vec<_>, Fault>>()
        });
        match built {
            Ok(automata) => pattern.automata = automata,
            Err(Fault::Unsupported(why)) => pattern.unsupported = Some(why),
            Err(Fault::Wrong(why)) => return Err(why),
        }
        Ok(pattern)
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text matches somewhere, or `None` where the pattern is not reasoned about.
    pub(crate) fn matches(&self, text: &str) -> Option<bool> {
        if self.unsupported.is_some() {
            return None;
        }
        Some(self.automata.iter().all(|(automaton, sign)| automaton.matches(text) == *sign))
    }
}

/// Turns `^(?=a)(?!b)c` into three trees, each marked with whether it must match.
fn split_look_ahead(tree: Tree) -> Result<Vec<(Tree, bool)>, Fault> {
    let mut items = match tree {
        Tree::Sequence(items) => items,
        other => vec![other],
    };
    let mut out = Vec::new();
    if items.first() == Some(&Tree::Start) {
        let looks = items[1..].iter().take_while(|item| matches!(item, Tree::Ahead { .. })).count();
        for item in items.drain(1..=looks) {
            if let Tree::Ahead { what, negative } = item {
                out.push((Tree::Sequence(vec![Tree::Start, *what]), !negative));
            }
        }
    }
    out.push((Tree::Sequence(items), true));
    if out.iter().any(|(tree, _)| looks_ahead(tree)) {
        return unsupported("look-ahead is only reasoned about right after a leading ^");
    }
    Ok(out)
}

fn looks_ahead(tree: &Tree) -> bool {
    match tree {
        Tree::Ahead { .. } => true,
        Tree::Sequence(items) | Tree::Either(items) => items.iter().any(looks_ahead),
        Tree::Repeat { what, .. } => looks_ahead(what),
        Tree::Chars(_) | Tree::Start | Tree::End | Tree::Boundary(_) => false,
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn whole(&mut self) -> Result<Tree, Fault> {
        let tree = self.either()?;
        if self.at < self.chars.len() {
            return wrong("a `)` closes no group");
        }
        Ok(tree)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text
            .chars()
            .enumerate()
            .all(|(offset, c)| self.chars.get(self.at + offset) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn either(&mut self) -> Result<Tree, Fault> {
        self.depth += 1;
        if self.depth > limits::PATTERN_DEPTH {
            return unsupported("its groups nest too deep");
        }
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Tree::Either(branches) })
    }

    fn sequence(&mut self) -> Result<Tree, Fault> {
        let mut items = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let item = self.item()?;
            match self.repeat(item)? {
                Tree::Sequence(inner) => items.extend(inner),
                other => items.push(other),
            }
        }
        Ok(Tree::Sequence(items))
    }

    fn item(&mut self) -> Result<Tree, Fault> {
        let c = self.peek().expect("the caller saw a character");
        self.at += 1;
        Ok(match c {
            '^' => Tree::Start,
            '$' => Tree::End,
            '.' => Tree::Chars(CharSet::dot()),
            '[' => Tree::Chars(self.class()?),
            '(' => return self.group(),
            '\\' => return self.escape(),
            '*' | '+' | '?' => return wrong(&format!("`{c}` repeats nothing")),
            c => single(c),
        })
    }

    fn group(&mut self) -> Result<Tree, Fault> {
        let mut ahead = None;
        if self.eat("?=") {
            ahead = Some(false);
        } else if self.eat("?!") {
            ahead = Some(true);
        } else if self.eat("?:") {
        } else if self.eat("?<=") || self.eat("?<!") {
            return unsupported("look-behind is not reasoned about");
        } else if self.eat("?<") {
            while self.peek().is_some_and(|c| c != '>') {
                self.at += 1;
            }
            if !self.eat(">") {
                return wrong("the name of a group is not closed");
            }
        } else if self.peek() == Some('?') {
            return unsupported("it uses a group that ECMA-262 does not have");
        }
        let tree = self.either()?;
        if !self.eat(")") {
            return wrong("a group is not closed");
        }
        Ok(match ahead {
            Some(negative) => Tree::Ahead { what: Box::new(tree), negative },
            None => tree,
        })
    }

    fn repeat(&mut self, what: Tree) -> Result<Tree, Fault> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.counted() {
                Some(counts) => counts?,
                None => return Ok(what),
            },
            _ => return Ok(what),
        };
        self.at += 1;
        self.eat("?");
        if matches!(self.peek(), Some('*' | '+' | '?')) {
            return wrong("a repetition is repeated");
        }
        if let Some(max) = max
            && max < min
        {
            return wrong("a repetition ends below its start");
        }
        if matches!(what, Tree::Ahead { .. }) {
            return unsupported("repeated look-ahead is not reasoned about");
        }
        Ok(Tree::Repeat { what: Box::new(what), min, max })
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` up to its `}`; `None` where the brace is just a brace.
    #[allow(clippy::type_complexity, reason = "a pair of bounds, or a fault, or no repetition")]
    fn counted(&mut self) -> Option<Result<(u32, Option<u32>), Fault>> {
        let close = self.chars[self.at..].iter().position(|&c| c == '}')? + self.at;
        let inner: String = self.chars[self.at + 1..close].iter().collect();
        let (low, high) = inner.split_once(',').unwrap_or((&inner, &inner));
        let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        if !digits(low) || !(high.is_empty() || digits(high)) {
            return None;
        }
        self.at = close;
        let (Ok(min), Ok(max)) =
            (low.parse(), if high.is_empty() { Ok(None) } else { high.parse().map(Some) })
        else {
            return Some(unsupported("a repetition counts too far"));
        };
        Some(Ok((min, max)))
    }

    fn escape(&mut self) -> Result<Tree, Fault> {
        match self.peek() {
            Some('b') => {
                self.at += 1;
                Ok(Tree::Boundary(true))
            }
            Some('B') => {
                self.at += 1;
                Ok(Tree::Boundary(false))
            }
            Some('1'..='9' | 'k') => unsupported("back-references are not reasoned about"),
            _ => Ok(Tree::Chars(self.class_escape()?)),
        }
    }

    /// An escape that stands for characters, after its backslash.
    fn class_escape(&mut self) -> Result<CharSet, Fault> {
        let Some(c) = self.peek() else {
            return wrong("it ends in a backslash");
        };
        self.at += 1;
        let one = |c: u32| CharSet::of([(c, c)]);
        Ok(match c {
            'd' => CharSet::digit(),
            'D' => CharSet::digit().negate(),
            'w' => CharSet::word(),
            'W' => CharSet::word().negate(),
            's' => CharSet::space(),
            'S' => CharSet::space().negate(),
            't' => one(0x09),
            'n' => one(0x0A),
            'v' => one(0x0B),
            'f' => one(0x0C),
            'r' => one(0x0D),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => one(0),
            'b' => one(0x08),
            'c' => match self.peek() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    self.at += 1;
                    one(letter as u32 % 32)
                }
                _ => return wrong("`\\c` is not followed by a letter"),
            },
            'x' => one(self.hex(2)?),
            'u' => one(self.unicode()?),
            'p' | 'P' => return self.property(c),
            c if c.is_ascii_alphanumeric() => {
                return unsupported(&format!("`\\{c}` is not an escape of ECMA-262"));
            }
            c => one(c as u32),
        })
    }

    fn hex(&mut self, digits: usize) -> Result<u32, Fault> {
        let text: String = self.chars.iter().skip(self.at).take(digits).collect();
        match u32::from_str_radix(&text, 16) {
            Ok(code) if text.len() == digits => {
                self.at += digits;
                Ok(code)
            }
            _ => wrong("an escape lacks hexadecimal digits"),
        }
    }

    fn unicode(&mut self) -> Result<u32, Fault> {
        if self.eat("{") {
            let mut text = String::new();
            while let Some(c) = self.peek().filter(|&c| c != '}') {
                text.push(c);
                self.at += 1;
            }
            self.at += 1;
            return match u32::from_str_radix(&text, 16) {
                Ok(code) if code <= LAST => Ok(code),
                _ => wrong("an escape lacks hexadecimal digits"),
            };
        }
        let first = self.hex(4)?;
        if (0xD800..0xDC00).contains(&first) && self.eat("\\u") {
            let second = self.hex(4)?;
            if (0xDC00..0xE000).contains(&second) {
                return Ok(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            return wrong("half of a surrogate pair stands alone");
        }
        Ok(first)
    }

    fn property(&mut self, kind: char) -> Result<CharSet, Fault> {
        let start = self.at;
        if !self.eat("{") {
            return wrong("`\\p` is not followed by a name in braces");
        }
        while self.peek().is_some_and(|c| c != '}') {
            self.at += 1;
        }
        self.at += 1;
        let name: String = self.chars.iter().take(self.at).skip(start).collect();
        let tree = regex_syntax::parse(&format!("\\{kind}{name}"))
            .map_err(|_| Fault::Wrong(format!("`\\{kind}{name}` is not a Unicode property")))?;
        match tree.kind() {
            regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => Ok(
                CharSet::of(class.iter().map(|range| (range.start() as u32, range.end() as u32))),
            ),
            _ => unsupported("a Unicode property is not a set of characters"),
        }
    }

    /// A `[…]`, after its opening bracket.
    fn class(&mut self) -> Result<CharSet, Fault> {
        let negative = self.eat("^");
        let mut ranges = Vec::new();
        loop {
            let Some(c) = self.peek() else {
                return wrong("a `[` is not closed");
            };
            if c == ']' {
                self.at += 1;
                break;
            }
            let low = self.class_atom()?;
            let dash =
                self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|&c| c != ']');
            let ends = match (dash, low.0.as_slice()) {
                (true, &[(from, to)]) if from == to => {
                    let before = self.at;
                    self.at += 1;
                    match self.class_atom()?.0.as_slice() {
                        &[(high, same)] if high == same => Some((from, high)),
                        _ => {
                            self.at = before;
                            None
                        }
                    }
                }
                _ => None,
            };
            match ends {
                Some((from, to)) if from > to => {
                    return wrong("a range of characters ends below its start");
                }
                Some(range) => ranges.push(range),
                None => ranges.extend(low.0),
            }
        }
        let set = CharSet::of(ranges);
        Ok(if negative { set.negate() } else { set })
    }

    fn class_atom(&mut self) -> Result<CharSet, Fault> {
        let c = self.peek().ok_or_else(|| Fault::Wrong("a `[` is not closed".into()))?;
        self.at += 1;
        if c == '\\' {
            return self.class_escape();
        }
        Ok(CharSet::of([(c as u32, c as u32)]))
    }
}

fn single(c: char) -> Tree {
    Tree::Chars(CharSet::of([(c as u32, c as u32)]))
}
