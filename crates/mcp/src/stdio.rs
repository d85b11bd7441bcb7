//! A server as a child process: messages on its stdin and stdout, its stderr drained, its whole process group ended.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::{Failure, quote};
use crate::framing::{Line, Lines};
use crate::limits;
use crate::message::{self, Id, Message};
use crate::secret::BEARER_VARIABLE;

/// What comes from a server's stdout.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// A line that is none: the start of it, and why.
    Stray(String, String),
    /// A line above the limit.
    TooLong,
    /// What came to answer this request is no message; why. Nothing else will answer it.
    Garbled(Id, String),
}

/// A running server. Dropping it ends its whole process group at once; [`Server::close`] does so politely.
pub struct Server {
    child: Child,
    /// Ended when dropped.
    group: Group,
    stdin: Option<ChildStdin>,
    incoming: mpsc::Receiver<Incoming>,
    stderr: Arc<Mutex<VecDeque<String>>>,
    drained: JoinHandle<()>,
}

/// A process group that does not outlive this value.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0 {
            // Fails only when nobody is left in the group, which is what we want.
            let _ = kill_process_group(pid, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

impl Server {
    /// Starts a command in a process group of its own. It inherits the environment except the bearer token.
    /// Must be called inside a tokio runtime.
    pub fn start(command: &[String]) -> Result<Server, Failure> {
        Server::start_with(command, false)
    }

    /// The same; with `shown`, for a server whose messages are passed on: longer ones are taken, and what it writes to
    /// stderr also goes to this program's.
    pub fn start_with(command: &[String], shown: bool) -> Result<Server, Failure> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Failure::Spawn("no command was given".into()))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_remove(BEARER_VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| Failure::Spawn(format!("`{program}`: {}", plain(&e))))?;
        let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("stdout was asked for as a pipe");
        let errors = child.stderr.take().expect("stderr was asked for as a pipe");
        let (sender, incoming) = mpsc::channel(limits::QUEUE);
        let most = if shown { limits::RELAYED_BYTES } else { limits::MESSAGE_BYTES };
        tokio::spawn(read_messages(stdout, sender, most));
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let drained = tokio::spawn(drain(errors, Arc::clone(&stderr), shown));
        Ok(Server { child, group, stdin, incoming, stderr, drained })
    }

    /// Sends one message. A server that no longer reads is found out by its silence or its end, not here.
    pub async fn send(&mut self, message: &str) {
        if let Some(stdin) = &mut self.stdin
            && write_line(stdin, message).await.is_err()
        {
            self.stdin = None;
        }
    }

    /// The writing end, to be used apart from the reading one. Sending through the server itself does nothing then.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.stdin.take()
    }

    /// The next thing from stdout; `None` once it is closed.
    pub async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    /// The number of its process, which is that of its group; `None` once it has ended.
    pub fn id(&self) -> Option<i32> {
        self.child.id().and_then(|id| i32::try_from(id).ok())
    }

    /// How the process ended, if it has or does within a moment.
    pub async fn status(&mut self) -> Option<String> {
        let ended = timeout(limits::LAST_WORDS, self.child.wait()).await;
        ended.ok().and_then(Result::ok).map(said_status)
    }

    /// The last lines of stderr.
    pub async fn last_words(&mut self) -> Vec<String> {
        let _ = timeout(limits::LAST_WORDS, &mut self.drained).await;
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Closes stdin and waits; then asks the group to end and waits; then ends it.
    pub async fn close(mut self) {
        self.stdin = None;
        self.incoming.close();
        if timeout(limits::LEAVE, self.child.wait()).await.is_err() {
            self.group.signal(Signal::TERM);
            let _ = timeout(limits::LEAVE, self.child.wait()).await;
        }
        // What the server itself started and left behind ends with the group, in `Group::drop`.
    }
}

