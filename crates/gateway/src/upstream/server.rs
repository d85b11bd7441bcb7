//! How a server is reached.

use mcp::duplex::{Incoming, Uplink};
use mcp::http;
use std::sync::Arc;
use tokio::sync::mpsc;

/// How a server is reached.
#[derive(Clone)]
pub enum Server {
    /// A program that is started, and started again when it ends.
    Command(Vec<String>),
    /// An endpoint.
    Web(Box<http::Server>),
    /// A server in this very process, at the other end of pipes that are laid anew at each start.
    Here(Arc<dyn Connect>),
}

/// Lays pipes to a server in this process.
pub trait Connect: Send + Sync {
    /// Starts the server. Called inside a tokio runtime.
    ///
    /// # Errors
    /// Where it cannot be started, in a sentence.
    fn connect(&self) -> Result<(Uplink, mpsc::Receiver<Incoming>), String>;

    /// By what the server knows who asks, where the gateway was told: a text that must not be shown.
    fn credentials(&self) -> Option<String> {
        None
    }
}
