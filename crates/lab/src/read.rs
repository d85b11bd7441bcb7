//! Reading the files of tests: a closed set of keys at each place, every problem at once with its line.
//!
//! ```
//! use lab::read::{Document, Reader};
//! let file = Document::parse("a.yaml", b"drift: 1\nnmae: x\n").unwrap();
//! let mut reader = Reader::new(&file);
//! let root = file.root();
//! reader.keys(&root, &["drift", "name"]);
//! let problems = reader.finish(()).unwrap_err();
//! assert_eq!(problems[0].place, "a.yaml:2:1");
//! assert_eq!(problems[0].help, "Did you mean `name`?");
//! ```

use contract::Problem;
use contract::text::{self, Located};
use serde_json::Value;

/// A file that was read.
#[derive(Debug)]
pub struct Document {
    located: Located,
    name: String,
}

/// A value of a file, and the way to it.
#[derive(Debug, Clone)]
pub struct Node<'d> {
    /// The value.
    pub value: &'d Value,
    /// The JSON pointer to it.
    pub pointer: String,
}

/// Reads a document and gathers what is wrong with it.
#[derive(Debug)]
pub struct Reader<'d> {
    document: &'d Document,
    problems: Vec<Problem>,
}

impl Document {
    /// Reads the bytes of a file of YAML; `name` is its path, for the places of problems.
    ///
    /// # Errors
    /// As [`contract::text::read_located`].
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Document, Vec<Problem>> {
        Ok(Document { located: text::read_located(name, bytes)?, name: name.to_owned() })
    }

    /// The path of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole document.
    pub fn root(&self) -> Node<'_> {
        Node { value: &self.located.value, pointer: String::new() }
    }

    /// Where a value stands: `file:line:column`.
    pub fn place(&self, node: &Node<'_>) -> String {
        self.located.place(&node.pointer)
    }

    /// The first key of the document, which says of what kind the file is.
    pub fn first_key(&self) -> Option<&str> {
        self.located.value.as_object()?.keys().next().map(String::as_str)
    }
}

impl<'d> Node<'d> {
    /// The member with this key; one that is written and empty counts as absent.
    pub fn get(&self, key: &str) -> Option<Node<'d>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Node { value, pointer: format!("{}/{}", self.pointer, escape(key)) })
    }

    /// All members, in the order in which they are written; none where the value is no mapping.
    pub fn members(&self) -> Vec<(&'d str, Node<'d>)> {
        let members = self.value.as_object().into_iter().flatten();
        members
            .map(|(key, value)| {
                let pointer = format!("{}/{}", self.pointer, escape(key));
                (key.as_str(), Node { value, pointer })
            })
            .collect()
    }

    /// All items; none where the value is no list.
    pub fn items(&self) -> Vec<Node<'d>> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(at, value)| Node { value, pointer: format!("{}/{at}", self.pointer) }).collect()
    }
}

impl<'d> Reader<'d> {
    /// A reader that has found nothing wrong yet.
    pub fn new(document: &'d Document) -> Reader<'d> {
        Reader { document, problems: Vec::new() }
    }

    /// Notes a problem at a value.
    pub fn problem(
        &mut self,
        node: &Node<'_>,
        sentence: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem {
            place: self.document.place(node),
            sentence: sentence.into(),
            help: help.into(),
        });
    }

    /// Where a value stands.
    pub fn place(&self, node: &Node<'_>) -> String {
        self.document.place(node)
    }

