//! The import table of ARCHITECTURE.md says what `cargo metadata` says.

use crate::repo::{self, Complaints, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Crate to the crates of ours that it imports, both by folder name.
type Table = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check() -> Result<()> {
    let metadata = repo::output(
        &repo::cargo(),
        &["metadata", "--format-version", "1", "--no-deps", "--offline"],
    )?;
    let metadata: Value = match serde_json::from_str(&metadata) {
        Ok(value) => value,
        Err(error) => return Complaints::one(format!("cargo metadata: {error}")),
    };
    let written = written(&repo::read("ARCHITECTURE.md")?);
    let real = real(&metadata);
    if written == real {
        return Ok(());
    }
    let mut complaints = Complaints::default();
    let names: BTreeSet<_> = written.keys().chain(real.keys()).collect();
    for name in names {
        let (said, is) = (written.get(name), real.get(name));
        complaints.check(said == is, || {
            format!(
                "ARCHITECTURE.md, import table, `{name}`: it says {}, cargo says {}",
                shown(said),
                shown(is)
            )
        });
    }
    complaints.verdict()
}

fn shown(imports: Option<&BTreeSet<String>>) -> String {
    match imports {
        None => "nothing of such a crate".to_owned(),
        Some(set) if set.is_empty() => "no imports".to_owned(),
        Some(set) => set.iter().cloned().collect::<Vec<_>>().join(", "),
    }
}

/// The rows between the two marks: `| crate | is | imports | … |`.
fn written(text: &str) -> Table {
    let Some((_, rest)) = text.split_once("<!-- import table -->") else {
        return Table::new();
    };
    let rows = rest.split_once("<!-- end -->").map_or(rest, |(rows, _)| rows);
    rows.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells.get(1)?.trim_matches('`').to_owned();
            let imports =
                cells.get(3)?.split(',').map(|part| part.trim().trim_matches('`').to_owned());
            Some((name, imports.filter(|import| !import.is_empty() && import != "–").collect()))
        })
        .collect()
}

/// The same from the manifests; development and build dependencies do not count.
fn real(metadata: &Value) -> Table {
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    let folder = |manifest: &str| {
        manifest.trim_end_matches("/Cargo.toml").rsplit('/').next().map(str::to_owned)
    };
    let folders: BTreeMap<String, String> = packages
        .iter()
        .filter_map(|package| {
            Some((
                package["name"].as_str()?.to_owned(),
                folder(package["manifest_path"].as_str()?)?,
            ))
        })
        .collect();
    packages
        .iter()
        .filter_map(|package| {
            let name = folders.get(package["name"].as_str()?)?.clone();
            let imports = package["dependencies"]
                .as_array()?
                .iter()
                .filter(|dependency| dependency["kind"].is_null());
            let ours =
                imports.filter_map(|dependency| folders.get(dependency["name"].as_str()?).cloned());
            Some((name, ours.collect()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn table_and_manifests_are_read_alike() {
        let text = "<!-- import table -->\n| crate | is | imports |\n| --- | --- | --- |\n| `a` | x | – |\n| `b` | y | `a` |\n<!-- end -->\n| `c` | z | `a` |";
        let metadata = json!({"packages": [
            {"name": "our-a", "manifest_path": "/x/crates/a/Cargo.toml", "dependencies": [{"name": "serde", "kind": null}]},
            {"name": "our-b", "manifest_path": "/x/crates/b/Cargo.toml",
             "dependencies": [{"name": "our-a", "kind": null}, {"name": "our-b", "kind": "dev"}]},
        ]});
        assert_eq!(written(text), real(&metadata));
        assert_ne!(written(&text.replace("| `b` | y | `a` |", "| `b` | y | – |")), real(&metadata));
    }
}
