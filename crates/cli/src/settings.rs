//! The project's settings: steadfast.toml and the decision map it names.

use crate::exit::Failure;
use crate::files;
use clap::Args;
use contract::Options;
use contract::decision::DecisionMap;
use contract::policy::Settings;
use std::path::Path;

/// Where settings are looked for when none are named.
const DEFAULT: &str = "steadfast.toml";

/// Flags that name settings.
#[derive(Debug, Args)]
pub struct SettingsArgs {
    /// The project's settings: policy, suppressions, words, renames
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// Which values reach which decision of the agent (a YAML file)
    #[arg(long, value_name = "FILE")]
    pub decision_map: Option<String>,
}

/// Settings as they were found, and where.
pub struct Found {
    /// What the file says; the defaults without one.
    pub settings: Settings,
    /// The file that was read.
    pub file: Option<String>,
    /// What a comparison needs of it.
    pub options: Options,
}

impl SettingsArgs {
    /// Reads the named settings, or `steadfast.toml` in the current folder where there is one.
    pub fn read_or_default(&self) -> Result<Found, Failure> {
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None => Path::new(DEFAULT).exists().then(|| DEFAULT.to_owned()),
        };
        self.found(file)
    }

    /// Reads the named settings only: what is compared then depends on nothing that was not typed.
    pub fn read_named(&self) -> Result<Found, Failure> {
        self.found(self.config.clone())
    }

    fn found(&self, file: Option<String>) -> Result<Found, Failure> {
        let settings = match &file {
            Some(file) => {
                let bytes = files::read(file)?;
                let text = std::str::from_utf8(&bytes).map_err(|_| {
                    Failure::one(file, "The file is not UTF-8.", "Save it as UTF-8.")
                })?;
                Settings::read(file, text)?
            }
            None => Settings::default(),
        };
        let mut options = Options {
            lexicon: settings.lexicon.clone(),
            renames: settings.renames.clone(),
            ..Options::default()
        };
        let map = self.decision_map.clone().or_else(|| {
            // A path in a file is taken from the folder of that file.
            let named = settings.decision_map.as_ref()?;
            let folder = Path::new(file.as_ref()?).parent()?;
            Some(folder.join(named).display().to_string())
        });
        if let Some(map) = map {
            options.decisions = Some(decision_map(&map)?);
        }
        Ok(Found { settings, file, options })
    }
}

fn decision_map(path: &str) -> Result<DecisionMap, Failure> {
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::one(path, "The decision map is no text in UTF-8.", "Save it as UTF-8.")
    })?;
    Ok(DecisionMap::parse(path, &text)?)
}