    /// Holds a mapping to the keys that may stand in it. False where it is none.
    pub fn keys(&mut self, node: &Node<'d>, known: &[&str]) -> bool {
        if !node.value.is_object() {
            self.problem(
                node,
                format!("{} stands where names and values belong.", kind(node.value)),
                format!("Known here: {}.", known.join(", ")),
            );
            return false;
        }
        for (key, member) in node.members() {
            if !known.contains(&key) {
                let help = match nearest(key, known) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => format!("Known here: {}.", known.join(", ")),
                };
                let shown = report::escape::clip(&report::escape::visible(key), 60);
                self.problem(&member, format!("`{shown}` is not known here."), help);
            }
        }
        true
    }

    /// A member that is text.
    pub fn text(&mut self, node: &Node<'d>, key: &str) -> Option<&'d str> {
        let member = node.get(key)?;
        self.as_text(&member)
    }

    /// A value that is text.
    pub fn as_text(&mut self, node: &Node<'d>) -> Option<&'d str> {
        let text = node.value.as_str();
        if text.is_none() {
            self.expected(node, "text");
        }
        text
    }

    /// A member that is text and must be there.
    pub fn required_text(&mut self, node: &Node<'d>, key: &str) -> Option<&'d str> {
        if node.get(key).is_none() {
            self.missing(node, key);
            return None;
        }
        self.text(node, key)
    }

    /// A member that is true or false; false where it is absent.
    pub fn flag(&mut self, node: &Node<'d>, key: &str) -> bool {
        let Some(member) = node.get(key) else { return false };
        member.value.as_bool().unwrap_or_else(|| {
            self.expected(&member, "true or false");
            false
        })
    }

    /// A member that is a whole number from 0 on.
    pub fn count(&mut self, node: &Node<'d>, key: &str) -> Option<usize> {
        let member = node.get(key)?;
        let count = member.value.as_u64().and_then(|count| usize::try_from(count).ok());
        if count.is_none() {
            self.expected(&member, "a whole number, 0 or more");
        }
        count
    }

    /// A member that is a text or a list of texts.
    pub fn texts(&mut self, node: &Node<'d>, key: &str) -> Vec<String> {
        let Some(member) = node.get(key) else { return Vec::new() };
        if let Some(text) = member.value.as_str() {
            return vec![text.to_owned()];
        }
        if !member.value.is_array() {
            self.expected(&member, "text, or a list of texts");
        }
        let items = member.items();
        items.iter().filter_map(|item| self.as_text(item)).map(str::to_owned).collect()
    }

    /// One word of a few.
    pub fn word<T: Copy>(&mut self, node: &Node<'d>, words: &[(&str, T)]) -> Option<T> {
        let found =
            node.value.as_str().and_then(|text| words.iter().find(|(word, _)| *word == text));
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = match node.value.as_str().and_then(|text| nearest(text, &known)) {
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Write one of: {}.", known.join(", ")),
            };
            let shown = report::escape::one_line(node.value, 60);
            self.problem(node, format!("{shown} is not a word that is known here."), help);
        }
        found.map(|(_, value)| *value)
    }

    /// Notes that something else was expected.
    pub fn expected(&mut self, node: &Node<'_>, what: &str) {
        let sentence = format!("{} stands where {what} belongs.", kind(node.value));
        self.problem(node, sentence, "");
    }

    /// Notes that a key is missing.
    pub fn missing(&mut self, node: &Node<'_>, key: &str) {
        self.problem(node, format!("`{key}` is missing."), format!("Add `{key}:` here."));
    }

    /// The value, or everything that is wrong, in the order of the file.
    ///
    /// # Errors
    /// All problems that were noted.
    pub fn finish<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() {
            return Ok(value);
        }
        let position = |problem: &Problem| -> (usize, usize) {
            let mut parts = problem.place.rsplitn(3, ':').map(|part| part.parse().unwrap_or(0));
            let column = parts.next().unwrap_or(0);
            (parts.next().unwrap_or(0), column)
        };
        self.problems.sort_by_key(position);
        Err(self.problems)
    }
}

/// What a value is, in words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "Nothing",
        Value::Bool(_) => "True or false",
        Value::Number(_) => "A number",
        Value::String(_) => "A text",
        Value::Array(_) => "A list",
        Value::Object(_) => "A mapping",
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The word that was likely meant: at most a third of its letters are wrong, two letters that changed places count
/// once.
pub fn nearest<'w>(word: &str, known: &[&'w str]) -> Option<&'w str> {
    let best = known.iter().map(|other| (distance(word, other), *other)).min()?;
    let allowed = (word.chars().count() / 3).max(1);
    (best.0 <= allowed).then_some(best.1)
}

/// Letters to change, add, leave out or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    // A key that long is no slip of a finger.
    let a: Vec<char> = a.chars().take(crate::limits::KEY_CHARS).collect();
    let b: Vec<char> = b.chars().take(crate::limits::KEY_CHARS).collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_comes_at_once_with_its_line() {
        let text = b"drift: 1\nsteps:\n  - cal: x\n    downstream: 3\nonly: 7\n";
        let document = Document::parse("t.yaml", text).unwrap();
        let mut reader = Reader::new(&document);
        let root = document.root();
        reader.keys(&root, &["drift", "steps", "name"]);
        for step in root.get("steps").unwrap().items() {
            reader.keys(&step, &["call", "downstream"]);
            reader.text(&step, "downstream");
        }
        reader.required_text(&root, "name");
        let problems = reader.finish(()).unwrap_err();
        let told: Vec<String> =
            problems.iter().map(|p| format!("{} {} {}", p.place, p.sentence, p.help)).collect();
        assert_eq!(
            told,
            [
                "t.yaml:1:1 `name` is missing. Add `name:` here.",
                "t.yaml:3:5 `cal` is not known here. Did you mean `call`?",
                "t.yaml:4:5 A number stands where text belongs. ",
                "t.yaml:5:1 `only` is not known here. Known here: drift, steps, name.",
            ]
        );
    }

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        assert_eq!(nearest("stpes", &["steps", "story"]), Some("steps"));
        assert_eq!(nearest("downstraem", &["downstream"]), Some("downstream"));
        assert_eq!(nearest("banana", &["steps", "story"]), None);
    }
}
