//! A stand-in for the model of an agent: a recorded exchange that is replayed turn by turn, so that every prompt is
//! seen and the whole agent runs without a network.
//!
//! ```yaml
//! exchange: 1
//! on: POST /v1/chat/completions
//! turns:
//!   - holds: [Archive the inactive projects]        # what the prompt must hold
//!     answer: {choices: [{message: {role: assistant, content: ""}}]}
//! ```

use super::contract::read::operation;
use super::fixture::version_one;
use super::record::Seen;
use crate::read::{Document, Reader};
use contract::Problem;
use serde_json::Value;

/// An exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The method of its operation.
    pub method: String,
    /// The path of its operation.
    pub path: String,
    /// What is answered, one after the other.
    pub turns: Vec<Turn>,
}

/// One turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Texts that the prompt must hold.
    pub holds: Vec<String>,
    /// The answer.
    pub answer: Value,
}

impl Exchange {
    /// Reads one.
    ///
    /// # Errors
    /// All problems at once, each with its line.
    pub fn read(document: &Document) -> Result<Exchange, Vec<Problem>> {
        let mut reader = Reader::new(document);
        let root = document.root();
        reader.keys(&root, &["exchange", "on", "turns"]);
        version_one(&mut reader, &root, "exchange");
        let on = reader.required_text(&root, "on");
        let on = on.and_then(|text| operation(&mut reader, &root, text));
        let mut turns = Vec::new();
        for node in root.get("turns").map(|node| node.items()).unwrap_or_default() {
            reader.keys(&node, &["holds", "answer"]);
            if node.get("answer").is_none() {
                reader.missing(&node, "answer");
            }
            let answer = node.value.get("answer").cloned().unwrap_or_default();
            let holds = reader.texts(&node, "holds");
            if holds.iter().any(|text| text.trim().is_empty()) {
                let help = "Write a text that only this prompt holds.";
                reader.problem(&node, "An empty text is in every prompt.", help);
            }
            turns.push(Turn { holds, answer });
        }
        // An empty list waits to be recorded; a run that replays it fails.
        if root.get("turns").is_none_or(|turns| !turns.value.is_array()) {
            reader.problem(
                &root,
                "The exchange has no turn.",
                "Add `turns:` with a list of them; `turns: []` is filled in by --record-model.",
            );
        }
        let (method, path) = on.unwrap_or_default();
        reader.finish(Exchange { method, path, turns })
    }

    /// The file of it.
    pub fn to_text(&self) -> String {
        let mut out = format!(
            "exchange: 1\non: {}\nturns:\n",
            Value::from(format!("{} {}", self.method, self.path))
        );
        for Turn { holds, answer } in &self.turns {
            out.push_str("  - holds:");
            if holds.is_empty() {
                out.push_str(" []");
            }
            for text in holds {
                out.push_str(&format!("\n      - {}", Value::from(text.as_str())));
            }
            out.push_str(&format!("\n    answer: {answer}\n"));
        }
        out
    }

    /// Whether a request is for the model.
    pub fn is_for(&self, seen: &Seen) -> bool {
        self.method == seen.method && self.path == seen.path
    }

    /// The answer of a turn, counted from 0, to a prompt.
    ///
    /// # Errors
    /// Why there is none: no turn is left, or the prompt is not the one that was recorded.
    pub fn answer(&self, turn: usize, seen: &Seen) -> Result<&Value, String> {
        let Some(found) = self.turns.get(turn) else {
            return Err(format!(
                "The exchange has {} turns, and one more was asked for.",
                self.turns.len()
            ));
        };
        let mut prompt = Vec::new();
        if let Some(body) = seen.body.value() {
            texts(&body, &mut prompt);
        }
        match found
            .holds
            .iter()
            .find(|text| !prompt.iter().any(|part| part.contains(text.as_str())))
        {
            Some(lost) => Err(format!(
                "Turn {} was recorded for a prompt that holds `{lost}`; this one does not.",
                turn + 1
            )),
            None => Ok(&found.answer),
        }
    }
}

/// Every text of a prompt.
pub(super) fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|member| texts(member, found)),
        _ => {}
    }
}
