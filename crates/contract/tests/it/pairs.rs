//! Reads a pair of contracts from files or from the blocks of a page, and writes down what `diff` says of it.

use contract::policy::{Day, Settings};
use contract::{Bundle, Contract, Diff, Kind, Options, diff};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The day on which every fixture is judged.
const TODAY: Day = Day { year: 2026, month: 12, day: 1 };

/// The repository's root.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Two texts to compare, and the settings of the project, as far as there are any.
pub struct Pair {
    /// Where it stands, for complaints.
    pub place: String,
    old: Contract,
    new: Contract,
    settings: Option<Settings>,
}

impl Pair {
    /// From texts; their names tell the notation.
    pub fn of_texts(
        place: &str,
        old: (&str, &str),
        new: (&str, &str),
        settings: Option<&str>,
    ) -> Pair {
        Pair {
            place: place.to_owned(),
            old: contract(old.0, old.1, BTreeMap::new()),
            new: contract(new.0, new.1, BTreeMap::new()),
            settings: settings.map(|text| {
                Settings::read(place, text).unwrap_or_else(|problems| panic!("{problems:#?}"))
            }),
        }
    }

    /// From a fixture folder: `old` and `new` as JSON or YAML, `steadfast.toml` where there is one.
    pub fn of_folder(folder: &Path) -> Pair {
        let (old, new) = (side(folder, "old"), side(folder, "new"));
        let settings = fs::read_to_string(folder.join("steadfast.toml")).ok();
        Pair::of_texts(
            &folder.display().to_string(),
            (&old.0, &old.1),
            (&new.0, &new.1),
            settings.as_deref(),
        )
    }

    /// Compares under the settings. Without any no policy is applied.
    pub fn compare(&self) -> Diff {
        self.compared(&self.old, &self.new)
    }

    /// Each side compared with itself, and its name. The settings play no part.
    pub fn with_themselves(&self) -> [(&'static str, Diff); 2] {
        let alone = |side: &Contract| diff(side, side, &Options::default()).expect("one contract");
        [("old", alone(&self.old)), ("new", alone(&self.new))]
    }

    fn compared(&self, old: &Contract, new: &Contract) -> Diff {
        let options = match &self.settings {
            None => Options::default(),
            Some(settings) => Options {
                lexicon: settings.lexicon.clone(),
                renames: settings.renames.clone(),
                ..Options::default()
            },
        };
        let mut found = diff(old, new, &options)
            .unwrap_or_else(|problems| panic!("{}: {problems:#?}", self.place));
        if let Some(settings) = &self.settings {
            settings.apply(&mut found, old, new, None, TODAY);
        }
        found
    }
}

/// Problems of a document (a blank schema, say) are judged elsewhere: here it is compared as far as it can be.
fn contract(name: &str, text: &str, files: BTreeMap<String, Value>) -> Contract {
    let root = contract::text::read(name, text.as_bytes())
        .unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
    contract::document::read(Bundle { name: name.to_owned(), root, files })
        .unwrap_or_else(|problems| panic!("{name}: {problems:#?}"))
        .contract
}

/// Path and text of one side of a fixture.
fn side(folder: &Path, side: &str) -> (String, String) {
    for ending in ["json", "yaml"] {
        let path = folder.join(format!("{side}.{ending}"));
        if path.exists() {
            let text = fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            return (path.display().to_string(), text);
        }
    }
    panic!("{}: neither {side}.json nor {side}.yaml", folder.display());
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

/// What a page tells of its example: verdicts, sentences and witnesses.
pub fn told(found: &Diff) -> String {
    let mut text = String::new();
    for entry in &found.entries {
        text.push_str(&format!(
            "{}: {} ({}, authority {}, meaning {})\n",
            entry.subject.name(),
            word(&entry.verdict),
            word(&entry.axes.compat),
            word(&entry.axes.authority),
            word(&entry.axes.meaning),
        ));
        for change in &entry.changes {
            text.push_str(&format!(
                "  {} {}: {}\n",
                change.rule,
                word(&change.verdict),
                change.sentence
            ));
            if let Some(witness) = &change.witness {
                let side = word(&witness.accepted_by);
                text.push_str(&format!("    {} fits the {side} side only\n", witness.value));
            }
            if !change.decisions.is_empty() {
                let decisions: Vec<String> = change.decisions.iter().map(word).collect();
                let guessed = if change.decisions_guessed { " (guessed)" } else { "" };
                text.push_str(&format!("    feeds {}{guessed}\n", decisions.join(", ")));
            }
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
