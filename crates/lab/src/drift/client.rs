//! A client under test: a process that is told how to start the server, and whose events are read when it has ended.

use super::scenario::{ClientEvents, UnderTest};
use crate::escaped;
use crate::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// The variables by which a client is told how to start the server: as a line for a shell, and as a JSON array.
const SERVER: &str = "STEADFAST_SERVER";
const SERVER_JSON: &str = "STEADFAST_SERVER_JSON";

/// A client that runs, in a process group of its own that does not outlive this value.
pub struct Client {
    child: Child,
    group: Option<Pid>,
    /// What it writes to its standard output and error.
    written: Arc<Mutex<Written>>,
    reading: JoinHandle<()>,
    folder: PathBuf,
    events: Option<ClientEvents>,
    /// What the environment of all that it starts holds, and of nothing else.
    mark: String,
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
    /// It was ended because it wrote more than is kept.
    Wrote,
}

/// What a client wrote, and whether it wrote too much.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    too_much: bool,
}

impl Client {
    /// Starts it in the folder of the scenario.
    ///
    /// # Errors
    /// Where it cannot be started, in a sentence.
    pub fn start(
        under_test: &UnderTest,
        server: &[String],
        folder: &Path,
    ) -> Result<Client, String> {
        let (program, arguments) = under_test.command.split_first().ok_or("no client is named")?;
        let earlier = match &under_test.events {
            Some(ClientEvents::File(path)) => {
                std::fs::metadata(folder.join(path)).map_or(0, |known| known.len())
            }
            _ => 0,
        };
        let (pipe, out) = std::io::pipe().map_err(|why| why.to_string())?;
        let err = out.try_clone().map_err(|why| why.to_string())?;
        let pipe = pipe::Receiver::from_owned_fd(pipe.into()).map_err(|why| why.to_string())?;
        let json = serde_json::Value::from(server.to_vec()).to_string();
        let child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .env(
                SERVER,
                server.iter().map(|word| crate::report::quoted(word)).collect::<Vec<_>>().join(" "),
            )
            .env(SERVER_JSON, &json)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| format!("the client `{program}` cannot be started: {why}"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let written = Arc::new(Mutex::new(Written::default()));
        let reading = tokio::spawn(read(pipe, Arc::clone(&written), group));
        Ok(Client {
            child,
            group,
            written,
            reading,
            folder: folder.to_owned(),
            events: under_test.events.clone(),
            mark: format!("{SERVER_JSON}={json}"),
            earlier,
        })
    }

    /// Waits until it has ended by itself.
    pub async fn gone(&mut self) {
        // Where that cannot be learned, it is as if it had.
        let _ = self.child.wait().await;
    }

    /// Waits until it ends; at the end of its time it is ended with everything it started.
    pub async fn ended(&mut self, wait: Duration) -> Ended {
        let ended = tokio::time::timeout(wait, self.child.wait()).await;
        if !matches!(ended, Ok(Ok(_))) {
            self.end();
        }
        // What it left behind may hold the pipe open.
        let _ = tokio::time::timeout(limits::LAST_WORDS, &mut self.reading).await;
        match ended {
            _ if self.lock().too_much => Ended::Wrote,
            Ok(Ok(status)) => Ended::Code(code(status)),
            Ok(Err(_)) | Err(_) => Ended::Hung,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was ended because it wrote more than is kept.
    pub fn wrote_too_much(&self) -> bool {
        self.lock().too_much
    }

    /// What it wrote, from the end.
    pub fn said(&self) -> String {
        let written = self.lock();
        let from = written.bytes.len().saturating_sub(limits::SAID);
        let text = String::from_utf8_lossy(&written.bytes[from..]).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(limits::SAID_LINES)..].join("\n")
    }

    /// Its event log; `None` where it has none.
    ///
    /// # Errors
    /// Where it cannot be read, in a sentence.
    pub async fn events(&self) -> Result<Option<String>, String> {
        match &self.events {
            None => Ok(None),
            Some(ClientEvents::Output) => {
                Ok(Some(String::from_utf8_lossy(&self.lock().bytes).into_owned()))
            }
            Some(ClientEvents::File(path)) => {
                let path = self.folder.join(path);
                let text = whole(&path).map_err(|why| format!("{}: {why}", path.display()))?;
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
        command.args(arguments).current_dir(&self.folder).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|why| format!("`{program}`: {why}"))?;
        let mut bytes = Vec::new();
        let out = child.stdout.take().ok_or("it has no output")?;
        let mut out = out.take(limits::CLIENT_OUTPUT as u64 + 1);
        tokio::time::timeout(limits::EVENTS, out.read_to_end(&mut bytes))
            .await
            .map_err(|_| format!("`{program}` did not end in time"))?
            .map_err(|why| format!("`{program}`: {why}"))?;
        if bytes.len() > limits::CLIENT_OUTPUT {
            return Err(format!("`{program}` {}", too_much()));
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Ends it at once, with everything it started.
    pub fn end(&mut self) {
        if let Some(group) = self.group.take() {
            // Fails only when nobody is left in the group, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
            escaped::end(&self.mark);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end();
    }
}

/// That more was written than is kept.
pub fn too_much() -> String {
    format!("wrote more than {} MB and was ended", limits::CLIENT_OUTPUT >> 20)
}

/// A regular file, whole; a pipe or a device may have no end.
fn whole(path: &Path) -> Result<Vec<u8>, String> {
    let known = std::fs::metadata(path).map_err(|why| why.to_string())?;
    if !known.is_file() {
        return Err("this is no regular file".to_owned());
    }
    if known.len() > limits::CLIENT_OUTPUT as u64 {
        return Err(format!("it has more than {} MB", limits::CLIENT_OUTPUT >> 20));
    }
    std::fs::read(path).map_err(|why| why.to_string())
}

/// Keeps what a client writes; ends one that writes too much.
async fn read(mut pipe: pipe::Receiver, written: Arc<Mutex<Written>>, group: Option<Pid>) {
    let mut chunk = vec![0; 16 << 10];
    loop {
        let n = pipe.read(&mut chunk).await.unwrap_or(0);
        if n == 0 {
            return;
        }
        let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
        written.bytes.extend_from_slice(&chunk[..n]);
        if written.bytes.len() > limits::CLIENT_OUTPUT {
            written.too_much = true;
            if let Some(group) = group {
                // Fails only when nobody is left in the group, which is what is wanted.
                let _ = kill_process_group(group, Signal::KILL);
            }
            return;
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}
