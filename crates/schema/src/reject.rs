//! Where and why a value is rejected: every place, told apart by break site.

use crate::judge::{Judge, Truth};
use crate::limits;
use crate::node::{Items, NodeId, Part};
use crate::reference::escape;
use serde_json::Value;

/// Where a value is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// JSON Pointer into the value.
    pub(crate) instance: String,
    /// The node whose keyword rejects.
    pub(crate) node: NodeId,
    pub(crate) keyword: &'static str,
    /// Path below the node, keyword first: `required`, or `properties/a`.
    pub(crate) below: String,
    /// What this counts as when break sites are told apart: a node and a path below it.
    pub(crate) site: Option<(NodeId, String)>,
}

impl Rejected {
    fn new(node: NodeId, keyword: &'static str, instance: &str) -> Rejected {
        let own = matches!(
            keyword,
            "required"
                | "dependentRequired"
                | "dependencies"
                | "propertyNames"
                | "minProperties"
                | "maxProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "minItems"
                | "maxItems"
                | "uniqueItems"
                | "contains"
                | "maxContains"
        );
        Rejected {
            instance: instance.to_string(),
            node,
            keyword,
            below: keyword.to_string(),
            site: own.then(|| (node, keyword.to_string())),
        }
    }

    /// The site, at the latest the keyword itself.
    pub(crate) fn site(&self) -> (NodeId, String) {
        self.site.clone().unwrap_or_else(|| (self.node, self.below.clone()))
    }
}

