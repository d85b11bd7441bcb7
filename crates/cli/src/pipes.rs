//! Standard input and output without a thread in between, where the system allows that.
//!
//! The runtime reads and writes them in threads of their own, since they may be files or terminals; two changes of
//! thread a message cost more than the message. A client's pipe or socket can be waited for like any other. A pipe is
//! opened anew, so that nobody who shares it is affected; a socket is shared with nobody once it is not that of the
//! errors.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream as Socket;
use std::sync::{Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

/// Standard input.
pub fn input() -> Box<dyn AsyncRead + Unpin + Send> {
    match way(io::stdin().as_fd().try_clone_to_owned()) {
        Some(Way::Pipe) => match pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()),
        },
        Some(Way::Socket(socket)) => match UnixStream::from_std(socket) {
            Ok(socket) => Box::new(socket),
            Err(_) => Box::new(tokio::io::stdin()),
        },
        None => Box::new(tokio::io::stdin()),
    }
}

/// Standard output.
pub fn output() -> Box<dyn AsyncWrite + Unpin + Send> {
    match way(io::stdout().as_fd().try_clone_to_owned()) {
        Some(Way::Pipe) => match pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdout()),
        },
        Some(Way::Socket(socket)) => match UnixStream::from_std(socket) {
            Ok(socket) => Box::new(socket),
            Err(_) => Box::new(tokio::io::stdout()),
        },
        None => Box::new(tokio::io::stdout()),
    }
}

/// Ends that were told not to wait.
static CHANGED: Mutex<Vec<Socket>> = Mutex::new(Vec::new());

/// Lets sockets wait again, as they came: whoever started this program may go on with them.
pub fn give_back() {
    for end in CHANGED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        if let Err(why) = end.set_nonblocking(false) {
            crate::output::complain(&format!("steadfast: an end was not given back: {why}\n"));
        }
    }
}

enum Way {
    Pipe,
    Socket(Socket),
}

/// How an end can be waited for; `None` where a thread has to do it.
fn way(end: io::Result<OwnedFd>) -> Option<Way> {
    let end = File::from(end.ok()?);
    let about = end.metadata().ok()?;
    let errors = File::from(io::stderr().as_fd().try_clone_to_owned().ok()?).metadata().ok()?;
    if about.file_type().is_fifo() {
        return Some(Way::Pipe);
    }
    // Not to wait would be true of the errors too.
    if !about.file_type().is_socket() || (about.dev(), about.ino()) == (errors.dev(), errors.ino())
    {
        return None;
    }
    let end = OwnedFd::from(end);
    // Messages of other kinds have bounds of their own.
    if rustix::net::sockopt::socket_type(&end).ok()? != rustix::net::SocketType::STREAM {
        return None;
    }
    let socket = Socket::from(end);
    // A socket of another family says so here.
    socket.peer_addr().ok()?;
    let again = socket.try_clone().ok()?;
    socket.set_nonblocking(true).ok()?;
    CHANGED.lock().unwrap_or_else(PoisonError::into_inner).push(again);
    Some(Way::Socket(socket))
}
