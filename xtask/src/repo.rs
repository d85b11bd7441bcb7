//! The repository: its root, its files, its commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Complaints, one sentence each, every one with its place.
#[derive(Debug, Default)]
pub struct Complaints(pub Vec<String>);

/// Fine, or everything that is wrong.
pub type Result<T> = std::result::Result<T, Complaints>;

impl Complaints {
    /// One complaint, as the result of a step that cannot go on.
    pub fn one<T>(sentence: impl Into<String>) -> Result<T> {
        Err(Complaints(vec![sentence.into()]))
    }

    /// Adds a complaint where something does not hold.
    pub fn check(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.0.push(sentence());
        }
    }

    /// Takes over the complaints of a part.
    pub fn absorb(&mut self, part: Result<()>) {
        if let Err(more) = part {
            self.0.extend(more.0);
        }
    }

    /// Fine where there is none.
    pub fn verdict(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

/// The root folder of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Every file that is tracked or would be: paths relative to the root, `/`-separated, sorted.
pub fn files() -> Result<Vec<String>> {
    let listed = output("git", &["ls-files", "--cached", "--others", "--exclude-standard"])?;
    let mut files: Vec<String> =
        listed.lines().map(str::to_owned).filter(|path| root().join(path).is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// Reads a text file by its path relative to the root.
pub fn read(path: &str) -> Result<String> {
    fs::read_to_string(root().join(path))
        .or_else(|error| Complaints::one(format!("{path}: {error}")))
}

/// Writes a text file by its path relative to the root, with its folders.
pub fn write(path: &str, text: &str) -> Result<()> {
    let whole = root().join(path);
    let made =
        whole.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&whole, text));
    made.or_else(|error| Complaints::one(format!("{path}: {error}")))
}

/// Runs a program in the root folder and returns what it printed.
pub fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let done = Command::new(program).args(arguments).current_dir(root()).output();
    let shown = || format!("{program} {}", arguments.join(" "));
    match done {
        Err(error) => Complaints::one(format!("{}: {error}", shown())),
        Ok(done) if !done.status.success() => {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            Complaints::one(format!("{}: {} {said}", shown(), done.status))
        }
        Ok(done) => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
    }
}

/// The cargo that runs this tool.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}
