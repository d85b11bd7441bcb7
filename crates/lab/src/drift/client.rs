//! A client under test: a process that is told how to start the server, and whose events are read when it has ended.

use super::scenario::{ClientEvents, UnderTest};
use crate::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};

/// The variables by which a client is told how to start the server: as a line for a shell, and as a JSON array.
const SERVER: &str = "STEADFAST_SERVER";
const SERVER_JSON: &str = "STEADFAST_SERVER_JSON";

/// A client that runs, in a process group of its own that does not outlive this value.
pub struct Client {
    child: Child,
    group: Option<Pid>,
    /// What it writes to its standard output and error.
    written: PathBuf,
    folder: PathBuf,
    events: Option<ClientEvents>,
    /// Bytes that its event file had before it was started: of an earlier run.
    earlier: u64,
}

/// How a client ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code; a signal is 128 and its number, as in a shell.
    Code(i32),
    /// It was ended because its time was over.
    Hung,
}

impl Client {
    /// Starts it in the folder of the scenario. `scratch` is a folder for what it writes.
    ///
    /// # Errors
    /// Where it cannot be started, in a sentence.
    pub fn start(
        under_test: &UnderTest,
        server: &[String],
        folder: &Path,
        scratch: &Path,
    ) -> Result<Client, String> {
        let (program, arguments) = under_test.command.split_first().ok_or("no client is named")?;
        let earlier = match &under_test.events {
            Some(ClientEvents::File(path)) => {
                std::fs::metadata(folder.join(path)).map_or(0, |known| known.len())
            }
            _ => 0,
        };
        let written = scratch.join("client.txt");
        let file = std::fs::File::create(&written).map_err(|why| why.to_string())?;
        let other = file.try_clone().map_err(|why| why.to_string())?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env(
                SERVER,
                server.iter().map(|word| crate::report::quoted(word)).collect::<Vec<_>>().join(" "),
            )
            .env(SERVER_JSON, serde_json::Value::from(server.to_vec()).to_string())
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(other)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| format!("the client `{program}` cannot be started: {why}"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Client {
            child,
            group,
            written,
            folder: folder.to_owned(),
            events: under_test.events.clone(),
            earlier,
        })
    }

    /// Waits until it ends; at the end of its time it is ended with everything it started.
    pub async fn ended(&mut self, wait: Duration) -> Ended {
        match tokio::time::timeout(wait, self.child.wait()).await {
            Ok(Ok(status)) => Ended::Code(code(status)),
            Ok(Err(_)) | Err(_) => {
                self.end();
                Ended::Hung
            }
        }
    }

    /// What it wrote, from the end.
    pub fn said(&self) -> String {
        let text = std::fs::read(&self.written).unwrap_or_default();
        let from = text.len().saturating_sub(limits::SAID);
        String::from_utf8_lossy(&text[from..]).into_owned()
    }

    /// Its event log; `None` where it has none.
    ///
    /// # Errors
    /// Where it cannot be read, in a sentence.
    pub async fn events(&self) -> Result<Option<String>, String> {
        match &self.events {
            None => Ok(None),
            Some(ClientEvents::Output) => {
                let text = std::fs::read(&self.written).map_err(|why| why.to_string())?;
                Ok(Some(String::from_utf8_lossy(&text).into_owned()))
            }
            Some(ClientEvents::File(path)) => {
                let path = self.folder.join(path);
                let text =
                    std::fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
                // A file that is shorter now was written anew.
                let earlier = usize::try_from(self.earlier).unwrap_or(usize::MAX);
                let new = text.get(earlier..).unwrap_or(&text);
                Ok(Some(String::from_utf8_lossy(new).into_owned()))
            }
            Some(ClientEvents::Command(words)) => self.told_by(words).await.map(Some),
        }
    }

    async fn told_by(&self, words: &[String]) -> Result<String, String> {
        let (program, arguments) = words.split_first().ok_or("no program is named")?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(limits::EVENTS, command.output())
            .await
            .map_err(|_| format!("`{program}` did not end in time"))?
            .map_err(|why| format!("`{program}`: {why}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Ends it at once, with everything it started.
    pub fn end(&mut self) {
        if let Some(group) = self.group.take() {
            // Fails only when nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end();
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
