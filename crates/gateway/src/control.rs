//! The socket at which a running gateway tells how it does.
//!
//! One question a line, as JSON: `{"ask":"status"}`, with `server` and `tool` to ask for less, or `{"ask":"tail"}`,
//! after which each event is a line. Nothing here changes anything: what a person decides goes into the store, where
//! every gateway reads it at its next call.

use crate::session::Hub;
use crate::status::{self, Filter, Status};
use crate::{Events, limits};
use mcp::framing::{Line, Lines};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
enum Question {
    Status(Filter),
    Tail,
}

/// The open socket. Dropping it closes and removes it.
pub struct Control {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Control {
    /// Opens the socket of this process in a folder that only its owner may enter.
    ///
    /// # Errors
    /// Where the folder or the socket cannot be made: the gateway runs as well without.
    pub fn open(folder: &Path, hubs: Vec<Arc<Hub>>, events: &Events) -> io::Result<Control> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        sweep(folder);
        let path = folder.join(format!("{}.sock", std::process::id()));
        // A process that had this number before is gone, and so is whoever listened there.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let task = tokio::spawn(serve(listener, hubs.into(), events.clone()));
        Ok(Control { path, task })
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.task.abort();
        let _ = fs::remove_file(&self.path);
    }
}

async fn serve(listener: UnixListener, hubs: Arc<[Arc<Hub>]>, events: Events) {
    let places = Arc::new(Semaphore::new(limits::CONTROL_CLIENTS));
    loop {
        let mut stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Out of descriptors, as a rule: they come back.
                tokio::time::sleep(limits::CONTROL_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            let text = format!("{} others ask already; try again", limits::CONTROL_CLIENTS);
            let _ = say(&mut stream, &json!({ "error": text }).to_string()).await;
            continue;
        };
        let (hubs, events) = (Arc::clone(&hubs), events.clone());
        tokio::spawn(async move {
            // Whoever leaves in the middle of an answer wanted no more of it.
            let _ = answer(stream, &hubs, &events).await;
            drop(place);
        });
    }
}

/// Answers one client until it leaves.
async fn answer(mut stream: UnixStream, hubs: &[Arc<Hub>], events: &Events) -> io::Result<()> {
    let mut lines = Lines::new(limits::CONTROL_LINE);
    let mut buffer = vec![0; 4 << 10];
    loop {
        let read = timeout(limits::CONTROL_PATIENCE, stream.read(&mut buffer));
        let count = read.await.map_err(|_| io::ErrorKind::TimedOut)??;
        if count == 0 {
            return Ok(());
        }
        for line in lines.push(&buffer[..count]) {
            let question = match &line {
                Line::Whole(bytes) => serde_json::from_slice(bytes).map_err(|why| why.to_string()),
                Line::TooLong(_) => {
                    Err(format!("a question has at most {} bytes", limits::CONTROL_LINE))
                }
            };
            match question {
                Ok(Question::Status(filter)) => {
                    let text = match status::of(hubs, &filter).await {
                        Ok(status) => serde_json::to_string(&status)?,
                        Err(why) => json!({ "error": why.to_string() }).to_string(),
                    };
                    say(&mut stream, &text).await?;
                }
                Ok(Question::Tail) => return tail(stream, events).await,
                Err(why) => {
                    let why = format!("this is no question: {why}");
                    say(&mut stream, &json!({ "error": why }).to_string()).await?;
                }
            }
        }
    }
}

/// Tells every event from now on.
async fn tail(mut stream: UnixStream, events: &Events) -> io::Result<()> {
    let mut events = events.listen();
    // Whoever asked knows now that nothing that follows is missed.
    say(&mut stream, &json!({ "pid": std::process::id() }).to_string()).await?;
    let mut nothing = [0; 1];
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            // More questions are not heard; the end of the connection is.
            left = stream.read(&mut nothing) => {
                if left? == 0 { return Ok(()) }
                continue;
            }
        };
        let text = match event {
            Ok(event) => serde_json::to_string(&event)?,
            Err(RecvError::Lagged(missed)) => json!({
                "at": crate::event::now(), "kind": "missed",
                "sentence": format!("{missed} events came too fast and were not told"),
            })
            .to_string(),
            Err(RecvError::Closed) => return Ok(()),
        };
        say(&mut stream, &text).await?;
    }
}

async fn say(stream: &mut UnixStream, text: &str) -> io::Result<()> {
    let line = format!("{text}\n");
    timeout(limits::CONTROL_PATIENCE, stream.write_all(line.as_bytes()))
        .await
        .map_err(|_| io::ErrorKind::TimedOut)?
}

