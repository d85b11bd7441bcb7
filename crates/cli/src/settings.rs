//! The project's settings: steadfast.toml and the decision map it names.

use crate::exit::Failure;
use crate::files;
use clap::Args;
use contract::decision::DecisionMap;
use contract::policy::Settings;
use contract::{Options, Problem};
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
        self.found(self.config.clone().or_else(default))
    }

    /// Reads the named settings only: what is compared then depends on nothing that was not typed.
    pub fn read_named(&self) -> Result<Found, Failure> {
        self.found(self.config.clone())
    }

    /// Reads the named settings, or `steadfast.toml` in the current folder where there is one, as far as they can be read:
    /// the problems stand beside what was found, for a command that has more to look at in the same round.
    pub fn read_what_can_be(&self) -> Result<(Found, Vec<Problem>), Failure> {
        self.whole(self.config.clone().or_else(default))
    }

    fn found(&self, file: Option<String>) -> Result<Found, Failure> {
        let (found, problems) = self.whole(file)?;
        if problems.is_empty() { Ok(found) } else { Err(problems.into()) }
    }

    fn whole(&self, file: Option<String>) -> Result<(Found, Vec<Problem>), Failure> {
        let (settings, mut problems) = match &file {
            Some(file) => {
                let bytes = files::read(file)?;
                let text = std::str::from_utf8(&bytes).map_err(|_| {
                    Failure::one(file, "The file is not UTF-8.", "Save it as UTF-8.")
                })?;
                Settings::read_what_can_be(file, text)
            }
            None => (Settings::default(), Vec::new()),
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
            match decision_map(&map) {
                Ok(map) => options.decisions = Some(map),
                Err(failure) => problems.extend(failure.problems),
            }
        }
        Ok((Found { settings, file, options }, problems))
    }
}

/// The settings that are there without being named.
fn default() -> Option<String> {
    Path::new(DEFAULT).exists().then(|| DEFAULT.to_owned())
}

fn decision_map(path: &str) -> Result<DecisionMap, Failure> {
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::one(path, "The decision map is no text in UTF-8.", "Save it as UTF-8.")
    })?;
    Ok(DecisionMap::parse(path, &text)?)
}
