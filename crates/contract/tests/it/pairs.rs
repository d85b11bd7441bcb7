//! Reads a pair of contracts from files or from the blocks of a page, and writes down what `diff` says of it.

use contract::policy::{Day, Settings};
use contract::{Bundle, Contract, Diff, Kind, Options, Tool, ToolList, diff};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a text holds: a list of tools, one tool, an OpenAPI document or a JSON Schema.
pub fn contract(name: &str, text: &str, yaml: bool) -> Contract {
    let value: Value = if yaml {
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
    } else {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let bundle = |root| Bundle { name: name.to_owned(), root, ..Bundle::default() };
    if value.get("openapi").is_some() {
        return Contract::Openapi(bundle(value));
    }
    let listed = match value.get("tools").and_then(Value::as_array) {
        Some(listed) => listed.clone(),
        None if value.get("name").is_some() && value.get("inputSchema").is_some() => vec![value],
        None => return Contract::Schema(bundle(value)),
    };
    let tools = listed
        .into_iter()
        .map(|raw| Tool {
            name: raw["name"].as_str().expect("a tool has a name").to_owned(),
            raw,
            ordinal: None,
        })
        .collect();
    Contract::Tools(ToolList { name: name.to_owned(), tools, ..ToolList::default() })
}

/// `old` or `new` of a fixture folder, as JSON or YAML.
pub fn side(folder: &Path, side: &str) -> Contract {
    for (ending, yaml) in [("json", false), ("yaml", true)] {
        let path = folder.join(format!("{side}.{ending}"));
        if path.exists() {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            return contract(&path.display().to_string(), &text, yaml);
        }
    }
    panic!("{}: neither {side}.json nor {side}.yaml", folder.display());
}

/// Compares, and stops the test where a document cannot be read.
pub fn compare(place: &str, old: &Contract, new: &Contract, options: &Options) -> Diff {
    diff(old, new, options).unwrap_or_else(|problems| panic!("{place}: {problems:?}"))
}

/// Applies the settings of a fixture or page, on a day that never moves.
pub fn accept(settings: &str, found: &mut Diff) {
    let settings = Settings::read("steadfast.toml", settings)
        .unwrap_or_else(|problems| panic!("{problems:?}"));
    settings.policy.apply(found, Day { year: 2026, month: 12, day: 1 });
}

/// The codes that a comparison reports.
pub fn codes(found: &Diff) -> Vec<&'static str> {
    let mut codes: Vec<_> =
        found.entries.iter().flat_map(|entry| &entry.changes).map(|change| change.rule).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Everything a reviewer must see move when a rule moves: codes, verdicts, axes and places, no wording.
pub fn written(found: &Diff) -> String {
    let kind = match found.kind {
        Kind::Tools => "tools",
        Kind::Openapi => "openapi",
        Kind::Schema => "schema",
    };
    let mut text = format!("{kind}: {}\n", word(&found.verdict));
    for entry in &found.entries {
        text.push_str(&format!(
            "{}: {} {} ({} {} {})\n",
            entry.subject.name(),
            word(&entry.verdict),
            word(&entry.class),
            word(&entry.axes.compat),
            word(&entry.axes.authority),
            word(&entry.axes.meaning),
        ));
        if let Some(heir) = &entry.renamed_to {
            text.push_str(&format!("  renamed to {}\n", heir.name));
        }
        for change in &entry.changes {
            let witness = change
                .witness
                .as_ref()
                .map(|witness| format!("  {}", witness.value))
                .unwrap_or_default();
            text.push_str(&format!(
                "  {} {} {}{witness}\n",
                change.rule,
                word(&change.verdict),
                change.path
            ));
        }
    }
    text
}

fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        other => panic!("not a word: {other:?}"),
    }
}
