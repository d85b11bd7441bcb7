//! Runs the binary in a fresh folder, and says what came of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A fresh folder.
pub struct Folder {
    root: TempDir,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Folder {
    /// An empty one.
    pub fn new() -> Folder {
        Folder { root: tempfile::tempdir().expect("a temporary folder") }
    }

    /// Puts a file into it.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> &Folder {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
        self
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What a file in it holds.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of all files directly in it.
    pub fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.root.path()).expect("a folder");
        entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Runs the binary here.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_with(arguments, b"")
    }

    /// Runs the binary here, with something on standard input.
    pub fn run_with(&self, arguments: &[&str], input: &[u8]) -> Outcome {
        let mut child = command(self.root.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        // A run that does not read its input may close it early.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
        let output = child.wait_with_output().expect("the binary ends");
        let outcome = Outcome {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            err: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        };
        assert_ne!(outcome.code, 70, "a bug: {arguments:?}\n{}", outcome.err);
        outcome
    }
}

impl Outcome {
    /// Expects an exit code.
    pub fn code(self, code: i32) -> Outcome {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Expects something on standard output.
    pub fn says(self, part: &str) -> Outcome {
        assert!(self.out.contains(part), "no {part:?} in\n{}\n{}", self.out, self.err);
        self
    }

    /// Expects something to be missing on standard output.
    pub fn does_not_say(self, part: &str) -> Outcome {
        assert!(!self.out.contains(part), "{part:?} in\n{}", self.out);
        self
    }

    /// Expects something on standard error.
    pub fn complains(self, part: &str) -> Outcome {
        assert!(self.err.contains(part), "no {part:?} in\n{}\n{}", self.err, self.out);
        self
    }

    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{}", self.out))
    }
}

/// The binary in a folder, without anything of the caller's environment that changes what it says.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_steadfast"));
    command.current_dir(folder);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "STEADFAST_BEARER", "STEADFAST_TIMEOUT"]
    {
        command.env_remove(name);
    }
    command
}

/// A list with one tool, `t`, whose arguments are the given properties and required names.
pub fn list(properties: &str, required: &str) -> String {
    format!(
        r#"{{"tools":[{{"name":"t","description":"Does it.","inputSchema":{{"type":"object","properties":{properties},"required":{required}}}}}]}}"#
    )
}

/// A harmless list.
pub fn plain() -> String {
    list(r#"{"a":{"type":"string"}}"#, r#"["a"]"#)
}

/// The same with one more argument that must be sent.
pub fn broken() -> String {
    list(r#"{"a":{"type":"string"},"b":{"type":"string"}}"#, r#"["a","b"]"#)
}

/// The same with one more argument that may be sent.
pub fn grown() -> String {
    list(r#"{"a":{"type":"string"},"note":{"type":"string"}}"#, r#"["a"]"#)
}