/// True where a word names a program that can be started: a path to one, or a name that PATH leads to.
pub fn is_program(word: &str) -> bool {
    let runs = |path: &std::path::Path| {
        use std::os::unix::fs::PermissionsExt;
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        return runs(std::path::Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !word.is_empty() && std::env::split_paths(&path).any(|folder| runs(&folder.join(word)))
}

/// Writes one message as a line.
pub(crate) async fn write_line(
    out: &mut (impl AsyncWrite + Unpin),
    message: &str,
) -> std::io::Result<()> {
    let mut line = Vec::with_capacity(message.len() + 1);
    // A line feed inside a message could only be white space between its tokens.
    line.extend(message.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
    line.push(b'\n');
    out.write_all(&line).await?;
    out.flush().await
}

/// An error of the operating system without its number.
fn plain(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::NotFound => "no such program".into(),
        std::io::ErrorKind::PermissionDenied => "it may not be executed".into(),
        _ => e.to_string(),
    }
}

fn said_status(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

pub(crate) async fn read_messages(
    mut stdout: impl AsyncRead + Unpin,
    sender: mpsc::Sender<Incoming>,
    most: usize,
) {
    let mut lines = Lines::new(most);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (found, last) = match stdout.read(&mut buffer).await {
            Ok(0) | Err(_) => (lines.end().into_iter().collect(), true),
            Ok(n) => (lines.push(&buffer[..n]), false),
        };
        for line in found {
            for item in incoming(line) {
                if sender.send(item).await.is_err() {
                    return;
                }
            }
        }
        if last {
            return;
        }
    }
}

fn incoming(line: Line) -> Vec<Incoming> {
    match line {
        Line::TooLong(head) => {
            let why = "it is too long";
            let garbled = garbled(&head, why);
            std::iter::once(Incoming::TooLong).chain(garbled).collect()
        }
        Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => Vec::new(),
        Line::Whole(bytes) => match Message::parse_all(&bytes) {
            Ok(messages) => messages.into_iter().map(Incoming::Message).collect(),
            Err(why) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * limits::QUOTE)])
                    .into_owned();
                let why = why.to_string();
                let garbled = garbled(&bytes, &why);
                std::iter::once(Incoming::Stray(quote(&start), why)).chain(garbled).collect()
            }
        },
    }
}

/// The requests that a line which is no message would have answered.
fn garbled(bytes: &[u8], why: &str) -> Vec<Incoming> {
    let ids = message::answered(&String::from_utf8_lossy(bytes));
    ids.into_iter().map(|id| Incoming::Garbled(id, why.to_owned())).collect()
}

/// What a server says on stderr, on its way to this program's. Nobody reads that: it is no reason to stop the server.
struct Passing {
    chunks: mpsc::Sender<Vec<u8>>,
    lost: usize,
}

impl Passing {
    /// Must be called inside a tokio runtime.
    fn start() -> Passing {
        let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(limits::ERRORS_AHEAD);
        tokio::spawn(async move {
            let mut own = tokio::io::stderr();
            while let Some(chunk) = chunks.recv().await {
                let _ = own.write_all(&chunk).await;
            }
        });
        Passing { chunks: sender, lost: 0 }
    }

    /// Passes it on where there is room, and else counts it.
    fn pass(&mut self, said: &[u8]) {
        let mut chunk = Vec::new();
        if self.lost > 0 {
            let lost = format!(
                "\n(steadfast did not pass on {} bytes of this: nobody read them)\n",
                self.lost
            );
            chunk.extend_from_slice(lost.as_bytes());
        }
        chunk.extend_from_slice(said);
        match self.chunks.try_send(chunk) {
            Ok(()) => self.lost = 0,
            Err(_) => self.lost += said.len(),
        }
    }
}

async fn drain(
    mut stderr: impl AsyncRead + Unpin,
    kept: Arc<Mutex<VecDeque<String>>>,
    shown: bool,
) {
    let mut passing = shown.then(Passing::start);
    let mut lines = Lines::new(16 << 10);
    let mut buffer = vec![0; 8 << 10];
    loop {
        let (found, last) = match stderr.read(&mut buffer).await {
            Ok(0) | Err(_) => (lines.end().into_iter().collect(), true),
            Ok(n) => {
                if let Some(passing) = &mut passing {
                    passing.pass(&buffer[..n]);
                }
                (lines.push(&buffer[..n]), false)
            }
        };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        for line in found {
            let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
            let text = quote(&String::from_utf8_lossy(&bytes));
            if !text.is_empty() {
                if kept.len() == limits::STDERR_LINES {
                    kept.pop_front();
                }
                kept.push_back(text);
            }
        }
        if last {
            return;
        }
    }
}
