//! The stream on which a legacy server speaks unasked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::time::Instant;

use super::{Incoming, Way, Web, lock, read};
use crate::{http, limits};

/// Reads the stream of a legacy server on which it speaks unasked, again and again until the session ends.
pub(super) async fn listen(way: Arc<Way>) {
    let Way::Http(web) = &*way else { return };
    if web.listening.swap(true, Ordering::AcqRel) {
        return;
    }
    let mut pause = limits::LISTEN_PAUSE;
    while !web.incoming.is_closed() {
        let begun = Instant::now();
        let held = lock(&web.held).clone();
        let heard = tokio::select! {
            heard = hear(web, held.server.clone()) => heard,
            // A stream of a session that is over says nothing any more, answered or not.
            () = turned(web, held.generation) => continue,
            () = gone(web) => break,
        };
        match heard {
            // It offers none, or none to a session that has been opened again since.
            Heard::Nothing if lock(&web.held).generation == held.generation => break,
            // What cannot be opened now is tried again later: whoever stops listening hears of nothing any more.
            Heard::Nothing => {}
            Heard::Stream if begun.elapsed() >= limits::LISTEN_STEADY => {
                pause = limits::LISTEN_PAUSE;
            }
            Heard::Stream | Heard::Failed => {}
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = gone(web) => break,
        }
        pause = (pause * 2).min(limits::LISTEN_MOST);
    }
    web.listening.store(false, Ordering::Release);
}

/// What came of listening once.
enum Heard {
    /// The server offers no stream.
    Nothing,
    /// There was one, and it ended.
    Stream,
    /// It could not be opened.
    Failed,
}

/// Opens the stream and reads it to its end. A server may answer only once it has something to say.
async fn hear(web: &Web, mut server: http::Server) -> Heard {
    match server.listen().await {
        Ok(None) => Heard::Nothing,
        Err(_) => Heard::Failed,
        Ok(Some(stream)) => {
            if web.incoming.send(Incoming::Listening).await.is_ok() {
                let answer = http::Answer::Stream(Box::new(stream));
                // However it ended, it is opened again.
                let _ = read(web, &mut server, answer, None).await;
            }
            Heard::Stream
        }
    }
}

/// Resolves once another session took the place of this one.
async fn turned(web: &Web, generation: u64) {
    let _ = web.turned.subscribe().wait_for(|turned| *turned != generation).await;
}

/// Resolves once nobody listens any more, or the server was told to leave.
async fn gone(web: &Web) {
    let mut left = web.left.subscribe();
    tokio::select! {
        () = web.incoming.closed() => {}
        _ = left.wait_for(|left| *left) => {}
    }
}
