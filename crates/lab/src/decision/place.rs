//! Places of values in requests, answers and plans, written as in a decision map: `body.items[].id`, `query.limit`.

use super::record::Seen;
use crate::read::{Node, Reader};
use serde_json::Value;

/// A place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// How it was written.
    pub text: String,
    /// Its steps, the first of which says where: `body`, `query`, `header`, `path`. `[]` is every item of a list.
    pub steps: Vec<String>,
}

const HEADS: &[&str] = &["body", "query", "header", "path"];

impl Place {
    /// Reads one.
    pub(crate) fn read<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Place> {
        let text = reader.as_text(node)?;
        Place::named(reader, node, text)
    }

    /// Reads one that is written as the key of `node`.
    pub(crate) fn named(reader: &mut Reader<'_>, node: &Node<'_>, text: &str) -> Option<Place> {
        let place = Place::of(text);
        if place.is_none() {
            reader.problem(
                node,
                format!("`{text}` does not say where the value is."),
                format!("Begin it with one of: {}.", HEADS.join(", ")),
            );
        }
        place
    }

    /// Reads one that must lie in an answer's or request's `heads`, as `body`.
    pub(crate) fn within<'d>(
        self,
        reader: &mut Reader<'d>,
        node: &Node<'d>,
        heads: &[&str],
    ) -> Option<Place> {
        if self.steps.first().is_some_and(|head| heads.contains(&head.as_str())) {
            return Some(self);
        }
        reader.problem(
            node,
            format!("`{}` is no place that can be changed here.", self.text),
            format!("Begin it with: {}.", heads.join(", ")),
        );
        None
    }

    /// Reads one in a plan, whose steps begin at the plan itself.
    pub(crate) fn read_in_plan<'d>(reader: &mut Reader<'d>, node: &Node<'d>) -> Option<Place> {
        let text = reader.as_text(node)?;
        Some(Place { text: text.to_owned(), steps: contract::decision::steps(text) })
    }

    /// A place from its text; none where the text says no place.
    pub fn of(text: &str) -> Option<Place> {
        let mut steps = contract::decision::steps(text);
        if text.starts_with('/') {
            steps.insert(0, "body".to_owned());
        }
        let head = steps.first()?;
        if !HEADS.contains(&head.as_str()) || (head != "body" && steps.len() < 2) {
            return None;
        }
        if head == "header" {
            let name = text.split_once('.')?.1.to_ascii_lowercase();
            steps = vec!["header".to_owned(), name];
        }
        Some(Place { text: text.to_owned(), steps })
    }

    /// The last step that is a name: `owner`.
    pub fn name(&self) -> &str {
        let name = self.steps.iter().rev().find(|step| *step != "[]");
        name.map_or("", String::as_str)
    }

    /// Every value at this place of a request. `pattern` is the path of its operation, for `path.id`.
    pub fn in_request(&self, seen: &Seen, pattern: &str) -> Vec<Value> {
        let (head, rest) = self.steps.split_first().map_or(("", &[][..]), |(h, r)| (h.as_str(), r));
        match head {
            "query" => values(&Value::Object(seen.query_members()), rest),
            "header" => values(&Value::Object(seen.header_members()), rest),
            "body" => seen.body.value().map(|body| values(&body, rest)).unwrap_or_default(),
            "path" => {
                let wanted = format!("{{{}}}", rest.first().map_or("", String::as_str));
                let steps = pattern.split('/').zip(seen.path.split('/'));
                let found = steps.filter(|(step, _)| *step == wanted);
                found.map(|(_, value)| Value::String(value.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// An identifier as objects are compared by: a number in a body and the same in a path are one object.
pub fn spelled(identifier: Value) -> Value {
    match identifier {
        Value::Number(number) => Value::String(number.to_string()),
        other => other,
    }
}

/// Every value at the end of these steps.
pub fn values(value: &Value, steps: &[String]) -> Vec<Value> {
    pointers(value, steps).iter().filter_map(|pointer| value.pointer(pointer)).cloned().collect()
}

/// The JSON Pointer of these steps, none of which is an item of a list.
pub fn pointer(steps: &[String]) -> String {
    steps.iter().map(|step| format!("/{}", super::pattern::escape(step))).collect()
}

/// The JSON Pointers of every value at the end of these steps, in order.
pub fn pointers(value: &Value, steps: &[String]) -> Vec<String> {
    let mut found = vec![String::new()];
    for step in steps {
        let mut next = Vec::new();
        for pointer in found {
            match value.pointer(&pointer) {
                Some(Value::Array(items)) if step == "[]" => {
                    next.extend((0..items.len()).map(|index| format!("{pointer}/{index}")));
                }
                Some(Value::Object(members)) if step != "[]" && members.contains_key(step) => {
                    next.push(format!("{pointer}/{}", super::pattern::escape(step)));
                }
                _ => {}
            }
        }
        found = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_found_in_requests() {
        let body = br#"{"ids":["p1","p2"],"dry_run":null}"#;
        let headers = [("Idempotency-Key", &b"k"[..])];
        let seen =
            Seen::read("POST", "/p/7?limit=3", headers.into_iter(), body, &Default::default());
        let at = |text: &str| Place::of(text).unwrap().in_request(&seen, "/p/{id}");
        assert_eq!(at("body.ids[]"), [json!("p1"), json!("p2")]);
        assert_eq!(at("body.dry_run"), [json!(null)]);
        assert_eq!(at("body.force"), [] as [Value; 0]);
        assert_eq!(at("query.limit"), [json!("3")]);
        assert_eq!(at("header.Idempotency-Key"), [json!("k")]);
        assert_eq!(at("path.id"), [json!("7")]);
        assert_eq!(Place::of("limit"), None);
        assert_eq!(Place::of("/items/0/id").unwrap().steps, ["body", "items", "[]", "id"]);
    }
}
