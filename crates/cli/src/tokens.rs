//! The file with the hashes of bearer tokens, beside the store.

use crate::exit::Failure;
use crate::files;
use gateway::front::token::Tokens;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where the tokens of a store are kept.
pub fn path(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".tokens");
    PathBuf::from(name)
}

/// Reads them; none where there is no file.
pub fn read(path: &Path) -> Result<Tokens, Failure> {
    let shown = path.display().to_string();
    let bytes = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Tokens::default()),
        Err(error) => return Err(files::unreadable(&shown, &error)),
        Ok(_) => files::read(&shown)?,
    };
    Tokens::read(&String::from_utf8_lossy(&bytes)).map_err(|wrong| Failure {
        problems: wrong
            .into_iter()
            .map(|sentence| contract::Problem {
                place: shown.clone(),
                sentence,
                help: "steadfast token writes this file; put it back from a backup, or remove the line.".to_owned(),
            })
            .collect(),
    })
}

/// Writes them, for the owner alone.
pub fn write(path: &Path, tokens: &Tokens) -> Result<(), Failure> {
    files::write_private(path, &tokens.to_text())
}

/// When the file was last written.
pub fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|known| known.modified()).ok()
}
