//! Speak MCP as raw JSON: stdio and Streamable HTTP, both protocol eras.
//!
//! What a server sends is carried as the bytes it sent; only envelopes are read. So a member that this crate does
//! not know survives, as do the order of members and the spelling of numbers.
//!
//! [`fetch`] is the front door: a [`Target`] in, a [`Snapshot`] of its contract out. Below it lie the layers, each
//! usable alone: [`message`] (the envelope), [`framing`] (bytes into messages, no I/O), [`stdio`] and [`http`] (what
//! carries them), [`client`] (ask and be answered), [`duplex`] (both directions at once), [`version`] (which revisions there are).

pub mod client;
pub mod deed;
pub mod duplex;
mod error;
mod fetch;
pub mod framing;
pub mod http;
pub mod json;
pub mod limits;
mod list;
mod live;
pub mod message;
mod number;
mod open;
mod pen;
mod secret;
mod snapshot;
pub mod stdio;
pub mod version;

pub use error::{ErrorKind, Failure, FetchError, Problem};
pub use fetch::{FetchOptions, Step, Target, fetch, fetch_async, interrupted};
pub use list::{ListPage, Listed, Unreadable};
pub use live::Live;
pub use secret::{BEARER_VARIABLE, Headers, shown_address, shown_command};
pub use snapshot::{SNAPSHOT_VERSION, Snapshot, Source};
pub use version::{Era, Revision};
