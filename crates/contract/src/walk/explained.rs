//! What is said of single listed values: it belongs to its value, wherever in the list that stands.

use super::{Step, Walker};
use crate::edit::What;
use crate::prose;
use crate::view::{Node, View};
use serde_json::Value;
use std::collections::HashMap;

/// Texts about one value that are less alike than this say another thing.
const ANOTHER: f64 = 0.5;

impl Walker {
    pub(super) fn value_texts(
        &mut self,
        nodes: (Option<&Node<'_>>, Option<&Node<'_>>),
        was: &View,
        is: &View,
        step: &Step,
    ) {
        if was.value_texts.is_empty() || is.value_texts.is_empty() {
            return;
        }
        let mut owners: HashMap<&str, &str> = HashMap::new();
        for (key, (_, text)) in &was.value_texts {
            owners.entry(text).or_insert(key);
        }
        let (mut swapped, mut retold, mut reworded) = (Vec::new(), Vec::new(), 0);
        let mut signals = Vec::new();
        for (key, (value, before)) in &was.value_texts {
            let Some((_, after)) = is.value_texts.get(key).filter(|(_, after)| after != before)
            else {
                continue;
            };
            let moved = || (value.clone(), before.clone(), after.clone());
            if owners.get(after.as_str()).is_some_and(|owner| owner != key) {
                swapped.push(moved());
                continue;
            }
            let found = prose::compare_field(before, after);
            if !found.is_empty() {
                signals.extend(found);
            } else if prose::same_text(before, after) {
                reworded += 1;
            } else if prose::similarity(before, after) < ANOTHER {
                retold.push(moved());
            } else {
                reworded += 1;
            }
        }
        if !signals.is_empty() {
            self.push(What::TextChanged { signals }, nodes, (None, None), step);
        }
        if !(swapped.is_empty() && retold.is_empty() && reworded == 0) {
            let texts = |view: &View| -> Option<Value> {
                let told = view.value_texts.values();
                Some(told.map(|(value, text)| serde_json::json!([value, text])).collect())
            };
            let what = What::ValueTextsMoved { swapped, retold, reworded };
            self.push(what, nodes, (texts(was), texts(is)), step);
        }
    }
}
