//! Where the walk stands.

use super::compare::inner_members;
use crate::edit::Union;
use crate::view::Node;
use std::sync::Arc;

/// Where the walk stands.
#[derive(Clone)]
pub(super) struct Step {
    pub field: String,
    /// Required on the old side, with everything around it.
    pub was: bool,
    /// Required on the new side, with everything around it.
    pub is: bool,
    /// Required on the old side where it stands.
    pub sent: bool,
    /// The sibling whose text it holds now, where texts changed places.
    pub held: Option<String>,
    pub depth: usize,
    /// The unions around it, the outermost first.
    pub unions: Vec<Arc<Union>>,
}

impl Step {
    /// Before the first step.
    pub fn root() -> Step {
        Step {
            field: String::new(),
            was: true,
            is: true,
            sent: true,
            held: None,
            depth: 0,
            unions: Vec::new(),
        }
    }

    /// The step to a member, or to the items of a list.
    pub fn down(&self, suffix: &str) -> Step {
        let field = if suffix == "[]" || self.field.is_empty() {
            format!("{}{suffix}", self.field)
        } else {
            format!("{}.{suffix}", self.field)
        };
        Step { field, held: None, depth: self.depth + 1, ..self.clone() }
    }

    /// The step into an alternative of a union.
    pub fn within(&self, old: &Node<'_>, new: &Node<'_>) -> Step {
        let names = |node: &Node<'_>| {
            let last = |(path, _): (String, _)| path.rsplit('.').next().map(str::to_owned);
            inner_members(node).into_iter().filter_map(last).collect()
        };
        let mut inside = self.clone();
        inside.unions.push(Arc::new(Union {
            at: (old.pointer.clone(), new.pointer.clone()),
            names: (names(old), names(new)),
        }));
        inside
    }
}
