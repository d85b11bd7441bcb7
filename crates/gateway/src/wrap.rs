//! The gateway on a pipe: put before a server's command, it speaks to the client on stdin and stdout.

use crate::limits;
use crate::session::{Hub, Opening, Outgoing, Session, Settings};
use crate::upstream::{Server, Upstream};
use crate::view::View;
use mcp::framing::{Line, Lines};
use mcp::message::{self, Message, NotAMessage};
use std::sync::Arc;
use store::{SessionEnd, StoreError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
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
    let whole = async {
        read(&session, &down, input).await;
        // What was asked before the client closed its end is still answered.
        let _ = timeout(limits::LEAVE, session.settled()).await;
    };
    tokio::select! {
        () = whole => {}
        () = stop => {}
    }
    // The client left. The server is told; what it still answers is recorded, though nobody hears it.
    upstream.close().await;
    let _ = timeout(limits::LEAVE, session.settled()).await;
    session.close(SessionEnd::Closed).await;
    listener.abort();
    drop((session, down));
    let _ = timeout(limits::LEAVE, writer).await;
    Ok(())
}

/// Reads the client's messages until it leaves.
async fn read(
    session: &Arc<Session>,
    down: &mpsc::Sender<Outgoing>,
    mut input: impl AsyncRead + Unpin,
) {
    let mut lines = Lines::new(mcp::limits::RELAYED_BYTES);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (found, last) = match input.read(&mut buffer).await {
            Ok(0) | Err(_) => (lines.end().into_iter().collect(), true),
            Ok(n) => (lines.push(&buffer[..n]), false),
        };
        for line in found {
            let why = match line {
                Line::Whole(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
                Line::Whole(bytes) => match taken(session, &bytes) {
                    Ok(messages) => {
                        for message in messages {
                            if message.has_null_id() {
                                let text = message::unreadable(&message::NULL_ID);
                                let _ = down.send(Outgoing::beside(None, text)).await;
                            } else {
                                session.from_client(message).await;
                            }
                        }
                        continue;
                    }
                    Err(why) => why,
                },
                Line::TooLong(_) => NotAMessage::TooLong(mcp::limits::RELAYED_BYTES),
            };
            let _ = down.send(Outgoing::beside(None, message::unreadable(&why))).await;
        }
        if last {
            return;
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
        if outgoing.text.is_empty() {
            continue;
        }
        let mut line = outgoing.text.into_bytes();
        // A line feed inside a message could only be white space between its tokens.
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
