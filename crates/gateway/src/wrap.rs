//! The gateway on a pipe: put before a server's command, it speaks to the client on stdin and stdout.

use crate::limits;
use crate::session::{Hub, Opening, Outgoing, Session, Settings, settle_gone};
use crate::upstream::{Server, Upstream};
use crate::view::View;
use mcp::framing::{Line, Lines};
use mcp::message::{self, Message, NotAMessage};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{SessionEnd, StoreError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

/// What is put on the pipe.
pub struct Wrapped {
    /// The name that people know the server by: the key of what is on record about it.
    pub name: String,
    /// How it is reached.
    pub server: Server,
    /// Who is authorised.
    pub principal: String,
    /// What the operator decided.
    pub settings: Settings,
}

/// Carries messages between a client on a pipe and a server until the client leaves.
///
/// # Errors
/// Where the session cannot be recorded. A server that cannot be started is an answer to the client, not an error.
pub async fn wrap(
    hub: Arc<Hub>,
    wrapped: Wrapped,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()>,
) -> Result<(), StoreError> {
    let Wrapped { name, server, principal, settings } = wrapped;
    let (upstream, mut said) =
        Upstream::new(name, server, Arc::clone(&hub.definitions), settings.patience);
    let (down, out) = mpsc::channel(limits::QUEUED_CALLS);
    let opening = Opening { principal, era: store::Era::Legacy, view: View::default() };
    let session =
        Session::open(hub, settings, Arc::clone(&upstream), opening, down.clone()).await?;
    let writer = tokio::spawn(write(output, out));
    let listener = {
        let session = Arc::clone(&session);
        tokio::spawn(async move {
            while let Some(said) = said.recv().await {
                session.from_server(said).await;
            }
        })
    };
    let settling = tokio::spawn(settle_gone(Arc::clone(session.hub())));
    tokio::select! {
        () = carried(&session, &down, input) => {}
        () = stop => {}
    }
    settling.abort();
    // The client left. The server is told; what it still answers is recorded, though nobody hears it.
    upstream.close().await;
    let _ = timeout(limits::LEAVE, session.settled()).await;
    session.close(SessionEnd::Closed).await;
    listener.abort();
    drop((session, down));
    let _ = timeout(limits::LEAVE, writer).await;
    Ok(())
}

/// Carries the client's messages until it leaves, and for a while what it asked before.
async fn carried(
    session: &Arc<Session>,
    down: &mpsc::Sender<Outgoing>,
    input: impl AsyncRead + Unpin,
) {
    let (ahead, mut lines) = mpsc::channel(limits::QUEUED_CALLS);
    let taken = AtomicUsize::new(0);
    let taking = async {
        while let Some((line, _room)) = lines.recv().await {
            take(session, down, line).await;
            taken.fetch_add(1, Ordering::Relaxed);
        }
    };
    tokio::pin!(taking);
    // A server that takes no message holds up those that follow, and not that the client left.
    let mut done = tokio::select! {
        () = read(input, ahead) => false,
        () = &mut taking => true,
    };
    // What was asked before the client closed its end still goes on, as long as the server takes it, and is answered.
    while !done {
        let before = taken.load(Ordering::Relaxed);
        done = timeout(limits::LEAVE, &mut taking).await.is_ok();
        if !done && taken.load(Ordering::Relaxed) == before {
            return;
        }
    }
    let _ = timeout(limits::LEAVE, session.settled()).await;
}

/// A line of the client, and the room that it takes until it was taken.
type Ahead = (Line, OwnedSemaphorePermit);

/// Reads the client's lines until it leaves, ahead of what becomes of them.
async fn read(mut input: impl AsyncRead + Unpin, ahead: mpsc::Sender<Ahead>) {
    let room = Arc::new(Semaphore::new(limits::AHEAD));
    let mut lines = Lines::new(mcp::limits::RELAYED_BYTES);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (found, last) = match input.read(&mut buffer).await {
            Ok(0) | Err(_) => (lines.end().into_iter().collect(), true),
            Ok(n) => (lines.push(&buffer[..n]), false),
        };
        for line in found {
            let (Line::Whole(bytes) | Line::TooLong(bytes)) = &line;
            if bytes.iter().all(u8::is_ascii_whitespace) && matches!(line, Line::Whole(_)) {
                continue;
            }
            // One line of any length is always let through.
            let size = u32::try_from(bytes.len().clamp(1, limits::AHEAD)).unwrap_or(u32::MAX);
            let Ok(room) = Arc::clone(&room).acquire_many_owned(size).await else { return };
            if ahead.send((line, room)).await.is_err() {
                return;
            }
        }
        if last {
            return;
        }
    }
}

/// Takes one line of the client.
async fn take(session: &Arc<Session>, down: &mpsc::Sender<Outgoing>, line: Line) {
    let read = match &line {
        Line::Whole(bytes) => taken(session, bytes),
        Line::TooLong(_) => Err(NotAMessage::TooLong(mcp::limits::RELAYED_BYTES)),
    };
    let unreadable = |why| Outgoing::beside(None, message::unreadable(&why));
    match read {
        Ok(messages) => {
            for message in messages {
                if message.has_null_id() {
                    let _ = down.send(unreadable(message::NULL_ID)).await;
                } else {
                    session.from_client(message).await;
                }
            }
        }
        Err(why) => {
            let _ = down.send(unreadable(why)).await;
        }
    }
}

/// The messages of one line. Revisions without batches take one message alone.
fn taken(session: &Session, bytes: &[u8]) -> Result<Vec<Message>, NotAMessage> {
    let messages = Message::parse_all(bytes)?;
    let alone = session.upstream().speech().revision.is_some_and(|r| !r.has_batches());
    let batch = bytes.trim_ascii_start().first() == Some(&b'[');
    if alone && batch { Err(message::NO_BATCHES) } else { Ok(messages) }
}

/// Writes messages for the client, a line each.
async fn write(mut output: impl AsyncWrite + Unpin, mut out: mpsc::Receiver<Outgoing>) {
    while let Some(outgoing) = out.recv().await {
        let Outgoing { text, receipt, .. } = outgoing;
        if text.is_empty() {
            continue;
        }
        let mut line = text.into_bytes();
        // A line feed inside a message could only be white space between its tokens.
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
        receipt.give();
    }
}
