//! The wire layer against real processes and real sockets.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

mod duplex;
mod framing;
mod http;
mod message;
mod peers;
mod stdio;
mod support;