impl Judge<'_> {
    /// Every place that rejects a value which `node` does not accept, the first keyword first.
    pub(crate) fn rejections(&mut self, node: NodeId, value: &Value) -> Vec<Rejected> {
        let mut out = Vec::new();
        self.reject(node, value, "", &mut out);
        out
    }

    fn reject(&mut self, node: NodeId, value: &Value, instance: &str, out: &mut Vec<Rejected>) {
        if self.depth >= limits::JUDGE_DEPTH {
            return;
        }
        self.depth += 1;
        let arena = self.arena;
        for part in &arena.nodes[node as usize].parts {
            if out.len() >= limits::REJECTIONS {
                break;
            }
            if self.part(node, part, value) == Truth::False {
                let before = out.len();
                self.reject_part(node, part, value, instance, out);
                if out.len() == before {
                    out.push(Rejected::new(node, part.keyword(), instance));
                }
            }
        }
        self.depth -= 1;
    }

    fn reject_part(
        &mut self,
        node: NodeId,
        part: &Part,
        value: &Value,
        instance: &str,
        out: &mut Vec<Rejected>,
    ) {
        let arena = self.arena;
        match part {
            Part::All(nodes) => {
                for &inner in nodes {
                    if self.holds(inner, value) == Truth::False {
                        self.reject(inner, value, instance, out);
                    }
                }
            }
            Part::Any(nodes) => self.reject_union(nodes, value, instance, out),
            Part::One(nodes) => {
                if self.tally(nodes, value).0 == 0 {
                    self.reject_union(nodes, value, instance, out);
                }
            }
            Part::If { test, then, other } => {
                let branch = if self.holds(*test, value) == Truth::True { then } else { other };
                if let Some(inner) = branch {
                    self.reject(*inner, value, instance, out);
                }
            }
            Part::When { node: inner, .. } | Part::Ref { node: inner, .. } => {
                self.reject(*inner, value, instance, out)
            }
            Part::Contains { node: inner, min, .. } => {
                let found = value.as_array().map_or(0, |items| self.tally_items(*inner, items));
                let keyword = if found < *min { "contains" } else { "maxContains" };
                out.push(Rejected::new(node, keyword, instance));
            }
            Part::Items(rule) => {
                let tuple = arena.nodes[node as usize].tuple_items;
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    if let Some(&inner) = rule.prefix.get(at).or(rule.rest.as_ref())
                        && self.holds(inner, item) == Truth::False
                    {
                        let (keyword, below) = items_keyword(rule, at, tuple);
                        self.reject_inner(
                            node,
                            inner,
                            keyword,
                            below,
                            item,
                            &format!("{instance}/{at}"),
                            out,
                        );
                    }
                }
            }
            Part::UnevaluatedItems(inner) => {
                let seen = self.seen(node, value);
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    let free = seen.as_ref().is_none_or(|seen| !seen.has_item(at));
                    if free && self.holds(*inner, item) == Truth::False {
                        out.push(Rejected::new(
                            node,
                            "unevaluatedItems",
                            &format!("{instance}/{at}"),
                        ));
                    }
                }
            }
            Part::UnevaluatedMembers(inner) => {
                let seen = self.seen(node, value);
                for (name, member) in value.as_object().into_iter().flatten() {
                    let free = seen.as_ref().is_none_or(|seen| !seen.names.contains(name));
                    if free && self.holds(*inner, member) == Truth::False {
                        out.push(Rejected::new(
                            node,
                            "unevaluatedProperties",
                            &format!("{instance}/{}", escape(name)),
                        ));
                    }
                }
            }
            Part::Members(rule) => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    if self.member(rule, name, member) != Truth::False {
                        continue;
                    }
                    let place = format!("{instance}/{}", escape(name));
                    let mut covered = false;
                    if let Some(&inner) = rule.named.get(name) {
                        covered = true;
                        if self.holds(inner, member) == Truth::False {
                            let below = format!("properties/{}", escape(name));
                            self.reject_inner(
                                node, inner, "properties", below, member, &place, out,
                            );
                        }
                    }
                    for &(pattern, inner) in &rule.patterns {
                        if self.matches(pattern, name) == Truth::True {
                            covered = true;
                            if self.holds(inner, member) == Truth::False {
                                let below = format!(
                                    "patternProperties/{}",
                                    escape(arena.patterns[pattern as usize].text())
                                );
                                self.reject_inner(
                                    node, inner, "patternProperties", below, member, &place, out,
                                );
                            }
                        }
                    }
                    if let Some(inner) = rule.rest.filter(|_| !covered) {
                        self.reject_inner(
                            node,
                            inner,
                            "additionalProperties",
                            "additionalProperties".into(),
                            member,
                            &place,
                            out,
                        );
                    }
                }
            }
            _ => out.push(Rejected::new(node, part.keyword(), instance)),
        }
    }

    /// Rejections of a member or item. What is said of a plain value there counts as one site
    /// with the keyword that leads to it; what is said of an object there is a site of its own.
    #[allow(clippy::too_many_arguments, reason = "one step down, with everything known about it")]
    fn reject_inner(
        &mut self,
        node: NodeId,
        inner: NodeId,
        keyword: &'static str,
        below: String,
        value: &Value,
        instance: &str,
        out: &mut Vec<Rejected>,
    ) {
        let before = out.len();
        self.reject(inner, value, instance, out);
        for rejected in &mut out[before..] {
            if rejected.keyword == "false" {
                rejected.node = node;
                rejected.keyword = keyword;
                rejected.below.clone_from(&below);
            }
            if rejected.site.is_none() {
                rejected.site = Some((node, below.clone()));
            }
        }
    }

    fn tally_items(&mut self, node: NodeId, items: &[Value]) -> u64 {
        items.iter().filter(|item| self.holds(node, item) == Truth::True).count() as u64
    }

    /// In a union where all but one branch are of another type, that branch is the one to explain.
    fn reject_union(
        &mut self,
        nodes: &[NodeId],
        value: &Value,
        instance: &str,
        out: &mut Vec<Rejected>,
    ) {
        let mut close = Vec::new();
        for &node in nodes {
            let mut own = Vec::new();
            self.reject(node, value, instance, &mut own);
            let another = |rejected: &Rejected| {
                let tag =
                    rejected.instance.matches('/').count() <= instance.matches('/').count() + 1;
                (rejected.instance == instance && matches!(rejected.keyword, "type" | "false"))
                    || (tag && matches!(rejected.keyword, "const" | "enum"))
            };
            if !own.iter().any(another) {
                close.push(own);
            }
        }
        if close.len() == 1 {
            out.append(&mut close[0]);
        }
    }
}

/// The keyword that governs the item at an index, and its path below the node.
pub(crate) fn items_keyword(rule: &Items, at: usize, tuple: bool) -> (&'static str, String) {
    match (at < rule.prefix.len(), tuple) {
        (true, false) => ("prefixItems", format!("prefixItems/{at}")),
        (true, true) => ("items", format!("items/{at}")),
        (false, true) => ("additionalItems", "additionalItems".into()),
        (false, false) => ("items", "items".into()),
    }
}