/// The sockets of running gateways, the oldest process number first. Those of processes that ended are removed.
pub fn running(folder: &Path) -> Vec<PathBuf> {
    sweep(folder);
    let mut found: Vec<(i32, PathBuf)> = sockets(folder);
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

fn sockets(folder: &Path) -> Vec<(i32, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?;
            let pid = name.strip_suffix(".sock")?.parse().ok()?;
            Some((pid, path))
        })
        .take(limits::STATUS_SESSIONS)
        .collect()
}

/// Removes what processes left that are gone.
fn sweep(folder: &Path) {
    for (pid, path) in sockets(folder) {
        let gone = rustix::process::Pid::from_raw(pid).is_none_or(|pid| {
            rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
        });
        if gone {
            let _ = fs::remove_file(path);
        }
    }
}

/// Asks the gateway at a socket how it does.
///
/// # Errors
/// Where it does not answer, or not in a way that this version understands.
pub async fn ask(socket: &Path, filter: &Filter) -> io::Result<Status> {
    let mut stream = UnixStream::connect(socket).await?;
    let question = serde_json::to_string(&Question::Status(filter.clone()))?;
    say(&mut stream, &question).await?;
    let mut lines = Lines::new(limits::CONTROL_ANSWER);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = timeout(limits::CONTROL_PATIENCE, stream.read(&mut buffer));
        let count = read.await.map_err(|_| io::ErrorKind::TimedOut)??;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(line) = lines.push(&buffer[..count]).into_iter().next() {
            return match line {
                Line::Whole(bytes) => serde_json::from_slice(&bytes).map_err(|why| {
                    let said = String::from_utf8_lossy(&bytes);
                    let said: String = said.chars().take(limits::SHOWN_ANSWER).collect();
                    io::Error::other(format!("{why}: {said}"))
                }),
                Line::TooLong(_) => Err(io::Error::other("the answer is too long")),
            };
        }
    }
}

/// Events of the gateway at a socket, each as the JSON line that it is.
pub struct Tail {
    stream: UnixStream,
    lines: Lines,
    waiting: std::collections::VecDeque<String>,
}

impl Tail {
    /// Starts listening; returns when nothing that follows is missed.
    ///
    /// # Errors
    /// Where the gateway does not answer.
    pub async fn of(socket: &Path) -> io::Result<Tail> {
        let mut stream = UnixStream::connect(socket).await?;
        say(&mut stream, &serde_json::to_string(&Question::Tail)?).await?;
        let lines = Lines::new(limits::CONTROL_ANSWER);
        let mut tail = Tail { stream, lines, waiting: std::collections::VecDeque::new() };
        let greeting = timeout(limits::CONTROL_PATIENCE, tail.next());
        match greeting.await.map_err(|_| io::ErrorKind::TimedOut)?? {
            Some(_) => Ok(tail),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The next event; `None` when the gateway ended.
    ///
    /// # Errors
    /// Where the connection broke.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            if let Some(line) = self.waiting.pop_front() {
                return Ok(Some(line));
            }
            let count = self.stream.read(&mut buffer).await?;
            if count == 0 {
                return Ok(None);
            }
            let lines = self.lines.push(&buffer[..count]);
            self.waiting.extend(lines.into_iter().filter_map(|line| match line {
                Line::Whole(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                Line::TooLong(_) => None,
            }));
        }
    }
}

/// Follows every gateway that works on a store, also those that start later, until nobody listens. Each event is the JSON
/// line that it is.
pub async fn follow(folder: PathBuf, events: mpsc::Sender<String>) {
    let mut followed: BTreeSet<PathBuf> = BTreeSet::new();
    let (ended, mut endings) = mpsc::unbounded_channel::<PathBuf>();
    while !events.is_closed() {
        while let Ok(path) = endings.try_recv() {
            followed.remove(&path);
        }
        for path in running(&folder) {
            if followed.contains(&path) || followed.len() >= limits::FOLLOWED {
                continue;
            }
            // One that does not answer yet is asked again at the next look.
            let Ok(mut tail) = Tail::of(&path).await else { continue };
            followed.insert(path.clone());
            let (events, ended) = (events.clone(), ended.clone());
            tokio::spawn(async move {
                while let Ok(Some(event)) = tail.next().await {
                    if events.send(event).await.is_err() {
                        return;
                    }
                }
                let _ = ended.send(path);
            });
        }
        tokio::time::sleep(limits::LOOK_AGAIN).await;
    }
}

/// Asks every gateway that runs. One that does not answer is named in the second list, with the reason.
pub async fn ask_all(folder: &Path, filter: &Filter) -> (Vec<Status>, Vec<String>) {
    let (mut found, mut silent) = (Vec::new(), Vec::new());
    for socket in running(folder) {
        match ask(&socket, filter).await {
            Ok(status) => found.push(status),
            // It ended while it was asked.
            Err(_) if !socket.exists() => {}
            Err(why) => silent.push(format!("{}: {why}", socket.display())),
        }
    }
    (found, silent)
}
