//! Actions: a tool whose call is one request to a bound place, with a credential that the caller never holds.
//!
//! [`binding`] reads which request a tool stands for, [`request`] fills it, both without touching anything. [`serve()`] offers the
//! tools as an MCP server. The order of one call is fixed: the request is filled; the host is resolved once, every
//! address is checked, and the connection is made to one of those; only then is the credential asked for, for that
//! origin, and sent. No redirect is followed, no proxy is used, nothing is sent twice.

pub mod binding;
mod exact;
pub mod guard;
mod http;
pub mod limits;
mod origin;
pub mod redact;
pub mod request;
mod serve;

pub use http::Sent;
pub use origin::{Host, Origin};
pub use serve::{bindings, serve};
