//! The six drift events, for a demonstration: the ready scenarios of the same names, told and played by hand.

use crate::drift::{self, scenario::Deed, scenario::Scenario, scenario::Server};
use crate::script::Script;
use serde_json::Value;

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its name: a word for the command line.
    pub name: String,
    /// What happens to the tool, in words.
    pub change: String,
    /// What must come of the old call, in words.
    pub expected: String,
    /// The server before and after.
    pub script: Script,
    /// An adapter that a person declared for it, in TOML.
    pub adapter: Option<String>,
    /// The tool of the call that was planned before.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// The events, in the order in which they are told.
const NAMES: [&str; 6] = [
    "optional-added",
    "required-with-history",
    "required-authority",
    "meaning-moved",
    "output-added",
    "output-identifier-removed",
];

/// The six events.
pub fn all() -> Vec<Event> {
    NAMES.iter().map(|name| event(drift::ready_scenario(name))).collect()
}

fn event(scenario: Scenario) -> Event {
    let Server::Made { before, after } = scenario.server else {
        unreachable!("ready scenarios need no program");
    };
    let planned = scenario.steps.iter().find_map(|step| match &step.deed {
        Deed::Plan { call, .. } => Some(call.clone()),
        _ => None,
    });
    let call = planned.expect("a scenario plans what it calls");
    let story = scenario.story.split_whitespace().collect::<Vec<_>>().join(" ");
    let (change, expected) = story.split_once(". ").unwrap_or((&story, ""));
    Event {
        name: scenario.name,
        change: change.to_owned(),
        expected: expected.trim_end_matches('.').to_owned(),
        script: Script { phases: vec![before, after], announces: true, ..Script::default() },
        adapter: scenario.adapters,
        tool: call.tool,
        arguments: call.arguments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_a_ready_scenario_with_a_story() {
        for event in all() {
            assert!(!event.change.is_empty() && !event.expected.is_empty(), "{}", event.name);
        }
    }
}
