//! Drift tests: an old plan against a server that changed under the live connection.
//!
//! A [scenario](scenario::Scenario) is a file that reads like the story it tests. `parse` turns it into values and
//! says everything that is wrong with it, `run` starts what it names and plays the client, `judge` holds what was
//! seen against what must be seen. Only `run`, `peer` and `relay` touch processes; the rest is pure.

mod check;
mod client;
pub mod drill;
mod judge;
pub mod keep;
mod parse;
mod peer;
mod relay;
mod run;
pub mod scenario;
mod steps;

use crate::plan::Planned;
use crate::read::Document;
use crate::report::{Case, Verdict};
use contract::Problem;
use std::path::Path;
use std::sync::Arc;

pub use relay::relay;

/// The scenarios that `steadfast test --init drift/` writes: name and text.
const READY: &[(&str, &str)] = &[
    ("optional-added.yaml", include_str!("../../../../drift/optional-added.yaml")),
    ("required-with-history.yaml", include_str!("../../../../drift/required-with-history.yaml")),
    ("required-authority.yaml", include_str!("../../../../drift/required-authority.yaml")),
    ("meaning-moved.yaml", include_str!("../../../../drift/meaning-moved.yaml")),
    ("output-added.yaml", include_str!("../../../../drift/output-added.yaml")),
    (
        "output-identifier-removed.yaml",
        include_str!("../../../../drift/output-identifier-removed.yaml"),
    ),
    ("stale-call-repeated.yaml", include_str!("../../../../drift/stale-call-repeated.yaml")),
    ("notice-after-the-call.yaml", include_str!("../../../../drift/notice-after-the-call.yaml")),
    ("refresh-fails.yaml", include_str!("../../../../drift/refresh-fails.yaml")),
    ("reconnect-in-between.yaml", include_str!("../../../../drift/reconnect-in-between.yaml")),
    ("change-in-flight.yaml", include_str!("../../../../drift/change-in-flight.yaml")),
    ("past-the-window.yaml", include_str!("../../../../drift/past-the-window.yaml")),
    ("notice-alone.yaml", include_str!("../../../../drift/notice-alone.yaml")),
];

/// The scenarios that `steadfast test --init clients/` writes, for a client that the variable `CLIENT` starts.
const FOR_CLIENTS: &[(&str, &str)] = &[
    ("notice-alone.yaml", include_str!("../../../../peers/clients/notice-alone.yaml")),
    ("optional-added.yaml", include_str!("../../../../peers/clients/optional-added.yaml")),
    ("required-authority.yaml", include_str!("../../../../peers/clients/required-authority.yaml")),
    ("meaning-moved.yaml", include_str!("../../../../peers/clients/meaning-moved.yaml")),
    (
        "meaning-moved-guarded.yaml",
        include_str!("../../../../peers/clients/meaning-moved-guarded.yaml"),
    ),
    ("output-added.yaml", include_str!("../../../../peers/clients/output-added.yaml")),
    (
        "output-identifier-removed.yaml",
        include_str!("../../../../peers/clients/output-identifier-removed.yaml"),
    ),
    (
        "output-identifier-removed-guarded.yaml",
        include_str!("../../../../peers/clients/output-identifier-removed-guarded.yaml"),
    ),
];

/// Reads a scenario from its file, and the files that it names beside itself.
///
/// # Errors
/// All problems at once, each with line and column.
pub fn load(path: &Path, document: &Document) -> Result<Vec<Planned>, Vec<Problem>> {
    let open = |path: &Path| std::fs::read(path);
    let scenario = parse::scenario(path, document, &open)?;
    let place = path.display().to_string();
    Ok(vec![Planned {
        name: scenario.name.clone(),
        place: place.clone(),
        run: Box::new(move |setting: Arc<crate::plan::Setting>| {
            Box::pin(async move {
                let mut cases = Vec::new();
                for transport in &scenario.transports {
                    let mut case = run::run(&scenario, *transport, &place, &setting).await;
                    if scenario.transports.len() > 1 {
                        case.name = format!("{}/{}", scenario.name, transport.word());
                    }
                    cases.push(case);
                }
                if let Some(only) = &setting.only {
                    cases.retain(|case| case.name == *only || scenario.name == *only);
                    if cases.is_empty() {
                        cases.push(no_case(only, &place));
                    }
                }
                cases
            })
        }),
    }])
}

/// The tools about which a scenario shows that a real server says so itself once its new list can be read: it waits
/// until it is told, then looks, and is shown what holds after. None where it shows something else.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn announced(path: &Path, document: &Document) -> Result<Vec<String>, Vec<Problem>> {
    use scenario::{Deed, Server, Shown, Target};
    let scenario = parse::scenario(path, document, &|path| std::fs::read(path))?;
    let (Target::Server, Server::Real(_)) = (scenario.target, &scenario.server) else {
        return Ok(Vec::new());
    };
    let mut deeds = scenario.steps.iter().map(|step| &step.deed);
    let switched = deeds.any(|deed| matches!(deed, Deed::Switch));
    let own_word = deeds.next().is_some_and(|deed| matches!(deed, Deed::Told));
    let looked = deeds.next().is_some_and(|deed| matches!(deed, Deed::List(Some(Shown::After))));
    if !(switched && own_word && looked) {
        return Ok(Vec::new());
    }
    let [before, after] = scenario.server.lists().map(Option::unwrap_or_default);
    let named = |list: &[serde_json::Value], name: &serde_json::Value| {
        list.iter().find(|tool| tool["name"] == *name).cloned()
    };
    let names = before.iter().chain(after).map(|tool| &tool["name"]);
    let moved = names.filter(|name| named(before, name) != named(after, name));
    let mut moved: Vec<String> =
        moved.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    moved.sort();
    moved.dedup();
    Ok(moved)
}

/// What is told where nothing has the name that was asked for: silence would pass.
fn no_case(name: &str, place: &str) -> Case {
    Case {
        name: name.to_owned(),
        place: place.to_owned(),
        found: Verdict::NotRun,
        sentence: "there is no case of this name".to_owned(),
        evidence: Vec::new(),
        steps: 0,
        checks: 0,
    }
}

/// A ready scenario, read.
pub(crate) fn ready_scenario(name: &str) -> scenario::Scenario {
    let file = format!("{name}.yaml");
    let (_, text) =
        READY.iter().find(|(known, _)| *known == file).expect("its name is in the table");
    let document = Document::parse(&file, text.as_bytes()).expect("a test reads every ready file");
    let none = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    parse::scenario(Path::new(&file), &document, &none).expect("a test reads every ready file")
}

/// The ready scenarios: name and text of each file.
pub fn ready() -> Vec<(String, String)> {
    READY.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

/// The ready scenarios for a client under test: name and text of each file.
pub fn ready_for_clients() -> Vec<(String, String)> {
    FOR_CLIENTS.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ready_file_is_a_scenario_of_its_name() {
        for (file, _) in READY {
            let name = file.trim_end_matches(".yaml");
            assert_eq!(ready_scenario(name).name, name);
        }
    }
}
