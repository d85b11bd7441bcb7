//! Holds a vault open for the processes of one account, at a socket beside it.
//!
//! One question a connection, as a line of JSON; the answer is a line of JSON and, for a credential, the secret after
//! it. A question names the origin, and the vault says whether the credential may go there: whoever asks gets one
//! credential for a place that its owner named, and never the vault.
//!
//! This keeps other accounts out. It does not keep out a program of the same account that can trace this one.

use crate::file::beside;
use crate::{Entry, Secret, Vault, VaultError, limits};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zeroize::Zeroizing;

#[derive(Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
enum Question {
    Credential {
        label: String,
        origin: String,
    },
    /// What is known of it, without the secret.
    About {
        label: String,
        origin: String,
    },
    Lock,
}

#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(default)]
    entry: Option<Entry>,
    #[serde(default)]
    bytes: usize,
    #[serde(default)]
    refused: Option<String>,
}

/// The socket of an open vault.
pub struct Keeper {
    listener: UnixListener,
    path: PathBuf,
    program: Option<(u64, u64)>,
}

impl Keeper {
    /// Opens the socket beside a vault.
    ///
    /// # Errors
    /// Where another keeper is there, or the socket cannot be made.
    pub fn open(vault: &Path) -> Result<Keeper, VaultError> {
        let path = beside(vault, "sock");
        if UnixStream::connect(&path).is_ok() {
            return Err(VaultError::Refused(
                "The vault is open already. Lock it: steadfast vault lock.".to_owned(),
            ));
        }
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let program = program("self");
        harden();
        Ok(Keeper { listener, path, program })
    }

    /// Answers until the vault is locked.
    pub fn serve(self, vault: &Vault) {
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else { continue };
            if !self.may_ask(&stream) {
                continue;
            }
            // Who breaks off gets nothing; the next one is answered.
            if let Ok(true) = answer(stream, vault) {
                return;
            }
        }
    }

    /// True where the other side is of this account and runs this program.
    fn may_ask(&self, stream: &UnixStream) -> bool {
        #[cfg(target_os = "linux")]
        {
            let Ok(peer) = rustix::net::sockopt::socket_peercred(stream) else { return false };
            peer.uid == rustix::process::getuid()
                && self.program.is_some()
                && program(&peer.pid.as_raw_nonzero().to_string()) == self.program
        }
        // The permissions of the socket keep other accounts out.
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (stream, self.program);
            true
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Which file a process runs.
fn program(process: &str) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::metadata(format!("/proc/{process}/exe")).ok()?;
    Some((file.dev(), file.ino()))
}

/// Keeps this process out of core files and out of reach of the account's other processes, where the system allows it.
fn harden() {
    no_core();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Writes no core file of this process.
pub fn no_core() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

fn answer(mut stream: UnixStream, vault: &Vault) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(limits::QUESTION))?;
    stream.set_write_timeout(Some(limits::QUESTION))?;
    let mut line = String::new();
    BufReader::new((&stream).take(limits::LINE as u64)).read_line(&mut line)?;
    let question: Question = serde_json::from_str(&line)?;
    let (head, secret) = match question {
        Question::Lock => {
            writeln!(stream, "{}", serde_json::to_string(&refusal("locked"))?)?;
            return Ok(true);
        }
        Question::Credential { label, origin } => match vault.secret(&label, &origin) {
            Ok((entry, secret)) => {
                let bytes = secret.bytes().len();
                (Head { entry: Some(entry), bytes, refused: None }, Some(secret))
            }
            Err(why) => (refusal(&why.to_string()), None),
        },
        Question::About { label, origin } => match vault.about(&label, &origin) {
            Ok(entry) => (Head { entry: Some(entry), bytes: 0, refused: None }, None),
            Err(why) => (refusal(&why.to_string()), None),
        },
    };
    writeln!(stream, "{}", serde_json::to_string(&head)?)?;
    if let Some(secret) = secret {
        stream.write_all(secret.bytes())?;
    }
    Ok(false)
}

fn refusal(why: &str) -> Head {
    Head { entry: None, bytes: 0, refused: Some(why.to_owned()) }
}

/// Asks the keeper of a vault for one credential.
///
/// # Errors
/// Where the vault is locked, or does not give the credential for this origin.
pub fn credential(vault: &Path, label: &str, origin: &str) -> Result<(Entry, Secret), VaultError> {
    let question = Question::Credential { label: label.to_owned(), origin: origin.to_owned() };
    let (head, mut stream) = ask(vault, &question)?;
    if let Some(why) = head.refused {
        return Err(VaultError::Refused(why));
    }
    let entry = head.entry.ok_or(VaultError::Locked)?;
    if head.bytes > limits::SECRET {
        return Err(VaultError::Altered("the secret is longer than one can be".to_owned()));
    }
    let mut secret = Zeroizing::new(vec![0; head.bytes]);
    stream.read_exact(&mut secret)?;
    Ok((entry, Secret::new(secret)?))
}

/// Asks the keeper of a vault what is known of one credential that may go to this origin.
///
/// # Errors
/// As [`credential`].
pub fn about(vault: &Path, label: &str, origin: &str) -> Result<Entry, VaultError> {
    let question = Question::About { label: label.to_owned(), origin: origin.to_owned() };
    let (head, _) = ask(vault, &question)?;
    match head.refused {
        Some(why) => Err(VaultError::Refused(why)),
        None => head.entry.ok_or(VaultError::Locked),
    }
}

/// Locks a vault, and waits until its keeper has ended.
///
/// # Errors
/// Where it was locked already, or its keeper does not end.
pub fn lock(vault: &Path) -> Result<(), VaultError> {
    ask(vault, &Question::Lock)?;
    let asked = Instant::now();
    while UnixStream::connect(beside(vault, "sock")).is_ok() {
        if asked.elapsed() > limits::QUESTION {
            return Err(VaultError::System("its keeper does not end".to_owned()));
        }
        std::thread::sleep(limits::LOOK);
    }
    Ok(())
}

fn ask(vault: &Path, question: &Question) -> Result<(Head, UnixStream), VaultError> {
    let mut stream = UnixStream::connect(beside(vault, "sock")).map_err(|_| VaultError::Locked)?;
    stream.set_read_timeout(Some(limits::QUESTION))?;
    stream.set_write_timeout(Some(limits::QUESTION))?;
    let text =
        serde_json::to_string(question).map_err(|why| VaultError::System(why.to_string()))?;
    writeln!(stream, "{text}")?;
    // Byte by byte: nothing of the secret may stay behind in a buffer that is not wiped.
    let (mut line, mut byte) = (Vec::new(), [0; 1]);
    while line.len() < limits::LINE && stream.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let head = serde_json::from_slice(&line).map_err(|_| {
        VaultError::Refused("The open vault did not answer: it was opened by another program or account. Lock it and open it again.".to_owned())
    })?;
    Ok((head, stream))
}
