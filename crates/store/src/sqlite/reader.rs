//! Threads that read, each with a connection of its own, so that a question never waits for a write.

use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

/// A question on its way.
pub(super) type Question = Box<dyn FnOnce(&Connection) + Send>;

/// Starts a reader for each connection; they end when the queue is dropped.
pub(super) fn start(
    connections: Vec<Connection>,
    queue: Receiver<Question>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let queue = Arc::new(Mutex::new(queue));
    connections
        .into_iter()
        .map(|conn| {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name("store-reader".into()).spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match next {
                        Ok(question) => question(&conn),
                        Err(_) => return,
                    }
                }
            })
        })
        .collect()
}
