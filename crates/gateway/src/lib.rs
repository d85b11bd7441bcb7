//! A live session between an agent and its server, kept true to the contract it was planned under.
//!
//! Everything passes as the bytes it is; only lists of tools and calls of tools are read. A [`Session`] joins one
//! client with one [`Upstream`]; [`wrap`] puts them on a pipe. What happens to a call is one function, from the top to
//! the bottom: [`call`].

pub mod accept;
pub mod adapt;
pub mod beside;
pub mod call;
pub mod catalogue;
pub mod compare;
pub mod control;
pub mod event;
pub mod front;
pub mod heavy;
pub mod leaning;
pub mod limits;
pub mod metrics;
pub mod mirror;
pub mod refusal;
pub mod session;
pub mod status;
pub mod trail;
pub mod upstream;
pub mod view;
pub mod wrap;

pub use event::{Event, Events};
pub use session::{Believed, Bound, Hub, Session, Settings};
pub use upstream::{Server, Upstream};
