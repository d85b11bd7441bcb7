//! What drift is tested against: an append-only recorder in place of the world, and a server that follows a script.
//!
//! The recorder says what really happened: a call is judged by what reached it, not by what was answered. It also
//! tells the scripted server which phase of its script holds, so that a change comes exactly when it is meant to.

pub mod decision;
pub mod drift;
mod escaped;
pub mod events;
pub mod limits;
pub mod plan;
pub mod read;
mod recorder;
pub mod report;
mod script;
mod server;
mod wire;

pub use recorder::{Armed, Authority, Heard, Record, Recorder, Signals};
pub use script::{Deed, Fault, Phase, Script};
pub use server::{serve, serve_web};
