//! What the answers of a tool look like that no schema describes, learned from those that came.
//!
//! Only what every answer had so far is ever missed. Members that come and go, lists that are empty and values that are
//! null say nothing.

use crate::limits;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is done about an answer that is not what earlier ones were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shapes {
    /// Nothing is learned.
    Off,
    /// It is told.
    #[default]
    Report,
    /// It is told, and stops what depends on it.
    Enforce,
}

/// What answers looked like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shape {
    answers: u32,
    /// Objects, by their place: dotted, `[]` for the items of a list.
    objects: BTreeMap<String, Object>,
    members: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Object {
    seen: u32,
    members: BTreeMap<String, Member>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Member {
    seen: u32,
    /// The type of all values but nulls.
    kind: Option<&'static str>,
    /// It had several types.
    mixed: bool,
}

/// A member that is not what it was in every earlier answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Its place, dotted.
    pub place: String,
    /// Its type was this one and is that one; `None` where it is not there.
    pub kinds: Option<(&'static str, &'static str)>,
}

impl Shape {
    /// True where enough answers came to miss what one lacks.
    pub fn is_known(&self) -> bool {
        self.answers >= limits::SHAPE_ANSWERS
    }

    /// Takes an answer in.
    pub fn learn(&mut self, answer: &Value) {
        self.answers = self.answers.saturating_add(1);
        self.take(answer, String::new(), 0);
    }

    fn take(&mut self, value: &Value, place: String, depth: usize) {
        if depth > limits::SHAPE_DEPTH {
            return;
        }
        match value {
            Value::Array(items) => {
                for item in items.iter().take(limits::SHAPE_ITEMS) {
                    self.take(item, format!("{place}[]"), depth + 1);
                }
            }
            Value::Object(members) => {
                let object = self.objects.entry(place.clone()).or_default();
                object.seen = object.seen.saturating_add(1);
                for (name, value) in members {
                    if !object.members.contains_key(name) {
                        if self.members >= limits::SHAPE_MEMBERS {
                            continue;
                        }
                        self.members += 1;
                    }
                    let member = object.members.entry(name.clone()).or_default();
                    member.seen = member.seen.saturating_add(1);
                    if let Some(kind) = kind(value) {
                        member.mixed |= member.kind.is_some_and(|known| known != kind);
                        member.kind = Some(kind);
                    }
                }
                for (name, value) in members {
                    self.take(value, below(&place, name), depth + 1);
                }
            }
            _ => {}
        }
    }

    /// What every earlier answer had and this one has not, or not so. Nothing while too few came.
    pub fn moved(&self, answer: &Value) -> Vec<Moved> {
        let mut found = Vec::new();
        if self.is_known() {
            self.compare(answer, String::new(), 0, &mut found);
        }
        found
    }

    fn compare(&self, value: &Value, place: String, depth: usize, found: &mut Vec<Moved>) {
        if depth > limits::SHAPE_DEPTH || found.len() >= limits::SHAPE_MOVED {
            return;
        }
        match value {
            Value::Array(items) => {
                for item in items.iter().take(limits::SHAPE_ITEMS) {
                    self.compare(item, format!("{place}[]"), depth + 1, found);
                }
            }
            Value::Object(members) => {
                let Some(object) = self.objects.get(&place) else { return };
                let enough = object.seen >= limits::SHAPE_ANSWERS;
                for (name, known) in &object.members {
                    let always = enough && known.seen == object.seen;
                    let kinds = match (members.get(name), known.kind) {
                        (None, _) if always => None,
                        (Some(value), Some(was)) if always && !known.mixed => match kind(value) {
                            Some(is) if is != was => Some((was, is)),
                            _ => continue,
                        },
                        _ => continue,
                    };
                    let moved = Moved { place: below(&place, name), kinds };
                    if !found.contains(&moved) {
                        found.push(moved);
                    }
                }
                for (name, value) in members {
                    self.compare(value, below(&place, name), depth + 1, found);
                }
            }
            _ => {}
        }
    }
}

fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

/// The type of a value; a null has none.
fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("boolean"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("string"),
        Value::Array(_) => Some("array"),
        Value::Object(_) => Some("object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(answers: impl Fn(u32) -> Value) -> Shape {
        let mut shape = Shape::default();
        (0..limits::SHAPE_ANSWERS).for_each(|n| shape.learn(&answers(n)));
        shape
    }

    #[test]
    fn only_what_was_always_there_is_missed() {
        let shape = of(|n| {
            let mut answer =
                json!({"id": "x", "n": 1, "at": null, "items": [{"k": n}], "deep": {"a": true}});
            if n % 2 == 0 {
                answer["next"] = json!("c");
                answer["items"] = json!([]);
                answer["either"] = json!(1);
            } else {
                answer["either"] = json!("1");
            }
            answer
        });
        let fine = json!({"id": null, "n": 1.5, "at": "now", "items": [], "deep": {"a": false, "b": 1}, "either": [], "more": 1});
        assert_eq!(shape.moved(&fine), []);
        let moved =
            shape.moved(&json!({"n": "1", "at": 0, "items": [{}], "deep": {}, "either": 1}));
        let said: Vec<_> = moved.iter().map(|m| (m.place.as_str(), m.kinds)).collect();
        assert_eq!(said, [("id", None), ("n", Some(("number", "string"))), ("deep.a", None)]);
        assert_eq!(Shape::default().moved(&json!({})), []);
    }
}
