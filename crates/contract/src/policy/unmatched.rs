//! Names in the settings that name nothing: a typing error must not silence a finding.

use super::{Day, Settings, Standing, about_settings};
use crate::change::{Change, Diff};
use crate::decision::DecisionMap;
use crate::decision::places::{Known, declared, spelled};
use crate::document::{Bundle, Contract, ToolList};
use crate::text::quoted;
use crate::view::{Node, Source};
use serde_json::Value;
use std::collections::BTreeSet;

impl Settings {
    /// Applies the policy, and adds a finding (SF903) for each name in the settings or the
    /// decision map that names nothing in either contract.
    pub fn apply(
        &self,
        diff: &mut Diff,
        old: &Contract,
        new: &Contract,
        decisions: Option<&DecisionMap>,
        today: Day,
    ) -> Standing {
        let mut own = Vec::new();
        for (from, to) in &self.renames {
            let place = match (is_listed(old, from), is_listed(new, to)) {
                (true, true) => continue,
                (false, _) => format!("the old contract has no tool {}", quoted(from)),
                (true, false) => format!("the new contract has no tool {}", quoted(to)),
            };
            own.push(nothing(
                from,
                &format!("The rename of {} to {}", quoted(from), quoted(to)),
                &place,
            ));
        }
        for note in self.reviews.iter().filter(|note| note.subject != "*") {
            if !is_listed(old, &note.subject) && !is_listed(new, &note.subject) {
                let what = format!("The review note on {}", quoted(&note.subject));
                own.push(nothing(&note.subject, &what, "neither contract has it"));
            }
        }
        for name in decisions.map(|map| unread(map, old, new)).unwrap_or_default() {
            let what = format!("The decision map's part on {}", quoted(&name));
            own.push(nothing(&name, &what, "neither contract has it"));
        }
        for (subject, line) in decisions.map(|map| nowhere(map, old, new)).unwrap_or_default() {
            let what = format!("The decision map's line {} of {}", quoted(&line), quoted(&subject));
            own.push(nothing(
                &format!("{subject} {line}"),
                &what,
                "neither contract declares that place",
            ));
        }
        self.policy.apply_beside(diff, today, own)
    }
}

fn nothing(name: &str, what: &str, why: &str) -> Change {
    let sentence = format!("{what} names nothing: {why}. Correct or remove it.");
    about_settings("SF903", name, None, sentence)
}

/// Whether a contract has a tool or operation of this name. A schema has no names.
fn is_listed(contract: &Contract, name: &str) -> bool {
    match contract {
        Contract::Tools(list) => has_tool(list, name),
        Contract::Openapi(bundle) => operations(bundle).contains(name),
        Contract::Schema(_) => true,
    }
}

fn has_tool(list: &ToolList, name: &str) -> bool {
    list.tools.iter().any(|tool| tool.name == name)
}

/// Operations by `METHOD /path` and by `operationId`.
fn operations(bundle: &Bundle) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = crate::lock::operations(bundle).into_keys().collect();
    let paths = bundle.root.get("paths").and_then(|paths| paths.as_object());
    for item in paths.into_iter().flat_map(|paths| paths.values()) {
        let ids = item.as_object().into_iter().flat_map(|item| item.values());
        names.extend(
            ids.filter_map(|operation| operation.get("operationId")?.as_str()).map(str::to_owned),
        );
    }
    names
}

/// Lines of the map about places that neither contract declares: the name, and the line.
fn nowhere(map: &DecisionMap, old: &Contract, new: &Contract) -> Vec<(String, String)> {
    match (old, new) {
        (Contract::Openapi(old), Contract::Openapi(new)) => {
            crate::openapi::unknown_places(map, old, new)
        }
        (Contract::Tools(old), Contract::Tools(new)) => {
            let mut found = Vec::new();
            for (name, surface) in &map.tools {
                let tools: Vec<_> = [old, new]
                    .iter()
                    .flat_map(|list| list.tools.iter().filter(|tool| tool.name == *name))
                    .collect();
                for (member, lines) in
                    [("inputSchema", &surface.request), ("outputSchema", &surface.response)]
                {
                    let schemas = || tools.iter().map(|tool| tool.raw.get(member));
                    for line in lines {
                        let known = schemas().map(|schema| match schema {
                            Some(schema) => declared(&root(schema), &line.path),
                            // A tool that describes no answer may answer anything.
                            None => Known::Unsaid,
                        });
                        if known.max() == Some(Known::No) {
                            found.push((name.clone(), spelled(line)));
                        }
                    }
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

fn root(schema: &Value) -> Node<'_> {
    Node { source: Source::single(schema), file: "", pointer: String::new(), value: schema }
}

fn unread(map: &DecisionMap, old: &Contract, new: &Contract) -> Vec<String> {
    match (old, new) {
        (Contract::Openapi(old), Contract::Openapi(new)) => {
            crate::openapi::unknown_subjects(map, old, new)
        }
        (Contract::Tools(old), Contract::Tools(new)) => map
            .tools
            .keys()
            .filter(|name| !has_tool(old, name) && !has_tool(new, name))
            .cloned()
            .collect(),
        _ => Vec::new(),
    }
}
